"""Laws of chains: order changes nothing, one fault is one finding, a change concerns few.

Ids, names and origins come from small pools, so that they meet.
"""

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.core.ids import HERE, SHARED, Origin, PageId, RunId
from counterfoil.core.knowledge.affected import PageChange, affected_paths
from counterfoil.core.knowledge.audit import audit_citations
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.checks import page_findings
from counterfoil.core.knowledge.findings import Finding
from counterfoil.core.knowledge.graph import graph_of
from counterfoil.core.knowledge.lint import lint_chain
from counterfoil.core.knowledge.pages import Footnote, Invalidation, Link, Page, Written
from counterfoil.core.knowledge.resolution import handles_to_paste, resolve_handle
from counterfoil.core.knowledge.view import SourceRegistry, VisiblePage, names_of

_R1 = Origin.inherited(RunId("r1"))
_IDS = st.sampled_from(["a", "A", "b", "c", "here::a", "notes/a", "ü"])
_NAMES = st.sampled_from(["a", "The End", "the  end", "b", "notes/a", "C"])
_HANDLES = st.sampled_from(
    [
        "a",
        "A",
        "b",
        "c",
        "here::a",
        "here::b",
        "shared::a",
        "inherited:r1::a",
        "inherited:r0::a",
        "here::",
        "gone",
        "ü",
        "ü",
        "knowledge-ref:v1:%5Bnull%2C%22here%3A%3Aa%22%5D",
    ]
)
_TARGETS = st.one_of(_HANDLES, _NAMES, st.sampled_from(["a.md", "x/a.md", "x/b", "THE END"]))
_PATHS = ["a", "b", "x/a", "x/b", "c"]


def _written(texts: list[str]) -> tuple[Written, ...]:
    return tuple(Written(text, item) for item, text in enumerate(texts))


@st.composite
def _pages(draw: st.DrawFn, path: str) -> Page:
    handles = st.lists(_HANDLES, max_size=3)
    title = draw(st.one_of(st.none(), _NAMES))
    return Page(
        path=f"knowledge/{path}.md",
        id=PageId(draw(_IDS)),
        title=title or path.rpartition("/")[2],
        is_title_written=title is not None,
        frontmatter="read",
        cites=_written(draw(handles)),
        contradicts=_written(draw(st.lists(_HANDLES, max_size=1))),
        sources=_written(draw(st.lists(st.sampled_from(["s1", "s2"]), max_size=2))),
        aliases=tuple(draw(st.lists(_NAMES, max_size=1))),
        links=tuple(
            Link(target, 9, column)
            for column, target in enumerate(draw(st.lists(_TARGETS, max_size=3)))
        ),
        footnotes=tuple(draw(st.lists(st.just(Footnote("s1", "l1", False, 9, 1)), max_size=1))),  # noqa: FBT003
        invalidation=Invalidation(observed_at="2026-02-03T04:05:06Z", reason="measured again")
        if draw(st.integers(0, 4)) == 0
        else None,
    )


@st.composite
def _stores(draw: st.DrawFn) -> list[Store]:
    stores = []
    for origin in (HERE, _R1, SHARED):
        paths = draw(st.lists(st.sampled_from(_PATHS), unique=True, max_size=4))
        pages = tuple(draw(_pages(path)) for path in paths)
        registry = SourceRegistry(anchors={"s1": frozenset(draw(st.sampled_from([["l1"], []])))})
        stores.append(Store(origin=origin, pages=pages, registry=registry))
    return stores


_ORDINARY = settings(max_examples=100)
"""Of chains of three stores: the laws hold each page against each other."""


def _chain(stores: list[Store]) -> ChainSnapshot:
    return ChainSnapshot(stores, run=RunId("r2"))


def _all(chain: ChainSnapshot) -> list[list[Finding]]:
    return [list(lint_chain(chain, origin).findings) for origin in chain.origins]


@_ORDINARY
@given(_stores(), st.randoms(use_true_random=False))
def test_the_order_of_pages_changes_no_finding(stores: list[Store], random: object) -> None:
    """lint: Files come in any order from a disk."""
    shuffled = []
    for store in stores:
        pages = list(store.pages)
        random.shuffle(pages)  # type: ignore[attr-defined]
        shuffled.append(replace(store, pages=tuple(pages)))
    assert _all(_chain(shuffled)) == _all(_chain(stores))


@_ORDINARY
@given(_stores(), st.data())
def test_one_malformed_citation_is_one_finding_more(
    stores: list[Store], data: st.DataObject
) -> None:
    """citation-audit: It changes no other finding, of its own page or of another."""
    chain = _chain(stores)
    if not len(chain):
        return
    victim = data.draw(st.sampled_from(list(chain)))
    bad = Written("inherited:r1:: ", 99)
    broken = [
        replace(
            store,
            pages=tuple(
                replace(page, cites=(*page.cites, bad))
                if (store.origin, page.path) == (victim.origin, victim.page.path)
                else page
                for page in store.pages
            ),
        )
        for store in stores
    ]
    origins = chain.origins
    before = Counter(audit_citations(chain, origins).findings)
    after = Counter(audit_citations(_chain(broken), origins).findings)
    more = after - before
    assert before - after == Counter()
    assert [(found.code, found.path, found.reason) for found in more] == [
        ("malformed-citation", victim.page.path, "blank-id")
    ]


@_ORDINARY
@given(_stores(), st.sampled_from([HERE, _R1, SHARED]), st.sampled_from(_PATHS), st.data())
def test_a_change_alters_findings_of_the_affected_pages_alone(
    stores: list[Store], origin: Origin, path: str, data: st.DataObject
) -> None:
    """lint-incremental: Every page whose findings differ is among those to check again."""
    after = data.draw(st.one_of(st.none(), _pages(path)))
    before = next(
        (
            page
            for store in stores
            for page in store.pages
            if store.origin == origin and page.path == f"knowledge/{path}.md"
        ),
        None,
    )
    changed = [
        replace(
            store,
            pages=(
                *(page for page in store.pages if page is not before),
                *([after] if after is not None else []),
            ),
        )
        if store.origin == origin
        else store
        for store in stores
    ]
    old, new = _chain(stores), _chain(changed)
    change = PageChange(origin, before, after)
    for own in new.origins:
        affected = affected_paths(new, [change], own)
        for visible in new.pages_of([own]):
            if visible.page.path not in affected:
                assert page_findings(new, visible) == page_findings(old, visible)


@_ORDINARY
@given(_stores())
def test_a_handle_to_paste_means_one_other_page(stores: list[Store]) -> None:
    """citation-audit: Each handle of a finding resolves, in that page, to one candidate."""
    chain = _chain(stores)
    for visible in chain:
        found = chain.called(f"={visible.page.id}")
        for handle in handles_to_paste(chain, found, visible):
            page = resolve_handle(chain, handle, holder=visible.origin).page
            assert page is not None
            assert page in found
            assert not page.is_at(visible)


@_ORDINARY
@given(_stores(), _HANDLES)
def test_one_page_more_moves_the_verdict_and_nothing_else(stores: list[Store], handle: str) -> None:
    """page-resolution: Candidates that were there are there still, in their order."""
    chain = _chain(stores)
    fresh = Page(path="knowledge/zz.md", id=PageId("a"), title="new")
    more = [replace(store, pages=(*store.pages, fresh)) for store in stores[:1]] + stores[1:]
    before, after = resolve_handle(chain, handle), resolve_handle(_chain(more), handle)
    assert before.reference == after.reference
    kept = tuple(page for page in after.candidates if page.page is not fresh)
    assert kept == before.candidates


@_ORDINARY
@given(_stores())
def test_weight_and_reasons_of_an_edge_agree(stores: list[Store]) -> None:
    """graph: No edge without a reason, none to itself, and degrees add up."""
    chain = _chain(stores)
    graph = graph_of(chain, list(chain))
    authored = [found for found in graph.relations if found.kind != "shared-source"]
    assert sum(found.outgoing for found in graph.degrees.values()) == len(authored)
    assert sum(found.incoming for found in graph.degrees.values()) == len(authored)
    for edge in graph.edges:
        assert edge.source != edge.target
        assert edge.reasons
        halves = sum(reason == "shared-source" for reason in edge.reasons)
        assert edge.weight >= len(edge.reasons) - halves + halves / 2


@_ORDINARY
@given(_stores())
def test_a_page_is_found_by_each_of_its_names(stores: list[Store]) -> None:
    """chain: Every name, and in chain order."""
    chain = _chain(stores)
    order = {visible: place for place, visible in enumerate(chain)}
    for visible in chain:
        for key in names_of(visible.page):
            found = list(chain.called(key))
            assert visible in found
            assert found == sorted(found, key=order.__getitem__)


@_ORDINARY
@given(_stores())
def test_a_digest_is_that_of_what_is_seen(stores: list[Store]) -> None:
    """chain: Another page is another digest; another order is not."""
    chain = _chain(stores)
    turned = [replace(store, pages=store.pages[::-1]) for store in stores]
    assert _chain(turned).digest == chain.digest
    fresh = Page(path="knowledge/zz.md", id=PageId("a"), title="new")
    more = [replace(stores[0], pages=(*stores[0].pages, fresh)), *stores[1:]]
    assert _chain(more).digest != chain.digest


def test_a_visible_page_has_an_address() -> None:
    """chain: Origin, path and id."""
    page = VisiblePage(HERE, Page(path="knowledge/a.md", id=PageId("a"), title="a"))
    assert page.address == (HERE, "knowledge/a.md", "a")
