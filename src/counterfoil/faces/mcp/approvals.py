"""Approvals asked of the client's person, by elicitation; the calling model is never asked.

An answer comes out of the client's own dialog alone: nothing in the arguments of a call
approves anything. Where the client has no dialog, nobody approves.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from mcp import types
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from counterfoil.core.plain import plain
from counterfoil.engine.performing import NobodyApproves
from counterfoil.ports.tools import ApprovalAnswer, ApprovalRequest, Approver

_Scope: TypeAlias = Literal["once", "session", "project", "always"]

_SCOPES: tuple[_Scope, ...] = get_args(_Scope)
_SCOPES_OF_DANGER: tuple[_Scope, ...] = ("once", "session")
"""What is dangerous is never granted beyond its thread."""


@dataclass(slots=True)
class Question:
    """A question that waits for its answer in a later call of the client."""

    request: ApprovalRequest
    answer: "asyncio.Future[ApprovalAnswer]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def key(self) -> str:
        """What the client answers it by."""
        return self.request.id

    def settle(self, responses: Mapping[str, object] | None) -> bool:
        """Take its answer out of what the client sent; say whether it was there."""
        response = (responses or {}).get(self.key)
        if not isinstance(response, types.ElicitResult):
            return False
        if not self.answer.done():
            self.answer.set_result(answer_of(response, self.request))
        return True


class DialogApprover:
    """Asks while the call runs, as clients of the handshake versions are asked."""

    def __init__(self, session: ServerSession, call: types.RequestId | None) -> None:
        self._session = session
        self._call = call

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Return what the person chose; a client that fails has asked nobody."""
        asked = elicitation(request)
        try:
            result = await self._session.elicit_form(
                asked.message, asked.requested_schema, related_request_id=self._call
            )
        except (MCPError, ValueError) as error:
            reason = error.message if isinstance(error, MCPError) else "an answer of another form"
            return ApprovalAnswer(
                decision="denied", by="nobody", reason=f"the client asked nobody: {reason}"
            )
        return answer_of(result, request)


class RoundsApprover:
    """Asks between two calls, as clients of the versions without a back channel are asked.

    A question goes into `news`; whoever waits for the turn hands it to the client.
    """

    def __init__(self, news: "asyncio.Queue[str | Question | None]") -> None:
        self._news = news

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Return what the person chose."""
        question = Question(request)
        self._news.put_nowait(question)
        return await question.answer


def approver_for(
    session: ServerSession,
    call: types.RequestId | None,
    news: "asyncio.Queue[str | Question | None]",
) -> Approver:
    """Return who can be asked over `session`."""
    if not _has_dialog(session.client_capabilities):
        return NobodyApproves()
    if session.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return RoundsApprover(news)
    return DialogApprover(session, call) if session.can_send_request else NobodyApproves()


def elicitation(request: ApprovalRequest) -> types.ElicitRequestFormParams:
    """Return what is put before the person: the exact command, its level, its directory.

    The command comes last, so that nothing in it can pass for what stands before it.
    """
    lines = [
        "A command waits for your approval.",
        f"Level: {request.level}",
        f"Directory: {plain(request.directory)}",
        f"A grant would cover: {plain(request.pattern)}",
        *(f"Because: {plain(reason)}" for reason in request.reasons),
        f"Thread {request.thread}, turn {request.turn}",
        "The command, exactly as it will run:",
        plain(request.shown),
    ]
    return types.ElicitRequestFormParams(
        message="\n".join(lines),
        requested_schema={
            "type": "object",
            "properties": {
                "decision": {
                    "type": "string",
                    "title": "Decision",
                    "description": _MEANING,
                    "enum": ["deny", *_scopes(request)],
                }
            },
            "required": ["decision"],
        },
    )


def answer_of(result: types.ElicitResult, request: ApprovalRequest) -> ApprovalAnswer:
    """Return what the person said; what was not offered approves nothing."""
    if result.action == "cancel":
        return ApprovalAnswer(decision="cancelled", reason="the question was dismissed")
    choice = (result.content or {}).get("decision")
    if result.action == "accept" and choice in _scopes(request):
        return ApprovalAnswer(decision="approved", scope=choice)
    return ApprovalAnswer(decision="denied")


def _scopes(request: ApprovalRequest) -> tuple[_Scope, ...]:
    return _SCOPES_OF_DANGER if request.level == "dangerous" else _SCOPES


def _has_dialog(capabilities: types.ClientCapabilities | None) -> bool:
    """Say whether the client can show a form; one that says nothing more, can."""
    asked = None if capabilities is None else capabilities.elicitation
    return asked is not None and (asked.form is not None or asked.url is None)


_MEANING = (
    "deny: it does not run; once: this command; session: in this thread, until it is closed;"
    " project: in this directory, and always: everywhere, both for 30 days"
)
