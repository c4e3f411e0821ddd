"""The threads that are open for clients: at most 32, opened and used in order of arrival.

Whoever asks for a thread waits behind those who asked for it before. Where 32 are open,
the one used longest ago and idle is closed; where all are busy, whoever wants another one
waits until one is idle.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from weakref import WeakValueDictionary

from counterfoil.core.ids import ThreadId
from counterfoil.engine.thread_parts import Opening, OpenThread
from counterfoil.engine.threads import RunningTurn, Threads

MOST_OPEN = 32
"""Threads that are open at once."""


@dataclass(frozen=True, slots=True)
class Started:
    """A turn that was begun, of which thread, and whether the thread began with it."""

    running: RunningTurn
    thread: ThreadId
    created: bool


class OpenedThreads:
    """Opens threads and begins turns in the order in which they were asked for."""

    def __init__(self, threads: Threads, most: int = MOST_OPEN) -> None:
        self._threads = threads
        self._most = most
        self._arrivals: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._opening = asyncio.Lock()
        self._busy: Counter[ThreadId] = Counter()
        self._ended = asyncio.Event()

    async def start(self, opening: Opening, begin: Callable[[OpenThread], RunningTurn]) -> Started:
        """Open the thread and begin a turn of it; raise what opening raises."""
        async with self._arrival(opening.thread):
            was_open = opening.thread is not None and self._threads.find(opening.thread)
            if was_open:
                thread = await self._threads.open(opening)
            else:
                async with self._opening:
                    await self._make_room()
                    thread = await self._threads.open(opening)
            self._busy[thread.id] += 1
            running = begin(thread)
        return Started(running, thread.id, created=thread.created and not was_open)

    def ended(self, thread: ThreadId) -> None:
        """Take note that a turn of `thread` ended."""
        self._busy[thread] -= 1
        if not self._busy[thread]:
            del self._busy[thread]
        self._ended.set()

    async def close(self, thread: ThreadId) -> bool:
        """Close a thread behind its turns; say whether it was open."""
        async with self._arrival(thread):
            found = self._threads.find(thread)
            if found is not None:
                await self._threads.close(found)
        self._ended.set()
        return found is not None

    async def _make_room(self) -> None:
        while len(self._threads.open_threads) >= self._most:
            idle = next((one for one in self._threads.open_threads if self._is_idle(one)), None)
            if idle is None:
                self._ended.clear()
                await self._ended.wait()
            else:
                async with self._arrival(idle.id):
                    await self._threads.close(idle, "evicted")

    def _is_idle(self, thread: OpenThread) -> bool:
        arrival = self._arrivals.get(thread.id.lower())
        is_awaited = arrival is not None and arrival.locked()
        return not (self._busy[thread.id] or is_awaited or thread.queue.locked())

    def _arrival(self, thread: ThreadId | None) -> AbstractAsyncContextManager[object]:
        """Return the place behind those who asked for `thread` before."""
        if thread is None:
            return nullcontext()
        lock = self._arrivals.get(thread.lower())
        if lock is None:
            lock = self._arrivals[thread.lower()] = asyncio.Lock()
        return lock
