"""The command line as a newcomer meets it: help, mistakes, each command, each form."""

import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, bytes, str]]
ROOT = Path(__file__).resolve().parents[2]
CLAUDE = ROOT / "examples/claude-session.jsonl"
THREAD = ROOT / "examples/thread.jsonl"
COMMANDS = (
    "check", "receipt", "show", "explain", "transcripts", "formats", "config", "audit-shapes",
)  # fmt: skip


def test_help_names_every_command_and_each_has_its_own(run: Run) -> None:
    """help: `--help` lists the commands, and every command explains itself."""
    code, output, _ = run("--help")
    assert code == 0
    for command in COMMANDS:
        assert f"  {command} ".encode() in output
        code, own, _ = run(command, "--help")
        assert code == 0
        assert b"Usage: counterfoil " + command.encode() in own


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["chek"], "did you mean 'check'"),
        (["frobnicate"], "`counterfoil --help` lists them"),
        (["check", "--lst", "3"], "No such option"),
        (["check", "--last", "0"], "0"),
        (["check", "--last", "2", str(CLAUDE)], "--last goes with a folder"),
        (["check", "no-such-file.jsonl"], "no file 'no-such-file.jsonl'"),
        (["check", "--format", "pdf", str(CLAUDE)], "'pdf' is not one of"),
        (["receipt"], "Missing argument"),
        (["receipt", str(CLAUDE), "99"], "no turn 99"),
        (["show", str(CLAUDE), "9999"], "has no line 9999"),
        (["show", str(THREAD), "9999"], "has no entry 9999"),
        (["show", str(CLAUDE), "9999", "--raw"], "has no line 9999"),
        (["explain", str(CLAUDE), "1"], "no reference stands at line 1"),
        (["audit-shapes", "."], "no *.jsonl file"),
    ],
)
def test_a_mistake_is_one_clear_line_and_exit_code_2(
    run: Run, arguments: list[str], words: str
) -> None:
    """mistakes: misuse says what was found and what to do, and ends with 2."""
    code, output, error = run(*arguments)
    assert code == 2
    assert output == b""
    assert words in error


def test_without_a_session_of_this_folder_it_says_where_to_look(run: Run) -> None:
    """mistakes: `check` alone in a folder where no agent worked names the way on."""
    code, output, error = run("check")
    assert (code, output) == (3, b"")
    assert "no session of the current directory" in error
    assert "counterfoil transcripts" in error


def test_without_arguments_the_newest_session_of_this_folder_is_checked(
    run: Run, tmp_path: Path
) -> None:
    """discovery: of both programs' sessions the newest that ran here, and no other."""
    here = os.path.realpath(tmp_path)
    claude = tmp_path / "home/.claude/projects/-x/s1.jsonl"
    codex = tmp_path / "home/.codex/sessions/2026/11/30/rollout-2026-11-30T10-00-00-s2.jsonl"
    other = tmp_path / "home/.claude/projects/-x/s3.jsonl"
    said = {"type": "user", "uuid": "u1", "sessionId": "s1", "message": {"content": "go"}}
    for path, rows in (
        (claude, [{**said, "cwd": here}]),
        (codex, [{"type": "session_meta", "payload": {"id": "s2", "cwd": here}}]),
        (other, [{**said, "sessionId": "s3", "cwd": "/elsewhere"}]),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    for age, path in enumerate((other, codex, claude)):
        os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    code, output, _ = run("check", "--json")
    assert (code, json.loads(output)["source"]["path"]) == (0, str(codex))
    _, output, _ = run("check", "--json", "--last", "5")
    assert [json.loads(line)["source"]["path"] for line in output.splitlines()] == [
        str(claude), str(codex),
    ]  # fmt: skip
    _, output, _ = run("transcripts", "--json", "--cwd", here)
    assert [json.loads(line)["thread"] for line in output.splitlines()] == ["s2", "s1"]
    _, output, _ = run("transcripts")
    assert output.count(b"(directory not recorded)") == 0
    assert b"/elsewhere" in output


def test_standard_input_is_checked_like_a_file(run: Run) -> None:
    """standard-input: `-` gives the turns that the file gives."""
    _, of_file, _ = run("check", "--json", CLAUDE)
    code, of_input, _ = run("check", "--json", "-", stdin=CLAUDE.read_bytes())
    assert code == 1
    assert json.loads(of_input)["turns"] == json.loads(of_file)["turns"]
    assert json.loads(of_input)["source"]["path"] == "-"


def test_a_compressed_rollout_is_read_and_a_damaged_one_named(run: Run, tmp_path: Path) -> None:
    """compressed: a `.zst` rollout gives what the plain one gives; a cut one is unreadable."""
    zstd = pytest.importorskip("backports.zstd")
    (plain,) = (ROOT / "tests/golden/sessions/codex/flaky-upload").glob("**/*0002.jsonl")
    packed = tmp_path / "rollout.jsonl.zst"
    packed.write_bytes(zstd.compress(plain.read_bytes()))
    _, of_plain, _ = run("check", "--json", plain)
    _, of_packed, _ = run("check", "--json", packed)
    assert json.loads(of_packed)["turns"] == json.loads(of_plain)["turns"]
    packed.write_bytes(packed.read_bytes()[:-40])
    code, _, error = run("check", packed)
    assert code == 3
    assert "damaged Zstandard data" in error


def test_github_annotations_name_file_line_and_reason(run: Run) -> None:
    """forms: `--format github` writes one workflow command a finding."""
    code, output, _ = run("check", "--format", "github", CLAUDE)
    assert code == 1
    (line,) = output.decode().splitlines()
    assert line.startswith("::error file=")
    assert ",line=13,title=place contradicted (past-end)::tests/test_cart.py:58: " in line


def test_sarif_is_one_log_with_its_rules(run: Run) -> None:
    """forms: `--format sarif` writes one SARIF 2.1.0 log for all transcripts."""
    code, output, _ = run("check", "--format", "sarif", ROOT / "examples")
    assert code == 1
    log = json.loads(output)
    (sarif_run,) = log["runs"]
    assert log["version"] == "2.1.0"
    rules = {rule["id"] for rule in sarif_run["tool"]["driver"]["rules"]}
    assert {"place.past-end", "entry.no-such-entry"} <= rules
    for result in sarif_run["results"]:
        assert result["ruleId"] in rules
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"]
        assert result["level"] in {"error", "warning"}


def test_strict_makes_an_error_of_what_is_not_established(run: Run) -> None:
    """exit-codes: not established is a warning and 0; with --strict it is 1."""
    session = ROOT / "tests/golden/sessions/claude_code/nightly-export"
    (path,) = session.glob("*.jsonl")
    assert run("check", path)[0] == 0
    assert run("check", "--strict", path)[0] == 1
    assert run("check", path, extra={"COUNTERFOIL_STRICT": "true"})[0] == 1


def test_a_rule_is_silenced_for_a_path_with_a_reason(run: Run, tmp_path: Path) -> None:
    """configuration: a silenced finding is counted, shown with --verbose, and no error."""
    (tmp_path / "counterfoil.toml").write_text(
        '[[silence]]\nrule = "place.past-end"\npath = "tests/*"\nreason = "generated there"\n',
        "utf-8",
    )
    code, output, _ = run("check", CLAUDE)
    assert code == 0
    assert b"1 silenced" in output
    assert b"test_cart.py:58" not in output
    _, output, _ = run("check", "--verbose", CLAUDE)
    assert b"silenced        tests/test_cart.py:58" in output
    assert b"generated there" in output
    _, output, _ = run("check", "--json", CLAUDE)
    summary = json.loads(output)["summary"]
    assert summary["references"]["silenced"] == 1
    _, output, _ = run("config")
    assert b"place.past-end in tests/*" in output


def test_settings_come_from_files_variables_and_flags_the_later_wins(
    run: Run, tmp_path: Path
) -> None:
    """configuration: the origin of every value is printed."""
    (tmp_path / "counterfoil.toml").write_text('format = "json"\nstrict = true\n', "utf-8")
    home = tmp_path / "home/counterfoil"
    home.mkdir(parents=True)
    (home / "config.toml").write_text('format = "github"\n', "utf-8")
    _, output, _ = run("config", "--json", extra={"COUNTERFOIL_COLOR": "never"})
    settings = json.loads(output)["settings"]
    assert settings["strict"] == {"value": True, "origin": str(tmp_path / "counterfoil.toml")}
    assert settings["format"] == {"value": "github", "origin": str(home / "config.toml")}
    assert settings["color"] == {"value": "never", "origin": "environment"}
    assert settings["repo"] == {"value": "", "origin": "default"}
    _, output, _ = run("check", "--format", "json", CLAUDE)
    assert output.startswith(b"{")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("formt = 'json'\n", "did you mean 'format'"),
        ("format = 'xml'\n", "text or json or github or sarif"),
        ("strict = 3\n", "true or false"),
        ("silence = 3\n", "[[silence]] with rule, path and reason"),
        ("[[silence]]\nrule = 'x'\n", "lacks a rule, a path or a reason"),
        ("[[silence]]\nrules = 'x'\n", "did you mean 'rule'"),
    ],
)
def test_a_wrong_setting_is_named_with_its_neighbour(
    run: Run, tmp_path: Path, text: str, words: str
) -> None:
    """configuration: an unknown key or value is misuse, and says what can be meant."""
    (tmp_path / "counterfoil.toml").write_text(text, "utf-8")
    code, _, error = run("config")
    assert code == 2
    assert words in error


def test_a_file_of_settings_that_is_no_toml_is_unreadable(run: Run, tmp_path: Path) -> None:
    """configuration: the file and the place are named."""
    (tmp_path / "counterfoil.toml").write_text("format = \n", "utf-8")
    code, _, error = run("check", CLAUDE)
    assert code == 3
    assert "counterfoil.toml is no TOML" in error
    assert "line 1" in error


def test_a_receipt_is_printed_as_text_and_as_json(run: Run) -> None:
    """receipt-command: the JSON is that of the check; the text names every call."""
    _, output, _ = run("check", "--json", CLAUDE)
    receipt = json.loads(output)["turns"][0]["receipt"]
    _, output, _ = run("receipt", CLAUDE, "1", "--json")
    assert json.loads(output) == receipt
    _, output, _ = run("receipt", CLAUDE, "--json")
    assert json.loads(output) == [receipt]
    _, output, _ = run("receipt", CLAUDE)
    for row in receipt["tools"]:
        assert row["name"].encode() in output
    assert b"exit 1" in output


def test_show_prints_an_entry_or_a_line_whole(run: Run) -> None:
    """show-command: content verbatim, by entry number in our own thread, else by line."""
    code, output, _ = run("show", THREAD, "18")
    assert code == 0
    assert output.startswith(b"entry 18 \xc2\xb7 reply_given")
    assert b"(All steps logged in entries 16-30" in output
    _, output, _ = run("show", CLAUDE, "8")
    assert output.startswith(b"line 8 \xc2\xb7 tool_returned")
    _, output, _ = run("show", CLAUDE, "1")
    assert b"no part of the conversation, as it stands" in output
    _, output, _ = run("show", CLAUDE, "8", "--raw")
    assert output == CLAUDE.read_bytes().splitlines(keepends=True)[7]


def test_explain_says_rule_words_reason_and_record(run: Run) -> None:
    """explain-command: everything that decided, and what is not asserted."""
    code, output, _ = run("explain", CLAUDE, "13")
    text = output.decode()
    assert code == 0
    assert "rule      place.past-end" in text
    assert re.search(r"words     block 0, characters \d+ to \d+", text)
    assert "not said  that the file was always that short" in text
    assert "line 8" in text
    _, output, _ = run("explain", THREAD, "18")
    assert b"rule      entry.no-such-entry" in output


def test_formats_prints_the_evidence_matrix(run: Run) -> None:
    """formats-command: every format with what it can show, also as JSON."""
    _, output, _ = run("formats", "--json")
    matrix = json.loads(output)
    assert list(matrix) == ["counterfoil", "claude_code", "codex"]
    columns = {frozenset(rows) for rows in matrix.values()}
    assert len(columns) == 1
    _, text, _ = run("formats")
    for name, rows in matrix.items():
        assert name.encode() in text
        for how in rows.values():
            assert how.encode() in text


def test_shapes_are_printed_without_any_value(run: Run, tmp_path: Path) -> None:
    """audit-shapes: names of fields and kinds of values; no text, path or number leaks."""
    secret = {
        "type": "user",
        "cwd": "/home/ann/secret-project",
        "token": "hunter2",
        "n": 424242,
        "files": {"/home/ann/a.py": 1},
        "many": {f"k{n}": n for n in range(60)},
        "role": "Ann Smith",
        "list": [1, "x", None, True, [{}]],
    }
    (tmp_path / "s.jsonl").write_text(json.dumps(secret) + '\n{"torn\n\n', "utf-8")
    code, output, _ = run("audit-shapes", tmp_path)
    text = output.decode()
    assert code == 0
    for leaked in ("secret", "hunter2", "424242", "a.py", "Ann", "k59"):
        assert leaked not in text
    assert 'type="user"' in text
    assert "<key>" in text
    assert "not read: torn-line" in text
    _, output, _ = run("audit-shapes", tmp_path, "--json")
    assert json.loads(output)["files"] == 1


def _on_a_terminal(*arguments: str, environment: dict[str, str]) -> str:
    """Run the program on a pseudo-terminal of 80 columns and return what is drawn."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "counterfoil", *arguments],
        stdout=child,
        stderr=child,
        stdin=subprocess.DEVNULL,
        env={**environment, "TERM": "xterm-256color", "COLUMNS": "80"},
    )
    os.close(child)
    drawn = b""
    while select.select([parent], [], [], 30)[0]:
        try:
            block = os.read(parent, 65536)
        except OSError:
            break
        if not block:
            break
        drawn += block
    os.close(parent)
    process.wait(30)
    return drawn.decode()


def test_a_terminal_gets_colour_and_no_color_takes_it_away(environment: dict[str, str]) -> None:
    """colour: on a terminal text is coloured; NO_COLOR and --color never are honoured."""
    assert "\x1b[" in _on_a_terminal("check", str(CLAUDE), environment=environment)
    plain = _on_a_terminal("check", str(CLAUDE), environment=environment | {"NO_COLOR": "1"})
    assert "\x1b" not in plain
    assert "contradicted" in plain
    never = _on_a_terminal("check", "--color", "never", str(CLAUDE), environment=environment)
    assert never == plain


def test_a_pipe_gets_no_colour_unless_it_is_asked_for(run: Run) -> None:
    """colour: into a pipe text is plain, with --color always it is coloured."""
    assert b"\x1b" not in run("check", CLAUDE)[1]
    assert b"\x1b[" in run("check", "--color", "always", CLAUDE)[1]


def test_a_long_file_is_read_behind_a_bar_on_a_terminal(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """progress: a bar is drawn on a terminal while a long file is read, and nowhere else."""
    long = tmp_path / "long.jsonl"
    filler = json.dumps({"type": "progress", "uuid": "p", "sessionId": "s", "data": "x" * 100_000})
    long.write_bytes(CLAUDE.read_bytes() + f"{filler}\n".encode() * 400)
    drawn = _on_a_terminal("check", str(long), environment=environment)
    assert "reading" in drawn
    assert "contradicted" in drawn


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_written_for_every_shell(run: Run, shell: str) -> None:
    """completion: the script names the program; the commands complete."""
    code, output, _ = run(extra={"_COUNTERFOIL_COMPLETE": f"{shell}_source"})
    assert code == 0
    assert b"counterfoil" in output


def test_nothing_is_imported_that_a_check_does_not_use(environment: dict[str, str]) -> None:
    """imports: a check into a pipe loads neither Rich nor a database nor the network."""
    script = (
        "import sys, counterfoil.__main__ as m\n"
        f"sys.argv = ['counterfoil', 'check', {str(CLAUDE)!r}]\n"
        "try:\n    m.main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({n.partition('.')[0] for n in sys.modules}), file=sys.stderr)\n"
    )
    alone = {name: value for name, value in environment.items() if "COVERAGE" not in name}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, env=alone
    )
    loaded: set[str] = set(eval(done.stderr.decode().splitlines()[-1]))
    assert not loaded & {
        "rich", "sqlite3", "asyncio", "socket", "openai", "mcp", "textual", "pydantic", "backports",
    }  # fmt: skip


def _git(repo: Path, *arguments: str) -> str:
    day = "2026-01-01T00:00:00Z"
    done = subprocess.run(
        [
            "git",
            "-C",
            str(repo),
            "-c",
            "user.name=Ann",
            "-c",
            "user.email=a@example.org",
            *arguments,
        ],
        capture_output=True,
        check=True,
        env={**os.environ, "GIT_AUTHOR_DATE": day, "GIT_COMMITTER_DATE": day},
    )
    return done.stdout.decode().strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one file of 20 lines and one commit."""
    folder = tmp_path / "repo"
    folder.mkdir()
    _git(folder, "init", "-q")
    (folder / "app.py").write_text("x = 1\n" * 20, "utf-8")
    _git(folder, "add", ".")
    _git(folder, "commit", "-qm", "one")
    return folder


def _said(path: Path, text: str) -> Path:
    message = {"id": "m", "content": [{"type": "text", "text": text}]}
    at = "2026-02-01T10:00:00.000Z"
    common = {"sessionId": "s", "timestamp": at}
    rows = (
        {**common, "type": "user", "uuid": "u1", "message": {"content": "go"}},
        {**common, "type": "assistant", "uuid": "a1", "parentUuid": "u1", "message": message},
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def _references(output: bytes) -> list[tuple[str, str]]:
    (turn,) = json.loads(output)["turns"]
    return [(found["verdict"], found["reason"]) for found in turn["references"]]


def test_a_place_and_a_commit_are_looked_up_in_a_repository(
    run: Run, tmp_path: Path, repo: Path
) -> None:
    """repository: --repo backs what the tree has, and contradicts what no version has."""
    name = _git(repo, "rev-parse", "--short=9", "HEAD")
    text = f"See app.py:12 and app.py:300. Fixed in commit {name}, not in commit 0badc0ffe1."
    session = _said(tmp_path / "s.jsonl", text)
    code, output, _ = run("check", "--json", "--repo", repo, session)
    assert code == 1
    assert _references(output) == [
        ("supported", "in-tree"),
        ("contradicted", "past-end-in-tree"),
        ("supported", "in-repository"),
        ("not_established", "not-in-repository"),
    ]


def test_a_work_tree_that_is_longer_now_contradicts_nothing(
    run: Run, tmp_path: Path, repo: Path
) -> None:
    """repository: what was never committed may have been there when the agent spoke."""
    (repo / "app.py").write_text("x = 1\n" * 400, "utf-8")
    session = _said(tmp_path / "s.jsonl", "See app.py:300.")
    _, output, _ = run("check", "--json", "--repo", repo, session)
    assert _references(output)[0][0] == "not_established"


def test_a_folder_that_is_in_no_repository_is_misuse(run: Run, tmp_path: Path) -> None:
    """repository: --repo names a folder of a repository."""
    session = _said(tmp_path / "s.jsonl", "See app.py:300.")
    code, _, error = run("check", "--repo", tmp_path, session)
    assert code == 2
    assert "is in no Git repository" in error
