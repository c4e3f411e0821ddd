"""Where a reply speaks and where it shows: fences, quoted lines, URLs, sentences.

One pass over the lines of a Markdown text. Only what the reference grammars need is
read: no inline structure, no nesting, and nothing is ever an error.
"""

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

_FENCE = re.compile(r"[ \t>]*+(`{3,}|~{3,})([^\n]*)")
_URL_ENDS = frozenset(" \t\r\n<>\"'`|\\^{}")
_TRAILING = ".,;:!?*_"
_LONGEST_SCHEME = 16


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block: its content, its info string, and the paragraph line before it."""

    span: tuple[int, int]
    content: tuple[int, int]
    info: str
    lead: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Prose:
    """The parts of one text, each in the order of its places.

    `spoken` are the stretches outside fences and quoted lines, cut at line ends.
    """

    spoken: tuple[tuple[int, int], ...]
    fences: tuple[Fence, ...]
    urls: tuple[tuple[int, int], ...]


def read_prose(text: str) -> Prose:
    """Return the parts of `text`."""
    urls = tuple(_urls(text)) if "://" in text else ()
    if not ("```" in text or "~~~" in text or "\n>" in text or text[:1] == ">"):
        return Prose(((0, len(text)),), (), urls)
    return Prose(*_parts(text), urls)


def _parts(text: str) -> tuple[tuple[tuple[int, int], ...], tuple[Fence, ...]]:
    spoken: list[tuple[int, int]] = []
    fences: list[Fence] = []
    opened: _Opened | None = None
    lead = (0, 0)
    for start, end in lines_of(text, 0, len(text)):
        if opened is None:
            mark = _FENCE.match(text, start, end)
            if mark is not None and not (mark[1][0] == "`" and "`" in mark[2]):
                opened = _Opened(start, end, mark[1], mark[2].strip(), lead)
            elif not text.startswith(">", start):
                lead = (start, end) if text[start:end].strip() else lead
                if spoken and spoken[-1][1] == start:
                    spoken[-1] = (spoken[-1][0], end)
                else:
                    spoken.append((start, end))
        elif _closes(text, start, end, opened.mark):
            fences.append(opened.closed(start, end))
            opened, lead = None, (end, end)
    if opened is not None:
        fences.append(opened.closed(len(text), len(text)))
    return tuple(spoken), tuple(fences)


class _Opened(NamedTuple):
    """A fence that is not closed yet."""

    start: int
    content: int
    mark: str
    info: str
    lead: tuple[int, int]

    def closed(self, content_end: int, end: int) -> Fence:
        return Fence((self.start, end), (self.content, content_end), self.info, self.lead)


def lines_of(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of `text` from `start` to `end`, their ends included."""
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop + 1
        yield start, stop
        start = stop


def _closes(text: str, start: int, end: int, mark: str) -> bool:
    found = _FENCE.match(text, start, end)
    return (
        found is not None
        and found[1][0] == mark[0]
        and len(found[1]) >= len(mark)
        and not found[2].strip()
    )


def _urls(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of URLs: a scheme, `://`, and all that can belong to it."""
    done = 0
    middle = text.find("://")
    while middle >= 0:
        start = middle
        while start > max(done, middle - _LONGEST_SCHEME) and _in_scheme(text[start - 1]):
            start -= 1
        end = middle + 3
        while end < len(text) and text[end] not in _URL_ENDS:
            end += 1
        end = _trimmed(text, middle + 3, end)
        if start < middle and text[start].isalpha() and end > middle + 3:
            yield start, end
        done = end
        middle = text.find("://", end)


def _in_scheme(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character in "+-.")


def _trimmed(text: str, start: int, end: int) -> int:
    """Leave the punctuation of the sentence, and a bracket opened outside, out of a URL."""
    spare = {")": text.count(")", start, end) - text.count("(", start, end)}
    spare["]"] = text.count("]", start, end) - text.count("[", start, end)
    while end > start:
        last = text[end - 1]
        if last in _TRAILING:
            end -= 1
        elif spare.get(last, 0) > 0:
            spare[last] -= 1
            end -= 1
        else:
            break
    return end


def is_within(spans: tuple[tuple[int, int], ...], place: int) -> bool:
    """Say whether `place` is in one of `spans`, which ascend."""
    if not spans:
        return False
    at = bisect_right(spans, (place, sys.maxsize)) - 1
    return at >= 0 and spans[at][0] <= place < spans[at][1]


def spans_within(
    spans: tuple[tuple[int, int], ...], start: int, end: int
) -> Iterator[tuple[int, int]]:
    """Yield those of `spans`, which ascend, that begin from `start` on and before `end`."""
    at = bisect_left(spans, (start, 0))
    while at < len(spans) and spans[at][0] < end:
        yield spans[at]
        at += 1


def sentence_before(text: str, place: int, *, reach: int = 120) -> str:
    """Return what the sentence says before `place`, at most `reach` characters of it."""
    start = max(0, place - reach)
    said = text[start:place]
    cut = max(said.rfind(stop) for stop in ("\n", ". ", "! ", "? ", "; "))
    return said[cut + 1 :]
