"""Measures how time grows, so that a loaded machine never makes a linear reader look worse."""

import gc
from collections.abc import Callable
from time import process_time

import pytest

_LONG_ENOUGH = 0.02
_LONGEST_TEXT = 1 << 18
_ROUNDS = 40
_MOST = 2.5
_HOPELESS = (5, 3.3)
"""Rounds and a growth: what grows so fast after so many is not waited for."""

Grows = Callable[[Callable[[str], object], Callable[[int], str], int], float]


def _seconds(read: Callable[[str], object], text: str) -> float:
    started = process_time()
    read(text)
    return process_time() - started


def _measured(read: Callable[[str], object], write: Callable[[int], str], times: int) -> float:
    once = write(times)
    while min(_seconds(read, once), _seconds(read, once)) < _LONG_ENOUGH:
        if len(once) > _LONGEST_TEXT:
            return 1.0  # a quarter of a million characters in 20 ms: nothing there to grow
        times *= 2
        once = write(times)
    twice = write(times * 2)
    shortest = longest = float("inf")
    for done in range(1, _ROUNDS + 1):  # least times only fall: a moment of quiet is enough
        shortest = min(shortest, _seconds(read, once))
        longest = min(longest, _seconds(read, twice))
        growth = longest / shortest
        if growth <= _MOST or (done >= _HOPELESS[0] and growth > _HOPELESS[1]):
            break
    return growth


@pytest.fixture(scope="session")
def growth() -> Grows:
    """Return by what the CPU time of `read` grows when `write` doubles its text.

    The text of `times` is doubled until one reading takes 20 ms; then the least of up to
    40 readings of each counts, and measuring ends with the first good answer.
    """

    def _growth(
        read: Callable[[str], object], write: Callable[[int], str], times: int = 1000
    ) -> float:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return _measured(read, write, times)
        finally:
            if was_enabled:
                gc.enable()

    return _growth
