"""`counterfoil kb`: the knowledge pages of runs."""

import click

from counterfoil.faces.cli.groups import LazyGroup

COMMANDS = {
    "init": "Make a store, or the store of a run; with --demo, four runs to try.",
    "runs": "List the runs and their parents.",
    "lint": "Check every page: citations, links, sources, ids, evidence, lineage.",
    "cites": "Audit the citations alone.",
    "validate": "Check every page, and that each writes its id and title (--strict).",
    "resolve": "Say what handles mean: one page, none, or several.",
    "inspect": "Count what is in a store, and name the pages that most others refer to.",
    "show": "Print a page: what it is called, what it refers to, who refers to it.",
    "search": "Find pages by words.",
    "brief": "Print the best pages for a question within a number of characters.",
    "graph": "Print how pages refer to each other: JSON, GraphML, DOT, Mermaid, SVG.",
    "index": "Bring the index of a store up to date, or make it anew.",
    "add-source": "Import a file or a folder as a source.",
    "sources": "List the sources of a store.",
    "write": "Write pages from an agent's blocks, all or none.",
    "promote": "Copy pages, and what they cite, into the shared store.",
    "grade": "Run the checks of claims and say what they show.",
    "migrate": "Compare another implementation's resolutions with these.",
}


@click.command(
    name="kb",
    cls=LazyGroup,
    commands_of=COMMANDS,
    package="counterfoil.faces.cli.commands.kb",
)
def command() -> None:
    """Check, search and write the knowledge pages of runs.

    A store is a folder with Markdown pages in `knowledge/`. Name it with --root, or be
    somewhere in it; or name the folder of all runs with --runs, and one of them with
    --run, to see what that run sees: its own pages, its ancestors', the shared ones.
    """
