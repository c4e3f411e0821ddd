"""Values about pages: findings and their bounds, silences, what a change adds, numbers."""

from typing import Any

import pytest

from counterfoil.core.ids import HERE, SHARED, Origin, PageId, RunId
from counterfoil.core.knowledge.affected import PageChange, affected_paths
from counterfoil.core.knowledge.audit import (
    MOST,
    SHOWN,
    BrokenCitationsError,
    assert_citations,
    audit_citations,
    paste,
    several,
)
from counterfoil.core.knowledge.chain import ChainSnapshot, Store, single_store
from counterfoil.core.knowledge.checks import literal_findings, page_findings
from counterfoil.core.knowledge.codes import CODES
from counterfoil.core.knowledge.findings import Checked, Finding, LintReport, in_order
from counterfoil.core.knowledge.graph import SHARED_BY_MOST, graph_of
from counterfoil.core.knowledge.inspection import (
    MOST_REFERRED,
    inspect_chain,
    relations_of_page,
)
from counterfoil.core.knowledge.invalidated import invalidation_findings
from counterfoil.core.knowledge.lint import (
    added_findings,
    citations_alone,
    lint_chain,
    registry_findings,
    with_rules,
)
from counterfoil.core.knowledge.names import link_name, slug
from counterfoil.core.knowledge.pages import (
    Fault,
    FieldSpot,
    Footnote,
    Invalidation,
    Link,
    Page,
    Silence,
    TextSpot,
    Written,
)
from counterfoil.core.knowledge.view import SourceRegistry, VisiblePage
from counterfoil.core.settings import SilencedRule

_R1 = Origin("inherited:r1")
_TAKEN_BACK = Invalidation(observed_at="2026-02-03T04:05:06Z", reason="outliers")


def _page(name: str, *cites: str, **fields: Any) -> Page:  # noqa: ANN401 - any field
    made: dict[str, Any] = {
        "path": f"knowledge/{name}.md",
        "id": PageId(name.rpartition("/")[2]),
        "title": name,
        "cites": tuple(Written(text, item) for item, text in enumerate(cites)),
        "frontmatter": "read",
    }
    return Page(**made | fields)


def _links(*targets: str) -> tuple[Link, ...]:
    return tuple(Link(target, 9, place) for place, target in enumerate(targets, start=1))


def _finding(code: str = "broken-link", **fields: Any) -> Finding:  # noqa: ANN401 - any field
    made: dict[str, Any] = {
        "code": code,
        "origin": HERE,
        "path": "knowledge/a.md",
        "spot": TextSpot(3, 9),
        "message": "it is wrong",
        "page": PageId("a"),
    }
    return Finding(**made | fields)


def _report(*findings: Finding) -> LintReport:
    return LintReport(checked=Checked(1, 2, 3), findings=findings)


def _codes(found: list[Finding] | tuple[Finding, ...]) -> list[str]:
    return [finding.code for finding in found]


# --- findings and reports -----------------------------------------------------


def test_a_finding_has_a_line_once_its_place_was_looked_up() -> None:
    """lint: A field is no line yet; a finding without a place has none."""
    assert (_finding().line, _finding().column) == (3, 9)
    for spot in (FieldSpot("cites", 1), None):
        assert (_finding(spot=spot).line, _finding(spot=spot).column) == (None, None)


def test_a_report_counts_and_judges_what_it_holds() -> None:
    """lint: Errors alone make it not ok; nothing checked is neither ok nor clean."""
    report = _report(_finding(), _finding("missing-citation"), _finding("orphan"))
    assert report.counts == {"error": 1, "warning": 1, "info": 1}
    assert (report.outcome, report.ok) == ("findings", False)
    assert (_report(_finding()).outcome, _report(_finding()).ok) == ("findings", True)
    assert (_report().outcome, _report().ok) == ("clean", True)
    empty = LintReport(checked=Checked(), findings=())
    assert (empty.outcome, empty.ok) == ("empty", False)


def test_findings_stand_by_chain_path_place_and_code() -> None:
    """lint: An origin that nobody named stands last."""
    rows = [
        _finding(),
        _finding("orphan", spot=TextSpot(3, 2)),
        _finding("missing-citation", spot=None),
        _finding(written="b"),
        _finding(written="a"),
        _finding(path="knowledge/B.md"),
        _finding(origin=SHARED, path="knowledge/0.md"),
        _finding(origin=_R1, path="knowledge/0.md"),
        _finding(origin=Origin("inherited:r0"), path="knowledge/0.md"),
    ]
    ordered = in_order(rows[::-1], [HERE, _R1, SHARED])
    assert ordered == (rows[5], rows[2], rows[1], rows[0], rows[4], rows[3], *rows[7:5:-1], rows[8])


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_a_word_with_a_severity(code: str) -> None:
    """lint-codes: Each has its sentence, meaning, example and fix."""
    row = CODES[code]
    assert row.severity in {"error", "warning", "info"}
    assert code == code.lower()
    assert code.replace("-", "").isalnum()
    assert all(text.strip() for text in (row.sentence, row.meaning, row.example, row.fix))


# --- silences, and what a change adds -----------------------------------------


@pytest.mark.parametrize(
    ("rule", "path", "is_silenced"),
    [
        ("broken-link", "knowledge/*", True),
        ("broken-link", "runs/r2/knowledge/*", True),
        ("broken-link", "*", True),
        ("broken-link", "knowledge/b.md", False),
        ("broken-link", "KNOWLEDGE/*", False),
        ("orphan", "*", False),
        ("broken", "*", False),
    ],
)
def test_a_rule_silences_a_code_where_its_pattern_matches(
    rule: str, path: str, *, is_silenced: bool
) -> None:
    """lint-silence: The path as shown or below the store; the reason is kept."""
    report = _report(_finding())
    rules = [SilencedRule("other", "*", "no", "here"), SilencedRule(rule, path, "known", "here")]
    found = with_rules(report, rules, {HERE: "runs/r2/"})
    assert len(found.findings) == (0 if is_silenced else 1)
    assert [one.silenced for one in found.silenced] == (["known"] if is_silenced else [])
    assert found.checked == report.checked


def test_rules_leave_what_pages_silence_and_none_changes_nothing() -> None:
    """lint-silence: A finding is silenced once; a report without rules is the same one."""
    before = LintReport(
        checked=Checked(1), findings=(_finding(),), silenced=(_finding(silenced="in the page"),)
    )
    assert with_rules(before, [], {}) is before
    after = with_rules(before, [SilencedRule("broken-link", "*", "rule", "here")], {})
    assert [one.silenced for one in after.silenced] == ["in the page", "rule"]


def test_a_page_silences_its_own_findings_alone() -> None:
    """lint-silence: By code, with the reason that it gives."""
    silences = (Silence("missing-citation", "soon", 9),)
    view = single_store([_page("a", "x", silences=silences), _page("b", "x")])
    report = lint_chain(view)
    assert [(one.path, one.silenced) for one in report.silenced] == [("knowledge/a.md", "soon")]
    assert ("missing-citation", "knowledge/b.md") in {
        (one.code, one.path) for one in report.findings
    }


def test_what_was_there_before_is_left_out_as_often_as_it_was() -> None:
    """lint-since: Code, page and text make a finding; line and path do not."""
    moved = _finding(path="knowledge/moved.md", spot=TextSpot(99))
    twice = [_finding(written="x"), _finding(written="x", spot=TextSpot(7))]
    others = [
        _finding("orphan"),
        _finding(origin=_R1),
        _finding(page=PageId("b")),
        _finding(written="y"),
        _finding(page=None, path="knowledge/link"),
    ]
    now = _report(moved, *twice, *others)
    added = added_findings(now, [_finding(), _finding(written="x"), _finding("no-outlinks")])
    assert added.findings == (twice[1], *others)
    assert added.checked == now.checked
    assert added_findings(now, [*now.findings]).findings == ()


def test_an_audit_of_citations_keeps_what_they_rest_on() -> None:
    """lint: Links and ids are left out, lineage is not; what is silenced stays silenced."""
    codes = ["self-citation", "broken-link", "lineage-cycle", "orphan", "needs-run-context"]
    silenced = tuple(_finding(code, silenced="why") for code in codes)
    report = LintReport(checked=Checked(1), findings=tuple(map(_finding, codes)), silenced=silenced)
    kept = ["self-citation", "lineage-cycle", "needs-run-context"]
    assert _codes(citations_alone(report).findings) == kept
    assert _codes(citations_alone(report).silenced) == kept


def test_a_registry_has_findings_of_its_own() -> None:
    """lint: One for its fault, one for each digest that several sources have."""
    registry = SourceRegistry(repeated=(("sha256:1", ("s1", "s2")),), fault="it is broken")
    found = registry_findings(_R1, registry)
    assert _codes(found) == ["bad-registry", "duplicate-source-hash"]
    assert {(one.path, one.spot, one.page) for one in found} == {
        (".counterfoil/sources.json", TextSpot(1), None)
    }
    assert found[1].message == "s1, s2 have one content, sha256:1"
    assert registry_findings(HERE, SourceRegistry()) == []


def test_a_lint_of_an_origin_that_is_not_there_is_empty() -> None:
    """lint: No page, no registry, no finding."""
    assert lint_chain(single_store([_page("a")]), SHARED).outcome == "empty"


# --- bounds -------------------------------------------------------------------


@pytest.mark.parametrize("count", [SHOWN - 1, SHOWN, SHOWN + 1])
def test_a_message_names_the_first_pages_and_counts_the_rest(count: int) -> None:
    """citation-audit: At the bound, one under and one over."""
    pages = [VisiblePage(HERE, _page(f"p{number:02}")) for number in range(count)]
    shown = several(pages)
    assert shown.count("knowledge/") == min(count, SHOWN)
    assert shown.endswith(" and 1 more") == (count > SHOWN)
    assert several(pages[:1], 3).endswith("(here) and 2 more")


@pytest.mark.parametrize("count", [SHOWN - 1, SHOWN, SHOWN + 1])
def test_a_message_writes_out_handles_up_to_a_bound(count: int) -> None:
    """citation-audit: At the bound, one under and one over; without any it says what to do."""
    handles = [f"inherited:r{number}::a" for number in range(count)]
    assert paste(handles).count("::a") == min(count, SHOWN)
    assert paste([]) == "no handle tells them apart: give each page an id of its own"


@pytest.mark.parametrize("count", [MOST - 1, MOST, MOST + 1])
def test_a_finding_lists_candidates_up_to_a_bound(count: int) -> None:
    """citation-audit: At the bound, one under and one over; the message has the exact number."""
    pages = [_page(f"{number}/x") for number in range(count)]
    (finding,) = audit_citations(single_store([*pages, _page("a", "x")])).findings
    assert len(finding.candidates) == min(count, MOST)
    assert f"'x' names {count} pages: " in finding.message


@pytest.mark.parametrize("count", [SHARED_BY_MOST - 1, SHARED_BY_MOST, SHARED_BY_MOST + 1])
def test_a_source_joins_pages_up_to_a_bound(count: int) -> None:
    """graph: At the bound, one under and one over; a source that joins none is named."""
    pages = [_page(f"p{number}", sources=(Written("s1", 0),)) for number in range(count)]
    view = single_store(pages)
    graph = graph_of(view, list(view))
    is_over = count > SHARED_BY_MOST
    assert len(graph.edges) == (0 if is_over else count * (count - 1))
    assert graph.left_out == (("s1",) if is_over else ())


@pytest.mark.parametrize("count", [MOST_REFERRED - 1, MOST_REFERRED, MOST_REFERRED + 1])
def test_an_inspection_names_pages_up_to_a_bound(count: int) -> None:
    """kb-commands: At the bound, one under and one over."""
    pages = [_page(f"p{number:02}") for number in range(count)]
    citing = _page("q", *(page.id for page in pages))
    found = inspect_chain(single_store([*pages, citing]))
    assert len(found.most_referred) == min(count, MOST_REFERRED)
    assert found.relations["citation"] == count


@pytest.mark.parametrize(
    ("distance", "way"),
    [
        (1, "p1 → p0"),
        (3, "p3 → p2 → p1 → p0"),
        (4, "p4 → p3 → p2 → p1 → p0"),
        (5, "p5 → p4 → p3 → p2 → p1 → (1 more)"),
        (9, "p9 → p8 → p7 → p6 → p5 → (5 more)"),
    ],
)
def test_the_way_to_what_was_taken_back_is_shown_up_to_a_bound(distance: int, way: str) -> None:
    """lint: At the bound, one under and one over; the rest is counted."""
    pages = [_page("p0", invalidation=_TAKEN_BACK)]
    pages += [_page(f"p{number}", f"p{number - 1}") for number in range(1, distance + 1)]
    found = [one for one in invalidation_findings(single_store(pages)) if one.page == pages[-1].id]
    (finding,) = found
    assert finding.message == (f"'p0' was taken back (outliers), and this page rests on it: {way}")
    assert finding.spot == FieldSpot("cites", 0)


def test_only_citations_that_resolve_lead_to_what_was_taken_back() -> None:
    """lint: Not links, not a handle of several pages, not the page itself; a page can silence."""
    pages = [
        _page("old", "old", invalidation=_TAKEN_BACK),
        _page("twin"),
        _page("x/twin", "old", silences=(Silence("cites-invalidated", "looked at", 9),)),
        _page("reader", links=_links("old")),
        _page("guess", "twin"),
        _page("against", contradicts=(Written("old", None),)),
        _page("direct", "gone", "old"),
    ]
    found = list(invalidation_findings(single_store(pages)))
    assert {(one.page, one.silenced) for one in found} == {
        ("twin", "looked at"),
        ("direct", None),
    }
    assert {one.written for one in found} == {"old"}


# --- audits -------------------------------------------------------------------


def test_an_asserting_audit_raises_with_its_report() -> None:
    """citation-audit: For an error, and for nothing audited; else it returns the report."""
    good = single_store([_page("a", "b"), _page("b")])
    assert assert_citations(good).ok
    with pytest.raises(BrokenCitationsError, match="1 citations at fault") as broken:
        assert_citations(single_store([_page("a", "b")]))
    assert _codes(broken.value.report.findings) == ["missing-citation"]
    with pytest.raises(BrokenCitationsError, match="no page was audited") as nothing:
        assert_citations(good, [SHARED])
    assert nothing.value.report.outcome == "empty"


def test_an_audit_counts_what_is_no_text_and_one_reference_once() -> None:
    """citation-audit: However often, and however, it is written."""
    fault = Fault("malformed-citation", FieldSpot("cites", 3), "7", "a number")
    other = Fault("malformed-citation", FieldSpot("contradicts", 0), "8", "a number")
    page = _page("a", "b", " b ", "here::", "here::", faults=(fault, other))
    report = audit_citations(single_store([page, _page("b")]))
    assert report.checked == Checked(2, 3, 0)
    assert [(one.code, one.spot) for one in report.findings] == [
        ("malformed-citation", FieldSpot("cites", 3)),
        ("malformed-citation", FieldSpot("cites", 2)),
    ]


@pytest.mark.parametrize(
    ("pages", "code", "message", "handles"),
    [
        ([_page("a", "b,c")], "missing-citation", "write a list, `[a, b]`, for several", ()),
        ([_page("a", "a")], "self-citation", "'a' names the page itself", ()),
        ([_page("a", "a"), _page("x/a")], "self-citation", "and 1 other page: ", ()),
        (
            [_page("a", "a"), _page("x/a"), _page("y/a")],
            "self-citation",
            "and 2 other pages: ",
            (),
        ),
        ([_page("a", "shared::a")], "needs-run-context", "it is checked with --run", ()),
        ([_page("a", "b"), _page("b"), _page("x/b")], "ambiguous-citation", "names 2 pages", ()),
    ],
)
def test_each_fault_of_a_citation_says_what_it_is(
    pages: list[Page], code: str, message: str, handles: tuple[str, ...]
) -> None:
    """citation-audit: Its code, its words, and the handles to paste, if any."""
    (finding,) = (
        one for one in audit_citations(single_store(pages)).findings if one.page == "a"
        if one.path == "knowledge/a.md"
    )  # fmt: skip
    assert finding.code == code
    assert message in finding.message
    assert finding.handles == handles


# --- checks -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "code", "words"),
    [
        ("here::", "broken-link", "[[here::]] is no handle: its id is blank"),
        ("gone", "broken-link", "[[gone]] names no page"),
        ("shared::x", "needs-run-context", "names a page of another store"),
        ("twin", "ambiguous-link", "[[twin]] names 2 pages"),
        ("x/twin", None, ""),
        ("twins", "ambiguous-link", "write [[here::b]] or [[here::c]]"),
    ],
)
def test_a_link_is_judged_by_what_it_names(target: str, code: str | None, words: str) -> None:
    """lint: No handle, no page, several pages, a page of another store, or one page."""
    pages = [
        _page("a", links=_links(target, f" {target} ")),
        _page("twin"),
        _page("x/twin"),
        _page("b", title="Twins"),
        _page("c", aliases=("TWINS",)),
    ]
    view = single_store(pages)
    found = [
        one for one in page_findings(view, VisiblePage(HERE, pages[0]))
        if one.spot == TextSpot(9, 1)
    ]  # fmt: skip
    assert _codes(found) == ([] if code is None else [code])
    assert all(words in one.message for one in found)


def test_a_link_to_several_pages_that_no_handle_tells_apart_says_to_link_to_a_path() -> None:
    """lint: Two pages of one id in one store."""
    pages = [_page("a", links=_links("twin")), _page("twin"), _page("x/twin")]
    found = page_findings(single_store(pages), VisiblePage(HERE, pages[0]))
    (message,) = (one.message for one in found if one.code == "ambiguous-link")
    assert message.endswith("; link to the path")


@pytest.mark.parametrize(
    ("handle", "code", "words"),
    [
        ("b", None, ""),
        ("gone", "broken-contradiction", "names no page that can be seen from here"),
        ("a", "broken-contradiction", "names the page itself"),
        ("twin", "broken-contradiction", "names 2 pages: "),
        ("here::", "malformed-citation", "its id is blank"),
        ("shared::b", "needs-run-context", "with --run"),
    ],
)
def test_a_contradiction_names_one_other_page(handle: str, code: str | None, words: str) -> None:
    """lint: Or it is said what it names instead."""
    page = _page("a", contradicts=(Written(handle, None),))
    view = single_store([page, _page("b"), _page("twin"), _page("x/twin")])
    found = [
        one for one in page_findings(view, VisiblePage(HERE, page))
        if one.spot == FieldSpot("contradicts")
    ]  # fmt: skip
    assert _codes(found) == ([] if code is None else [code])
    assert all(words in one.message for one in found)


def test_a_source_and_a_footnote_name_what_is_registered() -> None:
    """lint: Once each; an anchor counts, and so does a footnote that the page defines."""
    notes = [("s1", "l1"), ("s1", "l9"), ("gone", None), ("gone", None), ("mine", None)]
    page = _page(
        "a",
        sources=(Written("s1", 0), Written("lost", 1), Written("lost", 2)),
        footnotes=tuple(
            Footnote(source, anchor, source == "mine", 9, column)
            for column, (source, anchor) in enumerate(notes, start=1)
        ),
    )
    registry = SourceRegistry(anchors={"s1": frozenset({"l1"})})
    found = [
        (one.written, one.spot)
        for one in page_findings(single_store([page], registry), VisiblePage(HERE, page))
        if one.code == "missing-source"
    ]
    assert found == [
        ("lost", FieldSpot("sources", 1)),
        ("s1#l9", TextSpot(9, 2)),
        ("gone", TextSpot(9, 3)),
    ]
    broken = single_store([page], SourceRegistry(fault="cut"))
    assert "missing-source" not in _codes(page_findings(broken, VisiblePage(HERE, page)))


def test_a_page_that_writes_neither_id_nor_title_is_told_so() -> None:
    """lint: Only a strict store asks."""
    page = _page("a")
    assert _codes(list(literal_findings(VisiblePage(HERE, page)))) == [
        "no-literal-id", "no-literal-title",
    ]  # fmt: skip
    written = _page("a", is_id_written=True, is_title_written=True)
    assert list(literal_findings(VisiblePage(HERE, written))) == []


def test_thousands_of_pages_of_one_title_are_named_once_each() -> None:
    """lint: Each finding names the first others, and how many more there are."""
    count = 300
    pages = [_page(f"p{number:03}", title="One") for number in range(count)]
    found = [one for one in lint_chain(single_store(pages)).findings if one.code != "orphan"]
    titles = [one for one in found if one.code == "duplicate-title"]
    assert len(titles) == count
    assert {len(one.candidates) for one in titles} == {SHOWN}
    assert all(one.message.endswith(f" and {count - 1 - SHOWN} more") for one in titles)


# --- what a change concerns ---------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "paths"),
    [
        (_page("a"), None, {"cites", "links"}),
        (None, _page("a"), {"a", "cites", "links"}),
        (_page("a"), _page("a", tags=("t",)), {"a"}),
        (_page("a"), _page("a", title="B title"), {"a", "title"}),
        (_page("a"), _page("a", id=PageId("z")), {"a", "cites", "links"}),
        (_page("a", "b"), _page("a"), {"a", "b"}),
        (_page("a"), _page("a", links=_links("b", "here::")), {"a", "b"}),
        (_page("a", "here::"), _page("a"), {"a"}),
    ],
)
def test_a_change_concerns_those_that_are_behind_its_names(
    before: Page | None, after: Page | None, paths: set[str]
) -> None:
    """lint-incremental: Those who refer to the page, and those that it referred to."""
    rest = [
        _page("b"),
        _page("cites", "a"),
        _page("links", links=_links("a")),
        _page("title", links=_links("B Title")),
        _page("none", "elsewhere"),
    ]
    view = single_store([*rest, *([] if after is None else [after])])
    change = PageChange(HERE, before, after)
    found = affected_paths(view, [change], HERE)
    assert {path.removeprefix("knowledge/").removesuffix(".md") for path in found} >= paths
    assert "knowledge/none.md" not in found
    assert len(change.sides) == 2 - [before, after].count(None)


def test_a_change_of_another_store_concerns_own_pages_alone() -> None:
    """lint-incremental: The changed page itself is checked in its own store."""
    stores = [
        Store(origin=HERE, pages=(_page("cites", "a"), _page("other"))),
        Store(origin=_R1, pages=(_page("a"),)),
    ]
    view = ChainSnapshot(stores, run=RunId("r2"))
    change = PageChange(_R1, None, _page("a"))
    assert affected_paths(view, [change], HERE) == {"knowledge/cites.md"}


# --- inspection ---------------------------------------------------------------


def test_a_chain_is_counted_by_origin_kind_and_page() -> None:
    """kb-commands: Ties stand in chain order; who is referred to by none is not named."""
    stores = [
        Store(
            origin=HERE,
            pages=(
                _page("a", "b", "shared::u", sources=(Written("s1", 0),)),
                _page("b", "shared::u", sources=(Written("s1", 0),), links=_links("a", "a")),
            ),
            registry=SourceRegistry(anchors={"s1": frozenset(), "s2": frozenset()}),
        ),
        Store(origin=SHARED, pages=(_page("u", invalidation=_TAKEN_BACK),)),
    ]
    chain = ChainSnapshot(stores, run=RunId("r2"))
    found = inspect_chain(chain)
    assert found.pages == {HERE: 2, SHARED: 1}
    assert found.relations == {
        "wikilink": 1, "citation": 3, "contradicts": 0, "shared-source": 2,
    }  # fmt: skip
    assert (found.sources, found.invalidated, found.digest) == (2, 1, chain.digest)
    assert [(address.id, tuple(degrees)) for address, degrees in found.most_referred] == [
        ("u", (0, 2)),
        ("a", (2, 1)),
        ("b", (2, 1)),
    ]


def test_a_page_is_shown_with_all_around_it() -> None:
    """kb-commands: Each target of a link once; others in chain order, however they refer to it."""
    shared = _page("u", "inherited:r1::a")
    stores = [
        Store(
            origin=HERE,
            pages=(
                _page("z", contradicts=(Written("a", None),)),
                _page("b", links=_links("The A")),
                _page("no", "twin"),
            ),
        ),
        Store(origin=_R1, pages=(_page("a", "b", "a", title="The A", links=_links("b", "b")),)),
        Store(origin=SHARED, pages=(shared,)),
    ]
    view = ChainSnapshot(stores, run=RunId("r2"))
    found = relations_of_page(view, view.called("=a")[0])
    assert [(row.written, row.verdict) for row in found.cites] == [
        ("b", "resolved"), ("a", "resolved"),
    ]  # fmt: skip
    assert [row.written for row in found.links] == ["b"]
    assert found.contradicts == ()
    assert [one.page.id for one in found.referred_by] == ["b", "z", "u"]


# --- names --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "made"),
    [
        ("A B", "a-b"),
        ("--a--", "a"),
        ("a/b/c", "a-b-c"),
        ("ÄÖ", "äö"),
        ("e\u0301", "é"),
        ("\u0301x", "x"),
        ("x\u0323\u0307-\u0301", "\u1e8b\u0323"),
        ("a²b", "a-b"),
        ("१२", "१२"),
        ("!?", "u21-3f"),
        ("", "u"),
    ],
)
def test_a_slug_is_of_letters_digits_and_their_marks(path: str, made: str) -> None:
    """page-names: Everything else is one hyphen; nothing left is the code points."""
    assert slug(path) == made


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The  End", "the end"),
        (" a\tb\n", "a b"),
        ("ÉTÉ", "e\u0301te\u0301"),
        ("STRASSE", "straße"),
    ],
)
def test_names_compare_without_case_and_kinds_of_white_space(one: str, other: str) -> None:
    """page-names: And in normal form C."""
    assert link_name(one) == link_name(other)
    assert link_name(one) != link_name(f"{other}x")
