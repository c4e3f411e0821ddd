"""The tools `read_file`, `list_files` and `edit_file` on real files, nasty ones included."""

import os
import socket
import stat
import tracemalloc
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from counterfoil.adapters.tools import roots, walking
from counterfoil.adapters.tools.answers import Patience, UnusableArgumentError
from counterfoil.adapters.tools.edit_file import MOST_BYTES, EditFileTool
from counterfoil.adapters.tools.globs import Glob
from counterfoil.adapters.tools.list_files import ListFilesTool
from counterfoil.adapters.tools.read_file import ReadFileTool
from counterfoil.adapters.tools.roots import Roots
from counterfoil.adapters.tools.search_files import SearchFilesTool
from counterfoil.adapters.tools.system_info import SystemInfoTool
from counterfoil.core.digests import tagged_digest
from counterfoil.core.errors import UnreadableError
from counterfoil.core.events import FileWritten
from counterfoil.core.ids import ThreadId
from counterfoil.ports.tools import CallContext, Tool, ToolAnswer

CONTEXT = CallContext(thread=ThreadId("t1"), turn=1, call="c1")
CANCELLED = CallContext(thread=ThreadId("t1"), turn=1, call="c1", is_cancelled=lambda: True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def read(root: Path) -> Callable[..., ToolAnswer]:
    return _calling(ReadFileTool(Roots([root], base=root)))


@pytest.fixture
def listing(root: Path) -> Callable[..., ToolAnswer]:
    return _calling(ListFilesTool(Roots([root], base=root)))


@pytest.fixture
def edit(root: Path) -> Callable[..., ToolAnswer]:
    return _calling(
        EditFileTool(
            Roots([root], base=root, purpose="written", protected=[root / "home"]),
        )
    )


def _calling(tool: Tool) -> Callable[..., ToolAnswer]:
    def call(context: CallContext = CONTEXT, **arguments: object) -> ToolAnswer:
        return tool.run(arguments, context)

    return call


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- read_file ----------------------------------------------------------------


def test_lines_are_numbered_and_counted(root: Path, read: Callable[..., ToolAnswer]) -> None:
    """agent-tools: Numbered lines; the end says how many there are."""
    (root / "a.txt").write_bytes(b"one\n\nthree")
    answer = read(path="a.txt")
    assert answer.output == "1\tone\n2\t\n3\tthree\n[end: 3 lines]"
    assert (answer.outcome, answer.truncated, answer.facts) == ("ok", None, ())


def test_an_empty_file_has_no_line(root: Path, read: Callable[..., ToolAnswer]) -> None:
    """agent-tools: Nothing is shown as nothing."""
    (root / "a.txt").touch()
    assert read(path="a.txt").output == "[end: 0 lines]"


def test_pages_put_together_are_the_file(root: Path, read: Callable[..., ToolAnswer]) -> None:
    """agent-tools: 4 KiB pages with an offset hint, read to the end by the hints."""
    lines = [f"line {number} {'é' * (number % 60)}" for number in range(1, 1001)]
    (root / "a.txt").write_text("\n".join(lines) + "\n")
    seen: list[str] = []
    following = 1
    while following:
        answer = read(path="./a.txt", from_line=following)
        assert len(answer.output.encode()) <= 4096
        *rows, end = answer.output.split("\n")
        seen.extend(row.partition("\t")[2] for row in rows)
        assert int(rows[0].partition("\t")[0]) == following
        hint = f'[more: read_file "a.txt" from line {following + len(rows)}]'
        following = following + len(rows) if end == hint else 0
        assert answer.truncated is (True if following else None)
    assert end == "[end: 1,000 lines]"
    assert seen == lines


@pytest.mark.parametrize("end", ["", "\n"])
def test_any_line_of_a_long_file_is_found(
    end: str, root: Path, read: Callable[..., ToolAnswer]
) -> None:
    """agent-tools: Whatever stands before it, and where the system's reads fall."""
    count = 40_000
    (root / "a.txt").write_text("\n".join(f"text {n}" for n in range(1, count + 1)) + end)
    for line in (2, 5_555, 6_000, 12_345, 30_001, count - 1, count):
        assert read(path="a.txt", from_line=line).output.startswith(f"{line}\ttext {line}\n")
    assert f"a line from 1 to {count}" in read(path="a.txt", from_line=count + 1).output


@pytest.mark.parametrize(("line", "outcome"), [(2, "ok"), (3, "ok"), (4, "error")])
def test_a_line_behind_the_end_is_an_error_with_the_range(
    line: int, outcome: str, root: Path, read: Callable[..., ToolAnswer]
) -> None:
    """agent-tools: One under the last line, at it, one over."""
    (root / "a.txt").write_text("a\nb\nc\n")
    answer = read(path="a.txt", from_line=line)
    assert answer.outcome == outcome
    assert ("a line from 1 to 3" in answer.output) is (outcome == "error")


@pytest.mark.parametrize("line", [0, -1, True, "2", 1.5, 2**60])
def test_no_other_line_is_taken(line: object, root: Path, read: Callable[..., ToolAnswer]) -> None:
    """agent-tools: What cannot be meant is an error."""
    (root / "a.txt").write_text("a\n")
    assert read(path="a.txt", from_line=line).outcome == "error"


def test_a_line_longer_than_a_page_is_cut_between_characters(
    root: Path, read: Callable[..., ToolAnswer]
) -> None:
    """agent-tools: It says so, with its size, and the next line is to be had."""
    (root / "a.txt").write_text(f"{'é' * 5000}\nb\n")
    answer = read(path="a.txt")
    first, end = answer.output.split("\n")
    assert first.startswith("1\téé")
    assert first.endswith("é… [cut: a line of 10,002 bytes]")
    assert end == '[more: read_file "a.txt" from line 2]'
    assert answer.truncated is True
    assert len(answer.output.encode()) <= 4096
    assert read(path="a.txt", from_line=2).truncated is None


def test_a_cut_last_line_is_truncated(root: Path, read: Callable[..., ToolAnswer]) -> None:
    """agent-tools: An end is no promise that all was shown."""
    (root / "a.txt").write_bytes(b"\xff" * 3000)
    answer = read(path="a.txt")
    assert answer.truncated is True
    assert "[cut: a line of" in answer.output
    assert len(answer.output.encode()) <= 4096


def test_what_is_no_utf8_is_said(root: Path, read: Callable[..., ToolAnswer]) -> None:
    """agent-tools: It is shown as far as it can be, and not as if it were text."""
    (root / "a.txt").write_bytes(b"caf\xe9\nb\x00c\n")
    assert read(path="a.txt").output == (
        "1\tcaf�\n2\tb�c\n[end: 2 lines; it is not UTF-8 text: what cannot be shown stands as �]"
    )


def test_a_mark_and_line_ends_are_said(root: Path, read: Callable[..., ToolAnswer]) -> None:
    """agent-tools: What is not shown of a line is told."""
    (root / "a.txt").write_bytes(b"\xef\xbb\xbfa\r\nb\rc\r\n")
    assert read(path="a.txt").output == (
        "1\ta\n2\tb\rc\n[end: 2 lines; it begins with a byte order mark, not shown;"
        " lines end with CRLF]"
    )


def test_a_huge_file_is_read_in_little_memory(root: Path, read: Callable[..., ToolAnswer]) -> None:
    """agent-tools: Neither its size nor the length of a line counts."""
    size = 1 << 27
    with (root / "huge").open("wb") as file:
        file.write(b"a\n" * 5000)
        file.truncate(size)  # one line of zeros, sparse
        file.seek(size)
        file.write(b"\nlast\n")
    tracemalloc.start()
    try:
        answers = [read(path="huge", from_line=line) for line in (5001, 5002)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 << 20
    assert f"[cut: a line of {size - 10_000 + 5:,} bytes]" in answers[0].output
    assert answers[1].output == "5002\tlast\n[end: 5,002 lines]"


def test_a_cancelled_call_ends(root: Path, read: Callable[..., ToolAnswer]) -> None:
    """agent-tools: A tool that may take long asks whether it is still wanted."""
    (root / "a.txt").write_bytes(b"a" * 300_000)
    assert read(CANCELLED, path="a.txt").outcome == "cancelled"
    (root / "a.txt").write_bytes(b"a\n" * 30_000)
    assert read(CANCELLED, path="a.txt", from_line=30_000).outcome == "cancelled"


# --- roots --------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    ["../secret", "/etc/passwd", "//etc/passwd", "a/../../secret", "{data}2/secret", "{top}", "/"],
)
def test_what_is_outside_is_refused(
    path: str, root: Path, tmp_path: Path, read: Callable[..., ToolAnswer]
) -> None:
    """agent-tools: Below the roots, by whole names; `..` leads nowhere else."""
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "data2").mkdir()
    (tmp_path / "data2" / "secret").write_text("secret")
    answer = read(path=path.format(data=root, top=tmp_path))
    assert answer.outcome == "error"
    assert f"is outside of the folders that may be read; expected a path below {root}" in (
        answer.output
    )


@pytest.mark.parametrize("path", ["{top}/{name}", "../{name}", "link-{name}", "in/{name}"])
def test_a_refusal_does_not_say_whether_something_is_there(
    path: str, root: Path, tmp_path: Path, read: Callable[..., ToolAnswer]
) -> None:
    """agent-tools: A file outside that is there is refused as one that is not."""
    (tmp_path / "there").write_text("secret")
    (root / "link-there").symlink_to(tmp_path / "there")
    (root / "link-nope!").symlink_to(tmp_path / "nope!")
    (root / "in").symlink_to(tmp_path)
    said = [
        read(path=path.format(top=tmp_path, name=name)).output.replace(name, "NAME")
        for name in ("there", "nope!")
    ]
    assert "is outside" in said[0]
    assert said[0] == said[1]


def test_links_below_the_roots_are_followed(root: Path, read: Callable[..., ToolAnswer]) -> None:
    """agent-tools: What stays below is to be had, however it is named."""
    (root / "b").mkdir()
    (root / "b" / "c.txt").write_text("c\n")
    (root / "to-folder").symlink_to("b")
    (root / "to-file").symlink_to(root / "to-folder" / "c.txt")
    for path in ("to-folder/c.txt", "to-file", f"{root}/b/../to-file", "b//./c.txt"):
        assert read(path=path).output == "1\tc\n[end: 1 line]"


def test_a_root_may_be_named_through_a_link(root: Path, tmp_path: Path) -> None:
    """agent-tools: Both names of a root are below it."""
    (root / "a").write_text("a\n")
    (tmp_path / "link").symlink_to(root)
    read = _calling(ReadFileTool(Roots([tmp_path / "link"], base=tmp_path / "link")))
    for path in ("a", f"{tmp_path}/link/a", f"{root}/a"):
        assert read(path=path).outcome == "ok"


def test_every_root_is_reached_and_the_first_is_where_paths_begin(
    root: Path, tmp_path: Path
) -> None:
    """agent-tools: Below the roots, whichever."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "b").write_text("b\n")
    (root / "a").write_text("a\n")
    read = _calling(ReadFileTool(Roots([root, other], base=root)))
    for path in ("a", f"{other}/b", "../other/b"):
        assert read(path=path).outcome == "ok"
    assert read(path="b").outcome == "error"


def test_the_root_of_the_system_may_be_a_root(root: Path) -> None:
    """agent-tools: Everything is below `/`."""
    (root / "a").write_text("a\n")
    read = _calling(ReadFileTool(Roots([Path("/")], base=root)))
    assert read(path="a").outcome == "ok"
    assert read(path=str(root / "a")).outcome == "ok"
    assert "folder" in read(path="/").output


def test_what_is_no_file_is_told_and_not_waited_for(
    root: Path, read: Callable[..., ToolAnswer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """agent-tools: A folder, a pipe that nobody writes, a socket, a device."""
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        said = {path: read(path=path).output for path in ("pipe", "folder", "socket", ".")}
    assert said["pipe"] == '"pipe" is no file: pipe; expected a file'
    assert "list_files shows what is in it" in said["folder"]
    assert "socket" in said["socket"]
    assert "folder" in said["."]
    null = _calling(ReadFileTool(Roots([Path("/dev")], base=Path("/dev"))))(path="null")
    assert "is no file: special" in null.output


def test_what_is_not_there_is_told(root: Path, read: Callable[..., ToolAnswer]) -> None:
    """agent-tools: Words that say what to do."""
    (root / "a.txt").write_text("a")
    assert read(path="nope").output == (
        'nothing is at "nope" (hint: list_files shows what there is)'
    )
    assert "cannot be used: Not a directory" in read(path="a.txt/b").output
    (root / "loop").symlink_to("loop")
    assert read(path="loop").outcome == "error"
    assert read(path="x" * 300).outcome == "error"
    assert read(path="x/" * 5000).outcome == "error"


@pytest.mark.parametrize("path", ["a\x00b", "a\ud800b", ""])
def test_what_can_be_no_path_is_refused(path: str, read: Callable[..., ToolAnswer]) -> None:
    """agent-tools: A NUL, half a character, nothing."""
    assert read(path=path).outcome == "error"


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file of Linux")
def test_a_file_that_fails_while_it_is_read_is_an_answer() -> None:
    """agent-tools: What the system says of it."""
    read = _calling(ReadFileTool(Roots([Path("/proc/self")], base=Path("/proc/self"))))
    answer = read(path="mem")
    assert answer.outcome == "error"
    assert answer.output == "the system says: Input/output error"


def test_a_name_does_not_steer(root: Path, read: Callable[..., ToolAnswer]) -> None:
    """plain-text: A name is data."""
    output = read(path="a\x1b[31m\n\tb").output
    assert 'nothing is at "a\\x1b[31m\\x0a\\x09b"' in output


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is denied to root")
def test_what_is_denied_is_told(root: Path, read: Callable[..., ToolAnswer]) -> None:
    """agent-tools: Access denied is an answer."""
    (root / "a").write_text("a")
    (root / "a").chmod(0)
    assert "Permission denied" in read(path="a").output


# --- list_files ---------------------------------------------------------------


def test_a_folder_is_listed_by_name_with_type_and_size(
    root: Path, listing: Callable[..., ToolAnswer]
) -> None:
    """agent-tools: Sorted, type and size."""
    (root / "b.txt").write_bytes(b"a" * 1234)
    (root / "a").mkdir()
    (root / "a" / "deep").touch()
    (root / ".git").mkdir()
    (root / "c").symlink_to("/etc/passwd")
    os.mkfifo(root / "d\n")
    assert listing().output.split("\n") == [
        ".git/ (folder)",
        "a/ (folder)",
        "b.txt (file, 1,234 bytes)",
        "c (link)",
        "d\\x0a (pipe)",
        "[end: 5 rows]",
    ]
    assert listing(path="a").output == "a/deep (file, 0 bytes)\n[end: 1 row]"


def test_a_glob_finds_at_any_depth(root: Path, listing: Callable[..., ToolAnswer]) -> None:
    """agent-tools: Optional glob; .git is passed over, links are not entered."""
    for name in ("a.py", "x/b.py", "x/y/c.py", "x/y/d.md", ".git/e.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (root / "z").symlink_to("x")
    assert [row.split(" ")[0] for row in listing(glob="*.py").output.split("\n")[:-1]] == [
        "a.py",
        "x/b.py",
        "x/y/c.py",
    ]
    assert listing(path="x", glob="y/*.{md,txt}").output.startswith("x/y/d.md (file")
    assert listing(glob="*.rs").output == "[end: 0 rows]"


def test_a_long_list_has_pages(root: Path, listing: Callable[..., ToolAnswer]) -> None:
    """agent-tools: 4 KiB pages; the hint is the next call."""
    for number in range(300):
        (root / f"file-{number:03}-{'x' * 30}").touch()
    answer = listing()
    *rows, end = answer.output.split("\n")
    assert len(answer.output.encode()) <= 4096
    assert answer.truncated is True
    assert end == f'[more: list_files "." from line {len(rows) + 1} of 300]'
    following = listing(from_line=len(rows) + 1).output
    assert following.startswith(f"file-{len(rows):03}-")
    assert listing(from_line=300).output.endswith("[end: 300 rows]")
    assert "a line from 1 to 300" in listing(from_line=301).output
    assert ' glob "*" from line' in listing(glob="*").output


def test_a_list_of_what_is_no_folder_is_an_error(
    root: Path, listing: Callable[..., ToolAnswer]
) -> None:
    """agent-tools: Words that say what is there instead."""
    (root / "a").touch()
    assert listing(path="a").outcome == "error"
    assert listing(path="nope").outcome == "error"
    assert listing(path="..").outcome == "error"
    assert listing(CANCELLED, glob="*").outcome == "cancelled"


def test_a_folder_that_cannot_be_entered_is_counted(
    root: Path, listing: Callable[..., ToolAnswer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """agent-tools: One that is denied hides no other."""

    def opened(target: roots.Target) -> AbstractContextManager[int]:
        if target.shown == "b":
            raise UnreadableError("denied")
        return real(target)

    real = roots.opened_folder
    monkeypatch.setattr(walking, "opened_folder", opened)
    for name in ("a", "b", "c"):
        (root / name).mkdir()
        (root / name / "file").touch()
    found = listing(glob="file").output
    assert found.endswith("[end: 2 rows; 1 folder not entered: access denied or gone]")
    search = _calling(SearchFilesTool(Roots([root], base=root)))
    assert "left out: 1 of kind folder that cannot be read" in search(pattern="a").output
    sizes = _calling(SystemInfoTool(Roots([root], base=root)))
    assert "without 1 folder that cannot be read" in sizes(topic="folder_sizes").output


def test_a_walk_ends_at_its_bound(root: Path) -> None:
    """agent-tools: One under the bound, at it, one over."""
    for name in ("a", "b", "c"):
        (root / name).touch()
    for most, is_whole in ((2, False), (3, True), (4, True)):
        walk = walking.Walk(
            Roots([root], base=root).find("."), Patience(lambda: False, 60), most=most
        )
        assert len(list(walk)) == min(most, 3)
        assert walk.is_whole is is_whole


def test_a_deep_tree_is_walked(root: Path, listing: Callable[..., ToolAnswer]) -> None:
    """agent-tools: No depth is too deep, and no loop of links is walked."""
    deep = root / "/".join(["d"] * 150)
    deep.mkdir(parents=True)
    (deep / "end.txt").touch()
    (deep / "loop").symlink_to(root)
    assert "/end.txt (file, 0 bytes)" in listing(glob="end.txt").output


@pytest.mark.parametrize(
    ("pattern", "path", "is_matched"),
    [
        ("*.py", "a.py", True),
        ("*.py", "a/b/c.py", True),
        ("./*.py", "a/b.py", True),
        ("a/*.py", "a/b.py", True),
        ("a/*.py", "a/b/c.py", False),
        ("/a/*", "a/b", True),
        ("a/**", "a/b/c", True),
        ("a/**", "b/a/c", False),
        ("**/b/**/d", "a/b/c/d", True),
        ("**/b/**/d", "b/d", True),
        ("**/b/**/d", "a/c/d", False),
        ("{a,b}.{c,d}", "b.c", True),
        ("{a,b}.{c,d}", "c.a", False),
        ("{a,{b,c}}", "c", True),
        ("a{", "a{", True),
        ("[ab]?", "bz", True),
        ("", "any/thing", True),
    ],
)
def test_a_glob_matches_what_it_says(pattern: str, path: str, is_matched: bool) -> None:  # noqa: FBT001 - a parameter of the table
    """agent-tools: Names are matched one by one, `**` any number of them."""
    assert Glob(pattern).matches(path) is is_matched


def test_no_glob_takes_long() -> None:
    """agent-tools: Hostile patterns are weighed like any other."""
    assert not Glob("**/a/" * 90 + "b").matches("/".join(["a"] * 2000))
    assert not Glob("*a" * 200 + "b").matches("a" * 255)
    assert Glob("x" * 500).matches("x" * 500)
    for pattern in ("x" * 501, "{a,b}" * 7):
        with pytest.raises(UnusableArgumentError):
            Glob(pattern)


# --- edit_file ----------------------------------------------------------------


def _fact(answer: ToolAnswer) -> FileWritten:
    assert answer.outcome == "ok", answer.output
    (fact,) = answer.facts
    assert isinstance(fact, FileWritten)
    return fact


def test_a_file_is_made(root: Path, edit: Callable[..., ToolAnswer]) -> None:
    """agent-tools: Write, with the fact of it."""
    fact = _fact(edit(path="./x/../a.txt", mode="write", text="é\n"))
    assert (root / "a.txt").read_bytes() == b"\xc3\xa9\n"
    assert fact == FileWritten(
        path="a.txt",
        mode="write",
        created=True,
        bytes_before=0,
        bytes_after=3,
        digest_after=tagged_digest(b"\xc3\xa9\n"),
    )
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((root / "a.txt").stat().st_mode) == 0o666 & ~mask


def test_two_edits_of_one_file_are_two_facts(root: Path, edit: Callable[..., ToolAnswer]) -> None:
    """agent-tools: Each edit has its row."""
    (root / "a.txt").write_bytes(b"one\n")
    first = _fact(edit(path="a.txt", mode="append", text="two\n"))
    second = _fact(edit(path=str(root / "a.txt"), mode="replace", text="2", old="two"))
    assert (first.bytes_before, first.bytes_after, first.created) == (4, 8, False)
    assert (second.path, second.bytes_before, second.bytes_after) == (str(root / "a.txt"), 8, 6)
    assert second.digest_after == tagged_digest(b"one\n2\n")
    assert (root / "a.txt").read_bytes() == b"one\n2\n"


def test_an_edit_keeps_the_mode_and_leaves_nothing_behind(
    root: Path, edit: Callable[..., ToolAnswer]
) -> None:
    """agent-tools: Atomic, with the mode as it was."""
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o751)
    other = root / "hard"
    os.link(root / "run.sh", other)
    for mode in ("write", "append"):
        assert edit(path="run.sh", mode=mode, text="true\n").outcome == "ok"
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o751
    assert other.read_text() == "#!/bin/sh\n"
    assert _names(root) == ["hard", "run.sh"]


@pytest.mark.parametrize(
    ("content", "old", "said"),
    [
        (b"a\nb\n", "c", "old stands 0 times"),
        (b"a\nb\na\n", "a", 'old stands 2 times in "a.txt", at lines 1, 3; expected once'),
        (b"xaaax", "aa", "old stands 2 times"),
        (
            b"a\n" * 12,
            "a",
            '12 times in "a.txt", at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and others',
        ),
        (b"a\nfoo\nbaz\n", "foo\nbar", "its first line stands at line 2"),
        (b"", "a", "old stands 0 times"),
    ],
)
def test_a_replacement_needs_exactly_one_match(
    content: bytes, old: str, said: str, root: Path, edit: Callable[..., ToolAnswer]
) -> None:
    """agent-tools: None or several are an error that says how many, and where."""
    (root / "a.txt").write_bytes(content)
    answer = edit(path="a.txt", mode="replace", text="new", old=old)
    assert answer.outcome == "error"
    assert said in answer.output
    assert answer.facts == ()
    assert (root / "a.txt").read_bytes() == content


def test_bytes_that_are_no_text_stay(root: Path, edit: Callable[..., ToolAnswer]) -> None:
    """agent-tools: What is not replaced is as it was."""
    (root / "a.txt").write_bytes(b"\xef\xbb\xbfcaf\xe9 \x00 old\n")
    _fact(edit(path="a.txt", mode="replace", text="", old="old"))
    assert (root / "a.txt").read_bytes() == b"\xef\xbb\xbfcaf\xe9 \x00 \n"


def test_line_ends_of_a_file_are_kept(root: Path, edit: Callable[..., ToolAnswer]) -> None:
    """agent-tools: Lines are shown without CR, and edited without it."""
    (root / "a.txt").write_bytes(b"a\r\nb\r\n")
    _fact(edit(path="a.txt", mode="replace", text="x\ny\r\n", old="a\nb\n"))
    _fact(edit(path="a.txt", mode="append", text="z\n"))
    assert (root / "a.txt").read_bytes() == b"x\r\ny\r\nz\r\n"
    (root / "mixed.txt").write_bytes(b"a\r\nb\n")
    _fact(edit(path="mixed.txt", mode="append", text="z\n"))
    assert (root / "mixed.txt").read_bytes() == b"a\r\nb\nz\n"


@pytest.mark.parametrize(
    "arguments",
    [
        {"mode": "replace", "text": "a"},
        {"mode": "replace", "text": "a", "old": ""},
        {"mode": "replace", "text": "a", "old": "a"},
        {"mode": "write", "text": "a", "old": "b"},
        {"mode": "append", "text": "a", "old": "b"},
        {"mode": "delete", "text": "a"},
        {"mode": "write", "text": "\ud800"},
        {"mode": "write", "text": 5},
    ],
)
def test_what_cannot_be_meant_changes_nothing(
    arguments: dict[str, object], root: Path, edit: Callable[..., ToolAnswer]
) -> None:
    """agent-tools: Meaning is checked before anything is written."""
    (root / "a.txt").write_bytes(b"a")
    assert edit(path="a.txt", **arguments).outcome == "error"
    assert (root / "a.txt").read_bytes() == b"a"


@pytest.mark.parametrize("path", ["../out.txt", "{top}/out.txt", "link", "in/out.txt", "in"])
def test_nothing_outside_is_written(
    path: str, root: Path, tmp_path: Path, edit: Callable[..., ToolAnswer]
) -> None:
    """agent-tools: Below the writable roots; links and `..` lead nowhere else."""
    (root / "link").symlink_to(tmp_path / "out.txt")
    (root / "in").symlink_to(tmp_path)
    answer = edit(path=path.format(top=tmp_path), mode="write", text="a")
    assert "may be written" in answer.output
    assert not (tmp_path / "out.txt").exists()
    assert (root / "link").is_symlink()


def test_the_record_is_never_written(root: Path, edit: Callable[..., ToolAnswer]) -> None:
    """agent-tools: The home of the program never, wherever it is."""
    (root / "home").mkdir()
    (root / "link").symlink_to("home")
    for path in ("home/grants.json", "link/ledger.db", "home"):
        answer = edit(path=path, mode="write", text="a")
        assert "is where the record is kept" in answer.output
    assert _names(root / "home") == []


def test_the_record_has_one_identity_under_every_spelling(
    root: Path, edit: Callable[..., ToolAnswer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """agent-tools: Where letter case does not count, another spelling is the same folder."""
    (root / "home").mkdir()
    (root / "HOME").mkdir()
    protected = roots._identity(str(root / "home"))
    real = roots._identity
    monkeypatch.setattr(
        roots, "_identity", lambda path: protected if path.endswith("/HOME") else real(path)
    )
    answer = edit(path="HOME/grants.json", mode="write", text="a")
    assert "is where the record is kept" in answer.output


def test_a_link_below_the_roots_leads_to_its_file(
    root: Path, edit: Callable[..., ToolAnswer]
) -> None:
    """agent-tools: The link stays, its file is written."""
    (root / "a.txt").write_text("a")
    (root / "link").symlink_to("a.txt")
    assert _fact(edit(path="link", mode="append", text="b")).path == "link"
    assert (root / "link").is_symlink()
    assert (root / "a.txt").read_text() == "ab"


def test_no_folder_is_made_and_none_is_written(root: Path, edit: Callable[..., ToolAnswer]) -> None:
    """agent-tools: A missing folder, a folder, a pipe and a missing file are errors."""
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")
    (root / "file").touch()
    assert "make it first" in edit(path="no/a.txt", mode="write", text="a").output
    assert "nothing is at" in edit(path="a.txt", mode="replace", text="a", old="b").output
    for path in ("folder", ".", "pipe", "file/a.txt"):
        assert edit(path=path, mode="write", text="a").outcome == "error"
    assert _names(root) == ["file", "folder", "pipe"]


def test_a_read_only_file_is_not_replaced(root: Path, edit: Callable[..., ToolAnswer]) -> None:
    """agent-tools: Somebody protected it."""
    (root / "a.txt").write_text("a")
    (root / "a.txt").chmod(0o444)
    assert "is read-only" in edit(path="a.txt", mode="write", text="b").output
    assert (root / "a.txt").read_text() == "a"


@pytest.mark.parametrize(("size", "outcome"), [(-1, "ok"), (0, "ok"), (1, "error")])
def test_a_file_that_is_too_large_is_refused(
    size: int, outcome: str, root: Path, edit: Callable[..., ToolAnswer]
) -> None:
    """agent-tools: One byte under the bound, at it, one over."""
    with (root / "a.txt").open("wb") as file:
        file.truncate(MOST_BYTES + size)
    assert edit(path="a.txt", mode="append", text="a").outcome == outcome


def test_a_change_meanwhile_is_not_lost(
    root: Path, edit: Callable[..., ToolAnswer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """agent-tools: Two writers: the second one reads again."""
    (root / "a.txt").write_text("a")

    def changed(_: bytes) -> bool:
        (root / "a.txt").write_text("of another")
        return False

    monkeypatch.setattr("counterfoil.adapters.tools.edit_file._ends_with_crlf", changed)
    answer = edit(path="a.txt", mode="append", text="b")
    assert "was changed meanwhile" in answer.output
    assert (root / "a.txt").read_text() == "of another"


def test_a_failed_write_leaves_the_file_as_it_was(
    root: Path, edit: Callable[..., ToolAnswer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """agent-tools: Whole or not at all."""
    (root / "a.txt").write_text("a")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    answer = edit(path="a.txt", mode="write", text="b")
    assert "No space left on device" in answer.output
    assert _names(root) == ["a.txt"]
    assert (root / "a.txt").read_text() == "a"
