"""An agent in memory that asks for approvals, and the other side of the protocol."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from counterfoil.core.events import ApprovalDecided, ApprovalRequested, CommandExited
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.core.messages import AskedCall, ToolSpec
from counterfoil.engine.call_tool import Arguments, OfferedTool
from counterfoil.engine.effects import AskApproval, Record, Turn
from counterfoil.ports.tools import ApprovalAnswer, ApprovalRequest, ToolAnswer
from engine.agent_world import World, calls, says, world

T = TypeVar("T")
SECONDS = 30
"""Longer than anything here takes."""

CASE_SCRIPT = "".join(
    f"{json.dumps(step)}\n"
    for step in (
        *(
            step
            for turn in range(1, 4)
            for step in (
                {"call": [{"tool": "inspect", "arguments": {"what": "status"}}]},
                {"say": f"Looked, turn {turn}."},
            )
        ),
        {
            "call": [
                {"tool": "inspect", "arguments": {"what": "config"}},
                {"tool": "system_info", "arguments": {"topic": "ports"}},
            ]
        },
        {
            "say": "Report:\n"
            + "".join(f"{n}. Step {n} done. Result (entry {18 + n})\n" for n in range(1, 8))
            + "8. Steps 8 to 12: (entry 26), (entry 27), (entry 28), (entry 29), (entry 30)\n"
            "(All steps logged in entries 16-30)",
            "usage": {"input": 900, "output": 60},
        },
    )
)
"""The case of agent.md section 8, for a scripted model: three turns, and the report."""

MISSING = "cited but not in this conversation: entries 19–30 (12)"


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a test in a loop of its own, for a bounded time."""
    return asyncio.run(asyncio.wait_for(main, SECONDS))


def request(level: str = "moderate", shown: str = "make test", id_: str = "q1") -> ApprovalRequest:
    """Return a question."""
    return ApprovalRequest(
        id=id_,
        thread=ThreadId("t1"),
        turn=1,
        call="c1",
        command=shown,
        shown=shown,
        directory="/home/ann/shop",
        pattern="make *",
        level=level,
        reasons=(f"{level}: make test",),
    )


def asking_world(level: str = "moderate", count: int = 1) -> World:
    """Return a world whose tool `run_command` asks before it says that it ran."""
    steps = [calls(("run_command", '{"command":"make test"}')) for _ in range(count)]
    made = world([*steps, says("Done.")])

    def answer(call: AskedCall, arguments: Arguments, turn: int) -> Turn[ToolAnswer]:
        del arguments
        asked = request(level, id_=EventId.from_number(turn * 100 + made.model.asked.__len__()))
        yield Record(payload=ApprovalRequested(command="make test", level=level), call=call.id)
        said = yield AskApproval(request=asked)
        assert isinstance(said, ApprovalAnswer)
        decided = ApprovalDecided(
            command="make test",
            decision=said.decision,
            scope=said.scope,
            by=said.by,
            reason=said.reason,
        )
        yield Record(payload=decided, call=call.id)
        if said.decision != "approved":
            return ToolAnswer(output=f"refused: {said.reason}", outcome="denied")
        yield Record(payload=CommandExited(command="make test", exit_status=0), call=call.id)
        return ToolAnswer(output="all passed")

    spec = ToolSpec(name="run_command", description="Run.", parameters={"type": "object"})
    made.offered = {"run_command": OfferedTool(spec=spec, answer=answer)}
    return made


class Other:
    """The other side: keeps what it is told, waits for it, and says lines."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.is_gone = False
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._end = object()
        self._news = asyncio.Event()
        self._read = 0

    def sink(self, line: bytes) -> None:
        """Take a line, unless it has gone away."""
        if self.is_gone:
            raise BrokenPipeError
        self.told.append(json.loads(line))
        self._news.set()

    async def source(self) -> AsyncIterator[bytes | None]:
        """Yield what it says, to its end."""
        while (line := await self._lines.get()) != b"\0":
            yield line

    def say(self, type_: str, **more: object) -> None:
        """Say one line."""
        self.say_raw(json.dumps({"type": type_, **more}).encode())

    def say_raw(self, line: bytes | None) -> None:
        """Say bytes; `None` stands for a line that was too long."""
        self._lines.put_nowait(line)

    def end(self) -> None:
        """Say nothing more."""
        self._lines.put_nowait(b"\0")

    async def until(self, type_: str, **fields: object) -> dict[str, Any]:
        """Wait for the next line of that type and with those fields, and return it."""
        while True:
            while self._read < len(self.told):
                value = self.told[self._read]
                self._read += 1
                if value["type"] == type_ and all(value[k] == v for k, v in fields.items()):
                    return value
            self._news.clear()
            await self._news.wait()

    def of(self, type_: str) -> list[dict[str, Any]]:
        """Return what it was told of that type."""
        return [value for value in self.told if value["type"] == type_]
