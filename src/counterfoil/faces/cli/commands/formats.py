"""`counterfoil formats`: the evidence matrix."""

import click

from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.output import Output
from counterfoil.wire.check import encode_json


@click.command(name="formats")
@click.option("--json", "is_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(application: Application, is_json: bool) -> None:  # noqa: FBT001
    """Print what each format can show, and what it cannot.

    Formats are told from the content of a file. What a format cannot show is never read
    against the agent: it is *not established*.
    """
    output = Output(application.settings({}).text("color"))
    evidence = application.evidence()
    if is_json:
        output.data([encode_json({name: dict(rows) for name, rows in evidence.items()})])
        return
    for place, (name, rows) in enumerate(evidence.items()):
        if place:
            output.line()
        output.line((name, "bold"))
        for what, how in rows.items():
            output.line((f"  {what:<20}", "dim"), (how, ""))
