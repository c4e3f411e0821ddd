"""`counterfoil kb cites`: the audit of citations."""

import click

from counterfoil.core.knowledge.lint import citations_alone, with_rules
from counterfoil.engine.lint_stores import lint_stores
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.commands.kb.lint import FORMS
from counterfoil.faces.cli.findings import long_work, print_report
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.stores import color_option, json_option, store_options


@click.command(name="cites")
@store_options
@click.option("--format", "form", type=FORMS, help="How to report.")
@json_option
@color_option
@click.pass_obj
def command(
    application: Application,
    /,
    stores: StoreSelection,
    form: str | None,
    is_json: bool,  # noqa: FBT001 - click hands options over by name
    color: str | None,
) -> int:
    """Audit the citations: each resolves to one other page, or is named with its reason.

    Exit codes: 0 every citation is good, 1 at least one is not, 2 misuse, 3 could not
    tell.
    """
    settings = application.settings({} if color is None else {"color": color})
    with application.knowledge.stores(stores) as (visible, places), long_work("auditing citations"):
        report = citations_alone(lint_stores(visible))
    report = with_rules(report, settings.silences, places)
    chosen = "json" if is_json else form or settings.text("format")
    return print_report(application, settings, chosen, report, places)
