"""Views of threads out of the record alone."""

import asyncio

import pytest

from counterfoil.core.entries import EntryDraft
from counterfoil.core.errors import DamagedLedgerError, NotFoundError
from counterfoil.core.events import (
    CommandExited,
    ContextCondensed,
    ModelAsked,
    PromptReceived,
    ThreadOpened,
    ToolFailed,
    ToolReturned,
)
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.core.turns import ReceiptCollector
from counterfoil.engine.converse import TurnRequest
from counterfoil.engine.loading import load_thread
from counterfoil.engine.performing import Recorder
from counterfoil.engine.thread_parts import Opening
from counterfoil.engine.thread_views import ThreadViews, text_of
from counterfoil.engine.turn_result import TurnResult
from counterfoil.ports.tools import ToolAnswer
from engine.agent_world import (
    CASE_PROMPTS,
    INSPECT,
    TableTool,
    World,
    YesApprover,
    calls,
    case_section_8,
    says,
    world,
)

THREAD = ThreadId("one")


def lived(made: World, *prompts: str) -> list[TurnResult]:
    """Return the results of the turns of thread `one`."""

    async def main() -> list[TurnResult]:
        threads = made.threads()
        thread = await threads.open(Opening(thread=THREAD))
        results: list[TurnResult] = []
        for prompt in prompts:
            running = threads.start(thread, TurnRequest(prompt=prompt), approver=YesApprover())
            results.append(await running.result())
        await threads.close_all()
        return results

    return asyncio.run(main())


@pytest.fixture(scope="module")
def case() -> World:
    """Return the thread of section 8."""
    made = case_section_8()
    lived(made, *CASE_PROMPTS)
    return made


@pytest.fixture
def views(case: World) -> ThreadViews:
    """Return the views of that thread."""
    return case.agent().views


def test_a_thread_is_listed_with_what_it_holds(views: ThreadViews) -> None:
    """turns: `counterfoil threads` lists them."""
    (row,) = views.threads()
    assert row == views.thread(THREAD)
    assert (row.id, row.turns, row.entries, row.model) == ("one", 4, 18, "steps")
    assert (row.prompt, row.parent, row.opened_at) == ("One.", None, "2026-03-01T09:01:00.000Z")


def test_receipts_of_past_turns_are_folded_again(case: World) -> None:
    """two-drivers: A past receipt is the one that was handed out."""
    made = case_section_8()
    results = lived(made, *CASE_PROMPTS)
    views = made.agent().views
    assert [views.receipt(THREAD, result.turn) for result in results] == [
        result.receipt for result in results
    ]
    del case


def test_entries_are_read_by_number(views: ThreadViews) -> None:
    """respond: One by one and in a page, with state and time."""
    assert views.entry(THREAD, 14).text == CASE_PROMPTS[-1]
    assert views.entry(THREAD, 15).text == 'inspect {"what":"config"}\nsystem_info {"what":"ports"}'
    assert [row.entry.number for row in views.entries(THREAD, 17)] == [17, 18]
    assert [row.entry.number for row in views.entries(THREAD, 1, 2)] == [1, 2]
    assert views.entries(THREAD, 19) == []
    assert all(row.dropped_by is None for row in views.entries(THREAD))
    assert views.count(THREAD) == 18


@pytest.mark.parametrize("number", [0, -1, 19, 10**20])
def test_an_entry_that_is_not_there_is_said(views: ThreadViews, number: int) -> None:
    """agent-tools: The error names the range that exists."""
    with pytest.raises(NotFoundError, match="1 to 18"):
        views.entry(THREAD, number)


@pytest.mark.parametrize("turn", [0, 5])
def test_a_turn_that_is_not_there_is_said(views: ThreadViews, turn: int) -> None:
    """respond: A bad turn is refused, whatever is asked of it."""
    for ask in (views.receipt, views.events, views.context):
        with pytest.raises(NotFoundError, match="1 to 4"):
            ask(THREAD, turn)


def test_a_thread_that_is_not_there_is_said(views: ThreadViews) -> None:
    """respond: Nor is one in another spelling."""
    for name in ("two", "ONE"):
        for ask in (views.thread, views.turns, views.entries, views.events, views.context):
            with pytest.raises(NotFoundError, match=f"no thread '{name}'"):
                ask(ThreadId(name))


def test_events_and_outputs_are_read(case: World, views: ThreadViews) -> None:
    """respond: The events of a thread or a turn, and an output by its event."""
    assert len(list(views.events(THREAD))) == len(list(case.log.events()))
    of_turn = list(views.events(THREAD, 4))
    assert {event.turn for event in of_turn} == {4}
    returned = [e for e in of_turn if isinstance(e.payload, ToolReturned)]
    assert views.output(THREAD, returned[0].id) == '{"model": "steps"}'
    for thread, event in ((THREAD, EventId("f" * 16)), (ThreadId("two"), returned[0].id)):
        with pytest.raises(NotFoundError, match="no output"):
            views.output(thread, event)
    asked = [e for e in of_turn if isinstance(e.payload, ModelAsked)]
    with pytest.raises(NotFoundError, match="no output"):
        views.output(THREAD, asked[0].id)


def test_the_table_of_turns_says_what_became_of_each() -> None:
    """context: Prompt, tokens, what was dropped or elided, and the outcome."""
    long = TableTool("long", ToolAnswer(output="line\n" * 300))
    made = world(
        [calls(("long", "{}")), says("A."), says("B."), ValueError("no"), says("word " * 4000)],
        long,
        window=1500,
    )
    lived(made, "One.", "Two.", "Three.", "Four.")
    made.model.steps.append(says("E."))
    lived(made, "Five.")
    views = made.agent().views
    rows = views.turns(THREAD)
    assert [(row.turn, row.prompt, row.outcome) for row in rows] == [
        (1, "One.", "ok"),
        (2, "Two.", "ok"),
        (3, "Three.", "error"),
        (4, "Four.", "ok"),
        (5, "Five.", "ok"),
    ]
    assert rows[1].elided == 1
    assert rows[4].dropped > 1
    assert all(row.occurred_at and row.estimated_tokens for row in rows)
    dropped = [row for row in views.entries(THREAD) if row.dropped_by]
    assert dropped[0].entry.number == 2
    condensed = [e.id for e in made.log.events() if isinstance(e.payload, ContextCondensed)]
    assert dropped[0].dropped_by in condensed


def test_a_turn_that_still_runs_is_open_in_the_table() -> None:
    """turns: Nothing closed it yet."""
    made = world([])
    lived(made)
    recorder = Recorder(ports=made.ports, thread=THREAD, turn=2, collector=ReceiptCollector())
    recorder.record(PromptReceived(text="x"))
    rows = made.agent().views.turns(THREAD)
    assert [(row.turn, row.outcome) for row in rows] == [(1, "open"), (2, "open")]
    assert rows[0].occurred_at == ""
    assert made.agent().views.context(THREAD, 2).sent == ()


def test_a_thread_whose_beginning_is_missing_is_damaged() -> None:
    """errors: Entries without an opening, or without instructions, are said."""
    made = world([])
    made.entries.add(THREAD, EntryDraft(kind="instructions"))
    with pytest.raises(DamagedLedgerError, match="never opened"):
        load_thread(made.log, made.entries, THREAD)
    (row,) = made.agent().views.threads()
    assert (row.model, row.parent, row.opened_at) == (None, None, "")
    recorder = Recorder(ports=made.ports, thread=THREAD, turn=None, collector=ReceiptCollector())
    recorder.record(CommandExited(command="ls", source="person"))
    recorder.record(ThreadOpened())
    with pytest.raises(DamagedLedgerError, match="does not lead to instructions"):
        load_thread(made.log, made.entries, THREAD)
    other = ThreadId("two")
    event = Recorder(
        ports=made.ports, thread=other, turn=None, collector=ReceiptCollector()
    ).record(ThreadOpened())
    made.entries.add(other, EntryDraft(kind="instructions", events=(event.id,)))
    with pytest.raises(DamagedLedgerError, match="does not lead to instructions"):
        load_thread(made.log, made.entries, other)


def test_a_thread_that_nobody_recorded_cannot_be_loaded() -> None:
    """turns: There is nothing to resume."""
    with pytest.raises(NotFoundError, match="no thread 'one'"):
        load_thread(world([]).log, world([]).entries, THREAD)


def test_the_text_of_a_command_has_its_status() -> None:
    """chat-face: What a person ran is shown with how it ended."""
    made = world([], INSPECT)
    recorder = Recorder(ports=made.ports, thread=THREAD, turn=None, collector=ReceiptCollector())
    ended = recorder.record(CommandExited(command="ls", exit_status=0, stdout="a", stderr="b"))
    unknown = recorder.record(CommandExited(command="ls"))
    assert text_of([ended]) == "$ ls\nexit status: 0\na\nb"
    assert text_of([unknown]) == "$ ls\nexit status: not recorded"


def test_the_text_of_a_result_is_whole_and_of_other_facts_nothing() -> None:
    """context: What a thread shows is not cut as what a model reads is."""
    made = world([])
    recorder = Recorder(ports=made.ports, thread=THREAD, turn=1, collector=ReceiptCollector())
    long = recorder.record(ToolReturned(tool="x", output="y" * 100_000))
    failed = recorder.record(ToolFailed(tool="x", message="no"))
    other = recorder.record(ThreadOpened())
    assert text_of([long]) == "y" * 100_000
    assert text_of([failed, other]) == "error: no"
