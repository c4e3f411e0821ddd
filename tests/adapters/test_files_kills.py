"""Writers that are killed at each step of a transaction, and what is found afterwards.

Run as a program this module is the process that the writers are forked from.
"""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import pytest

import counterfoil
from counterfoil.adapters.files.disk import Disk
from counterfoil.adapters.files.instant import Overlay, read_at_one_instant
from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.adapters.files.transactions import apply_changes, writing
from counterfoil.core.errors import CounterfoilError
from counterfoil.core.knowledge.changes import FileChange, StorePath

SOURCE = Path(str(counterfoil.__file__)).parents[1]

Tree = dict[str, tuple[bytes, int] | None]
"""Files with their bytes and modes; `None` stands for a directory."""

BEFORE: Tree = {
    "knowledge": None,
    "knowledge/a.md": (b"a before", 0o600),
    "knowledge/b.md": (b"b before", 0o644),
    "knowledge/gone.md": (b"gone", 0o644),
    "knowledge/same.md": (b"same", 0o644),
    "raw": None,
    "raw/note.txt": (b"not of the transaction", 0o644),
}
AFTER: Tree = {
    "knowledge": None,
    "knowledge/a.md": (b"a after, and longer than it was", 0o600),
    "knowledge/b.md": (b"b before", 0o640),
    "knowledge/same.md": (b"same", 0o644),
    "knowledge/x": None,
    "knowledge/x/y": None,
    "knowledge/x/y/new.md": (b"new", 0o644),
    "raw": None,
    "raw/note.txt": (b"not of the transaction", 0o644),
    "raw/sources": None,
    "raw/sources/s.txt": (b"source", 0o444),
}
CHANGES = (
    FileChange(path=StorePath("knowledge/a.md"), after=b"a after, and longer than it was"),
    FileChange(path=StorePath("knowledge/b.md"), after=b"b before", mode=0o640),
    FileChange(path=StorePath("knowledge/x/y/new.md"), after=b"new", expected="absent"),
    FileChange(path=StorePath("knowledge/gone.md"), after=None),
    FileChange(path=StorePath("knowledge/same.md"), after=b"same"),
    FileChange(path=StorePath("raw/sources/s.txt"), after=b"source", mode=0o444),
)

# --- the writers ----------------------------------------------------------------


class Doom(NamedTuple):
    """What happens at a step: at `fails` the disk is full, at `step` the process is killed."""

    step: int = 0
    phase: str = "before"
    fails: int = 0


NONE = Doom()


class DoomedDisk(Disk):
    """Counts the calls that change the disk, and meets its doom at one of them."""

    def __init__(self, doom: Doom) -> None:
        self.doom = doom
        self.calls: list[str] = []

    def _step(self, name: str, call: Callable[[], Any], half: Callable[[], Any]) -> Any:  # noqa: ANN401
        self.calls.append(name)
        step = len(self.calls)
        if step == self.doom.fails:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if step != self.doom.step:
            return call()
        with suppress(OSError):  # such as a directory that is there already
            {"before": lambda: None, "half": half, "after": call}[self.doom.phase]()
        os.kill(os.getpid(), signal.SIGKILL)
        return None


def _doomed(name: str) -> Callable[..., Any]:
    def call(disk: DoomedDisk, *place: Any, **rest: Any) -> Any:  # noqa: ANN401
        def half() -> None:
            Disk.write(disk, place[0], place[1][: len(place[1]) // 2])

        return disk._step(name, lambda: getattr(Disk, name)(disk, *place, **rest), half)

    return call


for _name in (name for name in vars(Disk) if name[0] != "_"):
    setattr(DoomedDisk, _name, _doomed(_name))


def doomed_writer(root: str, work: str, doom: Doom) -> str:
    """Write, or only mend what another one left; say how it ended and what it called."""
    disk = DoomedDisk(doom)
    outcome = "done"
    with StoreRoot(Path(root), disk=disk) as store:
        try:
            if work == "write":
                apply_changes(store, CHANGES, purpose="test")
            else:
                with writing(store, purpose="mending"):
                    pass
        except CounterfoilError as error:
            outcome = type(error).__name__
    return " ".join((outcome, *disk.calls)) + "\n"


def serve() -> None:
    """Fork a writer for each line of the input; say what it said, and that it is dead."""
    os.umask(0o022)
    for line in sys.stdin:
        root, work, doom = json.loads(line)
        if not (child := os.fork()):
            os.write(1, doomed_writer(root, work, Doom(*doom)).encode())
            os._exit(0)
        os.waitpid(child, 0)
        os.write(1, b"dead\n")


class Writers:
    """The process that forks writers."""

    def __init__(self, to: IO[str], of: IO[str]) -> None:
        self._to, self._of = to, of

    def run(self, root: Path, work: str, doom: Doom = NONE) -> tuple[str, list[str]]:
        """Run one; return its outcome, `killed` for most, and the calls that it made."""
        self._to.write(json.dumps([str(root), work, doom]) + "\n")
        self._to.flush()
        said = self._of.readline().split()
        if said == ["dead"]:
            return "killed", []
        assert self._of.readline() == "dead\n"
        return said[0], said[1:]


@pytest.fixture(scope="module")
def writers() -> Iterator[Writers]:
    with subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield Writers(server.stdin, server.stdout)
        server.stdin.close()
    assert server.returncode == 0


# --- what is found --------------------------------------------------------------


def plant(root: Path, tree: Tree = BEFORE) -> Path:
    """Make a store of `tree`."""
    root.mkdir()
    for path, file in tree.items():
        if file is None:
            (root / path).mkdir()
        else:
            (root / path).write_bytes(file[0])
            (root / path).chmod(file[1])
    return root


def tree_of(root: Path) -> Tree:
    """Return all that stands in the store but what the program keeps for itself."""
    return {
        str(path.relative_to(root)): None
        if path.is_dir()
        else (path.read_bytes(), path.stat().st_mode & 0o7777)
        for path in sorted(root.rglob("*"))
        if ".counterfoil" not in path.relative_to(root).parts
    }


def contents(tree: Tree) -> dict[str, bytes]:
    return {path: file[0] for path, file in tree.items() if file is not None}


def seen_by_a_reader(root: Path) -> dict[str, bytes]:
    """Return what a reader sees, of all files, when nobody has mended anything."""

    def read(unfinished: Overlay) -> dict[str, bytes]:
        names = {*unfinished, *(path for path in contents(tree_of(root)) if path[-4:] != ".tmp")}
        found = {name: unfinished.seen(name, store.read(name)) for name in names}
        return {name: content for name, content in found.items() if content is not None}

    with StoreRoot(root) as store:
        return read_at_one_instant(store, read)


def left_over(root: Path) -> list[str]:
    """Return what of the program's own is left that should not be."""
    return sorted(
        path.name
        for path in (root / ".counterfoil").iterdir()
        if path.name not in {"lock", "epoch", "journal.tmp"}
    )


def mended(root: Path) -> Tree:
    """Let a writer come, and return what stands there then."""
    with StoreRoot(root) as store, writing(store, purpose="mending"):
        assert left_over(root) == []
    return tree_of(root)


def dooms(calls: list[str], after: int = 0) -> Iterator[Doom]:
    """Yield each way to be killed at each of the `calls`, those up to `after` left out."""
    for step, name in enumerate(calls, start=1):
        if step > after:
            yield Doom(step, "before")
            if name == "write":
                yield Doom(step, "half")
            yield Doom(step, "after")


def killed(writers: Writers, root: Path, work: str, doom: Doom) -> tuple[dict[str, bytes], Tree]:
    """Kill a writer; return what a reader sees then, and what stands after the next writer."""
    assert writers.run(root, work, doom) == ("killed", []), doom
    seen = seen_by_a_reader(root)
    return seen, mended(root)


def test_the_transaction_does_what_the_kills_compare_with(tmp_path: Path, writers: Writers) -> None:
    """store-transactions: Undisturbed, it leaves its after-state and nothing else."""
    root = plant(tmp_path / "store")
    outcome, calls = writers.run(root, "write")
    assert (outcome, tree_of(root), left_over(root)) == ("done", AFTER, [])
    assert set(calls) == {name for name in vars(Disk) if name[0] != "_"} - {"remove_directory"}


def test_a_kill_at_any_step_leaves_before_or_after(tmp_path: Path, writers: Writers) -> None:
    """store-kills: As a reader sees it at once, and as it stands after the next writer."""
    _, calls = writers.run(plant(tmp_path / "whole"), "write")
    ends: list[bool] = []
    for number, doom in enumerate(dooms(calls)):
        root = plant(tmp_path / f"{number}")
        seen, stands = killed(writers, root, "write", doom)
        assert seen in (contents(BEFORE), contents(AFTER)), doom
        assert stands in (BEFORE, AFTER), doom
        assert stands == AFTER or seen == contents(BEFORE), doom  # never back in time
        ends.append(stands == AFTER)
    assert ends == sorted(ends)  # one step decides
    assert set(ends) == {False, True}


def test_a_disk_that_is_full_at_any_step_leaves_before(tmp_path: Path, writers: Writers) -> None:
    """store-writes: The transaction is taken back at once, and nothing of it is left."""
    _, calls = writers.run(plant(tmp_path / "whole"), "write")
    for fails in range(1, len(calls) + 1):
        root = plant(tmp_path / f"{fails}")
        outcome, _ = writers.run(root, "write", Doom(fails=fails))
        assert outcome == "UnavailableError", fails
        seen = seen_by_a_reader(root)
        if fails == len(calls):  # all is done, but for what a loss of power would take
            assert seen == contents(AFTER)
        else:
            assert (tree_of(root), seen) == (BEFORE, contents(BEFORE)), fails
        assert mended(root) == (AFTER if fails == len(calls) else BEFORE)


def _deciding(calls: list[str]) -> int:
    """Return the step that decides a transaction: the first rename."""
    return calls.index("rename") + 1


def test_a_kill_while_it_is_taken_back_leaves_before(tmp_path: Path, writers: Writers) -> None:
    """store-kills: The disk is full at one step, and at each later one the writer is killed."""
    _, calls = writers.run(plant(tmp_path / "whole"), "write")
    fails = len(calls) - 1  # every file is written, and every one has to go back
    _, taken = writers.run(plant(tmp_path / "back"), "write", Doom(fails=fails))
    ends: list[bool] = []
    for number, doom in enumerate(dooms(taken, after=fails)):
        root = plant(tmp_path / f"{number}")
        seen, stands = killed(writers, root, "write", doom._replace(fails=fails))
        assert seen == contents(BEFORE), doom
        assert stands in (BEFORE, AFTER), doom
        ends.append(stands == BEFORE)
    assert ends == sorted(ends)  # one step decides
    assert set(ends) == {False, True}


def test_a_kill_of_the_one_who_mends_leaves_what_was_decided(
    tmp_path: Path, writers: Writers
) -> None:
    """store-kills: However often mending is begun, it ends in the direction recorded."""
    _, calls = writers.run(plant(tmp_path / "whole"), "write")
    middle = Doom(step=(_deciding(calls) + len(calls)) // 2)
    _, taken = writers.run(plant(tmp_path / "back"), "write", middle._replace(step=0, fails=30))
    back = Doom(step=(30 + len(taken)) // 2 + 1, fails=30)
    for left, end in ((middle, AFTER), (back, BEFORE)):
        root = plant(tmp_path / f"left-{left.fails}")
        writers.run(root, "write", left)
        outcome, steps = writers.run(root, "mend")
        assert (outcome, tree_of(root)) == ("done", end)
        for number, doom in enumerate(dooms(steps)):
            root = plant(tmp_path / f"{left.fails}-{number}")
            writers.run(root, "write", left)
            seen, stands = killed(writers, root, "mend", doom)
            assert seen in (contents(BEFORE), contents(end)), doom
            assert stands == end, doom


if __name__ == "__main__":
    serve()
