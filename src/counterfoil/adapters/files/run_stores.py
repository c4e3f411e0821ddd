"""The stores of runs on a disk, for a caller in Python: made, asked, loaded, linted."""

import os
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import time_ns

from counterfoil.adapters.files.opening import OpenedIndexes
from counterfoil.adapters.files.run_lineage import FileLineage
from counterfoil.adapters.files.run_places import FileRunPlaces, StorePathOf
from counterfoil.core.ids import RunId
from counterfoil.core.knowledge.chain import ChainSnapshot
from counterfoil.core.knowledge.findings import LintReport
from counterfoil.engine.chains import VisibleStores, load_chain, visible_stores
from counterfoil.engine.lint_stores import lint_stores
from counterfoil.engine.run_stores import Runs
from counterfoil.ports.lineage import LineageAuthority


class RunStores(Runs):
    """One store for each run below `root`, and perhaps one that all of them see.

    Without an `authority` the parent of each run is kept in the run's own store.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        shared: str | os.PathLike[str] | None = None,
        authority: LineageAuthority | None = None,
        *,
        store_path: StorePathOf | None = None,
        max_ancestors: int | None = None,
        pages: str = "knowledge",
    ) -> None:
        """Have the stores below `root`; nothing is made before `init`.

        Args:
            root: The directory that holds the stores of all runs.
            shared: The store that every run sees, where there is one.
            authority: Who knows the parents, where the stores do not.
            store_path: Says where the store of a run stands, below `root`.
            max_ancestors: A longer lineage is refused; `None` sets no bound.
            pages: Where in each store its pages are.

        Raises:
            InvalidIdError: `pages` is no directory that a store can have its pages in.
            CounterfoilError: `max_ancestors` is no bound.
        """
        places = FileRunPlaces(Path(root), store_path, pages=pages)
        super().__init__(
            places, authority or FileLineage(places, _instant), max_ancestors=max_ancestors
        )
        self._places = places
        self._shared = None if shared is None else Path(shared)
        self._pages = pages

    def load_chain(self, run: str) -> ChainSnapshot:
        """Return an immutable view of all that `run` sees, each store read at one instant.

        A store that is missing shows nothing; `lint` says so.

        Raises:
            NotFoundError: Nobody knows `run`, or it has no store.
            ConflictError: It has more ancestors than the bound of these stores.
            UnavailableError: A store does not stand still.
        """
        with self._opened(RunId(run), time_ns) as visible:
            return load_chain(visible)

    def lint(self, run: str) -> LintReport:
        """Return every finding about the pages of `run`, as `counterfoil kb lint` does.

        Raises:
            NotFoundError: Nobody knows `run`, or it has no store.
            ConflictError: It has more ancestors than the bound of these stores.
            UnavailableError: A store does not stand still.
        """
        with self._opened(RunId(run), time_ns) as visible:
            return lint_stores(visible)

    @contextmanager
    def _opened(self, run: RunId, now: Callable[[], int]) -> Generator[VisibleStores]:
        with ExitStack() as closing:
            indexes = OpenedIndexes(closing, pages=self._pages, now=now)
            yield visible_stores(
                run,
                self.authority,
                lambda one: indexes.of_run(self._places, one),
                shared=None if self._shared is None else indexes.at(self._shared),
                max_ancestors=self.max_ancestors,
            )


def _instant() -> str:
    seen = datetime.fromtimestamp(time_ns() / 1e9, UTC)
    return seen.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
