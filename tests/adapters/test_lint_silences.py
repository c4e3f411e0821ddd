"""Every code about a page is silenced by a comment in it, and the documentation says which are."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.stores import lint, opened, place, write_files
from counterfoil.core.knowledge.codes import CODES
from counterfoil.engine.lint_stores import lint_stores, with_literals

_TESTS = Path(__file__).parents[1]
_PAGES = _TESTS.parent / "docs" / "reference" / "findings"
_MORE: dict[str, dict[str, Any]] = {
    "comment-in-field": {"knowledge/a.md": "---\nid: a\ncites: #176\n---\n"},
    "bad-silence": {"knowledge/a.md": "<!-- counterfoil: allow broken-link -->\n"},
}
Row = tuple[str, dict[str, Any], str | None, str]


def _rows() -> Iterator[Row]:
    """Yield, for each code that a page can have, files that show it, the run, and the page."""
    document = json.loads((_TESTS / "vectors" / "lint.json").read_bytes())
    known = {code: (files, None, next(iter(files))) for code, files in _MORE.items()}
    for case in document["cases"]:
        for row in case["expect"]["findings"]:
            content = case["files"].get(row["path"])
            is_page = row["path"].endswith(".md") and content and "symlink" not in content
            if is_page and row["code"] not in known:
                known[row["code"]] = (case["files"], case.get("run"), row["path"])
    return ((code, *found) for code, found in sorted(known.items()))


_ROWS = list(_rows())


def _with_comment(content: Any, code: str) -> Any:  # noqa: ANN401 - a text, or bytes in JSON
    comment = f"\n\n<!-- counterfoil: allow {code}: it is known -->\n"
    if isinstance(content, str):
        return content + comment
    return {"base64": base64.b64encode(base64.b64decode(content["base64"]) + comment.encode())}


@pytest.mark.parametrize("row", _ROWS, ids=[row[0] for row in _ROWS])
def test_a_comment_silences_each_code_of_its_page(row: Row, tmp_path: Path) -> None:
    """lint-silence: There, with its reason, and nowhere else."""
    code, files, run, path = row
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    write_files(tmp_path / "before", files)
    write_files(tmp_path / "after", files | {path: _with_comment(files[path], code)})
    before, after = lint(tmp_path / "before", run), lint(tmp_path / "after", run)
    rows = [
        [(one.code, place(one.origin, run) + one.path) for one in report.findings]
        for report in (before, after)
    ]
    assert (code, path) in rows[0]
    assert [one for one in rows[0] if one != (code, path)] == rows[1]
    assert {one.silenced for one in after.silenced} >= {"it is known"}


def test_a_page_of_the_documentation_says_whether_a_comment_silences() -> None:
    """lint-codes: What no page can silence is silenced by a configuration alone."""
    told = {code for code in CODES if "In one page" in (_PAGES / f"{code}.md").read_text("utf-8")}
    assert told == {row[0] for row in _ROWS} | {"no-literal-id", "no-literal-title"}


def test_a_comment_silences_what_a_strict_store_asks_for(tmp_path: Path) -> None:
    """lint-silence: The codes of `validate --strict` are codes of a page as well."""
    comment = "<!-- counterfoil: allow no-literal-id: it is named by its file -->\n"
    write_files(tmp_path, {"knowledge/a.md": f"{comment}[[b]]\n", "knowledge/b.md": "[[a]]\n"})
    with opened(tmp_path) as visible:
        report = with_literals(lint_stores(visible), visible)
    assert [(one.code, one.path) for one in report.findings] == [
        ("no-literal-title", "knowledge/a.md"),
        ("no-literal-id", "knowledge/b.md"),
        ("no-literal-title", "knowledge/b.md"),
    ]
    assert [one.code for one in report.silenced] == ["no-literal-id"]
