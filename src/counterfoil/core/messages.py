"""What passes between a thread and a model: messages, tools on offer, calls asked for.

A message knows the entry that it stands for, so that what was sent can be named by
number. Nothing here is recorded: messages are composed out of the record (agent.md
section 2).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from counterfoil.core.events import Usage

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCall:
    """A call that the model asked for; `arguments` is the exact text that it wrote.

    `fault` says why the call cannot be carried out as it is: it was written into the
    text, say, where the model was to use its interface for calls.
    """

    id: str
    tool: str
    arguments: str
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message; of role `tool` it answers `call`, of role `assistant` it may ask `calls`.

    `entry` is the number of the entry that it stands for, `None` for what has none yet.
    """

    role: Role
    text: str = ""
    calls: tuple[AskedCall, ...] = ()
    call: str | None = None
    entry: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as it is offered to a model; `parameters` is a JSON Schema of an object.

    A tool that `only_reads` may be called again without harm.
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    only_reads: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """All that a model reads for one answer; a reply has to fit `schema` where there is one."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    schema: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """A whole answer: text, calls, or both; reasoning and usage where they were reported."""

    text: str = ""
    calls: tuple[AskedCall, ...] = ()
    reasoning: str | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """A piece of an answer while it comes."""

    text: str = ""
    reasoning: str = ""
