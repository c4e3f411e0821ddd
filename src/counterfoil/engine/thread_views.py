"""A thread shown out of the record: its entries, its receipts, what the model read.

Nothing here needs the thread to be open, or a model; every view of a past turn is the
same whoever asks and however often (agent.md sections 2 and 5).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from counterfoil.core.context import (
    Reading,
    SentEntry,
    TurnRecord,
    elided_entries,
    estimated_tokens,
    first_after,
    first_turn_read,
    messages_of,
    sent_entries,
)
from counterfoil.core.entries import Entry
from counterfoil.core.errors import NotFoundError
from counterfoil.core.events import (
    CommandExited,
    ErrorRaised,
    Event,
    InstructionsGiven,
    ModelAsked,
    OutputElided,
    PromptReceived,
    ReasoningGiven,
    ReplyGiven,
    ThreadOpened,
    ToolCalled,
    ToolFailed,
    ToolReturned,
)
from counterfoil.core.ids import EntryNumber, EventId, ThreadId
from counterfoil.core.output_references import Recalling
from counterfoil.core.receipt import Receipt, fold_receipt
from counterfoil.engine.loading import StoredThread, load_thread, turn_record
from counterfoil.ports.record import EntryStore, EventLog


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRow:
    """One thread, in a list of them; `prompt` is its first, where there was one."""

    id: ThreadId
    opened_at: str
    turns: int
    entries: int
    model: str | None
    parent: str | None
    prompt: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRow:
    """One entry as a list shows it; `dropped_by` is the event that condensed it out."""

    entry: Entry
    occurred_at: str | None
    dropped_by: EventId | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRow:
    """One turn as a table shows it: what was asked, and what became of the context."""

    turn: int
    occurred_at: str
    prompt: str
    estimated_tokens: int | None
    dropped: int
    elided: int
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextView:
    """What a model read in a turn, or would read next: entry by entry, as it was sent."""

    thread: ThreadId
    turn: int
    is_next: bool
    sent: tuple[SentEntry, ...]
    tokens: int


class ThreadViews:
    """Views of the threads in one record."""

    def __init__(
        self, log: EventLog, entries: EntryStore, recalling: Callable[[ThreadOpened], Recalling]
    ) -> None:
        """Read the record; `recalling` says how a thread with such tools sees old outputs."""
        self._log = log
        self._entries = entries
        self._recalling = recalling

    def threads(self) -> Iterator[ThreadRow]:
        """Yield every thread, the one that began first at the head."""
        return (self._row(thread) for thread in self._entries.threads())

    def thread(self, thread: ThreadId) -> ThreadRow:
        """Return one thread; raise `NotFoundError` where it is not recorded."""
        self._require(thread)
        return self._row(thread)

    def last_turn(self, thread: ThreadId) -> int:
        """Return the number of the thread's last turn, 0 before the first."""
        self._require(thread)
        return self._log.last_turn(thread)

    def receipt(self, thread: ThreadId, turn: int) -> Receipt:
        """Return the receipt of a turn, folded out of its stored events."""
        self._require_turn(thread, turn)
        return fold_receipt(self._log.events_of(thread, turn), thread, turn)

    def entry(self, thread: ThreadId, number: int) -> EntryRow:
        """Return one entry with its text.

        Raises:
            NotFoundError: The thread has no entry of that number; the error names the range.
        """
        self._require(thread)
        entry = self._entries.entry(thread, EntryNumber(number)) if number > 0 else None
        if entry is None:
            last = self.count(thread)
            raise NotFoundError(f"no entry {number} in thread {str(thread)!r}", f"1 to {last}")
        return self._entry_row(entry, self._drops(thread))

    def entries(self, thread: ThreadId, first: int = 1, count: int = 50) -> list[EntryRow]:
        """Return the entries from number `first` on, at most `count`."""
        self._require(thread)
        last = min(self.count(thread), first + count - 1)
        drops = self._drops(thread)
        found = (self._entries.entry(thread, EntryNumber(n)) for n in range(first, last + 1))
        return [self._entry_row(entry, drops) for entry in found if entry is not None]

    def count(self, thread: ThreadId) -> int:
        """Return how many entries the thread has."""
        return max((high for _, high in self._entries.numbers(thread)), default=0)

    def events(self, thread: ThreadId, turn: int | None = None) -> Iterator[Event]:
        """Yield the events of a thread, or of one turn of it."""
        if turn is not None:
            self._require_turn(thread, turn)
        self._require(thread)
        return self._log.events_of(thread, turn)

    def output(self, thread: ThreadId, event: EventId) -> str:
        """Return the whole output that an event of the thread holds.

        Raises:
            NotFoundError: The thread has no such event with an output.
        """
        found = self._log.event(event)
        if found is None or found.thread != thread or not (text := text_of([found])):
            raise NotFoundError(f"no output {event} in thread {str(thread)!r}", "the event of one")
        return text

    def context(self, thread: ThreadId, turn: int | None = None) -> ContextView:
        """Return what the model read in `turn`, at its last request; `None`: what is next."""
        stored = load_thread(self._log, self._entries, thread)
        if turn is not None:
            self._require_turn(thread, turn)
        shown = stored.last_turn + 1 if turn is None else turn
        records = list(self._records_until(stored, shown))
        running = [record for record in records if record.turn == shown]
        reading = Reading(
            turn=shown,
            first_turn=first_turn_read(
                (event for record in records for event in record.events), otherwise=0
            ),
            elided=elided_entries(event for record in running for event in record.events),
            recalling=self._recalling(stored.opened),
        )
        sent = (stored.instructions, *sent_entries(records, reading))
        return ContextView(
            thread=thread,
            turn=shown,
            is_next=turn is None,
            sent=sent if turn is None else tuple(_asked(sent, running)),
            tokens=estimated_tokens(messages_of(sent)),
        )

    def turns(self, thread: ThreadId) -> list[TurnRow]:
        """Return every turn of the thread, oldest first."""
        last = self.last_turn(thread)
        return [_turn_row(turn_record(self._log, thread, turn)) for turn in range(1, last + 1)]

    def _records_until(self, stored: StoredThread, turn: int) -> Iterator[TurnRecord]:
        """Yield the turns that could be read in `turn`, and itself where it was."""
        if not stored.records or stored.records[0].turn <= 1:
            yield from (record for record in stored.records if record.turn <= turn)
            return
        yield from (
            turn_record(self._log, stored.id, number)
            for number in range(1, min(turn, stored.last_turn) + 1)
        )

    def _row(self, thread: ThreadId) -> ThreadRow:
        opened, at, prompt = None, "", None
        for event in self._log.events_of(thread):
            if isinstance(event.payload, ThreadOpened) and opened is None:
                opened, at = event.payload, event.occurred_at
            if isinstance(event.payload, PromptReceived):
                prompt = event.payload.text
                break
        return ThreadRow(
            id=thread,
            opened_at=at,
            turns=self._log.last_turn(thread),
            entries=self.count(thread),
            model=opened.model if opened else None,
            parent=opened.parent if opened else None,
            prompt=prompt,
        )

    def _entry_row(self, entry: Entry, drops: Iterable[tuple[int, EventId]]) -> EntryRow:
        found = [self._log.event(id_) for id_ in entry.events]
        events = [event for event in found if event is not None]
        is_fixed = entry.kind == "instructions"
        dropped = [id_ for first, id_ in drops if not is_fixed and (entry.turn or 0) < first]
        return EntryRow(
            entry=entry,
            occurred_at=events[0].occurred_at if events else None,
            dropped_by=dropped[0] if dropped else None,
            text=text_of(events),
        )

    def _drops(self, thread: ThreadId) -> list[tuple[int, EventId]]:
        """Return, for each condensation that dropped turns, the first turn read after it."""
        return [
            (first, event.id)
            for event in self._log.events_of(thread)
            if (first := first_after(event)) is not None
        ]

    def _require(self, thread: ThreadId) -> None:
        if self._entries.spelling_of(thread) != thread:
            raise NotFoundError(
                f"no thread {str(thread)!r}", "a recorded thread", "see `counterfoil threads`"
            )

    def _require_turn(self, thread: ThreadId, turn: int) -> None:
        last = self.last_turn(thread)
        if not 1 <= turn <= last:
            raise NotFoundError(f"no turn {turn} in thread {str(thread)!r}", f"1 to {last}")


def text_of(events: Iterable[Event]) -> str:
    """Return the content that the events of an entry hold, as text."""
    return "\n".join(_texts(events))


def _texts(events: Iterable[Event]) -> Iterator[str]:
    for event in events:
        payload = event.payload
        if isinstance(payload, InstructionsGiven | PromptReceived | ReplyGiven | ReasoningGiven):
            yield payload.text
        elif isinstance(payload, ToolCalled):
            yield f"{payload.tool} {payload.arguments}"
        elif isinstance(payload, CommandExited):
            status = "not recorded" if payload.exit_status is None else payload.exit_status
            yield f"$ {payload.command}\nexit status: {status}"
            yield from (text for text in (payload.stdout, payload.stderr) if text)
        elif isinstance(payload, ToolReturned):
            yield payload.output or ""
        elif isinstance(payload, ToolFailed):
            yield f"error: {payload.message}"


def _asked(sent: Iterable[SentEntry], running: Iterable[TurnRecord]) -> Iterator[SentEntry]:
    """Leave out of `sent` what came after the last request of the turn."""
    asked = [
        event.payload.entries
        for record in running
        for event in record.events
        if isinstance(event.payload, ModelAsked)
    ]
    last = set(asked[-1] or ()) if asked else set[int]()
    return (one for one in sent if one.entry.number in last)


def _turn_row(record: TurnRecord) -> TurnRow:
    prompt, tokens, outcome, dropped = "", None, "open", 0
    for event in record.events:
        payload = event.payload
        if isinstance(payload, PromptReceived):
            prompt = payload.text
        elif isinstance(payload, ModelAsked):
            tokens = payload.estimated_tokens
        elif isinstance(payload, ReplyGiven):
            outcome = "ok"
        elif isinstance(payload, ErrorRaised) and payload.where == "turn":
            outcome = "error"
        elif (first := first_after(event)) is not None:
            dropped = first
    return TurnRow(
        turn=record.turn,
        occurred_at=record.events[0].occurred_at if record.events else "",
        prompt=prompt,
        estimated_tokens=tokens,
        dropped=dropped,
        elided=sum(isinstance(event.payload, OutputElided) for event in record.events),
        outcome=outcome,
    )
