"""Every case of the normative vectors of events in wire form, each by its id."""

import base64
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from counterfoil.core.canonical import canonical_json
from counterfoil.core.events import KINDS, Event, kind_of
from counterfoil.wire.events import decode_event, encode_event
from counterfoil.wire.strict_json import Malformed, read_json

Case = dict[str, Any]

_VECTORS = Path(__file__).parents[1] / "vectors"


def _cases(key: str) -> list[Any]:
    """Return the cases with `key`, in the case or in what it expects, each by its id."""
    document = json.loads((_VECTORS / "events.json").read_bytes())
    assert document["format"] == 1
    found = [case for case in document["cases"] if key in case or key in case["expect"]]
    return [pytest.param(case, id=case["id"]) for case in found]


def _line(case: Case) -> str | bytes:
    if "base64" in case:
        return base64.b64decode(case["base64"], validate=True)
    return str(case["line"])


@pytest.mark.parametrize("case", _cases("leaf"))
def test_any_spelling_of_an_event_is_written_canonically(case: Case) -> None:
    """events-wire: Kind, canonical text and leaf are those of the vector."""
    event = decode_event(_line(case))
    assert isinstance(event, Event)
    expect = case["expect"]
    assert kind_of(event.payload) == expect["kind"]
    assert (kind_of(event.payload) in KINDS) is expect["known"]
    encoded = encode_event(event)
    assert encoded.decode() == expect["canonical"]
    assert sha256(b"\x00" + encoded).hexdigest() == expect["leaf"]


@pytest.mark.parametrize("case", _cases("leaf"))
def test_an_event_reads_alike_as_text_and_as_bytes(case: Case) -> None:
    """events-wire: The bytes of a line say what its text says."""
    line = _line(case)
    assert isinstance(line, str)
    assert decode_event(line.encode()) == decode_event(line)


@pytest.mark.parametrize("case", _cases("malformed"))
def test_what_is_no_event_says_why(case: Case) -> None:
    """events-malformed: Reason and field are those of the vector."""
    expect = case["expect"]["malformed"]
    assert decode_event(_line(case)) == Malformed(expect["reason"], expect.get("field"))


@pytest.mark.parametrize("case", _cases("json"))
def test_json_has_one_canonical_text(case: Case) -> None:
    """canonical: The text is that of the vector."""
    value = read_json(case["json"])
    assert not isinstance(value, Malformed)
    assert canonical_json(value) == case["expect"]["canonical"]


# What a ledger's lines hash to (leaves, roots and both kinds of proofs of these cases)
# belongs to the issue of the ledger's proofs; here its lines are read and written.
@pytest.mark.parametrize("case", _cases("ledger"))
def test_the_lines_of_a_ledger_are_written_byte_for_byte(case: Case) -> None:
    """events-kept: A line that was canonical is written back as it was, in its order."""
    events = [decode_event(line) for line in case["ledger"]]
    kept = [event for event in events if isinstance(event, Event)]
    assert [encode_event(event).decode() for event in kept] == case["ledger"]
    assert [event.seq for event in kept] == list(range(1, len(events) + 1))


def test_every_case_of_the_vectors_is_run() -> None:
    """events-wire: No case is of a kind that no test here reads."""
    document = json.loads((_VECTORS / "events.json").read_bytes())
    run = {case.id for key in ("leaf", "malformed", "json", "ledger") for case in _cases(key)}
    assert run == {case["id"] for case in document["cases"]}
