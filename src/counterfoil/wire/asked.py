"""A conversation as JSON Lines: what the other side asks for. `chat` is the other way.

A line is read into a value, or into the reason why it asks for nothing; whatever it is,
reading it raises nothing. Types and fields that are not known are passed over.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Never, TypeAlias, cast, get_args

from counterfoil.wire.json_values import is_list, is_object, kind_of_value

Scope = Literal["once", "session", "project", "always"]
"""How far an approval reaches."""

Decision = Literal["approved", "denied"]


@dataclass(frozen=True, slots=True)
class Hello:
    """What the other side can do: whether it has a person who approves."""

    effects: frozenset[str] = frozenset()

    @property
    def approves(self) -> bool:
        """Whether questions are put to it."""
        return "approve" in self.effects


@dataclass(frozen=True, slots=True)
class Message:
    """The next prompt, as it stands."""

    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person said about the question of that id."""

    id: str
    decision: Decision
    scope: Scope = "once"


@dataclass(frozen=True, slots=True)
class Cancel:
    """End the turn that runs."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that asks for nothing, and why; the other side is told."""

    why: str


Asked: TypeAlias = Hello | Message | Answer | Cancel


class _WrongError(ValueError):
    """Says what is wrong with a line."""


def decode_asked(line: bytes) -> Asked | Unreadable | None:
    """Return what `line` asks for; `None` for a blank one, or a type that is not known."""
    if not line.strip():
        return None
    try:
        value = json.loads(line.decode(), parse_constant=_refused, object_pairs_hook=_unique)
    except UnicodeDecodeError:
        return Unreadable("the line is not UTF-8")
    except _WrongError as wrong:
        return Unreadable(str(wrong))
    except (ValueError, RecursionError):
        return Unreadable("the line is not JSON")
    try:
        return _asked(value)
    except _WrongError as wrong:
        return Unreadable(str(wrong))


def _asked(value: object) -> Asked | None:
    if not is_object(value):
        raise _WrongError(f"the line is {kind_of_value(value)}, not an object")
    read = _READERS.get(_text(value, "type"))
    return None if read is None else read(value)


def _hello(value: Mapping[str, Any]) -> Hello:
    effects = value.get("effects", [])
    if not is_list(effects):
        raise _WrongError(f"'effects' is {kind_of_value(effects)}, not a list")
    return Hello(frozenset(one for one in effects if isinstance(one, str)))


def _message(value: Mapping[str, Any]) -> Message:
    text = _text(value, "text")
    if not text.strip():
        raise _WrongError("'text' is blank")
    return Message(text)


def _answer(value: Mapping[str, Any]) -> Answer:
    decision = _choice(value, "decision", get_args(Decision))
    scope = _choice({"scope": "once"} | dict(value), "scope", get_args(Scope))
    return Answer(_text(value, "id"), cast("Decision", decision), cast("Scope", scope))


def _cancel(_: Mapping[str, Any]) -> Cancel:
    return Cancel()


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Asked]] = {
    "hello": _hello,
    "message": _message,
    "answer": _answer,
    "cancel": _cancel,
}


def _text(value: Mapping[str, Any], name: str) -> str:
    """Return the text `name`, fit for UTF-8: what is half a character is replaced."""
    if name not in value:
        raise _WrongError(f"{name!r} is missing")
    found = value[name]
    if not isinstance(found, str):
        raise _WrongError(f"{name!r} is {kind_of_value(found)}, not text")
    return found.encode("utf-8", "replace").decode()


def _choice(value: Mapping[str, Any], name: str, choices: tuple[str, ...]) -> str:
    text = _text(value, name)
    if text not in choices:
        raise _WrongError(f"{name!r} is {text[:40]!r}, not one of {', '.join(choices)}")
    return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Read no object that says two things under one name: an answer has to be clear."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _WrongError("a name stands twice in an object")
    return value


def _refused(name: str) -> Never:
    raise ValueError(name)
