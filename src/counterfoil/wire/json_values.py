"""JSON of any shape, looked at without being trusted."""

import json
from typing import Any, TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Say whether a JSON value is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Say whether a JSON value is a list."""
    return isinstance(value, list)


def value_in(content: bytes) -> object:
    """Return the JSON value that `content` holds, `None` for none.

    Lone surrogates, control characters in strings and floats are read; bytes that are
    not UTF-8 are replaced.
    """
    try:
        value: object = json.loads(content.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return value


def kind_of_value(value: object) -> str:
    """Return what kind of JSON `value` is, for a person."""
    if value is None:
        return "null"
    for type_, name in _KINDS:
        if isinstance(value, type_):
            return name
    return "unknown"


_KINDS: tuple[tuple[type, str], ...] = (
    (str, "string"),
    (bool, "bool"),
    (int, "number"),
    (float, "number"),
    (list, "list"),
    (dict, "object"),
)


def plain_text(value: object) -> str:
    """Return a text of a type of its own, an id or an origin, as an ordinary one."""
    if isinstance(value, str):
        return str(value)
    raise TypeError(f"{type(value).__name__} is not in JSON")
