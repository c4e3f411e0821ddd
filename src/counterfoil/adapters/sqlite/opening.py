"""How a store comes to be and is opened.

A new store is built whole under another name and then linked to its own, so that no
process ever meets half of one and two processes cannot both make it. Nothing of a file
that turns out to be something else is changed: it is looked at read-only first.
"""

import os
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import Literal

from counterfoil.adapters.sqlite.schema import APPLICATION_ID, SCHEMA, VERSION
from counterfoil.core.errors import UnavailableError, UnreadableError


def open_store(path: Path, patience: float) -> sqlite3.Connection:
    """Return a connection to the store at `path`, which is made if it is not there.

    The caller begins and ends each transaction; a lock is waited out for `patience`
    seconds. A new store is readable by its owner alone; that of an older one, and so
    of the files that SQLite puts beside it, is left to who set it.

    Raises:
        UnreadableError: What is at `path` is no store of this version.
        UnavailableError: The store cannot be made here.
        sqlite3.Error: SQLite cannot open it.
    """
    if not _is_there(path):
        _make(path)
    with closing(_connect(path, "ro", patience)) as database:
        _require_ours(database, path)
    database = _connect(path, "rw", patience)
    try:
        _settle(database, path)
    except BaseException:
        database.close()
        raise
    return database


def _is_there(path: Path) -> bool:
    """Say whether a file is at `path`, refusing what only leads to one."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _unreachable(path, error) from error
    if stat.S_ISREG(mode):
        return True
    found = "a symbolic link" if stat.S_ISLNK(mode) else "not a file"
    raise UnreadableError(f"{path} is {found}", "the file of a store", "name the file itself")


def _make(path: Path) -> None:
    """Put a new store at `path`, unless another process is first."""
    try:
        handle, name = mkstemp(prefix=f".{path.name}-", dir=path.parent)  # mode 0600
        os.close(handle)
        try:
            with closing(_connect(Path(name), "rw", 0)) as database:
                database.executescript(SCHEMA)
            with suppress(FileExistsError):
                path.hardlink_to(name)
        finally:
            Path(name).unlink()
    except OSError as error:
        raise _unreachable(path, error) from error


def _connect(path: Path, mode: Literal["ro", "rw"], patience: float) -> sqlite3.Connection:
    """Neither mode makes a file: SQLite would give it the mode that the umask leaves."""
    return sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
    )


def _require_ours(database: sqlite3.Connection, path: Path) -> None:
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise UnreadableError(
            f"{path} is not a store of Counterfoil (application id {application})",
            f"application id {APPLICATION_ID}",
            "name another file, or take this one away and a new store is made",
        )
    if version != VERSION:
        raise UnreadableError(
            f"store {path} has schema version {version}",
            f"version {VERSION}",
            f"open it with a release of Counterfoil that knows version {version}",
        )


def _settle(database: sqlite3.Connection, path: Path) -> None:
    """Set what SQLite forgets when a connection ends, and make sure of the journal."""
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA trusted_schema = OFF")  # a file that was sent runs no functions
    (journal,) = database.execute("PRAGMA journal_mode = WAL").fetchone()
    if journal != "wal":
        raise UnavailableError(f"store {path} cannot keep a write-ahead log on this file system")


def _unreachable(path: Path, error: OSError) -> UnavailableError:
    return UnavailableError(f"store {path} cannot be opened or made: {error.strerror}")
