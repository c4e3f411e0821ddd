"""`counterfoil kb brief`: the best pages for a question, as a text that fits."""

from typing import Any

import click

from counterfoil.core.knowledge.brief import BRIEF_CHARACTERS, BRIEF_HITS
from counterfoil.core.knowledge.search import MOST_HITS
from counterfoil.engine.retrieve import receipt_of
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.findings import long_work
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.output import Output, print_json, say
from counterfoil.faces.cli.searching import hit_to_json, keep_receipt, search_for, search_options
from counterfoil.faces.cli.stores import json_option, store_options


@click.command(name="brief")
@click.argument("question", nargs=-1, required=True, metavar="QUESTION...")
@store_options
@search_options
@click.option(
    "--limit",
    type=click.IntRange(0, MOST_HITS),
    default=BRIEF_HITS,
    show_default=True,
    metavar="N",
    help="At most so many pages.",
)
@click.option(
    "--max-chars",
    type=click.IntRange(min=0),
    default=BRIEF_CHARACTERS,
    show_default=True,
    metavar="N",
    help="At most so many characters.",
)
@click.option("--include-invalidated", is_flag=True, help="Let pages answer that are taken back.")
@json_option
@click.pass_obj
def command(
    application: Application,
    /,
    question: tuple[str, ...],
    stores: StoreSelection,
    limit: int,
    max_chars: int,
    is_json: bool,  # noqa: FBT001 - click hands options over by name
    **chosen: Any,  # noqa: ANN401 - what filters
) -> None:
    """Print the best pages for QUESTION, a line each, within a number of characters.

    What does not fit is counted and is in neither the text nor the hits.
    """
    included = chosen.pop("include_invalidated")
    asked = search_for(question, limit, chosen, exclude_invalidated=not included)
    with application.knowledge.stores(stores) as (visible, places), long_work("searching"):
        desk = application.knowledge.desk(visible)
        chain, search = desk.search()
        brief = search.brief(asked, max_characters=max_chars)
        receipt = receipt_of(
            chain,
            asked,
            brief.hits,
            digest_of=chain.digest_of,
            now=desk.now(),
            max_characters=max_chars,
        )
    keep_receipt(chosen["receipt"], receipt)
    if is_json:
        print_json(
            {
                "outcome": receipt.outcome,
                "text": brief.text,
                "hits": [hit_to_json(hit, places) for hit in brief.hits],
                "leftOut": brief.left_out,
            }
        )
        return
    if brief.hits:
        Output("never").line((brief.text.rstrip("\n"), ""))
    else:
        Output("never").line(("no page answers" if not brief.left_out else "no page fits", ""))
    if brief.left_out:
        say(f"{brief.left_out} more did not fit into {max_chars} characters")
