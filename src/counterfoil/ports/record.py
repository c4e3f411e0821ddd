"""The record: an append-only log of events, and the entries of each thread."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from counterfoil.core.entries import Entry, EntryDraft
from counterfoil.core.events import Event, Fact
from counterfoil.core.ids import EntryNumber, EventId, ThreadId
from counterfoil.core.intervals import Intervals


class EventLog(Protocol):
    """An append-only log: after `append`, the events are those before and the new one.

    Two processes may append to one log; no place in it is ever given twice.
    """

    def append(self, fact: Fact) -> Event:
        """Record `fact` behind every earlier event and return it with its place.

        Raises:
            ConflictError: An event with this id is already in the log.
            UnavailableError: The log could not be written; nothing was recorded.
        """
        ...

    def events(self, after: int = 0) -> Iterator[Event]:
        """Yield, in order, the events behind place `after` that are recorded by now."""
        ...

    def events_of(self, thread: ThreadId, turn: int | None = None) -> Iterator[Event]:
        """Yield, in order, the events of `thread`, or of one `turn` of it."""
        ...

    def event(self, id_: EventId) -> Event | None:
        """Return the event with that id, or `None` when the log has none."""
        ...

    def last_place(self) -> int:
        """Return the place of the last event that is recorded by now; 0 before the first."""
        ...

    def last_turn(self, thread: ThreadId) -> int:
        """Return the highest turn that an event of `thread` has; 0 when none has one."""
        ...


class EntryStore(Protocol):
    """The entries of every thread; a number is given once and never again."""

    def add(self, thread: ThreadId, draft: EntryDraft) -> Entry:
        """Store `draft` as the next entry of `thread` and return it with its number.

        Raises:
            ConflictError: A thread whose id differs only in letter case is stored.
            UnavailableError: The store could not be written; nothing was stored.
        """
        ...

    def entry(self, thread: ThreadId, number: EntryNumber) -> Entry | None:
        """Return the entry, or `None` when `thread` has none of that number."""
        ...

    def entries(self, thread: ThreadId) -> Iterator[Entry]:
        """Yield the entries of `thread` in the order of their numbers."""
        ...

    def numbers(self, thread: ThreadId) -> Intervals:
        """Return the numbers that exist in `thread`; none for an unknown thread."""
        ...

    def threads(self) -> Iterator[ThreadId]:
        """Yield every thread that has an entry, in the order of their first ones."""
        ...

    def spelling_of(self, thread: ThreadId) -> ThreadId | None:
        """Return the stored id that is `thread` but for letter case; `None`: there is none."""
        ...


class ThreadLeases(Protocol):
    """Who runs the turns of a thread: one process at a time, however it ends."""

    def hold(self, thread: ThreadId) -> AbstractContextManager[None]:
        """Hold `thread` until the context ends; the end of the process ends it too.

        Ids that differ only in letter case are one here.

        Raises:
            ConflictError: Another holder has it; the error names who.
            UnavailableError: Nothing can be held here.
        """
        ...
