"""Pages on their way to the shared store: what goes along, and what is refused."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from counterfoil.core.errors import InvalidIdError, NotFoundError
from counterfoil.core.ids import HERE, SHARED, Origin, PageId, RunId
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.pages import Fault, FieldSpot, Link, Page, TextSpot, Written
from counterfoil.core.knowledge.promotion import PromotionPlan, plan_promotion
from counterfoil.core.knowledge.view import VisiblePage

PARENT = Origin("inherited:r1")


def _page(name: str, *cites: str, path: str | None = None) -> Page:
    return Page(
        path=f"knowledge/{path or name}.md",
        id=PageId(name),
        title=name,
        cites=tuple(Written(text) for text in cites),
    )


def _chain(pages: Mapping[Origin, list[Page]]) -> ChainSnapshot:
    return ChainSnapshot(
        [
            Store(origin=origin, pages=tuple(pages.get(origin, ())))
            for origin in (HERE, PARENT, SHARED)
        ],
        run=RunId("r2"),
    )


def _digest(visible: VisiblePage) -> str:
    """Stand for the digest of the bytes: equal where everything on the page is."""
    return repr(visible.page)


def _plan(pages: Mapping[Origin, list[Page]], *ids: str) -> PromotionPlan:
    return plan_promotion(_chain(pages), ids, _digest)


def _going(plan: PromotionPlan) -> list[tuple[str, str, str]]:
    return [(str(one.source.page.id), str(one.source.origin), one.role) for one in plan.pages]


def _refusals(plan: PromotionPlan) -> list[tuple[str, str]]:
    assert plan.cautions == ()
    return [(refusal.code, refusal.written) for refusal in plan.refusals]


def test_a_page_goes_with_all_that_it_cites() -> None:
    """promotion: The closure: own pages and inherited ones, never those that are shared."""
    plan = _plan(
        {
            HERE: [_page("a", "b", "s"), _page("b", "c"), _page("other", "a")],
            PARENT: [_page("c", "b2"), _page("b2")],
            SHARED: [_page("s", "t"), _page("t")],
        },
        "a",
    )
    assert plan.refusals == ()
    assert _going(plan) == [
        ("a", "here", "requested"),
        ("b", "here", "carried"),
        ("b2", "inherited:r1", "carried"),
        ("c", "inherited:r1", "carried"),
    ]
    assert {one.digest for one in plan.pages} == {_digest(one.source) for one in plan.pages}


def test_pages_that_cite_one_another_go_together() -> None:
    """promotion: A circle of citations ends, and a requested page stays requested."""
    pages = {HERE: [_page("a", "b", "a"), _page("b", "c"), _page("c", "a", "b")]}
    assert _going(_plan(pages, "c", "a")) == [
        ("a", "here", "requested"),
        ("b", "here", "carried"),
        ("c", "here", "requested"),
    ]


@pytest.mark.parametrize(
    ("ids", "refusal"),
    [
        ((), ("no-page", "")),
        (("x",), ("unknown-id", "x")),
        (("c",), ("unknown-id", "c")),
        (("s",), ("unknown-id", "s")),
        (("a", " a"), ("repeated-id", "a")),
        (("d",), ("duplicated-id", "d")),
    ],
)
def test_only_pages_of_the_run_itself_are_asked_for(
    ids: tuple[str, ...], refusal: tuple[str, str]
) -> None:
    """promotion: Each once, and each the one page with its id."""
    pages = {
        HERE: [_page("a"), _page("d"), _page("d", path="d2")],
        PARENT: [_page("c")],
        SHARED: [_page("s")],
    }
    plan = _plan(pages, *ids)
    assert _refusals(plan) == [refusal]
    assert plan.pages == ()


def test_what_no_page_can_be_called_is_an_error() -> None:
    """promotion: An id is refused where it is made."""
    with pytest.raises(InvalidIdError):
        _plan({}, "a\x00")


def test_a_chain_without_a_shared_store_has_nowhere_to_promote_to() -> None:
    """promotion: It is said before anything is looked at."""
    chain = ChainSnapshot([Store(origin=HERE, pages=(_page("a"),))], run=RunId("r"))
    with pytest.raises(NotFoundError, match="no shared store"):
        plan_promotion(chain, ["a"], _digest)


@pytest.mark.parametrize(
    ("shared", "refusal"),
    [
        (_page("a", path="other"), ("id-taken", "a")),
        (_page("b", path="a"), ("path-taken", "knowledge/a.md")),
        (_page("b", path="A"), ("path-taken", "knowledge/a.md")),
        (replace(_page("a"), title="of other bytes"), ("path-taken", "knowledge/a.md")),
    ],
)
def test_a_name_that_others_have_is_refused(shared: Page, refusal: tuple[str, str]) -> None:
    """promotion: An id or a path that is taken in the shared store by other bytes."""
    assert _refusals(_plan({HERE: [_page("a")], SHARED: [shared]}, "a")) == [refusal]


@pytest.mark.parametrize(
    ("carried", "refusal"),
    [
        (_page("b", path="a"), ("path-taken", "knowledge/a.md")),
        (_page("a", path="b"), ("id-taken", "a")),
    ],
)
def test_two_pages_that_go_do_not_share_a_name(carried: Page, refusal: tuple[str, str]) -> None:
    """promotion: A page of the run and an inherited one come to one store."""
    own = _page("a", f"inherited:r1::{carried.id}")
    plan = _plan({HERE: [own], PARENT: [carried]}, "a")
    assert refusal in [(one.code, one.written) for one in plan.refusals]


@pytest.mark.parametrize("written", ["nothing", "here::", "twice"])
def test_a_citation_that_does_not_resolve_now_is_refused(written: str) -> None:
    """promotion: Missing, malformed and ambiguous ones, in carried pages too."""
    pages = {
        HERE: [_page("a", "b"), _page("b", written), _page("twice")],
        SHARED: [_page("twice", path="t")],
    }
    plan = _plan(pages, "a")
    assert _refusals(plan) == [("unresolved-citation", written)]
    assert plan.refusals[0].path == "knowledge/b.md"


def test_an_ancestor_has_no_name_in_the_shared_store() -> None:
    """promotion: A citation that names a run would be lost there."""
    plan = _plan({HERE: [_page("a", "inherited:r1::b")], PARENT: [_page("b")]}, "a")
    assert _refusals(plan) == [("lost-citation", "inherited:r1::b")]
    assert "would name no page" in plan.refusals[0].message


def test_here_means_the_shared_store_afterwards() -> None:
    """promotion: It is kept where it means the copy of the same page."""
    pages = {HERE: [_page("a", "here::b"), _page("b")]}
    assert _going(_plan(pages, "a")) == [
        ("a", "here", "requested"),
        ("b", "here", "carried"),
    ]


def test_here_that_would_mean_another_page_is_refused() -> None:
    """promotion: A page of the shared store with that id is another one."""
    pages = {
        HERE: [_page("a", "here::b"), _page("b")],
        SHARED: [_page("b", path="else")],
    }
    assert _refusals(_plan(pages, "a")) == [
        ("id-taken", "b"),
        ("lost-citation", "here::b"),
    ]


def test_a_citation_that_two_shared_pages_would_answer_is_refused() -> None:
    """promotion: `here::s` of the run is one page; of the shared store it would be two."""
    pages = {
        HERE: [_page("a", "here::s"), _page("s", path="s1")],
        SHARED: [_page("s", path="s1"), _page("s", path="s2")],
    }
    plan = _plan(pages, "a")
    assert _refusals(plan) == [("lost-citation", "here::s")]
    assert "knowledge/s2.md (shared)" in plan.refusals[0].message


@pytest.mark.parametrize("code", ["bad-frontmatter", "not-utf8", "malformed-citation"])
def test_a_page_whose_citations_cannot_be_read_is_refused(code: str) -> None:
    """promotion: Nobody can say what they would mean."""
    page = replace(_page("a"), faults=(Fault(code, FieldSpot("cites", 0), "42", "no text"),))
    assert _refusals(_plan({HERE: [page]}, "a")) == [("hidden-citations", "42")]


def test_other_faults_of_a_page_go_with_it() -> None:
    """promotion: It is copied as it is; lint has said what is wrong."""
    page = replace(_page("a"), faults=(Fault("malformed-field", TextSpot(1), "x", "no list"),))
    assert _plan({HERE: [page]}, "a").refusals == ()


def test_what_is_there_already_is_not_written_again() -> None:
    """promotion: The same promotion again has nothing to write, and is no conflict."""
    pages = {HERE: [_page("a", "b"), _page("b")]}
    again = {HERE: pages[HERE], SHARED: pages[HERE]}
    plan = _plan(again, "a")
    assert (plan.pages, plan.refusals) == ((), ())
    assert [str(page.page.id) for page in plan.present] == ["a"]


def test_a_cited_page_that_is_there_already_is_not_carried() -> None:
    """promotion: Its copy is what the citation means."""
    pages = {HERE: [_page("a", "here::b"), _page("b", "c"), _page("c")], SHARED: [_page("b", "c")]}
    plan = _plan(pages, "a")
    assert _going(plan) == [("a", "here", "requested")]
    assert plan.refusals == ()


def test_a_copy_whose_citations_are_lost_there_is_no_promotion() -> None:
    """promotion: Somebody put the page there without what it cites."""
    own = [_page("a", "b", "a"), _page("b")]
    plan = _plan({HERE: own, SHARED: own[:1]}, "a")
    assert _refusals(plan) == [("lost-citation", "b")]


def test_links_that_break_are_cautions() -> None:
    """promotion: Links, contradictions and sources are told, and stand in no way."""
    page = replace(
        _page("a"),
        links=(
            Link("b", 3, 1),
            Link("b", 4, 1),
            Link("moved", 5, 1),
            Link("kept", 6, 1),
            Link("new", 7, 1),
        ),
        contradicts=(Written("here::b"),),
        sources=(Written("src_1"),),
    )
    pages = {
        HERE: [page, _page("b"), replace(_page("own"), title="Moved")],
        PARENT: [],
        SHARED: [_page("kept"), _page("new")],
    }
    chain = _chain(pages)
    plan = plan_promotion(chain, ["a"], _digest)
    assert plan.refusals == ()
    assert [(caution.code, caution.written) for caution in plan.cautions] == [
        ("broken-there", "b"),
        ("broken-there", "moved"),
        ("broken-there", "here::b"),
        ("broken-there", "src_1"),
    ]
    assert {caution.path for caution in plan.cautions} == {"knowledge/a.md"}


def test_a_link_that_leads_elsewhere_is_a_caution() -> None:
    """promotion: `[[here::b]]` meant the run's page, and means the shared one there."""
    page = replace(_page("a"), links=(Link("here::b", 3, 1),))
    plan = _plan({HERE: [page, _page("b")], SHARED: [_page("b", path="other")]}, "a")
    (caution,) = plan.cautions
    assert (caution.code, caution.written) == ("other-target", "here::b")
    assert "knowledge/other.md" in caution.message


def test_citations_that_become_ambiguous_are_cautions() -> None:
    """promotion: In the run, its own page and the copy answer to one bare id."""
    pages = {HERE: [_page("a"), _page("b", "a"), _page("c", "here::a", "nothing")]}
    plan = _plan(pages, "a")
    assert [(caution.code, caution.path, caution.written) for caution in plan.cautions] == [
        ("becomes-ambiguous", "knowledge/b.md", "a")
    ]
