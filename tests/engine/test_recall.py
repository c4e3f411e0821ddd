"""The `memory` tool: entries, turns and notes by number, in pages; a miss names the range."""

import asyncio

import pytest

from counterfoil.core.events import EntryRecalled
from counterfoil.core.ids import ThreadId
from counterfoil.engine.converse import TurnRequest
from counterfoil.engine.recall import PAGE, MemoryTool
from counterfoil.engine.thread_parts import Opening
from counterfoil.ports.tools import CallContext, ToolAnswer
from engine.agent_world import (
    CASE_PROMPTS,
    TableTool,
    World,
    YesApprover,
    calls,
    case_section_8,
    says,
    world,
)

THREAD = ThreadId("one")


def lived(made: World, *prompts: str) -> World:
    """Return the world after the turns of its thread `one`."""

    async def main() -> None:
        threads = made.threads()
        thread = await threads.open(Opening(thread=THREAD))
        for prompt in prompts:
            request = TurnRequest(prompt=prompt)
            await threads.start(thread, request, approver=YesApprover()).result()
        await threads.close_all()

    asyncio.run(main())
    return made


def recall(made: World, request: str, turn: int = 5) -> ToolAnswer:
    """Return the answer to a request in a later turn."""
    tool = MemoryTool(made.log, made.entries)
    return tool.run({"request": request}, CallContext(thread=THREAD, turn=turn, call="c"))


@pytest.fixture(scope="module")
def case() -> World:
    """Return the thread of section 8."""
    return lived(case_section_8(), *CASE_PROMPTS)


@pytest.mark.parametrize(
    ("request_", "first", "rest"),
    [
        ("recall entry 1", "entry 1: instructions at 09:01:00, from the ledger", "Be brief."),
        ("recall entry 2", "entry 2: prompt, turn 1 at 09:01:00, from the ledger", "One."),
        ("Recall output of entry #4.", "entry 4: tool output, turn 1 at 09:01:00", "steps"),
        ("entry 15", "entry 15: tool calls, turn 4", 'system_info {"what":"ports"}'),
        ("5", "entry 5: reply, turn 1", "Looked, turn 1."),
        ("recall turn 2", "turn 2: entries 6-9, from the ledger", "[entry 8, tool output, turn 2]"),
    ],
)
def test_what_is_asked_for_is_found(case: World, request_: str, first: str, rest: str) -> None:
    """agent-tools: The heading says what it is and where from, then the content."""
    answer = recall(case, request_)
    head, _, body = answer.output.partition("\n")
    assert head.startswith(first)
    assert rest in body
    assert answer.output.endswith("\n[end]")
    (fact,) = answer.facts
    assert isinstance(fact, EntryRecalled)
    assert (fact.request, fact.found, fact.bytes) == (request_, True, len(answer.output.encode()))


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ("recall entry 19", "no entry 19; there are entries 1-18; turns 1-4 have ended"),
        ("recall entry 0", "no entry 0; there are entries 1-18"),
        ("recall turn 9", "no turn 9; there are entries 1-18"),
        ("what was it?", 'recall takes "entry N" or "turn T"; there are entries 1-18'),
        ("", 'recall takes "entry N" or "turn T"'),
    ],
)
def test_a_miss_names_the_range(case: World, request_: str, said: str) -> None:
    """agent-tools: What does not exist is not guessed at."""
    answer = recall(case, request_)
    assert answer.output.startswith(said)
    assert answer.outcome == "error"
    (fact,) = answer.facts
    assert isinstance(fact, EntryRecalled)
    assert not fact.found


@pytest.mark.parametrize(("turn", "said"), [(1, "0 turns have ended"), (2, "1 turns have ended")])
def test_a_new_thread_says_how_little_there_is(case: World, turn: int, said: str) -> None:
    """agent-tools: The range is true from the first turn on."""
    assert said in recall(case, "entry 99", turn).output


def test_a_long_entry_is_recalled_in_pages() -> None:
    """agent-tools: Pages of 4 KiB of whole lines; each but the last names the next."""
    text = "\n".join(f"line {number}" for number in range(1, 1001))
    long = TableTool("long", ToolAnswer(output=text))
    made = lived(world([calls(("long", "{}")), says("A.")], long), "Go.")
    seen: list[str] = []
    request: str | None = "recall entry 4"
    while request is not None:
        output = recall(made, request).output
        assert len(output.encode()) <= PAGE
        _, *lines, end = output.splitlines()
        seen.extend(lines)
        request = end.split('"')[1] if end.startswith("[more: memory ") else None
    assert "\n".join(seen) == text
    beyond = recall(made, "recall entry 4, from line 5000").output
    assert beyond.endswith("[end]")


def test_a_turn_of_one_entry_is_said_in_the_singular() -> None:
    """agent-tools: A turn that failed at once has its prompt alone."""
    made = lived(world([ValueError("no")]), "Go.")
    assert recall(made, "turn 1").output.startswith("turn 1: entry 2, from the ledger")


def test_notes_are_kept_by_the_record() -> None:
    """agent-tools: A note is recalled in a later turn."""
    steps = [
        calls(("memory", '{"request": "note the port is 8080"}')),
        says("Noted."),
        calls(("memory", '{"request": "recall notes"}')),
        says("It is 8080."),
    ]
    made = lived(world(steps), "One.", "Two.")
    assert made.model.asked[-1].messages[-1].text == (
        "notes: 1, from the ledger\nturn 1: note the port is 8080\n[end]"
    )
