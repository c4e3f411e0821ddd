"""What every store has from the beginning: directories, two texts for people, a registry."""

from pathlib import Path

from counterfoil.adapters.files.building import Scaffold, is_whole, unfinished
from counterfoil.adapters.files.disk import DISK, Disk
from counterfoil.adapters.files.making import making_alone
from counterfoil.core.knowledge.changes import KEPT, REGISTRY, SOURCES, pages_directory

_INDEX = """\
# Index

A way into these pages, kept by people. This file is not a page: nothing cites it, and no
check reads it.
"""

_LOG = """\
# Log

What was changed in these pages, when and why, the latest first. Kept by people, like
`index.md`; it is not a page either.
"""

_REGISTRY = b'{"schema": 1, "sources": []}\n'
_NOT_FOR_GIT = (
    b"# What belongs to this copy of the store alone.\nindex.db*\nlock\nepoch\njournal/\n"
)


def scaffold_of(pages: str = "knowledge") -> Scaffold:
    """Return what a store has whose pages are in the directory `pages`.

    Raises:
        InvalidIdError: `pages` is no directory that a store can have its pages in.
    """
    inside = pages_directory(pages)
    above = ["/".join(inside.segments[:depth]) for depth in range(1, len(inside.segments) + 1)]
    directories = dict.fromkeys([*above, SOURCES.partition("/")[0], SOURCES, KEPT])
    return {
        **directories,
        f"{inside}/index.md": _INDEX.encode(),
        f"{inside}/log.md": _LOG.encode(),
        REGISTRY: _REGISTRY,
        f"{KEPT}/.gitignore": _NOT_FOR_GIT,
    }


def init_store(root: Path, *, pages: str = "knowledge", disk: Disk = DISK) -> bool:
    """Make the store at `root`, or put in what it lacks; `False`: it was whole.

    All is looked at first: what is refused leaves the disk as it was.

    Raises:
        InvalidIdError: `pages` is no directory that a store can have its pages in.
        UnreadableError: A link or something else is where a part of the store should be.
        UnavailableError: It cannot be made there; what was made of it is gone again.
    """
    scaffold = scaffold_of(pages)
    with making_alone(root):
        if is_whole(root, (), scaffold):
            return False
        while True:
            with unfinished(root, (), scaffold, disk) as store:
                if store.finish():
                    return True
