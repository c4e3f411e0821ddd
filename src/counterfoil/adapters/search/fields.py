"""What tantivy holds of a page, and how it is asked for pages of a tier.

```text
key      16 hexadecimal digits: which page, and as it is
number   the same as a whole number, to be read for many pages at once
length   words, each as often as its field counts
called   the words of the title as one term
title    the words of the title, in their order
path     the words of the path, in their order, and a last word that no text has
text     title three times, path twice, body once: what BM25 counts
marks    what filters ask for
words    title, path and body, kept as they are
```

All words are folded already; tantivy parts them at white space and does nothing else to
them. Its own weights are BM25 with the same constants, over `text`.
"""

from collections.abc import Iterable, Sequence

from tantivy import Document, Occur, Query, Schema, SchemaBuilder

from counterfoil.core.knowledge.ranking import BODY, PATH, TITLE, FoldedPage
from counterfoil.core.knowledge.search import EVERY, Sieve
from counterfoil.ports.search import Ask

_END = "."
"""Stands behind the last word of a path; no folded text has it."""

_SPLIT = "whitespace"
_WHOLE = "raw"


def schema_of_pages() -> Schema:
    """Return the fields; a change of them is a new version of the index."""
    builder = SchemaBuilder()
    builder.add_text_field("key", tokenizer_name=_WHOLE, index_option="basic")
    builder.add_unsigned_field("number", fast=True)
    builder.add_unsigned_field("length", fast=True)
    builder.add_text_field("called", tokenizer_name=_WHOLE, index_option="basic")
    builder.add_text_field("title", tokenizer_name=_SPLIT, index_option="position")
    builder.add_text_field("path", tokenizer_name=_SPLIT, index_option="position")
    builder.add_text_field("text", tokenizer_name=_SPLIT, index_option="position")
    builder.add_text_field("marks", tokenizer_name=_WHOLE, index_option="basic")
    builder.add_bytes_field("words", stored=True)
    return builder.build()


def document_of(key: str, marks: Iterable[str], page: FoldedPage) -> Document:
    """Return what is held of a page."""
    document = Document()
    document.add_text("key", key)
    document.add_unsigned("number", number_of(key))
    document.add_unsigned("length", page.length)
    document.add_text("called", _joined(page.title.split()))
    document.add_text("title", page.title)
    document.add_text("path", f"{page.path}{_END}")
    for field, times in ((page.title, TITLE), (page.path, PATH), (page.body, BODY)):
        for _ in range(times):  # as values of one field, between which no phrase reaches over
            document.add_text("text", field)
    for mark in marks:
        document.add_text("marks", mark)
    document.add_bytes("words", "\n".join(page).encode())
    return document


def page_in(document: Document) -> FoldedPage:
    """Return the words that are kept of a page."""
    return FoldedPage(*bytes(document["words"][0]).decode().split("\n"))


def number_of(key: str) -> int:
    """Return `key` as a number."""
    return int(key, 16)


def key_of(number: object) -> str:
    """Return the key that `number` was made of."""
    return f"{number:016x}"


def having(schema: Schema, term: str) -> Query:
    """Return the query for the pages that have `term` in any field."""
    return Query.const_score_query(Query.term_query(schema, "text", term, "basic"), 0.0)


def marked(schema: Schema, mark: str = EVERY) -> Query:
    """Return the query for the pages with `mark`."""
    return Query.term_query(schema, "marks", mark, "basic")


def query_of(schema: Schema, ask: Ask) -> Query:
    """Return the query for the pages of `ask`, weighed by its terms alone."""
    weighed = _any([Query.term_query(schema, "text", term, "freq") for term in ask.terms])
    phrase = _phrase_of(schema, ask)
    needed = [weighed] if phrase is None else [_unweighed(phrase), weighed]
    parts = [*needed, *_sieved(schema, ask.sieve)]
    clauses = [(Occur.Must, part) for part in parts]
    clauses += [(Occur.MustNot, marked(schema, mark)) for mark in sorted(ask.sieve.none_of)]
    return Query.boolean_query(clauses) if len(clauses) > 1 else weighed


def _phrase_of(schema: Schema, ask: Ask) -> Query | None:
    """Return what makes a page one of the tier, `None` where its weight alone does."""
    if ask.tier == 3:  # noqa: PLR2004 - the highest tier
        called = Query.term_query(schema, "called", _joined(ask.words), "basic")
        if not ask.path:
            return called
        ends = Query.phrase_query(schema, "path", [*ask.path, _END])
        return _any([called, ends])
    if ask.tier == 2:  # noqa: PLR2004 - the tier of titles
        return _next_to_one_another(schema, "title", ask.words)
    if ask.tier == 1 and len(ask.words) > 1:  # a single word is what the page is weighed by
        return _next_to_one_another(schema, "text", ask.words)
    return None


def _next_to_one_another(schema: Schema, field: str, words: Sequence[str]) -> Query:
    if len(words) == 1:
        return Query.term_query(schema, field, words[0], "basic")
    return Query.phrase_query(schema, field, list(words))


def _sieved(schema: Schema, sieve: Sieve) -> list[Query]:
    return [
        _unweighed(_any([marked(schema, mark) for mark in sorted(group)])) for group in sieve.any_of
    ]


def _any(queries: Sequence[Query]) -> Query:
    if len(queries) == 1:
        return queries[0]
    return Query.boolean_query([(Occur.Should, query) for query in queries])


def _unweighed(query: Query) -> Query:
    return Query.const_score_query(query, 0.0)


def _joined(words: Iterable[str]) -> str:
    return " ".join(words)
