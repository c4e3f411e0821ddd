"""Every case of the vectors of resolution and audit, each by its id."""

import json
from pathlib import Path
from typing import Any

import pytest

from counterfoil.core.errors import UnresolvedReferencesError
from counterfoil.core.ids import Origin, PageId, RunId
from counterfoil.core.knowledge.audit import (
    BrokenCitationsError,
    assert_citations,
    audit_citations,
)
from counterfoil.core.knowledge.chain import ChainSnapshot, Store, origins_of_chain
from counterfoil.core.knowledge.findings import Finding, LintReport
from counterfoil.core.knowledge.pages import Fault, FieldSpot, Page, Written
from counterfoil.core.knowledge.resolution import (
    PageResolution,
    require_pages,
    resolve_handle,
)
from counterfoil.core.refs.pages import Malformed

Case = dict[str, Any]

_VECTORS = Path(__file__).parents[1] / "vectors" / "resolution-audit.json"


def _cases(key: str) -> list[Any]:
    document = json.loads(_VECTORS.read_bytes())
    assert document["format"] == 1
    return [pytest.param(case, id=case["id"]) for case in document["cases"] if key in case]


def _page(row: Case) -> Page:
    """Make the page; what is no text is a fault that reading it finds."""
    cites = [(item, entry["written"]) for item, entry in enumerate(row["cites"])]
    return Page(
        path=f"knowledge/{row['path']}",
        id=PageId(row["id"]),
        title=row["id"],
        cites=tuple(Written(text, item) for item, text in cites if isinstance(text, str)),
        faults=tuple(
            Fault("malformed-citation", FieldSpot("cites", item), json.dumps(value), "no text")
            for item, value in cites
            if not isinstance(value, str)
        ),
    )


def _chain(case: Case) -> ChainSnapshot:
    run = case["chain"]["run"]
    ancestors = [RunId(name) for name in case["chain"]["ancestors"]]
    return ChainSnapshot(
        [
            Store(
                origin=origin,
                pages=tuple(_page(row) for row in case["pages"] if Origin(row["origin"]) == origin),
            )
            for origin in origins_of_chain(ancestors, has_shared=run is not None)
        ],
        run=None if run is None else RunId(run),
    )


def _address(origin: str, path: str) -> Case:
    return {"origin": origin, "path": path.removeprefix("knowledge/")}


def _row(resolution: PageResolution) -> Case:
    if isinstance(resolution.reference, Malformed):
        return {"handle": resolution.written, "malformed": resolution.reference.reason}
    return {
        "handle": resolution.written,
        "verdict": resolution.verdict,
        "candidates": [_address(found.origin, found.page.path) for found in resolution.candidates],
    }


def _asked(case: Case) -> list[tuple[str, Origin]]:
    return [
        (asked, Origin("here"))
        if isinstance(asked, str)
        else (asked["handle"], Origin(asked["from"]["origin"]))
        for asked in case["resolve"]
    ]


@pytest.mark.parametrize("case", _cases("resolve"))
def test_a_reference_has_all_of_its_candidates(case: Case) -> None:
    """page-resolution: Every vector, in the order asked, with every candidate."""
    chain = _chain(case)
    found = [resolve_handle(chain, text, holder=holder) for text, holder in _asked(case)]
    assert [_row(row) for row in found] == [
        {**row, "handle": text}
        for row, (text, _) in zip(case["expect"]["resolutions"], _asked(case), strict=True)
    ]


@pytest.mark.parametrize("case", _cases("resolve"))
def test_the_asserting_form_raises_with_the_unresolved_alone(case: Case) -> None:
    """page-resolution: Missing ones first, and nothing where all resolve."""
    if "unresolved" not in case["expect"]:
        return
    chain = _chain(case)
    texts = [text for text, _ in _asked(case)]
    try:
        found = require_pages(chain, texts)
    except UnresolvedReferencesError as error:
        rows = [row.written for row in error.rows if isinstance(row, PageResolution)]
        assert rows == case["expect"]["unresolved"]
    else:
        assert case["expect"]["unresolved"] == []
        assert len(found) == len(texts)


def _shown(finding: Finding, case: Case) -> Case:
    """Return a finding as the vectors write it; its place is looked up in the case."""
    spot = finding.spot
    assert isinstance(spot, FieldSpot)
    assert spot.item is not None
    path = finding.path.removeprefix("knowledge/")
    row = next(
        row
        for row in case["pages"]
        if (Origin(row["origin"]), row["path"]) == (finding.origin, path)
    )
    entry = row["cites"][spot.item]
    shown: Case = {
        "code": finding.code,
        "severity": finding.severity,
        "origin": finding.origin,
        "path": path,
        "line": entry["line"],
        "column": entry["column"],
        "written": entry["written"],
        "candidates": [_address(one.origin, one.path) for one in finding.candidates],
        "handles": list(finding.handles),
    }
    if finding.hides_ambiguity is not None:
        shown["hides_ambiguity"] = finding.hides_ambiguity
    if finding.reason is not None:
        shown["reason"] = finding.reason
    return shown


def _audit(case: Case) -> LintReport:
    return audit_citations(_chain(case), [Origin(name) for name in case["audit"]["origins"]])


@pytest.mark.parametrize("case", _cases("audit"))
def test_each_fault_of_a_citation_is_one_finding(case: Case) -> None:
    """citation-audit: Every vector: code, place, candidates and handles."""
    shown = [_shown(finding, case) for finding in _audit(case).findings]
    order = [str(origin) for origin in _chain(case).origins]
    shown.sort(key=lambda row: (order.index(row["origin"]), row["path"], row["line"]))
    assert shown == case["expect"]["findings"]


@pytest.mark.parametrize("case", _cases("audit"))
def test_the_report_of_an_audit_counts_what_was_looked_at(case: Case) -> None:
    """citation-audit: Nothing checked is not ok."""
    report, expected = _audit(case), case["expect"]["report"]
    assert report.checked.pages == expected["checkedPages"]
    if "checkedCitations" in expected:
        assert report.checked.citations == expected["checkedCitations"]
    assert report.ok is expected["ok"]


@pytest.mark.parametrize("case", _cases("audit"))
def test_the_asserting_audit_raises_with_the_report(case: Case) -> None:
    """citation-audit: Findings of severity error, and nothing audited."""
    report = _audit(case)
    origins = [Origin(name) for name in case["audit"]["origins"]]
    if report.ok:
        assert assert_citations(_chain(case), origins) == report
        return
    with pytest.raises(BrokenCitationsError) as caught:
        assert_citations(_chain(case), origins)
    assert caught.value.report == report
