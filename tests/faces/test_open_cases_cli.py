"""Cases of the command line: discovery, encodings, pipes, nothing to check, scale."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, bytes, str]]
Write = Callable[..., Path]
Check = Callable[..., tuple[int, dict[str, Any]]]
Case = Callable[[str], str]
Steps = Callable[..., str]
Thread = Callable[[str, int], str]
Measured = Callable[..., tuple[bytes, int, float]]


# --- discovery ----------------------------------------------------------------


@pytest.fixture
def projects(write: Write, claude: Steps, tmp_path: Path) -> tuple[str, str]:
    """Two projects whose folder has one name; return their directories."""
    places = str(tmp_path / "外注" / "app"), str(tmp_path / "会社" / "app")
    for number, place in enumerate(places, start=1):
        session = {"cwd": place, "sessionId": f"s{number}"}
        text = claude({"prompt": "go", "with": session}, {"reply": "Done.", "with": session})
        # Nine sessions of ten begin with a record that names neither session nor directory.
        head = '{"type":"summary","summary":"x","leafUuid":"u1"}\n' if number == 1 else ""
        write(head + text, f"home/.claude/projects/-work----app/s{number}.jsonl")
    return places


def test_projects_are_told_by_their_records(run: Run, projects: tuple[str, str]) -> None:
    """discovery: C138 Two projects that share a folder are two; the name is never decoded."""
    code, output, _ = run("transcripts", "--json")
    assert code == 0
    rows = [json.loads(line) for line in output.splitlines()]
    assert {row["cwd"]: row["thread"] for row in rows} == dict(
        zip(projects, ("s1", "s2"), strict=True)
    )
    code, text, _ = run("transcripts")
    assert code == 0
    assert [place for place in projects if place not in text.decode()] == []


def test_sessions_are_filtered_by_their_real_path(
    run: Run, projects: tuple[str, str], tmp_path: Path
) -> None:
    """discovery: C138 `--cwd` takes the directory of the records, and no folder's name."""
    for place in projects:
        Path(place).mkdir(parents=True)
    first, second = projects
    for spelling, thread in ((first, "s1"), (f"{second}/", "s2"), (f"{second}/../app", "s2")):
        _, output, _ = run("transcripts", "--json", "--cwd", spelling)
        assert [json.loads(line)["thread"] for line in output.splitlines()] == [thread]
    for other in ("/elsewhere////app", tmp_path):
        code, output, _ = run("transcripts", "--json", "--cwd", other)
        assert (code, output) == (0, b"")


# --- encodings and pipes ------------------------------------------------------


@pytest.fixture
def colourful(own_thread: Thread) -> str:
    """A thread whose report holds a tick, an en dash, CJK text and a lone surrogate."""
    text = own_thread("See entries 9-12 and entry 1. It is in 会社/報告.", 4)
    return text.replace("words of item", "words 会社 ✓ \\udcb2 of item").replace(
        '"text": "words', '"text": "外注 \\udcb2 words'
    )


def test_output_is_utf8_whatever_the_locale(run: Run, write: Write, colourful: str) -> None:
    """encoding: C139 In every locale the same bytes, in UTF-8, and the same exit code."""
    path = write(colourful)
    for arguments in (["check", "--verbose", path], ["check", "--json", path]):
        code, expected, _ = run(*arguments)
        assert code == 1
        text = expected.decode()
        assert "9–12" in (json.loads(text)["turns"][0]["cited"] if "--json" in arguments else text)
        for encoding in ("cp1252", "ascii", "utf-16"):
            extra = {"PYTHONIOENCODING": encoding, "LC_ALL": "C", "PYTHONUTF8": "0"}
            assert run(*arguments, extra=extra)[:2] == (code, expected), encoding


def test_messages_are_utf8_whatever_the_locale(run: Run, tmp_path: Path) -> None:
    """encoding: C139 What goes to standard error is UTF-8 as well, with any name of a file."""
    extra = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    for name in ("会社 ✓.jsonl", os.fsdecode(b"b\xfcro.jsonl")):
        (tmp_path / name).write_bytes(b"{\n")
        for flags in ([], ["--json"]):
            code, output, error = run("check", *flags, name, extra=extra)
            assert code == 3
            output.decode()
            assert error


def _piped(
    arguments: list[str], environment: dict[str, str], tmp_path: Path, *, lines: int
) -> tuple[int, bytes]:
    """Run with a reader that goes away after some lines; return exit code and stderr."""
    program = [sys.executable, "-m", "counterfoil", *arguments]
    reading, writing = os.pipe()
    if not lines:
        os.close(reading)
    with subprocess.Popen(
        program, stdout=writing, stderr=subprocess.PIPE, cwd=tmp_path, env=environment
    ) as child:
        os.close(writing)
        if lines:
            with os.fdopen(reading, "rb", buffering=0) as reader:
                for _ in range(lines):
                    while reader.read(1) not in {b"\n", b""}:
                        pass
        _, error = child.communicate(timeout=60)
    return child.returncode, error


@pytest.fixture
def long_session(write: Write, claude: Steps) -> Path:
    """A session whose report is longer than any pipe holds, with nothing contradicted."""
    steps = [
        step
        for number in range(1500)
        for step in ({"prompt": f"go {number} {'x' * 80}"}, {"reply": f"See a{number}.py:3."})
    ]
    return write(claude(*steps))


def test_a_reader_that_goes_away_is_no_finding(
    run: Run, long_session: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """closed-pipe: C140 No traceback, and never the code of problems found."""
    assert run("check", long_session)[0] == 0
    path = str(long_session)
    for arguments, lines in (
        (["check", "--json", path], 0),
        (["check", path], 0),
        (["check", path], 1),
    ):
        code, error = _piped(arguments, environment, tmp_path, lines=lines)
        assert code in {0, 141}, (arguments, lines)
        assert error == b"", (arguments, lines)


def test_a_pipe_closed_at_the_very_end_is_no_finding(
    write: Write, claude: Steps, environment: dict[str, str], tmp_path: Path
) -> None:
    """closed-pipe: C140 Also when all of the output fits into the buffer of the stream."""
    path = str(write(claude({"prompt": "go"}, {"reply": "See a.py:3."})))
    for arguments in (
        ["check", path],
        ["receipt", path],
        ["show", path, "1"],
        ["formats"],
        ["transcripts"],
        ["--help"],
    ):
        code, error = _piped(arguments, environment, tmp_path, lines=0)
        assert code in {0, 141}, arguments
        assert error == b"", arguments


def test_a_closed_standard_output_is_no_finding(
    long_session: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """closed-pipe: C140 With `>&-` nothing is printed, nothing is raised, nothing is found."""
    for flags in ("", "--json "):
        done = subprocess.run(
            [
                "sh",
                "-c",
                f'exec "$0" -m counterfoil check {flags}"$1" >&-',
                sys.executable,
                long_session,
            ],
            capture_output=True,
            check=False,
            cwd=tmp_path,
            env=environment,
            timeout=60,
        )
        assert done.returncode in {0, 141}
        assert done.stderr == b""


# --- nothing to check ---------------------------------------------------------


def test_an_empty_file_is_empty_and_not_clean(run: Run, write: Write, tmp_path: Path) -> None:
    """nothing-to-check: C142 No record: `empty`, exit code 0, and what was looked at."""
    contents = ["", "\n", "\n\r\n  \n", "// nothing\n", "\ufeff"]
    for place, content in enumerate(contents):
        write(content, f"many/{place}.jsonl")
    code, output, _ = run("check", "--json", tmp_path / "many")
    # design.md 5 wins over the case: nothing to check is `empty` and 0; the word differs.
    assert code == 0
    for content, line in zip(contents, output.splitlines(), strict=True):
        document = json.loads(line)
        summary, source = document["summary"], document["source"]
        assert summary["outcome"] == "empty"
        assert (summary["turns"], summary["replies"], summary["calls"]) == (0, 0, 0)
        assert (source["records"], source["bytes"]) == (0, len(content.encode()))
    code, text, _ = run("check", tmp_path / "many" / "0.jsonl")
    assert code == 0
    assert b"nothing to check" in text
    assert b"0 records" in text
    assert b"0 replies" in text
    assert b"clean" not in text


def test_a_folder_without_sessions_could_not_be_told(run: Run, tmp_path: Path) -> None:
    """nothing-to-check: C142 A folder that holds no session says so, and is no success."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("no session")
    code, output, error = run("check", tmp_path / "folder")
    assert (code, output) == (3, b"")
    assert "no session" in error


def test_a_file_of_unreadable_lines_could_not_be_told(
    run: Run, write: Write, tmp_path: Path
) -> None:
    """nothing-to-check: C142 Only unreadable lines: exit code 3, never an empty success."""
    contents = ["{\n", "not json\nnor this\n", "{\n" * 2000, "\0\0\0\n{\n", "\0" * 100]
    for place, content in enumerate(contents):
        write(content, f"many/{place}.jsonl")
    code, output, error = run("check", "--json", tmp_path / "many")
    assert code == 3
    outcomes = [json.loads(line)["summary"]["outcome"] for line in output.splitlines()]
    assert outcomes == ["could_not_tell"] * len(contents)
    assert error
    code, output, error = run("check", tmp_path / "many" / "1.jsonl")
    assert (code, output) == (3, b"")
    assert error


def test_a_session_without_a_reply_is_empty(
    check: Check, run: Run, write: Write, claude: Steps
) -> None:
    """nothing-to-check: C142 No text of the agent: 0 replies were checked, and that is said."""
    text = claude(
        {"prompt": "go"},
        {"call": "Bash", "id": "t1", "input": {"command": "ls"}},
        {"result": "t1", "content": "a.py", "is_error": False},
    )
    code, document = check(text)
    assert code == 0
    summary = document["summary"]
    assert (summary["outcome"], summary["turns"], summary["replies"], summary["calls"]) == (
        "empty",
        1,
        0,
        1,
    )
    _, shown, _ = run("check", write(text))
    assert b"nothing to check" in shown
    assert b"0 replies" in shown


def test_what_was_checked_and_found_is_no_empty_success(
    check: Check, run: Run, write: Write, own_thread: Thread
) -> None:
    """nothing-to-check: C142 Nothing, all and some of it found are three different words."""
    outcomes = {"Done.": "empty", "See entry 1.": "clean", "See entry 9.": "findings"}
    for reply, outcome in outcomes.items():
        code, document = check(own_thread(reply, 3))
        assert document["summary"]["outcome"] == outcome
        assert code == (1 if outcome == "findings" else 0)
    for reply in ("Done.", "See entry 1."):
        _, text, _ = run("check", write(own_thread(reply, 3)))
        assert (b"nothing to check" in text) == (reply == "Done.")


@pytest.mark.parametrize("folder", [False, True])
def test_one_unreadable_file_hides_no_finding(
    run: Run, write: Write, own_thread: Thread, tmp_path: Path, *, folder: bool
) -> None:
    """exit-codes: C142 A finding is 1 beside what could not be told, which alone is 3."""
    write("{\n", "many/1.jsonl")
    if folder:
        write(own_thread("See entry 9.", 3), "many/2.jsonl")
    code, output, _ = run("check", "--json", tmp_path / "many")
    outcomes = [json.loads(line)["summary"]["outcome"] for line in output.splitlines()]
    assert outcomes == ["could_not_tell", "findings"][: 1 + folder]
    assert code == (1 if folder else 3)


def test_misuse_is_told_apart(run: Run, write: Write, claude: Steps) -> None:
    """exit-codes: C142 A wrong option, command or name of a file is misuse, 2."""
    path = write(claude({"prompt": "go"}, {"reply": "Done."}))
    for arguments in (
        ["check", "--no-such-option", path],
        ["chekc", path],
        ["check", "--format", "xml", path],
        ["check", path, "--last", "0"],
        ["check", "no-such-file.jsonl"],
    ):
        code, output, error = run(*arguments)
        assert (code, output) == (2, b""), arguments
        assert error


# --- scale --------------------------------------------------------------------


def _generated(path: Path, claude: Steps, *, rounds: int) -> int:
    """Write rounds of 22 records, 4 of them calls and 1 a reply, and return its bytes."""
    padding = "word " * 1300
    words = "the output of the command number {} of the round"
    with path.open("w", encoding="utf-8") as file:
        for number in range(rounds):
            steps: list[dict[str, Any]] = [{"prompt": f"round {number}"}]
            for call in range(4):
                id_ = f"t{number}-{call}"
                said = (
                    f"{words.format(number * 4 + call)}\n{padding}\nsrc/m{number}.py:{call + 1}: x"
                )
                steps += [
                    {"call": "Bash", "id": id_, "input": {"command": f"rg -n x {padding[:2000]}"}},
                    {"result": id_, "content": said, "is_error": False},
                    *({"type": "progress", "data": padding} for _ in range(3)),
                ]
            quoted = words.format(number * 4)
            steps.append(
                {"reply": f"It printed `{quoted}`, see src/m{number}.py:2 and gone{number}.py:3."}
            )
            uuids = [{**step, "with": {"uuid": f"{number}-{at}"}} for at, step in enumerate(steps)]
            file.write(claude(*uuids))
    return path.stat().st_size


def test_a_session_of_sixty_megabytes_is_checked_in_seconds(
    measured: Measured, claude: Steps, tmp_path: Path
) -> None:
    """scale: C143 Linear in records and replies, in memory far below the file, twice the same."""
    part, whole = tmp_path / "part.jsonl", tmp_path / "whole.jsonl"
    _generated(part, claude, rounds=125)
    size = _generated(whole, claude, rounds=500)
    assert 55_000_000 < size < 75_000_000
    _, _, part_seconds = measured("check", "--json", part)
    first, peak, seconds = measured("check", "--json", whole)
    second, _, _ = measured("check", "--json", whole)
    assert first == second
    document = json.loads(first)
    assert document["source"]["records"] == 500 * 22
    summary = document["summary"]
    assert (summary["calls"], summary["replies"]) == (2000, 500)
    assert summary["references"]["supported"] == 1000
    assert summary["references"]["not_established"] == 500
    assert peak < 120 << 20
    assert seconds < 6 * part_seconds + 1  # four times the records, and room for noise


# --- what a report says -------------------------------------------------------


def test_a_report_claims_existence_only(run: Run, write: Write, claude: Steps) -> None:
    """what-was-checked: C144 A cited line that exists is `seen`; nothing calls it right."""
    content = "x = 1\n" * 9 + "# a comment\n"
    file = {
        "filePath": "/home/ann/demo/a.py",
        "content": content,
        "numLines": 10,
        "startLine": 1,
        "totalLines": 10,
    }
    numbered = "\n".join(f"{at:>6}→{line}" for at, line in enumerate(content.splitlines(), 1))
    path = write(
        claude(
            {"prompt": "go"},
            {"call": "Read", "id": "t1", "input": {"file_path": "/home/ann/demo/a.py"}},
            {"result": "t1", "content": numbered, "toolUseResult": {"type": "text", "file": file}},
            {"reply": "`a.py:10` defines `parse()`."},
        )
    )
    for flags in ([], ["--verbose"]):
        code, output, _ = run("check", *flags, path)
        text = output.decode()
        assert code == 0
        assert "that they exist, not that they are right" in text
        assert "seen in the record" in text
        for word in ("correct", "verified", "valid", "true", "OK"):
            assert not re.search(rf"\b{word}\b", text), word
    _, output, _ = run("check", "--json", path)
    document = json.loads(output)
    (found,) = document["turns"][0]["references"]
    assert (found["verdict"], found["reason"]) == ("supported", "read")
    assert document["summary"]["claims"]["supported"] == 0


def test_an_explanation_says_what_it_does_not_assert(
    run: Run, write: Write, own_thread: Thread
) -> None:
    """what-was-checked: C144 `explain` says that existing is the whole check."""
    code, output, _ = run("explain", write(own_thread("See entry 1.", 3)), "3")
    assert code == 0
    assert b"existing is the whole check" in output


# --- the cases themselves -----------------------------------------------------


def test_every_case_has_its_test() -> None:
    """open-cases: C01 to C150: each id of the file is named by a test, and no other id is."""
    here = Path(__file__).parent
    cases = (here.parent / "cases" / "open.jsonl").read_bytes().split(b"\n")
    ids = {json.loads(line)["id"] for line in cases if line}
    promised = {
        match[1]
        for path in here.parent.rglob("test_open_cases_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        if (match := re.match(r"[\w-]+: (C\d+) ", ast.get_docstring(node) or ""))
    }
    assert len(ids) == 85
    assert ids == promised
