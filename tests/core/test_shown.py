"""What tools and commands show of files, and the files that a cited path can mean."""

import pytest

from counterfoil.core.shown import (
    FileSeen,
    FilesShown,
    How,
    may_mean,
    may_write,
    normal_path,
    seen_by_command,
)


@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("a\\b.py", "a/b.py"),
        ("./a/./b.py", "a/b.py"),
        ("/a//b.py", "/a/b.py"),
        ("a/../b.py", "a/../b.py"),
        ("", ""),
    ],
)
def test_a_path_has_a_normal_form(path: str, normal: str) -> None:
    """shown: Separators are one, parts that say nothing are left out."""
    assert normal_path(path) == normal


@pytest.mark.parametrize(
    ("wanted", "known", "can"),
    [
        ("a.py", "a.py", True),
        ("a.py", "/x/src/a.py", True),
        ("/x/src/a.py", "src/a.py", True),
        ("~/src/a.py", "/home/x/src/a.py", True),
        ("src/a.py", "lib/a.py", False),
        ("a.py", "ba.py", False),
    ],
)
def test_a_path_can_mean_one_that_ends_like_it(wanted: str, known: str, can: bool) -> None:  # noqa: FBT001
    """shown: Whole names are compared, from the end."""
    assert may_mean(wanted, known) is can


def _shown(*seen: FileSeen) -> FilesShown:
    files = FilesShown()
    for place, one in enumerate(seen):
        files.add(one, place)
    return files


def _how(files: FilesShown, first: int, last: int | None = None) -> How | None:
    (candidate,) = files.candidates("a.py", first, last or first)
    return candidate.how if candidate.shows else None


def test_lines_are_shown_together_by_several_observations() -> None:
    """shown: A range half read and half printed is shown; the latest way is named."""
    files = _shown(
        FileSeen(path="a.py", how="read", first=1, last=5),
        FileSeen(path="./a.py", how="printed", first=6, last=9),
    )
    assert _how(files, 1, 5) == "read"
    assert _how(files, 7) == "printed"
    assert _how(files, 5, 6) == "printed"
    assert _how(files, 9, 10) is None


def test_a_known_file_shows_no_line_that_was_not_there() -> None:
    """shown: A name alone shows nothing."""
    assert _how(_shown(FileSeen(path="a.py", how="grepped")), 1) is None


@pytest.mark.parametrize(("grown", "shown"), [(3, 13), (0, 10), (-3, 10)])
def test_an_edit_moves_what_stands_behind_it(grown: int, shown: int) -> None:
    """shown: Lines that were read are still shown where they stand now."""
    files = _shown(
        FileSeen(path="a.py", how="read", first=1, last=10, total=10),
        FileSeen(path="a.py", how="written", first=5, last=5, grown=grown),
    )
    assert _how(files, shown) is not None
    assert _how(files, shown + 1) is None
    (candidate,) = files.candidates("a.py", 99, 99)
    assert candidate.total == 10 + grown


def test_lines_before_an_edit_do_not_move() -> None:
    """shown: Only what stands behind an edit moves."""
    files = _shown(
        FileSeen(path="a.py", how="read", first=1, last=3),
        FileSeen(path="a.py", how="written", first=7, last=7, grown=2),
    )
    assert _how(files, 4) is None
    assert _how(files, 8) is None


@pytest.mark.parametrize("ran", [False, True])
@pytest.mark.parametrize("is_whole", [False, True])
@pytest.mark.parametrize("is_rewritten", [False, True])
def test_the_length_counts_where_all_was_shown_and_nothing_ran_since(
    ran: bool,  # noqa: FBT001 - a case
    is_whole: bool,  # noqa: FBT001 - a case
    is_rewritten: bool,  # noqa: FBT001 - a case
) -> None:
    """shown: Else nobody knows how long a file is now."""
    files = _shown(FileSeen(path="a.py", how="read", first=1 if is_whole else 2, last=10, total=10))
    if ran:
        files.may_change()
    if is_rewritten:
        files.add(FileSeen(path="a.py", how="written"), 2)
    (candidate,) = files.candidates("a.py", 99, 99)
    is_known = is_whole and not ran and not is_rewritten
    assert candidate.total == (10 if is_known else None)


def test_candidates_are_all_files_that_can_be_meant_the_latest_first() -> None:
    """shown: There is no nearest match; each has the place that says so."""
    files = _shown(
        FileSeen(path="src/a.py", how="read", first=1, last=2),
        FileSeen(path="lib/a.py", how="read", first=1, last=1),
        FileSeen(path="src/a.py", how="printed", first=1, last=1),
    )
    found = files.candidates("a.py", 2, 2)
    assert [(c.path, c.shows, c.place) for c in found] == [
        ("src/a.py", True, 0),
        ("lib/a.py", False, 1),
    ]
    assert [c.path for c in files.candidates("lib/a.py", 1, 1)] == ["lib/a.py"]
    assert files.candidates("b.py", 1, 1) == ()


@pytest.mark.parametrize(
    "command",
    [
        "",
        "cat a.py",
        "cd src && ls -la | sort; pwd",
        "FOO=1 grep -rn x .",
        "git log --oneline",
        "git status",
        "pytest -q 2>&1 | tail -3",
        "cat a > /dev/null",
        "ls >/dev/null 2>&1",
        "python -m pytest -q",
        "python3 -m unittest",
        "uv run pytest",
        "uv run python -m mypy",
        "npx jest",
        "time cargo test",
        "FOO=1",
        "env",
        "go vet ./...",
        "/usr/bin/cat a",
        "make test",
        "echo 'a > b'",
        'echo "x;rm y"',
        "ls -l",
    ],
)
def test_a_command_that_reads_changes_nothing(command: str) -> None:
    """commands: What is known to read is told from its words."""
    assert not may_write(command)


@pytest.mark.parametrize(
    "command",
    [
        "rm a.py",
        "sed -i s/a/b/ a.py",
        "sed --in-place=x s/a/b/ a.py",
        "cat a > b",
        "cat a >> b",
        "ls &> b",
        "ls 2> b",
        "ls >",
        "ls | tee b",
        "find . -delete",
        "find . -exec rm {} +",
        "ruff check --fix",
        "vitest --update",
        "pytest --inline-snapshot=fix",
        "eslint --fix",
        "python a.py",
        "python -c 'x'",
        "python",
        "python -m pip",
        "git checkout .",
        "make",
        "uv sync",
        "npm install",
        "cat `x`",
        "cat $(x)",
        "cat 'a",
        "A=1 B=2 ./run",
        "ls && ./run",
        "ls\n./run",
    ],
)
def test_a_command_that_may_write_is_taken_to_write(command: str) -> None:
    """commands: Where in doubt it may, and then nothing read before contradicts."""
    assert may_write(command)


def _seen(command: str, output: str, *, is_whole: bool = True) -> list[tuple[object, ...]]:
    return [
        (one.path, one.how, one.first, one.last, one.total)
        for one in seen_by_command(command, output, is_whole=is_whole)
    ]


@pytest.mark.parametrize(
    ("command", "output", "seen"),
    [
        ("cat a.py", "1\n2\n3\n", [("a.py", "printed", 1, 3, 3)]),
        ("cat a.py", "1\n2", [("a.py", "printed", 1, 2, 2)]),
        ("cat 'b c.py'", "1\n", [("b c.py", "printed", 1, 1, 1)]),
        ('cat "b \\" c.py"', "1\n", [('b \\" c.py', "printed", 1, 1, 1)]),
        ("cat b\\ c.py", "1\n", [("b c.py", "printed", 1, 1, 1)]),
        ("nl -ba a.py", "1\n", [("a.py", "printed", 1, 1, 1)]),
        ("cd x && cat a.py", "1\n", [("a.py", "printed", 1, 1, 1)]),
        ("sed -n '5,7p' a.py", "5\n6\n7\n", [("a.py", "printed", 5, 7, None)]),
        ("sed -n '5,7p' a.py", "5\n6\n", [("a.py", "printed", 5, 6, 6)]),
        ("sed -n 5p a.py", "5\n", [("a.py", "printed", 5, 5, None)]),
        ("sed -n '7,5p' a.py", "7\n", [("a.py", "printed", 7, 7, None)]),
        ("head -n 2 a.py", "1\n2\n", [("a.py", "printed", 1, 2, None)]),
        ("head -2 a.py", "1\n", [("a.py", "printed", 1, 1, 1)]),
        ("head -n2 a.py", "1\n2\n", [("a.py", "printed", 1, 2, None)]),
        ("head a.py", "1\n" * 10, [("a.py", "printed", 1, 10, None)]),
        ("cat a.py | head -5", "1\n" * 5, [("a.py", "printed", 1, 5, None)]),
        ("cat a.py | sed -n '2,3p'", "2\n3\n", [("a.py", "printed", 2, 3, None)]),
        ("head -9 a.py | head -5", "1\n" * 5, [("a.py", "printed", 1, 5, None)]),
        (
            "sed -n 1,2p a.py; sed -n 1p b.py",
            "1\n2\n1\n",
            [("a.py", "printed", 1, 2, None), ("b.py", "printed", 1, 1, None)],
        ),
        (
            "grep -n x a.py",
            "3:x\n7-y\n8:x\n",
            [("a.py", "grepped", line, line, None) for line in (3, 7, 8)],
        ),
        ("rg --line-number x a.py", "3:x\n", [("a.py", "grepped", 3, 3, None)]),
    ],
)
def test_a_command_shows_what_it_prints(
    command: str, output: str, seen: list[tuple[object, ...]]
) -> None:
    """commands: The lines are those of the command and of its output together."""
    assert _seen(command, output) == seen


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("cat a.py", ""),
        ("", "x"),
        ("cd x", "x"),
        ("cat a.py b.py", "x\n"),
        ("cat", "x\n"),
        ("cat 'a", "x"),
        ("cat < a.py", "x\n"),
        ("cat a.py || cat b.py", "x\n"),
        ("cat a.py & cat b.py", "x\n"),
        ("(cat a.py)", "x\n"),
        ("cat a.py > b", "x\n"),
        ("cat a.py 2>/dev/null", "x\n"),
        ("cat a.py; cat b.py", "x\ny\n"),
        ("sed -n 1,2p a.py; ls", "x\n"),
        ("sed -n 1,2p a.py; sed -n 1p b.py", "1\n2\n"),
        ("sed -n 0p a.py", "x\n"),
        ("sed 5p a.py", "x\n"),
        ("sed -n p a.py", "x\n"),
        ("sed -n 5p", "x\n"),
        ("sed -n -e 5p a.py", "x\n"),
        ("sed -n 5p -x", "x\n"),
        ("head -n 0 a.py", "x\n"),
        ("head -c 3 a.py", "x\n"),
        ("head -n ٣ a.py", "x\n"),
        ("head", "x\n"),
        ("tail -3 a.py", "x\n"),
        ("cat a.py | tail -3", "x\n"),
        ("sed -n 5,9p a.py | head -2", "x\n"),
        ("cat a.py | grep x", "x\n"),
        ("grep x a.py", "3:x\n"),
        ("grep -rn x a.py", "3:x\n"),
        ("grep -n x a.py b.py", "3:x\n"),
        ("grep -n x src", "3:x\n"),
        ("ls a.py", "a.py\n"),
    ],
)
def test_what_is_not_certain_shows_nothing(command: str, output: str) -> None:
    """commands: An output that cannot be told apart is no evidence of any line."""
    assert _seen(command, output) == []


def test_an_output_that_was_cut_says_nothing_of_the_length() -> None:
    """commands: Only a whole output ends where its file ends."""
    assert _seen("cat a.py", "1\n", is_whole=False) == [("a.py", "printed", 1, 1, None)]
