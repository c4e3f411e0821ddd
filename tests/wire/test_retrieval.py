"""Receipts of retrieval on the wire: read as they were written, and nothing else is read."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from counterfoil.core.canonical import canonical_json
from counterfoil.core.ids import HERE, PageId, RunId
from counterfoil.core.knowledge.receipt_proofs import prove_stored
from counterfoil.core.knowledge.receipt_values import AnyReceipt, digest_of, sealed
from counterfoil.core.knowledge.receipts import (
    Consumer,
    Disposition,
    RetrievalReceipt,
    Retriever,
    Returned,
    SeenPage,
    Snapshot,
    SnapshotReference,
    Unavailable,
    UseReceipt,
)
from counterfoil.wire.retrieval import (
    SealedReceipt,
    decode_receipt,
    decode_snapshot,
    encode_receipt,
    encode_snapshot,
    stored_as,
    stored_snapshot,
)
from counterfoil.wire.strict_json import Malformed

NOW = "2026-03-01T09:00:00.000Z"
SNAPSHOT = Snapshot(
    run=RunId("r"), pages=(SeenPage(HERE, "knowledge/a.md", PageId("é"), "sha256:aa"),)
)
RETRIEVAL = RetrievalReceipt(
    run=RunId("r"),
    actor="agent",
    query="größe “x”",
    retriever=Retriever("counterfoil-search", "1"),
    config={"limit": 3, "tags": ["a"], "nested": {"b": None}},
    snapshot=SnapshotReference(SNAPSHOT.digest, 1, stored_as("s", encode_snapshot(SNAPSHOT))),
    answer=(Returned(1, "é", HERE, "knowledge/a.md", PageId("é"), "sha256:aa", 16393),),
    retrieved_at=NOW,
)
USE = UseReceipt(
    retrieval=digest_of(RETRIEVAL),
    used=RETRIEVAL.returned[0],
    relation="extends",
    consumer=Consumer("artifact", "file.md", "sha256:00"),
    used_at=NOW,
)
RECEIPTS: list[AnyReceipt] = [
    RETRIEVAL,
    replace(RETRIEVAL, run=None, actor=None, snapshot=None, answer=()),
    replace(RETRIEVAL, snapshot=SnapshotReference("sha256:x", 0)),
    replace(RETRIEVAL, answer=Unavailable("failed", "no such store")),
    USE,
    replace(USE, consumer=Consumer("other", "x")),
    Disposition(retrieval="sha256:x", verdict="no-use", reason="old", decided_at=NOW),
    Disposition(retrieval="sha256:x", verdict="irrelevant", decided_at=NOW),
]


@pytest.mark.parametrize("receipt", RECEIPTS)
def test_a_receipt_is_read_as_it_was_written(receipt: AnyReceipt) -> None:
    """retrieval-receipts: In canonical bytes, its digest in it, and whole."""
    content = encode_receipt(receipt)
    read = decode_receipt(content)
    assert isinstance(read, SealedReceipt)
    assert (read.receipt, read.whole.verdict) == (receipt, "proven")
    assert canonical_json(json.loads(content)).encode() == content
    spaced = json.dumps(json.loads(content), indent=2)
    assert decode_receipt(spaced) == read


def _change(change: Callable[[dict[str, Any]], object], receipt: AnyReceipt = RETRIEVAL) -> bytes:
    value = json.loads(encode_receipt(receipt))
    change(value)
    return json.dumps(value).encode()


def test_what_was_changed_is_read_and_not_whole() -> None:
    """retrieval-receipts: It is for the reader to say so; unknown fields are covered."""
    for change in (lambda v: v.update(query="x"), lambda v: v.update(more=1)):
        read = decode_receipt(_change(change))
        assert isinstance(read, SealedReceipt)
        assert read.whole.verdict == "refuted"
    known = sealed({**json.loads(encode_receipt(RETRIEVAL)), "more": {"x": 1}})
    read = decode_receipt(json.dumps(known))
    assert isinstance(read, SealedReceipt)
    assert (read.receipt, read.whole.verdict) == (RETRIEVAL, "proven")


@pytest.mark.parametrize(
    ("change", "reason", "field"),
    [
        (lambda v: v.pop("schema"), "missing-field", "schema"),
        (lambda v: v.update(schema=2), "unknown-schema", "schema"),
        (lambda v: v.update(schema=True), "wrong-type", "schema"),
        (lambda v: v.update(kind="other"), "bad-value", "kind"),
        (lambda v: v.pop("digest"), "missing-field", "digest"),
        (lambda v: v.update(run="a/b"), "bad-value", "run"),
        (lambda v: v.update(actor=3), "wrong-type", "actor"),
        (lambda v: v.update(query=None), "missing-field", "query"),
        (lambda v: v.update(retriever="x"), "wrong-type", "retriever"),
        (lambda v: v["retriever"].pop("version"), "missing-field", "retriever.version"),
        (lambda v: v.update(config=[]), "wrong-type", "config"),
        (lambda v: v.update(config={"x": 0.5}), "float", None),
        (lambda v: v["snapshot"].update(pages=-1), "bad-value", "snapshot.pages"),
        (lambda v: v["snapshot"]["stored"].pop("name"), "missing-field", "snapshot.stored.name"),
        (lambda v: v.update(results=None), "missing-field", "results"),
        (lambda v: v.update(results={}), "wrong-type", "results"),
        (lambda v: v.update(results=["x"]), "wrong-type", "results.0"),
        (lambda v: v["results"][0].update(origin="there"), "bad-value", "results.0.origin"),
        (lambda v: v["results"][0].update(rank=2), "bad-value", None),
        (lambda v: v.pop("results"), "missing-field", "unavailable"),
        (lambda v: v.update(outcome="empty"), "bad-value", "outcome"),
        (lambda v: v.update(retrievedAt="now"), "bad-value", None),
    ],
)
def test_what_is_no_receipt_says_why_and_where(
    change: Callable[[dict[str, Any]], object], reason: str, field: str | None
) -> None:
    """retrieval-receipts: Never an exception, and never half a receipt."""
    assert decode_receipt(_change(change)) == Malformed(reason, field)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "not-json"), (b"[]", "not-object"), (b'{"a":1,"a":1}', "duplicate-key")],
)
def test_what_is_no_object_is_no_receipt(content: bytes, reason: str) -> None:
    """retrieval-receipts: Read strictly, as events are."""
    assert decode_receipt(content) == Malformed(reason)
    assert decode_snapshot(content) == Malformed(reason)


def test_a_relation_and_a_consumer_are_of_their_lists() -> None:
    """retrieval-receipts: Of a use, and the verdict of a disposition."""
    refused = _change(lambda v: v.update(relation="likes"), USE)
    assert decode_receipt(refused) == Malformed("bad-value", "relation")
    refused = _change(lambda v: v["consumer"].update(kind="robot"), USE)
    assert decode_receipt(refused) == Malformed("bad-value", "consumer.kind")
    refused = _change(lambda v: v.update(verdict="bad"), RECEIPTS[-1])
    assert decode_receipt(refused) == Malformed("bad-value", "verdict")


@pytest.mark.parametrize("run", [None, RunId("r")])
def test_a_snapshot_is_read_as_it_was_written(run: RunId | None) -> None:
    """retrieval-receipts: And refused where its digest is not that of its pages."""
    snapshot = replace(SNAPSHOT, run=run)
    content = encode_snapshot(snapshot)
    assert decode_snapshot(content) == snapshot
    other = content.replace(b"sha256:aa", b"sha256:ab")
    assert decode_snapshot(other) == Malformed("bad-value", "digest")
    twice = json.loads(content)
    twice["pages"] *= 2
    assert decode_snapshot(json.dumps(twice)) == Malformed("bad-value")


def test_what_was_stored_is_held_against_the_receipt() -> None:
    """retrieval-receipts: Its bytes, and what they hold; damage is refuted, not unavailable."""
    assert prove_stored(RETRIEVAL, stored_snapshot(encode_snapshot(SNAPSHOT))).verdict == "proven"
    assert prove_stored(RETRIEVAL, stored_snapshot(b"{}")).verdict == "refuted"
