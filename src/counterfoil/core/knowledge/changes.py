"""What is to be written into a store: paths below its root, and changes of files there."""

import re
from dataclasses import dataclass
from typing import NamedTuple, Self
from unicodedata import category

from counterfoil.core.errors import InvalidIdError

KEPT = ".counterfoil"
"""The directory of a store that the program keeps for itself."""

RAW = "raw"
SOURCES = f"{RAW}/sources"
"""Where the copies of imported sources stand."""

REGISTRY = f"{KEPT}/sources.json"
LINEAGE = f"{KEPT}/lineage.json"

_DRIVE = re.compile(r"[A-Za-z]:")
_NOT_SEGMENTS = frozenset({"", ".", ".."})
_FILES = frozenset({REGISTRY, LINEAGE})
_PLACES = (
    f"{SOURCES}/",
    f"{KEPT}/promotions/",
    f"{KEPT}/receipts/",
    f"{KEPT}/migrations/",
)


class StorePath(str):
    """A path below the root of a store, with `/`: relative, and of plain segments alone.

    It says nothing of what stands there. Letters are kept as they are: two paths that
    differ in normal form are two paths.
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Make the path, or raise `InvalidIdError`."""
        fault = _fault_of(text)
        if fault:
            raise InvalidIdError(
                f"path {text!r} {fault}",
                "a relative path with '/' that stays below the store",
                "name the file from the root of the store on",
            )
        return super().__new__(cls, text)

    @property
    def segments(self) -> tuple[str, ...]:
        """The names of its directories, outermost first, and of the file."""
        return tuple(self.split("/"))


def _fault_of(text: str) -> str:
    """Return what keeps `text` from being a path of a store, or nothing."""
    if text.startswith("/"):
        return "is absolute"
    if _DRIVE.match(text):
        return "begins with a drive letter"
    if "\\" in text:
        return "has a backslash"
    if any(category(letter) in {"Cc", "Cs"} for letter in text):
        return "has a control character or a lone surrogate"
    strange = [segment for segment in text.split("/") if segment in _NOT_SEGMENTS]
    return f"has the segment {strange[0]!r}" if strange else ""


def pages_directory(text: str) -> StorePath:
    """Return the pages directory that `text` names; a slash at its end is dropped.

    Raises:
        InvalidIdError: It is no path below the root, or one that is kept for other things.
    """
    path = StorePath(text.removesuffix("/"))
    if path.segments[0].casefold() in {KEPT, RAW}:
        raise InvalidIdError(f"pages directory {text!r}", f"one that is not in {KEPT!r} or {RAW!r}")
    return path


def may_be_written(path: StorePath, pages: StorePath) -> bool:
    """Say whether `path` is one of those that a change of a store may touch.

    Those are what is below the directory `pages`, the raw sources, the registry, the
    lineage, promotions, receipts and migrations. A forged list of changes writes nowhere else.
    """
    return path in _FILES or path.startswith((f"{pages}/", *_PLACES))


ABSENT = "absent"
ANYTHING = "anything"
"""What a writer takes to be there, where it is no tagged digest: no file, or whatever it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file as it shall be: its bytes `after`, `None` being no file at all.

    `expected` is the tagged digest of what stands there, `ABSENT` or `ANYTHING`.
    `mode` holds permission bits; where it is left out an existing file keeps its own
    and a new one gets those that anybody's new files get.
    """

    path: StorePath
    after: bytes | None
    expected: str = ANYTHING
    mode: int | None = None


class WrittenFile(NamedTuple):
    """A file that was changed, with the digests of what it held and holds; `None`: no file."""

    path: StorePath
    before: str | None
    after: str | None
