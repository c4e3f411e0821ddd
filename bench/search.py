"""What the search of a chain costs: its index, a change of one page, and a query.

    python bench/search.py [--pages 100000] [--keep DIRECTORY]

The corpus is hostile to a search: 64 words make up most of every page, so that each of
them stands in nearly all pages. The rarer words are the numbers in titles.
"""

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.corpora import PAGES, RUNS, Corpus, made
from bench.figures import Figure, at_most, foreign_load, show

from counterfoil.adapters.search import DiskTextIndex
from counterfoil.core.ids import HERE, Origin, RunId
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.pages import Page
from counterfoil.core.knowledge.search import Search
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.engine.search_pages import PageSearch
from counterfoil.wire.pages import read_page

_BUILD_SECONDS = 30
_P99_MS = 10
_CHANGED_SECONDS = 1
_QUERIES = 200
_TOPICS = [
    "account",
    "anchor",
    "archive",
    "batch",
    "bearing",
    "border",
    "bridge",
    "buffer",
    "cache",
    "carrier",
]
_COMMON = ["the", "a", "of", "and", "to", "in", "before", "after", "reads", "writes"]


class _Pages:
    """The chain of the newest run, and the files of its pages."""

    def __init__(self, corpus: Corpus) -> None:
        self._roots = {
            HERE if run == corpus.newest else Origin.inherited(RunId(run)): corpus.store(run)
            for run in reversed(corpus.runs)
        }
        self.changed: set[str] = set()
        self.chain = ChainSnapshot(
            [
                Store(origin=origin, pages=tuple(self._read(root)))
                for origin, root in self._roots.items()
            ],
            run=RunId(corpus.newest),
        )

    def _read(self, root: Path) -> Iterable[Page]:
        for path in sorted((root / "knowledge").rglob("*.md")):
            yield read_page(path.read_bytes(), path.relative_to(root).as_posix()).page

    def body_of(self, page: VisiblePage) -> str:
        text = (self._roots[page.origin] / page.page.path).read_text("utf-8")
        return text.partition("\n---\n")[2]

    def digest_of(self, page: VisiblePage) -> str:
        state = "changed" if page.page.path in self.changed else "as it was"
        return sha256(f"{page.page.path} {state}".encode()).hexdigest()

    def searched(self, root: Path) -> PageSearch:
        index = DiskTextIndex(root)
        found = PageSearch(self.chain, index, body_of=self.body_of, digest_of=self.digest_of)
        if found.unavailable:
            raise SystemExit(str(found.unavailable))
        return found


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _index_figures(pages: _Pages, root: Path) -> list[Figure]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    built = _timed(lambda: pages.searched(root))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    size = sum(file.stat().st_size for file in root.rglob("*") if file.is_file())
    opened = _timed(lambda: pages.searched(root))
    pages.changed.add(next(iter(pages.chain)).page.path)
    changed = _timed(lambda: pages.searched(root))
    return [
        at_most(f"index of {len(pages.chain)} pages", built, _BUILD_SECONDS, " s"),
        Figure("memory beyond that of the chain", f"{grown / 1024:.0f} MB"),
        Figure("files of the index", f"{size / 1e6:.0f} MB"),
        Figure("made ready again, nothing changed", f"{opened:.2f} s"),
        at_most("made ready again, one page changed", changed, _CHANGED_SECONDS, " s"),
    ]


def _query_figures(search: PageSearch, pages: Sequence[VisiblePage]) -> list[Figure]:
    rng = random.Random(1)
    kinds: dict[str, Callable[[], Search]] = {
        "one word of nearly every page": lambda: Search(text=rng.choice(_COMMON)),
        "one word of most pages": lambda: Search(text=rng.choice(_TOPICS)),
        "three words of most pages": lambda: Search(text=" ".join(rng.sample(_TOPICS, 3))),
        "a title": lambda: Search(text=rng.choice(pages).page.title),
        "a rare word": lambda: Search(text=str(rng.randrange(len(pages)))),
        "a rare word and a common one": lambda: Search(text=f"the {rng.randrange(len(pages))}"),
        "a letter of a script without spaces": lambda: Search(text="頁"),
        "two words, by tag": lambda: Search(
            text=" ".join(rng.sample(_TOPICS, 2)), tags=(rng.choice(_TOPICS),)
        ),
    }
    first = _timed(lambda: search.search(Search(text="cache")))
    figures = [Figure("the first query, which makes ready what refers to what", f"{first:.2f} s")]
    for name, ask in kinds.items():
        taken = sorted(_milliseconds(search, ask()) for _ in range(_QUERIES))
        figures.append(Figure(f"{name}: median", f"{taken[len(taken) // 2]:.2f} ms"))
        worst = taken[int(len(taken) * 0.99)]
        figures.append(at_most(f"{name}: 99th percentile", worst, _P99_MS, " ms"))
    return figures


def _milliseconds(search: PageSearch, asked: Search) -> float:
    """Return the time of the processor: a piece this short is not to wait for others."""
    began = time.thread_time()
    search.search(asked)
    return (time.thread_time() - began) * 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--keep", type=Path, help="where the corpus is or shall be")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus = made(given.keep or Path(folder, "corpus"), pages=given.pages, runs=RUNS)
        pages = _Pages(corpus)
        root = Path(folder, "index")
        root.mkdir()
        with foreign_load() as foreign:
            figures = _index_figures(pages, root)
        show("the index of a chain of run stores", figures, foreign.cores)
        search = pages.searched(root)
        with foreign_load() as foreign:
            figures = _query_figures(search, tuple(pages.chain))
        show("queries of ten hits", figures, foreign.cores)


if __name__ == "__main__":
    main()
