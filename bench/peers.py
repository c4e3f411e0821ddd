"""Our lint against other link checkers, on the same pages in each one's own syntax.

    python bench/peers.py [--only-peers] [--pages 10000] [--rumdl-pages 100000]

`rumdl` (its link rule alone, no cache), `markdownlint-cli2` (three link rules) and
`remark-validate-links` read relative Markdown links; we read the same pages with wikilinks,
and their citations besides. Every run has to report the links that were broken on purpose:
a checker that found none of its files is fast. Each is paired with runs of ours, cold,
before and after it.

The npm packages are installed in `BENCH_NODE_MODULES`, or in a folder that is deleted.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.corpora import Planted, Twins, make_twins
from bench.figures import Figure, at_least, at_most, machine, show
from bench.knowledge import findings
from bench.processes import Ran, as_json, calm, fastest, load_of, run, save

_PACKAGES = {
    "markdownlint-cli2": "0.22.1",
    "markdownlint-rule-relative-links": "3.0.0",
    "remark-cli": "12.0.1",
    "remark-validate-links": "13.1.0",
}
_MARKDOWNLINT = {
    "config": {"default": False, "relative-links": True, "MD051": True, "MD052": True},
    "customRules": ["markdownlint-rule-relative-links"],
    "noBanner": True,
}
_REMARK = {"plugins": [["remark-validate-links", {"repository": False}]]}
_OURS = "{counterfoil} kb lint --root {root} --format json"
_RUMDL_GOAL = 0.8
_MARKDOWNLINT_GOAL = 10
_REMARK_GOAL = 10
_TIMEOUT = 1_800

Place: TypeAlias = tuple[str, int]
"""A broken link: the path of its page below what was linted, and its line."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Another checker: its command, run beside `docs`, and how its report is read."""

    name: str
    command: tuple[str, ...]
    places: Callable[[str], set[Place]]
    verdict: Callable[[float, float], Figure]


def _rumdl_places(output: str) -> set[Place]:
    rows = (json.loads(line) for line in output.split("\n") if line.startswith("{"))
    return {(row["file"], row["line"]) for row in rows if row["rule"] == "MD057"}


def _markdownlint_places(output: str) -> set[Place]:
    found = re.findall(r"^(\S+\.md):(\d+)(?::\d+)? (?:error )?relative-links", output, re.MULTILINE)
    return {(path, int(line)) for path, line in found}


def _remark_places(output: str) -> set[Place]:
    found: set[Place] = set()
    path = ""
    for line in output.split("\n"):
        if line.endswith(".md"):
            path = line.strip()
        elif warned := re.match(r"\s*(\d+):\d+\S*\s+warning\s+Cannot find file", line):
            found.add((path, int(warned[1])))
    return found


def _rumdl_verdict(ours: float, theirs: float) -> Figure:
    return at_most("ours / rumdl", ours / theirs, _RUMDL_GOAL)


def _markdownlint_verdict(ours: float, theirs: float) -> Figure:
    return at_least("markdownlint-cli2 / ours", theirs / ours, _MARKDOWNLINT_GOAL)


def _remark_verdict(ours: float, theirs: float) -> Figure:
    return at_least("remark-validate-links / ours", theirs / ours, _REMARK_GOAL)


def rumdl() -> Peer | None:
    """Return the checker that stands beside this interpreter, if it was installed."""
    program = Path(sys.executable).with_name("rumdl")
    if not program.is_file():
        return None
    ran = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    options = ("--no-config", "--no-cache", "-e", "MD057", "--output-format", "json-lines")
    command = (str(program), "check", *options, "docs")
    return Peer(ran.stdout.strip(), command, _rumdl_places, _rumdl_verdict)


def node_peers(folder: Path) -> list[Peer]:
    """Install what is missing in `folder` and return the checkers; none without npm."""
    if not npm_install(folder, _PACKAGES):
        return []
    programs = folder / "node_modules" / ".bin"
    remark = (str(programs / "remark"), "docs", "--quiet", "--no-stdout", "--no-color")
    lint = (str(programs / "markdownlint-cli2"), "docs/**/*.md")
    names = {name: f"{name} {version}" for name, version in _PACKAGES.items()}
    return [
        Peer(names["markdownlint-cli2"], lint, _markdownlint_places, _markdownlint_verdict),
        Peer(names["remark-validate-links"], remark, _remark_places, _remark_verdict),
    ]


def npm_install(folder: Path, packages: Mapping[str, str]) -> bool:
    """Install those of `packages` that `folder` lacks in this version; False without npm."""
    npm = shutil.which("npm")
    if npm is None:
        return False
    missing = [
        f"{name}@{version}"
        for name, version in packages.items()
        if _installed(folder / "node_modules" / name) != version
    ]
    if missing:
        options = ("--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
        subprocess.run([npm, "install", "--prefix", folder, *options, *missing], check=True)
    return True


def _installed(package: Path) -> str | None:
    path = package / "package.json"
    if not path.is_file():
        return None
    version: str = json.loads(path.read_text("utf-8"))["version"]
    return version


def _prepare(twins: Twins, node: Path) -> None:
    """Put settings and plugins beside the pages: remark looks for plugins where it is run."""
    (twins.plain / ".markdownlint-cli2.jsonc").write_text(json.dumps(_MARKDOWNLINT), "utf-8")
    (twins.plain / ".remarkrc.json").write_text(json.dumps(_REMARK), "utf-8")
    if (node / "node_modules").is_dir():
        (twins.plain / "node_modules").symlink_to(node / "node_modules")


@dataclass(slots=True)
class Pairs:
    """The runs of one peer, and ours before and after each."""

    theirs: list[Ran] = field(default_factory=list)
    ours: list[Ran] = field(default_factory=list)


def _run_ours(twins: Twins, template: str) -> Ran:
    for path in (twins.wiki / ".counterfoil").glob("index.db*"):
        path.unlink()
    counterfoil = str(Path(sys.executable).with_name("counterfoil"))
    values = {"counterfoil": counterfoil, "root": str(twins.wiki)}
    return run([part.format(**values) for part in shlex.split(template)], timeout=_TIMEOUT)


def _paired(peer: Peer, twins: Twins, given: argparse.Namespace) -> Pairs:
    pairs = Pairs()
    for _ in range(given.rounds):
        if not given.only_peers:
            pairs.ours.append(_run_ours(twins, given.command))
        pairs.theirs.append(run(peer.command, cwd=twins.plain, timeout=_TIMEOUT))
        if not given.only_peers:
            pairs.ours.append(_run_ours(twins, given.command))
    return pairs


def _our_places(ran: Ran) -> set[Place]:
    return {
        (path, line or 0)
        for code, path, line in findings(ran)
        if code in {"broken-link", "ambiguous-link"}
    }


def _found(who: str, planted: Sequence[Planted], places: set[Place]) -> Figure:
    """Say how many planted links were reported, and what was reported beyond them."""
    wanted = {(one.path, one.line) for one in planted}
    missed, beyond = sorted(wanted - places), sorted(places - wanted)
    said = f"{len(wanted & places)} of {len(wanted)}"
    if missed:
        said += f", first missed {missed[0][0]}:{missed[0][1]}"
    if beyond:
        said += f", {len(beyond)} beyond, first {beyond[0][0]}:{beyond[0][1]}"
    return Figure(f"{who}: broken links found", said, "all, no other", not missed and not beyond)


def _cost(who: str, runs: Sequence[Ran], pages: int) -> list[Figure]:
    used = calm(runs)
    peak = f"{max(one.peak for one in runs) / 1e6:.0f} MB"
    if not used:
        said = f"inconclusive: others used {load_of(runs):.2f} cores or more"
        return [Figure(f"{who}: us a page", said), Figure(f"{who}: peak memory", peak)]
    best = min(used, key=lambda one: one.seconds)
    processor = min(one.processor_seconds for one in used)
    return [
        Figure(f"{who}: us a page ({best.seconds:.2f} s)", f"{best.seconds / pages * 1e6:.0f}"),
        Figure(f"{who}: processor time, us a page", f"{processor / pages * 1e6:.0f}"),
        Figure(f"{who}: peak memory", peak),
    ]


def _figures(peer: Peer, pairs: Pairs, twins: Twins) -> list[Figure]:
    theirs = peer.places(pairs.theirs[0].output + pairs.theirs[0].errors)
    figures = [
        *_cost(peer.name, pairs.theirs, twins.pages),
        _found(peer.name, twins.plain_planted, theirs),
    ]
    if not pairs.ours:
        return figures
    ours = _our_places(pairs.ours[0])
    figures += [
        *_cost("ours, cold", pairs.ours, twins.pages),
        _found("ours", twins.wiki_planted, ours),
    ]
    our_best, their_best = fastest(pairs.ours), fastest(pairs.theirs)
    if our_best is None or their_best is None:
        return [*figures, Figure("ratio", "inconclusive")]
    if not theirs:
        return [*figures, Figure("ratio", "none: the peer did not do the work")]
    return [*figures, peer.verdict(our_best, their_best)]


def _compare(peer: Peer, twins: Twins, given: argparse.Namespace) -> None:
    """Print one table, and keep the times that it was made from when asked to."""
    pairs = _paired(peer, twins, given)
    figures = _figures(peer, pairs, twins)
    title = f"{peer.name} and ours on {twins.pages:,} pages with {twins.links:,} links"
    show(title, figures, load_of([*pairs.theirs, *pairs.ours]))
    raw = {
        "theirs": [as_json(one) for one in pairs.theirs],
        "ours": [as_json(one) for one in pairs.ours],
    }
    if given.json:
        name = peer.name.partition(" ")[0]
        target = given.json.with_stem(f"{given.json.stem}-{name}")
        save(target, f"`bench/peers.py`: {title}", machine(), figures, raw)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=10_000, help="for the checkers in Node")
    parser.add_argument("--rumdl-pages", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--command", default=_OURS, help="our command; may hold {root}")
    parser.add_argument("--only-peers", action="store_true")
    parser.add_argument("--json", type=Path, help="write each table and its times beside this")
    given = parser.parse_args()
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="counterfoil-bench-")
        folder = Path(stack.enter_context(temporary))
        node = Path(os.environ.get("BENCH_NODE_MODULES") or folder / "node")
        node.mkdir(parents=True, exist_ok=True)
        fast, slow = rumdl(), node_peers(node)
        for peers, pages in (([fast] if fast else [], given.rumdl_pages), (slow, given.pages)):
            if not (peers and pages):
                print(f"{'node' if peers is slow else 'rumdl'}: not measured, not installed")
                continue
            twins = make_twins(folder / f"twins-{pages}", pages=pages)
            _prepare(twins, node)
            for peer in peers:
                _compare(peer, twins, given)
            shutil.rmtree(twins.plain.parent)


if __name__ == "__main__":
    main()
