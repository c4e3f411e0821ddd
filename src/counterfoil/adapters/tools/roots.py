"""Folders below which tools work: nothing outside of them is reached, or asked about.

A path is first weighed as it is written, with `..` taken out, so that of what is outside
nothing is learnt, not even whether it is there. Then links are resolved and the result is
weighed again, in whole names. What is opened is walked to from the root without following
a link, so that nobody can put one in the way meanwhile.
"""

import errno
import os
import stat
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Literal, NamedTuple

from counterfoil.adapters.tools.answers import UnusableArgumentError, quoted
from counterfoil.core.errors import NotFoundError, UnavailableError, UnreadableError

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_FILE = os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


class Target(NamedTuple):
    """Where a path leads: as it was written, and from a root in names that are no links."""

    shown: str
    root: str
    names: tuple[str, ...]

    def below(self, names: Iterable[str]) -> "Target":
        """Return the target that `names` lead to from here."""
        added = tuple(names)
        start = [] if self.shown == "." else [self.shown.rstrip("/")]
        return Target("/".join([*start, *added]), self.root, (*self.names, *added))


class Roots:
    """The folders that tools may have `read` or `written`; a relative path begins at `base`."""

    def __init__(
        self,
        folders: Sequence[Path],
        *,
        base: Path,
        purpose: Literal["read", "written"] = "read",
        protected: Sequence[Path] = (),
    ) -> None:
        self._purpose = purpose
        self._base = os.path.abspath(base)  # noqa: PTH100 - links stay, `..` goes
        self._given = tuple(os.path.abspath(folder) for folder in folders)  # noqa: PTH100
        self._real = tuple(os.path.realpath(folder) for folder in folders)
        self._protected = tuple(os.path.realpath(folder) for folder in protected)

    @property
    def shown(self) -> str:
        """The folders, for a model."""
        return ", ".join(self._given) or "none"

    def find(self, path: str) -> Target:
        """Return where `path` leads; that something is there is not said.

        Raises:
            UnusableArgumentError: It can be no path, or leads out of the folders.
        """
        shown = _normal(path)
        joined = os.path.join(self._base, shown)  # noqa: PTH118 - a text, as it is written
        if not _is_below(os.path.normpath(joined), (*self._given, *self._real)):
            raise self._outside(shown)
        real = os.path.realpath(joined)
        root = max(filter(lambda root: _is_below(real, (root,)), self._real), key=len, default=None)
        if root is None:
            raise self._outside(shown)
        if self._is_protected(real):
            raise UnusableArgumentError(
                f"{quoted(shown)} is where the record is kept",
                "another path",
                "no tool writes there",
            )
        return Target(shown, root, tuple(filter(None, real[len(root) :].split("/"))))

    def _is_protected(self, real: str) -> bool:
        """Say whether a protected folder is on the way, whatever name it is given there."""
        if _is_below(real, self._protected):
            return True
        identities = set(filter(None, map(_identity, self._protected)))
        places = (real, *map(str, Path(real).parents)) if identities else ()
        return any(_identity(place) in identities for place in places)

    def _outside(self, shown: str) -> UnusableArgumentError:
        return UnusableArgumentError(
            f"{quoted(shown)} is outside of the folders that may be {self._purpose}",
            f"a path below {self.shown}",
        )


@contextmanager
def opened_folder(target: Target) -> Generator[int]:
    """Have the folder at `target` open.

    Raises:
        NotFoundError: Nothing is there.
        UnreadableError: Something else is there, or on the way.
    """
    with faults_of(target.shown):
        handle = _walked(target.root, target.names)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def opened_file(target: Target) -> Generator[BufferedReader]:
    """Have the file at `target` open for reading; what is no ordinary file is not opened.

    Raises:
        NotFoundError: Nothing is there.
        UnreadableError: Something else is there, or on the way.
    """
    above, name = holding(target)
    with opened_folder(above) as folder:
        require_file(target, name, folder)
        with faults_of(target.shown):
            handle = os.open(name, _FILE, dir_fd=folder)
    with os.fdopen(handle, "rb") as file:
        require_regular(target, os.fstat(handle))
        yield file


def holding(target: Target) -> tuple[Target, str]:
    """Return the folder that holds `target`, and its name there.

    Raises:
        UnreadableError: It is a root, which is a folder.
    """
    if not target.names:
        raise _not_a_file(target, stat.S_IFDIR)
    return Target(target.shown, target.root, target.names[:-1]), target.names[-1]


def require_file(target: Target, name: str, folder: int) -> os.stat_result:
    """Return what the system says of the file `name` in the open `folder`.

    Raises:
        NotFoundError: Nothing is there.
        UnreadableError: It is no ordinary file.
    """
    with faults_of(target.shown):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    require_regular(target, found)
    return found


def require_regular(target: Target, found: os.stat_result) -> None:
    """Raise an UnreadableError where what was `found` is no ordinary file."""
    if not stat.S_ISREG(found.st_mode):
        raise _not_a_file(target, found.st_mode)


@contextmanager
def faults_of(shown: str) -> Generator[None]:
    """Raise what the system says of a file as an error of the family."""
    try:
        yield
    except FileNotFoundError as error:
        raise NotFoundError(
            f"nothing is at {quoted(shown)}", advice="list_files shows what there is"
        ) from error
    except (NotADirectoryError, PermissionError) as error:
        raise UnreadableError(f"{quoted(shown)} cannot be used: {error.strerror}") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnreadableError(f"{quoted(shown)} is a link, or has one on its way") from error
        raise UnavailableError(f"{quoted(shown)} cannot be used: {error.strerror}") from error


def kind_of_mode(mode: int) -> str:
    """Return what kind of thing has this mode."""
    for is_kind, kind in _KINDS:
        if is_kind(mode):
            return kind
    return "special"


_KINDS = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "folder"),
    (stat.S_ISLNK, "link"),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
)


def _not_a_file(target: Target, mode: int) -> UnreadableError:
    kind = kind_of_mode(mode)
    advice = "list_files shows what is in it" if kind == "folder" else ""
    return UnreadableError(f"{quoted(target.shown)} is no file: {kind}", "a file", advice)


def _walked(root: str, names: Iterable[str]) -> int:
    """Return a descriptor of the folder that `names` lead to; no link is followed."""
    handle = os.open(root, _FOLDER)
    for name in names:
        try:
            inner = os.open(name, _FOLDER | _NO_FOLLOW, dir_fd=handle)
        finally:
            os.close(handle)
        handle = inner
    return handle


def _normal(path: str) -> str:
    """Return `path` as it is written, without `.`, `..` and doubled slashes.

    Raises:
        UnusableArgumentError: No file can have it.
    """
    if "\x00" in path:
        raise UnusableArgumentError(f"the path {quoted(path)} holds a NUL", "a path")
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise UnusableArgumentError(f"{quoted(path)} can be no path", "a path") from error
    normal = os.path.normpath(path)
    return f"/{normal.lstrip('/')}" if normal.startswith("/") else normal


def _identity(path: str) -> tuple[int, int] | None:
    """Return what is one and the same under every spelling; `None` where nothing is."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a text
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


def _is_below(path: str, folders: Iterable[str]) -> bool:
    """Say whether `path` is one of `folders` or below one, whole names compared."""
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
