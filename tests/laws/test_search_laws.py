"""The laws of words, of searches and of what follows them, with pages out of a small pool."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.core.ids import HERE, SHARED, Origin, PageId
from counterfoil.core.knowledge.brief import brief_of, line_of
from counterfoil.core.knowledge.ranking import FoldedPage, fuse, tier_of
from counterfoil.core.knowledge.receipts import Snapshot, snapshot_of
from counterfoil.core.knowledge.resolution import resolve_handle
from counterfoil.core.knowledge.search import Hit, Search
from counterfoil.core.knowledge.words import count_words, fold, phrase, spelled, times
from search_samples import PARENT, TAKEN_BACK, Draft, Sample, draft

ORIGINS = (HERE, PARENT, SHARED)
WORDS = ("cache", "kv", "größe", "東京都", "the")

_texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
_queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    """Return a page that may meet others by its id, its words, its tags and its sources."""
    name = draw(st.sampled_from(["a", "b", "c", "kv-cache", "t/cache", "t/kv"]))
    return draft(
        name,
        draw(_texts),
        id=PageId(draw(st.sampled_from(["one", "two", "three", "here::one"]))),
        title=draw(_texts) or name,
        tags=tuple(draw(st.lists(st.sampled_from(["x", "y"]), max_size=2))),
        kind=draw(st.sampled_from([None, "note", "claim"])),
        links=draw(st.lists(st.sampled_from(["one", "two", "shared::one"]), max_size=3)),
        cites=draw(st.lists(st.sampled_from(["one", "here::two", "three"]), max_size=2)),
        sources=draw(st.lists(st.sampled_from(["s1", "s2"]), max_size=2)),
        invalidation=draw(st.sampled_from([None, None, TAKEN_BACK])),
    )


_stores = st.lists(drafts(), max_size=5, unique_by=lambda one: one[0].path)
_chains = st.fixed_dictionaries(dict.fromkeys(ORIGINS, _stores))
_some = st.one_of(st.none(), st.lists(st.sampled_from(["x", "y", "note"]), max_size=2).map(tuple))


@st.composite
def searches(draw: st.DrawFn) -> Search:
    """Return a search with filters or without."""
    origins = st.lists(st.sampled_from(ORIGINS), max_size=2).map(tuple)
    return Search(
        text=draw(_queries),
        limit=64,
        tags=draw(_some),
        kinds=draw(_some),
        origins=draw(st.one_of(st.none(), origins)),
        exclude_invalidated=draw(st.booleans()),
    )


# --- words --------------------------------------------------------------------


@given(st.text(), st.text())
def test_every_text_is_folded_and_words_stay_next_to_one_another(one: str, other: str) -> None:
    """kb-search: What was folded folds to itself; a text in a longer one is found in it."""
    folded = fold(one)
    assert count_words(folded) == len(spelled(one))
    assert all(times(word, folded) >= 1 for word in spelled(one))
    together = fold(f"{one} {other}")
    assert phrase(spelled(one)) in together
    assert phrase(spelled(other)) in together


@given(st.lists(st.sampled_from("東京都の"), min_size=1).map("".join), st.data())
def test_any_part_of_a_run_without_spaces_is_found_where_it_stands(
    run: str, data: st.DataObject
) -> None:
    """kb-search: As a phrase, from one letter to all of them."""
    start = data.draw(st.integers(0, len(run) - 1))
    end = data.draw(st.integers(start + 1, len(run)))
    words = spelled(run[start:end])
    assert tier_of(FoldedPage("", "", fold(f"x{run}y")), words, words) == 1


# --- ranks --------------------------------------------------------------------


@given(st.permutations("abcde"), st.permutations("abcdef"), st.integers(1, 4))
def test_a_better_rank_never_costs_a_page_anything(
    one: Sequence[str], other: Sequence[str], place: int
) -> None:
    """kb-search: Reciprocal ranks are monotone, and the other pages' change by one at most."""
    moved = list(one)
    moved[place - 1], moved[place] = moved[place], moved[place - 1]
    before, after = fuse([one, other]), fuse([moved, other])
    assert after[one[place]] > before[one[place]]
    assert after[one[place - 1]] < before[one[place - 1]]
    unmoved = set(one) - {one[place], one[place - 1]} | {"f"}
    assert all(after[page] == before[page] for page in unmoved)


# --- searches -----------------------------------------------------------------


@settings(max_examples=100)  # each makes an index on the disk
@given(_chains, searches(), st.randoms(use_true_random=False))
def test_hits_do_not_depend_on_the_order_of_pages(
    stores: dict[Origin, list[Draft]], asked: Search, random: Random
) -> None:
    """kb-search: Whatever order a store lists its pages in."""
    shuffled = {
        origin: sorted(given, key=lambda _: random.random()) for origin, given in stores.items()
    }
    assert Sample(shuffled).search().search(asked) == Sample(stores).search().search(asked)


@settings(max_examples=100)  # each makes an index on the disk
@given(_chains, searches())
def test_filters_only_take_away(stores: dict[Origin, list[Draft]], asked: Search) -> None:
    """kb-search: Each hit passes all filters, and would be there without them."""
    sample = Sample(stores)
    search = sample.search()
    pages = {page.address: page for page in sample.chain}
    without = {hit.address for hit in search.search(Search(text=asked.text, limit=64))}
    for hit in search.search(asked):
        page = pages[hit.address].page
        assert hit.address in without
        assert asked.tags is None or set(asked.tags) & set(page.tags)
        assert asked.kinds is None or page.kind in asked.kinds
        assert asked.origins is None or hit.address.origin in asked.origins
        assert not (asked.exclude_invalidated and hit.is_invalidated)


@settings(max_examples=100)  # each makes an index on the disk
@given(_chains, searches(), st.integers(0, 64))
def test_a_smaller_limit_gives_the_first_of_the_same_hits(
    stores: dict[Origin, list[Draft]], asked: Search, limit: int
) -> None:
    """kb-search: Ranks count from 1 and scores never rise."""
    search = Sample(stores).search()
    hits = search.search(asked)
    assert search.search(replace(asked, limit=limit)) == hits[:limit]
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@settings(max_examples=100)  # each makes an index on the disk
@given(_chains, searches())
def test_a_handle_of_a_hit_leads_to_its_page(
    stores: dict[Origin, list[Draft]], asked: Search
) -> None:
    """kb-search: To it alone, unless another page of its origin has its id."""
    sample = Sample(stores)
    for hit in sample.search().search(asked):
        found = resolve_handle(sample.chain, hit.handle).candidates
        assert hit.address in [page.address for page in found]
        twins = [page for page in sample.chain if page.address[::2] == hit.address[::2]]
        assert len(found) == len(twins)


@settings(max_examples=100)  # each makes an index on the disk
@given(_chains, _queries, st.integers(0, 300))
def test_a_brief_keeps_its_bound_and_its_text_and_hits_in_step(
    stores: dict[Origin, list[Draft]], query: str, room: int
) -> None:
    """kb-brief: The text is the lines of the hits, and nothing is left out unsaid."""
    asked = Search(text=query)
    search = Sample(stores).search()
    brief = search.brief(asked, max_characters=room)
    hits: tuple[Hit, ...] = search.search(asked)
    assert len(brief.text) <= room
    assert brief.text == "".join(f"{line_of(hit)}\n" for hit in brief.hits)
    assert brief.hits == hits[: len(brief.hits)]
    assert len(brief.hits) + brief.left_out == len(hits)
    if brief.left_out:
        longer = room + len(line_of(hits[len(brief.hits)])) + 1
        assert len(brief_of(hits, max_characters=longer).hits) > len(brief.hits)


# --- what was seen ------------------------------------------------------------


@settings(max_examples=100)  # each makes an index on the disk
@given(_chains)
def test_a_snapshot_has_the_digest_of_its_chain(stores: dict[Origin, list[Draft]]) -> None:
    """retrieval-receipts: So that a receipt and the ledger name the same thing."""
    sample = Sample(stores)
    snapshot = snapshot_of(sample.chain, sample.digest_of)
    assert snapshot.digest == sample.chain.digest
    if snapshot.pages:
        less = Snapshot(run=snapshot.run, pages=snapshot.pages[1:])
        assert less.digest != snapshot.digest
