"""A command that was started: listened to, waited for, and ended with its whole group.

What is read goes to a keeper a stream. At a bound the group is asked to end (SIGTERM),
and is ended (SIGKILL) when its grace is over. A process that goes on in the background
and keeps a stream open holds nobody up: the command is over when it ends itself, and what
it leaves in its group is ended with it. A process that left the group is not found.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from io import FileIO
from selectors import EVENT_READ, DefaultSelector
from time import monotonic, sleep
from typing import IO, Literal, TypeAlias, cast

from counterfoil.adapters.commands.keeping import PIECE, Keeper

Stop = Literal["timed_out", "cancelled", "full"]
"""Why a command was not left to end itself."""

Stream: TypeAlias = IO[bytes] | FileIO

_CAPACITY = 1 << 20
"""Bytes in a pipe, at most; what comes after is said by somebody who goes on."""

_COLLECT = 1.0
"""Seconds for a process that was ended to be gone; one of another user's stays."""

_SHORTEST, _LONGEST = 0.001, 0.01
"""Seconds between two looks at a command that says nothing, doubled from one to the next."""


def _never() -> bool:
    return False


class Watched:
    """A process that leads a group, and the streams of it that are read.

    `stopped` is why it is to be ended, `None` as long as it may end itself.
    """

    def __init__(self, process: subprocess.Popen[bytes], streams: Mapping[Stream, Keeper]) -> None:
        """Watch `process`; the `streams` are closed with it."""
        self.stopped: Stop | None = None
        self._process = process
        self._streams = streams
        self._is_over = False
        self._selector = DefaultSelector()
        for stream, keeper in streams.items():
            self._selector.register(stream, EVENT_READ, keeper)

    def watch(self, end: float, is_cancelled: Callable[[], bool] = _never) -> None:
        """Keep what is said until the process ends, or is to be ended: `end` is a time."""
        pause = _SHORTEST
        while not _has_ended(self._process):
            self.stopped = self._stop(end, is_cancelled)
            if self.stopped is not None:
                return
            self._read(min(end - monotonic(), pause))
            pause = min(2 * pause, _LONGEST)
        self._read_rest()
        self._is_over = True
        if self._is_full():
            self.stopped = "full"

    def end(self, grace: float) -> None:
        """End everything in the group that has not ended, and collect the process.

        What a command that was stopped says within the `grace`, in seconds, is kept like
        the rest; what is said behind one that ended itself is not.
        """
        try:
            if self._selector.get_map() or not _has_ended(self._process):
                self._signal(signal.SIGTERM)
                self._wait_out(monotonic() + grace)
        finally:
            self._signal(signal.SIGKILL)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_COLLECT)
            self._selector.close()
            for stream in self._streams:
                stream.close()

    def _stop(self, end: float, is_cancelled: Callable[[], bool]) -> Stop | None:
        if self._is_full():
            return "full"
        if is_cancelled():
            return "cancelled"
        return None if monotonic() < end else "timed_out"

    def _is_full(self) -> bool:
        return any(keeper.is_full for keeper in self._streams.values())

    def _read_rest(self) -> None:
        """Read what is there; somebody in the background may never stop talking."""
        for _ in range(_CAPACITY // PIECE + 1):
            if not self._read(0):
                return

    def _wait_out(self, end: float) -> None:
        """Wait until the group has let go of the streams."""
        while self._selector.get_map() or not _has_ended(self._process):
            left = end - monotonic()
            if not left > 0:  # true of what is no number, too
                return
            self._read(min(left, _LONGEST))

    def _read(self, wait: float) -> bool:
        """Say whether something was there to be read within `wait` seconds."""
        wait = max(wait, 0)
        if not self._selector.get_map():
            sleep(wait)
            return False
        ready = self._selector.select(wait)
        for key, _ in ready:
            said = os.read(key.fd, PIECE)
            if not said:
                self._selector.unregister(key.fileobj)
            elif not self._is_over:
                cast("Keeper", key.data).keep(said)
        return bool(ready)

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
