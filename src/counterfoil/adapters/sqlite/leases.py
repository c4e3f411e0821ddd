"""Who holds a thread: a lock of the system on a small file beside the store.

The lock (`flock`) ends with its process, however that ends, so that a crash releases it.
What is written in the file says who holds it, to a person; nobody trusts it. The file is
removed by its holder, and a file that was removed meanwhile is not taken for the lock.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from counterfoil.core.errors import ConflictError, UnavailableError
from counterfoil.core.ids import ThreadId

if sys.platform == "win32":

    def _try_lock(_: int, /) -> bool:
        raise UnavailableError("threads cannot be run on Windows", "Linux or macOS")

else:
    from fcntl import LOCK_EX, LOCK_NB, flock

    def _try_lock(file: int, /) -> bool:
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return False
        return True


_SHOWN = 200
"""Bytes that are read of what a holder says about itself."""


class FileThreadLeases:
    """The `ThreadLeases` of the store at `path`, in the folder `PATH.threads`."""

    def __init__(self, path: Path) -> None:
        """Keep the files of held threads beside `path`; the folder is made when needed."""
        self._folder = path.absolute().with_name(f"{path.name}.threads")
        self._here: set[str] = set()
        self._guard = Lock()

    @contextmanager
    def hold(self, thread: ThreadId) -> Generator[None, None, None]:
        """Hold `thread` until the context ends; the end of the process ends it too.

        Raises:
            ConflictError: Another holder has it; the error names who.
            UnavailableError: No file can be made here.
        """
        name = thread.lower()
        with self._guard:
            if name in self._here:
                raise _held(thread, "this process")
            self._here.add(name)
        try:
            file = self._locked(thread, self._folder / f"{name}.held")
            try:
                yield
            finally:
                _released(file, self._folder / f"{name}.held")
        finally:
            with self._guard:
                self._here.discard(name)

    def _locked(self, thread: ThreadId, path: Path) -> int:
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            while (file := _tried(path)) is None:
                pass  # its holder removed the file between our opening and our locking it
        except OSError as error:
            raise UnavailableError(
                f"thread {str(thread)!r} cannot be held: {error.strerror} ({path})"
            ) from error
        if file < 0:
            raise _held(thread, _said(path))
        with suppress(OSError):  # a full disk: who holds it is not said, and it is held
            os.ftruncate(file, 0)
            os.pwrite(file, f"process {os.getpid()}\n".encode(), 0)
        return file


def _tried(path: Path) -> int | None:
    """Return the locked file, -1 where another has it, `None` where it was removed."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if not _try_lock(file):
            os.close(file)
            return -1
        if os.fstat(file).st_nlink and os.path.samestat(os.fstat(file), path.stat()):
            return file
    except FileNotFoundError:
        pass
    except OSError:
        os.close(file)
        raise
    os.close(file)
    return None


def _released(file: int, path: Path) -> None:
    with suppress(OSError):
        path.unlink()
    os.close(file)


def _said(path: Path) -> str:
    try:
        said = path.read_bytes()[:_SHOWN].decode("ascii", "replace").strip()
    except OSError:
        said = ""
    return said or "another process"


def _held(thread: ThreadId, holder: str) -> ConflictError:
    return ConflictError(
        f"thread {str(thread)!r} is held by {holder}",
        "a thread that nobody else runs",
        "end it there, or go on in a fork: --fork " + thread,
    )
