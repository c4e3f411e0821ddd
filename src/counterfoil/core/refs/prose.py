"""Where a reply speaks and where it shows: fences, quoted lines, URLs, sentences.

One pass over the lines of a Markdown text. Only what the reference grammars need is
read: no inline structure, no nesting, and nothing is ever an error.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"[ \t>]*+(`{3,}|~{3,})([^\n]*)")
_LINE = re.compile(r"[^\n]*\n?")
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
    """The parts of one text, each in the order of its places."""

    lines: tuple[tuple[int, int], ...]
    fences: tuple[Fence, ...]
    urls: tuple[tuple[int, int], ...]


def read_prose(text: str) -> Prose:
    """Return the parts of `text`; `lines` are those outside fences and block quotes."""
    lines: list[tuple[int, int]] = []
    fences: list[Fence] = []
    opened: tuple[int, int, str, str, tuple[int, int]] | None = None
    lead = (0, 0)
    for start, end in _lines(text):
        if opened is None:
            mark = _FENCE.match(text, start, end)
            if mark is not None and not (mark[1][0] == "`" and "`" in mark[2]):
                opened = start, end, mark[1], mark[2].strip(), lead
            elif not text.startswith(">", start):
                lines.append((start, end))
                lead = (start, end) if text[start:end].strip() else lead
        elif _closes(text, start, end, opened[2]):
            fences.append(Fence((opened[0], end), (opened[1], start), opened[3], opened[4]))
            opened, lead = None, (end, end)
    if opened is not None:
        fences.append(Fence((opened[0], len(text)), (opened[1], len(text)), opened[3], opened[4]))
    return Prose(tuple(lines), tuple(fences), tuple(_urls(text)))


def _lines(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _LINE.finditer(text) if match.end() > match.start())


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
    low, high = 0, len(spans)
    while low < high:
        middle = (low + high) // 2
        if spans[middle][1] <= place:
            low = middle + 1
        else:
            high = middle
    return low < len(spans) and spans[low][0] <= place


def sentence_before(text: str, place: int, *, reach: int = 120) -> str:
    """Return what the sentence says before `place`, at most `reach` characters of it."""
    start = max(0, place - reach)
    said = text[start:place]
    cut = max(said.rfind(stop) for stop in ("\n", ". ", "! ", "? ", "; "))
    return said[cut + 1 :]
