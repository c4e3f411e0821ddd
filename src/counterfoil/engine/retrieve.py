"""A retrieval and its receipt: what a search of a chain returned, out of what."""

from collections.abc import Callable, Sequence

from counterfoil.core.knowledge.chain import ChainSnapshot
from counterfoil.core.knowledge.receipts import (
    RetrievalReceipt,
    Retriever,
    SnapshotReference,
    returned_of,
    snapshot_of,
)
from counterfoil.core.knowledge.search import Hit, Search
from counterfoil.core.knowledge.view import VisiblePage

RETRIEVER = Retriever(id="counterfoil-bm25-rrf", version="1")
"""Who answers; the version changes when another answer could come of the same pages."""

_List = tuple[str, ...] | None


def receipt_of(
    chain: ChainSnapshot,
    asked: Search,
    hits: Sequence[Hit],
    *,
    digest_of: Callable[[VisiblePage], str],
    now: str,
    max_characters: int | None = None,
) -> RetrievalReceipt:
    """Return the receipt of `hits`, which `asked` found in `chain` at the instant `now`."""
    digests = {page.address: digest_of(page) for page in chain}
    snapshot = snapshot_of(chain, digest_of)
    return RetrievalReceipt(
        run=chain.run,
        query=asked.text,
        retriever=RETRIEVER,
        config={
            "limit": asked.limit,
            "tags": _listed(asked.tags),
            "kinds": _listed(asked.kinds),
            "origins": _listed(asked.origins),
            "excludeInvalidated": asked.exclude_invalidated,
            "maxCharacters": max_characters,
        },
        snapshot=SnapshotReference(snapshot.digest, len(snapshot.pages)),
        answer=returned_of(hits, lambda hit: digests[hit.address]),
        retrieved_at=now,
    )


def _listed(values: _List) -> list[str] | None:
    return None if values is None else [str(value) for value in values]
