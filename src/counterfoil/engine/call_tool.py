"""One call of a tool, whichever tool: recorded before, answered, recorded after.

A call that cannot be carried out (unknown tool, arguments that are no JSON, a call that
was written as text) is a tool error that the model reads, never an exception
(agent.md sections 3 and 4).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from counterfoil.core.errors import CounterfoilError
from counterfoil.core.events import Outcome, Payload, ToolCalled, ToolFailed, ToolReturned
from counterfoil.core.messages import AskedCall, ToolSpec
from counterfoil.engine.effects import (
    NotRecordedError,
    Record,
    Turn,
    TurnCancelledError,
)
from counterfoil.ports.tools import ToolAnswer

Arguments = Mapping[str, object]

ReadArguments = Callable[[str, Mapping[str, object]], Arguments | str]
"""Reads the exact text of a call's arguments by a schema; a text is what is wrong with it."""

Answering = Callable[[AskedCall, Arguments, int], Turn[ToolAnswer]]
"""How one tool answers a call in a turn: a part of it, with effects of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """A tool on offer in a thread, and how it answers."""

    spec: ToolSpec
    answer: Answering


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """The tools of a thread by name, in one turn, and how arguments of calls are read."""

    tools: Mapping[str, OfferedTool]
    turn: int
    read_arguments: ReadArguments
    monotonic: Callable[[], float]


def call_tool(toolbox: Toolbox, call: AskedCall) -> Turn[None]:
    """Carry out `call`: its record is whole however it ends, unless it cannot be recorded."""
    yield Record(payload=ToolCalled(tool=call.tool, arguments=call.arguments), call=call.id)
    started = toolbox.monotonic()
    try:
        answer = yield from _answered(toolbox, call)
    except NotRecordedError:
        raise
    except TurnCancelledError as cancelled:
        sent = cancelled.sent if isinstance(cancelled.sent, ToolAnswer) else None
        yield from _recorded(
            call, sent or ToolAnswer(output=""), toolbox.monotonic() - started, "cancelled"
        )
        raise
    except Exception as error:  # noqa: BLE001 - whatever a tool throws, the model reads it
        yield Record(payload=ToolFailed(tool=call.tool, message=_said(error)), call=call.id)
    else:
        yield from _recorded(call, answer, toolbox.monotonic() - started, answer.outcome)


def _answered(toolbox: Toolbox, call: AskedCall) -> Turn[ToolAnswer]:
    tool = toolbox.tools.get(call.tool)
    if tool is None:
        raise UnusableCallError(_unknown(call.tool, toolbox.tools))
    if call.fault is not None:
        raise UnusableCallError(call.fault)
    arguments = toolbox.read_arguments(call.arguments, tool.spec.parameters)
    if isinstance(arguments, str):
        raise UnusableCallError(arguments)
    return (yield from tool.answer(call, arguments, toolbox.turn))


def _recorded(call: AskedCall, answer: ToolAnswer, seconds: float, outcome: Outcome) -> Turn[None]:
    for payload in _payloads(call, answer, seconds, outcome):
        yield Record(payload=payload, call=call.id)


def _payloads(
    call: AskedCall, answer: ToolAnswer, seconds: float, outcome: Outcome
) -> Iterator[Payload]:
    yield from answer.facts
    yield ToolReturned(
        tool=call.tool,
        output=answer.output,
        bytes=len(answer.output.encode("utf-8", "surrogatepass")),
        milliseconds=max(round(seconds * 1000), 0),
        outcome=outcome,
        truncated=answer.truncated,
    )


class UnusableCallError(Exception):
    """A call that cannot be carried out as it was asked; the model reads why."""


def _unknown(name: str, tools: Mapping[str, OfferedTool]) -> str:
    near = get_close_matches(name, list(tools), n=1)
    offered = ", ".join(tools) or "none"
    meant = f"; did you mean {near[0]}?" if near else ""
    return f"no tool {name!r}; the tools are: {offered}{meant}"


def _said(error: Exception) -> str:
    if isinstance(error, CounterfoilError):
        return error.diagnosis()
    return str(error) or type(error).__name__
