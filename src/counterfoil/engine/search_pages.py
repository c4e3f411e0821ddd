"""The search of a chain: what an index proposes, weighed, joined with what is related.

Two ranked lists are fused by reciprocal rank: the pages that the words of the query
find, by tier and weight, and the pages that are joined to the best five of them by
links, citations and shared sources, behind these five themselves. Equal scores stand in
chain order (knowledge.md section 6).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256

from counterfoil.core.errors import UnavailableError
from counterfoil.core.ids import PageAddress
from counterfoil.core.knowledge.brief import BRIEF_CHARACTERS, Brief, brief_of
from counterfoil.core.knowledge.chain import ChainSnapshot
from counterfoil.core.knowledge.ranking import FoldedPage, Tier, fuse
from counterfoil.core.knowledge.related import Related, Sharing, related_to, sharing_of
from counterfoil.core.knowledge.search import (
    ALL_PAGES,
    MOST_HITS,
    STANDING_PAGES,
    WORD_REASONS,
    Hit,
    HitReason,
    Search,
    Sieve,
    folded_page,
    handle_of,
    marks_of,
    snippet_of,
)
from counterfoil.core.knowledge.view import View, VisiblePage
from counterfoil.engine.found_by_words import Found, found_by_words
from counterfoil.engine.scanned_texts import ScannedTexts
from counterfoil.ports.search import TextIndex

SEEDS = 5
"""The best pages by words, whose relations make the second list; none that is taken back."""

BodyOf = Callable[[VisiblePage], str]
"""Returns the text of a page below its frontmatter."""

DigestOf = Callable[[VisiblePage], str]
"""Returns the digest of all bytes of a page."""

_UNRELATED = Related()


class PageSearch:
    """The searches of one chain; what they need of it is made ready once.

    Where an index cannot be had, the pages are looked through in memory: slower, with
    the same hits. `unavailable` says why.
    """

    def __init__(
        self,
        chain: ChainSnapshot,
        index: TextIndex,
        *,
        body_of: BodyOf,
        digest_of: DigestOf,
        view: View | None = None,
    ) -> None:
        """Search `chain` by `index`, which holds its pages and no other when this returns.

        What refers to what is asked of `view`, which shows the same pages; without one
        of the chain, which takes a while to make that ready.
        """
        self._view = view or chain
        self._body_of = body_of
        self._pages = tuple(chain)
        held = {key_of(page, digest_of(page)): page for page in self._pages}
        self._keys = {key: place for place, key in enumerate(held)}
        self.unavailable: UnavailableError | None = None
        self._index = self._holding(index, held)

    def _holding(self, index: TextIndex, held: Mapping[str, VisiblePage]) -> TextIndex:
        try:
            index.hold(held, self._folded)
        except UnavailableError as error:
            self.unavailable = error
            index = ScannedTexts()
            index.hold(held, self._folded)
        return index

    def _folded(self, visible: VisiblePage) -> FoldedPage:
        return folded_page(visible.page, self._body_of(visible))

    def search(self, asked: Search) -> tuple[Hit, ...]:
        """Return the hits of `asked`, the best first; none where it has no words."""
        if not asked.words:
            return ()
        words = self._by_words(asked, asked.sieve)
        seeds = self._seeds(asked, words)
        related = related_to(self._view, seeds, self._shared_sources)
        scores = fuse([[one.place for one in words], self._joined(seeds, related, asked.sieve)])
        best = sorted(scores, key=lambda place: (-scores[place], place))[: asked.limit]
        tiers: dict[int, Tier] = {one.place: one.tier for one in words}
        reasons = {place: self._reasons(place, tiers.get(place), related) for place in best}
        return tuple(
            self._hit(place, rank, scores[place], reasons[place], asked.text)
            for rank, place in enumerate(best, start=1)
        )

    def brief(self, asked: Search, *, max_characters: int = BRIEF_CHARACTERS) -> Brief:
        """Return the hits of `asked` as a text of at most `max_characters`."""
        return brief_of(self.search(asked), max_characters=max_characters)

    def _by_words(self, asked: Search, sieve: Sieve) -> list[Found]:
        return found_by_words(self._index, self._keys, asked, sieve, MOST_HITS)

    def _seeds(self, asked: Search, words: Sequence[Found]) -> list[VisiblePage]:
        """Return the best pages by words of the whole chain, whatever the filters."""
        best = words[:SEEDS]
        if asked.sieve != ALL_PAGES or any(self._is_invalidated(one.place) for one in best):
            best = self._by_words(asked, STANDING_PAGES)[:SEEDS]
        return [self._pages[one.place] for one in best]

    def _joined(
        self,
        seeds: Sequence[VisiblePage],
        related: Mapping[PageAddress, Related],
        sieve: Sieve,
    ) -> list[int]:
        """Return the seeds in their order, then what is joined to them, the closest first."""
        first = {self._places[seed.address]: None for seed in seeds}
        halves = {self._places[page]: joined.halves for page, joined in related.items()}
        others = sorted(halves.keys() - first, key=lambda place: (-halves[place], place))
        return [place for place in (*first, *others) if sieve.lets(marks_of(self._pages[place]))][
            :MOST_HITS
        ]

    def _reasons(
        self, place: int, tier: Tier | None, related: Mapping[PageAddress, Related]
    ) -> tuple[HitReason, ...]:
        joined = related.get(self._pages[place].address, _UNRELATED).reasons
        return joined if tier is None else (WORD_REASONS[tier], *joined)

    def _hit(
        self, place: int, rank: int, score: float, reasons: tuple[HitReason, ...], text: str
    ) -> Hit:
        visible = self._pages[place]
        return Hit(
            handle=handle_of(self._view, visible),
            address=visible.address,
            title=visible.page.title,
            score=score,
            rank=rank,
            snippet=snippet_of(self._body_of(visible), text),
            reasons=reasons,
            is_invalidated=self._is_invalidated(place),
        )

    @cached_property
    def _places(self) -> dict[PageAddress, int]:
        return {page.address: place for place, page in enumerate(self._pages)}

    @cached_property
    def _shared_sources(self) -> Sharing:
        return sharing_of(self._pages)

    def _is_invalidated(self, place: int) -> bool:
        return self._pages[place].page.invalidation is not None


def key_of(visible: VisiblePage, digest: str) -> str:
    """Return what tells a page, where it stands and as it is, from every other."""
    stands = f"{visible.origin}\0{visible.page.path}\0{digest}"
    return sha256(stands.encode("utf-8", "surrogatepass")).hexdigest()[:16]
