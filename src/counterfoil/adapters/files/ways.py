"""The way to the place of a store: what of it is there, and what is missing.

Down to the root, links are followed, as whoever named it wants. Below it none is: a
store stands in the root that it was asked for in, and two runs never share one.
"""

import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

from counterfoil.adapters.files.disk import DIRECTORY, NO_FOLLOW, faults_of
from counterfoil.core.errors import UnavailableError, UnreadableError


class Site(NamedTuple):
    """The deepest directory of a way that is there, open, and the names that are not."""

    handle: int
    path: Path
    missing: tuple[str, ...]


@contextmanager
def site(root: Path, names: Sequence[str] = ()) -> Generator[Site, None, None]:
    """Have the way from `root` along `names` open, as far as it goes.

    Raises:
        UnreadableError: A link below the root, or a file, is on the way.
        UnavailableError: The system does not let a directory be entered.
    """
    base = deepest(root)
    way = (*_absolute(root).parts[len(base.parts) :], *names)
    path, depth = base.resolve(), 0
    with faults_of(str(base)):
        handle = os.open(path, os.O_RDONLY | DIRECTORY)
    try:
        while depth < len(way):
            spelled = _spelled(way[depth], handle)
            inner = _enter(spelled, at=handle, called=path / spelled)
            if inner is None:
                break
            os.close(handle)
            handle, path, depth = inner, path / spelled, depth + 1
        yield Site(handle, path, way[depth:])
    finally:
        os.close(handle)


def deepest(root: Path) -> Path:
    """Return the directory nearest to `root`, upwards, that is there; `root` itself if it is.

    Raises:
        UnreadableError: A file, or a link that leads nowhere, is there instead.
    """
    absolute = _absolute(root)
    for path in (absolute, *absolute.parents):
        with faults_of(str(path)):
            mode = _mode_of(path)
        if mode is not None and stat.S_ISDIR(mode):
            return path
        if mode is not None:
            raise _in_the_way(path, mode)
    raise UnavailableError(f"nothing on the way to {root} is there")  # pragma: no cover - not `/`


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - takes `..` out, and follows nothing


def _mode_of(path: Path) -> int | None:
    """Return the mode of what `path` leads to, that of a link which leads nowhere, or `None`."""
    for look in (os.stat, os.lstat):
        try:
            return look(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            continue
    return None


def _spelled(name: str, at: int) -> str:
    """Return the name under which `name` stands there, where it does in another normal form."""
    try:
        os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        wanted = normalize("NFC", name)
        same = [other for other in os.listdir(at) if normalize("NFC", other) == wanted]
        return same[0] if same else name
    except OSError:  # what is not let be looked at is not let be entered either
        return name
    return name


def _enter(name: str, *, at: int, called: Path) -> int | None:
    """Return a new descriptor of the directory `name`, or `None` where nothing is."""
    with faults_of(str(called)):
        try:
            return os.open(name, os.O_RDONLY | DIRECTORY | NO_FOLLOW, dir_fd=at)
        except FileNotFoundError:
            return None
        except OSError:
            mode = os.stat(name, dir_fd=at, follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                raise
            raise _in_the_way(called, mode) from None


def _in_the_way(path: Path, mode: int) -> UnreadableError:
    if stat.S_ISLNK(mode):
        found, advice = "a symbolic link", "put the directory itself there"
    else:
        found = "a file" if stat.S_ISREG(mode) else "no directory"
        advice = "take it away, or name another"
    return UnreadableError(f"{path} is {found}", "a directory, or nothing", advice)
