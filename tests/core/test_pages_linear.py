"""Reading a page is linear in its length, whatever stands in it."""

from collections.abc import Callable

import pytest

from counterfoil.wire.pages import locate, read_page

BODIES = {
    "brackets": ("", "[[", ""),
    "closing brackets": ("", "]]", ""),
    "both brackets": ("", "[[]]", ""),
    "open links": ("", "[[a", ""),
    "links": ("", "[[a]]", ""),
    "links beside code": ("`x` ", "[[a]]", ""),
    "links in code": ("`", "[[a]]", "`"),
    "links in math": ("$", "[[a]]", "$"),
    "links of Markdown": ("", "[[a]](", ""),
    "links with code": ("", "[[a]]`", ""),
    "escaped brackets": ("", "\\[[a]]", ""),
    "backslashes": ("[[a", "\\", "]] `"),
    "backticks": ("[[a]]", "`", ""),
    "backticks of growing length": ("[[a]]", "` `` ``` ", ""),
    "dollars": ("[[a]]", "$", ""),
    "dollars apart": ("[[a]]", "$ ", ""),
    "math": ("[[a]]", "$$a$b", ""),
    "comments": ("[[a]]", "<!--", ""),
    "closed comments": ("[[a]]", "<!-- -->", ""),
    "comments in HTML": ("<div>\n[[a]]\n", "<!--\n", ""),
    "tags": ("[[a]]", "<a ", ""),
    "quotations": ("", "> ", "[[a]] `"),
    "lists": ("", "- ", "[[a]] `"),
    "lists in lines": ("[[a]] `", "\n- [[b]]", ""),
    "tables": ("[[a]] `\n\n|a|b|\n|-|-|\n", "|[[c]]|`d`|\n", ""),
    "footnotes": ("", "[^a]", ""),
    "open footnotes": ("", "[^a", ""),
    "definitions": ("[^a]: x\n", "\n[^b]: [^a]\n", ""),
    "silences": ("", "<!-- counterfoil: allow a: b -->", ""),
    "bad silences": ("<!-- counterfoil: allow", " ", "-->"),
    "headings": ("x\n", "# \n", ""),
    "underlines": ("x\n", "=", "x"),
    "hyphens": ("---\n", "--- \n", ""),
    "lines": ("", "\n", "---\n"),
    "blank lines": ("", " \n", "x"),
    "in any script": ("`é`", "é [[ü]] ", ""),
}
BLOCKS = {
    "items": ("cites:\n", "  - a\n", ""),
    "bad items": ("cites:\n", "  - 1\n", ""),
    "a flow list": ("cites: [", "a, ", "]"),
    "commas": ("cites: [", ",", "]"),
    "fields": ("", "a", ": b\n"),
    "a text": ("title: ", "a ", "\n"),
    "a block": ("title: |\n", "  a\n", ""),
    "quotes": ("title: '", "''", "'\n"),
    "open quotes": ("title: ", '"', "\n"),
    "lists in lists": ("cites: ", "[", "\n"),
    "lists in lists, in a line": ("cites:\n  ", "- ", "a\n"),
    "keys in keys": ("", "? ", "a\n"),
    "mappings in mappings": ("cites: ", "{a: ", "\n"),
    "aliases": ("a: &a [b]\nc: [", "*a, ", "]\n"),
    "anchors": ("cites:\n", "  - &a b\n", "x: *a\n"),
    "tags": ("cites:\n", "  - !!str a\n", ""),
    "comments": ("id: a\n", "# b\n", ""),
    "hash signs": ("id: a", " #", "\n"),
    "tabs": ("id: a", "\t", "\n"),
    "tabs in lines": ("id: a\n", " \t\n", "x: !!str b\n"),
    "colons": ("id: a", ":", "\n"),
    "digits": ("id: 1", "0", "\n"),
    "underlined digits": ("id: 1", "_0", "\n"),
}


def _writes(family: tuple[str, str, str], before: str, after: str) -> Callable[[int], str]:
    first, repeated, last = family
    return lambda times: before + first + repeated * times + last + after


def _read(text: str) -> None:
    content = text.encode()
    for _ in range(4):  # so that texts stay so short that no memory is fetched for each anew
        page = read_page(content, "knowledge/a.md").page
        locate(content, [fault.spot for fault in page.faults])


@pytest.mark.parametrize("family", BODIES.values(), ids=BODIES)
def test_bodies_are_read_in_linear_time(
    family: tuple[str, str, str], growth: Callable[..., float]
) -> None:
    """wikilinks: Twice the body costs at most 2.5 times."""
    assert growth(_read, _writes(family, "", "")) <= 2.5


@pytest.mark.parametrize("family", BLOCKS.values(), ids=BLOCKS)
def test_frontmatter_is_read_in_linear_time(
    family: tuple[str, str, str], growth: Callable[..., float]
) -> None:
    """frontmatter: Twice the block costs at most 2.5 times, places of faults included."""
    assert growth(_read, _writes(family, "---\n", "---\nBody.\n")) <= 2.5
