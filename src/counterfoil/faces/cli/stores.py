"""Options that name a store or a run, the same for every command about pages."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from counterfoil.faces.cli.knowledge import StoreSelection

F = TypeVar("F", bound=Callable[..., Any])


_OPTIONS = (
    click.option("--root", metavar="DIR", help="The store (default: the nearest one upwards)."),
    click.option(
        "--pages",
        metavar="DIR",
        default="knowledge",
        show_default=True,
        help="Where in a store its pages are.",
    ),
    click.option("--runs", metavar="DIR", help="The folder with the stores of all runs."),
    click.option("--shared", metavar="DIR", help="The store that all runs see."),
    click.option("--run", metavar="RUN", help="The run, by its id; goes with --runs."),
    click.option(
        "--lineage", metavar="FILE", help="A JSON manifest that knows the parents of the runs."
    ),
    click.option(
        "--max-ancestors",
        type=click.IntRange(min=0),
        metavar="N",
        help="Refuse a run with more ancestors.",
    ),
)


def store_options(function: F) -> F:
    """Give a command the options that name a store, as one `StoreSelection`."""

    def command(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - click's
        chosen = {name: options.pop(name) for name in StoreSelection._fields}
        return function(*arguments, stores=_sensible(StoreSelection(**chosen)), **options)

    command.__doc__ = function.__doc__
    command.__name__ = function.__name__
    if hasattr(function, "__click_params__"):
        command.__click_params__ = function.__click_params__  # type: ignore[attr-defined]
    for option in reversed(_OPTIONS):
        command = option(command)
    return command  # type: ignore[return-value]


def _sensible(selection: StoreSelection) -> StoreSelection:
    for name, value in selection._asdict().items():
        require_words(name, value)
    if (selection.runs is None) != (selection.run is None):
        missing = "--run" if selection.run is None else "--runs"
        raise click.UsageError(f"--runs and --run go together; {missing} is missing")
    if selection.runs is not None and selection.root is not None:
        raise click.UsageError("a store is named by --root, or by --runs and --run, not by both")
    for name in ("shared", "lineage", "max_ancestors"):
        if getattr(selection, name) is not None and selection.runs is None:
            raise click.UsageError(f"--{name.replace('_', '-')} goes with --runs and --run")
    return selection


def require_words(name: str, value: object) -> None:
    """Refuse an option that is there and holds nothing, as of a variable that is not set.

    Raises:
        UsageError: `value` is a blank text.
    """
    if isinstance(value, str) and not value.strip():
        raise click.UsageError(f"--{name.replace('_', '-')} is blank; expected a name")


json_option = click.option("--json", "is_json", is_flag=True, help="Print JSON.")
color_option = click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), help="When to colour text."
)
