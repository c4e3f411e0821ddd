"""Math in Markdown, which CommonMark does not know: `$$…$$` and `$…$`.

`$…$` stands in one paragraph and goes to the next `$`, with no white space inside either
and no digit behind the second, so that amounts of money are none. `$$…$$` goes to the
next `$$`, over blank lines too. An escaped dollar is none, nor is one in code or in a
comment (knowledge.md section 1, "Body").
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

Span = tuple[int, int]
"""Where something begins, and the place past its end."""


class Cover:
    """Spans that can be asked what they cover."""

    def __init__(self, spans: Iterable[Span]) -> None:
        """Hold `spans`, in any order; one may lie in another."""
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if not self._ends or start >= self._ends[-1]:
                self._starts.append(start)
                self._ends.append(end)
            else:
                self._ends[-1] = max(self._ends[-1], end)

    def holds(self, at: int) -> bool:
        """Say whether a span covers the character at `at`."""
        before = bisect_right(self._starts, at)
        return before > 0 and at < self._ends[before - 1]

    def touches(self, start: int, end: int) -> bool:
        """Say whether a span covers a character from `start` to before `end`."""
        return self.holds(start) or bisect_left(self._starts, end) > bisect_right(
            self._starts, start
        )


def is_escaped(text: str, at: int) -> bool:
    """Say whether an odd number of backslashes stands before `at`."""
    begin = at
    while begin and text[begin - 1] == "\\":
        begin -= 1
    return (at - begin) % 2 == 1


def find_math(body: str, hidden: Cover, blocks: Sequence[int]) -> Iterator[Span]:
    """Yield the math of `body` outside `hidden`; at `blocks` paragraphs begin, in order."""
    dollars = [at for at in _dollars(body) if not hidden.holds(at)]
    doubles = [n for n, at in enumerate(dollars[:-1]) if dollars[n + 1] == at + 1]
    index = 0
    while index < len(dollars) - 1:
        at, following = dollars[index], dollars[index + 1]
        if following == at + 1:
            closing = bisect_left(doubles, index + 2)
            index += 2
            if closing < len(doubles):
                index = doubles[closing] + 2
                yield at, dollars[index - 1] + 1
        elif _is_inline(body, at, following, blocks):
            index += 2
            yield at, following + 1
        else:
            index += 1


def _dollars(body: str) -> Iterator[int]:
    at = body.find("$")
    while at >= 0:
        if not is_escaped(body, at):
            yield at
        at = body.find("$", at + 1)


def _is_inline(body: str, at: int, end: int, blocks: Sequence[int]) -> bool:
    if body[at + 1].isspace() or body[end - 1].isspace() or body[end + 1 : end + 2].isdigit():
        return False
    return bisect_right(blocks, at) == bisect_right(blocks, end)
