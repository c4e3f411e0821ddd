"""Run a command to its end and say what it cost: seconds, processor time, peak memory.

The command is started by a small process of its own. What a process is said to have held
at most includes what its parent held when it was started; that parent is kept small.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.figures import BUSY, Figure, at_most, foreign_load

_COUNTING_SECONDS = 0.02
"""How far processor times may be wrong: a clock tick on each side."""

_LAUNCHER = """
import json, os, sys, time
said, complained, *command = sys.argv[1:]
create = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
to = [(os.POSIX_SPAWN_OPEN, n, f, create, 0o600) for n, f in ((1, said), (2, complained))]
began = time.perf_counter()
process = os.posix_spawnp(command[0], command, os.environ, file_actions=to)
_, status, used = os.wait4(process, 0)
seconds = time.perf_counter() - began
code = os.waitstatus_to_exitcode(status)
print(json.dumps([seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, code]))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A finished command; `foreign` is how many cores others used meanwhile.

    `peak` is in bytes, and of the largest process where there were several.
    """

    seconds: float
    processor_seconds: float
    peak: int
    exit_code: int
    foreign: float
    output: str
    errors: str

    @property
    def is_calm(self) -> bool:
        """Others left the machine alone, so that the seconds mean something.

        A run of a few clock ticks cannot say more than a tick or two about it.
        """
        return self.foreign <= BUSY or self.foreign * self.seconds <= _COUNTING_SECONDS


def run(command: Sequence[str], *, cwd: Path | None = None, timeout: float = 900) -> Ran:
    """Run `command`, its streams into files, and return what it cost."""
    with tempfile.TemporaryDirectory(prefix="counterfoil-bench-") as folder:
        output, errors = Path(folder, "output"), Path(folder, "errors")
        launcher = (sys.executable, "-I", "-S", "-c", _LAUNCHER)
        launch = [*launcher, str(output), str(errors), *command]
        with foreign_load() as foreign:
            done = subprocess.run(
                launch, capture_output=True, text=True, check=True, cwd=cwd, timeout=timeout
            )
        seconds, processor, peak, code = json.loads(done.stdout)
        return Ran(
            seconds=seconds,
            processor_seconds=processor,
            peak=peak,
            exit_code=code,
            foreign=foreign.cores,
            output=output.read_text("utf-8", errors="replace"),
            errors=errors.read_text("utf-8", errors="replace"),
        )


def calm(runs: Iterable[Ran]) -> list[Ran]:
    """Return the runs that others did not disturb."""
    return [one for one in runs if one.is_calm]


def load_of(runs: Sequence[Ran]) -> float:
    """Return what others used at most in the undisturbed runs, or at least in the others."""
    used = [one.foreign for one in calm(runs)]
    return max(used) if used else min(one.foreign for one in runs)


def as_json(ran: Ran) -> dict[str, object]:
    """Return the costs of a run, without what it printed."""
    return {name: value for name, value in asdict(ran).items() if name not in {"output", "errors"}}


def fastest(runs: Iterable[Ran]) -> float | None:
    """Return the fewest seconds of the undisturbed runs, none when there is no such run."""
    return min((one.seconds for one in calm(runs)), default=None)


def judged(what: str, value: float | None, goal: float, unit: str = "") -> Figure:
    """Return `value` as a figure of at most `goal`; inconclusive without a value."""
    if value is None:
        return Figure(what, "inconclusive", f"<= {goal:g}{unit}")
    return at_most(what, value, goal, unit)


def noted(what: str, value: float | None, form: str, factor: float = 1.0) -> Figure:
    """Return `value` times `factor` as context, written in the manner of `form`."""
    return Figure(what, "inconclusive" if value is None else form.format(value * factor))


def save(
    path: Path, title: str, machine: str, figures: Sequence[Figure], raw: Mapping[str, object]
) -> None:
    """Write a table as `docs/benchmarks.json` keeps it, with all that it was made from."""
    rows = [
        {"what": one.what, "figure": one.figure, "goal": one.goal, "verdict": one.verdict}
        for one in figures
    ]
    table = {"title": title, "machine": machine, "rows": rows, "raw": raw}
    path.write_text(json.dumps([table], indent=1) + "\n", "utf-8")
