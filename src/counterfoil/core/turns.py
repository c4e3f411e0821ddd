"""The facts of one turn, gathered in one pass: what a receipt and `ran:` read.

`TurnFacts` keeps identities and counts, never outputs, so that a turn of any length
folds in memory bounded by its calls. Calls and results meet by `call` alone, in any
order; of an id used twice, the nth result belongs to the nth call (receipts.md
section 1). `ReceiptCollector` holds the events of turns that are still running.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar, cast

from counterfoil.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CommandExited,
    ContextCondensed,
    EntryStored,
    ErrorRaised,
    Event,
    FileWritten,
    Outcome,
    PagesRetrieved,
    PageWritten,
    Payload,
    PolicyDecided,
    RecordDamaged,
    ReplyGiven,
    ToolCalled,
    ToolFailed,
    ToolReturned,
    Unrecognized,
)

ROWS = 64
"""Rows that each list of a receipt shows; what is past them is counted."""

COLLECTED = 512
"""Events that a collector holds for a turn; the oldest fall out and are counted."""

PERSON = "person"
"""The `source` of what a person typed, which is not what the agent did."""

T = TypeVar("T")


class ToolRow(NamedTuple):
    """One call and how it was answered."""

    name: str
    arguments: str
    outcome: Outcome = "unknown"
    error: str | None = None
    bytes: int | None = None
    milliseconds: int | None = None


class CommandRow(NamedTuple):
    """One command that ended; `exit_status` is `None` where it was not recorded."""

    command: str
    exit_status: int | None
    timed_out: bool | None = None
    truncated: bool | None = None
    milliseconds: int | None = None


class FileRow(NamedTuple):
    """One file written; `bytes` are those after."""

    path: str
    mode: str
    created: bool | None = None
    bytes: int | None = None


class PageRow(NamedTuple):
    """One page written, or one handle that a search returned."""

    handle: str
    action: str


class DenialRow(NamedTuple):
    """One decision that did not allow."""

    command: str
    verdict: str
    by: str
    reason: str | None = None


class ApprovalRow(NamedTuple):
    """One decision about an approval; `level` is that of the request it answers."""

    command: str
    decision: str
    level: str | None = None
    scope: str | None = None


class ErrorRow(NamedTuple):
    """One error; `where` is `turn` when it ended the turn."""

    message: str
    where: str | None = None


class Rows(Generic[T]):
    """The first rows of a list and the exact number of those past the bound."""

    __slots__ = ("omitted", "shown")

    def __init__(self) -> None:
        """Begin with nothing shown and nothing omitted."""
        self.shown: list[T] = []
        self.omitted = 0

    def add(self, row: T) -> int | None:
        """Show `row` and return its place, or count it and return `None`."""
        if len(self.shown) < ROWS:
            self.shown.append(row)
            return len(self.shown) - 1
        self.omitted += 1
        return None


class _Answer(NamedTuple):
    """How one call was answered, whichever event said so."""

    outcome: Outcome
    error: str | None = None
    bytes: int | None = None
    milliseconds: int | None = None


@dataclass(slots=True)
class _Call:
    """One call of the turn: where its row is, and its answer once there is one."""

    tool: str
    id: str | None
    row: int | None
    outcome: Outcome | None = None


@dataclass(slots=True)
class TurnFacts:
    """What the events of one turn say, once all of them were added."""

    thread: str
    turn: int
    dropped: int = 0
    tools: Rows[ToolRow] = field(default_factory=Rows)
    commands: Rows[CommandRow] = field(default_factory=Rows)
    files: Rows[FileRow] = field(default_factory=Rows)
    pages: Rows[PageRow] = field(default_factory=Rows)
    denials: Rows[DenialRow] = field(default_factory=Rows)
    approvals: Rows[ApprovalRow] = field(default_factory=Rows)
    errors: Rows[ErrorRow] = field(default_factory=Rows)
    calls: list[_Call] = field(default_factory=list)
    declined: set[str] = field(default_factory=set)
    denied: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    caveats: Counter[str] = field(default_factory=Counter)
    reply: ReplyGiven | None = None
    is_ended_by_error: bool = False
    is_condensed: bool = False
    _waiting_calls: dict[str, deque[_Call]] = field(default_factory=dict)
    _waiting_answers: dict[str, deque[_Answer]] = field(default_factory=dict)
    _levels: dict[str, deque[str | None]] = field(default_factory=dict)
    _latest: str = ""

    def add(self, event: Event) -> None:
        """Take in `event`, which is of this turn and after every earlier one."""
        if type(event.payload) not in _BESIDE or not _is_beside(event.payload):
            if event.occurred_at < self._latest:
                self.caveats["clock-stepped-back"] += 1
            self._latest = event.occurred_at
        reader = _READERS.get(type(event.payload))
        if reader is not None:
            reader(self, event.payload, event.call)

    def add_all(self, events: Iterable[Event]) -> None:
        """Take in those of `events` that are of this turn of this thread."""
        for event in events:
            if event.turn == self.turn and event.thread == self.thread:
                self.add(event)

    def calls_without_result(self) -> int:
        """Count the calls that nothing answered, shown in a row or not."""
        return sum(call.outcome is None for call in self.calls)

    def results_without_call(self) -> int:
        """Count the results that answer no call of this turn."""
        return sum(map(len, self._waiting_answers.values())) + self.caveats["result-without-call"]

    def is_closed(self) -> bool:
        """Say whether a reply, or an error of the turn, ended it."""
        return self.reply is not None or self.is_ended_by_error

    def _called(self, payload: ToolCalled, id_: str | None) -> None:
        row = self.tools.add(ToolRow(name=payload.tool, arguments=payload.arguments))
        call = _Call(payload.tool, id_, row)
        self.calls.append(call)
        if id_ is None:
            return
        answers = self._waiting_answers.get(id_)
        if answers:
            self._complete(call, answers.popleft())
            if not answers:
                del self._waiting_answers[id_]
        else:
            self._waiting_calls.setdefault(id_, deque()).append(call)

    def _returned(self, payload: ToolReturned, id_: str | None) -> None:
        self._answered(
            id_,
            _Answer(
                payload.outcome or "unknown",
                bytes=payload.bytes,
                milliseconds=payload.milliseconds,
            ),
        )

    def _threw(self, payload: ToolFailed, id_: str | None) -> None:
        self._answered(id_, _Answer("error", error=payload.message))

    def _answered(self, id_: str | None, answer: _Answer) -> None:
        if id_ is None:
            self.caveats["result-without-call"] += 1
            return
        calls = self._waiting_calls.get(id_)
        if calls:
            self._complete(calls.popleft(), answer)
            if not calls:
                del self._waiting_calls[id_]
        else:
            self._waiting_answers.setdefault(id_, deque()).append(answer)

    def _complete(self, call: _Call, answer: _Answer) -> None:
        call.outcome = answer.outcome
        if call.row is not None:
            row = self.tools.shown[call.row]
            self.tools.shown[call.row] = ToolRow(row.name, row.arguments, *answer)

    def _exited(self, payload: CommandExited, id_: str | None) -> None:
        if payload.source == PERSON:
            return
        if id_ is not None and (payload.exit_status or payload.timed_out):
            self.failed.add(id_)
        self.commands.add(
            CommandRow(
                command=payload.command,
                exit_status=payload.exit_status,
                timed_out=payload.timed_out,
                truncated=payload.truncated,
                milliseconds=payload.milliseconds,
            )
        )

    def _decided(self, payload: PolicyDecided, id_: str | None) -> None:
        if payload.verdict == "allowed" or payload.source == PERSON:
            return
        if id_ is not None:
            (self.declined if payload.verdict == "disapproved" else self.denied).add(id_)
        self.denials.add(
            DenialRow(
                command=payload.command,
                verdict=payload.verdict,
                by=payload.by,
                reason=payload.reason,
            )
        )

    def _requested(self, payload: ApprovalRequested, id_: str | None) -> None:
        if id_ is not None:
            self._levels.setdefault(id_, deque()).append(payload.level)

    def _approved(self, payload: ApprovalDecided, id_: str | None) -> None:
        if id_ is not None and payload.decision in {"denied", "timed_out"}:
            self.declined.add(id_)
        levels = None if id_ is None or payload.decision == "cached" else self._levels.get(id_)
        self.approvals.add(
            ApprovalRow(
                command=payload.command,
                decision=payload.decision,
                level=levels.popleft() if levels else None,
                scope=payload.scope,
            )
        )

    def _wrote(self, payload: FileWritten, _: str | None) -> None:
        self.files.add(
            FileRow(
                path=payload.path,
                mode=payload.mode,
                created=payload.created,
                bytes=payload.bytes_after,
            )
        )

    def _wrote_page(self, payload: PageWritten, _: str | None) -> None:
        origin = "here" if payload.run == self.thread else f"inherited:{payload.run}"
        self.pages.add(PageRow(handle=f"{origin}::{payload.page}", action="written"))

    def _retrieved(self, payload: PagesRetrieved, _: str | None) -> None:
        for handle in payload.handles:
            self.pages.add(PageRow(handle=handle, action="retrieved"))

    def _raised(self, payload: ErrorRaised, _: str | None) -> None:
        self.is_ended_by_error = self.is_ended_by_error or payload.where == "turn"
        self.errors.add(ErrorRow(message=payload.message, where=payload.where))

    def _condensed(self, payload: ContextCondensed, _: str | None) -> None:
        self.is_condensed = self.is_condensed or bool(payload.steps)

    def _replied(self, payload: ReplyGiven, _: str | None) -> None:
        self.reply = payload

    def _damaged(self, payload: RecordDamaged, _: str | None) -> None:
        self.caveats[payload.what] += 1

    def _unknown(self, _: Unrecognized, __: str | None) -> None:
        self.caveats["unknown-kind"] += 1


def _is_beside(payload: Payload) -> bool:
    """Say whether an event has no time of its own, or may come after the receipt was given.

    What a person types and the entry that holds it belong to the turn that the clock shows,
    and must not change a receipt that was handed out.
    """
    if isinstance(payload, PolicyDecided | CommandExited):
        return payload.source == PERSON
    return isinstance(payload, RecordDamaged | EntryStored)


_BESIDE = frozenset({CommandExited, EntryStored, PolicyDecided, RecordDamaged})

_Reader = Callable[[TurnFacts, Payload, str | None], None]

# Each reader takes the one payload that its key names; a table cannot say so.
_READERS = cast(
    "dict[type[Payload], _Reader]",
    {
        ToolCalled: TurnFacts._called,
        ToolReturned: TurnFacts._returned,
        ToolFailed: TurnFacts._threw,
        CommandExited: TurnFacts._exited,
        PolicyDecided: TurnFacts._decided,
        ApprovalRequested: TurnFacts._requested,
        ApprovalDecided: TurnFacts._approved,
        FileWritten: TurnFacts._wrote,
        PageWritten: TurnFacts._wrote_page,
        PagesRetrieved: TurnFacts._retrieved,
        ErrorRaised: TurnFacts._raised,
        ContextCondensed: TurnFacts._condensed,
        ReplyGiven: TurnFacts._replied,
        RecordDamaged: TurnFacts._damaged,
        Unrecognized: TurnFacts._unknown,
    },
)

READ_BY_RECEIPTS = frozenset(_READERS)
"""The kinds that a receipt reads: all that it does not leave out, by a test."""


class ReceiptCollector:
    """The events of running turns: the newest 512 of each, the number dropped known.

    Taking a turn returns its events in order and forgets it and every older one.
    """

    def __init__(self) -> None:
        """Begin with no turn."""
        self._turns: dict[int, deque[Event]] = {}
        self._dropped: Counter[int] = Counter()

    def add(self, event: Event) -> None:
        """Hold `event`; one without a turn belongs to no receipt."""
        if event.turn is None:
            return
        held = self._turns.setdefault(event.turn, deque(maxlen=COLLECTED))
        if len(held) == COLLECTED:
            self._dropped[event.turn] += 1
        held.append(event)

    def take(self, turn: int) -> tuple[tuple[Event, ...], int]:
        """Return the events of `turn` and how many fell out; forget it and older turns."""
        taken = tuple(self._turns.get(turn, ())), self._dropped[turn]
        for old in [number for number in self._turns if number <= turn]:
            del self._turns[old]
            del self._dropped[old]
        return taken
