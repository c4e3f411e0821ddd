"""Lines of a file as they come: whatever its size, little of it is held at a time."""

import codecs
import os
from collections.abc import Callable, Iterator
from io import BufferedReader
from typing import NamedTuple

from counterfoil.adapters.tools.answers import CallCancelledError

_PIECE = 64 * 1024

_ASKED_EVERY = 64 * 1024
"""Bytes after which it is asked again whether the lines are still wanted."""

_A_LINE = 32
"""Bytes that each line counts for beside its own."""


class FileLine(NamedTuple):
    """A line, or the first of it: its number, its bytes, and how many it has in all."""

    number: int
    content: bytes
    size: int

    @property
    def is_whole(self) -> bool:
        """Whether `content` is all of the line."""
        return len(self.content) == self.size


def pass_lines(file: BufferedReader, count: int, is_cancelled: Callable[[], bool]) -> int:
    """Move `file` behind its next `count` lines; return how many of them there were.

    Raises:
        CallCancelledError: Nobody wants them any more.
    """
    passed, is_open = 0, False
    while passed < count and (block := file.read(_PIECE)):
        _require_wanted(is_cancelled)
        found = block.count(b"\n")
        if passed + found >= count:
            place = -1
            for _ in range(count - passed):
                place = block.find(b"\n", place + 1)
            file.seek(place + 1 - len(block), os.SEEK_CUR)
            return count
        passed += found
        is_open = not block.endswith(b"\n")
    return passed + is_open


def lines_in(
    file: BufferedReader, keep: int, is_cancelled: Callable[[], bool], *, after: int = 0
) -> Iterator[FileLine]:
    """Yield the lines of `file` without their line feeds, `keep` bytes of each at most.

    The first of them has the number behind `after`.

    Raises:
        CallCancelledError: Nobody wants them any more.
    """
    number, unasked = after, 0
    while piece := file.readline(_PIECE):
        number += 1
        content, size = piece[: keep + 1], len(piece)
        while not piece.endswith(b"\n") and (further := file.readline(_PIECE)):
            piece = further
            content += piece[: keep + 1 - len(content)]
            size += len(piece)
            _require_wanted(is_cancelled)
        unasked += size + _A_LINE
        if unasked >= _ASKED_EVERY:
            unasked = 0
            _require_wanted(is_cancelled)
        yield FileLine(number, content.removesuffix(b"\n")[:keep], size - piece.endswith(b"\n"))


def _require_wanted(is_cancelled: Callable[[], bool]) -> None:
    if is_cancelled():
        raise CallCancelledError


def text_of(content: bytes, *, is_whole: bool = True) -> tuple[str, bool]:
    """Return `content` as text, and whether it was UTF-8 without a NUL.

    What cannot be read stands as `�`. Where `content` is only the first of a line, half a
    character at its end is left out.
    """
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(content, final=is_whole)
    except UnicodeDecodeError:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        return decoder.decode(content, final=is_whole).replace("\x00", _REPLACED), False
    return text.replace("\x00", _REPLACED), "\x00" not in text


_REPLACED = "\ufffd"
