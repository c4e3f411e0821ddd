"""The part of the composition root that writes into stores: pages, sources, records."""

import os
from pathlib import Path

from counterfoil.adapters.commands import ShellRunner
from counterfoil.adapters.files.index import FileIndex
from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.adapters.files.sources import import_source, sources_of
from counterfoil.adapters.files.transactions import FileStoreWriter
from counterfoil.adapters.system.clock import instant
from counterfoil.core.errors import NotFoundError, UnreadableError
from counterfoil.core.ids import HERE, SHARED
from counterfoil.core.knowledge.chain import ChainSnapshot
from counterfoil.core.knowledge.changes import KEPT
from counterfoil.core.knowledge.sources import Freshness, Source, freshness
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.engine.chains import VisibleStores, load_chain
from counterfoil.engine.migrate import Dual, Switch
from counterfoil.engine.promote import PromotionStores
from counterfoil.engine.scanned_texts import ScannedTexts
from counterfoil.engine.search_pages import PageSearch
from counterfoil.engine.stored_view import StoredView
from counterfoil.engine.write_pages import WritableStore
from counterfoil.ports.commands import CommandBounds, CommandRunner
from counterfoil.ports.knowledge import StoreIndex
from counterfoil.ports.search import TextIndex
from counterfoil.wire.pages import read_page
from counterfoil.wire.records import encode_promotion, encode_switch
from counterfoil.wire.resolutions import read_resolutions


class WiredDesk:
    """What is needed to write into the stores that a selection means."""

    def __init__(self, visible: VisibleStores) -> None:
        self._visible = visible
        self._root = _root_of(visible.own)

    def writable(self) -> WritableStore:
        """Return the own store, to write pages into."""
        pages = self._root.pages
        return WritableStore(
            writer=FileStoreWriter(self._root),
            read_file=self._root.read,
            read_page=lambda content, path: read_page(content, path, pages_directory=pages),
            load_chain=self._chain,
            body_of=self.body_of,
            pages=pages,
        )

    def promotion(self) -> PromotionStores:
        """Return the stores to promote from and to.

        Raises:
            NotFoundError: No shared store is visible.
        """
        shared = self._visible.stores.get(SHARED)
        if shared is None:
            raise NotFoundError("no shared store", "the one to promote to", "name it with --shared")
        return PromotionStores(
            shared=FileStoreWriter(_root_of(shared)),
            load_chain=self._chain,
            read_file=self._read_file,
            encode=encode_promotion,
        )

    def dual(self, name: str, frozen: str | None) -> Dual:
        """Return the two readings: ours, and that of the file `name`.

        Raises:
            NotFoundError: The file is not there.
            UnreadableError: It is not of its form.
        """
        try:
            content = Path(name).read_bytes()
        except FileNotFoundError as error:
            raise NotFoundError(f"no file {name!r}", "a JSON of resolutions") from error
        except OSError as error:
            raise UnreadableError(f"{name} cannot be read: {error.strerror}") from error
        theirs = read_resolutions(content, name=name)
        return Dual(load_chain=self._chain, theirs=theirs, frozen=frozen)

    def switch(self, actor: str, reason: str) -> Switch:
        """Return where a switch is recorded: in the own store."""
        writer = FileStoreWriter(self._root)
        return Switch(
            writer=writer, encode=encode_switch, actor=actor, reason=reason, now=instant()
        )

    def sources(self) -> list[tuple[Source, Freshness]]:
        """Return the sources of the own store, and whether they are fresh now."""
        now = instant()
        return [(source, freshness(source.valid_until, now)) for source in sources_of(self._root)]

    def add_source(self, name: str, valid_until: str | None) -> tuple[Source, ...]:
        """Import a file or a folder into the own store."""
        return import_source(self._root, Path(name), now=instant(), valid_until=valid_until)

    def runner(self, seconds: float) -> tuple[CommandRunner, CommandBounds]:
        """Return what runs checks: in the own store, with the path alone as environment."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        bounds = CommandBounds(directory=str(self._root.path), environment=kept, seconds=seconds)
        return ShellRunner(), bounds

    def body_of(self, visible: VisiblePage) -> str:
        """Return the body of a page that is visible."""
        return self._visible.stores[visible.origin].body(visible.page.path)

    def search(self) -> tuple[ChainSnapshot, PageSearch]:
        """Return the chain, and what searches it."""
        chain = self._chain()
        search = PageSearch(
            chain,
            text_index_of(self._visible),
            body_of=self.body_of,
            digest_of=chain.digest_of,
            view=StoredView(self._visible.stores, run=self._visible.run),
        )
        return chain, search

    def now(self) -> str:
        """Return the time."""
        return instant()

    def _chain(self) -> ChainSnapshot:
        return load_chain(self._visible)

    def _read_file(self, visible: VisiblePage) -> bytes | None:
        return _root_of(self._visible.stores[visible.origin]).read(visible.page.path)


def text_index_of(visible: VisibleStores) -> TextIndex:
    """Return an index of the words of all that is visible; it is kept in the own store.

    A store that was never made gets no directory: it is searched in memory.
    """
    own = visible.stores.get(HERE)
    if own is None or not (_root_of(own).path / KEPT).is_dir():
        return ScannedTexts()
    from counterfoil.adapters.search import DiskTextIndex

    return DiskTextIndex(_root_of(own).path, visible.name)


def _root_of(store: StoreIndex) -> StoreRoot:
    if not isinstance(store, FileIndex):
        raise NotFoundError("a store that is not on a disk", "one that can be written")
    return store.root
