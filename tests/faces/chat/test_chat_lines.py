"""What a person sees of a turn, line by line."""

from typing import Any

import pytest

from counterfoil.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CommandExited,
    ContextCondensed,
    EntryStored,
    ErrorRaised,
    Event,
    FileWritten,
    PageWritten,
    Payload,
    PolicyDecided,
    ReplyGiven,
    ToolCalled,
    ToolFailed,
    ToolReturned,
    Usage,
)
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.core.receipt import fold_receipt
from counterfoil.core.refs.cited import CitedEntries
from counterfoil.engine.turn_result import TurnResult
from counterfoil.faces.cli.chat.lines import (
    FOLD_BYTES,
    FOLD_LINES,
    cost_words,
    event_lines,
    fold,
    has_missing,
    result_lines,
)
from counterfoil.faces.cli.output import Line

THREAD = ThreadId("t1")
ID = "00000000000000ab"


def _event(payload: Payload) -> Event:
    at = "2026-03-01T09:00:00.000Z"
    return Event(seq=1, id=EventId(ID), occurred_at=at, thread=THREAD, turn=1, payload=payload)


def _texts(lines: list[Line]) -> list[str]:
    return ["".join(text for text, _ in line) for line in lines]


@pytest.mark.parametrize(
    ("payload", "lines"),
    [
        (ToolCalled(tool="read_file", arguments='{"path": "a"}'), ['→ read_file {"path": "a"}']),
        (
            ToolReturned(tool="t", output="x\ny\n", bytes=4, milliseconds=140, outcome="ok"),
            ["← t: ok · 4 bytes · 0.1 s", "  │ x", "  │ y"],
        ),
        (
            ToolReturned(tool="t", truncated=True, outcome="error"),
            ["← t: error · cut"],
        ),
        (ToolReturned(tool="t"), ["← t: outcome not recorded"]),
        (ToolFailed(tool="t", message="no\nway"), ["← t: failed", "  │ no", "  │ way"]),
        (
            CommandExited(command="make", exit_status=2, milliseconds=3800, truncated=True),
            ["  exit status 2 · 3.8 s · cut"],
        ),
        (CommandExited(command="make", timed_out=True), ["  timed out"]),
        (CommandExited(command="make", stdout="unseen"), ["  exit status not recorded"]),
        (
            CommandExited(command="ls", exit_status=0, source="person", stdout="a", stderr="b"),
            ["  exit status 0", "  │ a", "  │ b"],
        ),
        (
            PolicyDecided(command="make", verdict="allowed", by="policy"),
            ["  allowed by the policy"],
        ),
        (
            PolicyDecided(command="sudo id", verdict="denied", by="policy", reason="escalation"),
            ["  denied by the policy: escalation"],
        ),
        (PolicyDecided(command="ls", verdict="allowed", by="policy", source="person"), []),
        (ApprovalRequested(command="make", level="moderate"), ["  needs approval · moderate"]),
        (ApprovalRequested(command="make"), ["  needs approval · level not recorded"]),
        (
            ApprovalDecided(command="make", decision="approved", scope="once", by="person"),
            ["  approved by person · once"],
        ),
        (ApprovalDecided(command="make", decision="timed_out"), ["  timed out"]),
        (
            ApprovalDecided(command="m", pattern="m *", decision="cached", scope="project"),
            ["  covered by a grant: m * (project)"],
        ),
        (
            ApprovalDecided(command="m", decision="cached"),
            ["  covered by a grant:  (scope not recorded)"],
        ),
        (FileWritten(path="a.md", mode="append", bytes_after=1088), ["  append a.md, 1,088 bytes"]),
        (FileWritten(path="a.md", mode="write"), ["  write a.md"]),
        (PageWritten(run="t1", page="x"), ["  wrote page x"]),
        (
            ContextCondensed(turns_before=8, turns_after=3),
            ["context condensed: 8 turns, 3 kept"],
        ),
        (ErrorRaised(message="grants", where="grants"), ["error: grants"]),
        (ErrorRaised(message="told at the end", where="turn"), []),
        (EntryStored(entry=2, entry_kind="prompt", events=(ID,)), []),
    ],
)
def test_an_event_is_told_in_its_own_words(payload: Payload, lines: list[str]) -> None:
    """chat-face: The call, the verdict, the approval, the result with bytes, time and status."""
    assert _texts(event_lines(_event(payload))) == lines


HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e\r\x9b31m"


@pytest.mark.parametrize(
    "payload",
    [
        ToolCalled(tool=HOSTILE, arguments=HOSTILE),
        ToolReturned(tool=HOSTILE, output=HOSTILE),
        ToolFailed(tool=HOSTILE, message=HOSTILE),
        PolicyDecided(command=HOSTILE, verdict="denied", by="gate", reason=HOSTILE),
        ApprovalRequested(command=HOSTILE, level=HOSTILE),
        ApprovalDecided(command=HOSTILE, decision="approved", by=HOSTILE),
        ApprovalDecided(command=HOSTILE, pattern=HOSTILE, decision="cached"),
        CommandExited(command=HOSTILE, source="person", stdout=HOSTILE, stderr=HOSTILE),
        FileWritten(path=HOSTILE, mode=HOSTILE),
        PageWritten(run="r", page=HOSTILE),
        ErrorRaised(message=HOSTILE),
    ],
)
def test_nothing_in_an_event_steers_the_terminal(payload: Payload) -> None:
    """plain-text: Escapes, carriage returns and bidirectional controls are written out."""
    for text in _texts(event_lines(_event(payload))):
        assert not set(text) & set("\x1b\x07\u202e\r\x9b\n")


@pytest.mark.parametrize("lines", [FOLD_LINES - 1, FOLD_LINES, FOLD_LINES + 1])
def test_an_output_is_folded_past_twenty_lines(lines: int) -> None:
    """chat-face: Twenty lines stand whole; of more the first twenty, and how to see the rest."""
    shown = _texts(fold("".join(f"{n}\n" for n in range(lines)), ID))
    assert shown[:FOLD_LINES] == [f"  │ {n}" for n in range(min(lines, FOLD_LINES))]
    assert shown[FOLD_LINES:] == (
        [f"  … 21 lines, 53 bytes in all: /show {ID}"] if lines > FOLD_LINES else []
    )


@pytest.mark.parametrize("size", [FOLD_BYTES - 1, FOLD_BYTES, FOLD_BYTES + 1])
def test_an_output_is_folded_past_two_kibibytes(size: int) -> None:
    """chat-face: 2 KiB stand whole; of more the first 2 KiB, and how to see the rest."""
    shown = _texts(fold("x" * size, ID))
    assert shown[0] == f"  │ {'x' * min(size, FOLD_BYTES)}"
    more = [f"  … 1 line, {size:,} bytes in all: /show {ID}"]
    assert shown[1:] == (more if size > FOLD_BYTES else [])


def test_a_fold_cuts_no_character() -> None:
    """chat-face: What is shown of an output is whole characters."""
    (first, _) = _texts(fold("é" * 2000, ID))
    assert first == f"  │ {'é' * (FOLD_BYTES // 2)}"


class _Pages:
    line: str | None = "cited but not visible to this run: shared::calibration, prior-result (2)"
    unknown: tuple[str, ...] = ("shared::calibration", "prior-result")


def _result(**more: Any) -> TurnResult:  # noqa: ANN401 - fields of a result
    reply = _event(ReplyGiven(text="R", milliseconds=3100, usage=Usage(input=900, output=60)))
    values: dict[str, Any] = {
        "thread": THREAD,
        "turn": 1,
        "outcome": "ok",
        "text": "R",
        "error": None,
        "receipt": fold_receipt((reply,), THREAD, 1),
        "calls": (),
        "refusals": (),
        "ran": "ran: inspect · system_info",
        "cited": CitedEntries(cited=(19, 20), missing=(19, 20), unchecked=0),
        "pages": _Pages(),
    }
    return TurnResult(**{**values, **more})


def test_the_lines_under_a_reply_stand_in_their_order() -> None:
    """turn-lines: ran, cited, citedPages, time and tokens; two blanks before each."""
    assert _texts(list(result_lines(_result(), 9))) == [
        "  ran: inspect · system_info",
        "  cited but not in this conversation: entries 19–20 (2)",
        "  cited but not visible to this run: shared::calibration, prior-result (2)",
        "  3.1 s · ↓900 ↑60",
    ]


def test_a_turn_without_anything_amiss_has_one_line() -> None:
    """turn-lines: What there is nothing to say about has no line."""
    fine = CitedEntries(cited=(2,), missing=(), unchecked=0)
    assert _texts(list(result_lines(_result(ran=None, cited=fine, pages=None), 9))) == [
        "  3.1 s · ↓900 ↑60"
    ]
    quiet = _Pages()
    quiet.line = None
    assert len(list(result_lines(_result(ran=None, cited=None, pages=quiet), 9))) == 1


def test_a_turn_that_failed_or_was_cancelled_says_so_and_after_how_long() -> None:
    """turn-lines: The last line says that there is no reply, and why."""
    failed = _result(outcome="error", error="no \x1bmodel", cited=None, pages=None)
    assert _texts(list(result_lines(failed, 2.04)))[-1] == "  failed after 2.0 s: no \\x1bmodel"
    unsaid = _result(outcome="error", cited=None, pages=None)
    assert _texts(list(result_lines(unsaid, 0)))[-1].endswith("no reason recorded")
    cancelled = _result(outcome="cancelled", cited=None, pages=None, ran=None)
    assert _texts(list(result_lines(cancelled, 1))) == ["  cancelled after 1.0 s"]


def test_time_and_tokens_are_said_as_far_as_they_are_recorded() -> None:
    """turn-lines: Nothing is said of what nobody reported."""

    def said(**reply: Any) -> str:  # noqa: ANN401 - fields of a reply
        return cost_words(fold_receipt((_event(ReplyGiven(text="R", **reply)),), THREAD, 1))

    assert said() == "time not recorded"
    assert said(milliseconds=50) == "0.1 s"
    assert said(usage=Usage(input=1200), condensed=True) == "↓1,200 ↑0 · condensed"
    assert said(usage=Usage(cached=3)) == "time not recorded"


def test_a_reply_is_at_fault_only_for_what_is_not_there() -> None:
    """exit-codes: Entries or pages that do not exist, nothing else."""
    fine = CitedEntries(cited=(2,), missing=(), unchecked=9)
    assert has_missing(_result(pages=None))
    assert has_missing(_result(cited=fine))
    assert not has_missing(_result(cited=fine, pages=None))
    assert not has_missing(_result(cited=None, pages=None))
