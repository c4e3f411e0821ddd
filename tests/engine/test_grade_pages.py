"""Claims are graded by running their checks, on request."""

from dataclasses import replace

from counterfoil.core.ids import HERE, PageId
from counterfoil.core.knowledge.grading import Execution
from counterfoil.core.knowledge.pages import ClaimEvidence, Fault, FieldSpot, Page
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.engine.grade_pages import GradeReport, grade_pages
from counterfoil.ports.commands import CommandBounds

BOUNDS = CommandBounds(directory="/store", environment={})


class Runner:
    """Says what it was told to say, and remembers what it ran."""

    def __init__(self, output: str = "42") -> None:
        self.output = output
        self.ran: list[tuple[str, CommandBounds]] = []

    def run(self, command: str, bounds: CommandBounds) -> Execution:
        self.ran.append((command, bounds))
        return Execution(exit_status=0, output=self.output)


def _page(
    name: str,
    *,
    rung: int = 4,
    check: str | None = "make x",
    expect: str | None = "42",
    title: str = "Title",
) -> VisiblePage:
    evidence = ClaimEvidence(rung=rung, check=check, expect=expect)
    page = Page(path=f"knowledge/{name}.md", id=PageId(name), title=title, evidence=evidence)
    return VisiblePage(HERE, page)


def _verdicts(report: GradeReport) -> dict[str, str]:
    return {str(page.address.id): page.grade.verdict for page in report.pages}


def test_checks_of_rung_four_and_five_are_run() -> None:
    """kb-grade: In the order given, with the bounds given; others are counted."""
    runner = Runner()
    none = VisiblePage(HERE, replace(_page("none").page, evidence=None))
    pages = [_page("b", rung=5), none, _page("low", rung=3), _page("a", expect="43")]
    report = grade_pages(pages, runner, BOUNDS)
    assert _verdicts(report) == {"b": "verified", "a": "contradicted"}
    assert (report.below, report.without) == (1, 1)
    assert runner.ran == [("make x", BOUNDS), ("make x", BOUNDS)]
    assert report.pages[0].execution == Execution(exit_status=0, output="42")
    assert report.counts == {
        "verified": 1,
        "silent-check": 0,
        "contradicted": 1,
        "unrunnable": 0,
        "uncheckable": 0,
    }


def test_evidence_that_cannot_be_graded_runs_nothing() -> None:
    """claim-evidence: The rules of lint are those of grading."""
    runner = Runner()
    fault = Fault("ungradeable-evidence", FieldSpot("rung"), "7", "`rung` is 7")
    other = Fault("malformed-field", FieldSpot("tags"), "7", "no list")
    odd = replace(_page("odd").page, evidence=None, faults=(other, fault))
    pages = [
        _page("none", check=None),
        _page("constant", check="echo 42"),
        _page("certain", check="test 42 -gt 1"),
        _page("blank", expect=" "),
        VisiblePage(HERE, odd),
    ]
    report = grade_pages(pages, runner, BOUNDS)
    assert set(_verdicts(report).values()) == {"uncheckable"}
    assert len(report.pages) == len(pages)
    assert report.pages[-1].grade.reason == "`rung` is 7"
    assert runner.ran == []


def test_the_same_claim_again_names_the_first() -> None:
    """kb-grade: One check, one expectation, one title and one verdict; each stands."""
    pages = [
        _page("a"),
        _page("b", check=" make x ", expect="42 ", title=" title"),
        _page("c", title="Other"),
        _page("d", check="make y"),
        _page("e", expect="43"),
        _page("f"),
        _page("g", expect=None),
        _page("h", expect=None),
    ]
    report = grade_pages(pages, Runner(), BOUNDS)
    first = report.pages[0].address
    assert [page.duplicate_of for page in report.pages] == [
        None,
        first,
        None,
        None,
        None,
        first,
        None,
        None,
    ]
    assert _verdicts(report)["b"] == "verified"


def test_no_page_is_no_grade() -> None:
    """kb-grade: Nothing graded is an empty report."""
    assert grade_pages([], Runner(), BOUNDS) == GradeReport()
