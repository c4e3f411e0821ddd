"""A store of files in memory, with the manners of one on a disk."""

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager

from counterfoil.core.digests import tagged_digest
from counterfoil.core.errors import ConflictError, InvalidIdError
from counterfoil.core.knowledge.changes import ABSENT, ANYTHING, FileChange, StorePath, WrittenFile


class MemoryStoreWriter:
    """A `StoreWriter` of `files`, by path; `purposes` are those of the changes made.

    While `is_held` is true, somebody else writes.
    """

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        """Begin with `files`."""
        self.files = dict(files or {})
        self.purposes: list[str] = []
        self.is_held = False

    def read(self, path: str) -> bytes | None:
        """Return the bytes at `path`, or `None`."""
        return self.files.get(path)

    def apply(self, changes: Iterable[FileChange], *, purpose: str) -> tuple[WrittenFile, ...]:
        """Make all of `changes` or raise `ConflictError`, as a `StoreWriter` does."""
        after = dict(self.files)
        written: dict[StorePath, WrittenFile] = {}
        for change in changes:
            if change.path in written:
                raise InvalidIdError(f"path {change.path!r} is changed twice")
            before = self.files.get(change.path)
            _require(change, before)
            after.pop(change.path, None)
            if change.after is not None:
                after[change.path] = change.after
            written[change.path] = WrittenFile(change.path, _digest(before), _digest(change.after))
        self.files = after
        self.purposes.append(purpose)
        return tuple(file for file in written.values() if file.before != file.after)

    @contextmanager
    def exclusively(self, *, purpose: str) -> Generator[None, None, None]:
        """Hold the store, or raise `ConflictError` where it is held already."""
        if self.is_held:
            raise ConflictError(f"the store is being written, so not now: {purpose}")
        self.is_held = True
        try:
            yield
        finally:
            self.is_held = False


def _require(change: FileChange, before: bytes | None) -> None:
    found = _digest(before) or ABSENT
    if change.expected not in (ANYTHING, found):
        raise ConflictError(f"{change.path} is {found}", change.expected)


def _digest(content: bytes | None) -> str | None:
    return None if content is None else tagged_digest(content)
