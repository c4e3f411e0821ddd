"""How an index comes to hold just the pages that are there, one writer at a time."""

import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Protocol

from tantivy import Index, IndexWriter, Query, Searcher

from counterfoil.adapters.search.fields import document_of, key_of, number_of
from counterfoil.core.errors import UnavailableError
from counterfoil.core.knowledge.search import EVERY, marks_of
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.ports.search import Folded

PATIENCE = 30.0
"""Seconds that another process which writes the index is waited for."""

_PAUSE = 0.02
_TRIES = 5
"""How often an index is brought up to date that others keep changing meanwhile."""

_FEW = 500
_MEMORY, _THREADS = 128_000_000, 2
_MEMORY_OF_FEW, _THREADS_OF_FEW = 15_000_000, 1
"""What tantivy writes with; of few pages as little as it takes, which is soon made ready."""

_LAGGING = 5
_LEAST_LAGGING = 64
"""An index of which more than a fifth was taken out is made anew, since its weights lag."""


def brought_up_to_date(
    index: Index, pages: Mapping[str, VisiblePage], folded: Folded, *, patience: float
) -> Searcher:
    """Return what searches `pages` and nothing else, having written what was missing.

    Raises:
        UnavailableError: Another process has the index, for longer than `patience`.
        ValueError: tantivy cannot read or write its files.
    """
    wanted = set(map(number_of, pages))
    for _ in range(_TRIES):
        index.reload()
        searcher = index.searcher()
        if _held(searcher) == wanted:
            return searcher
        with _writing(index, len(pages), patience) as writer:
            index.reload()
            held = _kept(writer, index.searcher(), wanted)
            for key, page in pages.items():
                if number_of(key) not in held:
                    writer.add_document(document_of(key, marks_of(page), folded(page)))
    raise UnavailableError("the search index is changed by others all the time")


def taken_out(searcher: Searcher) -> int:
    """Return how many pages were taken out and still count in tantivy's own numbers."""
    return searcher.doc_freq("marks", EVERY) - searcher.num_docs


def words_in(searcher: Searcher) -> int:
    """Return the words of all pages, each as often as its field counts."""
    return _measured(searcher, Query.all_query(), {"sum": {"field": "length"}})


def pages_of(searcher: Searcher, query: Query) -> int:
    """Return how many pages `query` finds, and none that was taken out."""
    return _measured(searcher, query, {"value_count": {"field": "number"}})


class _Measuring(Protocol):
    """A searcher by its one method that tantivy leaves without a type."""

    def aggregate(self, query: Query, agg: dict[str, object]) -> dict[str, dict[str, float]]: ...


def _measured(searcher: _Measuring, query: Query, what: dict[str, object]) -> int:
    return round(searcher.aggregate(query, {"it": what})["it"]["value"])


def _held(searcher: Searcher) -> set[int]:
    if not searcher.num_docs:
        return set()
    hits = searcher.search(Query.all_query(), searcher.num_docs, count=False).hits
    numbers = searcher.fast_field_values("number", [address for _, address in hits])
    return {int(number or 0) for number in numbers}


@contextmanager
def _writing(index: Index, pages: int, patience: float) -> Generator[IndexWriter, None, None]:
    """Have the one writer; what it wrote is there, whole, when this ends."""
    writer = _writer(index, pages, patience)
    try:
        yield writer
        writer.commit()
    finally:
        writer.wait_merging_threads()  # which lets go of the lock


def _writer(index: Index, pages: int, patience: float) -> IndexWriter:
    """Return the writer once nobody else has it; tantivy tells that in words alone."""
    means = (_MEMORY, _THREADS) if pages > _FEW else (_MEMORY_OF_FEW, _THREADS_OF_FEW)
    waited_until = time.monotonic() + patience
    while True:
        try:
            return index.writer(*means)
        except ValueError as error:
            if "LockBusy" not in str(error):
                raise
            if time.monotonic() > waited_until:
                raise UnavailableError(
                    f"the search index is being written by another process, for {patience:g} s"
                ) from error
            time.sleep(_PAUSE)


def _kept(writer: IndexWriter, searcher: Searcher, wanted: set[int]) -> set[int]:
    """Take out what is not wanted, or everything where that is much; return what stays."""
    held = _held(searcher)
    gone = held - wanted
    lagging = taken_out(searcher) + len(gone)
    if lagging > max(_LEAST_LAGGING, len(wanted) // _LAGGING):
        writer.delete_all_documents()
        return set()
    for number in gone:
        writer.delete_documents_by_term("key", key_of(number))
    return held & wanted
