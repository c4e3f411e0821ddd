"""Commands of a shell: on their own, and ended at their bounds, whatever they do."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from counterfoil.adapters.commands import ShellRunner, shell, watching
from counterfoil.core.errors import UnavailableError
from counterfoil.core.knowledge.grading import Execution
from counterfoil.ports.commands import CommandBounds

PATH = {"PATH": os.environ["PATH"]}
Run = Callable[..., Execution]


@pytest.fixture(params=["bash", "sh"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    """Run a command in a directory of its own, with each shell."""
    runner = ShellRunner() if request.param == "bash" else ShellRunner(["/bin/sh", "-c"])

    def _run(command: str, *, seconds: float = 20, size: int = 1 << 20) -> Execution:
        bounds = CommandBounds(
            directory=str(tmp_path), environment=PATH, seconds=seconds, size=size
        )
        return runner.run(command, bounds)

    return _run


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the time between the request to end and the end."""
    monkeypatch.setattr(shell, "GRACE", 0.2)


def _is_running(pid: int) -> bool:
    """Say whether a process runs; one that has ended and that nobody collected does not."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        if stat.parent.parent.joinpath("self").exists():
            return stat.read_text("ascii").rpartition(")")[2].split()[0] != "Z"
        os.kill(pid, 0)
    except (OSError, ProcessLookupError):
        return False
    return True


def _is_gone(pid: int) -> bool:
    """Wait until a process that was ended is gone, ten seconds at most."""
    end = time.monotonic() + 10
    while _is_running(pid):
        if time.monotonic() > end:
            return False
    return True


def _pid(path: Path) -> int:
    return int(path.read_text("ascii"))


def test_a_command_is_run_to_its_end(run: Run) -> None:
    """kb-grade: Its status and all that it says, on both streams in their order."""
    found = run("echo one; echo two >&2; echo three; exit 3")
    assert (found.exit_status, found.signal, found.output) == (3, None, "one\ntwo\nthree\n")
    assert (found.timed_out, found.is_cut) == (False, False)
    assert found.not_started is None
    assert 0 <= found.milliseconds < 20_000


def test_bytes_that_are_no_text_are_replaced(run: Run) -> None:
    """kb-grade: What a command says is text to whoever reads it."""
    assert run("printf 'a\\377b'").output == "a\ufffdb"


def test_a_command_has_no_input_and_its_own_environment(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kb-grade: Nothing of the caller's but what is given, and where it begins."""
    monkeypatch.setenv("COUNTERFOIL_SECRET", "told")
    found = run('cat; echo "<$COUNTERFOIL_SECRET>"; pwd -P')
    assert found.output == f"<>\n{tmp_path.resolve()}\n"


def test_a_command_has_a_group_of_its_own(run: Run) -> None:
    """kb-grade: Ending it ends nothing of the caller's."""
    script = "import os; print(os.getpgid(0), os.getsid(0))"
    group, thread = run(f"{sys.executable} -c '{script}'").output.split()
    assert group == thread
    assert int(group) != os.getpgid(0)


@pytest.mark.usefixtures("quick")
def test_a_command_is_ended_at_its_time(run: Run) -> None:
    """kb-grade: What it said until then is kept."""
    found = run("echo begun; sleep 60", seconds=2)
    assert found.timed_out
    assert (found.exit_status, found.signal, found.output) == (None, None, "begun\n")
    assert found.milliseconds < 20_000


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("seconds", [0, -1])
def test_no_time_is_a_bound_too(run: Run, seconds: float) -> None:
    """kb-grade: A command that has no time is ended at once."""
    assert run("sleep 60", seconds=seconds).timed_out


@pytest.mark.usefixtures("quick")
def test_a_command_that_ignores_the_request_is_ended(run: Run, tmp_path: Path) -> None:
    """kb-grade: With its children, which ignore it too."""
    stubborn = "trap '' TERM; sh -c 'echo $$ > child; while :; do sleep 1; done'"
    found = run(f"{stubborn} & until [ -s child ]; do :; done; trap '' TERM; yes", size=100)
    assert found.is_cut
    assert _is_gone(_pid(tmp_path / "child"))


@pytest.mark.usefixtures("quick")
def test_a_process_in_the_background_holds_nobody_up(run: Run, tmp_path: Path) -> None:
    """kb-grade: It keeps the output open; the command is over when it ends itself."""
    found = run("sleep 60 & echo $! > child; echo done")
    assert (found.exit_status, found.output, found.timed_out) == (0, "done\n", False)
    assert found.milliseconds < 15_000
    assert _is_gone(_pid(tmp_path / "child"))


def test_a_process_that_let_go_of_the_output_is_ended_too(run: Run, tmp_path: Path) -> None:
    """kb-grade: Nothing that a check started goes on behind it."""
    found = run("sleep 60 >/dev/null 2>&1 & echo $! > child; echo done")
    assert (found.exit_status, found.output) == (0, "done\n")
    assert _is_gone(_pid(tmp_path / "child"))


@pytest.mark.usefixtures("quick")
def test_a_process_that_left_the_group_holds_nobody_up(run: Run, tmp_path: Path) -> None:
    """kb-grade: It is not found, and its hold on the output is not waited for."""
    script = "import os, time; os.setsid(); open('child', 'w').write(str(os.getpid()));"
    script += "print('up', flush=True); time.sleep(60)"
    found = run(f'{sys.executable} -c "{script}" & while [ ! -s child ]; do :; done; echo done')
    pid = _pid(tmp_path / "child")
    try:
        assert found.exit_status == 0
        assert found.output.splitlines()[-1:] in (["done"], ["up"])
    finally:
        os.kill(pid, 9)


def test_a_command_that_closes_its_output_is_waited_for(run: Run) -> None:
    """kb-grade: It is over when it ends, and not before."""
    found = run("exec >&- 2>&-; sleep 0.2; exit 5")
    assert (found.exit_status, found.output) == (5, "")
    assert found.milliseconds >= 200


@pytest.mark.usefixtures("quick")
def test_the_time_runs_when_the_output_is_closed(run: Run) -> None:
    """kb-grade: A command that says nothing any more has its bound, too."""
    assert run("exec >&- 2>&-; sleep 60", seconds=0.2).timed_out


@pytest.mark.parametrize(("said", "is_cut"), [(999, False), (1000, False), (1001, True)])
def test_an_output_is_kept_up_to_its_bound(
    run: Run,
    said: int,
    is_cut: bool,  # noqa: FBT001 - a case
) -> None:
    """kb-grade: That it was cut is known, and then nothing is said about its end."""
    found = run(f"head -c {said} /dev/zero | tr '\\0' x", size=1000)
    assert found.is_cut is is_cut
    assert len(found.output) == min(said, 1000)
    assert found.exit_status == (None if is_cut else 0)


@pytest.mark.usefixtures("quick")
def test_a_command_that_never_stops_talking_is_ended(run: Run) -> None:
    """kb-grade: At its bound, long before its time."""
    found = run("yes", size=10_000)
    assert found.is_cut
    assert not found.timed_out
    assert found.output == "y\n" * 5_000


def test_a_signal_from_outside_is_told(run: Run) -> None:
    """kb-grade: Somebody else ended it."""
    found = run("kill -KILL $$")
    assert (found.exit_status, found.signal, found.timed_out) == (None, 9, False)


@pytest.mark.parametrize("command", ["echo a\0b"])
def test_a_command_that_cannot_be_given_does_not_start(run: Run, command: str) -> None:
    """kb-grade: It is an answer like the others."""
    found = run(command)
    assert found.not_started
    assert found.exit_status is None


def test_a_directory_or_shell_that_is_not_there_starts_nothing(tmp_path: Path) -> None:
    """kb-grade: The answer says what is missing."""
    nowhere = CommandBounds(directory=str(tmp_path / "nowhere"), environment=PATH)
    assert "nowhere" in (ShellRunner().run("true", nowhere).not_started or "")
    here = CommandBounds(directory=str(tmp_path), environment=PATH)
    assert ShellRunner(["/no/shell", "-c"]).run("true", here).not_started


@pytest.mark.usefixtures("quick")
def test_whoever_is_interrupted_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kb-grade: A command ends with the one that waits for it."""
    child = tmp_path / "child"

    def interrupted(_: object) -> bool:
        if child.exists() and child.read_text("ascii").endswith("\n"):
            monkeypatch.undo()
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr(watching, "_has_ended", interrupted)
    bounds = CommandBounds(directory=str(tmp_path), environment=PATH)
    with pytest.raises(KeyboardInterrupt):
        ShellRunner().run("echo $$ > child; sleep 60", bounds)
    assert _is_gone(_pid(child))


def test_a_process_that_somebody_else_collected_has_ended(tmp_path: Path) -> None:
    """kb-grade: A program that ignores the end of its children loses the status alone."""
    script = (
        "import signal, sys\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "from counterfoil.adapters.commands import ShellRunner\n"
        "from counterfoil.ports.commands import CommandBounds\n"
        f"bounds = CommandBounds(directory={str(tmp_path)!r}, environment={PATH!r})\n"
        "print(ShellRunner().run('echo said', bounds).output, end='')\n"
    )
    found = ShellRunner([sys.executable, "-c"]).run(
        script, CommandBounds(directory=str(tmp_path), environment=dict(os.environ))
    )
    assert (found.exit_status, found.output) == (0, "said\n")


def test_no_command_is_run_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """kb-grade: It is said in one line."""
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(UnavailableError, match="Windows"):
        ShellRunner(["sh", "-c"]).run("true", CommandBounds(directory=".", environment={}))
