"""Pages read and understood, in as many processes as there are processors.

A page comes back as a row of the index with the keys under which it is found: a worker
has done all of its work, and the index only keeps it.
"""

import gc
import os
import threading
from array import array
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import groupby
from typing import NamedTuple

from counterfoil.adapters.files.paths import StoreRoot, read_file
from counterfoil.core.errors import CounterfoilError
from counterfoil.core.knowledge.pages import Page
from counterfoil.core.knowledge.view import key_number, keys_written, names_of
from counterfoil.wire.page_rows import page_to_row
from counterfoil.wire.pages import read_page

_ALONE = 2000
"""Pages up to which one process is quicker than starting others."""

_BATCH = 250
"""Pages that a worker reads before it hands them over."""


class ReadFile(NamedTuple):
    """A page as the index keeps it, or the reason why it could not be read.

    Its keys are packed, four bytes each: a hundred thousand pages wait together.
    """

    path: str
    digest: bytes
    is_invalidated: bool
    names: bytes
    references: bytes
    row: bytes
    fault: str | None = None


def unpacked(keys: bytes) -> "array[int]":
    """Return the numbers of packed keys."""
    return array("I", keys)


def _packed(keys: Iterable[str]) -> bytes:
    return array("I", {key_number(key) for key in keys}).tobytes()


def read_content(path: str, content: bytes, pages_directory: str) -> ReadFile:
    """Return the page that `content` is, at `path`."""
    page = read_page(content, path, pages_directory=pages_directory).page
    return _understood(page, sha256(content).digest())


def _understood(page: Page, digest: bytes) -> ReadFile:
    return ReadFile(
        path=page.path,
        digest=digest,
        is_invalidated=page.invalidation is not None,
        names=_packed(names_of(page)),
        references=_packed(keys_written(page)),
        row=page_to_row(page),
    )


def read_files(root: StoreRoot, paths: Sequence[str]) -> Iterator[ReadFile]:
    """Yield the page at each of `paths`; what is gone meanwhile is left out."""
    ordered = sorted(paths)
    processes = min(_processors(), 1 + len(ordered) // _ALONE)
    if processes < 2 or threading.active_count() > 1:  # noqa: PLR2004 - a fork copies no thread
        yield from _read_batch(root, ordered)
        return
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - only for many pages
    from multiprocessing import get_context  # noqa: PLC0415 - the same

    context = get_context("fork")
    with ProcessPoolExecutor(
        processes, mp_context=context, initializer=_start, initargs=(root,)
    ) as pool:
        for batch in pool.map(_work, _batches(ordered)):
            yield from batch


def _processors() -> int:
    if not hasattr(os, "fork") or not hasattr(os, "sched_getaffinity"):
        return 1
    return len(os.sched_getaffinity(0))


def _batches(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    return (paths[start : start + _BATCH] for start in range(0, len(paths), _BATCH))


_roots: list[StoreRoot] = []
"""The store that a worker reads: it is inherited open, and cannot be sent."""


def _start(root: StoreRoot) -> None:
    _roots[:] = [root]
    gc.disable()  # what a worker makes has no cycles, and is gone with the batch


def _work(paths: Sequence[str]) -> list[ReadFile]:
    return list(_read_batch(_roots[0], paths))


def _read_batch(root: StoreRoot, paths: Iterable[str]) -> Iterator[ReadFile]:
    for directory, below in groupby(paths, key=_directory):
        try:
            with root.directory(directory) as handle:
                for path in below:
                    yield from _read_one(root, handle, path)
        except CounterfoilError:  # it went away since the scan
            continue


def _directory(path: str) -> str:
    return path.rpartition("/")[0]


def _read_one(root: StoreRoot, handle: int, path: str) -> Iterator[ReadFile]:
    try:
        found = read_file(path.rpartition("/")[2], at=handle, called=path)
    except CounterfoilError as error:
        yield ReadFile(path, b"", False, b"", b"", b"", error.diagnosis())  # noqa: FBT003 - a row
        return
    if found is not None:
        yield read_content(path, found.content, root.pages)
