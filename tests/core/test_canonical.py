"""Canonical JSON where it refuses, and where lone surrogates stand."""

import pytest

from counterfoil.core.canonical import LARGEST, Json, canonical_bytes, canonical_json
from counterfoil.core.digests import tagged_digest


@pytest.mark.parametrize("number", [LARGEST - 1, LARGEST, -LARGEST, 1 - LARGEST])
def test_an_integer_up_to_the_bound_is_written(number: int) -> None:
    """canonical: At ±(2^53 - 1) and one under, an integer is itself."""
    assert canonical_json([number]) == f"[{number}]"


@pytest.mark.parametrize("number", [LARGEST + 1, -LARGEST - 1])
def test_an_integer_past_the_bound_is_refused(number: int) -> None:
    """canonical: One past ±(2^53 - 1) no reader has to keep it exact."""
    with pytest.raises(ValueError, match=r"beyond ±\(2\^53 - 1\)"):
        canonical_json({"a": [number]})


@pytest.mark.parametrize(("value", "name"), [(1.5, "float"), ({1}, "set"), (b"x", "bytes")])
def test_what_json_here_does_not_have_is_refused(value: Json, name: str) -> None:
    """canonical: A float, a set and bytes have no canonical text."""
    with pytest.raises(TypeError, match=name):
        canonical_json([value])


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("\ud800", '"\\ud800"'),
        ("a\udfffé", '"a\\udfffé"'),
        ("\udc00\ud800", '"\\udc00\\ud800"'),
        ("\ud834\udd1e", '"𝄞"'),
        ("\ud800𝄞", '"\\ud800𝄞"'),
        ("\x00\x1f\x7f\u2028", '"\\u0000\\u001f\x7f\u2028"'),
    ],
)
def test_a_lone_surrogate_is_its_escape(text: str, written: str) -> None:
    """canonical: Lone ones are escaped in lower case; a pair is the one character it means."""
    assert canonical_json(text) == written
    assert canonical_bytes(text).decode() == written


def test_a_list_may_be_any_sequence_and_keys_go_by_utf16() -> None:
    """canonical: `𝄞` begins with a surrogate in UTF-16 and so stands before `￿`."""
    assert canonical_json({"￿": (1, None), "𝄞": [True]}) == '{"𝄞":[true],"￿":[1,null]}'


def test_a_digest_names_its_algorithm() -> None:
    """canonical: The digest of nothing is the known one, tagged."""
    assert tagged_digest(b"") == (
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )
