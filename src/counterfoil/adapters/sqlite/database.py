"""One connection to a store: transactions, and reading in pages."""

import sqlite3
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from counterfoil.adapters.sqlite.faults import faults_of
from counterfoil.adapters.sqlite.opening import open_store

Row = tuple[Any, ...]
"""What SQLite returns; whoever asked knows its types."""

PAGE_ROWS = 256
"""Rows of a page; a reader holds no more of them, and no transaction between two pages."""

PAGE_SIZE = 1 << 20
"""Length of the last columns of a page past which it ends, full or not."""


class Database:
    """A connection that threads may share; its faults are those of our family."""

    def __init__(self, path: Path, patience: float) -> None:
        self.path = path.absolute()
        self._patience = patience
        self._lock = Lock()
        with faults_of(self.path, patience):
            self._connection = open_store(self.path, patience)

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection, None, None]:
        """Hold the one transaction that may write, committed to the disk on leaving."""
        with self.reading() as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection, None, None]:
        """Have the connection to oneself; each statement reads what is committed."""
        with self._lock, faults_of(self.path, self._patience):
            yield self._connection

    def pages(self, query: str, values: Mapping[str, object], last: int) -> Iterator[Row]:
        """Yield the rows of `query` up to key `last`, a page at a time.

        Of a row the first column is its key and the last its bulk. The query asks,
        in ascending order, for `:rows` rows with keys above `:after` and up to `:last`.
        """
        after = values.get("after", 0)
        while page := self._page(query, {**values, "after": after, "last": last}):
            yield from page
            after = page[-1][0]

    def _page(self, query: str, values: Mapping[str, object]) -> list[Row]:
        page: list[Row] = []
        size = 0
        with self.reading() as connection:
            found = connection.execute(query, {**values, "rows": PAGE_ROWS})
            with closing(found):  # which ends the read transaction
                for row in found:
                    page.append(row)
                    size += len(row[-1])
                    if size >= PAGE_SIZE:
                        break
        return page

    def close(self) -> None:
        """Close the connection; closing it again does nothing."""
        with self.reading() as connection:
            connection.close()
