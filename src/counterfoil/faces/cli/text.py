"""A check as text: per turn what was asked, what ran, and what the record does not hold."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from counterfoil.core.plain import one_line, plain
from counterfoil.core.reasons import reason_text
from counterfoil.core.receipt import Receipt
from counterfoil.core.report import CaveatRow, Reference, SourceReport, Spot, Summary, TurnReport
from counterfoil.core.turns import CommandRow, DenialRow
from counterfoil.faces.cli.output import Line, Part

_WORDS = {"supported": "seen", "contradicted": "contradicted", "not_established": "not established"}
_STYLES = {"supported": "green", "contradicted": "bold red", "not_established": "yellow"}
_MARKS = {"supported": "✓", "contradicted": "✗", "not_established": "?"}
_ROWS = 4
_LABEL = 10


@dataclass(frozen=True, slots=True)
class View:
    """How wide lines are, how much is told, and what a place of the record is called.

    In a thread of our own places are entries, in other programs' sessions lines.
    """

    width: int
    is_verbose: bool = False
    noun: str = "line"

    def place(self, line: int | None, source: str | None) -> str:
        """Return the words for a place, "" for one that is not known."""
        name = source.rpartition("/")[2] if source else ""
        if line is None:
            return name
        return f"{name} {self.noun} {line}" if name else f"{self.noun} {line}"


def view_of(source: SourceReport, width: int, *, is_verbose: bool) -> View:
    """Return the view of a transcript."""
    return View(width, is_verbose, "entry" if "entry" in source.checked else "line")


def source_lines(source: SourceReport, place: str) -> Iterator[Line]:
    """Yield the heading of one transcript."""
    counts = [_count(source.records, "record")]
    if source.threads > 1:
        counts.append(_count(source.threads, "thread"))
    if source.repeated:
        counts.append(f"{source.repeated:,} written again and counted once")
    yield [(plain(place), "bold"), (f"  {source.format} · {' · '.join(counts)}", "dim")]


def turn_lines(turn: TurnReport, view: View, *, is_sub: bool) -> Iterator[Line]:
    """Yield the lines of one turn."""
    yield []
    yield _heading(turn, view, is_sub=is_sub)
    origin = _origin(turn) if is_sub else None
    if origin is not None:
        yield origin
    yield from receipt_lines(turn.receipt, view.width)
    if turn.ran is not None:
        yield [("  ", ""), (plain(turn.ran), "dim")]
    if turn.cited is not None and turn.cited.line is not None:
        style = "bold red" if turn.cited.missing else "yellow"
        yield [("  ", ""), (turn.cited.line, style)]
    yield from _reply_lines(turn, view)


def _heading(turn: TurnReport, view: View, *, is_sub: bool) -> Line:
    place = view.place(turn.line, None if is_sub else turn.source)
    where = f"{one_line(turn.thread, 24)} · turn {turn.turn}" if is_sub else f"turn {turn.turn}"
    head = f"{where}{f', {place}' if place else ''}"
    if turn.prompt is None:
        return [(head, "bold"), ("  (no prompt in the record)", "dim")]
    prompt = one_line(turn.prompt, max(24, view.width - len(head) - 4))
    return [(head, "bold"), (f"  “{prompt}”", "")]


def _origin(turn: TurnReport) -> Line | None:
    """Say of a sub-agent's turn which thread it works for and where its record lies."""
    if turn.parent is None and turn.source is None:
        return None
    above = f"works for {turn.parent}" if turn.parent else ""
    return [(f"  {' · '.join(part for part in (above, turn.source) if part)}", "dim")]


# --- the receipt --------------------------------------------------------------


def receipt_lines(receipt: Receipt, width: int) -> Iterator[Line]:
    """Yield a receipt in a few aligned lines; lists are bounded and counted."""
    yield _row("receipt", [(" · ".join(_facts(receipt)), "")])
    omitted = dict(receipt.omitted)
    sections = (
        ("commands", [_command(row, width) for row in _failed_first(receipt.commands)]),
        ("files", [[(f"{row.mode} ", "dim"), (plain(row.path), "")] for row in receipt.files]),
        ("pages", [[(f"{row.action} ", "dim"), (plain(row.handle), "")] for row in receipt.pages]),
        ("denials", [row for denial in receipt.denials for row in _denial(denial, width)]),
        (
            "approvals",
            [
                [(f"{row.decision} ", "dim"), (one_line(row.command, width - 30), "")]
                for row in receipt.approvals
            ],
        ),
        ("errors", [[(one_line(row.message, width - 14), "red")] for row in receipt.errors]),
    )
    for name, rows in sections:
        yield from _section(name, rows, omitted.get(name, 0))
    if receipt.caveats:
        said = " · ".join(
            f"{row.code} {row.count}" if row.count > 1 else row.code for row in receipt.caveats
        )
        yield _row("caveats", [(said, "yellow")])


def _facts(receipt: Receipt) -> Iterator[str]:
    yield (
        "complete"
        if receipt.complete
        else "open: nothing closes the turn"
        if not receipt.usage
        else "open"
    )
    calls = len(receipt.tools) + dict(receipt.omitted)["tools"]
    yield _count(calls, "call")
    if receipt.milliseconds is not None:
        yield f"{receipt.milliseconds / 1000:.1f} s"
    if receipt.usage is not None and (receipt.usage.input or receipt.usage.output):
        yield f"↓{receipt.usage.input or 0:,} ↑{receipt.usage.output or 0:,}"
    if receipt.condensed:
        yield "condensed"


def _failed_first(commands: Iterable[CommandRow]) -> list[CommandRow]:
    return sorted(commands, key=lambda row: not (row.exit_status or row.timed_out))


def _command(row: CommandRow, width: int) -> list[Part]:
    text = one_line(row.command, width - 34)
    if row.timed_out:
        return [("timed out             ", "red"), (text, "")]
    if row.exit_status is None:
        return [("exit not recorded     ", "dim"), (text, "")]
    style = "red" if row.exit_status else "green"
    return [(f"{f'exit {row.exit_status}':<22}", style), (text, "")]


def _denial(row: DenialRow, width: int) -> Iterator[list[Part]]:
    yield [(f"{row.verdict} by {row.by}  ", "yellow"), (one_line(row.command, width - 34), "")]
    if row.reason:
        yield [(one_line(row.reason, width - 16), "dim")]


def _section(name: str, rows: list[list[Part]], omitted: int) -> Iterator[Line]:
    for place, row in enumerate(rows[:_ROWS]):
        yield _row("" if place else name, row)
    more = len(rows) - _ROWS + omitted if len(rows) > _ROWS else omitted
    if more:
        yield _row("", [(f"+{more:,} more", "dim")])


def _row(label: str, parts: list[Part]) -> Line:
    return [(f"  {label:<{_LABEL}}", "dim"), *parts]


# --- references ---------------------------------------------------------------


def _reply_lines(turn: TurnReport, view: View) -> Iterator[Line]:
    shown = [found for found in turn.references if view.is_verbose or _is_told(found)]
    last: Spot | None = None
    for found in shown:
        spot = Spot(line=found.place.line, source=found.place.source)
        if spot != last:
            yield [(f"  reply{_spaced(view.place(spot.line, None))}", "dim")]
            last = spot
        yield from reference_lines(found, view)
    lacking = sum(_is_lacking(found) for found in turn.references)
    if lacking and not view.is_verbose:
        yield [(f"  {_count(lacking, 'reference')} to entries it does not have", "dim")]
    seen = sum(found.verdict == "supported" for found in turn.references)
    if seen and not view.is_verbose:
        yield [(f"  {_count(seen, 'reference')} seen in the record", "dim")]


def _is_told(found: Reference) -> bool:
    """Say whether a reference has to be read; the line about cited entries speaks for those."""
    return found.verdict != "supported" and found.silenced is None and found.kind != "entry"


def _is_lacking(found: Reference) -> bool:
    return found.kind == "entry" and found.verdict == "contradicted" and found.silenced is None


def _spaced(text: str) -> str:
    return f", {text}" if text else ""


def reference_lines(found: Reference, view: View) -> Iterator[Line]:
    """Yield one reference: its verdict, its words, and what decides."""
    verdict = "silenced" if found.silenced is not None else _WORDS[found.verdict]
    style = "dim" if found.silenced is not None else _STYLES[found.verdict]
    yield [
        (f"    {_MARKS[found.verdict]} {verdict:<16}", style),
        (one_line(found.text, max(24, view.width - 24)), ""),
    ]
    why = found.silenced or reason_text(found.reason)
    yield [(f"{'':22}{plain(why)}{_evidence(found, why, view)}", "dim")]


def _evidence(found: Reference, why: str, view: View) -> str:
    """Say where the evidence stands, and what it is where the reason does not say it."""
    row = next(iter(found.evidence), None)
    if row is None or found.silenced is not None:
        return ""
    place = view.place(row.line, row.source)
    said = (row.what if row.what != why else "", f"record {place}" if place else "")
    shown = "; ".join(plain(part) for part in said if part)
    return f" ({shown})" if shown else ""


# --- the end ------------------------------------------------------------------


def summary_lines(
    source: SourceReport, summary: Summary, caveats: Iterable[CaveatRow]
) -> Iterator[Line]:
    """Yield what was checked, what could not be read or was not understood, and no more."""
    yield []
    for caveat in caveats:
        yield _caveat(caveat)
    if source.unknown:
        kinds = ", ".join(
            f"{plain(kind)} {count:,}" for kind, count in sorted(source.unknown.items())[:8]
        )
        yield [(f"not understood: records of unknown kinds ({kinds})", "yellow")]
    yield _verdict(summary)
    yield [
        (
            "checked: places, commits, quotations and sources that replies name"
            + (", and entry numbers" if "entry" in source.checked else "")
            + "; that they exist, not that they are right. Not checked: claims in prose.",
            "dim",
        )
    ]


def _caveat(caveat: CaveatRow) -> Line:
    lines = ", ".join(str(line) for line in caveat.lines)
    more = caveat.count - len(caveat.lines)
    where = f"line{'s' if len(caveat.lines) > 1 else ''} {lines}"
    if more > 0:
        where += f" and {more:,} more"
    source = f"{plain(caveat.source)} " if caveat.source else ""
    return [
        ("caveat: ", "yellow"),
        (f"{caveat.code} ×{caveat.count:,}, {source}{where}: {plain(caveat.what)}", ""),
    ]


def _verdict(summary: Summary) -> Line:
    replies = _count(summary.replies, "reply", "replies")
    scope = f"{_count(summary.turns, 'turn')}, {replies}, {_count(summary.calls, 'call')}"
    if summary.outcome == "empty":
        return [(f"nothing to check: 0 references in {scope}", "bold")]
    counts: list[Part] = [(f"{_count(summary.checked, 'reference')} in {scope}: ", "bold")]
    named = (
        (summary.supported, "seen in the record", "green"),
        (summary.contradicted, "contradicted", "bold red"),
        (summary.not_established, "not established", "yellow"),
        (summary.silenced, "silenced", "dim"),
    )
    shown = [(f"{count:,} {text}", style) for count, text, style in named if count]
    for place, part in enumerate(shown):
        counts.extend([(", ", ""), part] if place else [part])
    return counts


def _count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
