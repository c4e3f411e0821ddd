"""The law of the record: what is there after an append is what was there, and the new one.

Ids and threads come from small pools: with random ones, two would never meet, and the
refusals of the law would go untested.
"""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from counterfoil.adapters.memory import MemoryEntryStore, MemoryEventLog
from counterfoil.adapters.sqlite import SqliteRecord
from counterfoil.core.entries import Entry, EntryDraft
from counterfoil.core.errors import ConflictError
from counterfoil.core.events import Event, Fact, Payload, PromptReceived, ToolReturned
from counterfoil.core.ids import EntryNumber, EventId, ThreadId
from counterfoil.ports.record import EntryStore, EventLog
from counterfoil.testing.samples import OCCURRED_AT, PAYLOADS

THREADS = tuple(map(ThreadId, ("t1", "T1", "t2")))
texts = st.text(st.characters(exclude_categories=()), max_size=20)  # surrogates and NUL too
threads = st.sampled_from(THREADS)
payloads: st.SearchStrategy[Payload] = st.one_of(
    st.sampled_from([payload for payload in PAYLOADS if len(repr(payload)) < 1_000]),
    st.builds(lambda text: PromptReceived(text=text), texts),
    st.builds(lambda tool, output: ToolReturned(tool=tool, output=output), texts, texts),
)
facts = st.builds(
    Fact,
    id=st.integers(1, 12).map(EventId.from_number),
    occurred_at=st.sampled_from((OCCURRED_AT, "2020-02-29T23:59:59.999Z")),
    thread=threads,
    turn=st.sampled_from((None, 1, 2)),
    call=st.sampled_from((None, "c1")),
    payload=payloads,
    kept=st.dictionaries(texts.map("x-{}".format), st.just('{"a":[1]}'), max_size=2).map(
        lambda fields: tuple(((name,), value) for name, value in fields.items())
    ),
)
drafts = st.builds(
    EntryDraft,
    kind=st.sampled_from(("prompt", "reply", "command")),
    turn=st.sampled_from((None, 1)),
    origin=st.sampled_from(("turn", "carried")),
    events=st.lists(st.integers(0, 2).map(EventId.from_number), max_size=2).map(tuple),
)


class RecordMachine(RuleBasedStateMachine):
    """A record beside the plain lists that say what it should hold."""

    def __init__(self) -> None:
        super().__init__()
        self.appended: list[Event] = []
        self.added: list[Entry] = []
        self.log, self.store = self.opened()

    def opened(self) -> tuple[EventLog, EntryStore]:
        return MemoryEventLog(), MemoryEntryStore()

    @rule(fact=facts)
    def append(self, fact: Fact) -> None:
        if any(event.id == fact.id for event in self.appended):
            with pytest.raises(ConflictError):
                self.log.append(fact)
        else:
            self.appended.append(self.log.append(fact))
            assert self.appended[-1].seq == len(self.appended)

    @rule(thread=threads, draft=drafts)
    def add(self, thread: ThreadId, draft: EntryDraft) -> None:
        spellings = {entry.thread for entry in self.added}
        if any(one != thread and one.lower() == thread.lower() for one in spellings):
            with pytest.raises(ConflictError):
                self.store.add(thread, draft)
        else:
            self.added.append(self.store.add(thread, draft))

    @rule(after=st.integers(-1, 9))
    def read_behind(self, after: int) -> None:
        assert list(self.log.events(after)) == self.appended[max(after, 0) :]

    @rule(thread=threads, turn=st.sampled_from((None, 1, 2)))
    def read_of(self, thread: ThreadId, turn: int | None) -> None:
        assert list(self.log.events_of(thread, turn)) == [
            event
            for event in self.appended
            if event.thread == thread and (turn is None or event.turn == turn)
        ]

    @rule(thread=threads, number=st.integers(1, 5).map(EntryNumber))
    def read_entry(self, thread: ThreadId, number: EntryNumber) -> None:
        of = [entry for entry in self.added if entry.thread == thread]
        assert self.store.entry(thread, number) == (of[number - 1] if number <= len(of) else None)

    @invariant()
    def events_are_those_appended(self) -> None:
        assert list(self.log.events()) == self.appended

    @invariant()
    def entries_are_those_added(self) -> None:
        seen = list(dict.fromkeys(entry.thread for entry in self.added))
        assert list(self.store.threads()) == seen
        for thread in THREADS:
            of = [entry for entry in self.added if entry.thread == thread]
            assert list(self.store.entries(thread)) == of
            assert [entry.number for entry in of] == list(range(1, len(of) + 1))
            assert list(self.store.numbers(thread)) == ([(1, len(of))] if of else [])


class SqliteRecordMachine(RecordMachine):
    """The same, in a file that is closed and opened again at any time."""

    def __init__(self) -> None:
        self.directory = TemporaryDirectory()
        self.stack = ExitStack()
        super().__init__()

    def opened(self) -> tuple[EventLog, EntryStore]:
        path = Path(self.directory.name, "ledger.db")
        record = self.stack.enter_context(SqliteRecord(path))
        return record.log, record.entries

    @precondition(lambda self: self.appended or self.added)
    @rule()
    def reopen(self) -> None:
        self.stack.close()
        self.log, self.store = self.opened()

    def teardown(self) -> None:
        self.stack.close()
        self.directory.cleanup()


@pytest.mark.parametrize("machine", [RecordMachine, SqliteRecordMachine])
def test_a_record_is_what_was_recorded(machine: type[RuleBasedStateMachine]) -> None:
    """event-log: After `append(e)`, `events() == before + [e]`; entries likewise."""
    few = settings(max_examples=40, stateful_step_count=25, deadline=None)
    run_state_machine_as_test(machine, settings=few)
