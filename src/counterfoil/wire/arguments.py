"""The arguments of a call: the exact text that a model wrote, read strictly.

What does not fit comes back as one sentence that a small model can act on: which argument,
what is wrong with it, what the tool takes. Of JSON Schema this much is checked: `type`,
`enum`, `properties`, `required`, `additionalProperties`, `items`, `minimum`, `maximum`.
Other keywords, which tools of others may use, are left to those tools.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Never, TypeGuard

from counterfoil.wire.json_values import is_list, is_object

_MOST_FAULTS = 3
_MOST_NAMED = 12
_LONGEST_SHOWN = 60
_ROOT = ""
_NONE: dict[str, object] = {}


@dataclass(frozen=True, slots=True)
class ArgumentFault:
    """Why a call cannot be carried out, in a sentence for the model that asked for it."""

    message: str


def read_arguments(
    text: str, schema: Mapping[str, object], tool: str = "the tool"
) -> Mapping[str, object] | ArgumentFault:
    """Return the arguments in `text`, those of a call of `tool`; no text is no arguments."""
    try:
        value: object = _DECODER.decode(text) if text.strip() else _NONE
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        return _fault("the arguments are nested too deeply", tool, schema)
    except UnicodeEncodeError:
        return _fault("a text in the arguments holds half a character", tool, schema)
    except ValueError as error:
        return _fault(f"the arguments are not JSON: {_shown(str(error), 120)}", tool, schema)
    if not is_object(value):
        return _fault(f"the arguments are {_kind(value)}, not an object", tool, schema)
    faults = [*islice(_faults(value, schema, _ROOT), _MOST_FAULTS)]
    return _fault("; ".join(faults), tool, schema) if faults else dict(value)


def _fault(what: str, tool: str, schema: Mapping[str, object]) -> ArgumentFault:
    return ArgumentFault(f"{what}; {tool} takes {_taken(schema)}")


def _taken(schema: Mapping[str, object]) -> str:
    """Say what arguments there are: `path (text), offset (whole number, optional)`."""
    properties = _object(schema.get("properties"))
    required = _list(schema.get("required"))
    names = sorted(properties, key=lambda name: name not in required)
    said = [
        f"{name} ({_wanted(_object(properties[name]))}{'' if name in required else ', optional'})"
        for name in names[:_MOST_NAMED]
    ]
    more = ["and more"] if len(names) > _MOST_NAMED else []
    return ", ".join([*said, *more]) or "no arguments"


def _faults(value: Any, schema: Mapping[str, object], place: str) -> Iterator[str]:
    """Yield what is wrong with `value`, which stands at `place`, in the order of reading."""
    types = [kind for kind in _types(schema) if kind in _IS]
    if types and not any(_IS[kind](value) for kind in types):
        yield f"{_named(place)} is {_kind(value)}, not {_wanted(schema)}"
        return
    choices = _list(schema.get("enum"))
    if choices and not any(_same(value, choice) for choice in choices):
        yield f"{_named(place)} is {_kind(value)}, not {_wanted(schema)}"
    if is_object(value):
        yield from _members(value, schema, place)
    elif is_list(value):
        items = _object(schema.get("items"))
        for number, item in enumerate(value):
            yield from _faults(item, items, f"{place}[{number}]")
    elif _is_number(value):
        yield from _bounds(value, schema, place)


def _members(value: Mapping[str, Any], schema: Mapping[str, object], place: str) -> Iterator[str]:
    properties = _object(schema.get("properties"))
    for name in _list(schema.get("required")):
        if isinstance(name, str) and name not in value:
            yield f"{_named(_below(place, name))} is missing"
    others = None if "patternProperties" in schema else schema.get("additionalProperties")
    for name, member in value.items():
        if name in properties:
            yield from _faults(member, _object(properties[name]), _below(place, name))
        elif others is False:
            yield f"there is no {_named(_below(place, name))}{_nearest(name, properties)}"
        else:
            yield from _faults(member, _object(others), _below(place, name))


def _bounds(value: float, schema: Mapping[str, object], place: str) -> Iterator[str]:
    least, most = schema.get("minimum"), schema.get("maximum")
    if _is_number(least) and value < least:
        yield f"{_named(place)} is {_shown(str(value))}, less than {least}"
    if _is_number(most) and value > most:
        yield f"{_named(place)} is {_shown(str(value))}, more than {most}"


def _nearest(name: str, known: Mapping[str, object]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only for a mistake

    near = get_close_matches(name[:_LONGEST_SHOWN], [*known], n=1, cutoff=0)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _wanted(schema: Mapping[str, object]) -> str:
    """Say what a schema asks for, in words."""
    if choices := _list(schema.get("enum")):
        said = [_shown(json.dumps(choice, ensure_ascii=False)) for choice in choices]
        return " or ".join(said[:_MOST_NAMED])
    words = [_WORDS[kind] for kind in _types(schema) if kind in _WORDS]
    return " or ".join(words) or "any value"


def _kind(value: object) -> str:
    """Say what a value is, a short one as it stands."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    written = _shown(json.dumps(value, ensure_ascii=False))
    return f"the text {written}" if isinstance(value, str) else written


def _types(schema: Mapping[str, object]) -> list[str]:
    kinds = schema.get("type")
    return [kind for kind in (kinds if is_list(kinds) else [kinds]) if isinstance(kind, str)]


def _named(place: str) -> str:
    return f"argument {_shown(place)!r}" if place else "the arguments"


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _shown(text: str, width: int = _LONGEST_SHOWN) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _same(value: object, choice: object) -> bool:
    """Say whether two values are the same in JSON, where true is not 1."""
    return value == choice and isinstance(value, bool) == isinstance(choice, bool)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _object(value: object) -> Mapping[str, Any]:
    return value if is_object(value) else {}


def _list(value: object) -> list[Any]:
    return value if is_list(value) else []


_IS: dict[str, Callable[[object], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": is_list,
    "object": is_object,
    "null": lambda value: value is None,
}

_WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "object",
    "null": "null",
}


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{_shown(twice)!r} is given twice")
    return value


def _finite(digits: str) -> float:
    number = float(digits)
    if number in {float("inf"), float("-inf")}:
        raise ValueError(f"{_shown(digits)} is too large")
    return number


def _constant(name: str) -> Never:
    raise ValueError(f"{name} is no value of JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_finite, parse_constant=_constant
)
