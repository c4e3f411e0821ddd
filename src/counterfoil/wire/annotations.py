"""Findings for continuous integration: GitHub workflow commands and SARIF 2.1.0.

Contradicted references are errors; what is not established is a warning, and says so:
the record cannot show it, which is no accusation.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from counterfoil.core.reasons import REASONS, reason_text
from counterfoil.core.report import Reference, TurnReport
from counterfoil.wire.check import printable

_LEVELS = {"contradicted": "error", "not_established": "warning"}


def findings_of(turns: Iterable[TurnReport]) -> Iterator[Reference]:
    """Yield the references that are reported: neither supported nor silenced."""
    for turn in turns:
        for reference in turn.references:
            if reference.verdict != "supported" and reference.silenced is None:
                yield reference


def github_lines(path: str, turns: Iterable[TurnReport]) -> Iterator[str]:
    """Yield a workflow command for each finding.

    https://docs.github.com/actions/reference/workflow-commands-for-github-actions
    """
    for found in findings_of(turns):
        place = f"file={_property(path)}"
        if found.place.line is not None and found.place.source is None:
            place += f",line={found.place.line}"
        title = f"{found.kind} {found.verdict.replace('_', ' ')} ({found.reason})"
        message = f"{found.text}: {reason_text(found.reason)}"
        yield f"::{_LEVELS[found.verdict]} {place},title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    text = printable(text)
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def sarif_results(path: str, turns: Iterable[TurnReport]) -> Iterator[dict[str, Any]]:
    """Yield a SARIF result for each finding in the transcript at `path`."""
    for found in findings_of(turns):
        location: dict[str, Any] = {
            "artifactLocation": {"uri": _uri(found.place.source or path)},
        }
        if found.place.line:
            location["region"] = {"startLine": found.place.line}
        yield {
            "ruleId": f"{found.kind}.{found.reason}",
            "level": _LEVELS[found.verdict],
            "message": {"text": f"{printable(found.text)}: {reason_text(found.reason)}"},
            "locations": [{"physicalLocation": location}],
        }


def sarif_log(version: str, results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a SARIF 2.1.0 log with `results` and the rules that they name."""
    rules = sorted({str(result["ruleId"]) for result in results})
    driver = {
        "name": "counterfoil",
        "version": version,
        "rules": [_rule(rule) for rule in rules],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}
        ],
    }


def _rule(rule: str) -> dict[str, Any]:
    reason = rule.partition(".")[2]
    text = REASONS[reason].sentence if reason in REASONS else reason
    return {"id": rule, "shortDescription": {"text": text}}


def _uri(path: str) -> str:
    from urllib.parse import quote  # noqa: PLC0415 - only this form needs it

    return quote(printable(path.replace("\\", "/")), safe="/~")
