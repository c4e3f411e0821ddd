"""What the findings were before a change: the same stores, with the pages they had then."""

from collections.abc import Callable, Mapping
from typing import Protocol

from counterfoil.core.ids import Origin
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.findings import Finding
from counterfoil.core.knowledge.lint import lint_chain
from counterfoil.core.knowledge.pages import Page
from counterfoil.core.knowledge.view import SourceRegistry
from counterfoil.engine.chains import VisibleStores
from counterfoil.ports.knowledge import StoreIndex


class History(Protocol):
    """What pages and registries stood in a store before."""

    def pages(self) -> Mapping[str, Page | None]:
        """Return, by path, each page that was another before; `None` where none was."""
        ...

    def registry(self) -> SourceRegistry | None:
        """Return the registry before; `None` where it is the same."""
        ...


def findings_before(
    visible: VisibleStores, history_of: Callable[[Origin], History | None]
) -> list[Finding]:
    """Return the findings that there were, about the pages of the first store.

    A store without a history is taken as it is now.
    """
    stores = [
        _before(origin, store, history_of(origin)) for origin, store in visible.stores.items()
    ]
    report = lint_chain(ChainSnapshot(stores, run=visible.run))
    return [*report.findings, *report.silenced]


def _before(origin: Origin, store: StoreIndex, history: History | None) -> Store:
    pages: dict[str, Page | None] = {page.path: page for page in store.pages()}
    registry = store.registry
    if history is not None:
        pages.update(history.pages())
        registry = history.registry() or registry
    there = tuple(page for page in pages.values() if page is not None)
    return Store(origin=origin, pages=there, registry=registry)
