"""Whoever makes stores in a directory does it alone: by a lock on the directory itself.

Nothing is written for it, so that a refused `init` leaves no trace, and a crash ends it.
Where the file system locks no directories, making goes on without; what is made is put
in its place by one call that only one process can win.
"""

import errno
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from counterfoil.adapters.files.disk import DIRECTORY, faults_of
from counterfoil.adapters.files.ways import deepest
from counterfoil.core.errors import UnavailableError

if sys.platform == "win32":

    def _try_lock(_: int, /) -> bool:
        raise UnavailableError("a store cannot be made on Windows", advice="it can be read")

else:
    from fcntl import LOCK_EX, LOCK_NB, flock

    def _try_lock(directory: int, /) -> bool:
        try:
            flock(directory, LOCK_EX | LOCK_NB)
        except OSError as error:
            if error.errno in _CANNOT:
                return True
            if error.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
                raise
            return False
        return True


PATIENCE = 10.0
"""Seconds for which the making of a store waits for that of another; then it is refused."""

_CANNOT = frozenset({errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP})
"""What file systems say that lock no directory."""

_SHORTEST, _LONGEST = 0.001, 0.05
"""Seconds between two tries, doubled from one to the next."""


@contextmanager
def making_alone(root: Path, *, patience: float = PATIENCE) -> Generator[None, None, None]:
    """Be the only one who makes stores at or below `root`, which need not be there yet.

    Raises:
        UnavailableError: Somebody else makes stores there for longer than `patience`.
        UnreadableError: What is at `root`, or above it, is no directory.
    """
    end = monotonic() + patience
    while True:
        base = deepest(root)
        with faults_of(str(base)):
            handle = os.open(base, os.O_RDONLY | DIRECTORY)
        try:
            _wait(handle, base, patience, end)
            if deepest(root) == base:  # `root` can have been made while it was waited for
                yield
                return
        finally:
            os.close(handle)


def _wait(directory: int, base: Path, patience: float, end: float) -> None:
    pause = _SHORTEST
    while True:
        with faults_of(str(base)):
            if _try_lock(directory):
                return
        left = end - monotonic()
        if left <= 0:
            raise UnavailableError(
                f"another process, or thread, has been making stores in {base} for {patience:g} s",
                "to be the only one",
                "wait until that is done, or end it",
            )
        sleep(min(pause, left))
        pause = min(2 * pause, _LONGEST)
