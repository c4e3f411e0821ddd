"""Leases of threads, held by real processes and let go by their ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from counterfoil.adapters.memory import MemoryThreadLeases
from counterfoil.adapters.sqlite.leases import FileThreadLeases
from counterfoil.core.errors import ConflictError, UnavailableError
from counterfoil.core.ids import ThreadId
from counterfoil.ports.record import ThreadLeases

ONE = ThreadId("One")
HOLDER = """
import sys
from pathlib import Path
from counterfoil.adapters.sqlite.leases import FileThreadLeases
from counterfoil.core.ids import ThreadId
with FileThreadLeases(Path(sys.argv[1])).hold(ThreadId("One")):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["memory", "files"])
def leases(request: pytest.FixtureRequest, tmp_path: Path) -> ThreadLeases:
    """Return each kind of leases."""
    made: dict[str, Callable[[], ThreadLeases]] = {
        "memory": MemoryThreadLeases,
        "files": lambda: FileThreadLeases(tmp_path / "ledger.db"),
    }
    return made[request.param]()


def test_a_thread_has_one_holder_in_any_letter_case(leases: ThreadLeases) -> None:
    """leases: A second hold is refused, in one process too; afterwards it is free."""
    with leases.hold(ONE):
        for name in ("One", "oNE"):
            with pytest.raises(ConflictError, match="held by this process"), hold(leases, name):
                pass
        with hold(leases, "two"):
            pass
    with hold(leases, "one"):
        pass


def hold(leases: ThreadLeases, name: str) -> AbstractContextManager[None]:
    """Return the hold of a name."""
    return leases.hold(ThreadId(name))


def test_a_hold_ends_with_its_block_whatever_happens(leases: ThreadLeases) -> None:
    """leases: An exception lets go."""
    with pytest.raises(KeyError), leases.hold(ONE):
        raise KeyError
    with leases.hold(ONE):
        pass


def test_a_process_that_is_killed_lets_go(tmp_path: Path) -> None:
    """leases: The error names the process; its end, by kill -9 too, frees the thread."""
    store = tmp_path / "ledger.db"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        leases = FileThreadLeases(store)
        with pytest.raises(ConflictError, match=f"held by process {holder.pid}"), leases.hold(ONE):
            pass
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait(20)
    with leases.hold(ONE):
        pass
    assert list((tmp_path / "ledger.db.threads").iterdir()) == []


def test_a_holder_that_says_nothing_is_another_process(tmp_path: Path) -> None:
    """leases: What the file says is for a person, and may be missing."""
    store = tmp_path / "ledger.db"
    with FileThreadLeases(store).hold(ONE):
        path = tmp_path / "ledger.db.threads" / "one.held"
        path.write_bytes(b"")
        with (
            pytest.raises(ConflictError, match="held by another process"),
            FileThreadLeases(store).hold(ONE),
        ):
            pass
        path.unlink()
        with FileThreadLeases(store).hold(ONE):  # nobody holds what has no name any more
            pass


def test_a_place_where_nothing_can_be_held_is_said(tmp_path: Path) -> None:
    """leases: A file in the way of the folder, or a link in the way of the file."""
    (tmp_path / "ledger.db.threads").write_text("x")
    with (
        pytest.raises(UnavailableError, match="cannot be held"),
        FileThreadLeases(tmp_path / "ledger.db").hold(ONE),
    ):
        pass
    folder = tmp_path / "other.db.threads"
    folder.mkdir()
    (folder / "one.held").symlink_to(tmp_path / "elsewhere")
    with (
        pytest.raises(UnavailableError, match="cannot be held"),
        FileThreadLeases(tmp_path / "other.db").hold(ONE),
    ):
        pass
    assert not (tmp_path / "elsewhere").exists()
