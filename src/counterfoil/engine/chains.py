"""From a run to what it can see: its ancestors' stores, nearest first, and the shared one.

What is wrong with the lineage is a finding beside the others: the stores up to there
are looked at all the same, and nothing stands for "no parent" but a record of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from counterfoil.core.errors import (
    LineageConflictError,
    NotFoundError,
    UnreadableError,
)
from counterfoil.core.ids import HERE, SHARED, Origin, RunId
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.changes import LINEAGE
from counterfoil.core.knowledge.findings import Finding
from counterfoil.core.knowledge.lineage import walk_ancestors
from counterfoil.core.knowledge.pages import TextSpot
from counterfoil.ports.knowledge import StoreIndex
from counterfoil.ports.lineage import LineageAuthority

OpenStore = Callable[[RunId], StoreIndex | None]
"""Returns the store of a run, or `None` where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleStores:
    """The stores that a run sees, in chain order, and what is wrong with its lineage."""

    run: RunId | None
    stores: Mapping[Origin, StoreIndex]
    findings: tuple[Finding, ...] = field(default=())

    @property
    def own(self) -> StoreIndex:
        """The store of the run itself, or the one store."""
        return self.stores[HERE]

    @property
    def name(self) -> str:
        """What tells this view from others of the same own store."""
        return "\0".join(("" if self.run is None else self.run, *self.stores))


def visible_stores(
    run: RunId,
    authority: LineageAuthority,
    open_store: OpenStore,
    *,
    shared: StoreIndex | None = None,
    max_ancestors: int | None = None,
) -> VisibleStores:
    """Return what `run` sees.

    Raises:
        NotFoundError: Nobody knows `run`, or it has no store.
        ConflictError: There are more than `max_ancestors`.
    """
    own = open_store(run)
    if own is None:
        raise NotFoundError(
            f"run {str(run)!r} has no store", "one that `init` made", "check the spelling"
        )
    ancestors, findings = _ancestors(run, authority, open_store, max_ancestors)
    stores: dict[Origin, StoreIndex] = {HERE: own}
    holder = run
    for ancestor in ancestors:
        store = open_store(ancestor)
        if store is not None:
            stores[Origin.inherited(ancestor)] = store
        else:
            findings.append(_missing(run, holder, ancestor))
        holder = ancestor
    if shared is not None:
        stores[SHARED] = shared
    return VisibleStores(run=run, stores=stores, findings=tuple(findings))


def _ancestors(
    run: RunId, authority: LineageAuthority, open_store: OpenStore, max_ancestors: int | None
) -> tuple[list[RunId], list[Finding]]:
    """Return the ancestors as far as they are known, and why not farther."""
    known: list[RunId] = []
    try:
        for ancestor in walk_ancestors(run, authority.parent_of, max_ancestors=max_ancestors):
            known.append(ancestor)  # noqa: PERF402 - what was yielded before a fault counts
    except LineageConflictError as error:
        return known, [_at_record(run, (run, *known)[-1], "lineage-cycle", error.found)]
    except UnreadableError as error:
        return known, [_at_record(run, (run, *known)[-1], "lineage-conflict", error.found)]
    except NotFoundError as error:
        if not known:
            raise
        return known, _unrecorded(run, known[-1], open_store, error)
    return known, []


def _unrecorded(
    run: RunId, ancestor: RunId, open_store: OpenStore, error: NotFoundError
) -> list[Finding]:
    """Return that a store has no record; where it has no store, that is said instead."""
    if open_store(ancestor) is None:
        return []
    return [_at_record(run, ancestor, "lineage-conflict", error.found)]


def _missing(run: RunId, holder: RunId, ancestor: RunId) -> Finding:
    message = f"run {str(holder)!r} has the parent {str(ancestor)!r}, which has no store"
    return _at_record(run, holder, "missing-ancestor-store", message)


def _at_record(run: RunId, holder: RunId, code: str, message: str) -> Finding:
    origin = HERE if holder == run else Origin.inherited(holder)
    return Finding(code=code, origin=origin, path=LINEAGE, spot=TextSpot(1), message=message)


def load_chain(visible: VisibleStores) -> ChainSnapshot:
    """Return an immutable view of all that is visible; each store is read at one instant."""
    for index in visible.stores.values():
        index.refresh()
    return chain_of(visible)


def chain_of(visible: VisibleStores) -> ChainSnapshot:
    """Return an immutable view of all that is visible, each store as it was last refreshed."""
    stores = [
        Store(
            origin=origin,
            pages=tuple(index.pages()),
            registry=index.registry,
            digests=index.digests(),
        )
        for origin, index in visible.stores.items()
    ]
    return ChainSnapshot(stores, run=visible.run)
