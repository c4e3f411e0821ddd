"""The connection to one server: made when it is first needed, and again once it was lost.

It lives in one task of the loop, since the SDK's contexts have to be left where they were
entered. Nothing here waits without a bound but for a server's answer, which the caller
bounds.
"""

import asyncio
import logging
from asyncio import FIRST_COMPLETED
from collections.abc import Coroutine, Mapping
from typing import cast

from mcp import Client, StdioServerParameters, stdio_client, types
from mcp.shared.exceptions import MCPError

from counterfoil.adapters.mcp_client.last_words import LastWords
from counterfoil.core.errors import UnavailableError

CONNECTING = 20.0
"""Seconds for a server to start and to list its tools."""

MOST_TOOLS = 128
"""Tools of one server that are offered; what is past them is counted, where it ends."""

_MOST_PAGES = 64

# What a server prints where only protocol belongs is skipped; it is not ours to print.
logging.getLogger("mcp.client.stdio").setLevel(logging.CRITICAL)


class Connection:
    """One server, connected while it is needed."""

    def __init__(self, name: str, table: Mapping[str, object]) -> None:
        self.name = name
        self._table = table
        self._making = asyncio.Lock()
        self._client: Client | None = None
        self._leaving = asyncio.Event()
        self._holding: asyncio.Task[None] | None = None

    async def tools(self) -> tuple[list[types.Tool], int]:
        """Return the tools of the server that are offered, and how many are not.

        Raises:
            UnavailableError: It cannot be connected to, or does not list its tools.
        """
        client = await self._connected()
        found: list[types.Tool] = []
        cursor = None
        try:
            async with asyncio.timeout(CONNECTING):
                for _ in range(_MOST_PAGES):
                    page = await client.list_tools(cursor=cursor)
                    found.extend(page.tools)
                    if (cursor := page.next_cursor) is None:
                        break
        except Exception as error:
            await self.leave()
            raise self._unavailable("does not list its tools", error) from error
        return found[:MOST_TOOLS], max(len(found) - MOST_TOOLS, 0)

    async def call(self, tool: str, arguments: Mapping[str, object]) -> types.CallToolResult:
        """Return the result of a call.

        Raises:
            UnavailableError: The server cannot be connected to, or left during the call.
            MCPError: The server refused the call.
        """
        client = await self._connected()
        try:
            return await self._while_held(client.call_tool(tool, dict(arguments)))
        except MCPError as error:
            if error.code != types.CONNECTION_CLOSED:
                raise
            await self.leave()
            raise self._unavailable("ended during the call", error) from error

    async def leave(self) -> None:
        """Disconnect; a process that was started is ended. The next call connects again."""
        holding, self._holding, self._client = self._holding, None, None
        self._leaving.set()
        if holding is not None:
            await asyncio.wait({holding}, timeout=CONNECTING)

    async def _while_held(
        self, calling: Coroutine[object, object, types.CallToolResult]
    ) -> types.CallToolResult:
        """Return the result of a call, or give it up once the connection has broken down."""
        call = asyncio.ensure_future(calling)
        holding = self._holding
        try:
            await asyncio.wait({call, holding} if holding else {call}, return_when=FIRST_COMPLETED)
            if not call.done():
                raise MCPError(code=types.CONNECTION_CLOSED, message="the connection broke down")
            return await call
        finally:
            call.cancel()

    async def _connected(self) -> Client:
        async with self._making:
            if self._client is None:
                self._client = await self._made()
            return self._client

    async def _made(self) -> Client:
        self._leaving = leaving = asyncio.Event()
        words = LastWords()
        ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._holding = asyncio.ensure_future(self._hold(ready, leaving, words))
        try:
            async with asyncio.timeout(CONNECTING):
                return await asyncio.shield(ready)
        except Exception as error:
            self._holding.cancel()
            await asyncio.wait({self._holding})
            raise self._unavailable("cannot be connected to", error, words.last_line()) from error

    async def _hold(
        self, ready: "asyncio.Future[Client]", leaving: asyncio.Event, words: LastWords
    ) -> None:
        """Enter the connection, stay in it until it is left, and leave it."""
        try:
            async with self._entered(words) as client:
                ready.set_result(client)
                await leaving.wait()
        except Exception as error:  # noqa: BLE001 - whatever it is, there is no connection
            if not ready.done():
                ready.set_exception(error)
        finally:
            words.close()
            ready.cancel()

    def _entered(self, words: LastWords) -> Client:
        url = self._table.get("url")
        if isinstance(url, str):
            if not url.startswith(("http://", "https://")):
                raise UnavailableError(
                    f"url = {url!r} of MCP server {self.name!r}", "http or https"
                )
            return Client(url)
        arguments = cast("list[object]", self._table.get("args", []))
        environment = cast("Mapping[str, object]", self._table.get("env", {}))
        parameters = StdioServerParameters(
            command=str(self._table["command"]),
            args=[str(argument) for argument in arguments],
            env={name: str(value) for name, value in environment.items()},
            encoding_error_handler="replace",  # one bad byte would end the connection
        )
        return Client(stdio_client(parameters, errlog=words.file))

    def _unavailable(self, what: str, error: Exception, said: str = "") -> UnavailableError:
        why = said or _why(error)
        return UnavailableError(f"MCP server {self.name!r} {what}: {why}")


def _why(error: BaseException) -> str:
    """Return the first cause in a group of them, in words."""
    if isinstance(error, TimeoutError):
        return f"no answer in {CONNECTING:g} s"
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return _why(group.exceptions[0])
    return str(error) or type(error).__name__
