r"""Handles: the written form of a reference to a page, and its codec.

```text
handle   = origin "::" id | id | "knowledge-ref:v1:" percent-encoded JSON
origin   = "here" | "shared" | "inherited:" run
```

White space around a handle and around its id is not part of it. The text is split at
its first `::`; where the left side is no origin, the whole text is an id. The encoded
form is written only for a reference whose plain form would read back as another one:

>>> format_handle(PageReference(None, PageId("here::x")))
'knowledge-ref:v1:%5Bnull%2C%22here%3A%3Ax%22%5D'

Reading and writing are inverse, and two references never share a handle
(references.md section 2). What is no handle is a value, never an exception.
"""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from counterfoil.core.errors import InvalidIdError
from counterfoil.core.ids import HERE, SHARED, Origin, PageId

PREFIX = "knowledge-ref:v1:"
SEPARATOR = "::"

MalformedReason = Literal[
    "blank", "bad-escape", "bad-json", "bad-shape", "bad-origin", "blank-id", "bad-id"
]

MALFORMED_TEXT: dict[MalformedReason, str] = {
    "blank": "it is blank",
    "bad-escape": "its percent escapes are not those of UTF-8 text",
    "bad-json": "what it encodes is not JSON",
    "bad-shape": "what it encodes is not a pair of origin (or null) and id",
    "bad-origin": "its origin is neither here, shared nor inherited:<run>",
    "blank-id": "its id is blank",
    "bad-id": "no page can have its id: at most 200 characters, no control characters",
}
"""What each reason says to a person, the first that applies being given."""


class PageReference(NamedTuple):
    """A page by id and, when given, by origin."""

    origin: Origin | None
    id: PageId


@dataclass(frozen=True, slots=True)
class Malformed:
    """A text that is no handle, with the first reason that applies."""

    text: str
    reason: MalformedReason


def parse_handle(text: str) -> PageReference | Malformed:
    """Return the reference that `text` is a handle of; never raises."""
    return _parse_again(text) if len(text) <= _SHORT else _parse(text)


_SHORT = 200
"""Characters of a text that is remembered: a page's handles are asked for many times."""


@lru_cache(maxsize=16_384)
def _parse_again(text: str) -> PageReference | Malformed:
    return _parse(text)


def _parse(text: str) -> PageReference | Malformed:
    trimmed = text.strip()
    if not trimmed:
        return Malformed(text, "blank")
    if trimmed.startswith(PREFIX):
        return _parse_encoded(text, trimmed[len(PREFIX) :])
    if SEPARATOR in trimmed:
        left, _, right = trimmed.partition(SEPARATOR)
        origin = _origin(left)
        if origin is not None:
            return _reference(text, origin, right)
    return _reference(text, None, trimmed)


def format_handle(reference: PageReference) -> str:
    """Return the handle of `reference`: plain where that reads back as it, else encoded."""
    origin, page = reference
    plain = str(page) if origin is None else f"{origin}{SEPARATOR}{page}"
    return plain if parse_handle(plain) == reference else encode_handle(reference)


def encode_handle(reference: PageReference) -> str:
    """Return the encoded form, which has no character that means anything around a handle.

    >>> encode_handle(PageReference(None, PageId("c#")))
    'knowledge-ref:v1:%5Bnull%2C%22c%23%22%5D'
    """
    origin, page = reference
    pair = json.dumps([origin, page], ensure_ascii=False, separators=(",", ":"))
    return PREFIX + _FREE.sub(_escape, pair)


def _origin(text: str) -> Origin | None:
    if text == HERE:
        return HERE
    if text == SHARED:
        return SHARED
    if not text.startswith("inherited:"):
        return None
    try:
        return Origin(text)
    except InvalidIdError:
        return None


def _reference(text: str, origin: Origin | None, page: str) -> PageReference | Malformed:
    try:
        return PageReference(origin, PageId(page))
    except InvalidIdError:
        return Malformed(text, "bad-id" if page.strip() else "blank-id")


_FREE = re.compile(r"[^A-Za-z0-9\-_.!~*'()]+")
_ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+")


def _escape(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match.group().encode())


def _parse_encoded(text: str, encoded: str) -> PageReference | Malformed:
    try:
        written = _ESCAPES.sub(_unescape, encoded)
        if _ESCAPES.sub("", encoded).count("%"):
            return Malformed(text, "bad-escape")
    except UnicodeDecodeError:
        return Malformed(text, "bad-escape")
    try:
        value: object = json.loads(written, parse_constant=_refuse, parse_int=float)
    except (ValueError, RecursionError):
        return Malformed(text, "bad-json")
    return _from_pair(text, value)


def _unescape(match: re.Match[str]) -> str:
    return bytes.fromhex(match.group().replace("%", "")).decode()


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not in JSON")


def _from_pair(text: str, value: object) -> PageReference | Malformed:
    match value:
        case [None, str() as page]:
            return _reference(text, None, page)
        case [str() as name, str() as page]:
            origin = _origin(name)
            if origin is None:
                return Malformed(text, "bad-origin")
            return _reference(text, origin, page)
        case _:
            return Malformed(text, "bad-shape")
