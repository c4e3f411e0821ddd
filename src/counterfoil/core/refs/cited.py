"""The entries a reply cites, weighed against those that exist, and the one line.

Existing is the whole check (references.md 1.2 and 1.3). Numbers are counted with
interval arithmetic and never expanded past the hundred that are checked, so that
`entries 1-999999999` costs what `entries 1-9` costs.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from counterfoil.core.refs.entries import EntryReference

CHECKED = 100
"""Distinct numbers of a reply that are checked; the rest are counted."""

GROUPS = 8
"""Groups of missing numbers that the line names; the rest are counted."""

Interval = tuple[int, int]


class Intervals:
    """A set of whole numbers, kept as sorted intervals that do not touch."""

    __slots__ = ("_highs", "_lows")

    def __init__(self, intervals: Iterable[Interval] = ()) -> None:
        """Hold the numbers of all `intervals`, which come in any order."""
        self._lows: list[int] = []
        self._highs: list[int] = []
        for low, high in sorted(intervals):
            if self._highs and low <= self._highs[-1] + 1:
                self._highs[-1] = max(self._highs[-1], high)
            else:
                self._lows.append(low)
                self._highs.append(high)

    def __contains__(self, number: int) -> bool:
        """Say whether `number` is in the set."""
        place = bisect_right(self._lows, number) - 1
        return place >= 0 and number <= self._highs[place]

    def __iter__(self) -> Iterator[Interval]:
        """Yield the intervals in ascending order."""
        return zip(self._lows, self._highs, strict=True)

    def add(self, low: int, high: int) -> None:
        """Put in every number from `low` to `high`."""
        first = bisect_left(self._highs, low - 1)
        last = bisect_right(self._lows, high + 1)
        if first < last:
            low = min(low, self._lows[first])
            high = max(high, self._highs[last - 1])
        self._lows[first:last] = [low]
        self._highs[first:last] = [high]

    def count(self) -> int:
        """Return how many numbers are in the set."""
        return sum(high - low + 1 for low, high in self)

    def gaps(self, low: int, high: int) -> Iterator[Interval]:
        """Yield the intervals from `low` to `high` that are not in the set, ascending."""
        place = bisect_left(self._highs, low)
        while low <= high:
            if place == len(self._lows) or self._lows[place] > high:
                yield low, high
                return
            if low < self._lows[place]:
                yield low, self._lows[place] - 1
            low = self._highs[place] + 1
            place += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedEntries:
    """The numbers checked, in the order cited, those of them missing, and the rest counted."""

    cited: tuple[int, ...]
    missing: tuple[int, ...]
    unchecked: int

    @property
    def line(self) -> str | None:
        """The line under the reply; `None` when there is nothing to say."""
        if self.missing:
            return _missing_line(self.missing, is_whole=not self.unchecked)
        if self.unchecked:
            total = len(self.cited) + self.unchecked
            return f"cited: only the first {CHECKED} of {total} entries were checked"
        return None


def check_entries(references: Iterable[EntryReference], stored: Intervals) -> CitedEntries:
    """Weigh the numbers of `references` against the `stored` ones of the thread.

    The first hundred distinct numbers are checked; how many more were cited is exact.
    """
    seen = Intervals()
    cited: list[int] = []
    intervals: list[Interval] = []
    for low, high in (item for reference in references for item in reference.items):
        intervals.append((low, high))
        for first, last in list(seen.gaps(low, high)) if len(cited) < CHECKED else ():
            end = min(last, first + CHECKED - len(cited) - 1)
            cited.extend(range(first, end + 1))
            seen.add(first, end)
    total = Intervals(intervals).count()
    return CitedEntries(
        cited=tuple(cited),
        missing=tuple(number for number in cited if number not in stored),
        unchecked=total - len(cited),
    )


def _missing_line(missing: tuple[int, ...], *, is_whole: bool) -> str:
    groups = [_group(low, high) for low, high in Intervals((n, n) for n in missing)]
    shown = groups[:GROUPS]
    if len(groups) > GROUPS:
        shown.append(f"+{len(groups) - GROUPS} more")
    noun, count = ("entry", "") if len(missing) == 1 else ("entries", f" ({len(missing)})")
    line = f"cited but not in this conversation: {noun} {', '.join(shown)}{count}"
    return line if is_whole else f"{line}; only the first {CHECKED} cited were checked"


def _group(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"
