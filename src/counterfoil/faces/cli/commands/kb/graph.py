"""`counterfoil kb graph`: how pages refer to each other."""

import click

from counterfoil.core.ids import Origin
from counterfoil.core.knowledge.graph import Graph, graph_of
from counterfoil.core.knowledge.view import View
from counterfoil.engine.chains import load_chain
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.findings import long_work
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.cli.output import Output, print_json, say
from counterfoil.faces.cli.stores import json_option, store_options

FORMS = ("summary", "json", "graphml", "dot", "mermaid", "svg")


@click.command(name="graph")
@store_options
@click.option("--origin", "origins", multiple=True, help="Only pages of these origins.")
@click.option("--format", "form", type=click.Choice(FORMS), default="summary", show_default=True)
@json_option
@click.pass_obj
def command(
    application: Application,
    /,
    stores: StoreSelection,
    origins: tuple[str, ...],
    form: str,
    is_json: bool,  # noqa: FBT001 - click hands options over by name
) -> None:
    """Print how pages refer to each other, as text or for another program.

    Only references that resolve make edges. `svg` is a picture; it comes with
    `pip install 'counterfoil[graph]'`.
    """
    wanted = tuple(map(Origin, origins))
    with application.knowledge.stores(stores) as (visible, _), long_work("reading pages"):
        chain = load_chain(visible)
        graph = graph_of(chain, chain.pages_of(wanted or chain.origins))
        if is_json or form == "json":
            from counterfoil.wire.graph_exports import graph_json  # noqa: PLC0415 - this form alone

            print_json(graph_json(graph, chain))
        elif form == "summary":
            _summarize(graph)
        else:
            Output("never").line((_text(application, form, graph, chain).rstrip("\n"), ""))
    for source in graph.left_out:
        say(f"note: source {source!r} is that of too many pages to join them")


def _summarize(graph: Graph) -> None:
    output = Output("never")
    pages, edges = len(graph.pages), len(graph.edges)
    shown = f"{pages:,} page{_s(pages)}, {edges:,} edge{_s(edges)}"
    output.line((shown, ""))


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _text(application: Application, form: str, graph: Graph, view: View) -> str:
    if form == "svg":
        return application.knowledge.draw_svg(graph, view)
    if form == "graphml":
        from counterfoil.wire.graph_exports import graph_ml  # noqa: PLC0415 - this form alone

        return graph_ml(graph, view)
    from counterfoil.wire.graph_pictures import graph_dot, graph_mermaid  # noqa: PLC0415

    return graph_dot(graph, view) if form == "dot" else graph_mermaid(graph, view)
