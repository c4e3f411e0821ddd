"""Invented sessions with a truth written by hand from their stories, not by the program.

Each folder of `tests/golden/sessions` is one session as it lies on disk, and a
`truth.json`: what happened, and so what has to be printed. Where a test fails, either
the truth or the program is wrong; the story says which.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

SESSIONS = Path(__file__).parent.parent / "golden" / "sessions"
FOLDERS = sorted(found.parent for found in SESSIONS.glob("*/*/truth.json"))


class Golden(NamedTuple):
    """A session, what is true of it, and what the check says."""

    folder: Path
    truth: dict[str, Any]
    document: dict[str, Any]
    code: int


def invoke(folder: Path, *arguments: str) -> tuple[str, int]:
    ended = subprocess.run(
        [sys.executable, "-m", "counterfoil", *arguments],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert not ended.stderr, ended.stderr.decode()
    return ended.stdout.decode(), ended.returncode


@pytest.fixture(
    scope="module", params=FOLDERS, ids=lambda folder: f"{folder.parent.name}-{folder.name}"
)
def golden(request: pytest.FixtureRequest) -> Golden:
    folder: Path = request.param
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    output, code = invoke(folder, "check", "--json", truth["session"])
    return Golden(folder, truth, json.loads(output), code)


def true_turns(golden: Golden) -> list[dict[str, Any]]:
    return [
        {"thread": thread["thread"], "parent": thread["parent"], **turn}
        for thread in golden.truth["threads"]
        for turn in thread["turns"]
    ]


def said_turns(golden: Golden) -> dict[tuple[str, int], dict[str, Any]]:
    return {(turn["thread"], turn["turn"]): turn for turn in golden.document["turns"]}


def met_turns(golden: Golden) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return each true turn with what is said of it; one not met is the fault of another test."""
    said = said_turns(golden)
    pairs = [(true, said.get((true["thread"], true["turn"]))) for true in true_turns(golden)]
    return [(true, turn) for true, turn in pairs if turn is not None]


def test_six_sessions_are_there() -> None:
    """golden-turns: three sessions of each of the two harnesses are checked."""
    assert [folder.parent.name for folder in FOLDERS] == ["claude_code"] * 3 + ["codex"] * 3


def test_the_turns_are_those_of_the_story(golden: Golden) -> None:
    """golden-turns: every prompt is a turn of its thread, and nothing else is one."""
    true = {
        (turn["thread"], turn["parent"], turn["turn"], turn["prompt"])
        for turn in true_turns(golden)
    }
    prompts = {(turn["thread"], turn["turn"]): turn["prompt"] for turn in true_turns(golden)}
    said = {
        (
            thread,
            turn.get("parent"),
            number,
            (turn["prompt"] or "")[: len(prompts.get(key, "…" * 60))],
        )
        for key, turn in said_turns(golden).items()
        for thread, number in [key]
    }
    assert said == true


@pytest.mark.parametrize(
    "fact", ["ran", "complete", "condensed", "commands", "files", "denials", "caveats", "usage"]
)
def test_the_receipts_are_those_of_the_story(golden: Golden, fact: str) -> None:
    """golden-turns: what ran, how it ended, what was written and refused is as it was."""
    pairs = [(true, facts_of(said)) for true, said in met_turns(golden) if fact in true]
    true_facts = {(t["thread"], t["turn"]): sorted_lists(t[fact]) for t, _ in pairs}
    said_facts = {(t["thread"], t["turn"]): sorted_lists(s[fact]) for t, s in pairs}
    assert said_facts == true_facts


def facts_of(turn: dict[str, Any]) -> dict[str, Any]:
    receipt = turn["receipt"]
    usage = receipt.get("usage", {})
    return {
        "ran": turn["ran"],
        "complete": receipt["complete"],
        "condensed": receipt["condensed"],
        "commands": [[row["command"], row["exitStatus"]] for row in receipt["commands"]],
        "files": [row["path"] for row in receipt["files"]],
        "denials": [[row["command"], row["verdict"], row["by"]] for row in receipt["denials"]],
        # A change of version stands between two turns: which of them counts it is no fact.
        "caveats": {
            row["code"]: row["count"]
            for row in receipt["caveats"]
            if row["code"] != "mixed-versions"
        },
        "usage": [usage.get("input"), usage.get("output")],
    }


def sorted_lists(fact: object) -> object:
    """The order of a list of rows is that of the record, which tells ties by chance."""
    return sorted(map(str, fact)) if isinstance(fact, list) else fact


def test_the_references_are_judged_as_the_story_has_it(golden: Golden) -> None:
    """golden-references: every reference of every reply, once, with its verdict and reason."""
    true = {
        (turn["thread"], turn["turn"]): turn["references"]
        for turn in true_turns(golden)
        if turn["references"]
    }
    said = {
        key: [
            [found[name] for name in ("kind", "text", "verdict", "reason")]
            for found in turn["references"]
        ]
        for key, turn in said_turns(golden).items()
        if turn["references"]
    }
    assert said == true


def test_evidence_stands_before_the_reply(golden: Golden) -> None:
    """golden-references: what decides stands in the record, before the words it decides on."""
    for turn in golden.document["turns"]:
        for found in turn["references"]:
            for row in found["evidence"]:
                if row.get("source") == found["place"].get("source") and "line" in row:
                    assert 1 <= row["line"] < found["place"]["line"], found


def test_the_summary_is_that_of_the_story(golden: Golden) -> None:
    """golden-references: counts, outcome, exit code and caveats follow from the turns."""
    truth, document = golden.truth, golden.document
    verdicts = [found[2] for turn in true_turns(golden) for found in turn["references"]]
    counts = {name: verdicts.count(name) for name in set(verdicts)}
    said = document["summary"]["references"]
    assert {name: count for name, count in said.items() if count} == counts
    assert document["summary"]["outcome"] == truth["outcome"]
    assert golden.code == truth["exitCode"]
    assert document["source"]["repeated"] == truth["repeated"]
    assert {row["code"]: row["count"] for row in document["caveats"]} == truth["caveats"]
    assert document["source"]["threads"] == len(truth["threads"])


def test_the_text_says_what_is_true_and_nothing_else(golden: Golden) -> None:
    """golden-text: the lines that a person has to see are printed; false ones are not."""
    text, code = invoke(golden.folder, "check", "--verbose", golden.truth["session"])
    assert code == golden.truth["exitCode"]
    assert [line for line in golden.truth["text"] if line not in text] == []
    assert [line for line in golden.truth["absent"] if line in text] == []
    for turn in true_turns(golden):
        assert turn["prompt"][:18] in text
        assert turn["ran"] is None or turn["ran"] in text
