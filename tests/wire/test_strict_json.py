"""JSON as events are written in it: each reason, and each bound at, under and over."""

import sys

import pytest

from counterfoil.core.canonical import LARGEST
from counterfoil.wire.strict_json import DEEPEST, Malformed, read_json


def _nested(levels: int, opener: str = "[", closer: str = "]") -> str:
    return opener * levels + closer * levels


@pytest.mark.parametrize(
    ("levels", "is_read"), [(DEEPEST - 1, True), (DEEPEST, True), (DEEPEST + 1, False)]
)
@pytest.mark.parametrize("form", ["lists", "objects", "mixed"])
def test_a_hundred_levels_are_read(levels: int, is_read: bool, form: str) -> None:  # noqa: FBT001
    """events-malformed: One under, at it, one over."""
    text = _nested(levels)
    if form != "lists":
        text = '{"a":' * levels + "1" + "}" * levels
    if form == "mixed":
        text = '[{"[[[":0},' + _nested(levels - 1) + "]"
    value = read_json(text)
    assert isinstance(value, Malformed) is not is_read
    if not is_read:
        assert value == Malformed("too-deep")


@pytest.mark.parametrize("levels", [DEEPEST + 1, sys.getrecursionlimit() * 3])
@pytest.mark.parametrize("text", ["[", "[{]", '["', "]"])
def test_deep_text_that_is_no_json_is_no_json(levels: int, text: str) -> None:
    """events-malformed: Depth is a reason only of what is JSON, as far as that can be told."""
    value = read_json(text * levels)
    assert value in (Malformed("not-json"), Malformed("too-deep"))
    if levels == DEEPEST + 1:
        assert value == Malformed("not-json")


def test_text_that_nests_past_all_reading_is_too_deep() -> None:
    """events-malformed: What no reader can follow has its reason, and ends nothing."""
    assert read_json(_nested(100_000)) == Malformed("too-deep")


def test_many_brackets_are_not_deep() -> None:
    """events-malformed: Depth counts levels; brackets in texts and side by side are none."""
    wide = f"[{','.join(['[]'] * 200)}]"
    assert read_json(wide) == [[]] * 200
    assert read_json(f'["{"[" * 200}\\"{"{" * 200}"]') == ["[" * 200 + '"' + "{" * 200]


@pytest.mark.parametrize("number", [LARGEST - 1, LARGEST, -LARGEST, 0])
def test_a_number_up_to_the_bound_is_itself(number: int) -> None:
    """events-malformed: At ±(2^53 - 1) and one under."""
    assert read_json(f"[{number}]") == [number]


@pytest.mark.parametrize("digits", [str(LARGEST + 1), str(-LARGEST - 1), "1" * 17, "9" * 9999])
def test_a_number_past_the_bound_is_out_of_range(digits: str) -> None:
    """events-malformed: One over, one digit more, and more digits than any reader takes."""
    assert read_json(digits) == Malformed("out-of-range")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"\xff", "not-utf8"),
        (b'{"a":"\xed\xa0\x80"}', "not-utf8"),
        ("", "not-json"),
        ("nul", "not-json"),
        ("NaN", "not-json"),
        ("[Infinity]", "not-json"),
        ("[1.0, NaN]", "not-json"),
        ('{"a":1,"a":1', "not-json"),
        ("1 2", "not-json"),
        ("'a'", "not-json"),
        ('"\n"', "not-json"),
        ("\ufeff1", "not-json"),
        ('{"a":1,"a":1}', "duplicate-key"),
        ('[{"a":1,"\\u0061":2}]', "duplicate-key"),
        ("1.0", "float"),
        ("1e2", "float"),
        ("-1E-2", "float"),
        (f"[{LARGEST + 1}", "not-json"),
    ],
)
def test_what_is_not_read_has_its_reason(line: bytes | str, reason: str) -> None:
    """events-malformed: What is no JSON at all is that first, whatever else is wrong."""
    assert read_json(line) == Malformed(reason)
