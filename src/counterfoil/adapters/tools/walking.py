"""What there is below a folder, in the order of the names; no link is followed."""

import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from counterfoil.adapters.tools.answers import Patience
from counterfoil.adapters.tools.roots import Target, kind_of_mode, opened_folder
from counterfoil.core.errors import CounterfoilError

MOST = 100_000
"""Files and folders that one call looks at; a walk that meets more ends, and says so."""

_PASSED_OVER = frozenset({".git"})


class Found(NamedTuple):
    """Something below a folder: the names that lead there, its kind and its size."""

    names: tuple[str, ...]
    kind: str
    size: int
    identity: tuple[int, int]


class Walk:
    """One way through all that is below `target`, itself a folder.

    `unreadable` counts the folders that could not be entered; `is_whole` says whether the
    walk came to its end. What has a name that it `passes_over` is not there for it.
    """

    def __init__(
        self,
        target: Target,
        patience: Patience,
        *,
        most: int = MOST,
        passes_over: frozenset[str] = _PASSED_OVER,
    ) -> None:
        self.unreadable = 0
        self.is_whole = True
        self._target = target
        self._patience = patience
        self._left = most
        self._passes_over = passes_over

    def __iter__(self) -> Iterator[Found]:
        """Yield what there is, each folder before what is in it.

        Raises:
            NotFoundError: Nothing is at the target.
            UnreadableError: It is no folder.
        """
        waiting = list(reversed(listed(self._target)))
        while waiting:
            found = waiting.pop()
            if found.names[-1] in self._passes_over:
                continue
            if self._left <= 0 or self._patience.is_over():
                self.is_whole = False
                return
            self._left -= 1
            yield found
            if found.kind == "folder":
                waiting.extend(reversed(self._inside(found.names)))

    def _inside(self, names: tuple[str, ...]) -> list[Found]:
        try:
            return listed(self._target, names)
        except CounterfoilError:
            self.unreadable += 1
            return []


def listed(target: Target, names: tuple[str, ...] = ()) -> list[Found]:
    """Return what is in the folder at `names` below `target`, by name."""
    with opened_folder(target.below(names)) as handle, os.scandir(handle) as rows:
        found = [_found(names, row) for row in rows]
    return sorted(found, key=lambda one: one.names)


def _found(names: tuple[str, ...], row: "os.DirEntry[str]") -> Found:
    try:
        seen = row.stat(follow_symlinks=False)
    except OSError:  # it went away meanwhile
        return Found((*names, row.name), "gone", 0, (0, 0))
    size = seen.st_size if stat.S_ISREG(seen.st_mode) else 0
    return Found((*names, row.name), kind_of_mode(seen.st_mode), size, (seen.st_dev, seen.st_ino))
