"""The entries of every thread, in lists."""

from collections.abc import Iterator
from threading import Lock

from counterfoil.core.entries import Entry, EntryDraft
from counterfoil.core.errors import ConflictError
from counterfoil.core.ids import EntryNumber, ThreadId
from counterfoil.core.intervals import Intervals


class MemoryEntryStore:
    """An `EntryStore` that threads may share and that ends with the process."""

    def __init__(self) -> None:
        self._entries: dict[ThreadId, list[Entry]] = {}
        self._spellings: dict[str, ThreadId] = {}
        self._lock = Lock()

    def add(self, thread: ThreadId, draft: EntryDraft) -> Entry:
        """Store `draft` as the next entry of `thread` and return it with its number.

        Raises:
            ConflictError: A thread whose id differs only in letter case is stored.
        """
        with self._lock:
            stored = self._spellings.setdefault(thread.lower(), thread)
            if stored != thread:
                raise ConflictError(
                    f"thread id {str(thread)!r} differs only in letter case from {str(stored)!r}",
                    "one spelling of an id",
                    f"use {str(stored)!r}, or an id that differs in more",
                )
            entries = self._entries.setdefault(thread, [])
            entry = _numbered(thread, len(entries) + 1, draft)
            entries.append(entry)
        return entry

    def entry(self, thread: ThreadId, number: EntryNumber) -> Entry | None:
        """Return the entry, or `None` when `thread` has none of that number."""
        entries = self._entries.get(thread, [])
        return entries[number - 1] if number <= len(entries) else None

    def entries(self, thread: ThreadId) -> Iterator[Entry]:
        """Yield the entries of `thread` in the order of their numbers."""
        return iter(tuple(self._entries.get(thread, ())))

    def numbers(self, thread: ThreadId) -> Intervals:
        """Return the numbers that exist in `thread`; none for an unknown thread."""
        last = len(self._entries.get(thread, ()))
        return Intervals([(1, last)] if last else [])

    def threads(self) -> Iterator[ThreadId]:
        """Yield every thread that has an entry, in the order of their first ones."""
        return iter(tuple(self._entries))

    def spelling_of(self, thread: ThreadId) -> ThreadId | None:
        """Return the stored id that is `thread` but for letter case; `None`: there is none."""
        return self._spellings.get(thread.lower())


def _numbered(thread: ThreadId, number: int, draft: EntryDraft) -> Entry:
    return Entry(
        thread=thread,
        number=EntryNumber(number),
        kind=draft.kind,
        turn=draft.turn,
        origin=draft.origin,
        events=draft.events,
    )
