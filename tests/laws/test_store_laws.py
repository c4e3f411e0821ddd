"""The laws of a store's files: what a model of them says, they say.

Names and contents are drawn from small pools, so that changes meet. Where a law is about
a loss of power, the disk is modelled: of what was not synced, any part may be lost.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from stat import S_ISDIR
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from counterfoil.adapters.files.disk import Disk
from counterfoil.adapters.files.instant import overlay
from counterfoil.adapters.files.journal import Journal, PlannedFile, commit, load
from counterfoil.adapters.files.paths import FileState, StoreRoot
from counterfoil.adapters.files.transactions import apply_changes, writing
from counterfoil.core.digests import tagged_digest
from counterfoil.core.errors import ConflictError, InvalidIdError, UnreadableError
from counterfoil.core.knowledge.changes import FileChange, StorePath
from counterfoil.core.knowledge.sources import freshness, is_time

PATHS = [StorePath(f"knowledge/{name}") for name in ("a.md", "b.md", "x/a.md", "x/y/c.md")]
CONTENTS = [b"", b"1", b"2", b"longer than the others"]

Files = dict[str, bytes]

paths = st.sampled_from(PATHS)
contents = st.sampled_from(CONTENTS)
expectations = st.sampled_from(["anything", "absent", *map(tagged_digest, CONTENTS)])
changes = st.lists(
    st.builds(
        FileChange,
        path=paths,
        after=st.none() | contents,
        expected=st.just("anything") | expectations,
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda change: change.path,
)


@contextmanager
def new_store() -> Iterator[Path]:
    with TemporaryDirectory() as directory:
        yield Path(directory)


def files_of(root: Path) -> Files:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".counterfoil" not in path.relative_to(root).parts
    }


def directories_of(root: Path) -> set[str]:
    return {
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_dir() and ".counterfoil" not in path.relative_to(root).parts
    }


def plant(root: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)


def applied(files: Files, asked: list[FileChange]) -> Files | None:
    """Return what the files are after the changes, or `None` where they are refused."""
    after = dict(files)
    for change in asked:
        found = files.get(change.path)
        digest = "absent" if found is None else tagged_digest(found)
        if change.expected not in ("anything", digest):
            return None
        after.pop(change.path, None)
        if change.after is not None:
            after[change.path] = change.after
    return after


@given(st.lists(changes, max_size=4))
def test_transactions_do_what_a_mapping_does(rounds: list[list[FileChange]]) -> None:
    """store-transactions: All of the changes where each finds what it expects, else none."""
    model: Files = {}
    with new_store() as path, StoreRoot(path) as root:
        for asked in rounds:
            after = applied(model, asked)
            try:
                told = apply_changes(root, asked, purpose="law")
            except ConflictError:
                assert after is None
            else:
                assert after is not None
                assert {file.path for file in told} == {
                    change.path
                    for change in asked
                    if model.get(change.path) != after.get(change.path)
                }
                model = after
            assert files_of(path) == model
            assert not overlay(root)


@given(
    st.text(st.characters(exclude_categories=()), max_size=20) | st.from_regex(r"[a./\\:C]{0,9}")
)
def test_a_path_is_refused_or_stays_below_the_root(text: str) -> None:
    """store-paths: Whatever it is made of."""
    try:
        path = StorePath(text)
    except InvalidIdError:
        return
    assert os.path.normpath(f"/store/{path}") == f"/store/{path}"
    assert "\\" not in path


states = st.none() | st.builds(FileState, contents, st.sampled_from([0o600, 0o644]))
planned = st.builds(
    PlannedFile,
    paths,
    states,
    st.none() | contents,
    st.sampled_from([None, 0o444, 0o644]),
)
journals = st.builds(
    Journal,
    st.lists(planned, max_size=3).map(tuple),
    st.just(()),
    st.sampled_from(["0123456789abcdef", "00000000ffffffff"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
)


def normal(journal: Journal) -> Journal:
    """A mode without a file says nothing, and is not kept."""
    files = (file._replace(mode=None) if file.after is None else file for file in journal.files)
    return journal._replace(files=tuple(files))


@given(journals, st.data())
def test_a_journal_is_read_back_whole_or_not_at_all(journal: Journal, data: st.DataObject) -> None:
    """store-transactions: Torn or changed at any byte, it is none."""
    with new_store() as path, StoreRoot(path) as root:
        root.make_directories(".counterfoil")
        commit(root, journal)
        assert load(root, "finish") == normal(journal)
        assert load(root, "undo") is None
        file = path / ".counterfoil" / "journal"
        content = bytearray(file.read_bytes())
        place = data.draw(st.integers(0, len(content) - 1))
        if data.draw(st.booleans()):
            content[place] ^= data.draw(st.integers(1, 255))
        else:
            del content[place:]
        file.write_bytes(content)
        with suppress(UnreadableError):
            assert load(root, "finish") == normal(journal)  # such as another space in the head


# --- a disk that loses power ------------------------------------------------------


@dataclass
class File:
    """What was written to a file, and how much of that is on the disk for certain."""

    writes: list[bytes] = field(default_factory=list)
    synced: int = 0


Names = dict[str, "File | Directory"]


@dataclass
class Directory:
    """The names in a directory after each thing done there, and how much is on the disk."""

    states: list[Names] = field(default_factory=lambda: [{}])
    synced: int = 0

    def put(self, name: str, what: "File | Directory | None") -> None:
        now = {**self.states[-1]}
        now.pop(name, None)
        self.states.append(now if what is None else {**now, name: what})

    def rename(self, name: str, new: str) -> None:
        now = {**self.states[-1]}
        moved = now.pop(name)
        self.states.append({**now, new: moved})

    def sync(self) -> None:
        self.synced = len(self.states) - 1


class RecordingDisk(Disk):
    """Does everything, and keeps what a disk would have to keep of it.

    A directory keeps the order of what is done in it, a file that of its writes; what
    is not synced may be lost from any point on, each for itself.
    """

    def __init__(self, root: Path, power: int) -> None:
        self.root = root
        self.power = power
        self.top = self._seen(root)
        self.files: dict[int, File] = {}

    def _seen(self, path: Path) -> Directory:
        return Directory(
            [
                {
                    child.name: self._seen(child)
                    if child.is_dir()
                    else File([child.read_bytes()], synced=1)
                    for child in path.iterdir()
                }
            ]
        )

    def _directory(self, handle: int) -> Directory:
        """Return the directory that a descriptor is of, by its identity."""
        wanted = os.fstat(handle)
        waiting = [(self.root, self.top)]
        while waiting:
            path, directory = waiting.pop()
            if os.path.samestat(path.stat(), wanted):
                return directory
            waiting += [
                (path / name, inner)
                for name, inner in directory.states[-1].items()
                if isinstance(inner, Directory)
            ]
        raise AssertionError("a directory outside of the store")

    def _tick(self) -> None:
        self.power -= 1
        if self.power < 0:
            raise PowerLossError

    def _forget(self, name: str, at: int) -> None:
        """The number of a file that goes away may be given to another one."""
        with suppress(FileNotFoundError):
            self.files.pop(os.stat(name, dir_fd=at).st_ino, None)

    def create(self, name: str, *, at: int, mode: int) -> int:
        self._tick()
        handle = super().create(name, at=at, mode=mode)
        file = self.files[os.fstat(handle).st_ino] = File()
        self._directory(at).put(name, file)
        return handle

    def write(self, file: int, content: bytes) -> None:
        self._tick()
        super().write(file, content)
        written = self.files.get(os.fstat(file).st_ino)
        if written:  # the counter is written in place, and nobody needs it
            written.writes.append(content)

    def set_mode(self, file: int, mode: int) -> None:
        self._tick()
        super().set_mode(file, mode)

    def sync(self, file: int) -> None:
        self._tick()
        super().sync(file)
        found = os.fstat(file)
        if S_ISDIR(found.st_mode):
            self._directory(file).sync()
        else:
            self.files[found.st_ino].synced = len(self.files[found.st_ino].writes)

    def rename(self, name: str, new: str, *, at: int) -> None:
        self._tick()
        self._forget(new, at)
        super().rename(name, new, at=at)
        self._directory(at).rename(name, new)

    def unlink(self, name: str, *, at: int) -> None:
        self._tick()
        self._forget(name, at)
        super().unlink(name, at=at)
        self._directory(at).put(name, None)

    def make_directory(self, name: str, *, at: int) -> None:
        self._tick()
        super().make_directory(name, at=at)
        self._directory(at).put(name, Directory())

    def remove_directory(self, name: str, *, at: int) -> None:
        self._tick()
        super().remove_directory(name, at=at)
        self._directory(at).put(name, None)


class PowerLossError(BaseException):
    """Nothing more is done."""


def survive(directory: Directory, path: Path, kept: Callable[[int, int], int]) -> None:
    """Make at `path` what is left of `directory`; `kept` says how much of what was not synced."""
    state = kept(directory.synced, len(directory.states) - 1)
    for name, what in directory.states[state].items():
        if isinstance(what, Directory):
            (path / name).mkdir()
            survive(what, path / name, kept)
        else:
            written = what.writes[: kept(what.synced, len(what.writes))]
            (path / name).write_bytes(b"".join(written))


BEFORE: Files = {"knowledge/a.md": b"1", "knowledge/b.md": b"2", "knowledge/x/a.md": b""}


@given(changes, st.integers(0, 60), st.data())
def test_a_loss_of_power_leaves_before_or_after(
    asked: list[FileChange], power: int, data: st.DataObject
) -> None:
    """store-kills: Whatever of the unsynced is lost; what was acknowledged never is."""
    asked = [FileChange(path=change.path, after=change.after) for change in asked]
    after = applied(BEFORE, asked)
    acknowledged = False
    with new_store() as path, new_store() as left:
        plant(path, BEFORE)
        disk = RecordingDisk(path, power)
        with StoreRoot(path, disk=disk) as root:
            try:
                apply_changes(root, asked, purpose="law")
                acknowledged = True
            except PowerLossError:
                pass
        survive(disk.top, left, lambda least, most: data.draw(st.integers(least, most)))
        with StoreRoot(left) as root:
            assert not (acknowledged and overlay(root))  # nor does a reader go back in time
            with writing(root, purpose="mending"):
                pass
        found = files_of(left)
        assert found == after if acknowledged else found in (BEFORE, after)


# --- times ------------------------------------------------------------------------

leap_days = st.integers(0, 3 * 86_400).map(
    lambda seconds: datetime(2024, 2, 28, tzinfo=UTC) + timedelta(seconds=seconds)
)
moments = st.datetimes(timezones=st.just(UTC)) | leap_days


@given(moments, moments)
def test_times_are_ordered_as_a_calendar_orders_them(end: datetime, now: datetime) -> None:
    """kb-sources: The standard library says when a source expires."""
    assert is_time(end.isoformat())
    assert freshness(end.isoformat(), now.isoformat()) == ("fresh" if now <= end else "expired")
