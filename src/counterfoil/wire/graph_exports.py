r"""The graph of pages as text for other programs: JSON, GraphML, DOT and Mermaid.

A page is `n` and its place in the graph, whatever its id is, so that no id can collide
with another or be read as syntax. Titles and handles are labels: on one line, with
everything that steers a terminal or a reader written out, and escaped for the form.

JSON and GraphML say everything: weights, reasons, degrees. DOT and Mermaid are pictures:
an arrow for what a page writes of another, a dotted line for sources in common, a red
one for a contradiction, which weighs nothing.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from counterfoil.core.ids import HERE, SHARED, Origin, PageAddress
from counterfoil.core.knowledge.graph import Edge, Graph
from counterfoil.core.knowledge.search import handle_of
from counterfoil.core.knowledge.view import View, VisiblePage, id_key
from counterfoil.core.plain import one_line, plain

SCHEMA = 1
"""The version of the JSON form."""

_LABEL = 48
"""Characters of a title or handle in a picture; what is longer is cut, and says so."""


class _Line(NamedTuple):
    """A line of a picture between two pages by their places."""

    source: int
    target: int
    kind: str
    weight: float = 0


def graph_json(graph: Graph, view: View) -> dict[str, Any]:
    """Return the object that `graph` is: pages, edges and relations, by place."""
    places = _places(graph)
    return {
        "schema": SCHEMA,
        "nodes": [_node(graph, view, page) for page in graph.pages],
        "edges": [
            {
                "source": places[edge.source],
                "target": places[edge.target],
                "weight": _number(edge.weight),
                "reasons": list(edge.reasons),
            }
            for edge in graph.edges
        ],
        "relations": [
            {
                "source": places[source],
                "target": places[target],
                "kind": kind,
                "times": times,
            }
            for source, target, kind, times in graph.relations
        ],
        "leftOut": list(graph.left_out),
    }


def _node(graph: Graph, view: View, visible: VisiblePage) -> dict[str, Any]:
    page = visible.page
    degrees = graph.degrees[visible.address]
    return {
        "handle": handle_of(view, visible),
        "origin": visible.origin,
        "path": page.path,
        "id": page.id,
        "title": page.title,
        "kind": page.kind,
        "tags": list(page.tags),
        "invalidated": page.invalidation is not None,
        "outgoing": degrees.outgoing,
        "incoming": degrees.incoming,
    }


_KEYS = (
    ("node", "handle", "string"),
    ("node", "title", "string"),
    ("node", "origin", "string"),
    ("node", "path", "string"),
    ("node", "id", "string"),
    ("node", "kind", "string"),
    ("node", "invalidated", "boolean"),
    ("node", "outgoing", "int"),
    ("node", "incoming", "int"),
    ("edge", "weight", "double"),
    ("edge", "reasons", "string"),
)


def graph_ml(graph: Graph, view: View) -> str:
    """Return `graph` as GraphML; a contradiction is an edge without a weight."""
    return "\n".join(_graph_ml(graph, view)) + "\n"


def _graph_ml(graph: Graph, view: View) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for owner, name, type_ in _KEYS:
        yield (f'  <key id="{owner}-{name}" for="{owner}" attr.name="{name}" attr.type="{type_}"/>')
    yield '  <graph id="pages" edgedefault="directed">'
    for place, page in enumerate(graph.pages):
        yield f'    <node id="n{place}">'
        node = _node(graph, view, page)
        yield from (_datum(owner, name, node[name]) for owner, name, _ in _KEYS if owner == "node")
        yield "    </node>"
    for line, reasons in _weighed(graph):
        yield f'    <edge source="n{line.source}" target="n{line.target}">'
        yield from [_datum("edge", "weight", _number(line.weight))] if line.weight else []
        yield _datum("edge", "reasons", reasons)
        yield "    </edge>"
    yield "  </graph>"
    yield "</graphml>"


def _datum(owner: str, name: str, value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str("" if value is None else value)
    return f"      <data key={quoteattr(f'{owner}-{name}')}>{escape(_in_xml(text))}</data>"


def _weighed(graph: Graph) -> Iterator[tuple[_Line, str]]:
    places = _places(graph)
    for edge in graph.edges:
        line = _Line(places[edge.source], places[edge.target], "edge", edge.weight)
        yield line, " ".join(edge.reasons)
    for relation in graph.relations:
        if relation.kind == "contradicts":
            line = _Line(places[relation.source], places[relation.target], "contradicts")
            yield line, "contradicts"


def graph_dot(graph: Graph, view: View) -> str:
    """Return `graph` as a digraph of Graphviz."""
    return "\n".join(_dot(graph, view)) + "\n"


_STYLE = """\
  graph [rankdir=TB, bgcolor="white", pad=0.3, nodesep=0.3, ranksep=0.5, overlap=prism, \
outputorder=edgesfirst, fontname="Helvetica,Arial,sans-serif"];
  node [shape=box, style="rounded,filled", color="#5b6770", fontcolor="#1b1f23", fontsize=11, \
margin="0.12,0.06", fontname="Helvetica,Arial,sans-serif"];
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
    places = _places(graph)
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


def _places(graph: Graph) -> dict[PageAddress, int]:
    return {page.address: place for place, page in enumerate(graph.pages)}


def _number(weight: float) -> int | float:
    return int(weight) if weight == int(weight) else weight


_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _in_xml(text: str) -> str:
    """XML has no way to write these characters; here they are written as Python does."""
    return _NOT_IN_XML.sub(lambda found: f"\\u{ord(found.group()):04x}", plain(text))


def _in_dot(text: str) -> str:
    """Graphviz reads escapes and entities in a label; neither is meant."""
    flat = _in_xml(" ".join(text.split()))
    return flat.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")


_IN_MERMAID = re.compile(r"[^\w \-.,:/()…]|_{2,}")


def _in_mermaid(text: str) -> str:
    """Mermaid reads entities of its own; whatever could be syntax is written as one."""
    return _IN_MERMAID.sub(_entities, _in_xml(text))


def _entities(found: re.Match[str]) -> str:
    return "".join(f"#{ord(letter)};" for letter in found.group())
