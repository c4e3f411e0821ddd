"""Files that a caller names: below the roots, by their real paths, and nothing else.

A path is taken apart once, resolved, and compared with the roots part by part; then it is
opened from the root down without following a link. For everything that cannot be had
there is one answer, so that it says nothing about what is elsewhere.
"""

import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from counterfoil.core.errors import NotFoundError

_STEP = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@contextmanager
def opened_below(roots: Sequence[str], name: str) -> Generator[BinaryIO]:
    """Have the file `name` open for reading.

    Raises:
        NotFoundError: There is no regular file of that name below the roots.
    """
    descriptor = _opened(roots, name, os.O_RDONLY)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _nothing(name)
    with os.fdopen(descriptor, "rb") as file:
        yield file


def folder_below(roots: Sequence[str], name: str) -> str:
    """Return the real path of the folder `name`.

    Raises:
        NotFoundError: There is no folder of that name below the roots.
    """
    os.close(_opened(roots, name, os.O_DIRECTORY))
    return str(_below(roots, name)[1])


def _opened(roots: Sequence[str], name: str, flags: int) -> int:
    """Open `name` step by step from its root; a link that came in meanwhile is not followed."""
    root, path = _below(roots, name)
    *folders, last = path.relative_to(root).parts or (".",)
    at = -1
    try:
        at = os.open(root, _FOLDER)
        for part, flag in [*((folder, os.O_DIRECTORY) for folder in folders), (last, flags)]:
            above, at = at, os.open(part, _STEP | flag, dir_fd=at)
            os.close(above)
    except OSError:
        if at >= 0:
            os.close(at)
        raise _nothing(name) from None
    return at


def _below(roots: Sequence[str], name: str) -> tuple[Path, Path]:
    """Return the root that `name` is below, and its real path."""
    if roots and name:
        with suppress(ValueError, OSError):  # NUL, half a character, links in a circle
            path = Path(os.path.realpath(Path(roots[0]) / name))
            for root in map(os.path.realpath, roots):
                if path.is_relative_to(root):
                    return Path(root), path
    raise _nothing(name)


def _nothing(name: str) -> NotFoundError:
    return NotFoundError(f"nothing named {name!r} below the roots of the server")
