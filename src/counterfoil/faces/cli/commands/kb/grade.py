"""`counterfoil kb grade`: the checks of claims, run on request."""

import click

from counterfoil.core.ids import HERE
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.core.plain import one_line, plain
from counterfoil.engine.grade_pages import GradedPage, GradeReport, grade_pages
from counterfoil.faces.cli import FOUND
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.findings import long_work
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.output import Output, print_json, say
from counterfoil.faces.cli.stores import json_option, store_options

_WIDTH = 200


@click.command(name="grade")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@store_options
@click.option("--yes", is_flag=True, help="Run the checks; without it they are only listed.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1),
    default=30.0,
    show_default=True,
    metavar="N",
    help="End a check after so long.",
)
@json_option
@click.pass_obj
def command(
    application: Application,
    /,
    paths: tuple[str, ...],
    stores: StoreSelection,
    yes: bool,  # noqa: FBT001 - click hands options over by name
    seconds: float,
    is_json: bool,  # noqa: FBT001
) -> int:
    """Run the checks of claims of rung 4 and 5, and say what each shows.

    A check is a command that somebody wrote into a page: look at the list first, then
    give --yes. Checks run in the store's folder with PATH, HOME and LANG alone. What the
    environment lacks refutes nothing. PATH names pages by their path; without any, all
    of the store are graded.

    Exit codes: 0 none is contradicted, 1 at least one is, 2 misuse, 3 could not tell.
    """
    with application.knowledge.stores(stores) as (visible, _), long_work("running checks"):
        visible.own.refresh()
        pages = [
            VisiblePage(HERE, page)
            for page in visible.own.pages()
            if not paths or page.path in paths
        ]
        if not yes:
            _list(pages, is_json=is_json)
            return 0
        runner, bounds = application.knowledge.desk(visible).runner(seconds)
        report = grade_pages(pages, runner, bounds)
    if is_json:
        print_json(_document(report))
    else:
        _print(report)
    return FOUND if report.counts["contradicted"] else 0


def _list(pages: list[VisiblePage], *, is_json: bool) -> None:
    checks = [
        (page.page.path, page.page.evidence.check)
        for page in pages
        if page.page.evidence is not None and page.page.evidence.check is not None
    ]
    if is_json:
        print_json({"checks": [{"path": path, "check": check} for path, check in checks]})
        return
    output = Output("never")
    for path, check in checks:
        output.line((f"{plain(path)}: {one_line(check, _WIDTH)}", ""))
    say("nothing was run; give --yes to run these checks" if checks else "no page has a check")


def _print(report: GradeReport) -> None:
    output = Output("never")
    for page in report.pages:
        again = f" (as {plain(page.duplicate_of.path)})" if page.duplicate_of else ""
        verdict = f"{page.grade.verdict}: {plain(page.grade.reason)}{again}"
        output.line((f"{plain(page.address.path)}: {verdict}", ""))
    counts = ", ".join(f"{count} {verdict}" for verdict, count in report.counts.items() if count)
    rest = f"{report.below} below rung 4, {report.without} without a claim"
    output.line((f"{counts or 'EMPTY: no claim of rung 4 or 5'}; {rest}", ""))


def _document(report: GradeReport) -> dict[str, object]:
    return {
        "counts": report.counts,
        "below": report.below,
        "without": report.without,
        "claims": [_claim(page) for page in report.pages],
    }


def _claim(page: GradedPage) -> dict[str, object]:
    ran = page.execution
    return {
        "path": page.address.path,
        "page": page.address.id,
        "title": page.title,
        "verdict": page.grade.verdict,
        "reason": page.grade.reason,
        "exitStatus": None if ran is None else ran.exit_status,
        "milliseconds": None if ran is None else ran.milliseconds,
        "duplicateOf": None if page.duplicate_of is None else page.duplicate_of.path,
    }
