"""Stores opened for a caller, and closed together: one alone, or all that a run sees."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from counterfoil.adapters.files.index import FileIndex
from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.adapters.files.run_places import FileRunPlaces
from counterfoil.core.errors import NotFoundError
from counterfoil.core.ids import RunId
from counterfoil.core.knowledge.changes import KEPT


class OpenedIndexes:
    """Indexes of stores, each opened once and kept open until all are closed."""

    def __init__(
        self, closing: ExitStack, *, pages: str, now: Callable[[], int], is_kept: bool = True
    ) -> None:
        """Close what is opened with `closing`; pages are below `pages` in each store.

        Where `is_kept` is false, no index is looked at or written.
        """
        self._is_kept = is_kept
        self._closing = closing
        self._pages = pages
        self._now = now
        self._of_runs: dict[RunId, FileIndex | None] = {}

    def at(self, root: Path) -> FileIndex:
        """Return the index of the store at `root`.

        Raises:
            NotFoundError: No directory is there.
        """
        index = FileIndex(StoreRoot(root, pages=self._pages), now=self._now, is_kept=self._is_kept)
        self._closing.callback(index.close)
        return index

    def of_run(self, places: FileRunPlaces, run: RunId) -> FileIndex | None:
        """Return the index of a run's store, `None` where there is none."""
        if run not in self._of_runs:
            path = places.find(run)
            self._of_runs[run] = None if path is None else self.at(path)
        return self._of_runs[run]


def nearest_store(start: Path, pages: str) -> Path:
    """Return the nearest directory from `start` upwards that is a store.

    Raises:
        NotFoundError: There is none.
    """
    for directory in (start, *start.parents):
        if (directory / KEPT).is_dir() or (directory / pages).is_dir():
            return directory
    raise NotFoundError(
        f"no store at {start} or above it",
        f"a directory that holds {pages!r} or {KEPT!r}",
        "name one with --root, or make one: `counterfoil kb init --root DIR`",
    )
