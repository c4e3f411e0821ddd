"""The agent as its users start it: real processes, a real store, a real server of a model."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.model_server import ModelServer, call_answer, text_answer
from counterfoil.adapters.sqlite import SqliteRecord
from counterfoil.core.ids import ThreadId
from counterfoil.core.receipt import fold_receipt
from counterfoil.wire.receipt import receipt_to_json

MISSING = "  cited but not in this conversation: entries 19–30 (12)"
RAN = "  ran: inspect · system_info"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a home of the program that is not there yet."""
    return tmp_path / "home"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder to work in, with one file."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "notes.md").write_text("The port is 8080.\n")
    return work


def environment(home: Path | None) -> dict[str, str]:
    """Return what a process gets: nothing of this machine's settings."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COUNTERFOIL", "XDG_", "OPENAI"))
    }
    return kept if home is None else kept | {"COUNTERFOIL_HOME": str(home)}


def run(
    *arguments: str,
    home: Path | None,
    cwd: Path,
    said: str = "",
    more: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the program to its end."""
    return subprocess.run(
        [sys.executable, "-m", "counterfoil", *arguments],
        cwd=cwd,
        env=environment(home) | dict(more or {}),
        input=said,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=90,
        check=False,
    )


def test_a_model_on_loopback_uses_three_tools(home: Path, folder: Path) -> None:
    """models: The words of the README are enough: name the model and where it answers."""
    answers = [
        call_answer(("list_files", '{"path": "."}')),
        call_answer(("read_file", '{"path": "notes.md"}')),
        call_answer(("run_command", '{"command": "ls"}')),
        text_answer("The port is 8080 (entry 6).", {"prompt_tokens": 812, "completion_tokens": 9}),
    ]
    with ModelServer(answers) as server:
        done = run(
            *("chat", "--model", "qwen3:8b", "--base-url", server.base_url),
            home=home,
            cwd=folder,
            said="Which port?\n",
        )
        asked = server.chats
    assert done.stdout == "The port is 8080 (entry 6).\n"
    assert done.returncode == 0, done.stderr
    assert "The port is 8080." in json.dumps(asked[2])
    assert [message["role"] for message in asked[3]["messages"]] == [
        "system",
        "user",
        *["assistant", "tool"] * 3,
    ]
    assert "  ran: list_files · read_file · run_command" in done.stderr
    assert "↓812 ↑9" in done.stderr


def test_a_server_that_is_not_there_is_one_clear_line(home: Path, folder: Path) -> None:
    """models: What was found, what was expected, what to do; the turn has its record."""
    done = run(
        *("chat", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--once", "Hi."),
        home=home,
        cwd=folder,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_model_is_said_before_anything_is_recorded(home: Path, folder: Path) -> None:
    """exit-codes: Misuse is 2, with what to say."""
    done = run("chat", "--once", "Hi.", home=home, cwd=folder)
    assert done.returncode == 2
    assert "error: no model is named" in done.stderr
    assert "--model NAME" in done.stderr
    assert "no thread" in run("threads", home=home, cwd=folder).stderr


def test_the_demonstration_plays_the_case_in_a_conversation(folder: Path) -> None:
    """agent-case: The reply on stdout; what ran and what is missing under it, and no more."""
    done = run("demo", home=None, cwd=folder)
    lines = done.stderr.splitlines()
    at = lines.index(MISSING)
    assert lines[at - 1] == RAN
    assert lines[at + 1].endswith("↓900 ↑60")
    assert sum("cited" in line for line in lines) == 1
    assert done.stdout.endswith("(All steps logged in entries 16-30)\n")
    assert done.returncode == 1


def test_the_demonstration_plays_the_case_over_mcp(home: Path, folder: Path) -> None:
    """agent-case: `respond` lists the missing entries; its receipt is that of the store."""
    done = run("demo", "--respond", home=home, cwd=folder)
    value = json.loads(done.stdout)
    assert value["unknownEntries"] == list(range(19, 31))
    assert value["citedEntries"] == {"checked": 15, "missing": 12, "unchecked": 0}
    assert (value["ran"], f"  {value['cited']}") == (RAN.strip(), MISSING)
    assert done.returncode == 1
    thread = ThreadId(value["thread_id"])
    with SqliteRecord(home / "ledger.db") as record:
        folded = fold_receipt(record.log.events_of(thread, 4), thread, 4)
    assert receipt_to_json(folded) == value["receipt"]


def script(folder: Path, *steps: object) -> str:
    """Write a script and return the model that it is."""
    path = folder / "script.jsonl"
    path.write_text("".join(json.dumps(step) + "\n" for step in steps))
    return f"scripted:{path}"


def test_a_thread_goes_on_in_another_process_and_forks(home: Path, folder: Path) -> None:
    """turns: Entry numbers go on; a fork has the thread as parent and sees its pages."""
    page = {"title": "Port", "body": "The port is 8080."}
    first = script(
        folder,
        {"call": [{"tool": "knowledge_record", "arguments": page}]},
        {"say": "Recorded as [[port]]."},
    )
    done = run(
        "chat", "--model", first, "--thread", "one", "--once", "Keep it.", home=home, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    again = script(folder, {"say": "See [[port]], [[harbour]] and entry 4, not entry 9."})
    done = run("chat", "--model", again, "--resume", "one", "--once", "And?", home=home, cwd=folder)
    assert "  cited but not in this conversation: entry 9" in done.stderr
    assert "  cited but not visible to this run: harbour\n" in done.stderr
    assert done.returncode == 1
    fork = run(
        "chat",
        "--model",
        again,
        "--fork",
        "one",
        "--thread",
        "two",
        "--once",
        "And?",
        home=home,
        cwd=folder,
    )
    assert "  cited but not visible to this run: harbour\n" in fork.stderr
    listed = json.loads(run("threads", "--json", home=home, cwd=folder).stdout)["threads"]
    assert [(row["thread"], row["turns"], row["entries"], row["parent"]) for row in listed] == [
        ("one", 2, 7, None),
        ("two", 1, 3, "one"),
    ]
    with SqliteRecord(home / "ledger.db") as record:
        one = ThreadId("one")
        receipt = fold_receipt(record.log.events_of(one, 1), one, 1)
    assert [(row.handle, row.action) for row in receipt.pages] == [("here::port", "written")]


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        (("--resume", "nobody"), 2, "no thread 'nobody'"),
        (("--fork", "nobody"), 2, "no thread 'nobody'"),
        (("--thread", "a/b"), 2, "thread id 'a/b'"),
        (("--tool", "reed_file"), 2, "did you mean 'read_file'?"),
        (("--model", "scripted:none.jsonl"), 3, "none.jsonl"),
    ],
)
def test_what_cannot_be_meant_is_said(
    home: Path, folder: Path, said: tuple[str, ...], code: int, words: str
) -> None:
    """exit-codes: One line, the documented code, nothing recorded."""
    model = script(folder, {"say": "Hi."})
    done = run("chat", "--model", model, *said, "--once", "Hi.", home=home, cwd=folder)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_what_nobody_can_approve_is_refused_and_told(home: Path, folder: Path) -> None:
    """gate: In a pipe nobody is asked; the refusal is in the receipt, and nothing ran."""
    model = script(
        folder,
        {"call": [{"tool": "run_command", "arguments": {"command": "touch made.txt"}}]},
        {"call": [{"tool": "run_command", "arguments": {"command": "sudo id"}}]},
        {"say": "I could not."},
    )
    done = run("chat", "--model", model, "--receipt", "--once", "Make it.", home=home, cwd=folder)
    assert "ran: run_command ×2 (1 denied, 1 declined)" in done.stderr
    receipt = json.loads(
        next(line for line in done.stderr.splitlines() if line.startswith('{"schema"'))
    )
    assert [(row["by"], row["verdict"]) for row in receipt["denials"]] == [
        ("gate", "disapproved"),
        ("policy", "denied"),
    ]
    assert receipt["commands"] == []
    assert not (folder / "made.txt").exists()


def test_a_thread_that_another_process_holds_is_refused(home: Path, folder: Path) -> None:
    """leases: The second one is told who holds it; the first goes on."""
    model = script(folder, {"wait": "Let me think"})
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "counterfoil",
            "chat",
            "--json",
            "--model",
            model,
            "--thread",
            "one",
        ],
        cwd=folder,
        env=environment(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert json.loads(holder.stdout.readline())["type"] == "ready"
        done = run(
            "chat", "--model", model, "--resume", "one", "--once", "Hi.", home=home, cwd=folder
        )
        assert done.returncode == 2
        assert f"thread 'one' is held by process {holder.pid}" in done.stderr
        assert "--fork one" in done.stderr
        assert holder.stdin is not None
        holder.stdin.close()
        holder.stdout.read()
        assert holder.wait(30) == 0


def test_ctrl_c_ends_the_turn_and_the_record_says_so(home: Path, folder: Path) -> None:
    """turns: A real signal while the model is slow; the receipt of the turn is honest."""
    model = script(folder, {"wait": "Let me think"})
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "counterfoil",
            "chat",
            "--model",
            model,
            "--thread",
            "one",
            "--once",
            "Go.",
        ],
        cwd=folder,
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert "thread one" in process.stderr.readline()
        _until_asked(home)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "cancelled" in told
    with SqliteRecord(home / "ledger.db") as record:
        one = ThreadId("one")
        receipt = fold_receipt(record.log.events_of(one, 1), one, 1)
    assert receipt.complete
    assert [row.message for row in receipt.errors] == ["the turn was cancelled"]


def _until_asked(home: Path) -> None:
    """Wait until the model was asked: the record says it."""
    with SqliteRecord(home / "ledger.db") as record:
        for _ in range(20_000):
            if any(type(e.payload).__name__ == "ModelAsked" for e in record.log.events()):
                return
    raise AssertionError


SERVER = Path(__file__).resolve().parents[1] / "adapters" / "mcp_server.py"


@pytest.mark.parametrize(
    ("level", "ran", "outcome"),
    [("safe", "ran: tools__echo", "ok"), ("moderate", "ran: tools__echo (1 declined)", "denied")],
)
def test_a_tool_of_another_server_passes_the_gate(
    home: Path, folder: Path, level: str, ran: str, outcome: str
) -> None:
    """gate: At the level of its server; asked about, and nobody is there to ask, it is refused."""
    home.mkdir()
    (home / "config.toml").write_text(
        f"[mcp_servers.tools]\ncommand = {json.dumps(sys.executable)}\n"
        f'args = [{json.dumps(str(SERVER))}, "well"]\nlevel = "{level}"\n'
        '[mcp_servers.tools.env]\nTOKEN = "very-secret"\n'
        '[mcp_servers.gone]\ncommand = "/nowhere/server"\n'
    )
    model = script(
        folder,
        {"call": [{"tool": "tools__echo", "arguments": {"text": "hello", "confirm": True}}]},
        {"call": [{"tool": "inspect", "arguments": {"what": "config"}}]},
        {"say": "It said: {{last}}"},
    )
    done = run("chat", "--model", model, "--receipt", "--once", "Echo.", home=home, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"  {ran} · inspect" in done.stderr
    assert "warning: no tools of mcp_servers.gone" in done.stderr
    assert "very-secret" not in done.stdout + done.stderr
    line = next(line for line in done.stderr.splitlines() if line.startswith('{"schema"'))
    assert [row["outcome"] for row in json.loads(line)["tools"]] == [outcome, "ok"]


def test_a_store_within_reach_of_commands_is_refused(home: Path, folder: Path) -> None:
    """confinement: What tools and commands may write is no place for the record."""
    model = script(folder, {"say": "Hi."})
    store = {"COUNTERFOIL_STORE": str(folder / "ledger.db")}
    done = run("chat", "--model", model, "--once", "Hi.", home=home, cwd=folder, more=store)
    assert (done.returncode, done.stdout) == (2, "")
    assert "where tools and commands write" in done.stderr


def test_the_demonstration_leaves_the_store_of_the_user_alone(folder: Path, tmp_path: Path) -> None:
    """agent-case: Over MCP too, whatever store is named."""
    store = {"COUNTERFOIL_STORE": str(tmp_path / "mine.db")}
    for way in ((), ("--respond",)):
        assert run("demo", *way, home=None, cwd=folder, more=store).returncode == 1
    assert not (tmp_path / "mine.db").exists()


def test_secrets_of_the_configuration_are_not_shown(home: Path, folder: Path) -> None:
    """plain-text: Neither to the person over their shoulder nor to the model."""
    home.mkdir()
    (home / "config.toml").write_text(
        'base_url = "http://me:hunter2@127.0.0.1:9/v1"\n'
        '[mcp_servers.far]\nurl = "http://127.0.0.1:9/mcp?api_key=sekret1"\n'
        '[mcp_servers.near]\ncommand = "/nowhere"\nargs = ["--token", "sekret2"]\n'
        '[mcp_servers.near.env]\nA = "sekret3"\n'
    )
    model = script(folder, {"say": "Hi."})
    said = "/inspect config\n"
    done = run("chat", "--model", model, "--no-tools", home=home, cwd=folder, said=said)
    assert "base_url" in done.stderr
    for secret in ("hunter2", "sekret1", "sekret2", "sekret3"):
        assert secret not in done.stderr
