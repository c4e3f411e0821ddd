"""Pages of whole lines: bounds in bytes, long lines, and nothing lost between pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.core.paging import (
    LinePage,
    cut_line,
    lines_of,
    page_of,
    page_of_lines,
    size_of,
)


def _pages(text: str, limit: int) -> list[LinePage]:
    pages = [page_of(text, 1, limit)]
    while pages[-1].next_line is not None:
        pages.append(page_of(text, pages[-1].next_line, limit))
    return pages


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\r\nb\x0b\x0c\u2028c", ["a\r", "b\x0b\x0c\u2028c"]),
    ],
)
def test_a_line_ends_with_a_line_feed_and_with_nothing_else(text: str, lines: list[str]) -> None:
    """paging: Lines are counted as editors count them."""
    assert lines_of(text) == lines


@pytest.mark.parametrize(
    ("length", "last", "next_line"), [(31, 2, None), (32, 2, None), (33, 1, 2)]
)
def test_a_page_takes_the_lines_that_fit(length: int, last: int, next_line: int | None) -> None:
    """agent-tools: One byte under the bound, at it, one over."""
    page = page_of(f"{'a' * 31}\n{'b' * length}\n", 1, 64)
    assert (page.last, page.next_line, page.is_cut) == (last, next_line, False)
    assert size_of(page.text) <= 64


@pytest.mark.parametrize(("length", "is_cut"), [(99, False), (100, False), (101, True)])
def test_a_line_longer_than_a_page_is_cut_and_says_so(length: int, is_cut: bool) -> None:  # noqa: FBT001 - a parameter of the table
    """agent-tools: One byte under the bound, at it, one over."""
    page = page_of(f"{'a' * length}\nb", 1, 100)
    assert page.is_cut is is_cut
    assert size_of(page.text) <= 100
    assert page.text.endswith("… [cut: a line of 101 bytes]") is is_cut
    assert page.next_line == 2


def test_a_long_line_behind_others_begins_a_page() -> None:
    """agent-tools: Pages are of whole lines, as far as these fit."""
    first, second = _pages(f"a\n{'b' * 200}\nc", 100)[:2]
    assert (first.text, first.next_line) == ("a", 2)
    assert (second.is_cut, second.first, second.last, second.next_line) == (True, 2, 2, 3)


def test_the_last_line_is_cut_and_is_the_last() -> None:
    """agent-tools: A cut line has no other page."""
    page = page_of("é" * 200, 1, 64)
    assert page.is_cut
    assert page.next_line is None


@pytest.mark.parametrize("character", ["a", "é", "→", "😀", "\ud800"])
@pytest.mark.parametrize("limit", range(64, 72))
def test_a_cut_falls_between_two_characters(character: str, limit: int) -> None:
    """agent-tools: Bytes are bounded, characters are whole, lone surrogates too."""
    shown = cut_line(character * 100, limit)
    kept, _, mark = shown.partition("…")
    assert set(kept) == {character}
    assert mark.startswith(" [cut: a line of ")
    assert limit - 4 < size_of(shown) <= limit


@pytest.mark.parametrize(("total", "is_cut"), [(64, False), (65, True), (9_000_000, True)])
def test_the_beginning_of_a_line_is_marked_with_the_size_of_the_whole(
    total: int,
    is_cut: bool,  # noqa: FBT001 - a parameter of the table
) -> None:
    """agent-tools: A line that is only begun is not shown as whole."""
    shown = cut_line("abc", 64, total)
    assert shown == (f"abc… [cut: a line of {total:,} bytes]" if is_cut else "abc")


def test_a_mark_stands_where_there_is_no_room_for_more() -> None:
    """paging: Below the least bound, nothing is shown unmarked."""
    assert cut_line("a" * 50, 3) == "… [cut: a line of 50 bytes]"


@pytest.mark.parametrize(("line", "first"), [(1, 1), (0, 1), (-5, 1), (7, 7)])
def test_a_page_behind_the_end_is_empty(line: int, first: int) -> None:
    """paging: A page of nothing has no lines and no successor."""
    page = page_of("", line, 100)
    assert page == LinePage(text="", first=first, last=first - 1, next_line=None)


def test_no_more_than_one_line_behind_the_page_is_asked_for() -> None:
    """paging: Of a file of any size little is read."""
    lines = iter(["a" * 60, "b" * 60, "c"])
    assert page_of_lines(lines, 5, 64).next_line == 6
    assert list(lines) == ["c"]


@given(
    st.lists(st.text(st.characters(exclude_characters="\n"), max_size=15), max_size=40),
    st.sampled_from(["", "\n"]),
    st.integers(64, 200),
)
def test_pages_put_together_are_the_text(lines: list[str], end: str, limit: int) -> None:
    """paging: With lines shorter than the bound, nothing is lost and nothing is twice."""
    text = "\n".join(lines) + end
    pages = _pages(text, limit)
    assert "\n".join(page.text for page in pages) == text.removesuffix("\n")
    assert all(size_of(page.text) <= limit for page in pages)
    assert [page.first for page in pages[1:]] == [page.last + 1 for page in pages[:-1]]
    assert pages[-1].last == len(lines_of(text))
    assert not any(page.is_cut for page in pages)


@given(st.text(st.characters(), max_size=400), st.integers(64, 100))
def test_no_page_is_over_its_bound(text: str, limit: int) -> None:
    """paging: Whatever the text, lone surrogates and lines of any length."""
    pages = _pages(text, limit)
    assert all(size_of(page.text) <= limit for page in pages)
    assert sum(page.last - page.first + 1 for page in pages) == len(lines_of(text))
