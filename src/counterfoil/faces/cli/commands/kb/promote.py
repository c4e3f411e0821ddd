"""`counterfoil kb promote`: from a run to the shared store."""

import click

from counterfoil.core.plain import plain
from counterfoil.engine.promote import PromotionOutcome, promote
from counterfoil.faces.cli import FOUND
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.output import Output, print_json
from counterfoil.faces.cli.stores import json_option, store_options


@click.command(name="promote")
@click.argument("ids", nargs=-1, required=True, metavar="PAGE...")
@store_options
@click.option("--actor", required=True, metavar="WHO", help="Who promotes.")
@click.option("--reason", required=True, metavar="WHY", help="Why.")
@json_option
@click.pass_obj
def command(
    application: Application,
    /,
    ids: tuple[str, ...],
    stores: StoreSelection,
    actor: str,
    reason: str,
    is_json: bool,  # noqa: FBT001 - click hands options over by name
) -> int:
    """Copy pages of a run, by id, and what they cite, into the shared store.

    Bytes stay as they are. An id or a path that is taken there by other bytes, or a
    citation that would not mean the same page there, refuses everything.

    Exit codes: 0 promoted or there already, 1 refused, 2 misuse, 3 could not tell.
    """
    if stores.run is None or stores.shared is None:
        raise click.UsageError("promotion is from a run: name --runs, --run and --shared")
    with application.knowledge.stores(stores) as (visible, _):
        desk = application.knowledge.desk(visible)
        outcome = promote(desk.promotion(), ids, actor=actor, reason=reason, now=desk.now())
    if is_json:
        print_json(_document(outcome))
    else:
        _print(outcome)
    return FOUND if outcome.status == "refused" else 0


def _print(outcome: PromotionOutcome) -> None:
    output, plan = Output("never"), outcome.plan
    for refusal in plan.refusals:
        output.line((f"refused: {plain(refusal.message)} ({refusal.code})", ""))
    if plan.refusals:
        return
    for page in plan.pages:
        output.line((f"promoted {plain(page.source.page.path)} ({page.role})", ""))
    for visible in plan.present:
        output.line((f"there already: {plain(visible.page.path)}", ""))
    for caution in plan.cautions:
        output.line((f"note: {plain(caution.message)} ({caution.code})", ""))
    if outcome.record is not None:
        output.line((f"record: {outcome.record}", ""))


def _document(outcome: PromotionOutcome) -> dict[str, object]:
    plan = outcome.plan
    return {
        "outcome": outcome.status,
        "pages": [
            {
                "id": page.source.page.id,
                "path": page.source.page.path,
                "origin": page.source.origin,
                "digest": page.digest,
                "role": page.role,
            }
            for page in plan.pages
        ],
        "present": [visible.page.path for visible in plan.present],
        "refusals": [refusal._asdict() for refusal in plan.refusals],
        "cautions": [caution._asdict() for caution in plan.cautions],
        "record": outcome.record,
    }
