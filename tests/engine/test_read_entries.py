"""What stands at a place: the entry of that number, or the line of another agent's file."""

from typing import Any

import pytest

from counterfoil.core.events import (
    CommandExited,
    ErrorRaised,
    FileWritten,
    InstructionsGiven,
    ModelAsked,
    Payload,
    PolicyDecided,
    PromptReceived,
    ReasoningGiven,
    RecordDamaged,
    ReplyGiven,
    ThreadClosed,
    ToolCalled,
    ToolFailed,
    ToolReturned,
    Unrecognized,
)
from counterfoil.engine.read_entries import standing_at

# A session is the fake transcript of `conftest.py`: its steps are told in the test.
Session = Any


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (PromptReceived(text="a"), "a"),
        (ReasoningGiven(text="b"), "b"),
        (InstructionsGiven(text="c"), "c"),
        (ToolCalled(tool="bash", arguments="{}"), "bash {}"),
        (ToolReturned(tool="bash", output="x\n", outcome="ok"), "bash: ok\nx\n"),
        (ToolReturned(tool="bash"), "bash: outcome not recorded\n"),
        (ToolFailed(tool="bash", message="no"), "no"),
        (ErrorRaised(message="broke"), "broke"),
        (CommandExited(command="ls", exit_status=0, stdout="a\n"), "ls\nexit status 0\na"),
        (CommandExited(command="ls"), "ls\nexit status not recorded"),
        (
            PolicyDecided(command="ls", verdict="denied", by="gate", reason="no"),
            "denied by gate: ls (no)",
        ),
        (
            PolicyDecided(command="ls", verdict="allowed", by="policy"),
            "allowed by policy: ls (no reason recorded)",
        ),
        (FileWritten(path="a.py", mode="append"), "append a.py"),
        (RecordDamaged(what="torn-line", place="line 3"), "torn-line at line 3"),
        (RecordDamaged(what="torn-line"), "torn-line at an unknown place"),
        (ThreadClosed(reason="closed"), "reason: closed"),
        (ModelAsked(model="m", estimated_tokens=0), "model: m\nestimated tokens: 0"),
        (Unrecognized(kind="odd", details="{}"), "kind: odd\ndetails: {}"),
    ],
)
def test_an_event_stands_at_its_line(session: Session, payload: Payload, text: str) -> None:
    """read-at: Every kind is told in words a person can read."""
    session.asks()
    line = session.event(payload, call="c9")
    (found,) = standing_at(session, line)
    assert (found.text, found.line, found.call, found.thread) == (text, line, "c9", "t1")
    assert (found.turn, found.source) == (1, "")
    assert list(standing_at(session, line + 1)) == []


def test_a_reply_is_told_as_what_was_said(session: Session) -> None:
    """read-at: Once, although it is an event and a text."""
    session.asks()
    line = session.replies("Done.")
    (found,) = standing_at(session, line)
    assert (found.kind, found.text, found.turn, found.call) == ("reply", "Done.", 1, None)


def test_lines_of_a_sub_agents_file_are_not_lines_of_the_main_one(session: Session) -> None:
    """read-at: A place is one of the file that was named."""
    line = session.asks("Outer.")
    session.shows("a.py", 1, 2)
    with session.within("agent"):
        session.asks("Inner.")
        session.says("Inner words.")
    assert [one.text for one in standing_at(session, line)] == ["Outer."]
    assert [one.text for one in standing_at(session, 2)] == []


def test_an_entry_is_the_events_that_hold_it(own: Session) -> None:
    """read-at: In a thread of our own a place is a number of an entry."""
    own.asks("What?")
    prompt = own.last_id
    own.stores(1, prompt)
    own.event(ToolCalled(tool="bash", arguments="{}"), call="c1")
    first = own.last_id
    own.event(ToolCalled(tool="read", arguments="{}"), call="c2")
    own.stores(2, first, own.last_id)
    own.event(ReplyGiven(text="Done."))
    own.stores(3)
    assert [(one.kind, one.text) for one in standing_at(own, 2)] == [
        ("tool_called", "bash {}"),
        ("tool_called", "read {}"),
    ]
    assert [one.text for one in standing_at(own, 3)] == ["Done."]
    assert list(standing_at(own, 4)) == []
