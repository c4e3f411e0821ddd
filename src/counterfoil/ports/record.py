"""The record: an append-only log of events, and the entries of each thread."""

from collections.abc import Iterator
from typing import Protocol

from counterfoil.core.entries import Entry, EntryDraft
from counterfoil.core.events import Event, Fact
from counterfoil.core.ids import EntryNumber, ThreadId
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
