"""Reading references of any kind is linear: hostile texts, doubled."""

from collections.abc import Callable

import pytest

from counterfoil.core.refs.entries import find_entry_references
from counterfoil.core.refs.literals import find_literals
from counterfoil.core.refs.needles import flatten
from counterfoil.core.shown import may_write, seen_by_command

# Each family is what stands before, what is repeated, and what stands behind.
TEXTS = {
    "lines-of-one-path": ("a", ":1", ""),
    "anchors-of-one-path": ("a.py", "#L1-L2", ""),
    "places": ("", "src/a.py:12 ", ""),
    "one-long-path": ("", "a/", "b.py:1"),
    "one-long-name": ("", "a", ".py:1"),
    "long-foreign-path": ("", "在", "src/a.py:1"),
    "foreign-letters-between": ("", "在:1", ""),
    "slashes": ("", "/", ""),
    "backslashes": ("", "\\", ":1"),
    "dots": ("", ".", "py:1"),
    "colons": ("", ":", ""),
    "digits": (":", "1", ""),
    "hex-digits": ("commit ", "a1", ""),
    "commits": ("commit ", "deadbee1 ", ""),
    "commits-without-cue": ("", "deadbee1\n", ""),
    "cues": ("", "commit ", ""),
    "quotes": ("", '"', ""),
    "quotes-behind-a-cue": ("", 'says "', ""),
    "quotes-with-spaces": ("", 'says " ', ""),
    "quotes-on-lines": ("", 'It says "\n', ""),
    "quoted-elisions": ("It says ", '"a text that is long enough … "', ""),
    "opening-quotes": ("", "says “", ""),
    "opening-then-closing": ("says “", "“x", "”"),
    "closing-quotes": ("says “", "”", ""),
    "apostrophes": ("", "‘’says ‘", ""),
    "backticks": ("", "`", ""),
    "backticks-behind-a-cue": ("", "says `", ""),
    "backtick-lines": ("", "`\n", ""),
    "fences": ("", "```\n", ""),
    "fences-presented": ("", "The output was:\n```\na line that is long enough\n```\n", ""),
    "fence-with-spaces": ("The output was:\n```\n", " ", "\n```\n"),
    "fence-with-line-ends": ("The output was:\n```\n", "\n", "\n```\n"),
    "fence-with-dots": ("The output was:\n```\n", ".", "\n```\n"),
    "fence-with-elisions": ("The output was:\n```\n", "[...] ", "\n```\n"),
    "fence-without-end": ("The output was:\n```\n", "x\n", ""),
    "fence-info": ("```", "x", "\nx\n```\n"),
    "fence-mark": ("", "~", ""),
    "fence-behind-spaces": ("", " ", "```\n"),
    "fence-behind-quotes": ("", "> ", "```\n"),
    "long-lead": ("", "output ", ":\n```\na line that is long enough\n```\n"),
    "quoted-lines": ("", "> a.py:1\n", ""),
    "lines": ("", "\n", ""),
    "spaces": ("", " ", "a.py:1"),
    "urls": ("Sources:\n", "- https://docs.test/a\n", ""),
    "urls-in-one-line": ("per ", "https://docs.test/a ", ""),
    "one-long-url": ("per http://a/", "a", ""),
    "schemes": ("", "http://", ""),
    "schemes-of-letters": ("", "a://", ""),
    "bare-schemes": ("", "://", ""),
    "url-brackets": ("per http://a", "(", ""),
    "url-closers": ("per http://a", ")", ""),
    "url-squares": ("per http://a", "[]", ""),
    "url-trailing": ("per http://a", ".", ""),
    "url-users": ("per http://", "a@", "localhost"),
    "brackets": ("", "[", ""),
    "links": ("", "[a](b", ""),
    "source-headings": ("", "Sources\n", "http://a/"),
    "source-marks": ("", "*", "sources http://a/"),
    "surrogates": ("", "\ud800", ""),
}
ENTRIES = {
    "nouns": ("", "entry ", ""),
    "nouns-with-wrappers": ("", "entry (", ""),
    "growing-letters": ("İ", "entry 1 ", ""),
    "spaces-behind-a-noun": ("entry", " ", "7"),
    "dashes": ("entries 1", " - ", ""),
    "words-behind": ("entry 1 ", "é", ""),
}
FLAT = {
    "escapes": ("", "\x1b[31m", ""),
    "escape-numbers": ("\x1b[", "1;", ""),
    "escape-titles": ("", "\x1b]", ""),
    "escape-title": ("\x1b]", "a", ""),
    "escape-spaces": ("\x1b", " ", ""),
    "numbered": ("", "1\t", ""),
    "numbered-lines": ("", " 1→x\n", ""),
    "tabs": ("", "\t", "1→"),
    "typographic": ("", "“", ""),
}
COMMANDS = {
    "words": ("cat ", "a ", ""),
    "pipes": ("cat a", "|cat ", ""),
    "single-quotes": ("", "'", ""),
    "double-quotes": ("", '"', ""),
    "escaped-quotes": ('"', '\\"', ""),
    "quotes-in-turn": ("", "'\"", ""),
    "quoted-words": ("", "'a'\"b\"", ""),
    "backslashes": ("", "\\", ""),
    "redirections": ("", ">", ""),
    "operators": ("", "&&", ""),
    "flags": ("ls ", "-i", ""),
    "settings": ("", "A=1 ", "cat a"),
    "wrappers": ("", "uv run ", "cat a"),
    "files": ("sed -n 1p a", "; sed -n 1p a", ""),
    "digits": ("head -n", "1", " a"),
    "spaces": ("cat", " ", "a"),
    "lines": ("", "\n", ""),
}


def _writes(family: tuple[str, str, str]) -> Callable[[int], str]:
    before, repeated, behind = family
    return lambda times: before + repeated * times + behind


@pytest.mark.parametrize("family", TEXTS.values(), ids=TEXTS)
def test_literals_are_read_in_linear_time(
    family: tuple[str, str, str], growth: Callable[..., float]
) -> None:
    """literals-linear: Twice the text costs at most 2.5 times."""
    assert growth(find_literals, _writes(family)) <= 2.5


@pytest.mark.parametrize("family", ENTRIES.values(), ids=ENTRIES)
def test_entries_are_read_in_linear_time(
    family: tuple[str, str, str], growth: Callable[..., float]
) -> None:
    """entry-grammar: Twice the text costs at most 2.5 times."""
    assert growth(lambda text: list(find_entry_references(text)), _writes(family)) <= 2.5


@pytest.mark.parametrize("family", FLAT.values(), ids=FLAT)
def test_texts_are_flattened_in_linear_time(
    family: tuple[str, str, str], growth: Callable[..., float]
) -> None:
    """needles: Twice the text costs at most 2.5 times."""
    assert growth(flatten, _writes(family)) <= 2.5


@pytest.mark.parametrize("family", COMMANDS.values(), ids=COMMANDS)
def test_commands_are_read_in_linear_time(
    family: tuple[str, str, str], growth: Callable[..., float]
) -> None:
    """commands: Twice the command costs at most 2.5 times."""

    def _read(command: str) -> object:
        return may_write(command), seen_by_command(command, "a\nb\n", is_whole=True)

    assert growth(_read, _writes(family), 8000) <= 2.5


@pytest.mark.parametrize("output", ["1:\n", ":", "1", "1-x:"])
def test_outputs_of_commands_are_read_in_linear_time(
    output: str, growth: Callable[..., float]
) -> None:
    """commands: Twice the output costs at most 2.5 times."""

    def _read(text: str) -> object:
        return [
            seen_by_command(command, text, is_whole=True)
            for command in ("grep -n x a.py", "cat a.py", "sed -n 1p a.py; sed -n 2p a.py")
        ]

    assert growth(_read, lambda times: output * times) <= 2.5
