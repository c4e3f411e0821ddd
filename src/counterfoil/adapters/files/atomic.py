"""A file is written whole or not at all, and is on the disk when that is said.

Temporary file in the same directory, all bytes, mode, fsync, rename, fsync of the
directory (knowledge.md section 1). A crash at any step leaves the old bytes or the new
ones, and at worst a file whose name ends in `.tmp`.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress

from counterfoil.adapters.files.disk import DISK, Disk, faults_of
from counterfoil.adapters.files.paths import require_file

_EVERYBODY = 0o644
"""What a new file is given, less the umask: pages are there to be read by others."""

_OWNER = 0o600
"""What a file is given until its own mode is set."""


def write_atomically(
    directory: int, name: str, content: bytes, *, mode: int | None = None, disk: Disk = DISK
) -> None:
    """Make `content` what the file `name` of the open `directory` holds.

    Without `mode` an existing file keeps its own.

    Raises:
        UnreadableError: A link, a directory or something special has the name.
        UnavailableError: It cannot be written; what was there is still there.
    """
    with faults_of(name):
        kept = require_file(name, at=directory, called=name)
        wanted = kept if mode is None else mode
        temporary = _temporary_name()
        with staged(directory, temporary, content, mode=wanted, disk=disk):
            require_file(name, at=directory, called=name)
            disk.rename(temporary, name, at=directory)
        disk.sync(directory)


@contextmanager
def staged(
    directory: int, temporary: str, content: bytes, *, mode: int | None, disk: Disk
) -> Generator[None, None, None]:
    """Have `content` on the disk under the name `temporary`, for the caller to rename.

    The name is the caller's, and no file has it. What is not renamed because of an
    exception goes away. A `mode` of `None` is that of anybody's new files.
    """
    try:
        _write_new(directory, temporary, content, mode, disk)
        yield
    except BaseException:
        with suppress(OSError):
            disk.unlink(temporary, at=directory)
        raise


def _write_new(directory: int, name: str, content: bytes, mode: int | None, disk: Disk) -> None:
    file = disk.create(name, at=directory, mode=_EVERYBODY if mode is None else _OWNER)
    try:
        disk.write(file, content)
        if mode is not None:
            disk.set_mode(file, mode)
        disk.sync(file)
    finally:
        os.close(file)


def _temporary_name() -> str:
    return f".counterfoil-{os.urandom(8).hex()}.tmp"
