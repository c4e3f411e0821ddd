"""The audit of citations: one fault, one finding, each kind with its own code.

A page with one bad citation has its others audited. One reference is one citation of a
page however often it is written, at its first place (references.md section 2).
"""

from collections.abc import Iterable, Iterator, Sequence

from counterfoil.core.errors import CounterfoilError
from counterfoil.core.ids import HERE, Origin
from counterfoil.core.knowledge.chain import ChainSnapshot
from counterfoil.core.knowledge.findings import Candidate, Checked, Finding, LintReport, in_order
from counterfoil.core.knowledge.pages import Fault, FieldSpot, Written
from counterfoil.core.knowledge.resolution import (
    PageResolution,
    handles_to_paste,
    resolve_handle,
)
from counterfoil.core.knowledge.view import View, VisiblePage
from counterfoil.core.refs.pages import (
    MALFORMED_TEXT,
    Malformed,
    PageReference,
    format_handle,
    parse_handle,
)

SHOWN = 10
"""Pages that a message names; how many more there are is said."""

MOST = 100
"""Candidates that a finding lists; its message says how many there are."""


class BrokenCitationsError(CounterfoilError):
    """An asserting audit found errors, or nothing to audit; it carries the report."""

    def __init__(self, report: LintReport) -> None:
        """Say how much of `report` is at fault."""
        count = report.counts["error"]
        found = f"{count} citations at fault" if count else "no page was audited"
        super().__init__(found, "every citation to resolve to one other page")
        self.report = report


def audit_citations(chain: ChainSnapshot, origins: Iterable[Origin] = (HERE,)) -> LintReport:
    """Audit the citations of the pages of `origins` against the whole chain."""
    pages = chain.pages_of(origins)
    findings = [finding for page in pages for finding in _of_page(chain, page)]
    citations = sum(count_citations(page) for page in pages)
    return LintReport(
        checked=Checked(pages=len(pages), citations=citations),
        findings=in_order(findings, chain.origins),
    )


def assert_citations(chain: ChainSnapshot, origins: Iterable[Origin] = (HERE,)) -> LintReport:
    """Return the audit of `origins` when it is ok.

    Raises:
        BrokenCitationsError: It is not; nothing audited is not ok either.
    """
    report = audit_citations(chain, origins)
    if not report.ok:
        raise BrokenCitationsError(report)
    return report


def _of_page(view: View, visible: VisiblePage) -> Iterator[Finding]:
    yield from (
        fault_finding(visible, fault) for fault in visible.page.faults if _is_citation(fault)
    )
    yield from citation_findings(view, visible)


def fault_finding(visible: VisiblePage, fault: Fault) -> Finding:
    """Return a fault of a page, seen without any other, as a finding."""
    return Finding(
        code=fault.code,
        origin=visible.origin,
        path=visible.page.path,
        page=visible.page.id,
        spot=fault.spot,
        written=fault.written,
        message=fault.message,
    )


def _is_citation(fault: Fault) -> bool:
    spot = fault.spot
    return (
        fault.code == "malformed-citation" and isinstance(spot, FieldSpot) and spot.field == "cites"
    )


def count_citations(visible: VisiblePage) -> int:
    """Return how many citations a page has, each counted once, malformed ones too."""
    faults = sum(map(_is_citation, visible.page.faults))
    return faults + len(distinct_handles(visible.page.cites))


def distinct_handles(written: Sequence[Written]) -> list[Written]:
    """Return each handle once, at its first place, whatever its spelling."""
    if len(written) < 2:  # noqa: PLR2004 - one is itself
        return list(written)
    from_reference: dict[object, Written] = {}
    for item in written:
        from_reference.setdefault(_identity(item.text), item)
    return list(from_reference.values())


def _identity(text: str) -> object:

    reference = parse_handle(text)
    return text if isinstance(reference, Malformed) else reference


def citation_findings(view: View, visible: VisiblePage) -> Iterator[Finding]:
    """Yield the findings about what `visible` cites."""
    for item in distinct_handles(visible.page.cites):
        resolution = resolve_handle(view, item.text, holder=visible.origin)
        page = resolution.page
        if page is not None and not page.is_at(visible):
            continue
        yield citation_finding(view, visible, resolution, FieldSpot("cites", item.item))


def citation_finding(
    view: View, visible: VisiblePage, resolution: PageResolution, spot: FieldSpot
) -> Finding:
    """Return the finding about a citation that does not resolve to one other page."""
    reference = resolution.reference
    if isinstance(reference, Malformed):
        return malformed_finding(visible, reference, spot)
    handles = tuple(handles_to_paste(view, resolution.candidates, visible))
    is_self = any(candidate.is_at(visible) for candidate in resolution.candidates)
    code = _code(resolution, is_self=is_self)
    return Finding(
        code=code,
        origin=visible.origin,
        path=visible.page.path,
        page=visible.page.id,
        spot=spot,
        written=resolution.written,
        candidates=candidates_of(resolution.candidates),
        handles=handles,
        hides_ambiguity=len(resolution.candidates) > 1 if is_self else None,
        message=_message(code, resolution, handles),
    )


def malformed_finding(visible: VisiblePage, malformed: Malformed, spot: FieldSpot) -> Finding:
    """Return the finding about a text that is no handle."""
    return Finding(
        code="malformed-citation",
        origin=visible.origin,
        path=visible.page.path,
        page=visible.page.id,
        spot=spot,
        written=malformed.text,
        reason=malformed.reason,
        message=f"{malformed.text!r} is no handle: {MALFORMED_TEXT[malformed.reason]}",
    )


def candidates_of(found: Sequence[VisiblePage]) -> tuple[Candidate, ...]:
    """Return pages as a finding lists them, at most `MOST`."""
    return tuple(
        Candidate(
            page.origin, page.page.path, format_handle(PageReference(page.origin, page.page.id))
        )
        for page in found[:MOST]
    )


def several(found: Sequence[VisiblePage], total: int | None = None) -> str:
    """Return, for a message, the places of pages: the first ten, and how many more.

    `total` is how many there are, where `found` are only the first of them.
    """
    shown = ", ".join(f"{page.page.path} ({page.origin})" for page in found[:SHOWN])
    rest = (len(found) if total is None else total) - min(len(found), SHOWN)
    return f"{shown} and {rest} more" if rest > 0 else shown


def paste(handles: Sequence[str]) -> str:
    """Return what a person can write instead."""
    if not handles:
        return "no handle tells them apart: give each page an id of its own"
    return "write " + " or ".join(handles[:SHOWN])


def _code(resolution: PageResolution, *, is_self: bool) -> str:
    if is_self:
        return "self-citation"
    return {
        "missing": "missing-citation",
        "ambiguous": "ambiguous-citation",
        "needs_run_context": "needs-run-context",
    }[resolution.verdict]


def _message(code: str, resolution: PageResolution, handles: Sequence[str]) -> str:
    written, found = resolution.written, resolution.candidates
    if code == "missing-citation":
        return f"{written!r} names no page that can be seen from here{_about_commas(written)}"
    if code == "needs-run-context":
        return f"{written!r} names a page of another store; it is checked with --run"
    if code == "ambiguous-citation":
        return f"{written!r} names {len(found)} pages: {several(found)}; {paste(handles)}"
    if len(found) == 1:
        return f"{written!r} names the page itself"
    others = len(found) - 1
    noun = "page" if others == 1 else "pages"
    return (
        f"{written!r} names the page itself, and {others} other {noun}: {several(found)};"
        f" {paste(handles)}"
    )


def _about_commas(written: str) -> str:
    if "," not in written:
        return ""
    return "; one text is one handle: write a list, `[a, b]`, for several"
