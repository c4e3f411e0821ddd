"""The check of one transcript: turns, caveats, silences, counts, threads."""

from typing import Any

import pytest

from counterfoil.core.events import Unrecognized
from counterfoil.engine.check_transcript import (
    KEPT_DETAILS,
    SHOWN_DETAILS,
    Silence,
    TranscriptCheck,
)

# A session is the fake transcript of `conftest.py`: its steps are told in the test.
Session = Any
Spool = Any


def test_a_turn_says_who_asked_what_and_what_ran(session: Session) -> None:
    """what-was-checked: Prompt, line, `ran:` line, receipt and replies are those of the turn."""
    session.opens(tools=("bash",))
    line = session.asks(f"  Do it.{' x' * 200}")
    session.runs("ls")
    said = session.says("I looked.", block=2)
    reply = session.replies("Done.")
    (turn,) = session.check().turns()
    assert (turn.thread, turn.parent, turn.turn, turn.line) == ("t1", None, 1, line)
    assert turn.prompt == f"Do it.{' x' * 200}"[:200]
    assert turn.ran == "ran: bash"
    assert turn.source is None
    assert turn.receipt.complete
    assert [(spot.line, spot.block) for spot in turn.replies] == [(said, 2), (reply, 0)]


def test_a_turn_without_calls_that_names_a_tool_says_so(session: Session) -> None:
    """ran: Tools are those that the thread was opened with."""
    session.opens(tools=("bash",))
    session.asks()
    session.replies("I ran bash.")
    session.asks()
    session.replies("I did nothing.")
    assert [turn.ran for turn in session.check().turns()] == ["ran: no tools", None]


def test_a_second_prompt_is_of_the_same_turn(session: Session) -> None:
    """what-was-checked: The first words of a turn are those of its first prompt."""
    line = session.asks("First.")
    session.turn -= 1
    session.asks("Second.")
    (turn,) = session.check().turns()
    assert (turn.prompt, turn.line) == ("First.", line)


def test_what_stands_before_the_first_turn_is_of_none(session: Session) -> None:
    """what-was-checked: A text, a prompt and an entry without a turn make no report."""
    session.says("See a.py:1.")
    session.event(Unrecognized(kind="odd", details="{}"), turn=None)
    check = session.check()
    assert list(check.turns()) == []
    assert check.summary().outcome == "empty"


def test_references_come_in_the_order_of_their_places(session: Session) -> None:
    """whole-reply: By line, block and character, whatever their kind."""
    session.asks()
    first = session.says("Pushed abcdef12, see a.py:1.", block=1)
    last = session.replies("See b.py:1.")
    (turn,) = session.check().turns()
    assert [(one.place.line, one.place.block, one.place.start) for one in turn.references] == [
        (first, 1, 7),
        (first, 1, 21),
        (last, 0, 4),
    ]


def test_a_summary_counts_all_turns_once(session: Session) -> None:
    """what-was-checked: Whether or not somebody read the turns before."""
    session.asks()
    session.shows("a.py", 1, 3, total=3)
    session.runs("ls")
    session.replies("See a.py:1, a.py:9 and b.py:1.")
    session.asks()
    session.replies("Yes.")
    check = session.check(silences=[Silence("file-not-in-record", "b.*", "elsewhere")])
    before = check.summary()
    assert list(check.turns()) == list(check.turns())
    after = check.summary()
    assert before == after
    assert (after.turns, after.replies, after.calls) == (2, 2, 1)
    assert (after.supported, after.contradicted, after.not_established) == (1, 1, 0)
    assert (after.silenced, after.outcome) == (1, "findings")


def test_turns_read_half_leave_the_summary_whole(session: Session) -> None:
    """what-was-checked: Counts are of all turns, also where reading them was given up."""
    for _ in range(3):
        session.asks()
        session.replies("See a.py:1.")
    check = session.check()
    next(iter(check.turns()))
    assert check.summary().turns == 3


def test_a_source_says_how_much_was_read(session: Session) -> None:
    """what-was-checked: Size, lines, records, what was skipped and what is not known."""
    session.asks()
    source = session.check().source()
    assert (source.path, source.format, source.size) == ("session.jsonl", "fake", 123)
    assert (source.lines, source.records, source.repeated, source.threads) == (1, 1, 4, 1)
    assert source.checked == ("place", "commit", "quotation", "source")
    assert (source.skipped, source.unknown) == ({"blank": 2}, {"odd": 1})


def test_an_empty_transcript_is_empty(session: Session) -> None:
    """nothing-to-check: Nothing in it is nothing checked."""
    check = session.check()
    assert list(check.turns()) == []
    assert check.caveats() == ()
    assert check.summary().outcome == "empty"
    assert check.source().threads == 0


def test_nothing_was_read_before_reading(session: Session, spool: Spool) -> None:
    """nothing-to-check: A check that was not read yet has nothing to say."""
    session.asks()
    check = TranscriptCheck(session, spool)
    assert (check.summary().turns, check.source().lines) == (0, 0)


def test_longer_turns_weigh_more_in_the_spool(session: Session, spool: Spool) -> None:
    """flat-memory: A spool is told about how large each turn is."""
    session.asks()
    session.asks()
    for number in range(9):
        session.runs("x" * 1000, call=f"c{number}")
    session.replies("See a.py:1.")
    TranscriptCheck(session, spool).read()
    assert spool.weights[1] > spool.weights[0] + 9000


# --- caveats ------------------------------------------------------------------


@pytest.mark.parametrize(("count", "shown"), [(9, 9), (10, 10), (11, 10)])
def test_a_caveat_names_ten_lines_and_counts_all(session: Session, count: int, shown: int) -> None:
    """one-bad-record: One under, at it, one over."""
    session.asks()
    lines = [session.is_damaged("torn-line") for _ in range(count)]
    (caveat,) = session.check().caveats()
    assert (caveat.code, caveat.count, caveat.source) == ("torn-line", count, None)
    assert caveat.lines == tuple(lines[:shown])
    assert caveat.line == lines[0]
    assert caveat.what == "a line is no whole record and could not be read"


def test_a_caveat_says_what_was_met(session: Session) -> None:
    """one-bad-record: Each detail once, with its count, in the order met."""
    session.asks()
    for place in (None, "line 3", "line 4: bytes", "line 5: text", "line 6: bytes"):
        session.is_damaged("quite-new", place)
    (caveat,) = session.check().caveats()
    assert caveat.what == "quite new (bytes ×2, text)"
    assert caveat.count == 5


@pytest.mark.parametrize(
    ("count", "more"),
    [(SHOWN_DETAILS - 1, ""), (SHOWN_DETAILS, ""), (SHOWN_DETAILS + 1, ", +1 more")],
)
def test_a_caveat_names_five_details_and_counts_the_rest(
    session: Session, count: int, more: str
) -> None:
    """one-bad-record: One under, at it, one over."""
    session.asks()
    for number in range(count):
        session.is_damaged("quite-new", f"line 1: d{number}")
    (caveat,) = session.check().caveats()
    named = ", ".join(f"d{number}" for number in range(min(count, SHOWN_DETAILS)))
    assert caveat.what == f"quite new ({named}{more})"


@pytest.mark.parametrize(
    ("count", "more"),
    [
        (KEPT_DETAILS - 1, f"+{KEPT_DETAILS - 1 - SHOWN_DETAILS} more"),
        (KEPT_DETAILS, f"+{KEPT_DETAILS - SHOWN_DETAILS} or more"),
        (KEPT_DETAILS + 1, f"+{KEPT_DETAILS - SHOWN_DETAILS} or more"),
    ],
)
def test_what_a_caveat_counts_past_its_bound_is_a_least(
    session: Session, count: int, more: str
) -> None:
    """one-bad-record: One under, at it, one over; what was met before is still counted."""
    session.asks()
    for number in [*range(count), 0]:
        session.is_damaged("quite-new", f"line 1: d{number}")
    (caveat,) = session.check().caveats()
    assert caveat.what == f"quite new (d0 ×2, d1, d2, d3, d4, {more})"


def test_caveats_of_each_file_stand_apart(session: Session) -> None:
    """sub-agents: A caveat names the sub-agent's file that it was met in."""
    session.asks()
    session.is_damaged("torn-line")
    with session.within("agent"):
        session.asks()
        session.is_damaged("torn-line")
        session.event(Unrecognized(kind="odd", details="{}"))
    found = session.check().caveats()
    assert [(one.code, one.count, one.source) for one in found] == [
        ("torn-line", 1, None),
        ("torn-line", 1, "agents/a.jsonl"),
        ("unknown-kind", 1, "agents/a.jsonl"),
    ]


def test_an_event_of_an_earlier_turn_is_late(session: Session) -> None:
    """one-bad-record: It changes no report of a turn that had ended, and is a caveat."""
    session.asks("One.")
    session.asks("Two.")
    line = session.is_damaged("torn-line", turn=1)
    session.replies("Done.")
    check = session.check()
    assert [(one.code, one.lines) for one in check.caveats()] == [
        ("late-event", (line,)),
        ("torn-line", (line,)),
    ]
    codes = [[c.code for c in turn.receipt.caveats] for turn in check.turns()]
    assert codes == [["open-turn"], []]


# --- silences -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "path", "is_covered"),
    [
        ("place", "src/*", True),
        ("file-not-in-record", "src/a.py", True),
        ("place.file-not-in-record", "*.py", True),
        ("commit", "src/*", False),
        ("place", "lib/*", False),
        ("place.line-not-shown", "src/*", False),
        ("PLACE", "src/*", False),
    ],
)
def test_a_silence_covers_a_rule_and_a_path(
    session: Session,
    rule: str,
    path: str,
    is_covered: bool,  # noqa: FBT001 - a case
) -> None:
    """settings: By kind, by reason, or by both; what is silenced says why."""
    session.asks()
    session.replies("See src/a.py:1.")
    check = session.check(silences=[Silence("x", "*", "y"), Silence(rule, path, "generated")])
    (turn,) = check.turns()
    (found,) = turn.references
    assert found.silenced == ("generated" if is_covered else None)
    assert found.verdict == "not_established"
    assert check.summary().silenced == int(is_covered)


def test_a_reference_without_a_path_is_silenced_by_its_transcript(session: Session) -> None:
    """settings: A commit stands in the session alone."""
    session.asks()
    session.replies("Pushed abcdef12.")
    (turn,) = session.check(silences=[Silence("commit", "session.*", "old")]).turns()
    assert turn.references[0].silenced == "old"


def test_what_is_supported_is_never_silenced(session: Session) -> None:
    """settings: A silence takes no support away."""
    session.asks()
    session.shows("a.py", 1, 3)
    session.replies("See a.py:1.")
    check = session.check(silences=[Silence("place", "*", "all")])
    (turn,) = check.turns()
    assert turn.references[0].silenced is None
    assert check.summary().supported == 1


def test_entries_can_be_silenced_too(own: Session) -> None:
    """settings: A reference that was weighed at once is silenced like every other."""
    own.asks()
    own.stores(1)
    own.replies("See entry 9.")
    own.stores(2)
    check = own.check(silences=[Silence("entry", "*", "known")])
    (turn,) = check.turns()
    assert turn.references[0].silenced == "known"
    assert check.summary().outcome == "clean"


# --- threads ------------------------------------------------------------------


def test_two_sessions_in_one_file_stay_apart(session: Session) -> None:
    """threads: Each has its own turns, tools and numbers, whatever stands between."""
    session.opens(tools=("bash",))
    session.asks("One.")
    session.thread, session.turn = "t2", 0
    session.opens(tools=("read",))
    session.asks("Two.")
    session.replies("I used read and bash.")
    session.thread, session.turn = "t1", 1
    session.replies("I used read.")
    check = session.check()
    assert [(turn.thread, turn.prompt, turn.ran) for turn in check.turns()] == [
        ("t1", "One.", None),
        ("t2", "Two.", "ran: no tools"),
    ]
    assert check.source().threads == 2


def test_a_sub_agent_ends_with_its_file(session: Session) -> None:
    """sub-agents: Its turns end before the turn that started it goes on."""
    session.opens()
    session.asks("Outer.")
    with session.within("agent"):
        session.opens(parent="t1")
        session.asks("Inner.")
        with session.within("deeper", source="agents/b.jsonl"):
            session.opens(parent="agent")
            session.asks("Innermost.")
        session.replies("Done.")
    session.replies("Done.")
    turns = list(session.check().turns())
    assert [(turn.prompt, turn.parent, turn.source) for turn in turns] == [
        ("Innermost.", "agent", "agents/b.jsonl"),
        ("Inner.", "t1", "agents/a.jsonl"),
        ("Outer.", None, None),
    ]


def test_a_sub_agent_of_nobody_known_is_a_thread_of_its_own(session: Session) -> None:
    """sub-agents: No link is invented."""
    session.asks()
    session.shows("a.py", 1, 3)
    session.thread, session.turn = "t2", 0
    session.opens(parent="nobody")
    session.asks()
    session.replies("See a.py:1.")
    turns = list(session.check().turns())
    assert turns[1].parent == "nobody"
    assert [one.reason for one in turns[1].references] == ["file-not-in-record"]
