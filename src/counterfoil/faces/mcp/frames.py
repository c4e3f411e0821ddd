"""Frames of the stdio transport: one JSON-RPC object a line, and only a line feed ends it.

U+2028 and U+0085 in a string are characters like others, and bytes come in pieces of any
size. What is no message is answered by an error with its id, where it has one, so that no
client waits for an answer that never comes.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from mcp import types

from counterfoil.faces.mcp.fitting import fit, fit_text
from counterfoil.wire.json_values import is_list, is_object

LONGEST = 16 << 20
"""Bytes of a frame; a longer one is refused and skipped."""


class FrameSplitter:
    """Splits bytes at line feeds, whatever pieces they come in."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._begun = bytearray()
        self._is_too_long = False

    def feed(self, piece: bytes) -> Iterator[bytes | None]:
        """Yield the frames that `piece` ends; `None` is one past the bound."""
        *ended, rest = piece.split(b"\n")
        for part in ended:
            self._take(part)
            yield None if self._is_too_long else bytes(self._begun)
            self._begun.clear()
            self._is_too_long = False
        self._take(rest)

    def _take(self, part: bytes) -> None:
        if self._is_too_long or len(self._begun) + len(part) > self._longest:
            self._is_too_long = True
            self._begun.clear()
        else:
            self._begun += part


@dataclass(frozen=True, slots=True)
class Refused:
    """What is no message, and the error that answers it; `None` where nothing does."""

    answer: types.JSONRPCError | None


def read_frame(frame: bytes | None) -> types.JSONRPCMessage | Refused:
    """Return the message in `frame`, `None` being one past the bound."""
    if frame is None:
        return _refused(None, types.PARSE_ERROR, f"the message is longer than {LONGEST:,} bytes")
    if not frame.strip():
        return Refused(None)
    try:
        return types.jsonrpc_message_adapter.validate_json(frame, by_name=False)
    except ValueError:
        return _what_is_wrong(frame)


def write_frame(message: types.JSONRPCMessage) -> bytes:
    """Return `message` as a frame; what cannot be written in UTF-8 is replaced."""
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:
        value = fit(message.model_dump(by_alias=True, exclude_unset=True))
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"


def _what_is_wrong(frame: bytes) -> Refused:
    try:
        value: object = json.loads(frame)
    except (ValueError, RecursionError):
        return _refused(None, types.PARSE_ERROR, "the message is not JSON")
    if is_list(value):
        return _refused(None, types.INVALID_REQUEST, "batches are not served")
    if is_object(value) and "method" not in value:
        return Refused(None)  # a damaged answer; an answer to it would be one too many
    if fit(value) is not value:
        return _refused(_id_of(value), types.PARSE_ERROR, "a text holds half a character")
    return _refused(_id_of(value), types.INVALID_REQUEST, "the message is not JSON-RPC 2.0")


def _id_of(value: object) -> int | str | None:
    id_ = value.get("id") if is_object(value) else None
    if isinstance(id_, str):
        return fit_text(id_)
    return id_ if isinstance(id_, int) and not isinstance(id_, bool) else None


def _refused(id_: int | str | None, code: int, message: str) -> Refused:
    error = types.ErrorData(code=code, message=message)
    return Refused(types.JSONRPCError(jsonrpc="2.0", id=id_, error=error))
