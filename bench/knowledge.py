"""What linting a chain of run stores costs, against what reading its files costs at least.

    python bench/knowledge.py [--pages 20000] [--only-floors] [--keep DIRECTORY]
    python bench/knowledge.py --runs 1        (one store alone, without a chain)

The floors, in one process with all files in the page cache: (a) a walk, (b) a walk that
stats, (c) reading every page, (d) parsing every frontmatter by the fastest library that
reads YAML 1.2 scalars rightly, (e) parsing every body as Markdown. The product is the
command, started anew each time: cold (its cache deleted), with nothing changed, and with
one page changed; its findings are held against the faults that were planted.
"""

import argparse
import json
import os
import shlex
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median, quantiles
from typing import Any, TypeAlias

import pyromark

import counterfoil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.corpora import PAGES, RUNS, Corpus, Planted, made
from bench.figures import BUSY, Figure, at_least, at_most, foreign_load, machine, show
from bench.processes import Ran, as_json, fastest, judged, load_of, noted, run, save

_ROUNDS = 3
_COLD_GOAL = 1.6
_WARM_GOAL = 2.5
_CHANGED_GOAL_MS = 50
_PEAK_GOAL = 4.0
_RESOLVE_GOAL_US = 20
_BATCH_GOAL_US = 2
_AT_ONCE = 2_000
_CALLS = 5_000
_COUNTERFOIL = str(Path(sys.executable).with_name("counterfoil"))
_CHAIN = "{counterfoil} kb lint --runs {runs} --run {run} --format json"
_STORE = "{counterfoil} kb lint --root {root} --format json"

Key: TypeAlias = tuple[str, str, int | None]
"""A finding by code, path below the root of its store, and line."""

_PARSERS = {
    "yaml-rs": ("yaml_rs", "loads"),
    "py-yaml12": ("yaml12", "parse_yaml"),
}
_SCALARS = "a: no\nb: 2024-05-01\nc: 007\nd: 1e3\ne: 1_000\nf: 12:30\ng: 0b1\nh: ~\ni: 0x1F\n"
_SCALARS_READ = {
    "a": "no",
    "b": "2024-05-01",
    "c": 7,
    "d": 1000.0,
    "e": "1_000",
    "f": "12:30",
    "g": "0b1",
    "h": None,
    "i": 31,
}
_EXTENSIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_MATH
    | pyromark.Options.ENABLE_WIKILINKS
)


@dataclass(slots=True)
class Floors:
    """Seconds of one pass over all pages; `others` are floors that no goal stands on."""

    walk: float = 0.0
    stat: float = 0.0
    read: float = 0.0
    frontmatter: float = 0.0
    markdown: float = 0.0
    others: dict[str, float] = field(default_factory=dict)
    foreign: float = 0.0

    @property
    def work(self) -> float:
        """What a cold lint cannot do without: walk with stat, read, and both parses."""
        return self.stat + self.read + self.frontmatter + self.markdown


def walk(roots: Iterable[Path]) -> list[str]:
    """Return the paths of all Markdown files below `roots`, their kind as the walk says."""
    found: list[str] = []
    pending = [str(root) for root in roots]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                elif entry.name.endswith(".md"):
                    found.append(entry.path)
    return found


def walk_with_stat(roots: Iterable[Path]) -> list[tuple[str, os.stat_result]]:
    """Return what `walk` does, and what each file's inode says."""
    found: list[tuple[str, os.stat_result]] = []
    pending = [str(root) for root in roots]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                elif entry.name.endswith(".md"):
                    found.append((entry.path, entry.stat(follow_symlinks=False)))
    return found


def _read_all(files: Iterable[tuple[str, os.stat_result]]) -> list[bytes]:
    read: list[bytes] = []
    for path, status in files:
        file = os.open(path, os.O_RDONLY)
        read.append(os.read(file, status.st_size + 1))
        os.close(file)
    return read


def _split(content: bytes) -> tuple[str, str]:
    """Return frontmatter and body; every page that was made has both."""
    end = content.index(b"\n---\n", 3)
    return content[4 : end + 1].decode(), content[end + 5 :].decode()


def parsers() -> tuple[dict[str, Callable[[str], Any]], dict[str, Callable[[str], Any]]]:
    """Return the YAML parsers here that read the scalars of YAML 1.2 rightly, and the rest."""
    right: dict[str, Callable[[str], Any]] = {}
    wrong: dict[str, Callable[[str], Any]] = {}
    for name, (module, function) in _PARSERS.items():
        try:
            parse = getattr(import_module(module), function)
        except ModuleNotFoundError:
            continue
        is_right = all(
            parse(f"{line}\n") == {line[0]: _SCALARS_READ[line[0]]}
            for line in _SCALARS.split("\n")[:-1]
        )
        (right if is_right else wrong)[name] = parse
    return right, wrong


def _parse_markdown(bodies: Iterable[str], options: pyromark.Options) -> None:
    read = pyromark.events_with_range
    for body in bodies:
        deque(read(body, options=options), maxlen=0)


def _parse_yaml(fronts: Iterable[str], parse: Callable[[str], Any]) -> None:
    for front in fronts:
        parse(front)


def _timed(work: Callable[..., Any], *arguments: object) -> tuple[float, Any]:
    began = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - began, result


def floors(roots: Sequence[Path]) -> Floors:
    """Measure one pass of each floor; bodies are held a few thousand at a time."""
    found = Floors()
    right, wrong = parsers()
    yaml = dict.fromkeys({**right, **wrong}, 0.0)
    extended = "markdown, with tables, footnotes, math, wikilinks"
    found.others[extended] = 0.0
    with foreign_load() as foreign:
        found.walk, _ = _timed(walk, roots)
        found.stat, files = _timed(walk_with_stat, roots)
        for first in range(0, len(files), _AT_ONCE):
            taken, contents = _timed(_read_all, files[first : first + _AT_ONCE])
            found.read += taken
            fronts, bodies = zip(*map(_split, contents), strict=True)
            for name, parse in {**right, **wrong}.items():
                yaml[name] += _timed(_parse_yaml, fronts, parse)[0]
            found.markdown += _timed(_parse_markdown, bodies, pyromark.Options(0))[0]
            found.others[extended] += _timed(_parse_markdown, bodies, _EXTENSIONS)[0]
    found.foreign = foreign.cores
    found.frontmatter = min((yaml[name] for name in right), default=0.0)
    found.others |= {
        f"frontmatter, {name}{'' if name in right else ' (reads some scalars wrongly)'}": seconds
        for name, seconds in yaml.items()
    }
    return found


@dataclass(slots=True)
class Product:
    """Every run of the command, by what was done before it."""

    cold: list[Ran] = field(default_factory=list)
    warm: list[Ran] = field(default_factory=list)
    changed: list[Ran] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class _Lint:
    """The command on one corpus, and the state of the disk that it finds."""

    def __init__(self, corpus: Corpus, template: str) -> None:
        self._corpus = corpus
        values = {
            "counterfoil": _COUNTERFOIL,
            "runs": str(corpus.directory / "runs"),
            "run": corpus.newest,
            "root": str(corpus.store(corpus.newest)),
        }
        self.command = [part.format(**values) for part in shlex.split(template)]
        busy = {one.path for one in corpus.planted_in(corpus.newest)}
        store = corpus.store(corpus.newest)
        paths = sorted(walk([store / "knowledge"]))
        self._page = next(Path(p) for p in paths if str(Path(p).relative_to(store)) not in busy)
        self._text = self._page.read_bytes()

    def forget(self) -> None:
        """Delete the caches of all stores."""
        stores = [self._corpus.store(run) for run in self._corpus.runs]
        for folder in (*stores, self._corpus.directory, self._corpus.directory / "runs"):
            for path in (folder / ".counterfoil").glob("index.db*"):
                path.unlink()

    def change(self) -> Key:
        """Add a broken link to one page and return the finding that it makes."""
        self._page.write_bytes(self._text + b"\nSee [[absent-since-now]].\n")
        line = self._text.count(b"\n") + 2
        path = self._page.relative_to(self._corpus.store(self._corpus.newest))
        return ("broken-link", str(path), line)

    def restore(self) -> None:
        self._page.write_bytes(self._text)

    def run(self) -> Ran:
        return run(self.command)

    def measure(self, product: Product) -> None:
        """Run the command in each state of the disk once, once more with one page changed."""
        self.forget()
        product.cold.append(self.run())
        product.warm.append(self.run())
        new = self.change()
        try:
            product.changed.append(self.run())
            if new not in set(findings(product.changed[-1])):
                product.faults.append("the changed page's broken link was not found")
        finally:
            self.restore()
        product.changed.append(self.run())
        if new in set(findings(product.changed[-1])):
            product.faults.append("a broken link that is gone was found")
        product.warm.append(self.run())
        same = {tuple(findings(one)) for one in (*product.cold, *product.warm)}
        if len(same) != 1:
            product.faults.append("cold and warm runs differ in their findings")


def findings(ran: Ran) -> list[Key]:
    """Return the findings of the JSON that the command printed, infos left out.

    Raises:
        SystemExit: when it printed something else.
    """
    try:
        found = json.loads(ran.output)["findings"]
    except (ValueError, TypeError, KeyError):
        said = (ran.errors or ran.output)[-500:]
        raise SystemExit(f"no findings in JSON, exit code {ran.exit_code}: {said!r}") from None
    return sorted(
        (one["code"], _below_store(one["path"]), one["line"])
        for one in found
        if one["severity"] != "info"
    )


def _below_store(path: str) -> str:
    """Return `path` below the root of its store, however it was written."""
    head, mark, tail = path.rpartition("knowledge-base/")
    return tail if mark else head or path


def recall(planted: Sequence[Planted], found: Sequence[Key]) -> list[Figure]:
    """Hold what was found against what was planted, by code, path and line."""
    wanted = {(one.code, one.path, one.line) for one in planted}
    missed = Counter(code for code, _, _ in wanted - set(found))
    beyond = Counter(code for code, _, _ in set(found) - wanted)
    return [
        at_least(f"planted faults found, of {len(wanted)}", 1 - missed.total() / len(wanted), 1),
        at_most("findings beyond the planted ones", beyond.total(), 0),
        *(Figure(f"missed: {code}", str(count)) for code, count in sorted(missed.items())),
        *(Figure(f"beyond: {code}", str(count)) for code, count in sorted(beyond.items())),
    ]


def _floor_figures(passes: Sequence[Floors], pages: int) -> list[Figure]:
    best = _best(passes)
    named = {
        "(a) walk": best.walk,
        "(b) walk with stat": best.stat,
        "(c) read": best.read,
        "(d) frontmatter": best.frontmatter,
        "(e) Markdown": best.markdown,
        "b + c + d + e": best.work,
        **{f"aside: {name}": seconds for name, seconds in best.others.items()},
    }
    return [
        Figure(f"{name}: us a page ({seconds:.2f} s)", f"{seconds / pages * 1e6:.1f}")
        for name, seconds in named.items()
    ]


def _best(passes: Sequence[Floors]) -> Floors:
    """Return the shortest time of each floor, of undisturbed passes where there are some."""
    used = [one for one in passes if one.foreign <= BUSY] or passes
    return Floors(
        walk=min(one.walk for one in used),
        stat=min(one.stat for one in used),
        read=min(one.read for one in used),
        frontmatter=min(one.frontmatter for one in used),
        markdown=min(one.markdown for one in used),
        others={name: min(one.others[name] for one in used) for name in used[0].others},
        foreign=min(one.foreign for one in used),
    )


def _product_figures(product: Product, best: Floors, pages: int) -> list[Figure]:
    is_calm = best.foreign <= BUSY
    cold, warm, changed = map(fastest, (product.cold, product.warm, product.changed))
    more = None if changed is None or warm is None else (changed - warm) * 1e3
    peaks = {"cold": product.cold, "nothing changed": product.warm}
    return [
        noted("cold: s", cold, "{:.2f}"),
        noted("nothing changed: s", warm, "{:.2f}"),
        noted("one page changed: s", changed, "{:.2f}"),
        judged("cold / (b + c + d + e)", _ratio(cold, best.work, is_calm), _COLD_GOAL),
        judged("nothing changed / (b)", _ratio(warm, best.stat, is_calm), _WARM_GOAL),
        judged("one page changed - nothing changed", more, _CHANGED_GOAL_MS, " ms"),
        *(
            judged(f"peak memory a page, {name}", _peak(runs) / pages / 1e3, _PEAK_GOAL, " kB")
            for name, runs in peaks.items()
        ),
        *(Figure("fault", fault) for fault in product.faults),
    ]


def _ratio(seconds: float | None, floor: float, is_calm: bool) -> float | None:  # noqa: FBT001
    return seconds / floor if seconds is not None and is_calm else None


def _peak(runs: Sequence[Ran]) -> int:
    """Return the most that any run held; load by others does not change it."""
    return max(one.peak for one in runs)


def open_resolver(corpus: Corpus) -> Callable[[str], object]:
    """Return a function that resolves one handle in the loaded chain of the newest run.

    It loads the chain once; the function that it returns reads no file.
    """
    chain = counterfoil.RunStores(corpus.directory / "runs").load_chain(corpus.newest)
    return partial(counterfoil.resolve_handle, chain)


def _handles(corpus: Corpus) -> Iterator[str]:
    """Yield the handles that pages of the newest run cite, again and again."""
    paths = sorted(walk([corpus.store(corpus.newest) / "knowledge"]))[:2_000]
    cited = [
        line.removeprefix("  - ")
        for path in paths
        for line in _split(Path(path).read_bytes())[0].split("\n")
        if line.startswith("  - ") and '"' not in line
    ]
    while True:
        yield from cited


def resolving(corpus: Corpus) -> list[Figure]:
    """Measure single calls one by one, and the mean of a call in a loop."""
    resolve = open_resolver(corpus)
    handles = [handle for handle, _ in zip(_handles(corpus), range(_CALLS), strict=False)]
    taken = [_timed(resolve, handle)[0] * 1e6 for handle in handles]
    whole, _ = _timed(lambda: deque(map(resolve, handles), maxlen=0))
    return [
        at_most("resolving one handle, p50", median(taken), _RESOLVE_GOAL_US, " us"),
        Figure("resolving one handle, p99", f"{quantiles(taken, n=100)[98]:.1f} us"),
        at_most("resolving in a loop, each", whole / _CALLS * 1e6, _BATCH_GOAL_US, " us"),
    ]


def _measure(corpus: Corpus, given: argparse.Namespace) -> None:
    roots = [corpus.store(name) / "knowledge" for name in corpus.runs]
    floors(roots)  # brings every file into the page cache
    passes: list[Floors] = []
    product = Product()
    lint = _Lint(corpus, given.command or (_CHAIN if len(corpus.runs) > 1 else _STORE))
    for _ in range(given.rounds):
        passes.append(floors(roots))
        if not given.only_floors:
            lint.measure(product)
    best = _best(passes)
    figures = _floor_figures(passes, corpus.pages)
    if not given.only_floors:
        figures += _product_figures(product, best, corpus.pages)
        figures += recall(corpus.planted_in(corpus.newest), findings(product.cold[0]))
        figures += resolving(corpus)
    title = (
        f"linting {corpus.pages:,} pages of {len(corpus.runs)} runs, {corpus.bytes / 1e6:.0f} MB"
    )
    runs = [*product.cold, *product.warm, *product.changed]
    show(title, figures, max(best.foreign, load_of(runs) if runs else 0.0))
    if given.json:
        raw = {"floors": [asdict(one) for one in passes], "product": _raw(product)}
        save(given.json, f"`bench/knowledge.py`: {title}", machine(), figures, raw)


def _raw(product: Product) -> dict[str, object]:
    states = {"cold": product.cold, "warm": product.warm, "changed": product.changed}
    return {state: [as_json(one) for one in runs] for state, runs in states.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--rounds", type=int, default=_ROUNDS)
    parser.add_argument("--keep", type=Path, help="make the pages here, or use those here")
    parser.add_argument("--command", help="instead of `kb lint`; may hold {runs} {run} {root}")
    parser.add_argument("--only-floors", action="store_true")
    parser.add_argument("--json", type=Path, help="write the table and all times here")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = given.keep
        if folder is None:
            made_in = tempfile.TemporaryDirectory(prefix="counterfoil-bench-")
            folder = Path(stack.enter_context(made_in))
        _measure(made(folder, pages=given.pages, runs=given.runs), given)


if __name__ == "__main__":
    main()
