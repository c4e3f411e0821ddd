"""What the built-in tools share: arguments by name, bounds, and answers that say a fault.

What a tool cannot do is an answer of outcome `error` whose words tell the model what to
do; only what nobody foresaw leaves a tool as an exception.
"""

import time
from collections.abc import Callable, Mapping

from counterfoil.core.errors import CounterfoilError
from counterfoil.core.plain import plain
from counterfoil.ports.tools import ToolAnswer

PAGE = 4096
"""Bytes of an output; more is to be asked for, or is counted."""

ONLY_ONE_LINE = str.maketrans({"\n": "\\x0a", "\t": "\\x09"})
"""What `plain` lets stand and a name in a list cannot have."""


class UnusableArgumentError(CounterfoilError):
    """An argument says what cannot be meant."""


class CallCancelledError(Exception):
    """Nobody wants the answer any more."""


class Patience:
    """How long a call may go on: until it is cancelled, or until its time is over."""

    def __init__(self, is_cancelled: Callable[[], bool], seconds: float) -> None:
        self._is_cancelled = is_cancelled
        self._end = time.monotonic() + seconds

    def is_over(self) -> bool:
        """Say whether the time is over.

        Raises:
            CallCancelledError: The call was cancelled.
        """
        if self._is_cancelled():
            raise CallCancelledError
        return time.monotonic() >= self._end


def answered(answering: Callable[[], ToolAnswer]) -> ToolAnswer:
    """Return what `answering` returns, or in words what it raises."""
    try:
        return answering()
    except CounterfoilError as error:
        return ToolAnswer(output=error.diagnosis(), outcome="error")
    except OSError as error:
        return ToolAnswer(output=f"the system says: {error.strerror or error}", outcome="error")
    except CallCancelledError:
        return ToolAnswer(output="the call was cancelled", outcome="cancelled")


def text_in(arguments: Mapping[str, object], name: str, otherwise: str = "") -> str:
    """Return the text of that name; an empty one is none.

    Raises:
        UnusableArgumentError: It is no text.
    """
    value = arguments.get(name)
    if value is None or value == "":
        return otherwise
    if not isinstance(value, str):
        raise UnusableArgumentError(f"{name} = {value!r}", "a text")
    return value


def number_in(arguments: Mapping[str, object], name: str, otherwise: int, most: int) -> int:
    """Return the whole number of that name, from 1 to `most`.

    Raises:
        UnusableArgumentError: It is another.
    """
    value = arguments.get(name)
    if value is None:
        return otherwise
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise UnusableArgumentError(f"{name} = {value!r}", f"a whole number, 1 to {most}")
    return value


def choice_in(arguments: Mapping[str, object], name: str, choices: tuple[str, ...]) -> str:
    """Return the text of that name, one of `choices`.

    Raises:
        UnusableArgumentError: It is none of them.
    """
    value = text_in(arguments, name)
    if value not in choices:
        raise UnusableArgumentError(f"{name} = {value!r}", " or ".join(choices))
    return value


def shown_name(name: str) -> str:
    """Return the name of a file on one line, with nothing in it that steers."""
    return plain(name).translate(ONLY_ONE_LINE)


def quoted(text: str) -> str:
    """Return `text` in quotes, at most 300 characters of it, for a hint."""
    shown = shown_name(text)
    return f'"{shown}"' if len(shown) <= _QUOTED else f'"{shown[: _QUOTED - 1]}…"'


def counted(count: int, noun: str) -> str:
    """Return `count` with its noun.

    >>> counted(1, "file"), counted(1200, "file")
    ('1 file', '1,200 files')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def parameters(properties: Mapping[str, object], *required: str) -> Mapping[str, object]:
    """Return the schema of arguments, of which no others are taken."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


_QUOTED = 300
