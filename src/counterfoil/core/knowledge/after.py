"""What could be seen after a change of one store, before anything is written."""

from collections.abc import Iterable

from counterfoil.core.ids import Origin
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.pages import Page


def chain_after(chain: ChainSnapshot, origin: Origin, pages: Iterable[Page]) -> ChainSnapshot:
    """Return `chain` with `pages` in the store of `origin`, in place of those at their paths."""
    added = {page.path: page for page in pages}
    return ChainSnapshot(
        (_store(chain, one, added if one == origin else {}) for one in chain.origins),
        run=chain.run,
    )


def _store(chain: ChainSnapshot, origin: Origin, added: dict[str, Page]) -> Store:
    kept = (visible.page for visible in chain.pages_of([origin]) if visible.page.path not in added)
    return Store(origin=origin, pages=(*kept, *added.values()), registry=chain.registry(origin))
