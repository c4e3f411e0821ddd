"""What is in a chain, counted; and one page with everything around it."""

from dataclasses import dataclass

from counterfoil.core.ids import HERE, Origin, PageAddress
from counterfoil.core.knowledge.chain import ChainSnapshot
from counterfoil.core.knowledge.graph import Degrees, Graph, graph_of, relations_of
from counterfoil.core.knowledge.resolution import PageResolution, resolve_handle, resolve_link
from counterfoil.core.knowledge.view import View, VisiblePage, names_of

MOST_REFERRED = 10
"""Pages that an inspection names; how many there are stands in its counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """A chain in numbers, and the pages that most others refer to, the first first."""

    pages: dict[Origin, int]
    relations: dict[str, int]
    sources: int
    invalidated: int
    most_referred: tuple[tuple[PageAddress, Degrees], ...]
    digest: str


def inspect_chain(chain: ChainSnapshot) -> Inspection:
    """Return what `chain` holds, in numbers."""
    graph = graph_of(chain, list(chain))
    return Inspection(
        pages={origin: len(chain.pages_of([origin])) for origin in chain.origins},
        relations=_by_kind(graph),
        sources=len(chain.registry(HERE).anchors),
        invalidated=len(chain.invalidated()),
        most_referred=_most_referred(graph),
        digest=chain.digest,
    )


def _by_kind(graph: Graph) -> dict[str, int]:
    counts = {"wikilink": 0, "citation": 0, "contradicts": 0, "shared-source": 0}
    for relation in graph.relations:
        counts[relation.kind] += 1
    return counts


def _most_referred(graph: Graph) -> tuple[tuple[PageAddress, Degrees], ...]:
    """Ties stand in chain order: sorting keeps it."""
    rows = [row for row in graph.degrees.items() if row[1].incoming]
    return tuple(sorted(rows, key=lambda row: -row[1].incoming)[:MOST_REFERRED])


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRelations:
    """A page, what each of its references means, and the pages that refer to it."""

    visible: VisiblePage
    cites: tuple[PageResolution, ...]
    contradicts: tuple[PageResolution, ...]
    links: tuple[PageResolution, ...]
    referred_by: tuple[VisiblePage, ...]


def relations_of_page(view: View, visible: VisiblePage) -> PageRelations:
    """Return `visible` with everything that it refers to and that refers to it."""
    page, holder = visible.page, visible.origin
    targets = dict.fromkeys(link.target for link in page.links)
    return PageRelations(
        visible=visible,
        cites=tuple(resolve_handle(view, item.text, holder=holder) for item in page.cites),
        contradicts=tuple(
            resolve_handle(view, item.text, holder=holder) for item in page.contradicts
        ),
        links=tuple(resolve_link(view, target, holder=holder) for target in targets),
        referred_by=_referring(view, visible),
    )


def _referring(view: View, visible: VisiblePage) -> tuple[VisiblePage, ...]:
    """Return the other pages that a reference of theirs leads from, in chain order."""
    found: dict[PageAddress, VisiblePage] = {}
    for key in names_of(visible.page):
        for other in view.naming(key):
            if not other.is_at(visible) and _leads_to(view, other, visible):
                found[other.address] = other
    order = {origin: rank for rank, origin in enumerate(view.origins)}
    return tuple(sorted(found.values(), key=lambda one: (order[one.origin], one.page.path)))


def _leads_to(view: View, other: VisiblePage, visible: VisiblePage) -> bool:
    return any(relation.target == visible.address for relation in relations_of(view, other))
