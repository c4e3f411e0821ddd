"""The entries a reply cites, weighed against those that exist, and the one line.

Existing is the whole check (references.md 1.2 and 1.3). Numbers are counted with
interval arithmetic and never expanded past the hundred that are checked, so that
`entries 1-999999999` costs what `entries 1-9` costs.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from counterfoil.core.intervals import Interval, Intervals
from counterfoil.core.refs.entries import EntryReference

CHECKED = 100
"""Distinct numbers of a reply that are checked; the rest are counted."""

GROUPS = 8
"""Groups of missing numbers that the line names; the rest are counted."""


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
