"""What the check of page handles costs at the end of a turn, with many pages visible.

    python bench/turn_pages.py [--pages 10000] [--replies 2000]

Most replies name pages that are there: they are checked in the view that is held. Only a
handle that would be accused has the files looked at again, which costs a look at each.
"""

import argparse
import gc
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.figures import Figure, at_most, foreign_load, show

from counterfoil.adapters.files.scaffold import init_store
from counterfoil.core.ids import PageId, ThreadId
from counterfoil.core.knowledge.new_page import NewPage
from counterfoil.core.knowledge.search import Search
from counterfoil.engine.thread_pages import ThreadPages
from counterfoil.wiring.thread_pages import ThreadKnowledge

_P99_MS = 5
_FOLDER = 100
_ACCUSING = 50
_PROSE = "The slope follows from what stands in the page, entry by entry. " * 20


def _make(root: Path, pages: int) -> ThreadPages:
    shared = root / "shared"
    init_store(shared)
    for number in range(pages):
        path = shared / f"knowledge/{number // _FOLDER}/page-{number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"---\nid: page-{number}\ntitle: Page {number}\n---\nText {number}.\n")
    own = ThreadKnowledge(root / "runs", shared).open(ThreadId("t1"))
    own.record_page(NewPage(id=PageId("own"), title="Own", body="Own text."))
    own.search(Search(text="text"))  # as a thread does that uses its pages
    return own


def _reply(number: int, pages: int, cited: int) -> str:
    named = [f"[[page-{(number * 7 + place * 131) % pages}]]" for place in range(cited - 1)]
    return _PROSE + ", ".join([*named, "[[own]]"]) + _PROSE


def _timed(check: Callable[[int], object], count: int) -> list[float]:
    taken: list[float] = []
    for number in range(count):
        began = time.perf_counter()
        check(number)
        taken.append(1000 * (time.perf_counter() - began))
    return sorted(taken)


def _rows(what: str, taken: Sequence[float], goal: float | None = None) -> list[Figure]:
    p50, p99 = taken[len(taken) // 2], taken[len(taken) * 99 // 100]
    worst = Figure(f"{what}: p50", f"{p50:.2f} ms")
    if goal is None:
        return [worst, Figure(f"{what}: p99", f"{p99:.2f} ms")]
    return [worst, at_most(f"{what}: p99", p99, goal, " ms")]


def _figures(own: ThreadPages, pages: int, replies: int) -> list[Figure]:
    figures: list[Figure] = []
    for cited in (1, 3, 20, 100):
        said = [_reply(number, pages, cited) for number in range(replies)]
        taken = _timed(lambda number: own.unknown_in(said[number]), replies)  # noqa: B023
        figures += _rows(f"{cited} handles, all there", taken, _P99_MS)
    taken = _timed(lambda number: own.unknown_in(f"{_PROSE}[[gone-{number}]]"), _ACCUSING)
    figures += _rows("one handle that is missing", taken)
    return figures


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--replies", type=int, default=2_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        own = _make(Path(directory), asked.pages)
        gc.collect()
        with foreign_load() as load:
            figures = _figures(own, asked.pages, asked.replies)
        own.close()
    show(f"the check of a reply, {asked.pages} pages visible", figures, load.cores)


if __name__ == "__main__":
    main()
