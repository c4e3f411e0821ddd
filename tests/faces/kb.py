"""Pages to write for tests of `counterfoil kb`, and what its documents say."""

import json
from pathlib import Path
from typing import Any

import jsonschema

_ROOT = Path(__file__).resolve().parents[2]

SCHEMA = json.loads((_ROOT / "docs/reference/findings.schema.json").read_text("utf-8"))
CHECKING = ("lint", "validate", "cites")
OF_RUN = ("--runs", "demo/runs", "--shared", "demo/shared", "--run", "report")
"""Options that mean the last run of the demo."""

REPORT = "demo/runs/report/knowledge-base/knowledge/report.md"
AMBIGUOUS = (
    f"{REPORT}:6:5: error: 'slope' names 2 pages: knowledge/slope.md (inherited:refit),"
    " knowledge/slope.md (inherited:fit); write inherited:refit::slope or"
    " inherited:fit::slope (ambiguous-citation)"
)
"""What the demo is there to show."""


def page(id_: str, *lines: str, body: str = "") -> str:
    """Return the text of a page with more lines of frontmatter, and a body."""
    return "\n".join(["---", f"id: {id_}", *lines, "---", "", body]) + "\n"


def read_report(output: bytes) -> dict[str, Any]:
    """Return the one JSON document on the one line printed; it is of the schema."""
    (line,) = output.splitlines()
    found: dict[str, Any] = json.loads(line)
    jsonschema.validate(found, SCHEMA, jsonschema.Draft202012Validator)
    return found


def codes(found: dict[str, Any]) -> list[str]:
    """Return the codes of a document's findings, in their order."""
    return [finding["code"] for finding in found["findings"]]


def files_below(root: Path) -> dict[str, bytes]:
    """Return every file below `root`, and every directory as one that ends in a slash."""
    return {
        f"{path.relative_to(root)}{'/' if path.is_dir() else ''}": b""
        if path.is_dir()
        else path.read_bytes()
        for path in sorted(root.rglob("*"))
    }
