"""What can be proved of receipts of retrieval: three things, each for itself.

That a receipt is whole; that what it names was in a given snapshot; that the snapshot
is the one that was stored. None follows from another, and a snapshot that cannot be had
proves nothing and refutes nothing: that is `unavailable`, with its reason.

What no proof here shows: that a page is true, that a relation is right, that a rule was
followed, or that anything is new.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from counterfoil.core.canonical import Json
from counterfoil.core.digests import tagged_digest
from counterfoil.core.knowledge.receipt_values import digest_of, digest_of_value
from counterfoil.core.knowledge.receipts import (
    Absence,
    Disposition,
    RetrievalReceipt,
    Returned,
    Snapshot,
    SnapshotReference,
    Unavailable,
    UseReceipt,
)

Fault = Literal[
    "receipt-changed",
    "snapshot-differs",
    "page-count-differs",
    "page-not-in-snapshot",
    "page-differs",
    "stored-length-differs",
    "stored-bytes-differ",
    "stored-is-no-snapshot",
    "other-retrieval",
    "not-returned",
]


class Proof(NamedTuple):
    """What came of it; `faults` refute, `absence` says what could not be looked at."""

    faults: tuple[Fault, ...] = ()
    absence: Absence | None = None

    @property
    def verdict(self) -> Literal["proven", "refuted", "unavailable"]:
        """Derived: what refutes counts, even where something else could not be had."""
        if self.faults:
            return "refuted"
        return "proven" if self.absence is None else "unavailable"


class StoredSnapshot(NamedTuple):
    """The bytes that stand where a snapshot was stored, and the snapshot that they hold."""

    content: bytes
    snapshot: Snapshot | None


def prove_whole(value: Mapping[str, Json]) -> Proof:
    """Return whether a receipt is as it was written, by the digest that stands in it."""
    return Proof() if value.get("digest") == digest_of_value(value) else Proof(("receipt-changed",))


def prove_seen(receipt: RetrievalReceipt, snapshot: Snapshot | Unavailable) -> Proof:
    """Return whether `receipt` is about `snapshot`, and all that it returned is in it."""
    reference = receipt.snapshot
    if reference is None:
        return Proof(absence="no-reference")
    if isinstance(snapshot, Unavailable):
        return Proof(absence=snapshot.reason)
    return Proof((*_of_reference(reference, snapshot), *_of_pages(receipt.returned, snapshot)))


def prove_stored(receipt: RetrievalReceipt, stored: StoredSnapshot | Unavailable) -> Proof:
    """Return whether the snapshot of `receipt` is the one that was stored for it."""
    reference = receipt.snapshot
    if reference is None or reference.stored is None:
        return Proof(absence="no-reference")
    if isinstance(stored, Unavailable):
        return Proof(absence=stored.reason)
    faults: list[Fault] = []
    if len(stored.content) != reference.stored.bytes:
        faults.append("stored-length-differs")
    if tagged_digest(stored.content) != reference.stored.digest:
        faults.append("stored-bytes-differ")
    if stored.snapshot is None:
        faults.append("stored-is-no-snapshot")
    else:
        faults.extend(_of_reference(reference, stored.snapshot))
    return Proof(tuple(faults))


def prove_followed(follow_up: UseReceipt | Disposition, receipt: RetrievalReceipt) -> Proof:
    """Return whether `follow_up` is about `receipt`, and names what that returned."""
    if follow_up.retrieval != digest_of(receipt):
        return Proof(("other-retrieval",))
    if isinstance(follow_up, UseReceipt) and follow_up.used not in receipt.returned:
        return Proof(("not-returned",))
    return Proof()


def _of_reference(reference: SnapshotReference, snapshot: Snapshot) -> list[Fault]:
    faults: list[Fault] = []
    if snapshot.digest != reference.digest:
        faults.append("snapshot-differs")
    if len(snapshot.pages) != reference.pages:
        faults.append("page-count-differs")
    return faults


def _of_pages(returned: tuple[Returned, ...], snapshot: Snapshot) -> list[Fault]:
    seen = {(page.origin, page.path): (page.id, page.digest) for page in snapshot.pages}
    faults: dict[Fault, None] = {}
    for one in returned:
        page = seen.get((one.origin, one.path))
        if page is None:
            faults["page-not-in-snapshot"] = None
        elif page != (one.id, one.digest):
            faults["page-differs"] = None
    return list(faults)
