"""What an implementation says of one citation, and why two of them may differ about it.

| class | what differs |
| --- | --- |
| `silently-shadowed` | theirs took one of several pages |
| `dropped` | theirs does not have the citation |
| `invented` | theirs has a citation that the page does not have |
| `qualifier-dropped` | theirs reads or writes `shared::x` as `x` |
| `qualifier-added` | theirs writes `x` as `here::x`, or the like |
| `normal-form` | Unicode, white space or encoding alone makes two of one |
| `letter-case` | theirs takes `X` and `x` for one |
| `malformed-passed` | theirs resolves what is no handle |
| `malformed-refused` | theirs calls malformed what is a handle |
| `needs-run-context` | only within a run can we say what it means |
| `unknown-page` | theirs names a page that is not in these stores |
| `ours-missing` | theirs finds a page where we find none |
| `theirs-missing` | we find pages where theirs finds none |
| `other-target` | both find pages, not the same ones |
| `order-only` | the same pages in another order |
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple
from unicodedata import normalize

from counterfoil.core.ids import Origin, PageId
from counterfoil.core.knowledge.resolution import PageVerdict
from counterfoil.core.knowledge.view import View, id_key
from counterfoil.core.refs.pages import Malformed, PageReference, parse_handle

DifferenceClass = Literal[
    "silently-shadowed",
    "dropped",
    "invented",
    "qualifier-dropped",
    "qualifier-added",
    "normal-form",
    "letter-case",
    "malformed-passed",
    "malformed-refused",
    "needs-run-context",
    "unknown-page",
    "ours-missing",
    "theirs-missing",
    "other-target",
    "order-only",
]


class Place(NamedTuple):
    """A page by where it stands: its origin, seen from the run, and its path."""

    origin: Origin
    path: str


@dataclass(frozen=True, slots=True)
class Judged:
    """One citation of the page at `page`, and what it means to whoever judged it."""

    page: Place
    written: str
    verdict: PageVerdict
    candidates: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Differing:
    """One difference: its class, what we say, and what they say, `None` for nothing."""

    code: DifferenceClass
    ours: Judged | None
    theirs: Judged | None

    @property
    def page(self) -> Place:
        """The page whose citation it is."""
        judged = self.ours or self.theirs
        assert judged is not None  # noqa: S101 - one of the two is there
        return judged.page


class Reading(NamedTuple):
    """What classes are found by: what is visible, and the id of the page at each place."""

    view: View
    ids: Mapping[Place, PageId]


def class_of(ours: Judged, theirs: Judged, reading: Reading) -> DifferenceClass | None:
    """Return how two judgements of one citation differ, `None` where they do not."""
    if (ours.verdict, ours.candidates) == (theirs.verdict, theirs.candidates):
        return None
    if ours.verdict == theirs.verdict and sorted(ours.candidates) == sorted(theirs.candidates):
        return "order-only"
    for explain in _EXPLANATIONS:
        code = explain(ours, theirs, reading)
        if code is not None:
            return code
    return "other-target"


def _unjudged(ours: Judged, theirs: Judged, reading: Reading) -> DifferenceClass | None:
    if ours.verdict == "needs_run_context":
        return "needs-run-context"
    if ours.verdict == "malformed":
        return "malformed-passed"
    if theirs.verdict == "malformed":
        return "malformed-refused"
    return None if reading.ids.keys() >= set(theirs.candidates) else "unknown-page"


def _shadowed(ours: Judged, theirs: Judged, _: Reading) -> DifferenceClass | None:
    is_one_of_several = (
        ours.verdict == "ambiguous"
        and theirs.verdict == "resolved"
        and theirs.candidates[0] in ours.candidates
    )
    return "silently-shadowed" if is_one_of_several else None


def _without_qualifier(ours: Judged, theirs: Judged, reading: Reading) -> DifferenceClass | None:
    """Say whether theirs is what the id alone would find."""
    reference = parse_handle(ours.written)
    if isinstance(reference, Malformed) or reference.origin is None or not theirs.candidates:
        return None
    named = {(page.origin, page.page.path) for page in reading.view.called(id_key(reference.id))}
    return "qualifier-dropped" if named >= set(theirs.candidates) else None


def _by_another_spelling(ours: Judged, theirs: Judged, reading: Reading) -> DifferenceClass | None:
    """Say whether the pages that theirs adds are called what ours is, but for the spelling."""
    if not theirs.candidates:
        is_composed = normalize("NFC", ours.written) == ours.written
        return None if is_composed or not ours.candidates else "normal-form"
    reference = parse_handle(ours.written)
    added = [reading.ids[place] for place in theirs.candidates if place not in ours.candidates]
    if isinstance(reference, Malformed) or not added:
        return None
    for code, fold in _SPELLINGS:
        if all(fold(page) == fold(reference.id) for page in added):
            return code
    return None


def _case(text: str) -> str:
    return normalize("NFC", text.casefold())


def _compatible(text: str) -> str:
    return normalize("NFKC", text)


_SPELLINGS: tuple[tuple[DifferenceClass, Callable[[str], str]], ...] = (
    ("letter-case", _case),
    ("normal-form", _compatible),
)


def _missing(ours: Judged, theirs: Judged, _: Reading) -> DifferenceClass | None:
    if not ours.candidates:
        return "ours-missing"
    return None if theirs.candidates else "theirs-missing"


_EXPLANATIONS: tuple[Callable[[Judged, Judged, Reading], DifferenceClass | None], ...] = (
    _unjudged,
    _shadowed,
    _without_qualifier,
    _by_another_spelling,
    _missing,
)
"""From what says most about the cause to what says least."""


Key = tuple[object, ...]


def _same_but_form(written: str) -> Key | None:
    reference = parse_handle(written)
    if isinstance(reference, Malformed):
        return (written.strip(),)
    return reference.origin, _compatible(reference.id)


def _same_but_case(written: str) -> Key | None:
    reference = parse_handle(written)
    if isinstance(reference, Malformed):
        return None
    return reference.origin, _case(_compatible(reference.id))


def _id_of_qualified(written: str) -> Key | None:
    reference = parse_handle(written)
    return (reference.id,) if isinstance(reference, PageReference) and reference.origin else None


def _id_of_bare(written: str) -> Key | None:
    reference = parse_handle(written)
    if isinstance(reference, Malformed) or reference.origin is not None:
        return None
    return (reference.id,)


class WayOfWriting(NamedTuple):
    """A way in which one citation is written by two: those with one key are taken for one."""

    code: DifferenceClass
    key_of_ours: Callable[[str], Key | None]
    key_of_theirs: Callable[[str], Key | None]


WAYS_OF_WRITING = (
    WayOfWriting("normal-form", _same_but_form, _same_but_form),
    WayOfWriting("qualifier-dropped", _id_of_qualified, _id_of_bare),
    WayOfWriting("qualifier-added", _id_of_bare, _id_of_qualified),
    WayOfWriting("letter-case", _same_but_case, _same_but_case),
)
