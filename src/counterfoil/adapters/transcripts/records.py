"""Lines to records of one shape, and every way in which a line fails to be one.

The fast way is one typed decode of the needed fields. What it refuses is looked at
again with the standard library: two records on one line, bytes that are not UTF-8,
lone surrogates, fields of an unexpected type. One bad record stops nothing.
"""

import json
from collections.abc import Iterator
from typing import Any, BinaryIO, Generic, TypeAlias, TypeVar, get_args

import msgspec

from counterfoil.adapters.transcripts.lines import LONGEST, Damage, Line, Tally, told_apart
from counterfoil.wire.json_values import is_list, is_object, kind_of_value, value_in

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
                except msgspec.MsgspecError:
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

    def read(self, content: bytes) -> S | None:
        """Return the first record that `content` holds, or `None`."""
        try:
            return self._decode(content)
        except msgspec.MsgspecError:
            pass
        for found in self._read_again(Line(1, content, is_ended=True)):
            if not isinstance(found, Damage):
                return found[1]
        return None

    def _counted(self, line: Line, tally: Tally) -> Iterator[Record[S] | Damage]:
        for found in self._read_again(line):
            tally.records += not isinstance(found, Damage)
            yield found

    def _read_again(self, line: Line) -> Iterator[Record[S] | Damage]:
        text, replaced = _text_of(line.content)
        if replaced:
            yield Damage(line.number, "not-utf8", replaced)
        values, rest = _values_of(text)
        if not values or rest:
            code = "torn-line" if line.is_ended or values else "in-progress"
            yield Damage(line.number, code, len(rest or text))
        if len(values) > 1:
            yield Damage(line.number, "two-records", 0, f"{len(values)} records")
        for value in values:
            if is_object(value):
                yield line.number, loosely(value, self._shape), line.content
            else:
                yield Damage(line.number, "not-a-record", 0, kind_of_value(value))


def loosely(value: dict[str, Any], shape: type[S]) -> S:
    """Return `value` as `shape`, leaving out each field of an unexpected type."""
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(shape):
        if field.encode_name not in value:
            continue
        found = value[field.encode_name]
        try:
            fields[field.name] = _converted(found, field.type)
        except msgspec.MsgspecError:
            continue
    return shape(**fields)


def _converted(found: Any, type_: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    if type_ is msgspec.Raw:
        return msgspec.Raw(json.dumps(found).encode())
    inner = _struct_in(type_)
    if inner is not None and is_object(found):
        return loosely(found, inner)
    if inner is not None and is_list(found):
        items = [item for item in found if is_object(item) or isinstance(item, str)]
        return [loosely(item, inner) if is_object(item) else item for item in items]
    return msgspec.convert(found, type_)


def _struct_in(type_: Any) -> type[msgspec.Struct] | None:  # noqa: ANN401 - a type of any form
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        return type_
    for inner in get_args(type_):
        found = _struct_in(inner)
        if found is not None:
            return found
    return None


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


def _values_of(text: str) -> tuple[list[Any], str]:
    """Return the JSON values that stand one behind another, and what is left of `text`."""
    values: list[Any] = []
    place = 0
    while place < len(text):
        try:
            value, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            return values, text[place:]
        values.append(value)
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
