"""The laws of pages: two readers of YAML, two of Markdown, and bytes that stay.

Blocks are drawn out of a grammar of frontmatter as people write it, bodies out of pieces
of Markdown; the runners-up of the parsers in use are the oracles.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml12
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from counterfoil.core.errors import UnreadableError
from counterfoil.core.knowledge.pages import FieldSpot, TextSpot
from counterfoil.wire import page_body
from counterfoil.wire.frontmatter import Frontmatter
from counterfoil.wire.frontmatter_rewrite import FieldValue, rewrite_field
from counterfoil.wire.markdown_spans import find_spans
from counterfoil.wire.page_body import find_references, read_body
from counterfoil.wire.pages import locate, read_page
from counterfoil.wire.yaml_nodes import read_nodes
from counterfoil.wire.yaml_tree import Node, YamlFault, value_of
from counterfoil.wire.yaml_values import read_yaml

_NAMES = ["id", "title", "cites", "contradicts", "sources", "tags", "kind", "rung", "expect"]
_NAMES += ["status", "note", "Über", "'quoted'", '"also"', "a b", "2024"]
_SCALARS = ["a", "here::b", "007", "7", "1e3", "1_000", "0x1F", "0b1", "0.9130", "-0", "no", "Yes"]
_SCALARS += ["true", "FALSE", "~", "null", "", "2024-05-01", "12:30", "a, b", "a b", "C#", "a # b"]
_USUAL = tuple(_SCALARS)
_SCALARS += ["#x", "'it''s'", '"a\\tb"', '"42"', "é", "https://x.org/a?b=c#d", "&x a", "*x", "!x a"]
_SCALARS += ["!!str 1", "a: b", "[", "]", "{{ x }}", "[[a]]", "@a", "`a`", "%a", "- a", "? a", "🙂"]
_SCALARS += ["'a\n b'", '"a\n  # b"', "a\n  b", "> a", "*a* b", "Hello!", "a\t", "\u2028", "a\x85b"]

_usual = st.sampled_from(_USUAL)
_scalars = st.one_of(_usual, _usual, _usual, _usual, st.sampled_from(_SCALARS))
_flow_scalars = st.sampled_from(
    ["a", "b c", "7", "'q, r'", "~", "", "*x", "no", "1.5", "{a: 1}", "[b]"]
)
_blocks = st.builds(
    lambda mark, lines: f" {mark}\n" + "".join(f"  {line}\n" for line in lines),
    st.sampled_from(["|", ">", "|-", ">+", "|2", "| # c"]),
    st.lists(st.sampled_from(["a", "id: fake", "---", "", "# x", "  b"]), max_size=3),
)
_lists = st.builds(
    lambda indent, items: "\n" + "".join(f"{indent}- {item}\n" for item in items),
    st.sampled_from(["", "  ", "    "]),
    st.lists(_scalars, min_size=1, max_size=3),
)
_flows = st.builds(
    lambda items, end: f" [{', '.join(items)}{end}]\n",
    st.lists(_flow_scalars, max_size=3),
    st.sampled_from(["", ",", "\n  ", " # c\n"]),
)
_mappings = st.builds(
    lambda key, value: f"\n  {key}: {value}\n  z: 1\n", st.sampled_from(["a", "b", "z"]), _scalars
)
_values = st.one_of(_scalars.map(" {}\n".format), _lists, _flows, _blocks, _mappings)
_fields = st.builds("{}:{}".format, st.sampled_from(_NAMES), _values)
_others = st.sampled_from(
    ["# comment\n", "\n", " \t\n", "x\n", "\tid: a\n", "- a\n", "%x\n", "--- \n"]
)
_lines = st.lists(st.one_of(_fields, _fields, _fields, _others), max_size=6).map("".join)

_any_text = st.text(st.characters(exclude_categories=()), max_size=40)


def _plain(value: object) -> object:
    """Return what the oracle says, where its keys are texts; it says the rest otherwise."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ValueError(value)
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, yaml12.Yaml):
        raise ValueError(value)  # noqa: TRY004 - as it does where it cannot read
    return value


@given(_lines)
def test_the_two_readers_of_yaml_say_the_same(lines: str) -> None:
    """frontmatter: What the fast reader is believed, the careful one says as well."""
    found, tree = read_yaml(lines), read_nodes(lines)
    if isinstance(tree, Node) and not isinstance(found, YamlFault):
        assert repr(found) == repr(value_of(tree)) or _TAB_IN_BLOCK.search(lines)


@given(_lines)
def test_another_reader_of_yaml_says_the_same(lines: str) -> None:
    """frontmatter: The runner-up, where it says anything; it keeps the last of two keys."""
    found = read_yaml(lines)
    if isinstance(found, YamlFault):
        return
    try:
        other = _plain(yaml12.parse_yaml(lines))
    except ValueError:
        return
    if other is not None and not any(odd.search(lines) for odd in _READ_OTHERWISE):
        assert repr(found) == repr(other)


_TAB_IN_BLOCK = re.compile(r"[|>][-+2]?(?: # c)?\n(?:  .*\n|\n)* +\t")
_EMPTY_BLOCK_LAST = re.compile(r"[|>][-+2]?(?: # c)?\s*\Z")
_TAKEN_FOR_SPACE = re.compile("[\u2028\x85]")
_READ_OTHERWISE = (_TAB_IN_BLOCK, _EMPTY_BLOCK_LAST, _TAKEN_FOR_SPACE)
"""White space with a tab as a line of a block; a block without lines; odd line breaks."""


@given(_lines, st.sampled_from(["---", "..."]), st.sampled_from(["", "# T\n\n[[a]] `x`\n"]))
def test_line_ends_and_a_bom_change_nothing(lines: str, end: str, body: str) -> None:
    """frontmatter: A page with CRLF, or a BOM before it, is the same page."""
    page = f"---\n{lines}{end}\n{body}"
    first = read_page(page.encode(), "knowledge/a.md").page
    for other in (page.replace("\n", "\r\n"), f"\ufeff{page}"):
        assert read_page(other.encode(), "knowledge/a.md").page == first


@example(b"\xef\xbb\xbf---\n---\n")
@given(
    st.one_of(st.binary(max_size=60), _any_text.map(lambda text: text.encode("utf-8", "replace")))
)
def test_any_bytes_are_a_page(data: bytes) -> None:
    """frontmatter: Nothing is raised, and every fault has a place in the file."""
    for content in (data, b"---\n" + data + b"\n---\n", b"---\nid: " + data + b"\n---\n" + data):
        read = read_page(content, "knowledge/x.md")
        places = locate(content, [fault.spot for fault in read.page.faults])
        assert all(1 <= spot.line <= content.count(b"\n") + 1 for spot in places.values())
        assert all(spot.column >= 1 for spot in places.values())


@given(_lines)
def test_a_field_stands_where_its_key_is_written(lines: str) -> None:
    """frontmatter: Places are those of the file, whatever stands about them."""
    content = f"\n---\n{lines}---\n".encode()
    rows = content.decode().split("\n")
    front = Frontmatter(content.decode())
    for field in front.pairs():
        spot = locate(content, [FieldSpot(field)])[FieldSpot(field)]
        at = rows[spot.line - 1][spot.column - 1 :]
        assert at.lstrip("'\"?{&x ").startswith(field.split("\n")[0][:1])


_new_values = st.one_of(
    st.none(),
    st.sampled_from(["a", "no", "7", "a: b", "", " x", "é\n", "2024-01-01", "\u2028", "[a]"]),
    st.lists(st.sampled_from(["a", "here::b", "", "- x", "true"]), max_size=3),
    st.dictionaries(st.sampled_from(["a", "b: c"]), st.sampled_from(["x", "#y"]), max_size=2),
)


@given(_lines, st.sampled_from([*_NAMES[:9], "new"]), _new_values, st.binary(max_size=6))
def test_a_rewrite_changes_one_field(
    lines: str, field: str, value: FieldValue | None, body: bytes
) -> None:
    """frontmatter-rewrite: All other fields, and the bytes of the body, are as they were."""
    page = f"---\n{lines}---\n".encode() + body
    try:
        written = rewrite_field(page, field, value)
    except UnreadableError:
        return
    before, after = read_page(page, "knowledge/a.md"), read_page(written, "knowledge/a.md")
    others = {key: item for key, item in before.fields.items() if key != field}
    assert repr({key: item for key, item in after.fields.items() if key != field}) == repr(others)
    assert after.fields.get(field) == value
    assert after.body == before.body
    assert written.endswith(body)
    assert [line for line in written.split(b"\n") if line.startswith(b"# comment")] == [
        line for line in page.split(b"\n") if line.startswith(b"# comment")
    ]


_PIECES = ["[[", "]]", "[[a]]", "![[b]]", "\\", "`", "``", "```", "```\n", "~~~\n", "\n", "\n\n"]
_PIECES += [
    "    ",
    "\t",
    "- ",
    "> ",
    "1. ",
    "# ",
    "<!--",
    "-->",
    "<div>",
    "</div>",
    "<b>",
    "$",
    "$$",
]
_PIECES += [
    "|",
    "|---|\n",
    "\\|",
    "(x)",
    "](y)",
    "[x]: /u\n",
    "*",
    "**",
    "é",
    "🙂",
    "a",
    " ",
    "===\n",
]
_PIECES += ["[^s]", "[^s]: ", "[c]", "<http://x.y/", ">", "!", "![", "\r\n", "c|d", "#h"]
_bodies = st.lists(st.sampled_from(_PIECES), max_size=14).map("".join)


@example("![`[[a]]`](x)")
@example('[`[[a]]`](x "[[b]]")')
@given(_bodies)
def test_the_quick_ways_find_what_the_whole_parse_finds(body: str) -> None:
    """wikilinks: Where no parse is needed, none would have changed anything."""
    links = page_body._brackets(body, 1)
    notes = list(page_body._notes(body))
    whole = page_body._Text(body, find_spans(body), 1).references(links, notes)
    assert find_references(body) == whole


@given(_bodies)
def test_links_stand_where_they_are_said_to_stand(body: str) -> None:
    """wikilinks: Line and column are those of the first character."""
    lines = body.split("\n")
    for link in read_body(body).links:
        at = lines[link.line - 1][link.column - 1 :]
        assert at.startswith("![[" if link.is_embed else "[[")


_MARKED = ["[[@]]", "![[@]]", "`[[@]]`", "`", "``", "```\n", "~~~\n", "\n", "\n\n", "    ", "- "]
_MARKED += [
    "> ",
    "# ",
    "<!-- ",
    " -->",
    "<div>\n",
    "</div>\n",
    "text ",
    "é ",
    "**",
    "\\`",
    "1. ",
    "\t",
]
_MARKED += ["| a | b |\n|---|---|\n", "| ", " |\n", "***\n", "===\n"]
_marked = st.lists(st.sampled_from(_MARKED), max_size=14).map("".join)
_ORACLE = MarkdownIt("commonmark").enable("table")


def _contents(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in {"text", "html_block", "html_inline"}:
            yield re.sub(r"<!--.*?-->", "", token.content, flags=re.DOTALL)
        yield from _contents(token.children or [])


@given(_marked)
def test_another_parser_of_markdown_finds_the_same_links(pieces: str) -> None:
    """wikilinks: Each link has a name of its own; the runner-up says which are text."""
    parts = pieces.split("@")
    body = "".join(f"{part}n{number}" for number, part in enumerate(parts[:-1])) + parts[-1]
    text = "\n".join(_contents(_ORACLE.parse(body)))
    expected = re.findall(r"\[\[(n\d+)\]\]", text)
    found = [link.target for link in read_body(body).links]
    assert found == expected or _is_beside_a_table(pieces)


def _is_beside_a_table(pieces: str) -> bool:
    """Say whether cells or code stand where each parser has its own view of a table's end."""
    if "---|" not in pieces:
        return False
    bars = max(line.strip("| ").count("|") for line in pieces.split("\n"))
    return "\t" in pieces or "    " in pieces or bars > 1


def test_the_oracles_are_no_straw_men() -> None:
    """wikilinks: They see the cases that the laws are about."""
    found: Any = yaml12.parse_yaml("a: no\nb: 007\nc: 1_000\n")
    assert found == {"a": "no", "b": 7, "c": "1_000"}
    shown = "".join(_contents(_ORACLE.parse("[[a]] `[[b]]`\n\n    [[c]]\n\n<!-- [[d]] -->\n")))
    assert shown.strip() == "[[a]]"
    assert locate(b"", [TextSpot(2)]) == {TextSpot(2): TextSpot(2)}
