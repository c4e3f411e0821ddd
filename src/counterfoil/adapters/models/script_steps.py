"""A script: what a model that is none says, one step for each answer, as JSON Lines.

```json
{"call": [{"tool": "system_info", "arguments": {"what": "ports"}}], "say": "I look."}
{"say": "It said: {{last}}", "reasoning": "Enough.", "usage": {"input": 120, "output": 9}}
```

A line is one step. Blank lines are passed over; a member that no step has is refused.

| member | is |
| --- | --- |
| `say` | the text of the answer; `{{last}}` in it becomes the last output of a tool |
| `call` | calls: `tool`, `arguments` (an object, or the exact text to be sent), optional `id` |
| `reasoning` | what the model thinks before it speaks |
| `usage` | tokens: `input`, `output`, `cached`, `reasoning` |
| `fail` | instead: the model cannot be had, with this message |
| `overflow` | instead, `true`: the request does not fit into the window |
| `cut` | instead: this much of the text is heard, then the model breaks off |
| `wait` | instead: this text is heard, then nothing, until the request is cancelled |
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from counterfoil.core.errors import UnreadableError
from counterfoil.core.events import Usage
from counterfoil.wire.json_values import is_list, is_object, kind_of_value


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedCall:
    """A call of a step; `arguments` is the exact text that is sent."""

    tool: str
    arguments: str = "{}"
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One answer of a script, or what comes instead of one."""

    say: str = ""
    call: tuple[ScriptedCall, ...] = ()
    reasoning: str | None = None
    usage: Usage | None = None
    fail: str | None = None
    overflow: bool = False
    cut: str | None = None
    wait: str | None = None


_INSTEAD = ("fail", "overflow", "cut", "wait")
_STEP = tuple(field.name for field in fields(Step))
_CALL = tuple(field.name for field in fields(ScriptedCall))
_USAGE = tuple(field.name for field in fields(Usage))


class _NoStepError(ValueError):
    """Says what is wrong with a line."""


def read_script(text: str, origin: str) -> tuple[Step, ...]:
    """Return the steps of the script `text`; `origin` is the name of it in an error.

    Raises:
        UnreadableError: A line is no step; it is named by its number.
    """
    return tuple(_steps(text, origin))


def _steps(text: str, origin: str) -> Iterator[Step]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield _step(json.loads(line))
        except _NoStepError as error:
            raise _unreadable(number, origin, str(error)) from error
        except (ValueError, RecursionError) as error:
            raise _unreadable(number, origin, f"is no JSON: {error}") from error


def _unreadable(number: int, origin: str, why: str) -> UnreadableError:
    return UnreadableError(f"line {number} of {origin} {why}", "a step of a script")


def _step(value: object) -> Step:
    step = _known(value, _STEP, "a step")
    instead = [name for name in _INSTEAD if step.get(name, False) is not False]
    if len(instead) > 1 or (instead and step.keys() & {"say", "call"}):
        raise _NoStepError(f"has {instead[0]!r} beside another answer")
    if not instead and not step.keys() & {"say", "call"}:
        raise _NoStepError("says nothing and calls nothing")
    return Step(
        say=_text(step, "say") or "",
        call=tuple(_call(row) for row in _list(step, "call")),
        reasoning=_text(step, "reasoning"),
        usage=_usage(step["usage"]) if "usage" in step else None,
        fail=_text(step, "fail"),
        overflow=_truth(step, "overflow"),
        cut=_text(step, "cut"),
        wait=_text(step, "wait"),
    )


def _call(value: object) -> ScriptedCall:
    call = _known(value, _CALL, "a call")
    tool = _text(call, "tool")
    if tool is None:
        raise _NoStepError("has a call without 'tool'")
    arguments = call.get("arguments", {})
    if not is_object(arguments) and not isinstance(arguments, str):
        raise _NoStepError(
            f"has 'arguments' of type {kind_of_value(arguments)}, not object or text"
        )
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ScriptedCall(tool=tool, arguments=written, id=_text(call, "id"))


def _usage(value: object) -> Usage:
    usage = _known(value, _USAGE, "usage")
    for name, count in usage.items():
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise _NoStepError(f"has no count of tokens as {name!r}")
    return Usage(**usage)


def _known(value: object, names: tuple[str, ...], what: str) -> Mapping[str, Any]:
    if not is_object(value):
        raise _NoStepError(f"has {kind_of_value(value)} for {what}, not an object")
    for name in value:
        if name not in names:
            near = get_close_matches(name[:40], names, n=1, cutoff=0)[0]
            raise _NoStepError(f"has {name[:40]!r}, which {what} has not; did you mean {near!r}?")
    return value


def _text(value: Mapping[str, Any], name: str) -> str | None:
    found = value.get(name, "")
    if not isinstance(found, str):
        raise _NoStepError(f"has {name!r} of type {kind_of_value(found)}, not text")
    return found if name in value else None


def _truth(value: Mapping[str, Any], name: str) -> bool:
    found = value.get(name, False)
    if not isinstance(found, bool):
        raise _NoStepError(f"has {name!r} of type {kind_of_value(found)}, not true or false")
    return found


def _list(value: Mapping[str, Any], name: str) -> list[Any]:
    found = value.get(name, [])
    if not is_list(found):
        raise _NoStepError(f"has {name!r} of type {kind_of_value(found)}, not a list")
    return found
