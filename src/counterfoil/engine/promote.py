"""Promote pages of a run to the shared store: pages and record together, or nothing.

The shared store is held while the chain is read, so that what was weighed is what is
written to. The bytes of each page are read again and have to be those that were seen
(knowledge.md section 7).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from counterfoil.core.digests import digest_hex, tagged_digest
from counterfoil.core.errors import ConflictError, CounterfoilError, NotFoundError
from counterfoil.core.ids import RunId
from counterfoil.core.knowledge.chain import ChainSnapshot
from counterfoil.core.knowledge.changes import ABSENT, KEPT, FileChange, StorePath, WrittenFile
from counterfoil.core.knowledge.promotion import (
    PromotedPage,
    PromotionPlan,
    PromotionRecord,
    plan_promotion,
)
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.ports.store_writes import StoreWriter

PromotionStatus = Literal["promoted", "unchanged", "refused"]

PROMOTIONS = f"{KEPT}/promotions"
"""Where the shared store keeps the record of each promotion, named by its digest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionStores:
    """The stores of a run, with its shared store to write to.

    `load_chain` returns what is visible now, with the digests of its bytes; `read_file`
    returns the bytes of a page as they are now, `None` for no file; `encode`
    the bytes of a record.
    """

    shared: StoreWriter
    load_chain: Callable[[], ChainSnapshot]
    read_file: Callable[[VisiblePage], bytes | None]
    encode: Callable[[PromotionRecord], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionOutcome:
    """What became of a promotion; `record` is the digest of its record, where one is."""

    plan: PromotionPlan
    record: str | None = None
    files: tuple[WrittenFile, ...] = ()

    @property
    def status(self) -> PromotionStatus:
        """Derived from what is there."""
        if self.plan.refusals:
            return "refused"
        return "promoted" if self.record else "unchanged"


def promote(
    stores: PromotionStores, ids: Sequence[str], *, actor: str, reason: str, now: str
) -> PromotionOutcome:
    """Copy the pages `ids` of the run, with all that they cite, to the shared store.

    Args:
        stores: Where the pages stand, and where they go.
        ids: The pages to promote, each the run's own.
        actor: Who promotes.
        reason: Why.
        now: The time, as an instant in UTC.

    Raises:
        CounterfoilError: No actor or no reason is given.
        NotFoundError: The run has no shared store, or a store without a run is asked.
        ConflictError: A page is other than it was seen, or another writer holds the
            shared store. Nothing was written.
        UnavailableError: The shared store cannot be written. It reads as before.
    """
    for name, text in (("actor", actor), ("reason", reason)):
        if not text.strip():
            raise CounterfoilError(f"{name} is {text!r}", "a text that is not blank")
    with stores.shared.exclusively(purpose="promote pages"):
        chain = stores.load_chain()
        plan = plan_promotion(chain, ids, chain.digest_of)
        if plan.refusals or not plan.pages:
            return PromotionOutcome(plan=plan)
        record = PromotionRecord(
            run=_run(chain), actor=actor, reason=reason, promoted_at=now, pages=plan.pages
        )
        return _written(stores, plan, stores.encode(record))


def _run(chain: ChainSnapshot) -> RunId:
    if chain.run is None:
        raise NotFoundError("the store is of no run", "a run whose pages are promoted", "see --run")
    return chain.run


def _written(stores: PromotionStores, plan: PromotionPlan, record: bytes) -> PromotionOutcome:
    digest = tagged_digest(record)
    path = StorePath(f"{PROMOTIONS}/{digest_hex(digest)}.json")
    changes = [*_copies(stores, plan.pages), FileChange(path=path, after=record, expected=ABSENT)]
    files = stores.shared.apply(changes, purpose=f"promote {len(plan.pages)} pages")
    return PromotionOutcome(plan=plan, record=digest, files=files)


def _copies(stores: PromotionStores, pages: Sequence[PromotedPage]) -> Iterator[FileChange]:
    for promoted in pages:
        path = promoted.source.page.path
        content = stores.read_file(promoted.source)
        found = None if content is None else tagged_digest(content)
        if found != promoted.digest:
            raise ConflictError(
                f"{path} ({promoted.source.origin}) is {found or 'not there'}",
                f"{promoted.digest}, which was looked at",
                "it was changed meanwhile: promote again",
            )
        yield FileChange(path=StorePath(path), after=content, expected=ABSENT)
