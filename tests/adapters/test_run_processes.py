"""Processes that make one run at once, and processes that are killed while making one."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import pytest

import counterfoil
from counterfoil.adapters.files.building import UNFINISHED
from counterfoil.adapters.files.run_lineage import FileLineage
from counterfoil.adapters.files.run_places import FileRunPlaces
from counterfoil.adapters.files.scaffold import init_store, scaffold_of
from counterfoil.engine.run_stores import Runs

SOURCE = Path(str(counterfoil.__file__)).parents[1]

_STORES = """
import os, sys
from pathlib import Path
from counterfoil.adapters.files.run_lineage import FileLineage
from counterfoil.adapters.files.run_places import FileRunPlaces
from counterfoil.core.errors import LineageConflictError
from counterfoil.engine.run_stores import Runs

def stores(root):
    places = FileRunPlaces(Path(root))
    return Runs(places, FileLineage(places, now=lambda: "2026-03-01T09:00:00.000Z"))
"""

# Makes each run that it is told, as a child of the parent that it was begun with.
MAKER = (
    _STORES
    + """
root, parent, locks = sys.argv[1:]
if locks == "none":
    from counterfoil.adapters.files import making
    making._try_lock = lambda _: True
print("ready", flush=True)
for line in sys.stdin:
    try:
        stores(root).init(line.strip(), parent)
        print("made", flush=True)
    except LineageConflictError as error:
        print("refused", str(error), flush=True)
"""
)

# Makes a run in a child that kills itself before its n-th call that changes the disk.
VICTIMS = (
    _STORES
    + """
import signal

def die_at(number):
    left = [number]
    def deadly(call):
        def wrapped(*arguments, **named):
            if call is not opened or arguments[1] & os.O_CREAT:
                if not left[0]:
                    os.kill(os.getpid(), signal.SIGKILL)
                left[0] -= 1
            return call(*arguments, **named)
        return wrapped
    opened = os.open
    for name in ("open", "mkdir", "write", "fsync", "replace", "link", "unlink", "rmdir"):
        setattr(os, name, deadly(getattr(os, name)))

from counterfoil.adapters.files import disk
disk._sync = lambda file: os.fsync(file)
for line in sys.stdin:
    root, number = line.rsplit(maxsplit=1)
    if not (child := os.fork()):
        die_at(int(number))
        stores(root).init("beta", "alpha")
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
)


@contextmanager
def process(script: str, *arguments: object) -> Iterator[tuple[IO[str], IO[str]]]:
    """Run `script`, which ends when its input does, and give its input and output."""
    with subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        yield child.stdin, child.stdout
        child.stdin.close()
    assert child.returncode == 0


def stores_at(root: Path) -> Runs:
    places = FileRunPlaces(root)
    return Runs(places, FileLineage(places, now=lambda: "2026-03-01T09:00:00.000Z"))


def told(pipes: tuple[IO[str], IO[str]], line: str) -> None:
    pipes[0].write(f"{line}\n")
    pipes[0].flush()


@pytest.mark.parametrize("locks", ["held", "none"])
@pytest.mark.parametrize("before", ["nothing", "page"])
def test_of_two_processes_with_two_parents_exactly_one_wins(
    locks: str, before: str, tmp_path: Path
) -> None:
    """run-stores: The other is told both parents; also where a file system has no locks."""
    stores = stores_at(tmp_path)
    stores.init("one")
    stores.init("two")
    runs = [f"run-{number}" for number in range(12)]
    with ExitStack() as stack:
        makers = {
            parent: stack.enter_context(process(MAKER, tmp_path, parent, locks))
            for parent in ("one", "two")
        }
        assert [output.readline() for _, output in makers.values()] == ["ready\n"] * 2
        for run in runs:
            if before == "page":
                (tmp_path / run / "knowledge-base/knowledge").mkdir(parents=True)
            for pipes in makers.values():
                told(pipes, run)
            said = {parent: output.readline() for parent, (_, output) in makers.items()}
            (winner,) = [parent for parent, line in said.items() if line == "made\n"]
            (loser,) = [parent for parent in said if parent != winner]
            assert said[loser].startswith(
                f"refused run {run!r} has the parent {winner!r}, and parent {loser!r} was given;"
            )
            assert stores.lineage(run) == (winner,)
            assert not init_store(tmp_path / run / "knowledge-base")
    assert set(stores.runs()) == {"one", "two", *runs}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["one", "two", *runs])


@pytest.mark.parametrize("locks", ["held", "none"])
def test_of_two_processes_with_one_parent_both_are_right(locks: str, tmp_path: Path) -> None:
    """run-stores: `init` is idempotent, at the same instant too, and the root may be missing."""
    runs = tmp_path / "deep" / "runs"
    stores_at(runs).init("one")
    with ExitStack() as stack:
        makers = [stack.enter_context(process(MAKER, runs, "one", locks)) for _ in range(2)]
        assert [output.readline() for _, output in makers] == ["ready\n"] * 2
        for number in range(12):
            for pipes in makers:
                told(pipes, f"run-{number}")
            assert [output.readline() for _, output in makers] == ["made\n"] * 2
    assert len(stores_at(runs).runs()) == 13


@pytest.mark.parametrize("before", ["nothing", "page"])
def test_a_killed_init_leaves_nothing_or_what_the_next_completes(
    before: str, tmp_path: Path
) -> None:
    """run-stores: A kill before every single call that changes the disk."""
    with process(VICTIMS) as pipes:
        for number in range(400):
            root = tmp_path / f"{number}"
            stores = stores_at(root)
            stores.init("alpha")
            if before == "page":
                (root / "beta/knowledge-base/knowledge").mkdir(parents=True)
                (root / "beta/knowledge-base/knowledge/x.md").write_text("# X\n")
            told(pipes, f"{root} {number}")
            status = int(pipes[1].readline())
            seen = _seen_after_a_kill(root, before)
            stores.init("beta", "alpha")
            assert stores.lineage("beta") == ("alpha",)
            assert not init_store(root / "beta/knowledge-base")
            assert before == "nothing" or (root / "beta/knowledge-base/knowledge/x.md").is_file()
            if status == 0:
                break
    assert status == 0
    assert number > 30
    assert seen == "whole"


def _seen_after_a_kill(root: Path, before: str) -> str:
    """Return what a reader finds: no store, a part of one that was there before, or all."""
    assert not init_store(root / "alpha/knowledge-base")
    there = {path.name for path in root.iterdir() if not path.name.startswith(UNFINISHED)}
    store = root / "beta/knowledge-base"
    if "beta" not in there:
        assert before == "nothing"
        return "nothing"
    parts = {*scaffold_of(), ".counterfoil/lineage.json"}
    if all((store / part).exists() for part in parts):
        return "whole"
    assert before == "page"
    for path in store.rglob("*.json"):
        assert path.read_bytes().endswith(b"}\n"), "no file is half written"
    return "part"
