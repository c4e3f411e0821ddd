"""MCP servers whose tools threads have: one loop in one thread of its own serves them all.

A tool blocks its caller, as tools do, while the call runs in the loop; it ends when it is
cancelled or takes too long. What a server says of its tools is data: it is offered in the
server's name, bounded, and never becomes part of any instructions.
"""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotYetError
from threading import Lock, Thread
from typing import Any, TypeVar

from mcp import types
from mcp.shared.exceptions import MCPError

from counterfoil.adapters.mcp_client.answers import tool_answer
from counterfoil.adapters.mcp_client.connection import CONNECTING, Connection
from counterfoil.adapters.mcp_client.naming import offered_name
from counterfoil.core.errors import CounterfoilError
from counterfoil.core.messages import ToolSpec
from counterfoil.core.plain import one_line
from counterfoil.ports.tools import CallContext, Tool, ToolAnswer

T = TypeVar("T")

SECONDS = 120.0
"""Seconds that a call may take."""

_LOOK = 0.05
"""Seconds after which a call looks whether it is still wanted."""

_DESCRIPTION = 1000
"""Characters of a description that are offered."""

_LARGEST_SCHEMA = 16 * 1024
"""Characters of a schema of arguments that are offered; a larger one is left to its server."""


class McpToolServers:
    """The servers that the configuration names; none is started before its tools are asked for.

    `servers` are their tables by name: a command with arguments and variables, or a URL.
    """

    def __init__(
        self, servers: Mapping[str, Mapping[str, object]], *, seconds: float = SECONDS
    ) -> None:
        self._servers = servers
        self._seconds = seconds
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        self._connections: dict[str, Connection] = {}
        self._tools: dict[str, McpTool] | None = None
        self.faults: dict[str, str] = {}
        """Servers whose tools cannot be had, or not all of them, and why."""

    def tools(self) -> Sequence[Tool]:
        """Return the tools of every server that can be had, listed once; see `faults`."""
        with self._lock:
            if self._tools is None:
                self._tools = self._listed()
            return tuple(self._tools.values())

    def server_of(self, name: str) -> str:
        """Return the server of a tool by the name it is offered under; empty: there is none."""
        tool = (self._tools or {}).get(name)
        return "" if tool is None else tool.server

    def call(
        self, server: str, tool: str, arguments: Mapping[str, object], context: CallContext
    ) -> ToolAnswer:
        """Return what a server answers; what it cannot do is an answer too."""
        connection = self._connections.get(server)
        if connection is None:
            return ToolAnswer(output=f"MCP server {server!r} is not connected", outcome="error")
        running = self._begin(connection.call(tool, arguments))
        for _ in range(max(round(self._seconds / _LOOK), 1)):
            if context.is_cancelled():
                running.cancel()
                return ToolAnswer(output="", outcome="cancelled")
            try:
                return tool_answer(running.result(_LOOK))
            except NotYetError:
                if running.done():  # the call itself took too long, by its own clock
                    break
            except Exception as error:  # noqa: BLE001 - whatever a server does, the model reads it
                return ToolAnswer(output=_said(server, error), outcome="error")
        running.cancel()
        return ToolAnswer(
            output=f"MCP server {server!r} did not answer in {self._seconds:g} s", outcome="error"
        )

    def close(self) -> None:
        """Disconnect from every server, and end those that were started here."""
        with self._lock:
            loop, thread = self._loop, self._thread
            if loop is None or thread is None:
                return
            running = [self._begin(one.leave()) for one in self._connections.values()]
            for one in running:
                one.result(2 * CONNECTING)
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            self._loop = self._thread = self._tools = None
            self._connections = {}

    def _listed(self) -> dict[str, "McpTool"]:
        found: dict[str, McpTool] = {}
        asked = {name: self._begin(self._tools_of(name)) for name in self._servers}
        for server, running in asked.items():
            try:
                tools, more = running.result()
            except CounterfoilError as error:
                self.faults[server] = error.diagnosis()
                continue
            if more:
                self.faults[server] = f"{len(tools) + more} tools; {len(tools)} are offered"
            for tool in tools:
                made = McpTool(self, server, tool)
                found.setdefault(made.spec.name, made)
        return found

    async def _tools_of(self, server: str) -> tuple[list[types.Tool], int]:
        connection = self._connections[server] = Connection(server, self._servers[server])
        return await connection.tools()

    def _begin(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Have `work` done in the loop, which runs from the first time on."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = Thread(target=_run, args=(self._loop,), name="mcp-servers", daemon=True)
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)


class McpTool:
    """One tool of a server, offered as `server__tool`."""

    def __init__(self, servers: McpToolServers, server: str, tool: types.Tool) -> None:
        self._servers = servers
        self._name = tool.name
        self.server = server
        self.spec = ToolSpec(
            name=offered_name(server, tool.name),
            description=_described(server, tool),
            parameters=_parameters(tool),
        )

    def run(self, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        """Return what the server answers."""
        return self._servers.call(self.server, self._name, arguments, context)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


def _described(server: str, tool: types.Tool) -> str:
    """Return what the server says of its tool, as its words: no one else vouches for them."""
    said = one_line(tool.description or tool.title or "", _DESCRIPTION)
    return f"A tool of the MCP server {server!r}, which says: {said or 'nothing'}"


def _parameters(tool: types.Tool) -> Mapping[str, object]:
    """Return the schema of the arguments, one that is an object's whatever the server wrote."""
    schema: Mapping[str, object] = {**tool.input_schema, "type": "object"}
    if len(str(schema)) > _LARGEST_SCHEMA:
        return {"type": "object"}
    return schema if isinstance(schema.get("properties"), dict) else {**schema, "properties": {}}


def _said(server: str, error: Exception) -> str:
    if isinstance(error, CounterfoilError):
        return error.diagnosis()
    if isinstance(error, MCPError):
        return f"MCP server {server!r} refused the call: {error.message}"
    what = "the call was given up" if isinstance(error, CancelledError) else str(error)
    return f"MCP server {server!r}: {what or type(error).__name__}"
