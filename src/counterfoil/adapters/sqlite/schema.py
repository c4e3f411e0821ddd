"""The tables of a store, which only ever take what comes next (ledger.md section 1).

Three triggers keep a table append-only. The third is needed because `INSERT OR REPLACE`
removes a row without running a delete trigger; it lets in nothing but the next place,
so that a gap is refused as well. `line` holds the canonical bytes of an event; the
columns beside it repeat what an event is looked up by.
"""

APPLICATION_ID = int.from_bytes(b"cntf")
"""What tells a store from every other SQLite file."""

VERSION = 1
"""The version of this schema, kept as `user_version`; another one is refused."""

SCHEMA = f"""
PRAGMA journal_mode = WAL;
BEGIN;

CREATE TABLE event (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    thread TEXT NOT NULL,
    turn INTEGER,
    line BLOB NOT NULL CHECK (typeof(line) = 'blob')
);
CREATE INDEX event_of_thread ON event (thread);
CREATE INDEX event_of_turn ON event (thread, turn);

CREATE TRIGGER event_never_changes BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'an event never changes'); END;
CREATE TRIGGER event_stays BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'an event stays'); END;
CREATE TRIGGER event_comes_next BEFORE INSERT ON event
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM event)
    OR EXISTS (SELECT 1 FROM event WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'an event has the next place and a new id'); END;

CREATE TABLE entry (
    place INTEGER PRIMARY KEY,
    thread TEXT NOT NULL COLLATE NOCASE,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    turn INTEGER,
    origin TEXT NOT NULL,
    events TEXT NOT NULL,
    UNIQUE (thread, number)
);
CREATE INDEX entry_first_of_thread ON entry (place, thread) WHERE number = 1;

CREATE TRIGGER entry_never_changes BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'an entry never changes'); END;
CREATE TRIGGER entry_stays BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'an entry stays'); END;
CREATE TRIGGER entry_comes_next BEFORE INSERT ON entry
WHEN NEW.place IS NOT (SELECT coalesce(max(place), 0) + 1 FROM entry)
    OR NEW.number IS NOT (
        SELECT coalesce(max(number), 0) + 1 FROM entry WHERE thread = NEW.thread
    )
BEGIN SELECT RAISE(ABORT, 'an entry has the next number of its thread'); END;

PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
COMMIT;
"""  # noqa: S608 - the two values are numbers of this module
"""Everything that makes an empty SQLite file a store.

A `thread` of an entry is compared without regard to letter case, so that the table
cannot hold two threads that differ in nothing else; ids are ASCII, as `NOCASE` wants.
"""
