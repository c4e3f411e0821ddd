"""The index of a store: what its pages say, kept beside them and brought up to date.

The files are the truth. Each lint walks them, reads those that are not the ones they
were, and only then asks the index. A cache that is damaged, locked or of another
version is done without.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from counterfoil.adapters.files.cache import in_memory, open_cache, put_aside
from counterfoil.adapters.files.index_rows import IndexRows
from counterfoil.adapters.files.instant import Overlay, read_at_one_instant
from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.adapters.files.reading import ReadFile, read_content, read_files
from counterfoil.adapters.files.scan import is_page, scan_pages
from counterfoil.core.errors import CounterfoilError, UnavailableError
from counterfoil.core.knowledge.affected import PageChange
from counterfoil.core.knowledge.changes import REGISTRY
from counterfoil.core.knowledge.pages import Page, Spot, TextSpot
from counterfoil.core.knowledge.view import SourceRegistry, is_called
from counterfoil.ports.knowledge import PassedOver, PreparedKeys, ReportChange, SavedReport
from counterfoil.wire.pages import locate, read_page
from counterfoil.wire.registry import read_registry

_ATTEMPTS = 8
"""How often the cache may have been changed by another process before it is done without."""


class _Look(NamedTuple):
    """What a look at the files found: what may have changed, and what is gone."""

    stamps: dict[str, bytes]
    read: list[ReadFile]
    gone: set[str]
    passed_over: tuple[PassedOver, ...]
    registry: SourceRegistry
    state: int


class FileIndex:
    """A `StoreIndex` over the files of one store."""

    def __init__(self, root: StoreRoot, *, now: Callable[[], int], is_kept: bool = True) -> None:
        """Index the store at `root`; `now` tells the time in nanoseconds.

        Where `is_kept` is false, nothing is written into the store.
        """
        self._root = root
        self._now = now
        self._rows = IndexRows(open_cache(root.path) if is_kept else in_memory())
        self._passed_over: tuple[PassedOver, ...] = ()
        self._registry = SourceRegistry()
        self._read: dict[str, tuple[bytes, ReadFile]] = {}

    @property
    def root(self) -> StoreRoot:
        """The root of the store, open as long as the index is."""
        return self._root

    def close(self) -> None:
        """Let go of the database and of the store."""
        self._rows.close()
        self._root.close()

    def refresh(self) -> int:
        """Read what changed in the files, and return the number of the state seen."""
        for _ in range(_ATTEMPTS):
            try:
                state = self._refreshed()
            except sqlite3.Error:  # locked for long, full, damaged
                break
            if state is not None:
                return state
        self._rows.close()
        self._rows = IndexRows(in_memory())
        state = self._refreshed()
        if state is None:
            raise UnavailableError(f"the index of {self._root.path} does not stand still")
        return state

    def _refreshed(self) -> int | None:
        """Bring the rows up to date; `None` where another process did meanwhile."""
        self._rows.release()
        look = read_at_one_instant(self._root, self._look)
        self._passed_over, self._registry = look.passed_over, look.registry
        state = self._rows.update(look.stamps, look.read, look.gone, look.state, self._now())
        if state is not None:
            self._read = {}
        return state

    def _look(self, unfinished: Overlay) -> _Look:
        """Look at the files; what is read stays at hand in case they have to be again."""
        state, known = self._rows.stamps()
        scan = scan_pages(self._root, self._now())
        unfinished_pages = self._unfinished(unfinished)
        stamps = {
            page.path: page.stamp if page.is_settled else b""
            for page in scan.pages
            if page.path not in unfinished_pages
        }
        stale = [page for page in scan.pages if known.get(page.path) != page.stamp]
        read = self._read_again({page.path: page.stamp for page in stale if page.path in stamps})
        for path, found in unfinished_pages.items():
            if found is not None:
                stamps[path] = b""
                read.append(found)
        unreadable = [_unreadable(found) for found in read if found.fault is not None]
        readable = [found for found in read if found.fault is None]
        vanished = {page.path for page in stale} - {found.path for found in readable}
        return _Look(
            stamps=stamps,
            read=readable,
            gone=(known.keys() - stamps.keys()) | (vanished & known.keys()),
            passed_over=tuple(sorted([*scan.passed_over, *unreadable])),
            registry=self._look_at_registry(unfinished),
            state=state,
        )

    def _read_again(self, wanted: Mapping[str, bytes]) -> list[ReadFile]:
        fresh = [path for path, stamp in wanted.items() if self._read.get(path, (b"",))[0] != stamp]
        for found in read_files(self._root, fresh):
            self._read[found.path] = (wanted[found.path], found)
        return [self._read[path][1] for path in wanted if path in self._read]

    def _unfinished(self, unfinished: Overlay) -> dict[str, ReadFile | None]:
        """Return the pages that a writer is changing, as they were before it began."""
        return {
            path: self._before(path, unfinished)
            for path in unfinished
            if is_page(path, self._root.pages)
        }

    def _before(self, path: str, unfinished: Overlay) -> ReadFile | None:
        content = unfinished.seen(path, self._root.read(path))
        return None if content is None else read_content(path, content, self._root.pages)

    def _look_at_registry(self, unfinished: Overlay) -> SourceRegistry:
        try:
            found = self._root.read(REGISTRY)
        except CounterfoilError as error:
            return SourceRegistry(fault=error.diagnosis())
        return read_registry(unfinished.seen(REGISTRY, found))

    def forget(self) -> None:
        """Delete what is kept, so that the next refresh reads every page."""
        self._rows.close()
        put_aside(self._root.path)
        self._rows = IndexRows(open_cache(self._root.path))

    def changes_since(self, state: int) -> Sequence[PageChange] | None:
        """Return what is another than in `state`, page by page, as the store's own pages."""
        return self._rows.changes_since(state)

    @property
    def count(self) -> int:
        """How many pages there are."""
        return self._rows.count()

    def pages(self) -> Iterator[Page]:
        """Yield every page, by path, code point by code point."""
        return self._rows.pages()

    def page(self, path: str) -> Page | None:
        """Return the page at `path`."""
        return self._rows.page_at(path)

    def called(self, key: str) -> Sequence[Page]:
        """Return the pages that `key` is a name of, by path."""
        found = self._rows.under("name", key)
        return [page for page in found if is_called(page, key)] if found else found

    def naming(self, key: str) -> Sequence[Page]:
        """Return the pages that write a reference under `key`, by path; and perhaps others."""
        return self._rows.under("reference", key)

    def invalidated(self) -> Sequence[Page]:
        """Return the pages that are taken back, by path."""
        return self._rows.invalidated()

    def prepare(self) -> PreparedKeys:
        """Get ready for many questions, at the price of memory."""
        return self._rows.prepare()

    @property
    def registry(self) -> SourceRegistry:
        """The sources of the store."""
        return self._registry

    @property
    def passed_over(self) -> Sequence[PassedOver]:
        """The files that were passed over, by path."""
        return self._passed_over

    def digests(self) -> Mapping[str, str]:
        """Return the tagged digest of each page's bytes, by path."""
        return self._rows.digests()

    def locate(self, path: str, spots: Iterable[Spot]) -> Mapping[Spot, TextSpot]:
        """Return where in the file of a page the places of its frontmatter stand."""
        return locate(self._root.read(path) or b"", spots)

    def body(self, path: str) -> str:
        """Return the body of the page at `path`; nothing where it is gone."""
        content = self._root.read(path)
        if content is None:
            return ""
        return read_page(content, path, pages_directory=self._root.pages).body

    def saved_report(self, name: str) -> SavedReport | None:
        """Return the report last saved under `name`, if there is one."""
        return self._rows.saved_report(name)

    def save_report(self, name: str, change: ReportChange) -> None:
        """Save a report, or what changed of it; nothing happens where that cannot be done."""
        self._rows.save_report(name, change)


def _unreadable(found: ReadFile) -> PassedOver:
    return PassedOver(found.path, "unreadable-page", found.fault or "it cannot be read")
