"""The laws of the core's folds, sets, settings and texts."""

import copy
import re
from collections import Counter
from dataclasses import fields
from itertools import pairwise
from unicodedata import bidirectional, category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CommandExited,
    ContextCondensed,
    ErrorRaised,
    Event,
    FileWritten,
    PagesRetrieved,
    PageWritten,
    Payload,
    PolicyDecided,
    PromptReceived,
    RecordDamaged,
    ReplyGiven,
    ToolCalled,
    ToolFailed,
    ToolReturned,
    Unrecognized,
    Usage,
)
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.core.intervals import Intervals
from counterfoil.core.plain import one_line, plain
from counterfoil.core.ran import ran_line
from counterfoil.core.receipt import Receipt, fold_receipt
from counterfoil.core.settings import KEYS, ConfigurationError, Layer, settle
from counterfoil.core.turns import COLLECTED, PERSON, ROWS, ReceiptCollector
from counterfoil.wire.events import decode_event, encode_event

# --- receipts -----------------------------------------------------------------

THREADS = (ThreadId("t1"), ThreadId("t2"))
CALLS = (None, "c1", "c2")
INSTANTS = ("2026-03-01T09:00:00.000Z", "2026-03-01T08:59:59.999Z", "2026-03-01T09:00:01.000Z")
_some = st.sampled_from(["make test", "ls", ""])
_source = st.sampled_from([None, PERSON])
_count = st.one_of(st.none(), st.integers(0, 3000))
_outcome = st.sampled_from([None, "ok", "error", "denied", "cancelled", "interrupted", "unknown"])
_called = st.builds(ToolCalled, tool=st.sampled_from(["read", "run", "grep"]), arguments=_some)
_answered: st.SearchStrategy[Payload] = st.one_of(
    st.builds(
        ToolReturned, tool=_some, outcome=_outcome, bytes=_count, milliseconds=_count, output=_some
    ),
    st.builds(ToolFailed, tool=_some, message=_some),
)
payloads: st.SearchStrategy[Payload] = st.one_of(
    _called,
    _answered,
    st.builds(PromptReceived, text=_some),
    st.builds(
        CommandExited,
        command=_some,
        exit_status=st.sampled_from([None, 0, 1]),
        timed_out=st.sampled_from([None, False, True]),
        source=_source,
    ),
    st.builds(
        PolicyDecided,
        command=_some,
        verdict=st.sampled_from(["allowed", "denied", "disapproved"]),
        by=st.sampled_from(["policy", "gate"]),
        source=_source,
    ),
    st.builds(ApprovalRequested, command=_some, level=st.sampled_from([None, "moderate"])),
    st.builds(
        ApprovalDecided,
        command=_some,
        decision=st.sampled_from(["approved", "denied", "timed_out", "cancelled", "cached"]),
    ),
    st.builds(FileWritten, path=_some, mode=_some, bytes_after=_count),
    st.builds(PageWritten, run=st.sampled_from(["t1", "r"]), page=_some),
    st.builds(
        PagesRetrieved, run=_some, query=_some, handles=st.lists(_some, max_size=3).map(tuple)
    ),
    st.builds(ErrorRaised, message=_some, where=st.sampled_from([None, "turn", "tool"])),
    st.builds(ContextCondensed, steps=st.sampled_from([None, (), ("drop",)])),
    st.builds(
        ReplyGiven,
        text=_some,
        condensed=st.sampled_from([None, False, True]),
        milliseconds=_count,
        usage=st.sampled_from([None, Usage(), Usage(input=1), Usage(output=0, cached=2)]),
    ),
    st.builds(RecordDamaged, what=st.sampled_from(["torn-line", "output-cut", "odd", "open-turn"])),
    st.builds(Unrecognized, kind=st.just("rocket_launched"), details=st.just("{}")),
)
# Calls and results have to meet: without these shares they almost never do.
joined_payloads = st.sampled_from(
    [_called, _called, _answered, _answered, payloads, payloads]
).flatmap(lambda drawn: drawn)


def _event(seq: int, payload: Payload, **fields_: object) -> Event:
    made: dict[str, object] = {
        "seq": seq,
        "id": EventId.from_number(seq),
        "occurred_at": INSTANTS[0],
        "thread": THREADS[0],
        "turn": 1,
        "payload": payload,
    }
    return Event(**made | fields_)  # type: ignore[arg-type]  # each test gives what it means


def _events_of(
    threads: tuple[ThreadId, ...], turns: tuple[int | None, ...]
) -> st.SearchStrategy[list[Event]]:
    return st.lists(
        st.builds(
            _event,
            seq=st.integers(1, 99),
            payload=joined_payloads,
            occurred_at=st.sampled_from(INSTANTS),
            thread=st.sampled_from(threads),
            turn=st.sampled_from(turns),
            call=st.sampled_from(CALLS),
        ),
        max_size=20,
    )


of_turn = _events_of(THREADS[:1], (1,))
of_any = _events_of(THREADS, (None, 1, 2))
of_others = of_any.map(
    lambda events: [event for event in events if (event.thread, event.turn) != (THREADS[0], 1)]
)


def _fold(events: list[Event], dropped: int = 0) -> Receipt:
    return fold_receipt(events, THREADS[0], 1, dropped=dropped)


@given(of_turn, of_others, st.data())
def test_events_of_other_turns_and_threads_change_no_receipt(
    own: list[Event], others: list[Event], data: st.DataObject
) -> None:
    """receipt: However the events of others stand between, the receipt is that of the turn."""
    expected = _fold(own)
    places = data.draw(st.lists(st.booleans(), min_size=len(own) + len(others), max_size=60))
    mixed: list[Event] = []
    left, right = list(own), list(others)
    for takes_own in places:
        source = left if takes_own and left else right or left
        if source:
            mixed.append(source.pop(0))
    mixed += left + right
    assert _fold(mixed) == expected
    line = ran_line(own, "t1", 1, reply="", tools=())
    assert ran_line(mixed, "t1", 1, reply="", tools=()) == line


@given(of_any)
def test_folding_mutates_nothing_and_repeats(events: list[Event]) -> None:
    """receipt: The fold is pure: the same answer twice, its argument as it was."""
    before = copy.deepcopy(events)
    first = _fold(events)
    assert _fold(events) == first
    assert events == before
    hash(first)


@given(of_any)
def test_stored_events_fold_to_the_receipt_that_was_handed_out(events: list[Event]) -> None:
    """receipt: Written, read back and folded again, a turn gives the same receipt."""
    read = [decode_event(encode_event(event)) for event in events]
    assert _fold([event for event in read if isinstance(event, Event)]) == _fold(events)


_LISTS: dict[type[Payload], str] = {
    ToolCalled: "tools",
    CommandExited: "commands",
    FileWritten: "files",
    PageWritten: "pages",
    PagesRetrieved: "pages",
    PolicyDecided: "denials",
    ApprovalDecided: "approvals",
    ErrorRaised: "errors",
}


def _rows(payload: Payload) -> int:
    """Say how many rows an event makes in its list."""
    if getattr(payload, "source", None) == PERSON or getattr(payload, "verdict", "") == "allowed":
        return 0
    return len(payload.handles) if isinstance(payload, PagesRetrieved) else 1


def _exact(events: list[Event]) -> dict[str, int]:
    """Count the rows of each list of a receipt without any bound."""
    counts = dict.fromkeys(_LISTS.values(), 0)
    for payload in (event.payload for event in events):
        if type(payload) in _LISTS:
            counts[_LISTS[type(payload)]] += _rows(payload)
    return counts


def _check_rows(receipt: Receipt, exact: dict[str, int]) -> None:
    omitted = dict(receipt.omitted)
    assert list(omitted) == list(exact)
    for name, count in exact.items():
        shown = len(getattr(receipt, name))
        assert shown == min(count, ROWS)
        assert shown + omitted[name] == count


@given(of_turn, st.integers(1, 12))
def test_rows_and_omitted_make_the_exact_count(events: list[Event], times: int) -> None:
    """receipt-bounds: No list holds more than 64 rows and none loses a count."""
    _check_rows(_fold(events * times), _exact(events * times))


@given(of_turn)
def test_caveats_count_and_stand_in_order(events: list[Event]) -> None:
    """receipt: Calls and results that never met are counted, and each code stands once."""
    receipt = _fold(events)
    counts = {caveat.code: caveat.count for caveat in receipt.caveats}
    assert len(counts) == len(receipt.caveats)
    assert all(count > 0 for count in counts.values())
    calls = Counter(event.call for event in events if isinstance(event.payload, ToolCalled))
    answers = Counter(
        event.call for event in events if isinstance(event.payload, ToolReturned | ToolFailed)
    )
    joined = sum(min(calls[call], answers[call]) for call in calls if call is not None)
    assert counts.get("call-without-result", 0) == calls.total() - joined
    assert counts.get("result-without-call", 0) == answers.total() - joined
    assert receipt.complete == ("open-turn" not in counts)


@given(of_turn, st.integers(1, 9))
def test_dropped_events_make_a_turn_incomplete(events: list[Event], dropped: int) -> None:
    """receipt: What fell out of a collector is a caveat, and changes nothing else."""
    whole, cut = _fold(events), _fold(events, dropped)
    assert not cut.complete
    assert {"events-dropped": dropped}.items() <= {c.code: c.count for c in cut.caveats}.items()
    for field in fields(Receipt):
        if field.name not in {"complete", "caveats"}:
            assert getattr(cut, field.name) == getattr(whole, field.name)


@given(of_turn)
def test_the_ran_line_counts_every_call(events: list[Event]) -> None:
    """ran: The counts of the line are the calls of the turn, and no word counts more."""
    line = ran_line(events, "t1", 1, reply="read", tools=["read"])
    calls = [event.payload.tool for event in events if isinstance(event.payload, ToolCalled)]
    if not calls:
        assert line == "ran: no tools"
        return
    assert line is not None
    parts = line.removeprefix("ran: ").split(" · ")
    found = {}
    for part in parts:
        match = re.fullmatch(r"(\w+)(?: ×(\d+))?(?: \((.*)\))?", part)
        assert match is not None
        found[match[1]] = int(match[2] or 1)
        words = [int(word.split()[0]) for word in (match[3] or "").split(", ") if word]
        assert all(words)
        assert sum(words) <= found[match[1]]
    assert found == dict(Counter(calls))
    assert list(found) == list(dict.fromkeys(calls))


@given(st.integers(0, 3), st.integers(1, 3), st.sampled_from([1, 511, 512, 513, 600]))
def test_a_collector_keeps_the_newest_of_each_turn(before: int, asked: int, count: int) -> None:
    """collector: Events come back in order, what fell out is counted, older turns are gone."""
    collector = ReceiptCollector()
    prompt = PromptReceived(text="x")
    for turn in range(1, before + 1):
        collector.add(_event(turn, prompt, turn=turn))
    own = [_event(seq, prompt, turn=before + 1) for seq in range(1, count + 1)]
    for event in own:
        collector.add(event)
    collector.add(_event(1, prompt, turn=None))
    later = _event(7, prompt, turn=before + 1 + asked)
    collector.add(later)
    kept, dropped = collector.take(before + 1)
    assert list(kept) == own[-COLLECTED:]
    assert dropped == max(0, count - COLLECTED)
    assert [collector.take(turn) for turn in range(1, before + 2)] == [((), 0)] * (before + 1)
    assert collector.take(before + 1 + asked) == ((later,), 0)


# --- intervals ----------------------------------------------------------------

_numbers = st.integers(-3, 30)
ranges = st.tuples(_numbers, _numbers).map(lambda pair: (min(pair), max(pair)))


def _set(intervals: list[tuple[int, int]]) -> set[int]:
    return {number for low, high in intervals for number in range(low, high + 1)}


@given(st.lists(ranges, max_size=8), st.lists(ranges, max_size=8), ranges)
def test_intervals_are_the_set_of_their_numbers(
    given_: list[tuple[int, int]], added: list[tuple[int, int]], asked: tuple[int, int]
) -> None:
    """intervals: Made, added to and asked, intervals say what a plain set says."""
    intervals = Intervals(given_)
    for low, high in added:
        intervals.add(low, high)
    expected = _set([*given_, *added])
    assert intervals.count() == len(expected)
    assert {number for number in range(-5, 35) if number in intervals} == expected
    assert _set(list(intervals)) == expected
    assert _set(list(intervals.gaps(*asked))) == _set([asked]) - expected


@given(st.lists(ranges, max_size=8), st.lists(ranges, max_size=8))
def test_intervals_do_not_touch_and_ascend(
    given_: list[tuple[int, int]], added: list[tuple[int, int]]
) -> None:
    """intervals: One set has one form, however it was put together."""
    intervals = Intervals(given_)
    for low, high in added:
        intervals.add(low, high)
    rows = list(intervals)
    assert rows == list(Intervals([*added, *given_]))
    assert all(low <= high for low, high in rows)
    assert all(first[1] + 1 < second[0] for first, second in pairwise(rows))


@given(st.lists(ranges, max_size=6), ranges)
def test_gaps_ascend_and_are_as_wide_as_they_can_be(
    given_: list[tuple[int, int]], asked: tuple[int, int]
) -> None:
    """intervals: Gaps come in order and never touch each other."""
    gaps = list(Intervals(given_).gaps(*asked))
    assert gaps == list(Intervals(gaps))


# --- settings -----------------------------------------------------------------

_OF_KIND: dict[type, st.SearchStrategy[object]] = {
    bool: st.booleans(),
    str: st.sampled_from(["", "a", "b"]),
    int: st.integers(0, 9),
    list: st.lists(st.sampled_from(["a", "b"]), max_size=2).map(tuple),
    dict: st.sampled_from([{}, {"a": {"command": "x"}}, {"b": {"url": "y", "level": "safe"}}]),
}
_VALUES: dict[str, st.SearchStrategy[object]] = {
    key.name: st.sampled_from(key.choices)
    if isinstance(key.choices, tuple)
    else _OF_KIND[key.choices]
    for key in KEYS
}
layers = st.lists(
    st.tuples(
        st.sampled_from(["project", "home", "flag"]), st.fixed_dictionaries({}, optional=_VALUES)
    ),
    max_size=4,
)


@given(layers)
def test_the_later_layer_wins(given_: list[tuple[str, dict[str, object]]]) -> None:
    """settings: Each key has the value of the last layer that names it, and says whose it is."""
    settled = settle(Layer(origin, values) for origin, values in given_)
    assert set(settled.values) == {key.name for key in KEYS}
    for key in KEYS:
        said = [(values[key.name], origin) for origin, values in given_ if key.name in values]
        setting = settled.values[key.name]
        assert (setting.value, setting.origin) == (said or [(key.default, "default")])[-1]


@given(st.sampled_from(KEYS), st.integers(0, 30), st.sampled_from("exq"))
def test_an_unknown_key_names_its_nearest_neighbour(key: object, at: int, letter: str) -> None:
    """settings: A key with a letter too many is an error that names the key meant."""
    name = str(getattr(key, "name", ""))
    at %= len(name) + 1
    written = name[:at] + letter + name[at:]
    with pytest.raises(ConfigurationError, match=f"did you mean '{name}'"):
        settle([Layer("flag", {written: "x"})])


# --- text to be shown ---------------------------------------------------------

any_text = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.text(
        st.sampled_from("ab \t\n\r\x00\x1b\x7f\x85\u2028\u202e\u2066\ufeff\ud800é"), max_size=60
    ),
)
_STEERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(any_text)
def test_shown_text_steers_nothing(text: str) -> None:
    """plain-text: No control character, no bidirectional control, no lone surrogate is left."""
    shown = plain(text)
    assert all(category(letter) not in {"Cc", "Cs"} or letter in "\t\n" for letter in shown)
    assert not {bidirectional(letter) for letter in shown} & _STEERING
    assert plain(shown) == shown
    shown.encode()


@given(any_text, st.integers(1, 40))
def test_one_line_is_one_line_and_no_wider(text: str, width: int) -> None:
    """plain-text: The first words of a text take one line of at most the width asked."""
    line = one_line(text, width)
    assert len(line) <= width
    assert not line or len(line.splitlines()) == 1
    assert "\t" not in line
