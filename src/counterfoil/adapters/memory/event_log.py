"""An event log in a list, with the manners of one on a disk."""

from collections.abc import Iterator
from threading import Lock

from counterfoil.core.errors import ConflictError, UnreadableError
from counterfoil.core.events import Event, Fact
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.wire.events import decode_event, encode_event
from counterfoil.wire.strict_json import Malformed


class MemoryEventLog:
    """An `EventLog` that threads may share and that ends with the process."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._places: dict[EventId, int] = {}
        self._lock = Lock()

    def append(self, fact: Fact) -> Event:
        """Record `fact` behind every earlier event and return it with its place.

        Raises:
            ConflictError: An event with this id is already in the log.
            UnreadableError: `fact` holds what could not be read back.
        """
        with self._lock:
            if (place := self._places.get(fact.id)) is not None:
                raise ConflictError(f"event id {fact.id} is that of event {place}", "a new id")
            event = _as_read_back(fact.at(len(self._events) + 1))
            self._events.append(event)
            self._places[event.id] = event.seq
        return event

    def events(self, after: int = 0) -> Iterator[Event]:
        """Yield, in order, the events behind place `after` that are recorded by now."""
        last = len(self._events)
        return (self._events[place] for place in range(max(after, 0), last))

    def events_of(self, thread: ThreadId, turn: int | None = None) -> Iterator[Event]:
        """Yield, in order, the events of `thread`, or of one `turn` of it."""
        return (
            event
            for event in self.events()
            if event.thread == thread and turn in (None, event.turn)
        )

    def event(self, id_: EventId) -> Event | None:
        """Return the event with that id, or `None` when the log has none."""
        place = self._places.get(id_)
        return None if place is None else self._events[place - 1]

    def last_place(self) -> int:
        """Return the place of the last event that is recorded by now; 0 before the first."""
        return len(self._events)

    def last_turn(self, thread: ThreadId) -> int:
        """Return the highest turn that an event of `thread` has; 0 when none has one."""
        return max((event.turn or 0 for event in self.events_of(thread)), default=0)


def _as_read_back(event: Event) -> Event:
    """Return `event` as every log on a disk yields it, out of its canonical form."""
    try:
        read = decode_event(encode_event(event))
    except (TypeError, ValueError) as error:
        raise UnreadableError(f"event {event.id} has no wire form: {error}") from error
    if isinstance(read, Malformed):
        fault = f"{read.reason} in {read.field}" if read.field else read.reason
        raise UnreadableError(f"event {event.id} could not be read back: {fault}")
    return read
