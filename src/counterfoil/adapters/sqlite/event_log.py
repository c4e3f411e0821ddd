"""An event log in one table: the canonical bytes, and columns to find them by."""

import sqlite3
from collections.abc import Iterator, Mapping

from counterfoil.adapters.sqlite.database import Database, Row
from counterfoil.core.canonical import LARGEST
from counterfoil.core.errors import ConflictError, DamagedLedgerError, UnreadableError
from counterfoil.core.events import Event, Fact
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.wire.events import decode_event, encode_event
from counterfoil.wire.strict_json import Malformed

_LAST = "SELECT coalesce(max(seq), 0) FROM event"
_PLACE = "SELECT seq FROM event WHERE id = ?"
_INSERT = "INSERT INTO event (seq, id, thread, turn, line) VALUES (?, ?, ?, ?, ?)"
_ALL = """
    SELECT seq, id, thread, turn, line FROM event
    WHERE seq > :after AND seq <= :last ORDER BY seq LIMIT :rows
"""
_OF_THREAD = """
    SELECT seq, id, thread, turn, line FROM event
    WHERE thread = :thread AND seq > :after AND seq <= :last ORDER BY seq LIMIT :rows
"""
_OF_TURN = """
    SELECT seq, id, thread, turn, line FROM event
    WHERE thread = :thread AND turn = :turn AND seq > :after AND seq <= :last
    ORDER BY seq LIMIT :rows
"""
_ONE = "SELECT seq, id, thread, turn, line FROM event WHERE id = ?"
_LAST_TURN = "SELECT coalesce(max(turn), 0) FROM event WHERE thread = ?"


class SqliteEventLog:
    """An `EventLog` that many processes may append to and read at once."""

    def __init__(self, database: Database) -> None:
        """Keep events in `database`, which whoever opened it closes."""
        self._database = database

    def append(self, fact: Fact) -> Event:
        """Record `fact` behind every earlier event and return it with its place.

        It is on the disk on return. The event returned is the one that will be read:
        made out of its canonical bytes, of which what is kept has the order.

        Raises:
            ConflictError: An event with this id is already in the log.
            UnavailableError: The log could not be written; nothing was recorded.
            UnreadableError: `fact` holds what could not be read back.
        """
        with self._database.writing() as connection:
            _require_new(connection, fact)
            (last,) = connection.execute(_LAST).fetchone()
            event, line = _as_read_back(fact.at(last + 1))
            connection.execute(_INSERT, (*_columns(event), line))
        return event

    def events(self, after: int = 0) -> Iterator[Event]:
        """Yield, in order, the events behind place `after` that are recorded by now."""
        last = self.last_place()
        return self._events(_ALL, {"after": min(max(after, 0), last)}, last)

    def events_of(self, thread: ThreadId, turn: int | None = None) -> Iterator[Event]:
        """Yield, in order, the events of `thread`, or of one `turn` of it."""
        if turn is not None and not 0 < turn <= LARGEST:
            return iter(())
        query = _OF_THREAD if turn is None else _OF_TURN
        return self._events(query, {"thread": thread, "turn": turn}, self.last_place())

    def event(self, id_: EventId) -> Event | None:
        """Return the event with that id, or `None` when the log has none."""
        with self._database.reading() as connection:
            row = connection.execute(_ONE, (id_,)).fetchone()
        return None if row is None else self._event(row)

    def last_turn(self, thread: ThreadId) -> int:
        """Return the highest turn that an event of `thread` has; 0 when none has one."""
        with self._database.reading() as connection:
            (turn,) = connection.execute(_LAST_TURN, (thread,)).fetchone()
        return int(turn)

    def last_place(self) -> int:
        """Return the place of the last event that is recorded by now; 0 before the first."""
        with self._database.reading() as connection:
            (last,) = connection.execute(_LAST).fetchone()
        return int(last)

    def _events(self, query: str, values: Mapping[str, object], last: int) -> Iterator[Event]:
        for row in self._database.pages(query, values, last):
            yield self._event(row)

    def _event(self, row: Row) -> Event:
        """Return the event of `row`, whose bytes must say what its columns say."""
        *columns, line = row
        event = decode_event(line)
        if isinstance(event, Malformed):
            fault = event.reason
        elif _columns(event) != tuple(columns):
            fault = "its bytes are those of another"
        else:
            return event
        raise DamagedLedgerError(f"event {row[0]} of store {self._database.path}: {fault}")


def _columns(event: Event) -> Row:
    return event.seq, event.id, event.thread, event.turn


def _require_new(connection: sqlite3.Connection, fact: Fact) -> None:
    if (row := connection.execute(_PLACE, (fact.id,)).fetchone()) is not None:
        raise ConflictError(f"event id {fact.id} is that of event {row[0]}", "a new id")


def _as_read_back(event: Event) -> tuple[Event, bytes]:
    """Return `event` out of its canonical bytes, and these.

    What cannot be read back is refused here: once recorded it could not be taken out.
    """
    try:
        line = encode_event(event)
    except (TypeError, ValueError) as error:
        raise UnreadableError(f"event {event.id} has no wire form: {error}") from error
    read = decode_event(line)
    if isinstance(read, Malformed):
        fault = f"{read.reason} in {read.field}" if read.field else read.reason
        raise UnreadableError(f"event {event.id} could not be read back: {fault}")
    return read, line
