"""Reading many files as they were at one instant, without waiting and without writing.

A writer first puts its journal in place, then counts up, then changes files, and takes
the journal away at last (`transactions`). So a reader takes the counter, then the
journals, reads, and takes the counter again. Where it moved, a transaction was decided
meanwhile and may have been seen in part: everything is read again. Where it did not, no
file was changed but by a transaction whose journal the reader has, and of those files
it sees what they were before, from the journal, until the journal is gone. That holds
as well for what a crashed writer left.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from counterfoil.adapters.files.epoch import epoch
from counterfoil.adapters.files.journal import Journal, PlannedFile, load
from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.core.errors import UnavailableError
from counterfoil.core.knowledge.changes import StorePath

T = TypeVar("T")

ATTEMPTS = 64
"""How often everything is read again before a reader gives up."""


class Overlay:
    """What a reader sees in place of the files that an unfinished transaction changes."""

    def __init__(self, journals: Iterable[Journal] = ()) -> None:
        self._files: dict[str, PlannedFile] = {
            file.path: file for journal in journals for file in journal.files
        }

    def __bool__(self) -> bool:
        """Say whether anything is unfinished."""
        return bool(self._files)

    def __iter__(self) -> Iterator[StorePath]:
        """Yield the path of each file that is being changed."""
        return (file.path for file in self._files.values())

    def seen(self, path: str, found: bytes | None) -> bytes | None:
        """Return what the file at `path` is to a reader that `found` these bytes there.

        `None` stands for no file. What somebody else wrote meanwhile is seen as it is.
        """
        file = self._files.get(path)
        if file is None or not file.knows(found):
            return found
        return file.before and file.before.content


def overlay(root: StoreRoot) -> Overlay:
    """Return what is unfinished in the store at `root`, changing nothing.

    Raises:
        UnreadableError: Something is, and it cannot be read.
    """
    # A journal that is turned back meanwhile is met under one name or the other.
    journals = (load(root, "finish"), load(root, "undo"))
    return Overlay(journal for journal in journals if journal is not None)


def read_at_one_instant(root: StoreRoot, read: Callable[[Overlay], T]) -> T:
    """Return what `read` returns of files that were all there at one instant.

    `read` is called again when a writer came in between, and what it raised then is
    forgotten. It has to ask the overlay about each file, and about the files that the
    overlay names and a directory does not.

    Raises:
        UnavailableError: Writers came in between, time after time.
    """
    for _ in range(ATTEMPTS):
        begun = epoch(root)
        unfinished = overlay(root)
        try:
            value = read(unfinished)
        except Exception:
            if epoch(root) == begun:
                raise
        else:
            if epoch(root) == begun:
                return value
    raise UnavailableError(
        f"store {root.path} changed each of {ATTEMPTS} times that it was read",
        advice="try again when less is being written",
    )
