"""Commands of an agent: bounded in time and in what is kept, confined or not."""

import os
import select
import shlex
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from counterfoil.adapters.commands import ConfinedRunner
from counterfoil.adapters.commands.environment import environment_of
from counterfoil.adapters.commands.keeping import Tail
from counterfoil.adapters.commands.launching import Launcher
from counterfoil.adapters.commands.wrapping import Unconfined, Wrapping
from counterfoil.ports.tools import CommandEnd, CommandRequest, ToolRunner

Run = Callable[..., CommandEnd]
PYTHON = shlex.quote(sys.executable)


def _never() -> bool:
    return False


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Name the folder in which the commands run, which they may write."""
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


@pytest.fixture(params=["none", "confined"])
def runner(request: pytest.FixtureRequest, here: Path, tmp_path: Path) -> ToolRunner:
    """Make a runner of each kind; the confined one only where that works."""
    runner = ConfinedRunner([here], tmp_path / "home", confine=request.param == "confined")
    if request.param == "confined" and runner.sandbox == "none":
        pytest.skip("no confinement works here")
    return runner


@pytest.fixture
def run(runner: ToolRunner, here: Path) -> Run:
    """Run a command, with the fields of its request that are given."""

    def _run(
        command: str, *, is_cancelled: Callable[[], bool] = _never, **fields: object
    ) -> CommandEnd:
        request = CommandRequest(command=command, directory=str(here), seconds=30.0, grace=10.0)
        return runner.run(replace(request, **fields), is_cancelled)  # type: ignore[arg-type]

    return _run


class Fifo:
    """A pipe with a name, which tells whether anybody holds its other end."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def said(self) -> bytes:
        """Return all that is said until nobody holds the other end, in ten seconds."""
        said = bytearray()
        while select.select([self._end], [], [], 10)[0]:
            piece = os.read(self._end, 1000)
            if not piece:
                return bytes(said)
            said += piece
        pytest.fail("somebody still holds the pipe")

    def close(self) -> None:
        """Let go of this end."""
        os.close(self._end)


@pytest.fixture
def fifo(here: Path) -> Iterator[Fifo]:
    """Make a pipe with the name `fifo`, which processes open to be seen."""
    made = Fifo(here / "fifo")
    yield made
    made.close()


def test_a_command_is_run_to_its_end(run: Run, runner: ToolRunner) -> None:
    """tool-runner: Its status as it was, and each stream apart."""
    end = run("echo one; echo two >&2; exit 3")
    assert (end.exit_status, end.signal, end.stdout, end.stderr) == (3, None, "one\n", "two\n")
    assert (end.timed_out, end.is_cancelled, end.truncated) == (False, False, False)
    assert end.not_started is None
    assert end.sandbox == runner.sandbox
    assert 0 <= end.milliseconds < 30_000


def test_a_command_has_no_input(run: Run) -> None:
    """tool-runner: stdin is closed."""
    end = run("cat; [ -t 0 ] || echo none")
    assert (end.exit_status, end.stdout) == (0, "none\n")


def test_a_command_begins_where_it_is_told(run: Run, here: Path) -> None:
    """tool-runner: The directory is that of the request, past its links."""
    (here / "below").mkdir()
    (here / "link").symlink_to("below")
    assert run("pwd -P", directory=str(here / "link")).stdout == f"{here.resolve()}/below\n"


def test_a_command_has_a_group_of_its_own(run: Run) -> None:
    """tool-runner: Ending it ends nothing of the caller's."""
    script = "import os; print(os.getpgid(0))"
    assert run(f"{PYTHON} -c {shlex.quote(script)}").stdout != f"{os.getpgid(0)}\n"


@pytest.mark.parametrize(
    ("command", "status"),
    [("exit 0", 0), ("exit 137", 137), ("exit 255", 255), ("kill -KILL $$", -9)]
    + [(f"kill -{name} $$", -number) for name, number in (("TERM", 15), ("INT", 2), ("PIPE", 13))],
)
def test_a_status_is_as_it_was_and_that_of_a_signal_negated(
    run: Run, command: str, status: int
) -> None:
    """tool-runner: What a shell makes of a signal is another thing than a signal."""
    end = run(command)
    assert end.exit_status == status
    assert end.signal == (-status if status < 0 else None)
    assert not end.timed_out


def test_a_writer_without_a_reader_is_ended_quietly(run: Run) -> None:
    """tool-runner: The signals of a command are what they are everywhere."""
    end = run("yes | head -n 2")
    assert (end.exit_status, end.stdout, end.stderr) == (0, "y\ny\n", "")


def test_a_command_is_ended_at_its_time(run: Run) -> None:
    """tool-runner: What it said until then is kept, and how it ended."""
    end = run("echo begun; exec sleep 60", seconds=1.5)
    assert (end.timed_out, end.is_cancelled) == (True, False)
    assert (end.exit_status, end.signal, end.stdout) == (-15, 15, "begun\n")
    assert 1_500 <= end.milliseconds < 11_000


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_no_time_is_a_bound_too(run: Run, seconds: float) -> None:
    """tool-runner: A command that has no time is ended at once."""
    end = run("sleep 60", seconds=seconds, grace=0.1)
    assert end.timed_out
    assert end.signal is not None


@pytest.mark.parametrize("grace", [0.1, 0.0, -1.0, float("nan")])
def test_what_ignores_the_request_is_ended(run: Run, here: Path, fifo: Fifo, grace: float) -> None:
    """tool-runner: SIGKILL to the group after the grace, children and all."""
    stubborn = "trap '' TERM; exec 9>fifo; echo up >&9; while :; do sleep 1; done"
    command = f"({stubborn}) & {stubborn.replace('up', 'up; : > begun')}"
    end = run(command, is_cancelled=(here / "begun").exists, grace=grace)
    assert (end.exit_status, end.signal, end.is_cancelled) == (-9, 9, True)
    assert set(fifo.said()) <= set(b"up\n")


def test_what_a_command_does_at_the_request_is_waited_for(run: Run, here: Path) -> None:
    """tool-runner: It has its grace to clean up, and what it says is kept."""
    command = "trap 'echo cleaned; exit 4' TERM; : > begun; while :; do sleep 0.05; done"
    end = run(command, is_cancelled=(here / "begun").exists)
    assert (end.exit_status, end.signal, end.stdout) == (4, None, "cleaned\n")
    assert (end.is_cancelled, end.timed_out) == (True, False)


def test_a_command_that_is_not_wanted_any_more_does_not_start(run: Run, here: Path) -> None:
    """tool-runner: Cancelled before it began, it does nothing."""
    end = run(": > begun", is_cancelled=lambda: True)
    assert end.is_cancelled
    assert end.not_started
    assert end.exit_status is None
    assert not (here / "begun").exists()


def test_a_command_is_asked_for_often(run: Run) -> None:
    """tool-runner: Cancelling it takes no longer than 20 milliseconds to be seen."""
    asked: list[float] = []

    def is_cancelled() -> bool:
        asked.append(time.monotonic())
        return False

    assert run("sleep 0.5", is_cancelled=is_cancelled).exit_status == 0
    gaps = [later - sooner for sooner, later in pairwise(asked)]
    assert statistics.median(gaps) <= 0.02


def test_whoever_fails_while_waiting_leaves_nothing_behind(
    run: Run, here: Path, fifo: Fifo
) -> None:
    """tool-runner: A command ends with the one that waits for it."""

    def is_cancelled() -> bool:
        if (here / "begun").exists():
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        run("exec 9>fifo; echo up >&9; : > begun; sleep 60", is_cancelled=is_cancelled)
    assert fifo.said() == b"up\n"


def test_a_process_in_the_background_holds_nobody_up(run: Run, fifo: Fifo) -> None:
    """tool-runner: It keeps both streams open, and is ended with the command."""
    end = run(
        "sh -c 'exec 9>fifo; echo up >&9; : > begun; exec sleep 60' &"
        " until [ -e begun ]; do :; done; echo done"
    )
    assert (end.exit_status, end.stdout, end.timed_out) == (0, "done\n", False)
    assert end.milliseconds < 30_000
    assert fifo.said() == b"up\n"


def test_a_process_in_the_background_that_talks_on_is_not_listened_to(run: Run) -> None:
    """tool-runner: The last that is kept is of the command, not of what it left."""
    script = "(trap '' TERM; until [ -e over ]; do :; done; yes) & echo important; : > over"
    end = run(script, kept=100, grace=0.2)
    assert end.exit_status == 0
    assert end.stdout.startswith("important") or set(end.stdout) <= set("y\n")


def test_a_process_that_was_started_twice_over_is_ended(run: Run, fifo: Fifo) -> None:
    """tool-runner: An orphan of the group is in the group."""
    orphan = "(sh -c 'exec 9>fifo >/dev/null 2>&1; echo up >&9; : > begun; exec sleep 60' &)"
    assert run(f"{orphan}; until [ -e begun ]; do :; done").exit_status == 0
    assert fifo.said() == b"up\n"


def test_a_process_that_left_the_group_is_ended_where_it_is_confined(
    run: Run, runner: ToolRunner, here: Path, fifo: Fifo
) -> None:
    """tool-runner: Elsewhere it is not found, and yet holds nobody up."""
    script = (
        "import os, time; os.setsid(); open('pid', 'w').write(str(os.getpid()));"
        "out = open('fifo', 'w'); out.write('up'); out.flush(); open('begun', 'w'); time.sleep(60)"
    )
    end = run(
        f"{PYTHON} -c {shlex.quote(script)} & until [ -e begun ]; do :; done; echo done", grace=0.1
    )
    assert (end.exit_status, end.stdout) == (0, "done\n")
    if runner.sandbox != "bubblewrap":
        os.kill(int((here / "pid").read_text("ascii")), 9)
    assert fifo.said() == b"up"


def test_a_command_that_closes_its_streams_is_waited_for(run: Run) -> None:
    """tool-runner: It is over when it ends, and not before."""
    end = run("exec >&- 2>&-; sleep 0.2; exit 5")
    assert (end.exit_status, end.stdout, end.stderr) == (5, "", "")
    assert end.milliseconds >= 200


def test_the_time_runs_when_the_streams_are_closed(run: Run) -> None:
    """tool-runner: A command that says nothing any more has its bound, too."""
    assert run("exec >&- 2>&-; exec sleep 60", seconds=0.5).timed_out


def test_much_is_said_on_both_streams_at_once(run: Run) -> None:
    """tool-runner: Neither is waited for while the other is full."""
    much = "head -c 20000000 /dev/zero | tr '\\0'"
    end = run(f"{much} e >&2 & {much} o; wait", kept=1000, seconds=120)
    assert (end.exit_status, end.truncated) == (0, True)
    assert (end.stdout, end.stderr) == ("o" * 1000, "e" * 1000)


def test_a_command_may_say_what_it_likes(run: Run) -> None:
    """tool-runner: A hundred megabytes end nothing, and memory stays as it was."""
    kept = 1 << 20
    tracemalloc.start()
    try:
        end = run("head -c 100000000 /dev/zero; echo last", kept=kept, seconds=120)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (end.exit_status, end.truncated) == (0, True)
    assert len(end.stdout) == kept
    assert end.stdout.endswith("\0last\n")
    assert most < 8 * kept


@pytest.mark.parametrize("said", [999, 1000, 1001])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_of_each_stream_the_last_is_kept(run: Run, said: int, stream: str) -> None:
    """tool-runner: Truncated is what was said beyond the bound, and nothing else."""
    to = "" if stream == "stdout" else ">&2"
    end = run(f"(printf a; head -c {said - 2} /dev/zero | tr '\\0' x; printf z) {to}", kept=1000)
    text = end.stdout if stream == "stdout" else end.stderr
    assert text == ("a" + "x" * (said - 2) + "z")[-1000:]
    assert end.truncated is (said > 1000)
    assert end.exit_status == 0


@pytest.mark.parametrize(("said", "truncated"), [("true", False), ("echo x", True)])
@pytest.mark.parametrize("kept", [0, -1])
def test_of_nothing_nothing_is_kept(run: Run, said: str, truncated: bool, kept: int) -> None:  # noqa: FBT001 - a case
    """tool-runner: A bound of nothing is one."""
    end = run(said, kept=kept)
    assert (end.stdout, end.truncated) == ("", truncated)


def test_bytes_that_are_no_text_are_replaced(run: Run) -> None:
    """tool-runner: What a command says is text to whoever reads it, NUL and all."""
    assert run("printf 'a\\377b\\000c\\r\\n'").stdout == "a\ufffdb\0c\r\n"
    end = run("head -c 100000 /dev/urandom", kept=5000)
    assert end.exit_status == 0
    assert end.stdout.encode()


@pytest.mark.parametrize(
    ("said", "kept", "text"),
    [
        ("€uro", 6, "€uro"),
        ("€uro", 5, "uro"),
        ("€uro", 4, "uro"),
        ("€uro", 3, "uro"),
        ("€", 2, ""),
        ("😀!", 4, "!"),
        ("a😀", 4, "😀"),
    ],
)
def test_a_character_is_kept_whole_or_not_at_all(said: str, kept: int, text: str) -> None:
    """tool-runner: The cut falls between two characters."""
    tail = Tail(kept)
    for byte in said.encode():
        tail.keep(bytes([byte]))
    assert tail.text() == text


def test_bytes_that_continue_nothing_are_no_rest_of_a_character() -> None:
    """tool-runner: What is no text is not taken for a cut."""
    tail = Tail(5)
    tail.keep(b"\x80" * 9)
    assert tail.text() == "\ufffd" * 5


@pytest.mark.parametrize("command", ["echo a\0b", "echo \ud800", "x" * 3_000_000])
def test_a_command_that_cannot_be_given_does_not_start(run: Run, command: str) -> None:
    """tool-runner: It is an answer like the others."""
    end = run(command)
    assert end.not_started
    assert (end.exit_status, end.signal) == (None, None)


def test_a_command_is_run_as_it_is_written(run: Run) -> None:
    """tool-runner: The exact bytes, whatever characters and lines they are."""
    assert run("echo 'é 日本 \"$HOME\"\\'\necho two").stdout == 'é 日本 "$HOME"\\\ntwo\n'
    assert run("").exit_status == 0
    assert run("-c").exit_status == 127  # a command, and no option of the shell
    assert run("echo " + "x" * 100_000, kept=10).stdout == "x" * 9 + "\n"


@pytest.mark.parametrize("name", ["nowhere", "file", "", "a\0b", "gone/../.."])
def test_a_directory_that_does_not_exist_starts_nothing(run: Run, here: Path, name: str) -> None:
    """tool-runner: The answer says which."""
    (here / "file").touch()
    end = run(": > begun", directory=str(here / name) if name else "")
    assert end.not_started
    assert repr(str(here / name) if name else "") in end.not_started
    assert not (here / "begun").exists()


def test_a_directory_may_vanish_under_a_command(run: Run, here: Path) -> None:
    """tool-runner: The command has its own end."""
    (here / "below").mkdir()
    end = run(f"rmdir {shlex.quote(str(here / 'below'))}; exit 6", directory=str(here / "below"))
    assert end.exit_status == 6
    assert not (here / "below").exists()


def test_a_directory_that_vanishes_before_the_command_starts_nothing(here: Path) -> None:
    """tool-runner: It was there when it was looked for, and is an answer still."""

    class Vanishing(Unconfined):
        def words(self, command: bytes, directory: str, report: int) -> list[str | bytes]:
            Path(directory).rmdir()
            return super().words(command, directory, report)

    wrapping: Wrapping = Vanishing()
    request = CommandRequest(command="true", directory=str(here))
    assert str(here) in (Launcher(wrapping=wrapping).run(request, _never).not_started or "")


def test_no_descriptor_is_left_open(run: Run) -> None:
    """tool-runner: A thread runs commands for days."""
    run("true")
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208 - names of descriptors
    run("echo said")
    run("echo a\0b")
    run("sleep 60", seconds=0, grace=0)
    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208


def test_a_command_has_no_descriptor_but_its_streams(run: Run) -> None:
    """tool-runner: Nothing of the program's is open to it."""
    assert run("for n in 3 4 5 6 7 8 9; do (: >&$n) 2>/dev/null && echo $n; done").stdout == ""


def test_no_command_is_run_on_windows(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """tool-runner: It is said in one line."""
    monkeypatch.setattr(sys, "platform", "win32")
    assert run("true").not_started == "commands are not run on Windows"


def test_a_command_gets_the_environment_that_is_listed(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """tool-runner: Nothing of a secret, and nothing of Counterfoil."""
    monkeypatch.setenv("COUNTERFOIL_HOME", "told")
    monkeypatch.setenv("OPENAI_API_KEY", "told")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    names = ["HTTPS_PROXY", "COUNTERFOIL_HOME"]
    runner = ConfinedRunner([here], tmp_path / "home", environment=names)
    end = runner.run(CommandRequest(command="env", directory=str(here)), _never)
    assert "told" not in end.stdout
    assert "HTTPS_PROXY=http://127.0.0.1:1\n" in end.stdout
    assert "TERM=dumb\n" in end.stdout
    assert f"PATH={os.environ['PATH']}\n" in end.stdout


def test_what_an_environment_keeps_is_listed() -> None:
    """tool-runner: Names that programs need, those configured, and no other."""
    own = {
        "PATH": "/bin", "HOME": "/h", "LANG": "C", "LC_ALL": "C", "TMPDIR": "/t", "USER": "u",
        "SHELL": "/bin/sh", "TERM": "xterm", "AWS_SECRET_ACCESS_KEY": "s", "SSH_AUTH_SOCK": "/s",
        "LD_PRELOAD": "x", "EXTRA": "e", "COUNTERFOIL_TOKEN": "t", "counterfoil_token": "t",
    }  # fmt: skip
    kept = environment_of(own, ["EXTRA", "MISSING", "COUNTERFOIL_TOKEN", "counterfoil_token"])
    names = {"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "SHELL", "TERM", "EXTRA"}
    assert set(kept) == names
    assert kept["TERM"] == "dumb"
    assert environment_of(own, ["TERM"])["TERM"] == "xterm"
    assert environment_of({}) == {"TERM": "dumb"}
