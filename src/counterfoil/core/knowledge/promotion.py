"""Pages of a run become pages of the shared store, with every page that they cite.

A promoted page is copied byte for byte, to the same path, so that its citations are as
they were, and what they mean must be what they meant. `here::x` in a shared page means
the shared store; an ancestor has no name there.

A page that stands in the shared store already, at its path and with its bytes, is there:
it is not carried, and nobody looks through it. So the same promotion again changes
nothing (knowledge.md section 7).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from counterfoil.core.errors import NotFoundError
from counterfoil.core.ids import HERE, SHARED, PageAddress, PageId, RunId
from counterfoil.core.knowledge.audit import several
from counterfoil.core.knowledge.chain import ChainSnapshot
from counterfoil.core.knowledge.promotion_checks import (
    Caution,
    DigestOf,
    Refusal,
    cautions_about,
    citations_broken_there,
    citations_not_kept,
    citations_of,
    is_present,
    names_taken,
    shared_after,
)
from counterfoil.core.knowledge.view import VisiblePage, id_key

Role = Literal["requested", "carried"]


class PromotedPage(NamedTuple):
    """A page to copy: where it stands, the digest of its bytes, and why it goes."""

    source: VisiblePage
    digest: str
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionPlan:
    """What a promotion would write, or every reason why it may not.

    `pages` stand by path. `present` are the requested pages that are there already.
    """

    pages: tuple[PromotedPage, ...] = ()
    present: tuple[VisiblePage, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    cautions: tuple[Caution, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionRecord:
    """What was promoted, by whom and why: written with the pages, named by its content."""

    run: RunId
    actor: str
    reason: str
    promoted_at: str
    pages: tuple[PromotedPage, ...]


def plan_promotion(chain: ChainSnapshot, ids: Sequence[str], digest_of: DigestOf) -> PromotionPlan:
    """Return what becomes of the pages `ids` of the run itself and of what they cite.

    Raises:
        NotFoundError: The chain has no shared store.
        InvalidIdError: One of `ids` is that of no page at all.
    """
    if SHARED not in chain.origins:
        raise NotFoundError("the run has no shared store", "a store to promote to", "see --shared")
    refusals = list(_faults_of_request(chain, ids))
    if refusals:
        return PromotionPlan(refusals=tuple(refusals))
    requested = [page for text in ids for page in _own(chain, PageId(text))]
    present = tuple(page for page in requested if is_present(chain, page, digest_of))
    there = {page.address for page in present}
    absent = [page for page in requested if page.address not in there]
    return _plan(chain, _closure(chain, absent, digest_of), present)


def _plan(
    chain: ChainSnapshot, pages: tuple[PromotedPage, ...], present: tuple[VisiblePage, ...]
) -> PromotionPlan:
    copies = [promoted.source for promoted in pages]
    shared = shared_after(chain, copies)
    refusals = (
        *names_taken(chain, copies),
        *citations_not_kept(chain, shared, copies),
        *citations_broken_there(shared, present),
    )
    return PromotionPlan(
        pages=pages,
        present=present,
        refusals=refusals,
        cautions=() if refusals else tuple(cautions_about(chain, shared, copies)),
    )


def _own(chain: ChainSnapshot, page: PageId) -> list[VisiblePage]:
    return [visible for visible in chain.called(id_key(page)) if visible.origin == HERE]


def _faults_of_request(chain: ChainSnapshot, ids: Sequence[str]) -> Iterator[Refusal]:
    if not ids:
        yield Refusal("no-page", "", "", "no page is named")
    for page, count in Counter(PageId(text) for text in ids).items():
        own = _own(chain, page)
        if count > 1:
            yield Refusal("repeated-id", "", page, f"{str(page)!r} is named {count} times")
        elif not own:
            yield Refusal("unknown-id", "", page, f"{str(page)!r} is no page of the run itself")
        elif len(own) > 1:
            message = f"{str(page)!r} is the id of {len(own)} pages: {several(own)}"
            yield Refusal("duplicated-id", "", page, message)


def _closure(
    chain: ChainSnapshot, requested: Iterable[VisiblePage], digest_of: DigestOf
) -> tuple[PromotedPage, ...]:
    """Return the pages to copy: those asked for and, through citations, all not there yet."""
    found: dict[PageAddress, PromotedPage] = {
        page.address: PromotedPage(page, digest_of(page), "requested") for page in requested
    }
    waiting = [promoted.source for promoted in found.values()]
    while waiting:
        for resolution in citations_of(chain, waiting.pop()):
            cited = resolution.page
            if cited is None or cited.origin == SHARED or cited.address in found:
                continue
            if not is_present(chain, cited, digest_of):
                found[cited.address] = PromotedPage(cited, digest_of(cited), "carried")
                waiting.append(cited)
    return tuple(found[address] for address in sorted(found, key=_by_path))


def _by_path(address: PageAddress) -> tuple[str, str]:
    return address.path, address.origin
