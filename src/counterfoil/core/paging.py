"""Pages of whole lines, bounded in bytes.

A line ends with a line feed and with nothing else, as editors and `grep -n` count; a line
feed at the end begins no other line. A line longer than a page is cut between two
characters, and says so in its own text.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

_INSIDE = range(0x80, 0xC0)
"""Bytes of UTF-8 that begin no character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePage:
    """A page: its text, its first and last line, and the next one, `None` at the end.

    A page behind the end is empty, its last line the one before its first. `is_cut`: a
    line was too long for a page, and what is past its mark is on no page.
    """

    text: str
    first: int
    last: int
    next_line: int | None
    is_cut: bool = False


def lines_of(text: str) -> list[str]:
    r"""Return the lines of `text` without their line feeds.

    >>> lines_of("a\n\nb\r\n"), lines_of("")
    (['a', '', 'b\r'], [])
    """
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def page_of(text: str, from_line: int, limit: int) -> LinePage:
    """Return the lines of `text` from `from_line` on that fit into `limit` bytes."""
    first = max(from_line, 1)
    return page_of_lines(islice(lines_of(text), first - 1, None), first, limit)


def page_of_lines(lines: Iterable[str], first: int, limit: int) -> LinePage:
    """Return a page of the first of `lines`, which begin with number `first`.

    Of `lines` no more is asked for than one behind the page. `limit` bounds the bytes of
    the page in UTF-8, and is at least 64, so that there is room for a mark.
    """
    kept: list[str] = []
    size = -1
    is_cut = has_more = False
    for line in lines:
        size += size_of(line) + 1
        if size > limit:
            if kept:
                has_more = True
                break
            is_cut = True
        kept.append(cut_line(line, limit))
    last = first + len(kept) - 1
    return LinePage(
        text="\n".join(kept),
        first=first,
        last=last,
        next_line=last + 1 if has_more else None,
        is_cut=is_cut,
    )


def cut_line(line: str, limit: int, total: int | None = None) -> str:
    """Return `line`, or as much of it as fits with a mark into `limit` bytes.

    `total` is how many bytes the line has where `line` is its beginning alone.
    """
    content = line.encode("utf-8", "surrogatepass")
    whole = len(content) if total is None else total
    if max(whole, len(content)) <= limit:
        return line
    mark = f"… [cut: a line of {whole:,} bytes]"
    end = min(max(limit - size_of(mark), 0), len(content))
    while end and end < len(content) and content[end] in _INSIDE:
        end -= 1
    return content[:end].decode("utf-8", "surrogatepass") + mark


def size_of(text: str) -> int:
    """Return the bytes of `text` in UTF-8, those of lone surrogates with it."""
    return len(text.encode("utf-8", "surrogatepass"))
