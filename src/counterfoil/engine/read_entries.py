"""What stands at a place of a transcript: the entry of that number, or that line.

In a thread of our own a place is an entry; in another agent's session it is a line of
the file, since its agent was never shown a number.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields

from counterfoil.core.events import (
    CommandExited,
    EntryStored,
    ErrorRaised,
    Event,
    FileWritten,
    InstructionsGiven,
    Payload,
    PolicyDecided,
    PromptReceived,
    ReasoningGiven,
    RecordDamaged,
    ReplyGiven,
    ToolCalled,
    ToolFailed,
    ToolReturned,
    kind_of,
)
from counterfoil.ports.transcripts import Recorded, Said, Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One thing that stands at a place: what it is, and its text."""

    kind: str
    thread: str
    turn: int | None
    line: int
    call: str | None
    text: str
    source: str = ""


def standing_at(transcript: Transcript, place: int) -> Iterator[Standing]:
    """Yield what stands at `place`, in the order of the record."""
    if transcript.numbers_entries:
        yield from _entry(transcript, place)
        return
    for item in transcript.items():
        if isinstance(item, Recorded) and _is_at(item, place):
            if not isinstance(item.event.payload, ReplyGiven):  # told as what was said
                yield _standing(item.event, item.line)
        elif isinstance(item, Said) and _is_at(item, place):
            yield Standing(
                kind="reply",
                thread=item.thread,
                turn=item.turn,
                line=item.line,
                call=None,
                text=item.text,
            )


def _is_at(item: Recorded | Said, line: int) -> bool:
    return item.line == line and not item.origin.source


def _entry(transcript: Transcript, number: int) -> Iterator[Standing]:
    """Entries name the events that hold their content; those stand before them."""
    wanted = {
        event
        for item in transcript.items()
        if isinstance(item, Recorded)
        and isinstance(item.event.payload, EntryStored)
        and item.event.payload.entry == number
        for event in item.event.payload.events
    }
    for item in transcript.items():
        if isinstance(item, Recorded) and item.event.id in wanted:
            yield _standing(item.event, item.line)


def _standing(event: Event, line: int) -> Standing:
    return Standing(
        kind=kind_of(event.payload),
        thread=event.thread,
        turn=event.turn,
        line=line,
        call=event.call,
        text=_text(event),
    )


def _text(event: Event) -> str:
    payload = event.payload
    match payload:
        case PromptReceived() | ReplyGiven() | ReasoningGiven() | InstructionsGiven():
            return payload.text
        case ToolCalled():
            return f"{payload.tool} {payload.arguments}"
        case ToolReturned():
            outcome = payload.outcome or "outcome not recorded"
            return f"{payload.tool}: {outcome}\n{payload.output or ''}"
        case ToolFailed() | ErrorRaised():
            return payload.message
        case _:
            return _short(payload)


def _short(payload: Payload) -> str:
    match payload:
        case CommandExited():
            status = "not recorded" if payload.exit_status is None else payload.exit_status
            return f"{payload.command}\nexit status {status}\n{payload.stdout or ''}".rstrip("\n")
        case PolicyDecided():
            reason = payload.reason or "no reason recorded"
            return f"{payload.verdict} by {payload.by}: {payload.command} ({reason})"
        case FileWritten():
            return f"{payload.mode} {payload.path}"
        case RecordDamaged():
            return f"{payload.what} at {payload.place or 'an unknown place'}"
        case _:
            return "\n".join(_fields(payload))


def _fields(payload: Payload) -> Iterator[str]:
    for field in fields(payload):
        value = getattr(payload, field.name)
        if value is not None:
            yield f"{field.name.replace('_', ' ')}: {value}"
