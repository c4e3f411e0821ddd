"""`counterfoil kb inspect`: what is in a store, or in all that a run sees, in numbers."""

from typing import Any

import click

from counterfoil.core.knowledge.inspection import Inspection, inspect_chain
from counterfoil.core.refs.pages import PageReference, format_handle
from counterfoil.engine.chains import load_chain
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.findings import counted, flat, long_work
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.output import Output, print_json
from counterfoil.faces.cli.stores import json_option, store_options
from counterfoil.wire.findings import Places


@click.command(name="inspect")
@store_options
@json_option
@click.pass_obj
def command(
    application: Application,
    /,
    stores: StoreSelection,
    is_json: bool,  # noqa: FBT001 - click hands options over by name
) -> None:
    """Count pages, references and sources, and name the pages most others refer to."""
    output = Output("never")
    with application.knowledge.stores(stores) as (visible, places), long_work("reading pages"):
        found = inspect_chain(load_chain(visible))
    if is_json:
        print_json(_document(found, places))
        return
    for origin, count in found.pages.items():
        output.line((f"{origin}: {counted(count, 'page')}", ""))
    for kind, count in found.relations.items():
        output.line((f"{kind}: {count:,}", ""))
    output.line((f"sources: {found.sources:,}; taken back: {found.invalidated:,}", ""))
    for address, degrees in found.most_referred:
        handle = format_handle(PageReference(address.origin, address.id))
        output.line((f"  referred to {counted(degrees.incoming, 'time')}: {flat(handle)}", ""))
    output.line((f"digest: {found.digest}", ""))


def _document(found: Inspection, places: Places) -> dict[str, Any]:
    return {
        "pages": dict(found.pages),
        "relations": found.relations,
        "sources": found.sources,
        "invalidated": found.invalidated,
        "mostReferred": [
            {
                "handle": format_handle(PageReference(address.origin, address.id)),
                "path": places.get(address.origin, "") + address.path,
                "incoming": degrees.incoming,
                "outgoing": degrees.outgoing,
            }
            for address, degrees in found.most_referred
        ],
        "digest": found.digest,
    }
