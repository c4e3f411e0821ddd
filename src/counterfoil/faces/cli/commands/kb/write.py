"""`counterfoil kb write`: pages that an agent proposes, all or none."""

import sys
from pathlib import Path

import click

from counterfoil.core.errors import ConflictError, NotFoundError
from counterfoil.core.plain import plain
from counterfoil.engine.write_pages import WriteOutcome, write_pages
from counterfoil.faces.cli import FOUND
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.output import Output, print_json, say
from counterfoil.faces.cli.stores import json_option, store_options


@click.command(name="write")
@click.argument("file", metavar="FILE")
@store_options
@click.option(
    "--expect",
    "expected",
    multiple=True,
    metavar="PATH=DIGEST",
    help="Write PATH only over these bytes (`sha256:…`), or only if it is not there (`none`).",
)
@click.option("--strict", is_flag=True, help="Let a block that cannot be taken refuse all.")
@json_option
@click.pass_obj
def command(
    application: Application,
    /,
    file: str,
    stores: StoreSelection,
    expected: tuple[str, ...],
    strict: bool,  # noqa: FBT001 - click hands options over by name
    is_json: bool,  # noqa: FBT001
) -> int:
    """Write the pages whose blocks stand in FILE (`-`: standard input), all or none.

    A block is `---FILE: knowledge/a.md---`, the page, `---END FILE---`, each on a line of
    its own. Citations that do not resolve and near duplicates of other pages refuse
    everything, before any byte is written.

    Exit codes: 0 written or unchanged, 1 refused, 2 misuse, 3 could not tell.
    """
    digests = dict(_expected(text) for text in expected)
    text = _text(file)
    with application.knowledge.stores(stores) as (visible, _):
        try:
            outcome = write_pages(
                application.knowledge.desk(visible).writable(),
                text,
                expected_digests=digests,
                on_warning="refuse" if strict else "report",
            )
        except ConflictError as error:
            say(f"refused: {error.diagnosis()}")
            return FOUND
    if is_json:
        print_json(_document(outcome))
    else:
        _print(outcome)
    return FOUND if outcome.status == "refused" else 0


def _expected(text: str) -> tuple[str, str | None]:
    path, separator, digest = text.rpartition("=")
    if not separator or not path:
        raise click.UsageError(f"--expect {text!r}: expected PATH=DIGEST, or PATH=none")
    return path, None if digest == "none" else digest


def _text(name: str) -> str:
    if name == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        return Path(name).read_bytes().decode("utf-8", "replace")
    except FileNotFoundError as error:
        raise NotFoundError(f"no file {name!r}", "a text with blocks, or `-`") from error


def _print(outcome: WriteOutcome) -> None:
    output = Output("never")
    for warning in outcome.warnings:
        say(f"warning: line {warning.line}: {plain(warning.message)}")
    for page in outcome.pages:
        output.line((f"{'wrote' if page.is_changed else 'unchanged'} {plain(page.path)}", ""))
    for message in outcome.intake.messages:
        output.line((f"refused: {plain(message)}", ""))


def _document(outcome: WriteOutcome) -> dict[str, object]:
    return {
        "outcome": outcome.status,
        "pages": [
            {
                "path": page.path,
                "page": page.page,
                "digestBefore": page.digest_before,
                "digestAfter": page.digest_after,
                "cites": list(page.cites),
            }
            for page in outcome.pages
        ],
        "refused": list(outcome.intake.messages),
        "warnings": [warning._asdict() for warning in outcome.warnings],
    }
