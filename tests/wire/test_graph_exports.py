"""The graph in other programs' forms: all of it is there, and no title is read as syntax."""

import json
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from counterfoil.core.ids import PageId
from counterfoil.core.knowledge.graph import Graph, graph_of
from counterfoil.wire.graph_exports import graph_json, graph_ml
from counterfoil.wire.graph_pictures import graph_dot, graph_mermaid
from search_samples import TAKEN_BACK, Sample, chained, draft, here

_NAMESPACE = {"g": "http://graphml.graphdrawing.org/xmlns"}
HOSTILE = (
    'a "q" \\N </data> & [x] {y} `%%{init}%%` --> ]\n; \x00\x1b[31m\u202e\u2028 \ufffe #34; __'
)


def _graph(sample: Sample) -> Graph:
    return graph_of(sample.chain, tuple(sample.chain))


def _sample() -> Sample:
    return chained(
        own=[
            draft(
                "a", links=["b", "b"], cites=["b"], sources=["s"], contradicts=["c"], kind="note"
            ),
            draft("b", sources=["s"], tags=("t",)),
            draft("c", sources=["s"], invalidation=TAKEN_BACK),
        ],
        parent=[draft("b2", cites=["here::b2", "nobody"])],
        shared=[draft("d")],
    )


def test_json_says_everything_about_pages_and_edges() -> None:
    """graph: Weights, reasons, degrees, and contradictions as relations alone."""
    sample = _sample()
    value: dict[str, Any] = json.loads(json.dumps(graph_json(_graph(sample), sample.chain)))
    assert [node["handle"] for node in value["nodes"]] == ["a", "b", "c", "b2", "d"]
    assert value["nodes"][2] == {
        "handle": "c",
        "origin": "here",
        "path": "knowledge/c.md",
        "id": "c",
        "title": "c",
        "kind": None,
        "tags": [],
        "invalidated": True,
        "outgoing": 0,
        "incoming": 1,
    }
    assert value["edges"][0] == {
        "source": 0,
        "target": 1,
        "weight": 3.5,
        "reasons": ["wikilink", "citation", "shared-source"],
    }
    assert {"source": 0, "target": 2, "kind": "contradicts", "times": 1} in value["relations"]
    assert {"source": 0, "target": 1, "kind": "wikilink", "times": 2} in value["relations"]
    assert (value["schema"], value["leftOut"]) == (1, [])


def _read(text: str) -> ET.Element:
    return ET.fromstring(text)


def _data(element: ET.Element) -> dict[str, str]:
    return {one.attrib["key"]: one.text or "" for one in element.findall("g:data", _NAMESPACE)}


def test_graphml_says_the_same() -> None:
    """graph: A contradiction is an edge without a weight; a kind that is none is not there."""
    sample = _sample()
    root = _read(graph_ml(_graph(sample), sample.chain))
    nodes = [_data(node) for node in root.findall(".//g:node", _NAMESPACE)]
    assert [node["node-handle"] for node in nodes] == ["a", "b", "c", "b2", "d"]
    assert nodes[0]["node-kind"] == "note"
    assert "node-kind" not in nodes[1]
    assert (nodes[2]["node-invalidated"], nodes[2]["node-incoming"]) == ("true", "1")
    edges = [
        (edge.attrib["source"], edge.attrib["target"], _data(edge))
        for edge in root.findall(".//g:edge", _NAMESPACE)
    ]
    assert edges[0][2] == {
        "edge-weight": "3.5",
        "edge-reasons": "wikilink citation shared-source",
    }
    assert edges[-1] == ("n0", "n2", {"edge-reasons": "contradicts"})


def test_a_picture_has_a_line_for_what_a_page_writes_and_one_for_sources() -> None:
    """graph: Once for a pair, and not where one of the two refers to the other."""
    sample = _sample()
    dot = graph_dot(_graph(sample), sample.chain)
    assert re.findall(r"(n\d -> n\d) \[(\w+)", dot) == [
        ("n0 -> n1", "penwidth"),
        ("n0 -> n2", "style"),
        ("n1 -> n2", "style"),
        ("n0 -> n2", "style"),
    ]
    assert dot.count("dir=none") == 2
    mermaid = graph_mermaid(_graph(sample), sample.chain)
    assert re.findall(r"n\d -.*", mermaid) == [
        "n0 --> n1",
        "n0 -.- n2",
        "n1 -.- n2",
        "n0 -. contradicts .-> n2",
    ]
    assert "class n2 invalidated" in mermaid
    assert "\n  class " not in graph_mermaid(_graph(here(draft("a"))), here(draft("a")).chain)


def test_pages_that_are_called_alike_are_told_apart() -> None:
    """graph: By the handle; where that means two pages, by the path."""
    twins = [draft("x", id=PageId("same"), title="T"), draft("y", id=PageId("same"), title="T")]
    sample = chained(own=[*twins, draft("z", title="T")], shared=[draft("z", title="T")])
    labels = re.findall(r'label="T\\n(.*?)"', graph_dot(_graph(sample), sample.chain))
    assert labels == ["knowledge/x.md", "knowledge/y.md", "here::z", "shared::z"]


@pytest.mark.parametrize("form", [graph_dot, graph_mermaid, graph_ml])
def test_nothing_in_a_title_an_id_or_a_path_is_read_as_syntax(form: Any) -> None:  # noqa: ANN401 - each form
    """graph: Quotes, brackets, line ends, NUL, escapes, right-to-left; each page is one."""
    plain = here(draft("a", links=["b"]), draft("b"))
    hostile = here(
        draft("a", title=HOSTILE, id=PageId('x"] -> y\u202e%%'), links=["b"]),
        draft("b", title=HOSTILE),
    )
    text = form(_graph(hostile), hostile.chain)
    assert len(text.splitlines()) == len(form(_graph(plain), plain.chain).splitlines())
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e\u2028\ufffe]", text)


def test_dot_quotes_what_would_end_a_label_or_be_an_escape() -> None:
    """graph: A quote, a backslash, an ampersand; and a label has one break, our own."""
    sample = here(draft("a", title='x" \\N &lt; y'))
    (label,) = re.findall(r'label="(.*?)", fill', graph_dot(_graph(sample), sample.chain))
    assert label == 'x\\" \\\\N &amp;lt; y\\na'


def test_mermaid_writes_every_sign_as_an_entity() -> None:
    """graph: So that no directive, link, quote or emphasis is in a label."""
    sample = here(draft("a", title='"%%{init}`<b>__x__'))
    (label,) = re.findall(r'n0\["(.*?)<br/>a"\]', graph_mermaid(_graph(sample), sample.chain))
    assert label == ("#34;#37;#37;#123;init#125;#96;#60;b#62;#95;#95;x#95;#95;")


def test_graphml_reads_back_what_was_written() -> None:
    """graph: But for what XML cannot hold, which is written out."""
    sample = here(draft("a", title=HOSTILE))
    (node,) = _read(graph_ml(_graph(sample), sample.chain)).findall(".//g:node", _NAMESPACE)
    title = _data(node)["node-title"]
    assert title.startswith('a "q" \\N </data> & [x] {y} `%%{init}%%` --> ] ; \\x00\\x1b[31m')
    assert "\\ufffe #34; __" in title


def test_a_long_title_is_cut_in_a_picture_and_whole_in_data() -> None:
    """graph: One under the bound, at it, one over."""
    for length, is_cut in ((47, False), (48, False), (49, True)):
        sample = here(draft("a", title="x" * length))
        label = re.findall(r'label="(x*…?)', graph_dot(_graph(sample), sample.chain))[0]
        assert label.endswith("…") is is_cut
        assert "x" * length in graph_ml(_graph(sample), sample.chain)
