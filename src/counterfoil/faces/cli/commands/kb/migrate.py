"""`counterfoil kb migrate`: another implementation's resolutions, held against these."""

import click

from counterfoil.core.knowledge.judged import Differing, Judged
from counterfoil.core.knowledge.migration import MigrationReport
from counterfoil.core.plain import plain
from counterfoil.engine.migrate import migrate, switch_over
from counterfoil.faces.cli import FOUND
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.findings import long_work
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.output import Output, print_json
from counterfoil.faces.cli.stores import json_option, store_options


@click.command(name="migrate")
@click.argument("resolutions", metavar="FILE")
@store_options
@click.option("--frozen", metavar="DIGEST", help="Refuse pages that have another digest.")
@click.option("--switch", is_flag=True, help="Record the switch, if nothing differs.")
@click.option("--actor", default="", metavar="WHO", help="Who switches.")
@click.option("--reason", default="", metavar="WHY", help="Why.")
@json_option
@click.pass_obj
def command(
    application: Application,
    /,
    resolutions: str,
    stores: StoreSelection,
    is_json: bool,  # noqa: FBT001 - click hands options over by name
    **switching: str | None,
) -> int:
    """Compare the resolutions in FILE, another implementation's, with these.

    Every difference gets a class. Nothing is written, unless --switch is given and no
    difference is left; then a record says so.

    Exit codes: 0 nothing differs, 1 something does, 2 misuse, 3 could not tell.
    """
    with application.knowledge.stores(stores) as (visible, _), long_work("comparing"):
        desk = application.knowledge.desk(visible)
        dual = desk.dual(resolutions, switching["frozen"])
        record = None
        if switching["switch"]:
            switch = desk.switch(switching["actor"] or "", switching["reason"] or "")
            outcome = switch_over(dual, switch)
            report, record = outcome.report, outcome.record
        else:
            report = migrate(dual)
    if is_json:
        print_json({**_document(report), "record": record})
    else:
        _print(report, record)
    return FOUND if report.differences else 0


def _print(report: MigrationReport, record: str | None) -> None:
    output = Output("never")
    for one in report.differences:
        output.line((f"{plain(one.page.path)}: {one.code}: {_said(one)}", ""))
    counts = ", ".join(f"{count} {code}" for code, count in report.counts.items())
    verdict = {
        "same": "nothing differs",
        "differences": counts,
        "empty": "EMPTY: nothing was compared",
    }[report.outcome]
    outside = f"; {report.outside} rows about other pages" if report.outside else ""
    output.line((f"{report.compared} citations compared: {verdict}{outside}", ""))
    output.line((f"pages: {report.chain}", ""))
    if record is not None:
        output.line((f"switched; record: {record}", ""))


def _said(one: Differing) -> str:
    judged = one.ours or one.theirs
    written = plain(repr(judged.written)) if judged else ""
    return f"{written} is {_verdict(one.ours)} here, {_verdict(one.theirs)} there"


def _verdict(judged: Judged | None) -> str:
    if judged is None:
        return "absent"
    places = ", ".join(f"{place.origin}:{place.path}" for place in judged.candidates)
    return f"{judged.verdict.replace('_', ' ')}{f' ({plain(places)})' if places else ''}"


def _document(report: MigrationReport) -> dict[str, object]:
    return {
        "outcome": report.outcome,
        "chain": report.chain,
        "compared": report.compared,
        "outside": report.outside,
        "counts": report.counts,
        "differences": [
            {
                "class": one.code,
                "page": one.page.path,
                "origin": one.page.origin,
                "ours": _row(one.ours),
                "theirs": _row(one.theirs),
            }
            for one in report.differences
        ],
    }


def _row(judged: Judged | None) -> dict[str, object] | None:
    if judged is None:
        return None
    return {
        "written": judged.written,
        "verdict": judged.verdict,
        "candidates": [place._asdict() for place in judged.candidates],
    }
