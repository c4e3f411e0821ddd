"""What happens in a turn, as lines for a person who waits."""

from counterfoil.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CommandExited,
    ErrorRaised,
    Event,
    PolicyDecided,
    ToolCalled,
    ToolFailed,
    ToolReturned,
)
from counterfoil.core.plain import one_line

_WIDTH = 200


def line_of(event: Event) -> str | None:
    """Return the line of `event`; `None` for one that a person is not told of."""
    said = _said(event)
    return None if said is None else one_line(said, _WIDTH)


def _said(event: Event) -> str | None:
    payload = event.payload
    if isinstance(payload, ToolCalled):
        return f"{payload.tool} {payload.arguments}"
    if isinstance(payload, ToolReturned):
        return f"{payload.tool}: {payload.outcome or 'unknown'}"
    if isinstance(payload, ToolFailed):
        return f"{payload.tool}: error: {payload.message}"
    if isinstance(payload, ErrorRaised):
        return f"error: {payload.message}"
    return _of_command(event)


def _of_command(event: Event) -> str | None:
    payload = event.payload
    if isinstance(payload, CommandExited):
        status = "not recorded" if payload.exit_status is None else payload.exit_status
        return f"exit status {status}: {payload.command}"
    if isinstance(payload, PolicyDecided) and payload.verdict != "allowed":
        because = f" ({payload.reason})" if payload.reason else ""
        return f"{payload.verdict} by the {payload.by}{because}: {payload.command}"
    if isinstance(payload, ApprovalRequested):
        return f"approval asked ({payload.level}): {payload.command}"
    if isinstance(payload, ApprovalDecided):
        return f"approval {payload.decision}: {payload.command}"
    return None
