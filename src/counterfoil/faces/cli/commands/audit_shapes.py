"""`counterfoil audit-shapes`: shapes of records and counts, for reports about formats."""

import click

from counterfoil.core.errors import NotFoundError
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.output import Output
from counterfoil.wire.check import encode_json


@click.command(name="audit-shapes")
@click.argument("directory")
@click.option("--json", "is_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(application: Application, directory: str, is_json: bool) -> None:  # noqa: FBT001
    """Print the shapes of all records below DIRECTORY with their counts, without any value.

    For a report about a format that is not understood: names of fields and kinds of
    values, no text, no path, no number. Read it before you send it.
    """
    output = Output(application.settings({}).text("color"))
    shapes, damage, files = application.shapes(directory)
    if not files:
        raise NotFoundError(f"no *.jsonl file below {directory!r}")
    if is_json:
        value = {"files": files, "shapes": dict(shapes.most_common()), "damage": dict(damage)}
        output.data([encode_json(value)])
        return
    for shape, count in shapes.most_common():
        output.line((f"{count:>9,}  ", "bold"), (shape, ""))
    for code, count in sorted(damage.items()):
        output.line((f"{count:>9,}  ", "bold"), (f"not read: {code}", "yellow"))
    noun = "file" if files == 1 else "files"
    output.line(
        (f"{sum(shapes.values()):,} records of {len(shapes):,} shapes in {files:,} {noun}", "bold")
    )
