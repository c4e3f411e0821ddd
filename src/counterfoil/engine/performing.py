"""What the effects of a turn do: they are recorded, asked and run through the ports.

What blocks is done in a thread of its own. Once the turn is cancelled, what was begun is
told so and waited for: a command is ended, a fact that was being recorded is recorded.
"""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event as Flag
from typing import Any, TypeVar

from counterfoil.core.entries import Entry
from counterfoil.core.errors import CounterfoilError, UnavailableError
from counterfoil.core.events import EntryStored, Event, Fact, Payload
from counterfoil.core.ids import ThreadId
from counterfoil.core.messages import Delta
from counterfoil.core.turns import ReceiptCollector
from counterfoil.engine.effects import (
    AskApproval,
    AskModel,
    Effect,
    Execute,
    NotRecordedError,
    ReadCommand,
    Record,
    RunTool,
    Sent,
    StoreEntry,
    TurnCancelledError,
)
from counterfoil.ports.model import ChatModel
from counterfoil.ports.record import EntryStore, EventLog
from counterfoil.ports.tools import (
    ApprovalAnswer,
    ApprovalRequest,
    Approver,
    CallContext,
    Tool,
    ToolRunner,
)
from counterfoil.ports.world import Clock

T = TypeVar("T", bound=Sent)
V = TypeVar("V")

Hear = Callable[[Event | Delta], None]
"""Hears what is recorded and what a model says, as it happens; it must not block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPorts:
    """Where a thread is recorded, and the time."""

    log: EventLog
    entries: EntryStore
    clock: Clock


@dataclass(slots=True)
class Recorder:
    """Records the facts of one thread in one turn, and keeps them for the receipt."""

    ports: RecordPorts
    thread: ThreadId
    turn: int | None
    collector: ReceiptCollector
    hear: Hear = field(default=lambda _: None)

    def record(self, payload: Payload, call: str | None = None) -> Event:
        """Record a fact and return its event.

        Raises:
            NotRecordedError: The log cannot be written; its cause says why.
        """
        clock = self.ports.clock
        try:
            event = self.ports.log.append(
                Fact(
                    id=clock.new_id(),
                    occurred_at=clock.now(),
                    thread=self.thread,
                    turn=self.turn,
                    call=call,
                    payload=payload,
                )
            )
        except CounterfoilError as error:
            raise NotRecordedError from error
        self.collector.add(event)
        self.hear(event)
        return event

    def store(self, effect: StoreEntry) -> Entry:
        """Store an entry, record that it was, and return it with its number."""
        draft = effect.draft
        try:
            entry = self.ports.entries.add(self.thread, draft)
        except CounterfoilError as error:
            raise NotRecordedError from error
        self.say_stored(entry)
        return entry

    def say_stored(self, entry: Entry) -> None:
        """Record that `entry` is stored."""
        self.record(
            EntryStored(
                entry=entry.number,
                entry_kind=entry.kind,
                origin=entry.origin,
                events=tuple(entry.events),
            )
        )

    def close(self, effect: Effect) -> Sent:
        """Do what a turn that was cancelled still has to do: record, and nothing else."""
        if isinstance(effect, Record):
            return self.record(effect.payload, effect.call)
        if isinstance(effect, StoreEntry):
            return self.store(effect)
        raise TurnCancelledError


class NobodyApproves:
    """The `Approver` where nobody can be asked: it refuses."""

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Return a refusal that says so."""
        del request
        return ApprovalAnswer(decision="denied", by="nobody", reason="nobody is there to ask")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """What carries out the effects that are not recording."""

    model: ChatModel
    tools: Mapping[str, Tool]
    runner: ToolRunner | None
    approver: Approver
    approval_seconds: float = 600.0


class Performer:
    """Does the effects of one turn."""

    def __init__(self, recorder: Recorder, hands: Hands) -> None:
        self._recorder = recorder
        self._hands = hands
        self._cancelled = Flag()

    async def perform(self, effect: Effect) -> Sent:
        """Do `effect` and return what came of it."""
        if isinstance(effect, Record):
            return await self._blocking(lambda: self._recorder.record(effect.payload, effect.call))
        if isinstance(effect, StoreEntry):
            return await self._blocking(lambda: self._recorder.store(effect))
        if isinstance(effect, AskModel | AskApproval):
            return await self._awaited(effect)
        return await self._blocking(lambda: self._done(effect), _WORK)

    def perform_now(self, effect: Effect) -> Sent:
        """Do `effect` in this thread, for a caller without a loop of its own."""
        if isinstance(effect, Record | StoreEntry):
            return self._recorder.close(effect)
        if isinstance(effect, AskModel | AskApproval):
            return asyncio.run(self._awaited(effect))
        return self._done(effect)

    async def _awaited(self, effect: AskModel | AskApproval) -> Sent:
        if isinstance(effect, AskModel):
            return await self._hands.model.ask(effect.request, self._recorder.hear)
        return await self._approval(effect.request)

    def _done(self, effect: RunTool | ReadCommand | Execute) -> Sent:
        if isinstance(effect, ReadCommand):
            return effect.read()
        if isinstance(effect, RunTool):
            tool = self._hands.tools[effect.tool]
            return tool.run(effect.arguments, self._context(effect))
        if self._hands.runner is None:
            raise UnavailableError("commands cannot be run here")
        return self._hands.runner.run(effect.request, self._cancelled.is_set)

    def _context(self, effect: RunTool) -> CallContext:
        return CallContext(
            thread=self._recorder.thread,
            turn=self._recorder.turn or 0,
            call=effect.call,
            is_cancelled=self._cancelled.is_set,
        )

    async def _approval(self, request: ApprovalRequest) -> ApprovalAnswer:
        seconds = self._hands.approval_seconds
        try:
            return await asyncio.wait_for(self._hands.approver.ask(request), seconds)
        except TimeoutError:
            reason = f"nobody answered in {seconds:g} s"
            return ApprovalAnswer(decision="timed_out", by="nobody", reason=reason)

    async def _blocking(self, work: Callable[[], T], pool: Executor | None = None) -> T:
        """Do `work` in another thread; cancelled, it is waited for, and its outcome kept."""
        doing = asyncio.get_running_loop().run_in_executor(pool, work)
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:
            self._cancelled.set()
            await _settled(doing)
            error = doing.exception()
            if isinstance(error, NotRecordedError):
                raise error from None
            raise TurnCancelledError(None if error else doing.result()) from None


_WORK = ThreadPoolExecutor(max_workers=128, thread_name_prefix="counterfoil-tool")
"""Where tools and commands run, so that slow ones keep nobody from recording."""


async def finished(work: Callable[[], V]) -> V:
    """Do `work` in another thread and return what it returns, cancelled or not."""
    doing = asyncio.get_running_loop().run_in_executor(None, work)
    await _settled(doing)
    return doing.result()


async def _settled(doing: "asyncio.Future[Any]") -> None:
    """Wait until `doing` is done, however often this task is cancelled meanwhile."""
    while not doing.done():
        try:
            await asyncio.wait({doing})
        except asyncio.CancelledError:
            continue
