r"""Canonical JSON: one text for one value, so that a digest means something.

The form is RFC 8785 without floats, with one addition (ledger.md section 2): a
lone surrogate, which RFC 8785 refuses, is written as its escape in lower case.

>>> canonical_json({"b": [1, True, None], "a": "é\u2028"})
'{"a":"é\u2028","b":[1,true,null]}'
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias, Union

Json: TypeAlias = Union[bool, int, str, "Sequence[Json]", "Mapping[str, Json]", None]

LARGEST = 2**53 - 1
"""The largest integer, as a magnitude, that every reader of JSON keeps exact."""

_SURROGATE = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")
_PLAIN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)


def canonical_json(value: Json) -> str:
    """Return the canonical text of `value`.

    Raises:
        ValueError: An integer is beyond ±(2^53 - 1).
        TypeError: A float or another value that JSON here does not have.
    """
    text = _PLAIN.encode(_ordered(value))
    return _SURROGATE.sub(_escape, text) if _has_surrogate(text) else text


def canonical_bytes(value: Json) -> bytes:
    """Return the canonical text of `value` in UTF-8."""
    return canonical_json(value).encode()


def _ordered(value: Json) -> Json:
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        if -LARGEST <= value <= LARGEST:
            return value
        raise ValueError(f"integer {value} is beyond ±(2^53 - 1)")
    if isinstance(value, Mapping):
        return {key: _ordered(value[key]) for key in sorted(value, key=_utf16)}
    if isinstance(value, list | tuple):
        return [_ordered(item) for item in value]
    raise TypeError(f"{type(value).__name__} is not in canonical JSON")


def _utf16(key: str) -> bytes:
    """RFC 8785 section 3.2.3: keys are ordered by their UTF-16 code units."""
    return key.encode("utf-16-be", "surrogatepass")


def _has_surrogate(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _escape(match: re.Match[str]) -> str:
    found = match.group()
    if len(found) == 1:
        return f"\\u{ord(found):04x}"
    return found.encode("utf-16-be", "surrogatepass").decode("utf-16-be")
