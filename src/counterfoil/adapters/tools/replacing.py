"""A file takes new bytes whole or not at all, and keeps its mode.

Temporary file in the same folder, all bytes, fsync, rename, fsync of the folder. What
else has a hard link to the old bytes keeps them.
"""

import os
import stat
from contextlib import suppress

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_EVERYBODY = 0o666
_OWNER = 0o600
_PERMISSIONS = 0o777
"""What is kept of a mode: as with any write, the file is not run as somebody else's."""


def replace_file(folder: int, name: str, content: bytes, before: os.stat_result | None) -> None:
    """Make `content` what the file `name` of the open `folder` holds.

    `before` is what the system said of the file; `None` for one that was not there, which
    gets the mode of anybody's new files.
    """
    temporary = f".counterfoil-{os.urandom(8).hex()}.tmp"
    try:
        _write(folder, temporary, content, before)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    os.fsync(folder)


def _write(folder: int, name: str, content: bytes, before: os.stat_result | None) -> None:
    handle = os.open(name, _NEW, _EVERYBODY if before is None else _OWNER, dir_fd=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        if before is not None:
            os.fchmod(handle, stat.S_IMODE(before.st_mode) & _PERMISSIONS)
        os.fsync(handle)
