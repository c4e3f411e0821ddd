"""Searches of a chain: which pages come first, what joins them, and what may not be had."""

from collections.abc import Mapping, Sequence

import pytest

from counterfoil.core.errors import UnavailableError
from counterfoil.core.ids import HERE, SHARED
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.search import MOST_HITS, Search
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.engine import found_by_words
from counterfoil.engine.scanned_texts import ScannedTexts
from counterfoil.engine.search_pages import SEEDS, PageSearch, key_of
from counterfoil.ports.search import Ask, Folded
from search_samples import PARENT, TAKEN_BACK, Sample, chained, draft, here


def _ids(sample: Sample, text: str, **filters: object) -> list[str]:
    hits = sample.search().search(Search(text=text, **filters))  # type: ignore[arg-type]
    return [hit.address.id for hit in hits]


def test_a_page_that_is_called_what_was_asked_for_comes_first() -> None:
    """kb-search: Title or end of path, in the title, in the body, words alone."""
    sample = here(
        draft("words", "cache words, kv words"),
        draft("body", "the kv cache"),
        draft("within", "x", title="On the KV cache"),
        draft("exact", "kv cache " * 9, title="KV Cache!"),
        draft("t/kv-cache", "nothing", title="Else"),
        draft("none", "nothing of it"),
    )
    hits = sample.search().search(Search(text="kv cache"))
    assert [(hit.address.id, hit.reasons) for hit in hits] == [
        ("exact", ("exact",)),
        ("kv-cache", ("exact",)),
        ("within", ("title",)),
        ("body", ("phrase",)),
        ("words", ("words",)),
    ]
    assert _ids(sample, "t/kv-cache.md") == ["kv-cache", "exact", "within", "body", "words"]


def test_pages_of_one_tier_stand_by_their_weight_and_then_in_chain_order() -> None:
    """kb-search: Own pages, ancestors, shared; by path within one."""
    once = "cache and more"
    sample = chained(
        own=[draft("b", once), draft("a", once)],
        parent=[draft("c", "cache cache cache")],
        shared=[draft("d", once)],
    )
    assert _ids(sample, "cache") == ["c", "a", "b", "d"]


def test_pages_joined_to_the_best_are_found_without_the_words() -> None:
    """kb-search: Behind the best ones themselves, the closest first."""
    sample = here(
        draft("seed", "cache", links=["linked"], sources=["s"]),
        draft("linked"),
        draft("citing", cites=["seed"]),
        draft("sharing", sources=["s"]),
        draft("other"),
    )
    hits = sample.search().search(Search(text="cache"))
    assert [(hit.address.id, hit.reasons) for hit in hits] == [
        ("seed", ("phrase",)),
        ("citing", ("citation",)),
        ("linked", ("wikilink",)),
        ("sharing", ("shared-source",)),
    ]
    assert hits[0].score == 2 / 61


def test_only_the_best_five_that_stand_bring_others_in() -> None:
    """kb-search: Neither a sixth page nor one that was taken back vouches for another."""
    bodies = ["cache " * (SEEDS + 2 - n) + "word " * n for n in range(SEEDS + 1)]
    drafts = [draft(f"p{n}", body, links=[f"x{n}"]) for n, body in enumerate(bodies)]
    others = [draft(f"x{n}") for n in range(SEEDS + 1)]
    assert set(_ids(here(*drafts, *others), "cache", limit=64)) == {
        *(f"p{n}" for n in range(SEEDS + 1)),
        *(f"x{n}" for n in range(SEEDS)),
    }
    drafts[0] = draft("p0", bodies[0], links=["x0"], invalidation=TAKEN_BACK)
    found = _ids(here(*drafts, *others), "cache", limit=64)
    assert set(found) == {*(f"p{n}" for n in range(6)), *(f"x{n}" for n in range(1, 6))}
    assert "p0" not in _ids(here(*drafts, *others), "cache", limit=64, exclude_invalidated=True)


def test_filters_take_pages_out_of_both_lists() -> None:
    """kb-search: And leave those in that the best pages of all bring in."""
    sample = chained(
        own=[draft("mine", "cache"), draft("joined", tags=("t",))],
        parent=[draft("theirs", "cache cache", links=["joined"])],
        shared=[draft("ours", "cache", tags=("t",), kind="note")],
    )
    assert _ids(sample, "cache") == ["theirs", "mine", "ours", "joined"]
    assert _ids(sample, "cache", tags=("t",)) == ["ours", "joined"]
    assert _ids(sample, "cache", tags=("t",), kinds=("note",)) == ["ours"]
    assert _ids(sample, "cache", origins=(HERE, SHARED)) == ["mine", "ours", "joined"]
    assert _ids(sample, "cache", origins=(PARENT,)) == ["theirs"]
    for empty in ("tags", "kinds", "origins"):
        assert _ids(sample, "cache", **{empty: ()}) == []


@pytest.mark.parametrize("query", ["", " \t", "…"])
def test_a_query_without_words_finds_nothing(query: str) -> None:
    """kb-search: It is no mistake, and no page answers it."""
    assert _ids(here(draft("a", "b")), query) == []


def test_a_chain_without_pages_answers_with_nothing() -> None:
    """kb-search: There is no fault in it."""
    assert _ids(chained(), "cache") == []


def test_words_of_any_script_are_found() -> None:
    """kb-search: Also where no spaces part them."""
    sample = here(
        draft("ja", "これは東京都の頁です"),
        draft("th", "ภาษาไทย"),
        draft("de", "Die Größe"),
        draft("hi", "हिन्दी भाषा"),
    )
    assert _ids(sample, "東京") == ["ja"]
    assert _ids(sample, "頁") == ["ja"]
    assert _ids(sample, "ไทย") == ["th"]
    assert _ids(sample, "GRÖSSE") == ["de"]
    assert _ids(sample, "भाषा") == ["hi"]


@pytest.mark.parametrize("count", [MOST_HITS - 1, MOST_HITS, MOST_HITS + 1])
def test_a_list_holds_as_many_pages_as_a_search_may_ask_for(count: int) -> None:
    """kb-search: One under, at it, one over; what is left out stands last in the chain."""
    drafts = [draft(f"p{n:03}", "cache") for n in range(count)]
    ids = _ids(here(*drafts), "cache", limit=MOST_HITS)
    assert sorted(ids) == [f"p{n:03}" for n in range(min(count, MOST_HITS))]
    joined = [draft("seed", "cache", links=[f"x{n:03}" for n in range(count)])]
    joined += [draft(f"x{n:03}") for n in range(count)]
    assert len(_ids(here(*joined), "cache", limit=MOST_HITS)) == min(count + 1, MOST_HITS)


def test_a_phrase_of_common_words_is_looked_for_in_the_heaviest_pages_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """kb-search: One word under the bound, and it is looked for in all."""
    heavy = [draft(f"h{n:03}", "kv and cache " * 3) for n in range(MOST_HITS)]
    sample = here(*heavy, draft("z", "kv cache" + " word" * 99))
    asked = Search(text="kv cache", limit=1)
    monkeypatch.setattr(found_by_words, "COMMON", MOST_HITS + 1)
    assert sample.search().search(asked)[0].reasons == ("phrase",)
    monkeypatch.setattr(found_by_words, "COMMON", MOST_HITS)
    assert sample.search().search(asked)[0].reasons == ("words",)
    assert sample.search().search(Search(text="kv", limit=1))[0].reasons == ("phrase",)


class _Reluctant(ScannedTexts):
    """Proposes first what was not asked for, as an index may; and counts how often it is asked."""

    asked = 0

    def proposals(self, ask: Ask, most: int) -> Sequence[str]:
        self.asked += 1
        found = list(super().proposals(ask._replace(tier=0), 10_000))
        return sorted(found, key=lambda key: "  kv  cache " in self.folded([key])[key].body)[:most]


def test_what_was_proposed_wrongly_is_told_from_what_was_asked_for() -> None:
    """kb-search: More is asked for until there is enough of the tier, or no more."""
    drafts = [draft(f"w{n:03}", "cache kv") for n in range(99)]
    drafts += [draft(f"p{n:03}", "a kv cache") for n in range(70)]
    index = _Reluctant()
    hits = here(*drafts).search(index).search(Search(text="kv cache", limit=MOST_HITS))
    assert {hit.reasons for hit in hits} == {("phrase",)}
    assert index.asked > 3


class _Nowhere(ScannedTexts):
    """An index that cannot be had."""

    def hold(self, pages: Mapping[str, VisiblePage], folded: Folded) -> None:
        raise UnavailableError(f"no index for {len(pages)} pages by {folded}")


def test_without_an_index_the_pages_are_looked_through() -> None:
    """kb-search: With the same hits, and the reason said."""
    sample = here(draft("a", "cache"), draft("b", "cache cache"))
    search = sample.search(_Nowhere())
    assert search.unavailable is not None
    assert search.search(Search(text="cache")) == sample.search().search(Search(text="cache"))
    assert sample.search().unavailable is None


def test_only_pages_that_changed_are_read_again() -> None:
    """kb-search: A page is known by where it stands and by its digest."""
    one = here(draft("a", "cache"), draft("b", "cache"))
    two = here(draft("a", "cache"), draft("b", "cache cache"))
    index = ScannedTexts()
    one.search(index)
    two.search(index)
    assert (one.read, two.read) == (["knowledge/a.md", "knowledge/b.md"], ["knowledge/b.md"])
    pages = list(one.chain)
    assert key_of(pages[0], "d") != key_of(pages[1], "d") != key_of(pages[1], "e")


def test_a_hit_says_what_it_is_and_where() -> None:
    """kb-search: Handle, address, title, score, rank, snippet, reasons."""
    sample = chained(
        own=[draft("a", "the cache", title="A", invalidation=TAKEN_BACK)], parent=[draft("a")]
    )
    (hit,) = sample.search().search(Search(text="cache"))
    assert (hit.handle, hit.title, hit.rank, hit.snippet) == ("here::a", "A", 1, "the cache")
    assert (hit.score, hit.millionths, hit.is_invalidated) == (1 / 61, 16393, True)
    assert sample.search().brief(Search(text="cache")).text == "- here::a — A: the cache\n"


class _Asked(ChainSnapshot):
    """Counts how often it is asked who refers to a page."""

    asked = 0

    def naming(self, key: str) -> tuple[VisiblePage, ...]:
        self.asked += 1
        return super().naming(key)


def test_what_refers_to_what_may_be_asked_of_an_index_on_disk() -> None:
    """kb-search: Of any view that shows the same pages, with the same hits."""
    sample = here(draft("a", "cache"), draft("b", cites=["a"]))
    view = _Asked([Store(origin=HERE, pages=tuple(page.page for page in sample.chain))])
    search = PageSearch(
        sample.chain,
        ScannedTexts(),
        body_of=sample.body_of,
        digest_of=sample.digest_of,
        view=view,
    )
    asked = Search(text="cache")
    assert search.search(asked) == sample.search().search(asked)
    assert view.asked
