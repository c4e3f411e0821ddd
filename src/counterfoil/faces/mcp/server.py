"""The server itself: what the SDK calls, carried out by the parts of this face."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from counterfoil.core.errors import CounterfoilError, InvalidIdError, NotFoundError
from counterfoil.core.ids import ThreadId
from counterfoil.faces.mcp.checks import Checks
from counterfoil.faces.mcp.fitting import fit_text, json_text
from counterfoil.faces.mcp.opened import MOST_OPEN, OpenedThreads
from counterfoil.faces.mcp.resources import (
    JSON,
    ResourceViews,
    listed_resources,
    listed_templates,
    read_resource,
)
from counterfoil.faces.mcp.respond import Answer, Arguments, Context, Respond
from counterfoil.faces.mcp.results import answered, failed, invalid
from counterfoil.faces.mcp.schemas import ARGUMENTS, TOOLS
from counterfoil.faces.mcp.services import McpServices
from counterfoil.wire.arguments import ArgumentFault, read_arguments

NAME = "counterfoil"

_WORKERS = 4 * MOST_OPEN
"""Threads of the process that may block at once: a tool each, and those who record."""

_LOG = logging.getLogger(__name__)

T = TypeVar("T")

_INSTRUCTIONS = (
    "respond asks a local agent and returns its reply with a receipt of what it did, and the"
    " references in it that do not exist. Rows of resources carry references ready to be cited."
)


class McpFace:
    """The server of one process, for any number of clients."""

    def __init__(self, services: McpServices) -> None:
        """Offer `services`; nothing is opened or read yet."""
        self._opened = OpenedThreads(services.agent.threads)
        self._respond = Respond(services.agent, self._opened)
        self._checks = Checks(services)
        self._views = ResourceViews(services.agent)
        self._has_room = False
        self.server: Server[Any] = Server(
            NAME,
            version=services.version,
            instructions=_INSTRUCTIONS,
            lifespan=self._with_room,
            get_tool_input_schema=ARGUMENTS.get,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )

    async def close(self) -> None:
        """End what runs, and close every thread."""
        await self._respond.close()

    @asynccontextmanager
    async def _with_room(self, _: object) -> AsyncGenerator[dict[str, object]]:
        """Let every thread that is open block beside the others, and be recorded meanwhile."""
        if not self._has_room:
            self._has_room = True
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_WORKERS))
        yield {}

    async def _list_tools(self, _: object, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[*TOOLS])

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> Answer:
        return await _contained(self._called(context, params))

    async def _called(self, context: Context, params: types.CallToolRequestParams) -> Answer:
        arguments = _arguments(params)
        if params.name == "respond":
            return await self._respond.call(context, params, arguments)
        if params.name == "close_thread":
            return await self._close_thread(arguments)
        return await asyncio.to_thread(self._checks.call, params.name, arguments)

    async def _close_thread(self, arguments: Arguments) -> types.CallToolResult:
        try:
            thread = ThreadId(str(arguments["thread_id"]))
        except InvalidIdError as error:
            raise invalid(f"argument 'thread_id': {error.diagnosis()}") from error
        try:
            closed = await self._opened.close(thread)
        except CounterfoilError as error:
            return failed(error.diagnosis())
        return answered({"thread_id": str(thread), "closed": closed})

    async def _list_resources(self, _: object, __: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[*listed_resources()])

    async def _list_templates(self, _: object, __: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[*listed_templates()])

    async def _read_resource(
        self, _: object, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        try:
            reading = asyncio.to_thread(read_resource, self._views, params.uri)
            shown = await _contained(reading)
        except NotFoundError as error:
            raise invalid(error.diagnosis()) from error
        except CounterfoilError as error:
            message = fit_text(error.diagnosis())
            raise MCPError(code=types.INTERNAL_ERROR, message=message) from error
        contents = types.TextResourceContents(uri=params.uri, mime_type=JSON, text=json_text(shown))
        return types.ReadResourceResult(contents=[contents])


async def _contained(work: Coroutine[Any, Any, T]) -> T:
    """Do `work`; what is a fault of ours is told as one, and no more of it."""
    try:
        return await work
    except (MCPError, CounterfoilError):
        raise
    except Exception as error:
        _LOG.exception("a request failed")
        message = "an internal error; the standard error of the server has more"
        raise MCPError(code=types.INTERNAL_ERROR, message=message) from error


def _arguments(params: types.CallToolRequestParams) -> Mapping[str, object]:
    schema = ARGUMENTS.get(params.name)
    if schema is None:
        raise invalid(f"no tool {params.name!r}; the tools are: {', '.join(ARGUMENTS)}")
    found = read_arguments(json.dumps(params.arguments or {}), schema, params.name)
    if isinstance(found, ArgumentFault):
        raise invalid(found.message)
    return found
