"""What the pages say of stores of pages: screens of the demo, and a page for each code.

Examples of codes are the normative vectors themselves, linted here.
"""
# ruff: noqa: INP001 - cog imports this file by its folder

import base64
import json
import shlex
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from counterfoil.core.knowledge.codes import CODES, Code

Run = Callable[..., tuple[str, int]]
ROOT = Path(__file__).resolve().parents[1]


def demo_lines(run_in: Run, commands: Sequence[str], edits: Sequence[tuple[str, str, str]]) -> str:
    """Return commands with what they print, in a folder where the demo was made.

    `edits` are made before: a file, what to replace in it, and by what.
    """
    with tempfile.TemporaryDirectory(prefix="counterfoil-docs-") as name:
        folder = Path(name)
        if not any("--demo" in command for command in commands):
            run_in(folder, "kb", "init", "--demo", "demo")
        for path, old, new in edits:
            file = folder / path
            text = file.read_text("utf-8")
            if old not in text:
                raise ValueError(f"{path} has no {old!r}")
            file.write_text(text.replace(old, new), "utf-8")
        return "\n".join(line for command in commands for line in _lines(run_in, folder, command))


def _lines(run_in: Run, folder: Path, command: str) -> list[str]:
    text, code = run_in(folder, *shlex.split(command))
    return [f"$ counterfoil {command}", text.rstrip(), "$ echo $?", str(code)]


class CodePage:
    """One code: the store that shows it, and what lint prints there."""

    def __init__(self, run_in: Run, code: str) -> None:
        """Lint the example of `code`."""
        self.code = code
        self.entry: Code = CODES[code]
        files, run, path = _example(code)
        self.path = path.encode("utf-8", "backslashreplace").decode()
        self.content = files[path]
        arguments = ["kb", *(["validate", "--strict"] if "literal" in code else ["lint"])]
        with tempfile.TemporaryDirectory(prefix="counterfoil-docs-") as name:
            folder = Path(name)
            _write(folder, files)
            if run is None:
                arguments += ["--root", "."]
            else:
                arguments += ["--runs", "runs", "--shared", "shared", "--run", run]
                (folder / "shared").mkdir(exist_ok=True)
            text, _ = run_in(folder, *arguments)
        self.command = f"counterfoil {' '.join(arguments)}"
        self.shown = [line for line in text.splitlines() if line.endswith(f"({code})")]
        if not self.shown:
            raise ValueError(f"the example of {code} does not show it: {text}")

    @property
    def is_silenced_in_a_page(self) -> bool:
        """Whether a comment in a page can silence it: it is about one page that was read."""
        return self.code not in _NOT_OF_A_PAGE

    @property
    def written(self) -> str:
        """What stands in the file at fault."""
        if isinstance(self.content, str):
            return self.content.replace("```", "'''")
        if "symlink" in self.content:
            return f"-> {self.content['symlink']}\n"
        return base64.b64decode(self.content["base64"]).decode("utf-8", "backslashreplace")


def _example(code: str) -> tuple[dict[str, Any], str | None, str]:
    """Return files that show a code, the run to lint, and the file at fault."""
    if code in _MORE:
        files = _MORE[code]
        return files, None, next(iter(files))
    cases = json.loads((ROOT / "tests" / "vectors" / "lint.json").read_text("utf-8"))["cases"]
    for case in cases:
        for found in case["expect"]["findings"]:
            if found["code"] == code and found["path"] in case["files"]:
                return case["files"], case.get("run"), found["path"]
    raise ValueError(f"no vector shows {code}")


_MORE: dict[str, dict[str, Any]] = {
    "comment-in-field": {"knowledge/a.md": "---\nid: a\ncites: #176\n---\n"},
    "bad-silence": {"knowledge/a.md": "<!-- counterfoil: allow broken-link -->\n[[gone]]\n"},
    "no-literal-id": {"knowledge/a.md": "---\ntitle: Slopes\n---\n"},
    "no-literal-title": {"knowledge/a.md": "---\nid: a\n---\n\n# Slopes\n"},
    "bad-registry": {
        ".counterfoil/sources.json": '{"schema": 1, "sources": [\n',
        "knowledge/a.md": "---\nsources: s1\n---\n",
    },
    "unreadable-page": {"knowledge/\udcff.md": "Words.\n"},
}
"""What the vectors do not show."""

_NOT_OF_A_PAGE = frozenset(
    {
        "bad-registry",
        "duplicate-source-hash",
        "lineage-conflict",
        "lineage-cycle",
        "missing-ancestor-store",
        "skipped-link",
        "unreadable-page",
    }
)
"""Codes that only a configuration silences."""


def _write(folder: Path, files: dict[str, Any]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_text(content, "utf-8")
        elif "base64" in content:
            path.write_bytes(base64.b64decode(content["base64"]))
        else:
            path.symlink_to(content["symlink"])
