"""What speaks against a promotion, and what a promotion does not keep.

A citation of a promoted page is weighed in the chain of the run, and again in the shared
store as it would become; it has to come to the same page, byte for byte.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from counterfoil.core.ids import HERE, SHARED, Origin, PageId
from counterfoil.core.knowledge.after import chain_after
from counterfoil.core.knowledge.audit import citation_findings, fault_finding, several
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.checks import check_contradictions, check_links, check_sources
from counterfoil.core.knowledge.lineage import folded
from counterfoil.core.knowledge.resolution import PageResolution, resolve_handle, resolve_link
from counterfoil.core.knowledge.view import View, VisiblePage, id_key

RefusalCode = Literal[
    "no-page",
    "unknown-id",
    "repeated-id",
    "duplicated-id",
    "id-taken",
    "path-taken",
    "unresolved-citation",
    "lost-citation",
    "hidden-citations",
]

CautionCode = Literal["broken-there", "other-target", "becomes-ambiguous"]

DigestOf = Callable[[VisiblePage], str]
"""Returns the tagged digest of the bytes of a page, as it was seen."""

_BLINDING = frozenset({"bad-frontmatter", "not-utf8", "malformed-citation"})
"""Faults of a page because of which nobody can say what it cites."""


class Refusal(NamedTuple):
    """Why nothing is promoted: which page, what is written there, and what is wrong."""

    code: RefusalCode
    path: str
    written: str
    message: str


class Caution(NamedTuple):
    """Something that a promotion does not keep, and that does not stand in its way."""

    code: CautionCode
    path: str
    written: str
    message: str


def shared_after(chain: ChainSnapshot, copies: Iterable[VisiblePage]) -> ChainSnapshot:
    """Return the shared store alone as it is once `copies` are in it."""
    alone = Store(
        origin=SHARED,
        pages=tuple(visible.page for visible in chain.pages_of([SHARED])),
        registry=chain.registry(SHARED),
    )
    copied = (visible.page for visible in copies)
    return chain_after(ChainSnapshot([alone], run=chain.run), SHARED, copied)


def is_present(chain: ChainSnapshot, page: VisiblePage, digest_of: DigestOf) -> bool:
    """Say whether the shared store has `page` at its path, byte for byte."""
    return any(
        there.origin == SHARED
        and there.page.path == page.page.path
        and digest_of(there) == digest_of(page)
        for there in chain.called(id_key(page.page.id))
    )


def citations_of(
    view: View, visible: VisiblePage, *, holder: Origin | None = None
) -> list[PageResolution]:
    """Return what each citation of a page means in `view`, to a page of `holder` or its own."""
    holder = holder or visible.origin
    return [resolve_handle(view, item.text, holder=holder) for item in visible.page.cites]


def names_taken(chain: ChainSnapshot, copies: Sequence[VisiblePage]) -> Iterator[Refusal]:
    """Yield the ids and paths that other pages have: in the shared store, or among `copies`.

    A path is taken by one that some disks do not tell from it.
    """
    theirs = chain.pages_of([SHARED])
    ids: dict[PageId, VisiblePage] = {page.page.id: page for page in theirs}
    paths: dict[str, VisiblePage] = {folded(page.page.path): page for page in theirs}
    for copy in copies:
        page = copy.page
        by_path = paths.setdefault(folded(page.path), copy)
        by_id = ids.setdefault(page.id, copy)
        if by_path is not copy:
            yield _conflict("path-taken", copy, page.path, by_path)
        elif by_id is not copy:
            yield _conflict("id-taken", copy, page.id, by_id)


def _conflict(code: RefusalCode, copy: VisiblePage, written: str, other: VisiblePage) -> Refusal:
    what = "path" if code == "path-taken" else "id"
    message = f"{what} {written!s} of {several([copy])} is that of {several([other])}"
    return Refusal(code, copy.page.path, written, message)


def citations_not_kept(
    chain: ChainSnapshot, shared: View, copies: Sequence[VisiblePage]
) -> Iterator[Refusal]:
    """Yield the citations of `copies` that would not come to the page that they name now.

    A page keeps its path and its bytes on the way, so that one path is one page.
    """
    for copy in copies:
        yield from _hidden(copy)
        there = citations_of(shared, copy, holder=SHARED)
        for before, after in zip(citations_of(chain, copy), there, strict=True):
            if before.page is None:
                yield _unresolved(copy, before)
            elif after.page is None or after.page.page.path != before.page.page.path:
                yield _lost(copy, before.page, after)


def _hidden(visible: VisiblePage) -> Iterator[Refusal]:
    for fault in visible.page.faults:
        if fault.code in _BLINDING:
            message = f"{fault.code}: {fault_finding(visible, fault).message}"
            yield Refusal("hidden-citations", visible.page.path, fault.written, message)


def _unresolved(copy: VisiblePage, before: PageResolution) -> Refusal:
    message = f"{before.written!r} is {before.verdict.replace('_', ' ')} in the run itself"
    return Refusal("unresolved-citation", copy.page.path, before.written, message)


def _lost(copy: VisiblePage, before: VisiblePage, after: PageResolution) -> Refusal:
    there = several(after.candidates) if after.candidates else "no page"
    names = f"{after.written!r} names {several([before])}"
    message = f"{names}; in the shared store it would name {there}"
    return Refusal("lost-citation", copy.page.path, after.written, message)


def citations_broken_there(shared: View, present: Iterable[VisiblePage]) -> Iterator[Refusal]:
    """Yield what pages that the shared store has already cite in vain there."""
    for visible in present:
        path = visible.page.path
        for found in citation_findings(shared, VisiblePage(SHARED, visible.page)):
            if found.code != "self-citation":
                yield Refusal("lost-citation", path, found.written or "", found.message)


def cautions_about(
    chain: ChainSnapshot, shared: View, copies: Sequence[VisiblePage]
) -> Iterator[Caution]:
    """Yield links, contradictions and sources that break, and citations that two pages answer."""
    for copy in copies:
        path = copy.page.path
        there = VisiblePage(SHARED, copy.page)
        for check in (check_links, check_contradictions, check_sources):
            for found in check(shared, there):
                yield Caution("broken-there", path, found.written or "", found.message)
        yield from _redirected(chain, shared, copy)
    yield from _ambiguities(chain, copies)


def _redirected(chain: View, shared: View, copy: VisiblePage) -> Iterator[Caution]:
    for target in dict.fromkeys(one.target for one in copy.page.links):
        before = resolve_link(chain, target, holder=copy.origin).page
        after = resolve_link(shared, target, holder=SHARED).page
        if before and after and before.page.path != after.page.path:
            what = f"[[{target}]] leads to {several([before])}, there to {several([after])}"
            yield Caution("other-target", copy.page.path, target, what)


def _ambiguities(chain: ChainSnapshot, copies: Sequence[VisiblePage]) -> Iterator[Caution]:
    after = chain_after(chain, SHARED, (copy.page for copy in copies))
    for visible in chain.pages_of([HERE]):
        for now, then in zip(
            citations_of(chain, visible), citations_of(after, visible), strict=True
        ):
            if now.page is not None and then.page is None:
                message = f"{now.written!r} will name {several(then.candidates)} in the run"
                yield Caution("becomes-ambiguous", visible.page.path, now.written, message)
