"""What happens in a turn, as lines for a person: calls, verdicts, outputs, what to check.

Pure text. Whatever came from a model, a tool or a record is made fit to be shown, so
that nothing in it steers the terminal.
"""

from collections.abc import Iterator

from counterfoil.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CommandExited,
    ContextCondensed,
    ErrorRaised,
    Event,
    FileWritten,
    PageWritten,
    PolicyDecided,
    ToolCalled,
    ToolFailed,
    ToolReturned,
)
from counterfoil.core.plain import one_line, plain
from counterfoil.core.receipt import Receipt
from counterfoil.core.turns import PERSON
from counterfoil.engine.turn_result import TurnResult
from counterfoil.faces.cli.output import Line, Part
from counterfoil.wire.chat import whole_characters

FOLD_LINES = 20
FOLD_BYTES = 2048
"""How much of an output is shown as it comes; the rest is counted, and shown by `/show`."""

_WIDTH = 160
_INDENT = "  "


def event_lines(event: Event) -> list[Line]:
    """Return the lines of `event`, its output among them; none where nobody has to know."""
    head = event_line(event)
    output = output_of_event(event)
    folded = fold(output, event.id) if output else []
    return [[head], *folded] if head is not None else list(folded)


def event_line(event: Event) -> Part | None:
    """Return the one line of `event`; `None` where there is none."""
    payload = event.payload
    if isinstance(payload, ToolCalled):
        return (f"→ {plain(payload.tool)} {one_line(payload.arguments, _WIDTH)}", "")
    if isinstance(payload, ToolReturned):
        return (f"← {plain(payload.tool)}: {_returned(payload)}", _tone(payload.outcome != "ok"))
    if isinstance(payload, ToolFailed):
        return (f"← {plain(payload.tool)}: failed", "red")
    if isinstance(payload, CommandExited):
        return (f"{_INDENT}{_exited(payload)}", _tone(payload.exit_status != 0))
    if isinstance(payload, PolicyDecided | ApprovalRequested | ApprovalDecided):
        return _of_gate(payload)
    return _of_change(event)


def output_of_event(event: Event) -> str:
    """Return the output that is shown with `event`: of a call, or of what a person ran."""
    payload = event.payload
    if isinstance(payload, ToolReturned):
        return payload.output or ""
    if isinstance(payload, ToolFailed):
        return payload.message
    if isinstance(payload, CommandExited) and payload.source == PERSON:
        return "\n".join(text for text in (payload.stdout, payload.stderr) if text)
    return ""


def fold(text: str, id_: str) -> list[Line]:
    """Return the first 20 lines of `text`, 2 KiB at most, and how to see the rest."""
    size = len(text.encode("utf-8", "surrogatepass"))
    lines = text.removesuffix("\n").split("\n")
    if len(lines) <= FOLD_LINES and size <= FOLD_BYTES:
        return [_quoted(line) for line in lines]
    head = whole_characters("\n".join(lines[:FOLD_LINES]), FOLD_BYTES)
    more = f"… {counted(len(lines), 'line')}, {size:,} bytes in all: /show {id_}"
    return [*(_quoted(line) for line in head.split("\n")), [(f"{_INDENT}{more}", "dim")]]


def _quoted(line: str) -> Line:
    return [(f"{_INDENT}│ {plain(line)}", "dim")]


# --- one event ----------------------------------------------------------------


def _tone(is_bad: bool) -> str:  # noqa: FBT001 - one word, for a choice of two
    return "red" if is_bad else "dim"


def _returned(payload: ToolReturned) -> str:
    parts: list[str] = [payload.outcome or "outcome not recorded"]
    if payload.bytes is not None:
        parts.append(f"{payload.bytes:,} bytes")
    if payload.milliseconds is not None:
        parts.append(seconds_words(payload.milliseconds))
    if payload.truncated:
        parts.append("cut")
    return " · ".join(parts)


def _exited(payload: CommandExited) -> str:
    if payload.timed_out:
        said = "timed out"
    elif payload.exit_status is None:
        said = "exit status not recorded"
    else:
        said = f"exit status {payload.exit_status}"
    took = f" · {seconds_words(payload.milliseconds)}" if payload.milliseconds is not None else ""
    return f"{said}{took}{' · cut' if payload.truncated else ''}"


def _of_gate(payload: PolicyDecided | ApprovalRequested | ApprovalDecided) -> Part | None:
    if isinstance(payload, ApprovalRequested):
        return (
            f"{_INDENT}needs approval · {plain(payload.level or 'level not recorded')}",
            "yellow",
        )
    if isinstance(payload, PolicyDecided):
        if payload.source == PERSON:
            return None
        why = f": {one_line(payload.reason, _WIDTH)}" if payload.reason else ""
        is_bad = payload.verdict != "allowed"
        return (f"{_INDENT}{payload.verdict} by the {payload.by}{why}", _tone(is_bad))
    if payload.decision == "cached":
        by = f"{plain(payload.pattern or '')} ({payload.scope or 'scope not recorded'})"
        return (f"{_INDENT}covered by a grant: {by}", "dim")
    scope = f" · {payload.scope}" if payload.scope else ""
    by = f" by {plain(payload.by)}" if payload.by else ""
    said = payload.decision.replace("_", " ")
    return (f"{_INDENT}{said}{by}{scope}", _tone(payload.decision != "approved"))


def _of_change(event: Event) -> Part | None:
    payload = event.payload
    if isinstance(payload, FileWritten):
        size = f", {payload.bytes_after:,} bytes" if payload.bytes_after is not None else ""
        return (f"{_INDENT}{plain(payload.mode)} {plain(payload.path)}{size}", "dim")
    if isinstance(payload, PageWritten):
        return (f"{_INDENT}wrote page {plain(payload.page)}", "dim")
    if isinstance(payload, ContextCondensed):
        turns = f"{payload.turns_before} turns, {payload.turns_after} kept"
        return (f"context condensed: {turns}", "yellow")
    if isinstance(payload, ErrorRaised) and payload.where != "turn":
        return (f"error: {one_line(payload.message, _WIDTH)}", "red")
    return None


# --- under a reply ------------------------------------------------------------


def result_lines(result: TurnResult, seconds: float) -> Iterator[Line]:
    """Yield the lines under a reply, in the order of receipts.md section 3.

    A turn without a reply says so in the last, with the `seconds` that it took.
    """
    if result.ran is not None:
        yield [(f"{_INDENT}{plain(result.ran)}", "dim")]
    if result.cited is not None and result.cited.line is not None:
        yield [(f"{_INDENT}{plain(result.cited.line)}", "yellow")]
    if result.pages is not None and result.pages.line is not None:
        yield [(f"{_INDENT}{plain(result.pages.line)}", "yellow")]
    yield [_last(result, seconds)]


def _last(result: TurnResult, seconds: float) -> Part:
    if result.outcome == "ok":
        return (f"{_INDENT}{cost_words(result.receipt)}", "dim")
    if result.outcome == "cancelled":
        return (f"{_INDENT}cancelled after {seconds:.1f} s", "yellow")
    said = plain(result.error or "no reason recorded")
    return (f"{_INDENT}failed after {seconds:.1f} s: {said}", "red")


def cost_words(receipt: Receipt) -> str:
    """Return the time and the tokens of a turn, as far as they are recorded."""
    parts: list[str] = []
    if receipt.milliseconds is not None:
        parts.append(seconds_words(receipt.milliseconds))
    usage = receipt.usage
    if usage is not None and (usage.input is not None or usage.output is not None):
        parts.append(f"↓{usage.input or 0:,} ↑{usage.output or 0:,}")
    if receipt.condensed:
        parts.append("condensed")
    return " · ".join(parts) or "time not recorded"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "turn"), counted(1200, "line")
    ('1 turn', '1,200 lines')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def seconds_words(milliseconds: int) -> str:
    """Return a duration, to a tenth of a second."""
    return f"{milliseconds / 1000:.1f} s"


def has_missing(result: TurnResult) -> bool:
    """Say whether the reply cites an entry or a page that is not there."""
    entries = result.cited.missing if result.cited is not None else ()
    pages = result.pages.unknown if result.pages is not None else ()
    return bool(entries or pages)
