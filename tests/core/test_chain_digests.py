"""A chain knows the digest of each of its pages, and so of all that it saw."""

from counterfoil.core.digests import tagged_digest
from counterfoil.core.ids import HERE, SHARED
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.receipts import snapshot_of
from search_samples import PARENT, chained, draft


def test_a_chain_has_the_digests_that_it_was_loaded_with() -> None:
    """retrieval-receipts: Of the page of that origin, whatever others have its path."""
    sample = chained([draft("a", "own")], [draft("a", "parent")], [draft("a", "shared")])
    digests = [sample.chain.digest_of(page) for page in sample.chain]
    assert digests == [sample.digest_of(page) for page in sample.chain]
    assert len(set(digests)) == 3
    assert [page.origin for page in sample.chain] == [HERE, PARENT, SHARED]


def test_a_page_without_a_digest_is_known_by_what_was_understood() -> None:
    """retrieval-receipts: Another page has another one, and the chain's follows from them."""
    pages = tuple(page for page, _ in (draft("a"), draft("b")))
    chain = ChainSnapshot([Store(origin=HERE, pages=pages)])
    first, second = (chain.digest_of(page) for page in chain)
    assert first == tagged_digest(repr(pages[0]).encode())
    assert first != second
    assert snapshot_of(chain, chain.digest_of).digest == chain.digest
