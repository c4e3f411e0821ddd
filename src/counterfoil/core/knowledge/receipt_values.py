"""What receipts of retrieval are as JSON, and the digests that name them.

The digest of a receipt is that of its canonical text without the digest itself. It
stands in the receipt, so that a reader can tell a whole one from one that was changed,
unknown fields included; it does not tell who wrote it.
"""

from collections.abc import Mapping

from counterfoil.core.canonical import Json, canonical_bytes
from counterfoil.core.digests import tagged_digest
from counterfoil.core.knowledge.receipts import (
    Disposition,
    RetrievalReceipt,
    Returned,
    Snapshot,
    SnapshotReference,
    Unavailable,
    UseReceipt,
)

SCHEMA = 1
"""The version of all forms of this module."""

AnyReceipt = RetrievalReceipt | UseReceipt | Disposition


def sealed(value: Mapping[str, Json]) -> dict[str, Json]:
    """Return `value` with its digest in it; one that it has already is made anew."""
    return {**value, "digest": digest_of_value(value)}


def digest_of_value(value: Mapping[str, Json]) -> str:
    """Return the digest that belongs in `value`."""
    rest = {name: item for name, item in value.items() if name != "digest"}
    return tagged_digest(canonical_bytes(rest))


def digest_of(receipt: AnyReceipt) -> str:
    """Return the digest that names `receipt`."""
    return digest_of_value(value_of(receipt))


def value_of(receipt: AnyReceipt) -> dict[str, Json]:
    """Return the object that `receipt` is, without its digest."""
    if isinstance(receipt, RetrievalReceipt):
        return _retrieval(receipt)
    return _use(receipt) if isinstance(receipt, UseReceipt) else _disposition(receipt)


def snapshot_value(snapshot: Snapshot) -> dict[str, Json]:
    """Return the object that `snapshot` is; its digest is that of the chain."""
    return {
        "schema": SCHEMA,
        "kind": "snapshot",
        "run": snapshot.run,
        "digest": snapshot.digest,
        "pages": [
            {"origin": origin, "path": path, "id": page, "digest": digest}
            for origin, path, page, digest in snapshot.pages
        ],
    }


def _retrieval(receipt: RetrievalReceipt) -> dict[str, Json]:
    return {
        "schema": SCHEMA,
        "kind": "retrieval",
        "run": receipt.run,
        "actor": receipt.actor,
        "query": receipt.query,
        "retriever": {"id": receipt.retriever.id, "version": receipt.retriever.version},
        "config": receipt.config,
        "snapshot": _reference(receipt.snapshot),
        "outcome": receipt.outcome,
        **_answer(receipt.answer),
        "retrievedAt": receipt.retrieved_at,
    }


def _answer(answer: tuple[Returned, ...] | Unavailable) -> dict[str, Json]:
    """Where nothing could be had there is no list that somebody might count."""
    if isinstance(answer, Unavailable):
        return {"unavailable": {"reason": answer.reason, "message": answer.message}}
    return {"results": [_returned(returned) for returned in answer]}


def _reference(reference: SnapshotReference | None) -> Json:
    if reference is None:
        return None
    stored = reference.stored
    return {
        "digest": reference.digest,
        "pages": reference.pages,
        "stored": stored and {"name": stored.name, "bytes": stored.bytes, "digest": stored.digest},
    }


def _returned(returned: Returned) -> dict[str, Json]:
    return {
        "rank": returned.rank,
        "handle": returned.handle,
        "origin": returned.origin,
        "path": returned.path,
        "id": returned.id,
        "digest": returned.digest,
        "scoreMillionths": returned.millionths,
    }


def _use(receipt: UseReceipt) -> dict[str, Json]:
    kind, uri, digest = receipt.consumer
    return {
        "schema": SCHEMA,
        "kind": "use",
        "retrieval": receipt.retrieval,
        "used": _returned(receipt.used),
        "relation": receipt.relation,
        "consumer": {"kind": kind, "uri": uri, "digest": digest},
        "usedAt": receipt.used_at,
    }


def _disposition(receipt: Disposition) -> dict[str, Json]:
    return {
        "schema": SCHEMA,
        "kind": "disposition",
        "retrieval": receipt.retrieval,
        "verdict": receipt.verdict,
        "reason": receipt.reason,
        "decidedAt": receipt.decided_at,
    }
