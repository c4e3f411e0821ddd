"""A search: what is asked for, which pages may answer, and the hits that are shown.

Deterministic and offline. Filters only ever take pages away: they are joined with
"and", and a list that is given and empty lets nothing through (knowledge.md section 6).
How pages are found is none of this module's business.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, NamedTuple

from counterfoil.core.errors import CounterfoilError
from counterfoil.core.ids import Origin, PageAddress
from counterfoil.core.knowledge.graph import Reason
from counterfoil.core.knowledge.pages import Page
from counterfoil.core.knowledge.ranking import FoldedPage, Tier
from counterfoil.core.knowledge.view import View, VisiblePage, id_key
from counterfoil.core.knowledge.words import fold, has_unspaced, spelled, terms_of
from counterfoil.core.plain import plain
from counterfoil.core.refs.pages import PageReference, format_handle

MOST_HITS = 64
"""Hits of one search, and pages of each ranked list that they come out of; more is refused."""

LONGEST_QUERY = 1000
"""Characters of a query; a longer one is refused."""

_SHOWN = 180
_BEFORE = 80
_WORD = re.compile(r"\w+")

WordReason = Literal["exact", "title", "phrase", "words"]
HitReason = WordReason | Reason

WORD_REASONS: dict[Tier, WordReason] = {3: "exact", 2: "title", 1: "phrase", 0: "words"}
"""What each tier is called where it is the reason for a hit."""

EVERY = "*"
"""The mark that every page has."""

_INVALIDATED = "invalidated"


class InvalidSearchError(CounterfoilError):
    """A search that nobody can answer, refused where it is made."""


class Sieve(NamedTuple):
    """Which pages may answer: with a mark of each of `any_of`, and none of `none_of`."""

    any_of: tuple[frozenset[str], ...] = ()
    none_of: frozenset[str] = frozenset()

    def lets(self, marks: Collection[str]) -> bool:
        """Say whether a page with `marks` may answer."""
        return all(not group.isdisjoint(marks) for group in self.any_of) and (
            self.none_of.isdisjoint(marks)
        )


ALL_PAGES = Sieve()
STANDING_PAGES = Sieve(none_of=frozenset({_INVALIDATED}))
"""The pages that are not taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is asked for; `None` for `tags`, `kinds` or `origins` filters nothing.

    A page answers with any of `tags`, of a kind of `kinds`, out of any of `origins`.
    """

    text: str
    limit: int = 10
    tags: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    origins: tuple[Origin, ...] | None = None
    exclude_invalidated: bool = False

    def __post_init__(self) -> None:
        """Refuse a limit that is none, and a query past its bound."""
        if type(self.limit) is not int or not 0 <= self.limit <= MOST_HITS:
            raise InvalidSearchError(
                f"limit {self.limit!r}", f"a whole number from 0 to {MOST_HITS}"
            )
        if len(self.text) > LONGEST_QUERY:
            raise InvalidSearchError(
                f"a query of {len(self.text)} characters",
                f"at most {LONGEST_QUERY}",
                "search for the words that tell the page from others",
            )

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the query in their order; none where it is blank."""
        return spelled(self.text)

    @property
    def path(self) -> tuple[str, ...]:
        """The words of the query as the end of a path, which may be written with `.md`."""
        return spelled(self.text.strip().removesuffix(".md"))

    @property
    def terms(self) -> tuple[str, ...]:
        """The words that pages are weighed by, each once."""
        return terms_of(self.text)

    @property
    def sieve(self) -> Sieve:
        """Which pages may answer."""
        lists = (("tag", self.tags), ("kind", self.kinds), ("origin", self.origins))
        groups = tuple(
            frozenset(f"{name}:{value}" for value in values)
            for name, values in lists
            if values is not None
        )
        return Sieve(groups, STANDING_PAGES.none_of if self.exclude_invalidated else frozenset())


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A page that answers: `handle` is what to paste, `score` the sum of its ranks' shares.

    `rank` counts from 1. `reasons` are what the words of the query are to it, then how
    it is joined to the best pages. The snippet is one line, fit to be shown.
    """

    handle: str
    address: PageAddress
    title: str
    score: float
    rank: int
    snippet: str
    reasons: tuple[HitReason, ...]
    is_invalidated: bool = False

    @property
    def millionths(self) -> int:
        """The score as a whole number, for texts that are hashed."""
        return round(self.score * 1_000_000)


def marks_of(visible: VisiblePage) -> frozenset[str]:
    """Return the marks that filters ask for."""
    page = visible.page
    marks = {EVERY, f"origin:{visible.origin}"}
    marks.update(f"tag:{tag}" for tag in page.tags)
    if page.kind is not None:
        marks.add(f"kind:{page.kind}")
    if page.invalidation is not None:
        marks.add(_INVALIDATED)
    return frozenset(marks)


def folded_page(page: Page, body: str) -> FoldedPage:
    """Return the words of `page`, whose text below the frontmatter is `body`."""
    return FoldedPage(title=fold(page.title), path=fold(page.place), body=fold(body))


def handle_of(view: View, visible: VisiblePage) -> str:
    """Return the handle to paste: bare where one page of all has the id, else qualified.

    An id that would read as something else is never left bare. Two pages of one origin
    and id have one handle, which no form of it can make into two.
    """
    page = visible.page.id
    if len(view.called(id_key(page))) == 1:
        bare = format_handle(PageReference(None, page))
        if bare == page:
            return bare
    return format_handle(PageReference(visible.origin, page))


def snippet_of(body: str, text: str) -> str:
    """Return one line of `body`, from a little before the first words of the query `text`.

    Where the phrase stands, or else a word of it; the first words of the page otherwise.
    """
    place = _place_of(body.lower(), text.lower())
    start = max(0, (place or 0) - _BEFORE)
    flat = " ".join(body[start : start + 4 * _SHOWN].split())  # white space shrinks
    cut = f"{flat[:_SHOWN].rstrip()}…" if len(flat) > _SHOWN else flat
    return plain(f"…{cut}" if start else cut)


def _place_of(body: str, text: str) -> int | None:
    words = [*map(re.escape, _WORD.findall(text))]
    pairs = [*map(re.escape, terms_of(text))]
    for pattern in (r"[\W_]{1,8}".join(words), "|".join((*words, *pairs))):
        for found in re.finditer(pattern, body):
            if _is_whole(body, found):
                return found.start()
    return None


def _is_whole(body: str, found: re.Match[str]) -> bool:
    """Say whether no word goes on at an end; a script without spaces has no ends of words."""
    start, end = found.span()
    around = body[start - 1 : start] + body[end : end + 1]
    return has_unspaced(found.group()) or not any(letter.isalnum() for letter in around)
