"""Names of files that no page can have: each is a finding, and hides no other."""

from pathlib import Path

import pytest

from adapters.stores import lint, write_files


@pytest.mark.parametrize("name", ["q\nq.md", "a\x1b[31m.md", "a\\b.md", "d\x07/x.md", "d\\e/x.md"])
def test_a_name_that_no_path_can_have_is_a_finding(name: str, tmp_path: Path) -> None:
    """store-scan: A control character, a backslash; in a file's name and in a folder's."""
    write_files(
        tmp_path,
        {
            f"knowledge/{name}": "---\nid: x\ncites: lost\n---\n",
            "knowledge/a.md": "---\nid: a\ncites: gone\n---\n",
            "knowledge/p\\q.png": "no page, and none of ours",
        },
    )
    report = lint(tmp_path)
    rows = [(one.code, one.written) for one in report.findings if one.severity == "error"]
    assert sorted(rows, key=str) == [("missing-citation", "gone"), ("unreadable-page", None)]
    assert all("\n" not in one.path and "\x1b" not in one.path for one in report.findings)
    assert report.checked.pages == 1
