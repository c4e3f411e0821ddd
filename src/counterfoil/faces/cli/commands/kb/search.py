"""`counterfoil kb search`: pages by words."""

from typing import Any

import click

from counterfoil.core.knowledge.search import MOST_HITS
from counterfoil.core.plain import plain
from counterfoil.engine.retrieve import receipt_of
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.findings import long_work
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.output import Output, print_json, say
from counterfoil.faces.cli.searching import hit_to_json, keep_receipt, search_for, search_options
from counterfoil.faces.cli.stores import json_option, store_options


@click.command(name="search")
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@store_options
@search_options
@click.option(
    "--limit",
    type=click.IntRange(0, MOST_HITS),
    default=10,
    show_default=True,
    metavar="N",
    help="At most so many.",
)
@click.option("--exclude-invalidated", is_flag=True, help="Leave out pages that are taken back.")
@json_option
@click.pass_obj
def command(
    application: Application,
    /,
    query: tuple[str, ...],
    stores: StoreSelection,
    limit: int,
    is_json: bool,  # noqa: FBT001 - click hands options over by name
    **chosen: Any,  # noqa: ANN401 - what filters
) -> None:
    """Find pages by the words of QUERY, the best first, each with the handle to paste.

    The same pages give the same answer: words are weighed by BM25, and what the best of
    them refer to comes in by its rank.
    """
    excluded = chosen.pop("exclude_invalidated")
    asked = search_for(query, limit, chosen, exclude_invalidated=excluded)
    with application.knowledge.stores(stores) as (visible, places), long_work("searching"):
        desk = application.knowledge.desk(visible)
        chain, search = desk.search()
        hits = search.search(asked)
        receipt = receipt_of(chain, asked, hits, digest_of=chain.digest_of, now=desk.now())
    keep_receipt(chosen["receipt"], receipt)
    if search.unavailable is not None:
        say(f"note: searched without an index: {search.unavailable.found}")
    if is_json:
        print_json(
            {
                "outcome": receipt.outcome,
                "chain": chain.digest,
                "hits": [hit_to_json(hit, places) for hit in hits],
            }
        )
        return
    output = Output("never")
    for hit in hits:
        path = plain(places.get(hit.address.origin, "") + hit.address.path)
        output.line((f"{hit.rank}. {plain(hit.handle)}  {plain(hit.title)}  {path}", ""))
        if hit.snippet:
            output.line((f"   {hit.snippet}", ""))
    if not hits:
        output.line(("no page answers", ""))
