"""The part of the composition root that gives a thread its pages: stores of runs, kept open."""

import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from counterfoil.adapters.files.index import FileIndex
from counterfoil.adapters.files.opening import OpenedIndexes
from counterfoil.adapters.files.run_lineage import FileLineage
from counterfoil.adapters.files.run_places import FileRunPlaces
from counterfoil.adapters.system.clock import instant, nanoseconds
from counterfoil.core.errors import LineageConflictError
from counterfoil.core.ids import HERE, SHARED, Origin, RunId, ThreadId
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.changes import FileChange, WrittenFile
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.engine.chains import VisibleStores, load_chain, visible_stores
from counterfoil.engine.run_stores import Runs
from counterfoil.engine.thread_pages import Texts, ThreadPages
from counterfoil.engine.write_pages import WritableStore
from counterfoil.ports.search import TextIndex
from counterfoil.wire.new_page import write_page
from counterfoil.wire.pages import read_page
from counterfoil.wire.reply_handles import find_bracketed
from counterfoil.wiring.desk import WiredDesk, text_index_of

_TEXTS = Texts(find_bracketed=find_bracketed, write_page=write_page)


class ThreadKnowledge:
    """The pages of threads: a run for each below one directory, and what all of them see."""

    def __init__(
        self, runs_root: Path, shared: Path | None = None, *, pages: str = "knowledge"
    ) -> None:
        """Have the stores of runs below `runs_root`; nothing is made before it is needed."""
        self._places = FileRunPlaces(runs_root, pages=pages)
        self._shared = shared
        self._pages = pages

    def open(
        self,
        thread: ThreadId,
        parent: ThreadId | None = None,
        *,
        seen: Mapping[str, str] | None = None,
    ) -> ThreadPages:
        """Return the pages of `thread`, to be closed when it is done.

        Only a `parent` makes the store of a run at once, since a run keeps its parent for
        ever; that of the parent too, which else nobody would know. `seen` are the digests
        of own pages that the thread wrote before: see `seen_pages`.

        Raises:
            LineageConflictError: The run has another parent, or none.
            ConflictError: A run is there whose id differs in letter case alone.
            CounterfoilError: The store cannot be made.
        """
        run = RunId(thread)
        runs = Runs(self._places, FileLineage(self._places, instant))
        if parent is not None:
            if self._places.find(RunId(parent)) is None:
                runs.init(parent)
            runs.init(run, parent)
        stores = _Stores(run, runs, self._places, self._shared, self._pages)
        return ThreadPages(stores, _TEXTS, seen=seen)


class _Stores:
    """The `StoresOfRun` on a disk."""

    def __init__(
        self, run: RunId, runs: Runs, places: FileRunPlaces, shared: Path | None, pages: str
    ) -> None:
        self._run = run
        self._runs = runs
        self._places = places
        self._shared = shared
        self._pages = pages
        self._closing = ExitStack()
        self._indexes = OpenedIndexes(self._closing, pages=pages, now=nanoseconds)
        self._opened: dict[Path, FileIndex] = {}
        self._by_origin: Mapping[Origin, FileIndex] = {}

    @property
    def run(self) -> RunId:
        return self._run

    @property
    def pages_directory(self) -> str:
        return self._pages

    def visible(self) -> VisibleStores:
        shared = None if self._shared is None else self._at(self._shared)
        if self._of_run(self._run) is None:
            stores = {} if shared is None else {SHARED: shared}
            visible = VisibleStores(run=self._run, stores=stores)
        else:
            visible = visible_stores(self._run, self._runs.authority, self._of_run, shared=shared)
        self._by_origin = {
            origin: store
            for origin, store in visible.stores.items()
            if isinstance(store, FileIndex)
        }
        return visible

    def unmade(self) -> WritableStore | None:
        visible = self.visible()
        if HERE in visible.stores:
            return None
        return WritableStore(
            writer=_NoWriter(),
            read_file=lambda _: None,
            read_page=lambda content, path: read_page(content, path, pages_directory=self._pages),
            load_chain=lambda: _with_own(visible),
            body_of=self.body_of,
            pages=self._pages,
        )

    def writable(self) -> WritableStore:
        if self._of_run(self._run) is None:
            try:
                self._runs.init(self._run)
            except LineageConflictError:  # it was made meanwhile, with a parent
                if self._of_run(self._run) is None:
                    raise
        return WiredDesk(self.visible()).writable()

    def text_index(self, visible: VisibleStores) -> TextIndex:
        return text_index_of(visible)

    def read(self, page: VisiblePage) -> bytes | None:
        return self._by_origin[page.origin].root.read(page.page.path)

    def is_there(self, page: VisiblePage) -> bool:
        root = self._by_origin[page.origin].root
        try:
            os.stat(page.page.path, dir_fd=root.handle, follow_symlinks=False)
        except OSError:
            return False
        return True

    def body_of(self, page: VisiblePage) -> str:
        return self._by_origin[page.origin].body(page.page.path)

    def now(self) -> str:
        return instant()

    def close(self) -> None:
        self._opened.clear()
        self._closing.close()

    def _of_run(self, run: RunId) -> FileIndex | None:
        path = self._places.find(run)
        return None if path is None else self._at(path)

    def _at(self, path: Path) -> FileIndex:
        if path not in self._opened:
            self._opened[path] = self._indexes.at(path)
        return self._opened[path]


def _with_own(visible: VisibleStores) -> ChainSnapshot:
    """Return the chain as it would be with an own store that holds nothing."""
    chain = load_chain(visible)
    own = Store(origin=HERE, pages=())
    others = (
        Store(
            origin=origin,
            pages=tuple(page.page for page in chain.pages_of([origin])),
            registry=chain.registry(origin),
        )
        for origin in chain.origins
    )
    return ChainSnapshot([own, *others], run=visible.run)


class _NoWriter:
    """A `StoreWriter` of a store that is only weighed."""

    def apply(self, changes: Iterable[FileChange], *, purpose: str) -> tuple[WrittenFile, ...]:
        del changes, purpose
        return ()

    @contextmanager
    def exclusively(self, *, purpose: str) -> Generator[None]:
        del purpose
        yield
