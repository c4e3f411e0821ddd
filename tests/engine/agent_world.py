"""An agent in memory: a scripted model, tools that answer what they are told, a clock that counts.

`build_agent` makes one for any face; `case_section_8` is the case of agent.md section 8.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from threading import Lock
from typing import TypeAlias

from counterfoil.adapters.memory import MemoryEntryStore, MemoryEventLog, MemoryThreadLeases
from counterfoil.core.errors import NotFoundError
from counterfoil.core.events import ThreadOpened, Usage
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.core.messages import AskedCall, Delta, ModelAnswer, ModelRequest, ToolSpec
from counterfoil.core.output_references import Recalling
from counterfoil.engine.agent import Agent, GrantRow
from counterfoil.engine.call_tool import Arguments, OfferedTool
from counterfoil.engine.effects import RunTool, Turn
from counterfoil.engine.performing import RecordPorts
from counterfoil.engine.recall import MemoryTool
from counterfoil.engine.thread_parts import Foundation, Kit
from counterfoil.engine.thread_views import ThreadViews
from counterfoil.engine.threads import Threads
from counterfoil.engine.turn_result import PagesCited
from counterfoil.ports.record import EntryStore, EventLog, ThreadLeases
from counterfoil.ports.tools import (
    ApprovalAnswer,
    ApprovalRequest,
    CallContext,
    Tool,
    ToolAnswer,
    ToolRunner,
)

Step: TypeAlias = "ModelAnswer | BaseException | Callable[[ModelRequest], ModelAnswer] | str"
"""What the model does next: answers, fails, answers by what it was asked, or `wait`s."""


class CountingClock:
    """A clock whose time is the number of times it was asked; its ids count as well."""

    def __init__(self, first_id: int = 1) -> None:
        self._times, self._ids = count(60_000), count(first_id)
        self._lock = Lock()
        self.back = 0

    def now(self) -> str:
        """Return a time a millisecond after the last, less `back`."""
        with self._lock:
            at = next(self._times) - self.back
        seconds, milliseconds = divmod(at, 1000)
        minutes, seconds = divmod(seconds, 60)
        return f"2026-03-01T09:{minutes:02}:{seconds:02}.{milliseconds:03}Z"

    def monotonic(self) -> float:
        """Return a time that never moves: nothing takes any."""
        return 0.0

    def new_id(self) -> EventId:
        """Return the next id."""
        with self._lock:
            return EventId.from_number(next(self._ids))


class StepModel:
    """A model that takes its steps in order, and keeps what it was asked."""

    def __init__(
        self, steps: Iterable[Step], name: str = "steps", window: int | None = None
    ) -> None:
        self.steps = list(steps)
        self.asked: list[ModelRequest] = []
        self.name, self.window = name, window
        self.waiting = asyncio.Event()

    async def ask(self, request: ModelRequest, hear: Callable[[Delta], None]) -> ModelAnswer:
        """Take the next step; `wait` waits until it is cancelled."""
        self.asked.append(request)
        step = self.steps.pop(0)
        if isinstance(step, str):
            hear(Delta(text=step))
            self.waiting.set()
            await asyncio.Event().wait()
        if isinstance(step, BaseException):
            raise step
        answer = step(request) if callable(step) else step
        assert isinstance(answer, ModelAnswer)
        for piece in answer.text.splitlines(keepends=True):
            hear(Delta(text=piece))
        return answer


class TableTool:
    """A tool that answers what the table of its arguments says, or what a function returns."""

    def __init__(
        self,
        name: str,
        answer: ToolAnswer | Callable[[Mapping[str, object], CallContext], ToolAnswer],
        *,
        only_reads: bool = False,
    ) -> None:
        self.spec = ToolSpec(
            name=name,
            description=f"The tool {name}.",
            parameters={"type": "object", "properties": {"what": {"type": "string"}}},
            only_reads=only_reads,
        )
        self._answer = answer

    def run(self, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        """Return what was said at the start."""
        return self._answer(arguments, context) if callable(self._answer) else self._answer


class YesApprover:
    """A person who approves everything, or says another thing to everything."""

    def __init__(self, answer: ApprovalAnswer | None = None) -> None:
        self.answer = answer or ApprovalAnswer(decision="approved")
        self.asked: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Return the one answer there is."""
        self.asked.append(request)
        return self.answer


def plain_tool(tool: Tool) -> OfferedTool:
    """Return `tool` as it is offered: run, and nothing else."""

    def answer(call: AskedCall, arguments: Arguments, turn: int) -> Turn[ToolAnswer]:
        del turn
        sent = yield RunTool(tool=tool.spec.name, arguments=arguments, call=call.id)
        assert isinstance(sent, ToolAnswer)
        return sent

    return OfferedTool(spec=tool.spec, answer=answer)


def read_json(text: str, schema: Mapping[str, object]) -> Arguments | str:
    """Read arguments as JSON, whatever the schema says."""
    del schema
    try:
        found = json.loads(text or "{}")
    except ValueError as error:
        return f"not JSON: {error}"
    return found if isinstance(found, dict) else "no object"


@dataclass
class World:
    """The parts of an agent in memory, made before the agent that has them."""

    model: StepModel
    log: EventLog = field(default_factory=MemoryEventLog)
    entries: EntryStore = field(default_factory=MemoryEntryStore)
    leases: ThreadLeases = field(default_factory=MemoryThreadLeases)
    clock: CountingClock = field(default_factory=CountingClock)
    tools: dict[str, Tool] = field(default_factory=dict)
    offered: dict[str, OfferedTool] = field(default_factory=dict)
    runner: ToolRunner | None = None
    pages: Callable[[str], PagesCited | None] = field(default=lambda _: None)
    typed: Callable[[str, int], Turn[ToolAnswer]] | None = None
    instructions: str = "Be brief."
    models: dict[str, StepModel] = field(default_factory=dict)

    def kit(self, thread: ThreadId, opened: ThreadOpened, *, model: str | None) -> Kit:
        """Return the kit that every thread has, with the tools that it names."""
        del thread
        offered = {**{name: plain_tool(tool) for name, tool in self.tools.items()}, **self.offered}
        names = offered if opened.tools is None else opened.tools
        for name in names:
            if name not in offered:
                raise NotFoundError(f"no tool {name!r}", f"one of {', '.join(offered)}")
        if model not in (None, self.model.name, *self.models):
            raise NotFoundError(f"no model {model!r}", f"{self.model.name!r}")
        return Kit(
            model=self.models.get(model or "", self.model),
            offered={name: offered[name] for name in names},
            tools=self.tools,
            runner=self.runner,
            pages=self.pages,
            typed=self.typed,
        )

    @property
    def ports(self) -> RecordPorts:
        """Where everything is recorded."""
        return RecordPorts(log=self.log, entries=self.entries, clock=self.clock)

    def threads(self, approval_seconds: float = 600.0) -> Threads:
        """Return threads over these parts, as another process would have them."""
        return Threads(
            Foundation(
                ports=self.ports,
                leases=self.leases,
                workshop=self,
                read_arguments=read_json,
                versions={"counterfoil": "0"},
                approval_seconds=approval_seconds,
            )
        )

    def agent(self) -> Agent:
        """Return the agent as a face has it."""

        async def models() -> Sequence[str]:
            return (self.model.name, *self.models)

        def recalling(opened: ThreadOpened) -> Recalling:
            return Recalling(has_memory="memory" in (opened.tools or ()))

        def grants(thread: ThreadId | None) -> Sequence[GrantRow]:
            del thread
            return ()

        return Agent(
            threads=self.threads(),
            views=ThreadViews(self.log, self.entries, recalling),
            config=lambda: {"model": self.model.name},
            grants=grants,
            revoke=lambda _: False,
            models=models,
            latest=lambda number: list(self.log.events())[-number:],
            tools=lambda: [(name, tool.spec.description) for name, tool in self.tools.items()],
            version="0",
            store="memory",
            confinement=lambda: "none",
        )


def world(steps: Iterable[Step], *tools: Tool, window: int | None = None) -> World:
    """Return a world whose model takes `steps` and whose threads have `tools` and `memory`."""
    made = World(model=StepModel(steps, window=window))
    made.tools = {tool.spec.name: tool for tool in (*tools, MemoryTool(made.log, made.entries))}
    return made


def build_agent(steps: Iterable[Step], *tools: Tool, window: int | None = None) -> Agent:
    """Return an agent in memory whose model takes `steps`."""
    return world(steps, *tools, window=window).agent()


def says(text: str, *, usage: Usage | None = None, reasoning: str | None = None) -> ModelAnswer:
    """Return an answer that is a reply."""
    return ModelAnswer(text=text, usage=usage, reasoning=reasoning)


_ids = count(1)


def calls(*asked: tuple[str, str], text: str = "") -> ModelAnswer:
    """Return an answer that asks for calls: names of tools and the text of arguments."""
    return ModelAnswer(
        text=text,
        calls=tuple(
            AskedCall(id=f"call_{next(_ids)}", tool=tool, arguments=arguments)
            for tool, arguments in asked
        ),
    )


INSPECT = TableTool("inspect", ToolAnswer(output='{"model": "steps"}'), only_reads=True)
SYSTEM_INFO = TableTool("system_info", ToolAnswer(output="tcp 127.0.0.1:22\n"), only_reads=True)

REPORT = "\n".join(
    [
        "Report:",
        *(f"{step}. Step {step} done. Result (entry {18 + step})" for step in range(1, 8)),
        "8. Steps 8 to 12 done: (entry 26), (entry 27), (entry 28), (entry 29), (entry 30)",
        "(All steps logged in entries 16-30)",
    ]
)
"""A report of eight steps that cites entries 19 to 30, and 16 to 30."""

MISSING_LINE = "cited but not in this conversation: entries 19–30 (12)"
RAN_LINE = "ran: inspect · system_info"

CASE_STEPS: tuple[Step, ...] = (
    *(
        step
        for turn in range(1, 4)
        for step in (calls(("inspect", '{"what":"status"}')), says(f"Looked, turn {turn}."))
    ),
    calls(("inspect", '{"what":"config"}'), ("system_info", '{"what":"ports"}')),
    says(REPORT, usage=Usage(input=900, output=60)),
)
"""Three turns that make a thread of 13 entries, and the turn of section 8."""

CASE_PROMPTS = ("One.", "Two.", "Three.", "Check everything in eight steps and report.")


def case_section_8() -> World:
    """Return the world of agent.md section 8: four prompts, the last replies with the report."""
    return world(CASE_STEPS, INSPECT, SYSTEM_INFO)
