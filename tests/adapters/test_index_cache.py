"""The database of an index among processes: made once, waited for, never taken from another."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread

import pytest

import counterfoil
from counterfoil.adapters.files import cache
from counterfoil.adapters.files.cache import open_cache
from counterfoil.adapters.files.scaffold import init_store

SOURCE = Path(str(counterfoil.__file__)).parents[1]

_OPENER = """
import sys
from pathlib import Path
from counterfoil.adapters.files.cache import open_cache

print("ready", flush=True)
sys.stdin.readline()
database = open_cache(Path(sys.argv[1]))
kept = bool(database.execute("PRAGMA database_list").fetchone()[2])
tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
print(kept, tables > 0, flush=True)
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A new store, whose index nobody has made."""
    init_store(tmp_path)
    return tmp_path


def _index(store: Path) -> Path:
    return store / ".counterfoil" / "index.db"


def _is_kept(database: sqlite3.Connection) -> bool:
    return bool(database.execute("PRAGMA database_list").fetchone()[2])


@contextmanager
def _held(path: Path, how: str) -> Iterator[sqlite3.Connection]:
    """Hold the database at `path` as a writer does, until the end."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute(how)
        database.execute("CREATE TABLE IF NOT EXISTS meta (name TEXT)")
        yield database
        database.execute("ROLLBACK")


def test_processes_that_open_a_new_index_at_once_share_it(store: Path) -> None:
    """index-cache: It is made by one of them, whole, and kept by all."""
    begun = [
        subprocess.Popen(
            [sys.executable, "-c", _OPENER, str(store)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": str(SOURCE)},
        )
        for _ in range(4)
    ]
    for process in begun:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in begun:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.communicate()[0] for process in begun] == ["True True\n"] * 4
    assert len(list(_index(store).parent.glob("index.db*"))) >= 1


@pytest.mark.parametrize("how", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
@pytest.mark.parametrize("state", ["new", "made"])
def test_an_index_that_is_held_is_not_deleted(
    how: str, state: str, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """index-cache: It is another's; this one goes on in memory, and opens it the next time."""
    monkeypatch.setattr(cache, "_PATIENCE", 0.01)
    if state == "made":
        open_cache(store).close()
    with _held(_index(store), how):
        before = _index(store).stat().st_ino
        with closing(open_cache(store)) as database:
            assert not _is_kept(database)
            assert database.execute("SELECT count(*) FROM file").fetchone() == (0,)
        assert _index(store).stat().st_ino == before
    with closing(open_cache(store)) as database:
        assert _is_kept(database)
    assert _index(store).stat().st_ino == before


def test_an_index_is_made_in_one_step(store: Path) -> None:
    """index-cache: Nobody ever sees tables of which it is not known whose they are."""
    seen: list[tuple[int, int]] = []
    make = cache._make

    def looked_at(database: sqlite3.Connection) -> None:
        make(database)
        with closing(sqlite3.connect(_index(store))) as other:
            tables = other.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            seen.append((tables, other.execute("PRAGMA user_version").fetchone()[0]))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cache, "_make", looked_at)
        open_cache(store).close()
    assert seen == [(0, 0)]
    with closing(sqlite3.connect(_index(store))) as other:
        assert other.execute("PRAGMA user_version").fetchone()[0] == cache._VERSION


def test_what_another_process_made_meanwhile_is_taken(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """index-cache: It is looked at again once nobody else writes."""
    is_ours = cache._is_ours
    asked: list[bool] = []

    def after_another(database: sqlite3.Connection) -> bool:
        if not asked:
            asked.append(True)
            found = is_ours(database)
            open_cache(store).close()
            return found
        return is_ours(database)

    monkeypatch.setattr(cache, "_is_ours", after_another)
    with closing(open_cache(store)) as database:
        assert _is_kept(database)


@pytest.mark.parametrize("content", [b"no database at all" * 100, b"SQLite format 3\0" + b"x" * 99])
def test_what_is_no_database_is_put_aside(content: bytes, store: Path) -> None:
    """index-cache: Made anew, and kept."""
    _index(store).write_bytes(content)
    with closing(open_cache(store)) as database:
        assert _is_kept(database)


def test_tables_of_nobody_known_are_put_aside(store: Path) -> None:
    """index-cache: Another program's, or another version's."""
    with closing(sqlite3.connect(_index(store))) as other:
        other.execute("CREATE TABLE notes (text)")
    with closing(open_cache(store)) as database:
        assert _is_kept(database)
        names = database.execute("SELECT name FROM sqlite_master").fetchall()
    assert ("notes",) not in names


def test_an_index_goes_from_thread_to_thread(store: Path) -> None:
    """index-cache: A tool runs in whatever thread there is, one at a time."""
    counts: list[int] = []
    with closing(open_cache(store)) as database:
        asked = Thread(
            target=lambda: counts.append(
                database.execute("SELECT count(*) FROM file").fetchone()[0]
            )
        )
        asked.start()
        asked.join()
    assert counts == [0]
