"""Text made fit to be shown, reasons, and the sentences of caveats."""

import pytest

from counterfoil.core.plain import one_line, plain
from counterfoil.core.reasons import REASONS, reason_text
from counterfoil.core.report import CAVEAT_TEXT, Outcome, Summary


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb\u202ec", "a\\x1b[31mb\\u202ec"),
        ("tab\tline\nend", "tab\tline\nend"),
        ("\r\x00\x7f\x9f", "\\x0d\\x00\\x7f\\x9f"),
        ("\ud800\ufeff", "\\ud800\\ufeff"),
    ],
)
def test_what_steers_is_written_out(text: str, shown: str) -> None:
    """plain-text: Two digits below 256, four above; tab and line feed stay."""
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [("abcdefg", "abcdefg"), ("abcdefgh", "abcdefgh"), ("abcdefghi", "abcdefg…")],
)
def test_a_line_is_cut_at_its_width(text: str, shown: str) -> None:
    """plain-text: One under the width, at it, one over."""
    assert one_line(text, 8) == shown


def test_layout_becomes_single_spaces() -> None:
    """plain-text: Lines and runs of spaces take one space, and none stands before the mark."""
    assert one_line(" a\n\n b\tc ", 8) == "a b c"
    assert one_line("abcdef ghij", 8) == "abcdef…"


@pytest.mark.parametrize("spaces", [1, 30, 31, 32, 500])
def test_no_word_is_lost_without_a_mark(spaces: int) -> None:
    """plain-text: However much white space stands before it, a word is shown or marked as cut."""
    line = one_line(f"a{' ' * spaces}b", 8)
    assert line == "a b" or line.endswith("…")


def test_a_reason_says_itself_or_its_sentence() -> None:
    """reasons: A code without an entry is not lost."""
    assert reason_text("past-end") == REASONS["past-end"].sentence
    assert reason_text("quite-new") == "quite new"


@pytest.mark.parametrize("code", REASONS)
def test_a_reason_says_what_must_not_be_read_into_it(code: str) -> None:
    """reasons: Existence is not support, and silence is no accusation."""
    reason = REASONS[code]
    assert reason.sentence
    assert not reason.sentence.endswith(".")
    assert reason.not_asserted


def test_caveats_have_their_sentences() -> None:
    """reasons: A caveat says what was met, not which rule it is."""
    assert all(text and code == code.lower() for code, text in CAVEAT_TEXT.items())


@pytest.mark.parametrize(
    ("counts", "outcome"),
    [
        ((0, 0, 0, 0), "empty"),
        ((1, 0, 0, 0), "clean"),
        ((0, 0, 0, 1), "clean"),
        ((1, 0, 1, 1), "unproven"),
        ((1, 1, 1, 1), "findings"),
        ((0, 1, 0, 0), "findings"),
    ],
)
def test_an_outcome_is_derived_from_the_counts(
    counts: tuple[int, int, int, int], outcome: Outcome
) -> None:
    """nothing-to-check: Nothing checked is empty, never clean."""
    supported, contradicted, not_established, silenced = counts
    summary = Summary(
        turns=1,
        replies=1,
        calls=0,
        supported=supported,
        contradicted=contradicted,
        not_established=not_established,
        silenced=silenced,
    )
    assert summary.outcome == outcome
    assert summary.checked == sum(counts)
