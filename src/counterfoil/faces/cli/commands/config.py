"""`counterfoil config`: every setting, its value and where it came from."""

from collections.abc import Iterable
from typing import cast

import click

from counterfoil.core.plain import plain
from counterfoil.core.settings import KEYS
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.output import Output
from counterfoil.wire.check import encode_json


@click.command(name="config")
@click.option("--json", "is_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(application: Application, is_json: bool) -> None:  # noqa: FBT001
    """Print every setting with its value and where it came from.

    Said by `counterfoil.toml` (here or in a folder above), then by `config.toml` in
    $COUNTERFOIL_HOME, then by variables COUNTERFOIL_*, then by flags: the later wins.
    """
    settings = application.settings({})
    output = Output(settings.text("color"))
    if is_json:
        value = {
            "settings": {
                name: {"value": found.value, "origin": found.origin}
                for name, found in settings.values.items()
            },
            "silence": [
                {"rule": s.rule, "path": s.path, "reason": s.reason, "origin": s.origin}
                for s in settings.silences
            ],
        }
        output.data([encode_json(value)])
        return
    for key in KEYS:
        found = settings.values[key.name]
        output.line(
            (f"{key.name:<16}", "bold"),
            (f"{_shown(found.value) or '(empty)':<12} ", ""),
            (f"{plain(found.origin):<14} {key.meaning}", "dim"),
        )
    for silence in settings.silences:
        output.line(
            ("silence         ", "bold"),
            (f"{plain(silence.rule)} in {plain(silence.path)} ", ""),
            (f"{plain(silence.origin)}: {plain(silence.reason)}", "dim"),
        )


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | dict):
        return plain(", ".join(map(str, cast("Iterable[object]", value))))
    return plain(str(value))
