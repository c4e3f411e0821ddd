"""The root of a store, opened once, and the way from there to a file.

Each segment of a path is looked up in the open directory before it and no link is
followed, so that what a path leads to stays below the root, even where somebody puts a
link in its way meanwhile. The root itself may be named through links.
"""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self
from weakref import finalize

from counterfoil.adapters.files.disk import (
    DIRECTORY,
    DISK,
    NO_FOLLOW,
    NOT_BLOCKING,
    Disk,
    faults_of,
)
from counterfoil.core.errors import CounterfoilError, NotFoundError, UnreadableError
from counterfoil.core.knowledge.changes import StorePath, pages_directory

_DIRECTORY = os.O_RDONLY | DIRECTORY | NO_FOLLOW
_FILE = os.O_RDONLY | NO_FOLLOW | NOT_BLOCKING | getattr(os, "O_BINARY", 0)


class FileState(NamedTuple):
    """What a file held when it was read, and its permission bits."""

    content: bytes
    mode: int


class StoreRoot:
    """The directory of a store; nothing outside of it is reached through it.

    `path` is canonical, `pages` the directory of its pages. Close it, or use it as a
    context manager; what is left open is closed when nothing refers to it.
    """

    def __init__(self, path: Path, *, pages: str = "knowledge", disk: Disk = DISK) -> None:
        """Open the directory at `path`.

        Raises:
            NotFoundError: No directory is there.
            InvalidIdError: `pages` is no directory that a store can have its pages in.
            UnavailableError: The system does not let it be opened.
        """
        self.pages = pages_directory(pages)
        self.disk = disk
        with faults_of(str(path)):
            try:
                self.path = path.resolve(strict=True)
                self.handle = os.open(self.path, os.O_RDONLY | DIRECTORY)
            except (FileNotFoundError, NotADirectoryError, RuntimeError) as error:
                # RuntimeError is what Python 3.11 says of links in a circle
                raise NotFoundError(f"no store at {path}", "a directory") from error
        found = os.fstat(self.handle)
        self.identity = (found.st_dev, found.st_ino)
        self.close = finalize(self, os.close, self.handle)

    def __enter__(self) -> Self:
        """Return the root itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the root."""
        self.close()

    @contextmanager
    def directory(self, path: str = "") -> Generator[int, None, None]:
        """Have the directory at `path` open; without a path, the root.

        Raises:
            NotFoundError: Nothing is there.
            UnreadableError: A link or a file is there, or on the way.
        """
        handle = self._walk(StorePath(path).segments if path else ())
        try:
            yield handle
        finally:
            os.close(handle)

    @contextmanager
    def holding(self, path: str) -> Generator[tuple[int, str], None, None]:
        """Have the directory that holds `path` open; give it and the last name of `path`."""
        above, _, name = StorePath(path).rpartition("/")
        with self.directory(above) as handle:
            yield handle, name

    def state(self, path: str) -> FileState | None:
        """Return the file at `path`, or `None` where nothing is.

        Raises:
            InvalidIdError: `path` is no path of a store.
            UnreadableError: A link or something special is there, or on the way.
            UnavailableError: The system does not let it be read.
        """
        try:
            with self.holding(path) as (handle, name):
                return read_file(name, at=handle, called=path)
        except NotFoundError:
            return None

    def read(self, path: str) -> bytes | None:
        """Return the bytes of the file at `path`, or `None`; raise what `state` does."""
        state = self.state(path)
        return None if state is None else state.content

    def make_directories(self, path: str) -> tuple[StorePath, ...]:
        """Make the directory at `path` and those above it; return those that were not there."""
        made: list[StorePath] = []
        segments = StorePath(path).segments
        for depth in range(1, len(segments) + 1):
            here = StorePath("/".join(segments[:depth]))
            with self.holding(here) as (handle, name), faults_of(f"directory {here}"):
                if _make_directory(name, handle, self.disk):
                    made.append(here)
        with self.directory(path):  # a file or a link is refused
            return tuple(made)

    def sync(self, handle: int, path: str) -> None:
        """Return when the open directory at `path` is on the disk as it is."""
        with faults_of(f"directory {path}"):
            self.disk.sync(handle)

    def _walk(self, segments: tuple[str, ...]) -> int:
        """Return a new descriptor of the directory that `segments` lead to."""
        handle = os.dup(self.handle)
        for depth, segment in enumerate(segments, start=1):
            try:
                inner = os.open(segment, _DIRECTORY, dir_fd=handle)
            except OSError as error:
                fault = _not_entered(segment, "/".join(segments[:depth]), handle, error)
                raise fault from error
            finally:
                os.close(handle)
            handle = inner
        return handle


def read_file(name: str, *, at: int, called: str) -> FileState | None:
    """Return the file `name` of the directory `at`, or `None`; raise what `state` does.

    A name that is a link or that is of something special is refused without opening it
    for longer than it takes to see that.
    """
    with faults_of(called):
        try:
            handle = os.open(name, _FILE, dir_fd=at)
        except FileNotFoundError:
            return None
        except OSError as error:
            require_file(name, at=at, called=called)
            raise error from None
        try:
            mode = os.fstat(handle).st_mode
            if not stat.S_ISREG(mode):
                raise _not_a_file(called, mode)
            with os.fdopen(handle, "rb", closefd=False) as file:
                return FileState(file.read(), stat.S_IMODE(mode))
        finally:
            os.close(handle)


def require_file(name: str, *, at: int, called: str) -> int | None:
    """Return the mode of the file `name`, or `None` where nothing is.

    Raises:
        UnreadableError: It is a link, a directory or something special.
    """
    try:
        mode = os.stat(name, dir_fd=at, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise _not_a_file(called, mode)
    return stat.S_IMODE(mode)


def _make_directory(name: str, at: int, disk: Disk) -> bool:
    """Make the directory, durably, and say whether it was not there before."""
    try:
        disk.make_directory(name, at=at)
    except FileExistsError:
        return False
    disk.sync(at)
    return True


def _not_a_file(called: str, mode: int) -> UnreadableError:
    return UnreadableError(
        f"{called} is {_kind(mode)}", "a file", "put a file in its place, or name another"
    )


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a symbolic link"
    return "a directory" if stat.S_ISDIR(mode) else "neither a file nor a directory"


def _not_entered(segment: str, path: str, at: int, error: OSError) -> CounterfoilError:
    """Return why the directory `segment`, which is at `path`, was not entered."""
    with faults_of(f"directory {path}"):
        try:
            mode = os.stat(segment, dir_fd=at, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return NotFoundError(f"no directory {path}")
        if not stat.S_ISDIR(mode):
            kind = "a file" if stat.S_ISREG(mode) else _kind(mode)
            return UnreadableError(
                f"{path} is {kind}", "a directory", "put a directory in its place"
            )
        if isinstance(error, FileNotFoundError):  # it was made between the two calls
            return NotFoundError(f"no directory {path}")
        raise error
