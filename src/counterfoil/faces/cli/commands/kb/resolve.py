"""`counterfoil kb resolve`: what handles mean."""

from typing import Any

import click

from counterfoil.core.knowledge.resolution import PageResolution, resolve_handle
from counterfoil.core.plain import plain
from counterfoil.core.refs.pages import MALFORMED_TEXT, Malformed, PageReference, format_handle
from counterfoil.engine.stored_view import StoredView
from counterfoil.faces.cli import FOUND
from counterfoil.faces.cli.app import Application, StoreSelection
from counterfoil.faces.cli.output import Line, Output
from counterfoil.faces.cli.stores import color_option, json_option, store_options
from counterfoil.wire.findings import Places

_STYLES = {
    "resolved": "green",
    "missing": "bold red",
    "ambiguous": "bold red",
    "malformed": "bold red",
    "needs_run_context": "yellow",
}


@click.command(name="resolve")
@click.argument("handles", nargs=-1, required=True, metavar="HANDLE...")
@store_options
@json_option
@color_option
@click.pass_obj
def command(
    application: Application,
    /,
    handles: tuple[str, ...],
    stores: StoreSelection,
    is_json: bool,  # noqa: FBT001 - click hands options over by name
    color: str | None,
) -> int:
    """Say what each HANDLE means: one page, none, or several; never a guess.

    Exit codes: 0 every handle means one page, 1 at least one does not, 2 misuse, 3 could
    not tell.
    """
    settings = application.settings({} if color is None else {"color": color})
    output = Output(settings.text("color"))
    with application.stores(stores) as (visible, places):
        for store in visible.stores.values():
            store.refresh()
        view = StoredView(visible.stores, run=visible.run)
        rows = [resolve_handle(view, handle) for handle in handles]
    if is_json:
        from counterfoil.wire.check import encode_json  # noqa: PLC0415 - only for JSON

        output.data(
            [encode_json({"schema": 1, "resolutions": [_row(row, places) for row in rows]})]
        )
    else:
        output.lines(line for row in rows for line in _lines(row, places))
    return 0 if all(row.page is not None for row in rows) else FOUND


def _row(row: PageResolution, places: Places) -> dict[str, Any]:
    value: dict[str, Any] = {
        "handle": row.written,
        "verdict": row.verdict,
        "candidates": [
            {"handle": handle, "path": path} for handle, path in _candidates(row, places)
        ],
    }
    if isinstance(row.reference, Malformed):
        value["reason"] = row.reference.reason
    return value


def _candidates(row: PageResolution, places: Places) -> list[tuple[str, str]]:
    return [
        (
            format_handle(PageReference(found.origin, found.page.id)),
            places.get(found.origin, "") + found.page.path,
        )
        for found in row.candidates
    ]


def _lines(row: PageResolution, places: Places) -> list[Line]:
    verdict = row.verdict.replace("_", " ")
    why = (
        f" ({MALFORMED_TEXT[row.reference.reason]})" if isinstance(row.reference, Malformed) else ""
    )
    lines: list[Line] = [
        ((f"{plain(row.written)}: ", ""), (verdict, _STYLES[row.verdict]), (why, ""))
    ]
    lines += [
        ((f"  {plain(handle)}", ""), (f"  {plain(path)}", "dim"))
        for handle, path in _candidates(row, places)
    ]
    return lines
