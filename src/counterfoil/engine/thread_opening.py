"""How a thread comes to be open in a process: made, or resumed where it was left.

What a process left open when it ended is closed first: the turn is recorded as
interrupted, and what it produced is stored (agent.md section 1).
"""

from collections.abc import Sequence
from contextlib import ExitStack

from counterfoil.core.context import (
    BYTES_A_TOKEN,
    SentEntry,
    TurnRecord,
    sent_instructions,
)
from counterfoil.core.entries import Entry, EntryDraft
from counterfoil.core.errors import (
    ConflictError,
    NotFoundError,
)
from counterfoil.core.events import (
    ErrorRaised,
    Event,
    InstructionsGiven,
    ThreadOpened,
)
from counterfoil.core.ids import EntryNumber, ThreadId
from counterfoil.core.turns import ReceiptCollector
from counterfoil.engine.converse import (
    earlier_turn,
)
from counterfoil.engine.effects import (
    NotRecordedError,
    Record,
    StoreEntry,
    Turn,
    drive,
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
    Recorder,
)
from counterfoil.engine.thread_parts import Foundation, Opening, OpenThread, cause_of

INTERRUPTED = "interrupted: the process that ran the turn ended before it did"
"""What the error of a turn says that was broken off; the next opening records it."""


def open_thread(on: Foundation, thread: ThreadId, opening: Opening) -> OpenThread:
    """Return the thread, held by this process: made, or resumed; raise as `Threads.open`."""
    with ExitStack() as held:
        held.enter_context(on.leases.hold(thread))
        found = _made_or_resumed(on, thread, opening, held)
        found.held = held.pop_all()
    return found


def _made_or_resumed(
    on: Foundation, thread: ThreadId, opening: Opening, held: ExitStack
) -> OpenThread:
    stored = on.ports.entries.spelling_of(thread)
    if stored is None:
        return _made(on, thread, opening, held)
    if stored != thread:
        raise ConflictError(
            f"thread id {str(thread)!r} differs only in letter case from {str(stored)!r}",
            "one spelling of an id",
            f"use {str(stored)!r}, or an id that differs in more",
        )
    if opening.starts:
        raise has_started(thread)
    return _resumed(on, thread, opening, held)


def _made(on: Foundation, thread: ThreadId, opening: Opening, held: ExitStack) -> OpenThread:
    workshop = on.workshop
    if opening.parent is not None and opening.parent != on.ports.entries.spelling_of(
        opening.parent
    ):
        raise NotFoundError(
            f"no thread {str(opening.parent)!r} to fork", "a thread that is recorded"
        )
    opened = _opened_fact(on, opening, opening.tools, opening.parent)
    kit = workshop.kit(thread, opened, model=opening.model)
    opened = _opened_fact(on, opening, tuple(kit.offered), opening.parent, model=kit.model.name)
    held.callback(kit.close)
    text = workshop.instructions if opening.instructions is None else opening.instructions
    recorder = Recorder(ports=on.ports, thread=thread, turn=None, collector=ReceiptCollector())
    try:
        instructions = drive(_opening_turn(opened, text), recorder.close)
    except NotRecordedError as error:
        raise cause_of(error) from error
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


def _resumed(on: Foundation, thread: ThreadId, opening: Opening, held: ExitStack) -> OpenThread:
    ports = on.ports
    stored = load_thread(ports.log, ports.entries, thread)
    kit = on.workshop.kit(thread, stored.opened, model=opening.model or stored.opened.model)
    held.callback(kit.close)
    opened = _opened_fact(
        on, opening, stored.opened.tools, stored.opened.parent, model=kit.model.name
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
    records = _recovered(on, found, stored)
    found.earlier = [earlier_turn(record, found.recalling) for record in records]
    found.last = records[-1] if records else None
    try:
        _recorder(on, found, None).record(opened)
    except NotRecordedError as error:
        raise cause_of(error) from error
    return found


def _recovered(on: Foundation, thread: OpenThread, stored: StoredThread) -> tuple[TurnRecord, ...]:
    """Close what a process left open when it ended; what it recorded is stored."""
    if not stored.records:
        return ()
    turn = stored.records[-1].turn
    recorder = _recorder(on, thread, turn or None)
    before = on.ports.log.last_place()
    try:
        _say_stored(on, stored, recorder)
        last = turn_record(on.ports.log, thread.id, turn) if turn else stored.records[-1]
        if turn and is_open(last):
            recorder.record(ErrorRaised(message=INTERRUPTED, where="turn"))
        for draft in unstored_drafts(last):
            thread.last_entry = recorder.store(StoreEntry(draft=draft)).number
    except NotRecordedError as error:
        raise cause_of(error) from error
    if not turn or on.ports.log.last_place() == before:
        return stored.records
    return (*stored.records[:-1], turn_record(on.ports.log, thread.id, turn))


def _say_stored(on: Foundation, stored: StoredThread, recorder: Recorder) -> None:
    """Record that entries are stored whose process ended before it could."""
    known = max((entry.number for one in stored.records for entry in one.entries), default=1)
    for number in range(known + 1, stored.last_entry + 1):
        entry = on.ports.entries.entry(stored.id, EntryNumber(number))
        if entry is not None and entry.turn is not None:
            recorder.say_stored(entry)


def _opened_fact(
    on: Foundation,
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
        versions=dict(on.versions) or None,
    )


def _recorder(on: Foundation, thread: OpenThread, turn: int | None) -> Recorder:
    return Recorder(ports=on.ports, thread=thread.id, turn=turn, collector=thread.collector)


def _opening_turn(opened: ThreadOpened, instructions: str) -> Turn[SentEntry]:
    """Record that a thread began, and its instructions, which are entry 1."""
    yield Record(payload=opened)
    event = yield Record(payload=InstructionsGiven(text=instructions))
    assert isinstance(event, Event)  # noqa: S101 - what `Record` is answered with
    draft = EntryDraft(kind="instructions", origin="carried", events=(event.id,))
    entry = yield StoreEntry(draft=draft)
    assert isinstance(entry, Entry)  # noqa: S101 - what `StoreEntry` is answered with
    return sent_instructions(entry, event)


def has_started(thread: ThreadId) -> ConflictError:
    """Return the error about a thread that was told what only a new one can be."""
    return ConflictError(
        f"thread {str(thread)!r} has started",
        "instructions, tools, model and parent only when a thread starts",
        "leave them out, or name a new thread",
    )
