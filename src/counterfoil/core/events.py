"""The closed union of events: one fact each, past tense, never changed.

Each kind is one frozen dataclass; its wire kind is its name in snake case and its
wire fields are its fields in camel case (design.md section 4). A field without a
default is always recorded; every other may be `None`, which means *not recorded*.
What this version does not know becomes `Unrecognized`: kept, counted, written back.
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from counterfoil.core.ids import EventId, ThreadId

Outcome = Literal["ok", "error", "denied", "cancelled", "interrupted", "unknown"]
"""How a tool answered; none of them says how a command ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadOpened:
    """A conversation began."""

    face: str | None = None
    model: str | None = None
    tools: tuple[str, ...] | None = None
    instructions: bool | None = None
    parent: str | None = None
    cwd: str | None = None
    versions: dict[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadClosed:
    """A conversation ended."""

    reason: Literal["closed", "evicted", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionsGiven:
    """The thread's unchanging instructions were set."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningGiven:
    """The model reported its reasoning."""

    text: str
    milliseconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryStored:
    """An entry got its number and the ids of the events that hold its content."""

    entry: int
    entry_kind: str
    origin: str | None = None
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptReceived:
    """Somebody asked: the turn begins."""

    text: str
    source: Literal["person", "caller", "harness"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAsked:
    """The model was asked, with these entries."""

    model: str | None = None
    entries: tuple[int, ...] | None = None
    estimated_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the model reported them; `None` where it did not."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyGiven:
    """The model answered: the turn is closed."""

    text: str
    condensed: bool | None = None
    milliseconds: int | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled:
    """The model asked for a tool; `arguments` is the exact JSON text."""

    tool: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReturned:
    """A tool answered."""

    tool: str
    output: str | None = None
    bytes: int | None = None
    milliseconds: int | None = None
    outcome: Outcome | None = None
    truncated: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFailed:
    """A tool threw instead of answering."""

    tool: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDecided:
    """A policy or a gate allowed, denied or, having asked, disapproved."""

    command: str
    directory: str | None = None
    verdict: Literal["allowed", "denied", "disapproved"]
    by: Literal["policy", "gate"]
    reason: str | None = None
    sandbox: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandExited:
    """A command ended; `exit_status` is `None` where nobody recorded it."""

    command: str
    directory: str | None = None
    exit_status: int | None = None
    signal: int | None = None
    timed_out: bool | None = None
    truncated: bool | None = None
    stdout: str | None = None
    stderr: str | None = None
    milliseconds: int | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested:
    """A person was asked; `shown` is the exact text put before them."""

    command: str
    pattern: str | None = None
    level: str | None = None
    shown: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalDecided:
    """An approval was given or refused, or came out of a standing grant."""

    command: str
    pattern: str | None = None
    decision: Literal["approved", "denied", "timed_out", "cancelled", "cached"]
    scope: Literal["once", "turn", "session", "project", "always"] | None = None
    by: str | None = None
    reason: str | None = None
    expires_at: str | None = None
    downgraded_from: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileWritten:
    """A tool wrote a file."""

    path: str
    mode: str
    created: bool | None = None
    bytes_before: int | None = None
    bytes_after: int | None = None
    digest_after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextCondensed:
    """Older material was taken out of what the model reads."""

    turns_before: int | None = None
    turns_after: int | None = None
    steps: tuple[Literal["elide", "drop"], ...] | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputElided:
    """An old output was replaced by a reference to its entry."""

    entry: int
    tool: str | None = None
    bytes: int | None = None
    elided_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRecalled:
    """The model asked for older material by number."""

    request: str
    target: str | None = None
    found: bool | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageWritten:
    """A knowledge page was written."""

    run: str
    page: str
    path: str | None = None
    digest_before: str | None = None
    digest_after: str | None = None
    cites: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesRetrieved:
    """A search returned these handles."""

    run: str
    query: str
    snapshot_digest: str | None = None
    handles: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRaised:
    """Something failed; `where` is `turn` when it ended the turn."""

    message: str
    where: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordDamaged:
    """The record lacks something here; `what` is the code of the caveat."""

    source: str | None = None
    place: str | None = None
    bytes: int | None = None
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrecognized:
    """A kind that this version does not know; `details` is its canonical JSON."""

    kind: str
    details: str


Payload: TypeAlias = (
    ThreadOpened
    | ThreadClosed
    | InstructionsGiven
    | ReasoningGiven
    | EntryStored
    | PromptReceived
    | ModelAsked
    | ReplyGiven
    | ToolCalled
    | ToolReturned
    | ToolFailed
    | PolicyDecided
    | CommandExited
    | ApprovalRequested
    | ApprovalDecided
    | FileWritten
    | ContextCondensed
    | OutputElided
    | EntryRecalled
    | PageWritten
    | PagesRetrieved
    | ErrorRaised
    | RecordDamaged
    | Unrecognized
)

Kept: TypeAlias = tuple[tuple[tuple[str, ...], str], ...]
"""What a reader found beside the known fields: paths, each with canonical JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One fact in the ledger, with its place in it.

    Order is `seq`, never `occurred_at`: clocks step back. `call` joins a call to
    what came of it. `turn` is `None` before the first prompt.
    """

    seq: int
    id: EventId
    occurred_at: str
    thread: ThreadId
    turn: int | None = None
    call: str | None = None
    payload: Payload
    kept: Kept = ()


def kind_of(payload: Payload) -> str:
    """Return the wire kind of `payload`: its name in snake case.

    >>> kind_of(ThreadClosed(reason="closed"))
    'thread_closed'
    """
    if isinstance(payload, Unrecognized):
        return payload.kind
    return _WIRE_KINDS[type(payload)]


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


KINDS: dict[str, type[Payload]] = {
    _snake(payload.__name__): payload for payload in Payload.__args__ if payload is not Unrecognized
}
"""Every known kind by its wire name."""

_WIRE_KINDS = {payload: kind for kind, payload in KINDS.items()}

OUTSIDE_RECEIPTS: frozenset[type[Payload]] = frozenset(
    {
        ThreadOpened,
        ThreadClosed,
        InstructionsGiven,
        ReasoningGiven,
        EntryStored,
        PromptReceived,
        ModelAsked,
        OutputElided,
        EntryRecalled,
    }
)
"""The kinds that a receipt leaves out; every other is shown in one (design.md section 4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """An event before it has its place in a ledger."""

    id: EventId
    occurred_at: str
    thread: ThreadId
    turn: int | None = None
    call: str | None = None
    payload: Payload
    kept: Kept = ()

    def at(self, seq: int) -> Event:
        """Return this fact as the `seq`-th event of a ledger."""
        return Event(
            seq=seq,
            id=self.id,
            occurred_at=self.occurred_at,
            thread=self.thread,
            turn=self.turn,
            call=self.call,
            payload=self.payload,
            kept=self.kept,
        )
