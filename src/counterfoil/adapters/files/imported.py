"""What is to be imported, read from outside of the store: a file, a tree of files, a text."""

import mimetypes
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from counterfoil.adapters.files.disk import DIRECTORY, faults_of
from counterfoil.adapters.files.paths import StoreRoot, read_file
from counterfoil.core.errors import InvalidIdError, NotFoundError, UnreadableError
from counterfoil.core.knowledge.sources import is_text

_TYPES = mimetypes.MimeTypes()  # without the tables of the system, which differ
_TYPES.add_type("text/markdown", ".md")  # not known to every release of Python


class Imported(NamedTuple):
    """Bytes to import, the name that they had, and where they are from."""

    content: bytes
    name: str
    uri: str
    title: str

    @property
    def media_type(self) -> str:
        """What the name says that the bytes are, else what they look like."""
        kind, _ = _TYPES.guess_type(self.name)
        return kind or ("text/plain" if is_text(self.content) else "application/octet-stream")


class GivenText(NamedTuple):
    """A text to import, its title, and where it is from, if that is anywhere."""

    text: str
    title: str
    uri: str = ""


def imported(what: Path | GivenText) -> tuple[Imported, ...]:
    """Return what there is to import, a tree in the order of its paths.

    Raises:
        InvalidIdError: A text has a lone surrogate, a path of a tree a control character.
        NotFoundError: Nothing is there.
        UnreadableError: A link or something special is there, or anywhere in the tree.
        UnavailableError: The system does not let it be read.
    """
    if isinstance(what, GivenText):
        return (_of_text(what),)
    with faults_of(str(what)):
        try:
            mode = what.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NotFoundError(f"nothing at {what}", "a file or a directory to import") from error
    if stat.S_ISDIR(mode):
        with StoreRoot(what) as tree:
            return tuple(_of_tree(tree, what))
    return (_of_file(what),)


def _of_text(given: GivenText) -> Imported:
    try:
        content = given.text.encode()
    except UnicodeEncodeError as error:
        raise InvalidIdError(
            f"text with a lone surrogate at {error.start}", "text that UTF-8 has"
        ) from error
    title = given.title.strip() or "text"
    return Imported(content, f"{title}.txt", given.uri, title)


def _of_file(path: Path) -> Imported:
    """Return the file at `path`; links on the way to it are the caller's own."""
    with faults_of(str(path)):
        above = os.open(path.parent, os.O_RDONLY | DIRECTORY)
    try:
        state = read_file(path.name, at=above, called=str(path))
    finally:
        os.close(above)
    if state is None:
        raise NotFoundError(f"nothing at {path}", "a file to import")
    return Imported(state.content, path.name, path.as_posix(), path.stem)


def _of_tree(tree: StoreRoot, named: Path) -> Iterator[Imported]:
    for path in sorted(_files_of(tree, named)):
        name = path.rpartition("/")[2]
        content = tree.read(path)
        if content is not None:  # else it went away meanwhile
            uri = (named / path).as_posix()
            yield Imported(content, name, uri, Path(name).stem)


def _files_of(tree: StoreRoot, named: Path) -> Iterator[str]:
    """Yield the paths of all files, having seen that there is nothing else."""
    waiting = [""]
    while waiting:  # a tree may be deeper than Python's stack
        above = waiting.pop()
        for name, kind in _listed(tree, above, f"{named}/{above}"):
            path = f"{above}/{name}".lstrip("/")
            if kind == "directory":
                waiting.append(path)
            elif kind == "file":
                yield path
            else:
                raise _strange(named / path, kind)


def _listed(tree: StoreRoot, above: str, called: str) -> list[tuple[str, str]]:
    """Return the names in a directory, each with what it is the name of."""
    with tree.directory(above) as handle, faults_of(called), os.scandir(handle) as names:
        return [(found.name, _kind(found)) for found in names]


def _kind(found: "os.DirEntry[str]") -> str:
    if found.is_symlink():
        return "a symbolic link"
    if found.is_dir(follow_symlinks=False):
        return "directory"
    is_file = found.is_file(follow_symlinks=False)
    return "file" if is_file else "neither a file nor a directory"


def _strange(path: Path, kind: str) -> UnreadableError:
    return UnreadableError(
        f"{path} is {kind}; nothing was imported",
        "a tree of files and directories alone",
        "take it out of the tree, or import the files one by one",
    )
