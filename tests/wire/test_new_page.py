"""The text of a page out of its parts."""

import pytest

from counterfoil.core.errors import UnreadableError
from counterfoil.core.ids import LONGEST_PAGE, PageId
from counterfoil.core.knowledge.new_page import NewPage, page_id_of
from counterfoil.wire.new_page import write_page
from counterfoil.wire.pages import read_page


def _page(body: str, *, id_: str = "a", title: str = "A", cites: tuple[str, ...] = ()) -> NewPage:
    return NewPage(id=PageId(id_), title=title, body=body, cites=cites)


@pytest.mark.parametrize("text", ["a", "no", "007", 'x "q" \\ # y', "é 😀", "a: b", "[x]", "- x"])
def test_id_title_and_citations_are_read_back(text: str) -> None:
    """knowledge-tools: Whatever YAML would make of them unquoted."""
    written = write_page(_page("Text.", id_=text, title=text, cites=(text, "shared::b")))
    read = read_page(written.encode(), "knowledge/x.md")
    assert (read.page.id, read.page.title) == (text, text)
    assert [cited.text for cited in read.page.cites] == [text, "shared::b"]
    assert read.body == "Text.\n"
    assert read.page.faults == ()


def test_frontmatter_in_the_body_stays_but_for_what_is_given() -> None:
    """knowledge-tools: A model that writes the whole page loses nothing."""
    written = write_page(_page("---\nid: z\ntags: [q]\ncites: [c]\n---\nB\r\n"))
    assert written == "---\nid: a\ntags: [q]\ncites: [c]\ntitle: A\n---\nB\r\n"


@pytest.mark.parametrize("page", [_page("---\nid: [\n---\n"), _page("x", title="\ud800")])
def test_what_cannot_be_written_is_refused(page: NewPage) -> None:
    """knowledge-tools: Never a page that reads as another one."""
    with pytest.raises(UnreadableError):
        write_page(page)


def test_half_a_character_in_a_body_is_replaced() -> None:
    """knowledge-tools: A page is UTF-8."""
    assert write_page(_page("\ud800")).endswith("---\n?\n")


@pytest.mark.parametrize(
    ("id_", "name"),
    [
        ("Prior result", "prior-result"),
        ("../../etc/passwd", "etc-passwd"),
        ("①", "u2460"),
        ("x" * 200, "x" * 200),
        ("ü" * 101, "ü" * 100),
    ],
)
def test_a_file_is_named_after_the_id(id_: str, name: str) -> None:
    """knowledge-tools: Short enough for a disk, and one segment."""
    assert _page("x", id_=id_).name == name


def test_a_title_makes_an_id() -> None:
    """knowledge-tools: The one that a page of that path would get."""
    assert page_id_of("Slope of the fit!") == "slope-of-the-fit"
    assert len(page_id_of("x" * 1000)) == LONGEST_PAGE
