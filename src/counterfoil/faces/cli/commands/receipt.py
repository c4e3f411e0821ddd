"""`counterfoil receipt`: what a turn did, without the check."""

from collections.abc import Iterator

import click

from counterfoil.core.errors import NotFoundError
from counterfoil.core.plain import one_line, plain
from counterfoil.core.report import TurnReport
from counterfoil.core.turns import ToolRow
from counterfoil.engine.check_transcript import TranscriptCheck
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.output import Output
from counterfoil.faces.cli.text import receipt_lines
from counterfoil.wire.check import encode_json
from counterfoil.wire.receipt import receipt_to_json


@click.command(name="receipt")
@click.argument("file")
@click.argument("turn", type=click.IntRange(min=1), required=False)
@click.option("--thread", metavar="ID", help="A thread of the file; the first one if left out.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON: one receipt, or a list of them.")
@click.pass_obj
def command(
    application: Application,
    file: str,
    turn: int | None,
    thread: str | None,
    is_json: bool,  # noqa: FBT001 - click hands options over by name
) -> None:
    """Print the receipt of TURN in FILE, or of every turn.

    A receipt says what was called, how it ended, what was refused and what was written;
    never outputs. It is folded from the record each time, so it cannot differ from it.
    """
    output = Output(application.settings({}).text("color"))
    with application.spool() as spool:
        check = TranscriptCheck(application.transcript(file), spool)
        check.read()
        found = list(_wanted(check, turn, thread))
    if not found:
        what = f"turn {turn}" if turn is not None else "turn"
        raise NotFoundError(f"no {what} in {file!r}{f' of thread {thread!r}' if thread else ''}")
    if is_json:
        receipts = [receipt_to_json(report.receipt) for report in found]
        output.data([encode_json(receipts[0] if turn is not None else receipts)])
        return
    for place, report in enumerate(found):
        if place:
            output.line()
        prompt = f"  “{one_line(report.prompt, 70)}”" if report.prompt else ""
        output.line((f"turn {report.turn} of {report.thread}", "bold"), (prompt, ""))
        output.lines(receipt_lines(report.receipt, output.width))
        for row in report.receipt.tools:
            error = f"  {one_line(row.error, 60)}" if row.error else ""
            size = f"  {row.bytes:,} bytes" if row.bytes is not None else ""
            output.line(
                ("    ", ""),
                (f"{_outcome(row):<14}", "dim"),
                (f"{plain(row.name)} ", ""),
                (one_line(row.arguments, output.width - 40), "dim"),
                (f"{size}{error}", "dim"),
            )
        more = dict(report.receipt.omitted)["tools"]
        if more:
            output.line((f"    +{more:,} more calls", "dim"))


def _outcome(row: ToolRow) -> str:
    """An answer whose outcome nobody recorded is not the same as no answer."""
    if row.outcome != "unknown":
        return row.outcome
    return "no result" if row.bytes is None else "answered"


def _wanted(check: TranscriptCheck, turn: int | None, thread: str | None) -> Iterator[TurnReport]:
    first = thread
    for report in check.turns():
        first = first or report.thread
        if report.thread == first and turn in {None, report.turn}:
            yield report
