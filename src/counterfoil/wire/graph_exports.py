"""The graph of pages as text for other programs: JSON and GraphML, which say everything.

A page is `n` and its place in the graph, whatever its id is, so that no id can collide
with another or be read as syntax. In GraphML all text is on one line, and everything in
it that steers a terminal or a reader, or that XML cannot write, is written out.
"""

import re
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape

from counterfoil.core.ids import PageAddress
from counterfoil.core.knowledge.graph import Graph
from counterfoil.core.knowledge.search import handle_of
from counterfoil.core.knowledge.view import View, VisiblePage
from counterfoil.core.plain import plain

SCHEMA = 1
"""The version of the JSON form."""


def graph_json(graph: Graph, view: View) -> dict[str, Any]:
    """Return the object that `graph` is: pages, edges and relations, by place."""
    places = places_of(graph)
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
        yield f'  <key id="{owner}-{name}" for="{owner}" attr.name="{name}" attr.type="{type_}"/>'
    yield '  <graph id="pages" edgedefault="directed">'
    for place, page in enumerate(graph.pages):
        yield f'    <node id="n{place}">'
        node = _node(graph, view, page)
        for owner, name, _ in _KEYS:
            if owner == "node" and node[name] is not None:
                yield _datum(owner, name, node[name])
        yield "    </node>"
    places = places_of(graph)
    for edge in graph.edges:
        weight = _datum("edge", "weight", _number(edge.weight))
        yield from _edge(places[edge.source], places[edge.target], weight, *edge.reasons)
    for relation in graph.relations:
        if relation.kind == "contradicts":
            yield from _edge(places[relation.source], places[relation.target], "", "contradicts")
    yield "  </graph>"
    yield "</graphml>"


def _datum(owner: str, name: str, value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f'      <data key="{owner}-{name}">{escape(in_xml(text))}</data>'


def _edge(source: int, target: int, weight: str, *reasons: str) -> Iterator[str]:
    yield f'    <edge source="n{source}" target="n{target}">'
    yield from [weight] if weight else []
    yield _datum("edge", "reasons", " ".join(reasons))
    yield "    </edge>"


def places_of(graph: Graph) -> dict[PageAddress, int]:
    """Return the place of each page in `graph`, from 0."""
    return {page.address: place for place, page in enumerate(graph.pages)}


def _number(weight: float) -> int | float:
    return int(weight) if weight == int(weight) else weight


_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def in_xml(text: str) -> str:
    """Return `text` on one line, with what XML cannot write as Python writes it."""
    return _NOT_IN_XML.sub(
        lambda found: f"\\u{ord(found.group()):04x}", plain(" ".join(text.split()))
    )
