"""A server over an agent in memory, for tests; run as a program it is one over stdio."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar

from mcp import Client
from mcp_types import CallToolResult

from counterfoil.adapters.shell import ShfmtParser
from counterfoil.core.events import ThreadClosed
from counterfoil.core.gate.grants import ThreadGrants
from counterfoil.core.gate.policy import load_policy
from counterfoil.core.ids import ThreadId
from counterfoil.core.messages import AskedCall, ModelAnswer, ModelRequest
from counterfoil.engine.call_tool import Arguments, OfferedTool
from counterfoil.engine.effects import Turn
from counterfoil.engine.gate import GateDesk
from counterfoil.engine.run_command import SPEC, CommandDesk, run_command
from counterfoil.faces.mcp import claim_descriptors, serve_http, serve_stdio
from counterfoil.faces.mcp.server import McpFace
from counterfoil.faces.mcp.services import McpServices, PageStores
from counterfoil.ports.tools import CommandEnd, CommandRequest, ToolAnswer
from engine.agent_world import Step, TableTool, World, calls, case_section_8, says, world

Given: TypeAlias = Any
"""JSON of any shape, and what a step hands on."""

T = TypeVar("T")

SECONDS = 20
"""Longer than anything here takes; a test that waits longer has failed."""

TOKEN = "a-token-of-a-test"

SERVER = Path(__file__)
"""This file, which run as a program is a server."""

_TESTS = Path(__file__).parents[2]

ENVIRONMENT = {
    "PYTHONPATH": f"{_TESTS.parent / 'src'}{os.pathsep}{_TESTS}",
    "PYTHONWARNINGS": "always",
    "PYTHONUTF8": "0",
    "LC_ALL": "C",
}
"""What such a program finds, beside what the tests do."""


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` to its end, or fail after a bounded time."""
    return asyncio.run(asyncio.wait_for(main, SECONDS))


class EchoRunner:
    """Runs nothing: says what it was told to run, and keeps it."""

    sandbox = "bubblewrap"

    def __init__(self) -> None:
        self.ran: list[str] = []

    def run(self, request: CommandRequest, is_cancelled: Callable[[], bool]) -> CommandEnd:
        """Return an end whose output is the command."""
        del is_cancelled
        self.ran.append(request.command)
        return CommandEnd(exit_status=0, stdout=f"{request.command}\n", sandbox=self.sandbox)


@dataclass
class Checked:
    """What the checks beside the agent were asked."""

    files: list[tuple[str, bytes]] = field(default_factory=list)
    stores: list[PageStores] = field(default_factory=list)
    handles: list[str] = field(default_factory=list)

    def check(self, name: str, file: BinaryIO) -> bytes:
        """Return a document that says what was read."""
        content = file.read()
        self.files.append((name, content))
        return json.dumps({"schema": 1, "source": {"path": name, "bytes": len(content)}}).encode()

    def lint(self, stores: PageStores) -> bytes:
        """Return a document without findings."""
        self.stores.append(stores)
        return b'{"schema":1,"findings":[]}'

    def resolve(self, handles: Sequence[str], stores: PageStores) -> bytes:
        """Return a document without resolutions."""
        self.stores.append(stores)
        self.handles.extend(handles)
        return b'{"schema":1,"resolutions":[]}'


@dataclass
class Served:
    """A server and everything behind it."""

    world: World
    checked: Checked
    runner: EchoRunner
    face: McpFace
    services: McpServices

    @property
    def views(self) -> Given:
        """The record, as the agent shows it."""
        return self.services.agent.views


def served(made: World, *, roots: Sequence[str] = (), approval_seconds: float = 600.0) -> Served:
    """Return a server over `made`, whose threads can also run commands through a gate."""
    checked, runner = Checked(), EchoRunner()
    made.runner = runner
    made.offered["run_command"] = OfferedTool(spec=SPEC, answer=_gated(made))
    agent = made.agent()
    if approval_seconds != 600.0:
        agent = replace(agent, threads=made.threads(approval_seconds))
    services = McpServices(
        agent=agent,
        check=checked.check,
        lint=checked.lint,
        resolve=checked.resolve,
        roots=tuple(roots),
        version="1.2.3",
    )
    return Served(made, checked, runner, McpFace(services), services)


def serving(*steps: Step, roots: Sequence[str] = ()) -> Served:
    """Return a server whose model takes `steps`."""
    return served(world(steps), roots=roots)


def _gated(made: World) -> Callable[[AskedCall, Arguments, int], Turn[ToolAnswer]]:
    granted = ThreadGrants()

    def answer(call: AskedCall, arguments: Arguments, turn: int) -> Turn[ToolAnswer]:
        gate = GateDesk(
            thread=ThreadId("t1"),
            turn=turn,
            clock=made.clock,
            policy=load_policy(),
            granted=granted,
            sandbox="bubblewrap",
        )
        desk = CommandDesk(
            gate=gate,
            parser=ShfmtParser(),
            directory="/shop",
            find_directory=lambda path: path,
        )
        return run_command(desk, call.id, arguments)

    return answer


def asks_command(command: str) -> ModelAnswer:
    """Return an answer that asks for a command."""
    return calls(("run_command", json.dumps({"command": command})))


class EchoModel:
    """A model that names the prompt of its own turn, calls a tool with it, and repeats it."""

    name, window = "echo", 1 << 30

    async def ask(self, request: ModelRequest, hear: Callable[[Any], None]) -> ModelAnswer:
        """Return a call with the last prompt, then a reply that has it."""
        del hear
        await asyncio.sleep(0)
        prompts = [message.text for message in request.messages if message.role == "user"]
        if request.messages[-1].role == "user":
            return calls(("note", json.dumps({"what": prompts[-1]})))
        return ModelAnswer(text=f"done {prompts[-1]}")


def echoing() -> World:
    """Return a world whose model repeats what it is asked, and notes it by a tool."""

    def note(arguments: Mapping[str, object], _: object) -> ToolAnswer:
        return ToolAnswer(output=f"noted {arguments['what']}")

    made = world([], TableTool("note", note))
    object.__setattr__(made, "model", EchoModel())  # another model of the same port
    return made


def structured(result: CallToolResult) -> dict[str, Any]:
    """Return the structured content of a result."""
    value = result.structured_content
    assert isinstance(value, dict)
    return value


def text_of(result: CallToolResult) -> str:
    """Return the text of a result, which has nothing else."""
    (content,) = result.content
    assert content.type == "text"
    return content.text


async def read_json(client: Client, uri: str) -> Given:
    """Return the JSON of a resource."""
    (contents,) = (await client.read_resource(uri)).contents
    assert contents.mime_type == "application/json"
    assert hasattr(contents, "text")
    return json.loads(contents.text)


def main(which: str) -> int:
    """Serve over standard input and output, as the command does, or over HTTP."""
    if which == "http":
        made = served(world([says("Done.")]))
        code = serve_http(made.services, "127.0.0.1", 0, TOKEN)
        closed = [e.thread for e in made.world.log.events() if isinstance(e.payload, ThreadClosed)]
        sys.stderr.write(f"closed: {' '.join(closed)}\n")
        return code
    descriptors = claim_descriptors()
    print("a stray line of an import")  # noqa: T201 - what must not reach the client
    worlds = {"case": case_section_8(), "echo": echoing(), "says": world([says("Done.")] * 9)}
    return serve_stdio(served(worlds[which]).services, descriptors)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
