"""The entries of every thread in one table."""

import json
import sqlite3
from collections.abc import Iterator

from counterfoil.adapters.sqlite.database import Database, Row
from counterfoil.core.entries import Entry, EntryDraft
from counterfoil.core.errors import ConflictError, DamagedLedgerError, InvalidIdError
from counterfoil.core.ids import EntryNumber, EventId, ThreadId
from counterfoil.core.intervals import Intervals

# A column compares without regard to letter case, `thread`; a reader asks for one spelling.
_LAST = "SELECT thread, max(number) FROM entry WHERE thread = ?"
_INSERT = """
    INSERT INTO entry (place, thread, number, kind, turn, origin, events)
    SELECT coalesce(max(place), 0) + 1, ?, ?, ?, ?, ?, ? FROM entry
"""
_ONE = """
    SELECT number, kind, turn, origin, events FROM entry WHERE thread = ? AND number = ?
"""
_OF_THREAD = """
    SELECT number, kind, turn, origin, events FROM entry
    WHERE thread = :thread AND number > :after AND number <= :last
    ORDER BY number LIMIT :rows
"""
_THREADS = """
    SELECT place, thread FROM entry
    WHERE number = 1 AND place > :after AND place <= :last ORDER BY place LIMIT :rows
"""


class SqliteEntryStore:
    """An `EntryStore` that many processes may add to and read at once."""

    def __init__(self, database: Database) -> None:
        """Keep entries in `database`, which whoever opened it closes."""
        self._database = database

    def add(self, thread: ThreadId, draft: EntryDraft) -> Entry:
        """Store `draft` as the next entry of `thread` and return it with its number.

        Raises:
            ConflictError: A thread whose id differs only in letter case is stored.
            UnavailableError: The store could not be written; nothing was stored.
        """
        with self._database.writing() as connection:
            number = _next_number(connection, thread)
            events = json.dumps(draft.events, separators=(",", ":"))
            row = (number, draft.kind, draft.turn, draft.origin, events)
            connection.execute(_INSERT, (thread, *row))
        return _entry(thread, row)

    def entry(self, thread: ThreadId, number: EntryNumber) -> Entry | None:
        """Return the entry, or `None` when `thread` has none of that number."""
        if number > self._last(thread):
            return None
        with self._database.reading() as connection:
            row = connection.execute(_ONE, (thread, number)).fetchone()
        return self._entry(thread, row)

    def entries(self, thread: ThreadId) -> Iterator[Entry]:
        """Yield, in the order of their numbers, the entries that `thread` has by now."""
        rows = self._database.pages(_OF_THREAD, {"thread": thread}, self._last(thread))
        return (self._entry(thread, row) for row in rows)

    def numbers(self, thread: ThreadId) -> Intervals:
        """Return the numbers that exist in `thread`; none for an unknown thread.

        The table lets in nothing but the next number, so that there are no gaps.
        """
        last = self._last(thread)
        return Intervals([(1, last)] if last else [])

    def threads(self) -> Iterator[ThreadId]:
        """Yield every thread that has an entry, in the order of their first ones."""
        with self._database.reading() as connection:
            (last,) = connection.execute("SELECT coalesce(max(place), 0) FROM entry").fetchone()
        return (ThreadId(thread) for _, thread in self._database.pages(_THREADS, {}, last))

    def spelling_of(self, thread: ThreadId) -> ThreadId | None:
        """Return the stored id that is `thread` but for letter case; `None`: there is none."""
        with self._database.reading() as connection:
            stored, _ = connection.execute(_LAST, (thread,)).fetchone()
        return None if stored is None else ThreadId(stored)

    def _last(self, thread: ThreadId) -> int:
        with self._database.reading() as connection:
            stored, last = connection.execute(_LAST, (thread,)).fetchone()
        return last if stored == thread else 0

    def _entry(self, thread: ThreadId, row: Row) -> Entry:
        try:
            return _entry(thread, row)
        except (TypeError, ValueError, InvalidIdError) as error:
            path = self._database.path
            fault = f"entry {row[0]} of thread {thread} in store {path}: {error}"
            raise DamagedLedgerError(fault) from error


def _next_number(connection: sqlite3.Connection, thread: ThreadId) -> int:
    stored, last = connection.execute(_LAST, (thread,)).fetchone()
    if stored is None:
        return 1
    if stored != thread:
        raise ConflictError(
            f"thread id {str(thread)!r} differs only in letter case from {stored!r}",
            "one spelling of an id",
            f"use {stored!r}, or an id that differs in more",
        )
    return int(last) + 1


def _entry(thread: ThreadId, row: Row) -> Entry:
    number, kind, turn, origin, events = row
    return Entry(
        thread=thread,
        number=EntryNumber(number),
        kind=kind,
        turn=turn,
        origin=origin,
        events=tuple(map(EventId, json.loads(events))),
    )
