"""Screens under test: run without a terminal, read as the characters that stand on them."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from textual.app import App
from textual.pilot import Pilot

from counterfoil.core.events import ApprovalDecided, ApprovalRequested, CommandExited
from counterfoil.core.ids import ThreadId
from counterfoil.core.messages import AskedCall, ToolSpec
from counterfoil.engine.agent import Agent
from counterfoil.engine.call_tool import Arguments, OfferedTool
from counterfoil.engine.effects import AskApproval, Record, Turn
from counterfoil.engine.thread_parts import Opening
from counterfoil.faces.tui.box import PromptBox
from counterfoil.faces.tui.conversation import ConversationApp
from counterfoil.faces.tui.look import FaceApp, Look
from counterfoil.ports.tools import ApprovalAnswer, ApprovalRequest, ToolAnswer

GOLDEN = Path(__file__).parents[2] / "golden" / "tui"
T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a test in a loop of its own, for a bounded time."""
    return asyncio.run(asyncio.wait_for(main, 60))


def text_of(app: App[int]) -> str:
    """Return the characters on the screen, line by line."""
    strips = app.screen._compositor.render_strips()
    lines = ["".join(segment.text for segment in strip).rstrip() for strip in strips]
    return "\n".join(lines) + "\n"


def colours_of(app: App[int]) -> set[str]:
    """Return the colours that stand on the screen, by name."""
    return {
        colour.name
        for strip in app.screen._compositor.render_strips()
        for segment in strip
        if segment.style is not None
        for colour in (segment.style.color, segment.style.bgcolor)
        if colour is not None
    }


async def assert_golden(pilot: Pilot[int], name: str) -> None:
    """Compare the screen with what is kept; `COUNTERFOIL_GOLDEN=write` keeps it instead."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("COUNTERFOIL_GOLDEN") == "write":
        await pilot.pause(0.3)
        path.write_text(text_of(pilot.app), encoding="utf-8")
    kept = path.read_text(encoding="utf-8")
    for _ in range(200):  # what was scrolled or mounted last may still be on its way
        if text_of(pilot.app) == kept:
            break
        await pilot.pause(0.005)
    assert text_of(pilot.app) == kept


async def until(pilot: Pilot[int], is_so: Callable[[], object]) -> None:
    """Wait until something is so, for a bounded time."""
    for _ in range(1000):
        if is_so():
            await pilot.pause()
            return
        await pilot.pause(0.005)
    raise AssertionError(text_of(pilot.app))


@asynccontextmanager
async def shown(app: FaceApp, size: tuple[int, int] = (80, 24)) -> AsyncGenerator[Pilot[int]]:
    """Show `app` without a terminal."""
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield pilot
    if isinstance(app, ConversationApp):
        await app.close()


def talk(
    agent: Agent, look: Look | None = None, *, thread: str | None = None, quiet: float = 0
) -> ConversationApp:
    """Return the conversation with `agent`."""
    opening = Opening(thread=ThreadId(thread) if thread else None)
    return ConversationApp(agent, opening, look or Look(), quiet=quiet)


async def type_in(pilot: Pilot[int], text: str) -> None:
    """Put `text` into the box and press Enter."""
    box = pilot.app.screen_stack[0].query_one(PromptBox)
    box.focus()
    box.load_text(text)
    await pilot.press("enter")


async def ask(pilot: Pilot[int], *prompts: str) -> None:
    """Ask, and wait for each reply to be drawn."""
    app = pilot.app
    assert isinstance(app, ConversationApp)
    await until(pilot, lambda: not app.is_busy)
    for prompt in prompts:
        await type_in(pilot, prompt)
        await until(pilot, lambda: not app.is_busy and not app.is_drawing)


def asking_tool(request: ApprovalRequest, answers: list[ApprovalAnswer]) -> OfferedTool:
    """Return a `run_command` that asks about `request`, and tells what it was answered."""

    def answer(call: AskedCall, arguments: Arguments, turn: int) -> Turn[ToolAnswer]:
        del arguments, turn
        yield Record(
            payload=ApprovalRequested(
                command=request.command, level=request.level, shown=request.shown
            ),
            call=call.id,
        )
        said = yield AskApproval(request=request)
        assert isinstance(said, ApprovalAnswer)
        answers.append(said)
        yield Record(
            payload=ApprovalDecided(
                command=request.command, decision=said.decision, scope=said.scope, by=said.by
            ),
            call=call.id,
        )
        if said.decision != "approved":
            return ToolAnswer(output="not approved", outcome="denied")
        yield Record(
            payload=CommandExited(command=request.command, exit_status=3, stdout="a\nb\n"),
            call=call.id,
        )
        return ToolAnswer(output="exit status 3\na\nb\n")

    spec = ToolSpec(name="run_command", description="Run.", parameters={"type": "object"})
    return OfferedTool(spec=spec, answer=answer)


def request(command: str = "git push origin main", level: str = "moderate") -> ApprovalRequest:
    """Return a question about `command`."""
    return ApprovalRequest(
        id="0" * 16,
        thread=ThreadId("t1"),
        turn=1,
        call="c",
        command=command,
        shown=command,
        directory="/home/ann/demo",
        pattern="git push *",
        level=level,
        reasons=("it writes to a remote",),
    )
