"""`counterfoil kb index`: the index of a store, brought up to date."""

import click

from counterfoil.core.ids import Origin
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.findings import counted, flat, long_work
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.output import Output, print_json
from counterfoil.faces.cli.stores import json_option, store_options


@click.command(name="index")
@store_options
@click.option("--anew", is_flag=True, help="Forget the index and read every page.")
@json_option
@click.pass_obj
def command(
    application: Application,
    /,
    stores: StoreSelection,
    anew: bool,  # noqa: FBT001 - click hands options over by name
    is_json: bool,  # noqa: FBT001
) -> None:
    """Bring the index of a store, or of all that a run sees, up to date.

    Every command does so by itself. The index is a cache in `.counterfoil/`: it is safe
    to delete, and never trusted over the files.
    """
    output = Output("never")
    if anew:
        application.knowledge.forget_indexes(stores)
    with application.knowledge.stores(stores) as (visible, places), long_work("reading pages"):
        rows: list[tuple[Origin, str, int]] = []
        for origin, store in visible.stores.items():
            store.refresh()
            rows.append((origin, places.get(origin, ""), store.count))
    if is_json:
        listed = [{"origin": origin, "path": path, "pages": count} for origin, path, count in rows]
        print_json({"stores": listed})
        return
    for origin, path, count in rows:
        output.line((f"{origin}: {counted(count, 'page')}  {flat(path)}".rstrip(), ""))
