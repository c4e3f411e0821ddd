"""A command of an agent, from its start to its end; what cannot be started is an answer."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import FileIO
from time import monotonic

from counterfoil.adapters.commands.bubblewrap import is_begun, reported_status
from counterfoil.adapters.commands.keeping import Tail
from counterfoil.adapters.commands.watching import Watched
from counterfoil.adapters.commands.wrapping import Unconfined, Wrapping
from counterfoil.ports.tools import CommandEnd, CommandRequest

_REPORT = 64
"""Bytes of a report that are looked at, the last ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """Starts commands, each within `wrapping` and with no other environment than this."""

    wrapping: Wrapping = field(default_factory=Unconfined)
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    def run(self, request: CommandRequest, is_cancelled: Callable[[], bool]) -> CommandEnd:
        """Return how the command of `request` ended."""
        started = monotonic()
        sandbox = self.wrapping.sandbox
        if is_cancelled():
            why = "cancelled before it began"
            return CommandEnd(not_started=why, is_cancelled=True, sandbox=sandbox)
        if fault := _fault(request.directory):
            return CommandEnd(not_started=fault, sandbox=sandbox)
        try:
            process, report = self._start(request)
        except (OSError, ValueError) as error:  # a NUL in the command is a ValueError
            return CommandEnd(not_started=str(error), sandbox=sandbox)
        heard = _Heard(process, report, request.kept)
        try:
            heard.watched.watch(started + request.seconds, is_cancelled)
        finally:
            heard.watched.end(request.grace)
        return heard.command_end(self.wrapping, int((monotonic() - started) * 1000))

    def _start(self, request: CommandRequest) -> tuple[subprocess.Popen[bytes], FileIO]:
        """Start the command, and return it with the end of its report that is read."""
        directory = os.path.realpath(request.directory)
        reading, writing = os.pipe()
        try:
            process = subprocess.Popen(  # noqa: S603 - to run what it is given is what it is for
                self.wrapping.words(request.command.encode(), directory, writing),
                cwd=directory,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=(writing,) if self.wrapping.reports else (),
                start_new_session=True,
            )
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        return process, FileIO(reading)


class _Heard:
    """A process that was started, and what is heard of it."""

    def __init__(self, process: subprocess.Popen[bytes], report: FileIO, kept: int) -> None:
        assert process.stdout is not None  # noqa: S101 - they were asked for
        assert process.stderr is not None  # noqa: S101
        self._process = process
        self._stdout, self._stderr, self._report = Tail(kept), Tail(kept), Tail(_REPORT)
        self.watched = Watched(
            process,
            {process.stdout: self._stdout, process.stderr: self._stderr, report: self._report},
        )

    def command_end(self, wrapping: Wrapping, milliseconds: int) -> CommandEnd:
        """Return how the command ended, which was not even started without a report of it."""
        report, stopped, status = self._report.text(), self.watched.stopped, self._status(wrapping)
        if wrapping.reports and stopped is None and not is_begun(report):
            why = self._stderr.text().strip() or f"{wrapping.sandbox} ended with {status}"
            return CommandEnd(not_started=why, sandbox=wrapping.sandbox)
        return CommandEnd(
            exit_status=status,
            signal=-status if status is not None and status < 0 else None,
            timed_out=stopped == "timed_out",
            is_cancelled=stopped == "cancelled",
            truncated=self._stdout.is_cut or self._stderr.is_cut,
            stdout=self._stdout.text(),
            stderr=self._stderr.text(),
            milliseconds=milliseconds,
            sandbox=wrapping.sandbox,
        )

    def _status(self, wrapping: Wrapping) -> int | None:
        status = self._process.returncode
        return reported_status(self._report.text(), status) if wrapping.reports else status


def _fault(directory: str) -> str | None:
    """Return why nothing can start in `directory`, `None` where something may."""
    if sys.platform == "win32":
        return "commands are not run on Windows"
    if not os.path.isdir(directory):  # noqa: PTH112 - a name with a NUL is none, too
        return f"the directory {directory!r} does not exist"
    return None
