"""Commands of a shell, each in a process group of its own, ended at its bounds.

A command gets the environment that it is given and nothing else, and no input. What it
says on both streams is read in the order in which it says it. At a bound its whole group
is asked to end, and is ended a second later. A process that goes on in the background
and keeps the output open holds nobody up: the command is over when it ends itself, and
what it leaves in its group is ended with it. A process that left the group is not found.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector
from time import monotonic, sleep

from counterfoil.core.errors import UnavailableError
from counterfoil.core.knowledge.grading import Execution
from counterfoil.ports.commands import CommandBounds

GRACE = 1.0
"""Seconds between the request to end and the end."""

_PIECE = 1 << 16
_SHORTEST, _LONGEST = 0.001, 0.02
"""Seconds between two looks at a command that says nothing, doubled from one to the next."""


class ShellRunner:
    """Runs each command with a shell: by default Bash where it is found, else `sh`."""

    def __init__(self, shell: Sequence[str] | None = None) -> None:
        """Run `shell`, whose last word is its option for a command, before each command."""
        self._shell = tuple(shell) if shell else (shutil.which("bash") or "/bin/sh", "-c")

    def run(self, command: str, bounds: CommandBounds) -> Execution:
        """Return how `command` ended; raise `UnavailableError` on Windows."""
        if sys.platform == "win32":
            raise UnavailableError("commands are not run on Windows", "Linux or macOS")
        started = monotonic()
        try:
            process = subprocess.Popen(  # noqa: S603 - to run what it is given is what it is for
                [*self._shell, command],
                cwd=bounds.directory,
                env=dict(bounds.environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:  # a NUL in the command is a ValueError
            return Execution(not_started=str(error))
        watched = _Watched(process, bounds.size)
        try:
            watched.watch(started + bounds.seconds)
        finally:
            watched.end()
        return watched.execution(int((monotonic() - started) * 1000))


class _Watched:
    """A process that was started, and what it has said, up to `size` bytes."""

    def __init__(self, process: subprocess.Popen[bytes], size: int) -> None:
        assert process.stdout is not None  # noqa: S101 - it was asked for
        self._process = process
        self._size = size
        self._pipe = process.stdout
        self._selector = DefaultSelector()
        self._selector.register(self._pipe, EVENT_READ)
        self._is_open = True
        self._said = bytearray()
        self._is_cut = False
        self._timed_out = False

    def watch(self, end: float) -> None:
        """Keep what the command says until it ends, it says too much, or the time is `end`."""
        pause = _SHORTEST
        while not (self._is_cut or self._timed_out):
            has_ended = _has_ended(self._process)  # asked first: what it said is then there
            left = 0.0 if has_ended else end - monotonic()
            if left < 0:
                self._timed_out = True
            elif said := self._read(min(left, pause)):
                self._keep(said)
            elif has_ended:
                return
            pause = min(2 * pause, _LONGEST)

    def end(self) -> None:
        """End everything in the group that has not ended, and collect the process."""
        try:
            if self._is_open or not _has_ended(self._process):
                self._signal(signal.SIGTERM)
                self._wait_out(monotonic() + GRACE)
        finally:
            self._signal(signal.SIGKILL)
            with suppress(subprocess.TimeoutExpired):  # one that became another user's
                self._process.wait(GRACE)
            self._selector.close()
            self._pipe.close()

    def execution(self, milliseconds: int) -> Execution:
        """Return how it ended: at a bound neither with a status nor by a stranger's signal."""
        status = None if self._timed_out or self._is_cut else self._process.returncode
        return Execution(
            exit_status=status if status is None or status >= 0 else None,
            signal=-status if status is not None and status < 0 else None,
            output=self._said.decode("utf-8", "replace"),
            milliseconds=milliseconds,
            timed_out=self._timed_out,
            is_cut=self._is_cut,
        )

    def _wait_out(self, end: float) -> None:
        """Wait until the group has let go of the output, and drop what it still says."""
        while self._is_open or not _has_ended(self._process):
            left = end - monotonic()
            if left <= 0:
                return
            self._read(min(left, _LONGEST))

    def _read(self, wait: float) -> bytes:
        """Return what is said within `wait` seconds; nothing, too, when all is said."""
        if not self._is_open:
            sleep(wait)
            return b""
        if not self._selector.select(wait):
            return b""
        said = os.read(self._pipe.fileno(), _PIECE)
        self._is_open = bool(said)
        return said

    def _keep(self, said: bytes) -> None:
        room = self._size - len(self._said)
        self._said += said[:room]
        self._is_cut = len(said) > room

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal to the group, whose id is its own as long as nobody collected it."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


if sys.platform == "darwin":

    def _has_ended(process: subprocess.Popen[bytes]) -> bool:
        return process.poll() is not None  # Python 3.11 has no `waitid` there

else:

    def _has_ended(process: subprocess.Popen[bytes]) -> bool:
        """Say whether the process has ended, without collecting it."""
        with suppress(ChildProcessError):  # somebody else did, so that it has ended
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, process.pid, flags) is not None
        return True
