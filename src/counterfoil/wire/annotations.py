"""Findings for continuous integration: GitHub workflow commands and SARIF 2.1.0.

Contradicted references are errors; what is not established is a warning, and says so:
the record cannot show it, which is no accusation.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
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
        place = f"file={escaped_property(path)}"
        if found.place.line is not None and found.place.source is None:
            place += f",line={found.place.line}"
        title = f"{found.kind} {found.verdict.replace('_', ' ')} ({found.reason})"
        message = f"{found.text}: {reason_text(found.reason)}"
        head = f"::{_LEVELS[found.verdict]} {place},title={escaped_property(title)}"
        yield f"{head}::{escaped_data(message)}"


def escaped_data(text: str) -> str:
    """Return `text` as the message of a workflow command."""
    text = printable(text)
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escaped_property(text: str) -> str:
    """Return `text` as a property of a workflow command."""
    return escaped_data(text).replace(":", "%3A").replace(",", "%2C")


def sarif_results(path: str, turns: Iterable[TurnReport]) -> Iterator[dict[str, Any]]:
    """Yield a SARIF result for each finding in the transcript at `path`."""
    for found in findings_of(turns):
        location: dict[str, Any] = {
            "artifactLocation": {"uri": artifact_uri(found.place.source or path)},
        }
        if found.place.line:
            location["region"] = {"startLine": found.place.line}
        yield {
            "ruleId": f"{found.kind}.{found.reason}",
            "level": _LEVELS[found.verdict],
            "message": {"text": f"{printable(found.text)}: {reason_text(found.reason)}"},
            "locations": [{"physicalLocation": location}],
        }


def sarif_log(
    version: str,
    results: list[dict[str, Any]],
    describe: Callable[[str], Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return a SARIF 2.1.0 log with `results` and the rules that they name.

    `describe` says what a rule is; without it they are the reasons of a check.
    """
    rules = sorted({str(result["ruleId"]) for result in results})
    driver = {
        "name": "counterfoil",
        "version": version,
        "rules": [{"id": rule, **(describe or _reason)(rule)} for rule in rules],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}
        ],
    }


def _reason(rule: str) -> Mapping[str, Any]:
    reason = rule.partition(".")[2]
    text = REASONS[reason].sentence if reason in REASONS else reason
    return {"shortDescription": {"text": text}}


def artifact_uri(path: str) -> str:
    """Return `path` as a relative URI reference."""
    from urllib.parse import quote  # noqa: PLC0415 - only this form needs it

    return quote(printable(path.replace("\\", "/")), safe="/~")
