"""The three levels of a command, and how they are compared."""

from collections.abc import Iterable
from typing import Literal, get_args

Level = Literal["safe", "moderate", "dangerous"]
"""What a command can do to what it was not asked about: nothing, a little, much."""

LEVELS: tuple[Level, ...] = get_args(Level)
"""Every level, the lowest first."""


def is_below(level: Level, other: Level) -> bool:
    """Say whether `level` is lower than `other`."""
    return LEVELS.index(level) < LEVELS.index(other)


def highest(levels: Iterable[Level]) -> Level:
    """Return the highest of `levels`; of none, `safe`.

    >>> highest(["safe", "dangerous", "moderate"])
    'dangerous'
    """
    found: Level = "safe"
    for level in levels:
        if is_below(found, level):
            found = level
    return found


def raised(level: Level) -> Level:
    """Return the level above `level`; above the highest there is none."""
    return LEVELS[min(LEVELS.index(level) + 1, len(LEVELS) - 1)]
