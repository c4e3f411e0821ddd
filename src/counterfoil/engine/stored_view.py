"""A view of stores through their indexes: a page is read when something asks for it."""

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from counterfoil.core.ids import Origin, RunId
from counterfoil.core.knowledge.view import SourceRegistry, VisiblePage, key_number
from counterfoil.ports.knowledge import StoreIndex

_KEPT = 8192
"""Keys whose pages are kept at hand; the others are asked for again."""

_Stores = tuple[tuple[Origin, StoreIndex], ...]
_NO_STORE: _Stores = ()


class StoredView:
    """What is visible in some stores, in chain order, as long as they are not refreshed."""

    def __init__(self, stores: Mapping[Origin, StoreIndex], *, run: RunId | None = None) -> None:
        """Show the pages of `stores`, given in chain order."""
        self._stores = stores
        self._listed: _Stores = tuple(stores.items())
        self._run = run
        self._groups: dict[str, tuple[VisiblePage, ...]] = {}
        self._found = lru_cache(_KEPT)(self._called_anew)
        self._calling: dict[int, _Stores] | None = None
        self._naming: dict[int, _Stores] | None = None

    def prepare(self) -> None:
        """Get ready for many questions: most keys are of one store alone, or of none."""
        keys = [store.prepare() for _, store in self._listed]
        self._calling = self._having([found.called for found in keys])
        self._naming = self._having([found.naming for found in keys])

    def _having(self, numbers: Iterable[Collection[int]]) -> dict[int, _Stores]:
        """Return, by the number of a key, the stores that have it."""
        having: dict[int, _Stores] = {}
        for listed, found in zip(self._listed, numbers, strict=True):
            alone = (listed,)
            for number in found:
                before = having.setdefault(number, alone)
                if before is not alone:
                    having[number] = (*before, listed)
        return having

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
        return tuple(
            [
                VisiblePage(origin, page)
                for origin, store in self._with(self._calling, key)
                for page in store.called(key)
            ]
        )

    def naming(self, key: str) -> tuple[VisiblePage, ...]:
        """Return the pages that write a reference under `key`, in chain order."""
        return tuple(
            [
                VisiblePage(origin, page)
                for origin, store in self._with(self._naming, key)
                for page in store.naming(key)
            ]
        )

    def _with(self, having: Mapping[int, _Stores] | None, key: str) -> _Stores:
        """Return the stores in which something may be under `key`."""
        return self._listed if having is None else having.get(key_number(key), _NO_STORE)

    def invalidated(self) -> tuple[VisiblePage, ...]:
        """Return the pages that are taken back, in chain order."""
        return tuple(
            VisiblePage(origin, page)
            for origin, store in self._listed
            for page in store.invalidated()
        )

    @property
    def groups(self) -> dict[str, tuple[VisiblePage, ...]]:
        """What checks keep of one page for the next."""
        return self._groups

    def registry(self, origin: Origin) -> SourceRegistry:
        """Return the sources registered in the store of `origin`."""
        return self._stores[origin].registry
