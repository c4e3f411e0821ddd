"""What every bench shares: interleaved rounds, foreign load, and one small table.

A figure is a ratio of two things measured in one run; absolute numbers are context.
What others use of the machine is said beside the figures, never hidden.
"""

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

BUSY = 0.1
"""Cores used by others from which on a figure is to be taken again."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of a table; without a goal it is context."""

    what: str
    figure: str
    goal: str = ""
    is_reached: bool | None = None

    @property
    def verdict(self) -> str:
        if self.is_reached is None:
            return ""
        return "reached" if self.is_reached else "missed"


def at_least(what: str, value: float, goal: float) -> Figure:
    """Return the figure `value`, which should be `goal` or more."""
    return Figure(what, f"{value:.3f}", f">= {goal:g}", value >= goal)


def at_most(what: str, value: float, goal: float, unit: str = "") -> Figure:
    """Return the figure `value`, which should be `goal` or less."""
    return Figure(what, f"{value:.2f}{unit}", f"<= {goal:g}{unit}", value <= goal)


def show(title: str, figures: Sequence[Figure], foreign: float) -> None:
    """Print one aligned table with what ran where, and what else ran there."""
    print(f"\n{title}")
    print(f"  {machine()}")
    print(f"  {load_line(foreign)}")
    rows = [("", "figure", "goal", "verdict")]
    rows += [(one.what, one.figure, one.goal, one.verdict) for one in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for what, figure, goal, verdict in rows:
        line = f"  {what:<{widths[0]}}  {figure:>{widths[1]}}  {goal:>{widths[2]}}  {verdict}"
        print(line.rstrip())
    sys.stdout.flush()


def load_line(foreign: float) -> str:
    """Return the sentence about what others used."""
    line = f"others used {foreign:.2f} of {os.cpu_count()} cores meanwhile"
    return line if foreign <= BUSY else f"{line}: inconclusive, take again on a quiet machine"


def machine() -> str:
    """Return the facts about the machine that a figure depends on."""
    model = platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(": ")[2]
            break
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, msgspec {version('msgspec')}, "
        f"{time.strftime('%Y-%m-%d')}"
    )


class Foreign:
    """How many cores others used while something was measured."""

    def __init__(self) -> None:
        self.cores = 0.0


@contextmanager
def foreign_load() -> Iterator[Foreign]:
    """Measure what all processes but this one and its children use meanwhile."""
    found = Foreign()
    began, busy, own = time.perf_counter(), _busy(), _own()
    yield found
    wall = time.perf_counter() - began
    found.cores = max(0.0, (_busy() - busy) - (_own() - own)) / max(wall, 1e-9)


def _busy() -> float:
    """Return the seconds that all cores were busy since the machine started."""
    fields = [int(one) for one in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    user, nice, system, _, _, irq, softirq, steal = fields
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _own() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def interleaved(works: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each work in `rounds` rounds, one after another in each."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            began = time.perf_counter()
            work()
            taken[name].append(time.perf_counter() - began)
    return taken
