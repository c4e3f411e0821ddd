"""`counterfoil explain`: why each reference at a place was judged so."""

import click

from counterfoil.core.errors import NotFoundError
from counterfoil.core.plain import one_line, plain
from counterfoil.core.reasons import REASONS
from counterfoil.core.report import Reference
from counterfoil.engine.check_transcript import TranscriptCheck
from counterfoil.engine.read_entries import standing_at
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.output import Output
from counterfoil.faces.cli.text import View, reference_lines, view_of

_READS = {
    "entry": "entry references: the noun `entry` or `entries` and numbers",
    "place": "places: a file and a line, as `path:12`, `path:12-20` or `path#L12`",
    "commit": "commits: 7 to 40 hexadecimal digits behind a word such as `commit` or `pushed`",
    "quotation": "quotations: at least 24 characters presented as output or as a file's text",
    "source": "sources: a URL that is presented as one",
}
_SHOWN = 6


@click.command(name="explain")
@click.argument("file")
@click.argument("line", type=click.IntRange(min=1))
@click.option("--repo", metavar="DIR", help="Look places and commits up in this repository, too.")
@click.pass_obj
def command(application: Application, file: str, line: int, repo: str | None) -> None:
    """Say why each reference of the reply at LINE of FILE was judged so.

    Printed are the rule that read it, its words and place, the reason with what it does
    not assert, and what stands in the record at the places that decide.
    """
    settings = application.settings({"repo": repo} if repo else {})
    output = Output(settings.text("color"))
    repository = settings.text("repo")
    with application.spool() as spool:
        check = TranscriptCheck(
            application.transcript(file),
            spool,
            repository=application.repository(repository) if repository else None,
        )
        check.read()
        view = view_of(check.source(), output.width, is_verbose=True)
        found = [
            one
            for turn in check.turns()
            for one in turn.references
            if one.place.line == line and one.place.source is None
        ]
    if not found:
        raise NotFoundError(
            f"no reference stands at line {line} of {file!r}",
            "a line that `counterfoil check --verbose` names",
        )
    for reference in found:
        _explain(application, output, view, (file, reference))


def _explain(
    application: Application, output: Output, view: View, told: tuple[str, Reference]
) -> None:
    file, reference = told
    output.lines(reference_lines(reference, view))
    place = reference.place
    rows = [
        ("rule", f"{reference.kind}.{reference.reason}"),
        ("reads", _READS[reference.kind]),
        ("words", f"block {place.block}, characters {place.start} to {place.end}"),
    ]
    reason = REASONS.get(reference.reason)
    if reason is not None:
        rows.append(("not said", reason.not_asserted))
    for label, text in rows:
        output.line((f"      {label:<10}", "dim"), (plain(text), ""))
    for row in reference.evidence:
        where = view.place(row.line, row.source) or "no place"
        call = f", call {plain(row.call)}" if row.call else ""
        output.line(
            (f"      {'evidence':<10}", "dim"), (f"{plain(where)}{call}: {plain(row.what)}", "")
        )
        if row.line is not None and row.source is None:
            _record(application, output, (file, row.line), _keys(reference))


def _keys(reference: Reference) -> tuple[str, ...]:
    """Return what to look for in a record, so that the lines around it are shown."""
    if reference.kind == "place":
        line = reference.text.rpartition(":")[2].partition("-")[0].partition("–")[0]
        return (f" {line}→", f"{line}\t", reference.text, f":{line}:", f"line {line}")
    return (reference.text, reference.text.strip('`"“”‘’')[:24])


def _record(
    application: Application, output: Output, place: tuple[str, int], keys: tuple[str, ...]
) -> None:
    """Show what stands where the evidence is: the lines around what decides."""
    file, line = place
    for found in standing_at(application.transcript(file), line):
        lines = found.text.split("\n")
        hits = (at for key in keys for at, text in enumerate(lines) if key in text)
        first = max(0, next(hits, 0) - _SHOWN // 2)
        if first:
            output.line((f"        +{first:,} lines", "dim"))
        for text in lines[first : first + _SHOWN]:
            output.line((f"        {one_line(text, output.width - 8)}", "dim"))
        rest = len(lines) - first - _SHOWN
        if rest > 0:
            more = f"+{rest:,} more lines: counterfoil show {plain(file)} {line}"
            output.line((f"        {more}", "dim"))
