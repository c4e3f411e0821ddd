"""The file of standing grants: read without a lock, written under one."""

import os
import stat
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

from counterfoil.adapters.grants.form import damaged, grants_of, written
from counterfoil.core.errors import ConflictError, UnavailableError
from counterfoil.core.gate.grants import Grant

if sys.platform == "win32":

    def _try_lock(_: int, /) -> bool:
        raise UnavailableError("grants cannot be kept on Windows", "Linux or macOS")

else:
    from fcntl import LOCK_EX, LOCK_NB, flock

    def _try_lock(file: int, /) -> bool:
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return False
        return True


PATIENCE = 10.0
"""Seconds for which one process waits for another one that writes grants."""

LARGEST = 1 << 22
"""Bytes of a file of grants; a larger one is refused."""

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_PAUSE = 0.01


class GrantFile:
    """`StandingGrants` in the file at `path`, which need not be there yet."""

    def __init__(self, path: Path, *, patience: float = PATIENCE) -> None:
        self._path = path
        self._patience = patience

    def grants(self) -> tuple[Grant, ...]:
        """Return every grant that is in the file now."""
        with _faults_of(self._path):
            content = self._content()
        return () if content is None else tuple(grants_of(content, str(self._path)))

    def add(self, grant: Grant) -> None:
        """Put `grant` behind the others."""
        self._change(lambda grants: [*grants, grant])

    def revoke(self, grant_id: str) -> bool:
        """Take away the grant of this id; say whether there was one."""
        return self._change(lambda grants: [one for one in grants if one.id != grant_id])

    def _change(self, changed: Callable[[list[Grant]], list[Grant]]) -> bool:
        with _faults_of(self._path):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._locked():
                before = list(self.grants())
                after = changed(before)
                if after == before:
                    return False
                self._replace(written(after))
                return True

    def _content(self) -> bytes | None:
        try:
            file = os.open(self._path, os.O_RDONLY | _NO_FOLLOW)
        except FileNotFoundError:
            return None
        except OSError as error:
            if self._path.is_symlink():
                raise damaged(str(self._path), "it is a link") from error
            raise
        try:
            self._require_own(os.fstat(file))
            with os.fdopen(file, "rb", closefd=False) as reader:
                return reader.read(LARGEST + 1)
        finally:
            os.close(file)

    def _require_own(self, found: os.stat_result) -> None:
        place = str(self._path)
        if not stat.S_ISREG(found.st_mode):
            raise damaged(place, "it is no file")
        if found.st_uid != os.geteuid():
            raise damaged(place, "it belongs to somebody else")
        if found.st_mode & _OTHERS:
            raise damaged(place, f"its mode is {stat.S_IMODE(found.st_mode):04o}, not 0600")
        if found.st_size > LARGEST:
            raise damaged(place, f"it has more than {LARGEST} bytes")

    def _replace(self, content: bytes) -> None:
        temporary = self._path.with_name(f".{self._path.name}-{os.urandom(8).hex()}.tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW
        file = os.open(temporary, flags, 0o600)
        try:
            with os.fdopen(file, "wb") as writer:
                os.fchmod(file, 0o600)
                writer.write(content)
                writer.flush()
                os.fsync(file)
            temporary.replace(self._path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        self._sync_directory()

    def _sync_directory(self) -> None:
        directory = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    @contextmanager
    def _locked(self) -> Generator[None, None, None]:
        """Be the one writer; the lock ends with the process, however that ends."""
        place = self._path.with_name(f"{self._path.name}.lock")
        file = os.open(place, os.O_RDWR | os.O_CREAT | _NO_FOLLOW, 0o600)
        try:
            end = monotonic() + self._patience
            while not _try_lock(file):
                if monotonic() >= end:
                    raise ConflictError(
                        f"the grants in {self._path} are being written by another process",
                        f"to be the one writer, within {self._patience:g} s",
                        "wait until that is done: the lock ends with its process",
                    )
                sleep(_PAUSE)
            yield
        finally:
            os.close(file)


@contextmanager
def _faults_of(path: Path) -> Generator[None, None, None]:
    """Let no fault of the system out but as one of our family."""
    try:
        yield
    except OSError as error:
        raise UnavailableError(
            f"the grants in {path} cannot be read or written: {error.strerror}",
            advice="make sure that you may read and write there",
        ) from error
