"""A process that runs turns of one thread on a shared store, as badly as turns can go.

    python turn_soak.py STORE THREAD TURNS SEED

Each turn prints the receipt that was handed out, one JSON line. What the model and the
tools do is drawn from the seed: replies, calls that work, throw, are denied or broken,
overflows, errors, cancelling, commands of a person, and openings anew in between.
"""

import asyncio
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from counterfoil.adapters.sqlite import SqliteRecord
from counterfoil.adapters.system.clock import SystemClock
from counterfoil.core.errors import ContextOverflowError, UnavailableError
from counterfoil.core.events import CommandExited, FileWritten, PolicyDecided
from counterfoil.core.ids import ThreadId
from counterfoil.core.messages import AskedCall, ToolSpec
from counterfoil.engine.call_tool import Arguments, OfferedTool
from counterfoil.engine.converse import TurnRequest
from counterfoil.engine.effects import Record, Turn
from counterfoil.engine.thread_parts import Opening
from counterfoil.engine.threads import Threads
from counterfoil.ports.tools import ToolAnswer
from counterfoil.wire.receipt import receipt_to_json
from engine.agent_world import Step, TableTool, World, YesApprover, calls, says, world


def denied(call: AskedCall, arguments: Arguments, turn: int) -> Turn[ToolAnswer]:
    """Record a refusal, and answer that it was refused."""
    del arguments, turn
    yield Record(
        payload=PolicyDecided(command="sudo id", verdict="denied", by="policy", reason="no"),
        call=call.id,
    )
    return ToolAnswer(output="denied", outcome="denied")


def typed(command: str, turn: int) -> Turn[ToolAnswer]:
    """Record what a person typed."""
    del turn
    yield Record(payload=CommandExited(command=command, exit_status=0, source="person"))
    return ToolAnswer(output="")


def throws(*_: object) -> ToolAnswer:
    """Fail as tools do."""
    raise ValueError("the tool broke")


def made_on(record: SqliteRecord) -> World:
    """Return a world on the shared store, with tools that go every way."""
    wrote = FileWritten(path="a.md", mode="write", bytes_after=3)
    made = world(
        [],
        TableTool("good", ToolAnswer(output="fine\n" * 300)),
        TableTool("write", ToolAnswer(output="written", facts=(wrote,))),
        TableTool("bad", throws),
        window=4000,
    )
    made.log, made.entries, made.leases = record.log, record.entries, record.leases
    made.clock = SystemClock()  # type: ignore[assignment]
    spec = ToolSpec(name="denied", description="", parameters={})
    made.offered["denied"] = OfferedTool(spec=spec, answer=denied)
    made.typed = typed
    return made


def steps_of(draw: random.Random) -> Iterator[Step]:
    """Yield the steps of one turn, the last of them an end of some kind."""
    for _ in range(draw.randrange(4)):
        names = draw.choices(["good", "write", "bad", "denied", "nothing"], k=draw.randrange(1, 4))
        yield calls(*((name, draw.choice(["{}", '{"what": "x"}', "{broken"])) for name in names))
    if draw.random() < 0.1:
        yield ContextOverflowError("too long", "less")
    ends: list[Step] = [
        says("Done, see entry 3 and entry 4000."),
        says("word " * 200),
        UnavailableError("gone"),
        "wait",
    ]
    yield draw.choice(ends)
    yield says("Never mind.")  # for an overflow that was mended


async def turn(threads: Threads, made: World, thread: str, draw: random.Random) -> str:
    """Run one turn, cancelled when the model waits; return its receipt as handed out."""
    opened = await threads.open(Opening(thread=ThreadId(thread)))
    made.model.steps = list(steps_of(draw))
    made.model.waiting.clear()
    if draw.random() < 0.2:
        await threads.command(opened, "ls", lambda _: None)
    running = threads.start(opened, TurnRequest(prompt="Go on."), approver=YesApprover())
    result = asyncio.ensure_future(running.result())
    waits = asyncio.ensure_future(made.model.waiting.wait())
    await asyncio.wait({result, waits}, return_when=asyncio.FIRST_COMPLETED)
    waits.cancel()
    if not result.done():
        running.cancel()
    done = await result
    if draw.random() < 0.1:
        await threads.close(opened)
    return json.dumps(receipt_to_json(done.receipt))


async def main(store: str, thread: str, turns: int, seed: int) -> None:
    """Run the turns and print their receipts."""
    draw = random.Random(seed)
    with SqliteRecord(Path(store)) as record:
        made = made_on(record)
        threads = made.threads()
        for _ in range(turns):
            sys.stdout.write(await turn(threads, made, thread, draw) + "\n")
        await threads.close_all()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
