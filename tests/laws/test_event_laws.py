"""The laws of events on the wire: what is read is what was written, whatever it holds.

Values are drawn from small pools where they have to meet, and from all code points,
lone surrogates among them, where they only have to survive.
"""

import json
from dataclasses import fields
from random import Random
from types import UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from hypothesis import given
from hypothesis import strategies as st

from counterfoil.core.canonical import (
    LARGEST,
    Json,
    canonical_bytes,
    canonical_json,
)
from counterfoil.core.digests import tagged_digest
from counterfoil.core.events import KINDS, Event, Payload, Unrecognized, Usage, kind_of
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.wire.events import decode_event, encode_event, event_to_json
from counterfoil.wire.strict_json import Malformed, read_json

Annotation: TypeAlias = Any
Value: TypeAlias = Any
"""JSON of any type, as tests make it."""


def _joined(text: str) -> str:
    """Make one character of each high surrogate and a low one, as every reader of JSON does."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


texts = st.text(st.characters(exclude_categories=()), max_size=12).map(_joined)
names = st.one_of(st.sampled_from(["x", "note", "Text", "\ud800", "é", "𝄞", "￿"]), texts)
whole = st.one_of(st.integers(-LARGEST, LARGEST), st.sampled_from([0, -LARGEST, LARGEST]))
values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), whole, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=4)),
    max_leaves=12,
)
objects = st.dictionaries(names, values, max_size=4)


def _of_type(type_: Annotation) -> st.SearchStrategy[Any]:
    """Draw what a field of a payload can hold, by its annotation alone."""
    origin: object = get_origin(type_)
    if origin in {UnionType, Union}:
        return st.one_of(*map(_of_type, get_args(type_)))
    if origin is Literal:
        return st.sampled_from(get_args(type_))
    if origin is tuple:
        return st.lists(_of_type(get_args(type_)[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(names, texts, max_size=3)
    if type_ is Usage:
        return _payloads_of(Usage)
    return {str: texts, int: whole, bool: st.booleans(), type(None): st.none()}[type_]


def _payloads_of(kind: type[Any]) -> st.SearchStrategy[Any]:
    hints = get_type_hints(kind)
    drawn = {field.name: _of_type(hints[field.name]) for field in fields(kind)}
    return st.builds(kind, **drawn)


unrecognized = st.builds(
    Unrecognized,
    kind=names.filter(lambda name: name not in KINDS),
    details=objects.map(canonical_json),
)
_KINDS = [unrecognized] * 6 + [_payloads_of(kind) for kind in KINDS.values()]
payloads: st.SearchStrategy[Payload] = st.sampled_from(_KINDS).flatmap(lambda drawn: drawn)


def _wire(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def _absent(payload: object, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the paths at which a null may stand: of fields that are not recorded."""
    return [
        (*path, _wire(field.name))
        for field in fields(payload)  # type: ignore[arg-type]  # a payload is a dataclass
        if getattr(payload, field.name) is None
    ]


@st.composite
def kept_beside(draw: st.DrawFn, payload: Payload) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Draw unknown fields of the envelope, of the details and of the usage, and nulls."""
    envelope = {"schema", "seq", "id", "occurredAt", "thread", "turn", "call", "kind", "details"}
    kept: dict[tuple[str, ...], str] = {
        (name,): canonical_json(value)
        for name, value in draw(objects).items()
        if name not in envelope
    }
    if isinstance(payload, Unrecognized):
        return tuple(sorted(kept.items()))
    groups: list[tuple[tuple[str, ...], object]] = [(("details",), payload)]
    usage = getattr(payload, "usage", None)
    if usage is not None:
        groups.append((("details", "usage"), usage))
    for path, holder in groups:
        known = {_wire(field.name) for field in fields(holder)}  # type: ignore[arg-type]
        for name, value in draw(objects).items():
            if name not in known:
                kept[*path, name] = canonical_json(value)
        for null in _absent(holder, path):
            if draw(st.booleans()):
                kept[null] = "null"
    return tuple(sorted(kept.items()))


@st.composite
def events(draw: st.DrawFn) -> Event:
    """Draw an event of any kind, with what a newer version may have put beside its fields."""
    payload = draw(payloads)
    return Event(
        seq=draw(st.integers(1, LARGEST)),
        id=EventId.from_number(draw(st.integers(0, 2**64 - 1))),
        occurred_at=draw(st.sampled_from(["2026-03-01T09:00:00.000Z", "2024-02-29T23:59:59.999Z"])),
        thread=draw(st.sampled_from([ThreadId("t1"), ThreadId("A.b_c-9")])),
        turn=draw(st.one_of(st.none(), st.integers(1, LARGEST))),
        call=draw(st.one_of(st.none(), texts.filter(lambda text: bool(text.strip())))),
        payload=payload,
        kept=draw(kept_beside(payload)),
    )


def _canonical_oracle(value: Value) -> str:
    """Write `value` as RFC 8785 does, by another way: piece by piece, keys as numbers."""
    if isinstance(value, dict):
        ordered = sorted(value, key=lambda key: list(memoryview(_units(key)).cast("H")))
        rows = (f"{_canonical_oracle(key)}:{_canonical_oracle(value[key])}" for key in ordered)
        return f"{{{','.join(rows)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_canonical_oracle, value))}]"
    written = json.dumps(value, ensure_ascii=False)
    return "".join(
        f"\\u{ord(letter):04x}" if 0xD800 <= ord(letter) < 0xE000 else letter for letter in written
    )


def _units(text: str) -> bytes:
    order = "utf-16-le" if memoryview(b"\1\0").cast("H")[0] == 1 else "utf-16-be"
    return text.encode(order, "surrogatepass")


def _spelled(draw: st.DrawFn, value: Value) -> Value:
    """Return `value` with the keys of every object in an order that is drawn."""
    if isinstance(value, dict):
        rows = draw(st.permutations(sorted(value.items(), key=lambda row: repr(row[0]))))
        return {key: _spelled(draw, item) for key, item in rows}
    return value


@st.composite
def spellings(draw: st.DrawFn) -> tuple[Event, str]:
    """Draw an event and one of the texts that spell it."""
    event = draw(events())
    text = json.dumps(
        _spelled(draw, event_to_json(event)),
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, 1, "\t"])),
    )
    return event, draw(st.sampled_from(["", " ", "\r\n"])) + text + draw(
        st.sampled_from(["", "\n"])
    )


@given(events())
def test_an_event_reads_back_as_itself(event: Event) -> None:
    """events-kept: Kinds, fields, nulls, absences and lone surrogates come back as written."""
    assert decode_event(encode_event(event)) == event


@given(spellings())
def test_any_spelling_is_written_as_the_one_canonical_text(spelling: tuple[Event, str]) -> None:
    """events-wire: What is written depends on the event and not on how it was spelled."""
    event, text = spelling
    found = decode_event(text)
    assert found == event
    line = encode_event(event)
    assert line.decode() == _canonical_oracle(json.loads(text))
    again = decode_event(line)
    assert isinstance(again, Event)
    assert encode_event(again) == line


@given(payloads)
def test_every_kind_is_written_by_its_name(payload: Payload) -> None:
    """events-wire: A kind has one name on the wire, an unknown one its own."""
    kind = kind_of(payload)
    assert KINDS.get(kind, Unrecognized) is type(payload)


@given(st.one_of(values, objects))
def test_canonical_json_is_that_of_an_independent_writer(value: Json) -> None:
    """canonical: The text is that of another writer, and reading it changes nothing."""
    text = canonical_json(value)
    assert text == _canonical_oracle(value)
    assert read_json(text) == value
    assert canonical_json(json.loads(text)) == text
    assert canonical_bytes(value) == text.encode()


@given(st.dictionaries(names, values, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_keys_changes_no_digest(value: dict[str, Any], random: Random) -> None:
    """canonical: Equal objects have one text and so one digest."""
    keys = list(value)
    random.shuffle(keys)
    other = {key: value[key] for key in keys}
    assert canonical_bytes(other) == canonical_bytes(value)
    digest = tagged_digest(canonical_bytes(value))
    assert digest.startswith("sha256:")
    assert len(digest) == len("sha256:") + 64


_PIECES = ['{"', '"}', "{", "}", "[", "]", '"', ":", ",", "\\", "\\u", "d800", "1", "-", ".5"]
_PIECES += ["e9", "null", "NaN", "-Infinity", "true", " ", "\n", "\x00", "\ud800", "é", '{"a":1}']
broken = st.lists(st.sampled_from(_PIECES), max_size=25).map("".join)
REASONS = {"not-utf8", "not-json", "duplicate-key", "float", "out-of-range", "too-deep"}


@given(st.one_of(st.binary(), st.text(), texts, broken, broken.map(lambda text: text[::-1])))
def test_reading_json_never_raises(line: bytes | str) -> None:
    """events-malformed: Any bytes are a value or have a reason of the list."""
    value = read_json(line)
    if isinstance(value, Malformed):
        assert value.reason in REASONS
        assert value.field is None
    else:
        assert read_json(canonical_json(value)) == value


@given(st.one_of(events().map(event_to_json), objects), st.data())
def test_reading_an_event_never_raises(value: dict[str, Any], data: st.DataObject) -> None:
    """events-malformed: Whatever is put into or taken out of an event, reading has an answer."""
    names_ = sorted({*value, "schema", "seq", "turn", "kind"}, key=repr)
    name = data.draw(st.sampled_from(names_))
    value = {**value, name: data.draw(values)}
    if data.draw(st.booleans()):
        del value[name]
    found = decode_event(json.dumps(value))
    if isinstance(found, Malformed):
        assert (found.field is None) == (found.reason in REASONS | {"not-object"})
    else:
        assert encode_event(found).decode() == canonical_json(value)
