"""`counterfoil kb lint`: every check of every page."""

import click

from counterfoil.core.knowledge.lint import added_findings, with_rules
from counterfoil.engine.lint_stores import lint_stores
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.findings import Since, long_work, print_report
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.stores import color_option, json_option, store_options

FORMS = click.Choice(["text", "json", "sarif", "github"])


@click.command(name="lint")
@store_options
@click.option("--since", metavar="REV", help="Report only what came in since this revision of Git.")
@click.option("--format", "form", type=FORMS, help="How to report.")
@json_option
@color_option
@click.pass_obj
def command(
    application: Application,
    /,
    stores: StoreSelection,
    since: str | None,
    form: str | None,
    is_json: bool,  # noqa: FBT001 - click hands options over by name
    color: str | None,
) -> int:
    """Check every page: citations, links, sources, ids, evidence, lineage.

    With --run, references are weighed in what the run can see, and the findings are
    about the run's own pages. A page is read again only when its file has changed.

    Exit codes: 0 no error, 1 at least one error, 2 misuse, 3 could not tell.
    """
    settings = application.settings({} if color is None else {"color": color})
    with application.knowledge.stores(stores) as opened, long_work("checking pages"):
        report = lint_stores(opened.visible)
        left_out: Since | None = None
        if since is not None:
            before = application.knowledge.findings_before(opened, since)
            added = added_findings(report, before)
            left_out = Since(since, len(report.findings) - len(added.findings))
            report = added
    report = with_rules(report, settings.silences, opened.places)
    chosen = "json" if is_json else form or settings.text("format")
    return print_report(application, settings, chosen, report, opened.places, since=left_out)
