"""The graph of a view: relations of pages, weighted edges, degrees.

Nodes are pages, by origin and path: two pages of one id stay two. Only references that
resolve make relations, with their origin; none leads to the page itself (knowledge.md
section 5).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal, NamedTuple

from counterfoil.core.ids import PageAddress
from counterfoil.core.knowledge.resolution import PageResolution, resolve_handle, resolve_link
from counterfoil.core.knowledge.view import View, VisiblePage

RelationKind = Literal["wikilink", "citation", "contradicts", "shared-source"]
Reason = Literal["wikilink", "citation", "shared-source"]

SHARED_BY_MOST = 64
"""Pages of one source up to which every pair is joined; a source of more joins none."""

_HALF = 0.5


class Relation(NamedTuple):
    """One page's relation to another: its kind, and how often it is written."""

    source: PageAddress
    target: PageAddress
    kind: RelationKind
    times: int


class Edge(NamedTuple):
    """All relations of one ordered pair, but contradictions; weight is their sum."""

    source: PageAddress
    target: PageAddress
    weight: float
    reasons: tuple[Reason, ...]


class Degrees(NamedTuple):
    """How many authored relations go out of a page and come in."""

    outgoing: int
    incoming: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Pages in chain order, edges by pair in that order, and degrees by page.

    `left_out` names the sources that more than `SHARED_BY_MOST` pages have in common:
    they join no pages, since the pairs would be more than anyone can look at.
    """

    pages: tuple[VisiblePage, ...]
    relations: tuple[Relation, ...]
    edges: tuple[Edge, ...]
    degrees: dict[PageAddress, Degrees]
    left_out: tuple[str, ...] = ()


def graph_of(view: View, pages: Sequence[VisiblePage]) -> Graph:
    """Return the graph of `pages`, whose references are weighed against all of `view`."""
    relations = [relation for page in pages for relation in relations_of(view, page)]
    shared, left_out = _shared_sources(pages)
    inside = {page.address for page in pages}
    authored = [relation for relation in relations if relation.target in inside]
    everything = (*authored, *shared)
    return Graph(
        pages=tuple(pages),
        relations=everything,
        edges=_edges(everything, pages),
        degrees=_degrees(authored, pages),
        left_out=left_out,
    )


def relations_of(view: View, visible: VisiblePage) -> Iterator[Relation]:
    """Yield what a page writes of others: links with their count, the rest once each."""
    page, holder = visible.page, visible.origin
    links = [resolve_link(view, link.target, holder=holder) for link in page.links]
    cites = [resolve_handle(view, item.text, holder=holder) for item in page.cites]
    against = [resolve_handle(view, item.text, holder=holder) for item in page.contradicts]
    for target, count in _targets(links, visible).items():
        yield Relation(visible.address, target, "wikilink", count)
    for target in _targets(cites, visible):
        yield Relation(visible.address, target, "citation", 1)
    for target in _targets(against, visible):
        yield Relation(visible.address, target, "contradicts", 1)


def _targets(found: Iterable[PageResolution], visible: VisiblePage) -> Counter[PageAddress]:
    return Counter(
        row.page.address for row in found if row.page is not None and not row.page.is_at(visible)
    )


def _shared_sources(pages: Sequence[VisiblePage]) -> tuple[list[Relation], tuple[str, ...]]:
    """Return, both ways, how many sources each pair of pages has in common."""
    by_source: defaultdict[str, dict[PageAddress, None]] = defaultdict(dict)
    for visible in pages:
        for item in visible.page.sources:
            by_source[item.text][visible.address] = None
    pairs: Counter[tuple[PageAddress, PageAddress]] = Counter()
    left_out: list[str] = []
    for source, sharing in by_source.items():
        if len(sharing) > SHARED_BY_MOST:
            left_out.append(source)
        else:
            pairs.update(permutations(sharing, 2))
    relations = [
        Relation(source, target, "shared-source", count)
        for (source, target), count in pairs.items()
    ]
    return relations, tuple(left_out)


_REASONS: dict[RelationKind, Reason | None] = {
    "wikilink": "wikilink",
    "citation": "citation",
    "shared-source": "shared-source",
    "contradicts": None,
}


def _edges(relations: Iterable[Relation], pages: Sequence[VisiblePage]) -> tuple[Edge, ...]:
    weights: defaultdict[tuple[PageAddress, PageAddress], float] = defaultdict(float)
    reasons: defaultdict[tuple[PageAddress, PageAddress], list[Reason]] = defaultdict(list)
    for source, target, kind, times in relations:
        reason = _REASONS[kind]
        if reason is not None:
            weights[source, target] += times * _HALF if kind == "shared-source" else times
            reasons[source, target].append(reason)
    order = {page.address: place for place, page in enumerate(pages)}
    pairs = sorted(weights, key=lambda pair: (order[pair[0]], order[pair[1]]))
    return tuple(Edge(*pair, weights[pair], tuple(reasons[pair])) for pair in pairs)


def _degrees(
    relations: Iterable[Relation], pages: Sequence[VisiblePage]
) -> dict[PageAddress, Degrees]:
    outgoing: Counter[PageAddress] = Counter()
    incoming: Counter[PageAddress] = Counter()
    for source, target, _, _ in relations:
        outgoing[source] += 1
        incoming[target] += 1
    return {page.address: Degrees(outgoing[page.address], incoming[page.address]) for page in pages}
