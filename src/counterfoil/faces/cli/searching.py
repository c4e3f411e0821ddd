"""Options and output that `search` and `brief` have in common."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from counterfoil.core.ids import Origin
from counterfoil.core.knowledge.receipts import RetrievalReceipt
from counterfoil.core.knowledge.search import Hit, Search
from counterfoil.faces.cli.output import say
from counterfoil.wire.findings import Places

F = TypeVar("F", bound=Callable[..., Any])


def search_options(function: F) -> F:
    """Give a command the options that say which pages may answer."""
    options = (
        click.option("--tag", "tags", multiple=True, help="Pages with any of these tags."),
        click.option("--kind", "kinds", multiple=True, help="Pages of any of these kinds."),
        click.option("--origin", "origins", multiple=True, help="Pages of any of these origins."),
        click.option("--receipt", metavar="FILE", help="Write a receipt of the retrieval here."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def search_for(
    query: tuple[str, ...], limit: int, chosen: dict[str, Any], *, exclude_invalidated: bool
) -> Search:
    """Return what is asked for; an option that is not given filters nothing."""
    return Search(
        text=" ".join(query),
        limit=limit,
        tags=chosen["tags"] or None,
        kinds=chosen["kinds"] or None,
        origins=tuple(map(Origin, chosen["origins"])) or None,
        exclude_invalidated=exclude_invalidated,
    )


def hit_to_json(hit: Hit, places: Places) -> dict[str, Any]:
    """Return one hit."""
    return {
        "rank": hit.rank,
        "handle": hit.handle,
        "path": places.get(hit.address.origin, "") + hit.address.path,
        "origin": hit.address.origin,
        "title": hit.title,
        "millionths": hit.millionths,
        "reasons": list(hit.reasons),
        "snippet": hit.snippet,
        "invalidated": hit.is_invalidated,
    }


def keep_receipt(name: str | None, receipt: RetrievalReceipt) -> None:
    """Write the receipt of a retrieval to the file `name`, where one is given."""
    if name is None:
        return
    from counterfoil.wire.retrieval import encode_receipt  # noqa: PLC0415 - only where asked

    Path(name).write_bytes(encode_receipt(receipt) + b"\n")
    say(f"receipt: {name}")
