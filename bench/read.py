"""What reading and checking a session costs, against one bare typed decode of its lines.

    python bench/read.py [--big] [--format codex] [--profile check]

Three works take turns in one process: a bare decode (needed fields typed, payloads left
as they stand), reading into events, and the whole check. Rates are bytes a second; the
ratio of rates is the figure. Peak memory is measured in a process of its own a size.
"""

import argparse
import cProfile
import pstats
import subprocess
import sys
import tempfile
import time
from collections import deque
from contextlib import closing
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.figures import Figure, at_least, foreign_load, interleaved, show
from bench.sessions import FORMATS, write_session

from counterfoil.adapters.system.spool import FileSpool
from counterfoil.adapters.transcripts.formats import open_transcript
from counterfoil.adapters.transcripts.source import open_file
from counterfoil.engine.check_transcript import TranscriptCheck
from counterfoil.engine.conversation import PendingTurn

_SIZE = 200_000_000
_SIZES = (20_000_000, _SIZE)
_BIG = 5_000_000_000
_ROUNDS = 5
_READ_GOAL = 0.35
_CHECK_GOAL = 0.15
_MEMORY_GOAL = 150_000_000
_RECORD_GOAL = 48


class _Claude(msgspec.Struct, rename="camel"):
    """The fields of a Claude Code record that are needed, payloads as they stand."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    is_sidechain: bool | None = None
    agent_id: str | None = None
    timestamp: str | None = None
    version: str | None = None
    cwd: str | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    duration_ms: int | None = None
    content: msgspec.Raw = msgspec.Raw(b"")
    message: msgspec.Raw = msgspec.Raw(b"")
    tool_use_result: msgspec.Raw = msgspec.Raw(b"")


class _Codex(msgspec.Struct):
    """The fields of a Codex record that are needed, the payload as it stands."""

    type: str = ""
    timestamp: str | None = None
    payload: msgspec.Raw = msgspec.Raw(b"")


_SHAPES: dict[str, type[msgspec.Struct]] = {"claude_code": _Claude, "codex": _Codex}


def decode_bare(path: Path, format_: str) -> None:
    """Decode each line of the file once and drop it."""
    decode = msgspec.json.Decoder(_SHAPES[format_]).decode
    with path.open("rb", buffering=1 << 20) as file:
        for line in file:
            decode(line)


def read(path: Path) -> None:
    """Read the file into items and drop them."""
    deque(open_transcript(open_file(str(path))).items(), maxlen=0)


def check(path: Path) -> int:
    """Check the file as the command line does and return its references."""
    with closing(FileSpool[PendingTurn]()) as spool:
        found = TranscriptCheck(open_transcript(open_file(str(path))), spool)
        found.read()
        references = sum(len(turn.references) for turn in found.turns())
        found.summary()
        return references


def _speed(path: Path, format_: str) -> list[Figure]:
    works = {
        "bare": lambda: decode_bare(path, format_),
        "read": lambda: read(path),
        "check": lambda: check(path),
    }
    taken = {name: min(seconds) for name, seconds in interleaved(works, _ROUNDS).items()}
    size = path.stat().st_size
    rates = [(name, size / seconds / 1e6, seconds) for name, seconds in taken.items()]
    return [
        *(Figure(f"{name}: MB/s ({s:.2f} s)", f"{rate:.0f}") for name, rate, s in rates),
        at_least("(b/a) reading / bare decode", taken["bare"] / taken["read"], _READ_GOAL),
        at_least("(c/a) whole check / bare decode", taken["bare"] / taken["check"], _CHECK_GOAL),
    ]


def _memory(path: Path, records: int) -> Figure:
    began = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, __file__, "--peak", str(path)], capture_output=True, text=True, check=True
    )
    seconds = time.perf_counter() - began
    peak, bound = int(ran.stdout), _MEMORY_GOAL + _RECORD_GOAL * records
    size = path.stat().st_size / 1e6
    what = f"peak memory, {size:,.0f} MB, {records:,} records ({seconds:.1f} s)"
    return Figure(what, f"{peak / 1e6:.0f} MB", f"<= {bound / 1e6:.0f} MB", peak <= bound)


def _peak_of_check(path: Path) -> None:
    """Print the most memory that this process held; `ru_maxrss` would count the parent's."""
    check(path)
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            print(int(line.split()[1]) * 1024)


def _profile(path: Path, work: str) -> None:
    profile = cProfile.Profile()
    profile.runcall({"read": read, "check": check}[work], path)
    pstats.Stats(profile).sort_stats("tottime").print_stats(25)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--format", choices=FORMATS, default="claude_code")
    parser.add_argument("--big", action="store_true", help="5 GB, too")
    parser.add_argument("--profile", choices=("read", "check"), help="where time is spent")
    parser.add_argument("--peak", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peak is not None:
        _peak_of_check(given.peak)
        return
    with tempfile.TemporaryDirectory(prefix="counterfoil-bench-") as folder:
        path = Path(folder, "session.jsonl")
        counts = {size: write_session(path, given.format, size) for size in (_SIZE,)}
        if given.profile:
            _profile(path, given.profile)
            return
        with foreign_load() as foreign:
            figures = _speed(path, given.format)
        show(f"reading a session of {given.format}, 200 MB", figures, foreign.cores)
        figures = []
        with foreign_load() as foreign:
            for size in (*_SIZES, *((_BIG,) if given.big else ())):
                counts[size] = write_session(path, given.format, size)
                figures.append(_memory(path, counts[size]))
        show(f"memory of the whole check of {given.format}", figures, foreign.cores)


if __name__ == "__main__":
    main()
