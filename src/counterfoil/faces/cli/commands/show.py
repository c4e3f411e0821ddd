"""`counterfoil show`: the verbatim content at a place that a check names."""

import click

from counterfoil.core.errors import NotFoundError
from counterfoil.core.plain import plain
from counterfoil.engine.read_entries import standing_at
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.output import Output


@click.command(name="show")
@click.argument("file")
@click.argument("n", type=click.IntRange(min=1))
@click.option("--raw", is_flag=True, help="Print the bytes of line N as they stand in the file.")
@click.pass_obj
def command(application: Application, file: str, n: int, raw: bool) -> None:  # noqa: FBT001
    """Print what stands at place N of FILE, whole.

    N is what `check` prints: the number of an entry in a thread of our own, the line of
    the file in a session of another program. Control characters are written out.
    """
    output = Output(application.settings({}).text("color"))
    if raw:
        content = application.record_at(file, n)
        if content is None:
            raise NotFoundError(f"{file!r} has no line {n}")
        output.data([content.rstrip(b"\n")])
        return
    transcript = application.transcript(file)
    noun = "entry" if transcript.numbers_entries else "line"
    count = 0
    for found in standing_at(transcript, n):
        count += 1
        turn = f"turn {found.turn}" if found.turn else "no turn"
        call = f" · call {plain(found.call)}" if found.call else ""
        output.line((f"{noun} {n} · {found.kind}", "bold"), (f" · {turn}{call}", "dim"))
        for line in found.text.split("\n"):
            output.line((plain(line), ""))
    if count:
        return
    content = None if transcript.numbers_entries else application.record_at(file, n)
    if content is None:
        raise NotFoundError(f"{file!r} has no {noun} {n}")
    output.line((f"{noun} {n} · no part of the conversation, as it stands", "bold"))
    output.line((plain(content.decode("utf-8", "replace").rstrip("\n")), ""))
