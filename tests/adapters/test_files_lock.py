"""One writer of a store at a time."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

import counterfoil
from counterfoil.adapters.files import lock
from counterfoil.adapters.files.lock import locked
from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.core.errors import ConflictError, UnavailableError, UnreadableError

SOURCE = Path(str(counterfoil.__file__)).parents[1]

HOLDER = """
import sys
from pathlib import Path
from counterfoil.adapters.files.lock import locked
from counterfoil.adapters.files.paths import StoreRoot

with StoreRoot(Path(sys.argv[1])) as root, locked(root, purpose="import of sources"):
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def held_elsewhere(path: Path) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """Let another process hold the store; it lets go when it gets a line."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield holder, holder.stdin
        holder.stdin.close()


@pytest.fixture
def root(tmp_path: Path) -> Iterator[StoreRoot]:
    with StoreRoot(tmp_path) as opened:
        yield opened


@contextmanager
def ready(root: StoreRoot) -> Iterator[None]:
    """Hold the store if that can be done at once."""
    with locked(root, purpose="test", patience=0):
        yield


def test_another_process_is_waited_for_and_named(root: StoreRoot) -> None:
    """store-lock: Not longer than was said; and the line says who, and what for."""
    with held_elsewhere(root.path) as (holder, _):
        with pytest.raises(ConflictError) as refusal, locked(root, purpose="x", patience=0.03):
            pass
        line = refusal.value.diagnosis()
        assert f"process {holder.pid} (import of sources)" in line
        assert "within 0.03 s" in line
        assert "\n" not in line
    with ready(root):
        pass


def test_who_lets_go_in_time_is_followed(root: StoreRoot) -> None:
    """store-lock: Waiting ends with the lock, not with the patience."""
    with held_elsewhere(root.path) as (_, stdin):
        stdin.write("go\n")
        stdin.flush()
        with locked(root, purpose="next", patience=60):
            said = (root.path / ".counterfoil" / "lock").read_text("utf-8")
    assert said == f"process {os.getpid()} (next)\n"


def test_a_crash_lets_go(root: StoreRoot) -> None:
    """store-lock: No stale lock, no time after which one is stale."""
    with held_elsewhere(root.path) as (holder, _):
        holder.kill()
        holder.wait()
        with ready(root):
            pass


def test_the_holder_may_take_it_again(root: StoreRoot) -> None:
    """store-lock: In the same thread, also through another root; the outermost lets go."""
    with ready(root), StoreRoot(root.path) as again, ready(again):
        with ready(root):
            pass
        with ThreadPoolExecutor(1) as pool:
            assert isinstance(pool.submit(_try, root).result(), ConflictError)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(_try, root).result() is None


def _try(root: StoreRoot) -> Exception | None:
    try:
        with locked(root, purpose="another", patience=0):
            return None
    except ConflictError as refusal:
        return refusal


def test_two_threads_exclude_each_other(root: StoreRoot) -> None:
    """store-lock: The one that waits is told about its neighbour."""
    with ThreadPoolExecutor(1) as pool, ready(root):
        refusal = pool.submit(_try, root).result()
    assert refusal is not None
    assert "another thread of this process (test)" in str(refusal)


def test_threads_take_turns(root: StoreRoot) -> None:
    """store-lock: Never two inside, and all of them in the end."""
    inside: list[int] = []
    most: list[int] = []

    def take_a_turn(number: int) -> None:
        with locked(root, purpose=f"{number}", patience=60):
            inside.append(number)
            most.append(len(inside))
            inside.remove(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(take_a_turn, range(100)))
    assert most == [1] * 100


def test_stores_are_held_apart(root: StoreRoot) -> None:
    """store-lock: Another store is nobody's business."""
    (root.path / "other").mkdir()
    with StoreRoot(root.path / "other") as other, ready(root), ThreadPoolExecutor(1) as pool:
        assert pool.submit(_try, other).result() is None


def test_what_happens_inside_lets_go(root: StoreRoot) -> None:
    """store-lock: An exception ends the lock like anything else."""
    with pytest.raises(KeyboardInterrupt), ready(root):
        raise KeyboardInterrupt
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(_try, root).result() is None


def test_a_lock_that_was_taken_away_holds_nobody(
    root: StoreRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """store-lock: Who waited for a file that is gone locks the one that is there now."""
    path = root.path / ".counterfoil" / "lock"
    tries: list[int] = []
    real = lock._try_lock

    def removing(file: int) -> bool:
        tries.append(file)
        if len(tries) == 1:
            path.unlink()
        if len(tries) == 2:
            path.unlink()
            path.write_bytes(b"")
        return real(file)

    monkeypatch.setattr(lock, "_try_lock", removing)
    with ready(root):
        assert path.read_text("utf-8").startswith("process")
    assert len(tries) == 3


def test_a_lock_that_is_a_link_is_refused(root: StoreRoot) -> None:
    """store-lock: Nothing outside is opened for writing."""
    (root.path / "elsewhere").write_bytes(b"kept")
    (root.path / ".counterfoil").mkdir()
    (root.path / ".counterfoil" / "lock").symlink_to("../elsewhere")
    with pytest.raises(UnreadableError, match="lock is a symbolic link"), ready(root):
        pass
    assert (root.path / "elsewhere").read_bytes() == b"kept"


def test_a_directory_of_ours_that_is_a_link_is_refused(root: StoreRoot) -> None:
    """store-lock: Nor is a lock made elsewhere."""
    (root.path / "elsewhere").mkdir()
    (root.path / ".counterfoil").symlink_to("elsewhere")
    with pytest.raises(UnreadableError, match="counterfoil is a symbolic link"), ready(root):
        pass
    assert list((root.path / "elsewhere").iterdir()) == []


def test_a_system_without_locks_says_so(root: StoreRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    """store-lock: One line, and the file is closed again."""

    def fail(_: int) -> bool:
        raise OSError(38, "No locks available")

    monkeypatch.setattr(lock, "_try_lock", fail)
    with pytest.raises(UnavailableError, match="No locks available"), ready(root):
        pass


FORKS = """
import os, sys
from pathlib import Path
from counterfoil.adapters.files.lock import locked
from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.core.errors import ConflictError

def held(root):
    try:
        with locked(root, purpose="child", patience=0):
            return False
    except ConflictError:
        return True

with StoreRoot(Path(sys.argv[1])) as root:
    with locked(root, purpose="parent"):
        if not os.fork():
            print("child refused" if held(root) else "child let in", flush=True)
            os._exit(0)
        os.wait()
        if not (pid := os.fork()):
            with locked(root, purpose="child", patience=60):
                print("child let in", flush=True)
            os._exit(0)
    os.waitpid(pid, 0)
    print("parent again" if not held(root) else "parent refused", flush=True)
"""


def test_a_fork_is_another_process(root: StoreRoot) -> None:
    """store-lock: What the parent holds the child does not, and keeps nobody from."""
    done = subprocess.run(
        [sys.executable, "-c", FORKS, str(root.path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    )
    assert done.stdout.splitlines() == ["child refused", "child let in", "parent again"]
