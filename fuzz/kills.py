"""Kill writers of a store at random moments, and those who mend what they left.

python fuzz/kills.py 2000

Each writer is a process of its own that makes one random transaction after another and
acknowledges each. Some find the disk full at a random call. After a kill a reader, and
then the next writer, must see the state of the last acknowledged transaction or of the
one that was under way: all of its files, bytes and modes, and nothing else.
"""
# ruff: noqa: INP001, S311, T201 - a program whose chance is reproducible and that prints

import errno
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from time import perf_counter

from counterfoil.adapters.files.disk import Disk
from counterfoil.adapters.files.instant import Overlay, overlay, read_at_one_instant
from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.adapters.files.transactions import apply_changes, writing
from counterfoil.core.errors import CounterfoilError
from counterfoil.core.knowledge.changes import REGISTRY, FileChange, StorePath

PATHS = (
    *(f"knowledge/{name}.md" for name in ("a", "b", "x/c", "x/y/d", "ü")),
    "raw/sources/s.txt",
    REGISTRY,
)
MODES = (0o600, 0o640, 0o644)
LARGEST = 50_000
LONGEST_WAIT = 0.1
"""Seconds after its start in which a writer is killed."""

State = dict[str, tuple[bytes, int]]
Work = Callable[[Path, int, int], None]


class ForgetfulDisk(Disk):
    """A disk that is full at a few calls."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance

    def write(self, file: int, content: bytes) -> None:
        """Write, or fail half way."""
        if self._chance.random() < 0.05:  # noqa: PLR2004 - one call in twenty
            super().write(file, content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().write(file, content)


def transaction(number: int) -> list[FileChange]:
    """Return the changes of the transaction of that number: always the same ones."""
    chance = Random(number)
    return [
        FileChange(
            path=StorePath(path),
            after=chance.randbytes(chance.randrange(LARGEST)) if chance.random() < 0.8 else None,  # noqa: PLR2004
            mode=chance.choice(MODES),
        )
        for path in chance.sample(PATHS, chance.randrange(1, len(PATHS)))
    ]


def after(state: State, number: int) -> State:
    """Return what `state` is after the transaction of that number."""
    done = dict(state)
    for change in transaction(number):
        done.pop(change.path, None)
        if change.after is not None:
            done[change.path] = (change.after, change.mode or 0)
    return done


def forked(work: Work, root: Path, number: int) -> tuple[int, int]:
    """Begin a process that does `work`; return its id and what it acknowledges through."""
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        with suppress(CounterfoilError):
            work(root, number, tell)
        os._exit(0)
    os.close(tell)
    return child, told


def write(root: Path, number: int, tell: int) -> None:
    """Make transactions from that number on, until something goes wrong."""
    disk = ForgetfulDisk(Random(number)) if number % 3 == 0 else Disk()
    with StoreRoot(root, disk=disk) as store:
        while True:
            apply_changes(store, transaction(number), purpose=f"transaction {number}")
            os.write(tell, b"+")
            number += 1


def mend(root: Path, _number: int, _tell: int) -> None:
    """End what is unfinished."""
    with StoreRoot(root) as store, writing(store, purpose="mending"):
        pass


def kill_after(seconds: float, child: int, told: int) -> int:
    """Kill the process then; return how many transactions it acknowledged."""
    end = perf_counter() + seconds
    while perf_counter() < end:  # a sleep would not end within a millisecond
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(told, "rb") as acknowledged:
        return len(acknowledged.read())


def seen(root: Path) -> tuple[dict[str, bytes], bool]:
    """Return what a reader sees, and whether something is unfinished."""

    def read(unfinished: Overlay) -> dict[str, bytes]:
        found = {path: unfinished.seen(path, store.read(path)) for path in PATHS}
        return {path: content for path, content in found.items() if content is not None}

    with StoreRoot(root) as store:
        return read_at_one_instant(store, read), bool(overlay(store))


def stands(root: Path) -> State:
    """Return all files that are there, but for those that only say who writes."""
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mode & 0o7777)
        for path in root.rglob("*")
        if path.is_file() and (path.parent.name != ".counterfoil" or path.name == "sources.json")
    }


def contents(state: State) -> dict[str, bytes]:
    """Return the bytes of a state without the modes."""
    return {path: content for path, (content, _) in state.items()}


def one_kill(root: Path, state: State, number: int, chance: Random) -> tuple[State, int, str]:
    """Kill one writer; return the state it left, the next number, and what was met."""
    child, told = forked(write, root, number)
    done = kill_after(chance.uniform(0, LONGEST_WAIT), child, told)
    for acknowledged in range(number, number + done):
        state = after(state, acknowledged)
    possible = [state, after(state, number + done)]
    reader, is_unfinished = seen(root)
    require(reader in map(contents, possible), f"a reader saw a mixture in {root}")
    while is_unfinished and chance.random() < 0.5:  # noqa: PLR2004 - half of the time
        mender, told = forked(mend, root, 0)
        kill_after(chance.uniform(0, LONGEST_WAIT / 4), mender, told)
        again, _ = seen(root)
        require(again in (reader, contents(possible[1])), f"a reader went back in {root}")
        reader = again
    mend(root, 0, 0)
    found = stands(root)
    require(found in possible, f"what stands is a mixture in {root}")
    require(
        reader in (contents(possible[0]), contents(found)), f"a reader saw what never was: {root}"
    )
    what = "unfinished" if is_unfinished else "finished"
    return found, number + done + 1, f"{what}, {'after' if found == possible[1] else 'before'}"


def require(holds: bool, what: str) -> None:  # noqa: FBT001 - what must hold
    """End the program where it does not."""
    if not holds:
        sys.exit(f"FAULT: {what}")


def main(kills: int, seed: int = 0) -> None:
    """Kill that many writers of one store."""
    chance = Random(seed)
    root = Path(mkdtemp(prefix="counterfoil-kills-"))
    state: State = {}
    number = seed * 1_000_000
    met: Counter[str] = Counter()
    for _ in range(kills):
        state, number, what = one_kill(root, state, number, chance)
        met[what] += 1
    shutil.rmtree(root)
    print(f"{kills} kills, {number - seed * 1_000_000} transactions, no fault: {dict(met)}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
