"""The words of pages in memory, looked through page by page.

It proposes what an index on disk proposes: for stores that may not be written, and as
what such an index is measured against. A search costs what all pages have of words.
"""

from collections.abc import Iterable, Sequence

from counterfoil.core.knowledge.ranking import (
    FoldedPage,
    Statistics,
    millionths,
    scale_of,
    tier_of,
)
from counterfoil.core.knowledge.words import times
from counterfoil.ports.search import Ask, PageText


class ScannedTexts:
    """A `TextIndex` that keeps nothing but the words themselves."""

    def __init__(self) -> None:
        """Hold no page yet."""
        self._texts: Sequence[PageText] = ()
        self._folded: dict[str, FoldedPage] = {}
        self._words = 0

    def hold(self, texts: Sequence[PageText]) -> None:
        """Hold `texts` and nothing else; pages that are held already are not read again."""
        known = self._folded
        self._texts = tuple(texts)
        self._folded = {text.key: known.get(text.key) or text.folded() for text in texts}
        self._words = sum(page.length for page in self._folded.values())

    def statistics(self, terms: Iterable[str]) -> Statistics:
        """Return the numbers of all pages."""
        return Statistics(
            pages=len(self._texts),
            words=self._words,
            holding={
                term: sum(_has(page, term) for page in self._folded.values()) for term in terms
            },
        )

    def proposals(self, ask: Ask, most: int) -> Sequence[str]:
        """Return the keys of the first `most` pages of the tier, those of most weight first."""
        scale = scale_of(ask.terms, self.statistics(ask.terms))
        weighed = [
            (-millionths(page, scale), place, text.key)
            for place, text in enumerate(self._texts)
            if ask.sieve.lets(text.marks)
            and tier_of(page := self._folded[text.key], ask.words, ask.path) >= ask.tier
        ]
        return [key for weight, _, key in sorted(weighed)[:most] if weight]

    def folded(self, keys: Iterable[str]) -> dict[str, FoldedPage]:
        """Return the words of the pages with these `keys`."""
        return {key: self._folded[key] for key in keys}


def _has(page: FoldedPage, term: str) -> bool:
    return any(times(term, field) for field in page)
