"""A view of stores through their indexes: a page is read when something asks for it."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from counterfoil.core.ids import Origin, RunId
from counterfoil.core.knowledge.pages import Page
from counterfoil.core.knowledge.view import SourceRegistry, VisiblePage
from counterfoil.ports.knowledge import StoreIndex

_KEPT = 8192
"""Keys whose pages are kept at hand; the others are asked for again."""


class StoredView:
    """What is visible in some stores, in chain order, as long as they are not refreshed."""

    def __init__(self, stores: Mapping[Origin, StoreIndex], *, run: RunId | None = None) -> None:
        """Show the pages of `stores`, given in chain order."""
        self._stores = stores
        self._run = run
        self._groups: dict[str, tuple[VisiblePage, ...]] = {}
        self._found = lru_cache(_KEPT)(self._called_anew)

    @property
    def run(self) -> RunId | None:
        """The run; `None` for one store without run context."""
        return self._run

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The origins, in chain order."""
        return tuple(self._stores)

    def called(self, key: str) -> tuple[VisiblePage, ...]:
        """Return the pages that `key` is a name of, in chain order."""
        return self._found(key)

    def _called_anew(self, key: str) -> tuple[VisiblePage, ...]:
        return self._all(lambda store: store.called(key))

    def naming(self, key: str) -> tuple[VisiblePage, ...]:
        """Return the pages that write a reference under `key`, in chain order."""
        return self._all(lambda store: store.naming(key))

    def invalidated(self) -> tuple[VisiblePage, ...]:
        """Return the pages that are taken back, in chain order."""
        return self._all(lambda store: store.invalidated())

    @property
    def groups(self) -> dict[str, tuple[VisiblePage, ...]]:
        """What checks keep of one page for the next."""
        return self._groups

    def registry(self, origin: Origin) -> SourceRegistry:
        """Return the sources registered in the store of `origin`."""
        return self._stores[origin].registry

    def _all(self, ask: Callable[[StoreIndex], Sequence[Page]]) -> tuple[VisiblePage, ...]:
        return tuple(
            VisiblePage(origin, page)
            for origin, store in self._stores.items()
            for page in ask(store)
        )
