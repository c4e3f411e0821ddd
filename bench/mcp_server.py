"""What the MCP server costs beside an empty server of the same SDK.

    python bench/mcp_server.py

Both are started in turns, as a client starts them, and asked for the tools they have; then
each answers calls: the empty one of a tool that returns a text, ours of `verify` (the
receipt of a stored turn, folded anew) and of `respond` with a scripted model.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.figures import Figure, at_most, foreign_load, show

_ROUNDS, _CALLS = 7, 150
_EMPTY = """
import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def tools(ctx, params):
    schema = {"type": "object", "properties": {}}
    return types.ListToolsResult(tools=[types.Tool(name="nothing", input_schema=schema)])

async def call(ctx, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text="ok")])

async def main():
    server = Server("empty", on_list_tools=tools, on_call_tool=call)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class _Server:
    """A server as a process, spoken to in lines."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        began = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._last = 0
        self.ask("initialize", _HELLO)
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.ask("tools/list", {})
        self.seconds = time.perf_counter() - began

    def ask(self, method: str, parameters: Mapping[str, object]) -> dict[str, object]:
        self._last += 1
        self.say({"jsonrpc": "2.0", "id": self._last, "method": method, "params": parameters})
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            value: dict[str, object] = json.loads(line)
            if value.get("id") == self._last:
                if "error" in value:
                    raise RuntimeError(value["error"])
                return value
        raise RuntimeError("the server went away")

    def call(self, tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def say(self, value: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(value).encode() + b"\n")
        self._process.stdin.flush()

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()


def _timed(call: Callable[[], object], count: int) -> float:
    taken: list[float] = []
    for _ in range(count):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return median(taken)


def _figures(folder: Path) -> list[Figure]:
    script = folder / "script.jsonl"
    script.write_text('{"say": "Done, see entry 2 and entry 9."}\n' * (3 * _CALLS))
    empty = folder / "empty.py"
    empty.write_text(_EMPTY)
    base = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    ours = base | {
        "COUNTERFOIL_HOME": str(folder / "home"),
        "COUNTERFOIL_MODEL": f"scripted:{script}",
    }
    commands = {
        "empty": ([sys.executable, str(empty)], base),
        "ours": ([sys.executable, "-m", "counterfoil", "mcp"], ours),
    }
    starts: dict[str, list[float]] = {"empty": [], "ours": []}
    for number in range(_ROUNDS + 1):
        for name, (command, environment) in commands.items():
            server = _Server(command, environment)
            if number:  # the first writes bytecode
                starts[name].append(server.seconds)
            server.end()
    nothing, verify, respond = _calls(commands)
    start, bare = median(starts["ours"]), median(starts["empty"])
    return [
        Figure("an empty server, to its first answer", f"{bare * 1000:.0f} ms"),
        Figure("counterfoil mcp, to its first answer", f"{start * 1000:.0f} ms"),
        at_most("ours / empty", start / bare, 1.3),
        Figure("a call of the empty server", f"{nothing * 1000:.2f} ms"),
        at_most("verify, more than that", (verify - nothing) * 1000, 1.5, " ms"),
        Figure("respond, a whole turn of two entries", f"{respond * 1000:.2f} ms"),
    ]


def _calls(commands: Mapping[str, tuple[list[str], dict[str, str]]]) -> tuple[float, float, float]:
    """Return the seconds of a call of the empty server, of `verify`, and of `respond`."""
    empty, ours = (_Server(*commands[name]) for name in ("empty", "ours"))
    first = ours.call("respond", {"prompt": "Go."})
    value = first["result"]["structuredContent"]  # type: ignore[index]
    thread = {"thread_id": value["thread_id"]}
    seen = {"receipt": value["receipt"]}
    empty.call("nothing", {})
    nothing = _timed(lambda: empty.call("nothing", {}), _CALLS)
    verify = _timed(lambda: ours.call("verify", seen), _CALLS)
    respond = _timed(lambda: ours.call("respond", {"prompt": "Go on.", **thread}), _CALLS)
    empty.end()
    ours.end()
    return nothing, verify, respond


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="counterfoil-bench-") as folder, foreign_load() as load:
        figures = _figures(Path(folder))
    show("MCP server", figures, load.cores)


if __name__ == "__main__":
    main()
