"""Threads of our own: entries that exist, are missing, are past the hundred, and places."""

from typing import Any

import pytest

from counterfoil.core.events import ReasoningGiven

# A session is the fake transcript of `conftest.py`: its steps are told in the test.
Session = Any


def _turn(own: Session, reply: str, entries: int = 3) -> None:
    """Tell a turn whose prompt is entry 1 and whose reply is the last entry."""
    own.asks("What is there?")
    own.stores(1)
    for entry in range(2, entries):
        own.event(ReasoningGiven(text="Hm."))
        own.stores(entry)
    own.replies(reply)
    own.stores(entries)


def test_entries_exist_or_are_missing(own: Session) -> None:
    """entry-check: The turn's own entries are stored before the check."""
    _turn(own, "See entry 1, entry 3, entry 4 and entries 2-9; entry 0 is none.")
    (turn,) = own.check().turns()
    assert [(one.kind, one.text, one.verdict, one.reason) for one in turn.references] == [
        ("entry", "entry 1", "supported", "entry-exists"),
        ("entry", "entry 3", "supported", "entry-exists"),
        ("entry", "entry 4", "contradicted", "no-such-entry"),
        ("entry", "entries 2-9", "contradicted", "no-such-entry"),
        ("entry", "entry 0", "contradicted", "no-such-entry"),
    ]
    assert turn.cited is not None
    assert turn.cited.line == "cited but not in this conversation: entries 0, 4–9 (7)"
    assert turn.line == 1
    assert [spot.line for spot in turn.replies] == [3]
    assert {one.place.line for one in turn.references} == {3}
    first = turn.references[0].place
    assert (first.start, first.end) == (4, 11)


def test_entries_past_a_hundred_are_not_checked(own: Session) -> None:
    """entry-check: They are neither missing nor there."""
    _turn(own, "See entries 1-100 and entry 101 and entries 99-102.", entries=103)
    (turn,) = own.check().turns()
    assert [(one.verdict, one.reason) for one in turn.references] == [
        ("supported", "entry-exists"),
        ("not_established", "not-checked"),
        ("not_established", "not-checked"),
    ]
    assert turn.cited is not None
    assert turn.cited.line == "cited: only the first 100 of 102 entries were checked"


def test_an_entry_of_a_later_turn_is_missing(own: Session) -> None:
    """entry-check: What exists is what was stored when the reply was given."""
    _turn(own, "See entry 4.")
    own.asks()
    own.stores(4)
    own.replies("See entry 4.")
    own.stores(5)
    assert [row[1] for row in own.verdicts()] == ["contradicted", "supported"]


def test_a_turn_without_a_reply_cites_nothing(own: Session) -> None:
    """entry-check: There is nothing to check, and no line."""
    own.asks("entry 9")
    own.stores(1)
    check = own.check()
    (turn,) = check.turns()
    assert (turn.cited, turn.references, turn.replies) == (None, (), ())
    assert check.source().checked == ("entry", "place", "commit", "quotation", "source")


def test_the_agent_of_another_harness_was_shown_no_numbers(session: Session) -> None:
    """entry-check: Then `entry 9` is a word of its own and no reference."""
    session.asks()
    session.replies("See entry 9.")
    (turn,) = session.check().turns()
    assert (turn.cited, turn.references) == (None, ())


def test_places_of_our_own_threads_are_entries(own: Session) -> None:
    """entry-check: Evidence is named by the entry that holds it, where there is one."""
    own.asks()
    own.stores(1)
    line = own.runs("git commit", "[main deadbee1] Fix")
    own.stores(2)
    own.words.append(("tool", "deadbee1", own.thread, line + 2, own.origin))
    own.words.append(("tool", "feedbee1", own.thread, line, own.origin))
    own.replies("Committed as deadbee1 and pushed feedbee1.")
    own.stores(3)
    (turn,) = own.check().turns()
    assert [[row.line for row in one.evidence] for one in turn.references] == [[2], [None]]
    assert all(one.verdict == "supported" for one in turn.references)


def test_a_reply_that_no_entry_holds_has_no_place(own: Session) -> None:
    """entry-check: Where a number was not recorded, none is named."""
    own.asks()
    own.replies("See a.py:1.")
    own.stores(1, "f" * 16)
    (turn,) = own.check().turns()
    assert turn.line is None
    assert [spot.line for spot in turn.replies] == [None]
    assert [one.place.line for one in turn.references] == [None]


def test_an_entry_stored_before_the_first_turn_exists(own: Session) -> None:
    """entry-check: Instructions are an entry of no turn."""
    own.turn = 0
    own.stores(1, "f" * 16)
    own.asks()
    own.replies("See entry 1.")
    assert own.verdicts() == [("entry 1", "supported", "entry-exists")]


@pytest.mark.parametrize("length", [300, 301])
def test_a_long_reference_is_shown_cut(own: Session, length: int) -> None:
    """entry-check: At most 300 characters of its text are kept."""
    numbers = ", ".join(["1"] * 200)
    text = f"entries {numbers}"[:length]
    text = text.rstrip(", ")
    _turn(own, f"See {text}")
    ((shown, verdict, _),) = own.verdicts()
    assert shown == text[:300]
    assert verdict == "supported"
