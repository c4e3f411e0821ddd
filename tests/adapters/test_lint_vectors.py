"""Every case of the vectors of lint and of the graph, each by its id, over files on a disk."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.stores import lint, opened, place, write_files
from counterfoil.core.ids import Origin, RunId
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.findings import LintReport
from counterfoil.core.knowledge.graph import Graph, graph_of
from counterfoil.core.knowledge.lint import lint_chain
from counterfoil.engine.chains import load_chain
from counterfoil.wire.pages import read_page

Case = dict[str, Any]

_VECTORS = Path(__file__).parents[1] / "vectors"


def _cases(name: str) -> list[Any]:
    document = json.loads((_VECTORS / f"{name}.json").read_bytes())
    assert document["format"] == 1
    return [pytest.param(case, id=case["id"]) for case in document["cases"]]


def _rows(report: LintReport, run: str | None) -> list[tuple[Any, ...]]:
    rows = [
        (found.code, found.severity, place(found.origin, run) + found.path, found.line)
        for found in report.findings
    ]
    return sorted(rows, key=repr)


@pytest.mark.parametrize("case", _cases("lint"))
def test_a_lint_finds_what_is_there_and_nothing_else(case: Case, tmp_path: Path) -> None:
    """lint: Every vector: code, severity, path and line, each as often as it is made."""
    write_files(tmp_path, case["files"])
    report = lint(tmp_path, case.get("run"))
    expected = [
        (row["code"], row["severity"], row["path"], row["line"])
        for row in case["expect"]["findings"]
    ]
    assert _rows(report, case.get("run")) == sorted(expected, key=repr)
    assert report.checked.pages == case["expect"]["pages"]
    assert (report.outcome == "empty") == (case["expect"]["pages"] == 0 and not expected)


@pytest.mark.parametrize("case", _cases("lint"))
def test_a_chain_in_memory_is_linted_alike(case: Case, tmp_path: Path) -> None:
    """lint: The library's form finds the same about pages; lines and lineage apart."""
    write_files(tmp_path, case["files"])
    apart = {"skipped-link", "missing-ancestor-store", "lineage-conflict", "lineage-cycle"}
    with opened(tmp_path, case.get("run")) as visible:
        chain = load_chain(visible)
    found = [
        (row.code, place(row.origin, case.get("run")) + row.path)
        for row in lint_chain(chain).findings
    ]
    expected = [
        (row["code"], row["path"]) for row in case["expect"]["findings"] if row["code"] not in apart
    ]
    assert sorted(found) == sorted(expected)


def _graph(case: Case) -> Graph:
    stores: dict[Origin, list[Any]] = {}
    for row in case["pages"]:
        page = read_page(row["text"].encode(), row["path"]).page
        stores.setdefault(Origin(row["origin"]), []).append(page)
    in_order = sorted(stores, key=lambda origin: (origin != "here", origin == "shared"))
    is_run = len(stores) > 1
    chain = ChainSnapshot(
        [Store(origin=origin, pages=tuple(stores[origin])) for origin in in_order],
        run=RunId("r2") if is_run else None,
    )
    return graph_of(chain, list(chain))


@pytest.mark.parametrize("case", _cases("graph"))
def test_the_graph_is_that_of_the_pages(case: Case) -> None:
    """graph: Every vector: edges with weight and reasons, and the degrees of each page."""
    graph = _graph(case)
    number = {
        (Origin(row["origin"]), row["path"]): place for place, row in enumerate(case["pages"])
    }
    edges = [
        {
            "from": number[edge.source.origin, edge.source.path],
            "to": number[edge.target.origin, edge.target.path],
            "weight": edge.weight,
            "reasons": list(edge.reasons),
        }
        for edge in graph.edges
    ]
    by_pair = {(row["from"], row["to"]): row for row in case["expect"]["edges"]}
    assert {(row["from"], row["to"]): row for row in edges} == by_pair
    degrees = {
        number[found.origin, found.path]: list(seen) for found, seen in graph.degrees.items()
    }
    assert [degrees[place] for place in range(len(case["pages"]))] == case["expect"]["degrees"]
