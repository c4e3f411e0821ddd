"""Another implementation's resolutions beside ours: every difference, by what it is.

Both read the same frozen pages. Each citation of each page is laid beside the row that
the other implementation has for it. Where the two differ, the difference gets a class,
so that nobody looks at a thousand rows to see three causes. An explained difference is
one all the same: nothing is switched while one is left (knowledge.md section 8).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from counterfoil.core.ids import HERE, Origin, RunId
from counterfoil.core.knowledge.chain import ChainSnapshot
from counterfoil.core.knowledge.judged import (
    WAYS_OF_WRITING,
    DifferenceClass,
    Differing,
    Judged,
    Key,
    Place,
    Reading,
    WayOfWriting,
    class_of,
)
from counterfoil.core.knowledge.pages import Fault, FieldSpot
from counterfoil.core.knowledge.resolution import resolve_handle
from counterfoil.core.knowledge.view import View, VisiblePage

MigrationOutcome = Literal["same", "differences", "empty"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationReport:
    """What comparing came to: how much was compared, and every difference.

    `chain` is the digest of the pages that both have read. `compared` counts our
    citations, `outside` the rows of theirs about pages that were not to be compared.
    Differences stand in chain order of their pages.
    """

    chain: str
    compared: int
    differences: tuple[Differing, ...]
    outside: int = 0

    @property
    def counts(self) -> dict[DifferenceClass, int]:
        """How many differences there are of each class that there is, the most first."""
        codes: Counter[DifferenceClass] = Counter(one.code for one in self.differences)
        return dict(codes.most_common())

    @property
    def outcome(self) -> MigrationOutcome:
        """Derived, so that nothing compared is never called the same."""
        if self.differences:
            return "differences"
        return "same" if self.compared else "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchRecord:
    """Who made these stores the owner of resolutions, over which pages, compared with what.

    `chain` and `resolutions` are digests: of the pages, and of the file compared with.
    """

    run: RunId | None
    actor: str
    reason: str
    switched_at: str
    chain: str
    resolutions: str
    compared: int


def compare_resolutions(
    chain: ChainSnapshot, theirs: Iterable[Judged], *, origins: Iterable[Origin] = (HERE,)
) -> MigrationReport:
    """Return how `theirs` differs from what we say of the citations of `origins`."""
    wanted = frozenset(origins)
    by_page: dict[Place, list[Judged]] = {}
    outside = 0
    for judged in theirs:
        if judged.page.origin in wanted:
            by_page.setdefault(judged.page, []).append(judged)
        else:
            outside += 1
    reading = Reading(chain, {_place(visible): visible.page.id for visible in chain})
    differences: list[Differing] = []
    compared = 0
    for visible in chain.pages_of(wanted):
        ours = list(judged_citations(chain, visible))
        compared += len(ours)
        differences.extend(_of_page(ours, by_page.pop(_place(visible), []), reading))
    for place in sorted(by_page):  # pages that are not there
        differences.extend(Differing("invented", None, one) for one in _sorted(by_page[place]))
    return MigrationReport(
        chain=chain.digest, compared=compared, differences=tuple(differences), outside=outside
    )


def judged_citations(view: View, visible: VisiblePage) -> Iterator[Judged]:
    """Yield what we say of each citation of a page, as often as it is written otherwise."""
    page = _place(visible)
    for written in dict.fromkeys(item.text for item in visible.page.cites):
        found = resolve_handle(view, written, holder=visible.origin)
        yield Judged(page, written, found.verdict, tuple(map(_place, found.candidates)))
    for written in dict.fromkeys(one.written for one in visible.page.faults if _is_no_text(one)):
        yield Judged(page, written, "malformed")


def _is_no_text(fault: Fault) -> bool:
    """Say whether `fault` is that a citation is no text: a number, a list, a blank."""
    is_field = isinstance(fault.spot, FieldSpot) and fault.spot.field == "cites"
    return is_field and fault.code == "malformed-citation"


def _place(visible: VisiblePage) -> Place:
    return Place(visible.origin, visible.page.path)


def _of_page(ours: list[Judged], theirs: list[Judged], reading: Reading) -> Iterator[Differing]:
    """Yield the differences of one page: of what both have, then of what one has."""
    by_text = {judged.written: judged for judged in theirs}
    left: list[Judged] = []
    for mine in ours:
        other = by_text.pop(mine.written, None)
        if other is None:
            left.append(mine)
        elif code := class_of(mine, other, reading):
            yield Differing(code, mine, other)
    rest = _sorted(by_text.values())
    for way in WAYS_OF_WRITING:
        for mine, other in _taken_for_one(left, rest, way):
            yield Differing(class_of(mine, other, reading) or way.code, mine, other)
    yield from (Differing("dropped", mine, None) for mine in left)
    yield from (Differing("invented", None, other) for other in rest)


def _taken_for_one(
    ours: list[Judged], theirs: list[Judged], way: WayOfWriting
) -> list[tuple[Judged, Judged]]:
    """Take out of both lists what is one citation, and return it by twos."""
    waiting: dict[Key, list[Judged]] = {}
    for other in reversed(theirs):
        if (key := way.key_of_theirs(other.written)) is not None:
            waiting.setdefault(key, []).append(other)
    found: dict[str, Judged] = {}
    for mine in ours:
        key = way.key_of_ours(mine.written)
        if key is not None and (others := waiting.get(key)):
            found[mine.written] = others.pop()
    pairs = [(mine, found[mine.written]) for mine in ours if mine.written in found]
    gone = {other.written for other in found.values()}
    ours[:] = [mine for mine in ours if mine.written not in found]
    theirs[:] = [other for other in theirs if other.written not in gone]
    return pairs


def _sorted(judged: Iterable[Judged]) -> list[Judged]:
    return sorted(judged, key=_written)


def _written(judged: Judged) -> str:
    return judged.written
