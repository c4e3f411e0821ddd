"""The rows of an index: what a refresh changes, and what is asked of them."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Literal

from counterfoil.adapters.files.cache import INDEXES
from counterfoil.adapters.files.reading import ReadFile, unpacked
from counterfoil.adapters.files.reports import load_report, store_report
from counterfoil.core.ids import HERE
from counterfoil.core.knowledge.affected import PageChange
from counterfoil.core.knowledge.pages import Page
from counterfoil.core.knowledge.view import key_number, keys_written, names_of
from counterfoil.ports.knowledge import DamagedIndexError, PreparedKeys, ReportChange, SavedReport
from counterfoil.wire.page_rows import DamagedRowError, page_from_row

Keyed = Literal["name", "reference"]

_TOLD = 500
"""Changes that are told page by page; of more, only that there were many."""

_AT_HAND = 16384
"""Pages that are kept understood; the others are decoded again when asked for."""

_Numbers = dict[int, int | list[int]]

_NONE: Sequence[int] = ()
_NO_PAGES: Sequence[Page] = ()


class IndexRows:
    """The pages of one state; between a refresh and the next they do not change."""

    def __init__(self, database: sqlite3.Connection) -> None:
        """Keep the rows in `database`, which has the tables of `cache`."""
        self._database = database
        self._at_hand: dict[Keyed, _Numbers] = {}
        self._decoded = lru_cache(_AT_HAND)(self._decode)

    def close(self) -> None:
        """Close the database."""
        self._decoded.cache_clear()
        self._database.close()

    def release(self) -> None:
        """Let another state be seen."""
        if self._database.in_transaction:
            self._database.execute("COMMIT")
        self._at_hand = {}
        self._decoded.cache_clear()

    def stamps(self) -> tuple[int, dict[str, bytes]]:
        """Return the number of the state, and the stamp of each file in it."""
        self._database.execute("BEGIN")
        try:
            rows = self._database.execute("SELECT path, stamp FROM file").fetchall()
            return self._state(), dict(rows)
        finally:
            self._database.execute("COMMIT")

    def update(
        self,
        stamps: Mapping[str, bytes],
        read: Sequence[ReadFile],
        gone: Iterable[str],
        state: int,
        now: int,
    ) -> int | None:
        """Take in what was read since `state` and return the state that is seen from now on.

        `None` where another process has changed the rows; nothing was taken in then.
        """
        gone = sorted(gone)
        if not read and not gone:
            return self._hold(state)
        self._database.execute("BEGIN IMMEDIATE")
        try:
            if self._state() != state:
                self._database.execute("ROLLBACK")
                return None
            changed = self._take_in(stamps, read, gone)
            after = max(now, state + 1) if changed else state
            self._tell(changed, state, after)
            self._database.execute("COMMIT")
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise
        return self._hold(after)

    def _hold(self, state: int) -> int | None:
        """Keep seeing `state`, whatever others write; `None` where it has gone by."""
        self._database.execute("BEGIN")
        if self._state() == state:
            return state
        self._database.execute("COMMIT")
        return None

    def _state(self) -> int:
        return self._meta("state")

    def _meta(self, name: str) -> int:
        row = self._database.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return int(row[0]) if row else 0

    def _set_meta(self, name: str, value: int) -> None:
        self._database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def _take_in(
        self, stamps: Mapping[str, bytes], read: Sequence[ReadFile], gone: Sequence[str]
    ) -> dict[str, bytes | None]:
        """Write the rows and return, by path, the row before of each page that changed."""
        known = self._known([found.path for found in read], gone)
        changed: dict[str, bytes | None] = {}
        fresh: list[ReadFile] = []
        for found in read:
            number, digest = known.get(found.path, (0, b""))
            stamp = stamps[found.path]
            if digest == found.digest:
                self._database.execute(
                    "UPDATE file SET stamp = ? WHERE number = ?", (stamp, number)
                )
            else:
                changed[found.path] = self._remove(number) if number else None
                fresh.append(found)
        for path in gone:
            if path in known:
                changed[path] = self._remove(known[path][0])
        self._insert(fresh, stamps)
        return changed

    def _known(self, *paths: Sequence[str]) -> dict[str, tuple[int, bytes]]:
        """Return number and digest of the files at `paths` that have rows."""
        if not self._count():
            return {}
        wanted = set(chain.from_iterable(paths))
        if len(wanted) > _TOLD:
            rows = self._database.execute("SELECT path, number, digest FROM file")
            return {path: (number, digest) for path, number, digest in rows if path in wanted}
        statement = "SELECT number, digest FROM file WHERE path = ?"
        found = ((path, self._database.execute(statement, (path,)).fetchone()) for path in wanted)
        return {path: row for path, row in found if row is not None}

    def _remove(self, number: int) -> bytes:
        """Remove a page and return its row."""
        execute = self._database.execute
        row: bytes = execute("SELECT row FROM content WHERE number = ?", (number,)).fetchone()[0]
        page = _read(row)
        for table, keys in (("name", names_of(page)), ("reference", keys_written(page))):
            statement = f"DELETE FROM {table} WHERE key = ? AND number = ?"  # noqa: S608 - our tables
            self._database.executemany(statement, [(key_number(key), number) for key in keys])
        execute("DELETE FROM content WHERE number = ?", (number,))
        execute("DELETE FROM file WHERE number = ?", (number,))
        return row

    def _insert(self, fresh: Sequence[ReadFile], stamps: Mapping[str, bytes]) -> None:
        found = self._database.execute("SELECT max(number) FROM file").fetchone()[0]
        numbered = list(enumerate(fresh, start=(found or 0) + 1))
        many = self._database.executemany
        many(
            "INSERT INTO file VALUES (?, ?, ?, ?, ?)",
            (
                (number, page.path, stamps[page.path], page.digest, page.is_invalidated)
                for number, page in numbered
            ),
        )
        many("INSERT INTO content VALUES (?, ?)", ((number, page.row) for number, page in numbered))
        many(
            "INSERT INTO name VALUES (?, ?)",
            ((key, number) for number, page in numbered for key in unpacked(page.names)),
        )
        many(
            "INSERT INTO reference VALUES (?, ?)",
            ((key, number) for number, page in numbered for key in unpacked(page.references)),
        )
        for statement in INDEXES:
            self._database.execute(statement)

    def _tell(self, changed: Mapping[str, bytes | None], state: int, after: int) -> None:
        """Keep what the pages were before, for whoever saw `state`; not of very many."""
        if not changed:
            return
        self._set_meta("state", after)
        told = self._database.execute("SELECT count(*) FROM change").fetchone()[0]
        if state == 0 or told + len(changed) > _TOLD:
            self._database.execute("DELETE FROM change")
            self._set_meta("told_from", after if len(changed) > _TOLD else state or after)
        if state and len(changed) <= _TOLD:
            rows = [(after, path, before) for path, before in changed.items()]
            self._database.executemany("INSERT INTO change VALUES (?, ?, ?)", rows)

    def changes_since(self, state: int) -> list[PageChange] | None:
        """Return what is another than in `state`, or `None` where that was not kept."""
        if state < self._meta("told_from") or state > self._state():
            return None
        rows = self._database.execute(
            "SELECT path, before FROM change WHERE state > ? ORDER BY state", (state,)
        )
        before: dict[str, bytes | None] = {}
        for path, row in rows:
            before.setdefault(path, row)
        changes = [
            PageChange(HERE, _read(row) if row else None, self.page_at(path))
            for path, row in before.items()
        ]
        return [change for change in changes if change.before != change.after]

    def _count(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM file").fetchone()[0])

    def count(self) -> int:
        """Return how many pages there are."""
        return self._count()

    def pages(self) -> Iterator[Page]:
        """Yield every page, by path."""
        rows = self._database.execute("SELECT number FROM file ORDER BY path").fetchall()
        return (self._decode(number) for (number,) in rows)

    def page_at(self, path: str) -> Page | None:
        """Return the page at `path`."""
        found = self._database.execute("SELECT number FROM file WHERE path = ?", (path,)).fetchone()
        return None if found is None else self._decoded(found[0])

    def invalidated(self) -> list[Page]:
        """Return the pages that are taken back, by path."""
        rows = self._database.execute("SELECT number FROM file WHERE invalidated ORDER BY path")
        return [self._decoded(number) for (number,) in rows.fetchall()]

    def digests(self) -> dict[str, str]:
        """Return the tagged digest of each page's bytes, by path."""
        rows = self._database.execute("SELECT path, digest FROM file ORDER BY path")
        return {path: f"sha256:{digest.hex()}" for path, digest in rows}

    def under(self, table: Keyed, key: str) -> Sequence[Page]:
        """Return the pages that have `key`, by path; and perhaps some that do not."""
        found = self._numbers(table, key_number(key))
        if found is _NONE:  # as a rule: most keys are of one store alone
            return _NO_PAGES
        if isinstance(found, int):
            return (self._decoded(found),)
        return sorted(map(self._decoded, found), key=_path) if found else _NO_PAGES

    def _numbers(self, table: Keyed, key: int) -> int | Sequence[int]:
        if table in self._at_hand:
            return self._at_hand[table].get(key, _NONE)
        statement = f"SELECT number FROM {table} WHERE key = ?"  # noqa: S608 - our tables
        return [number for (number,) in self._database.execute(statement, (key,))]

    def prepare(self) -> PreparedKeys:
        """Have the numbers of all keys in memory, and return them."""
        for table in ("name", "reference"):
            if table not in self._at_hand:
                self._at_hand[table] = self._loaded(table)
        return PreparedKeys(self._at_hand["name"].keys(), self._at_hand["reference"].keys())

    def _loaded(self, table: Keyed) -> _Numbers:
        numbers: _Numbers = {}
        for key, number in self._database.execute(f"SELECT key, number FROM {table}"):  # noqa: S608 - our tables
            found = numbers.setdefault(key, number)
            if isinstance(found, list):
                found.append(number)
            elif found != number:
                numbers[key] = [found, number]
        return numbers

    def _decode(self, number: int) -> Page:
        found = self._database.execute("SELECT row FROM content WHERE number = ?", (number,))
        row = found.fetchone()
        return _read(row[0]) if row is not None else _read(b"")

    def saved_report(self, name: str) -> SavedReport | None:
        """Return the report last saved under `name`, if there is one."""
        try:
            return load_report(self._database, name)
        except (DamagedRowError, ValueError):  # it is found again
            return None

    def save_report(self, name: str, change: ReportChange) -> None:
        """Save a report, or what changed of it; nothing happens where that cannot be done."""
        try:
            state = self._state()
            self._database.execute("COMMIT")
            self._database.execute("BEGIN IMMEDIATE")
            if self._state() == state:
                store_report(self._database, name, change)
            self._database.execute("COMMIT")
        except sqlite3.Error:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
        if not self._database.in_transaction:
            self._database.execute("BEGIN")


def _read(row: bytes) -> Page:
    try:
        return page_from_row(row)
    except DamagedRowError as error:
        raise DamagedIndexError("a page") from error


def _path(page: Page) -> str:
    return page.path
