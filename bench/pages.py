"""What reading a page costs, next to the bare work of the two parsers behind it.

    python bench/pages.py

Invented pages of 4 kB with ten fields, three citations and five links, some of them with
code, are read from their bytes. The bare work is one parse of the block by the fastest
parser of YAML and one walk over the events of the parser of Markdown: it knows no place,
no fault, no link.
"""

import gc
import random
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.figures import Figure, at_most, foreign_load, interleaved, show
from pyromark import events_with_range
from yaml_rs import loads

from counterfoil.core.knowledge.fields import understand
from counterfoil.core.knowledge.pages import FieldSpot
from counterfoil.wire.frontmatter import Frontmatter
from counterfoil.wire.page_body import find_references
from counterfoil.wire.pages import decode, locate, read_page

_PAGES = 20
_LENGTH = 4_000
_ROUNDS = 200
_RATIO = 1.25

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


def page(rng: random.Random, kind: str) -> tuple[str, str]:
    """Return block and body of an invented page, with no code, spans of it, or a fence too."""
    names = [f"page-{rng.randrange(5000)}" for _ in range(8)]
    block = (
        f"id: page-{rng.randrange(5000)}\ntitle: How long retries wait, part {rng.randrange(90)}\n"
        f"kind: note\ntags: [network, retries, queue]\naliases:\n  - Back-off {names[0]}\n"
        f"cites:\n  - {names[1]}\n  - here::{names[2]}\n  - inherited:run-7::{names[3]}\n"
        f"sources: [rfc-9110, load-test-{rng.randrange(90)}]\nstatus: reviewed\nrung: 3\n"
        f"summary: The wait doubles until a minute, then stays there.\n"
    )
    words = _WORDS if kind == "no code" else _WORDS + _CODE
    parts = ["# How long retries wait\n\n"]
    while sum(map(len, parts)) < _LENGTH - len(block) - 160:
        parts.extend(rng.choices(words, k=4))
        parts.append(rng.choice(_PARTS))
    for name in names[3:]:
        parts.insert(rng.randrange(1, len(parts)), f"as [[{name}|the other page]] shows. ")
    if kind == "fences":
        parts.insert(len(parts) // 2, _FENCE)
    return block, "".join(parts)


def _each(work: Callable[[Any], object], values: Iterable[object]) -> None:
    for value in values:
        work(value)


def _walk(body: str) -> None:
    for _ in events_with_range(body):
        pass


def _read(content: bytes) -> None:
    read_page(content, "knowledge/a.md")


def _places(content: bytes) -> None:
    locate(content, [FieldSpot("cites", 1)])


def _figures(kind: str) -> list[Figure]:
    rng = random.Random(1)
    pages = [page(rng, kind) for _ in range(_PAGES)]
    files = [f"---\n{block}---\n{body}".encode() for block, body in pages]
    texts = [decode(content)[0] for content in files]
    fronts = [Frontmatter(text) for text in texts]
    blocks, bodies = zip(*pages, strict=True)
    works: dict[str, Callable[[], object]] = {
        "bare YAML": lambda: _each(loads, blocks),
        "bare Markdown": lambda: _each(_walk, bodies),
        "read_page": lambda: _each(_read, files),
        "decoding": lambda: _each(decode, files),
        "frontmatter": lambda: _each(Frontmatter, texts),
        "fields": lambda: _each(lambda front: understand(front.values, front), fronts),
        "references of the body": lambda: _each(find_references, bodies),
        "places, when asked for": lambda: _each(_places, files),
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
    for kind in ("no code", "code spans", "fences"):
        with foreign_load() as foreign:
            figures = _figures(kind)
        show(f"pages with {kind}", figures, foreign.cores)


if __name__ == "__main__":
    main()
