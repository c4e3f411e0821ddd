"""Two readings of the same pages, and the class of every difference."""

import pytest

from counterfoil.core.ids import HERE, SHARED, Origin, PageId, RunId
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.judged import Judged, Place
from counterfoil.core.knowledge.migration import (
    MigrationReport,
    compare_resolutions,
    judged_citations,
)
from counterfoil.core.knowledge.pages import Fault, FieldSpot, Page, TextSpot, Written
from counterfoil.core.knowledge.resolution import PageVerdict

PARENT = Origin("inherited:r1")
FIT = Place(HERE, "knowledge/fit.md")


def _page(name: str, *cites: str, path: str | None = None, faults: tuple[Fault, ...] = ()) -> Page:
    return Page(
        path=f"knowledge/{path or name}.md",
        id=PageId(name),
        title=name,
        cites=tuple(Written(text) for text in cites),
        faults=faults,
    )


def _chain(*cites: str, run: str | None = "r2", faults: tuple[Fault, ...] = ()) -> ChainSnapshot:
    """Return a chain whose page `fit` writes `cites`, with pages to cite in each store."""
    own = [_page("fit", *cites, faults=faults), _page("x"), _page("own"), _page("café")]
    own.append(_page("twin", path="t1"))
    own.append(_page("twin", path="t2"))
    stores = [
        Store(origin=HERE, pages=tuple(own)),
        Store(origin=PARENT, pages=(_page("x"), _page("old"), _page("1"))),
        Store(origin=SHARED, pages=(_page("x"), _page("units"))),
    ]
    return ChainSnapshot(stores if run else stores[:1], run=RunId(run) if run else None)


def _at(name: str) -> Place:
    """Return the place that a test calls `here/x`."""
    origin, _, path = name.partition("/")
    known = {"here": HERE, "old": PARENT, "shared": SHARED}
    return Place(known[origin], f"knowledge/{path}.md")


def _theirs(written: str, *candidates: str, verdict: PageVerdict | None = None) -> Judged:
    derived: tuple[PageVerdict, ...] = ("missing", "resolved", "ambiguous")
    return Judged(
        FIT,
        written,
        verdict or derived[min(len(candidates), 2)],
        tuple(_at(name) for name in candidates),
    )


def _codes(report: MigrationReport) -> list[tuple[str, str | None, str | None]]:
    return [
        (
            one.code,
            one.ours.written if one.ours else None,
            one.theirs.written if one.theirs else None,
        )
        for one in report.differences
    ]


def test_what_does_not_differ_is_the_same() -> None:
    """migrate: The same verdicts, and the same candidates in the same order."""
    fault = Fault("malformed-citation", FieldSpot("cites", 9), "42", "no text")
    chain = _chain("own", "x", "nothing", "here::", faults=(fault,))
    theirs = [
        _theirs("own", "here/own"),
        _theirs("x", "here/x", "old/x", "shared/x"),
        _theirs("nothing"),
        _theirs("here::", verdict="malformed"),
        _theirs("42", verdict="malformed"),
    ]
    report = compare_resolutions(chain, theirs)
    assert report == MigrationReport(chain=chain.digest, compared=5, differences=())
    assert report.outcome == "same"
    assert report.counts == {}


def test_nothing_compared_is_empty() -> None:
    """migrate: It is never called the same."""
    assert compare_resolutions(_chain(), []).outcome == "empty"


@pytest.mark.parametrize(
    ("written", "theirs", "code"),
    [
        ("x", _theirs("x", "here/x"), "silently-shadowed"),
        ("x", _theirs("x", "shared/x"), "silently-shadowed"),
        ("here::twin", _theirs("here::twin", "here/t1"), "silently-shadowed"),
        ("shared::x", _theirs("shared::x", "here/x"), "qualifier-dropped"),
        (
            "shared::x",
            _theirs("shared::x", "here/x", "old/x", "shared/x"),
            "qualifier-dropped",
        ),
        ("shared::own", _theirs("shared::own", "here/own"), "qualifier-dropped"),
        ("OWN", _theirs("OWN", "here/own"), "letter-case"),
        ("here::OWN", _theirs("here::OWN", "here/own"), "letter-case"),
        ("①", _theirs("①", "old/1"), "normal-form"),
        ("cafe\u0301", _theirs("cafe\u0301"), "normal-form"),
        ("here::", _theirs("here::"), "malformed-passed"),
        ("own", _theirs("own", verdict="malformed"), "malformed-refused"),
        ("own", _theirs("own", "here/gone"), "unknown-page"),
        ("nothing", _theirs("nothing", "here/own"), "ours-missing"),
        ("own", _theirs("own"), "theirs-missing"),
        ("here::nothing", _theirs("here::nothing", "here/own"), "ours-missing"),
        ("own", _theirs("own", "shared/units"), "other-target"),
        ("x", _theirs("x", "here/x", "old/x"), "other-target"),
        ("x", _theirs("x", "here/own"), "other-target"),
        ("x", _theirs("x", "shared/x", "old/x", "here/x"), "order-only"),
    ],
)
def test_a_difference_has_a_class(written: str, theirs: Judged, code: str) -> None:
    """migrate: By what says most about its cause."""
    report = compare_resolutions(_chain(written), [theirs])
    assert _codes(report) == [(code, written, written)]
    assert report.counts == {code: 1}
    assert report.outcome == "differences"


def test_a_store_alone_cannot_agree_about_other_stores() -> None:
    """migrate: What only a run can judge is a difference, whatever theirs says."""
    report = compare_resolutions(_chain("shared::x", run=None), [_theirs("shared::x")])
    assert _codes(report) == [("needs-run-context", "shared::x", "shared::x")]


@pytest.mark.parametrize(
    ("written", "theirs", "code"),
    [
        (" own", _theirs("own", "here/own"), "normal-form"),
        ("cafe\u0301", _theirs("café", "here/café"), "normal-form"),
        ("knowledge-ref:v1:%5Bnull%2C%22own%22%5D", _theirs("own", "here/own"), "normal-form"),
        ("here:: ", _theirs("here::", verdict="malformed"), "normal-form"),
        ("here::own", _theirs("own", "here/own"), "qualifier-dropped"),
        ("own", _theirs("here::own", "here/own"), "qualifier-added"),
        ("OWN", _theirs("own"), "letter-case"),
        ("shared::x", _theirs("x", "here/x"), "qualifier-dropped"),
        ("x", _theirs("here::x", "here/x"), "silently-shadowed"),
        ("①", _theirs("1", "old/1"), "normal-form"),
    ],
)
def test_one_citation_may_be_written_by_two(written: str, theirs: Judged, code: str) -> None:
    """migrate: Each is laid beside the one that it was, and what it means counts first."""
    report = compare_resolutions(_chain(written), [theirs])
    assert _codes(report) == [(code, written, theirs.written)]


def test_what_one_side_alone_has_is_dropped_or_invented() -> None:
    """migrate: A citation that they lost, one that nobody wrote, one of no page at all."""
    nowhere = Judged(Place(HERE, "knowledge/gone.md"), "b", "missing")
    also = Judged(Place(HERE, "knowledge/gone.md"), "a", "missing")
    fault = Fault("malformed-citation", FieldSpot("cites", 9), "42", "no text")
    chain = _chain("own", "here::", faults=(fault,))
    report = compare_resolutions(chain, [_theirs("else"), nowhere, also, _theirs("::")])
    assert _codes(report) == [
        ("dropped", "own", None),
        ("dropped", "here::", None),
        ("dropped", "42", None),
        ("invented", None, "::"),
        ("invented", None, "else"),
        ("invented", None, "a"),
        ("invented", None, "b"),
    ]
    assert report.counts == {"invented": 4, "dropped": 3}
    assert report.compared == 3
    assert {one.page for one in report.differences} == {FIT, nowhere.page}


def test_two_citations_that_are_one_to_them_are_a_loss() -> None:
    """migrate: `x` and `here::x` are two texts; what they merge is dropped once."""
    report = compare_resolutions(_chain("own", "here::own"), [_theirs("own", "here/own")])
    assert _codes(report) == [("dropped", "here::own", None)]


def test_each_of_theirs_is_laid_beside_one_of_ours() -> None:
    """migrate: In the order of ours and of the texts."""
    theirs = [_theirs("own ", "here/own"), _theirs(" own ", "here/own")]
    report = compare_resolutions(_chain("own", "own  ", "  own"), theirs)
    assert _codes(report) == [
        ("normal-form", "own", " own "),
        ("normal-form", "own  ", "own "),
        ("dropped", "  own", None),
    ]


def test_the_pages_of_the_origins_asked_for_are_compared() -> None:
    """migrate: Rows about other pages are counted, not compared."""
    chain = ChainSnapshot(
        [
            Store(origin=HERE, pages=(_page("fit", "b"), _page("b"))),
            Store(origin=SHARED, pages=(_page("s", "b", "here::b"), _page("c"))),
        ],
        run=RunId("r"),
    )
    theirs = [
        _theirs("b", "here/b"),
        Judged(Place(SHARED, "knowledge/s.md"), "b", "resolved", (_at("here/b"),)),
    ]
    own = compare_resolutions(chain, theirs)
    assert (own.outcome, own.compared, own.outside) == ("same", 1, 1)
    both = compare_resolutions(chain, theirs, origins=[HERE, SHARED])
    assert (both.compared, both.outside) == (3, 0)
    assert _codes(both) == [("dropped", "here::b", None)]


def test_our_judgement_is_that_of_the_audit() -> None:
    """migrate: Each text once; `here` is the origin of the page that holds it."""
    faults = (
        Fault("malformed-citation", FieldSpot("cites", 1), "42", "no text"),
        Fault("malformed-citation", FieldSpot("cites", 2), "42", "no text"),
        Fault("malformed-citation", FieldSpot("contradicts", 1), "43", "no text"),
        Fault("malformed-citation", TextSpot(1), "44", "no text"),
        Fault("malformed-field", FieldSpot("cites"), "45", "no text"),
    )
    page = _page("p", "here::units", "here::units", faults=faults)
    chain = ChainSnapshot(
        [
            Store(origin=HERE, pages=(_page("units"),)),
            Store(origin=SHARED, pages=(page, _page("units"))),
        ],
        run=RunId("r"),
    )
    visible = chain.pages_of([SHARED])[0]
    place = Place(SHARED, "knowledge/p.md")
    assert list(judged_citations(chain, visible)) == [
        Judged(place, "here::units", "resolved", (Place(SHARED, "knowledge/units.md"),)),
        Judged(place, "42", "malformed"),
    ]
