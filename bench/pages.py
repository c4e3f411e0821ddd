"""What reading a page costs, next to the bare work of the two parsers behind it.

    python bench/pages.py

Invented pages of 4 kB with ten fields, three citations and five links, some of them with
code, are read from their bytes. The bare work is one parse of the block by the fastest
parser of YAML and one walk over the events of the parser of Markdown: it knows no place,
no fault, no link. A hostile page of twice the length takes about twice as long.
"""

import gc
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.figures import Figure, at_most, foreign_load, interleaved, show
from pyromark import events_with_range
from yaml_rs import loads

from counterfoil.core.knowledge.fields import understand
from counterfoil.wire.frontmatter import Frontmatter
from counterfoil.wire.page_body import find_references
from counterfoil.wire.pages import decode, locate, read_page

_PAGES = 200
_LENGTH = 4_000
_ROUNDS = 25
_RATIO = 1.25
_DOUBLING = 2.5

_WORDS = (
    "The wait doubles until a minute and stays there, which the log of the run shows. ",
    "Nothing else was changed between the two runs, and the figures are of the first. ",
    "What *was* measured stands in the table, with the **spread** of five repetitions. ",
    "The queue is read in the order in which it was written, and no row is read twice. ",
)
_CODE = ("See `retry.py` for the loop and `queue.depth` for the bound that it keeps. ",)
_PARTS = (
    "\n\n## What was measured\n\n",
    "\n\n- one point\n- another point\n- the last\n\n",
    "\n\n",
)
_FENCE = "\n\n```python\nfor attempt in range(9):\n    wait(2 ** attempt)\n```\n\n"


def page(rng: random.Random, *, code: bool) -> tuple[str, str]:
    """Return block and body of an invented page."""
    names = [f"page-{rng.randrange(5000)}" for _ in range(8)]
    block = (
        f"id: page-{rng.randrange(5000)}\ntitle: How long retries wait, part {rng.randrange(90)}\n"
        f"kind: note\ntags: [network, retries, queue]\naliases:\n  - Back-off {names[0]}\n"
        f"cites:\n  - {names[1]}\n  - here::{names[2]}\n  - inherited:run-7::{names[3]}\n"
        f"sources: [rfc-9110, load-test-{rng.randrange(90)}]\nstatus: reviewed\nrung: 3\n"
        f"summary: The wait doubles until a minute, then stays there.\n"
    )
    words = _WORDS + _CODE if code else _WORDS
    parts = ["# How long retries wait\n\n"]
    while sum(map(len, parts)) < _LENGTH - len(block) - 160:
        parts.extend(rng.choices(words, k=4))
        parts.append(rng.choice(_PARTS))
    for name in names[3:]:
        parts.insert(rng.randrange(1, len(parts)), f"as [[{name}|the other page]] shows. ")
    if code:
        parts.insert(len(parts) // 2, _FENCE)
    return block, "".join(parts)


def _read_bare(pages: Sequence[tuple[str, str]]) -> None:
    for block, body in pages:
        loads(block)
        for _ in events_with_range(body):
            pass


def _figures(*, code: bool) -> list[Figure]:
    rng = random.Random(1)
    pages = [page(rng, code=code) for _ in range(_PAGES)]
    files = [f"---\n{block}---\n{body}".encode() for block, body in pages]
    texts = [decode(content)[0] for content in files]
    fronts = [Frontmatter(text) for text in texts]
    works: dict[str, Callable[[], object]] = {
        "bare YAML": lambda: [loads(block) for block, _ in pages],
        "bare Markdown": lambda: [[None for _ in events_with_range(body)] for _, body in pages],
        "bare, page by page": lambda: _read_bare(pages),
        "read_page": lambda: [read_page(content, "knowledge/a.md") for content in files],
        "decoding": lambda: [decode(content) for content in files],
        "frontmatter": lambda: [Frontmatter(text) for text in texts],
        "fields": lambda: [understand(front.values, front) for front in fronts],
        "references of the body": lambda: [find_references(body) for _, body in pages],
        "places, when asked": lambda: [locate(content, ()) for content in files],
    }
    gc.disable()
    seconds = {name: min(taken) for name, taken in interleaved(works, _ROUNDS).items()}
    gc.enable()
    micro = {name: least / _PAGES * 1e6 for name, least in seconds.items()}
    bare = micro["bare YAML"] + micro["bare Markdown"]
    return [
        at_most("read_page / bare sum", micro["read_page"] / bare, _RATIO),
        *(Figure(name, f"{value:.1f} us") for name, value in micro.items()),
    ]


def main() -> None:
    for title, code in (("pages with code", True), ("pages without", False)):
        with foreign_load() as foreign:
            figures = _figures(code=code)
        show(title, figures, foreign.cores)


if __name__ == "__main__":
    main()
