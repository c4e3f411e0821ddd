"""From the events of a turn to its entries: what the thread stores once the turn ended.

The same fold makes the entries of a turn that is still running, of one that failed and
of one that was broken off, so that no turn is stored by another rule than it was shown
by. A batch is what the model asked for in one answer: the calls between two
`model_asked`. Text that the model said with a batch is a `reasoning_given` that carries
the id of its first call; reasoning carries none.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from counterfoil.core.entries import EntryDraft, EntryKind
from counterfoil.core.events import (
    CommandExited,
    Event,
    ModelAsked,
    PromptReceived,
    ReasoningGiven,
    ReplyGiven,
    ToolCalled,
    ToolFailed,
    ToolReturned,
)
from counterfoil.core.ids import EventId
from counterfoil.core.turns import PERSON


@dataclass(slots=True)
class _Batch:
    """The calls of one answer, what was said with them, and their results."""

    said: list[Event] = field(default_factory=list)
    calls: list[Event] = field(default_factory=list)
    results: dict[str, deque[Event]] = field(default_factory=dict)


def drafts_of(events: Iterable[Event]) -> tuple[EntryDraft, ...]:
    """Return the entries that the `events` of one turn make, in the order of the thread.

    A call that has no result has no output entry. A result without a call makes none.
    """
    drafts: list[EntryDraft] = []
    batch = _Batch()
    for event in events:
        payload = event.payload
        if isinstance(payload, ModelAsked | ReplyGiven):
            drafts.extend(_drafts_of_batch(batch))
            batch = _Batch()
        if isinstance(payload, PromptReceived):
            drafts.append(_draft("prompt", [event]))
        elif isinstance(payload, ReplyGiven):
            drafts.append(_draft("reply", [event]))
        elif isinstance(payload, CommandExited):
            if payload.source == PERSON:
                drafts.append(_draft("command", [event]))
        elif isinstance(payload, ReasoningGiven) and event.call is None:
            drafts.append(_draft("reasoning", [event]))
        else:
            _take(batch, event)
    drafts.extend(_drafts_of_batch(batch))
    return tuple(drafts)


def results_of(events: Iterable[Event]) -> dict[EventId, Event]:
    """Return, by the event of each call of a turn, the event that answered it.

    Of an id that was used twice the nth result belongs to the nth call.
    """
    calls: dict[str, list[EventId]] = {}
    results: dict[str, list[Event]] = {}
    for event in events:
        if event.call is None:
            continue
        if isinstance(event.payload, ToolCalled):
            calls.setdefault(event.call, []).append(event.id)
        elif isinstance(event.payload, ToolReturned | ToolFailed):
            results.setdefault(event.call, []).append(event)
    return {
        id_: result
        for call, ids in calls.items()
        for id_, result in zip(ids, results.get(call, ()), strict=False)
    }


def missing_drafts(
    drafts: Iterable[EntryDraft], stored: Iterable[EventId]
) -> tuple[EntryDraft, ...]:
    """Return those of `drafts` whose content no stored entry holds."""
    held = set(stored)
    return tuple(draft for draft in drafts if not held.intersection(draft.events))


def _take(batch: _Batch, event: Event) -> None:
    if isinstance(event.payload, ToolCalled):
        batch.calls.append(event)
    elif isinstance(event.payload, ReasoningGiven):
        batch.said.append(event)
    elif isinstance(event.payload, ToolReturned | ToolFailed) and event.call is not None:
        batch.results.setdefault(event.call, deque()).append(event)


def _answered(batch: _Batch) -> Iterator[tuple[Event, Event | None]]:
    waiting = {call: deque(results) for call, results in batch.results.items()}
    for call in batch.calls:
        results = waiting.get(call.call or "")
        yield call, results.popleft() if results else None


def _drafts_of_batch(batch: _Batch) -> Iterator[EntryDraft]:
    if not batch.calls:
        return
    yield _draft("tool_calls", [*batch.said, *batch.calls])
    for _, result in _answered(batch):
        if result is not None:
            yield _draft("tool_output", [result])


def _draft(kind: EntryKind, events: list[Event]) -> EntryDraft:
    return EntryDraft(kind=kind, turn=events[0].turn, events=tuple(event.id for event in events))
