"""Findings for continuous integration: what is reported, where, and with nothing to inject."""

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from counterfoil.core.reasons import REASONS
from counterfoil.core.report import Reference, Spot, TurnReport
from counterfoil.wire.annotations import findings_of, github_lines, sarif_log, sarif_results
from counterfoil.wire.check import encode_json

Make = Callable[..., Any]

# What SARIF 2.1.0 asks of the parts that are written here.
_TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
_LOCATION = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "properties": {"uri": {"type": "string", "pattern": "^[!-~]*$"}},
                },
                "region": {
                    "type": "object",
                    "properties": {"startLine": {"type": "integer", "minimum": 1}},
                },
            },
        }
    },
}
_RESULT = {
    "type": "object",
    "required": ["message", "ruleId"],
    "properties": {
        "ruleId": {"type": "string"},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": _TEXT,
        "locations": {"type": "array", "items": _LOCATION},
    },
}
_RULE = {
    "type": "object",
    "required": ["id"],
    "properties": {"id": {"type": "string"}, "shortDescription": _TEXT},
}
_DRIVER = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"const": "counterfoil"},
        "version": {"type": "string"},
        "informationUri": {"type": "string", "pattern": "^https://"},
        "rules": {"type": "array", "uniqueItems": True, "items": _RULE},
    },
}
_RUN = {
    "type": "object",
    "required": ["tool", "results"],
    "properties": {
        "tool": {"type": "object", "properties": {"driver": _DRIVER}, "required": ["driver"]},
        "results": {"type": "array", "items": _RESULT},
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    },
}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": _RUN},
    },
}


def _github(turn: Make, *references: Reference, path: str = "s.jsonl") -> list[str]:
    return list(github_lines(path, [turn(*references)]))


def test_only_what_is_reported_is_a_finding(turn: Make, reference: Make) -> None:
    """annotations: Neither what is supported nor what is silenced."""
    open_ = reference(verdict="not_established", reason="not-in-record")
    told = [reference(), open_]
    rest = [reference(verdict="supported", reason="read"), reference(silenced="known")]
    turns: list[TurnReport] = [turn(*told, *rest), turn()]
    assert list(findings_of(turns)) == told


def test_a_contradiction_is_an_error_and_silence_a_warning(turn: Make, reference: Make) -> None:
    """annotations: What is not established says so: it is no accusation."""
    lines = _github(turn, reference(), reference(verdict="not_established", reason="quite-new"))
    assert lines == [
        "::error file=s.jsonl,line=7,title=place contradicted (past-end)"
        f"::a.py%3A9: {REASONS['past-end'].sentence}".replace("%3A", ":"),
        "::warning file=s.jsonl,line=7,title=place not established (quite-new)::a.py:9: quite new",
    ]


@pytest.mark.parametrize(
    "place", [Spot(line=None, source=None), Spot(line=7, source="agents/a.jsonl")]
)
def test_a_line_of_another_file_is_not_named(turn: Make, reference: Make, place: Spot) -> None:
    """annotations: A line is named where it is one of the file that is annotated."""
    (line,) = _github(turn, reference(place=place))
    assert line.startswith("::error file=s.jsonl,title=")


def test_a_workflow_command_holds_one_line_and_no_other_command(
    turn: Make, reference: Make
) -> None:
    """annotations: What a reply says cannot end a command, begin one or add a property."""
    text = "a%\r\n::error::x,file=y\ud800"
    (line,) = _github(turn, reference(text=text), path="a:b,c%\n.jsonl")
    assert "\n" not in line
    assert "\r" not in line
    properties, _, message = line.removeprefix("::error ").partition("::")
    assert properties.startswith("file=a%3Ab%2Cc%25%0A.jsonl,line=7,title=")
    assert message.startswith("a%25%0D%0A::error::x,file=y?: ")
    line.encode()


def test_a_sarif_result_says_rule_level_and_place(turn: Make, reference: Make) -> None:
    """annotations: The rule is kind and reason; a sub-agent's file is the place."""
    found = [
        reference(),
        reference(
            verdict="not_established",
            reason="not-in-record",
            place=Spot(line=None, source="agents/ä b.jsonl"),
        ),
    ]
    first, second = sarif_results("C:\\s\ud800.jsonl", [turn(*found)])
    assert first == {
        "ruleId": "place.past-end",
        "level": "error",
        "message": {"text": f"a.py:9: {REASONS['past-end'].sentence}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "C%3A/s%3F.jsonl"},
                    "region": {"startLine": 7},
                }
            }
        ],
    }
    assert second["level"] == "warning"
    (location,) = second["locations"]
    assert location == {
        "physicalLocation": {"artifactLocation": {"uri": "agents/%C3%A4%20b.jsonl"}}
    }


@pytest.mark.parametrize("text", ["a.py:9", "\ud800\x1b[31m\u202e", "é" * 400])
def test_a_sarif_log_is_valid_and_names_its_rules_once(
    turn: Make, reference: Make, text: str
) -> None:
    """annotations: The log is SARIF 2.1.0, whatever was read."""
    found = [reference(text=text), reference(text=text), reference(reason="quite-new")]
    log = sarif_log("1.0", list(sarif_results(f"{text}.jsonl", [turn(*found)])))
    document = json.loads(encode_json(log))
    jsonschema.validate(document, SARIF)
    (run,) = document["runs"]
    assert [
        (rule["id"], rule["shortDescription"]["text"]) for rule in run["tool"]["driver"]["rules"]
    ] == [
        ("place.past-end", REASONS["past-end"].sentence),
        ("place.quite-new", "quite-new"),
    ]
    assert len(run["results"]) == 3


def test_nothing_found_is_a_log_without_results() -> None:
    """annotations: An empty log is a log."""
    log = sarif_log("1.0", [])
    jsonschema.validate(log, SARIF)
    assert log["runs"][0]["results"] == []
