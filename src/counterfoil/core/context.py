"""What the model reads: a fold over the record, so that it can be shown for every turn.

The instructions, unchanged for the thread; then the active entries; then the request.
Nothing of a tool or a page gets into the instructions (agent.md section 2). An output is
whole in its own turn and a reference from the next one on. Nothing here is stored: which
turns are still read follows from the condensations that were recorded.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from counterfoil.core.entries import Entry
from counterfoil.core.events import (
    CommandExited,
    ContextCondensed,
    Event,
    InstructionsGiven,
    OutputElided,
    PromptReceived,
    ReasoningGiven,
    ReplyGiven,
    ToolCalled,
    ToolFailed,
    ToolReturned,
)
from counterfoil.core.ids import EntryNumber, EventId, ThreadId
from counterfoil.core.messages import AskedCall, Message
from counterfoil.core.output_references import (
    OldOutput,
    Recalling,
    cut_to_bytes,
    output_reference,
    shown_output,
)
from counterfoil.core.turn_entries import drafts_of, results_of

MOST_OUTPUT = 64 * 1024
"""Bytes of one output that a model reads; the record keeps the rest."""

BYTES_A_TOKEN = 4
"""How many bytes a token is taken for where no model said."""

_COMMAND_HEAD = 320
"""Bytes of a person's command output that a model reads whole."""

NO_RESULT = "[no result was recorded for this call]"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """One turn as it is recorded: its events, and its entries with their numbers.

    Turn 0 is what came before the first prompt.
    """

    turn: int
    events: tuple[Event, ...]
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a thread is read in `turn`: the first turn that still is, and what was elided.

    `elided` are the entries of the running turn that are references already.
    """

    turn: int
    first_turn: int
    elided: frozenset[int]
    recalling: Recalling


@dataclass(frozen=True, slots=True, kw_only=True)
class SentEntry:
    """One entry as it was sent: its number and kind, its turn, and the text."""

    entry: Entry
    messages: tuple[Message, ...]
    is_reference: bool = False


def running_record(
    thread: ThreadId, turn: int, events: Sequence[Event], *, after: int
) -> TurnRecord:
    """Return the record of a turn whose entries are not stored yet, behind entry `after`."""
    entries = tuple(
        Entry(
            thread=thread,
            number=EntryNumber(number),
            kind=draft.kind,
            turn=turn,
            events=draft.events,
        )
        for number, draft in enumerate(drafts_of(events), start=after + 1)
    )
    return TurnRecord(turn=turn, events=tuple(events), entries=entries)


def first_turn_read(events: Iterable[Event], otherwise: int = 0) -> int:
    """Return the first turn that is still read after the condensations among `events`."""
    first = otherwise
    for event in events:
        dropped = first_after(event)
        first = first if dropped is None else dropped
    return first


def first_after(event: Event) -> int | None:
    """Return the first turn that is read once `event` was recorded, `None`: it drops none."""
    payload = event.payload
    if not isinstance(payload, ContextCondensed) or event.turn is None:
        return None
    if "drop" not in (payload.steps or ()) or payload.turns_after is None:
        return None
    return max(event.turn - payload.turns_after, 0)


def elided_entries(events: Iterable[Event]) -> frozenset[int]:
    """Return the entries that an `output_elided` among `events` names."""
    return frozenset(
        event.payload.entry for event in events if isinstance(event.payload, OutputElided)
    )


def sent_entries(records: Iterable[TurnRecord], reading: Reading) -> Iterator[SentEntry]:
    """Yield the entries that are read, in the order of the thread, as they are read.

    Of the running turn these are all but its reply: what the model read before it.
    """
    for record in records:
        if reading.first_turn <= record.turn <= reading.turn:
            yield from _sent_of_turn(record, reading)


def sent_instructions(entry: Entry, event: Event) -> SentEntry:
    """Return entry 1, the instructions, as every request begins with it."""
    assert isinstance(event.payload, InstructionsGiven)  # noqa: S101 - whoever asks has looked
    message = Message(role="system", text=event.payload.text, entry=entry.number)
    return SentEntry(entry=entry, messages=(message,))


def messages_of(sent: Iterable[SentEntry]) -> tuple[Message, ...]:
    """Return the messages of `sent`, in their order."""
    return tuple(message for one in sent for message in one.messages)


def numbers_of(sent: Iterable[SentEntry]) -> tuple[int, ...]:
    """Return the numbers of the entries that a request holds."""
    return tuple(one.entry.number for one in sent if one.messages)


def estimated_tokens(messages: Iterable[Message], extra: int = 0) -> int:
    """Return what `messages` and `extra` bytes beside them are in tokens, by their length."""
    return (sum(map(size_of, messages)) + extra) // BYTES_A_TOKEN


def size_of(message: Message) -> int:
    """Return the bytes of `message`, its calls with it."""
    calls = sum(len(call.tool) + _bytes(call.arguments) for call in message.calls)
    return _bytes(message.text) + calls


def elisions(record: TurnRecord, recalling: Recalling) -> Iterator[tuple[OutputElided, str | None]]:
    """Yield, for each output of `record` that becomes a reference, the fact and its call."""
    calls = _calls_by_result(record.events)
    for entry, event in _outputs(record):
        old = _old_output(entry.number, event, calls.get(event.id), record)
        reference = output_reference(old, recalling)
        if _bytes(reference) < _bytes(old.text):
            yield (
                OutputElided(
                    entry=entry.number,
                    tool=old.tool,
                    bytes=_bytes(old.text),
                    elided_bytes=_bytes(reference),
                ),
                event.call,
            )


def output_text(event: Event) -> str:
    """Return the text that a model reads of a call's result, whole in its own turn."""
    payload = event.payload
    if isinstance(payload, ToolFailed):
        return f"error: {payload.message}"
    if isinstance(payload, ToolReturned):
        return bounded_output(payload.output or "")
    return ""


def bounded_output(text: str) -> str:
    """Return `text`, or its first 64 KiB with a line that says what is left out."""
    total = _bytes(text)
    if total <= MOST_OUTPUT:
        return text
    return f"{cut_to_bytes(text, MOST_OUTPUT)}\n[cut: {total:,} bytes in all; the record has them]"


def _sent_of_turn(record: TurnRecord, reading: Reading) -> Iterator[SentEntry]:
    by_id = {event.id: event for event in record.events}
    calls = _calls_by_result(record.events)
    unanswered = _unanswered(record.events)
    for entry in record.entries:
        held = [by_id[id_] for id_ in entry.events if id_ in by_id]
        if not held or (entry.kind == "reply" and record.turn == reading.turn):
            continue
        if entry.kind == "tool_output":
            is_old = record.turn < reading.turn or entry.number in reading.elided
            yield _sent_output(entry, held[0], calls, record, reading.recalling if is_old else None)
        else:
            yield SentEntry(entry=entry, messages=tuple(_messages(entry, held, unanswered)))


def _messages(entry: Entry, held: list[Event], unanswered: frozenset[EventId]) -> Iterator[Message]:
    number = entry.number
    first = held[0].payload
    if isinstance(first, PromptReceived):
        yield Message(role="user", text=first.text, entry=number)
    elif isinstance(first, ReplyGiven):
        yield Message(role="assistant", text=first.text, entry=number)
    elif isinstance(first, CommandExited):
        yield Message(role="user", text=_command_notice(first), entry=number)
    elif entry.kind == "tool_calls":
        yield _asked(number, held)
        for event in held:
            if event.id in unanswered:
                yield Message(role="tool", text=NO_RESULT, call=event.call, entry=number)


def _asked(number: int, held: Iterable[Event]) -> Message:
    said: list[str] = []
    calls: list[AskedCall] = []
    for event in held:
        payload = event.payload
        if isinstance(payload, ReasoningGiven):
            said.append(payload.text)
        elif isinstance(payload, ToolCalled):
            call = AskedCall(
                id=event.call or event.id, tool=payload.tool, arguments=payload.arguments
            )
            calls.append(call)
    return Message(role="assistant", text="".join(said), calls=tuple(calls), entry=number)


def _sent_output(
    entry: Entry,
    event: Event,
    calls: Mapping[EventId, Event],
    record: TurnRecord,
    recalling: Recalling | None,
) -> SentEntry:
    text = output_text(event)
    sent = text
    if recalling is not None:
        sent = shown_output(
            _old_output(entry.number, event, calls.get(event.id), record), recalling
        )
    message = Message(role="tool", text=sent, call=event.call, entry=entry.number)
    return SentEntry(entry=entry, messages=(message,), is_reference=sent != text)


def _old_output(number: int, event: Event, call: Event | None, record: TurnRecord) -> OldOutput:
    asked = call.payload if call is not None else None
    payload = event.payload
    return OldOutput(
        entry=number,
        tool=payload.tool if isinstance(payload, ToolReturned | ToolFailed) else "",
        at=event.occurred_at,
        status=_status(event, record.events),
        arguments=asked.arguments if isinstance(asked, ToolCalled) else "",
        text=output_text(event),
    )


def _status(event: Event, events: Iterable[Event]) -> str:
    if isinstance(event.payload, ToolFailed):
        return "error"
    for other in events:
        payload = other.payload
        if isinstance(payload, CommandExited) and other.call == event.call and payload.exit_status:
            return f"exit status {payload.exit_status}"
    outcome = event.payload.outcome if isinstance(event.payload, ToolReturned) else None
    return outcome or "unknown"


def _outputs(record: TurnRecord) -> Iterator[tuple[Entry, Event]]:
    by_id = {event.id: event for event in record.events}
    for entry in record.entries:
        if entry.kind == "tool_output":
            yield from ((entry, by_id[id_]) for id_ in entry.events if id_ in by_id)


def _calls_by_result(events: Sequence[Event]) -> dict[EventId, Event]:
    by_id = {event.id: event for event in events}
    return {result.id: by_id[call] for call, result in results_of(events).items()}


def _unanswered(events: Sequence[Event]) -> frozenset[EventId]:
    answered = results_of(events)
    return frozenset(
        event.id
        for event in events
        if isinstance(event.payload, ToolCalled) and event.id not in answered
    )


def _command_notice(command: CommandExited) -> str:
    """Say what a person ran: it is no request, and not what the model did."""
    status = "not recorded" if command.exit_status is None else str(command.exit_status)
    said = "\n".join(text for text in (command.stdout, command.stderr) if text)
    return (
        f"[the person ran a command, not you: {command.command}; directory"
        f" {command.directory or 'not recorded'}; exit status {status}]\n"
        f"{cut_to_bytes(said, _COMMAND_HEAD)}"
    ).rstrip()


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
