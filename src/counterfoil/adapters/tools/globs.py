"""Patterns of paths: `*.py` at any depth, `src/*.py` at this one, `src/**/*.py` below it.

`*`, `?` and `[…]` match within one name, `**` any number of names, `{a,b}` either. The
time that it takes grows with the path and with the pattern, not with their powers.
"""

import re
from fnmatch import fnmatchcase

from counterfoil.adapters.tools.answers import UnusableArgumentError

_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST_CHARACTERS = 500
_MOST_WAYS = 64


class Glob:
    """A pattern of paths; an empty one matches all of them."""

    def __init__(self, pattern: str) -> None:
        """Take the pattern in.

        Raises:
            UnusableArgumentError: It is too long, or stands for too many.
        """
        if len(pattern) > _MOST_CHARACTERS:
            raise UnusableArgumentError(
                f"a glob of {len(pattern)} characters", f"at most {_MOST_CHARACTERS}"
            )
        self._ways = [_parts(way) for way in _spread(pattern)] if pattern else []

    def matches(self, path: str) -> bool:
        """Say whether `path`, relative to the folder that is looked in, is one of them."""
        names = path.split("/")
        return not self._ways or any(_leads(way, names) for way in self._ways)


def _spread(pattern: str) -> list[str]:
    """Return `pattern` without braces, once for each choice in them."""
    ways = [pattern]
    while any(_BRACES.search(way) for way in ways):
        ways = [other for way in ways for other in _choices(way)]
        if len(ways) > _MOST_WAYS:
            raise UnusableArgumentError(
                f"a glob that stands for more than {_MOST_WAYS}", "fewer choices in braces"
            )
    return ways


def _choices(way: str) -> list[str]:
    braces = _BRACES.search(way)
    if braces is None:
        return [way]
    return [
        way[: braces.start()] + choice + way[braces.end() :]
        for choice in braces.group(1).split(",")
    ]


def _parts(pattern: str) -> list[str]:
    parts = [part for part in pattern.split("/") if part not in {"", "."}]
    return parts if "/" in pattern.removeprefix("./") else ["**", *parts]


def _leads(parts: list[str], names: list[str]) -> bool:
    """Say whether all `parts` are used up with all `names`: every way at once."""
    here = _skipped({0}, parts)
    for name in names:
        after: set[int] = set()
        for place in here:
            if place == len(parts):
                continue
            if parts[place] == "**":
                after.add(place)
            elif fnmatchcase(name, parts[place]):
                after.add(place + 1)
        here = _skipped(after, parts)
    return len(parts) in here


def _skipped(places: set[int], parts: list[str]) -> set[int]:
    """Add to `places` those behind each `**`, which may stand for no name."""
    found = set(places)
    for place in places:
        after = place
        while after < len(parts) and parts[after] == "**":
            after += 1
            found.add(after)
    return found
