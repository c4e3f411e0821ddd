"""The pages that are joined to a few others: by links, citations and shared sources.

Both ways count: what a page refers to, and what refers to it. What joins too many pages
says nothing of any of them, so that a page which everything refers to, like a source
which everything has, brings none in.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from counterfoil.core.ids import PageAddress
from counterfoil.core.knowledge.graph import SHARED_BY_MOST, Reason, relations_of
from counterfoil.core.knowledge.view import View, VisiblePage, names_of

MOST_REFERRERS = 64
"""Pages that may refer to one page; where there are more, none of them is looked at."""

_ORDER: tuple[Reason, ...] = ("wikilink", "citation", "shared-source")


class Join(NamedTuple):
    """One page joined to another; `halves` is the weight of an edge, doubled."""

    page: PageAddress
    reason: Reason
    halves: int


@dataclass(slots=True)
class Related:
    """All that joins a page to the pages asked about."""

    halves: int = 0
    found: set[Reason] = field(default_factory=set)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """How it is joined to them."""
        return tuple(reason for reason in _ORDER if reason in self.found)


Sharing = Mapping[str, tuple[PageAddress, ...]]
"""The pages of each source that several pages have, and not too many."""


def sharing_of(pages: Iterable[VisiblePage]) -> Sharing:
    """Return which of `pages` have a source in common."""
    by_source: defaultdict[str, dict[PageAddress, None]] = defaultdict(dict)
    for visible in pages:
        for source in visible.page.sources:
            by_source[source.text][visible.address] = None
    return {
        source: tuple(sharing)
        for source, sharing in by_source.items()
        if 1 < len(sharing) <= SHARED_BY_MOST
    }


def related_to(
    view: View, seeds: Iterable[VisiblePage], sharing: Sharing
) -> dict[PageAddress, Related]:
    """Return the pages that are joined to any of `seeds`, and how closely."""
    found: defaultdict[PageAddress, Related] = defaultdict(Related)
    for seed in seeds:
        for page, reason, halves in (*_authored(view, seed), *_shared(seed, sharing)):
            found[page].halves += halves
            found[page].found.add(reason)
    return dict(found)


def _authored(view: View, seed: VisiblePage) -> Iterator[Join]:
    for holder in (seed, *_referrers(view, seed)):
        for source, target, kind, times in relations_of(view, holder):
            if kind in {"wikilink", "citation"} and seed.address in (source, target):
                page = target if source == seed.address else source
                yield Join(page, "wikilink" if kind == "wikilink" else "citation", 2 * times)


def _referrers(view: View, seed: VisiblePage) -> list[VisiblePage]:
    """Return the pages that write a name of `seed`; whether they mean it is seen later."""
    found: dict[PageAddress, VisiblePage] = {}
    for key in sorted(names_of(seed.page)):
        named = view.naming(key)
        if len(named) > MOST_REFERRERS:
            return []
        found.update((page.address, page) for page in named if not page.is_at(seed))
    return list(found.values()) if len(found) <= MOST_REFERRERS else []


def _shared(seed: VisiblePage, sharing: Sharing) -> Iterator[Join]:
    for source in dict.fromkeys(item.text for item in seed.page.sources):
        for page in sharing.get(source, ()):
            if page != seed.address:
                yield Join(page, "shared-source", 1)
