"""The part of the composition root that knows the stores of pages."""

import gc
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil.adapters.files.index import FileIndex
from counterfoil.adapters.files.opening import OpenedIndexes, nearest_store
from counterfoil.adapters.files.run_lineage import FileLineage
from counterfoil.adapters.files.run_places import FileRunPlaces
from counterfoil.adapters.system.clock import instant, nanoseconds
from counterfoil.core.errors import CounterfoilError, NotFoundError
from counterfoil.core.ids import HERE, SHARED, Origin, RunId
from counterfoil.core.knowledge.findings import Finding
from counterfoil.core.knowledge.graph import Graph
from counterfoil.core.knowledge.view import View
from counterfoil.engine.chains import VisibleStores, visible_stores
from counterfoil.faces.cli.knowledge import OpenStores, StoreSelection
from counterfoil.ports.lineage import LineageAuthority

if TYPE_CHECKING:  # what only some commands pay for
    from counterfoil.wiring.desk import WiredDesk


@contextmanager
def _without_collection() -> Generator[None]:
    """A command holds much, makes no cycles and ends soon: looking for them is a third of it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class WiredKnowledge:
    """Stores of pages on this machine."""

    @contextmanager
    def stores(self, selection: StoreSelection) -> Generator[OpenStores]:
        """Have the stores open that `selection` means."""
        with ExitStack() as closing_:
            closing_.enter_context(_without_collection())
            indexes = OpenedIndexes(closing_, pages=selection.pages, now=nanoseconds)
            if selection.runs is None:
                yield self._one_store(indexes, selection)
            else:
                yield self._stores_of_run(indexes, selection)

    def _one_store(self, indexes: OpenedIndexes, selection: StoreSelection) -> OpenStores:

        root = (
            nearest_store(Path.cwd(), selection.pages)
            if selection.root is None
            else Path(selection.root)
        )
        return OpenStores(VisibleStores(run=None, stores={HERE: indexes.at(root)}), {HERE: ""})

    def _stores_of_run(self, indexes: OpenedIndexes, selection: StoreSelection) -> OpenStores:

        run, (places, authority) = RunId(selection.run or ""), self._runs(selection)
        shared = None if selection.shared is None else indexes.at(Path(selection.shared))
        visible = visible_stores(
            run,
            authority,
            lambda one: indexes.of_run(places, one),
            shared=shared,
            max_ancestors=selection.max_ancestors,
        )
        shown = {HERE: f"{places.shown(run)}/"}
        if selection.shared is not None:
            shown[SHARED] = f"{Path(selection.shared)}/"
        origins = [*visible.stores, *(finding.origin for finding in visible.findings)]
        for origin in origins:
            if origin.run is not None:
                shown[origin] = f"{places.shown(origin.run)}/"
        return OpenStores(visible, shown)

    def _runs(self, selection: StoreSelection) -> tuple[FileRunPlaces, LineageAuthority]:

        places = FileRunPlaces(Path(selection.runs or ""), pages=selection.pages)
        if selection.lineage is not None:
            from counterfoil.adapters.manifest import ManifestLineage

            return places, ManifestLineage(Path(selection.lineage))
        return places, FileLineage(places, instant)

    def findings_before(self, opened: OpenStores, revision: str) -> list[Finding]:
        """Return the findings that there were at a revision of Git."""
        from counterfoil.adapters.files.history import PageHistory
        from counterfoil.adapters.git.history import DirectoryHistory
        from counterfoil.engine.lint_since import findings_before

        def history_of(origin: Origin) -> PageHistory | None:
            store = opened.visible.stores[origin]
            if not isinstance(store, FileIndex):
                return None
            try:
                changed = DirectoryHistory(store.root.path).changed_since(revision)
            except NotFoundError:
                if origin == HERE:
                    raise
                return None  # another's store, outside of Git: it is taken as it is now
            return PageHistory(changed, store.root.pages)

        return findings_before(opened.visible, history_of)

    def init_store(self, root: str, pages: str) -> str:
        """Make the store at `root`, or put in what it lacks; return its path."""
        from counterfoil.adapters.files.scaffold import init_store

        init_store(Path(root), pages=pages)
        return root

    def init_run(
        self,
        place: tuple[str, str, str],
        parent: str | None,
        lineage: str | None,
        *,
        allow_unknown_parent: bool,
    ) -> str:
        """Make the store of a run, given the folder of runs, the run, and where pages are."""
        from counterfoil.engine.run_stores import Runs

        runs, run, pages = place
        places, authority = self._runs(StoreSelection(runs=runs, pages=pages, lineage=lineage))
        stores = Runs(places, authority)
        stores.init(run, parent, allow_unknown_parent=allow_unknown_parent)
        return places.shown(RunId(run))

    def make_demo(self, directory: str) -> str:
        """Make the example of four runs in `directory`; return its path."""
        from counterfoil.adapters.files.demo import make_demo

        make_demo(Path(directory), instant())
        return str(Path(directory))

    def run_parents(self, selection: StoreSelection) -> list[tuple[str, str | None, str | None]]:
        """Return the runs that have a store, each with its parent, or why that is not known."""
        places, authority = self._runs(selection)
        rows: list[tuple[str, str | None, str | None]] = []
        for run in places.runs():
            try:
                rows.append((run, authority.parent_of(run), None))
            except CounterfoilError as error:
                rows.append((run, None, error.found))
        return rows

    def forget_indexes(self, selection: StoreSelection) -> None:
        """Delete the indexes of the stores that `selection` means."""
        with self.stores(selection) as (visible, _):
            for store in visible.stores.values():
                store.forget()

    def desk(self, visible: VisibleStores) -> "WiredDesk":
        """Return what is needed to write into the first of the stores."""
        from counterfoil.wiring.desk import WiredDesk

        return WiredDesk(visible)

    def draw_svg(self, graph: Graph, view: View) -> str:
        """Return the picture of `graph` as SVG."""
        from counterfoil.adapters.graph import draw_svg

        return draw_svg(graph, view)
