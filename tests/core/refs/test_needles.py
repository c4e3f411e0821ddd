"""What is looked for in the text of a record, and where it stands for itself."""

import pytest

from counterfoil.core.refs.literals import Commit, Literal, Place, Quotation, Source
from counterfoil.core.refs.needles import EVIDENCE, Needle, fits, flatten, needles_of, places_of

PLACE = Place(span=(0, 1), path="./src/app.py", first=12, last=20)


@pytest.mark.parametrize(
    ("literal", "needles"),
    [
        (
            Quotation(span=(0, 1), pieces=("a  “b”", "c")),
            [Needle("text", flatten('a "b"')), Needle("text", "c")],
        ),
        (Quotation(span=(0, 1), pieces=("12\tcode",)), [Needle("text", "code")]),
        (Quotation(span=(0, 1), pieces=("7\ta\n9\tb",)), [Needle("text", "7 a 9 b")]),
        (Commit(span=(0, 1), name="deadbee1"), [Needle("commit", "deadbee1")]),
        (Source(span=(0, 1), url="https://a.test/"), [Needle("url", "https://a.test")]),
    ],
)
def test_a_reference_becomes_needles(literal: Literal, needles: list[Needle]) -> None:
    """needles: A quotation is all its pieces; a name and a URL are looked for as they are."""
    assert list(needles_of(literal)) == needles


def test_a_place_is_looked_for_as_compilers_and_tracebacks_write_it() -> None:
    """needles: The strongest first; the bare name tells nothing new of a known file."""
    needles = needles_of(PLACE)
    assert [needle.kind for needle in needles] == ["place", "place", "file"]
    assert {needle.path for needle in needles} == {"src/app.py"}
    assert needles[0].text == "app.py:12"
    assert needles[1].text == flatten('app.py", line 12')
    assert needles[2].text == "app.py"
    assert needles_of(PLACE, is_known=True) == needles[:2]


def test_only_python_files_stand_in_tracebacks_of_python() -> None:
    """needles: A file of another language is looked for as compilers write it."""
    place = Place(span=(0, 1), path="src/main.rs", first=3, last=3)
    assert [needle.text for needle in needles_of(place)] == ["main.rs:3", "main.rs"]


@pytest.mark.parametrize(
    ("text", "flat"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x\x1b]8;;u\x1b\\y", "xy"),
        ("  12→code\n  13→more", "code more"),
        ("12\tcode\n\t13\tmore", "code more"),
        ("a\tb → c", "a b → c"),
        ("12\t./docs\n40\t.", "12 ./docs 40 ."),  # sizes, and no lines counted
        ("7\tx\n8\ty\n12\tz", "x y 12 z"),
        ("1\t5→a\n2\t6→b", "a b"),
        ("\x1b\x1b[31m[31mx", "[31mx"),
        ("“a” ‘b’", flatten("\"a\" 'b'")),
        (" a\n\n b\u2003c ", "a b c"),
        ("", ""),
    ],
)
def test_flat_text_has_no_colours_numbers_and_layout(text: str, flat: str) -> None:
    """needles: What a harness adds to a text is taken out, its words stay."""
    assert flatten(text) == flat


@pytest.mark.parametrize(
    ("needle", "text", "is_there"),
    [
        (Needle("text", "bc"), "abcd", True),
        (Needle("commit", "deadbee1"), "at deadbee1ff", True),
        (Needle("commit", "deadbee1"), "at 0deadbee1", False),
        (Needle("url", "https://a.test"), "see https://a.test", True),
        (Needle("url", "https://a.test"), "see https://a.test/", True),
        (Needle("url", "https://a.test"), "see https://a.test/)", True),
        (Needle("url", "https://a.test"), "see https://a.test/x", False),
        (Needle("file", "a.py", "src/a.py"), "src/a.py", True),
        (Needle("file", "a.py", "src/a.py"), "/home/x/src/a.py:3", True),
        (Needle("file", "a.py", "src/a.py"), "in a.py", True),
        (Needle("file", "a.py", "src/a.py"), "lib/a.py", False),
        (Needle("file", "a.py", "src/a.py"), "data.py", False),
        (Needle("file", "a.py", "src/a.py"), "a.pyc", False),
        (Needle("file", "a.py", "src/a.py"), "x-a.py", False),
        (Needle("file", "a.py", "src/a.py"), "_a.py", False),
        (Needle("place", "a.py:3", "a.py"), "x/a.py:3: error", True),
        (Needle("place", "a.py:3", "a.py"), "a.py:31", False),
        (Needle("file", "a.py", "a.py"), "/" + "x" * 400 + "/a.py", True),
    ],
)
def test_a_needle_fits_where_it_is_not_a_part_of_something_else(
    needle: Needle,
    text: str,
    is_there: bool,  # noqa: FBT001 - a case
) -> None:
    """needles: A longer name, another folder and a longer number are something else."""
    assert any(fits(needle, text, place) for place in places_of(needle, text)) is is_there


def test_every_place_of_a_needle_is_yielded() -> None:
    """needles: Places come in order, also where they overlap."""
    assert list(places_of(Needle("text", "aa"), "aaa aa")) == [0, 1, 4]


def test_evidence_is_of_tools_persons_and_instructions() -> None:
    """whose-words: The model's own text, reminders and a sub-agent's prose are none."""
    assert {"tool", "fetched", "search", "person", "system"} == EVIDENCE
