"""Threads of one process: opened, resumed, forked, run turn by turn, closed.

Turns of a thread run one at a time, in the order in which they were asked for; the queue
is held from the prompt to the folded receipt, so that no call ever sees another's facts.
Threads run beside each other. A thread is held against other processes as long as it is
open here (agent.md section 1).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from counterfoil.core.context import (
    BYTES_A_TOKEN,
    SentEntry,
    TurnRecord,
    sent_instructions,
)
from counterfoil.core.entries import Entry, EntryDraft
from counterfoil.core.errors import (
    ConflictError,
    CounterfoilError,
    NotFoundError,
    UnavailableError,
)
from counterfoil.core.events import (
    CommandExited,
    ErrorRaised,
    Event,
    InstructionsGiven,
    ThreadClosed,
    ThreadOpened,
)
from counterfoil.core.ids import ThreadId
from counterfoil.core.messages import Delta
from counterfoil.core.output_references import Recalling
from counterfoil.core.turns import ReceiptCollector
from counterfoil.engine.call_tool import OfferedTool, ReadArguments, Toolbox
from counterfoil.engine.converse import (
    Background,
    EarlierTurn,
    TurnEnd,
    TurnRequest,
    converse,
    earlier_turn,
)
from counterfoil.engine.effects import (
    NotRecordedError,
    Record,
    StoreEntry,
    Turn,
    TurnCancelledError,
    drive,
    drive_async,
)
from counterfoil.engine.loading import (
    StoredThread,
    is_open,
    load_thread,
    tokens_a_byte,
    turn_record,
    unstored_drafts,
)
from counterfoil.engine.performing import (
    Hands,
    Hear,
    NobodyApproves,
    Performer,
    Recorder,
    RecordPorts,
)
from counterfoil.engine.turn_result import PagesCited, TurnResult, turn_result
from counterfoil.ports.model import ChatModel
from counterfoil.ports.record import ThreadLeases
from counterfoil.ports.tools import Approver, Tool, ToolAnswer, ToolRunner

T = TypeVar("T")

WINDOW = 32_768
"""The tokens of a model's window where nobody says."""

INTERRUPTED = "interrupted: the process that ran the turn ended before it did"
"""What the error of a turn says that was broken off; the next opening records it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How a thread is to be opened; what is `None` is left to the thread or to settings.

    Instructions, tools, model and parent are for a thread that starts; a face whose
    person may go on with another model says so by `may_change_model`.
    """

    thread: ThreadId | None = None
    instructions: str | None = None
    tools: tuple[str, ...] | None = None
    model: str | None = None
    parent: ThreadId | None = None
    may_change_model: bool = False
    face: str = "library"
    cwd: str | None = None

    @property
    def starts(self) -> bool:
        """Whether it says what only a thread that starts can be told."""
        model = None if self.may_change_model else self.model
        return any(
            value is not None for value in (self.instructions, self.tools, model, self.parent)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """What a thread works with: its model, its tools, and what checks pages in replies.

    `offered` says how each tool answers; `tools` are those that `RunTool` runs; `typed`
    runs what a person typed, in the turn that the clock shows. `close` gives back what the
    thread alone holds, when it is closed.
    """

    model: ChatModel
    offered: Mapping[str, OfferedTool]
    tools: Mapping[str, Tool] = field(default_factory=dict[str, Tool])
    runner: ToolRunner | None = None
    pages: Callable[[str], PagesCited | None] = field(default=lambda _: None)
    typed: Callable[[str, int], Turn[ToolAnswer]] | None = None
    close: Callable[[], None] = field(default=lambda: None)


class Workshop(Protocol):
    """Makes the kit of a thread."""

    @property
    def instructions(self) -> str:
        """The instructions of a thread that is given none."""
        ...

    def kit(self, thread: ThreadId, opened: ThreadOpened, *, model: str | None) -> Kit:
        """Return the kit of `thread`; `opened.tools` names its tools, `None`: all there are.

        Raises:
            NotFoundError: A tool or a model of that name is not to be had.
            UnavailableError: The model cannot be used here.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Foundation:
    """What threads stand on: the record, who holds a thread, and how calls are read."""

    ports: RecordPorts
    leases: ThreadLeases
    workshop: Workshop
    read_arguments: ReadArguments
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    approval_seconds: float = 600.0


@dataclass(slots=True)
class OpenThread:
    """A thread that this process holds: what its next turn starts from."""

    id: ThreadId
    opened: ThreadOpened
    kit: Kit
    instructions: SentEntry
    turn: int
    last_entry: int
    earlier: list[EarlierTurn]
    last: TurnRecord | None
    created: bool
    tokens_a_byte: float = 1 / BYTES_A_TOKEN
    collector: ReceiptCollector = field(default_factory=ReceiptCollector)
    queue: asyncio.Lock = field(default_factory=asyncio.Lock)
    held: ExitStack = field(default_factory=ExitStack)

    @property
    def model(self) -> str:
        """The name of the model that answers next."""
        return self.kit.model.name

    @property
    def recalling(self) -> Recalling:
        """How old outputs may be seen again with the tools of the thread."""
        reading = (name for name, tool in self.kit.offered.items() if tool.spec.only_reads)
        return Recalling(has_memory="memory" in self.kit.offered, reading_tools=frozenset(reading))


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
                doing = asyncio.ensure_future(asyncio.to_thread(self._opened, thread, opening))
                try:
                    found = await asyncio.shield(doing)
                except asyncio.CancelledError:
                    doing.add_done_callback(_let_go)
                    raise
                self._open[thread] = found
            elif opening.starts:
                raise _has_started(thread)
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
        async with thread.queue:
            ended: list[Event] = []

            def heard(what: Event | Delta) -> None:
                if isinstance(what, Event) and isinstance(what.payload, CommandExited):
                    ended.append(what)
                hear(what)

            recorder = self._recorder(thread, thread.turn or None, heard)
            performer = Performer(recorder, self._hands(thread, None))
            part = thread.kit.typed(command, thread.turn)
            try:
                answer = await drive_async(part, performer.perform, recorder.close)
                if not ended:
                    raise UnavailableError(answer.output)
                entry = await asyncio.to_thread(recorder.store, _command_entry(thread, ended[0]))
            except TurnCancelledError:
                if ended:  # what was ended was run: it is stored before anybody is told
                    self._told(thread, ended[0], recorder.store(_command_entry(thread, ended[0])))
                raise
            except NotRecordedError as error:
                raise _cause(error) from error
            self._told(thread, ended[0], entry)
        return ended[0]

    async def change_model(self, thread: OpenThread, model: str) -> None:
        """Go on with another model; entries and turns go on as they are.

        Raises:
            NotFoundError: The model is not to be had.
        """
        async with thread.queue:
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
                raise _cause(error) from error
            finally:
                _released(thread)

    async def close_all(self) -> None:
        """Wait for what runs, and close every thread."""
        while self._running:
            await asyncio.wait(self._running)
        for thread in self.open_threads:
            await self.close(thread)

    # --- one turn -----------------------------------------------------------------

    async def _queued(
        self, thread: OpenThread, request: TurnRequest, approver: Approver, hear: Hear
    ) -> TurnResult:
        async with thread.queue:
            if self._open.get(thread.id) is not thread:
                raise NotFoundError(
                    f"thread {str(thread.id)!r} was closed", "a thread that is open"
                )
            self._open[thread.id] = self._open.pop(thread.id)  # used last
            try:
                return await self._run(thread, request, approver, hear)
            except NotRecordedError as error:
                self._open.pop(thread.id, None)  # what is in memory is no longer what is recorded
                _released(thread)
                raise _cause(error) from error

    async def _run(
        self, thread: OpenThread, request: TurnRequest, approver: Approver, hear: Hear
    ) -> TurnResult:
        thread.turn += 1
        recorder = self._recorder(thread, thread.turn, hear)
        performer = Performer(recorder, self._hands(thread, approver))
        turn = converse(_background(thread), request, self._toolbox(thread))
        end = await drive_async(turn, performer.perform, recorder.close)
        settle(thread, end)
        return await asyncio.to_thread(self._folded, thread, end)

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

    # --- opening ------------------------------------------------------------------

    def _opened(self, thread: ThreadId, opening: Opening) -> OpenThread:
        with ExitStack() as held:
            held.enter_context(self._on.leases.hold(thread))
            found = self._made_or_resumed(thread, opening)
            found.held = held.pop_all()
        return found

    def _made_or_resumed(self, thread: ThreadId, opening: Opening) -> OpenThread:
        stored = self._on.ports.entries.spelling_of(thread)
        if stored is None:
            return self._made(thread, opening)
        if stored != thread:
            raise ConflictError(
                f"thread id {str(thread)!r} differs only in letter case from {str(stored)!r}",
                "one spelling of an id",
                f"use {str(stored)!r}, or an id that differs in more",
            )
        if opening.starts:
            raise _has_started(thread)
        return self._resumed(thread, opening)

    def _made(self, thread: ThreadId, opening: Opening) -> OpenThread:
        workshop = self._on.workshop
        if opening.parent is not None and not self._on.ports.entries.spelling_of(opening.parent):
            raise NotFoundError(
                f"no thread {str(opening.parent)!r} to fork", "a thread that is recorded"
            )
        opened = self._opened_fact(opening, opening.tools, opening.parent)
        kit = workshop.kit(thread, opened, model=opening.model)
        opened = self._opened_fact(
            opening, tuple(kit.offered), opening.parent, model=kit.model.name
        )
        text = workshop.instructions if opening.instructions is None else opening.instructions
        recorder = Recorder(
            ports=self._on.ports, thread=thread, turn=None, collector=ReceiptCollector()
        )
        try:
            instructions = drive(_opening_turn(opened, text), recorder.close)
        except NotRecordedError as error:
            raise _cause(error) from error
        return OpenThread(
            id=thread,
            opened=opened,
            kit=kit,
            instructions=instructions,
            turn=0,
            last_entry=instructions.entry.number,
            earlier=[],
            last=None,
            created=True,
        )

    def _resumed(self, thread: ThreadId, opening: Opening) -> OpenThread:
        ports = self._on.ports
        stored = load_thread(ports.log, ports.entries, thread)
        kit = self._on.workshop.kit(
            thread, stored.opened, model=opening.model or stored.opened.model
        )
        opened = self._opened_fact(
            opening, stored.opened.tools, stored.opened.parent, model=kit.model.name
        )
        found = OpenThread(
            id=thread,
            opened=opened,
            kit=kit,
            instructions=stored.instructions,
            turn=stored.last_turn,
            last_entry=stored.last_entry,
            earlier=[],
            last=None,
            created=False,
            tokens_a_byte=tokens_a_byte(stored.records, 1 / BYTES_A_TOKEN),
        )
        records = self._recovered(found, stored)
        found.earlier = [earlier_turn(record, found.recalling) for record in records]
        found.last = records[-1] if records else None
        try:
            self._recorder(found, None, lambda _: None).record(opened)
        except NotRecordedError as error:
            raise _cause(error) from error
        return found

    def _recovered(self, thread: OpenThread, stored: StoredThread) -> tuple[TurnRecord, ...]:
        """Close what a process left open when it ended; what it recorded is stored."""
        if not stored.records:
            return ()
        last = stored.records[-1]
        recorder = self._recorder(thread, last.turn or None, lambda _: None)
        is_whole = True
        try:
            if last.turn and is_open(last):
                recorder.record(ErrorRaised(message=INTERRUPTED, where="turn"))
                is_whole = False
            for draft in unstored_drafts(last):
                thread.last_entry = recorder.store(StoreEntry(draft=draft)).number
                is_whole = False
        except NotRecordedError as error:
            raise _cause(error) from error
        if is_whole:
            return stored.records
        return (
            *stored.records[:-1],
            turn_record(self._on.ports.log, thread.id, last.turn),
        )

    def _opened_fact(
        self,
        opening: Opening,
        tools: Sequence[str] | None,
        parent: str | None,
        *,
        model: str | None = None,
    ) -> ThreadOpened:
        return ThreadOpened(
            face=opening.face,
            model=model,
            tools=None if tools is None else tuple(tools),
            instructions=opening.instructions is not None,
            parent=parent,
            cwd=opening.cwd,
            versions=dict(self._on.versions) or None,
        )


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


def _opening_turn(opened: ThreadOpened, instructions: str) -> Turn[SentEntry]:
    """Record that a thread began, and its instructions, which are entry 1."""
    yield Record(payload=opened)
    event = yield Record(payload=InstructionsGiven(text=instructions))
    assert isinstance(event, Event)  # noqa: S101 - what `Record` is answered with
    draft = EntryDraft(kind="instructions", origin="carried", events=(event.id,))
    entry = yield StoreEntry(draft=draft)
    assert isinstance(entry, Entry)  # noqa: S101 - what `StoreEntry` is answered with
    return sent_instructions(entry, event)


def _command_entry(thread: OpenThread, event: Event) -> StoreEntry:
    return StoreEntry(
        draft=EntryDraft(kind="command", turn=thread.turn or None, events=(event.id,))
    )


def _let_go(opened: "asyncio.Future[OpenThread]") -> None:
    """Let go of a thread that nobody waited for."""
    if not opened.cancelled() and opened.exception() is None:
        _released(opened.result())


def _released(thread: OpenThread) -> None:
    """Give back what the thread holds: its kit, and the thread itself."""
    try:
        thread.kit.close()
    finally:
        thread.held.close()


def _has_started(thread: ThreadId) -> ConflictError:
    return ConflictError(
        f"thread {str(thread)!r} has started",
        "instructions, tools, model and parent only when a thread starts",
        "leave them out, or name a new thread",
    )


def _cause(error: NotRecordedError) -> CounterfoilError:
    cause = error.__cause__
    return cause if isinstance(cause, CounterfoilError) else CounterfoilError(str(cause))
