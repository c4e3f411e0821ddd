"""The suites of `counterfoil.testing.conformance`, over our adapters and over broken ones."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from counterfoil.adapters.memory import MemoryEntryStore, MemoryEventLog
from counterfoil.adapters.sqlite import SqliteRecord
from counterfoil.core.entries import Entry, EntryDraft
from counterfoil.core.errors import ConflictError
from counterfoil.core.events import KINDS, Event, Fact, Unrecognized, kind_of
from counterfoil.core.ids import EntryNumber, ThreadId
from counterfoil.core.intervals import Intervals
from counterfoil.ports.record import EntryStore, EventLog
from counterfoil.testing import conformance
from counterfoil.testing.samples import PAYLOADS, sample_fact

Port = TypeVar("Port")
ADAPTERS = ("memory", "sqlite")


@pytest.fixture(params=ADAPTERS)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EventLog]:
    if request.param == "memory":
        yield MemoryEventLog()
    else:
        with SqliteRecord(tmp_path / "ledger.db") as record:
            yield record.log


@pytest.fixture(params=ADAPTERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EntryStore]:
    if request.param == "memory":
        yield MemoryEntryStore()
    else:
        with SqliteRecord(tmp_path / "ledger.db") as record:
            yield record.entries


@pytest.mark.parametrize("check", conformance.EVENT_LOG)
def test_an_event_log_conforms(check: Callable[[EventLog], None], log: EventLog) -> None:
    """event-log: The suite that each `EventLog` passes, ours or a stranger's."""
    check(log)


@pytest.mark.parametrize("check", conformance.ENTRY_STORE)
def test_an_entry_store_conforms(check: Callable[[EntryStore], None], store: EntryStore) -> None:
    """entry-store: The suite that each `EntryStore` passes, ours or a stranger's."""
    check(store)


def test_the_samples_hold_every_kind() -> None:
    """event-log: A suite that never saw a kind says nothing about it."""
    known = {kind_of(payload) for payload in PAYLOADS if not isinstance(payload, Unrecognized)}
    assert known == set(KINDS)


class Born(MemoryEventLog):
    """Begins with an event."""

    def events(self, after: int = 0) -> Iterator[Event]:
        yield sample_fact(9).at(1)
        yield from super().events(after)


class Deaf(MemoryEventLog):
    """Forgets what it is given."""

    def append(self, fact: Fact) -> Event:
        return fact.at(1)


class Trusting(MemoryEventLog):
    """Records one id twice."""

    def append(self, fact: Fact) -> Event:
        self._places.clear()
        return super().append(fact)


class Wasteful(MemoryEventLog):
    """Uses up a place for what it refuses."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = 0

    def append(self, fact: Fact) -> Event:
        try:
            event = super().append(fact)
        except ConflictError:
            self.refused += 1
            raise
        return fact.at(event.seq + self.refused)


class Lossy(MemoryEventLog):
    """Drops what a reader kept beside the fields."""

    def append(self, fact: Fact) -> Event:
        return super().append(sample_fact(int(fact.id, 16), fact.payload))


class OffByOne(MemoryEventLog):
    """Counts the place that was asked for as being behind itself."""

    def events(self, after: int = 0) -> Iterator[Event]:
        return super().events(after - 1)


class Live(MemoryEventLog):
    """Reads on into what is recorded while it reads."""

    def events(self, after: int = 0) -> Iterator[Event]:
        return iter(self._events) if not after else super().events(after)


class Shared(MemoryEventLog):
    """Has one reader for all who ask."""

    def __init__(self) -> None:
        super().__init__()
        self.reader: Iterator[Event] = iter(())

    def events(self, after: int = 0) -> Iterator[Event]:
        if next(self.reader, None) is None:
            self.reader = super().events(after)
        return self.reader


class CaseBlind(MemoryEventLog):
    """Takes two threads for one."""

    def events_of(self, thread: ThreadId, turn: int | None = None) -> Iterator[Event]:
        return (
            event
            for event in self.events()
            if event.thread.lower() == thread.lower() and turn in (None, event.turn)
        )


@pytest.mark.parametrize(
    "broken", [Born, Deaf, Trusting, Wasteful, Lossy, OffByOne, Live, Shared, CaseBlind]
)
def test_a_broken_event_log_is_found(broken: Callable[[], EventLog]) -> None:
    """event-log: Each fault that the suite is for fails at least one check of it."""
    assert any(_fails(check, broken) for check in conformance.EVENT_LOG)


class Unnumbered(MemoryEntryStore):
    """Numbers all threads together."""

    def add(self, thread: ThreadId, draft: EntryDraft) -> Entry:
        added = sum(len(entries) for entries in self._entries.values())
        entry = super().add(thread, draft)
        return Entry(thread=thread, number=EntryNumber(added + 1), kind=entry.kind)


class Blunt(MemoryEntryStore):
    """Refuses another spelling without naming the one that is stored."""

    def add(self, thread: ThreadId, draft: EntryDraft) -> Entry:
        try:
            return super().add(thread, draft)
        except ConflictError:
            raise ConflictError(f"thread id {thread!r} is taken") from None


class Liberal(MemoryEntryStore):
    """Takes in every spelling."""

    def add(self, thread: ThreadId, draft: EntryDraft) -> Entry:
        self._spellings.clear()
        return super().add(thread, draft)


class Alphabetical(MemoryEntryStore):
    """Yields threads by name."""

    def threads(self) -> Iterator[ThreadId]:
        return iter(sorted(super().threads()))


class Wrapping(MemoryEntryStore):
    """Cuts off numbers that are too large for it."""

    def entry(self, thread: ThreadId, number: EntryNumber) -> Entry | None:
        return super().entry(thread, EntryNumber(number % 2**63 or 1))


class Hollow(MemoryEntryStore):
    """Keeps no ids of events."""

    def add(self, thread: ThreadId, draft: EntryDraft) -> Entry:
        return super().add(thread, EntryDraft(kind=draft.kind, turn=draft.turn))


class Short(MemoryEntryStore):
    """Forgets the last number."""

    def numbers(self, thread: ThreadId) -> Intervals:
        return Intervals((low, high - 1) for low, high in super().numbers(thread))


@pytest.mark.parametrize(
    "broken", [Unnumbered, Blunt, Liberal, Alphabetical, Wrapping, Hollow, Short]
)
def test_a_broken_entry_store_is_found(broken: Callable[[], EntryStore]) -> None:
    """entry-store: Each fault that the suite is for fails at least one check of it."""
    assert any(_fails(check, broken) for check in conformance.ENTRY_STORE)


def _fails(check: Callable[[Port], None], make: Callable[[], Port]) -> bool:
    try:
        check(make())
    except AssertionError:
        return True
    return False
