"""The token that a client of the HTTP server shows, kept in a file for its owner alone."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from counterfoil.core.errors import UnavailableError, UnreadableError

_LONGEST = 1024
_SHORTEST = 16


def load_token(path: Path) -> str:
    """Return the token in the file `path`, made with a new one where there is no file.

    Raises:
        UnreadableError: The file is a link, is open to others, or holds no token.
        UnavailableError: It cannot be written or read.
    """
    try:
        if not path.is_symlink() and not path.exists():
            _make(path)
    except OSError as error:
        raise UnavailableError(f"{path} cannot be written: {error.strerror}") from error
    try:
        return _read(path)
    except OSError as error:
        raise UnreadableError(
            f"{path} cannot be read: {error.strerror}", "a file of its owner, no link"
        ) from error


def _make(path: Path) -> None:
    """Write a whole file beside the place, and put it there at once, where nothing is."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(descriptor, f"{secrets.token_urlsafe(32)}\n".encode())
        with suppress(FileExistsError):  # another process was sooner
            os.link(made, path, follow_symlinks=False)
    finally:
        os.close(descriptor)
        made.unlink()


def _read(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _require_private(path, os.fstat(descriptor))
        token = os.read(descriptor, _LONGEST).decode("ascii", "replace").strip()
    finally:
        os.close(descriptor)
    if len(token) < _SHORTEST or not token.isprintable() or not token.isascii():
        raise UnreadableError(
            f"{path} holds no token",
            f"{_SHORTEST} or more ASCII characters",
            "delete the file; a new one is made",
        )
    return token


def _require_private(path: Path, found: os.stat_result) -> None:
    is_private = stat.S_ISREG(found.st_mode) and not found.st_mode & 0o077
    if not is_private or found.st_uid != os.getuid():
        raise UnreadableError(
            f"{path} is open to others",
            "a file that its owner alone can read",
            f"chmod 600 {path}, or delete it; a new one is made",
        )
