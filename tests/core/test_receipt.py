"""The bounds of a receipt, each list of it at 63, 64 and 65, and of a collector."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from counterfoil.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CommandExited,
    ErrorRaised,
    Event,
    FileWritten,
    PagesRetrieved,
    PageWritten,
    Payload,
    PolicyDecided,
    ToolCalled,
    ToolFailed,
    ToolReturned,
)
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.core.receipt import fold_receipt
from counterfoil.core.turns import ROWS, ReceiptCollector

THREAD = ThreadId("t1")
LISTS: dict[str, Callable[[int], Payload]] = {
    "tools": lambda n: ToolCalled(tool=f"tool-{n}", arguments="{}"),
    "commands": lambda n: CommandExited(command=f"command {n}"),
    "files": lambda n: FileWritten(path=f"{n}.md", mode="create"),
    "pages": lambda n: PageWritten(run="t1", page=f"p{n}"),
    "denials": lambda n: PolicyDecided(command=f"sudo {n}", verdict="denied", by="policy"),
    "approvals": lambda n: ApprovalDecided(command=f"make {n}", decision="approved"),
    "errors": lambda n: ErrorRaised(message=f"error {n}"),
}


def _event(seq: int, payload: Payload, call: str | None = None) -> Event:
    return Event(
        seq=seq,
        id=EventId.from_number(seq),
        occurred_at="2026-03-01T09:00:00.000Z",
        thread=THREAD,
        turn=1,
        call=call,
        payload=payload,
    )


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize(("count", "omitted"), [(63, 0), (64, 0), (65, 1)])
def test_a_list_shows_64_rows_and_counts_the_rest(name: str, count: int, omitted: int) -> None:
    """receipt-bounds: One under, at it, one over; the first rows are those shown."""
    rows = [LISTS[name](number) for number in range(count)]
    receipt = fold_receipt([_event(1, row) for row in rows], "t1", 1)
    shown = getattr(receipt, name)
    assert len(shown) == count - omitted
    assert dict(receipt.omitted) == dict.fromkeys(LISTS, 0) | {name: omitted}
    first = fold_receipt([_event(1, rows[0])], "t1", 1)
    assert shown[0] == getattr(first, name)[0]


@pytest.mark.parametrize("count", [63, 64, 65])
def test_the_handles_of_one_search_may_go_past_the_bound(count: int) -> None:
    """receipt-bounds: A search is cut in the middle of its handles, and they are counted."""
    handles = tuple(f"here::p{number}" for number in range(count))
    receipt = fold_receipt(
        [_event(1, PagesRetrieved(run="t1", query="x", handles=handles))], "t1", 1
    )
    assert [row.handle for row in receipt.pages] == list(handles[:ROWS])
    assert dict(receipt.omitted)["pages"] == max(0, count - ROWS)


@pytest.mark.parametrize("count", [63, 64, 65])
@pytest.mark.parametrize("is_answer_first", [False, True])
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (ToolReturned(tool="x", outcome="ok"), "ok"),
        (ToolReturned(tool="x"), "unknown"),
        (ToolFailed(tool="x", message="no"), "error"),
    ],
)
def test_a_result_past_the_bound_changes_nothing_else(
    count: int,
    is_answer_first: bool,  # noqa: FBT001 - a case
    answer: Payload,
    outcome: str,
) -> None:
    """receipt-bounds: Calls past the bound are answered, whichever event came first."""
    calls = [
        _event(1, LISTS["tools"](number), call=f"c{number}" if number else None)
        for number in range(count)
    ]
    answers = [_event(2, answer, call=f"c{number}") for number in range(1, count)]
    events = answers + calls if is_answer_first else calls + answers
    receipt = fold_receipt(events, "t1", 1)
    assert [row.outcome for row in receipt.tools] == ["unknown"] + [outcome] * (
        min(count, ROWS) - 1
    )
    assert [(c.code, c.count) for c in receipt.caveats] == [
        ("open-turn", 1),
        ("call-without-result", 1),
    ]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (2, 3, 0, 1), (0, 2, 3, 1), (2, 0, 1, 3)])
def test_of_an_id_used_twice_the_nth_result_belongs_to_the_nth_call(order: list[int]) -> None:
    """receipt: Whatever stands between, and also where results stand first."""
    events = [
        _event(1, ToolCalled(tool="first", arguments="{}"), call="c"),
        _event(2, ToolCalled(tool="second", arguments="{}"), call="c"),
        _event(3, ToolReturned(tool="x", outcome="ok"), call="c"),
        _event(4, ToolFailed(tool="x", message="no"), call="c"),
    ]
    receipt = fold_receipt([events[place] for place in order], "t1", 1)
    assert [(row.name, row.outcome, row.error) for row in receipt.tools] == [
        ("first", "ok", None),
        ("second", "error", "no"),
    ]
    assert [caveat.code for caveat in receipt.caveats] == ["open-turn"]


def test_a_request_without_a_call_gives_its_level_to_no_decision() -> None:
    """receipt: Requests and decisions are joined by `call` and by nothing else."""
    events = [
        _event(1, ApprovalRequested(command="make", level="high")),
        _event(2, ApprovalDecided(command="make", decision="approved")),
        _event(3, ApprovalDecided(command="make", decision="approved"), call="c"),
        _event(4, ApprovalRequested(command="make", level="low"), call="c"),
        _event(5, ApprovalDecided(command="make", decision="cached"), call="c"),
        _event(6, ApprovalDecided(command="other", decision="denied"), call="c"),
    ]
    levels = [row.level for row in fold_receipt(events, "t1", 1).approvals]
    assert levels == [None, None, None, "low"]


def test_an_event_of_no_turn_is_not_collected() -> None:
    """collector: What stands before the first prompt belongs to no receipt."""
    collector = ReceiptCollector()
    collector.add(replace(_event(1, ErrorRaised(message="x")), turn=None))
    assert collector.take(1) == ((), 0)


@pytest.mark.parametrize(("count", "dropped"), [(511, 0), (512, 0), (513, 1)])
def test_a_collector_holds_512_events(count: int, dropped: int) -> None:
    """collector: One under, at it, one over; the oldest falls out and is counted."""
    collector = ReceiptCollector()
    events = [_event(seq, ErrorRaised(message="x")) for seq in range(1, count + 1)]
    for event in events:
        collector.add(event)
    assert collector.take(1) == (tuple(events[dropped:]), dropped)
    assert collector.take(1) == ((), 0)
