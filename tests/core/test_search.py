"""What words are, how pages are weighed, which of them may answer, and how a hit is shown."""

import pytest

from counterfoil.core.ids import HERE, SHARED, PageAddress, PageId
from counterfoil.core.knowledge.brief import Brief, brief_of, line_of
from counterfoil.core.knowledge.ranking import (
    FoldedPage,
    Statistics,
    fuse,
    millionths,
    scale_of,
    stepped,
    tier_of,
)
from counterfoil.core.knowledge.related import MOST_REFERRERS, related_to, sharing_of
from counterfoil.core.knowledge.search import (
    ALL_PAGES,
    LONGEST_QUERY,
    MOST_HITS,
    STANDING_PAGES,
    Hit,
    InvalidSearchError,
    Search,
    Sieve,
    folded_page,
    handle_of,
    marks_of,
    snippet_of,
)
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.core.knowledge.words import count_words, fold, spelled, terms_of, times
from search_samples import PARENT, TAKEN_BACK, chained, draft, here

# --- words --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ()),
        (" \n—“”… ", ()),
        ("The kv_cache, v2.", ("the", "kv", "cache", "v2")),
        ("GRÖSSE Größe ﬁn", ("grösse", "grösse", "fin")),
        ("e\u0301té", ("été",)),
        ("co\u00adoperate", ("cooperate",)),
        ("a\u200bb", ("a", "b")),
        ("हिन्दी भाषा", ("हिन्दी", "भाषा")),
        ("x①y", ("x1y",)),
        ("\ud800x", ("x",)),
        ("東", ("東",)),
        ("東京都", ("東", "東京", "京", "京都", "都")),
        ("「頁」x", ("頁", "x")),
        ("ア" + "ｱ", ("ア", "アア", "ア")),
    ],
)
def test_a_text_is_parted_into_words_of_any_script(text: str, words: tuple[str, ...]) -> None:
    """kb-search: Letter case, form and layout make no difference; scripts without spaces do."""
    assert spelled(text) == words
    assert count_words(fold(text)) == len(words)


def test_a_word_is_folded_alike_whether_it_is_kept_at_hand_or_not() -> None:
    """kb-search: Past 64 bytes a stretch is folded each time."""
    assert spelled("é" * 32) == ("é" * 32,)
    assert spelled("É" * 33) == ("é" * 33,)
    assert spelled("東" * 40)[:3] == ("東", "東東", "東")


def test_a_word_is_counted_as_often_as_it_stands_there_and_not_in_others() -> None:
    """kb-search: Neighbours that are equal count each; a part of a word counts for none."""
    assert times("the", fold("the the then the")) == 3
    assert times("東京", fold("東京東京")) == 2


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("the cache of the THE", ("the", "cache", "of")),
        ("東京都", ("東京", "京都")),
        ("京", ("京",)),
        ("京 東京", ("京", "東京")),
        ("東京 x", ("東京", "x")),
    ],
)
def test_a_query_is_weighed_by_its_words_once_each(query: str, terms: tuple[str, ...]) -> None:
    """kb-search: Of a run without spaces by its pairs, but for a run of one letter."""
    assert terms_of(query) == terms


# --- ranking ------------------------------------------------------------------


def _folded(title: str = "", path: str = "", body: str = "") -> FoldedPage:
    return FoldedPage(fold(title), fold(path), fold(body))


def test_a_title_counts_three_times_a_path_twice_a_body_once() -> None:
    """kb-search: As if the fields were written that often in one text."""
    page = _folded("a b", "a", "a a c")
    assert page.times("a") == 3 + 2 + 2
    assert page.length == 3 * 2 + 2 + 3


@pytest.mark.parametrize(
    ("length", "counted"),
    [(0, 0), (39, 39), (40, 40), (41, 40), (42, 42), (56, 56), (59, 56), (60, 60), (1049, 1048)],
)
def test_a_length_is_exact_to_40_and_then_in_steps(length: int, counted: int) -> None:
    """kb-search: At the bound, one under and one over, and far past it."""
    assert stepped(length) == counted


def test_a_weight_is_bm25_in_millionths() -> None:
    """kb-search: k1 1.2, b 0.75, and a rarity that is never negative."""
    statistics = Statistics(pages=3, words=30, holding={"a": 1, "b": 3})
    assert statistics.rarity("a") == pytest.approx(0.980829253)
    assert statistics.rarity("b") == pytest.approx(0.133531393)
    page = _folded(body="a a b c d e f g h i")
    expected = 0.980829253 * 2.2 * 2 / 3.2 + 0.133531393 * 2.2 / 2.2
    assert millionths(page, scale_of(("a", "b"), statistics)) == round(expected * 1e6)
    assert millionths(_folded(body="x"), scale_of(("a",), statistics)) == 0


def test_pages_without_words_are_weighed_without_a_fault() -> None:
    """kb-search: Nothing is divided by no words."""
    statistics = Statistics(pages=1, words=0, holding={"a": 0})
    assert millionths(_folded(), scale_of(("a",), statistics)) == 0


@pytest.mark.parametrize(
    ("page", "tier"),
    [
        (_folded(title="KV cache"), 3),
        (_folded(path="notes/kv-cache"), 3),
        (_folded(title="On the KV cache"), 2),
        (_folded(body="a kv cache is"), 1),
        (_folded(path="kv-cache/notes", body="cache of kv"), 0),
        (_folded(title="kv caches"), 0),
    ],
)
def test_a_tier_says_what_the_phrase_is_to_a_page(page: FoldedPage, tier: int) -> None:
    """kb-search: The title or the end of the path; in the title; in the body; words."""
    assert tier_of(page, ("kv", "cache"), ("kv", "cache")) == tier
    assert tier_of(_folded(path="a/b"), ("md",), ()) == 0


def test_ranked_lists_are_fused_by_their_ranks() -> None:
    """kb-search: 1 / (60 + rank) of each list that a page is in."""
    assert fuse([["a", "b"], ["b"]]) == {"a": 1 / 61, "b": 1 / 62 + 1 / 61}
    assert fuse([[], []]) == {}


# --- what may answer ----------------------------------------------------------


@pytest.mark.parametrize("limit", [0, 1, MOST_HITS])
def test_a_limit_from_none_to_the_most_is_taken(limit: int) -> None:
    """kb-search: At the bounds and within."""
    assert Search(text="a", limit=limit).limit == limit


@pytest.mark.parametrize("limit", [-1, MOST_HITS + 1, True, 1.0, float("nan"), "3"])
def test_a_limit_that_is_none_is_refused(limit: object) -> None:
    """kb-search: Past the bounds, and what is no whole number."""
    with pytest.raises(InvalidSearchError, match="whole number from 0 to 64"):
        Search(text="a", limit=limit)  # type: ignore[arg-type]


def test_a_query_may_be_so_long_and_no_longer() -> None:
    """kb-search: One under, at the bound, one over."""
    assert Search(text="a" * (LONGEST_QUERY - 1)).words
    assert Search(text="a" * LONGEST_QUERY).words
    with pytest.raises(InvalidSearchError, match="1001 characters"):
        Search(text="a" * (LONGEST_QUERY + 1))


def test_the_path_of_a_query_may_end_in_md() -> None:
    """kb-search: A path is written with `.md` or without."""
    assert Search(text=" topics/kv-cache.md ").path == ("topics", "kv", "cache")
    assert Search(text=" topics/kv-cache.md ").words == ("topics", "kv", "cache", "md")


@pytest.mark.parametrize(
    ("search", "lets"),
    [
        (Search(text="x"), True),
        (Search(text="x", tags=("a", "z")), True),
        (Search(text="x", tags=("z",)), False),
        (Search(text="x", tags=()), False),
        (Search(text="x", kinds=("note",)), True),
        (Search(text="x", kinds=()), False),
        (Search(text="x", origins=(HERE, SHARED)), True),
        (Search(text="x", origins=(SHARED,)), False),
        (Search(text="x", origins=()), False),
        (Search(text="x", tags=("a",), kinds=("claim",)), False),
        (Search(text="x", exclude_invalidated=True), True),
    ],
)
def test_filters_are_joined_by_and_and_an_empty_list_lets_nothing_through(
    search: Search,
    lets: bool,  # noqa: FBT001 - a case
) -> None:
    """kb-search: Any of the tags, and the kind, and the origin."""
    page, _ = draft("p", tags=("a", "b"), kind="note")
    assert search.sieve.lets(marks_of(VisiblePage(HERE, page))) is lets


def test_pages_that_are_taken_back_can_be_left_out() -> None:
    """kb-search: They answer unless asked not to."""
    page, _ = draft("p", invalidation=TAKEN_BACK)
    marks = marks_of(VisiblePage(HERE, page))
    assert ALL_PAGES.lets(marks)
    assert not STANDING_PAGES.lets(marks)
    assert Search(text="x", exclude_invalidated=True).sieve == STANDING_PAGES
    assert Sieve((frozenset({"kind:note"}),)).lets(marks) is False


# --- handles and snippets -----------------------------------------------------


def test_a_handle_is_bare_only_where_one_page_of_all_has_the_id() -> None:
    """kb-search: Else it says the origin; an id that reads as something else always does."""
    sample = chained(
        own=[draft("one"), draft("two"), draft("odd", id=PageId("here::x"))], parent=[draft("two")]
    )
    assert [handle_of(sample.chain, page) for page in sample.chain] == [
        "here::here::x",
        "one",
        "here::two",
        f"{PARENT}::two",
    ]


def test_two_pages_of_one_origin_and_id_have_the_handle_that_there_is() -> None:
    """kb-search: No handle tells them apart, and none is made up that would mean one."""
    sample = here(draft("a", id=PageId("x")), draft("b", id=PageId("x")))
    assert [handle_of(sample.chain, page) for page in sample.chain] == ["here::x", "here::x"]


@pytest.mark.parametrize(
    ("body", "query", "snippet"),
    [
        ("", "x", ""),
        ("one\n\ttwo", "zzz", "one two"),
        ("a" * 200, "zzz", "a" * 180 + "…"),
        ("x " * 100 + "the KV-cache is", "kv cache", "…" + "x " * 38 + "the KV-cache is"),
        ("caches, " * 30 + "a cache", "cache", "…ches, " + "caches, " * 9 + "a cache"),
        ("b\x1b[31m\u202e a", "b", "b\\x1b[31m\\u202e a"),
        ("前の東京都の頁", "東京", "前の東京都の頁"),
        ("see (a", "(a", "see (a"),
    ],
)
def test_a_snippet_is_one_line_around_the_words(body: str, query: str, snippet: str) -> None:
    """kb-search: The phrase first, then a whole word of it, then the beginning; nothing steers."""
    assert snippet_of(body, query) == snippet


def test_a_snippet_finds_a_word_where_the_phrase_is_not() -> None:
    """kb-search: Not in the middle of another word."""
    body = "category " * 40 + "a cat sat"
    assert snippet_of(body, "dog cat").endswith("a cat sat")
    assert snippet_of(body, "the\u0301 zzz").startswith("category")


# --- what is joined -----------------------------------------------------------


def test_what_a_page_refers_to_and_what_refers_to_it_is_joined_to_it() -> None:
    """kb-search: Links, citations, sources; both ways; not what only has its name."""
    sample = chained(
        own=[
            draft(
                "seed",
                links=["out", "out"],
                cites=["out"],
                contradicts=["source"],
                sources=["s1", "s1"],
            ),
            draft("out"),
            draft("in", links=["Seed", "seed", "other"], cites=["here::seed", "::", "nobody"]),
            draft("source", sources=["s1", "s2"]),
            draft("against", contradicts=["seed", "here::seed"]),
            draft("twin", cites=[f"{PARENT}::seed"]),
        ],
        parent=[draft("seed")],
    )
    seed = next(page for page in sample.chain if page.page.id == "seed")
    found = related_to(sample.chain, [seed], sharing_of(sample.chain))
    assert {page.id: (one.halves, one.reasons) for page, one in found.items()} == {
        "out": (6, ("wikilink", "citation")),
        "in": (2, ("citation",)),
        "source": (1, ("shared-source",)),
    }


@pytest.mark.parametrize("count", [MOST_REFERRERS - 1, MOST_REFERRERS, MOST_REFERRERS + 1])
def test_a_page_that_too_many_refer_to_brings_none_of_them_in(count: int) -> None:
    """kb-search: One under, at the bound, one over; by one name or by several."""
    expected = count if count <= MOST_REFERRERS else 0
    for aliases in (("p",), ("p", "q", "r")):
        drafts = [draft("p", aliases=("q", "r"))]
        drafts += [draft(f"x{n}", links=[aliases[n % len(aliases)]]) for n in range(count)]
        sample = here(*drafts)
        seed = next(page for page in sample.chain if page.page.id == "p")
        assert len(related_to(sample.chain, [seed], {})) == expected


# --- briefs -------------------------------------------------------------------


def _hit(rank: int, title: str = "T", snippet: str = "s") -> Hit:
    return Hit(
        handle=f"p{rank}",
        address=PageAddress(HERE, f"knowledge/p{rank}.md", PageId(f"p{rank}")),
        title=title,
        score=1 / (60 + rank),
        rank=rank,
        snippet=snippet,
        reasons=("words",),
    )


def test_a_line_of_a_brief_has_handle_title_and_snippet() -> None:
    """kb-brief: On one line, whatever a title is made of."""
    assert line_of(_hit(1)) == "- p1 — T: s"
    assert line_of(_hit(1, "a\n b\x1b", "")) == "- p1 — a b\\x1b"
    assert _hit(1).millionths == 16393


@pytest.mark.parametrize(("room", "count"), [(0, 0), (11, 0), (12, 1), (23, 1), (24, 2), (99, 2)])
def test_a_brief_holds_what_there_is_room_for(room: int, count: int) -> None:
    """kb-brief: One under, at it, one over; text and hits are of the same pages."""
    hits = (_hit(1), _hit(2))
    brief = brief_of(hits, max_characters=room)
    assert brief == Brief(
        text="".join(f"{line_of(hit)}\n" for hit in hits[:count]),
        hits=hits[:count],
        left_out=2 - count,
    )


def test_a_brief_ends_with_the_first_page_that_does_not_fit() -> None:
    """kb-brief: A shorter page behind it takes no better one's place."""
    brief = brief_of([_hit(1), _hit(2, "long" * 9), _hit(3)], max_characters=30)
    assert [hit.rank for hit in brief.hits] == [1]
    assert brief.left_out == 2


@pytest.mark.parametrize("room", [-1, True, 1.5])
def test_room_that_is_none_is_refused(room: object) -> None:
    """kb-brief: A mistake is one clear line."""
    with pytest.raises(InvalidSearchError, match="whole number from 0"):
        brief_of([], max_characters=room)  # type: ignore[arg-type]


def test_the_words_of_a_page_are_its_title_its_path_and_its_body() -> None:
    """kb-search: The path is below the pages directory, without `.md`."""
    page, body = draft("topics/kv-cache", "Body", title="The Title")
    assert folded_page(page, body) == (" the  title ", " topics  kv  cache ", " body ")
