"""The lint of a chain in memory, silences out of a configuration, and what a change adds."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from counterfoil.core.ids import HERE, Origin
from counterfoil.core.knowledge.audit import count_citations
from counterfoil.core.knowledge.chain import ChainSnapshot
from counterfoil.core.knowledge.changes import REGISTRY
from counterfoil.core.knowledge.checks import count_links, page_findings
from counterfoil.core.knowledge.findings import Checked, Finding, LintReport, in_order
from counterfoil.core.knowledge.invalidated import invalidation_findings
from counterfoil.core.knowledge.pages import TextSpot
from counterfoil.core.knowledge.view import SourceRegistry
from counterfoil.core.settings import SilencedRule


def lint_chain(chain: ChainSnapshot, origin: Origin = HERE) -> LintReport:
    """Return every finding about the pages of `origin`.

    A place in a frontmatter is a field and an item: the text is not at hand here.
    """
    pages = chain.pages_of([origin])
    found = [finding for page in pages for finding in page_findings(chain, page)]
    found += [finding for finding in invalidation_findings(chain) if finding.origin == origin]
    if origin in chain.origins:
        found += registry_findings(origin, chain.registry(origin))
    checked = Checked(
        len(pages),
        sum(count_citations(page) for page in pages),
        sum(count_links(page.page) for page in pages),
    )
    return report_of(checked, in_order(found, chain.origins))


def report_of(checked: Checked, found: Sequence[Finding]) -> LintReport:
    """Return the report of what was `found`, the silenced ones apart."""
    return LintReport(
        checked=checked,
        findings=tuple(finding for finding in found if finding.silenced is None),
        silenced=tuple(finding for finding in found if finding.silenced is not None),
    )


def registry_findings(origin: Origin, registry: SourceRegistry) -> list[Finding]:
    """Return the findings about the sources of a store."""
    found = [] if registry.fault is None else [_of_registry(origin, "bad-registry", registry.fault)]
    for digest, sources in registry.repeated:
        message = f"{', '.join(sources)} have one content, {digest}"
        found.append(_of_registry(origin, "duplicate-source-hash", message))
    return found


def _of_registry(origin: Origin, code: str, message: str) -> Finding:
    return Finding(code=code, origin=origin, path=REGISTRY, spot=TextSpot(1), message=message)


def with_rules(
    report: LintReport, rules: Iterable[SilencedRule], places: dict[Origin, str]
) -> LintReport:
    """Return `report` with the findings silenced that a rule of a configuration covers.

    The path of a rule is a pattern for the path as it is shown, or below the store.
    """
    silences = list(rules)
    if not silences:
        return report
    found = [_silenced(finding, silences, places) for finding in report.findings]
    both = report_of(report.checked, found)
    return replace(both, silenced=(*report.silenced, *both.silenced))


def _silenced(
    finding: Finding, rules: Sequence[SilencedRule], places: dict[Origin, str]
) -> Finding:
    shown = places.get(finding.origin, "") + finding.path
    for rule in rules:
        is_path = fnmatchcase(shown, rule.path) or fnmatchcase(finding.path, rule.path)
        if rule.rule == finding.code and is_path:
            return replace(finding, silenced=rule.reason)
    return finding


_ABOUT_CITATIONS = frozenset(
    {
        "malformed-citation",
        "missing-citation",
        "ambiguous-citation",
        "self-citation",
        "needs-run-context",
        "missing-ancestor-store",
        "lineage-conflict",
        "lineage-cycle",
    }
)
"""What an audit of citations reports; a lineage that is not known belongs to it."""


def citations_alone(report: LintReport) -> LintReport:
    """Return the part of `report` that is about citations and what they rest on."""
    return replace(
        report,
        findings=tuple(found for found in report.findings if found.code in _ABOUT_CITATIONS),
        silenced=tuple(found for found in report.silenced if found.code in _ABOUT_CITATIONS),
    )


def added_findings(now: LintReport, before: Iterable[Finding]) -> LintReport:
    """Return what `now` has and `before` had not: what a change brings in.

    A finding is the same one when code, page and text are, wherever the page and the
    line have gone meanwhile; twice the same is two.
    """
    known = Counter(map(_identity, before))
    kept: list[Finding] = []
    for finding in now.findings:
        identity = _identity(finding)
        if known[identity]:
            known[identity] -= 1
        else:
            kept.append(finding)
    return replace(now, findings=tuple(kept))


def _identity(finding: Finding) -> tuple[str, str, str, str | None]:
    return finding.code, finding.origin, finding.page or finding.path, finding.written
