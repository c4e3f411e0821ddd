"""JSON of any shape, looked at without being trusted."""

import pytest

from counterfoil.core.ids import RunId
from counterfoil.wire.json_values import is_list, is_object, kind_of_value, plain_text, value_in


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b'{"a": [1.5, null]}', {"a": [1.5, None]}),
        (b'"\xff"', "\ufffd"),
        (b'"\\ud800"', "\ud800"),
        (b'"a\x01\tb"', "a\x01\tb"),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b"{", None),
        (b"", None),
        (b"[" * 100_000, None),
        (b"9" * 9999, None),
    ],
)
def test_content_holds_a_value_or_none(content: bytes, value: object) -> None:
    """one-bad-record: What cannot be read is none, never an exception."""
    assert value_in(content) == value


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "bool"),
        (0, "number"),
        (0.5, "number"),
        ([], "list"),
        ({}, "object"),
        (b"", "unknown"),
    ],
)
def test_a_value_has_a_kind(value: object, kind: str) -> None:
    """shape: Each kind of JSON has its word, a boolean is no number."""
    assert kind_of_value(value) == kind
    assert is_list(value) is (kind == "list")
    assert is_object(value) is (kind == "object")


def test_a_text_is_no_number() -> None:
    """shape: A text of digits is a text."""
    assert kind_of_value("1") == kind_of_value("")
    assert kind_of_value("1") not in {"number", "null", "unknown"}


def test_a_text_of_a_type_of_its_own_is_written_as_a_text() -> None:
    """json-schema: Ids and origins are texts; anything else is no JSON."""
    assert type(plain_text(RunId("r1"))) is str
    with pytest.raises(TypeError, match="object is not in JSON"):
        plain_text(object())
