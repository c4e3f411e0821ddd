"""Receipts of retrieval and snapshots as JSON, read strictly and written canonically.

What is read is a value or a `Malformed` with a reason and the field at fault, never an
exception. Fields that are not known are tolerated; the digest of a receipt covers them.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from counterfoil.core.canonical import canonical_bytes
from counterfoil.core.digests import tagged_digest
from counterfoil.core.ids import Origin, PageId, RunId
from counterfoil.core.knowledge.receipt_proofs import Proof, StoredSnapshot, prove_whole
from counterfoil.core.knowledge.receipt_values import (
    SCHEMA,
    AnyReceipt,
    sealed,
    snapshot_value,
    value_of,
)
from counterfoil.core.knowledge.receipts import (
    ABSENCES,
    CONSUMERS,
    NO_USES,
    RELATIONS,
    Consumer,
    Disposition,
    InvalidReceiptError,
    RetrievalReceipt,
    Retriever,
    Returned,
    SeenPage,
    Snapshot,
    SnapshotReference,
    StoredAs,
    Unavailable,
    UseReceipt,
)
from counterfoil.wire.fields import Fields, WrongFieldError
from counterfoil.wire.json_values import is_object
from counterfoil.wire.strict_json import Malformed, read_json

T = TypeVar("T")


class SealedReceipt(NamedTuple):
    """A receipt that was read, and whether it is as it was written."""

    receipt: AnyReceipt
    whole: Proof


def encode_receipt(receipt: AnyReceipt) -> bytes:
    """Return the canonical bytes of `receipt`, its digest in it."""
    return canonical_bytes(sealed(value_of(receipt)))


def decode_receipt(content: bytes | str) -> SealedReceipt | Malformed:
    """Return the receipt that `content` holds, or why it holds none."""
    return _decoded(content, _receipt)


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """Return the canonical bytes of `snapshot`."""
    return canonical_bytes(snapshot_value(snapshot))


def decode_snapshot(content: bytes | str) -> Snapshot | Malformed:
    """Return the snapshot that `content` holds, or why it holds none.

    One whose digest is not that of its pages is `bad-value`.
    """
    return _decoded(content, _snapshot)


def stored_as(name: str, content: bytes) -> StoredAs:
    """Return what a receipt says of a snapshot that is stored as `content` under `name`."""
    return StoredAs(name=name, bytes=len(content), digest=tagged_digest(content))


def stored_snapshot(content: bytes) -> StoredSnapshot:
    """Return what stands where a snapshot was stored."""
    snapshot = decode_snapshot(content)
    return StoredSnapshot(content, None if isinstance(snapshot, Malformed) else snapshot)


def _decoded(content: bytes | str, read: Callable[[Fields], T]) -> T | Malformed:
    value = read_json(content)
    if isinstance(value, Malformed):
        return value
    if not is_object(value):
        return Malformed("not-object")
    try:
        return read(Fields(value))
    except WrongFieldError as wrong:
        return Malformed(wrong.reason, wrong.field)
    except InvalidReceiptError:
        return Malformed("bad-value")


def _receipt(fields: Fields) -> SealedReceipt:
    _require_schema(fields)
    kind = fields.one_of("kind", tuple(_READERS))
    fields.text("digest")
    return SealedReceipt(_READERS[kind](fields), prove_whole(fields.value))


def _require_schema(fields: Fields) -> None:
    if fields.whole("schema") != SCHEMA:
        raise WrongFieldError("unknown-schema", "schema")


def _retrieval(fields: Fields) -> RetrievalReceipt:
    retriever = fields.within("retriever")
    run = fields.text_or_none("run")
    receipt = RetrievalReceipt(
        run=None if run is None else fields.made("run", RunId),
        actor=fields.text_or_none("actor"),
        query=fields.text("query"),
        retriever=Retriever(retriever.text("id"), retriever.text("version")),
        config=fields.within("config").value,
        snapshot=_reference(fields),
        answer=_answer(fields),
        retrieved_at=fields.text("retrievedAt"),
    )
    if fields.text("outcome") != receipt.outcome:
        raise WrongFieldError("bad-value", "outcome")
    return receipt


def _answer(fields: Fields) -> tuple[Returned, ...] | Unavailable:
    if "results" in fields.value:
        return tuple(_returned(row) for row in fields.rows("results"))
    absent = fields.within("unavailable")
    return Unavailable(absent.one_of("reason", ABSENCES), absent.text("message"))


def _reference(fields: Fields) -> SnapshotReference | None:
    if fields.value.get("snapshot") is None:
        return None
    reference = fields.within("snapshot")
    stored = None
    if reference.value.get("stored") is not None:
        place = reference.within("stored")
        stored = StoredAs(place.text("name"), place.whole("bytes"), place.text("digest"))
    return SnapshotReference(reference.text("digest"), reference.whole("pages"), stored)


def _returned(fields: Fields) -> Returned:
    return Returned(
        rank=fields.whole("rank"),
        handle=fields.text("handle"),
        origin=fields.made("origin", Origin),
        path=fields.text("path"),
        id=fields.made("id", PageId),
        digest=fields.text("digest"),
        millionths=fields.whole("scoreMillionths"),
    )


def _use(fields: Fields) -> UseReceipt:
    consumer = fields.within("consumer")
    return UseReceipt(
        retrieval=fields.text("retrieval"),
        used=_returned(fields.within("used")),
        relation=fields.one_of("relation", RELATIONS),
        consumer=Consumer(
            kind=consumer.one_of("kind", CONSUMERS),
            uri=consumer.text("uri"),
            digest=consumer.text_or_none("digest"),
        ),
        used_at=fields.text("usedAt"),
    )


def _disposition(fields: Fields) -> Disposition:
    return Disposition(
        retrieval=fields.text("retrieval"),
        verdict=fields.one_of("verdict", NO_USES),
        reason=fields.text_or_none("reason"),
        decided_at=fields.text("decidedAt"),
    )


_READERS: Mapping[str, Callable[[Fields], AnyReceipt]] = {
    "retrieval": _retrieval,
    "use": _use,
    "disposition": _disposition,
}


def _snapshot(fields: Fields) -> Snapshot:
    _require_schema(fields)
    fields.one_of("kind", ("snapshot",))
    run = fields.text_or_none("run")
    snapshot = Snapshot(
        run=None if run is None else fields.made("run", RunId),
        pages=tuple(
            SeenPage(
                row.made("origin", Origin),
                row.text("path"),
                row.made("id", PageId),
                row.text("digest"),
            )
            for row in fields.rows("pages")
        ),
    )
    if fields.text("digest") != snapshot.digest:
        raise WrongFieldError("bad-value", "digest")
    return snapshot
