"""The calls of a turn with their outputs: what stands beside a receipt, for who wants more.

From the same events as the receipt, so that the two cannot differ (receipts.md section 1).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from counterfoil.core.events import CommandExited, Event, ToolCalled, ToolFailed, ToolReturned
from counterfoil.core.ids import EventId
from counterfoil.core.turn_entries import results_of

INLINE = 1024
"""Bytes of an output that a call shows itself; a longer one is to be had by its event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call: `event` is that of its result, by which the rest of its output is found.

    `output` is `None` where there is none or where it is longer than 1,024 bytes.
    """

    tool: str
    arguments: str
    event: EventId | None = None
    command: str | None = None
    exit_status: int | None = None
    error: str | None = None
    bytes: int | None = None
    output: str | None = None

    @property
    def is_elsewhere(self) -> bool:
        """Whether the output is too long to stand here."""
        return self.output is None and bool(self.bytes)


def calls_of(events: Iterable[Event]) -> tuple[Call, ...]:
    """Return the calls among the `events` of one turn, in the order in which they were made."""
    seen = tuple(events)
    results = results_of(seen)
    commands = {
        event.call: event.payload
        for event in seen
        if isinstance(event.payload, CommandExited) and event.call is not None
    }
    return tuple(
        _call(event.payload, results.get(event.id), commands.get(event.call or ""))
        for event in seen
        if isinstance(event.payload, ToolCalled)
    )


def _call(called: ToolCalled, result: Event | None, command: CommandExited | None) -> Call:
    payload = result.payload if result is not None else None
    output = payload.output if isinstance(payload, ToolReturned) else None
    size = None if output is None else len(output.encode("utf-8", "surrogatepass"))
    return Call(
        tool=called.tool,
        arguments=called.arguments,
        event=result.id if result is not None else None,
        command=command.command if command is not None else None,
        exit_status=command.exit_status if command is not None else None,
        error=payload.message if isinstance(payload, ToolFailed) else None,
        bytes=size,
        output=output if size is not None and size <= INLINE else None,
    )
