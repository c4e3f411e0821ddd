"""Two hundred turns by two processes on one store, and every receipt folded again."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from counterfoil.adapters.sqlite import SqliteRecord
from counterfoil.core.ids import ThreadId
from counterfoil.core.receipt import fold_receipt
from counterfoil.engine.loading import is_open, turn_record, unstored_drafts
from counterfoil.wire.receipt import receipt_to_json

SCRIPT = Path(__file__).with_name("turn_soak.py")
TURNS = 100


@pytest.fixture(scope="module")
def soaked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[str]]]:
    """Return the store after 200 turns, and the receipts that each thread handed out."""
    store = tmp_path_factory.mktemp("soak") / "ledger.db"
    processes = {
        thread: subprocess.Popen(
            [sys.executable, str(SCRIPT), str(store), thread, str(TURNS), str(seed)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed, thread in enumerate(("left", "right"))
    }
    handed = {}
    for thread, process in processes.items():
        out, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        handed[thread] = out.splitlines()
    return store, handed


def test_every_receipt_handed_out_is_the_fold_of_what_is_stored(
    soaked: tuple[Path, dict[str, list[str]]],
) -> None:
    """two-drivers: Byte for byte, for 200 turns that failed, were denied and cancelled."""
    store, handed = soaked
    outcomes: Counter[str] = Counter()
    with SqliteRecord(store) as record:
        for thread, lines in handed.items():
            assert len(lines) == TURNS
            for turn, line in enumerate(lines, start=1):
                events = record.log.events_of(ThreadId(thread), turn)
                folded = receipt_to_json(fold_receipt(events, thread, turn))
                assert json.dumps(folded) == line
                outcomes.update(_kinds(json.loads(line)))
    assert min(outcomes[kind] for kind in ("ok", "failed", "cancelled", "denied", "condensed")) > 2


def _kinds(receipt: dict[str, object]) -> list[str]:
    errors = json.dumps(receipt["errors"])
    ended = "cancelled" if "cancelled" in errors else "failed" if "turn" in errors else "ok"
    return [
        ended,
        *(["denied"] * bool(receipt["denials"])),
        *(["condensed"] * bool(receipt["condensed"])),
    ]


def test_every_entry_of_every_turn_is_stored_once(
    soaked: tuple[Path, dict[str, list[str]]],
) -> None:
    """turns: What the events of a turn make is stored, in the order of the thread, no twin."""
    store, handed = soaked
    with SqliteRecord(store) as record:
        for thread in map(ThreadId, handed):
            stored = [id_ for entry in record.entries.entries(thread) for id_ in entry.events]
            assert len(stored) == len(set(stored))
            for turn in range(1, TURNS + 1):
                assert unstored_drafts(turn_record(record.log, thread, turn)) == ()


def test_a_process_that_is_killed_leaves_turns_that_the_next_one_closes(tmp_path: Path) -> None:
    """turns: kill -9 in the middle, four times; what was handed out still is what is stored."""
    store = tmp_path / "ledger.db"
    handed: list[str] = []
    for seed in range(4):
        with subprocess.Popen(
            [sys.executable, str(SCRIPT), str(store), "killed", "1000", str(seed)],
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            handed.extend(next(process.stdout) for _ in range(8 + seed))
            process.kill()
            handed.extend(line for line in process.stdout if line.endswith("\n"))
    thread = ThreadId("killed")
    with SqliteRecord(store) as record:
        last = record.log.last_turn(thread)
        for line in handed:
            receipt = json.loads(line)
            events = record.log.events_of(thread, receipt["turn"])
            folded = receipt_to_json(fold_receipt(events, thread, receipt["turn"]))
            assert json.dumps(folded) == line.strip()
        open_turns = [n for n in range(1, last + 1) if is_open(turn_record(record.log, thread, n))]
        assert open_turns in ([], [last])
        numbers = [entry.number for entry in record.entries.entries(thread)]
        assert numbers == list(range(1, len(numbers) + 1))
        for turn in range(1, last):
            assert unstored_drafts(turn_record(record.log, thread, turn)) == ()
