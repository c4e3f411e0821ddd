"""The handles in a reply, weighed, and the one line about them."""

from collections.abc import Mapping

import pytest

from counterfoil.core.refs.cited_pages import (
    CHECKED,
    NAMED,
    Bracketed,
    CitedPages,
    HandleVerdict,
    check_pages,
    in_brackets,
    is_meant_as_handle,
)
from counterfoil.core.refs.pages import PREFIX, parse_handle

VISIBLE: Mapping[str, HandleVerdict] = {
    "a": "resolved",
    "c#": "resolved",
    "1": "resolved",
    "twice": "ambiguous",
    "here::": "malformed",
}


def _check(*handles: str, asked: list[str] | None = None) -> CitedPages:
    seen = [] if asked is None else asked

    def resolve(handle: str) -> HandleVerdict:
        seen.append(handle)
        return VISIBLE.get(handle, "missing")

    return check_pages((Bracketed(one, one) for one in handles), resolve)


def test_what_resolves_needs_no_line() -> None:
    """cited-pages: Nothing to say where every page is there, or none is named."""
    assert _check() == CitedPages()
    found = _check("a")
    assert (found.checked, found.unknown, found.line) == (("a",), (), None)


def test_one_missing_page_is_named_without_a_count() -> None:
    """cited-pages: The handle as it was written."""
    found = _check("a", "gone")
    assert found.unknown == ("gone",)
    assert found.line == "cited but not visible to this run: gone"


def test_the_line_keeps_the_order_cited() -> None:
    """cited-pages: As receipts.md section 3 shows it."""
    found = _check("shared::calibration", "a", "prior-result")
    assert found.line == (
        "cited but not visible to this run: shared::calibration, prior-result (2)"
    )


def test_ambiguous_and_malformed_handles_are_named_with_the_word() -> None:
    """cited-pages: They do not resolve, and why is told."""
    found = _check("twice", "here::", "gone")
    assert found.unknown == ("twice", "here::", "gone")
    assert (found.missing, found.ambiguous, found.malformed) == (
        ("gone",),
        ("twice",),
        ("here::",),
    )
    assert found.line == (
        "cited but not visible to this run: twice (ambiguous), here:: (malformed), gone (3)"
    )


def test_a_handle_cited_again_is_one() -> None:
    """cited-pages: Distinct handles are checked, each asked for once."""
    asked: list[str] = []
    found = _check("gone", "a", "gone", "a", asked=asked)
    assert found.line == "cited but not visible to this run: gone"
    assert asked == ["gone", "a"]
    cited = [Bracketed("gone", "gone#One"), Bracketed("gone", "gone#Two")]
    assert check_pages(cited, lambda _: "missing").checked == ("gone",)


@pytest.mark.parametrize(
    ("count", "tail"),
    [
        (NAMED - 1, f"p{NAMED - 2} ({NAMED - 1})"),
        (NAMED, f"p{NAMED - 1} ({NAMED})"),
        (NAMED + 1, f"p{NAMED - 1}, +1 more ({NAMED + 1})"),
    ],
)
def test_eight_are_named_and_the_rest_counted(count: int, tail: str) -> None:
    """cited-pages: The count is exact."""
    line = _check(*(f"p{number}" for number in range(count))).line
    assert line is not None
    assert line.endswith(tail)


@pytest.mark.parametrize(("count", "unchecked"), [(99, 0), (100, 0), (101, 1)])
def test_a_hundred_are_checked_and_the_rest_counted(count: int, unchecked: int) -> None:
    """cited-pages: What was not checked is told, and never called missing."""
    handles = ["a", *(f"p{number}" for number in range(count - 1))]
    asked: list[str] = []
    found = _check(*handles, *handles, "[1, 2]", asked=asked)
    assert (len(found.checked), found.unchecked) == (count - unchecked, unchecked)
    assert len(asked) <= CHECKED + 1
    line = found.line or ""
    assert line.endswith("; only the first 100 cited were checked") is bool(unchecked)


def test_nothing_missing_and_some_unchecked_is_said() -> None:
    """cited-pages: As for entries (references.md 1.3)."""
    cited = [Bracketed(f"p{number}", f"p{number}") for number in range(103)]
    found = check_pages(cited, lambda _: "resolved")
    assert found.line == "cited: only the first 100 of 103 pages were checked"


def test_what_cannot_be_checked_accuses_nobody() -> None:
    """cited-pages: Unavailable is told as that."""
    found = CitedPages(fault="no store\x1b at /x")
    assert found.unknown == ()
    assert found.line == "cited pages were not checked: no store\\x1b at /x"


def test_a_handle_is_shown_on_one_line_and_short() -> None:
    """cited-pages: Nothing in it steers a terminal."""
    long = "x" * 300
    found = _check("a\x1bb", long)
    assert found.unknown == ("a\x1bb", long)
    assert found.line is not None
    assert "a\\x1bb" in found.line
    assert len(found.line) < 200


def test_an_id_with_a_number_sign_is_found_whole() -> None:
    """cited-pages: What follows the sign is a section, where no page has it in its id."""
    cited = [Bracketed("c", "c#"), Bracketed("a", "a#Limits"), Bracketed("d", "d#Limits")]
    found = check_pages(cited, lambda handle: VISIBLE.get(handle, "missing"))
    assert found.unknown == ("d",)


@pytest.mark.parametrize(
    "written",
    [
        "1",
        "1, 2, 3",
        "0.5, -1e5, nan",
        "0xff 2j",
        "...",
        "2024-10-04",
        "§ 4",
        "$a == b",
        "$HOME",
        'deprecated("use b")',
        "a = b",
        "x <= y",
        "{id}",
        ":space:",
        ".tilde.",
        "nodiscard",
        "gnu::packed",
        "clang::fallthrough",
        "`x`",
        "a\\b",
    ],
)
def test_what_is_plainly_no_handle_accuses_nobody(written: str) -> None:
    """cited-pages: Prose, code and numbers in double brackets."""
    assert not is_meant_as_handle(Bracketed(written, written))
    assert _check(written, "a") == CitedPages(checked=(("1", "a") if written == "1" else ("a",)))


@pytest.mark.parametrize("written", ["-f x", "alpha"])
def test_white_space_behind_the_brackets_makes_it_doubtful(written: str) -> None:
    """cited-pages: A condition of a shell begins so."""
    spaced = Bracketed(written, written, is_spaced=True)
    assert check_pages([spaced], lambda _: "missing") == CitedPages()
    assert check_pages([spaced], lambda _: "resolved").checked == (written,)
    assert check_pages([spaced, Bracketed("alpha", "alpha")], lambda _: "missing").unknown == (
        "alpha",
    )


@pytest.mark.parametrize(
    "written",
    [
        "prior-result",
        "Über die Größe",
        "目次",
        "results/2024 table.md",
        "tool.mypy.overrides",
        "shared::1",
        "here::$x",
        "here::",
        "inherited:run-7:: ",
        f"{PREFIX}%",
        f"{PREFIX}%5Bnull%2C%221%22%5D",
        "garbage::id",
        "a\x00b",
        "nodiscard-notes",
    ],
)
def test_what_names_a_page_is_a_handle(written: str) -> None:
    """cited-pages: What begins with an origin is one whatever follows."""
    assert is_meant_as_handle(Bracketed(written, written))


def test_doubtful_ones_are_looked_up_a_hundred_times_at_most() -> None:
    """cited-pages: A long table of numbers costs what a short one does."""
    asked: list[str] = []
    found = _check(*map(str, range(2, 5000)), "gone", asked=asked)
    assert found.unknown == ("gone",)
    assert len(asked) == CHECKED + 1


def test_doubtful_ones_behind_the_hundredth_are_not_counted() -> None:
    """cited-pages: They were not cited."""
    cited = [Bracketed(f"p{number}", "") for number in range(CHECKED)]
    found = check_pages([*cited, Bracketed("1, 2", "1, 2")], lambda _: "resolved")
    assert found.unchecked == 0


@pytest.mark.parametrize(
    "handle", ["c#", "a|b", "a[1]", "a^b", "a`b", "a<b", "shared::c#", "a\\", "$x$"]
)
def test_a_handle_in_brackets_reads_back_as_it(handle: str) -> None:
    """cited-pages: What means something there is encoded."""
    inner = in_brackets(handle)[2:-2]
    assert inner.startswith(PREFIX)
    assert parse_handle(inner) == parse_handle(handle)


@pytest.mark.parametrize("handle", ["a", "shared::a b", "here::", f"{PREFIX}%5B"])
def test_a_handle_that_stands_well_in_brackets_stays(handle: str) -> None:
    """cited-pages: And what is none cannot be helped."""
    assert in_brackets(handle) == f"[[{handle}]]"
