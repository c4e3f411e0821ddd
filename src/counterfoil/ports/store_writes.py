"""A store that is written: several files at once, or none of them."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Protocol

from counterfoil.core.knowledge.changes import FileChange, WrittenFile


class StoreWriter(Protocol):
    """Writes into one store, one writer at a time, all or nothing, durably."""

    def apply(self, changes: Iterable[FileChange], *, purpose: str) -> tuple[WrittenFile, ...]:
        """Make all of `changes` and return those files that are other than before.

        `purpose` says in a few words what for; whoever has to wait is told.

        Raises:
            ConflictError: A file is not what was expected, another writer holds the
                store, or somebody changed a file meanwhile. Nothing was written.
            InvalidIdError: A path is changed twice, or is not for writing.
            UnreadableError: A link or something special is where a file shall be.
            UnavailableError: The store cannot be written. It reads as before.
        """
        ...

    def exclusively(self, *, purpose: str) -> AbstractContextManager[None]:
        """Hold the store, so that nothing that was read in it changes until `apply`.

        Raises:
            ConflictError: Another writer holds the store.
        """
        ...
