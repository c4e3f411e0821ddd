"""A turn: one prompt and everything until its reply, as a generator of effects.

The order is agent.md section 1, exactly: record the prompt; elide earlier outputs;
condense if due; ask the model and run its tool loop; record the reply; store the entries
with their events. Folding the receipt comes after, and needs nothing but the events. A
turn that fails or is cancelled says so, stores what it produced, and has a receipt too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from counterfoil.core.condensing import Load, is_due, turns_to_keep
from counterfoil.core.context import (
    BYTES_A_TOKEN,
    Reading,
    SentEntry,
    TurnRecord,
    elided_entries,
    elisions,
    messages_of,
    numbers_of,
    running_record,
    sent_entries,
    size_of,
)
from counterfoil.core.entries import Entry
from counterfoil.core.errors import ContextOverflowError, CounterfoilError
from counterfoil.core.events import (
    ContextCondensed,
    ErrorRaised,
    Event,
    ModelAsked,
    OutputElided,
    Payload,
    PromptReceived,
    ReasoningGiven,
    ReplyGiven,
    Usage,
)
from counterfoil.core.ids import ThreadId
from counterfoil.core.messages import AskedCall, ModelAnswer, ModelRequest, ToolSpec
from counterfoil.core.output_references import Recalling
from counterfoil.core.turn_entries import drafts_of
from counterfoil.engine.call_tool import Toolbox, call_tool
from counterfoil.engine.effects import (
    AskModel,
    NotRecordedError,
    Record,
    StoreEntry,
    Turn,
    TurnCancelledError,
)

MOST_ROUNDS = 64
"""Times that a turn asks the model; one that still calls tools then has failed."""

CANCELLED = "the turn was cancelled"
"""What the error of a turn says that nobody waited for any more."""

Outcome = Literal["ok", "error", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierTurn:
    """A turn that ended: what later turns read of it, and its sizes in bytes.

    `size` counts it as it is read, `whole` with every output whole.
    """

    turn: int
    sent: tuple[SentEntry, ...]
    size: int
    whole: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """What somebody asks; `schema` is the form of the reply to this prompt alone."""

    prompt: str
    source: Literal["person", "caller", "harness"] = "person"
    schema: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What a turn starts from: all that is known of its thread.

    `earlier` are the turns that are still read, oldest first; `last` is the record of
    the turn before, whose outputs become references now. `tokens_a_byte` is what the
    model last reported, else a quarter. `window` is in tokens.
    """

    thread: ThreadId
    turn: int
    model: str
    window: int
    instructions: SentEntry
    earlier: tuple[EarlierTurn, ...]
    last: TurnRecord | None
    last_entry: int
    specs: tuple[ToolSpec, ...]
    specs_size: int
    recalling: Recalling
    tokens_a_byte: float = 1 / BYTES_A_TOKEN


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd:
    """How a turn ended, before anything is folded out of it.

    `kept` is how many of the earlier turns are still read; `tokens_a_byte` what the
    model reported of its last request.
    """

    outcome: Outcome
    reply: str | None
    error: str | None
    record: TurnRecord
    kept: int
    tokens_a_byte: float


@dataclass(slots=True)
class _Running:
    """The turn while it runs: its events, and what was decided about the context."""

    background: Background
    request: TurnRequest
    toolbox: Toolbox
    started: float
    events: list[Event] = field(default_factory=list)
    earlier: tuple[EarlierTurn, ...] = ()
    usage: Usage = field(default_factory=Usage)
    tokens_a_byte: float = 1 / BYTES_A_TOKEN
    is_condensed: bool = False
    used_ids: set[str] = field(default_factory=set)


def converse(background: Background, request: TurnRequest, toolbox: Toolbox) -> Turn[TurnEnd]:
    """Run one turn of a thread and return how it ended.

    Raises:
        NotRecordedError: The record cannot be written; what was decided is not acted on.
    """
    running = _Running(
        background=background,
        request=request,
        toolbox=toolbox,
        started=toolbox.monotonic(),
        earlier=background.earlier,
        tokens_a_byte=background.tokens_a_byte,
    )
    outcome: Outcome = "ok"
    reply, error = None, None
    try:
        yield from _began(running)
        reply = yield from _replied(running)
    except NotRecordedError:
        raise
    except TurnCancelledError:
        outcome, error = "cancelled", CANCELLED
    except CounterfoilError as failure:
        outcome, error = "error", failure.diagnosis()
    except Exception as failure:  # noqa: BLE001 - a turn that fails is recorded as failed
        outcome, error = "error", str(failure) or type(failure).__name__
    if error is not None:
        yield from _record(running, ErrorRaised(message=error, where="turn"))
    entries = yield from _stored(running)
    return _end(running, outcome, reply, error, entries)


def _began(running: _Running) -> Turn[None]:
    """Record the prompt, elide the outputs of the turn before, condense if that is due."""
    request, last = running.request, running.background.last
    yield from _record(running, PromptReceived(text=request.prompt, source=request.source))
    if last is not None:
        for payload, call in elisions(last, running.background.recalling):
            yield from _record(running, payload, call=call)
    load = _load(running)
    if is_due(load):
        yield from _condensed(running, load, elided=False, reason="budget")


def _replied(running: _Running) -> Turn[str]:
    """Ask the model and run its tool loop until it replies; record the reply."""
    for _ in range(MOST_ROUNDS):
        answer = yield from _asked(running)
        if answer.reasoning:
            yield from _record(running, ReasoningGiven(text=answer.reasoning))
        if not answer.calls:
            yield from _record(running, _reply(running, answer))
            return answer.text
        yield from _called(running, answer)
    raise CounterfoilError(
        f"the model still called tools after {MOST_ROUNDS} rounds", "a reply", "ask for less"
    )


def _called(running: _Running, answer: ModelAnswer) -> Turn[None]:
    calls = [_with_new_id(running, call) for call in answer.calls]
    if answer.text:
        yield from _record(running, ReasoningGiven(text=answer.text), call=calls[0].id)
    for call in calls:
        yield from _kept(running, call_tool(running.toolbox, call))


def _with_new_id(running: _Running, call: AskedCall) -> AskedCall:
    """Return `call` with an id that no other call of the turn has: results are joined by it."""
    wanted = call.id.strip() or "call"
    id_, number = wanted, 1
    while id_ in running.used_ids:
        number += 1
        id_ = f"{wanted}-{number}"
    running.used_ids.add(id_)
    return AskedCall(id=id_, tool=call.tool, arguments=call.arguments, fault=call.fault)


def _asked(running: _Running) -> Turn[ModelAnswer]:
    """Ask the model; what it says does not fit is condensed and asked once more."""
    try:
        return (yield from _asked_once(running))
    except ContextOverflowError:
        if not (yield from _condensed(running, _load(running), elided=True, reason="overflow")):
            raise
    return (yield from _asked_once(running))


def _asked_once(running: _Running) -> Turn[ModelAnswer]:
    background = running.background
    sent = _sent(running)
    messages = messages_of(sent)
    size = sum(map(size_of, messages)) + background.specs_size
    yield from _record(
        running,
        ModelAsked(
            model=background.model,
            entries=numbers_of(sent),
            estimated_tokens=size // BYTES_A_TOKEN,
        ),
    )
    request = ModelRequest(messages=messages, tools=background.specs, schema=running.request.schema)
    answer = yield AskModel(request=request)
    assert isinstance(answer, ModelAnswer)  # noqa: S101 - what `AskModel` is answered with
    if answer.usage is not None:
        running.usage = _sum(running.usage, answer.usage)
        if answer.usage.input and size:
            running.tokens_a_byte = answer.usage.input / size
    return answer


def _sent(running: _Running) -> list[SentEntry]:
    background = running.background
    record = running_record(
        background.thread, background.turn, running.events, after=background.last_entry
    )
    reading = Reading(
        turn=background.turn,
        first_turn=0,
        elided=elided_entries(running.events),
        recalling=background.recalling,
    )
    earlier = [one for turn in running.earlier for one in turn.sent]
    return [background.instructions, *earlier, *sent_entries([record], reading)]


def _load(running: _Running) -> Load:
    background = running.background
    fixed = background.specs_size + sum(map(size_of, background.instructions.messages))
    now = _sent(running)[1 + sum(len(turn.sent) for turn in running.earlier) :]
    return Load(
        window=background.window,
        fixed=_tokens(running, fixed),
        prompt=_tokens(running, sum(size_of(one) for one in messages_of(now))),
        turns=[_tokens(running, turn.size) for turn in running.earlier],
        whole=[_tokens(running, turn.whole) for turn in running.earlier],
    )


def _tokens(running: _Running, size: int) -> int:
    return round(size * running.tokens_a_byte)


def _condensed(
    running: _Running, load: Load, *, elided: bool, reason: Literal["budget", "overflow"]
) -> Turn[bool]:
    """Elide what may be elided, drop the oldest turns to the goal; say whether that changed it."""
    steps: list[Literal["elide", "drop"]] = []
    if elided and (yield from _elided_now(running)):
        steps.append("elide")
        load = _load(running)
    before = len(running.earlier)
    kept = min(turns_to_keep(load), _fewer(before) if elided and not steps else before)
    if kept < before:
        steps.append("drop")
    if not steps:
        return False
    yield from _record(
        running,
        ContextCondensed(turns_before=before, turns_after=kept, steps=tuple(steps), reason=reason),
    )
    running.earlier = running.earlier[before - kept :]
    running.is_condensed = True
    return True


def _fewer(turns: int) -> int:
    """A model that says it is too much is believed against the count: one turn goes at least."""
    return max(turns - 1, min(turns, 1))


def _elided_now(running: _Running) -> Turn[bool]:
    """Elide the outputs of this turn that the model has read already; say whether any was."""
    background = running.background
    record = running_record(
        background.thread, background.turn, running.events, after=background.last_entry
    )
    read = {number for event in running.events for number in _numbers_asked(event)}
    last = max((entry.number for entry in record.entries if entry.kind == "tool_calls"), default=0)
    done = elided_entries(running.events)
    found = False
    for payload, call in list(elisions(record, background.recalling)):
        if payload.entry in read and payload.entry < last and payload.entry not in done:
            yield from _record(running, payload, call=call)
            found = True
    return found


def _numbers_asked(event: Event) -> Sequence[int]:
    return (event.payload.entries or ()) if isinstance(event.payload, ModelAsked) else ()


def _reply(running: _Running, answer: ModelAnswer) -> ReplyGiven:
    seconds = running.toolbox.monotonic() - running.started
    return ReplyGiven(
        text=answer.text,
        condensed=running.is_condensed,
        milliseconds=max(round(seconds * 1000), 0),
        usage=None if running.usage == Usage() else running.usage,
    )


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        input=_added(one.input, other.input),
        output=_added(one.output, other.output),
        cached=_added(one.cached, other.cached),
        reasoning=_added(one.reasoning, other.reasoning),
    )


def _added(one: int | None, other: int | None) -> int | None:
    return one if other is None else (one or 0) + other


def _record(running: _Running, payload: Payload, call: str | None = None) -> Turn[None]:
    yield from _kept(running, _recorded(payload, call))


def _recorded(payload: Payload, call: str | None) -> Turn[None]:
    yield Record(payload=payload, call=call)


def _kept(running: _Running, part: Turn[None]) -> Turn[None]:
    """Run a part of the turn and keep the events that it records."""
    try:
        effect = next(part)
        while True:
            try:
                sent = yield effect
            except BaseException as error:  # noqa: BLE001 - the part decides
                effect = part.throw(error)
                continue
            if isinstance(sent, Event):
                running.events.append(sent)
            effect = part.send(sent)
    except StopIteration:
        return


def _stored(running: _Running) -> Turn[tuple[Entry, ...]]:
    entries: list[Entry] = []
    for draft in drafts_of(running.events):
        entry = yield StoreEntry(draft=draft)
        assert isinstance(entry, Entry)  # noqa: S101 - what `StoreEntry` is answered with
        entries.append(entry)
    return tuple(entries)


def _end(
    running: _Running,
    outcome: Outcome,
    reply: str | None,
    error: str | None,
    entries: tuple[Entry, ...],
) -> TurnEnd:
    background = running.background
    return TurnEnd(
        outcome=outcome,
        reply=reply,
        error=error,
        record=TurnRecord(turn=background.turn, events=tuple(running.events), entries=entries),
        kept=len(running.earlier),
        tokens_a_byte=running.tokens_a_byte,
    )


def earlier_turn(record: TurnRecord, recalling: Recalling) -> EarlierTurn:
    """Return what later turns read of `record`: references for outputs, its reply with it."""
    later = Reading(turn=record.turn + 1, first_turn=0, elided=frozenset(), recalling=recalling)
    sent = tuple(sent_entries([record], later))
    size = sum(size_of(message) for message in messages_of(sent))
    saved = sum(_saved(payload) for payload, _ in elisions(record, recalling))
    return EarlierTurn(turn=record.turn, sent=sent, size=size, whole=size + saved)


def _saved(payload: OutputElided) -> int:
    return (payload.bytes or 0) - (payload.elided_bytes or 0)
