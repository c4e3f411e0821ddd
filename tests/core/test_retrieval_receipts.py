"""Receipts of retrieval: what they refuse, what they say, and what can be proved of them."""

from dataclasses import replace

import pytest

from counterfoil.core.digests import tagged_digest
from counterfoil.core.errors import NotFoundError
from counterfoil.core.events import PagesRetrieved
from counterfoil.core.ids import HERE, SHARED, PageId, RunId
from counterfoil.core.knowledge.receipt_proofs import (
    Proof,
    StoredSnapshot,
    prove_followed,
    prove_seen,
    prove_stored,
    prove_whole,
)
from counterfoil.core.knowledge.receipt_values import (
    digest_of,
    digest_of_value,
    sealed,
    snapshot_value,
    value_of,
)
from counterfoil.core.knowledge.receipts import (
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
    event_of,
    returned_at,
    returned_of,
    snapshot_of,
)
from counterfoil.core.knowledge.search import Search
from search_samples import chained, draft

NOW = "2026-03-01T09:00:00.000Z"
PAGES = (
    SeenPage(HERE, "knowledge/a.md", PageId("a"), "sha256:aa"),
    SeenPage(SHARED, "knowledge/b.md", PageId("b"), "sha256:bb"),
)
SNAPSHOT = Snapshot(run=RunId("r2"), pages=PAGES)
CONTENT = b"the bytes of a snapshot"
STORED = StoredAs("snapshots/1.json", len(CONTENT), tagged_digest(CONTENT))
ONE = Returned(1, "a", HERE, "knowledge/a.md", PageId("a"), "sha256:aa", 32787)
TWO = Returned(2, "shared::b", SHARED, "knowledge/b.md", PageId("b"), "sha256:bb", 16129)
RECEIPT = RetrievalReceipt(
    run=RunId("r2"),
    query="cache",
    retriever=Retriever("counterfoil-search", "1"),
    config={"limit": 10, "tags": None},
    snapshot=SnapshotReference(SNAPSHOT.digest, 2, STORED),
    answer=(ONE, TWO),
    retrieved_at=NOW,
)
USE = UseReceipt(
    retrieval=digest_of(RECEIPT),
    used=TWO,
    relation="supports",
    consumer=Consumer("decision", "decisions/7"),
    used_at=NOW,
)
NO_USE = Disposition(retrieval=digest_of(RECEIPT), verdict="irrelevant", decided_at=NOW)
GONE = Unavailable("missing", "the snapshot is not there")


def test_an_answer_is_returned_or_empty_or_unavailable() -> None:
    """retrieval-receipts: What could not be had is never called empty."""
    assert RECEIPT.outcome == "returned"
    assert replace(RECEIPT, answer=()).outcome == "empty"
    unavailable = replace(RECEIPT, answer=GONE)
    assert (unavailable.outcome, unavailable.returned) == ("unavailable", ())
    assert "results" not in value_of(unavailable)
    assert value_of(replace(RECEIPT, answer=()))["results"] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": (TWO,)}, r"ranks \[2\]"),
        ({"answer": (ONE, ONE._replace(rank=3))}, r"ranks \[1, 3\]"),
        ({"answer": (ONE, ONE._replace(rank=2))}, "returned twice"),
        ({"retrieved_at": "yesterday"}, "time 'yesterday'"),
        ({"config": {"k1": 1.2}}, "1.2 in a configuration; expected JSON with whole"),
        ({"config": {"a": [{"b": (2**53,)}]}}, "9007199254740992 in a configuration"),
    ],
)
def test_a_receipt_that_contradicts_itself_is_refused(
    change: dict[str, object], message: str
) -> None:
    """retrieval-receipts: Ranks with gaps, a page twice, no instant, a number with a point."""
    with pytest.raises(InvalidReceiptError, match=message):
        replace(RECEIPT, **change)  # type: ignore[arg-type]


def test_what_follows_has_an_instant_too() -> None:
    """retrieval-receipts: The time is given, never asked of a clock, and checked."""
    with pytest.raises(InvalidReceiptError):
        replace(USE, used_at="")
    with pytest.raises(InvalidReceiptError):
        replace(NO_USE, decided_at="2026-02-30T09:00:00.000Z")


def test_a_snapshot_has_each_place_once() -> None:
    """retrieval-receipts: One path of one origin; the same path of another is another page."""
    other = PAGES[0]._replace(origin=SHARED)
    assert len(Snapshot(run=None, pages=(PAGES[0], other)).pages) == 2
    with pytest.raises(InvalidReceiptError, match="2 times"):
        Snapshot(run=None, pages=(PAGES[0], PAGES[0]))
    assert Snapshot(run=None, pages=()).digest != SNAPSHOT.digest


def test_the_digest_of_a_receipt_is_of_all_of_it_but_itself() -> None:
    """retrieval-receipts: Any change makes another; unknown fields are covered."""
    value = sealed(value_of(RECEIPT))
    assert value["digest"] == digest_of(RECEIPT) == digest_of_value(value)
    assert prove_whole(value) == Proof()
    assert prove_whole({**value, "query": "other"}).verdict == "refuted"
    assert prove_whole({**value, "more": 1}).faults == ("receipt-changed",)
    assert prove_whole(sealed({**value, "more": 1})).verdict == "proven"
    digests = {digest_of(one) for one in (RECEIPT, USE, NO_USE, replace(RECEIPT, query="x"))}
    assert len(digests) == 4


def test_a_receipt_belongs_to_a_snapshot_that_has_all_it_returned() -> None:
    """retrieval-receipts: The digest, the number of pages, each page as it was."""
    assert prove_seen(RECEIPT, SNAPSHOT).verdict == "proven"
    changed = PAGES[1]._replace(digest="sha256:cc")
    assert prove_seen(RECEIPT, Snapshot(run=None, pages=(PAGES[0], changed))).faults == (
        "snapshot-differs",
        "page-differs",
    )
    assert prove_seen(RECEIPT, Snapshot(run=None, pages=PAGES[:1])).faults == (
        "snapshot-differs",
        "page-count-differs",
        "page-not-in-snapshot",
    )


def test_a_receipt_belongs_to_what_was_stored_for_it() -> None:
    """retrieval-receipts: The length, the bytes, and the snapshot that they hold."""
    assert prove_stored(RECEIPT, StoredSnapshot(CONTENT, SNAPSHOT)).verdict == "proven"
    assert prove_stored(RECEIPT, StoredSnapshot(b"x", None)).faults == (
        "stored-length-differs",
        "stored-bytes-differ",
        "stored-is-no-snapshot",
    )
    other = Snapshot(run=None, pages=())
    assert prove_stored(RECEIPT, StoredSnapshot(CONTENT, other)).faults == (
        "snapshot-differs",
        "page-count-differs",
    )


@pytest.mark.parametrize("reason", ["missing", "failed"])
def test_what_cannot_be_had_proves_and_refutes_nothing(reason: str) -> None:
    """retrieval-receipts: Unavailable, with its reason; the proofs stand each for itself."""
    gone = Unavailable(reason, "…")  # type: ignore[arg-type]
    for proof in (prove_seen(RECEIPT, gone), prove_stored(RECEIPT, gone)):
        assert (proof.verdict, proof.absence, proof.faults) == ("unavailable", reason, ())


def test_what_names_no_snapshot_has_no_reference() -> None:
    """retrieval-receipts: Whatever snapshot is held against it."""
    without = replace(RECEIPT, snapshot=None)
    unstored = replace(RECEIPT, snapshot=SnapshotReference(SNAPSHOT.digest, 2))
    stored = StoredSnapshot(CONTENT, SNAPSHOT)
    assert prove_seen(without, SNAPSHOT).absence == "no-reference"
    assert prove_stored(without, stored).absence == "no-reference"
    assert prove_stored(unstored, stored).absence == "no-reference"
    assert prove_seen(unstored, SNAPSHOT).verdict == "proven"


def test_what_follows_belongs_to_its_retrieval() -> None:
    """retrieval-receipts: By the digest, and a use by the very page that was returned."""
    assert prove_followed(USE, RECEIPT).verdict == "proven"
    assert prove_followed(NO_USE, RECEIPT).verdict == "proven"
    assert prove_followed(NO_USE, replace(RECEIPT, query="x")).faults == ("other-retrieval",)
    forged = replace(USE, used=TWO._replace(digest="sha256:00"))
    assert prove_followed(forged, RECEIPT).faults == ("not-returned",)


@pytest.mark.parametrize("rank", [0, 3, -1])
def test_a_rank_that_was_not_returned_is_not_found(rank: int) -> None:
    """retrieval-receipts: One under the first, one over the last."""
    assert [returned_at(RECEIPT, n) for n in (1, 2)] == [ONE, TWO]
    with pytest.raises(NotFoundError, match=f"rank {rank}"):
        returned_at(RECEIPT, rank)


def test_a_search_becomes_a_receipt_and_an_event() -> None:
    """retrieval-receipts: Scores as whole numbers, handles as they were returned."""
    sample = chained(own=[draft("a", "cache")], shared=[draft("b", "cache")])
    hits = sample.search().search(Search(text="cache"))
    snapshot = snapshot_of(sample.chain, sample.digest_of)
    seen = {(page.origin, page.path): page.digest for page in snapshot.pages}
    receipt = replace(
        RECEIPT,
        snapshot=SnapshotReference(snapshot.digest, len(snapshot.pages)),
        answer=returned_of(hits, lambda hit: seen[hit.address[:2]]),
    )
    assert [returned.millionths for returned in receipt.returned] == [32787, 32258]
    assert prove_seen(receipt, snapshot).verdict == "proven"
    assert event_of(receipt) == PagesRetrieved(
        run="r2", query="cache", snapshot_digest=snapshot.digest, handles=("a", "b")
    )
    assert event_of(replace(receipt, run=None, snapshot=None)).snapshot_digest is None


def test_a_snapshot_is_written_with_the_digest_of_its_chain() -> None:
    """retrieval-receipts: Every page with origin, path, id and digest, in chain order."""
    value = snapshot_value(SNAPSHOT)
    assert value["digest"] == SNAPSHOT.digest
    assert value["pages"] == [
        {"origin": "here", "path": "knowledge/a.md", "id": "a", "digest": "sha256:aa"},
        {"origin": "shared", "path": "knowledge/b.md", "id": "b", "digest": "sha256:bb"},
    ]
