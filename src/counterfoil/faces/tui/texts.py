"""What a turn says to a person, as plain rows: tool lines, notes, the receipt.

Nothing here draws. Every word that came from a record, a model or a tool goes through
`plain`, and no row leans on colour: marks and words say the same.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from counterfoil.core.events import (
    CommandExited,
    EntryStored,
    Event,
    ReplyGiven,
    ThreadOpened,
    ToolFailed,
    ToolReturned,
)
from counterfoil.core.intervals import Intervals
from counterfoil.core.plain import one_line, plain
from counterfoil.core.ran import ran_of
from counterfoil.core.receipt import Receipt
from counterfoil.core.refs.cited import check_entries
from counterfoil.core.refs.entries import find_entry_references
from counterfoil.core.turns import TurnFacts

Tone: TypeAlias = Literal["", "head", "muted", "good", "bad", "warn"]

GOOD, BAD, UNSURE = "✓", "✗", "?"
_HEAD = 200


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list or a text, before it is wrapped; `key` is what it stands for."""

    text: str
    tone: Tone = ""
    key: object = None


def rows_of(text: str, tone: Tone = "") -> list[Row]:
    """Return `text` line by line, with everything unfit written out."""
    return [Row(line, tone) for line in plain(text).expandtabs(4).split("\n")]


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    >>> count(1, "entry", "entries"), count(1200, "line")
    ('1 entry', '1,200 lines')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


# --- one call -----------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CallShown:
    """One call of a turn as far as it is recorded."""

    tool: str
    arguments: str
    command: CommandExited | None = None
    result: ToolReturned | ToolFailed | None = None
    notes: tuple[str, ...] = ()

    @property
    def head(self) -> str:
        """The call on one line: what was called, and how it went."""
        asked = self.command.command if self.command is not None else self.arguments
        parts = [f"{plain(self.tool)} {one_line(asked, _HEAD)}".rstrip(), *self.notes, self.outcome]
        return " · ".join(part for part in parts if part)

    @property
    def outcome(self) -> str:
        """How it went, in words."""
        if isinstance(self.result, ToolFailed):
            return f"{BAD} failed: {one_line(self.result.message, 80)}"
        if self.result is None:
            return "running" if self.command is None else _exit_words(self.command)
        said = _outcome_words(self.result, self.command)
        size = size_words(self.result.output or "")
        return f"{said}, {size}" if size else said

    @property
    def output(self) -> str:
        """The whole output as it was recorded."""
        if isinstance(self.result, ToolFailed):
            return self.result.message
        if self.result is not None:
            return self.result.output or ""
        return "" if self.command is None else command_output(self.command)

    @property
    def tone(self) -> Tone:
        """How the head is coloured; its words say the same."""
        return "bad" if BAD in self.outcome else "muted"


def command_output(command: CommandExited) -> str:
    """Return what a command wrote, both streams."""
    return "\n".join(text for text in (command.stdout, command.stderr) if text)


def _outcome_words(result: ToolReturned, command: CommandExited | None) -> str:
    outcome: str = result.outcome or "outcome not recorded"
    if command is not None and result.outcome in {"ok", "error"}:
        outcome = _exit_words(command)
    elif result.outcome not in {"ok", None}:
        outcome = f"{BAD} {outcome}"
    cut = ", cut" if result.truncated else ""
    took = f", {seconds_words(result.milliseconds)}" if result.milliseconds else ""
    return f"{outcome}{cut}{took}"


def _exit_words(command: CommandExited) -> str:
    if command.timed_out:
        return f"{BAD} timed out"
    if command.exit_status is None:
        return "exit not recorded"
    return f"{BAD} exit {command.exit_status}" if command.exit_status else "exit 0"


def size_words(text: str) -> str:
    """Return how long a text is, "" for none."""
    if not text:
        return ""
    lines = text.count("\n") + (not text.endswith("\n"))
    return f"{count(lines, 'line')}, {count(len(text.encode('utf-8', 'surrogatepass')), 'byte')}"


def seconds_words(milliseconds: int) -> str:
    """Return a duration."""
    return f"{milliseconds / 1000:.1f} s"


# --- under the reply ----------------------------------------------------------


def fact_words(receipt: Receipt) -> str:
    """Return the turn's number, its time and its tokens, as far as they were reported."""
    parts = [f"turn {receipt.turn}"]
    if receipt.milliseconds is not None:
        parts.append(seconds_words(receipt.milliseconds))
    usage = receipt.usage
    if usage is not None and (usage.input or usage.output):
        parts.append(f"{usage.input or 0:,} tokens read, {usage.output or 0:,} written")
    if receipt.condensed:
        parts.append("context condensed")
    return " · ".join(parts)


def earlier_notes(events: Iterable[Event], opened: ThreadOpened | None) -> Iterator[Row]:
    """Yield the `ran` and `cited` notes of a turn that ended before, out of its events.

    Entries are weighed against those that existed when the reply was checked: all up to
    the last that the turn stored.
    """
    seen = tuple(events)
    if not seen or seen[0].turn is None:
        return
    facts = TurnFacts(seen[0].thread, seen[0].turn)
    facts.add_all(seen)
    reply = next((e.payload.text for e in seen if isinstance(e.payload, ReplyGiven)), None)
    ran = ran_of(facts, reply=reply, tools=(opened.tools or ()) if opened else ())
    if ran is not None:
        yield Row(plain(ran), "muted")
    stored = [e.payload.entry for e in seen if isinstance(e.payload, EntryStored)]
    if reply is None or not stored:
        return
    cited = check_entries(find_entry_references(reply), Intervals([(1, max(stored))]))
    if cited.line is not None:
        yield cited_row(cited.line, is_missing=bool(cited.missing))


def cited_row(line: str, *, is_missing: bool) -> Row:
    """Return the note about cited entries or pages, with its mark."""
    mark = BAD if is_missing else UNSURE
    return Row(f"{mark} {plain(line)}", "warn")


# --- the receipt --------------------------------------------------------------


def receipt_rows(receipt: Receipt) -> Iterator[Row]:
    """Yield the receipt of a turn, every row of it."""
    yield Row(f"Receipt of turn {receipt.turn}", "head")
    yield Row("complete" if receipt.complete else "open: nothing closes the turn")
    yield Row(fact_words(receipt).partition(" · ")[2] or "no time or tokens reported", "muted")
    omitted = dict(receipt.omitted)
    for name, rows in _sections(receipt):
        more = omitted.get(name, 0)
        total = len(rows) + more
        yield Row("")
        yield Row(f"{name} ({total})" if total else f"{name}: none", "head" if total else "muted")
        yield from rows
        if more:
            yield Row(f"+{more:,} more, not listed", "muted")
    for caveat in receipt.caveats:
        times = f" ×{caveat.count:,}" if caveat.count > 1 else ""
        yield Row(f"{UNSURE} caveat: {plain(caveat.code)}{times}", "warn")


def _sections(receipt: Receipt) -> Iterator[tuple[str, list[Row]]]:
    yield "tools", [row for tool in receipt.tools for row in _tool_rows(tool)]
    yield (
        "commands",
        [
            _judged(
                f"{_exit(row.exit_status, is_timed_out=bool(row.timed_out))}  {plain(row.command)}",
                is_bad=bool(row.exit_status or row.timed_out),
            )
            for row in receipt.commands
        ],
    )
    yield "files", [Row(f"  {row.mode}  {plain(row.path)}") for row in receipt.files]
    yield "pages", [Row(f"  {row.action}  {plain(row.handle)}") for row in receipt.pages]
    yield (
        "denials",
        [
            _judged(
                f"{row.verdict} by {row.by}  {plain(row.command)}"
                + (f" ({plain(row.reason)})" if row.reason else ""),
                is_bad=True,
            )
            for row in receipt.denials
        ],
    )
    yield (
        "approvals",
        [
            Row(
                f"  {row.decision} {row.scope or ''} ({row.level or 'level not recorded'})"
                f"  {plain(row.command)}"
            )
            for row in receipt.approvals
        ],
    )
    yield "errors", [_judged(plain(row.message), is_bad=True) for row in receipt.errors]


def _tool_rows(tool: object) -> Iterator[Row]:
    name, arguments, outcome, error = (
        getattr(tool, part) for part in ("name", "arguments", "outcome", "error")
    )
    said = f"{outcome}  {plain(name)} {one_line(arguments, _HEAD)}"
    yield _judged(said, is_bad=outcome != "ok")
    if error:
        yield Row(f"    {one_line(error, _HEAD)}", "bad")


def _judged(text: str, *, is_bad: bool) -> Row:
    return Row(f"{BAD if is_bad else GOOD} {text}", "bad" if is_bad else "")


def _exit(status: int | None, *, is_timed_out: bool) -> str:
    if is_timed_out:
        return "timed out"
    return "exit not recorded" if status is None else f"exit {status}"
