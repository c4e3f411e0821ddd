"""Asking the person at the terminal: the exact command, how dangerous it is, where, why.

An answer is a line that is typed after the question was shown: what was typed before is
thrown away first, and nothing but the terminal of the person is read.
"""

import asyncio
import os
import termios
from typing import Literal, TypeAlias

from counterfoil.core.plain import plain
from counterfoil.faces.cli.chat.voice import Voice
from counterfoil.faces.cli.output import Line
from counterfoil.ports.tools import ApprovalAnswer, ApprovalRequest

Scope: TypeAlias = Literal["once", "session", "project", "always"]

_KEYS: dict[str, tuple[Scope, str]] = {
    "y": ("once", "once"),
    "s": ("session", "in this thread"),
    "p": ("project", "in this directory for 30 days"),
    "a": ("always", "everywhere for 30 days"),
}
_EVERY: tuple[Scope, ...] = ("once", "session", "project", "always")
_LONGEST = 4096


def scopes_of(request: ApprovalRequest) -> tuple[Scope, ...]:
    """Return how far `request` can be approved; what is dangerous outlives no thread."""
    return ("once", "session") if request.level == "dangerous" else _EVERY


def question_lines(request: ApprovalRequest) -> list[Line]:
    """Return the question; the command is last, so that nothing in it passes for the rest."""
    lines: list[Line] = [
        [(f"Run this? {plain(request.level)}, in {plain(request.directory)}", "bold")]
    ]
    lines.extend([(f"  because {plain(reason)}", "")] for reason in request.reasons)
    if len(scopes_of(request)) > 2:  # noqa: PLR2004 - more than once and the thread
        lines.append([(f"  s, p and a remember: {plain(request.pattern)}", "")])
    if plain(request.shown) != request.shown:
        lines.append([("  (unprintable characters are written out, as \\x1b)", "")])
    lines.extend([(f"  $ {plain(line)}", "bold")] for line in request.shown.split("\n"))
    return lines


def keys_line(request: ApprovalRequest) -> str:
    """Return what can be answered; the level again, for a command longer than the screen."""
    allowed = scopes_of(request)
    said = [f"[{key}] {words}" for key, (scope, words) in _KEYS.items() if scope in allowed]
    return f"{plain(request.level)}?  {'  '.join([said[0], '[n] no', *said[1:]])}: "


def read_answer(text: str, request: ApprovalRequest) -> ApprovalAnswer | None:
    """Return what the person said, `None` where it is no answer to this question."""
    word = text.strip().lower()
    if word in {"n", "no"}:
        return ApprovalAnswer(decision="denied", reason="the person refused")
    scope, _ = _KEYS.get("y" if word == "yes" else word, (None, ""))
    if scope is None or scope not in scopes_of(request):
        return None
    return ApprovalAnswer(decision="approved", scope=scope)


class TerminalApprover:
    """The `Approver` that asks at the terminal behind `descriptor`; one question at a time."""

    def __init__(self, voice: Voice, descriptor: int) -> None:
        """Ask through `voice`."""
        self._voice = voice
        self._descriptor = descriptor
        self._turn = asyncio.Lock()

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Return what the person typed; cancelled, the question is taken back."""
        async with self._turn:
            self._voice.tell_all(question_lines(request))
            termios.tcflush(self._descriptor, termios.TCIFLUSH)
            try:
                return await self._answered(request)
            except asyncio.CancelledError:
                self._voice.tell(("\n  the question is withdrawn", "yellow"))
                raise

    async def _answered(self, request: ApprovalRequest) -> ApprovalAnswer:
        while True:
            self._voice.ask(keys_line(request))
            text = await self._line()
            if not text:
                return ApprovalAnswer(decision="denied", reason="the terminal has no more input")
            answer = read_answer(text, request)
            if answer is not None:
                return answer

    async def _line(self) -> str:
        loop = asyncio.get_running_loop()
        readable: asyncio.Future[None] = loop.create_future()

        def come() -> None:
            if not readable.done():
                readable.set_result(None)

        loop.add_reader(self._descriptor, come)
        try:
            await readable
        finally:
            loop.remove_reader(self._descriptor)
        return os.read(self._descriptor, _LONGEST).decode("utf-8", "replace")
