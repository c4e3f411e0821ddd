"""The pages that the words of a query find: what an index proposes, weighed and ordered.

A tier is looked through after the one above it, and only where that one left room. A
page is taken for what it is and not for what it was proposed as; where what is proposed
is not enough, more is asked for.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from counterfoil.core.knowledge.ranking import (
    Scale,
    Statistics,
    Tier,
    millionths,
    scale_of,
    tier_of,
)
from counterfoil.core.knowledge.search import Search, Sieve
from counterfoil.ports.search import Ask, TextIndex

COMMON = 10_000
"""Pages that hold a word, past which it is common.

Whether a phrase of nothing but common words stands in a body is looked up only for the
pages that weigh most by its words, as many as a list has room for.
"""

_MORE = 4


class Found(NamedTuple):
    """A page that the words find: its tier, its weight in millionths, its place in the chain."""

    tier: Tier
    weight: int
    place: int


def found_by_words(
    index: TextIndex, places: Mapping[str, int], asked: Search, sieve: Sieve, most: int
) -> list[Found]:
    """Return up to `most` of the pages that `sieve` lets through, the best first.

    `places` are those of the pages in chain order, by the keys under which `index`
    holds them.
    """
    ask = Ask(0, asked.words, asked.path, asked.terms, sieve)
    statistics = index.statistics(ask.terms)
    weighed = _Weighed(index, places, ask, scale_of(ask.terms, statistics))
    found: list[Found] = []
    for tiers in _rounds(ask.words, statistics):
        found += weighed.best(tiers, most - len(found), known=len(found))
        if len(found) == most:
            break
    return found


def _rounds(words: Sequence[str], statistics: Statistics) -> Sequence[tuple[Tier, ...]]:
    """Return the tiers in the order in which they are looked through, some together."""
    if len(words) > 1 and min(statistics.holding.values()) > COMMON:
        return ((3,), (2,), (1, 0))
    return ((3,), (2,), (1,), (0,))


class _Weighed:
    """The pages that were proposed for one search; each is weighed once."""

    def __init__(self, index: TextIndex, places: Mapping[str, int], ask: Ask, scale: Scale) -> None:
        self._index = index
        self._places = places
        self._ask = ask
        self._scale = scale
        self._found: dict[str, Found] = {}

    def best(self, tiers: Sequence[Tier], most: int, *, known: int) -> list[Found]:
        """Return up to `most` pages of `tiers`; `known` of those above may be proposed too."""
        ask = self._ask._replace(tier=tiers[-1])
        asked_for = most + known
        while True:
            keys = self._index.proposals(ask, asked_for)
            self._weigh(key for key in keys if key not in self._found)
            found = [one for key in keys if (one := self._found[key]).tier in tiers]
            if len(found) >= most or len(keys) < asked_for:
                return sorted(found, key=_order)[:most]
            asked_for *= _MORE

    def _weigh(self, keys: Iterable[str]) -> None:
        _, words, path, _, _ = self._ask
        for key, page in self._index.folded(keys).items():
            weight = millionths(page, self._scale)
            self._found[key] = Found(tier_of(page, words, path), weight, self._places[key])


def _order(found: Found) -> tuple[int, int, int]:
    return -found.tier, -found.weight, found.place
