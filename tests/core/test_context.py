"""What a model reads: references for old outputs, bounds, calls without a result, dropped turns."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.core.calls import INLINE, calls_of
from counterfoil.core.condensing import Load, is_due, turns_to_keep
from counterfoil.core.context import (
    MOST_OUTPUT,
    NO_RESULT,
    Reading,
    TurnRecord,
    bounded_output,
    elided_entries,
    elisions,
    first_after,
    first_turn_read,
    messages_of,
    output_text,
    running_record,
    sent_entries,
)
from counterfoil.core.events import (
    CommandExited,
    ContextCondensed,
    Event,
    FileWritten,
    OutputElided,
    Payload,
    PromptReceived,
    ReasoningGiven,
    ReplyGiven,
    ToolCalled,
    ToolFailed,
    ToolReturned,
)
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.core.messages import Message
from counterfoil.core.output_references import (
    MOST_BYTES,
    OldOutput,
    Recalling,
    cut_to_bytes,
    output_reference,
    shown_output,
)
from counterfoil.core.turn_entries import drafts_of, missing_drafts, results_of

THREAD = ThreadId("t1")
MEMORY = Recalling(has_memory=True)


def events(*facts: Payload | tuple[Payload, str | None], turn: int | None = 1) -> list[Event]:
    """Return the events of a turn; each fact may have the id of its call."""
    numbers = count(1)
    found: list[Event] = []
    for fact in facts:
        payload, call = fact if isinstance(fact, tuple) else (fact, None)
        number = next(numbers)
        found.append(
            Event(
                seq=number,
                id=EventId.from_number(number),
                occurred_at=f"2026-03-01T14:05:{number:02}.000Z",
                thread=THREAD,
                turn=turn,
                call=call,
                payload=payload,
            )
        )
    return found


def record(facts: Iterable[Event], after: int = 1) -> TurnRecord:
    """Return the record of a turn whose entries begin behind `after`."""
    return running_record(THREAD, 1, list(facts), after=after)


def read(facts: Iterable[Event], *, turn: int, first: int = 0) -> tuple[Message, ...]:
    """Return what is read in `turn` of turn 1, which `facts` are."""
    reading = Reading(turn=turn, first_turn=first, elided=frozenset(), recalling=MEMORY)
    return messages_of(sent_entries([record(facts)], reading))


CALLED = (ToolCalled(tool="read_file", arguments='{"path": "a.md"}'), "c1")
LONG = "\n".join(f"line {number} of the file" for number in range(120))


# --- references ---------------------------------------------------------------


def old(text: str, tool: str = "read_file") -> OldOutput:
    """Return an output of an earlier turn."""
    return OldOutput(
        entry=7,
        tool=tool,
        at="2026-03-01T14:05:09.000Z",
        status="ok",
        arguments='{"path": "a.md"}',
        text=text,
    )


def test_a_reference_is_written_as_the_page_says() -> None:
    """context: Entry, tool, time, status, lines, bytes, hint; then what it shows."""
    assert output_reference(old(LONG), MEMORY) == (
        "[output of entry 7 not repeated: read_file at 14:05:09, ok, 120 lines, 2,409 bytes;"
        ' to see it: memory "recall entry 7"]\n'
        'arguments: {"path": "a.md"}\n'
        "first line: line 0 of the file\n"
        "last line: line 119 of the file"
    )


@pytest.mark.parametrize(
    ("tool", "hint"),
    [("read_file", "read_file may be called again"), ("run_command", "do not run it again only")],
)
def test_without_memory_the_hint_says_what_may_be_done(tool: str, hint: str) -> None:
    """context: What only reads may be called again; a command must not."""
    recalling = Recalling(has_memory=False, reading_tools=frozenset({"read_file"}))
    assert hint in output_reference(old(LONG, tool), recalling)


def test_lines_that_are_no_content_are_not_shown() -> None:
    """context: First and last line are of the content, not headings or hints."""
    text = "exit status: 1\n\nstdout:\nfirst\nmiddle\nlast\nstderr:\n[more: from line 9]\n"
    found = output_reference(old(text), MEMORY)
    assert "first line: first\nlast line: last" in found
    assert "first line" not in output_reference(old("stdout:\n[end]"), MEMORY)
    assert "last line" not in output_reference(old("only"), MEMORY)


@given(st.text(), st.text(), st.text(min_size=1), st.booleans())
def test_a_reference_never_passes_its_bound(
    text: str,
    arguments: str,
    tool: str,
    has_memory: bool,  # noqa: FBT001 - a draw
) -> None:
    """context: 640 bytes in all, and what is no longer than that stays whole."""
    output = OldOutput(
        entry=10**9, tool=tool * 90, at="", status="ok", arguments=arguments * 50, text=text * 20
    )
    recalling = Recalling(has_memory=has_memory)
    reference = output_reference(output, recalling)
    assert len(reference.encode()) <= MOST_BYTES
    shown = shown_output(output, recalling)
    assert shown == (
        reference if len(reference.encode()) < len(output.text.encode()) else output.text
    )


@pytest.mark.parametrize(("size", "expected"), [(9, "é" * 4 + "a"), (10, "é" * 5), (11, "é" * 5)])
def test_text_is_cut_between_characters(size: int, expected: str) -> None:
    """context: A bound in bytes cuts no character; one byte more fits nothing."""
    assert cut_to_bytes(expected, size) == expected
    assert cut_to_bytes("é" * 6, 11) == "é" * 4 + "…"
    assert cut_to_bytes("\ud800" * 9, 9) == "…"


def test_an_output_is_whole_in_its_own_turn_and_a_reference_after() -> None:
    """context: One no longer than its reference is always whole."""
    facts = events(CALLED, (ToolReturned(tool="read_file", output=LONG, outcome="ok"), "c1"))
    assert read(facts, turn=1)[-1].text == LONG
    assert read(facts, turn=2)[-1].text.startswith(
        "[output of entry 3 not repeated: read_file at 14"
    )
    short = events(CALLED, (ToolReturned(tool="read_file", output="short"), "c1"))
    assert read(short, turn=2)[-1].text == "short"


@pytest.mark.parametrize(
    ("facts", "status"),
    [
        ([(ToolReturned(tool="x", output=LONG, outcome="denied"), "c1")], "denied"),
        ([(ToolReturned(tool="x", output=LONG), "c1")], "unknown"),
        ([(ToolFailed(tool="x", message=LONG), "c1")], "error"),
        (
            [
                (CommandExited(command="make", exit_status=2), "c1"),
                (ToolReturned(tool="x", output=LONG, outcome="ok"), "c1"),
            ],
            "exit status 2",
        ),
        (
            [
                (CommandExited(command="make", exit_status=0), "c1"),
                (CommandExited(command="make", exit_status=3), "c9"),
                (ToolReturned(tool="x", output=LONG, outcome="ok"), "c1"),
            ],
            "ok",
        ),
    ],
)
def test_a_reference_says_how_the_call_went(facts: list[tuple[Payload, str]], status: str) -> None:
    """context: An outcome, or how a command exited."""
    message = read(events(CALLED, *facts), turn=2)[-1]
    assert f", {status}, 1" in message.text


def test_elisions_are_the_outputs_that_become_shorter() -> None:
    """events-wire: `output_elided` names the entry and what is saved."""
    facts = events(
        CALLED,
        (ToolReturned(tool="read_file", output=LONG), "c1"),
        (ToolCalled(tool="read_file", arguments="{}"), "c2"),
        (ToolReturned(tool="read_file", output="short"), "c2"),
    )
    ((payload, call),) = elisions(record(facts), MEMORY)
    assert (payload.entry, payload.tool, payload.bytes, call) == (3, "read_file", 2409, "c1")
    assert (payload.elided_bytes or 0) < 2409


# --- what is read -------------------------------------------------------------


def test_a_call_without_a_result_is_answered_for_the_model() -> None:
    """turns: What was broken off is read as broken off, never left out."""
    found = read(
        events(PromptReceived(text="Go."), CALLED, (FileWritten(path="a", mode="write"), "c1")),
        turn=2,
    )
    assert [message.role for message in found] == ["user", "assistant", "tool"]
    assert (found[2].text, found[2].call) == (NO_RESULT, "c1")


def test_reasoning_is_not_sent_and_words_before_calls_are() -> None:
    """turns: Text of a batch is read with it; reasoning is an entry alone."""
    facts = events(
        ReasoningGiven(text="Hm."),
        (ReasoningGiven(text="Let me look."), "c1"),
        CALLED,
        (ToolReturned(tool="read_file", output="x"), "c1"),
        ReplyGiven(text="Done."),
    )
    found = read(facts, turn=2)
    assert [message.text for message in found] == ["Let me look.", "x", "Done."]
    assert [draft.kind for draft in drafts_of(facts)] == [
        "reasoning",
        "tool_calls",
        "tool_output",
        "reply",
    ]


def test_a_persons_command_is_no_request() -> None:
    """turns: It is told as what the person ran; long output is cut."""
    ran = CommandExited(command="make", stdout="x" * 400, source="person")
    (message,) = read(events(ran, CommandExited(command="agent's")), turn=2)
    assert message.role == "user"
    assert message.text.startswith(
        "[the person ran a command, not you: make; directory not recorded;"
        " exit status not recorded]"
    )
    assert message.text.endswith("x…")


def test_turns_before_the_first_and_after_the_last_are_not_read() -> None:
    """context: What was dropped exists and is not sent."""
    facts = events(PromptReceived(text="Go."))
    assert read(facts, turn=3, first=1)
    assert read(facts, turn=3, first=2) == ()
    assert read(facts, turn=0) == ()


def test_entries_whose_events_are_gone_are_left_out() -> None:
    """context: Nothing is made up for what the record does not hold."""
    whole = record(events(PromptReceived(text="Go."), *[CALLED]))
    part = TurnRecord(turn=1, events=whole.events[1:], entries=whole.entries)
    reading = Reading(turn=2, first_turn=0, elided=frozenset(), recalling=MEMORY)
    assert [m.role for m in messages_of(sent_entries([part], reading))] == ["assistant", "tool"]


def test_an_entry_of_calls_reads_its_calls_alone() -> None:
    """context: Another event that an entry names is none of what was asked."""
    facts = events(CALLED, (FileWritten(path="a", mode="write"), "c1"))
    (entry,) = record(facts).entries
    whole = replace(entry, events=tuple(event.id for event in facts))
    reading = Reading(turn=2, first_turn=0, elided=frozenset(), recalling=MEMORY)
    odd = TurnRecord(turn=1, events=tuple(facts), entries=(whole,))
    asked, _ = messages_of(sent_entries([odd], reading))
    assert [call.tool for call in asked.calls] == ["read_file"]


@pytest.mark.parametrize(
    ("size", "is_cut"), [(MOST_OUTPUT - 1, False), (MOST_OUTPUT, False), (MOST_OUTPUT + 1, True)]
)
def test_an_output_is_read_to_64_kib(size: int, is_cut: bool) -> None:  # noqa: FBT001 - a case
    """agent-tools: At the bound, one under, one over; what is cut says how much there is."""
    text = bounded_output("x" * size)
    assert (len(text) > size) is is_cut or text != "x" * size
    assert text.endswith(f"[cut: {size:,} bytes in all; the record has them]") is is_cut


def test_what_is_no_result_has_no_text() -> None:
    """context: Only results are outputs."""
    called, empty = events(CALLED, ToolReturned(tool="x"))
    assert (output_text(called), output_text(empty)) == ("", "")


@pytest.mark.parametrize(
    ("payload", "turn", "first"),
    [
        (ContextCondensed(turns_before=5, turns_after=2, steps=("drop",)), 9, 7),
        (ContextCondensed(turns_before=5, turns_after=9, steps=("elide", "drop")), 3, 0),
        (ContextCondensed(turns_before=5, turns_after=2, steps=("elide",)), 9, None),
        (ContextCondensed(turns_before=5, turns_after=2), 9, None),
        (ContextCondensed(steps=("drop",)), 9, None),
        (ContextCondensed(turns_after=2, steps=("drop",)), None, None),
        (PromptReceived(text="x"), 9, None),
    ],
)
def test_a_condensation_says_which_turns_are_still_read(
    payload: Payload, turn: int | None, first: int | None
) -> None:
    """context: It follows from the event; one that drops nothing changes nothing."""
    (event,) = events(payload, turn=turn)
    assert first_after(event) == first
    assert first_turn_read([event], otherwise=4) == (4 if first is None else first)


def test_elided_entries_are_those_that_events_name() -> None:
    """context: What was elided in the running turn is known by its entry."""
    assert elided_entries(events(OutputElided(entry=4), PromptReceived(text="x"))) == {4}


# --- entries and calls --------------------------------------------------------


def test_the_nth_result_of_an_id_belongs_to_its_nth_call() -> None:
    """receipt: Results are joined by `call`, in order; others join nothing."""
    facts = events(
        CALLED,
        (ToolCalled(tool="b", arguments="{}"), "c1"),
        (ToolReturned(tool="read_file", output="one"), "c1"),
        (ToolReturned(tool="b", output="two"), "c1"),
        ToolReturned(tool="c", output="nobody's"),
        (ToolCalled(tool="d", arguments="{}"), None),
    )
    assert results_of(facts) == {facts[0].id: facts[2], facts[1].id: facts[3]}
    assert [draft.kind for draft in drafts_of(facts)] == [
        "tool_calls",
        "tool_output",
        "tool_output",
    ]


def test_what_no_entry_holds_is_missing() -> None:
    """turns: An entry that was stored is not stored again."""
    drafts = drafts_of(events(PromptReceived(text="a"), ReplyGiven(text="b")))
    assert missing_drafts(drafts, [drafts[0].events[0]]) == drafts[1:]
    assert missing_drafts(drafts, []) == drafts


@pytest.mark.parametrize("size", [INLINE - 1, INLINE, INLINE + 1])
def test_a_call_shows_its_output_to_1024_bytes(size: int) -> None:
    """receipt: At the bound, one under, one over; the rest is found by its event."""
    facts = events(
        CALLED,
        (CommandExited(command="make", exit_status=2), "c1"),
        (CommandExited(command="typed", source="person"), None),
        (ToolReturned(tool="read_file", output="x" * size), "c1"),
    )
    (call,) = calls_of(facts)
    assert (call.command, call.exit_status, call.bytes) == ("make", 2, size)
    assert call.event == facts[3].id
    assert call.is_elsewhere is (size > INLINE)
    assert call.output == (None if size > INLINE else "x" * size)


def test_a_call_that_threw_or_was_never_answered_has_no_output() -> None:
    """receipt: What is not recorded is not there."""
    threw, never = calls_of(
        events(CALLED, (ToolFailed(tool="x", message="no"), "c1"), (CALLED[0], "c2"))
    )
    assert (threw.error, threw.output, threw.is_elsewhere) == ("no", None, False)
    assert (never.event, never.error, never.bytes, never.exit_status) == (None, None, None, None)


# --- condensing ---------------------------------------------------------------


def load(turns: list[int], *, window: int = 100, fixed: int = 0, prompt: int = 0) -> Load:
    """Return a load whose turns are read whole."""
    return Load(window=window, fixed=fixed, prompt=prompt, turns=turns, whole=turns)


@pytest.mark.parametrize(("prompt", "due"), [(54, False), (55, True), (56, True)])
def test_condensing_is_due_at_85_percent(prompt: int, due: bool) -> None:  # noqa: FBT001 - a case
    """context: Context, prompt and headroom; one under, at it, one over."""
    assert is_due(load([10, 10], prompt=prompt)) is due


def test_condensing_goes_on_to_60_percent_or_one_turn() -> None:
    """context: The oldest turns go first, down to one literal turn."""
    assert turns_to_keep(load([10] * 8)) == 5
    assert turns_to_keep(load([10] * 8, prompt=95)) == 1
    assert turns_to_keep(load([])) == 0
    assert not is_due(load([]))


@given(st.lists(st.integers(0, 50), max_size=12), st.integers(0, 100), st.integers(1, 300))
def test_what_is_kept_fits_or_is_one_turn(turns: list[int], prompt: int, window: int) -> None:
    """context: Never more dropped than needed, never fewer than one turn kept."""
    found = load(turns, window=window, prompt=prompt)
    kept = turns_to_keep(found)
    assert kept == min(len(turns), 1) or found.total(kept) <= 0.6 * window
    if kept < len(turns):
        assert found.total(kept + 1) > 0.6 * window
