"""Entries: the numbered items of a thread's conversation, from 1, never renumbered."""

from dataclasses import dataclass
from typing import Literal

from counterfoil.core.ids import EntryNumber, EventId, ThreadId

EntryKind = Literal[
    "instructions", "prompt", "tool_calls", "tool_output", "reply", "reasoning", "command"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryDraft:
    """An entry before it has its number; `events` hold its content verbatim."""

    kind: EntryKind
    turn: int | None = None
    origin: Literal["turn", "carried"] = "turn"
    events: tuple[EventId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One item of `thread`. Nothing of it changes once it has its number."""

    thread: ThreadId
    number: EntryNumber
    kind: EntryKind
    turn: int | None = None
    origin: Literal["turn", "carried"] = "turn"
    events: tuple[EventId, ...] = ()
