"""Several files are written together: all of them, or none, whatever happens meanwhile.

Under the lock: what is there is weighed against what was expected; the journal is
written, which decides; each file is replaced, and looked at again; the journal is taken
away. A writer that finds a journal first finishes it, or takes it back, as its name
says. A file that is neither as it was nor as it shall be was changed by somebody else:
it is left alone, and no byte of it or of the journal is lost.
"""

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress

from counterfoil.adapters.files.atomic import staged
from counterfoil.adapters.files.disk import faults_of
from counterfoil.adapters.files.epoch import count_up
from counterfoil.adapters.files.journal import (
    Direction,
    Goal,
    Journal,
    PlannedFile,
    commit,
    drop,
    load,
    set_aside,
    turn_back,
)
from counterfoil.adapters.files.lock import PATIENCE, locked
from counterfoil.adapters.files.paths import FileState, StoreRoot, require_file
from counterfoil.adapters.files.planning import digest_of, missing_directories, planned_files
from counterfoil.core.errors import ConflictError, NotFoundError, UnreadableError
from counterfoil.core.knowledge.changes import KEPT, FileChange, StorePath, WrittenFile


def apply_changes(
    root: StoreRoot, changes: Iterable[FileChange], *, purpose: str, patience: float = PATIENCE
) -> tuple[WrittenFile, ...]:
    """Make all of `changes` and return those files that are other than before.

    Raises:
        ConflictError: A file is not what was expected, another writer holds the store,
            or somebody changed a file meanwhile. Nothing was written.
        InvalidIdError: A path is changed twice, or is not for writing.
        UnreadableError: A link or something special is where a file shall be.
        UnavailableError: The store cannot be written. It reads as before, unless only
            the last call failed, by which what was written outlasts a loss of power.
    """
    with writing(root, purpose=purpose, patience=patience):
        files = planned_files(root, changes)
        if files:
            directories = missing_directories(root, files)
            _carry_out(root, Journal(files, directories, os.urandom(8).hex(), purpose))
    return tuple(
        WrittenFile(
            file.path, digest_of(file.before and file.before.content), digest_of(file.after)
        )
        for file in files
    )


@contextmanager
def writing(
    root: StoreRoot, *, purpose: str, patience: float = PATIENCE
) -> Generator[None, None, None]:
    """Be the one writer of a store of which nothing is unfinished.

    Raises:
        ConflictError: Another writer holds the store; or what was unfinished met a
            change of somebody else, is ended now, and the next try goes on.
        UnreadableError: What is unfinished cannot be read.
        UnavailableError: The store cannot be written.
    """
    with locked(root, purpose=purpose, patience=patience):
        _recover(root)
        yield


class FileStoreWriter:
    """A `StoreWriter` of the store at `root`; `patience` is in seconds."""

    def __init__(self, root: StoreRoot, *, patience: float = PATIENCE) -> None:
        self._root = root
        self._patience = patience

    def apply(self, changes: Iterable[FileChange], *, purpose: str) -> tuple[WrittenFile, ...]:
        """Make all of `changes`, or raise what `apply_changes` raises."""
        return apply_changes(self._root, changes, purpose=purpose, patience=self._patience)

    @contextmanager
    def exclusively(self, *, purpose: str) -> Generator[None, None, None]:
        """Hold the store, so that nothing in it changes but by `apply`."""
        with writing(self._root, purpose=purpose, patience=self._patience):
            yield


class _OutsideChangeError(ConflictError):
    """Somebody else changed the file at `path` before this transaction came to it."""

    def __init__(self, path: StorePath) -> None:
        super().__init__(
            f"{path} was changed by another program while it was written",
            "a store that Counterfoil alone is writing",
            "look at that file and try again; nothing was written",
        )
        self.path = path


def _carry_out(root: StoreRoot, journal: Journal) -> None:
    commit(root, journal)
    try:
        _sync_kept(root)
        count_up(root)
        for file, temporary in _steps(journal):
            _put(root, file, file.goal("finish"), temporary)
        _sync(root, journal)
        if unlike := next(_unlike(root, journal, "finish"), None):
            raise ConflictError(f"{unlike} was changed by another program after it was written")
        drop(root, "finish")
    except _OutsideChangeError as change:
        _take_back(root, journal, (change.path,))
        raise
    except Exception:
        _take_back(root, journal, ())
        raise
    _sync_kept(root)


def _take_back(root: StoreRoot, journal: Journal, untouched: tuple[StorePath, ...]) -> None:
    """Make every file what it was, but for those that somebody else changed."""
    turn_back(root)
    _undo(root, journal, untouched)


def _recover(root: StoreRoot) -> None:
    """End what an earlier writer left, in the direction that is recorded."""
    if (journal := load(root, "undo")) is not None:
        _undo(root, journal, ())
    if (journal := load(root, "finish")) is not None:
        count_up(root)
        _end(root, journal, "finish", _carry(root, journal, "finish"))


def _undo(root: StoreRoot, journal: Journal, untouched: tuple[StorePath, ...]) -> None:
    """Take the transaction back; of files that it left `untouched` there is nothing to keep."""
    count_up(root)
    outside = _carry(root, journal, "undo")
    for directory in reversed(journal.directories):
        _remove_directory(root, directory)
    _end(root, journal, "undo", [path for path in outside if path not in untouched])


def _end(root: StoreRoot, journal: Journal, direction: Direction, outside: list[StorePath]) -> None:
    """Take the journal away, or keep its bytes where files `outside` of it were changed."""
    if not outside:
        drop(root, direction)
        _sync_kept(root)
        return
    kept = set_aside(root, direction, journal)
    raise ConflictError(
        f"unfinished work ({journal.purpose}) met a change of another program in"
        f" {', '.join(outside)}",
        "files as they were or as they should become",
        f"they are left as they are; what they were and should be stands in {kept}; try again",
    )


def _carry(root: StoreRoot, journal: Journal, direction: Direction) -> list[StorePath]:
    """Make every file what it becomes in `direction`; return those that somebody else changed.

    What an earlier try left beside the files goes away.
    """
    for file, temporary in _steps(journal):
        with suppress(_OutsideChangeError):
            _clear(root, file.path, temporary)
            _put(root, file, file.goal(direction), temporary)
    _sync(root, journal)
    return list(_unlike(root, journal, direction))


def _steps(journal: Journal) -> Iterator[tuple[PlannedFile, str]]:
    """Yield each file with the name of its temporary one."""
    for number, file in enumerate(journal.files):
        yield file, f".counterfoil-{journal.nonce}-{number}.tmp"


def _put(root: StoreRoot, file: PlannedFile, goal: Goal, temporary: str) -> None:
    """Make the file what it shall be, unless it is that already, or somebody else's."""
    try:
        if goal.is_met_by(_own_state(root, file)):
            return
        if goal.content is None:
            _remove(root, file.path)
            return
        if above := file.path.rpartition("/")[0]:
            root.make_directories(above)
        _replace(root, file, goal, temporary)
    except (UnreadableError, NotFoundError) as fault:
        raise _OutsideChangeError(file.path) from fault


def _own_state(root: StoreRoot, file: PlannedFile) -> FileState | None:
    """Return what the file is now, or raise if that is nothing that we know of."""
    state = root.state(file.path)
    if not file.knows(state and state.content):
        raise _OutsideChangeError(file.path)
    return state


def _replace(root: StoreRoot, file: PlannedFile, goal: Goal, temporary: str) -> None:
    content = goal.content or b""
    with (
        root.holding(file.path) as (at, name),
        faults_of(file.path),
        staged(at, temporary, content, mode=goal.mode, disk=root.disk),
    ):
        _own_state(root, file)  # looked at again, since to write takes its time
        root.disk.rename(temporary, name, at=at)


def _remove(root: StoreRoot, path: StorePath) -> None:
    with root.holding(path) as (at, name), faults_of(path):
        root.disk.unlink(name, at=at)


def _remove_directory(root: StoreRoot, path: StorePath) -> None:
    """Remove what this transaction made, unless it is in use by now."""
    with suppress(NotFoundError, UnreadableError, OSError), root.holding(path) as (at, name):
        root.disk.remove_directory(name, at=at)


def _clear(root: StoreRoot, path: StorePath, temporary: str) -> None:
    """Take away the temporary file that an earlier try left beside `path`."""
    with suppress(NotFoundError, UnreadableError), root.holding(path) as (at, _), faults_of(path):
        if require_file(temporary, at=at, called=temporary) is not None:
            root.disk.unlink(temporary, at=at)


def _sync(root: StoreRoot, journal: Journal) -> None:
    """See that the names of all files are on the disk."""
    for above in sorted({file.path.rpartition("/")[0] for file in journal.files}):
        with suppress(NotFoundError, UnreadableError), root.directory(above) as at:
            root.sync(at, above)


def _sync_kept(root: StoreRoot) -> None:
    """See that the name of the journal, or that there is none, is on the disk."""
    with root.directory(KEPT) as at:
        root.sync(at, KEPT)


def _unlike(root: StoreRoot, journal: Journal, direction: Direction) -> Iterator[StorePath]:
    """Yield the paths of files that do not hold what they should, whatever their mode."""
    for file in journal.files:
        try:
            content = root.read(file.path)
        except UnreadableError:
            yield file.path
        else:
            if content != file.goal(direction).content:
                yield file.path
