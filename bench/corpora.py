"""Invented stores of pages, of any size, the same for the same seed, with faults planted in them.

A store chain is `runs/<run>/knowledge-base/` (knowledge.md sections 1 and 2), each run the
child of the one before. A page has about 400 bytes of frontmatter with three citations,
and a body with headings, lists, code, a table and five links, others stand in its code and
count for nothing. Every reference resolves, but for the faults that are planted: what a
lint says beyond the manifest is a false alarm, what it leaves out is a miss.

The twins are pages for other tools: the same text twice, once with relative Markdown
links (`plain/docs`), once with wikilinks (`wiki/knowledge`).

    python bench/corpora.py /tmp/stores --pages 100000 --runs 6
    python bench/corpora.py /tmp/twins --pages 10000 --twins
"""

import argparse
import json
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

PAGES = 100_000
RUNS = 6
PAGE_BYTES = 4_000
FAULT_RATE = 0.01
"""The share of pages that hold one planted fault."""

_MANIFEST = "manifest.json"
_SOURCES = 200
_PAGES_PER_FOLDER = 100
_CREATED_AT = "2026-03-01T09:00:00.000Z"
_CODES = (
    "missing-citation",
    "self-citation",
    "malformed-citation",
    "broken-link",
    "ambiguous-link",
    "ambiguous-citation",
)
_MALFORMED = ("42", '""', '"here::"')
_WORDS = (
    "account", "anchor", "archive", "batch", "bearing", "border", "bridge", "buffer", "cache",
    "carrier", "channel", "charge", "cluster", "column", "cursor", "delta", "digest", "drift",
    "engine", "export", "fallback", "fence", "filter", "frame", "gauge", "grid", "harbour",
    "index", "intake", "journal", "kernel", "label", "lattice", "ledger", "lease", "margin",
    "marker", "mirror", "module", "notice", "offset", "outlet", "parcel", "pattern", "quota",
    "queue", "record", "region", "replica", "retry", "ring", "route", "sample", "schema",
    "shard", "signal", "sketch", "socket", "spool", "stage", "tariff", "token", "valve", "window",
)  # fmt: skip
_FILLING = (
    "the", "a", "of", "and", "to", "in", "before", "after", "reads", "writes", "holds", "keeps",
    "drops", "moves", "when", "because", "which", "it", "is", "was", "not", "only", "every",
    "first", "last", "each", "so", "that", "now", "with", "größer", "naïve", "頁", "été",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A fault that was written on purpose; `path` is below the root of the run's store."""

    run: str
    path: str
    line: int
    code: str
    written: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What was made: the runs from the oldest to the newest, and every planted fault."""

    directory: Path
    runs: tuple[str, ...]
    pages: int
    bytes: int
    seed: int
    planted: tuple[Planted, ...]

    @property
    def newest(self) -> str:
        return self.runs[-1]

    def store(self, run: str) -> Path:
        return self.directory / "runs" / run / "knowledge-base"

    def planted_in(self, run: str) -> tuple[Planted, ...]:
        return tuple(one for one in self.planted if one.run == run)


class _Page(NamedTuple):
    """What a page is called; all names of all pages differ, but for those meant to be equal."""

    run: int
    place: int
    id: str
    title: str
    stem: str
    alias: str
    folder: str

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.stem}.md"


class _Link(NamedTuple):
    """A link before it is known in which syntax it is written."""

    wiki: str
    label: str
    href: str


_Piece: TypeAlias = str | _Link
_Write: TypeAlias = Callable[[_Link], str]


def _as_wikilink(link: _Link) -> str:
    return f"[[{link.wiki}]]"


def _as_relative(link: _Link) -> str:
    return f"[{link.label}]({link.href})"


class _Draft(NamedTuple):
    """A page as pieces; `fault` is the code of its fault and the piece or line that is it."""

    page: _Page
    pieces: list[_Piece]
    fault: tuple[str, _Piece] | None

    def text(self, write: _Write) -> str:
        return "".join(one if isinstance(one, str) else write(one) for one in self.pieces)

    def planted(self, text: str, write: _Write, run: str, pages: str) -> Planted | None:
        """Return the fault with the line on which it stands in `text`."""
        if self.fault is None:
            return None
        code, piece = self.fault
        written = piece if isinstance(piece, str) else write(piece)
        line = text[: text.index(written)].count("\n") + 1
        path = f"{pages}/{self.page.path}"
        return Planted(run=run, path=path, line=line, code=code, written=written.strip(" -\n"))


class _Prose:
    """Ready pieces of Markdown that pages are put together from."""

    def __init__(self, rng: random.Random) -> None:
        self._random = rng
        self._pool = [*_WORDS, *_FILLING, *_FILLING]
        sentences = [self._sentence() for _ in range(4_000)]
        self.paragraphs = [" ".join(rng.choices(sentences, k=4)) for _ in range(3_000)]
        self.items = [f"- {sentence}" for sentence in sentences[:1_000]]
        self.codes = [self._code() for _ in range(500)]
        self.rows = [f"| {self._words(2)} | {rng.randrange(9_999)} |" for _ in range(500)]
        self.summaries = [self._words(12) for _ in range(500)]

    def _words(self, count: int) -> str:
        return " ".join(self._random.choices(self._pool, k=count))

    def _sentence(self) -> str:
        form = self._random.randrange(12)
        tail = ""
        if form == 0:
            tail = f" as `{self._words(1)}_{self._words(1)}()` says"
        elif form == 1:
            tail = f", **{self._words(2)}** and *{self._words(1)}*"
        elif form == 2:
            tail = f" ([{self._words(2)}](https://example.org/{self._random.randrange(999)}))"
        return f"{self._words(self._random.randint(6, 16)).capitalize()}{tail}."

    def _code(self) -> str:
        lines = (
            f"{'    ' * self._random.randrange(3)}{self._words(1)} = {self._words(1)}[{place}]"
            for place in range(self._random.randint(4, 12))
        )
        return "\n".join(lines)


class _World:
    """All pages of all runs, who may refer to whom, and what is wrong where."""

    def __init__(self, sizes: Sequence[int], page_bytes: int, rate: float, seed: int) -> None:
        self._random = random.Random(seed)
        self._sizes = sizes
        self._page_bytes = page_bytes
        least = min(sizes)
        self._twins = min(25, least // 20) if len(sizes) > 1 else 0
        self._pairs = min(25, least // 20)
        self.pages = [self._pages_of(run) for run in range(len(sizes))]
        self._prose = _Prose(self._random)
        self._faults = [self._faults_of(run, rate) for run in range(len(sizes))]

    @property
    def _first_free(self) -> int:
        """The place from which on a page has no name in common with another."""
        return 2 * self._twins + 2 * self._pairs

    def _pages_of(self, run: int) -> list[_Page]:
        before = sum(self._sizes[:run])
        return [self._page(run, place, before + place) for place in range(self._sizes[run])]

    def _page(self, run: int, place: int, number: int) -> _Page:
        one, two = _WORDS[number % 64], _WORDS[number // 64 % 64]
        first_pair, past_pairs = 2 * self._twins, self._first_free
        owner = number
        if run and place < self._twins:
            owner = number - self._sizes[run - 1] + self._twins
        alias = f"{one[:2].upper()}{two[:2].upper()} {number}"
        if first_pair <= place < past_pairs:
            alias = f"Common name {run}.{(place - first_pair) // 2}"
        folder = place // _PAGES_PER_FOLDER
        return _Page(
            run=run,
            place=place,
            id=f"{_WORDS[owner % 64]}-{_WORDS[owner // 64 % 64]}-{owner:06}",
            title=f"{one.capitalize()} of the {two} {number}",
            stem=f"{two}-n{number:06}",
            alias=alias,
            folder=f"{_WORDS[folder // 20 % 64]}/{_WORDS[folder % 64]}-{folder}",
        )

    def _faults_of(self, run: int, rate: float) -> dict[int, str]:
        codes = _CODES if run and self._twins else _CODES[:-1]
        free = range(self._first_free, self._sizes[run])
        places = self._random.sample(free, min(len(free), round(rate * self._sizes[run])))
        return {place: codes[turn % len(codes)] for turn, place in enumerate(places)}

    def drafts(self, run: int, only: str | None = None) -> Iterator[_Draft]:
        """Yield the pages of `run`; with `only`, every fault is of that kind."""
        for page in self.pages[run]:
            code = self._faults[run].get(page.place)
            yield self._draft(page, only if code and only else code)

    def _draft(self, page: _Page, code: str | None) -> _Draft:
        cites = [f"  - {self._cited(page)}\n" for _ in range(3)]
        links = [self._next(page), *(self._link(page) for _ in range(4))]
        fault: tuple[str, _Piece] | None = None
        if code in {"broken-link", "ambiguous-link"}:
            links[2] = self._faulty_link(page, code)
            fault = (code, links[2])
        elif code is not None:
            cites[1] = f"  - {self._faulty_citation(page, code)}\n"
            fault = (code, cites[1])
        front = self._frontmatter(page, cites)
        return _Draft(page, [front, *self._body(page, links, len(front))], fault)

    def _other(self, page: _Page, run: int) -> _Page:
        """Return a page of `run` that is not `page` and whose names are its alone."""
        pages = self.pages[run]
        free = self._first_free
        found = pages[free + int(self._random.random() * (len(pages) - free))]
        if found is page:
            return pages[found.place - 1 if found.place > free else found.place + 1]
        return found

    def _some_run(self, page: _Page, share: float) -> int:
        """Return the run of `page`, or in a `share` of cases an ancestor of it."""
        if page.run and self._random.random() < share:
            return int(self._random.random() * page.run)
        return page.run

    def _cited(self, page: _Page) -> str:
        run = self._some_run(page, 0.4)
        target = self._other(page, run).id
        if self._random.random() < 0.9:
            return target
        return f"here::{target}" if run == page.run else f"inherited:{run_name(run)}::{target}"

    def _faulty_citation(self, page: _Page, code: str) -> str:
        if code == "missing-citation":
            return f"absent-{page.stem}"
        if code == "self-citation":
            return page.id
        if code == "malformed-citation":
            return self._random.choice(_MALFORMED)
        return self.pages[page.run][self._random.randrange(self._twins)].id

    def _faulty_link(self, page: _Page, code: str) -> _Link:
        if code == "broken-link":
            name = f"absent-{page.stem}"
            return _Link(f"{name}|what is not", "what is not", f"../../{page.folder}/{name}.md")
        pair = self._random.randrange(self._pairs)
        name = f"Common name {page.run}.{pair}"
        return _Link(name, name, f"../../{page.path}")

    def _next(self, page: _Page) -> _Link:
        """Return a link to the next page of the run: no page is an orphan."""
        pages = self.pages[page.run]
        target = pages[(page.place + 1) % len(pages)]
        shared = target.place < 2 * self._twins
        handle = f"here::{target.id}" if shared else target.id
        return _Link(f"{handle}|next", "next", f"../../{target.path}")

    def _link(self, page: _Page) -> _Link:
        form = int(self._random.random() * 10)
        # Only ids are known to reach another run's page; other names stay in the run.
        run = self._some_run(page, 0.3) if form < 6 else page.run
        target = self._other(page, run)
        href = f"../../{target.path}"
        if form < 3:
            return _Link(target.id, target.id, href)
        if form < 6:
            label = self._random.choice(_WORDS)
            tail = f"#Details|{label}" if form == 5 else f"|{label}"
            return _Link(target.id + tail, label, href)
        name = (target.title, target.title, target.stem, target.alias)[form - 6]
        return _Link(f"{name}#Details" if form == 7 else name, name, href)

    def _frontmatter(self, page: _Page, cites: list[str]) -> str:
        rng = self._random
        tags = ", ".join(rng.sample(_WORDS, 3))
        against = ""
        if rng.random() < 0.05:
            against = f"contradicts: {self._other(page, page.run).id}\n"
        return (
            f'---\nid: {page.id}\ntitle: "{page.title}"\nkind: {rng.choice(_KINDS)}\n'
            f'tags: [{tags}]\naliases: ["{page.alias}"]\ncites:\n{"".join(cites)}{against}'
            f"sources: {_source(rng.randrange(_SOURCES))}\n"
            f"summary: {rng.choice(self._prose.summaries)}\n"
            f"createdAt: 2026-03-{rng.randint(1, 28):02}  # by hand\n"
            f"reviewed: no\nrevision: {rng.randrange(90)}\n---\n"
        )

    def _body(self, page: _Page, links: list[_Link], used: int) -> list[_Piece]:
        rng, prose = self._random, self._prose
        paragraphs = prose.paragraphs
        trap = _Link(f"never-{page.stem}", "never", f"../../never/{page.stem}.md")
        choice = rng.choice
        parts: list[_Piece] = [
            f"\n# {page.title}\n\n{choice(paragraphs)} After this, ", links[0], ".\n\n",
            f"## Background\n\n{choice(paragraphs)} See ", links[1], " for more, and ", links[2],
            f" for less.[^{_source(rng.randrange(_SOURCES))}]\n\n",
            "\n".join(rng.choices(prose.items, k=4)), "\n- also ", links[3], "\n\n",
            f"## Details\n\n```python\n{choice(prose.codes)}\n# ", trap, "\n```\n\n",
            f"{choice(paragraphs)} It is written `", trap, "` there.\n\n",
            "## Figures\n\n| what | count |\n| --- | --- |\n",
            "\n".join(rng.choices(prose.rows, k=5)), "\n| ",
            links[4]._replace(wiki=links[4].wiki.replace("|", r"\|")), " | 0 |\n\n",
        ]  # fmt: skip
        size = used + sum(len(one) for one in parts if isinstance(one, str)) + 150
        wanted = self._page_bytes * (0.7 + 0.6 * rng.random())
        parts.append("## Open questions\n")
        while size < wanted:
            more = choice(paragraphs)
            parts.append(f"\n{more}\n")
            size += len(more) + 2
        return parts


_KINDS = ("note", "claim", "method", "result")


def _source(number: int) -> str:
    return f"source-{number:03}"


def run_name(place: int) -> str:
    """Return the id of the run that is `place` generations from the oldest."""
    return f"run-{place}"


def make(
    directory: Path,
    *,
    pages: int = PAGES,
    runs: int = RUNS,
    page_bytes: int = PAGE_BYTES,
    rate: float = FAULT_RATE,
    seed: int = 1,
) -> Corpus:
    """Write a chain of run stores below `directory` and return it with what was planted."""
    sizes = [pages // runs + (place < pages % runs) for place in range(runs)]
    world = _World(sizes, page_bytes, rate, seed)
    planted: list[Planted] = []
    written = 0
    for place in range(runs):
        run = run_name(place)
        store = directory / "runs" / run / "knowledge-base"
        _write_records(store, run, run_name(place - 1) if place else None)
        written += _write_pages(store, "knowledge", run, world.drafts(place), _as_wikilink, planted)
    corpus = Corpus(
        directory=directory,
        runs=tuple(map(run_name, range(runs))),
        pages=pages,
        bytes=written,
        seed=seed,
        planted=tuple(planted),
    )
    save_manifest(corpus)
    return corpus


@dataclass(frozen=True, slots=True)
class Twins:
    """The same pages for us and for others; in both only links are broken, at the same pages."""

    wiki: Path
    plain: Path
    pages: int
    links: int
    wiki_planted: tuple[Planted, ...]
    plain_planted: tuple[Planted, ...]


def make_twins(
    directory: Path, *, pages: int = 10_000, rate: float = FAULT_RATE, seed: int = 1
) -> Twins:
    """Write `wiki/knowledge` and `plain/docs` below `directory`, five links on each page."""
    drafts = list(_World([pages], PAGE_BYTES, rate, seed).drafts(0, only="broken-link"))
    wiki, plain = directory / "wiki", directory / "plain"
    wiki_planted: list[Planted] = []
    plain_planted: list[Planted] = []
    _write_sources(wiki)
    _write_pages(wiki, "knowledge", "", drafts, _as_wikilink, wiki_planted)
    _write_pages(plain, "docs", "", drafts, _as_relative, plain_planted)
    return Twins(wiki, plain, pages, 5 * pages, tuple(wiki_planted), tuple(plain_planted))


def save_manifest(corpus: Corpus) -> None:
    """Write what was made beside it, so that a corpus can be used again."""
    values = {**asdict(corpus), "directory": None}
    (corpus.directory / _MANIFEST).write_text(json.dumps(values), "utf-8")


def load_manifest(directory: Path) -> Corpus | None:
    """Return the corpus that was made in `directory`, if one was."""
    path = directory / _MANIFEST
    if not path.is_file():
        return None
    values = json.loads(path.read_text("utf-8"))
    values |= {
        "directory": directory,
        "runs": tuple(values["runs"]),
        "planted": tuple(Planted(**one) for one in values["planted"]),
    }
    return Corpus(**values)


def made(directory: Path, **sizes: int) -> Corpus:
    """Return the corpus of these `sizes` in `directory`; made now unless it is there.

    Raises:
        SystemExit: when another corpus stands there.
    """
    found = load_manifest(directory)
    if found is None:
        return make(directory, **sizes)
    here = {"pages": found.pages, "runs": len(found.runs)}
    if here != {name: sizes[name] for name in here}:
        raise SystemExit(f"{directory} holds a corpus of {here}; give another directory")
    return found


def _write_records(store: Path, run: str, parent: str | None) -> None:
    _write_sources(store)
    lineage = {"run": run, "parent": parent, "createdAt": _CREATED_AT}
    (store / ".counterfoil" / "lineage.json").write_text(json.dumps(lineage), "utf-8")


def _write_sources(store: Path) -> None:
    (store / ".counterfoil").mkdir(parents=True, exist_ok=True)
    sources = [
        {"id": _source(number), "digest": f"sha256:{number:064x}", "anchors": []}
        for number in range(_SOURCES)
    ]
    registry = {"schema": 1, "sources": sources}
    (store / ".counterfoil" / "sources.json").write_text(json.dumps(registry), "utf-8")


def _write_pages(
    root: Path,
    pages: str,
    run: str,
    drafts: Iterator[_Draft] | list[_Draft],
    write: _Write,
    planted: list[Planted],
) -> int:
    """Write each draft to its file below `root`/`pages` and return the bytes written."""
    size = 0
    below = f"{root}/{pages}"
    folders: set[str] = set()
    for draft in drafts:
        if draft.page.folder not in folders:
            folders.add(draft.page.folder)
            Path(below, draft.page.folder).mkdir(parents=True)
        text = draft.text(write)
        fault = draft.planted(text, write, run, pages)
        if fault is not None:
            planted.append(fault)
        size += _write_file(f"{below}/{draft.page.path}", text.encode())
    return size


def _write_file(path: str, content: bytes) -> int:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        return os.write(file, content)
    finally:
        os.close(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--twins", action="store_true", help="pages for us and for other tools")
    given = parser.parse_args()
    began = time.perf_counter()
    if given.twins:
        twins = make_twins(given.directory, pages=given.pages, seed=given.seed)
        what = f"{twins.pages} pages twice, {twins.links} links, {len(twins.plain_planted)} broken"
    else:
        corpus = make(given.directory, pages=given.pages, runs=given.runs, seed=given.seed)
        what = f"{corpus.pages} pages, {corpus.bytes} bytes, {len(corpus.planted)} faults"
    print(f"{given.directory}: {what}, in {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
