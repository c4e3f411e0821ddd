"""Our own threads as JSON Lines of events, so that an export is checked like any other.

Here the agent was shown entry numbers and can cite them; a line that is no event is a
caveat with the reason, and everything behind it is read.
"""

from collections.abc import Iterator, Sequence

from counterfoil.adapters.transcripts.evidence import COUNTERFOIL
from counterfoil.adapters.transcripts.lines import Damage, Line, Tally, read_lines
from counterfoil.adapters.transcripts.once import SeenIds
from counterfoil.adapters.transcripts.search import NeedleSearch, Words
from counterfoil.adapters.transcripts.source import Source
from counterfoil.adapters.transcripts.threads import EPOCH, thread_id
from counterfoil.core.events import (
    CommandExited,
    Event,
    InstructionsGiven,
    PromptReceived,
    ReasoningGiven,
    RecordDamaged,
    ReplyGiven,
    ToolCalled,
    ToolReturned,
    Unrecognized,
)
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.core.refs.needles import Whose
from counterfoil.core.shown import seen_by_command
from counterfoil.ports.transcripts import (
    Item,
    Origin,
    Recorded,
    Said,
    Shown,
    Sighting,
    Wanted,
)
from counterfoil.wire.events import decode_event

_MAIN = Origin("")


class CounterfoilTranscript:
    """An export of a ledger: one event a line, of one thread or of many."""

    format = COUNTERFOIL
    numbers_entries = True

    def __init__(self, source: Source) -> None:
        self.path = source.name
        self._source = source

    def items(self) -> Iterator[Item]:
        """Yield every event in the order of the file (see the port)."""
        tally = Tally()
        seen = SeenIds()
        thread = thread_id(self._source.stem, "thread")
        turn: int | None = None
        at = EPOCH
        with self._source.open() as file:
            for line in read_lines(file, tally):
                event = _read(line)
                if isinstance(event, Damage):
                    yield Recorded(_damaged(event, thread, turn, at), line.number, 0, _MAIN)
                    continue
                tally.records += 1
                if not seen.add(event.id):
                    tally.repeated += 1
                    continue
                thread, turn, at = event.thread, event.turn, event.occurred_at
                if isinstance(event.payload, Unrecognized):
                    tally.unknown[event.payload.kind[:60]] += 1
                yield Recorded(event, line.number, 0, _MAIN)
                yield from _beside(event, line.number)
        yield tally.measured()

    def find(self, wanted: Sequence[Wanted]) -> Iterator[Sighting]:
        """Yield the first places of needles in the texts of events (see the port)."""
        with self._source.open() as file:
            yield from NeedleSearch(wanted, _words).sightings(file, _MAIN)


def _read(line: Line | Damage) -> Event | Damage:
    if isinstance(line, Damage):
        return line
    found = decode_event(line.content)
    if isinstance(found, Event):
        return found
    if found.reason in {"not-json", "not-utf8"}:
        code = "torn-line" if line.is_ended else "in-progress"
        return Damage(line.number, code, len(line.content))
    detail = f"{found.reason} {found.field}" if found.field else found.reason
    return Damage(line.number, "not-an-event", len(line.content), detail)


def _damaged(damage: Damage, thread: ThreadId, turn: int | None, at: str) -> Event:
    """Damage is met behind the event before it, and has its time."""
    place = f"line {damage.number}" + (f": {damage.detail}" if damage.detail else "")
    return Event(
        seq=damage.number,
        id=EventId.from_number(damage.number),
        occurred_at=at,
        thread=thread,
        turn=turn,
        payload=RecordDamaged(place=place, bytes=damage.size, what=damage.what),
    )


def _beside(event: Event, line: int) -> Iterator[Item]:
    """Yield what an event says beside itself: a reply, or what a command showed."""
    payload = event.payload
    if isinstance(payload, ReplyGiven):
        yield Said(payload.text, event.thread, event.turn or 1, line, 0, _MAIN, event.id)
    elif isinstance(payload, CommandExited) and payload.stdout:
        is_whole = payload.exit_status == 0 and not payload.truncated
        for seen in seen_by_command(payload.command, payload.stdout, is_whole=is_whole):
            yield Shown(seen, event.thread, line, event.call, _MAIN)


def _words(raw: bytes) -> Iterator[Words]:
    event = decode_event(raw)
    if not isinstance(event, Event):
        return
    for whose, text in _texts(event):
        if text:
            yield Words(whose, text, event.thread)


def _texts(event: Event) -> Iterator[tuple[Whose, str | None]]:
    payload = event.payload
    if isinstance(payload, ToolReturned):
        yield "tool", payload.output
    elif isinstance(payload, CommandExited):
        yield "tool", payload.stdout
        yield "tool", payload.stderr
    elif isinstance(payload, PromptReceived):
        yield ("harness" if payload.source == "harness" else "person"), payload.text
    elif isinstance(payload, InstructionsGiven):
        yield "system", payload.text
    elif isinstance(payload, ReplyGiven | ReasoningGiven):
        yield "model", payload.text
    elif isinstance(payload, ToolCalled):
        yield "model", payload.arguments
