"""The tool `search_files` on real files, and expressions that are meant to hang it."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from counterfoil.adapters.tools.roots import Roots
from counterfoil.adapters.tools.search_files import SearchFilesTool
from counterfoil.core.ids import ThreadId
from counterfoil.ports.tools import CallContext, ToolAnswer

CONTEXT = CallContext(thread=ThreadId("t1"), turn=1, call="c1")
Search = Callable[..., ToolAnswer]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def search(root: Path) -> Search:
    tool = SearchFilesTool(Roots([root], base=root))

    def call(pattern: str, **arguments: object) -> ToolAnswer:
        return tool.run({"pattern": pattern, **arguments}, CONTEXT)

    return call


def test_lines_are_found_with_path_and_number(root: Path, search: Search) -> None:
    """agent-tools: `path:line: text`, and how much was looked at."""
    (root / "b").mkdir()
    (root / "b" / "two.txt").write_text("nothing\n  a [b] c\n")
    (root / "one.md").write_text("[b]\r\n[B]\n")
    answer = search("[b]")
    assert answer.output == (
        "b/two.txt:2: a [b] c\none.md:1: [b]\n[end: 2 matching lines in 2 files; 2 files looked at]"
    )
    assert answer.truncated is None
    assert search("[b]", ignore_case=True).output.startswith(
        "b/two.txt:2: a [b] c\none.md:1: [b]\none.md:2"
    )
    assert search("[b]", path="b").output.startswith("b/two.txt:2")
    assert search("[b]", path="one.md").output.startswith("one.md:1: [b]")
    assert search("[b]", glob="*.md").output.endswith(
        "[end: 1 matching line in 1 file; 1 file looked at]"
    )
    assert search("zzz").output == "[end: 0 matching lines in 0 files; 2 files looked at]"


def test_what_is_left_out_is_counted(root: Path, search: Search, tmp_path: Path) -> None:
    """agent-tools: Binary files, links, pipes; .git is passed over."""
    (root / "a.bin").write_bytes(b"needle\x00")
    (root / "a.txt").write_bytes(b"needle\xff\n")
    (root / "link").symlink_to("a.txt")
    (root / ".git").mkdir()
    (root / ".git" / "a").write_text("needle")
    os.mkfifo(root / "pipe")
    (tmp_path / "outside").write_text("needle")
    (root / "out").symlink_to(tmp_path)
    (root / "long").write_bytes(b"a" * 70_000 + b"needle\n")
    assert search("needle").output == (
        "a.txt:1: needle�\n[end: 1 matching line in 1 file; 2 files looked at; left out:"
        " 1 binary, 2 of kind link, 1 ends of lines past 64 KiB, 1 of kind pipe]"
    )


def test_more_than_a_page_is_counted_and_not_shown(root: Path, search: Search) -> None:
    """agent-tools: 4 KiB, with the exact count and what to narrow."""
    for name in ("a", "b"):
        (root / name).write_text(f"{'x' * 70} é needle\n" * 500)
    answer = search("needle")
    *rows, end = answer.output.split("\n")
    assert len(answer.output.encode()) <= 4096
    assert end == (
        f"[more: {len(rows)} of 1,000 matching lines in 2 files are shown; narrow pattern, path"
        " or glob; 2 files looked at]"
    )
    assert answer.truncated is True


@pytest.mark.parametrize(
    ("length", "is_cut"), [(199, False), (200, False), (201, True), (9000, True)]
)
def test_a_long_line_is_cut(length: int, is_cut: bool, root: Path, search: Search) -> None:  # noqa: FBT001 - a parameter of the table
    """agent-tools: One character under the bound, at it, one over."""
    (root / "a").write_text("é" * length)
    row = search("é").output.split("\n")[0]
    assert row == f"a:1: {'é' * 199}…" if is_cut else row == f"a:1: {'é' * length}"


def test_an_expression_is_one_of_a_linear_engine(root: Path, search: Search) -> None:
    """agent-tools: Regular expressions, in Unicode."""
    (root / "a.py").write_text("def größe(x):\nDEF b\n")
    assert search(r"^def \p{L}+\(", regex=True).output.startswith("a.py:1: def größe(x):")
    assert "2 matching lines" in search("^def ", regex=True, ignore_case=True).output
    assert "0 matching lines" in search("^def .", regex=False).output


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|aa)+$",
        "(a*)*b",
        "(.*a){12}c",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(x+x+)+y",
        "(a?){50}a{50}c",
    ],
)
def test_no_expression_hangs(pattern: str, root: Path, search: Search) -> None:
    """agent-tools: What takes other engines years takes this one no time."""
    (root / "a").write_text(f"{'a' * 60_000}!\n{'x' * 60_000}\n")
    started = time.monotonic()
    assert search(pattern, regex=True).outcome == "ok"
    assert time.monotonic() - started < 10


def test_a_search_ends_in_its_time(root: Path) -> None:
    """agent-tools: An expensive search says that it stopped."""
    (root / "a").write_text(f"{'a' * 60_000}\n" * 200)
    tool = SearchFilesTool(Roots([root], base=root), seconds=0.3)
    started = time.monotonic()
    answer = tool.run({"pattern": "(x|.{900}y)z", "regex": True}, CONTEXT)
    assert time.monotonic() - started < 10
    assert "stopped before the end, so there may be others" in answer.output
    assert answer.truncated is True


def test_a_search_of_many_files_ends_in_its_time(root: Path) -> None:
    """agent-tools: Between files too."""
    (root / "a").write_text("a\n")
    answer = SearchFilesTool(Roots([root], base=root), seconds=0).run({"pattern": "a"}, CONTEXT)
    assert "0 files looked at; stopped before the end" in answer.output


@pytest.mark.parametrize(
    "pattern", ["(", "[", r"(a)\1", "(?=a)", "a{5000}", "((a{100}){100}){100}"]
)
def test_what_the_engine_cannot_is_refused(pattern: str, search: Search) -> None:
    """agent-tools: Words that say what to do, and nothing on standard error."""
    answer = search(pattern, regex=True)
    assert answer.outcome == "error"
    assert "the expression is refused: " in answer.output
    assert "leave regex out to search for a text" in answer.output


@pytest.mark.parametrize("pattern", ["", "a" * 1001, "\ud800"])
@pytest.mark.parametrize("is_regex", [True, False])
def test_what_is_no_pattern_is_refused(pattern: str, is_regex: bool, search: Search) -> None:  # noqa: FBT001 - a parameter of the table
    """agent-tools: Nothing, too much, half a character."""
    assert search(pattern, regex=is_regex).outcome == "error"


def test_a_pattern_as_long_as_can_be_is_taken(root: Path, search: Search) -> None:
    """agent-tools: One under the bound, and at it."""
    (root / "a").write_text("a" * 1000)
    for length in (999, 1000):
        assert "1 matching line" in search("a" * length).output


def test_without_the_engine_texts_are_searched_for(
    root: Path, search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    """agent-tools: A missing extra is one clear line naming the install command."""
    monkeypatch.setitem(sys.modules, "re2", None)
    (root / "a").write_text("a.b\n")
    answer = search("a.b", regex=True)
    assert answer.outcome == "error"
    assert "pip install 'counterfoil[agent]'" in answer.output
    assert search("a.b").output.startswith("a:1: a.b")


def test_nothing_outside_is_searched(tmp_path: Path, search: Search) -> None:
    """agent-tools: Below the roots, and what is not there is told."""
    (tmp_path / "secret").write_text("needle")
    assert "is outside of the folders" in search("needle", path="../secret").output
    assert "nothing is at" in search("needle", path="nope").output


def test_a_cancelled_search_ends(root: Path) -> None:
    """agent-tools: A tool that may take long asks whether it is still wanted."""
    (root / "a").write_text("a")
    context = CallContext(thread=ThreadId("t1"), turn=1, call="c1", is_cancelled=lambda: True)
    answer = SearchFilesTool(Roots([root], base=root)).run({"pattern": "a"}, context)
    assert answer.outcome == "cancelled"
    answer = SearchFilesTool(Roots([root], base=root)).run({"pattern": "a", "path": "a"}, context)
    assert answer.outcome in {"ok", "cancelled"}
