"""Open cases of other projects, in what concerns the reading of one page."""

from typing import NamedTuple

import pytest

from counterfoil.core.knowledge.names import link_name
from counterfoil.core.knowledge.pages import Page
from counterfoil.wire.pages import locate, read_page


class _Read(NamedTuple):
    page: Page
    fields: dict[str, object]
    body: str
    findings: list[tuple[str, int]]


def _read(text: str, path: str = "knowledge/p.md") -> _Read:
    content = text.encode()
    read = read_page(content, path)
    places = locate(content, [fault.spot for fault in read.page.faults])
    findings = [(fault.code, places[fault.spot].line) for fault in read.page.faults]
    return _Read(read.page, dict(read.fields), read.body, findings)


def _cites(page: Page) -> list[str]:
    return [item.text for item in page.cites]


def test_a_name_composed_or_not_is_one_name() -> None:
    """page-names: C96 a file in NFD, links and citations in NFC."""
    decomposed = "U\u0308bersicht"
    page = _read("text\n", f"knowledge/{decomposed}.md").page
    assert page.id == "übersicht"
    assert link_name(page.title) == link_name("Übersicht")
    assert _read(f"---\nid: {decomposed}\n---\n").page.id == "Übersicht"


def test_what_only_looks_alike_stays_apart() -> None:
    """page-names: C97 NFC, not NFKC: `①` is not `1`, `ﬁle` is not `file`."""
    assert _read("", "knowledge/①.md").page.id != _read("", "knowledge/1.md").page.id
    assert _read("---\nid: ﬁle\n---\n").page.id == "ﬁle"
    assert link_name("²") != link_name("2")


def test_an_unquoted_date_is_as_it_is_written() -> None:
    """frontmatter: C98 an id and citations that other readers make dates of."""
    daily = _read("---\nid: 2024-12-19\n---\n")
    assert daily.page.id == "2024-12-19"
    assert daily.findings == [("coerced-id", 2)]
    other = _read("---\nid: b\ncites: [2024-12-19, 2024-12-20]\n---\n")
    assert _cites(other.page) == ["2024-12-19", "2024-12-20"]
    assert other.findings == []


def test_a_number_sign_takes_no_value_in_silence() -> None:
    """page-fields: C100 `cites: #176` is a comment, `[#a]` is never closed."""
    page = _read("---\nid: p\ncites: #176\n---\n")
    assert page.findings == [("comment-in-field", 3)]
    assert page.page.faults[0].written == "#176"
    unclosed = _read("---\nid: q\ncites: [#a, #b]\n---\n", "knowledge/q.md")
    assert unclosed.findings == [("bad-frontmatter", 3)]
    assert unclosed.page.id == "q"


def test_a_key_written_twice_hides_no_page() -> None:
    """frontmatter: C101 reported at the second; no value is used; the page has its path's id."""
    page = _read("---\nid: p\ncites: [a]\nstatus: x\ncites: [b]\n---\nbody\n")
    assert page.findings == [("bad-frontmatter", 5)]
    assert "the key 'cites' is written twice" in page.page.faults[0].message
    assert (page.page.id, page.fields, page.body) == ("p", {}, "body\n")


def test_a_scalar_is_never_taken_letter_by_letter() -> None:
    """page-fields: C102 one citation, commas and all; tags with commas are not taken."""
    assert _cites(_read("---\ncites: alpha\n---\n").page) == ["alpha"]
    assert _cites(_read("---\ncites: alpha, beta\n---\n").page) == ["alpha, beta"]
    tags = _read("---\ntags: a, b\n---\n")
    assert (tags.page.tags, tags.findings) == ((), [("malformed-field", 2)])


def test_a_list_over_two_lines_and_text_in_a_block_are_what_they_are() -> None:
    """frontmatter: C103 neither ends the frontmatter, neither makes a field."""
    page = _read(
        "---\nid: p\ncites: [one,\n  two]\nnote: |\n  id: fake\n  --- not the end\n---\nbody"
    )
    assert (page.page.id, _cites(page.page), page.body) == ("p", ["one", "two"], "body")
    assert page.fields["note"] == "id: fake\n--- not the end\n"
    assert page.findings == []


def test_empty_items_are_named_and_no_value_is_none() -> None:
    """page-fields: C104 an item without a text is a finding; a field without a value is none."""
    page = _read("---\nid: p\ncites:\n  -\n  - a\n  - ''\n---\n")
    assert _cites(page.page) == ["a"]
    assert page.findings == [("malformed-citation", 4), ("malformed-citation", 6)]
    empty = _read("---\nid: q\ncites:\n---\n")
    assert (_cites(empty.page), empty.findings) == ([], [])


@pytest.mark.parametrize(
    "before", ["\ufeff", "\r\n", "\ufeff\r\n \t\r\n"], ids=["a BOM", "a blank line", "both"]
)
def test_nothing_before_the_block_hides_it(before: str) -> None:
    """frontmatter: C105 a BOM, CRLF, blank lines."""
    page = _read(f"{before}---\r\nid: p\r\ncites: [gone]\r\n---\r\nbody")
    assert (page.page.id, _cites(page.page), page.body) == ("p", ["gone"], "body")


def test_lines_of_hyphens_open_and_close_only_what_they_should() -> None:
    """frontmatter: C106 later in the body, four of them, never closed."""
    page = _read("---\nid: p\n---\ntext\n---\nid: evil\ncites: [x]\n---\n")
    assert (page.page.id, _cites(page.page)) == ("p", [])
    four = _read("----\nhello\n----\nworld", "knowledge/b.md")
    assert (four.page.frontmatter, four.body) == ("none", "----\nhello\n----\nworld")
    unclosed = _read("---\nid: c", "knowledge/c.md")
    assert unclosed.findings == [("bad-frontmatter", 1)]
    assert "never closed" in unclosed.page.faults[0].message


def test_brackets_in_code_and_comments_are_no_links() -> None:
    """wikilinks: C107 a test of the shell, a code span, a comment."""
    body = '```bash\nif [[ -f "$X" && -n "$Y" ]]; then\n```\nand `[[page]]` and <!-- [[hidden]] -->'
    assert [link.target for link in _read(f"{body} and a real [[gone]]").page.links] == ["gone"]


def test_links_are_written_in_many_ways() -> None:
    """wikilinks: C109 tables, sections, blocks, embeds, labels, white space."""
    body = (
        "| A |\n|---|\n| [[page\\|Alias]] |\n\n"
        "[[page#Intro|x]] ![[page]] [[page^b1]] [[#here]] [[page|]] [[ page ]]\n"
    )
    links = _read(body).page.links
    assert [link.target for link in links] == ["page"] * 6
    assert [link.section for link in links] == [None, "Intro", None, "^b1", None, None]
    assert [link.label for link in links] == ["Alias", "x", None, None, None, None]
    assert [link.is_embed for link in links] == [False, False, True, False, False, False]
