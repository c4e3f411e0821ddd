"""`counterfoil chat` and `counterfoil threads` as a stranger runs them: real processes."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from faces.chat.chat_world import CASE_SCRIPT, MISSING

Run = Callable[..., tuple[int, bytes, str]]
PROMPTS = "One.\nTwo.\nThree.\nCheck everything in eight steps and report.\n"
SLOW = '{"wait":"thinking "}\n{"say":"And on."}\n'
ASKING = (
    '{"call":[{"tool":"run_command","arguments":{"command":"mkdir made; touch made/it"}}]}\n'
    '{"say":"Done: {{last}}"}\n'
)
TIMES = re.compile(r"\d+\.\d s\b")


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    """Write a script and return the model that replays it."""

    def _script(text: str) -> str:
        path = tmp_path / "script.jsonl"
        path.write_text(text, "utf-8")
        return f"scripted:{path}"

    return _script


def _lines(output: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


# --- the case -----------------------------------------------------------------


def test_the_case_in_a_pipe_is_what_it_says_byte_for_byte(
    run: Run, script: Callable[[str], str]
) -> None:
    """agent-case: The reply on stdout; on stderr what ran and what is missing; exit code 1."""
    code, out, err = run(
        "chat", "--model", script(CASE_SCRIPT), "--thread", "t1", stdin=PROMPTS.encode()
    )
    assert code == 1
    report = json.loads(CASE_SCRIPT.splitlines()[-1])["say"]
    assert out.decode() == f"Looked, turn 1.\nLooked, turn 2.\nLooked, turn 3.\n{report}\n"
    lines = TIMES.sub("T", err).splitlines()
    assert lines[0] == "thread t1 · new · scripted:script.jsonl · 12 tools"
    assert lines[1] == '→ inspect {"what": "status"}'
    assert lines[-3:] == ["  ran: inspect · system_info", f"  {MISSING}", "  T · ↓900 ↑60"]
    assert lines.count("  ran: inspect") == 3
    assert err.count("cited but not") == 1


def test_the_case_over_json_says_the_same(run: Run, script: Callable[[str], str]) -> None:
    """agent-case: --json shows the line and the numbers, and no existing entry."""
    asked = "".join(
        f"{json.dumps({'type': 'message', 'text': prompt})}\n" for prompt in PROMPTS.splitlines()
    )
    code, out, err = run("chat", "--json", "--model", script(CASE_SCRIPT), stdin=asked.encode())
    assert (code, err) == (1, "")
    *_, end, exit_ = _lines(out)
    assert exit_ == {"type": "exit", "code": 1}
    assert (end["ran"], end["cited"]) == ("ran: inspect · system_info", MISSING)
    assert end["unknownEntries"] == list(range(19, 31))


def test_a_thread_is_listed_resumed_forked_saved_and_checked(
    run: Run, script: Callable[[str], str], tmp_path: Path
) -> None:
    """chat-face: Entry numbers go on in another process; a saved thread is one of our own."""
    model = script(CASE_SCRIPT)
    assert run("threads")[1:] == (b"", "no thread is recorded yet: `counterfoil chat` begins one\n")
    run("chat", "--model", model, "--thread", "t1", "--once", "One.")
    script('{"say":"See entry 5 and entry 9."}\n')
    code, out, err = run(
        "chat", "--model", model, "--resume", "t1", stdin=b"Two.\n/show 6\n/save saved.jsonl\n"
    )
    assert (code, out) == (1, b"See entry 5 and entry 9.\n")
    assert "thread t1 · after turn 1 · " in err
    assert "cited but not in this conversation: entry 9\n" in err
    assert "entry 6 · prompt · turn 2\nTwo.\n" in err
    code, out, _ = run("check", "saved.jsonl")
    assert code == 1
    assert b"cited but not in this conversation: entry 9" in out
    assert (tmp_path / "saved.jsonl").stat().st_mode & 0o777 == 0o600
    script('{"say":"Forked."}\n')
    assert (
        run("chat", "--model", model, "--fork", "t1", "--thread", "t2", "--once", "Hi\x1b")[0] == 0
    )
    code, out, err = run("threads", "--json")
    first, second = json.loads(out)["threads"]
    assert (first["thread"], first["turns"], first["entries"]) == ("t1", 2, 7)
    assert (second["parent"], second["prompt"]) == ("t1", "Hi\\x1b")
    text = run("threads")[1].decode()
    assert re.search(r"^t1  \d{4}-\d\d-\d\d \d\d:\d\d · 2 turns · 7 entries · ", text)
    assert "1 turn · 3 entries · scripted:script.jsonl · from t1\n  “Hi\\x1b”\n" in text


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--resume", "nowhere"], 2, "no thread 'nowhere'"),
        (["--resume", "../x"], 2, "thread id '../x'"),
        (["--fork", "nowhere"], 2, "no thread 'nowhere' to fork"),
        (["--tool", "inspct"], 2, "no tool 'inspct'"),
        (["--tool", "inspect", "--no-tools"], 2, "cannot both be meant"),
        (["--resume", "t1", "--no-tools"], 2, "--resume goes on with a thread as it is"),
        (["--resume", "t1", "--thread", "t2"], 2, "--resume goes on with a thread as it is"),
        (["--json", "--once", "x"], 2, "--json goes without"),
        (["--once", " "], 2, "the message is blank"),
        (["--once", "-"], 2, "the message is blank"),
        (["--model", "scripted:nowhere.jsonl"], 3, "nowhere.jsonl cannot be read"),
        (["--model", ""], 2, "no model is named"),
    ],
)
def test_what_cannot_be_meant_says_so(
    run: Run, script: Callable[[str], str], arguments: list[str], code: int, words: str
) -> None:
    """mistakes: One clear line and exit code 2; 3 where the model cannot be had."""
    model = [] if "--model" in arguments else ["--model", script('{"say":"x"}\n')]
    found, out, err = run("chat", *model, *arguments)
    assert (found, out) == (code, b"")
    assert words in err


def test_a_new_thread_takes_no_id_that_there_is(run: Run, script: Callable[[str], str]) -> None:
    """chat-face: --thread names a new thread; --resume goes on with one."""
    model = script('{"say":"x"}\n')
    assert run("chat", "--model", model, "--thread", "t1", "--once", "Go.")[0] == 0
    code, _, err = run("chat", "--model", model, "--thread", "t1", "--once", "Go.")
    assert code == 2
    assert "--resume t1 goes on with it" in err


def test_all_of_the_input_is_one_message(run: Run, script: Callable[[str], str]) -> None:
    """chat-face: `--once -`; what is in it is no command."""
    code, out, err = run(
        "chat", "--model", script('{"say":"x"}\n'), "--once", "-", "--receipt", "--no-tools",
        stdin=b"/quit\n!ls\n",
    )  # fmt: skip
    assert (code, out) == (0, b"x\n")
    assert "no tools" in err or "0 tools" in err
    assert json.loads(err.splitlines()[-1])["complete"] is True


def test_what_has_to_be_approved_is_refused_without_a_person(
    run: Run, script: Callable[[str], str], tmp_path: Path
) -> None:
    """gate: Nobody to ask is a refusal; the command does not run."""
    code, out, err = run("chat", "--model", script(ASKING), "--once", "Make it.")
    assert code == 0
    assert not (tmp_path / "made").exists()
    assert "nobody is there to ask" in out.decode()
    assert "  ran: run_command (1 declined)\n" in err


def test_hostile_text_is_written_out_into_a_pipe_too(
    run: Run, script: Callable[[str], str]
) -> None:
    """plain-text: A file that is shown later is a terminal, too."""
    said = json.dumps({"say": "a\x1b[31mb\u202e\x9bc\r\n"})
    code, out, _ = run("chat", "--model", script(said), "--once", "Go.")
    assert (code, out) == (0, b"a\\x1b[31mb\\u202e\\x9bc\\x0d\n")


@pytest.mark.parametrize("locale", [{"LANG": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_the_locale_changes_nothing(
    run: Run, script: Callable[[str], str], locale: dict[str, str]
) -> None:
    """encoding: UTF-8 in and out whatever the locale."""
    code, out, err = run(
        "chat",
        "--model",
        script('{"say":"é – 漢"}\n'),
        stdin="é?\n/show 2\n".encode(),
        extra=locale,
    )
    assert (code, out.decode()) == (0, "é – 漢\n")
    assert "\né?\n" in err


# --- streams that are not there -----------------------------------------------


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_pipe_that_is_closed_ends_it_quietly(
    environment: dict[str, str], script: Callable[[str], str], tmp_path: Path, flags: list[str]
) -> None:
    """closed-pipe: Exit code 141, and nothing said about it."""
    message = b'{"type":"message","text":"Go."}\n' * 3 if flags else b"Go.\n" * 3
    model = script('{"say":"x"}\n' * 3)
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen(
        [sys.executable, "-m", "counterfoil", "chat", "--model", model, "--thread", "t1", *flags],
        stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.PIPE,
        cwd=tmp_path, env=environment,
    ) as process:  # fmt: skip
        os.close(writing)
        _, err = process.communicate(message, timeout=30)
    assert process.returncode == 141
    assert b"Traceback" not in err
    assert b"Exception" not in err


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_streams_that_were_never_open_are_no_fault(
    environment: dict[str, str], script: Callable[[str], str], tmp_path: Path, flags: list[str]
) -> None:
    """closed-pipe: Without input nothing is said, without output nothing is shown."""
    program = [sys.executable, "-m", "counterfoil", "chat", "--model", script('{"say":"x"}\n')]
    for closed in ("<&-", ">&- 2>&-", "<&- >&- 2>&-"):
        done = subprocess.run(
            ["sh", "-c", f'"$@" {closed}', "sh", *program, *flags],
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
            cwd=tmp_path, env=environment, timeout=30,
        )  # fmt: skip
        assert done.returncode == 0, (closed, done.stderr)
        assert b"Traceback" not in done.stderr


# --- signals ------------------------------------------------------------------


class Process:
    """A running program: what it wrote, and what is written to it."""

    def __init__(self, process: "subprocess.Popen[bytes]", reading: int, writing: int) -> None:
        self.process = process
        self._reading, self._writing = reading, writing
        self.seen = ""
        self._found = b""

    def until(self, word: str, seconds: float = 30) -> str:
        """Read until `word` stands there, and return what came up to its end."""
        end = time.monotonic() + seconds
        while word not in self._left():
            ready, _, _ = select.select([self._reading], [], [], max(0, end - time.monotonic()))
            try:
                chunk = os.read(self._reading, 65536) if ready else b""
            except OSError:  # Linux says so of a terminal that nobody has open
                chunk = b""
            assert chunk, (word, self.seen, self._left())
            self._found += chunk
        found, _, left = self._left().partition(word)
        self._found = left.encode()
        self.seen += found + word
        return found + word

    def _left(self) -> str:
        """Return what was not asked for yet, without what a terminal adds."""
        text = self._found.decode("utf-8", "replace").replace("\r\n", "\n")
        return re.sub(r"\x1b\[\?2004[hl]\r?", "", text)

    def type(self, text: str) -> None:
        """Write what a person types."""
        os.write(self._writing, text.encode())

    def end(self, seconds: float = 30) -> int:
        """Wait for the end and return the exit code."""
        return self.process.wait(seconds)


@pytest.fixture
def piped(environment: dict[str, str], tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start `counterfoil` with pipes; its standard error is read."""
    begun: list[subprocess.Popen[bytes]] = []

    def _piped(*arguments: str, reads: str = "stderr") -> Process:
        process = subprocess.Popen(
            [sys.executable, "-m", "counterfoil", *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=tmp_path, env=environment, process_group=0,
        )  # fmt: skip
        begun.append(process)
        assert process.stdin is not None
        stream = process.stderr if reads == "stderr" else process.stdout
        assert stream is not None
        return Process(process, stream.fileno(), process.stdin.fileno())

    yield _piped
    for process in begun:
        with process:
            process.kill()


def test_ctrl_c_cancels_a_turn_of_a_pipe_and_ends_the_run(
    piped: Callable[..., Process], script: Callable[[str], str], run: Run
) -> None:
    """chat-face: A real signal during a slow model: the turn says so, exit code 130."""
    model = script(SLOW)
    process = piped("chat", "--model", model, "--thread", "t1")
    process.type("Go.\nAnd on.\n")
    process.until("thread t1")
    _wait_for_asked(run)
    process.process.send_signal(signal.SIGINT)
    process.until("  cancelled after ")
    assert process.end() == 130
    script('{"say":"On."}\n')
    code, _, err = run("chat", "--model", model, "--resume", "t1", stdin=b"Go on.\n/show 3\n")
    assert code == 0
    assert "after turn 1" in err


def _wait_for_asked(run: Run) -> None:
    """Wait until the turn has begun: its prompt is in the record."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if (threads := json.loads(run("threads", "--json")[1])["threads"]) and threads[0]["prompt"]:
            return
    pytest.fail("the turn does not begin")


def test_a_signal_at_the_protocol_cancels_and_then_leaves(
    piped: Callable[..., Process], script: Callable[[str], str]
) -> None:
    """chat-face: SIGINT as `cancel`; without a turn it ends with exit code 130."""
    process = piped("chat", "--json", "--model", script(SLOW), reads="stdout")
    process.type('{"type":"message","text":"Go."}\n')
    process.until('"delta"')
    process.process.send_signal(signal.SIGINT)
    process.until('"phase":"end"')
    process.until('"outcome":"cancelled"')
    process.process.send_signal(signal.SIGINT)
    process.until('{"type":"exit","code":130}')
    assert process.end() == 130


def test_input_may_stay_open_when_the_conversation_is_over(
    piped: Callable[..., Process], script: Callable[[str], str]
) -> None:
    """chat-face: The program ends although nobody closed its input."""
    process = piped("chat", "--json", "--model", script(SLOW), reads="stdout")
    process.until('"ready"')
    process.process.send_signal(signal.SIGINT)
    assert process.end() == 130


# --- a person at a terminal ---------------------------------------------------


@pytest.fixture
def person(environment: dict[str, str], tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start `counterfoil` at a terminal of its own, where a person types."""
    ends: list[int] = []
    begun: list[subprocess.Popen[bytes]] = []

    def _person(
        *arguments: str, out: Path | None = None, err: Path | None = None, **extra: str
    ) -> Process:
        types, reads = pty.openpty()
        ends.append(types)
        files = [
            os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) if path else reads
            for path in (out, err)
        ]
        process = subprocess.Popen(
            [sys.executable, "-c", _AT_TERMINAL, "-m", "counterfoil", *arguments],
            stdin=reads, stdout=files[0], stderr=files[1],
            cwd=tmp_path, env=environment | {"TERM": "dumb"} | extra, start_new_session=True,
        )  # fmt: skip
        for descriptor in {reads, *files}:
            os.close(descriptor)
        begun.append(process)
        return Process(process, types, types)

    yield _person
    for process in begun:
        with process:
            process.kill()
    for descriptor in ends:
        os.close(descriptor)


_AT_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Make the terminal the one whose Ctrl-C is ours, as a shell does."""

KEYS = "everywhere for 30 days: "


@pytest.mark.parametrize(("key", "is_made"), [("y", True), ("n", False)])
def test_a_person_approves_or_refuses_at_the_terminal(
    person: Callable[..., Process],
    script: Callable[[str], str],
    tmp_path: Path,
    key: str,
    is_made: bool,  # noqa: FBT001 - a column of the table
) -> None:
    """gate: The exact command, its level, why and where; what the person says is done."""
    process = person("chat", "--model", script(ASKING), "--thread", "t1")
    process.until("> ")
    process.type("Make it.\n")
    asked = process.until(KEYS)
    assert "Run this? moderate, in " in asked or "Run this? dangerous, in " in asked
    assert "\n  $ mkdir made; touch made/it\n" in asked
    process.type("what?\n")
    process.until(KEYS)
    process.type(f"{key}\n")
    said = process.until("\n> ")
    assert ("  approved by person · once" in said) == is_made
    assert (tmp_path / "made" / "it").exists() == is_made
    process.type("\x04")
    process.until("counterfoil chat --resume t1")
    assert process.end() == 0


def test_ctrl_c_at_the_terminal_cancels_and_at_the_prompt_leaves(
    person: Callable[..., Process], script: Callable[[str], str]
) -> None:
    """chat-face: Ctrl-C ends the turn that runs and says so; at the prompt it leaves."""
    process = person("chat", "--model", script(SLOW))
    process.until("> ")
    process.type("Go.\n")
    process.until("thinking")
    process.type("\x03")
    process.until("cancelled after ")
    process.until("> ")
    process.type("And?\n")
    assert "And on.\n" in process.until("\n> ")
    process.type("\x03")
    process.until("--resume")
    assert process.end() == 0


def test_a_question_is_withdrawn_by_ctrl_c(
    person: Callable[..., Process], script: Callable[[str], str], tmp_path: Path
) -> None:
    """gate: A turn that is cancelled while it asks has not been approved."""
    process = person("chat", "--model", script(ASKING))
    process.until("> ")
    process.type("Make it.\n")
    process.until(KEYS)
    process.type("\x03")
    assert "the question is withdrawn" in process.until("cancelled after ")
    process.until("> ")
    assert not (tmp_path / "made").exists()
    process.type("/quit\n")
    assert process.end() == 0


def test_a_person_types_commands_and_mistakes(
    person: Callable[..., Process], script: Callable[[str], str]
) -> None:
    """chat-face: A mistake is told and the conversation goes on; `!` runs a command."""
    process = person("chat", "--model", script('{"say":"Fine."}\n'))
    process.until("> ")
    for typed, words in (
        ("/recept\n", "hint: did you mean '/receipt'?"),
        ("/show 99\n", "error: no entry 99"),
        ("\n", "> "),
        ("Go.\n", "Fine.\n"),
        ("!echo mine; exit 3\n", "  exit status 3"),
        ("/show 4\n", "entry 4 · command · turn 1\n"),
        ("/last\n", "mine"),
    ):
        process.type(typed)
        process.until(words)
        if words != "> ":
            process.until("> ")
    process.type("/quit\n")
    assert process.end() == 0


def test_a_paste_of_several_lines_is_one_message(
    person: Callable[..., Process], script: Callable[[str], str]
) -> None:
    """chat-face: A terminal that marks what is pasted gives it whole."""
    process = person("chat", "--model", script('{"say":"Fine."}\n'), TERM="xterm")
    process.until("> ")
    process.type("\x1b[200~two\nlines\x1b[201~\n")
    process.until("Fine.")
    process.until("> ")
    process.type("/show 2\n")
    assert "two\nlines\n" in process.until("\n> ")
    process.type("/quit\n")
    assert process.end() == 0


def test_one_message_at_a_terminal_may_ask_its_person(
    person: Callable[..., Process], script: Callable[[str], str], tmp_path: Path
) -> None:
    """chat-face: --once at a terminal says one message, and can be approved."""
    process = person("chat", "--model", script(ASKING), "--once", "Make it.")
    process.until(KEYS)
    process.type("y\n")
    process.until("ran: run_command")
    assert process.end() == 0
    assert (tmp_path / "made" / "it").exists()


def test_the_prompt_stands_on_standard_error(
    person: Callable[..., Process], script: Callable[[str], str], tmp_path: Path
) -> None:
    """chat-face: With its output in a file a person still has a prompt; the file the reply."""
    for term in ("dumb", "xterm"):
        out = tmp_path / "out.txt"
        process = person("chat", "--model", script('{"say":"Fine."}\n'), out=out, TERM=term)
        process.until("> ")
        process.type("Go.\n")
        process.until("0.0 s")
        process.until("> ")
        process.type("/quit\n")
        assert process.end() == 0
        assert out.read_text("utf-8") == "Fine.\n"


def test_where_a_question_cannot_be_seen_nobody_is_asked(
    person: Callable[..., Process], script: Callable[[str], str], tmp_path: Path
) -> None:
    """gate: With standard error in a file a line is read as typed, and nothing is approved."""
    err = tmp_path / "err.txt"
    process = person("chat", "--model", script(ASKING), err=err)
    process.type("Go.\n")
    process.until("nobody is there to ask")
    process.type("\x04")
    assert process.end() == 0
    assert err.read_text("utf-8").count("> ") == 2
    assert not (tmp_path / "made").exists()


def test_earlier_prompts_are_at_hand_where_a_thread_is_resumed(
    person: Callable[..., Process], script: Callable[[str], str], run: Run
) -> None:
    """chat-face: The key for the line before brings them back."""
    model = script('{"say":"Fine."}\n')
    run("chat", "--model", model, "--thread", "t1", "--once", "What was it?")
    process = person("chat", "--model", model, "--resume", "t1", TERM="xterm")
    process.until("> ")
    process.type("\x10")
    process.until("What was it?")
    process.type("\n")
    process.until("Fine.")
    process.until("> ")
    process.type("/quit\n")
    assert process.end() == 0


def test_a_thread_that_another_process_has_is_not_taken(
    piped: Callable[..., Process], script: Callable[[str], str], run: Run
) -> None:
    """leases: The second one is told who has it, and ends with 2."""
    model = script('{"say":"Fine."}\n')
    process = piped("chat", "--json", "--model", model, "--thread", "t1", reads="stdout")
    process.until('"ready"')
    code, out, err = run("chat", "--model", model, "--resume", "t1", "--once", "Go.")
    assert (code, out) == (2, b"")
    assert str(process.process.pid) in err
    code, out, _ = run("chat", "--json", "--model", model, "--resume", "t1")
    assert code == 2
    note, exit_ = _lines(out)
    assert str(process.process.pid) in note["text"]
    assert exit_ == {"type": "exit", "code": 2}


@pytest.mark.parametrize(
    "locale", [{"LANG": "C"}, {"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}]
)
def test_what_is_typed_is_utf8_whatever_the_locale(
    person: Callable[..., Process], script: Callable[[str], str], locale: dict[str, str]
) -> None:
    """encoding: A person's letters reach the record as they are."""
    process = person("chat", "--model", script('{"say":"é – 漢"}\n'), **locale)
    process.until("> ")
    process.type("naïve 漢?\n")
    process.until("é – 漢\n")
    process.until("> ")
    process.type("/show 2\n")
    process.until("entry 2 · prompt · turn 1\nnaïve 漢?\n")
    process.until("> ")
    process.type("/quit\n")
    assert process.end() == 0
