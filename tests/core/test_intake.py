"""The gate before a write: what is refused before any byte, and what passes."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from counterfoil.core.ids import HERE, SHARED, Origin, PageId, RunId
from counterfoil.core.knowledge.after import chain_after
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.intake import MOST_ROWS, CandidatePage, Intake, weigh_intake
from counterfoil.core.knowledge.near import NearLimits
from counterfoil.core.knowledge.pages import Fault, FieldSpot, Page, TextSpot, Written
from counterfoil.core.knowledge.view import SourceRegistry, VisiblePage

LONG = " ".join(f"word{number}" for number in range(60))
PARENT = Origin("inherited:r1")


def _page(
    name: str,
    *cites: str,
    contradicts: tuple[str, ...] = (),
    faults: tuple[Fault, ...] = (),
    path: str | None = None,
) -> Page:
    return Page(
        path=f"knowledge/{path or name}.md",
        id=PageId(name),
        title=name,
        cites=tuple(Written(text) for text in cites),
        contradicts=tuple(Written(text) for text in contradicts),
        faults=faults,
    )


def _chain(pages: Mapping[Origin, list[Page]], *, run: str | None = "r2") -> ChainSnapshot:
    origins = [HERE, PARENT, SHARED] if run else [HERE]
    return ChainSnapshot(
        [Store(origin=origin, pages=tuple(pages.get(origin, ()))) for origin in origins],
        run=RunId(run) if run else None,
    )


def _weighed(chain: ChainSnapshot, *pages: Page, bodies: Mapping[str, str] | None = None) -> Intake:
    """Weigh pages with the bodies that are given by id, for pages of the chain too."""
    texts = bodies or {}

    def body(visible: VisiblePage) -> str:
        return texts.get(visible.page.id, "")

    return weigh_intake(
        chain, [CandidatePage(page, texts.get(page.id, "")) for page in pages], body
    )


def _codes(intake: Intake) -> list[tuple[str, str | None]]:
    return [(found.code, found.written) for found in intake.citations]


def test_pages_whose_citations_resolve_come_in() -> None:
    """intake-gate: To pages of the chain, and to one another."""
    chain = _chain({HERE: [_page("a")], PARENT: [_page("b")], SHARED: [_page("c")]})
    new = [_page("n", "a", "inherited:r1::b", "shared::c", "m"), _page("m", "here::n")]
    intake = _weighed(chain, *new)
    assert intake == Intake(pages=2)
    assert intake.is_open
    assert intake.messages == ()


def test_each_citation_that_does_not_resolve_is_a_row() -> None:
    """intake-gate: Missing, ambiguous, malformed and to itself, all at once."""
    chain = _chain({HERE: [_page("a")], SHARED: [_page("a")]})
    fault = Fault("malformed-citation", FieldSpot("cites", 4), "42", "no text")
    intake = _weighed(chain, _page("n", "nothing", "a", "here::", "n", faults=(fault,)))
    assert not intake.is_open
    assert _codes(intake) == [
        ("malformed-citation", "42"),
        ("missing-citation", "nothing"),
        ("ambiguous-citation", "a"),
        ("malformed-citation", "here::"),
        ("self-citation", "n"),
    ]
    assert intake.messages[0] == "knowledge/n.md: no text"


@pytest.mark.parametrize("code", ["bad-frontmatter", "not-utf8"])
def test_a_page_that_hides_its_citations_is_refused(code: str) -> None:
    """intake-gate: Nobody can say that they resolve."""
    fault = Fault(code, TextSpot(1), "---", "cannot be read")
    assert _codes(_weighed(_chain({}), _page("n", faults=(fault,)))) == [(code, "---")]


@pytest.mark.parametrize(
    "fault",
    [
        Fault("malformed-citation", FieldSpot("contradicts", 0), "42", "no text"),
        Fault("malformed-citation", TextSpot(1), "42", "no text"),
        Fault("malformed-field", FieldSpot("tags"), "42", "no text"),
    ],
)
def test_other_faults_are_for_lint(fault: Fault) -> None:
    """intake-gate: The gate is about citations and copies, and about nothing else."""
    assert _weighed(_chain({}), _page("n", faults=(fault,))).is_open


def test_a_store_alone_refuses_no_reference_to_another() -> None:
    """intake-gate: What needs a run to be judged is not called broken."""
    assert _weighed(_chain({}, run=None), _page("n", "shared::x")).is_open


def test_the_pages_at_the_paths_of_candidates_are_gone() -> None:
    """intake-gate: A page is weighed as if it stood there, in place of what it replaces."""
    chain = _chain({HERE: [_page("old", path="p"), _page("keep")]})
    assert _codes(_weighed(chain, _page("new", "old", path="p"))) == [("missing-citation", "old")]
    after = chain_after(chain, HERE, [_page("new", path="p")])
    assert [str(visible.page.id) for visible in after] == ["keep", "new"]
    assert after.run == chain.run


def test_a_chain_after_a_change_keeps_its_other_stores() -> None:
    """intake-gate: Origins, registries and pages of the others are as they were."""
    registry = SourceRegistry(anchors={"s": frozenset()})
    chain = ChainSnapshot(
        [
            Store(origin=HERE, pages=(), registry=registry),
            Store(origin=SHARED, pages=(_page("c"),)),
        ],
        run=RunId("r"),
    )
    after = chain_after(chain, HERE, [_page("c")])
    assert after.origins == chain.origins
    assert after.registry(HERE) is registry
    assert [visible.origin for visible in after] == [HERE, SHARED]


@pytest.mark.parametrize("origin", [HERE, PARENT, SHARED])
def test_a_page_that_says_the_same_as_another_is_refused(origin: Origin) -> None:
    """intake-gate: Whatever store of the chain the other one stands in."""
    intake = _weighed(_chain({origin: [_page("a")]}), _page("n"), bodies={"a": LONG, "n": LONG})
    (row,) = intake.near
    assert (row.page.page.id, row.other.origin, row.other.page.id) == ("n", origin, "a")
    assert row.percent >= 82
    assert intake.messages == (row.message,)
    assert f"knowledge/a.md ({origin})" in row.message
    assert not intake.is_open


def test_two_proposed_pages_that_say_the_same_are_refused() -> None:
    """intake-gate: Copies come in one proposal, too."""
    intake = _weighed(_chain({}), _page("m"), _page("n"), bodies={"m": LONG, "n": LONG})
    assert [(row.page.page.id, row.other.page.id) for row in intake.near] == [("m", "n")]


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (_page("n", "a"), _page("a")),
        (_page("n"), _page("a", "here::n")),
        (_page("n", contradicts=("a",)), _page("a")),
        (_page("n"), _page("a", contradicts=("n",))),
        (_page("a", path="n"), _page("a", path="o")),
    ],
    ids=["cites", "is-cited", "contradicts", "is-contradicted", "one-id"],
)
def test_related_pages_may_say_the_same(new: Page, old: Page) -> None:
    """intake-gate: One cites or contradicts the other, or they share an id."""
    bodies = {"a": LONG, "n": LONG}
    assert _weighed(_chain({HERE: [old]}), new, bodies=bodies).near == ()


def test_a_reference_to_another_page_relates_nothing() -> None:
    """intake-gate: An ambiguous one does not either: which page is meant is not known."""
    chain = _chain({HERE: [_page("a"), _page("b")], SHARED: [_page("a")]})
    bodies = {"a": LONG, "n": LONG}
    assert len(_weighed(chain, _page("n", "a", "b", "nothing"), bodies=bodies).near) == 2


def test_a_page_that_is_written_again_is_no_copy_of_itself() -> None:
    """intake-gate: What stood at its path is not there any more."""
    chain = _chain({HERE: [_page("old", path="p")]})
    bodies = {"old": LONG, "new": LONG}
    assert _weighed(chain, _page("new", path="p"), bodies=bodies).is_open


@pytest.mark.parametrize("count", [MOST_ROWS - 1, MOST_ROWS, MOST_ROWS + 1])
def test_rows_past_a_thousand_are_counted(count: int) -> None:
    """intake-gate: The list is bounded, its count is exact."""
    pages = [replace(_page(f"p{number}"), title="p") for number in range(count)]
    intake = weigh_intake(
        _chain({SHARED: pages}), [CandidatePage(_page("p"), LONG)], lambda _: LONG
    )
    assert len(intake.near) == min(count, MOST_ROWS)
    assert intake.unlisted == count - len(intake.near)


def test_pairs_that_were_not_compared_are_counted() -> None:
    """intake-gate: The gate says what it did not look at."""
    pages = [_page(f"p{number}") for number in range(3)]
    intake = weigh_intake(
        _chain({SHARED: pages}),
        [CandidatePage(_page("n"), LONG)],
        lambda _: LONG,
        limits=NearLimits(pairs=2),
    )
    assert (len(intake.near), intake.uncompared) == (2, 1)
