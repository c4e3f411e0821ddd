"""Entry references where no vector goes, and the bound of what is checked."""

import pytest

from counterfoil.core.intervals import Intervals
from counterfoil.core.refs.cited import CHECKED, GROUPS, CitedEntries, check_entries
from counterfoil.core.refs.entries import EntryReference, find_entry_references


def _items(text: str) -> list[tuple[tuple[int, int], ...]]:
    return [reference.items for reference in find_entry_references(text)]


@pytest.mark.parametrize(("digits", "is_read"), [(99, True), (100, True), (101, False)])
def test_a_number_has_at_most_a_hundred_digits(digits: int, is_read: bool) -> None:  # noqa: FBT001
    """entry-grammar: One under, at it, one over; a longer one is none."""
    number = "9" * digits
    assert _items(f"entry {number}") == ([((int(number),) * 2,)] if is_read else [])


@pytest.mark.parametrize("word", ["characters", "characterss", "é", "лет"])
def test_only_whole_measure_words_make_a_number_none(word: str) -> None:
    """entry-grammar: The longest measure word counts; one letter more is another word."""
    assert _items(f"entry 5 {word}") == ([] if word == "characters" else [((5, 5),)])


def test_letters_that_grow_in_lower_case_move_no_span() -> None:
    """entry-grammar: Case is folded in ASCII alone, so spans stay those of the text."""
    text = "İ ENTRY 7 and Entries 1, 2"
    spans = [text[slice(*reference.span)] for reference in find_entry_references(text)]
    assert spans == ["ENTRY 7", "Entries 1, 2"]


def _check(*items: tuple[int, int], stored: Intervals | None = None) -> CitedEntries:
    return check_entries([EntryReference((0, 1), items)], stored or Intervals([(1, 10**9)]))


@pytest.mark.parametrize(("cited", "unchecked"), [(99, 0), (100, 0), (101, 1)])
@pytest.mark.parametrize("is_range", [True, False])
def test_a_hundred_numbers_are_checked(
    cited: int,
    unchecked: int,
    is_range: bool,  # noqa: FBT001 - a case
) -> None:
    """entry-check: One under, at it, one over; the rest are counted, ranges or not."""
    items = [(1, cited)] if is_range else [(n, n) for n in range(1, cited + 1)]
    found = _check(*items)
    assert (len(found.cited), found.unchecked) == (cited - unchecked, unchecked)
    assert (found.line is None) == (not unchecked)
    if unchecked:
        assert found.line == f"cited: only the first {CHECKED} of {cited} entries were checked"


def test_the_bound_falls_into_a_range_that_was_partly_cited() -> None:
    """entry-check: What was cited before costs nothing, and a range is cut where 100 are full."""
    found = _check((5, 50), (1, 150), (3, 3))
    assert found.cited == (*range(5, 51), *range(1, 5), *range(51, 101))
    assert found.unchecked == 50


def test_a_range_of_any_size_is_counted_and_never_expanded() -> None:
    """entry-check: The count is exact past every machine number."""
    found = _check((1, 10**100), (10**100, 10**100), stored=Intervals())
    assert found.unchecked == 10**100 - CHECKED
    assert found.line == (
        "cited but not in this conversation: entries 1–100 (100)"
        "; only the first 100 cited were checked"
    )


@pytest.mark.parametrize("groups", [GROUPS - 1, GROUPS, GROUPS + 1])
def test_eight_groups_are_named_and_the_rest_counted(groups: int) -> None:
    """cited-line: One under, at it, one over."""
    numbers = [(3 * n, 3 * n) for n in range(1, groups + 1)]
    shown = ", ".join(str(low) for low, _ in numbers[:GROUPS])
    more = ", +1 more" if groups > GROUPS else ""
    assert _check(*numbers, stored=Intervals()).line == (
        f"cited but not in this conversation: entries {shown}{more} ({groups})"
    )
