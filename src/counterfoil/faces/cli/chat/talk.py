"""One conversation as text: prompts go in, and what happens is told as it happens."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal

from counterfoil.core.errors import CounterfoilError
from counterfoil.core.events import Event, ModelAsked, ReplyGiven
from counterfoil.core.messages import Delta
from counterfoil.core.plain import plain
from counterfoil.engine.agent import Agent
from counterfoil.engine.converse import TurnRequest
from counterfoil.engine.effects import TurnCancelledError
from counterfoil.engine.thread_parts import Opening, OpenThread
from counterfoil.engine.turn_result import TurnResult
from counterfoil.faces.cli.chat.answers import answer
from counterfoil.faces.cli.chat.commands import Typed
from counterfoil.faces.cli.chat.hearing import Ears, Interrupts
from counterfoil.faces.cli.chat.lines import counted, event_lines, result_lines
from counterfoil.faces.cli.chat.saving import save_events
from counterfoil.faces.cli.chat.voice import Voice
from counterfoil.faces.cli.output import Line
from counterfoil.ports.tools import Approver
from counterfoil.wire.check import encode_json
from counterfoil.wire.receipt import receipt_to_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a conversation goes: who speaks, who approves, what is shown beside."""

    source: Literal["person", "caller"]
    approver: Approver
    shows_receipts: bool = False


@dataclass(slots=True)
class Talk:
    """One thread that is spoken with, and the next where the person begins a new one."""

    agent: Agent
    voice: Voice
    manner: Manner
    opening: Opening
    thread: OpenThread
    interrupts: Interrupts = field(default_factory=Interrupts)

    async def say(self, prompt: str) -> TurnResult:
        """Run a turn and tell all of it.

        Raises:
            CounterfoilError: The record cannot be written.
            OSError: Nobody reads the replies any more; the turn was cancelled.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        ears = Ears(self._told)
        running = self.agent.threads.start(
            self.thread,
            TurnRequest(prompt=prompt, source=self.manner.source),
            approver=self.manner.approver,
            hear=ears,
        )
        ears.on_failure = running.cancel
        with self.interrupts.during(running.cancel):
            result = await running.result()
        if ears.failure is not None:
            raise ears.failure
        self.voice.tell_all(result_lines(result, loop.time() - began))
        if self.manner.shows_receipts:
            self.voice.tell((encode_json(receipt_to_json(result.receipt)).decode(), ""))
        return result

    async def run(self, command: str) -> None:
        """Run what the person typed behind a `!`; cancelled, it is ended."""
        ears = Ears(self._told)
        doing = asyncio.ensure_future(self.agent.threads.command(self.thread, command, ears))
        ears.on_failure = doing.cancel
        with self.interrupts.during(doing.cancel), suppress(TurnCancelledError):
            await doing
        if ears.failure is not None:
            raise ears.failure
        if self.interrupts.count:
            self.voice.tell(("  cancelled", "yellow"))

    async def answer(self, typed: Typed) -> None:
        """Answer a `/` command.

        Raises:
            CounterfoilError: It cannot be meant, or what it names is not there.
        """
        if typed.name == "/new":
            await self._begin_anew()
        elif typed.name == "/model":
            await self._model(typed.text)
        elif typed.name == "/save":
            events = self.agent.views.events(self.thread.id)
            count = save_events(events, typed.text)
            self.voice.tell((f"{count:,} events written to {plain(typed.text)}", ""))
        else:
            self.voice.tell_all(list(answer(self.agent, self.thread, typed.name, typed.text)))

    async def close(self) -> None:
        """Close the thread; it can be resumed."""
        await self.agent.threads.close_all()

    def tell_error(self, error: CounterfoilError) -> None:
        """Say what was found, what was expected and what to do."""
        self.voice.tell_all(error_lines(error))

    async def _begin_anew(self) -> None:
        before = self.thread
        self.thread = await self.agent.threads.open(replace(self.opening, thread=None))
        await self.agent.threads.close(before)
        self.voice.tell_all(thread_lines(self.thread))

    async def _model(self, name: str) -> None:
        if name:
            await self.agent.threads.change_model(self.thread, name)
            self.opening = replace(self.opening, model=name)
            self.voice.tell((f"model {plain(self.thread.model)} answers next", ""))
            return
        for model in await self.agent.models():
            mark = ">" if model == self.thread.model else " "
            self.voice.tell((f"{mark} {plain(model)}", ""))

    def _told(self, what: Event | Delta) -> None:
        if isinstance(what, Delta):
            self.voice.hear(what.text)
        elif isinstance(what.payload, ModelAsked):
            self.voice.begin()
        elif isinstance(what.payload, ReplyGiven):
            self.voice.reply(what.payload.text)
            if not what.payload.text:
                self.voice.tell(("  the reply is empty", "yellow"))
        else:
            self.voice.tell_all(event_lines(what))


async def begin(agent: Agent, voice: Voice, manner: Manner, opening: Opening) -> Talk:
    """Open the thread and say which it is.

    Raises:
        CounterfoilError: It cannot be opened.
    """
    thread = await agent.threads.open(opening)
    voice.tell_all(thread_lines(thread))
    if not thread.created and opening.model is None:
        opening = replace(opening, model=thread.model)  # a new thread goes on with it
    return Talk(agent, voice, manner, opening, thread)


def thread_lines(thread: OpenThread) -> Iterable[Line]:
    """Yield which thread it is, and who answers in it."""
    tools = counted(len(thread.opened.tools or ()), "tool")
    parent = f" · from {plain(thread.opened.parent)}" if thread.opened.parent else ""
    at = "new" if thread.created else f"after turn {thread.turn}"
    yield [(f"thread {thread.id} · {at}{parent} · {plain(thread.model)} · {tools}", "dim")]


def error_lines(error: CounterfoilError) -> Iterable[Line]:
    """Yield an error as every command says it."""
    found = f"{error.found}; expected {error.expected}" if error.expected else error.found
    yield [(f"error: {plain(found)}", "red")]
    if error.advice:
        yield [(f"hint: {plain(error.advice)}", "dim")]
