"""Threads of one process: opened, resumed, forked, run turn by turn, closed.

Turns of a thread run one at a time, in the order in which they were asked for; the queue
is held from the prompt to the folded receipt, so that no call ever sees another's facts.
Threads run beside each other. A thread is held against other processes as long as it is
open here (agent.md section 1).
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Literal, TypeVar

from counterfoil.core.context import (
    TurnRecord,
)
from counterfoil.core.entries import Entry, EntryDraft
from counterfoil.core.errors import (
    CounterfoilError,
    NotFoundError,
    UnavailableError,
)
from counterfoil.core.events import (
    CommandExited,
    Event,
    ThreadClosed,
)
from counterfoil.core.ids import ThreadId
from counterfoil.core.messages import Delta
from counterfoil.engine.call_tool import Toolbox
from counterfoil.engine.converse import (
    Background,
    TurnEnd,
    TurnRequest,
    converse,
    earlier_turn,
)
from counterfoil.engine.effects import (
    NotRecordedError,
    StoreEntry,
    Turn,
    TurnCancelledError,
    drive_async,
)
from counterfoil.engine.performing import (
    Hands,
    Hear,
    NobodyApproves,
    Performer,
    Recorder,
    finished,
)
from counterfoil.engine.thread_opening import has_started, open_thread
from counterfoil.engine.thread_parts import (
    WINDOW,
    Foundation,
    Opening,
    OpenThread,
    cause_of,
    release,
)
from counterfoil.engine.turn_result import TurnResult, turn_result
from counterfoil.ports.tools import Approver, ToolAnswer

T = TypeVar("T")


class RunningTurn:
    """A turn that was asked for: it waits for its place, runs, and has a result."""

    def __init__(self, task: "asyncio.Task[TurnResult]") -> None:
        self._task = task

    def cancel(self) -> None:
        """Ask the turn to end; it closes its record, and its result says so."""
        self._task.cancel()

    async def result(self) -> TurnResult:
        """Return the result; who stops waiting for it does not end the turn."""
        return await asyncio.shield(self._task)


class Threads:
    """The threads that this process has open, at most one object for each."""

    def __init__(self, foundation: Foundation) -> None:
        """Open no thread yet."""
        self._on = foundation
        self._open: dict[ThreadId, OpenThread] = {}
        self._opening: dict[str, asyncio.Lock] = {}
        self._running: set[asyncio.Task[TurnResult]] = set()

    @property
    def open_threads(self) -> tuple[OpenThread, ...]:
        """The threads that are open here, the one used longest ago first."""
        return tuple(self._open.values())

    def find(self, thread: ThreadId) -> OpenThread | None:
        """Return the thread where it is open here."""
        return self._open.get(thread)

    async def open(self, opening: Opening) -> OpenThread:
        """Return the thread, open here: a new one, or one that is recorded and goes on.

        Raises:
            ConflictError: Another process holds it; its id differs in letter case alone
                from one that is recorded; or it has started and cannot be told how to.
            NotFoundError: The parent, a tool or a model is not there.
            UnavailableError: The store or the model cannot be used.
        """
        thread = opening.thread or ThreadId(f"t{self._on.ports.clock.new_id()[:12]}")
        lock = self._opening.setdefault(thread.lower(), asyncio.Lock())
        async with lock:
            found = self._open.get(thread)
            if found is None:
                work = asyncio.to_thread(open_thread, self._on, thread, opening)
                doing = asyncio.ensure_future(work)
                try:
                    found = await asyncio.shield(doing)
                except asyncio.CancelledError:
                    doing.add_done_callback(_let_go)
                    raise
                self._open[thread] = found
            elif opening.starts:
                raise has_started(thread)
            else:
                found.created = False
        return found

    def start(
        self,
        thread: OpenThread,
        request: TurnRequest,
        *,
        approver: Approver,
        hear: Hear = lambda _: None,
    ) -> RunningTurn:
        """Begin a turn behind those of the thread that were asked for before."""
        task = asyncio.ensure_future(self._queued(thread, request, approver, hear))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return RunningTurn(task)

    async def command(self, thread: OpenThread, command: str, hear: Hear) -> Event:
        """Run what a person typed behind a `!`, and store it as an entry.

        Raises:
            NotFoundError: Commands cannot be run in this thread.
            UnavailableError: It did not start, or cannot be recorded.
            TurnCancelledError: Nobody waited for it any more; it was ended and stored.
        """
        if thread.kit.typed is None:
            raise NotFoundError("commands cannot be run in this thread", "a thread with a runner")
        async with self._turn_of(thread):
            ended: list[Event] = []

            def heard(what: Event | Delta) -> None:
                if isinstance(what, Event) and isinstance(what.payload, CommandExited):
                    ended.append(what)
                hear(what)

            recorder = self._recorder(thread, thread.turn or None, heard)
            performer = Performer(recorder, self._hands(thread, None))
            part = _typed(thread.kit.typed(command, thread.turn), thread.turn or None, ended)
            answer, entry = await drive_async(part, performer.perform, recorder.close)
            if entry is not None:
                self._told(thread, ended[0], entry)
        if answer is None:
            raise TurnCancelledError
        if entry is None:
            raise UnavailableError(answer.output)
        return ended[0]

    async def change_model(self, thread: OpenThread, model: str) -> None:
        """Go on with another model; entries and turns go on as they are.

        Raises:
            NotFoundError: The model is not to be had.
        """
        async with self._turn_of(thread):
            workshop = self._on.workshop
            thread.kit = await asyncio.to_thread(
                lambda: workshop.kit(thread.id, thread.opened, model=model)
            )

    async def close(
        self, thread: OpenThread, reason: Literal["closed", "evicted", "failed"] = "closed"
    ) -> None:
        """Close the thread here, behind the turns that were asked for; it can be resumed."""
        async with thread.queue:
            if self._open.pop(thread.id, None) is None:
                return
            try:
                recorder = self._recorder(thread, None, lambda _: None)
                await asyncio.to_thread(recorder.record, ThreadClosed(reason=reason))
            except NotRecordedError as error:
                raise cause_of(error) from error
            finally:
                release(thread)

    async def close_all(self) -> None:
        """Wait for what runs, and close every thread."""
        while self._running:
            await asyncio.wait(self._running)
        failures: list[CounterfoilError] = []
        for thread in self.open_threads:
            try:
                await self.close(thread)
            except CounterfoilError as error:  # the others are let go all the same
                failures.append(error)
        if failures:
            raise failures[0]

    # --- one turn -----------------------------------------------------------------

    @asynccontextmanager
    async def _turn_of(self, thread: OpenThread) -> AsyncGenerator[None]:
        """Wait for the thread's turn; it has to be open still, and is let go if the record is."""
        async with thread.queue:
            if self._open.get(thread.id) is not thread:
                raise NotFoundError(
                    f"thread {str(thread.id)!r} was closed", "a thread that is open"
                )
            self._open[thread.id] = self._open.pop(thread.id)  # used last
            try:
                yield
            except NotRecordedError as error:
                self._open.pop(thread.id, None)  # what is in memory is no longer what is recorded
                release(thread)
                raise cause_of(error) from error

    async def _queued(
        self, thread: OpenThread, request: TurnRequest, approver: Approver, hear: Hear
    ) -> TurnResult:
        async with self._turn_of(thread):
            return await self._run(thread, request, approver, hear)

    async def _run(
        self, thread: OpenThread, request: TurnRequest, approver: Approver, hear: Hear
    ) -> TurnResult:
        thread.turn += 1
        recorder = self._recorder(thread, thread.turn, hear)
        performer = Performer(recorder, self._hands(thread, approver))
        turn = converse(_background(thread), request, self._toolbox(thread))
        end = await drive_async(turn, performer.perform, recorder.close)
        settle(thread, end)
        return await finished(lambda: self._folded(thread, end))

    def _folded(self, thread: OpenThread, end: TurnEnd) -> TurnResult:
        """Fold what is handed out: from memory, or from the ledger where that overflowed."""
        turn = end.record.turn
        events, dropped = thread.collector.take(turn)
        if dropped:
            events = tuple(self._on.ports.log.events_of(thread.id, turn))
        return turn_result(
            end,
            events,
            thread=thread.id,
            tools=thread.opened.tools or (),
            stored=self._on.ports.entries.numbers(thread.id),
            pages=thread.kit.pages,
        )

    def _recorder(self, thread: OpenThread, turn: int | None, hear: Hear) -> Recorder:
        return Recorder(
            ports=self._on.ports,
            thread=thread.id,
            turn=turn,
            collector=thread.collector,
            hear=hear,
        )

    def _hands(self, thread: OpenThread, approver: Approver | None) -> Hands:
        return Hands(
            model=thread.kit.model,
            tools=thread.kit.tools,
            runner=thread.kit.runner,
            approver=approver or NobodyApproves(),
            approval_seconds=self._on.approval_seconds,
        )

    def _toolbox(self, thread: OpenThread) -> Toolbox:
        return Toolbox(
            tools=thread.kit.offered,
            turn=thread.turn,
            read_arguments=self._on.read_arguments,
            monotonic=self._on.ports.clock.monotonic,
        )

    def _told(self, thread: OpenThread, event: Event, entry: Entry) -> None:
        """Let the next turn read what a person ran, at the end of the turn it ran in."""
        turn = thread.turn
        thread.last_entry = entry.number
        record = thread.last or TurnRecord(turn=turn, events=(), entries=())
        record = TurnRecord(
            turn=record.turn, events=(*record.events, event), entries=(*record.entries, entry)
        )
        thread.last = record
        thread.earlier = [one for one in thread.earlier if one.turn != turn]
        thread.earlier.append(earlier_turn(record, thread.recalling))


def settle(thread: OpenThread, end: TurnEnd) -> None:
    """Let `thread` know how its turn ended: what the next one starts from."""
    thread.earlier = thread.earlier[len(thread.earlier) - end.kept :]
    thread.earlier.append(earlier_turn(end.record, thread.recalling))
    thread.last = end.record
    thread.last_entry = max(
        (entry.number for entry in end.record.entries), default=thread.last_entry
    )
    thread.tokens_a_byte = end.tokens_a_byte


def _background(thread: OpenThread) -> Background:
    specs = tuple(tool.spec for tool in thread.kit.offered.values())
    return Background(
        thread=thread.id,
        turn=thread.turn,
        model=thread.kit.model.name,
        window=thread.kit.model.window or WINDOW,
        instructions=thread.instructions,
        earlier=tuple(thread.earlier),
        last=thread.last,
        last_entry=thread.last_entry,
        specs=specs,
        specs_size=sum(
            len(spec.name) + len(spec.description) + len(str(spec.parameters)) for spec in specs
        ),
        recalling=thread.recalling,
        tokens_a_byte=thread.tokens_a_byte,
    )


def _typed(
    part: Turn[ToolAnswer], turn: int | None, ended: Sequence[Event]
) -> Turn[tuple[ToolAnswer | None, Entry | None]]:
    """Run a person's command and store it; `None` for the answer: it was cancelled.

    `ended` holds the event of its end by then. What was ended was run, and is stored too.
    """
    answer: ToolAnswer | None = None
    with suppress(TurnCancelledError):
        answer = yield from part
    if not ended:
        return answer, None
    draft = EntryDraft(kind="command", turn=turn, events=(ended[0].id,))
    entry = yield StoreEntry(draft=draft)
    assert isinstance(entry, Entry)  # noqa: S101 - what `StoreEntry` is answered with
    return answer, entry


def _let_go(opened: "asyncio.Future[OpenThread]") -> None:
    """Let go of a thread that nobody waited for."""
    if not opened.cancelled() and opened.exception() is None:
        release(opened.result())
