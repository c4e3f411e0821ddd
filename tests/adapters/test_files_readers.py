"""Readers, who see one instant, wait for nobody and write nothing."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import counterfoil
from counterfoil.adapters.files import instant
from counterfoil.adapters.files.disk import Disk
from counterfoil.adapters.files.instant import ATTEMPTS, Overlay, overlay, read_at_one_instant
from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.adapters.files.transactions import apply_changes
from counterfoil.core.errors import NotFoundError, UnavailableError, UnreadableError
from counterfoil.core.knowledge.changes import FileChange, StorePath

SOURCE = Path(str(counterfoil.__file__)).parents[1]
NAMES = ("knowledge/a.md", "knowledge/b.md", "knowledge/c.md")

Pages = dict[str, bytes | None]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "knowledge").mkdir()
    write(tmp_path, 0)
    return tmp_path


def write(path: Path, number: int, disk: Disk | None = None) -> None:
    """Give all pages the same number, in one transaction."""
    with StoreRoot(path, disk=disk or Disk()) as root:
        apply_changes(
            root,
            [FileChange(path=StorePath(name), after=b"%d" % number) for name in NAMES],
            purpose="test",
        )


def pages(number: int) -> Pages:
    return dict.fromkeys(NAMES, b"%d" % number)


def reading(root: StoreRoot, between: Callable[[str], None] = lambda _: None) -> Pages:
    """Read all pages at one instant; something happens before each is read."""

    def read(unfinished: Overlay) -> Pages:
        found: Pages = {}
        for name in NAMES:
            between(name)
            found[name] = unfinished.seen(name, root.read(name))
        return found

    return read_at_one_instant(root, read)


class Watched(Disk):
    """Tells somebody before each call that changes the disk."""

    def __init__(self, tell: Callable[[], None]) -> None:
        for name in vars(Disk):
            if not name.startswith("_"):
                setattr(self, name, self._watched(getattr(Disk, name), tell))

    def _watched(
        self, real: Callable[..., object], tell: Callable[[], None]
    ) -> Callable[..., object]:
        def call(*place: object, **rest: object) -> object:
            tell()
            return real(self, *place, **rest)

        return call


def test_a_reader_at_any_moment_of_a_write_sees_all_or_nothing(store: Path) -> None:
    """store-readers: Before each single call of the writer, and without waiting for it."""
    seen: list[Pages] = []
    with StoreRoot(store) as root:
        write(store, 1, Watched(lambda: seen.append(reading(root))))
        seen.append(reading(root))
    assert len(seen) > 15
    assert [page for page in seen if page not in (pages(0), pages(1))] == []
    assert seen == sorted(seen, key=lambda page: page == pages(1))  # never back in time


@pytest.mark.parametrize("moment", NAMES)
def test_a_write_in_the_midst_of_a_reading_is_seen_whole(store: Path, moment: str) -> None:
    """store-readers: What was read in part is read again."""
    readings: list[str] = []

    def between(name: str) -> None:
        readings.append(name)
        if name == moment and readings.count(name) == 1:
            write(store, 1)

    with StoreRoot(store) as root:
        assert reading(root, between) == pages(1)
    assert readings.count(NAMES[0]) == 2


@pytest.mark.parametrize("begins", range(3))
def test_a_reading_that_outlasts_parts_of_writes_is_one_instant(store: Path, begins: int) -> None:
    """store-readers: The reader begins at any call of one write and ends in another."""
    calls: list[Pages] = []

    def tell() -> None:
        calls.append({})
        if len(calls) % 3 == begins:
            with StoreRoot(store) as root:
                once: list[bool] = []

                def between(name: str) -> None:
                    if name == NAMES[1] and not once:
                        once.append(True)
                        mixed = dict(zip(NAMES, (root.read(name) for name in NAMES), strict=True))
                        calls[-1] = mixed

                found = reading(root, between)
                assert found in (pages(0), pages(1))

    write(store, 1, Watched(tell))
    assert any(len(set(mixed.values())) > 1 for mixed in calls)  # a plain reader saw halves


@pytest.mark.parametrize("writes", [ATTEMPTS - 1, ATTEMPTS, ATTEMPTS + 1])
def test_a_reader_does_not_try_for_ever(store: Path, writes: int) -> None:
    """store-readers: It gives up after 64 readings, with advice."""
    done: list[int] = []

    def between(name: str) -> None:
        if name == NAMES[2] and len(done) < writes:
            done.append(len(done))
            epoch = store / ".counterfoil" / "epoch"
            epoch.write_bytes(b"%d\n" % len(done))

    with StoreRoot(store) as root:
        if writes < ATTEMPTS:
            assert reading(root, between) == pages(0)
            return
        with pytest.raises(UnavailableError, match="changed each of 64 times") as refusal:
            reading(root, between)
    assert refusal.value.advice
    assert len(done) == ATTEMPTS


def test_what_a_reading_raises_counts_when_nothing_moved(store: Path) -> None:
    """store-readers: A file that vanished under the reader's hands is another reading."""
    tries: list[int] = []

    def read(_: Overlay) -> int:
        tries.append(1)
        if len(tries) == 1:
            write(store, 1)
            raise NotFoundError("gone")
        return len(tries)

    with StoreRoot(store) as root:
        assert read_at_one_instant(root, read) == 2
        with pytest.raises(ZeroDivisionError):
            read_at_one_instant(root, lambda _: 1 // 0)


class CrashError(BaseException):
    """Ends a writer as a crash does: nothing is taken back."""


def crash_at(store: Path, call: str, nth: int) -> None:
    """Leave a write of 1 unfinished, before the nth call of that name."""
    disk = Disk()
    left = [nth]
    real = getattr(disk, call)

    def crashing(*place: object, **rest: object) -> object:
        left[0] -= 1
        if not left[0]:
            raise CrashError
        return real(*place, **rest)

    setattr(disk, call, crashing)
    with suppress(CrashError):
        write(store, 1, disk)


def test_after_a_crash_a_reader_sees_one_instant_and_writes_nothing(store: Path) -> None:
    """store-readers: Half of the files are written; not a byte is changed by looking."""
    crash_at(store, "rename", 3)
    halves = [(store / name).read_bytes() for name in NAMES]
    assert halves == [b"1", b"0", b"0"]
    before = {path: path.stat().st_mtime_ns for path in store.rglob("*")}
    with StoreRoot(store) as root:
        assert list(overlay(root)) == [StorePath(name) for name in NAMES]
        assert reading(root) == pages(0)
        assert reading(root) == pages(0)
    assert {path: path.stat().st_mtime_ns for path in store.rglob("*")} == before
    write(store, 2)
    with StoreRoot(store) as root:
        assert not overlay(root)
        assert reading(root) == pages(2)


def test_a_writer_between_a_readers_first_looks_is_seen(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """store-readers: It begins, writes half and stops while the reader looks for it."""
    looks: list[str] = []

    def looking(name: str) -> None:
        real = getattr(instant, name)

        def look(root: StoreRoot) -> object:
            looks.append(name)
            if len(looks) == 2:
                crash_at(store, "rename", 3)
            return real(root)

        monkeypatch.setattr(instant, name, look)

    looking("epoch")
    looking("overlay")
    with StoreRoot(store) as root:
        assert reading(root) == pages(0)


def test_a_file_saved_by_hand_after_a_crash_is_seen(store: Path) -> None:
    """store-readers: The journal is not trusted over what somebody wrote."""
    crash_at(store, "rename", 3)
    (store / NAMES[0]).write_bytes(b"by hand")
    with StoreRoot(store) as root:
        assert reading(root) == {**pages(0), NAMES[0]: b"by hand"}


def test_a_file_that_is_being_made_is_not_there_yet(store: Path) -> None:
    """store-readers: And one that is being deleted still is, though no directory names it."""
    (store / NAMES[1]).unlink()
    crash_at(store, "rename", 4)
    assert (store / NAMES[1]).read_bytes() == b"1"
    with StoreRoot(store) as root:
        assert reading(root) == {**pages(0), NAMES[1]: None}

    def delete(disk: Disk) -> None:
        change = FileChange(path=StorePath(NAMES[2]), after=None)
        with StoreRoot(store, disk=disk) as root:
            apply_changes(root, [change], purpose="test")

    class Crashing(Disk):
        def unlink(self, name: str, *, at: int) -> None:
            super().unlink(name, at=at)
            if name == "c.md":
                raise CrashError

    with suppress(CrashError):
        delete(Crashing())
    assert not (store / NAMES[2]).exists()
    with StoreRoot(store) as root:
        assert StorePath(NAMES[2]) in list(overlay(root))
        assert reading(root)[NAMES[2]] == b"1"


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\xff"])
def test_what_is_unfinished_and_unreadable_is_said(store: Path, content: bytes) -> None:
    """store-readers: No instant can be told then; the line names the file."""
    (store / ".counterfoil" / "journal").write_bytes(content)
    with StoreRoot(store) as root, pytest.raises(UnreadableError, match="journal cannot be read"):
        reading(root)


def test_a_store_that_was_never_written_by_us_is_read(tmp_path: Path) -> None:
    """store-readers: There is no directory of ours, and there is none afterwards."""
    (tmp_path / "knowledge").mkdir()
    (tmp_path / NAMES[0]).write_bytes(b"by hand")
    with StoreRoot(tmp_path) as root:
        assert reading(root)[NAMES[0]] == b"by hand"
    assert [path.name for path in tmp_path.iterdir()] == ["knowledge"]


def test_a_read_only_store_is_read(store: Path) -> None:
    """store-readers: With all that a crash left in it; nothing is asked of the disk."""
    crash_at(store, "rename", 3)

    def refuse() -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with StoreRoot(store, disk=Watched(refuse)) as root:
        assert reading(root) == pages(0)


WRITER = """
import sys
from pathlib import Path
from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.adapters.files.transactions import apply_changes
from counterfoil.core.knowledge.changes import FileChange, StorePath

with StoreRoot(Path(sys.argv[1])) as root:
    for number in range(1, 61):
        apply_changes(
            root,
            [FileChange(path=StorePath(name), after=b"%d" % number) for name in sys.argv[2:]],
            purpose="test",
        )
        print(number, flush=True)
"""


def test_readers_beside_a_writing_process_see_instants_in_order(store: Path) -> None:
    """store-readers: No half, no step back, and nothing older than what was acknowledged."""
    with (
        StoreRoot(store) as root,
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(store), *NAMES],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(SOURCE)},
        ) as writer,
    ):
        assert writer.stdout is not None
        last = 0
        for line in writer.stdout:
            found = reading(root)
            number = int(found[NAMES[0]] or b"")
            assert found == pages(number)
            assert number >= max(last, int(line))
            last = number
    assert (writer.returncode, last) == (0, 60)
