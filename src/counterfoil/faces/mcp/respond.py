"""The tool `respond`: one turn of a thread, its reply, and what the record says of it."""

import asyncio
import json
import secrets
from collections.abc import Mapping
from typing import Any, Never

from mcp import types
from mcp.server.context import ServerRequestContext

from counterfoil.core.errors import CounterfoilError, InvalidIdError
from counterfoil.core.ids import ThreadId
from counterfoil.engine.agent import Agent
from counterfoil.engine.converse import TurnRequest
from counterfoil.engine.thread_parts import Opening
from counterfoil.engine.turn_result import TurnResult
from counterfoil.faces.mcp.approvals import Question, approver_for, elicitation
from counterfoil.faces.mcp.asked import AskedTurn, Hearing, News
from counterfoil.faces.mcp.fitting import fit
from counterfoil.faces.mcp.opened import OpenedThreads
from counterfoil.faces.mcp.results import failed, invalid
from counterfoil.faces.mcp.rows import call_json
from counterfoil.wire.cited import counts_to_json, missing_to_json
from counterfoil.wire.json_values import is_list, is_object
from counterfoil.wire.receipt import receipt_to_json

Arguments = Mapping[str, object]
Context = ServerRequestContext[Any, Any]
Answer = types.CallToolResult | types.InputRequiredResult

_MOST_WAITING = 64
"""Turns that wait for a client to come back; past them the one that waits longest is let go."""


class Respond:
    """Begins turns for clients and waits for them; a client that cancels ends its turn."""

    def __init__(self, agent: Agent, opened: OpenedThreads) -> None:
        self._agent = agent
        self._opened = opened
        self._running: set[AskedTurn] = set()
        self._waiting: dict[str, AskedTurn] = {}

    async def call(
        self, context: Context, params: types.CallToolRequestParams, arguments: Arguments
    ) -> Answer:
        """Answer one call: the first of a turn, or one that brings an answer of the person.

        Raises:
            MCPError: The arguments, or the state that is sent back, are not valid.
        """
        if params.request_state is not None:
            asked = self._resumed(params)
        else:
            begun = await self._begun(context, arguments)
            if isinstance(begun, types.CallToolResult):
                return begun
            asked = begun
        try:
            return await self._told(context, asked)
        except asyncio.CancelledError:
            asked.cancel()
            raise

    async def close(self) -> None:
        """End every turn and close every thread."""
        for asked in [*self._running]:
            asked.cancel()
        await self._agent.threads.close_all()

    async def _begun(
        self, context: Context, arguments: Arguments
    ) -> AskedTurn | types.CallToolResult:
        opening, request = _opening(arguments), _request(arguments)
        news: News = asyncio.Queue()
        approver = approver_for(context.session, context.request_id, news)
        try:
            started = await self._opened.start(
                opening,
                lambda thread: self._agent.threads.start(
                    thread, request, approver=approver, hear=Hearing(news)
                ),
            )
        except CounterfoilError as error:
            return failed(error.diagnosis())
        asked = AskedTurn(started, news, with_schema=request.schema is not None)
        self._running.add(asked)
        asked.watch(self._ended)
        return asked

    def _ended(self, asked: AskedTurn) -> None:
        self._running.discard(asked)
        self._opened.ended(asked.started.thread)

    async def _told(self, context: Context, asked: AskedTurn) -> Answer:
        """Tell the news of the turn until it ends, or until its person is asked."""
        while (news := await asked.news.get()) is not None:
            if isinstance(news, Question):
                return self._put(asked, news)
            asked.told += 1
            await context.session.report_progress(asked.told, message=news)
        if isinstance(asked.outcome, TurnResult):
            return _result(asked.outcome, asked)
        error = asked.outcome
        return failed("the turn was cancelled" if error is None else error.diagnosis())

    def _put(self, asked: AskedTurn, question: Question) -> types.InputRequiredResult:
        """Hand a question to the client; the state by which it comes back is used once."""
        asked.question = question
        while len(self._waiting) >= _MOST_WAITING:
            self._waiting.pop(next(iter(self._waiting)))
        state = secrets.token_urlsafe(32)
        self._waiting[state] = asked
        request = types.ElicitRequest(params=elicitation(question.request))
        return types.InputRequiredResult(
            input_requests={question.key: request}, request_state=state
        )

    def _resumed(self, params: types.CallToolRequestParams) -> AskedTurn:
        asked = self._waiting.pop(params.request_state or "", None)
        if asked is None:
            raise invalid("requestState: no turn waits for it; it is good for one call")
        question, asked.question = asked.question, None
        if question is not None and not question.settle(params.input_responses):
            asked.news.put_nowait(question)  # it was not answered: it is asked again
        return asked


def _opening(arguments: Arguments) -> Opening:
    tools = arguments.get("tools")
    return Opening(
        thread=_thread(arguments, "thread_id"),
        instructions=_optional(arguments, "instructions"),
        tools=tuple(map(str, tools)) if is_list(tools) else None,
        model=_optional(arguments, "model"),
        parent=_thread(arguments, "parent_thread_id"),
        face="mcp",
    )


def _request(arguments: Arguments) -> TurnRequest:
    prompt, schema = str(arguments["prompt"]), arguments.get("schema")
    if not prompt.strip():
        raise invalid("argument 'prompt' is blank")
    return TurnRequest(prompt=prompt, source="caller", schema=schema if is_object(schema) else None)


def _thread(arguments: Arguments, name: str) -> ThreadId | None:
    text = _optional(arguments, name)
    try:
        return None if text is None else ThreadId(text)
    except InvalidIdError as error:
        raise invalid(f"argument {name!r}: {error.diagnosis()}") from error


def _optional(arguments: Arguments, name: str) -> str | None:
    value = arguments.get(name)
    return None if value is None else str(value)


def _result(result: TurnResult, asked: AskedTurn) -> types.CallToolResult:
    """Return the result of a turn: its reply alone as text, what is known of it beside."""
    is_ok = result.outcome == "ok"
    text = result.text if is_ok else f"the turn failed: {result.error or result.outcome}"
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=fit(text))],
        structured_content=fit(_structured(result, asked)),
        is_error=not is_ok,
    )


def _structured(result: TurnResult, asked: AskedTurn) -> dict[str, object]:
    cited, pages = result.cited, result.pages
    receipt = receipt_to_json(result.receipt)
    return {
        "thread_id": str(result.thread),
        "created": asked.started.created,
        "text": result.text,
        "condensed": result.receipt.condensed,
        "refusals": [{"command": one.command, "reason": one.reason} for one in result.refusals],
        "receipt": receipt,
        "calls": [call_json(call, result.thread) for call in result.calls],
        "ran": result.ran,
        "unknownEntries": missing_to_json(cited) if cited else [],
        "cited": cited.line if cited else None,
        "citedEntries": counts_to_json(cited) if cited else None,
        "unknownPages": [*pages.unknown] if pages else [],
        "citedPages": pages.line if pages else None,
        "output": _output(result.text) if asked.with_schema else None,
        "caveats": receipt["caveats"],
    }


def _output(text: str) -> object:
    """Return the reply as JSON, `None` where it is none."""
    try:
        value: object = json.loads(text, parse_constant=_constant)
    except (ValueError, RecursionError):
        return None
    return value


def _constant(name: str) -> Never:
    raise ValueError(f"{name} is no value of JSON")
