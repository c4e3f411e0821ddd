"""Laws of promotion: what a promoted page refers to is what it referred to."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.core.ids import HERE, SHARED, Origin, PageId, RunId
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.pages import Page, Written
from counterfoil.core.knowledge.promotion import PromotionPlan, plan_promotion
from counterfoil.core.knowledge.promotion_checks import shared_after
from counterfoil.core.knowledge.resolution import resolve_handle
from counterfoil.core.knowledge.view import VisiblePage

PARENT = Origin("inherited:r1")
IDS = ["a", "b", "c", "d"]

HANDLES = st.sampled_from(
    [
        f"{origin}{page}"
        for page in IDS
        for origin in ("", "", "here::", "here::", "here::", "shared::", "inherited:r1::")
    ]
)


@st.composite
def pages(draw: st.DrawFn, paths: list[str], least: int = 0) -> tuple[Page, ...]:
    """Draw the pages of one store, at most one at each of `paths`."""
    chosen = draw(st.lists(st.sampled_from(paths), unique=True, min_size=least))
    return tuple(
        Page(
            path=f"knowledge/{path}.md",
            id=PageId(draw(st.sampled_from([path] * 20 + IDS))),
            title=draw(st.sampled_from(["one", "one", "two"])),
            cites=tuple(map(Written, draw(st.lists(HANDLES, max_size=2)))),
        )
        for path in chosen
    )


@st.composite
def requests(draw: st.DrawFn) -> tuple[ChainSnapshot, str]:
    """Draw a run with pages of its own, an ancestor, a shared store; and one of its pages."""
    chain = ChainSnapshot(
        [
            Store(origin=HERE, pages=draw(pages(IDS, least=3))),
            Store(origin=PARENT, pages=draw(pages(IDS[2:]))),
            Store(origin=SHARED, pages=draw(pages(IDS[3:]))),
        ],
        run=RunId("r2"),
    )
    return chain, draw(st.sampled_from([page.page.id for page in chain.pages_of([HERE])]))


REQUESTS = requests()


def _digest(visible: VisiblePage) -> str:
    """Stand for the digest of the bytes: equal where everything on the page is."""
    return repr(visible.page)


def _plan(chain: ChainSnapshot, page: str) -> PromotionPlan:
    return plan_promotion(chain, [page], _digest)


@given(REQUESTS)
def test_promotion_keeps_every_resolution(asked: tuple[ChainSnapshot, str]) -> None:
    """promotion: Each citation of a promoted page comes to the same path and bytes."""
    chain, page = asked
    plan = _plan(chain, page)
    if plan.refusals:
        return
    shared = shared_after(chain, [one.source for one in plan.pages])
    for promoted in plan.pages:
        source = promoted.source
        for item in source.page.cites:
            before = resolve_handle(chain, item.text, holder=source.origin).page
            after = resolve_handle(shared, item.text, holder=SHARED).page
            assert before is not None
            assert after is not None
            assert after.page == before.page


@given(REQUESTS)
def test_promotion_changes_no_page_that_is_shared(asked: tuple[ChainSnapshot, str]) -> None:
    """promotion: Nothing is replaced, and what resolved in the shared store still does."""
    chain, page = asked
    plan = _plan(chain, page)
    if plan.refusals:
        return
    before = shared_after(chain, [])
    after = shared_after(chain, [one.source for one in plan.pages])
    assert len(after) == len(before) + len(plan.pages)
    for visible in before:
        assert visible in list(after)
        for item in visible.page.cites:
            found = resolve_handle(before, item.text, holder=SHARED).page
            assert found is None or found == resolve_handle(after, item.text, holder=SHARED).page


@given(REQUESTS)
def test_promotion_carries_no_page_that_is_not_cited(asked: tuple[ChainSnapshot, str]) -> None:
    """promotion: Without any one of the carried pages, a citation of the others is lost."""
    chain, page = asked
    plan = _plan(chain, page)
    if plan.refusals:
        return
    for left_out in plan.pages:
        if left_out.role == "requested":
            continue
        rest = [one.source for one in plan.pages if one is not left_out]
        shared = shared_after(chain, rest)
        assert any(
            resolve_handle(shared, item.text, holder=SHARED).page is None
            for source in rest
            for item in source.page.cites
        )


@given(REQUESTS)
def test_the_same_promotion_again_changes_nothing(asked: tuple[ChainSnapshot, str]) -> None:
    """promotion: What was promoted is there, so that nothing is left to write or refuse."""
    chain, page = asked
    plan = _plan(chain, page)
    if plan.refusals:
        return
    copies = [one.source.page for one in plan.pages]
    again = ChainSnapshot(
        [
            Store(origin=HERE, pages=tuple(one.page for one in chain.pages_of([HERE]))),
            Store(origin=PARENT, pages=tuple(one.page for one in chain.pages_of([PARENT]))),
            Store(origin=SHARED, pages=(*(one.page for one in chain.pages_of([SHARED])), *copies)),
        ],
        run=chain.run,
    )
    second = _plan(again, page)
    assert (second.pages, second.refusals) == ((), ())


@given(REQUESTS)
def test_no_verdict_depends_on_the_order_of_pages(asked: tuple[ChainSnapshot, str]) -> None:
    """promotion: The order in which a store lists its pages changes no plan."""
    chain, page = asked
    turned = ChainSnapshot(
        [
            Store(origin=one, pages=tuple(replace(v.page) for v in chain.pages_of([one]))[::-1])
            for one in chain.origins
        ],
        run=chain.run,
    )
    assert _plan(turned, page) == _plan(chain, page)


def test_the_laws_meet_plans_of_both_kinds() -> None:
    """promotion: Small pools make promotions that go through, with pages that are carried."""
    seen: set[tuple[bool, bool]] = set()

    @settings(max_examples=300, derandomize=True, database=None)
    @given(REQUESTS)
    def look(asked: tuple[ChainSnapshot, str]) -> None:
        plan = _plan(*asked)
        seen.add((bool(plan.refusals), any(one.role == "carried" for one in plan.pages)))

    look()
    assert {(True, False), (False, False), (False, True)} <= seen
