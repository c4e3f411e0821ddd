"""A store opened: its event log and its entries over one connection."""

from pathlib import Path
from types import TracebackType
from typing import Self

from counterfoil.adapters.sqlite.database import Database
from counterfoil.adapters.sqlite.entry_store import SqliteEntryStore
from counterfoil.adapters.sqlite.event_log import SqliteEventLog
from counterfoil.adapters.sqlite.leases import FileThreadLeases

PATIENCE = 30.0
"""Seconds that a lock of another process is waited out before it is an error."""


class SqliteRecord:
    """The record in the file at `path`; `log`, `entries` and `leases` are its ports.

    Threads may share it; it is closed by whoever opened it, best by `with`.
    """

    def __init__(self, path: Path, *, patience: float = PATIENCE) -> None:
        """Open the store at `path`, made with mode 0600 if it is not there.

        Raises:
            UnreadableError: What is at `path` is no store of this version; it stays as it is.
            UnavailableError: The store cannot be opened or made now.
        """
        self._database = Database(path, patience)
        self.log = SqliteEventLog(self._database)
        self.entries = SqliteEntryStore(self._database)
        self.leases = FileThreadLeases(path)

    def close(self) -> None:
        """Close the store; closing it again does nothing."""
        self._database.close()

    def __enter__(self) -> Self:
        """Return the record itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the store, whatever happened."""
        self.close()
