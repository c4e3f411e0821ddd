"""`counterfoil kb add-source`: a file or a folder, imported as it is."""

import click

from counterfoil.core.plain import plain
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.output import Output, print_json
from counterfoil.faces.cli.stores import json_option, store_options


@click.command(name="add-source")
@click.argument("path")
@store_options
@click.option("--valid-until", metavar="TIME", help="A day, or an RFC 3339 time with its zone.")
@json_option
@click.pass_obj
def command(
    application: Application,
    /,
    path: str,
    stores: StoreSelection,
    valid_until: str | None,
    is_json: bool,  # noqa: FBT001 - click hands options over by name
) -> None:
    """Import the file PATH, or every file of the folder PATH, as a source.

    The bytes are copied into `raw/sources/` and registered by their digest, all of them
    or none. The same bytes again are the same source.
    """
    with application.knowledge.stores(stores) as (visible, _):
        found = application.knowledge.desk(visible).add_source(path, valid_until)
    if is_json:
        listed = [
            {"id": source.id, "digest": source.digest, "path": source.path, "uri": source.uri}
            for source in found
        ]
        print_json({"sources": listed})
        return
    output = Output("never")
    for source in found:
        output.line((f"{source.id}  {plain(source.title)}", ""))
    if not found:
        output.line(("EMPTY: nothing is in it to import", ""))
