"""`counterfoil kb init`: a store, whole or not at all."""

import shlex
from typing import Any

import click

from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.output import Output, print_json, say
from counterfoil.faces.cli.stores import require_words


@click.command(name="init")
@click.option("--root", metavar="DIR", help="Make one store here (default: the current folder).")
@click.option("--runs", metavar="DIR", help="The folder with the stores of all runs.")
@click.option("--run", metavar="RUN", help="Make the store of this run; goes with --runs.")
@click.option("--parent", metavar="RUN", help="The run that it builds on.")
@click.option(
    "--allow-unknown-parent", is_flag=True, help="For imports in which a child comes first."
)
@click.option("--lineage", metavar="FILE", help="A JSON manifest that knows the parents.")
@click.option(
    "--pages", metavar="DIR", default="knowledge", show_default=True, help="Where pages are."
)
@click.option("--demo", metavar="DIR", help="Make four runs with something to find, in DIR.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(
    application: Application,
    /,
    root: str | None,
    demo: str | None,
    pages: str,
    is_json: bool,  # noqa: FBT001 - click hands options over by name
    **of_run: Any,  # noqa: ANN401 - those that go with --run
) -> None:
    """Make a store, or the store of a run; doing it again changes nothing.

    A run has at most one parent, for ever. Everything that can be refused is refused
    before anything is made.
    """
    runs, run, parent = (of_run[name] for name in ("runs", "run", "parent"))
    for name, value in {"lineage": of_run["lineage"], "parent": parent, "pages": pages}.items():
        require_words(name, value)
    _require_sense(of_run)
    _require_one_place(root=root, runs=runs, demo=demo)
    if demo is not None:
        made = application.knowledge.make_demo(demo)
        _say({"demo": made}, f"made four runs and a shared store in {made}", is_json=is_json)
        runs, shared = (shlex.quote(f"{made}/{name}") for name in ("runs", "shared"))
        say(f"try: counterfoil kb lint --runs {runs} --shared {shared} --run report")
    elif runs is not None:
        made = application.knowledge.init_run(
            (runs, run, pages),
            parent,
            of_run["lineage"],
            allow_unknown_parent=of_run["allow_unknown_parent"],
        )
        of = "without a parent" if parent is None else f"with the parent {parent}"
        _say(
            {"run": run, "parent": parent, "root": made},
            f"run {run}, {of}: {made}",
            is_json=is_json,
        )
    else:
        made = application.knowledge.init_store(root or ".", pages)
        _say({"root": made}, f"store: {made}", is_json=is_json)


def _require_one_place(**places: str | None) -> None:
    for name, value in places.items():
        require_words(name, value)
    given = [f"--{name}" for name, value in places.items() if value is not None]
    if len(given) > 1:
        raise click.UsageError(f"one place at a time: {' or '.join(given)}")


def _require_sense(of_run: dict[str, Any]) -> None:
    if (of_run["runs"] is None) != (of_run["run"] is None):
        raise click.UsageError("--runs and --run go together")
    if of_run["run"] is None and any(
        of_run[name] for name in ("parent", "lineage", "allow_unknown_parent")
    ):
        raise click.UsageError("--parent, --lineage and --allow-unknown-parent go with --run")


def _say(value: dict[str, str | None], text: str, *, is_json: bool) -> None:
    if is_json:
        print_json(value)
    else:
        Output("never").line((text, ""))
