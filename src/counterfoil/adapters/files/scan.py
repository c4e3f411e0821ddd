"""Which files of a store are pages, and what tells whether one has changed.

The directories are walked by descriptor, and no link is followed. A file is the one it
was when identity, size and both times are the same; a file that changed in the very
moment of the scan is not trusted, since a clock is coarser than a writer (the rule of
git's index).
"""

import os
import stat
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.core.errors import (
    CounterfoilError,
    InvalidIdError,
    NotFoundError,
    UnreadableError,
)
from counterfoil.core.knowledge.changes import StorePath
from counterfoil.ports.knowledge import PassedOver

_SCAFFOLDS = frozenset({"index.md", "log.md"})
_STAMP = Struct("<QQqq")

_SETTLED = 20_000_000
"""Nanoseconds after which a change would have another time."""


class FoundPage(NamedTuple):
    """A page's file: its path below the root, and its stamp.

    A file that `is_settled` has another stamp after the next change.
    """

    path: str
    stamp: bytes
    is_settled: bool


class Scan(NamedTuple):
    """The pages of a store, and the files that were passed over, in no particular order."""

    pages: list[FoundPage]
    passed_over: list[PassedOver]


def found_page(path: str, found: os.stat_result, now: int) -> FoundPage:
    """Return the file at `path`; `now` is the time of the scan, in nanoseconds."""
    stamp = _STAMP.pack(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return FoundPage(path, stamp, max(found.st_mtime_ns, found.st_ctime_ns) < now - _SETTLED)


def scan_pages(root: StoreRoot, now: int) -> Scan:
    """Return what is below the pages directory of `root`; no directory holds nothing."""
    scan = Scan([], [])
    waiting: list[str] = [root.pages]
    while waiting:  # a tree may be deeper than Python's stack
        path = waiting.pop()
        try:
            with root.directory(path) as handle, os.scandir(handle) as entries:
                waiting += [below for entry in entries for below in _look(entry, path, scan, now)]
        except CounterfoilError as error:
            if path != root.pages or not isinstance(error, NotFoundError):
                scan.passed_over.append(PassedOver(path, _code(error), error.diagnosis()))
        except OSError as error:
            scan.passed_over.append(PassedOver(path, "unreadable-page", _refused(error)))
    pages = [page for page in scan.pages if not is_scaffold(page.path, root.pages)]
    return Scan(pages, sorted(scan.passed_over))


def is_scaffold(path: str, pages_directory: str) -> bool:
    """Say whether the file at `path` is for people alone: `index.md` or `log.md` at the top."""
    above, _, name = path.rpartition("/")
    return name in _SCAFFOLDS and above == pages_directory


def _look(entry: "os.DirEntry[str]", above: str, scan: Scan, now: int) -> Iterator[str]:
    """Put a file where it belongs; yield the path of a directory."""
    path = f"{above}/{entry.name}"
    is_directory, is_link = entry.is_dir(follow_symlinks=False), entry.is_symlink()
    if not (is_directory or is_link or entry.name.endswith(".md")):
        return
    fault = _fault_of_name(path)
    if fault:
        scan.passed_over.append(PassedOver(repr(path)[1:-1], "unreadable-page", fault))
    elif is_directory:
        yield path
    elif is_link:
        message = "it is a symbolic link, and was not followed"
        scan.passed_over.append(PassedOver(path, "skipped-link", message))
    else:
        _keep(entry, path, scan, now)


def _keep(entry: "os.DirEntry[str]", path: str, scan: Scan, now: int) -> None:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError as error:  # it went away, or may not be looked at
        scan.passed_over.append(PassedOver(path, "unreadable-page", _refused(error)))
        return
    if stat.S_ISREG(found.st_mode):
        scan.pages.append(found_page(path, found, now))
    else:
        message = "it is no regular file, and was not opened"
        scan.passed_over.append(PassedOver(path, "skipped-link", message))


def _fault_of_name(path: str) -> str:
    """Return why no page can be at `path`, or nothing."""
    if path.isprintable() and "\\" not in path:
        return ""
    try:
        StorePath(path.encode().decode())
    except UnicodeEncodeError:  # bytes that are no UTF-8 are read as lone surrogates
        return "its name is not UTF-8, so that no page can refer to it"
    except InvalidIdError as error:
        return f"{error.found}, so that no page can be there"
    return ""


def _code(error: CounterfoilError) -> str:
    return "skipped-link" if isinstance(error, UnreadableError) else "unreadable-page"


def _refused(error: OSError) -> str:
    return f"it cannot be read: {error.strerror}"


def is_page(path: str, pages_directory: str) -> bool:
    """Say whether the file at `path` is a page, as far as its path tells."""
    is_below = path.startswith(f"{pages_directory}/") and path.endswith(".md")
    return is_below and not is_scaffold(path, pages_directory)
