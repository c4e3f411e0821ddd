"""What both records promise beyond the suites: what is refused, copies, threads."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from counterfoil.adapters.memory import MemoryEntryStore, MemoryEventLog
from counterfoil.adapters.sqlite import SqliteRecord
from counterfoil.core.entries import EntryDraft
from counterfoil.core.errors import UnreadableError
from counterfoil.core.events import Fact, PromptReceived, ThreadOpened, ToolReturned, Unrecognized
from counterfoil.core.ids import EventId
from counterfoil.ports.record import EntryStore, EventLog
from counterfoil.testing.samples import OCCURRED_AT, THREAD, sample_fact

Ports = tuple[EventLog, EntryStore]


@pytest.fixture(params=["memory", "sqlite"])
def ports(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ports]:
    if request.param == "memory":
        yield MemoryEventLog(), MemoryEntryStore()
    else:
        with SqliteRecord(tmp_path / "ledger.db") as record:
            yield record.log, record.entries


def _fact(**fields: object) -> Fact:
    values: dict[str, object] = {
        "id": EventId.from_number(1),
        "occurred_at": OCCURRED_AT,
        "thread": THREAD,
        "payload": PromptReceived(text="x"),
    }
    return Fact(**values | fields)  # type: ignore[arg-type]  # some are wrong on purpose


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        (_fact(occurred_at="yesterday"), "bad-value in occurredAt"),
        (_fact(turn=0), "bad-value in turn"),
        (_fact(call=" "), "bad-value in call"),
        (_fact(payload=ToolReturned(tool="x", bytes=2**53)), "beyond"),
        (_fact(payload=Unrecognized(kind="x", details="{")), "no wire form"),
        (_fact(payload=Unrecognized(kind="x", details="[]")), "wrong-type in details"),
        (
            _fact(payload=Unrecognized(kind="x", details='{"a":' * 100 + "1" + "}" * 100)),
            "too-deep",
        ),
    ],
)
def test_what_could_not_be_read_back_is_refused(ports: Ports, fact: Fact, said: str) -> None:
    """event-log: Nothing can be taken out again, so what no reader can read never gets in."""
    log, _ = ports
    with pytest.raises(UnreadableError, match=said):
        log.append(fact)
    assert list(log.events()) == []
    assert log.append(_fact()).seq == 1


def test_what_a_caller_changes_later_stays_as_recorded(ports: Ports) -> None:
    """event-log: An event is a copy; no hand on its fact reaches it."""
    log, _ = ports
    versions = {"counterfoil": "1"}
    log.append(sample_fact(1, ThreadOpened(versions=versions)))
    versions["counterfoil"] = "2"
    (event,) = log.events()
    assert event.payload == ThreadOpened(versions={"counterfoil": "1"})


def test_a_pair_of_surrogates_is_the_character_it_means(ports: Ports) -> None:
    """event-log: `append` returns the event as it is read, not as it was given."""
    log, _ = ports
    event = log.append(sample_fact(1, PromptReceived(text="\ud83d\ude00 \ude00")))
    assert event.payload == PromptReceived(text="\U0001f600 \ude00")
    assert list(log.events()) == [event]


def test_threads_of_a_process_share_a_record(ports: Ports) -> None:
    """two-writers: Eight threads at once get every place and every number once."""
    log, store = ports

    def write(number: int) -> tuple[int, int]:
        return (
            log.append(sample_fact(number)).seq,
            store.add(THREAD, EntryDraft(kind="prompt")).number,
        )

    _assert_all_given(write, 100)
    assert [event.seq for event in log.events()] == list(range(1, 101))
    assert list(store.numbers(THREAD)) == [(1, 100)]


def _assert_all_given(write: Callable[[int], tuple[int, int]], count: int) -> None:
    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(write, range(1, count + 1)))
    for numbers in zip(*given, strict=True):
        assert sorted(numbers) == list(range(1, count + 1))
