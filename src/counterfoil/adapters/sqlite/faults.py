"""What SQLite says went wrong, as the error family of this program."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from counterfoil.core.errors import (
    CounterfoilError,
    DamagedLedgerError,
    UnavailableError,
    UnreadableError,
)

_PRIMARY = 0xFF
"""The byte of a result code that names the fault; the others refine it."""

_LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_DAMAGED = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_FORMAT,
        sqlite3.SQLITE_ERROR,  # a table or a column is not there
        sqlite3.SQLITE_CONSTRAINT,  # what comes next does not fit what is there
    }
)
_ADVICE = {
    sqlite3.SQLITE_FULL: "make room on the disk; earlier events are intact",
    sqlite3.SQLITE_IOERR: "make sure that the disk is whole and has room",
    sqlite3.SQLITE_CANTOPEN: "make sure that you may read and write it and its directory",
    sqlite3.SQLITE_READONLY: "make sure that you may write it and its directory",
}


@contextmanager
def faults_of(path: Path, patience: float) -> Generator[None, None, None]:
    """Let no fault of SQLite out but as one of the store at `path`."""
    try:
        yield
    except sqlite3.Error as error:
        raise _named(error, path, patience) from error


def _named(error: sqlite3.Error, path: Path, patience: float) -> CounterfoilError:
    """Return `error` as a fault of ours; what Python's module itself finds has no code."""
    if isinstance(error, sqlite3.ProgrammingError):  # such as a connection that is closed
        return UnavailableError(f"store {path} cannot be used: {_lowered(error)}")
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & _PRIMARY
    if code in _LOCKED:
        return UnavailableError(
            f"store {path} is locked, after {patience:g} s of waiting",
            advice="another process is writing it; end that one or try again",
        )
    if code == sqlite3.SQLITE_NOTADB:
        return UnreadableError(f"{path} is not a SQLite file", "a store of Counterfoil")
    if code in _DAMAGED:
        return DamagedLedgerError(f"store {path} is damaged: {error}")
    return UnavailableError(f"store {path} cannot be used: {error}", advice=_ADVICE.get(code, ""))


def _lowered(error: sqlite3.Error) -> str:
    text = str(error).rstrip(".")
    return text[:1].lower() + text[1:]
