"""`counterfoil kb sources`: what a store has imported."""

import click

from counterfoil.core.plain import plain
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.output import Output, print_json
from counterfoil.faces.cli.stores import json_option, store_options


@click.command(name="sources")
@store_options
@json_option
@click.pass_obj
def command(
    application: Application,
    /,
    stores: StoreSelection,
    is_json: bool,  # noqa: FBT001 - click hands options over by name
) -> None:
    """List the sources of a store: id, freshness, title, and where each came from."""
    with application.knowledge.stores(stores) as (visible, _):
        rows = application.knowledge.desk(visible).sources()
    if is_json:
        listed = [
            {
                "id": source.id,
                "title": source.title,
                "uri": source.uri,
                "digest": source.digest,
                "path": source.path,
                "freshness": state,
                "validUntil": source.valid_until,
                "anchors": [anchor.id for anchor in source.anchors],
            }
            for source, state in rows
        ]
        print_json({"sources": listed})
        return
    output = Output("never")
    for source, state in rows:
        output.line((f"{source.id}  {state:<7}  {plain(source.title)}  {plain(source.uri)}", ""))
    if not rows:
        output.line(("no source is registered", ""))
