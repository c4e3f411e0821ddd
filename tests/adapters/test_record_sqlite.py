"""The store of one SQLite file: what it refuses, who may read it, what goes wrong with it."""

import gc
import os
import resource
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from shutil import copy

import pytest

from counterfoil.adapters.sqlite import SqliteRecord, database, event_log
from counterfoil.adapters.sqlite.schema import APPLICATION_ID
from counterfoil.core.entries import EntryDraft
from counterfoil.core.errors import (
    CounterfoilError,
    DamagedLedgerError,
    UnavailableError,
    UnreadableError,
)
from counterfoil.core.events import PromptReceived
from counterfoil.core.ids import EntryNumber, ThreadId
from counterfoil.testing.samples import SAMPLES, THREAD, sample_fact
from counterfoil.wire.events import encode_event


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def record(path: Path) -> Iterator[SqliteRecord]:
    with SqliteRecord(path, patience=0.01) as record:
        yield record


@contextmanager
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection of somebody who does not know this program."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0.01)) as connection:
        yield connection


def fill(record: SqliteRecord, count: int = 3) -> None:
    for number in range(1, count + 1):
        record.log.append(sample_fact(number))
        record.entries.add(THREAD, EntryDraft(kind="prompt"))


def files(directory: Path) -> dict[str, bytes]:
    return {found.name: found.read_bytes() for found in directory.iterdir()}


# -- append-only


FORGERIES = (
    "UPDATE event SET line = x'00' WHERE seq = 1",
    "UPDATE OR REPLACE event SET seq = 2 WHERE seq = 1",
    "DELETE FROM event WHERE seq = 1",
    "DELETE FROM event",
    "INSERT OR REPLACE INTO event VALUES (1, 'new', 't', 1, x'00')",
    "INSERT OR REPLACE INTO event VALUES (9, '0000000000000001', 't', 1, x'00')",
    "INSERT OR REPLACE INTO event VALUES (4, '0000000000000001', 't', 1, x'00')",
    "REPLACE INTO event SELECT seq, id, thread, turn, x'00' FROM event",
    "INSERT OR IGNORE INTO event VALUES (1, 'new', 't', 1, x'00')",
    "INSERT INTO event VALUES (1, 'new', 't', 1, x'00') ON CONFLICT DO UPDATE SET turn = 2",
    "INSERT INTO event VALUES (5, 'new', 't', 1, x'00')",
    "INSERT INTO event VALUES (-1, 'new', 't', 1, x'00')",
    "INSERT INTO event VALUES (4, 'new', 't', 1, 'text')",
    "UPDATE entry SET kind = 'reply'",
    "DELETE FROM entry WHERE number = 3",
    "DELETE FROM entry",
    "INSERT OR REPLACE INTO entry VALUES (1, 'sample', 1, 'reply', 1, 'turn', '[]')",
    "INSERT OR REPLACE INTO entry VALUES (4, 'sample', 1, 'reply', 1, 'turn', '[]')",
    "INSERT OR REPLACE INTO entry VALUES (4, 'SAMPLE', 1, 'reply', 1, 'turn', '[]')",
    "INSERT OR REPLACE INTO entry VALUES (1, 'other', 1, 'reply', 1, 'turn', '[]')",
    "INSERT INTO entry VALUES (4, 'sample', 5, 'reply', 1, 'turn', '[]')",
)


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_table_refuses_what_is_not_next(record: SqliteRecord, path: Path, forgery: str) -> None:
    """append-only: No statement changes, removes or replaces a row, or leaves a gap."""
    fill(record)
    before = list(record.log.events()), list(record.entries.entries(THREAD))
    with raw(path) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(forgery)
    assert (list(record.log.events()), list(record.entries.entries(THREAD))) == before


def test_the_canonical_bytes_are_stored_as_they_are(record: SqliteRecord, path: Path) -> None:
    """event-log: Any SQLite shell shows the bytes that a proof will be over."""
    appended = [record.log.append(fact) for fact in SAMPLES]
    with raw(path) as connection:
        rows = connection.execute("SELECT line FROM event ORDER BY seq").fetchall()
    assert [line for (line,) in rows] == list(map(encode_event, appended))


# -- who may read it


@pytest.fixture
def permissive_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(directory: Path) -> dict[str, int]:
    return {found.name: stat.S_IMODE(found.stat().st_mode) for found in directory.iterdir()}


def test_files_of_a_store_are_for_their_owner(permissive_umask: None, path: Path) -> None:
    """store-modes: 0600 for the store and for what SQLite puts beside it, whatever the umask."""
    with SqliteRecord(path) as record:
        fill(record)
        assert modes(path.parent) == {
            "ledger.db": 0o600,
            "ledger.db-wal": 0o600,
            "ledger.db-shm": 0o600,
        }
    with SqliteRecord(path) as record:
        fill_more = record.log.append(sample_fact(9))
        assert set(modes(path.parent).values()) == {0o600}
    assert fill_more.seq == 4
    assert modes(path.parent) == {"ledger.db": 0o600}


@pytest.mark.parametrize("is_dangling", [True, False])
def test_a_symbolic_link_is_not_followed(tmp_path: Path, *, is_dangling: bool) -> None:
    """store-modes: A link could lead events to where others read them."""
    target = tmp_path / "elsewhere.db"
    if not is_dangling:
        SqliteRecord(target).close()
    (tmp_path / "link.db").symlink_to(target)
    before = target.exists()
    with pytest.raises(UnreadableError, match="symbolic link"):
        SqliteRecord(tmp_path / "link.db")
    assert target.exists() == before


# -- what is no store of this version


@pytest.mark.parametrize("version", [0, 2, 2**31 - 1])
def test_a_store_of_another_version_is_refused(path: Path, version: int) -> None:
    """store-version: Found, expected and what to do; its bytes are untouched."""
    with SqliteRecord(path) as record:
        fill(record)
    with raw(path) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with pytest.raises(UnreadableError) as caught:
        SqliteRecord(path)
    assert f"schema version {version}; expected version 1 (hint: " in caught.value.diagnosis()
    assert path.read_bytes() == before


def test_a_version_that_is_only_in_the_journal_is_seen(path: Path, tmp_path: Path) -> None:
    """store-version: A journal left by a crash is not folded into what is refused."""
    SqliteRecord(path).close()
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    with raw(path) as connection:
        connection.execute("PRAGMA user_version = 2")
        for name in ("ledger.db", "ledger.db-wal"):
            copy(tmp_path / name, crashed / name)
    before = files(crashed)
    with pytest.raises(UnreadableError, match="schema version 2"):
        SqliteRecord(crashed / "ledger.db")
    assert {name: files(crashed)[name] for name in before} == before


def test_a_database_of_another_program_is_refused(path: Path) -> None:
    """store-version: A SQLite file with tables of its own gets none of ours."""
    with raw(path) as connection:
        connection.execute("CREATE TABLE event (seq)")
        connection.execute("PRAGMA user_version = 1")
    before = files(path.parent)
    with pytest.raises(UnreadableError, match=f"application id {APPLICATION_ID}"):
        SqliteRecord(path)
    assert files(path.parent) == before


@pytest.mark.parametrize("content", [b"", b"x", b"Dear diary\n" * 1000, b"SQLite format 3\0"])
def test_a_file_that_is_no_database_is_refused(path: Path, content: bytes) -> None:
    """store-version: Whatever the file is, it stays as it is, and nothing is put beside it."""
    path.write_bytes(content)
    with pytest.raises(UnreadableError, match="Counterfoil"):
        SqliteRecord(path)
    assert files(path.parent) == {"ledger.db": content}


def test_a_directory_is_refused(tmp_path: Path) -> None:
    """store-version: A directory at the place of a store is named as what it is."""
    with pytest.raises(UnreadableError, match="not a file"):
        SqliteRecord(tmp_path)


# -- faults


def test_a_lock_is_waited_out_with_a_bound(record: SqliteRecord, path: Path) -> None:
    """store-busy: Past the bound, one line says what is locked; later it goes on."""
    fill(record)
    with raw(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(UnavailableError) as caught:
            record.log.append(sample_fact(4))
        with pytest.raises(UnavailableError):
            record.entries.add(THREAD, EntryDraft(kind="prompt"))
        assert len(list(record.log.events())) == 3  # a reader waits for nobody
    diagnosis = caught.value.diagnosis()
    assert diagnosis.startswith(f"store {path} is locked, after 0.01 s of waiting (hint: ")
    assert "\n" not in diagnosis
    assert record.log.append(sample_fact(4)).seq == 4


def test_a_lock_is_waited_out_for_half_a_minute(path: Path) -> None:
    """store-busy: The bound is 30 seconds where nobody said otherwise."""
    with SqliteRecord(path) as record, record._database.reading() as connection:
        assert connection.execute("PRAGMA busy_timeout").fetchone() == (30_000,)


def test_an_event_is_on_the_disk_when_append_returns(record: SqliteRecord) -> None:
    """store-kill: Every commit is synced, and the journal is the write-ahead log."""
    with record._database.reading() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def append_until_full(record: SqliteRecord) -> UnavailableError:
    facts = map(sample_fact, range(100, 1_000))
    with pytest.raises(UnavailableError) as caught:
        list(map(record.log.append, facts))
    return caught.value


def assert_intact(record: SqliteRecord, path: Path) -> None:
    """Hold the record to what is in the file, and to places without a gap."""
    seen = list(record.log.events())
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    with SqliteRecord(path) as other:
        assert list(other.log.events()) == seen


def test_a_full_store_refuses_and_goes_on_once_there_is_room(
    record: SqliteRecord, path: Path
) -> None:
    """store-full: What SQLite itself reports when no page is to be had."""
    fill(record)
    with record._database.reading() as connection:
        connection.execute("PRAGMA max_page_count = 60")
    error = append_until_full(record)
    assert "full" in error.diagnosis()
    assert "make room" in error.diagnosis()
    assert_intact(record, path)
    last = len(list(record.log.events()))
    with record._database.reading() as connection:
        connection.execute("PRAGMA max_page_count = 100000")
    assert record.log.append(sample_fact(9_999)).seq == last + 1
    assert_intact(record, path)


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """Let the system itself refuse to write further: a disk that is full, without root."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_write_that_the_system_refuses_loses_nothing(record: SqliteRecord, path: Path) -> None:
    """store-full: The system refuses in the middle of the pages of an event."""
    fill(record)
    journal = path.with_name("ledger.db-wal")
    with files_no_larger_than(journal.stat().st_size + 300_000):
        error = append_until_full(record)
        assert_intact(record, path)
    assert error.advice
    last = len(list(record.log.events()))
    assert last > 3
    assert record.log.append(sample_fact(9_999)).seq == last + 1
    assert_intact(record, path)


def test_a_store_that_cannot_be_made_leaves_nothing(path: Path) -> None:
    """store-full: No half of a store is left where there is no room for a whole one."""
    with files_no_larger_than(1_000), pytest.raises(UnavailableError):
        SqliteRecord(path)
    assert files(path.parent) == {}


def test_a_store_in_a_directory_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    """store-faults: The one line names the store and why."""
    with pytest.raises(UnavailableError, match=r"ledger\.db.*No such file"):
        SqliteRecord(tmp_path / "nowhere" / "ledger.db")


def test_a_file_in_place_of_the_directory_is_unavailable(path: Path) -> None:
    """store-faults: The one line names the store and why."""
    path.touch()
    with pytest.raises(UnavailableError, match="Not a directory"):
        SqliteRecord(path / "ledger.db")


def test_a_store_cut_short_is_damaged(path: Path) -> None:
    """store-faults: Pages that are gone are found by whoever reads them."""
    with SqliteRecord(path) as record:
        fill(record, 24)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DamagedLedgerError), SqliteRecord(path) as record:
        list(record.log.events())


def test_a_table_that_is_gone_is_damage(record: SqliteRecord, path: Path) -> None:
    """store-faults: Nothing stops who may write the file from dropping a table."""
    with raw(path) as connection:
        connection.execute("DROP TABLE event")
    with pytest.raises(DamagedLedgerError, match="no such table"):
        record.log.append(sample_fact(1))


@pytest.mark.parametrize(
    ("forged", "said"),
    [
        (b"{}", "event 2 of store .*: missing-field"),
        (b"\xff", "event 2 of store .*: not-utf8"),
        (encode_event(sample_fact(2).at(3)), "event 2 of store .*: its bytes are those of another"),
        (encode_event(sample_fact(7).at(2)), "event 2 of store .*: its bytes are those of another"),
    ],
)
def test_forged_bytes_are_damage(
    record: SqliteRecord, path: Path, forged: bytes, said: str
) -> None:
    """store-faults: A row whose bytes are no event, or another one, is never handed out."""
    fill(record)
    with raw(path) as connection:
        connection.execute("DROP TRIGGER event_never_changes")
        connection.execute("UPDATE event SET line = ? WHERE seq = 2", (forged,))
    reader = record.log.events()
    assert next(reader).seq == 1
    with pytest.raises(DamagedLedgerError, match=said):
        next(reader)


def test_a_column_that_is_no_text_is_damage(record: SqliteRecord, path: Path) -> None:
    """store-faults: Python's own module finds this one, and gives it no code."""
    fill(record)
    with raw(path) as connection:
        connection.execute("DROP TRIGGER event_never_changes")
        connection.execute("UPDATE event SET thread = CAST(x'ff' AS TEXT) WHERE seq = 2")
    with pytest.raises(DamagedLedgerError, match="UTF-8"):
        list(record.log.events())


@pytest.mark.parametrize("forged", ["", "[1]", '["x"]', "5"])
def test_a_forged_entry_is_damage(record: SqliteRecord, path: Path, forged: str) -> None:
    """store-faults: An entry whose ids are none names itself as damaged."""
    fill(record)
    with raw(path) as connection:
        connection.execute("DROP TRIGGER entry_never_changes")
        connection.execute("UPDATE entry SET events = ? WHERE number = 2", (forged,))
    reader = record.entries.entries(THREAD)
    assert next(reader).number == 1
    with pytest.raises(DamagedLedgerError, match="entry 2 of thread sample"):
        next(reader)
    with pytest.raises(DamagedLedgerError, match="entry 2 of thread sample"):
        record.entries.entry(THREAD, EntryNumber(2))


def test_a_journal_that_somebody_switched_off_is_switched_on(path: Path) -> None:
    """store-faults: While somebody holds it switched off the store is locked, nothing worse."""
    SqliteRecord(path).close()
    with raw(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(UnavailableError, match="locked"):
            SqliteRecord(path, patience=0.01)
        connection.execute("ROLLBACK")
    with SqliteRecord(path) as record, record._database.reading() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_closed_store_is_unavailable(path: Path) -> None:
    """store-faults: Every use after `close` is the same clear error, a second `close` is none."""
    record = SqliteRecord(path)
    fill(record)
    reader = record.log.events()
    record.close()
    record.close()
    uses = (
        lambda: record.log.append(sample_fact(4)),
        lambda: next(reader),
        lambda: record.entries.add(THREAD, EntryDraft(kind="prompt")),
        lambda: record.entries.numbers(THREAD),
    )
    for use in uses:
        with pytest.raises(UnavailableError, match="closed"):
            use()


def test_no_connection_is_left_open(path: Path, tmp_path: Path) -> None:
    """store-faults: Neither a store that was used nor one that was refused leaves a warning."""
    with SqliteRecord(path) as record:
        fill(record)
    (tmp_path / "text").write_text("text")
    with pytest.raises(CounterfoilError):
        SqliteRecord(tmp_path / "text")
    gc.collect()  # on Python 3.13 an open connection warns here, and a warning is an error


# -- reading


def test_a_reader_holds_no_transaction(record: SqliteRecord, path: Path) -> None:
    """store-read: The journal can be folded into the store while somebody reads."""
    fill(record)
    reader = record.log.events()
    next(reader)
    with raw(path) as connection:
        is_busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert not is_busy
    assert [event.seq for event in reader] == [2, 3]


def test_reading_goes_on_past_a_page(record: SqliteRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    """store-read: At a page, one under and one over, every event comes once."""
    monkeypatch.setattr(database, "PAGE_ROWS", 3)
    for number in range(1, 8):
        event = record.log.append(sample_fact(number))
        record.entries.add(THREAD, EntryDraft(kind="prompt"))
        record.entries.add(ThreadId(f"t{number}"), EntryDraft(kind="prompt"))
        assert [event.seq for event in record.log.events()] == list(range(1, number + 1))
        assert [event.seq for event in record.log.events_of(THREAD)] == list(range(1, number + 1))
        assert len(list(record.entries.entries(THREAD))) == number
        assert len(list(record.entries.threads())) == number + 1
    assert event.seq == 7


def test_a_page_of_long_events_ends_early(
    record: SqliteRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """store-read: What a reader holds is bounded in bytes, not only in events."""
    monkeypatch.setattr(database, "PAGE_SIZE", 2_500)
    for number in range(1, 6):
        record.log.append(sample_fact(number, PromptReceived(text="x" * 1_000)))
    rows = record._database._page(event_log._ALL, {"after": 0, "last": 5})
    assert [seq for seq, *_ in rows] == [1, 2, 3]
    assert [event.seq for event in record.log.events()] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (event_log._ALL, "INTEGER PRIMARY KEY"),
        (event_log._OF_THREAD, "INDEX event_of_thread"),
        (event_log._OF_TURN, "INDEX event_of_turn"),
    ],
)
def test_events_are_found_by_index(record: SqliteRecord, query: str, index: str) -> None:
    """store-read: A page costs what it holds, however long the ledger is."""
    values = {"thread": "t", "turn": 1, "after": 0, "last": 9, "rows": 9}
    with record._database.reading() as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {query}", values).fetchall()
    (step,) = [detail for *_, detail in plan]  # a second one would sort
    assert step.startswith(f"SEARCH event USING {index}")
