"""What the engine adds to a turn: checks, the record of a call, opening a long thread.

    python bench/turns.py

A thread of 10,000 entries is made on a disk by the real loop with a scripted model. Then:
opening it, as another process would; what is folded and checked after a reply, with 512
events and handles into 10,000 pages; what a call of a tool that does nothing costs beside
the two durable appends that it is recorded with; and the memory after 100 and 1,000 turns.
"""

import asyncio
import gc
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT), str(_ROOT / "tests")]

from bench.figures import Figure, at_most, foreign_load, show

from counterfoil.adapters.sqlite import SqliteRecord
from counterfoil.adapters.system.clock import SystemClock
from counterfoil.core.context import TurnRecord
from counterfoil.core.events import Event, PromptReceived, ToolCalled, ToolReturned
from counterfoil.core.ids import ThreadId
from counterfoil.core.intervals import Intervals
from counterfoil.core.messages import ModelAnswer, ModelRequest
from counterfoil.core.turns import ReceiptCollector
from counterfoil.engine.converse import TurnEnd, TurnRequest
from counterfoil.engine.performing import Recorder
from counterfoil.engine.thread_parts import Opening, OpenThread
from counterfoil.engine.threads import Threads
from counterfoil.engine.turn_result import TurnResult, turn_result
from counterfoil.ports.tools import ToolAnswer
from engine.agent_world import TableTool, World, YesApprover, calls, says, world

THREAD = ThreadId("long")
_TURNS = 2_500
_CALLS = 40
_OUTPUT = "".join(f"{number:6}  a line of a file as a tool shows it\n" for number in range(70))
_REPLY = "See entry 12, entries 30-41 and (entry 99999). " * 20


def _on_disk(record: SqliteRecord) -> World:
    made = world([], TableTool("nothing", ToolAnswer(output=_OUTPUT)))
    made.log, made.entries, made.leases = record.log, record.entries, record.leases
    made.clock = SystemClock()  # type: ignore[assignment]
    return made


async def _turn(threads: Threads, thread: OpenThread, prompt: str) -> TurnResult:
    running = threads.start(thread, TurnRequest(prompt=prompt), approver=YesApprover())
    return await running.result()


def _answer(request: ModelRequest) -> ModelAnswer:
    if request.messages[-1].role == "user":
        return calls(("nothing", "{}"))
    return says("It says that everything is as it should be. " * 20)


async def _long_thread(made: World, turns: int) -> list[int]:
    """Run `turns` turns of four entries; return the resident kB after each hundred."""
    made.model.steps = [_answer] * (2 * turns)
    threads = made.threads()
    thread = await threads.open(Opening(thread=THREAD))
    sizes: list[int] = []
    for number in range(turns):
        await _turn(threads, thread, f"Prompt {number}, please look again and say what it is.")
        made.model.asked.clear()
        if number % 100 == 99:
            gc.collect()
            sizes.append(_resident())
    await threads.close_all()
    return sizes


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() // 1024


async def _openings(made: World, rounds: int) -> list[float]:
    taken: list[float] = []
    for _ in range(rounds):
        threads = made.threads()
        began = time.perf_counter()
        await threads.open(Opening(thread=THREAD))
        taken.append(time.perf_counter() - began)
        await threads.close_all()
    return taken


async def _call_seconds(made: World) -> tuple[float, float]:
    """Return the seconds of a call in a turn of many, and of the two appends alone."""
    asked = calls(*[("nothing", "{}")] * _CALLS)
    threads = made.threads()
    thread = await threads.open(Opening(thread=ThreadId("calls")))
    recorder = Recorder(
        ports=made.ports, thread=ThreadId("bare"), turn=1, collector=ReceiptCollector()
    )
    whole: list[float] = []
    bare: list[float] = []
    empty: list[float] = []
    for _ in range(15):
        for steps, taken in (([asked, says("x")], whole), ([says("x")], empty)):
            made.model.steps = list(steps)
            began = time.perf_counter()
            await _turn(threads, thread, "Go.")
            taken.append(time.perf_counter() - began)
        began = time.perf_counter()
        for number in range(_CALLS):
            recorder.record(ToolCalled(tool="nothing", arguments="{}"), f"c{number}")
            recorder.record(ToolReturned(tool="nothing", output=_OUTPUT), f"c{number}")
        bare.append(time.perf_counter() - began)
    await threads.close_all()
    return (median(whole) - median(empty)) / _CALLS, median(bare) / _CALLS


def _checks(made: World, rounds: int) -> list[float]:
    """Return the seconds of everything that is folded and checked after a reply."""
    recorder = Recorder(
        ports=made.ports, thread=ThreadId("fold"), turn=1, collector=ReceiptCollector()
    )
    events: list[Event] = [recorder.record(PromptReceived(text="x"))]
    for number in range(255):
        events.append(recorder.record(ToolCalled(tool="nothing", arguments="{}"), f"c{number}"))
        events.append(recorder.record(ToolReturned(tool="nothing", output="ok"), f"c{number}"))
    end = _end(events)
    taken: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        stored: Intervals = made.entries.numbers(THREAD)
        turn_result(
            end, events, thread=ThreadId("fold"), tools=("nothing",), stored=stored, pages=_no_pages
        )
        taken.append(time.perf_counter() - began)
    return taken


def _no_pages(reply: str) -> None:
    del reply


def _end(events: Sequence[Event]) -> TurnEnd:

    record = TurnRecord(turn=1, events=tuple(events), entries=())
    return TurnEnd(
        outcome="ok", reply=_REPLY, error=None, record=record, kept=0, tokens_a_byte=0.25
    )


def _p99(taken: Sequence[float]) -> float:
    return quantiles(taken, n=100)[98]


def main() -> None:
    with (
        tempfile.TemporaryDirectory(prefix="counterfoil-bench-") as folder,
        foreign_load() as load,
        SqliteRecord(Path(folder, "ledger.db")) as record,
    ):
        made = _on_disk(record)
        sizes = asyncio.run(_long_thread(made, _TURNS))
        entries = sum(high for _, high in record.entries.numbers(THREAD))
        openings = asyncio.run(_openings(made, 20))
        checks = _checks(made, 1000)
        call, bare = asyncio.run(_call_seconds(made))
    figures = [
        Figure("entries of the long thread", f"{entries:,}"),
        at_most("opening it, median", median(openings) * 1000, 100, " ms"),
        at_most("fold, ran and entries, 99th percentile", _p99(checks) * 1000, 5, " ms"),
        Figure("fold, ran and entries, median", f"{median(checks) * 1000:.2f} ms"),
        at_most("a call of a tool, all of it", call * 1000, 2, " ms"),
        Figure("of that, its two durable appends alone", f"{bare * 1000:.2f} ms"),
        at_most("resident, turn 1,000 / turn 100", sizes[9] / sizes[0], 1.05),
        Figure(
            "resident at turn 100, 1,000, last",
            " ".join(f"{sizes[n] // 1024} MB" for n in (0, 9, -1)),
        ),
    ]
    show("turns", figures, load.cores)


if __name__ == "__main__":
    main()
