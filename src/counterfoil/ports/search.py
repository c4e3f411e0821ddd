"""An index of the words of pages: it proposes which pages to weigh, and keeps their words.

The rank of a page is none of its business: whoever asks weighs what is proposed by
`core.knowledge.ranking`, so that the library behind an index decides no order.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from counterfoil.core.knowledge.ranking import FoldedPage, Statistics, Tier
from counterfoil.core.knowledge.search import Sieve
from counterfoil.core.knowledge.view import VisiblePage

Folded = Callable[[VisiblePage], FoldedPage]
"""Reads a page and returns its words."""


class Ask(NamedTuple):
    """What is looked for: the pages of a tier, among those that `sieve` lets through.

    `words` are the phrase, `path` is it as the end of a path, `terms` what pages are
    weighed by.
    """

    tier: Tier
    words: tuple[str, ...]
    path: tuple[str, ...]
    terms: tuple[str, ...]
    sieve: Sieve


class TextIndex(Protocol):
    """The words of all pages of one chain."""

    def hold(self, pages: Mapping[str, VisiblePage], folded: Folded) -> None:
        """Hold `pages` and nothing else; their order breaks ties.

        A key is 16 hexadecimal digits out of where a page stands and what it says: a
        page that changes has another. Only pages that are not held yet are read.

        Raises:
            UnavailableError: The index can be neither read nor written here.
        """
        ...

    def statistics(self, terms: Iterable[str]) -> Statistics:
        """Return the numbers of all pages, whatever any filter says."""
        ...

    def proposals(self, ask: Ask, most: int) -> Sequence[str]:
        """Return the keys of up to `most` pages, those of most weight first.

        Every page of the tier that weighs enough is among them; others may be. Fewer
        than `most` are all that there are.
        """
        ...

    def folded(self, keys: Iterable[str]) -> Mapping[str, FoldedPage]:
        """Return the words of the pages with these `keys`, all of which it proposed."""
        ...
