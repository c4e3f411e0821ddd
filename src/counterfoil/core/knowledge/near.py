"""Texts that say nearly the same: how much of their wording two pages share.

A text is compared in NFKC, in lower case, with its URLs masked; one of fewer than 80
characters is compared with none. What it is made of are its runs of five words or,
where it has fewer than seven words, of sixteen characters. Two texts are near when at
least 82 in 100 of the runs that either has are in both.

A run that stands in more than 64 pages brings no two of them together: that is what a
template gives to all. Texts that are the same to the letter are always compared. Every
number here is whole, so that nothing depends on rounding, on the order of pages or on
how Python hashes texts.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from unicodedata import normalize

SHORTEST = 80
"""Characters; a text with fewer says too little to be near to another."""

NEAR = 82
"""Of a hundred runs of either text, how many both have at least."""

_URL = re.compile(r"(?:https?|ftp)://\S+")
_WORD = re.compile(r"\w+")
_RUN_OF_WORDS = 5
_FEWEST_WORDS = 7
_RUN_OF_LETTERS = 16

Run = tuple[str, ...] | str


@dataclass(frozen=True, slots=True, kw_only=True)
class NearLimits:
    """What is not looked at: runs in more `pages` than this, and pairs past so many.

    Pairs that share most are compared first; how many were not is counted.
    """

    pages: int = 64
    pairs: int = 250_000


class NearPair(NamedTuple):
    """Two texts by their places, and how many of all runs of theirs they share."""

    candidate: int
    other: int
    shared: int
    total: int

    @property
    def percent(self) -> int:
        """How near they are, of a hundred, rounded down."""
        return self.shared * 100 // self.total


@dataclass(frozen=True, slots=True)
class NearPairs:
    """The near pairs, by their places, and how many pairs were not compared."""

    pairs: tuple[NearPair, ...]
    uncompared: int = 0


def near_pairs(
    candidates: Sequence[str], others: Iterable[str], *, limits: NearLimits | None = None
) -> NearPairs:
    """Return which of `candidates` are near to one another, or to one of `others`.

    The place of a text is its position among the candidates, then the others. A pair
    stands once, the smaller place first. Of `others`, one at a time is held.
    """
    limits = limits or NearLimits()
    index = _Index()
    for place, text in enumerate(candidates):
        index.add_candidate(place, normal_text(text))
    if not index.numbers:  # nothing is long enough, so that no other text need be read
        return NearPairs(())
    for place, text in enumerate(others, start=len(candidates)):
        index.add(place, normal_text(text))
    ranked = sorted(index.pairs(limits.pages).items(), key=lambda pair: (-pair[1], pair[0]))
    compared = (index.compared(*pair) for pair, _ in ranked[: limits.pairs])
    near = sorted(pair for pair in compared if pair.shared * 100 >= NEAR * pair.total)
    return NearPairs(tuple(near), max(0, len(ranked) - limits.pairs))


def normal_text(text: str) -> str:
    """Return `text` as it is compared.

    >>> normal_text("See  https://example.org/a?b=1 for the SLOPE")
    'see url for the slope'
    """
    return " ".join(_URL.sub("url", normalize("NFKC", text).lower()).split())


def runs_of(text: str) -> set[Run]:
    """Return the runs that a text, as it is compared, is made of; none of a short one."""
    if len(text) < SHORTEST:
        return set()
    words = _WORD.findall(text)
    if len(words) < _FEWEST_WORDS:
        last = len(text) - _RUN_OF_LETTERS
        return {text[start : start + _RUN_OF_LETTERS] for start in range(last + 1)}
    return set(zip(*(words[start:] for start in range(_RUN_OF_WORDS)), strict=False))


class _Kept(NamedTuple):
    """What is kept of a page: which runs of candidates it has, and how many in all."""

    runs: frozenset[int]
    total: int


@dataclass(slots=True)
class _Index:
    """The runs of the candidates, who has them, and in how many pages each stands."""

    numbers: dict[Run, int] = field(default_factory=dict)
    holders: list[list[int]] = field(default_factory=list)
    pages: Counter[int] = field(default_factory=Counter)
    same: dict[str, list[int]] = field(default_factory=dict)
    kept: dict[int, _Kept] = field(default_factory=dict)
    equal: list[tuple[int, int]] = field(default_factory=list)

    def add_candidate(self, place: int, text: str) -> None:
        """Make the runs of `text` those that are looked for."""
        for run in runs_of(text):
            number = self.numbers.setdefault(run, len(self.numbers))
            if number == len(self.holders):
                self.holders.append([])
            self.holders[number].append(place)
        self.add(place, text)
        if len(text) >= SHORTEST:
            self.same.setdefault(text, []).append(place)

    def add(self, place: int, text: str) -> None:
        """Count the runs of `text`, and keep them where it can be near to a candidate."""
        runs = runs_of(text)
        known = frozenset(self.numbers[run] for run in runs if run in self.numbers)
        self.pages.update(known)
        if known and len(known) * 100 >= NEAR * len(runs):
            self.kept[place] = _Kept(known, len(runs))
        self.equal.extend((candidate, place) for candidate in self.same.get(text, ()))

    def pairs(self, most: int) -> Counter[tuple[int, int]]:
        """Return the pairs that share a run of at most `most` pages, with how many."""
        shared = Counter(self._meetings(most))
        for pair in self.equal:
            shared[pair] = self.kept[pair[0]].total
        return shared

    def _meetings(self, most: int) -> Iterator[tuple[int, int]]:
        for place, kept in self.kept.items():
            for number in kept.runs:
                if self.pages[number] <= most:
                    for candidate in self.holders[number]:
                        if candidate < place:
                            yield candidate, place

    def compared(self, candidate: int, other: int) -> NearPair:
        """Return how near two of the kept texts are."""
        one, two = self.kept[candidate], self.kept[other]
        shared = len(one.runs & two.runs)
        return NearPair(candidate, other, shared, one.total + two.total - shared)
