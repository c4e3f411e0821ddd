"""Cases that users of such tools met: the record under an agent, and what is folded from it.

What is about ledgers in files that rotate (C118, C119, C123) does not arise: the record is
one table, and a proof of it is a later issue.
"""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from counterfoil.adapters.sqlite import SqliteRecord
from counterfoil.core.errors import UnavailableError
from counterfoil.core.events import PolicyDecided, PromptReceived, ToolReturned
from counterfoil.core.ids import ThreadId
from counterfoil.core.messages import AskedCall, ToolSpec
from counterfoil.core.turns import ReceiptCollector
from counterfoil.engine.call_tool import Arguments, OfferedTool
from counterfoil.engine.converse import TurnRequest
from counterfoil.engine.effects import NotRecordedError, Record, Turn
from counterfoil.engine.performing import Recorder
from counterfoil.engine.thread_parts import Opening
from counterfoil.engine.turn_result import TurnResult
from counterfoil.ports.tools import ToolAnswer
from engine.agent_world import TableTool, World, YesApprover, calls, says, world

WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from counterfoil.adapters.sqlite import SqliteRecord
from counterfoil.adapters.system.clock import SystemClock
from counterfoil.core.events import PromptReceived
from counterfoil.core.ids import ThreadId
from counterfoil.core.turns import ReceiptCollector
from counterfoil.engine.performing import Recorder, RecordPorts
with SqliteRecord(Path(sys.argv[1])) as record:
    ports = RecordPorts(log=record.log, entries=record.entries, clock=SystemClock())
    recorder = Recorder(
        ports=ports, thread=ThreadId(sys.argv[2]), turn=1, collector=ReceiptCollector()
    )
    for number in range(25):
        recorder.record(PromptReceived(text="x" * 5000))
"""


def one_turn(made: World) -> TurnResult:
    """Return the result of one turn of a new thread."""

    async def main() -> TurnResult:
        threads = made.threads()
        thread = await threads.open(Opening(thread=ThreadId("one")))
        request = TurnRequest(prompt="Go.")
        result = await threads.start(thread, request, approver=YesApprover()).result()
        await threads.close_all()
        return result

    return asyncio.run(main())


def test_c120_eight_processes_append_to_one_log(tmp_path: Path) -> None:
    """turns: Every event is there once, its place given to no other (C120)."""
    store = tmp_path / "ledger.db"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(store), f"t{n}", str(tmp_path)])
        for n in range(8)
    ]
    assert [writer.wait(120) for writer in writers] == [0] * 8
    with SqliteRecord(store) as record:
        events = list(record.log.events())
    assert [event.seq for event in events] == list(range(1, 201))
    assert len({event.id for event in events}) == 200


def test_c122_a_record_that_cannot_be_written_is_seen_and_mended(tmp_path: Path) -> None:
    """turns: The failure reaches the caller, nothing half is left, later turns go on (C122)."""
    store = tmp_path / "ledger.db"
    with SqliteRecord(store) as record:
        made = world([says("One."), says("Two.")])
        made.log, made.entries, made.leases = record.log, record.entries, record.leases
        recorder = Recorder(
            ports=made.ports, thread=ThreadId("x"), turn=1, collector=ReceiptCollector()
        )
        recorder.record(PromptReceived(text="before"))
        with closing(sqlite3.connect(store)) as other:
            (pages,) = other.execute("PRAGMA page_count").fetchone()
        record._database._connection.execute(f"PRAGMA max_page_count = {pages + 1}")
        with pytest.raises(NotRecordedError) as refused:
            recorder.record(PromptReceived(text="y" * 100_000))
        assert isinstance(refused.value.__cause__, UnavailableError)
        record._database._connection.execute("PRAGMA max_page_count = 1073741823")
        recorder.record(PromptReceived(text="after"))
        texts = [
            e.payload.text for e in record.log.events() if isinstance(e.payload, PromptReceived)
        ]
        assert texts == ["before", "after"]


def test_c126_a_clock_that_steps_back_is_a_caveat_and_no_negative_time() -> None:
    """turns: Order is that of the record; what a turn took is not negative (C126)."""

    def back(*_: object) -> ToolAnswer:
        made.clock.back += 3000
        return ToolAnswer(output="late")

    made = world([calls(("back", "{}")), says("Done.")], TableTool("back", back))
    result = one_turn(made)
    assert [(caveat.code, caveat.count) for caveat in result.receipt.caveats] == [
        ("clock-stepped-back", 1)
    ]
    assert (result.receipt.milliseconds or 0) >= 0
    assert all((row.milliseconds or 0) >= 0 for row in result.receipt.tools)
    assert [row.name for row in result.receipt.tools] == ["back"]


def test_c127_a_writer_waits_for_another_and_readers_never_do(tmp_path: Path) -> None:
    """turns: A lock held for a while costs a wait and no event; readers go on (C127)."""
    store = tmp_path / "ledger.db"
    with SqliteRecord(store) as record:
        made = world([])
        made.log, made.entries = record.log, record.entries
        recorder = Recorder(
            ports=made.ports, thread=ThreadId("x"), turn=1, collector=ReceiptCollector()
        )
        recorder.record(PromptReceived(text="first"))
        holder = sqlite3.connect(store, isolation_level=None, check_same_thread=False)
        holder.execute("BEGIN IMMEDIATE")
        with SqliteRecord(store) as reader:
            assert len(list(reader.log.events())) == 1
        release = threading.Timer(0.3, lambda: holder.execute("ROLLBACK"))
        release.start()
        recorder.record(PromptReceived(text="second"))
        release.join()
        holder.close()
        assert len(list(record.log.events())) == 2


def test_c128_a_call_that_was_denied_did_not_run_whatever_its_text_says() -> None:
    """turns: A denial is one row with its reason; an error as JSON text is no success (C128)."""

    def answer(call: AskedCall, arguments: Arguments, turn: int) -> Turn[ToolAnswer]:
        del arguments, turn
        denied = PolicyDecided(command="send", verdict="denied", by="policy", reason="scope")
        yield Record(payload=denied, call=call.id)
        return ToolAnswer(output='{"error": "Access denied"}', outcome="denied")

    made = world([calls(("send", "{}")), says("Sent.")])
    spec = ToolSpec(name="send", description="", parameters={})
    made.offered["send"] = OfferedTool(spec=spec, answer=answer)
    result = one_turn(made)
    assert [(row.by, row.reason) for row in result.receipt.denials] == [("policy", "scope")]
    assert [row.outcome for row in result.receipt.tools] == ["denied"]
    assert result.ran == "ran: send (1 denied)"


def test_c130_what_is_recorded_of_a_command_is_said_to_be_unmasked() -> None:
    """turns: Secrets in arguments are recorded as they are, and the guide says so (C130)."""
    secret = "AKIAIOSFODNN7EXAMPLE"
    made = world(
        [calls(("echo", f'{{"what": "{secret}"}}')), says("Done.")],
        TableTool("echo", ToolAnswer(output=secret)),
    )
    result = one_turn(made)
    assert secret in result.receipt.tools[0].arguments
    returned = [e.payload for e in made.log.events() if isinstance(e.payload, ToolReturned)]
    assert [payload.output for payload in returned] == [secret]
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "agent.md").read_text("utf-8")
    assert "there is no\nredaction yet" in guide
