"""The words of pages in memory, looked through page by page.

It proposes what an index on disk proposes: for stores that may not be written, and as
what such an index is measured against. A search costs what all pages have of words.
"""

from collections.abc import Iterable, Mapping, Sequence

from counterfoil.core.knowledge.ranking import (
    FoldedPage,
    Statistics,
    millionths,
    scale_of,
    tier_of,
)
from counterfoil.core.knowledge.search import marks_of
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.core.knowledge.words import times
from counterfoil.ports.search import Ask, Folded


class ScannedTexts:
    """A `TextIndex` that keeps nothing but the words themselves."""

    def __init__(self) -> None:
        """Hold no page yet."""
        self._pages: Mapping[str, VisiblePage] = {}
        self._folded: dict[str, FoldedPage] = {}
        self._words = 0

    def hold(self, pages: Mapping[str, VisiblePage], folded: Folded) -> None:
        """Hold `pages` and nothing else; those that are held already are not read again."""
        known = self._folded
        self._pages = pages
        self._folded = {key: known.get(key) or folded(page) for key, page in pages.items()}
        self._words = sum(page.length for page in self._folded.values())

    def statistics(self, terms: Iterable[str]) -> Statistics:
        """Return the numbers of all pages."""
        return Statistics(
            pages=len(self._pages),
            words=self._words,
            holding={
                term: sum(_has(page, term) for page in self._folded.values()) for term in terms
            },
        )

    def proposals(self, ask: Ask, most: int) -> Sequence[str]:
        """Return the keys of the first `most` pages of the tier, those of most weight first."""
        scale = scale_of(ask.terms, self.statistics(ask.terms))
        weighed = [
            (-millionths(page, scale), place, key)
            for place, (key, page) in enumerate(self._folded.items())
            if tier_of(page, ask.words, ask.path) >= ask.tier
            and ask.sieve.lets(marks_of(self._pages[key]))
        ]
        return [key for weight, _, key in sorted(weighed)[:most] if weight]

    def folded(self, keys: Iterable[str]) -> dict[str, FoldedPage]:
        """Return the words of the pages with these `keys`."""
        return {key: self._folded[key] for key in keys}


def _has(page: FoldedPage, term: str) -> bool:
    return any(times(term, field) for field in page)
