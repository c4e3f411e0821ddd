"""JSON as events are written in it: no float, no doubled key, nothing too large or deep.

Reading never raises for what it reads: the outcome is a value or a `Malformed` with
a reason of design.md section 4.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Never

from counterfoil.core.canonical import LARGEST, Json

DEEPEST = 100
"""Levels of objects and lists that are read; one more is `too-deep`."""

_DIGITS = len(str(LARGEST)) + 1
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Malformed:
    """What is no event: why, and the `field` at fault where there is one."""

    reason: str
    field: str | None = None


class _RefusedError(ValueError):
    """Carries the reason out of the hooks of the decoder."""


def read_json(line: bytes | str) -> Json | Malformed:
    """Return the value that `line` holds, or why it holds none."""
    if isinstance(line, bytes):
        try:
            line = line.decode()
        except UnicodeDecodeError:
            return Malformed("not-utf8")
    if _depth(line) > DEEPEST:
        return Malformed("too-deep" if _is_json(line) else "not-json")
    is_small = line.translate(_DIGITS_ALIKE).find(_TOO_MANY) < 0
    decoder = _FAST_DECODER if is_small else _DECODER
    try:
        return decoder.decode(line)  # type: ignore[no-any-return]
    except _RefusedError as refusal:
        return Malformed(str(refusal) if _is_json(line) else "not-json")
    except ValueError:
        return Malformed("not-json")


def _depth(text: str) -> int:
    """Return the deepest nesting of `text`, counted without recursion."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return 0
    depth = deepest = 0
    for bracket in _brackets(text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _brackets(text: str) -> Iterator[str]:
    tokens = (match.group() for match in _TOKEN.finditer(text))
    return (token for token in tokens if len(token) == 1)


def _is_json(text: str) -> bool:
    """Say whether `text` is JSON at all, whatever else is wrong with it.

    A text that nests past what the decoder can follow is taken for JSON.
    """
    try:
        _LENIENT.decode(text)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _RefusedError("duplicate-key")
    return value


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS or not -LARGEST <= (number := int(digits)) <= LARGEST:
        raise _RefusedError("out-of-range")
    return number


def _float(_: str) -> Never:
    raise _RefusedError("float")


def _constant(name: str) -> Never:
    raise ValueError(name)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_int=_integer,
    parse_float=_float,
    parse_constant=_constant,
)
_FAST_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_float=_float,
    parse_constant=_constant,
)
"""For a text in which no number can be out of range: its integers are read by the decoder."""

_DIGITS_ALIKE = str.maketrans("123456789", "0" * 9)
_TOO_MANY = "0" * (_DIGITS - 1)
_LENIENT = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_constant)
