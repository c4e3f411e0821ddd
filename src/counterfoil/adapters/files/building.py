"""How a store comes to be: whole and at once, or by what it lacks.

A store that is not there is built in a temporary directory beside its place, the
missing directories above it included, and moved there by one rename: a kill at any step
leaves nothing but that temporary directory. In a directory that is there already, only
what is missing is put, each file whole, and what is there stays as it is.
"""

import errno
import os
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from counterfoil.adapters.files.atomic import write_atomically
from counterfoil.adapters.files.disk import DISK, Disk, faults_of
from counterfoil.adapters.files.paths import StoreRoot, require_file
from counterfoil.adapters.files.ways import Site, site
from counterfoil.core.errors import CounterfoilError, UnreadableError
from counterfoil.ports.lineage import UnfinishedStore

UNFINISHED = ".counterfoil-unfinished-"
"""How the name of a temporary directory begins; the whole is longer than any run id."""

_RANDOM_BYTES = 56
_LEFT_BEHIND = 3600.0
"""Seconds by which a temporary directory is older when it is that of a dead process."""

_LOST = frozenset({errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.ENOENT})
"""What a rename says where somebody else made or removed something meanwhile."""

Scaffold = Mapping[str, bytes | None]
"""What a store has, by path, those above first; `None` stands for a directory."""


def is_whole(root: Path, names: Sequence[str], scaffold: Scaffold) -> bool:
    """Say whether the store is there, below `root` along `names`, with all its parts."""
    with site(root, names) as place:
        return not place.missing and not missing_parts(place.path, scaffold)


def missing_parts(store: Path, scaffold: Scaffold) -> tuple[str, ...]:
    """Return what the store at `store` lacks, in the order of `scaffold`.

    Raises:
        UnreadableError: A link or something of another kind stands in the place of a part.
    """
    return tuple(path for path, content in scaffold.items() if not _has(store, path, content))


def _has(store: Path, path: str, content: bytes | None) -> bool:
    *above, name = path.split("/")
    if content is None:
        above.append(name)
    with site(store, above) as here:
        if here.missing or content is None:
            return not here.missing
        called = str(here.path / name)
        with faults_of(called):
            return require_file(name, at=here.handle, called=called) is not None


@contextmanager
def unfinished(
    root: Path, names: Sequence[str], scaffold: Scaffold, disk: Disk = DISK
) -> Generator[UnfinishedStore, None, None]:
    """Begin the store below `root` along `names`; what is not finished is removed again."""
    with site(root, names) as place:
        make = _hidden if place.missing else _found
        with make(place, scaffold, disk) as store:
            yield store


@dataclass(slots=True)
class _HiddenStore:
    """A whole store in a temporary directory."""

    place: Site
    temporary: str
    root: StoreRoot
    disk: Disk

    def add(self, path: str, content: bytes) -> bool:
        with self.root.holding(path) as (at, name):
            write_atomically(at, name, content, disk=self.disk)
        return True

    def finish(self) -> bool:
        name = self.place.missing[0]
        with faults_of(f"store {self.place.path / name}"):
            try:
                self.disk.rename(self.temporary, name, at=self.place.handle)
            except OSError as error:
                if error.errno in _LOST:
                    return False
                raise
            self.disk.sync(self.place.handle)
        return True


@contextmanager
def _hidden(place: Site, scaffold: Scaffold, disk: Disk) -> Generator[_HiddenStore, None, None]:
    temporary = UNFINISHED + os.urandom(_RANDOM_BYTES).hex()
    path = place.path.joinpath(temporary, *place.missing[1:])
    with faults_of(f"store {place.path.joinpath(*place.missing)}"):
        disk.make_directory(temporary, at=place.handle)
    try:
        _sweep(place.handle, temporary)
        _make_inner(place, temporary, disk)
        with _root_at(path, disk) as root:
            store = _HiddenStore(place, temporary, root, disk)
            for part, content in scaffold.items():
                if content is None:
                    root.make_directories(part)
                else:
                    store.add(part, content)
            yield store
    finally:
        shutil.rmtree(temporary, ignore_errors=True, dir_fd=place.handle)


def _make_inner(place: Site, temporary: str, disk: Disk) -> None:
    """Make the directories between the temporary one and that of the store."""
    for depth in range(1, len(place.missing)):
        above = place.path.joinpath(temporary, *place.missing[1:depth])
        with site(above) as here, faults_of(f"store {above}"):
            disk.make_directory(place.missing[depth], at=here.handle)
            disk.sync(here.handle)


def _sweep(directory: int, temporary: str) -> None:
    """Remove what processes left behind that died long ago, as far as it can be."""
    with suppress(OSError):
        now = _changed(temporary, directory)
        for name in os.listdir(directory):
            if name.startswith(UNFINISHED) and now - _changed(name, directory) > _LEFT_BEHIND:
                shutil.rmtree(name, ignore_errors=True, dir_fd=directory)


def _changed(name: str, at: int) -> float:
    return os.stat(name, dir_fd=at, follow_symlinks=False).st_mtime


@dataclass(slots=True)
class _FoundStore:
    """A directory that was there, and what was put into it; kept until it is finished."""

    root: StoreRoot
    scaffold: Scaffold
    disk: Disk
    made: list[tuple[str, bool]] = field(default_factory=list)

    def add(self, path: str, content: bytes) -> bool:
        above, _, _ = path.rpartition("/")
        self._make_directories(above)
        with self.root.holding(path) as (at, name), faults_of(f"{self.root.path}/{path}"):
            if not _put_first(name, content, at=at, disk=self.disk):
                return False
            self.made.append((path, False))
            self.disk.sync(at)
        return True

    def finish(self) -> bool:
        for path in missing_parts(self.root.path, self.scaffold):
            content = self.scaffold[path]
            if content is None:
                self._make_directories(path)
            else:
                self.add(path, content)
        self.made.clear()
        return True

    def undo(self) -> None:
        for path, is_directory in reversed(self.made):
            with suppress(OSError, CounterfoilError), self.root.holding(path) as (at, name):
                remove = self.disk.remove_directory if is_directory else self.disk.unlink
                remove(name, at=at)

    def _make_directories(self, path: str) -> None:
        names = path.split("/")
        for depth in range(1, len(names) + 1):
            here = "/".join(names[:depth])
            with self.root.holding(here) as (at, name), faults_of(f"{self.root.path}/{here}"):
                with suppress(FileExistsError):
                    self.disk.make_directory(name, at=at)
                    self.made.append((here, True))
                self.disk.sync(at)


@contextmanager
def _found(place: Site, scaffold: Scaffold, disk: Disk) -> Generator[_FoundStore, None, None]:
    with _root_at(place.path, disk) as root:
        missing_parts(place.path, scaffold)  # what is of another kind is refused before anything
        store = _FoundStore(root, scaffold, disk)
        try:
            yield store
        finally:
            store.undo()


def _put_first(name: str, content: bytes, *, at: int, disk: Disk) -> bool:
    """Put a file there, whole, unless something has its name; only one process can win."""
    temporary = f".counterfoil-{os.urandom(8).hex()}.tmp"
    try:
        file = disk.create(temporary, at=at, mode=0o644)
        try:
            disk.write(file, content)
            disk.sync(file)
        finally:
            os.close(file)
        os.link(temporary, name, src_dir_fd=at, dst_dir_fd=at)
    except FileExistsError:
        return False
    finally:
        with suppress(OSError):
            disk.unlink(temporary, at=at)
    return True


def _root_at(path: Path, disk: Disk = DISK) -> StoreRoot:
    """Open the store at `path`, to which no link led a moment ago."""
    root = StoreRoot(path, disk=disk)
    if root.path != path:
        root.close()
        raise UnreadableError(f"{path} is reached through a symbolic link", "the directory itself")
    return root
