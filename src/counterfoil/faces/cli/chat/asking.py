"""Asking the other side of the protocol, which says first whether it has who approves."""

import asyncio
from collections.abc import Callable

from counterfoil.faces.cli.chat.approving import scopes_of
from counterfoil.ports.tools import ApprovalAnswer, ApprovalRequest
from counterfoil.wire.asked import Answer
from counterfoil.wire.chat import ApprovalAsked, ApprovalWithdrawn, Told


class Asking:
    """The `Approver` that asks the other side, once that has said that it can."""

    def __init__(self, tell: Callable[[Told], None]) -> None:
        """Ask through `tell`."""
        self._tell = tell
        self._waiting: dict[str, tuple[ApprovalRequest, asyncio.Future[ApprovalAnswer]]] = {}
        self._why_not = "the other side did not say that it approves"
        self._can_answer = False

    def allow(self, *, can_answer: bool) -> None:
        """Ask from now on, or no more."""
        self._can_answer = can_answer

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Return what the other side answered; cancelled, the question is withdrawn."""
        if not self._can_answer:
            return _refusal(self._why_not)
        future: asyncio.Future[ApprovalAnswer] = asyncio.get_running_loop().create_future()
        self._waiting[request.id] = request, future
        self._tell(_asked(request))
        try:
            return await future
        except asyncio.CancelledError:
            self._tell(ApprovalWithdrawn(id=request.id))
            raise
        finally:
            self._waiting.pop(request.id, None)

    def answer(self, said: Answer) -> str | None:
        """Take an answer; return what is wrong with it, and the question stays open."""
        found = self._waiting.get(said.id)
        if found is None or found[1].done():
            return f"no question {said.id[:40]!r} waits for an answer"
        request, future = found
        if said.decision == "approved" and said.scope not in scopes_of(request):
            return f"scope {said.scope!r} is not on offer for question {said.id!r}"
        future.set_result(
            ApprovalAnswer(decision="approved", scope=said.scope)
            if said.decision == "approved"
            else ApprovalAnswer(decision="denied", reason="the person refused")
        )
        return None

    def end(self) -> None:
        """Take no more answers; what waits for one is refused."""
        self._can_answer, self._why_not = False, "the other side has gone"
        for _, future in self._waiting.values():
            if not future.done():
                future.set_result(_refusal(self._why_not))


def _asked(request: ApprovalRequest) -> ApprovalAsked:
    return ApprovalAsked(
        id=request.id,
        thread=request.thread,
        turn=request.turn,
        call=request.call,
        shown=request.shown,
        directory=request.directory,
        pattern=request.pattern,
        level=request.level,
        reasons=request.reasons,
        scopes=scopes_of(request),
    )


def _refusal(reason: str) -> ApprovalAnswer:
    return ApprovalAnswer(decision="denied", by="nobody", reason=reason)
