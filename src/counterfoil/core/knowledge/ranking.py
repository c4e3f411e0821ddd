"""How well a page answers a query: its tier, its weight by words, and one list out of several.

The weight is BM25 over all three fields of a page as one text, in which its title
stands three times, its path twice and its body once. The tier comes first: a page that
is called what was asked for stands before all others, whatever its weight
(knowledge.md section 6). Everything here is a function of its arguments; of the pages
only numbers are known.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Literal, NamedTuple, TypeVar

from counterfoil.core.knowledge.words import count_words, phrase

Tier = Literal[0, 1, 2, 3]
Key = TypeVar("Key", bound=Hashable)

TITLE, PATH, BODY = 3, 2, 1
"""How often the words of each field count."""

K1 = 1.2
B = 0.75

FUSED = 60
"""The k of reciprocal rank fusion: how little the very first ranks differ."""

_EXACT_LENGTH = 40
_STEPS_BEGIN = 24
_BITS = 4


class FoldedPage(NamedTuple):
    """The words of a page: what it is called, where it stands, what it says."""

    title: str
    path: str
    body: str

    @property
    def length(self) -> int:
        """How many words it has, each as often as its field counts."""
        return (
            TITLE * count_words(self.title)
            + PATH * count_words(self.path)
            + BODY * count_words(self.body)
        )

    def times(self, term: str) -> int:
        """How often `term` is in it, counted in the same way."""
        written = phrase((term,))
        return (
            TITLE * self.title.count(written)
            + PATH * self.path.count(written)
            + BODY * self.body.count(written)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """All pages, whatever is asked for: how many, how many words, and pages by term."""

    pages: int
    words: int
    holding: Mapping[str, int]

    def rarity(self, term: str) -> float:
        """How much it says of a page that it has `term`: its inverse document frequency."""
        holding = self.holding[term]
        return log(1 + (self.pages - holding + 0.5) / (holding + 0.5))

    @property
    def mean_length(self) -> float:
        """The words of a page, on average; of no words at all, 1."""
        return self.words / self.pages if self.words else 1.0


class Scale(NamedTuple):
    """What pages are weighed with: each term with its rarity, and the mean length."""

    rarities: tuple[tuple[str, float], ...]
    mean_length: float


def scale_of(terms: Iterable[str], statistics: Statistics) -> Scale:
    """Return what pages are weighed with for `terms`."""
    rarities = tuple((term, statistics.rarity(term)) for term in terms)
    return Scale(rarities, statistics.mean_length)


def millionths(page: FoldedPage, scale: Scale) -> int:
    """Return the weight of `page` by BM25, in millionths; it is 0 where no term is in it.

    A whole number, so that no two machines put the same pages in another order.
    """
    norm = K1 * (1 - B + B * stepped(page.length) / scale.mean_length)
    weight = 0.0
    for term, rarity in scale.rarities:
        found = page.times(term)
        weight += rarity * (K1 + 1) * found / (found + norm)
    return round(weight * 1_000_000)


def stepped(length: int) -> int:
    """Return `length` as BM25 counts it: exact up to 40, then in steps of an eighth.

    So do Lucene and tantivy, which keep the length of a text in one byte.

    >>> [stepped(length) for length in (40, 41, 55, 600)]
    [40, 40, 54, 600]
    """
    if length <= _EXACT_LENGTH:
        return length
    rest = length - _STEPS_BEGIN
    shift = rest.bit_length() - _BITS
    return (rest >> shift << shift) + _STEPS_BEGIN


def tier_of(page: FoldedPage, words: Sequence[str], path: Sequence[str]) -> Tier:
    """Return what the phrase of `words` is to `page`; `path` is it as the end of a path.

    3: its title, or the end of its path. 2: in its title. 1: in its body. 0: no more
    than words of it.
    """
    asked, ending = phrase(tuple(words)), phrase(tuple(path))
    if page.title == asked or (ending and page.path.endswith(ending)):
        return 3
    if asked in page.title:
        return 2
    return 1 if asked in page.body else 0


def fuse(lists: Iterable[Sequence[Key]]) -> dict[Key, float]:
    """Return what every member of ranked `lists` gets: the sum of 1 / (60 + rank).

    >>> fuse([["a", "b"], ["b"]])["b"] == 1 / 62 + 1 / 61
    True
    """
    scores: defaultdict[Key, float] = defaultdict(float)
    for ranked in lists:
        for rank, key in enumerate(ranked, start=1):
            scores[key] += 1 / (FUSED + rank)
    return dict(scores)
