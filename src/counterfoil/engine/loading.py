"""A thread as the record has it: what a process needs to go on with it, and to show it.

Turns are read from the last one backwards, to where the last condensation begins what is
still read, so that opening a thread costs what its context costs and not what its whole
past would.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from typing import cast

from counterfoil.core.context import (
    SentEntry,
    TurnRecord,
    first_turn_read,
    sent_instructions,
)
from counterfoil.core.entries import Entry, EntryDraft, EntryKind
from counterfoil.core.errors import DamagedLedgerError, NotFoundError
from counterfoil.core.events import (
    EntryStored,
    ErrorRaised,
    Event,
    InstructionsGiven,
    ModelAsked,
    ReplyGiven,
    ThreadOpened,
)
from counterfoil.core.ids import EntryNumber, EventId, ThreadId
from counterfoil.core.turn_entries import drafts_of, missing_drafts
from counterfoil.ports.record import EntryStore, EventLog


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredThread:
    """A thread as it is recorded by now; `records` are the turns that are still read."""

    id: ThreadId
    opened: ThreadOpened
    opened_at: str
    instructions: SentEntry
    records: tuple[TurnRecord, ...]
    last_turn: int
    last_entry: int


def load_thread(log: EventLog, entries: EntryStore, thread: ThreadId) -> StoredThread:
    """Return `thread` as it is recorded by now.

    Raises:
        NotFoundError: No thread of that id is recorded.
        DamagedLedgerError: Its first entry does not lead to its instructions.
    """
    first = entries.entry(thread, EntryNumber(1))
    if first is None:
        raise NotFoundError(
            f"no thread {str(thread)!r}", "a thread that is recorded", "see `counterfoil threads`"
        )
    opened = _opening(log, thread)
    last_turn = log.last_turn(thread)
    records = tuple(_records(log, thread, last_turn))
    if not records or records[0].turn <= 1:
        records = (*_before_first_turn(log, entries, thread), *records)
    return StoredThread(
        id=thread,
        opened=_opened_of(opened, thread),
        opened_at=opened[0].occurred_at,
        instructions=_instructions(log, first),
        records=records,
        last_turn=last_turn,
        last_entry=max((high for _, high in entries.numbers(thread)), default=0),
    )


def turn_record(log: EventLog, thread: ThreadId, turn: int) -> TurnRecord:
    """Return one turn of `thread` as it is recorded: its entries come from its events."""
    events = tuple(log.events_of(thread, turn))
    return TurnRecord(turn=turn, events=events, entries=tuple(entries_of(thread, events)))


def entries_of(thread: ThreadId, events: Iterable[Event]) -> Iterable[Entry]:
    """Yield the entries that the `entry_stored` among `events` say were stored."""
    for event in events:
        payload = event.payload
        if isinstance(payload, EntryStored):
            yield Entry(
                thread=thread,
                number=EntryNumber(payload.entry),
                kind=cast("EntryKind", payload.entry_kind),
                turn=event.turn,
                events=tuple(map(EventId, payload.events)),
            )


def is_open(record: TurnRecord) -> bool:
    """Say whether nothing closed the turn: neither a reply nor an error of the turn."""
    return not any(
        isinstance(event.payload, ReplyGiven)
        or (isinstance(event.payload, ErrorRaised) and event.payload.where == "turn")
        for event in record.events
    )


def unstored_drafts(record: TurnRecord) -> tuple[EntryDraft, ...]:
    """Return the entries that the events of a turn make and that were not stored."""
    stored = [id_ for entry in record.entries for id_ in entry.events]
    return missing_drafts(drafts_of(record.events), stored)


def tokens_a_byte(records: Iterable[TurnRecord], otherwise: float) -> float:
    """Return what the model last reported its input to be, by the bytes that it was sent."""
    found = otherwise
    for record in records:
        asked = [e.payload for e in record.events if isinstance(e.payload, ModelAsked)]
        sizes = sum(payload.estimated_tokens or 0 for payload in asked)
        for event in record.events:
            usage = event.payload.usage if isinstance(event.payload, ReplyGiven) else None
            if usage is not None and usage.input and sizes:
                found = usage.input / sizes / 4
    return found


def _records(log: EventLog, thread: ThreadId, last_turn: int) -> Iterable[TurnRecord]:
    found: list[TurnRecord] = []
    turn, first = last_turn, 1
    while turn >= first:
        record = turn_record(log, thread, turn)
        found.append(record)
        if first == 1:
            first = max(first_turn_read(record.events, otherwise=1), 1)
        turn -= 1
    return found[::-1]


def _before_first_turn(
    log: EventLog, entries: EntryStore, thread: ThreadId
) -> Iterable[TurnRecord]:
    """Yield turn 0, what a person ran before the first prompt, where there is something."""
    early = [
        entry
        for entry in takewhile(lambda entry: entry.turn is None, entries.entries(thread))
        if entry.kind == "command"
    ]
    if early:
        events = [log.event(id_) for entry in early for id_ in entry.events]
        found = tuple(event for event in events if event is not None)
        yield TurnRecord(turn=0, events=found, entries=tuple(early))


def _opening(log: EventLog, thread: ThreadId) -> list[Event]:
    found = takewhile(lambda event: event.turn is None, log.events_of(thread))
    return list(takewhile(lambda event: not isinstance(event.payload, EntryStored), found))


def _opened_of(events: Iterable[Event], thread: ThreadId) -> ThreadOpened:
    for event in events:
        if isinstance(event.payload, ThreadOpened):
            return event.payload
    raise DamagedLedgerError(f"thread {str(thread)!r} has entries and was never opened")


def _instructions(log: EventLog, first: Entry) -> SentEntry:
    event = log.event(first.events[0]) if first.events else None
    if event is None or not isinstance(event.payload, InstructionsGiven):
        raise DamagedLedgerError(
            f"entry 1 of thread {str(first.thread)!r} does not lead to instructions"
        )
    return sent_instructions(first, event)
