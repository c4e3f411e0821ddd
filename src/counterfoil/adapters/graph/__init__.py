"""A picture of the graph of pages, laid out and drawn by graphviz-pure.

graphviz-pure is a program in a wheel, Graphviz itself in another language: it needs
nothing of the system and draws the same picture everywhere. It comes with the extra
`graph` and is started as a process of its own, which reads DOT and may not go on for ever.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from counterfoil.core.errors import UnavailableError
from counterfoil.core.knowledge.graph import Graph
from counterfoil.core.knowledge.view import View
from counterfoil.wire.graph_pictures import graph_dot

MOST_PAGES = 1000
"""Pages of a picture; one of more is refused, since nobody could look at it."""

LAYERED_PAGES = 120
"""Pages up to which what is referred to stands below what refers to it; more are spread out."""

_PROGRAM = "graphviz-pure"
_TIMEOUT = 120


def draw_svg(graph: Graph, view: View) -> str:
    """Return the picture of `graph` as SVG.

    Raises:
        UnavailableError: graphviz-pure is not installed, does not answer, or there are
            too many pages for a picture.
    """
    if len(graph.pages) > MOST_PAGES:
        raise UnavailableError(
            f"a picture of {len(graph.pages)} pages",
            f"at most {MOST_PAGES}",
            "look at one origin alone, or use --format graphml or dot",
        )
    layout = "dot" if len(graph.pages) <= LAYERED_PAGES else "sfdp"
    return _drawn(graph_dot(graph, view), layout)


def _drawn(dot: str, layout: str) -> str:
    command = [_program(), f"-K{layout}", "-Tsvg"]
    try:
        done = subprocess.run(  # noqa: S603 - fixed program, the graph through a pipe
            command, input=dot.encode(), capture_output=True, check=False, timeout=_TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{_PROGRAM} did not answer: {error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise UnavailableError(f"{_PROGRAM} drew nothing: {said}")
    return done.stdout.decode()


def _program() -> str:
    """Return the program that came with this Python, or else the one on the path."""
    beside = shutil.which(_PROGRAM, path=str(Path(sys.executable).parent))
    found = beside or shutil.which(_PROGRAM)
    if found is None:
        raise UnavailableError(
            f"{_PROGRAM} is not installed", advice="pip install 'counterfoil[graph]'"
        )
    return found
