"""Sets of whole numbers as intervals: a range costs what its two ends cost."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

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
