"""The few calls that change a disk, in one place: a test counts them, and lets them fail."""

import errno
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

from counterfoil.core.errors import UnavailableError

if sys.platform == "darwin":  # where fsync leaves bytes in the cache of the drive
    from fcntl import F_FULLFSYNC, fcntl

    def _sync(fd: int, /) -> None:
        try:
            fcntl(fd, F_FULLFSYNC)
        except OSError:  # a file system that has only the weaker call
            os.fsync(fd)

else:
    _sync = os.fsync

NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)
NOT_BLOCKING: int = getattr(os, "O_NONBLOCK", 0)
"""Flags that a system has or not; a pipe at a path is not waited for."""

_ADVICE = {
    errno.ENOSPC: "make room on the disk and try again",
    errno.EDQUOT: "make room on the disk and try again",
    errno.EROFS: "the file system is read-only; name a store that can be written",
    errno.EACCES: "make sure that you may read and write there",
    errno.EPERM: "make sure that you may read and write there",
}


class Disk:
    """The disk as it is; `at` is the descriptor of the directory that holds a name."""

    def create(self, name: str, *, at: int, mode: int) -> int:
        """Make a file that was not there and return its descriptor, open for writing."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW
        return os.open(name, flags, mode, dir_fd=at)

    def write(self, file: int, content: bytes) -> None:
        """Write all of `content` where the file stands."""
        view = memoryview(content)
        while view:
            view = view[os.write(file, view) :]

    def set_mode(self, file: int, mode: int) -> None:
        """Give the file the permission bits `mode`, whatever the umask is."""
        os.fchmod(file, mode)

    def sync(self, file: int) -> None:
        """Return when what was written to the file or directory is on the disk."""
        _sync(file)

    def rename(self, name: str, new: str, *, at: int) -> None:
        """Give a file another name in its directory, in place of what had it."""
        os.replace(name, new, src_dir_fd=at, dst_dir_fd=at)

    def unlink(self, name: str, *, at: int) -> None:
        """Take a file out of its directory."""
        os.unlink(name, dir_fd=at)

    def make_directory(self, name: str, *, at: int) -> None:
        """Make a directory that was not there."""
        os.mkdir(name, dir_fd=at)

    def remove_directory(self, name: str, *, at: int) -> None:
        """Remove an empty directory."""
        os.rmdir(name, dir_fd=at)


DISK = Disk()


@contextmanager
def faults_of(what: str) -> Generator[None, None, None]:
    """Let no fault of the system out but as one of our family that names `what`."""
    try:
        yield
    except OSError as error:
        raise UnavailableError(
            f"{what} cannot be read or written: {error.strerror}",
            advice=_ADVICE.get(error.errno or 0, ""),
        ) from error
