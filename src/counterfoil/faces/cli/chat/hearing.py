"""What a turn says, brought onto the event loop in order, and what ends a turn early.

Events are recorded in threads of their own while the model is heard on the loop; both
are told on the loop, one after the other. Where nobody listens any more the turn ends.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from threading import Thread, current_thread, main_thread
from typing import Generic, TypeVar

from counterfoil.core.events import Event
from counterfoil.core.messages import Delta

T = TypeVar("T")

LONGEST_LINE = 4 * 1024 * 1024
"""Bytes of a line of input; a longer one is passed over, and that is said."""

_CHUNK = 65536


class Ears:
    """The `hear` of a turn: `tell` is called on the loop, until it fails once."""

    def __init__(self, tell: Callable[[Event | Delta], None]) -> None:
        """Tell on the loop that runs now."""
        self._loop = asyncio.get_running_loop()
        self._tell = tell
        self.on_failure: Callable[[], object] = lambda: None
        self.failure: OSError | None = None

    def __call__(self, what: Event | Delta) -> None:
        """Hear `what`, in whichever thread it is said."""
        self._loop.call_soon_threadsafe(self._told, what)

    def _told(self, what: Event | Delta) -> None:
        if self.failure is None:
            try:
                self._tell(what)
            except OSError as error:
                self.failure = error
                self.on_failure()


class Interrupts:
    """Ctrl-C while something runs: once ends that, twice ends the program after it.

    The third time the signal does what it does to any program: the record is one that a
    killed process leaves whole.
    """

    def __init__(self) -> None:
        """Nothing was interrupted yet."""
        self.count = 0

    @property
    def ends_all(self) -> bool:
        """Whether the person wants to leave."""
        return self.count > 1

    @contextmanager
    def during(self, cancel: Callable[[], object]) -> Generator[None]:
        """Call `cancel` at the first Ctrl-C in the meantime."""
        self.count = 0
        if current_thread() is not main_thread() or _is_ignored():
            yield
            return
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._come, cancel)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    def _come(self, cancel: Callable[[], object]) -> None:
        self.count += 1
        if self.count == 1:
            cancel()
        else:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def _is_ignored() -> bool:
    """Say whether whoever started the program wants no Ctrl-C to reach it."""
    return signal.getsignal(signal.SIGINT) == signal.SIG_IGN


class Lines:
    """Cuts what is read into lines; of one that is too long there is only `None`."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        """Begin with the first line."""
        self._longest = longest
        self._begun = b""
        self._is_lost = False

    def feed(self, chunk: bytes) -> list[bytes | None]:
        """Return the lines that end in `chunk`, without their ends."""
        *ended, begun = chunk.split(b"\n")
        found = [self._ended(part) for part in ended]
        self._take(begun)
        return found

    def rest(self) -> list[bytes | None]:
        """Return the last line, where it has no end."""
        return [self._ended(b"")] if self._begun or self._is_lost else []

    def _ended(self, part: bytes) -> bytes | None:
        self._take(part)
        line = None if self._is_lost else self._begun
        self._begun, self._is_lost = b"", False
        return line

    def _take(self, part: bytes) -> None:
        if self._is_lost or len(self._begun) + len(part) > self._longest:
            self._begun, self._is_lost = b"", True
        else:
            self._begun += part


class _Handed(Generic[T]):
    """Hands values of another thread to the loop; one that is gone takes none."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.queue: asyncio.Queue[T | BaseException] = asyncio.Queue()

    def put(self, value: T | BaseException) -> bool:
        try:
            self._loop.call_soon_threadsafe(self.queue.put_nowait, value)
        except RuntimeError:  # the loop is closed: nobody reads any more
            return False
        return True


async def read_lines(descriptor: int) -> AsyncIterator[bytes | None]:
    """Yield the lines that come in at `descriptor`, without holding up the loop.

    The thread that reads is left behind where the conversation ends before its input.
    """
    handed = _Handed[bytes | None]()
    Thread(target=_read, args=(descriptor, handed), daemon=True).start()
    while True:
        value = await handed.queue.get()
        if isinstance(value, BaseException):
            return
        yield value


def _read(descriptor: int, handed: _Handed[bytes | None]) -> None:
    lines = Lines()
    try:
        while chunk := os.read(descriptor, _CHUNK):
            for line in lines.feed(chunk):
                if not handed.put(line):
                    return
    except OSError:  # input that cannot be read any more has ended
        pass
    for line in lines.rest():
        handed.put(line)
    handed.put(EOFError())
