"""`counterfoil kb resolve`: what handles mean."""

import click

from counterfoil.core.knowledge.resolution import PageResolution, resolve_handle
from counterfoil.core.refs.pages import MALFORMED_TEXT, Malformed
from counterfoil.engine.stored_view import StoredView
from counterfoil.faces.cli import FOUND
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.findings import flat
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.output import Line, Output, print_json
from counterfoil.faces.cli.stores import color_option, json_option, store_options
from counterfoil.wire.findings import Places
from counterfoil.wire.handle_verdicts import resolution_to_json, shown_candidates

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
    with application.knowledge.stores(stores) as (visible, places):
        for store in visible.stores.values():
            store.refresh()
        view = StoredView(visible.stores, run=visible.run)
        rows = [resolve_handle(view, handle) for handle in handles]
    if is_json:
        print_json({"resolutions": [resolution_to_json(row, places) for row in rows]})
    else:
        output.lines(line for row in rows for line in _lines(row, places))
    return 0 if all(row.page is not None for row in rows) else FOUND


def _lines(row: PageResolution, places: Places) -> list[Line]:
    verdict = row.verdict.replace("_", " ")
    written, why = flat(row.written), ""
    if isinstance(row.reference, Malformed):
        written, why = repr(row.written), f" ({MALFORMED_TEXT[row.reference.reason]})"
    elif row.needs_run:
        why = " (name the run: --runs and --run)"
    lines: list[Line] = [((f"{written}: ", ""), (verdict, _STYLES[row.verdict]), (why, ""))]
    lines += [
        ((f"  {flat(handle)}", ""), (f"  {flat(path)}", "dim"))
        for handle, path in shown_candidates(row, places)
    ]
    return lines
