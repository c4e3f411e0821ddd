"""Lines to records of one shape, and every way in which a line fails to be one.

The fast way is one typed decode of the needed fields. What it refuses is looked at
again with the standard library: two records on one line, bytes that are not UTF-8,
lone surrogates, fields of an unexpected type. One bad record stops nothing.
"""

import json
from collections.abc import Iterator
from typing import Any, BinaryIO, Generic, TypeAlias, TypeVar, get_args, get_origin

import msgspec

from counterfoil.adapters.transcripts.lines import LONGEST, Damage, Line, Tally, told_apart
from counterfoil.wire.json_values import is_list, is_object, kind_of_value, value_in

_NOT_OF_THE_TYPE = (msgspec.MsgspecError, UnicodeError)  # a lone surrogate is no number
_DEEP = 900
"""Brackets in a line that cannot be read, from which on depth is the likely reason."""

S = TypeVar("S", bound=msgspec.Struct)


Record: TypeAlias = tuple[int, S, bytes]
"""One record: its line, its decoded fields, and the bytes they came from."""


class RecordReader(Generic[S]):
    """Reads lines as records of `shape`, whose every field has a default."""

    def __init__(self, shape: type[S]) -> None:
        self._shape = shape
        self._decode = msgspec.json.Decoder(shape).decode

    def records(self, file: BinaryIO, tally: Tally) -> Iterator[Record[S] | Damage]:
        """Yield the records of `file` in their order, and what is wrong with it.

        Nearly every line is one object from its first to its last byte and is decoded
        at once; all others are told apart with care.

        Raises:
            UnreadableError: The file begins like UTF-16 or UTF-32.
        """
        decode, readline = self._decode, file.readline
        number = 0
        while raw := readline(LONGEST):
            number += 1
            tally.size += len(raw)
            if raw[-2:] == b"}\n" and raw[:1] == b"{" and (raw.isascii() or _is_utf8(raw)):
                try:
                    value = decode(raw)
                except (msgspec.MsgspecError, RecursionError):
                    value = None
                if value is not None:
                    tally.records += 1
                    yield number, value, raw
                    continue
            line = told_apart(number, raw, file, tally)
            if isinstance(line, Damage):
                yield line
            elif line is not None:
                yield from self._counted(line, tally)
        tally.lines = number

    def read(self, content: bytes) -> Iterator[S]:
        """Yield the records that `content`, a line, holds."""
        for found in self._read_again(Line(1, content, is_ended=True)):
            if not isinstance(found, Damage):
                yield found[1]

    def _counted(self, line: Line, tally: Tally) -> Iterator[Record[S] | Damage]:
        for found in self._read_again(line):
            tally.records += not isinstance(found, Damage)
            yield found

    def _read_again(self, line: Line) -> Iterator[Record[S] | Damage]:
        value = self._decoded(line.content)
        if value is not None:
            yield line.number, value, line.content
            return
        text, replaced = _text_of(line.content)
        values, rest = _values_of(text)
        if replaced and (values or line.is_ended):  # a line in progress ends anywhere
            yield Damage(line.number, "not-utf8", replaced)
        if not values or rest:
            yield Damage(line.number, _code_of(rest, is_ended=line.is_ended), len(rest))
        if len(values) > 1:
            yield Damage(line.number, "two-records", 0, f"{len(values)} records")
        for found, written in values:
            if is_object(found):
                content = written.encode("utf-8", "surrogatepass")
                exact = self._decoded(content)
                yield line.number, exact or loosely(found, self._shape), content
            else:
                yield Damage(line.number, "not-a-record", 0, kind_of_value(found))

    def _decoded(self, content: bytes) -> S | None:
        """Decode at once; `None` for what has to be looked at with care."""
        try:
            return self._decode(content) if _is_utf8(content) else None
        except (msgspec.MsgspecError, RecursionError):
            return None


def _code_of(rest: str, *, is_ended: bool) -> str:
    if rest.count("[") + rest.count("{") > _DEEP:
        return "too-deep"
    return "torn-line" if is_ended else "in-progress"


def loosely(value: dict[str, Any], shape: type[S]) -> S:
    """Return `value` as `shape`, leaving out each field of an unexpected type."""
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(shape):
        if field.encode_name not in value:
            continue
        found = value[field.encode_name]
        try:
            fields[field.name] = _converted(found, field.type)
        except _NOT_OF_THE_TYPE:
            continue
    return shape(**fields)


def _converted(found: Any, type_: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    if type_ is msgspec.Raw:
        return msgspec.Raw(json.dumps(found).encode())
    arms = get_args(type_) or (type_,)
    if is_object(found):
        shape = next((arm for arm in arms if _is_struct(arm)), None)
        return msgspec.convert(found, type_) if shape is None else loosely(found, shape)
    if is_list(found):
        items = next((get_args(arm)[0] for arm in arms if get_origin(arm) is list), None)
        return msgspec.convert(found, type_) if items is None else list(_items(found, items))
    return msgspec.convert(found, type_)


def _items(found: list[Any], type_: Any) -> Iterator[Any]:  # noqa: ANN401 - JSON of any shape
    """Yield the items of a list that have the type, those that have not left out."""
    for item in found:
        try:
            yield _converted(item, type_)
        except _NOT_OF_THE_TYPE:
            continue


def _is_struct(type_: Any) -> bool:  # noqa: ANN401 - a type of any form
    return isinstance(type_, type) and issubclass(type_, msgspec.Struct)


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _text_of(content: bytes) -> tuple[str, int]:
    """Return the text of `content` and how many of its bytes stand for nothing."""
    try:
        return content.decode(), 0
    except UnicodeDecodeError:
        text = content.decode("utf-8", "replace")
        return text, max(1, text.count("\ufffd") - content.count(b"\xef\xbf\xbd"))


def _values_of(text: str) -> tuple[list[tuple[object, str]], str]:
    """Return the JSON values that stand one behind another, each as read and as written.

    The second is what is left of `text` behind them.
    """
    values: list[tuple[object, str]] = []
    place = 0
    while place < len(text):
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            return values, text[place:]
        values.append((value, text[place:end]))
        place = end
        while place < len(text) and text[place] in " \t\r\n\0":
            place += 1
    return values, ""


_DECODER = json.JSONDecoder(strict=False)


def text_from(raw: bytes | msgspec.Raw) -> str:
    """Return the JSON string `raw`, lone surrogates kept; "" for anything else."""
    try:
        return _DECODE_TEXT(raw)
    except msgspec.MsgspecError:
        pass
    value = value_in(bytes(raw))
    return value if isinstance(value, str) else ""


_DECODE_TEXT = msgspec.json.Decoder(str).decode
