r"""What an unfinished transaction was to do, in one file that is there whole or not at all.

```text
journal  = head LF manifest LF content
head     = {"digest":"sha256:…","schema":1}      of all that follows the head's line
manifest = {"directories":[…],"files":[{"after":…,"before":…,"path":…}],"nonce":…,"purpose":…}
content  = of each file in turn the bytes before, then the bytes after
```

`before` and `after` are null, for no file, or `{"bytes":…,"mode":…}`. The name of the
file says what became of it: `journal` is to be finished, `journal.undo` to be taken
back. Both are one rename, which needs no room on a full disk.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate, pairwise
from typing import Annotated, Literal, NamedTuple

import msgspec

from counterfoil.adapters.files.disk import faults_of
from counterfoil.adapters.files.paths import FileState, StoreRoot
from counterfoil.core.canonical import canonical_bytes
from counterfoil.core.digests import tagged_digest
from counterfoil.core.errors import CounterfoilError, InvalidIdError, UnreadableError
from counterfoil.core.knowledge.changes import KEPT, StorePath, may_be_written

Direction = Literal["finish", "undo"]

_NAMES: dict[Direction, str] = {"finish": "journal", "undo": "journal.undo"}
_TEMPORARY = "journal.tmp"
_NONCE = re.compile(r"[0-9a-f]{16}\Z")


class Goal(NamedTuple):
    """What a file shall be: its bytes, `None` for no file; a mode of `None` is anybody's."""

    content: bytes | None
    mode: int | None = None

    def is_met_by(self, state: FileState | None) -> bool:
        """Say whether a file of this `state` need not be written."""
        if state is None:
            return self.content is None
        return state.content == self.content and self.mode in (None, state.mode)


class PlannedFile(NamedTuple):
    """One file of a transaction: what it was, and the bytes and the mode that it gets."""

    path: StorePath
    before: FileState | None
    after: bytes | None
    mode: int | None

    def goal(self, direction: Direction) -> Goal:
        """Return what the file becomes in `direction`."""
        if direction == "finish":
            return Goal(self.after, self.mode)
        return Goal(*self.before) if self.before else Goal(None)

    def knows(self, content: bytes | None) -> bool:
        """Say whether `content` is what the file was or shall be, and nobody else's."""
        return content in (self.after, self.before and self.before.content)


class Journal(NamedTuple):
    """A transaction that is decided: its files, and the directories it has to make.

    `nonce` makes it unlike every other, and names its temporary files.
    """

    files: tuple[PlannedFile, ...]
    directories: tuple[StorePath, ...]
    nonce: str
    purpose: str


class _Content(msgspec.Struct, forbid_unknown_fields=True):
    bytes: Annotated[int, msgspec.Meta(ge=0)]
    mode: Annotated[int, msgspec.Meta(ge=0, le=0o7777)] | None


class _File(msgspec.Struct, forbid_unknown_fields=True):
    path: str
    before: _Content | None
    after: _Content | None


class _Manifest(msgspec.Struct, forbid_unknown_fields=True):
    directories: list[str]
    files: list[_File]
    nonce: str
    purpose: str


class _Head(msgspec.Struct, forbid_unknown_fields=True):
    digest: str
    schema: Literal[1]


def commit(root: StoreRoot, journal: Journal) -> None:
    """Decide the transaction: from here on it is finished or taken back as a whole.

    The decision outlasts a loss of power when the directory is synced, by the caller.
    """
    with root.directory(KEPT) as at, faults_of(f"{KEPT}/{_NAMES['finish']}"):
        with suppress(FileNotFoundError):
            os.stat(_TEMPORARY, dir_fd=at, follow_symlinks=False)
            root.disk.unlink(_TEMPORARY, at=at)
        try:
            _write(root, journal, at)
            root.disk.rename(_TEMPORARY, _NAMES["finish"], at=at)
        except OSError:
            with suppress(OSError):
                root.disk.unlink(_TEMPORARY, at=at)
            raise


def load(root: StoreRoot, direction: Direction) -> Journal | None:
    """Return the unfinished transaction that is to go in `direction`, or `None`.

    Raises:
        UnreadableError: There is one, but it cannot be what was written, or it names a
            file that no transaction changes.
    """
    path = f"{KEPT}/{_NAMES[direction]}"
    content = root.read(path)
    if content is None:
        return None
    try:
        return _decoded(content, root.pages)
    except (ValueError, CounterfoilError) as fault:
        raise UnreadableError(
            f"{root.path / path} cannot be read: {fault}",
            "an unfinished transaction of this store",
            "see that the pages are as they should be, then take that file away",
        ) from fault


def turn_back(root: StoreRoot) -> None:
    """Decide that the transaction is taken back; nothing else can become of it then."""
    _rename(root, _NAMES["finish"], _NAMES["undo"])


def set_aside(root: StoreRoot, direction: Direction, journal: Journal) -> str:
    """End the transaction but keep its bytes; return the path of the file with them."""
    name = f"conflict-{journal.nonce}"
    _rename(root, _NAMES[direction], name)
    return f"{KEPT}/{name}"


def drop(root: StoreRoot, direction: Direction) -> None:
    """End the transaction: from here on readers see its files as they are.

    That outlasts a loss of power when the directory is synced, by the caller.
    """
    with root.directory(KEPT) as at, faults_of(f"{KEPT}/{_NAMES[direction]}"):
        root.disk.unlink(_NAMES[direction], at=at)


def _rename(root: StoreRoot, name: str, new: str) -> None:
    with root.directory(KEPT) as at, faults_of(f"{KEPT}/{name}"):
        root.disk.rename(name, new, at=at)
        root.disk.sync(at)


def _write(root: StoreRoot, journal: Journal, at: int) -> None:
    """Nobody reads more in the journal than in its files."""
    mode = 0o644
    for file in journal.files:
        for known in (file.mode, file.before and file.before.mode):
            mode &= 0o777 if known is None else known | 0o600
    handle = root.disk.create(_TEMPORARY, at=at, mode=mode)
    try:
        root.disk.write(handle, _encoded(journal))
        root.disk.sync(handle)
    finally:
        os.close(handle)


def _encoded(journal: Journal) -> bytes:
    manifest = canonical_bytes(
        {
            "directories": journal.directories,
            "files": [
                {
                    "path": file.path,
                    "before": file.before and _described(*file.before),
                    "after": None if file.after is None else _described(file.after, file.mode),
                }
                for file in journal.files
            ],
            "nonce": journal.nonce,
            "purpose": journal.purpose,
        }
    )
    contents = (
        content
        for file in journal.files
        for content in (file.before and file.before.content, file.after)
        if content is not None
    )
    body = b"".join((manifest, b"\n", *contents))
    head = canonical_bytes({"digest": tagged_digest(body), "schema": 1})
    return head + b"\n" + body


def _described(content: bytes, mode: int | None) -> dict[str, int | None]:
    return {"bytes": len(content), "mode": mode}


def _decoded(content: bytes, pages: StorePath) -> Journal:
    """Return the journal, or raise `ValueError` or `InvalidIdError`."""
    line, _, body = content.partition(b"\n")
    head = msgspec.json.decode(line, type=_Head)
    if tagged_digest(body) != head.digest:
        raise ValueError("its digest is not that of its bytes")
    line, _, rest = body.partition(b"\n")
    manifest = msgspec.json.decode(line, type=_Manifest)
    if not _NONCE.match(manifest.nonce):
        raise ValueError(f"its nonce is {manifest.nonce!r}")
    pieces = _pieces(manifest, rest)
    files = tuple(_planned(file, pieces, pages) for file in manifest.files)
    directories = tuple(StorePath(path) for path in manifest.directories)
    if not all(any(file.path.startswith(f"{path}/") for file in files) for path in directories):
        raise ValueError("it names a directory that none of its files is in")
    return Journal(files, directories, manifest.nonce, manifest.purpose)


def _pieces(manifest: _Manifest, content: bytes) -> Iterator[bytes]:
    """Return an iterator of the bytes of each state in turn, which take up all of `content`."""
    sizes = [state.bytes for file in manifest.files for state in (file.before, file.after) if state]
    if sum(sizes) != len(content):
        raise ValueError("its sizes are not those of its bytes")
    ends = accumulate(sizes, initial=0)
    return (content[start:end] for start, end in pairwise(ends))


def _planned(file: _File, pieces: Iterator[bytes], pages: StorePath) -> PlannedFile:
    path = StorePath(file.path)
    if not may_be_written(path, pages):
        raise InvalidIdError(f"it names {path!r}", f"a page below {pages!r}, or a source")
    before = FileState(next(pieces), file.before.mode or 0) if file.before else None
    after = next(pieces) if file.after else None
    return PlannedFile(path, before, after, file.after.mode if file.after else None)
