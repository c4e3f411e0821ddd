"""Handles, ids of pages and runs: every vector, each by its id, and the laws of the codec."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from counterfoil.core.errors import InvalidIdError
from counterfoil.core.ids import HERE, SHARED, Origin, PageId, RunId
from counterfoil.core.refs.pages import (
    MALFORMED_TEXT,
    Malformed,
    PageReference,
    format_handle,
    parse_handle,
)

Case = dict[str, Any]

_VECTORS = Path(__file__).parents[1] / "vectors" / "page-handles.json"


def _cases(*operations: str) -> list[Any]:
    document = json.loads(_VECTORS.read_bytes())
    assert document["format"] == 1
    return [
        pytest.param(case, id=case["id"]) for case in document["cases"] if case["op"] in operations
    ]


def _text(case: Case) -> str:
    if "text" in case:
        return str(case["text"])
    made = case["generate"]
    return str(made["prefix"] + made["repeat"] * made["times"] + made.get("suffix", ""))


def _reference(row: Case) -> PageReference:
    origin = None if row["origin"] is None else Origin(row["origin"])
    return PageReference(origin, PageId(row["id"]))


@pytest.mark.parametrize("case", _cases("parse"))
def test_a_handle_is_read_or_is_malformed_with_its_reason(case: Case) -> None:
    """handles: Every vector; reading never raises."""
    found, expected = parse_handle(_text(case)), case["expect"]
    if "reference" in expected:
        assert found == _reference(expected["reference"])
        return
    assert isinstance(found, Malformed)
    assert found.text == _text(case)
    assert expected["malformed"] in (True, found.reason)
    assert MALFORMED_TEXT[found.reason]


@pytest.mark.parametrize("case", _cases("format"))
def test_a_reference_is_written_as_the_one_handle_that_reads_back(case: Case) -> None:
    """handles: Every vector: plain where it reads back as itself, else encoded."""
    reference = _reference(case["reference"])
    assert format_handle(reference) == case["expect"]["text"]
    assert parse_handle(case["expect"]["text"]) == reference


@pytest.mark.parametrize("case", _cases("same"))
def test_two_handles_are_or_are_not_of_one_page(case: Case) -> None:
    """handles: Every vector: NFC, letter case, and no compatibility forms."""
    left, right = parse_handle(case["left"]), parse_handle(case["right"])
    assert not isinstance(left, Malformed)
    assert not isinstance(right, Malformed)
    assert (left == right) is case["expect"]["same"]


@pytest.mark.parametrize("case", _cases("page_id", "run_id"))
def test_an_id_is_made_or_refused(case: Case) -> None:
    """handles: Every vector: bounds, control characters, white space, normal form."""
    make: Callable[[str], str] = PageId if case["op"] == "page_id" else RunId
    if case["expect"]["valid"]:
        assert make(case["text"]) == case["expect"].get("value", case["text"])
        return
    with pytest.raises(InvalidIdError) as caught:
        make(case["text"])
    assert repr(case["text"]) in caught.value.found


@pytest.mark.parametrize("case", _cases("matrix"))
def test_no_two_references_share_a_handle(case: Case) -> None:
    """handles: Every origin with every id: as many handles as references."""
    references = [
        _reference({"origin": origin, "id": page})
        for origin in case["origins"]
        for page in case["ids"]
    ]
    handles = [format_handle(reference) for reference in references]
    assert len(handles) == case["expect"]["handles"]
    assert len(set(handles)) == case["expect"]["distinct"]
    assert [parse_handle(handle) for handle in handles] == references


@pytest.mark.parametrize("text", ["HERE", "inherited", "inherited:", "there", "", "inherited:a/b"])
def test_an_origin_that_there_is_not_is_refused(text: str) -> None:
    """handles: Letter case counts, and a run has to be one."""
    with pytest.raises(InvalidIdError):
        Origin(text)


def test_an_origin_knows_its_run() -> None:
    """handles: `here` and `shared` name none."""
    assert Origin("inherited:r1").run == RunId("r1")
    assert Origin.inherited(RunId("r1")) == "inherited:r1"
    assert (HERE.run, SHARED.run, Origin("here")) == (None, None, HERE)


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_json_does_not_have_is_refused(constant: str) -> None:
    """handles: Python's reader of JSON takes more than JSON."""
    found = parse_handle(f"knowledge-ref:v1:[null,{constant}]")
    assert isinstance(found, Malformed)
    assert found.reason == "bad-json"
