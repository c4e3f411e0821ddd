"""The pages that are joined to a few others: by links, citations and shared sources.

Both ways count: what a page refers to, and what refers to it. What joins too many pages
says nothing of any of them, so that a page which everything refers to, like a source
which everything has, brings none in.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from counterfoil.core.ids import PageAddress
from counterfoil.core.knowledge.graph import SHARED_BY_MOST, Reason, relations_of
from counterfoil.core.knowledge.resolution import PageResolution, resolve_handle, resolve_link
from counterfoil.core.knowledge.view import View, VisiblePage, id_key, link_keys, names_of
from counterfoil.core.refs.pages import Malformed, parse_handle

MOST_REFERRERS = 64
"""Pages that may refer to one page; where there are more, none of them is looked at."""

_KEPT = 1 << 14
"""References whose keys are kept at hand; searches that follow one another meet them again."""

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
        for page, reason, halves in _joins(view, seed, sharing):
            found[page].halves += halves
            found[page].found.add(reason)
    return dict(found)


def _joins(view: View, seed: VisiblePage, sharing: Sharing) -> Iterator[Join]:
    yield from _outgoing(view, seed)
    yield from _incoming(view, seed)
    yield from _shared(seed, sharing)


def _outgoing(view: View, seed: VisiblePage) -> Iterator[Join]:
    for _, target, kind, times in relations_of(view, seed):
        if kind in {"wikilink", "citation"}:
            yield Join(target, "wikilink" if kind == "wikilink" else "citation", 2 * times)


def _incoming(view: View, seed: VisiblePage) -> Iterator[Join]:
    names = names_of(seed.page)
    for page in _referrers(view, seed, names):
        links, cites = _references(view, seed, page, names)
        if links:
            yield Join(page.address, "wikilink", 2 * links)
        if cites:
            yield Join(page.address, "citation", 2)


def _referrers(view: View, seed: VisiblePage, names: set[str]) -> list[VisiblePage]:
    """Return the pages that write a name of `seed`; whether they mean it is seen later."""
    found: dict[PageAddress, VisiblePage] = {}
    for key in names:
        named = view.naming(key)
        if len(named) > MOST_REFERRERS:
            return []
        found.update((page.address, page) for page in named if not page.is_at(seed))
    return list(found.values()) if len(found) <= MOST_REFERRERS else []


def _references(
    view: View, seed: VisiblePage, page: VisiblePage, names: set[str]
) -> tuple[int, bool]:
    """Return how many links of `page` mean `seed`, and whether it cites it."""
    links = (link.target for link in page.page.links)
    named = (target for target in links if not names.isdisjoint(_keys_of_link(target)))
    linked = (resolve_link(view, target, holder=page.origin) for target in named)
    cited = (
        resolve_handle(view, item.text, holder=page.origin)
        for item in page.page.cites
        if _key_of_handle(item.text) in names
    )
    return sum(_means(found, seed) for found in linked), any(_means(found, seed) for found in cited)


_keys_of_link = lru_cache(_KEPT)(link_keys)


@lru_cache(_KEPT)
def _key_of_handle(written: str) -> str | None:
    reference = parse_handle(written)
    return None if isinstance(reference, Malformed) else id_key(reference.id)


def _means(found: PageResolution, seed: VisiblePage) -> bool:
    return found.page is not None and found.page.is_at(seed)


def _shared(seed: VisiblePage, sharing: Sharing) -> Iterator[Join]:
    for source in dict.fromkeys(item.text for item in seed.page.sources):
        for page in sharing.get(source, ()):
            if page != seed.address:
                yield Join(page, "shared-source", 1)
