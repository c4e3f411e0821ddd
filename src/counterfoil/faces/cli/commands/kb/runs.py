"""`counterfoil kb runs`: who builds on whom."""

import click

from counterfoil.faces.cli import FOUND
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.findings import flat
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.output import Output, print_json
from counterfoil.faces.cli.stores import json_option


@click.command(name="runs")
@click.option(
    "--runs", required=True, metavar="DIR", help="The folder with the stores of all runs."
)
@click.option("--lineage", metavar="FILE", help="A JSON manifest that knows the parents.")
@click.option("--pages", metavar="DIR", default="knowledge", help="Where in a store its pages are.")
@json_option
@click.pass_obj
def command(
    application: Application,
    /,
    runs: str,
    lineage: str | None,
    pages: str,
    is_json: bool,  # noqa: FBT001 - click hands options over by name
) -> int:
    """List the runs that have a store, each with its parent.

    Exit codes: 0 every parent is known, 1 at least one is not, 2 misuse, 3 could not
    tell.
    """
    output = Output("never")
    rows = application.knowledge.run_parents(
        StoreSelection(runs=runs, lineage=lineage, pages=pages)
    )
    if is_json:
        listed = [{"run": run, "parent": parent, "fault": fault} for run, parent, fault in rows]
        print_json({"runs": listed})
    elif not rows:
        output.line((f"no run has a store in {flat(runs)}", ""))
    else:
        width = max(len(flat(run)) for run, _, _ in rows)
        for run, parent, fault in rows:
            of = fault if fault is not None else f"parent {parent}" if parent else "no parent"
            output.line((f"{flat(run):<{width}}  {flat(of)}", ""))
    return FOUND if any(fault for _, _, fault in rows) else 0
