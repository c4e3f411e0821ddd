"""How threads, entries, events and turns are shown as rows of JSON.

A row that names an entry has its reference ready (`entry 12`), so that a caller copies
it instead of counting. What is long is cut, with its bytes, and the place of the whole.
"""

from collections.abc import Mapping
from typing import Any

from counterfoil.core.calls import Call
from counterfoil.core.context import SentEntry
from counterfoil.core.events import EntryStored, Event, OutputElided
from counterfoil.core.ids import ThreadId
from counterfoil.core.messages import Message
from counterfoil.core.plain import one_line
from counterfoil.engine.agent import GrantRow
from counterfoil.engine.thread_views import EntryRow, ThreadRow, TurnRow
from counterfoil.faces.mcp.addresses import SCHEME
from counterfoil.faces.mcp.paging import TEXT
from counterfoil.wire.events import event_to_json

HEAD = 200
"""Characters of a text that a row of a list shows."""

INLINE = 1024
"""Bytes of a text in the details of an event; past them it is cut."""


def entry_reference(number: int) -> str:
    """Return the reference that a reply cites an entry by."""
    return f"entry {number}"


def entry_uri(thread: ThreadId, number: int) -> str:
    """Return where an entry is to be had whole."""
    return f"{SCHEME}threads/{thread}/entries/{number}"


def output_uri(thread: ThreadId, event: str) -> str:
    """Return where an output is to be had whole."""
    return f"{SCHEME}threads/{thread}/output/{event}"


def thread_json(row: ThreadRow) -> dict[str, object]:
    """Return a thread as a list shows it."""
    return {
        "thread": str(row.id),
        "openedAt": row.opened_at,
        "turns": row.turns,
        "entries": row.entries,
        "model": row.model,
        "parent": row.parent,
        "prompt": None if row.prompt is None else one_line(row.prompt, HEAD),
        "uri": f"{SCHEME}threads/{row.id}",
    }


def entry_json(row: EntryRow) -> dict[str, object]:
    """Return an entry as a list shows it, the head of its text with it."""
    entry = row.entry
    return {
        "entry": int(entry.number),
        "reference": entry_reference(entry.number),
        "kind": entry.kind,
        "turn": entry.turn,
        "origin": entry.origin,
        "state": "active" if row.dropped_by is None else "condensed",
        "droppedBy": None if row.dropped_by is None else str(row.dropped_by),
        "occurredAt": row.occurred_at,
        "events": [str(event) for event in entry.events],
        "bytes": size(row.text),
        "head": one_line(row.text, HEAD),
        "uri": entry_uri(entry.thread, entry.number),
    }


def turn_json(row: TurnRow) -> dict[str, object]:
    """Return a turn as a table shows it."""
    return {
        "turn": row.turn,
        "occurredAt": row.occurred_at,
        "prompt": one_line(row.prompt, HEAD),
        "outcome": row.outcome,
        "estimatedTokens": row.estimated_tokens,
        "firstTurnReadAfter": row.dropped or None,
        "elided": row.elided,
    }


def event_json(event: Event) -> dict[str, object]:
    """Return an event as it is on the wire, long texts cut and their bytes told."""
    value: dict[str, Any] = event_to_json(event)
    cut: dict[str, int] = {}
    value["details"] = {name: _short(name, item, cut) for name, item in value["details"].items()}
    if isinstance(event.payload, EntryStored | OutputElided):
        value["reference"] = entry_reference(event.payload.entry)
    if cut:
        value["cut"] = cut
        value["uri"] = output_uri(event.thread, event.id)
    return value


def sent_json(sent: SentEntry) -> dict[str, object]:
    """Return an entry as it was sent to a model, exactly, up to 16 KiB of each text."""
    return {
        "entry": int(sent.entry.number),
        "reference": entry_reference(sent.entry.number),
        "kind": sent.entry.kind,
        "turn": sent.entry.turn,
        "isReference": sent.is_reference,
        "messages": [_message_json(message) for message in sent.messages],
        "uri": entry_uri(sent.entry.thread, sent.entry.number),
    }


def grant_json(grant: GrantRow) -> dict[str, object]:
    """Return a grant as it is shown."""
    return {
        "id": grant.id,
        "pattern": grant.pattern,
        "level": grant.level,
        "scope": grant.scope,
        "directory": grant.directory,
        "expiresAt": grant.expires_at,
    }


def call_json(call: Call, thread: ThreadId) -> dict[str, object]:
    """Return a call with its output, or the URI of one that is long; nothing that is not."""
    where = call.event if call.is_elsewhere else None
    value: Mapping[str, object] = {
        "tool": call.tool,
        "arguments": call.arguments,
        "event": None if call.event is None else str(call.event),
        "command": call.command,
        "exitStatus": call.exit_status,
        "error": call.error,
        "bytes": call.bytes,
        "output": call.output,
        "outputURI": None if where is None else output_uri(thread, where),
    }
    return {name: item for name, item in value.items() if item is not None}


def size(text: str) -> int:
    """Return the bytes of `text` in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def cut_text(text: str, limit: int) -> str:
    """Return the first `limit` bytes of `text`, no character cut in two."""
    return text.encode("utf-8", "surrogatepass")[:limit].decode("utf-8", "ignore")


def _short(name: str, item: object, cut: dict[str, int]) -> object:
    if not isinstance(item, str) or size(item) <= INLINE:
        return item
    cut[name] = size(item)
    return cut_text(item, INLINE)


def _message_json(message: Message) -> dict[str, object]:
    value: dict[str, object] = {"role": message.role, "text": message.text}
    if (whole := size(message.text)) > TEXT:
        value |= {"text": cut_text(message.text, TEXT), "cut": whole}
    if message.calls:
        value["calls"] = [
            {"id": call.id, "tool": call.tool, "arguments": call.arguments}
            for call in message.calls
        ]
    if message.call is not None:
        value["call"] = message.call
    return value
