"""A receipt on the wire: numbers as RFC 8785 writes them, keys for what was recorded."""

import pytest

from counterfoil.core.events import Event, Payload, ReplyGiven, ToolCalled, Usage
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.core.receipt import fold_receipt
from counterfoil.wire.check import encode_json
from counterfoil.wire.receipt import receipt_to_json


def _wire(*payloads: Payload) -> dict[str, object]:
    events = [
        Event(
            seq=1,
            id=EventId.from_number(1),
            occurred_at="2026-03-01T09:00:00.000Z",
            thread=ThreadId("t1"),
            turn=1,
            payload=payload,
        )
        for payload in payloads
    ]
    return receipt_to_json(fold_receipt(events, "t1", 1))


@pytest.mark.parametrize(
    ("milliseconds", "written"),
    [(None, b"null"), (0, b"0"), (999, b"0.999"), (1000, b"1"), (1001, b"1.001"), (62_000, b"62")],
)
def test_milliseconds_are_written_as_seconds(milliseconds: int | None, written: bytes) -> None:
    """receipt: A whole number of seconds has no point."""
    value = _wire(ReplyGiven(text="x", milliseconds=milliseconds))
    assert encode_json(value["seconds"]) == written


@pytest.mark.parametrize(
    ("usage", "written"),
    [
        (None, None),
        (Usage(), None),
        (Usage(input=0), {"input": 0}),
        (Usage(output=2, reasoning=3), {"output": 2, "reasoning": 3}),
    ],
)
def test_usage_has_only_what_was_reported(
    usage: Usage | None, written: dict[str, int] | None
) -> None:
    """receipt: Nothing reported is no usage; zero reported is zero."""
    assert _wire(ReplyGiven(text="x", usage=usage)).get("usage") == written


def test_a_row_has_a_key_for_what_was_recorded() -> None:
    """receipt: `outcome` is always there, nothing else is written as null."""
    assert _wire(ToolCalled(tool="a", arguments="{}"))["tools"] == [
        {"name": "a", "arguments": "{}", "outcome": "unknown"}
    ]
