"""The suites that every `EventLog` and every `EntryStore` passes, ours or a stranger's.

A check takes a new, empty log or store, and raises `AssertionError` with the promise
that was not kept. Any test runner will do; with pytest:

```python
@pytest.mark.parametrize("check", conformance.EVENT_LOG, ids=lambda check: check.__name__)
def test_my_log_conforms(check, tmp_path):
    with MyLog(tmp_path / "log") as log:
        check(log)
```

That two processes may append to one log, and that what was recorded outlives its
process, is promised as well but is not checked here: only the adapter knows how to
start another process on the same log.
"""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager

from counterfoil.core.entries import Entry, EntryDraft
from counterfoil.core.errors import ConflictError
from counterfoil.core.events import Event, PromptReceived
from counterfoil.core.ids import EntryNumber, EventId, ThreadId
from counterfoil.ports.record import EntryStore, EventLog
from counterfoil.testing.samples import SAMPLES, sample_fact
from counterfoil.wire.events import encode_event

_ALPHA, _BETA, _UPPER = ThreadId("alpha"), ThreadId("beta"), ThreadId("ALPHA")
_BEYOND = 10**30
"""A number that no store holds and that a reader may ask for."""


def _same(found: object, expected: object, promise: str) -> None:
    if found != expected:
        raise AssertionError(f"{promise}: found {found!r}, expected {expected!r}")


@contextmanager
def _conflict(promise: str, *named: str) -> Generator[None, None, None]:
    try:
        yield
    except ConflictError as error:
        said = error.diagnosis()
        _same([name for name in named if name not in said], [], f"{promise}, naming both")
    else:
        raise AssertionError(f"{promise}: no ConflictError was raised")


def _ids(events: Iterable[Event]) -> list[int]:
    return [int(event.id, 16) for event in events]


def nothing_is_in_a_new_log(log: EventLog) -> None:
    """A new log yields nothing, whatever is asked."""
    _same(list(log.events()), [], "a new log is empty")
    _same(list(log.events(after=_BEYOND)), [], "nothing is behind the end")
    _same(list(log.events_of(_ALPHA)), [], "an unknown thread has no events")


def a_log_returns_what_it_was_given(log: EventLog) -> None:
    """What `append` returned is what is read, and its canonical bytes are the fact's."""
    appended = [log.append(fact) for fact in SAMPLES]
    _same(list(log.events()), appended, "events() yields what append() returned, in order")
    _same(list(log.events()), appended, "reading changes nothing")
    _same(
        [encode_event(event) for event in appended],
        [encode_event(fact.at(place)) for place, fact in enumerate(SAMPLES, start=1)],
        "no byte of a fact is lost",
    )


def places_run_from_one(log: EventLog) -> None:
    """Places are 1, 2, 3, whatever thread or time the events are of."""
    _same(log.last_place(), 0, "a new log has no last place")
    appended = [log.append(fact) for fact in SAMPLES]
    _same(log.last_place(), len(SAMPLES), "last_place() is that of the last event")
    _same([event.seq for event in appended], list(range(1, len(SAMPLES) + 1)), "no gap in places")


def an_id_is_recorded_once(log: EventLog) -> None:
    """A second event with an id is refused; it leaves no trace and no gap."""
    first = log.append(sample_fact(1))
    with _conflict("a second event with one id is refused"):
        log.append(sample_fact(1))
    with _conflict("an id counts in every thread"):
        log.append(sample_fact(1, PromptReceived(text="other"), thread=_BETA, turn=7))
    second = log.append(sample_fact(2))
    _same(list(log.events()), [first, second], "what was refused left no trace")
    _same(second.seq, 2, "what was refused took no place")


def reading_starts_behind_a_place(log: EventLog) -> None:
    """`events(after)` begins with the next place; a place too far yields nothing."""
    appended = [log.append(sample_fact(number)) for number in range(1, 6)]
    for after in range(6):
        _same(list(log.events(after)), appended[after:], f"events({after})")
    _same(list(log.events(_BEYOND)), [], "nothing is behind the end")


def what_is_recorded_later_is_not_yielded(log: EventLog) -> None:
    """A reader gets what was recorded when it asked, however late it reads on."""
    log.append(sample_fact(1))
    asked = log.events()
    log.append(sample_fact(2))
    of_thread, behind = log.events_of(sample_fact(1).thread), log.events(after=1)
    log.append(sample_fact(3))
    _same(_ids(asked), [1], "events() yields what was recorded when asked")
    _same(_ids(of_thread), [1, 2], "events_of() yields what was recorded when asked")
    _same(_ids(behind), [2], "events(1) yields what was recorded when asked")


def appending_goes_on_while_somebody_reads(log: EventLog) -> None:
    """A reader half-way through holds nobody up, and readers do not meet."""
    for number in (1, 2, 3):
        log.append(sample_fact(number))
    one, other = log.events(), log.events()
    seen = _ids([next(one), next(other), next(one)])
    log.append(sample_fact(4))
    _same(seen, [1, 1, 2], "two readers do not meet")
    _same(_ids(one) + _ids(other), [3, 2, 3], "a reader goes on where it was")
    _same(_ids(log.events()), [1, 2, 3, 4], "an event appended meanwhile is recorded")


def events_are_found_by_thread_and_turn(log: EventLog) -> None:
    """`events_of` yields those of the thread or turn, in order, and no other."""
    of = [(_ALPHA, None), (_BETA, 1), (_ALPHA, 1), (_UPPER, 1), (_ALPHA, 2), (_ALPHA, 1)]
    for number, (thread, turn) in enumerate(of, start=1):
        log.append(sample_fact(number, thread=thread, turn=turn))
    _same(_ids(log.events_of(_ALPHA)), [1, 3, 5, 6], "a whole thread")
    _same(_ids(log.events_of(_ALPHA, 1)), [3, 6], "one turn")
    _same(_ids(log.events_of(_ALPHA, 3)), [], "a turn without events")
    _same(_ids(log.events_of(_ALPHA, _BEYOND)), [], "a turn beyond every number")
    _same(_ids(log.events_of(_UPPER)), [4], "letter case counts")


def an_event_is_found_by_its_id(log: EventLog) -> None:
    """`event` returns what `append` returned, and `None` for an id that is not there."""
    _same(log.event(EventId.from_number(1)), None, "a new log has no event")
    appended = [log.append(fact) for fact in SAMPLES]
    _same([log.event(event.id) for event in appended], appended, "event() finds each by its id")
    _same(log.event(EventId("0ddba11c0ffee000")), None, "an id that nobody gave finds nothing")


def the_last_turn_of_a_thread_is_known(log: EventLog) -> None:
    """`last_turn` is the highest turn of the thread, 0 where it has none."""
    _same(log.last_turn(_ALPHA), 0, "an unknown thread has no turn")
    of = [(_ALPHA, None), (_BETA, 9), (_ALPHA, 2), (_ALPHA, 1), (_UPPER, 7)]
    for number, (thread, turn) in enumerate(of, start=1):
        log.append(sample_fact(number, thread=thread, turn=turn))
    _same(log.last_turn(_ALPHA), 2, "the highest turn, whatever the order")
    _same(log.last_turn(_UPPER), 7, "letter case counts")


def nothing_is_in_a_new_store(store: EntryStore) -> None:
    """A new store has no threads and no entries."""
    _same(list(store.threads()), [], "a new store has no threads")
    _same(list(store.entries(_ALPHA)), [], "an unknown thread has no entries")
    _same(list(store.numbers(_ALPHA)), [], "an unknown thread has no numbers")
    _same(store.entry(_ALPHA, EntryNumber(1)), None, "an unknown thread has no entry 1")


def numbers_run_from_one_in_each_thread(store: EntryStore) -> None:
    """The numbers of a thread are 1, 2, 3, whatever is added to others meanwhile."""
    threads = [_ALPHA, _BETA, _ALPHA, _ALPHA, _BETA]
    added = [store.add(thread, EntryDraft(kind="prompt")) for thread in threads]
    _same([entry.number for entry in added], [1, 1, 2, 3, 2], "no gap in the numbers of a thread")
    _same([entry.thread for entry in added], threads, "an entry knows its thread")
    _same(list(store.numbers(_ALPHA)), [(1, 3)], "numbers() of alpha")
    _same(list(store.numbers(_BETA)), [(1, 2)], "numbers() of beta")


def a_store_returns_what_it_was_given(store: EntryStore) -> None:
    """What `add` returned is what is read, one by one and all together."""
    added = [store.add(_ALPHA, draft) for draft in _DRAFTS]
    _same(added, list(map(_numbered, range(1, len(added) + 1), _DRAFTS)), "add() changes nothing")
    _same(list(store.entries(_ALPHA)), added, "entries() yields what add() returned, in order")
    _same([store.entry(_ALPHA, entry.number) for entry in added], added, "entry() finds each")


def an_entry_that_is_not_there_is_none(store: EntryStore) -> None:
    """`entry` returns `None` for a number past the last, however large."""
    store.add(_ALPHA, EntryDraft(kind="prompt"))
    for number in (2, 2**63, _BEYOND):
        _same(store.entry(_ALPHA, EntryNumber(number)), None, f"entry {number}")


def threads_come_in_the_order_of_their_first_entries(store: EntryStore) -> None:
    """`threads` yields each thread once, the one that began first at the head."""
    for thread in (_BETA, _ALPHA, _BETA, ThreadId("a"), _ALPHA):
        store.add(thread, EntryDraft(kind="prompt"))
    _same(list(store.threads()), [_BETA, _ALPHA, "a"], "threads() in the order they began")


def a_thread_has_one_spelling(store: EntryStore) -> None:
    """A thread id that differs only in letter case is refused and finds nothing."""
    first = store.add(_ALPHA, EntryDraft(kind="prompt"))
    with _conflict("another spelling is refused", repr(str(_ALPHA)), repr(str(_UPPER))):
        store.add(_UPPER, EntryDraft(kind="reply"))
    _same(list(store.threads()), [_ALPHA], "what was refused left no thread")
    _same(list(store.entries(_ALPHA)), [first], "what was refused left no entry")
    _same(list(store.entries(_UPPER)), [], "another spelling is another thread to a reader")
    _same(list(store.numbers(_UPPER)), [], "another spelling has no numbers")
    _same(store.entry(_UPPER, EntryNumber(1)), None, "another spelling has no entry 1")
    _same(store.spelling_of(_UPPER), _ALPHA, "spelling_of() finds it in any letter case")
    _same(store.spelling_of(_ALPHA), _ALPHA, "spelling_of() finds it as it is")
    _same(store.spelling_of(_BETA), None, "spelling_of() finds no thread that is not there")


_DRAFTS = (
    EntryDraft(kind="instructions"),
    EntryDraft(kind="prompt", turn=1, events=(EventId.from_number(1),)),
    EntryDraft(kind="tool_calls", turn=1, events=tuple(map(EventId.from_number, range(300)))),
    EntryDraft(kind="tool_output", turn=2**53 - 1, origin="carried"),
    EntryDraft(kind="reply", turn=1, events=(EventId.from_number(1),)),
    EntryDraft(kind="reasoning", turn=2),
    EntryDraft(kind="command", turn=2),
)


def _numbered(number: int, draft: EntryDraft) -> Entry:
    return Entry(
        thread=_ALPHA,
        number=EntryNumber(number),
        kind=draft.kind,
        turn=draft.turn,
        origin=draft.origin,
        events=draft.events,
    )


EVENT_LOG: tuple[Callable[[EventLog], None], ...] = (
    nothing_is_in_a_new_log,
    a_log_returns_what_it_was_given,
    places_run_from_one,
    an_id_is_recorded_once,
    reading_starts_behind_a_place,
    what_is_recorded_later_is_not_yielded,
    appending_goes_on_while_somebody_reads,
    events_are_found_by_thread_and_turn,
    an_event_is_found_by_its_id,
    the_last_turn_of_a_thread_is_known,
)
"""Every check of an `EventLog`; each wants a new, empty one."""

ENTRY_STORE: tuple[Callable[[EntryStore], None], ...] = (
    nothing_is_in_a_new_store,
    numbers_run_from_one_in_each_thread,
    a_store_returns_what_it_was_given,
    an_entry_that_is_not_there_is_none,
    threads_come_in_the_order_of_their_first_entries,
    a_thread_has_one_spelling,
)
"""Every check of an `EntryStore`; each wants a new, empty one."""
