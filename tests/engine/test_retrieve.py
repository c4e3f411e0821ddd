"""The receipt of a search: what was asked, of what, and what came back."""

from counterfoil.core.ids import HERE, PageId
from counterfoil.core.knowledge.chain import single_store
from counterfoil.core.knowledge.pages import Page
from counterfoil.core.knowledge.search import Search
from counterfoil.engine.retrieve import RETRIEVER, receipt_of
from counterfoil.engine.scanned_texts import ScannedTexts
from counterfoil.engine.search_pages import PageSearch

NOW = "2026-03-01T09:00:00.000Z"


def test_a_receipt_names_what_was_returned_out_of_what() -> None:
    """retrieval-receipts: Query, retriever, filters, the chain seen, and the pages by rank."""
    chain = single_store(
        Page(path=f"knowledge/{name}.md", id=PageId(name), title=name) for name in ("fit", "slope")
    )
    search = PageSearch(
        chain, ScannedTexts(), body_of=lambda _: "the slope", digest_of=lambda page: page.page.id
    )
    asked = Search(text="slope", tags=None, origins=(HERE,))
    hits = search.search(asked)
    receipt = receipt_of(chain, asked, hits, digest_of=lambda page: page.page.id, now=NOW)
    assert (receipt.query, receipt.retriever, receipt.retrieved_at) == ("slope", RETRIEVER, NOW)
    assert receipt.config["origins"] == ["here"]
    assert receipt.config["tags"] is None
    assert receipt.snapshot is not None
    assert receipt.snapshot.pages == 2
    assert [(one.rank, one.handle, one.digest) for one in receipt.returned] == [
        (1, "slope", "slope"),
        (2, "fit", "fit"),
    ]


def test_nothing_found_is_empty_and_not_unavailable() -> None:
    """retrieval-receipts: An empty answer is an answer."""
    chain = single_store([])
    receipt = receipt_of(chain, Search(text="x"), (), digest_of=lambda _: "", now=NOW)
    assert receipt.outcome == "empty"
