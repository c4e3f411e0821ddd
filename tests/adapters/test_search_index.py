"""The index on disk: the hits that looking through all pages gives, and a cache that mends."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tantivy import Index, Schema, SchemaBuilder

from counterfoil.adapters.search import DiskTextIndex, writing
from counterfoil.adapters.search.faults import BrokenIndexError, faults_of
from counterfoil.adapters.search.fields import schema_of_pages
from counterfoil.core.errors import UnavailableError
from counterfoil.core.ids import HERE
from counterfoil.core.knowledge.search import MOST_HITS, Hit, Search
from counterfoil.engine.scanned_texts import ScannedTexts
from counterfoil.engine.search_pages import PageSearch
from search_samples import TAKEN_BACK, Draft, Sample, chained, draft, here

QUERIES = (
    "cache",
    "kv cache",
    "t/kv-cache.md",
    "größe",
    "東京",
    "頁",
    "zzz",
    "the kv",
    ".md",
    "kv",
)


def _drafts(count: int = 30) -> list[Draft]:
    bodies = ("the kv cache", "cache of größe", "東京都の頁", "kv " * 9, "", "the the the")
    return [
        draft(
            f"t/p{number:03}" if number % 7 else f"t{number}/kv-cache",
            bodies[number % 6] * (1 + number % 5) + " filler" * (number % 11),
            title=("KV cache", "On the cache", f"Page {number}")[number % 3],
            tags=(("x",), ("x", "y"), ())[number % 3],
            kind=(None, "note")[number % 2],
            links=[f"p{(number * 3) % 40:03}"],
            invalidation=TAKEN_BACK if number % 9 == 4 else None,
        )
        for number in range(count)
    ]


def _hits(search: PageSearch, **filters: object) -> dict[str, tuple[Hit, ...]]:
    asked = Search(text="x", limit=MOST_HITS, **filters)  # type: ignore[arg-type]
    return {query: search.search(replace(asked, text=query)) for query in QUERIES}


def _folder(root: Path) -> Path:
    (folder,) = (root / ".counterfoil" / "search").glob("v*")
    return folder


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"tags": ("y", "none")},
        {"kinds": ("note",), "tags": ("x",)},
        {"exclude_invalidated": True},
        {"origins": (HERE,)},
        {"origins": ()},
    ],
)
def test_an_index_gives_the_hits_that_looking_through_all_pages_gives(
    tmp_path: Path, filters: Mapping[str, object]
) -> None:
    """kb-search: The same pages, ranks, scores, snippets and reasons."""
    sample = chained(own=_drafts(), parent=[draft("p001", "kv cache")], shared=_drafts(9))
    search = sample.search(DiskTextIndex(tmp_path))
    assert search.unavailable is None
    assert _hits(search, **filters) == _hits(sample.search(), **filters)


_pool = st.lists(st.sampled_from(["kv", "cache", "the", "東京", "größe"]), max_size=5)
_pages = st.dictionaries(st.sampled_from(["a", "b", "c", "t/kv"]), _pool.map(" ".join), max_size=4)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_pages, min_size=1, max_size=3), st.sampled_from(QUERIES))
def test_an_index_that_was_changed_is_as_good_as_a_new_one(
    tmp_path: Path, states: Sequence[Mapping[str, str]], query: str
) -> None:
    """kb-search: Whatever was in it before, and in whatever order it came."""
    index = DiskTextIndex(tmp_path)
    for pages in states:
        sample = here(*(draft(name, body) for name, body in pages.items()))
        assert sample.search(index).search(Search(text=query)) == sample.search().search(
            Search(text=query)
        )


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    """kb-search: Also by another process, later; and nothing where nothing did."""
    here(*_drafts()).search(DiskTextIndex(tmp_path))
    same = here(*_drafts())
    same.search(DiskTextIndex(tmp_path))
    assert same.read == []
    changed = [*_drafts()[1:], draft("new", "kv cache")]
    changed[5] = draft("t/p006", "another body")
    after = here(*changed)
    index = DiskTextIndex(tmp_path)
    search = after.search(index)
    assert sorted(after.read) == ["knowledge/new.md", "knowledge/t/p006.md"]
    assert _hits(search) == _hits(after.search())


def test_an_index_of_which_much_was_taken_out_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kb-search: One page under the bound it is not; at it neither; one over it is."""
    monkeypatch.setattr(writing, "_LEAST_LAGGING", 5)
    for gone, is_anew in ((4, False), (5, False), (6, True)):
        shutil.rmtree(tmp_path / ".counterfoil", ignore_errors=True)
        here(*_drafts(20)).search(DiskTextIndex(tmp_path))
        left = here(*_drafts(20)[gone:])
        search = left.search(DiskTextIndex(tmp_path))
        assert (len(left.read) == 20 - gone) is is_anew
        assert _hits(search) == _hits(left.search())


def test_of_pages_that_weigh_the_same_the_first_of_the_chain_are_taken(tmp_path: Path) -> None:
    """kb-search: Whatever order they were written in; more than a list takes, and than asked."""
    index = DiskTextIndex(tmp_path)
    drafts = [draft(f"p{number:03}", "cache kv") for number in range(6 * MOST_HITS)]
    here(*drafts[MOST_HITS:]).search(index)
    everything = here(*drafts)
    search = everything.search(index)
    assert _hits(search) == _hits(everything.search())
    found = search.search(Search(text="cache", limit=3))
    assert [hit.address.id for hit in found] == ["p000", "p001", "p002"]


def test_every_chain_of_a_store_has_its_own_index(tmp_path: Path) -> None:
    """kb-search: So that one is not taken apart for another."""
    own, both = here(draft("a", "kv")), chained(own=[draft("a", "kv")], parent=[draft("b", "kv")])
    own.search(DiskTextIndex(tmp_path, "alone"))
    both.search(DiskTextIndex(tmp_path, "run"))
    again = here(draft("a", "kv"))
    again.search(DiskTextIndex(tmp_path, "alone"))
    assert again.read == []


def test_an_index_is_a_cache_that_git_does_not_see(tmp_path: Path) -> None:
    """kb-search: It may be taken away at any time."""
    sample = here(*_drafts())
    before = _hits(sample.search(DiskTextIndex(tmp_path)))
    assert (tmp_path / ".counterfoil" / "search" / ".gitignore").read_text() == "*\n"
    shutil.rmtree(tmp_path / ".counterfoil")
    assert _hits(sample.search(DiskTextIndex(tmp_path))) == before


@pytest.mark.parametrize("damage", ["meta", "empty", "segments", "schema", "file"])
def test_what_is_no_index_is_made_anew(tmp_path: Path, damage: str) -> None:
    """kb-search: Torn, cut, of other fields, or something else altogether."""
    sample = here(*_drafts())
    before = _hits(sample.search(DiskTextIndex(tmp_path)))
    _damage(_folder(tmp_path), damage)
    search = here(*_drafts()).search(DiskTextIndex(tmp_path))
    if damage == "file":  # a file in its place is left to who put it there
        assert search.unavailable is not None
    assert _hits(search) == before


def _damage(folder: Path, damage: str) -> None:
    if damage == "meta":
        (folder / "meta.json").write_text("{")
    elif damage == "empty":
        (folder / "meta.json").write_bytes(b"")
    elif damage == "segments":
        for file in folder.glob("*.*"):
            if file.suffix not in {".json", ".lock"}:
                file.write_bytes(b"\xff" * 50)
    else:
        shutil.rmtree(folder)
        if damage == "schema":
            folder.mkdir()
            Index(_other_schema(), path=str(folder))
        else:
            folder.write_text("mine")


def _other_schema() -> Schema:
    return SchemaBuilder().add_text_field("other").build()


@pytest.mark.parametrize("place", [".counterfoil", ".counterfoil/search"])
def test_an_index_is_written_through_no_link(tmp_path: Path, place: str) -> None:
    """kb-search: A store that was sent decides nowhere else what is written."""
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (root / place).parent.mkdir(parents=True)
    (root / place).symlink_to(elsewhere)
    sample = here(*_drafts(5))
    search = sample.search(DiskTextIndex(root))
    assert "symbolic link" in str(search.unavailable)
    assert _hits(search) == _hits(sample.search())
    assert list(elsewhere.iterdir()) == []


def test_a_store_that_may_not_be_written_is_searched_all_the_same(tmp_path: Path) -> None:
    """kb-search: In memory; the reason is there for who asks."""
    sample = here(*_drafts(5))
    search = sample.search(DiskTextIndex(tmp_path / "not there"))
    assert "no search index" in str(search.unavailable)
    assert _hits(search) == _hits(sample.search())


def test_a_writer_waits_for_another_and_not_for_ever(tmp_path: Path) -> None:
    """kb-search: What is held already can be searched meanwhile."""
    sample = here(*_drafts(5))
    sample.search(DiskTextIndex(tmp_path))
    other = Index(schema_of_pages(), path=str(_folder(tmp_path))).writer(15_000_000, 1)
    try:
        again = sample.search(DiskTextIndex(tmp_path, patience=0))
        assert again.unavailable is None
        changed = here(*_drafts(6))
        search = changed.search(DiskTextIndex(tmp_path, patience=0.4))
        assert "written by another process" in str(search.unavailable)
        assert _hits(search) == _hits(changed.search())
    finally:
        other.wait_merging_threads()
    assert here(*_drafts(6)).search(DiskTextIndex(tmp_path)).unavailable is None


def test_an_index_that_others_keep_changing_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kb-search: After a few tries, with the reason."""
    monkeypatch.setattr(writing, "_held", lambda _: {1})
    search = here(*_drafts(3)).search(DiskTextIndex(tmp_path))
    assert "changed by others" in str(search.unavailable)


def test_what_cannot_be_mended_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kb-search: Made anew once, and not again and again."""

    def _broken(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(writing, "_kept", _broken)
    search = here(*_drafts(3)).search(DiskTextIndex(tmp_path))
    assert "no space left on device" in str(search.unavailable)


def test_an_index_that_holds_nothing_yet_says_so(tmp_path: Path) -> None:
    """kb-search: Asking it is a mistake, and one clear line."""
    with pytest.raises(UnavailableError, match="holds no pages"):
        DiskTextIndex(tmp_path).statistics(["a"])


class PanicException(BaseException):
    """What a panic of tantivy looks like from here."""


def test_a_panic_is_a_fault_and_an_interrupt_is_none(tmp_path: Path) -> None:
    """kb-search: Only faults of tantivy are turned into ours."""
    with pytest.raises(BrokenIndexError, match="x"), faults_of(tmp_path):
        raise PanicException("x\nstack backtrace")
    with pytest.raises(KeyboardInterrupt), faults_of(tmp_path):
        raise KeyboardInterrupt


def test_a_page_of_any_size_and_any_words_is_held(tmp_path: Path) -> None:
    """kb-search: Words that no index takes are no query either."""
    sample = Sample(
        {HERE: [draft("a", "x" * 70_000 + " kv"), draft("b", "\x00\udc80 kv", title="")]}
    )
    index = DiskTextIndex(tmp_path)
    search = sample.search(index)
    assert search.unavailable is None
    assert _hits(search) == _hits(sample.search())
    scanned = ScannedTexts()
    sample.search(scanned)
    assert index.statistics(["kv", "zzz"]) == scanned.statistics(["kv", "zzz"])


@pytest.mark.skipif(os.name == "nt", reason="files of a mapped index stay there on Windows")
def test_an_index_taken_away_under_a_search_goes_on_answering(tmp_path: Path) -> None:
    """kb-search: What it holds is held until the next time."""
    sample = here(*_drafts(5))
    search = sample.search(DiskTextIndex(tmp_path))
    before = _hits(search)
    shutil.rmtree(tmp_path / ".counterfoil")
    assert _hits(search) == before
