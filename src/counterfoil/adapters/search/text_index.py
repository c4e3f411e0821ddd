"""A `TextIndex` in a folder of its own, which may be deleted at any time.

It is a cache: what it lacks is added, what is no longer there is taken out, and what is
no index at all is made anew. One process writes at a time and the others wait for it;
everybody reads one commit, and nothing of the next before `hold` is called again.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from tantivy import DocAddress, Index, Query, Searcher

from counterfoil.adapters.search.faults import BrokenIndexError, faults_of
from counterfoil.adapters.search.fields import (
    having,
    key_of,
    number_of,
    page_in,
    query_of,
    schema_of_pages,
)
from counterfoil.adapters.search.folder import made_folder, without_folder
from counterfoil.adapters.search.writing import (
    PATIENCE,
    brought_up_to_date,
    pages_of,
    taken_out,
    words_in,
)
from counterfoil.core.errors import UnavailableError
from counterfoil.core.knowledge.ranking import FoldedPage, Statistics
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.ports.search import Ask, Folded

VERSION = 1
"""Of the fields and of what words are; another version has another folder."""

_SAME = 1e-6
"""How near, as a share, two weights of tantivy are the same one."""

_MORE = 4


class DiskTextIndex:
    """The words of the pages of one chain, below the root of a store."""

    def __init__(self, root: Path, view: str = "", *, patience: float = PATIENCE) -> None:
        """Have an index below `root`, of the chain that `view` tells from others there.

        Another process that writes it is waited for `patience` seconds.
        """
        self._root = root
        name = sha256(view.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self._name = f"v{VERSION}-{name}"
        self._patience = patience
        self._schema = schema_of_pages()
        self._places: dict[int, int] = {}
        self._addresses: dict[str, DocAddress] = {}
        self._searcher: Searcher | None = None
        self._words = 0

    def hold(self, pages: Mapping[str, VisiblePage], folded: Folded) -> None:
        """Hold `pages` and nothing else; only those that are not held yet are read.

        Raises:
            UnavailableError: The index can be neither read nor written here.
        """
        self._addresses = {}
        self._places = {number_of(key): place for place, key in enumerate(pages)}
        try:
            self._searcher = self._opened(pages, folded)
        except BrokenIndexError:
            self._searcher = self._made_anew(pages, folded)
        self._words = words_in(self._searcher)

    def _made_anew(self, pages: Mapping[str, VisiblePage], folded: Folded) -> Searcher:
        without_folder(self._root, self._name)
        try:
            return self._opened(pages, folded)
        except BrokenIndexError as error:
            raise UnavailableError(str(error)) from error

    def _opened(self, pages: Mapping[str, VisiblePage], folded: Folded) -> Searcher:
        folder = made_folder(self._root, self._name)
        with faults_of(folder):
            index = Index(self._schema, path=str(folder))
            index.config_reader("manual")
            return brought_up_to_date(index, pages, folded, patience=self._patience)

    def statistics(self, terms: Iterable[str]) -> Statistics:
        """Return the numbers of all pages, whatever any filter says."""
        return Statistics(
            pages=len(self._places),
            words=self._words,
            holding={term: self._holding(term) for term in terms},
        )

    def _holding(self, term: str) -> int:
        """Return how many pages have `term`, and none that was taken out."""
        if not taken_out(self._ready):
            return self._ready.doc_freq("text", term)
        return pages_of(self._ready, having(self._schema, term))

    def proposals(self, ask: Ask, most: int) -> Sequence[str]:
        """Return the keys of up to `most` pages, those of most weight first."""
        if not all(ask.sieve.any_of):
            return ()
        best = self._best(query_of(self._schema, ask), most)
        numbers = self._ready.fast_field_values("number", best)
        found = dict(zip(map(key_of, numbers), best, strict=True))
        self._addresses.update(found)
        return tuple(found)

    def folded(self, keys: Iterable[str]) -> dict[str, FoldedPage]:
        """Return the words of the pages with these `keys`, all of which it proposed."""
        return {key: page_in(self._ready.doc(self._addresses[key])) for key in keys}

    @property
    def _ready(self) -> Searcher:
        if self._searcher is None:
            raise UnavailableError(f"search index {self._name} holds no pages yet")
        return self._searcher

    def _best(self, query: Query, most: int) -> list[DocAddress]:
        """Return the best `most` pages; of those that weigh the same, the first of the chain.

        tantivy leaves what weighs the same in the order in which it was written. Where
        that would decide who is left out, everything of this weight is looked at.
        """
        asked_for = most + 1
        while True:
            hits = self._ready.search(query, asked_for, count=False).hits
            if len(hits) < asked_for or hits[-1][0] < hits[most - 1][0] * (1 - _SAME):
                return self._first(hits, most)
            asked_for *= _MORE

    def _first(self, hits: Sequence[tuple[float, DocAddress]], most: int) -> list[DocAddress]:
        if len(hits) <= most:
            return [address for _, address in hits]
        least, largest = (hits[most - 1][0] * (1 + share) for share in (-_SAME, _SAME))
        above = [address for weight, address in hits if weight > largest]
        same = [address for weight, address in hits if least <= weight <= largest]
        numbers = self._ready.fast_field_values("number", same)
        places = [self._places[int(number or 0)] for number in numbers]
        in_order = [same[at] for at in sorted(range(len(same)), key=places.__getitem__)]
        return (above + in_order)[:most]
