"""Rewriting: one field is set, added or removed, and every other byte stays."""

from collections.abc import Sequence

import pytest

from counterfoil.core.errors import UnreadableError
from counterfoil.wire.frontmatter_rewrite import FieldValue, rewrite_field

_PAGE = """\
---
# top
id: a # mine
title: "Q" # said
cites: # the list
  - a # one
  - b
# middle
note: |
  x
  y

empty:
nothing: # yet
tags: [a, # z
  b]
shown: {k: v}
---
Body.
---
"""


def _changes(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the lines that went, and the lines that came; all others are in order."""
    old, new = before.splitlines(), after.splitlines()
    start = next(
        (n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b),
        min(len(old), len(new)),
    )
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return old[start : len(old) - end], new[start : len(new) - end]


@pytest.mark.parametrize(
    ("field", "value", "gone", "came"),
    [
        ("id", "b", ["id: a # mine"], ["id: b # mine"]),
        ("id", None, ["id: a # mine"], []),
        ("title", "yes", ['title: "Q" # said'], ['title: "yes" # said']),
        ("title", "007", ['title: "Q" # said'], ['title: "007" # said']),
        ("title", "2024-01-01", ['title: "Q" # said'], ['title: "2024-01-01" # said']),
        ("title", "a: b", ['title: "Q" # said'], ['title: "a: b" # said']),
        ("title", "a\nb", ['title: "Q" # said'], ['title: "a\\nb" # said']),
        ("title", "", ['title: "Q" # said'], ['title: "" # said']),
        ("title", "\u2028\x85\ufeff", ['title: "Q" # said'],
         ['title: "\\u2028\\u0085\\ufeff" # said']),
        ("title", "Über die Größe", ['title: "Q" # said'], ["title: Über die Größe # said"]),
        ("cites", ["x", "here::y", "7"], ["  - a # one", "  - b"],
         ["  - x", "  - here::y", '  - "7"']),
        ("cites", [], ["cites: # the list", "  - a # one", "  - b"], ["cites: [] # the list"]),
        ("cites", "x", ["cites: # the list", "  - a # one", "  - b"], ["cites: x # the list"]),
        ("cites", None, ["cites: # the list", "  - a # one", "  - b"], []),
        ("note", "z", ["note: |", "  x", "  y"], ["note: z"]),
        ("note", None, ["note: |", "  x", "  y"], []),
        ("empty", "v", ["empty:"], ["empty: v"]),
        ("empty", None, ["empty:"], []),
        ("nothing", ["a"], ["nothing: # yet"], ["nothing: [a] # yet"]),
        ("tags", ["q"], ["tags: [a, # z", "  b]"], ["tags: [q]"]),
        ("shown", {"k": "w", "n": 1}, ["shown: {k: v}"], ['shown: {"k": "w", "n": 1}']),
        ("new", ["a", "b c"], [], ["new: [a, b c]"]),
        ("no", "x", [], ['"no": x']),
        ("absent", None, [], []),
    ],
)  # fmt: skip
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("around", [(b"", b""), (b"\xef\xbb\xbf\r\n\n", b"caf\xe9\x00")])
def test_a_field_is_changed_and_no_byte_else(
    field: str,
    value: FieldValue | None,
    gone: list[str],
    came: list[str],
    newline: str,
    around: tuple[bytes, bytes],
) -> None:
    """frontmatter-rewrite: BOM, line ends, comments, order and broken bytes stay."""
    first, last = around
    page = first + _PAGE.replace("\n", newline).encode() + last
    written = rewrite_field(page, field, value)
    assert written.startswith(first)
    assert written.endswith(last)
    end = len(written) - len(last)
    assert written[len(first) : end].count(b"\n") == written.count(newline.encode()) - first.count(
        newline.encode()
    )
    after = written[len(first) : end].decode().replace("\r\n", "\n")
    if field == "title" and value == "\u2028\x85\ufeff":
        assert came[0] in after
    else:
        assert _changes(_PAGE, after) == (gone, came)
    assert rewrite_field(written, field, value) == written


@pytest.mark.parametrize(
    ("page", "field", "value", "written"),
    [
        ("Body\n", "id", "a", "---\nid: a\n---\nBody\n"),
        ("", "cites", ["a"], "---\ncites: [a]\n---\n"),
        ("a\r\nb", "id", "a", "---\r\nid: a\r\n---\r\na\r\nb"),
        ("Body\n", "id", None, "Body\n"),
        ("---\n---\nB", "id", "x", "---\nid: x\n---\nB"),
        ("---\n# c\n---\n", "a", ["z"], "---\n# c\na: [z]\n---\n"),
        ("---\n{id: a, b: [1]}\n---\n", "b", "c", "---\n{id: a, b: c}\n---\n"),
        ("---\n{id: a, b: [1]}\n---\n", "id", None, "---\n{b: [1]}\n---\n"),
        ("---\n{id: a, b: [1]}\n---\n", "b", None, "---\n{id: a}\n---\n"),
        ("---\n{id: a}\n---\n", "id", None, "---\n{}\n---\n"),
        ("---\n{id: a}\n---\n", "k", "m", "---\n{id: a, k: m}\n---\n"),
        ("---\n{id: a,}\n---\n", "k", "m", "---\n{id: a,k: m}\n---\n"),
        ("---\n{}\n---\n", "k", "m", "---\n{k: m}\n---\n"),
        ("---\n{id, b}\n---\n", "id", "m", "---\n{id: m, b}\n---\n"),
        ("---\na: &x [p]\nb: *x\n---\n", "b", "q", "---\na: &x [p]\nb: q\n---\n"),
        ("---\n? a\n: b\nc: d\n---\n", "a", "q", "---\n? a\n: q\nc: d\n---\n"),
        ("---\n a: b\n---\n", "e", "f", "---\n a: b\n e: f\n---\n"),
        ("---\na: !!str 1\n---\n", "a", "2", '---\na: "2"\n---\n'),
        ("---\na: >-\n  x\n\n---\n", "a", "z", "---\na: z\n\n---\n"),
        ("---\na:\n- x\n- y\nb: c\n---\n", "a", ["z"], "---\na:\n- z\nb: c\n---\n"),
        ("---\na:\n  b: c\n---\n", "a", ["z"], "---\na: [z]\n---\n"),
        ("---\na: |+\n  x\n\n---\n", "b", "z", "---\na: |+\n  x\n\nb: z\n---\n"),
        ("---\na: one\n  two\nb: 1\n---\n", "a", "z", "---\na: z\nb: 1\n---\n"),
        ('---\n"a": x\n---\n', "a", "z", '---\n"a": z\n---\n'),
        ("---\na:\n  -\nb: .nan\n---\n", "a", ("p",), "---\na:\n  - p\nb: .nan\n---\n"),
    ],
)
def test_a_field_is_spliced_where_it_stands(
    page: str, field: str, value: str | Sequence[str] | None, written: str
) -> None:
    """frontmatter-rewrite: Blocks and flows, pages without frontmatter, keys of any form."""
    assert rewrite_field(page.encode(), field, value).decode() == written


@pytest.mark.parametrize(
    ("page", "field", "value", "found"),
    [
        ("---\nid: [\n---\n", "id", "a", "the frontmatter cannot be read"),
        ("---\nid: a\n", "id", "b", "the frontmatter is never closed"),
        ("---\na: &x [p]\nb: *x\n---\n", "a", "q", "field 'a' cannot be changed alone"),
        ("---\na: &x [p]\nb: *x\n---\n", "a", None, "field 'a' cannot be changed alone"),
        ("---\na: b\n---\n", "a", "\ud800", "field 'a' cannot be changed alone"),
        ("---\n- &x\n---\n", "a", "b", "the frontmatter cannot be read"),
        ("---\na: [:x]\n---\n", "a", None, "field 'a' cannot be changed alone"),
        ("---\na: [:x]\n---\n", "a", "b", "field 'a' cannot be changed alone"),
    ],
)
def test_what_cannot_be_changed_alone_is_refused(
    page: str, field: str, value: str | None, found: str
) -> None:
    """frontmatter-rewrite: Bad frontmatter, a field that others lean on, no text at all."""
    with pytest.raises(UnreadableError) as raised:
        rewrite_field(page.encode(), field, value)
    assert raised.value.found.startswith(found)
    assert "by hand" in raised.value.diagnosis()
