"""The graph of pages as a picture in text: DOT for Graphviz, and Mermaid.

An arrow is what a page writes of another, a dotted line a source in common, a red one a
contradiction, which weighs nothing. A page is `n` and its place in the graph; its label
is its title, and below what tells it from all others: its handle, or its path where
another page of its origin has its id. A label is on one line and escaped for the form.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from counterfoil.core.ids import HERE, SHARED, Origin
from counterfoil.core.knowledge.graph import Graph
from counterfoil.core.knowledge.search import handle_of
from counterfoil.core.knowledge.view import View, VisiblePage, id_key
from counterfoil.core.plain import one_line
from counterfoil.wire.graph_exports import in_xml, places_of

_LABEL = 48
"""Characters of a title or handle in a picture; what is longer is cut, and says so."""


class _Line(NamedTuple):
    """A line of a picture between two pages, by their places."""

    source: int
    target: int
    kind: str
    weight: float = 0


def graph_dot(graph: Graph, view: View) -> str:
    """Return `graph` as a digraph of Graphviz."""
    return "\n".join(_dot(graph, view)) + "\n"


_STYLE = """\
  graph [rankdir=TB, bgcolor="white", pad=0.3, nodesep=0.3, ranksep=0.5, overlap=prism, \
outputorder=edgesfirst, fontname="Helvetica,Arial,sans-serif"];
  node [shape=box, style="rounded,filled", color="#5b6770", fontcolor="#1b1f23", fontsize=11, \
margin="0.2,0.08", fontname="Helvetica,Arial,sans-serif"];
  edge [color="#5b6770", arrowsize=0.6];"""

_FILLS: dict[Origin, str] = {HERE: "#e3eefb", SHARED: "#fdf3d0"}
_INHERITED = "#eceff1"


def _dot(graph: Graph, view: View) -> Iterator[str]:
    yield "digraph pages {"
    yield _STYLE
    for place, visible in enumerate(graph.pages):
        title, name = (_in_dot(text) for text in _labels(view, visible))
        attributes = [
            f'label="{title}\\n{name}"',
            f'fillcolor="{_FILLS.get(visible.origin, _INHERITED)}"',
            f'tooltip="{_in_dot(visible.page.title)}\\n{_in_dot(visible.page.path)}"',
        ]
        if visible.page.invalidation is not None:
            attributes.append('style="rounded,filled,dashed", color="#b3261e", fontcolor="#b3261e"')
        yield f"  n{place} [{', '.join(attributes)}];"
    for line in _lines(graph):
        yield f"  n{line.source} -> n{line.target}{_DOT_LINES[line.kind](line)};"
    yield "}"


_DOT_LINES: dict[str, Callable[[_Line], str]] = {
    "authored": lambda line: f" [penwidth={min(4.0, 0.8 + 0.3 * line.weight):.1f}]",
    "shared-source": lambda _: ' [style=dotted, dir=none, constraint=false, color="#8a949b"]',
    "contradicts": lambda _: ' [style=dashed, constraint=false, color="#b3261e"]',
}


def graph_mermaid(graph: Graph, view: View) -> str:
    """Return `graph` as a flowchart of Mermaid."""
    return "\n".join(_mermaid(graph, view)) + "\n"


def _mermaid(graph: Graph, view: View) -> Iterator[str]:
    yield "flowchart TD"
    for place, visible in enumerate(graph.pages):
        title, name = (_in_mermaid(text) for text in _labels(view, visible))
        yield f'  n{place}["{title}<br/>{name}"]'
    for line in _lines(graph):
        yield f"  n{line.source} {_MERMAID_LINES[line.kind]} n{line.target}"
    yield "  classDef invalidated stroke:#b3261e,color:#b3261e,stroke-dasharray:4"
    taken_back = [
        f"n{place}" for place, page in enumerate(graph.pages) if page.page.invalidation is not None
    ]
    if taken_back:
        yield f"  class {','.join(taken_back)} invalidated"


_MERMAID_LINES = {
    "authored": "-->",
    "shared-source": "-.-",
    "contradicts": "-. contradicts .->",
}


def _lines(graph: Graph) -> Iterator[_Line]:
    """Yield what a picture has of `graph`: of a source in common one line, where no other is."""
    places = places_of(graph)
    authored = {
        (edge.source, edge.target) for edge in graph.edges if edge.reasons != ("shared-source",)
    }
    for edge in graph.edges:
        source, target = places[edge.source], places[edge.target]
        if (edge.source, edge.target) in authored:
            yield _Line(source, target, "authored", edge.weight)
        elif source < target and (edge.target, edge.source) not in authored:
            yield _Line(source, target, "shared-source", edge.weight)
    for relation in graph.relations:
        if relation.kind == "contradicts":
            yield _Line(places[relation.source], places[relation.target], "contradicts")


def _labels(view: View, visible: VisiblePage) -> tuple[str, str]:
    """Return the title, and what tells the page from all others: its handle or its path."""
    namesakes = view.called(id_key(visible.page.id))
    is_twin = sum(page.origin == visible.origin for page in namesakes) > 1
    name = visible.page.path if is_twin else handle_of(view, visible)
    return one_line(visible.page.title, _LABEL), one_line(name, _LABEL)


def _in_dot(text: str) -> str:
    """Graphviz reads escapes and entities in a label; neither is meant."""
    return in_xml(text).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")


_IN_MERMAID = re.compile(r"[^\w \-.,:/()…]|_{2,}")


def _in_mermaid(text: str) -> str:
    """Mermaid reads entities of its own; whatever could be syntax is written as one."""
    return _IN_MERMAID.sub(_entities, in_xml(text))


def _entities(found: re.Match[str]) -> str:
    return "".join(f"#{ord(letter)};" for letter in found.group())
