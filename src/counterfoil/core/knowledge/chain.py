"""A chain: every page visible to a run, loaded once and asked many times.

Own pages, ancestors nearest first, shared; nothing shadows anything. The snapshot is
indexed by id and by name, so that a reference costs the same in any chain.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from counterfoil.core.digests import tagged_digest
from counterfoil.core.ids import HERE, SHARED, Origin, RunId
from counterfoil.core.knowledge.pages import Page
from counterfoil.core.knowledge.view import SourceRegistry, VisiblePage, keys_written, names_of

_NONE: tuple[VisiblePage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """What one store holds at one instant: its pages, in any order, and its sources.

    `digests` are those of the pages' bytes, by path; a page without one is known by
    what was understood of it.
    """

    origin: Origin
    pages: tuple[Page, ...]
    registry: SourceRegistry = field(default_factory=SourceRegistry)
    digests: Mapping[str, str] = field(default_factory=dict[str, str])


class ChainSnapshot:
    """An immutable view of the pages of some stores, in chain order.

    Within an origin pages stand by path, code point by code point. Two stores never
    have one origin.
    """

    def __init__(self, stores: Iterable[Store], *, run: RunId | None = None) -> None:
        """Show the pages of `stores`, given own first, then ancestors, then shared."""
        self._stores = {store.origin: store for store in stores}
        self._run = run
        self._pages = tuple(
            VisiblePage(store.origin, page)
            for store in self._stores.values()
            for page in sorted(store.pages, key=_path)
        )
        self._called = _indexed((page, names_of(page.page)) for page in self._pages)
        self._naming: dict[str, tuple[VisiblePage, ...]] | None = None
        self._digest: str | None = None
        self._groups: dict[str, tuple[VisiblePage, ...]] = {}

    @property
    def run(self) -> RunId | None:
        """The run; `None` for one store without run context."""
        return self._run

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The origins, in chain order."""
        return tuple(self._stores)

    def __len__(self) -> int:
        """Return how many pages are visible."""
        return len(self._pages)

    def __iter__(self) -> Iterator[VisiblePage]:
        """Yield every visible page, in chain order."""
        return iter(self._pages)

    def pages_of(self, origins: Iterable[Origin]) -> tuple[VisiblePage, ...]:
        """Return the pages of `origins`, in chain order."""
        wanted = set(origins)
        return tuple(page for page in self._pages if page.origin in wanted)

    def called(self, key: str) -> tuple[VisiblePage, ...]:
        """Return the pages that `key` is a name of, in chain order."""
        return self._called.get(key, _NONE)

    def naming(self, key: str) -> tuple[VisiblePage, ...]:
        """Return the pages that write a reference under `key`, in chain order."""
        if self._naming is None:  # most questions never ask who refers to a page
            self._naming = _indexed((page, keys_written(page.page)) for page in self._pages)
        return self._naming.get(key, _NONE)

    def invalidated(self) -> tuple[VisiblePage, ...]:
        """Return the pages that are taken back, in chain order."""
        return tuple(page for page in self._pages if page.page.invalidation is not None)

    @property
    def groups(self) -> dict[str, tuple[VisiblePage, ...]]:
        """What checks keep of one page for the next."""
        return self._groups

    def registry(self, origin: Origin) -> SourceRegistry:
        """Return the sources registered in the store of `origin`."""
        return self._stores[origin].registry

    def digest_of(self, visible: VisiblePage) -> str:
        """Return the tagged digest of a page of this chain, as it was when it was loaded.

        That of its bytes; where those are not known, of what was understood of it.
        """
        digest = self._stores[visible.origin].digests.get(visible.page.path)
        return digest or tagged_digest(repr(visible.page).encode())

    @property
    def digest(self) -> str:
        """The tagged digest of everything that the snapshot saw, in chain order."""
        if self._digest is None:
            seen = sha256()
            for visible in self._pages:
                origin, page = visible
                digest = self.digest_of(visible)
                seen.update(f"{origin}\0{page.path}\0{page.id}\0{digest}\n".encode())
            self._digest = f"sha256:{seen.hexdigest()}"
        return self._digest


def single_store(pages: Iterable[Page], registry: SourceRegistry | None = None) -> ChainSnapshot:
    """Return the view of one store without run context."""
    store = Store(origin=HERE, pages=tuple(pages), registry=registry or SourceRegistry())
    return ChainSnapshot([store])


def origins_of_chain(ancestors: Iterable[RunId], *, has_shared: bool) -> tuple[Origin, ...]:
    """Return the origins of a chain, given the ancestors nearest first."""
    inherited = [Origin.inherited(run) for run in ancestors]
    return (HERE, *inherited, *([SHARED] if has_shared else []))


def _path(page: Page) -> str:
    return page.path


def _indexed(
    rows: Iterable[tuple[VisiblePage, set[str]]],
) -> dict[str, tuple[VisiblePage, ...]]:
    """Return the pages by key, in their order; most keys have one page."""
    index: dict[str, tuple[VisiblePage, ...]] = {}
    many: dict[str, list[VisiblePage]] = {}
    for page, keys in rows:
        for key in keys:
            if key not in index:
                index[key] = (page,)
            else:
                many.setdefault(key, list(index[key])).append(page)
    for key, pages in many.items():
        index[key] = tuple(pages)
    return index
