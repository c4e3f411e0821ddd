"""Frontmatter: where it stands, YAML 1.2 by two readers, its bounds, places and faults."""

import threading
from collections.abc import Mapping

import pytest
import yaml

from counterfoil.core.knowledge.pages import FieldSpot, TextSpot
from counterfoil.wire import yaml_values
from counterfoil.wire.frontmatter import Frontmatter, find_block
from counterfoil.wire.pages import locate, read_page
from counterfoil.wire.yaml_nodes import LEVELS, UNFOLDED, read_nodes
from counterfoil.wire.yaml_tree import Node, YamlFault, core_value, value_of
from counterfoil.wire.yaml_values import read_yaml


def _page(lines: str) -> bytes:
    return f"---\n{lines}---\nBody.\n".encode()


def _fields(lines: str) -> Mapping[str, object]:
    found = read_yaml(lines)
    assert not isinstance(found, YamlFault), found
    return found


def _fault(lines: str) -> tuple[int, int, str]:
    found = read_yaml(lines)
    assert isinstance(found, YamlFault), found
    return found.line, found.column, found.message


@pytest.mark.parametrize(
    ("text", "body_line", "lines"),
    [
        ("---\nid: a\n---\nB\n", 4, "id: a\n"),
        ("---\r\nid: a\r\n...\r\nB\r\n", 4, "id: a\r\n"),
        ("\n \t\n---\nid: a\n---\nB", 6, "id: a\n"),
        ("---\n---", 2, ""),
        ("---\n---\n", 3, ""),
    ],
)
def test_a_block_stands_between_its_lines(text: str, body_line: int, lines: str) -> None:
    """frontmatter: The lines, and the first line of the body."""
    front = Frontmatter(text)
    assert front.block is not None
    assert (front.state, front.lines, front.block.body_line) == ("read", lines, body_line)


@pytest.mark.parametrize("text", [" ---\nid: a\n---\n", "x\n---\n", "--- \n", "----\n", "", "\n\n"])
def test_no_block_is_opened_by_anything_else(text: str) -> None:
    """frontmatter: White space before or behind the line opens nothing."""
    assert find_block(text) is None


def test_a_block_never_closed_is_named_at_its_opening_line() -> None:
    """frontmatter: The whole text is body, from line 1."""
    read = read_page(b"\n\n---\nid: a\n", "knowledge/a.md")
    assert (read.body, read.body_line) == ("\n\n---\nid: a\n", 1)
    assert [fault.spot for fault in read.page.faults] == [TextSpot(3)]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0o17", 15), ("0x1f", 31), ("-7", -7), ("+7", 7), (".5", 0.5), ("5.", 5.0),
        ("1E-3", 0.001),
        (".inf", float("inf")), ("-.INF", float("-inf")), ("1e400", float("inf")),
        ("0X1f", "0X1f"), ("0O7", "0O7"), ("-0o7", "-0o7"), ("+0x1", "+0x1"), ("0b1", "0b1"),
        ("1_000", "1_000"), ("1__0", "1__0"), ("_1", "_1"), (".iNF", ".iNF"), ("1e", "1e"),
        ("99999999999999999999999", 99999999999999999999999), ("nan", "nan"), ("0x", "0x"),
        ("9" * 3499, int("9" * 3499)), ("9" * 3500, int("9" * 3500)), ("9" * 3501, "9" * 3501),
        ("9" * 4301, "9" * 4301), ("0x" + "f" * 3498, int("f" * 3498, 16)),
        ("0x" + "f" * 3499, "0x" + "f" * 3499), (str(10**18), 10**18),
        (str(10**18 - 1), 10**18 - 1),
    ],
    ids=lambda value: str(value)[:24],
)  # fmt: skip
def test_a_number_is_one_of_the_core_schema(written: str, value: object) -> None:
    """frontmatter: By both readers, whichever decides; too many digits stay text."""
    assert _fields(f"x: {written}\n") == {"x": value}
    assert type(_fields(f"x: {written}\n")["x"]) is type(value)
    assert _fields(f"x: [{written}]\n") == {"x": [value]}


def test_not_a_number_is_read() -> None:
    """frontmatter: In its three spellings alone."""
    assert [repr(core_value(text)) for text in (".nan", ".NaN", ".NAN")] == ["nan"] * 3
    assert core_value(".Nan") == ".Nan"


@pytest.mark.parametrize(
    ("lines", "fields"),
    [
        ("a:\tb\n", {"a": "b"}),
        ("a: b\t\nc: d\n", {"a": "b", "c": "d"}),
        ("a: [b,\n\tc]\n", {"a": ["b", "c"]}),
        ("a: b\n\t\nc: d\n", {"a": "b", "c": "d"}),
        ("a: b\n\t# x\nd: &d e\n", {"a": "b", "d": "e"}),
        ("a: &x b\n \t\nc: *x\n", {"a": "b", "c": "b"}),
        ("a: 'one\n two'\n", {"a": "one two"}),
        ('a: "one\n # two"\n', {"a": "one # two"}),
        ("a: [\n  b\n]\n", {"a": ["b"]}),
        ("a: Hello!\nb: 2 * 3\n", {"a": "Hello!", "b": "2 * 3"}),
        ("a: !!str 1\nb: !!int \"3\"\nc: !!float 1\nd: !!null ''\ne: !!bool 'true'\n",
         {"a": "1", "b": 3, "c": 1.0, "d": None, "e": True}),
        ("a: !!seq [b]\nc: !!map {d: e}\n", {"a": ["b"], "c": {"d": "e"}}),
        ("a: {b: c, d: [e, 1]}\n", {"a": {"b": "c", "d": ["e", 1]}}),
        ("a: {b: ~, c: no, d: true}\n", {"a": {"b": None, "c": "no", "d": True}}),
        ("2024: a\ntrue: b\n~: c\n", {"2024": "a", "true": "b", "~": "c"}),
        ("a: {{ name }}\n", {"a": {"{ name }": None}}),
        ("? [b, c]\n: d\n", {"[b, c]": "d"}),
        ("a: &x [b]\n? *x\n: d\n", {"a": ["b"], "&x [b]": "d"}),
        ("1: a\n01: b\n", {"1": "a", "01": "b"}),
        ("a: \u2028b\x85c\nd: &x e\x7f\u2029\nf: *x\n",
         {"a": "\u2028b\x85c", "d": "e\x7f\u2029", "f": "e\x7f\u2029"}),
        ("a: |\n\n", {"a": ""}), ("a: {b: c}\nd: >\n\n", {"a": {"b": "c"}, "d": ""}),
        ("a:\n  - |\n\n", {"a": [""]}), ("a:\n  b: |\n\n", {"a": {"b": ""}}),
        ("a: |+\n\n", {"a": "\n"}), ('a: "\\n"\n', {"a": "\n"}),
        ("a: b\n# c: !d\n", {"a": "b"}), ("# nothing\n", {}), ("", {}), ("\n\n", {}),
        ("~\n", None), ("a: 007\r\nb: 7\r\n", {"a": 7, "b": 7}),
        ("a: &x b\nc: &x d\ne: *x\n", {"a": "b", "c": "d", "e": "d"}),
        ('a: "\\ud83d\\ude42"\n', {"a": "🙂"}),
    ],
)  # fmt: skip
def test_what_yaml_allows_is_read(lines: str, fields: dict[str, object] | None) -> None:
    """frontmatter: Tabs that indent nothing, known tags, keys of any kind, odd line breaks."""
    if fields is None:
        assert _fault(lines)[2].startswith("a text")
    else:
        assert repr(_fields(lines)) == repr(fields)


@pytest.mark.parametrize(
    ("lines", "line", "column"),
    [
        ("\ta: b\n", 0, 0),
        ("a:\n\t- b\n", 1, 0),
        ("a: b\na: c\n", 1, 0),
        ("a: b\n'a': c\n", 1, 0),
        ("x: {a: b, a: c}\n", 0, 10),
        ("2024: a\n'2024': b\n", 1, 0),
        ("a: b\nc: !x d\n", 1, 3),
        ("a: !!timestamp 2001-01-01\n", 0, 3),
        ("a: !!set {b}\n", 0, 3),
        ("a: !!map [b]\n", 0, 3),
        ("a: ! b\n", 0, 3),
        ("a: !!int b\n", 0, 3),
        ("a: !!bool 1\n", 0, 3),
        ("a: !!null b\n", 0, 3),
        ("a: *b\n", 0, 3),
        ("a: &b [*b]\n", 0, 7),
        ("a: b\n--- c\n", 1, 0),
        ("a: b\n... \nc: d\n", 1, 0),
        ("--- \na: b\n", 0, 0),
        ("a: b\x00c\n", 0, 4),
        ("a: |\n  b\n  c\x1bd\n", 2, 3),
        ("a: *bold* text\n", 0, 8),
        ("a: @b\n", 0, 3),
        ("a: b: c\n", 0, 4),
        ("tags: [a, b\n", 0, 6),
        ("- a\n", 0, 0),
        ("\n\n'text'\n", 2, 0),
    ],
)
def test_what_is_no_yaml_is_named_with_its_place(lines: str, line: int, column: int) -> None:
    """frontmatter: Line and column of the fault; the two readers may differ in the column."""
    assert _fault(lines)[:2] == (line, column)


def test_the_place_of_a_fault_is_in_the_file() -> None:
    """frontmatter: A BOM is no column, the lines before the block are lines."""
    read = read_page("\ufeff\r\n---\r\nid: a\r\nx: !y é\r\n---\r\n".encode(), "knowledge/a.md")
    (fault,) = read.page.faults
    assert (fault.code, fault.spot) == ("bad-frontmatter", TextSpot(4, 4))
    assert "tag '!y' is unknown" in fault.message
    assert "expected YAML 1.2" in fault.message


def _nested(levels: int) -> str:
    return f"a: {'[' * (levels - 1)}{']' * (levels - 1)}\n"


@pytest.mark.parametrize(
    ("levels", "is_read"), [(LEVELS - 1, True), (LEVELS, True), (LEVELS + 1, False)]
)
def test_levels_are_bounded(levels: int, is_read: bool) -> None:  # noqa: FBT001 - a column
    """frontmatter: The mapping of fields is the first level."""
    assert isinstance(read_yaml(_nested(levels)), YamlFault) is not is_read


def test_levels_that_an_alias_brings_are_counted() -> None:
    """frontmatter: Lists in lists by aliases go as deep as written ones."""
    lists = "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, LEVELS - 1))
    assert _fields(f"a0: &a0 []\n{lists}")
    line, _, message = _fault(f"a0: &a0 []\n{lists}z: [*a{LEVELS - 2}]\n")
    assert (line, message) == (LEVELS - 1, f"more than {LEVELS} levels")


def _aliases(nodes: int) -> str:
    return f"a: &a [{', '.join('x' * 99)}]\nb: [{', '.join(['*a'] * (nodes // 100))}]\n" + (
        f"c: &c [{', '.join('y' * (nodes % 100 - 1))}]\nd: *c\n" if nodes % 100 else ""
    )


@pytest.mark.parametrize(
    ("nodes", "is_read"), [(UNFOLDED - 1, True), (UNFOLDED, True), (UNFOLDED + 2, False)]
)
def test_what_aliases_unfold_to_is_bounded(nodes: int, is_read: bool) -> None:  # noqa: FBT001
    """frontmatter: Nodes that aliases stand for, taken together; others are not counted."""
    assert isinstance(read_yaml(_aliases(nodes)), YamlFault) is not is_read


def test_one_node_more_than_the_bound_is_refused_at_its_alias() -> None:
    """frontmatter: The alias at which the count is passed is named."""
    lines = _aliases(UNFOLDED) + "x: &x y\nz: *x\n"
    assert _fault(lines) == (3, 3, "aliases unfold to more than 10,000 nodes")
    assert isinstance(_fields(_aliases(UNFOLDED - 1) + "x: &x y\nz: *x\n"), dict)


@pytest.mark.parametrize(
    "lines",
    [
        "a:\n  " + "- " * 200_000 + "x\n",
        "? " * 200_000 + "x\n",
        "a: " + "[" * 200_000 + "\n",
        "a: " + "{b: " * 200_000 + "\n",
        "a: " + "[? " * 200_000 + "\n",
        "a:\n" + "".join(f"{' ' * level}- b:\n" for level in range(1, 2_000)),
        "a: " + "[[a], " * 200_000 + "\n",
    ],
)
def test_deep_nesting_is_bad_frontmatter_and_ends_nothing(lines: str) -> None:
    """frontmatter: In a thread with a small stack, too, which the fast reader would use up."""
    found: list[object] = []
    old = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(read_yaml(lines)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(old)
    assert isinstance(found[0], YamlFault)


@pytest.mark.parametrize("length", [511, 512, 513])
def test_a_long_block_is_looked_at_before_the_fast_reader_sees_it(length: int) -> None:
    """frontmatter: Under, at and over the bound below which no stack is used up."""
    lines = "a:\n" + "- " * ((length - 5) // 2) + "x" * (1 + (length - 5) % 2) + "\n"
    assert len(lines) == length
    assert yaml_values._needs_care(lines) is (length > 512)
    assert isinstance(read_yaml(lines), YamlFault)


@pytest.mark.parametrize("digits", [1_023, 1_024, 2_047, 3_501])
def test_a_long_number_is_not_for_the_fast_reader(digits: int) -> None:
    """frontmatter: Under, at and over its bound; what it is does not depend on who reads it."""
    lines = f"x: {'1' * digits}\n" + "#" * 600 + "\n"
    assert yaml_values._is_odd(lines) is (digits > 2_046)
    value = _fields(lines)["x"]
    assert value == (int("1" * digits) if digits <= 3_500 else "1" * digits)


def test_indentation_that_is_not_deep_is_read_fast() -> None:
    """frontmatter: A long block of short lines is asked of the fast reader."""
    lines = "a: " + "b " * 300 + "\nc: d\n"
    assert yaml_values._needs_care(lines)
    assert not yaml_values._is_odd(lines)
    assert _fields(lines) == {"a": ("b " * 300).strip(), "c": "d"}


_LOCATED = """\
---
id: "007" # mine
cites:
  - a
  -
  - é: x
sources: [s1, 7, é, 8]
kind:
contradicts: &c
  - p
  - q
tags: *c
---
"""


@pytest.mark.parametrize(
    ("spot", "line", "column"),
    [
        (FieldSpot("id"), 2, 1),
        (FieldSpot("id", 0), 2, 5),
        (FieldSpot("cites"), 3, 1),
        (FieldSpot("cites", 0), 4, 5),
        (FieldSpot("cites", 1), 5, 4),
        (FieldSpot("cites", 2), 6, 5),
        (FieldSpot("cites", 9), 4, 3),
        (FieldSpot("sources", 3), 7, 21),
        (FieldSpot("kind"), 8, 1),
        (FieldSpot("tags"), 12, 1),
        (FieldSpot("tags", 1), 11, 5),
        (FieldSpot("nothing"), 1, 1),
        (FieldSpot("nothing", 2), 1, 1),
        (TextSpot(9, 9), 9, 9),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("before", ["", "\ufeff"])
def test_a_spot_is_found_in_the_file(
    spot: FieldSpot | TextSpot, line: int, column: int, newline: str, before: str
) -> None:
    """frontmatter: A field stands at its key, an item at itself; a column is a code point."""
    content = (before + _LOCATED.replace("\n", newline)).encode()
    assert locate(content, [spot]) == {spot: TextSpot(line, column)}


@pytest.mark.parametrize(
    "content", [b"", b"Body\n", b"---\nid: [\n---\n", b"---\n: a\nid: b\n---\n"]
)
def test_a_field_that_has_no_place_stands_on_the_first_line(content: bytes) -> None:
    """frontmatter: Without frontmatter, in a bad one, where only the fast reader reads."""
    assert locate(content, [FieldSpot("id")]) == {FieldSpot("id"): TextSpot(1)}


def test_written_forms_are_known_where_places_are() -> None:
    """frontmatter: The text of a scalar, the source of anything else, cut where it is long."""
    front = Frontmatter(_page("a: 007\nb: [1, x]\nd: &d 0x1F\nc: *d\n").decode())
    assert [front.written(name) for name in "abc"] == ["007", "[1, x]", "0x1F"]
    assert front.written("b", 0) == "1"
    assert front.written("absent") == ""
    assert len(Frontmatter(_page(f"a: [{'x, ' * 400}]\n").decode()).written("a")) == 200


def test_without_places_a_value_is_written_as_it_is_said() -> None:
    """frontmatter: What the careful reader cannot read has no places; it is still a value."""
    front = Frontmatter(_page("a: [:x]\nid: 2024-01-01\n").decode())
    assert isinstance(read_nodes(front.lines), YamlFault)
    assert front.written("id") == "2024-01-01"
    assert not front.is_plain("id")
    assert front.comment("id") == ""


@pytest.mark.parametrize(
    ("lines", "is_plain"),
    [("a: b\n", True), ("a: 'b'\n", False), ("a: |\n  b\n", False), ("a: !!str b\n", False),
     ("a: &x b\n", True), ("x: &x b\na: *x\n", True), ("a: [b]\n", False)],
)  # fmt: skip
def test_a_scalar_is_plain_without_quotes_and_tag(lines: str, is_plain: bool) -> None:  # noqa: FBT001
    """frontmatter: An anchor or an alias does not change it."""
    assert Frontmatter(_page(lines).decode()).is_plain("a") is is_plain


def test_the_careful_reader_names_a_control_character() -> None:
    """frontmatter: Asked on its own, it refuses as a value as well."""
    assert isinstance(read_nodes("a: \x07"), YamlFault)
    assert read_nodes("a: b\n--- c\n") == YamlFault(1, 0, "a second document begins")
    assert read_nodes("# nothing") is None


def test_a_line_of_white_space_with_a_tab_does_no_harm() -> None:
    """frontmatter: Where the careful reader decides, it is taken for spaces."""
    assert _fields("a: &x b\n \t# c\n\t\r\nd: *x\n") == {"a": "b", "d": "b"}


def test_both_builds_of_the_careful_parser_read_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """frontmatter: With or without the library of C behind it."""
    lines = "id: 007 # x\ncites:\n  - a\n  -\n  - {é: [1, 'b']}\nnote: |\n  x\nx: &a 1\ny: *a\n"
    first = read_nodes(lines)
    monkeypatch.setattr("counterfoil.wire.yaml_nodes._LOADER", yaml.SafeLoader)
    second = read_nodes(lines)
    assert isinstance(first, Node)
    assert isinstance(second, Node)
    assert value_of(first) == value_of(second)
    assert [(node.start, node.line, node.column) for node in first.items] == [
        (node.start, node.line, node.column) for node in second.items
    ]


def test_bytes_that_are_not_utf8_are_named_at_the_first() -> None:
    """frontmatter: Line and column in the file, the BOM being none, and the byte."""
    (fault,) = read_page("\ufeffé\n".encode() + b"\xc3\xa9\xffx\xfe", "knowledge/a.md").page.faults
    assert (fault.code, fault.spot, fault.written) == ("not-utf8", TextSpot(2, 2), "\\xff")
    (first,) = read_page(b"\xef\xbb\xbf\xff", "knowledge/a.md").page.faults
    assert first.spot == TextSpot(1, 1)
