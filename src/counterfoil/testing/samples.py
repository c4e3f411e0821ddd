"""Facts to record in tests: one of each kind, and of what makes an adapter stumble.

Nothing here asks a clock or draws a number: the same samples every time.
"""

from collections.abc import Iterator

from counterfoil.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CommandExited,
    ContextCondensed,
    EntryRecalled,
    EntryStored,
    ErrorRaised,
    Fact,
    FileWritten,
    InstructionsGiven,
    ModelAsked,
    OutputElided,
    PagesRetrieved,
    PageWritten,
    Payload,
    PolicyDecided,
    PromptReceived,
    ReasoningGiven,
    RecordDamaged,
    ReplyGiven,
    ThreadClosed,
    ThreadOpened,
    ToolCalled,
    ToolFailed,
    ToolReturned,
    Unrecognized,
    Usage,
)
from counterfoil.core.ids import EventId, ThreadId

THREAD = ThreadId("sample")
"""The thread of `sample_fact` where none is given."""

OCCURRED_AT = "2026-03-01T09:00:00.000Z"
"""When every sample occurred, so that only a place in a log can order them."""

PAYLOADS: tuple[Payload, ...] = (
    ThreadOpened(face="cli", tools=("bash",), instructions=True, versions={"counterfoil": "1"}),
    InstructionsGiven(text="Répondez.\u2028In one line."),
    PromptReceived(text="list the files", source="person"),
    ModelAsked(model="m", entries=(1, 2), estimated_tokens=0),
    ReasoningGiven(text="", milliseconds=0),
    ToolCalled(tool="bash", arguments='{"command": "ls"}'),
    PolicyDecided(command="ls", verdict="allowed", by="policy"),
    ApprovalRequested(command="ls", level="once", shown="Run ls?"),
    ApprovalDecided(command="ls", decision="approved", scope="once"),
    CommandExited(command="ls", exit_status=0, stdout="a\x00b\n", milliseconds=2**53 - 1),
    ToolReturned(tool="bash", output="lone \ud800 surrogate", bytes=5, outcome="ok"),
    ToolFailed(tool="bash", message="\U0010ffff"),
    FileWritten(path="/tmp/a", mode="create", created=True),  # noqa: S108 - a name, not a file
    OutputElided(entry=3, tool="bash", elided_bytes=10),
    ContextCondensed(steps=("elide", "drop")),
    EntryRecalled(request="entry 3", found=False),
    EntryStored(entry=3, entry_kind="reply", events=("0000000000000001",)),
    PageWritten(run="r", page="x", cites=()),
    PagesRetrieved(run="r", query="x", handles=("here::x",)),
    ErrorRaised(message="it broke", where="turn"),
    RecordDamaged(what="torn-line", bytes=12),
    Unrecognized(kind="rocket_launched", details='{"to":"Mars"}'),
    ReplyGiven(text="x" * 100_000, usage=Usage(input=1, output=2)),
    ThreadClosed(reason="closed"),
)
"""One of each kind, with texts that are empty, long, or hold what files do not like."""


def sample_fact(
    number: int,
    payload: Payload | None = None,
    *,
    thread: ThreadId = THREAD,
    turn: int | None = 1,
) -> Fact:
    """Return the fact whose id is made of `number`; it is the same fact every time."""
    return Fact(
        id=EventId.from_number(number),
        occurred_at=OCCURRED_AT,
        thread=thread,
        turn=turn,
        payload=PAYLOADS[number % len(PAYLOADS)] if payload is None else payload,
    )


def _facts() -> Iterator[Fact]:
    yield from (sample_fact(number) for number in range(1, len(PAYLOADS) + 1))
    yield sample_fact(100, thread=ThreadId("Sample"), turn=None)
    yield Fact(
        id=EventId("ffffffffffffffff"),
        occurred_at="0001-01-01T00:00:00.000Z",
        thread=ThreadId("a" * 64),
        turn=2**53 - 1,
        call="call\x00",
        payload=PromptReceived(text="kept"),
        kept=((("traceparent",), '"00-ab"'), (("details", "source"), "null")),
    )


SAMPLES: tuple[Fact, ...] = tuple(_facts())
"""Facts of several threads and turns, for a log to keep as they are."""
