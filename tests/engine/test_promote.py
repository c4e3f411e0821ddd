"""Promotion: pages and their record are written to the shared store, or nothing is."""

import json
from collections.abc import Sequence

import pytest

from counterfoil.core.digests import digest_hex, tagged_digest
from counterfoil.core.errors import ConflictError, CounterfoilError, NotFoundError
from counterfoil.core.ids import HERE, SHARED, Origin, PageId, RunId
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.pages import Page, Written
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.engine.promote import (
    PromotionOutcome,
    PromotionStores,
    promote,
)
from counterfoil.testing.store_writes import MemoryStoreWriter
from counterfoil.wire.records import encode_promotion

NOW = "2026-03-01T09:00:00.000Z"
PARENT = Origin("inherited:r1")


def _page(path: str, content: bytes) -> Page:
    name = path.removeprefix("knowledge/").removesuffix(".md")
    cites = tuple(map(Written, content.decode().split()))
    return Page(path=path, id=PageId(name), title=name, cites=cites)


class Stores:
    """The stores of a run in memory; a page holds what it cites."""

    def __init__(self, own: dict[str, bytes], inherited: dict[str, bytes] | None = None) -> None:
        self.shared = MemoryStoreWriter()
        self.files = {HERE: own, PARENT: inherited or {}}
        self.run: RunId | None = RunId("r2")

    def content(self, visible: VisiblePage) -> bytes | None:
        files = {**self.files, SHARED: self.shared.files}[visible.origin]
        return files.get(visible.page.path)

    def seen(self) -> ChainSnapshot:
        stores = {**self.files, SHARED: self.shared.files}
        return ChainSnapshot(
            [
                Store(
                    origin=origin,
                    pages=tuple(
                        _page(path, content)
                        for path, content in files.items()
                        if path.startswith("knowledge/")
                    ),
                    digests={path: tagged_digest(content) for path, content in files.items()},
                )
                for origin, files in stores.items()
            ],
            run=self.run,
        )

    def promote(
        self, ids: Sequence[str], *, actor: str = "ann", reason: str = "done"
    ) -> PromotionOutcome:
        stores = PromotionStores(
            shared=self.shared,
            load_chain=self.seen,
            read_file=self.content,
            encode=encode_promotion,
        )
        return promote(stores, ids, actor=actor, reason=reason, now=NOW)


def test_pages_and_their_record_are_written_together() -> None:
    """promotion: Bytes unchanged; the record is named by the digest of its own bytes."""
    stores = Stores({"knowledge/a.md": b"b\r\n"}, {"knowledge/b.md": b""})
    outcome = stores.promote(["a"])
    assert outcome.status == "promoted"
    assert outcome.record is not None
    path = f".counterfoil/promotions/{digest_hex(outcome.record)}.json"
    record = stores.shared.files[path]
    assert tagged_digest(record) == outcome.record
    assert stores.shared.files == {
        "knowledge/a.md": b"b\r\n",
        "knowledge/b.md": b"",
        path: record,
    }
    assert [str(file.path) for file in outcome.files] == ["knowledge/a.md", "knowledge/b.md", path]
    assert stores.shared.purposes == ["promote 2 pages"]
    assert json.loads(record) == {
        "schema": 1,
        "run": "r2",
        "actor": "ann",
        "reason": "done",
        "promotedAt": NOW,
        "entries": [
            {
                "id": "a",
                "path": "knowledge/a.md",
                "origin": "here",
                "digest": tagged_digest(b"b\r\n"),
                "role": "requested",
            },
            {
                "id": "b",
                "path": "knowledge/b.md",
                "origin": "inherited:r1",
                "digest": tagged_digest(b""),
                "role": "carried",
            },
        ],
    }


def test_the_same_promotion_again_writes_nothing() -> None:
    """promotion: No second record, and no conflict."""
    stores = Stores({"knowledge/a.md": b"b", "knowledge/b.md": b""})
    stores.promote(["a"])
    before = dict(stores.shared.files)
    again = stores.promote(["a"])
    assert (again.status, again.record, again.files) == ("unchanged", None, ())
    assert stores.shared.files == before


def test_a_refused_promotion_writes_nothing() -> None:
    """promotion: Every reason is a row."""
    stores = Stores({"knowledge/a.md": b"nothing"})
    outcome = stores.promote(["a"])
    assert outcome.status == "refused"
    assert [refusal.code for refusal in outcome.plan.refusals] == ["unresolved-citation"]
    assert stores.shared.files == {}


@pytest.mark.parametrize("changed", [b"other", None])
def test_bytes_that_were_not_looked_at_are_not_copied(changed: bytes | None) -> None:
    """promotion: They are read again, and have to be those of the snapshot."""
    stores = Stores({"knowledge/a.md": b"b", "knowledge/b.md": b""})
    seen = stores.seen()
    if changed is None:
        del stores.files[HERE]["knowledge/b.md"]
    else:
        stores.files[HERE]["knowledge/b.md"] = changed
    late = PromotionStores(
        shared=stores.shared,
        load_chain=lambda: seen,
        read_file=stores.content,
        encode=encode_promotion,
    )
    with pytest.raises(ConflictError, match=r"knowledge/b\.md \(here\) is ") as refused:
        promote(late, ["a"], actor="ann", reason="done", now=NOW)
    assert (tagged_digest(changed) if changed else "not there") in refused.value.found
    assert stores.shared.files == {}


def test_a_file_in_the_way_is_kept() -> None:
    """promotion: Something that is no page of the snapshot stands at the path."""
    stores = Stores({"knowledge/a.md": b""})
    seen = stores.seen()
    stores.shared.files["knowledge/a.md"] = b"put there meanwhile"
    late = PromotionStores(
        shared=stores.shared,
        load_chain=lambda: seen,
        read_file=stores.content,
        encode=encode_promotion,
    )
    with pytest.raises(ConflictError):
        promote(late, ["a"], actor="ann", reason="done", now=NOW)
    assert stores.shared.files == {"knowledge/a.md": b"put there meanwhile"}


@pytest.mark.parametrize(("actor", "reason", "name"), [(" ", "x", "actor"), ("x", "", "reason")])
def test_somebody_promotes_for_a_reason(actor: str, reason: str, name: str) -> None:
    """promotion: The record says who and why."""
    with pytest.raises(CounterfoilError, match=f"{name} is"):
        Stores({"knowledge/a.md": b""}).promote(["a"], actor=actor, reason=reason)


def test_a_store_without_a_run_has_nothing_to_promote() -> None:
    """promotion: Pages of a run are promoted."""
    stores = Stores({"knowledge/a.md": b""})
    stores.run = None
    with pytest.raises(NotFoundError, match="of no run"):
        stores.promote(["a"])
