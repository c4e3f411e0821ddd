"""Processes that append to one store at once, and processes that are killed doing it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from time import perf_counter
from typing import IO

import pytest

import counterfoil
from counterfoil.adapters.sqlite import SqliteRecord
from counterfoil.core.ids import EventId
from counterfoil.testing.samples import THREAD, sample_fact

KILLS = int(os.environ.get("COUNTERFOIL_KILLS", "40"))
"""How often a writer is killed; the long form sets a thousand."""

SOURCE = Path(str(counterfoil.__file__)).parents[1]

WRITER = """
import sys
from pathlib import Path
from counterfoil.adapters.sqlite import SqliteRecord
from counterfoil.core.entries import EntryDraft
from counterfoil.testing.samples import THREAD, sample_fact

path, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
with SqliteRecord(path) as record:
    for number in range(first, first + count):
        event = record.log.append(sample_fact(number))
        print(event.seq, event.id, flush=True)
        if number % 10 == 0:
            record.entries.add(THREAD, EntryDraft(kind="prompt", events=(event.id,)))
"""

# Begins a new writer whenever it is told a path and a number, and says when it is dead.
VICTIMS = """
import os, sys
from pathlib import Path
from counterfoil.adapters.sqlite import SqliteRecord
from counterfoil.testing.samples import sample_fact

def write(path, number):
    os.write(1, b"%d\\n" % os.getpid())
    with SqliteRecord(Path(path)) as record:
        while True:
            event = record.log.append(sample_fact(number))
            os.write(1, f"{event.id}\\n".encode())
            number += 1

for line in sys.stdin:
    path, _, number = line.strip().rpartition(" ")
    if not (child := os.fork()):
        write(path, int(number))
    os.waitpid(child, 0)
    os.write(1, b"dead\\n")
"""


@contextmanager
def process(script: str, *arguments: object) -> Iterator[tuple[IO[str], IO[str]]]:
    """Run `script`, which ends when its input does, and give its input and output."""
    with subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        yield child.stdin, child.stdout
        child.stdin.close()
    assert child.returncode == 0


def written_at_once(path: Path, *, writers: int, count: int) -> list[list[tuple[int, str]]]:
    """Let `writers` processes append `count` events each; return what each was told."""
    with ExitStack() as stack:
        pipes = [
            stack.enter_context(process(WRITER, path, 1_000 * writer, count))
            for writer in range(1, writers + 1)
        ]
        assert [output.readline() for _, output in pipes] == ["ready\n"] * writers
        for start, _ in pipes:
            start.write("go\n")
            start.flush()
        lines = [output.read().splitlines() for _, output in pipes]
    return [[(int(seq), id_) for seq, id_ in map(str.split, of_one)] for of_one in lines]


@pytest.mark.parametrize(("writers", "count"), [(2, 250), (5, 60)])
def test_processes_share_a_store(tmp_path: Path, writers: int, count: int) -> None:
    """two-writers: Not even the store is there when all of them begin."""
    path = tmp_path / "ledger.db"
    told = written_at_once(path, writers=writers, count=count)
    for writer, of_one in enumerate(told, start=1):
        first = 1_000 * writer
        assert [id_ for _, id_ in of_one] == [
            EventId.from_number(number) for number in range(first, first + count)
        ]
        assert of_one == sorted(of_one)  # each one's places ascend
    with SqliteRecord(path) as record:
        recorded = [(event.seq, str(event.id)) for event in record.log.events()]
        assert list(record.entries.numbers(THREAD)) == [(1, writers * count // 10)]
    assert recorded == sorted(pair for of_one in told for pair in of_one)
    assert [seq for seq, _ in recorded] == list(range(1, writers * count + 1))
    assert list(tmp_path.iterdir()) == [path]


def killed(
    pipes: tuple[IO[str], IO[str]], path: Path, first: int, waits: tuple[int, float]
) -> list[str]:
    """Kill a writer of events from `first` on; return the ids that it acknowledged.

    It is given the time of some acknowledgements, and then some seconds.
    """
    start, output = pipes
    count, seconds = waits
    start.write(f"{path} {first}\n")
    start.flush()
    victim = int(output.readline())
    acknowledged = [output.readline().strip() for _ in range(count)]
    end = perf_counter() + seconds
    while perf_counter() < end:  # a sleep would not end within a millisecond
        pass
    os.kill(victim, signal.SIGKILL)
    acknowledged.extend(line.strip() for line in iter(output.readline, "dead\n"))
    return acknowledged


def test_a_killed_writer_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """store-kill: Kill, append again, read: nothing is lost, doubled or torn."""
    path = tmp_path / "ledger.db"
    chance = Random(0)
    acknowledged: list[str] = []
    ids: list[str] = []
    with process(VICTIMS) as pipes:
        for kill in range(1, KILLS + 1):
            waits = chance.randrange(8), chance.uniform(0, 0.002)
            acknowledged += killed(pipes, path, kill * 10_000, waits)
            with SqliteRecord(path) as record:
                acknowledged.append(record.log.append(sample_fact(kill)).id)
                ids += [str(event.id) for event in record.log.events(after=len(ids))]
            assert acknowledged[-1] == ids[-1]
            assert len(ids) - len(acknowledged) <= kill  # killed before it could say so
    known = set(acknowledged)
    assert len(set(ids)) == len(ids)
    assert [id_ for id_ in ids if id_ in known] == acknowledged
    with SqliteRecord(path) as record:
        assert [(event.seq, event.id) for event in record.log.events()] == list(enumerate(ids, 1))


def test_a_store_is_whole_or_not_there(tmp_path: Path) -> None:
    """store-kill: A process killed while it makes a store leaves none, or a whole one."""
    chance = Random(1)
    begun = perf_counter()
    SqliteRecord(tmp_path / "ledger.db").close()
    longest = 2 * (perf_counter() - begun)
    with process(VICTIMS) as pipes:
        for kill in range(KILLS):
            path = tmp_path / f"{kill}.db"
            acknowledged = killed(pipes, path, 10_000, (0, chance.uniform(0, longest)))
            with SqliteRecord(path) as record:
                record.log.append(sample_fact(1))
                ids = [str(event.id) for event in record.log.events()]
            assert ids[: len(acknowledged)] == acknowledged
