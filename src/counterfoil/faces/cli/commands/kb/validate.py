"""`counterfoil kb validate`: every check, and what a strict store asks for."""

import click

from counterfoil.core.knowledge.lint import with_rules
from counterfoil.engine.lint_stores import lint_stores, with_literals
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.commands.kb.lint import FORMS
from counterfoil.faces.cli.findings import long_work, print_report
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.stores import color_option, json_option, store_options


@click.command(name="validate")
@store_options
@click.option("--strict", is_flag=True, help="Want an `id` and a `title` written in every page.")
@click.option("--format", "form", type=FORMS, help="How to report.")
@json_option
@color_option
@click.pass_obj
def command(
    application: Application,
    /,
    stores: StoreSelection,
    strict: bool,  # noqa: FBT001 - click hands options over by name
    form: str | None,
    is_json: bool,  # noqa: FBT001
    color: str | None,
) -> int:
    """Check every page, as `lint` does; with --strict, want a literal id and title as well.

    Exit codes: 0 no error, 1 at least one error, 2 misuse, 3 could not tell.
    """
    settings = application.settings({} if color is None else {"color": color})
    with application.knowledge.stores(stores) as (visible, places), long_work("checking pages"):
        report = lint_stores(visible)
        if strict:
            report = with_literals(report, visible)
    report = with_rules(report, settings.silences, places)
    chosen = "json" if is_json else form or settings.text("format")
    return print_report(application, settings, chosen, report, places)
