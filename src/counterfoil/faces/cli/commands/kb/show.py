"""`counterfoil kb show`: one page, and what is around it."""

from typing import Any

import click

from counterfoil.core.errors import NotFoundError
from counterfoil.core.knowledge.inspection import PageRelations, relations_of_page
from counterfoil.core.knowledge.resolution import PageResolution, resolve_link
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.core.plain import plain
from counterfoil.core.refs.pages import MALFORMED_TEXT, Malformed, PageReference, format_handle
from counterfoil.engine.chains import VisibleStores
from counterfoil.engine.stored_view import StoredView
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.findings import flat
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.output import Output, print_json
from counterfoil.faces.cli.stores import json_option, store_options
from counterfoil.wire.findings import Places


@click.command(name="show")
@click.argument("page", metavar="PAGE")
@store_options
@click.option("--body", "has_body", is_flag=True, help="Print the body as well.")
@json_option
@click.pass_obj
def command(
    application: Application,
    /,
    page: str,
    stores: StoreSelection,
    has_body: bool,  # noqa: FBT001 - click hands options over by name
    is_json: bool,  # noqa: FBT001
) -> None:
    """Print a page: what it is called, what it refers to, and who refers to it.

    PAGE is a handle, a name as in a link (an id, a title, an alias or a path), or the path
    that a finding prints.
    """
    output = Output("never")
    with application.knowledge.stores(stores) as (visible, places):
        for store in visible.stores.values():
            store.refresh()
        view = StoredView(visible.stores, run=visible.run)
        meant = _at_path(visible, places, page) or _one(resolve_link(view, page), places)
        found = relations_of_page(view, meant)
        origin, path = found.visible.origin, found.visible.page.path
        body = visible.stores[origin].body(path) if has_body else None
    if is_json:
        print_json(_document(found, places, body))
        return
    _print(output, found, places)
    if body is not None:
        output.line(("", ""))
        output.line((plain(body).strip("\n"), ""))


def _at_path(visible: VisibleStores, places: Places, name: str) -> VisiblePage | None:
    """Return the page whose path is shown as `name`; a link never means a page by that."""
    if not name.endswith(".md") or flat(name) != name:
        return None
    for origin, store in visible.stores.items():
        above = places.get(origin, "")
        page = store.page(name.removeprefix(above)) if name.startswith(above) else None
        if page is not None:
            return VisiblePage(origin, page)
    return None


def _one(found: PageResolution, places: Places) -> VisiblePage:
    if found.page is not None:
        return found.page
    if isinstance(found.reference, Malformed):
        raise NotFoundError(
            f"{found.written!r} is no handle: {MALFORMED_TEXT[found.reference.reason]}",
            "the name of one page",
        )
    if found.needs_run:
        raise NotFoundError(
            f"{found.written!r} names a page of another store",
            "one of this store, or a run that sees it",
            "name the run with --runs and --run",
        )
    if not found.candidates:
        raise NotFoundError(
            f"{found.written!r} names no page",
            "a handle, id, title, alias or path of one",
            "`counterfoil kb search` finds pages by words",
        )
    listed = ", ".join(_shown(page, places) for page in found.candidates[:10])
    rest = len(found.candidates) - 10
    raise NotFoundError(
        f"{found.written!r} names {len(found.candidates)} pages: {listed}"
        + (f" and {rest} more" if rest > 0 else ""),
        "the name of exactly one",
        "write one of the handles, or the path",
    )


def _handle(page: VisiblePage) -> str:
    return format_handle(PageReference(page.origin, page.page.id))


def _shown(page: VisiblePage, places: Places) -> str:
    return f"{_handle(page)} ({places.get(page.origin, '')}{page.page.path})"


def _print(output: Output, found: PageRelations, places: Places) -> None:
    page = found.visible.page
    output.line((flat(page.title), "bold"))
    output.line((f"  handle: {flat(_handle(found.visible))}", ""))
    output.line((f"  path: {flat(places.get(found.visible.origin, '') + page.path)}", ""))
    sources = tuple(item.text for item in page.sources)
    for name, texts in (("tags", page.tags), ("aliases", page.aliases), ("sources", sources)):
        if texts:
            output.line((f"  {name}: {flat(', '.join(texts))}", ""))
    if page.invalidation is not None:
        output.line(
            (f"  taken back {page.invalidation.observed_at}: {flat(page.invalidation.reason)}", "")
        )
    groups = (("cites", found.cites), ("contradicts", found.contradicts), ("links to", found.links))
    for name, rows in groups:
        for row in rows:
            output.line((f"  {name} {flat(row.written)}: {_meaning(row, places)}", ""))
    for other in found.referred_by:
        output.line((f"  referred to by {flat(_shown(other, places))}", ""))


def _meaning(row: PageResolution, places: Places) -> str:
    verdict = row.verdict.replace("_", " ")
    if not row.candidates:
        return verdict
    return f"{verdict}, {flat(', '.join(_shown(page, places) for page in row.candidates))}"


def _document(found: PageRelations, places: Places, body: str | None) -> dict[str, Any]:
    page = found.visible.page
    value: dict[str, Any] = {
        "handle": _handle(found.visible),
        "id": page.id,
        "title": page.title,
        "path": places.get(found.visible.origin, "") + page.path,
        "tags": list(page.tags),
        "aliases": list(page.aliases),
        "sources": [item.text for item in page.sources],
        "cites": [_row(row) for row in found.cites],
        "contradicts": [_row(row) for row in found.contradicts],
        "links": [_row(row) for row in found.links],
        "referredBy": [_handle(other) for other in found.referred_by],
    }
    if page.invalidation is not None:
        value["invalidation"] = {
            "observedAt": page.invalidation.observed_at,
            "reason": page.invalidation.reason,
        }
    return value if body is None else {**value, "body": body}


def _row(row: PageResolution) -> dict[str, Any]:
    return {
        "written": row.written,
        "verdict": row.verdict,
        "candidates": [_handle(page) for page in row.candidates],
    }
