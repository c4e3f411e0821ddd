"""One writer of a store at a time, in this process and in others.

The lock is the system's, on an open file (`flock`), so that it ends with its process,
however that ends. What is written in the file says who has it, to a person; nobody
trusts it. Whoever has the lock may take it again, in the same thread.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, RLock
from time import monotonic, sleep

from counterfoil.adapters.files.disk import NO_FOLLOW, NOT_BLOCKING, faults_of
from counterfoil.adapters.files.paths import StoreRoot, require_file
from counterfoil.core.errors import ConflictError, UnavailableError
from counterfoil.core.knowledge.changes import KEPT

if sys.platform == "win32":

    def _try_lock(_: int, /) -> bool:
        raise UnavailableError("a store cannot be written on Windows", advice="it can be read")

else:
    from fcntl import LOCK_EX, LOCK_NB, flock

    def _try_lock(file: int, /) -> bool:
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return False
        return True


PATIENCE = 10.0
"""Seconds for which a writer waits for another one; then it is refused."""

_NAME = "lock"
_FLAGS = os.O_RDWR | os.O_CREAT | NO_FOLLOW | NOT_BLOCKING
_SHORTEST, _LONGEST = 0.001, 0.05
"""Seconds between two tries, doubled from one to the next."""

_SHOWN = 200
"""Bytes that are read of what the file says."""


@dataclass(slots=True)
class _Hold:
    """What this process has of the lock of one store."""

    turn: "RLock" = field(default_factory=RLock)
    depth: int = 0
    file: int | None = None
    purpose: str = ""


_guard = Lock()
_holds: dict[tuple[int, int], _Hold] = {}


@contextmanager
def locked(
    root: StoreRoot, *, purpose: str, patience: float = PATIENCE
) -> Generator[None, None, None]:
    """Be the one writer of the store at `root`, waiting `patience` seconds to become it.

    Raises:
        ConflictError: Somebody else still is; the error says who.
        UnavailableError: No lock can be had in this store.
    """
    end = monotonic() + patience
    hold = _hold_of(root)
    if not hold.turn.acquire(timeout=max(patience, 0)):
        raise _held(root, f"another thread of this process ({hold.purpose})", patience)
    try:
        if not hold.depth:
            hold.file = _file_locked(root, purpose, patience, end)
            hold.purpose = purpose
        hold.depth += 1
        try:
            yield
        finally:
            hold.depth -= 1
            if not hold.depth:
                _release(hold)
    finally:
        hold.turn.release()


def _hold_of(root: StoreRoot) -> _Hold:
    with _guard:
        return _holds.setdefault(root.identity, _Hold())


def _release(hold: _Hold) -> None:
    """Closing the file ends the lock; after a fork it is another process's to end."""
    file, hold.file = hold.file, None
    if file is not None:
        os.close(file)


def _forget() -> None:
    """After a fork the locks are the parent's; the child begins without."""
    global _guard  # noqa: PLW0603 - a thread of the parent may have it for ever
    _guard = Lock()
    for hold in _holds.values():
        _release(hold)
    _holds.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _file_locked(root: StoreRoot, purpose: str, patience: float, end: float) -> int:
    """Return a descriptor that has the lock, with this process named in its file."""
    root.make_directories(KEPT)
    with root.directory(KEPT) as at, faults_of(f"{KEPT}/{_NAME}"):
        while True:
            require_file(_NAME, at=at, called=f"{KEPT}/{_NAME}")
            file = os.open(_NAME, _FLAGS, 0o666, dir_fd=at)
            try:
                _wait(file, root, patience, end)
                if _is_still_there(file, at):
                    _say(file, purpose)
                    return file
            except BaseException:
                os.close(file)
                raise
            os.close(file)


def _wait(file: int, root: StoreRoot, patience: float, end: float) -> None:
    pause = _SHORTEST
    while not _try_lock(file):
        left = end - monotonic()
        if left <= 0:
            said = os.pread(file, _SHOWN, 0).decode("utf-8", "replace")
            raise _held(root, "".join(filter(str.isprintable, said)), patience)
        sleep(min(pause, left))
        pause = min(2 * pause, _LONGEST)


def _is_still_there(file: int, at: int) -> bool:
    """Say whether nobody took the file away while it was waited for."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(_NAME, dir_fd=at, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _say(file: int, purpose: str) -> None:
    os.ftruncate(file, 0)
    os.pwrite(file, f"process {os.getpid()} ({purpose})\n".encode()[:_SHOWN], 0)


def _held(root: StoreRoot, holder: str, patience: float) -> ConflictError:
    return ConflictError(
        f"store {root.path} is being written by {holder or 'another process'}",
        f"to be its one writer, within {patience:g} s",
        "wait until that is done, or end it: the lock ends with its process",
    )
