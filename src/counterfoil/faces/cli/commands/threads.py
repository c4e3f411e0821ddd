"""`counterfoil threads`: the threads in the store."""

from collections.abc import Iterator

import click

from counterfoil.core.plain import one_line, plain
from counterfoil.engine.thread_views import ThreadRow
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.output import Line, Output, print_json, say


@click.command(name="threads")
@click.option("--json", "is_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(application: Application, is_json: bool) -> None:  # noqa: FBT001 - click's way
    """List the threads in the store, the one that began first at the head.

    Printed are the id, when it was opened, its turns and entries, the model, the thread
    that it was forked from, and its first prompt. `counterfoil chat --resume ID` goes on.
    """
    settings = application.settings({})
    with application.agent(settings) as agent:
        if is_json:
            print_json({"threads": [_json(row) for row in agent.views.threads()]})
            return
        output, is_empty = Output(settings.text("color")), True
        for row in agent.views.threads():
            output.lines(_lines(row, output.width))
            is_empty = False
        if is_empty:
            say("no thread is recorded yet: `counterfoil chat` begins one")


def _lines(row: ThreadRow, width: int) -> Iterator[Line]:
    counts = f"{_count(row.turns, 'turn', 'turns')} · {_count(row.entries, 'entry', 'entries')}"
    parent = f" · from {plain(row.parent)}" if row.parent else ""
    model = plain(row.model or "model not recorded")
    yield [
        (row.id, "bold"),
        (f"  {row.opened_at[:16].replace('T', ' ')} · {counts} · {model}{parent}", "dim"),
    ]
    if row.prompt is not None:
        yield [(f"  “{one_line(row.prompt, max(24, width - 4))}”", "")]


def _json(row: ThreadRow) -> dict[str, object]:
    return {
        "thread": str(row.id),
        "openedAt": row.opened_at,
        "turns": row.turns,
        "entries": row.entries,
        "model": row.model,
        "parent": row.parent,
        "prompt": None if row.prompt is None else one_line(row.prompt, 200),
    }


def _count(number: int, noun: str, plural: str) -> str:
    return f"{number:,} {noun if number == 1 else plural}"
