"""Commands that check a claim: each in a group of its own, ended at its bounds.

A command gets the environment that it is given and nothing else, and no input. What it
says on both streams is read in the order in which it says it, up to a bound, and then it
is ended: a check that says more than that checks nothing.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from time import monotonic

from counterfoil.adapters.commands.keeping import Head
from counterfoil.adapters.commands.watching import Watched
from counterfoil.core.errors import UnavailableError
from counterfoil.core.knowledge.grading import Execution
from counterfoil.ports.commands import CommandBounds

GRACE = 1.0
"""Seconds between the request to end and the end."""


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
            process = self._start(command, bounds)
        except (OSError, ValueError) as error:  # a NUL in the command is a ValueError
            return Execution(not_started=str(error))
        assert process.stdout is not None  # noqa: S101 - it was asked for
        head = Head(bounds.size)
        watched = Watched(process, {process.stdout: head})
        try:
            watched.watch(started + bounds.seconds)
            output = head.text()  # what is said at the end that it is brought to is not its own
        finally:
            watched.end(GRACE)
        milliseconds = int((monotonic() - started) * 1000)
        status = process.returncode if watched.stopped is None else None
        return Execution(
            exit_status=status if status is None or status >= 0 else None,
            signal=-status if status is not None and status < 0 else None,
            output=output,
            milliseconds=milliseconds,
            timed_out=watched.stopped == "timed_out",
            is_cut=watched.stopped == "full",
        )

    def _start(self, command: str, bounds: CommandBounds) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - to run what it is given is what it is for
            [*self._shell, command],
            cwd=bounds.directory,
            env=dict(bounds.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
