"""The gate before a write: what must not come in, seen before any byte is written.

Pages that are proposed are weighed as if they stood there already, in place of those at
their paths. Each of their citations must resolve to one other page. None may say nearly
the same as another page, unless one of the two cites or contradicts the other, or they
share an id (knowledge.md section 7). What is refused is a value with its rows.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from counterfoil.core.ids import HERE
from counterfoil.core.knowledge.after import chain_after
from counterfoil.core.knowledge.audit import citation_findings, fault_finding
from counterfoil.core.knowledge.chain import ChainSnapshot
from counterfoil.core.knowledge.findings import Finding
from counterfoil.core.knowledge.near import NearLimits, NearPair, near_pairs
from counterfoil.core.knowledge.pages import Fault, FieldSpot, Page
from counterfoil.core.knowledge.resolution import resolve_handle
from counterfoil.core.knowledge.view import View, VisiblePage

MOST_ROWS = 1_000
"""Pairs of near pages that are listed; the rest of them is counted."""

_BLINDING = frozenset({"bad-frontmatter", "not-utf8"})
"""Faults that hide what a page cites, so that nobody could say that it resolves."""


class CandidatePage(NamedTuple):
    """A page that is proposed, and its body."""

    page: Page
    body: str


BodyOf = Callable[[VisiblePage], str]
"""Returns the body of a page that stands in a store."""


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """A proposed page and another one that say nearly the same; `percent` of a hundred."""

    page: VisiblePage
    other: VisiblePage
    percent: int

    @property
    def message(self) -> str:
        """What was found and what to do, for a person."""
        other = f"{self.other.page.path} ({self.other.origin})"
        return (
            f"{self.page.page.path} says nearly the same as {other}: {self.percent} % of their"
            " wording is the same; change that page, or cite or contradict it from this one"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """What the gate found: citations at fault, and pages too near to others.

    `unlisted` pairs were found beside those of `near`; `uncompared` pairs were not
    looked at, those that share least.
    """

    pages: int = 0
    citations: tuple[Finding, ...] = ()
    near: tuple[NearDuplicate, ...] = ()
    unlisted: int = 0
    uncompared: int = 0

    @property
    def is_open(self) -> bool:
        """Whether the pages may be written."""
        return not self.citations and not self.near

    @property
    def messages(self) -> tuple[str, ...]:
        """One line for each row, with the page that it is about."""
        said = [f"{finding.path}: {finding.message}" for finding in self.citations]
        return (*said, *(pair.message for pair in self.near))


def weigh_intake(
    chain: ChainSnapshot,
    candidates: Sequence[CandidatePage],
    body_of: BodyOf,
    *,
    limits: NearLimits | None = None,
) -> Intake:
    """Return what keeps `candidates` from becoming pages of `here` in `chain`."""
    after = chain_after(chain, HERE, (one.page for one in candidates))
    proposed = [VisiblePage(HERE, one.page) for one in candidates]
    citations = [found for page in proposed for found in _citations(after, page)]
    others = _others(after, proposed)
    found = near_pairs(
        [_text(one.page, one.body) for one in candidates],
        (_text(visible.page, body_of(visible)) for visible in others),
        limits=limits,
    )
    near = tuple(_unrelated(after, [*proposed, *others], found.pairs))
    return Intake(
        pages=len(proposed),
        citations=tuple(citations),
        near=near[:MOST_ROWS],
        unlisted=max(0, len(near) - MOST_ROWS),
        uncompared=found.uncompared,
    )


def _text(page: Page, body: str) -> str:
    return f"{page.title}\n{body}"


def _others(after: ChainSnapshot, proposed: Iterable[VisiblePage]) -> list[VisiblePage]:
    paths = {visible.page.path for visible in proposed}
    return [page for page in after if page.origin != HERE or page.page.path not in paths]


def _citations(after: View, visible: VisiblePage) -> Iterator[Finding]:
    """Yield what is wrong with the citations of a page, or hides them."""
    for fault in visible.page.faults:
        if fault.code in _BLINDING or _is_citation(fault):
            yield fault_finding(visible, fault)
    for finding in citation_findings(after, visible):
        if finding.severity == "error":  # a store alone cannot tell what another one has
            yield finding


def _is_citation(fault: Fault) -> bool:
    is_field = isinstance(fault.spot, FieldSpot) and fault.spot.field == "cites"
    return is_field and fault.code == "malformed-citation"


def _unrelated(
    after: View, pages: Sequence[VisiblePage], pairs: Iterable[NearPair]
) -> Iterator[NearDuplicate]:
    for pair in pairs:
        page, other = pages[pair.candidate], pages[pair.other]
        if not _are_related(after, page, other):
            yield NearDuplicate(page, other, pair.percent)


def _are_related(after: View, page: VisiblePage, other: VisiblePage) -> bool:
    if page.page.id == other.page.id:
        return True
    return _refers(after, page, other) or _refers(after, other, page)


def _refers(after: View, page: VisiblePage, other: VisiblePage) -> bool:
    """Say whether `page` cites or contradicts `other`."""
    for item in (*page.page.cites, *page.page.contradicts):
        found = resolve_handle(after, item.text, holder=page.origin).page
        if found is not None and found.is_at(other):
            return True
    return False
