"""The body of a page: links, footnotes, headings, silences, and what hides them."""

import pytest

from counterfoil.core.knowledge.pages import Footnote, Link, Silence, TextSpot
from counterfoil.wire.math_spans import Cover, find_math
from counterfoil.wire.page_body import find_heading, find_references, read_body
from counterfoil.wire.pages import read_page


def _used(source: str, anchor: str | None, line: int, column: int) -> Footnote:
    return Footnote(source, anchor, is_defined=False, line=line, column=column)


def _defined(source: str, anchor: str | None, line: int, column: int) -> Footnote:
    return Footnote(source, anchor, is_defined=True, line=line, column=column)


def _targets(body: str) -> list[str]:
    return [link.target for link in read_body(body).links]


@pytest.mark.parametrize(
    ("written", "target", "section", "label"),
    [
        ("[[a^b1]]", "a", "^b1", None),
        ("[[a#^b1|l]]", "a", "^b1", "l"),
        ("[[a#b^c]]", "a", "b^c", None),
        ("[[a# b |  l ]]", "a", "b", "l"),
        ("[[a\\|l]]", "a", None, "l"),
        ("[[a#b\\|l]]", "a", "b", "l"),
        ("[[a^b\\|l]]", "a", "^b", "l"),
        ("[[a|l\\|m]]", "a", None, "l\\|m"),
        ("[[a\\b]]", "a\\b", None, None),
        ("[[topics/a.md]]", "topics/a.md", None, None),
        ("[[a|<b>]]", "a", None, "<b>"),
        ("[[a|]]", "a", None, None),
        ("[[a# | ]]", "a", None, None),
    ],
)
def test_a_link_is_taken_apart(
    written: str, target: str, section: str | None, label: str | None
) -> None:
    """wikilinks: Blocks are sections; an escaped pipe is the pipe; white space is of none."""
    assert read_body(f"é {written}").links == (Link(target, 1, 3, section, label),)


@pytest.mark.parametrize(
    "body",
    [
        "[[^x]]", "[[ |x]]", "[[]]", "[[#]]", "\\[[a]]", "[[a\\]]", "[[a]", "[[a\\]]]", "[[a\r]]",
        "[[ # ]]", "[[\\|x]]", "[[a]b]]", "]][[", "[[`a`|b]]", "![[`a`]]", "[[a]](<b c>)",
    ],
)  # fmt: skip
def test_what_names_no_page_is_no_link(body: str) -> None:
    """wikilinks: Escapes, breaks, brackets, code as target, nothing as target."""
    assert _targets(body) == []


@pytest.mark.parametrize(
    ("body", "targets"),
    [
        ("[[a]](see below) [[b]](", ["a", "b"]),
        ("\\\\[[a]] \\![[b]] \\\\![[c]]", ["a", "b", "c"]),
        ("\\[[[a]]", ["a"]),
        ("`x` [[a]] [[b|`c`]]", ["a", "b"]),
        ("[x]: /url\n\n[[x]] `y`", ["x"]),
        ("<http://a.b/[[a]]> <i title='[[b]]'>", ["a", "b"]),
        ("<div>\n[[a]] <!-- [[b]] --> <!-- [[c]]\n\n[[d]]", ["a", "c", "d"]),
        ("<!-- [[a]]\n[[b]]", ["a", "b"]),
        ("> <!-- [[a]]\n> [[b]] -->\n> [[c]]", ["c"]),
        ("a <!--> [[b]] -->", ["b"]),
        ("a <!-- [[b]]\n\n--> [[c]]", ["b", "c"]),
        ("| ` | [[a]] | ` |\n|---|---|---|\n| `[[b]]` | [[c|d]] |", ["a", "c"]),
        ("- `a\n\n      [[b]]\n\n  [[c]]`", ["c"]),
        ("[^1]: a\n\n    [[b]]\n\n    ```\n    [[c]]\n    ```\n", ["b"]),
        ("\t[[a]]\n\n\ttext", []),
        ("~~~ x\n[[a]]\n~~~~\n[[b]]", ["b"]),
        ("é `[[a]]` ü [[b]] <!-- ö [[c]] --> $x$ [[d]]", ["b", "d"]),
        ("```[[a]]\n```\n[[b]]", ["b"]),
        ('[x [[a]] y](z) [x](y "[[b]]") `c`', ["a", "b"]),
    ],
)
def test_links_are_read_where_there_is_text(body: str, targets: list[str]) -> None:
    """wikilinks: As CommonMark has it, with tables and footnotes, in any script."""
    assert _targets(body) == targets


@pytest.mark.parametrize(
    ("body", "targets"),
    [
        ("$a$ [[b]] $c$", ["b"]),
        ("$a *b **c** [[d]]* e$ ~~[[f]]~~", ["f"]),
        ("$[[a]]$", []),
        ("$ [[a]]$ [[b]] $[[c]] $", ["a", "b", "c"]),
        ("$5 [[a]] and $6", ["a"]),
        ("US$5 and [[a]] US$6", ["a"]),
        ("$[[a]]$5", ["a"]),
        ("$a\n[[b]]$", []),
        ("$a\n\n[[b]]$", ["b"]),
        ("- $a\n- [[b]]$", ["b"]),
        ("| $a | [[b]]$ |\n|---|---|\n", ["b"]),
        ("# $a\n[[b]]$", ["b"]),
        ("$a \\$ [[b]]$", []),
        ("\\\\$[[a]]$", []),
        ("`$` [[a]] `$`", ["a"]),
        ("<!-- $ --> [[a]] $", ["a"]),
        ("$$[[a]]$$ [[b]]", ["b"]),
        ("$$\n\n[[a]]\n\n$$ [[b]]", ["b"]),
        ("$$ [[a]]", ["a"]),
        ("$$$ [[a]] $$", []),
        ("$$a$$ [[b]] $$c$$ [[d]] $$", ["b", "d"]),
        ("$a$$[[b]]$ [[c]]", ["c"]),
        ("[[a $b]] c$ [[d]]", ["d"]),
        ("[[a|$x$]] [[$b$]]", ["a", "$b$"]),
        ("$x `[[a]]` y$ [[b]] `c`", ["b"]),
    ],
)
def test_math_hides_what_stands_in_it(body: str, targets: list[str]) -> None:
    """wikilinks: Two dollars anywhere, one dollar in one paragraph, amounts of money never."""
    assert _targets(body) == targets


def test_math_has_places() -> None:
    """wikilinks: Spans from the first dollar to past the last."""
    assert list(find_math("a $b$ $$c$$ $", Cover([]), [0])) == [(2, 5), (6, 11)]


def test_spans_may_lie_in_one_another() -> None:
    """wikilinks: What any of them covers is covered."""
    cover = Cover([(4, 6), (0, 9), (9, 10), (12, 13)])
    assert [at for at in range(14) if cover.holds(at)] == [*range(10), 12]
    assert cover.touches(10, 13)
    assert not cover.touches(10, 12)
    assert cover.touches(3, 4)


@pytest.mark.parametrize(
    ("body", "notes"),
    [
        ("a[^s1]", [_used("s1", None, 1, 2)]),
        (
            "é[^s1#l1] [^s1#]",
            [_used("s1", "l1", 1, 2), _used("s1", None, 1, 11)],
        ),
        ("a[^1]\n\n[^1]: x", [_defined("1", None, 1, 2)]),
        (
            "a[^N]\n\n[^n]: x [^m]",
            [_defined("N", None, 1, 2), _used("m", None, 3, 9)],
        ),
        ("see [^a]: b", [_used("a", None, 1, 5)]),
        ("`[^a]` [^b]", [_used("b", None, 1, 8)]),
        ("    [^a]\n", []),
        ("<!-- [^a] --> $[^b]$", []),
        ("\\[^a] [^ a] [^a b] [^] [^#x] [[^a]] [^a[b]]", []),
        ("[^a](b) ![^c](d)", []),
        ("[^a](b c d", [_used("a", None, 1, 1)]),
        ("x^2 [y^2]", []),
        ("> a[^é]\n> [^é]: b", [_defined("é", None, 1, 4)]),
    ],
)
def test_footnotes_are_read_where_there_is_text(body: str, notes: list[Footnote]) -> None:
    """wikilinks: A use, whether the page defines it, and where it stands; definitions are none."""
    assert list(read_body(body).footnotes) == notes


def test_links_beside_footnotes_and_silences_are_weighed_too() -> None:
    """wikilinks: One account of what hides serves all."""
    body = "[[a]] `[[b]]` [^s] `[^t]` <!-- counterfoil: allow orphan: a start --> [[c]]"
    found = read_body(body)
    assert [link.target for link in found.links] == ["a", "c"]
    assert [note.source for note in found.footnotes] == ["s"]
    assert found.silences == (Silence("orphan", "a start", 1),)


def test_places_go_on_from_the_line_of_the_body() -> None:
    """wikilinks: Lines are those of the file, whatever is read."""
    found = find_references("\n[[a]]\n\nx[^b]\n<!-- counterfoil: allow orphan: x -->\n", 10)
    assert [(link.line, link.column) for link in found.links] == [(11, 1)]
    assert [(note.line, note.column) for note in found.footnotes] == [(13, 2)]
    assert [silence.line for silence in found.silences] == [14]


@pytest.mark.parametrize(
    ("body", "heading"),
    [
        ("# A", "A"),
        ("\n \t\r\n# A #\r\nx", "A"),
        ("   # A", "A"),
        ("    # A", None),
        ("#A\n# B", "B"),
        ("# \n#\n# ***\n# B ##x", "B ##x"),
        ("## A\n# B", "B"),
        ("#\tA\t#", "A"),
        ("# #", None),
        ("A\n===\n# B", "A"),
        ("A\n*b*\n===\n", "A *b*"),
        ("A\n---\n", None),
        ("> # A\n\n- # B\n\n# C", "C"),
        ("> # A", None),
        ("```\n# A\n```\n# B", "B"),
        ("~~~\n# A\n", None),
        ("text\n# Über", "Über"),
        ("<!--\n# A\n-->\n# B", "B"),
        ("a = b\n=\n", "a = b"),
        ("no heading = here", None),
        ("# [[a]] \\# b", "[[a]] \\# b"),
    ],
)
def test_the_first_heading_of_level_one_is_found(body: str, heading: str | None) -> None:
    """page-fields: Of either form, with words in it, not in code, a quotation or a list."""
    assert read_body(body).heading == heading
    assert find_heading(body) == heading


@pytest.mark.parametrize(
    ("body", "silence"),
    [
        (
            "<!-- counterfoil: allow broken-link: to be written -->",
            ("broken-link", "to be written"),
        ),
        ("<!--counterfoil:allow orphan:x-->", ("orphan", "x")),
        ("a <!-- counterfoil: allow  orphan : a\n b: c --> d", ("orphan", "a b: c")),
        ("<!--\n\ncounterfoil: allow orphan: x\n\n-->", ("orphan", "x")),
    ],
)
def test_a_comment_silences_a_code_with_a_reason(body: str, silence: tuple[str, str]) -> None:
    """lint-silence: Anywhere in the body, on one line or more."""
    found = read_body(body)
    assert [(one.code, one.reason) for one in found.silences] == [silence]
    assert found.faults == ()


@pytest.mark.parametrize(
    "written",
    ["counterfoil:", "counterfoil: allow", "counterfoil: allow orphan",
     "counterfoil: allow orphan:", "counterfoil: allow : x",
     "counterfoil: allow Orphan: x", "counterfoil: deny orphan: x",
     "counterfoil: allow orfan: x"],
)  # fmt: skip
def test_a_comment_that_silences_nothing_is_named(written: str) -> None:
    """lint-silence: Without a code or a reason, at its place, with what is expected."""
    page = read_page(f"---\nid: a\n---\né <!-- {written} -->\n".encode(), "knowledge/a.md").page
    assert page.silences == ()
    (fault,) = page.faults
    assert (fault.code, fault.spot, fault.written) == ("bad-silence", TextSpot(4, 3), written)
    assert "allow CODE: reason" in fault.message


@pytest.mark.parametrize(
    "body",
    ["`<!-- counterfoil: allow orphan: x -->`", "    <!-- counterfoil: allow orphan: x -->",
     "```\n<!-- counterfoil: allow orphan: x -->\n```", "<!-- counterfoil: allow orphan: x",
     "<!-- see counterfoil: allow orphan: x -->", "counterfoil: allow orphan: x", "<!---->"],
)  # fmt: skip
def test_only_a_comment_about_it_silences(body: str) -> None:
    """lint-silence: Not in code, not unclosed, not in passing."""
    found = read_body(body)
    assert (found.silences, found.faults) == ((), ())


def test_lone_surrogates_are_no_trouble() -> None:
    """wikilinks: A body that no file can hold is read all the same."""
    assert read_body("\ud800 [[a]] `x`").links == (Link("a", 1, 3),)


def test_a_page_without_id_and_title_is_called_by_its_path() -> None:
    """page-names: A slug that is too long for an id loses its end; the stem is the title."""
    page = read_page(
        b"", f"notes/{'a' * 150}/{'b' * 49}-{'c' * 9}.md", pages_directory="notes"
    ).page
    assert page.id == f"{'a' * 150}-{'b' * 49}"
    assert page.title == f"{'b' * 49}-{'c' * 9}"
    assert not page.is_id_written
    assert not page.is_title_written
