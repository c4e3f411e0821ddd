"""`counterfoil kb index`: the index of a store, brought up to date."""

import click

from counterfoil.faces.cli.app import Application, StoreSelection
from counterfoil.faces.cli.findings import long_work
from counterfoil.faces.cli.output import Output
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
        application.forget_indexes(stores)
    with application.stores(stores) as (visible, places), long_work("reading pages"):
        rows = []
        for origin, store in visible.stores.items():
            store.refresh()
            rows.append((origin, places.get(origin, ""), store.count))
    if is_json:
        from counterfoil.wire.check import encode_json  # noqa: PLC0415 - only for JSON

        listed = [{"origin": origin, "path": path, "pages": count} for origin, path, count in rows]
        output.data([encode_json({"schema": 1, "stores": listed})])
        return
    for origin, path, count in rows:
        output.line((f"{origin}: {count:,} page{'' if count == 1 else 's'}  {path}".rstrip(), ""))
