"""Every case of the normative vectors of the core, each by its id."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from counterfoil.core.events import Event
from counterfoil.core.intervals import Intervals
from counterfoil.core.ran import ran_line
from counterfoil.core.receipt import fold_receipt
from counterfoil.core.refs.cited import check_entries
from counterfoil.core.refs.entries import find_entry_references
from counterfoil.wire.events import event_from_json
from counterfoil.wire.receipt import receipt_to_json

Case = dict[str, Any]

_VECTORS = Path(__file__).parents[1] / "vectors"


def _cases(name: str, *with_keys: str) -> list[Any]:
    """Return the cases of a file that have all of `with_keys`, each by its id."""
    document = json.loads((_VECTORS / f"{name}.json").read_bytes())
    assert document["format"] == 1
    found = [case for case in document["cases"] if all(key in case for key in with_keys)]
    return [pytest.param(case, id=case["id"]) for case in found]


def _text(case: Case) -> str:
    if "text" in case:
        return str(case["text"])
    return _written(case)(case["generate"]["times"])


def _written(case: Case) -> Callable[[int], str]:
    """Return the text of a generated case with its middle repeated as often as asked."""
    made = case["generate"]
    prefix, suffix = str(made["prefix"]), str(made.get("suffix", ""))
    return lambda times: prefix + str(made["repeat"]) * times + suffix


def _events(case: Case) -> list[Event]:
    events = [event_from_json(value) for value in case["events"]]
    assert all(isinstance(event, Event) for event in events), "all events of a case decode"
    return [event for event in events if isinstance(event, Event)]


@pytest.mark.parametrize("case", _cases("entry-references", "text"))
def test_entry_references_of_a_text_are_read(case: Case) -> None:
    """entry-grammar: Spans and items are those of the vector."""
    found = [
        {"span": list(reference.span), "items": [list(item) for item in reference.items]}
        for reference in find_entry_references(case["text"])
    ]
    assert found == case["expect"]["references"]


@pytest.mark.parametrize("case", _cases("entry-references", "generate"))
def test_entry_references_of_a_long_text_are_read(case: Case) -> None:
    """entry-grammar: Counts and the first and the last span are those of the vector."""
    found = list(find_entry_references(_text(case)))
    expect = case["expect"]
    assert len(found) == expect["count"]
    assert sum(len(reference.items) for reference in found) == expect["items"]
    spans = [list(reference.span) for reference in found]
    assert (spans[0] if spans else None) == expect["first_span"]
    assert (spans[-1] if spans else None) == expect["last_span"]


@pytest.mark.parametrize("case", _cases("entry-references", "generate"))
def test_entry_references_are_read_in_linear_time(case: Case, growth: Callable[..., float]) -> None:
    """entry-grammar: Twice the text costs at most 2.5 times."""
    assert case["expect"]["linear"] is True
    read = _consumed_references
    assert growth(read, _written(case), case["generate"]["times"]) <= 2.5


def _consumed_references(text: str) -> int:
    return sum(1 for _ in find_entry_references(text))


def _stored(case: Case) -> Intervals:
    return Intervals((low, high) for low, high in case["stored"])


@pytest.mark.parametrize("case", _cases("cited-line"))
def test_cited_entries_are_checked(case: Case) -> None:
    """cited-line: Counts, missing numbers and the line are those of the vector."""
    cited = check_entries(find_entry_references(_text(case)), _stored(case))
    expect = dict(case["expect"])
    expect.pop("linear", None)
    assert {
        "cited_checked": len(cited.cited),
        "missing": list(cited.missing),
        "unchecked": cited.unchecked,
        "line": cited.line,
    } == expect


@pytest.mark.parametrize("case", _cases("cited-line", "generate"))
def test_cited_entries_are_checked_in_linear_time(case: Case, growth: Callable[..., float]) -> None:
    """cited-line: Twice the text costs at most 2.5 times, whatever the numbers in it."""
    assert case["expect"]["linear"] is True
    stored = _stored(case)

    def _check(text: str) -> object:
        return check_entries(find_entry_references(text), stored)

    assert growth(_check, _written(case), case["generate"]["times"]) <= 2.5


@pytest.mark.parametrize("case", _cases("receipts"))
def test_a_turn_folds_to_its_receipt(case: Case) -> None:
    """receipt: The fold is, in wire form, that of the vector."""
    receipt = fold_receipt(
        _events(case), case["thread"], case["turn"], dropped=case.get("dropped", 0)
    )
    assert receipt_to_json(receipt) == case["expect"]


@pytest.mark.parametrize("case", _cases("ran-line"))
def test_a_turn_has_its_ran_line(case: Case) -> None:
    """ran: The line is that of the vector."""
    line = ran_line(
        _events(case), case["thread"], case["turn"], reply=case["reply"], tools=case["tools"]
    )
    assert line == case["expect"]
