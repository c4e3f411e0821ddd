"""The published schema of `check --json`, held against every document there is."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/reference/check.schema.json").read_text("utf-8"))


def _documents(*arguments: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "counterfoil", "check", "--json", *arguments],
        capture_output=True,
        check=False,
        timeout=120,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_schema_is_one() -> None:
    """json-schema: the published file is a valid JSON Schema."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_session_of_the_project_gives_a_document_of_the_schema() -> None:
    """json-schema: what is printed validates, for each example and each golden session."""
    documents = _documents(str(ROOT))
    assert len(documents) >= 8
    for document in documents:
        jsonschema.validate(document, SCHEMA, jsonschema.Draft202012Validator)


def test_what_cannot_be_read_gives_a_document_of_the_schema(tmp_path: Path) -> None:
    """json-schema: a file of no known format and an empty one are documents, too."""
    (tmp_path / "a.jsonl").write_text('{"silly":1}\n', "utf-8")
    (tmp_path / "b.jsonl").write_bytes(b"")
    documents = _documents(str(tmp_path))
    outcomes = [document["summary"]["outcome"] for document in documents]
    assert outcomes == ["could_not_tell", "empty"]
    for document in documents:
        jsonschema.validate(document, SCHEMA, jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("summary", "outcome"), "fine"),
        (("schema",), 2),
        (("turns",), None),
        (("turns", 0, "receipt", "complete"), "yes"),
        (("turns", 0, "references", 0, "verdict"), "maybe"),
    ],
)
def test_the_schema_refuses_what_is_wrong(path: tuple[str | int, ...], value: object) -> None:
    """json-schema: a document with one wrong value does not validate."""
    (document,) = _documents(str(ROOT / "examples/claude-session.jsonl"))
    found: Any = document
    for part in path[:-1]:
        found = found[part]
    found[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA, jsonschema.Draft202012Validator)
