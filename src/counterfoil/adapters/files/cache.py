"""The database of an index: its tables, opened where it may be kept, or in memory.

It is a cache. What is no database, or one of another version, is put aside; what
another process holds, or what cannot be written, is done without and stays as it is. The
pages are read from the files; nothing here is ever the truth.
"""

import os
import sqlite3
import stat
from contextlib import suppress
from pathlib import Path

from counterfoil.core.knowledge.changes import KEPT
from counterfoil.wire.page_rows import ROW_VERSION

NAME = "index.db"
_SCHEMA = 1
_VERSION = _SCHEMA * 1000 + ROW_VERSION
_APPLICATION = 0x43464B42  # "CFKB"
_PATIENCE = 5.0
"""Seconds that another process may hold the index before it is done without."""

_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE file (
    number INTEGER PRIMARY KEY, path TEXT NOT NULL, stamp BLOB NOT NULL, digest BLOB NOT NULL,
    invalidated INTEGER NOT NULL
);
CREATE TABLE content (number INTEGER PRIMARY KEY, row BLOB NOT NULL);
CREATE TABLE name (key INTEGER NOT NULL, number INTEGER NOT NULL);
CREATE TABLE reference (key INTEGER NOT NULL, number INTEGER NOT NULL);
CREATE TABLE change (state INTEGER NOT NULL, path TEXT NOT NULL, before BLOB);
CREATE TABLE report (
    name TEXT PRIMARY KEY, states TEXT NOT NULL, seen TEXT NOT NULL, checked TEXT NOT NULL,
    rest BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE found (
    name TEXT NOT NULL, path TEXT NOT NULL, findings BLOB NOT NULL, PRIMARY KEY (name, path)
) WITHOUT ROWID;
"""

INDEXES = (
    "CREATE UNIQUE INDEX IF NOT EXISTS file_path ON file (path)",
    "CREATE INDEX IF NOT EXISTS file_invalidated ON file (path) WHERE invalidated",
    "CREATE INDEX IF NOT EXISTS name_key ON name (key, number)",
    "CREATE INDEX IF NOT EXISTS reference_key ON reference (key, number)",
)
"""Made after the first pages are in: sorting once is quicker than keeping sorted."""


def open_cache(root: Path) -> sqlite3.Connection:
    """Return the database of the store at `root`, made anew where it is not of use."""
    path = root / KEPT / NAME
    if not _may_be(path):
        return in_memory()
    try:
        return _opened(path)
    except sqlite3.OperationalError:  # held by another, full, not for writing: not at fault
        return in_memory()
    except sqlite3.DatabaseError:
        put_aside(root)
    try:
        return _opened(path)
    except sqlite3.Error:
        return in_memory()


def in_memory() -> sqlite3.Connection:
    """Return a database that is gone when it is closed."""
    return _prepared(_connected(":memory:"))


def _may_be(path: Path) -> bool:
    """Say whether the directory for it is there and nothing but a file has its place."""
    try:
        if not stat.S_ISDIR(os.lstat(path.parent).st_mode):
            return False
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return path.parent.is_dir() and os.access(path.parent, os.W_OK)
    except OSError:
        return False


def _opened(path: Path) -> sqlite3.Connection:
    database = _connected(path)
    try:
        with suppress(sqlite3.OperationalError):  # SQLite waits for nobody here
            database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        return _prepared(database)
    except BaseException:
        database.close()
        raise


def _connected(path: Path | str) -> sqlite3.Connection:
    """Return a connection that one thread at a time may use, whoever holds the index."""
    return sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)


def _prepared(database: sqlite3.Connection) -> sqlite3.Connection:
    if not _is_ours(database):
        database.execute("BEGIN IMMEDIATE")
        if not _is_ours(database):  # another process can have made it meanwhile
            _make(database)
        database.execute("COMMIT")
    return database


def _make(database: sqlite3.Connection) -> None:
    """Make the tables, and say whose they are, in the transaction that is open."""
    if database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise sqlite3.DatabaseError("an index of another version")
    for statement in _TABLES.split(";"):
        database.execute(statement)
    database.execute(f"PRAGMA application_id = {_APPLICATION}")
    database.execute(f"PRAGMA user_version = {_VERSION}")


def _is_ours(database: sqlite3.Connection) -> bool:
    application = database.execute("PRAGMA application_id").fetchone()[0]
    version = database.execute("PRAGMA user_version").fetchone()[0]
    return (application, version) == (_APPLICATION, _VERSION)


def put_aside(root: Path) -> None:
    """Delete the database of the store at `root`, and what SQLite keeps beside it."""
    path = root / KEPT / NAME
    if _may_be(path):
        for suffix in ("", "-wal", "-shm", "-journal"):
            with suppress(OSError):
                path.with_name(path.name + suffix).unlink()
