"""Findings about pages as JSON, as SARIF 2.1.0, and as GitHub's workflow commands.

The three carry the same findings (knowledge.md section 8). A path begins with the place
of its store, as the caller named it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from counterfoil.core.ids import Origin
from counterfoil.core.knowledge.codes import CODES
from counterfoil.core.knowledge.findings import Candidate, Finding, LintReport
from counterfoil.core.plain import plain
from counterfoil.wire.annotations import (
    artifact_uri,
    escaped_data,
    escaped_property,
    sarif_log,
)
from counterfoil.wire.check import printable

Places = Mapping[Origin, str]
"""What stands before the paths of each origin's store: nothing, or a path that ends in `/`."""

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def report_to_json(report: LintReport, places: Places) -> dict[str, Any]:
    """Return the document of `--format json`."""
    return {
        "schema": 1,
        "outcome": report.outcome,
        "checked": report.checked._asdict(),
        "counts": report.counts,
        "silenced": len(report.silenced),
        "findings": [finding_to_json(finding, places) for finding in report.findings],
    }


def finding_to_json(finding: Finding, places: Places) -> dict[str, Any]:
    """Return one finding; what it does not have is null or left out."""
    value: dict[str, Any] = {
        "code": finding.code,
        "severity": finding.severity,
        "path": place_of(finding, places),
        "line": finding.line,
        "column": finding.column,
        "origin": finding.origin,
        "page": finding.page,
        "written": finding.written,
        "message": finding.message,
        "candidates": [_candidate(candidate, places) for candidate in finding.candidates],
    }
    if finding.handles:
        value["handles"] = list(finding.handles)
    if finding.reason is not None:
        value["reason"] = finding.reason
    if finding.hides_ambiguity is not None:
        value["hidesAmbiguity"] = finding.hides_ambiguity
    return value


def place_of(finding: Finding | Candidate, places: Places) -> str:
    """Return the path of a finding or of a candidate, as the caller names places."""
    return places.get(finding.origin, f"{finding.origin}:") + finding.path


def _candidate(candidate: Candidate, places: Places) -> dict[str, Any]:
    return {"handle": candidate.handle, "path": place_of(candidate, places)}


def github_findings(report: LintReport, places: Places) -> Iterator[str]:
    """Yield a workflow command for each finding.

    https://docs.github.com/actions/reference/workflow-commands-for-github-actions
    """
    for finding in report.findings:
        place = f"file={escaped_property(place_of(finding, places))}"
        if finding.line is not None:
            place += f",line={finding.line},col={finding.column}"
        title = escaped_property(finding.code)
        yield (
            f"::{_COMMANDS[finding.severity]} {place},title={title}::"
            f"{escaped_data(plain(finding.message))}"
        )


def sarif_findings(report: LintReport, places: Places, version: str) -> dict[str, Any]:
    """Return a SARIF 2.1.0 log; what is silenced is in it, suppressed with its reason."""
    results = [_result(finding, places) for finding in (*report.findings, *report.silenced)]
    return sarif_log(version, results, _rule)


def _result(finding: Finding, places: Places) -> dict[str, Any]:
    location: dict[str, Any] = {
        "artifactLocation": {"uri": artifact_uri(place_of(finding, places))}
    }
    if finding.line is not None:
        location["region"] = {"startLine": finding.line, "startColumn": finding.column}
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": printable(finding.message)},
        "locations": [{"physicalLocation": location}],
    }
    if finding.silenced is not None:
        justification = printable(finding.silenced)
        result["suppressions"] = [{"kind": "inSource", "justification": justification}]
    return result


def _rule(code: str) -> Mapping[str, Any]:
    known = CODES[code]
    return {
        "shortDescription": {"text": known.sentence},
        "fullDescription": {"text": known.meaning},
        "help": {"text": known.fix},
        "defaultConfiguration": {"level": _LEVELS[known.severity]},
    }
