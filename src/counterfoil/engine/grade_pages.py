"""Grade claims by running their checks: on request, one after the other.

Only claims of rung 4 and above are shown by a check. A check is a command that somebody
wrote into a page: it runs with what the caller gives it, and nothing runs unless the
caller asks (knowledge.md section 7).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from counterfoil.core.ids import PageAddress
from counterfoil.core.knowledge.evidence import GRADED, refusal
from counterfoil.core.knowledge.grading import Execution, Grade, GradeVerdict, grade
from counterfoil.core.knowledge.names import link_name
from counterfoil.core.knowledge.pages import ClaimEvidence, Page
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.ports.commands import CommandBounds, CommandRunner

_UNGRADEABLE = "ungradeable-evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedPage:
    """One claim: its page, its verdict, and the run that it comes from, if there was one.

    `duplicate_of` is the first page with the same claim: check, expectation, title and
    verdict. Its verdict stands all the same.
    """

    address: PageAddress
    title: str
    evidence: ClaimEvidence | None
    grade: Grade
    execution: Execution | None = None
    duplicate_of: PageAddress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeReport:
    """The claims that were graded, in the order given, and how many pages had none.

    `below` counts claims of a rung that no check shows, `without` pages without a claim.
    """

    pages: tuple[GradedPage, ...] = ()
    below: int = 0
    without: int = 0

    @property
    def counts(self) -> dict[GradeVerdict, int]:
        """How many claims came to each verdict."""
        counts: dict[GradeVerdict, int] = {
            "verified": 0,
            "silent-check": 0,
            "contradicted": 0,
            "unrunnable": 0,
            "uncheckable": 0,
        }
        for page in self.pages:
            counts[page.grade.verdict] += 1
        return counts


@dataclass(slots=True)
class _Grading:
    """The claims graded so far, and the first page of each."""

    runner: CommandRunner
    bounds: CommandBounds
    pages: list[GradedPage] = field(default_factory=list)
    first: dict[tuple[object, ...], PageAddress] = field(default_factory=dict)
    below: int = 0
    without: int = 0

    def add(self, visible: VisiblePage) -> None:
        """Grade the claim of a page, or count why there is nothing to grade."""
        evidence = visible.page.evidence
        if evidence is None:
            fault = _fault_of(visible.page)
            if fault is None:
                self.without += 1
            else:
                self._keep(visible, Grade("uncheckable", fault), None)
        elif evidence.rung < GRADED:
            self.below += 1
        elif reason := refusal(evidence):
            self._keep(visible, Grade("uncheckable", reason), None)
        else:
            execution = self.runner.run(evidence.check or "", self.bounds)
            self._keep(visible, grade(evidence, execution), execution)

    def _keep(self, visible: VisiblePage, graded: Grade, execution: Execution | None) -> None:
        page = visible.page
        key = _key(page, graded)
        first = None if key is None else self.first.setdefault(key, visible.address)
        self.pages.append(
            GradedPage(
                address=visible.address,
                title=page.title,
                evidence=page.evidence,
                grade=graded,
                execution=execution,
                duplicate_of=None if first == visible.address else first,
            )
        )


def grade_pages(
    pages: Iterable[VisiblePage], runner: CommandRunner, bounds: CommandBounds
) -> GradeReport:
    """Run the checks of `pages` and return what each says.

    Raises:
        UnavailableError: No command can run here at all.
    """
    grading = _Grading(runner, bounds)
    for visible in pages:
        grading.add(visible)
    return GradeReport(pages=tuple(grading.pages), below=grading.below, without=grading.without)


def _fault_of(page: Page) -> str | None:
    """Return why the evidence of a page was not understood, or `None` where it has none."""
    faults = (fault.message for fault in page.faults if fault.code == _UNGRADEABLE)
    return next(faults, None)


def _key(page: Page, graded: Grade) -> tuple[object, ...] | None:
    """Return what two pages with one claim share; `None` where it cannot be told."""
    evidence = page.evidence
    if evidence is None or not evidence.check or not evidence.expect:
        return None
    claim = (evidence.check.strip(), evidence.expect.strip(), link_name(page.title))
    return (*claim, graded.verdict)
