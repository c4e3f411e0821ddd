"""Events in wire form, version 1 (design.md section 4, ledger.md section 2).

`decode_event` takes any JSON spelling of an event and keeps every field, known or
not, null or absent as it was; `encode_event` writes the canonical form of exactly
that. What is no event is a `Malformed` value, never an exception.
"""

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

from counterfoil.core.canonical import Json, canonical_bytes, canonical_json
from counterfoil.core.errors import InvalidIdError
from counterfoil.core.events import (
    KINDS,
    Event,
    Kept,
    Payload,
    Unrecognized,
    Usage,
    kind_of,
)
from counterfoil.core.ids import EventId, ThreadId, is_instant
from counterfoil.wire.json_values import is_list, is_object
from counterfoil.wire.strict_json import Malformed, read_json

SCHEMA = 1
"""The version of the envelope that this module reads and writes."""

_ENVELOPE = frozenset(
    {"schema", "seq", "id", "occurredAt", "thread", "turn", "call", "kind", "details"}
)
_Path = tuple[str, ...]


class _WrongError(ValueError):
    """Carries `reason` and `field` out of the readers of single fields."""


def decode_event(line: bytes | str) -> Event | Malformed:
    """Return the event that `line` holds, or why it holds none."""
    value = read_json(line)
    if isinstance(value, Malformed):
        return value
    if not is_object(value):
        return Malformed("not-object")
    return event_from_json(value)


def event_from_json(value: Mapping[str, Json]) -> Event | Malformed:
    """Return the event that the object `value` is, or why it is none."""
    try:
        return _event(value)
    except _WrongError as wrong:
        reason, field = wrong.args
        return Malformed(reason, field)


def encode_event(event: Event) -> bytes:
    """Return the canonical bytes of `event`, without a line end."""
    return canonical_bytes(event_to_json(event))


def event_to_json(event: Event) -> dict[str, Json]:
    """Return the object that `event` is on the wire."""
    payload = event.payload
    details = (
        json.loads(payload.details)
        if isinstance(payload, Unrecognized)
        else _fields_to_json(payload)
    )
    value: dict[str, Any] = {
        "schema": SCHEMA,
        "seq": event.seq,
        "id": event.id,
        "occurredAt": event.occurred_at,
        "thread": event.thread,
        "kind": kind_of(payload),
        "details": details,
    }
    if event.turn is not None:
        value["turn"] = event.turn
    if event.call is not None:
        value["call"] = event.call
    for path, text in event.kept:
        _at(value, path[:-1])[path[-1]] = json.loads(text)
    return value


def _at(value: dict[str, Any], path: _Path) -> dict[str, Any]:
    for name in path:
        value = value[name]
    return value


def _event(value: Mapping[str, Json]) -> Event:
    if _required(value, "schema", _whole) != SCHEMA:
        raise _WrongError("unknown-schema", "schema")
    seq = _required(value, "seq", _positive)
    id_ = EventId(_required(value, "id", partial(_made, EventId)))
    occurred_at = _required(value, "occurredAt", _instant)
    thread = ThreadId(_required(value, "thread", partial(_made, ThreadId)))
    turn = _required(value, "turn", _positive) if "turn" in value else None
    call = _required(value, "call", _visible) if "call" in value else None
    kind = _required(value, "kind", _text)
    payload, kept = _payload(kind, _required(value, "details", _object))
    unknown = tuple(
        ((name,), canonical_json(value[name])) for name in value if name not in _ENVELOPE
    )
    return Event(
        seq=seq,
        id=id_,
        occurred_at=occurred_at,
        thread=thread,
        turn=turn,
        call=call,
        payload=payload,
        kept=tuple(sorted(unknown + kept)),
    )


def _payload(kind: str, details: Mapping[str, Json]) -> tuple[Payload, Kept]:
    known = KINDS.get(kind)
    if known is None:
        return Unrecognized(kind=kind, details=canonical_json(details)), ()
    values, kept = _fields(known, details, ("details",))
    return known(**values), kept


def _fields(
    known: type[Any], details: Mapping[str, Json], path: _Path
) -> tuple[dict[str, Any], Kept]:
    """Read the fields of `known`; what is beside them, and each null, is kept."""
    specs = _specs(known)
    values: dict[str, Any] = {}
    kept: list[tuple[_Path, str]] = []
    for spec in specs:
        at = (*path, spec.wire)
        if spec.wire not in details:
            if spec.is_required:
                raise _WrongError("missing-field", ".".join(at))
        elif details[spec.wire] is None and not spec.is_required:
            kept.append((at, "null"))
        elif spec.nested is not None:
            inner, beside = _fields(spec.nested, _object(details[spec.wire], ".".join(at)), at)
            values[spec.name] = spec.nested(**inner)
            kept.extend(beside)
        else:
            values[spec.name] = spec.read(details[spec.wire], ".".join(at))
    names = {spec.wire for spec in specs}
    kept.extend(
        ((*path, name), canonical_json(details[name])) for name in details if name not in names
    )
    return values, tuple(kept)


@dataclass(frozen=True, slots=True)
class _Spec:
    name: str
    wire: str
    is_required: bool
    nested: type[Usage] | None
    read: Callable[[Json, str], Any]


_SPECS: dict[type, tuple[_Spec, ...]] = {}


def _specs(known: type) -> tuple[_Spec, ...]:
    """Return how to read each field of `known`: the types are the one table."""
    found = _SPECS.get(known)
    if found is None:
        found = _SPECS[known] = tuple(_spec(field) for field in dataclasses.fields(known))
    return found


def _spec(field: dataclasses.Field[Any]) -> _Spec:
    type_ = _without_none(field.type)
    return _Spec(
        name=field.name,
        wire=wire_name(field.name),
        is_required=field.default is dataclasses.MISSING,
        nested=Usage if type_ is Usage else None,
        read=_reader(type_),
    )


def wire_name(name: str) -> str:
    """Return the wire form of a field's name: `exit_status` is `exitStatus`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _without_none(type_: Any) -> Any:
    if not isinstance(type_, UnionType) and get_origin(type_) is None:
        return type_
    present = [arm for arm in get_args(type_) if arm is not NoneType]
    return present[0] if NoneType in get_args(type_) else type_


def _reader(type_: Any) -> Callable[[Json, str], Any]:
    if get_origin(type_) is Literal:
        return partial(_one_of, frozenset(get_args(type_)))
    if get_origin(type_) is tuple:
        return partial(_list, _reader(get_args(type_)[0]))
    if get_origin(type_) is dict:
        return _words
    return {str: _text, int: _whole, bool: _truth}.get(type_, _object)


def _required(value: Mapping[str, Json], name: str, read: Callable[[Json, str], Any]) -> Any:
    if name not in value:
        raise _WrongError("missing-field", name)
    return read(value[name], name)


def _text(value: Json, field: str) -> str:
    if not isinstance(value, str):
        raise _WrongError("wrong-type", field)
    return value


def _whole(value: Json, field: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _WrongError("wrong-type", field)
    return value


def _truth(value: Json, field: str) -> bool:
    if not isinstance(value, bool):
        raise _WrongError("wrong-type", field)
    return value


def _object(value: Json, field: str) -> dict[str, Json]:
    if not is_object(value):
        raise _WrongError("wrong-type", field)
    return value


def _words(value: Json, field: str) -> dict[str, str]:
    return {key: _text(item, field) for key, item in _object(value, field).items()}


def _positive(value: Json, field: str) -> int:
    if (number := _whole(value, field)) < 1:
        raise _WrongError("bad-value", field)
    return number


def _visible(value: Json, field: str) -> str:
    if not (text := _text(value, field)).strip():
        raise _WrongError("bad-value", field)
    return text


def _instant(value: Json, field: str) -> str:
    if not is_instant(text := _text(value, field)):
        raise _WrongError("bad-value", field)
    return text


def _made(make: Callable[[str], str], value: Json, field: str) -> str:
    try:
        return make(_text(value, field))
    except InvalidIdError:
        raise _WrongError("bad-value", field) from None


def _one_of(allowed: frozenset[str], value: Json, field: str) -> str:
    if (text := _text(value, field)) not in allowed:
        raise _WrongError("bad-value", field)
    return text


def _list(read: Callable[[Json, str], Any], value: Json, field: str) -> tuple[Any, ...]:
    if not is_list(value):
        raise _WrongError("wrong-type", field)
    if read is _whole and set(map(type, value)) == {int}:  # long lists of entries, mostly
        return tuple(value)
    return tuple(read(item, field) for item in value)


def _fields_to_json(payload: object) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for spec in _specs(type(payload)):
        value = getattr(payload, spec.name)
        if value is not None:
            found[spec.wire] = _fields_to_json(value) if spec.nested else value
    return found
