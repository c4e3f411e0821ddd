"""What starting the command costs, against an interpreter that does nothing.

    python bench/start.py

`--version` and the check of a session of 60 kB, its output into a pipe, are run in turns
with `python -c pass`; medians of the rounds are compared. Then: which of the heavy
modules (`_HEAVY`) the check imported.
"""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.figures import Figure, at_most, foreign_load, interleaved, show
from bench.sessions import write_session

_ROUNDS = 25
_SIZE = 60_000
_VERSION_GOAL = 4
_CHECK_GOAL = 10
_HEAVY = ("mcp", "openai", "textual", "pydantic", "asyncio", "rich", "typing_extensions")
_COMMAND = "import sys; from counterfoil.__main__ import main; sys.argv[0] = 'counterfoil'; main()"
_SHOW_MODULES = f"""
import sys
from counterfoil.__main__ import main
sys.argv = ["counterfoil", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
sys.stderr.write("\\nmodules: " + " ".join(m for m in {_HEAVY!r} if m in sys.modules))
sys.stderr.write("\\nall: " + str(len(sys.modules)))
"""


# As after an install: modules come from their bytecode, whatever this shell asks for.
_AS_INSTALLED = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=_AS_INSTALLED)


def _figures(session: Path) -> list[Figure]:
    works = {
        "python -c pass": lambda: _run("-c", "pass"),
        "counterfoil --version": lambda: _run("-c", _COMMAND, "--version"),
        "counterfoil check, 60 kB": lambda: _run("-c", _COMMAND, "check", str(session)),
    }
    interleaved(works, 2)
    processor: dict[str, list[float]] = {name: [] for name in works}
    timed = {name: partial(_timed, work, processor[name]) for name, work in works.items()}
    taken = interleaved(timed, _ROUNDS)
    nothing, version, check = (median(seconds) for seconds in taken.values())
    busy, busy_version, busy_check = (median(seconds) for seconds in processor.values())
    return [
        *(Figure(name, f"{median(seconds) * 1000:.0f} ms") for name, seconds in taken.items()),
        at_most("--version / pass", version / nothing, _VERSION_GOAL),
        at_most("check / pass", check / nothing, _CHECK_GOAL),
        Figure("processor time, --version / pass", f"{busy_version / busy:.2f}"),
        Figure("processor time, check / pass", f"{busy_check / busy:.2f}"),
    ]


def _timed(work: Callable[[], object], taken: list[float]) -> None:
    """Note the processor time of the process that `work` runs: no load of others is in it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _imported(session: Path) -> tuple[str, str]:
    """Return which heavy modules a check imported, and how many modules in all."""
    ran = _run("-c", _SHOW_MODULES, "check", str(session))
    found = dict(line.split(":", 1) for line in ran.stderr.splitlines() if ": " in line)
    return found.get("modules", "").strip(), found.get("all", "?").strip()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="counterfoil-bench-") as folder:
        session = Path(folder, "session.jsonl")
        write_session(session, "claude_code", _SIZE)
        with foreign_load() as foreign:
            figures = _figures(session)
        heavy, count = _imported(session)
    modules = Figure("heavy modules imported by check", heavy or "none", "none", not heavy)
    figures += [modules, Figure("modules imported by check", count)]
    show("starting", figures, foreign.cores)


if __name__ == "__main__":
    main()
