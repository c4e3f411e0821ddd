"""A conversation as JSON Lines: what the other side is told. `asked` is the other way.

Each line is one object; its `type` names it, and null stands for what is not known. A
reader ignores types and fields that it does not know, so that either side may grow.
`docs/reference/chat-protocol.md` has every field, and a recorded example.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias

from counterfoil.core.events import Event, Usage
from counterfoil.core.receipt import Receipt
from counterfoil.core.refs.cited import CitedEntries
from counterfoil.wire.asked import Scope
from counterfoil.wire.check import encode_json
from counterfoil.wire.cited import counts_to_json
from counterfoil.wire.events import event_to_json, wire_name
from counterfoil.wire.receipt import receipt_to_json

PROTOCOL = 1
"""The version of the protocol; it changes when a reader of the one before would go wrong."""

INLINE = 1024
"""Bytes of a text in the details of an event; past them it is cut, and its bytes told."""

OUTPUT = 16 * 1024
"""Bytes of an output that a line carries; past them it is cut, and its bytes told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """The thread is open; `turn` is its last one, 0 before the first."""

    type: ClassVar[str] = "ready"
    protocol: int = PROTOCOL
    version: str
    thread: str
    created: bool
    turn: int
    model: str
    tools: tuple[str, ...]
    store: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted:
    """A turn began: its prompt is recorded."""

    type: ClassVar[str] = "turn"
    phase: Literal["start"] = "start"
    thread: str
    turn: int
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """A turn ended, with its reply or without one; the receipt is there in any case.

    `cited` and `cited_pages` are the lines under the reply, null where nothing is amiss.
    """

    type: ClassVar[str] = "turn"
    phase: Literal["end"] = "end"
    thread: str
    turn: int
    outcome: Literal["ok", "error", "cancelled"]
    seconds: int | float | None
    tokens: Usage | None
    text: str
    error: str | None
    ran: str | None
    cited: str | None
    cited_entries: CitedEntries | None
    unknown_entries: tuple[int, ...]
    cited_pages: str | None
    unknown_pages: tuple[str, ...]
    receipt: Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A piece of what the model says, while it says it; it may yet call a tool."""

    type: ClassVar[str] = "delta"
    text: str
    reasoning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """An event was recorded; `text` is the line that a person is shown, if there is one."""

    type: ClassVar[str] = "event"
    event: Event
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The output that the event of that id holds, up to 16 KiB of it."""

    type: ClassVar[str] = "output"
    event: str
    tool: str | None
    text: str
    bytes: int
    lines: int
    cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAsked:
    """A command waits for an answer; `shown` is exactly what will run."""

    type: ClassVar[str] = "approval"
    id: str
    thread: str
    turn: int
    call: str
    shown: str
    directory: str
    pattern: str
    level: str
    reasons: tuple[str, ...]
    scopes: tuple[Scope, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalWithdrawn:
    """Nobody waits any more for the answer to the question of that id."""

    type: ClassVar[str] = "withdrawn"
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something to be said to the other side: a line that cannot be read, an error."""

    type: ClassVar[str] = "note"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """Nothing comes after this line; `code` is the exit code."""

    type: ClassVar[str] = "exit"
    code: int


Told: TypeAlias = (
    Ready
    | TurnStarted
    | TurnEnded
    | Heard
    | Recorded
    | Output
    | ApprovalAsked
    | ApprovalWithdrawn
    | Note
    | Exit
)


def encode_told(told: Told) -> bytes:
    """Return `told` as one line of JSON in UTF-8, without a line end."""
    return encode_json(told_to_json(told))


def told_to_json(told: Told) -> dict[str, Any]:
    """Return the object that `told` is on the wire."""
    value: dict[str, Any] = {"type": told.type}
    for field in fields(told):
        value[wire_name(field.name)] = _json(getattr(told, field.name))
    return value


def output_of(event: str, tool: str | None, text: str) -> Output:
    """Return the line that carries the output `text` of an event, cut where it is long."""
    size = _size(text)
    return Output(
        event=event,
        tool=tool,
        text=whole_characters(text, OUTPUT),
        bytes=size,
        lines=text.count("\n") + bool(text and not text.endswith("\n")),
        cut=size > OUTPUT,
    )


def _json(value: object) -> object:
    if isinstance(value, Receipt):
        return receipt_to_json(value)
    if isinstance(value, Event):
        return _event(value)
    if isinstance(value, CitedEntries):
        return counts_to_json(value)
    if isinstance(value, Usage):
        counts = {field.name: getattr(value, field.name) for field in fields(value)}
        return {name: count for name, count in counts.items() if count is not None}
    return value


def _event(event: Event) -> dict[str, Any]:
    value: dict[str, Any] = event_to_json(event)
    cut: dict[str, int] = {}
    details: Mapping[str, Any] = value["details"]
    value["details"] = {name: _short(name, item, cut) for name, item in details.items()}
    return value | ({"cut": cut} if cut else {})


def _short(name: str, item: object, cut: dict[str, int]) -> object:
    if not isinstance(item, str) or (size := _size(item)) <= INLINE:
        return item
    cut[name] = size
    return whole_characters(item, INLINE)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def whole_characters(text: str, size: int) -> str:
    """Return the characters of `text` that are whole within its first `size` bytes.

    >>> whole_characters("añb", 2)
    'a'
    """
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= size:
        return text
    while encoded[size] & 0xC0 == 0x80:  # noqa: PLR2004 - within a character of UTF-8
        size -= 1
    return encoded[:size].decode("utf-8", "surrogatepass")
