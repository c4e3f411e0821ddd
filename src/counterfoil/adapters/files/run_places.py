"""Where the stores of runs stand: `<root>/<run>/knowledge-base`, or where one is told.

What is not below the root, by its canonical path, is refused, and so is a link on the
way. Two run ids that differ in letter case or normal form alone never both get a place.
"""

import os
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePath
from unicodedata import normalize

from counterfoil.adapters.files.building import is_whole, unfinished
from counterfoil.adapters.files.disk import DISK, Disk, faults_of
from counterfoil.adapters.files.making import PATIENCE, making_alone
from counterfoil.adapters.files.paths import read_file
from counterfoil.adapters.files.scaffold import scaffold_of
from counterfoil.adapters.files.ways import site
from counterfoil.core.errors import InvalidIdError, NotFoundError
from counterfoil.core.ids import RunId
from counterfoil.core.knowledge.changes import KEPT
from counterfoil.core.knowledge.lineage import folded
from counterfoil.ports.lineage import UnfinishedStore

PLACE = "knowledge-base"
"""The name of a run's store in the run's directory."""

StorePathOf = Callable[[RunId], str | os.PathLike[str]]
"""Says where the store of a run stands: a path from the root on, or one below it."""


class FileRunPlaces:
    """The places of the stores of runs below one directory, which need not be there yet."""

    def __init__(
        self,
        root: Path,
        store_path: StorePathOf | None = None,
        *,
        pages: str = "knowledge",
        patience: float = PATIENCE,
        disk: Disk = DISK,
    ) -> None:
        """Let `store_path` say where stores stand; it must give one path for one run.

        Raises:
            InvalidIdError: `pages` is no directory that a store can have its pages in.
        """
        self.root = root
        self._store_path = store_path
        self._scaffold = scaffold_of(pages)
        self._patience = patience
        self._disk = disk
        self._mine = threading.local()

    def runs(self) -> tuple[RunId, ...]:
        """Return the runs that have a store, in the order of their ids.

        Where `store_path` says the places, those whose id is a name on the way to their
        store.

        Raises:
            NotFoundError: The root is not there.
        """
        with site(self.root) as here:
            if here.missing:
                raise NotFoundError(
                    f"no directory {self.root}",
                    "one that holds the stores of runs",
                    "check the path; the first `init` of a run makes it",
                )
            with faults_of(str(self.root)):
                found = self._by_name(here.path) if self._store_path is None else self._by_walk()
                return tuple(sorted(set(found)))

    def find(self, run: RunId) -> Path | None:
        """Return the canonical path of the store of `run`, or `None` where none is.

        Raises:
            InvalidIdError: `store_path` leads out of the root.
            UnreadableError: A link or a file is on the way.
        """
        with site(self.root, self._names(run)) as here:
            return None if here.missing else here.path

    def read(self, run: RunId, path: str) -> bytes | None:
        """Return the file at `path` in the store of `run`, or `None` where none is.

        Raises:
            UnreadableError: A link, or something that is no file, is there or on the way.
            UnavailableError: The system does not let it be read.
        """
        *above, name = path.split("/")
        with site(self.root, (*self._names(run), *above)) as here:
            if here.missing:
                return None
            found = read_file(name, at=here.handle, called=self.shown(run, path))
            return found.content if found else None

    def shown(self, run: RunId, path: str = "") -> str:
        """Return how the store of `run`, or the file at `path` in it, is called in a message."""
        return str(self.root.joinpath(*self._names(run), path))

    def rival_of(self, spelling: str) -> str | None:
        """Return the path, from the root on, that some disks do not tell from that of a run."""
        names = self._names(spelling)
        for depth, name in enumerate(names):
            with site(self.root, names[:depth]) as here:
                if here.missing:
                    return None
                with faults_of(str(here.path)):
                    there = os.listdir(here.handle)  # noqa: PTH208 - of what is open
            rivals = [other for other in there if other != name and folded(other) == folded(name)]
            if rivals:
                return "/".join((*names[:depth], min(rivals)))
        return None

    def is_finished(self, run: RunId) -> bool:
        """Say whether the store of `run` is there with all its parts.

        Raises:
            UnreadableError: Something else stands where a part of it should.
        """
        return is_whole(self.root, self._names(run), self._scaffold)

    @contextmanager
    def to_oneself(self) -> Generator[None, None, None]:
        """Keep others from making stores here; whoever does so already may again.

        Raises:
            UnavailableError: Somebody else does so for longer than is waited for.
        """
        if getattr(self._mine, "is_held", False):
            yield
            return
        with making_alone(self.root, patience=self._patience):
            self._mine.is_held = True
            try:
                yield
            finally:
                self._mine.is_held = False

    def unfinished(self, spelling: str) -> AbstractContextManager[UnfinishedStore]:
        """Begin to make, or to complete, the store of a run; see `building`."""
        return unfinished(self.root, self._names(spelling), self._scaffold, self._disk)

    def _names(self, run: str) -> tuple[str, ...]:
        """Return the names that lead from the root to the store of `run`."""
        if self._store_path is None:
            return (run, PLACE)
        given = os.fspath(self._store_path(RunId(run)))
        names = _below(self.root, given)
        if not names or ".." in names or "\0" in given:
            raise InvalidIdError(
                f"the place {given!r} of run {str(run)!r}",
                f"one below {self.root}",
                "correct the function that says where stores stand",
            )
        return names

    def _by_name(self, root: Path) -> Iterator[RunId]:
        with os.scandir(root) as found:
            directories = [entry for entry in found if entry.is_dir(follow_symlinks=False)]
        for entry in directories:
            run = _run_called(entry.name)
            if run is not None and _is_directory(root / entry.name / PLACE):
                yield run

    def _by_walk(self) -> Iterator[RunId]:
        root = self.root.resolve()
        for path, directories, _ in os.walk(root):
            if KEPT not in directories:
                continue
            directories.clear()
            parts = Path(path).relative_to(root).parts
            for run in filter(None, map(_run_called, parts)):
                if _same(self._names(run), parts):
                    yield run


def _below(root: Path, given: str) -> tuple[str, ...]:
    """Return the names from `root` to `given`; none where it is the root, or not below it."""
    path = PurePath(given)
    if not path.is_absolute():
        return path.parts
    for base in (Path(os.path.abspath(root)), root.resolve()):  # noqa: PTH100 - follows nothing
        if path.is_relative_to(base):
            return path.relative_to(base).parts
    return ()


def _run_called(name: str) -> RunId | None:
    try:
        return RunId(name)
    except InvalidIdError:
        return None


def _same(names: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return normalize("NFC", "/".join(names)) == normalize("NFC", "/".join(other))


def _is_directory(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
