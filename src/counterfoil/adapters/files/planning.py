"""What changes come to in a store as it is now, before anything is written."""

from collections.abc import Iterable

from counterfoil.adapters.files.journal import PlannedFile
from counterfoil.adapters.files.paths import FileState, StoreRoot
from counterfoil.core.digests import tagged_digest
from counterfoil.core.errors import ConflictError, InvalidIdError, NotFoundError
from counterfoil.core.knowledge.changes import (
    ABSENT,
    ANYTHING,
    FileChange,
    StorePath,
    may_be_written,
)

_MODES = 0o777


def planned_files(root: StoreRoot, changes: Iterable[FileChange]) -> tuple[PlannedFile, ...]:
    """Return the files that `changes` make other than they are, in the order given.

    Raises:
        ConflictError: A file is not what was expected.
        InvalidIdError: A path is changed twice, or is not for writing.
        UnreadableError: A link or something special is where a file shall be.
    """
    planned: dict[StorePath, PlannedFile] = {}
    for change in changes:
        _require_may(root, change)
        if change.path in planned:
            raise InvalidIdError(f"path {change.path!r} is changed twice", "one change of a file")
        planned[change.path] = _planned(root, change)
    return tuple(file for file in planned.values() if _differs(file))


def missing_directories(root: StoreRoot, files: Iterable[PlannedFile]) -> tuple[StorePath, ...]:
    """Return the directories that `files` need and that are not there, outermost first."""
    missing: dict[StorePath, None] = {}
    for file in files:
        above = file.path.segments[:-1] if file.after is not None else ()
        for depth in range(len(above), 0, -1):
            path = StorePath("/".join(above[:depth]))
            if path in missing or _is_there(root, path):
                break
            missing[path] = None
    return tuple(sorted(missing))


def digest_of(content: bytes | None) -> str | None:
    """Return the tagged digest of `content`; `None` for no file."""
    return None if content is None else tagged_digest(content)


def _require_may(root: StoreRoot, change: FileChange) -> None:
    if not may_be_written(StorePath(change.path), root.pages):
        raise InvalidIdError(
            f"path {change.path!r} is not for writing",
            f"a file below {root.pages!r}, a source or a record of Counterfoil's",
        )
    if change.mode is not None and change.mode & ~_MODES:
        raise InvalidIdError(
            f"mode {change.mode:o} of {change.path!r}", "permission bits, 0 to 777"
        )


def _planned(root: StoreRoot, change: FileChange) -> PlannedFile:
    before = root.state(change.path)
    _require_expected(change, before)
    kept = before.mode if before else None
    mode = kept if change.mode is None else change.mode
    return PlannedFile(change.path, before, change.after, mode)


def _require_expected(change: FileChange, before: FileState | None) -> None:
    found = digest_of(before and before.content) or ABSENT
    if change.expected not in (ANYTHING, found):
        raise ConflictError(
            f"{change.path} is {found}",
            f"{change.expected}, which the writer has seen",
            "read the file again and write what it should be now",
        )


def _differs(file: PlannedFile) -> bool:
    if file.before is None or file.after is None:
        return file.before is not None or file.after is not None
    return file.before != (file.after, file.mode)


def _is_there(root: StoreRoot, path: StorePath) -> bool:
    try:
        with root.directory(path):
            return True
    except NotFoundError:
        return False
