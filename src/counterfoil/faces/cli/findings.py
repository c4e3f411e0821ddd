"""Findings about pages as lines for a person, and the commands that end with them."""

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from counterfoil.core.knowledge.findings import Finding, LintReport
from counterfoil.core.plain import plain
from counterfoil.core.settings import Settings
from counterfoil.faces.cli import FOUND
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.output import Line, Output
from counterfoil.wire.findings import (
    Places,
    github_findings,
    place_of,
    report_to_json,
    sarif_findings,
)

_STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}


class Since(NamedTuple):
    """What a report leaves out: the findings that there were at a revision of Git."""

    revision: str
    before: int


def flat(text: str) -> str:
    """Return `text` fit to be shown within one line."""
    return plain(text).replace("\n", "\\n").replace("\t", "\\t")


def finding_lines(report: LintReport, places: Places) -> Iterator[Line]:
    """Yield a line for each finding."""
    for finding in report.findings:
        yield (
            (f"{_where(finding, places)}: ", ""),
            (finding.severity, _STYLES[finding.severity]),
            (f": {flat(finding.message)} ", ""),
            (f"({finding.code})", "dim"),
        )


def _where(finding: Finding, places: Places) -> str:
    path = flat(place_of(finding, places))
    if finding.line is None:
        return path
    return f"{path}:{finding.line}:{finding.column}"


def summary_line(report: LintReport, since: Since | None = None) -> Line:
    """Return what was looked at, what was found and what was left out, in one line."""
    checked = report.checked
    looked_at = (
        f"{counted(checked.pages, 'page')}, {counted(checked.citations, 'citation')},"
        f" {counted(checked.links, 'link')} checked"
    )
    if report.outcome == "empty":
        where = "the store has none; --root and --pages say where pages are"
        return (("EMPTY: no page was checked", "bold yellow"), (f" ({where})", ""))
    found = [
        (f"{counted(count, severity)}", _STYLES[severity])
        for severity, count in report.counts.items()
        if count
    ]
    parts = [part for one in found for part in (one, (", ", ""))][:-1]
    verdict = parts or [("nothing found", "green")]
    silenced = f"; {len(report.silenced)} silenced" if report.silenced else ""
    earlier = (
        "" if since is None else f"; {since.before:,} left out: there at {flat(since.revision)}"
    )
    return ((f"{looked_at}: ", ""), *verdict, (silenced, ""), (earlier, ""))


def counted(count: int, noun: str) -> str:
    """Return how many there are of what `noun` names."""
    plural = noun if count == 1 or noun == "info" else f"{noun}s"
    return f"{count:,} {plural}"


def print_report(
    application: Application,
    settings: Settings,
    form: str,
    report: LintReport,
    places: Places,
    *,
    since: Since | None = None,
) -> int:
    """Print `report` in the form asked for, and return the exit code."""
    from counterfoil.wire.check import encode_json  # noqa: PLC0415 - only for JSON

    output = Output(settings.text("color"))
    more = {} if since is None else {"since": {"revision": since.revision, "leftOut": since.before}}
    forms: dict[str, Callable[[], None]] = {
        "text": lambda: output.lines([*finding_lines(report, places), summary_line(report, since)]),
        "json": lambda: output.data([encode_json({**report_to_json(report, places), **more})]),
        "sarif": lambda: output.data(
            [encode_json(sarif_findings(report, places, application.version))]
        ),
        "github": lambda: output.lines(((line, ""),) for line in github_findings(report, places)),
    }
    forms[form]()
    return FOUND if report.counts["error"] else 0


@contextmanager
def long_work(what: str) -> Generator[None]:
    """Show a person who waits that work goes on; nothing where nobody watches."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - only where it is drawn

    with Console(stderr=True).status(what):
        yield
