"""Blocks of pages in the text of an agent: what is taken, and what is a warning."""

from collections.abc import Callable

import pytest

from counterfoil.core.knowledge.write_blocks import BlockWarning, parse_blocks


def _taken(text: str) -> list[tuple[str, str]]:
    return [(str(block.path), block.text) for block in parse_blocks(text).blocks]


def _codes(text: str) -> list[tuple[str, int, str | None]]:
    return [(warned.code, warned.line, warned.path) for warned in parse_blocks(text).warnings]


def test_a_block_is_what_stands_between_its_delimiters() -> None:
    """write-blocks: The talk around it is none of it, and its lines are kept."""
    text = "I write:\n---FILE: knowledge/a.md---\n# A\n\n---\n---END FILE---\nDone.\n"
    proposal = parse_blocks(text)
    (block,) = proposal.blocks
    assert (block.path, block.text, block.line) == ("knowledge/a.md", "# A\n\n---\n", 2)
    assert text[block.start : block.end] == (
        "---FILE: knowledge/a.md---\n# A\n\n---\n---END FILE---\n"
    )
    assert proposal.warnings == ()


def test_several_blocks_stand_in_their_order() -> None:
    """write-blocks: One text proposes any number of pages, or none."""
    text = (
        "---FILE: knowledge/b.md---\nB\n---END FILE---\n"
        "---FILE: knowledge/a.md---\n---END FILE---\n"
    )
    assert _taken(text) == [("knowledge/b.md", "B\n"), ("knowledge/a.md", "")]
    assert parse_blocks("no page today\n").blocks == ()
    assert parse_blocks("").blocks == ()


@pytest.mark.parametrize(
    ("opener", "closer"),
    [
        ("---FILE:knowledge/a.md---", "---END FILE---"),
        ("---file: knowledge/a.md---", "---end file---"),
        ("---  File :   knowledge/a.md  ---  ", "--- End \t File ---\t"),
        ("---FILE: knowledge/a.md---", "---ENDFILE---"),
        ("\ufeff---FILE: knowledge/a.md---", "---END FILE---"),
    ],
)
def test_letter_case_and_inner_spaces_are_free(opener: str, closer: str) -> None:
    """write-blocks: A delimiter is known by its words on a line of its own."""
    assert _taken(f"{opener}\nx\n{closer}") == [("knowledge/a.md", "x\n")]


@pytest.mark.parametrize(
    "line",
    [
        " ---FILE: knowledge/b.md---",
        "see ---FILE: knowledge/b.md---",
        "---FILE: knowledge/b.md--- now",
        "--FILE: knowledge/b.md--",
        "---FILE knowledge/b.md---",
        "---FILES: knowledge/b.md---",
        "---END FILES---",
        "---END---",
        "---",
        "-----",
        "------",
    ],
)
def test_a_line_that_is_nearly_a_delimiter_is_content(line: str) -> None:
    """write-blocks: Nothing else stands on the line of a delimiter."""
    text = f"---FILE: knowledge/a.md---\n{line}\n---END FILE---\n"
    assert _taken(text) == [("knowledge/a.md", f"{line}\n")]


def test_line_ends_are_kept_as_they_are() -> None:
    """write-blocks: CRLF ends a delimiter like LF, and stays in the page."""
    text = "---FILE: knowledge/a.md---\r\n# A\r\nx\ry\r\n---END FILE---\r\n"
    assert _taken(text) == [("knowledge/a.md", "# A\r\nx\ry\r\n")]


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("```", "```"),
        ("~~~", "~~~"),
        ("   ````markdown", "````` "),
        ("~~~ `info` ~~~", "~~~~"),
    ],
)
def test_delimiters_in_a_fence_are_content(opening: str, closing: str) -> None:
    """write-blocks: A page may show how pages are written."""
    inside = f"{opening}\n---END FILE---\n---FILE: knowledge/x.md---\n{closing}\n"
    text = f"---FILE: knowledge/a.md---\n{inside}---END FILE---\n"
    assert _taken(text) == [("knowledge/a.md", inside)]
    assert parse_blocks(f"So:\n{inside}").blocks == ()
    assert parse_blocks(f"So:\n{inside}").warnings == ()


@pytest.mark.parametrize(
    ("opening", "no_closing"),
    [
        ("```", "~~~"),
        ("````", "```"),
        ("```", "``` python"),
        ("    ```", "```x`"),
        ("``` a`b", "text"),
    ],
)
def test_a_fence_that_nothing_closes_is_none(opening: str, no_closing: str) -> None:
    """write-blocks: An open fence does not swallow the end of its block, nor the next."""
    text = (
        f"---FILE: knowledge/a.md---\n{opening}\n{no_closing}\n---END FILE---\n"
        "---FILE: knowledge/b.md---\nB\n---END FILE---\n"
    )
    assert _taken(text) == [
        ("knowledge/a.md", f"{opening}\n{no_closing}\n"),
        ("knowledge/b.md", "B\n"),
    ]


def test_an_unclosed_block_swallows_nothing() -> None:
    """write-blocks: It is a warning, is not written, and ends where the next begins."""
    text = (
        "---FILE: knowledge/a.md---\nA\n"
        "---FILE: knowledge/b.md---\nB\n---END FILE---\n"
        "---FILE: knowledge/c.md---\nC\n"
    )
    assert _taken(text) == [("knowledge/b.md", "B\n")]
    assert _codes(text) == [
        ("unclosed-block", 1, "knowledge/a.md"),
        ("unclosed-block", 6, "knowledge/c.md"),
    ]


def test_an_end_without_a_beginning_is_a_warning() -> None:
    """write-blocks: Something was meant to be written that is not."""
    text = "---END FILE---\n---FILE: knowledge/a.md---\nA\n---END FILE---\n"
    assert _taken(text) == [("knowledge/a.md", "A\n")]
    assert _codes(text) == [("stray-end", 1, None)]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/etc/a.md", "is absolute"),
        ("C:/a.md", "drive letter"),
        ("knowledge\\a.md", "backslash"),
        ("knowledge/../a.md", "'..'"),
        ("./knowledge/a.md", "'.'"),
        ("knowledge//a.md", "''"),
        ("knowledge/a\x00.md", "control character"),
        ("knowledge/\ud800.md", "surrogate"),
        ("raw/a.md", "not below 'knowledge'"),
        ("knowledge.md", "not below 'knowledge'"),
        ("knowledge/a.txt", "does not end in '.md'"),
        ("knowledge/a.MD", "does not end in '.md'"),
        ("", "''"),
    ],
)
def test_an_unsafe_path_is_a_warning_that_names_it(path: str, said: str) -> None:
    """write-blocks: Nothing is written outside of the pages; the other blocks stand."""
    text = f"---FILE: {path}---\nA\n---END FILE---\n---FILE: knowledge/b.md---\nB\n---END FILE---\n"
    assert _taken(text) == [("knowledge/b.md", "B\n")]
    (warned,) = parse_blocks(text).warnings
    assert (warned.code, warned.line) == ("unsafe-path", 1)
    assert warned.path == path
    assert said in warned.message


def test_pages_stand_in_the_directory_of_the_store() -> None:
    """write-blocks: Another pages directory has other paths."""
    text = "---FILE: notes/a.md---\nA\n---END FILE---\n"
    assert [block.path for block in parse_blocks(text, pages="notes").blocks] == ["notes/a.md"]
    assert _codes(text) == [("unsafe-path", 1, "notes/a.md")]


@pytest.mark.parametrize("second", ["knowledge/a.md", "knowledge/A.md", "knowledge/a\u030a.md"])
def test_a_path_that_is_proposed_twice_is_written_by_neither(second: str) -> None:
    """write-blocks: Which of the two is meant cannot be known, on some disks at least."""
    first = "knowledge/å.md" if "\u030a" in second else "knowledge/a.md"
    text = "".join(
        f"---FILE: {path}---\n{path}\n---END FILE---\n"
        for path in (first, second, "knowledge/c.md")
    )
    assert _taken(text) == [("knowledge/c.md", "knowledge/c.md\n")]
    assert _codes(text) == [("duplicate-path", 1, first), ("duplicate-path", 4, second)]


def test_warnings_stand_by_line() -> None:
    """write-blocks: What went wrong is told in the order of the text."""
    text = "---FILE: /a---\n---END FILE---\n---END FILE---\n---FILE: knowledge/b.md---\n"
    assert [warned[:2] for warned in parse_blocks(text).warnings] == [
        ("unsafe-path", 1),
        ("stray-end", 3),
        ("unclosed-block", 4),
    ]
    assert all(isinstance(warned, BlockWarning) for warned in parse_blocks(text).warnings)


@pytest.mark.parametrize(
    "piece",
    ["---FILE: knowledge/a.md---\n", "```\n", "`" * 3 + " x\n", "~", " ", "---", "-\n", "END FILE"],
)
def test_reading_blocks_is_linear(piece: str, growth: Callable[..., float]) -> None:
    """write-blocks: A hostile text that is twice as long costs about twice as much."""
    assert growth(parse_blocks, lambda times: f"---{piece * times}---") <= 2.5
