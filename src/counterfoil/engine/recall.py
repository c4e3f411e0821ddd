"""The `memory` tool: older material by its number, out of the record.

`recall entry N`, `recall turn T`, `recall notes`, `note …`; each recall may go on `from
line L`. What is recalled is what the record holds, whole, in pages of 4 KiB; a miss names
the range that exists (agent.md section 3). A note is kept by the event of its call.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from counterfoil.core.entries import Entry
from counterfoil.core.events import EntryRecalled, Event
from counterfoil.core.ids import EntryNumber, ThreadId
from counterfoil.core.messages import ToolSpec
from counterfoil.core.paging import page_of
from counterfoil.engine.thread_views import text_of
from counterfoil.ports.record import EntryStore, EventLog
from counterfoil.ports.tools import CallContext, ToolAnswer

PAGE = 4096
"""Bytes of a page, of whole lines."""

_FROM = re.compile(r"[\s,;]+(?:from|at|starting at)?\s*line\s+(\d{1,9})\s*\Z", re.IGNORECASE)
_NUMBER = re.compile(r"#?(\d{1,9})")
_TRIMMED = " \t\r\n.,;:!?\"'`"

SPEC = ToolSpec(
    name="memory",
    description=(
        'Reads earlier parts of this conversation. request: "recall entry 7", "recall turn 4",'
        ' "recall notes", any of them with "from line 40"; or "note TEXT" to keep a note.'
    ),
    parameters={
        "type": "object",
        "properties": {"request": {"type": "string", "description": "what to recall or note"}},
        "required": ["request"],
        "additionalProperties": False,
    },
    only_reads=True,
)


@dataclass(frozen=True, slots=True)
class _Found:
    """What was asked for: its name, its heading, its text; `None` for what is not there."""

    target: str
    heading: str
    text: str | None


class MemoryTool:
    """The `Tool` that recalls what its thread holds."""

    def __init__(self, log: EventLog, entries: EntryStore) -> None:
        self._log = log
        self._entries = entries

    @property
    def spec(self) -> ToolSpec:
        """The tool as it is offered to the model."""
        return SPEC

    def run(self, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        """Return the answer to `arguments["request"]`."""
        request = str(arguments["request"])
        words, line = _split_line(request)
        if words.lower().startswith(("note ", "remember ")):
            return _noted(request)
        found = self._found(words, context)
        text = found.heading if found.text is None else _paged(found, line)
        fact = EntryRecalled(
            request=request,
            target=found.target,
            found=found.text is not None,
            bytes=len(text.encode("utf-8", "surrogatepass")),
        )
        return ToolAnswer(
            output=text, outcome="error" if found.text is None else "ok", facts=(fact,)
        )

    def _found(self, words: str, context: CallContext) -> _Found:
        lowered = words.lower()
        if "note" in lowered:
            return self._notes(context.thread)
        number = _NUMBER.search(words)
        if number is None:
            return _Found(
                "nothing", f'recall takes "entry N" or "turn T"; {self._range(context)}', None
            )
        if "turn" in lowered:
            return self._turn(int(number.group(1)), context)
        return self._entry(int(number.group(1)), context)

    def _entry(self, number: int, context: CallContext) -> _Found:
        entry = self._entries.entry(context.thread, EntryNumber(number)) if number else None
        if entry is None:
            return _Found(f"entry {number}", f"no entry {number}; {self._range(context)}", None)
        events = self._events(entry)
        heading = f"entry {number}: {_named(entry)}{_when(events)}, from the ledger"
        return _Found(f"entry {number}", heading, text_of(events))

    def _turn(self, turn: int, context: CallContext) -> _Found:
        entries = [entry for entry in self._entries.entries(context.thread) if entry.turn == turn]
        if not entries:
            return _Found(f"turn {turn}", f"no turn {turn}; {self._range(context)}", None)
        numbers = sorted({entries[0].number, entries[-1].number})
        noun = "entry" if len(numbers) == 1 else "entries"
        heading = f"turn {turn}: {noun} {'-'.join(map(str, numbers))}, from the ledger"
        parts = [
            f"[entry {entry.number}, {_named(entry)}]\n{text_of(self._events(entry))}"
            for entry in entries
        ]
        return _Found(f"turn {turn}", heading, "\n".join(parts))

    def _notes(self, thread: ThreadId) -> _Found:
        notes = [
            f"turn {event.turn}: {payload.request}"
            for event in self._log.events_of(thread)
            if isinstance(payload := event.payload, EntryRecalled) and payload.target == "note"
        ]
        return _Found("notes", f"notes: {len(notes)}, from the ledger", "\n".join(notes))

    def _events(self, entry: Entry) -> list[Event]:
        found = (self._log.event(id_) for id_ in entry.events)
        return [event for event in found if event is not None]

    def _range(self, context: CallContext) -> str:
        last = max((high for _, high in self._entries.numbers(context.thread)), default=0)
        turns = context.turn - 1
        past = f"turns 1-{turns} have ended" if turns > 1 else f"{turns} turns have ended"
        return f"there are entries 1-{last}; {past}"


def _split_line(request: str) -> tuple[str, int]:
    match = _FROM.search(request.rstrip(_TRIMMED))
    if match is None:
        return request.strip(_TRIMMED), 1
    return request[: match.start()].strip(_TRIMMED), max(int(match.group(1)), 1)


def _noted(request: str) -> ToolAnswer:
    fact = EntryRecalled(request=request, target="note", found=True)
    return ToolAnswer(output='noted; to see it: memory "recall notes"', facts=(fact,))


def _paged(found: _Found, line: int) -> str:
    page = page_of(found.text or "", line, PAGE - len(found.heading.encode()) - 100)
    if page.next_line is None:
        end = "[end]"
    else:
        end = f'[more: memory "recall {found.target} from line {page.next_line}"]'
    return "\n".join(part for part in (found.heading, page.text, end) if part)


def _named(entry: Entry) -> str:
    turn = f", turn {entry.turn}" if entry.turn is not None else ""
    return f"{entry.kind.replace('_', ' ')}{turn}"


def _when(events: list[Event]) -> str:
    return f" at {events[0].occurred_at[11:19]}" if events else ""
