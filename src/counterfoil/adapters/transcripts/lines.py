"""The physical lines of a file as bytes: LF alone ends one, whatever a string holds.

What is no record is told apart here: blank and `//` lines, runs of NUL, a byte order
mark, a line past the bound, a half line at the very end (transcripts.md 1, rules 1, 2).
"""

from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from counterfoil.core.errors import UnreadableError
from counterfoil.ports.transcripts import Measured

LONGEST = 48 << 20
"""Bytes of a line that are read; a longer one is reported with its size and passed over."""

_WHITE = b" \t\r\n\x0b\x0c"
_UTF8_BOM = b"\xef\xbb\xbf"
_OTHER_BOMS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


class Line(NamedTuple):
    """The content of line `number`, from 1; `is_ended` unless the file stops in it."""

    number: int
    content: bytes
    is_ended: bool


class Damage(NamedTuple):
    """Line `number` holds no whole record: the code of the caveat, and the bytes lost."""

    number: int
    what: str
    size: int
    detail: str = ""


class Tally:
    """What was counted while a file was read."""

    __slots__ = ("lines", "records", "repeated", "size", "skipped", "unknown")

    def __init__(self) -> None:
        self.size = self.lines = self.records = self.repeated = 0
        self.skipped: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()

    def measured(self) -> Measured:
        """Return what was counted, as the last item of a transcript."""
        return Measured(
            self.size, self.lines, self.records, self.skipped, self.unknown, self.repeated
        )


def read_lines(file: BinaryIO, tally: Tally) -> Iterator[Line | Damage]:
    """Yield the lines of `file` that can hold records, and what cannot be read.

    Raises:
        UnreadableError: The file begins like UTF-16 or UTF-32.
    """
    number = 0
    while raw := file.readline(LONGEST):
        number += 1
        tally.size += len(raw)
        found = told_apart(number, raw, file, tally)
        if found is not None:
            yield found
    tally.lines = number


def told_apart(number: int, raw: bytes, file: BinaryIO, tally: Tally) -> Line | Damage | None:
    """Return the line that `raw` begins or is, what is wrong with it, or `None`: no record."""
    if len(raw) == LONGEST and raw[-1:] != b"\n":
        rest = _pass_over(file)
        tally.size += rest
        size = len(raw) + rest
        return Damage(number, "line-too-long", size, f"{size:,} bytes")
    content = (_without_bom(raw, tally) if number == 1 else raw).strip(_WHITE)
    if not content:
        tally.skipped["blank-line"] += 1
    elif content.startswith(b"//"):
        tally.skipped["comment"] += 1
    elif not content.strip(b"\0"):
        return Damage(number, "nul-line", len(content))
    else:
        if content[:1] == b"\0" or content[-1:] == b"\0":
            tally.skipped["nul-run"] += 1
        return Line(number, content.strip(b"\0"), is_ended=raw.endswith(b"\n"))
    return None


def _without_bom(raw: bytes, tally: Tally) -> bytes:
    for mark, encoding in _OTHER_BOMS.items():
        if raw.startswith(mark):
            raise UnreadableError(
                f"{encoding} text", "UTF-8", "convert it, e.g. iconv -f UTF-16 -t UTF-8"
            )
    if raw.startswith(_UTF8_BOM):
        tally.skipped["byte-order-mark"] += 1
        return raw[len(_UTF8_BOM) :] or b"\n"
    return raw


def _pass_over(file: BinaryIO) -> int:
    """Read to the end of the line without keeping it, and return its bytes."""
    size = 0
    while rest := file.readline(1 << 20):
        size += len(rest)
        if rest.endswith(b"\n"):
            break
    return size
