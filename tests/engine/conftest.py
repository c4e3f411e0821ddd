"""A transcript made of a list of items, told step by step, with nothing on any disk."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import pytest

from counterfoil.core.events import (
    CommandExited,
    EntryStored,
    Event,
    Payload,
    PromptReceived,
    RecordDamaged,
    ReplyGiven,
    ThreadOpened,
    ToolCalled,
    ToolReturned,
)
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.core.refs.needles import Whose, fits, flatten, places_of
from counterfoil.core.shown import FileSeen, How
from counterfoil.engine.check_transcript import TranscriptCheck
from counterfoil.engine.conversation import PendingTurn
from counterfoil.ports.transcripts import (
    Fetched,
    Item,
    Measured,
    Origin,
    Recorded,
    Said,
    Shown,
    Sighting,
    Wanted,
)
from counterfoil.ports.world import TreeFile

MAIN = ThreadId("t1")

Given: TypeAlias = Any
"""What a step hands on by name, each to the one place that knows its type."""


class ListSpool:
    """A spool that keeps everything in a list, and the weights that it was given."""

    def __init__(self) -> None:
        self.values: list[PendingTurn] = []
        self.weights: list[int] = []

    def put(self, value: PendingTurn, weight: int) -> None:
        self.values.append(value)
        self.weights.append(weight)

    def __iter__(self) -> Iterator[PendingTurn]:
        return iter(self.values)


class FakeRepository:
    """A repository of one commit, given as its files with their lines."""

    def __init__(
        self,
        files: dict[str, int],
        commits: Sequence[str] = (),
        longest: dict[str, int] | None = None,
    ) -> None:
        self._files = files
        self._commits = commits
        self._longest = longest or {}
        self.asked: list[tuple[str, str | None, str]] = []

    def files(self, path: str, *, commit: str | None, before: str) -> tuple[TreeFile, ...]:
        self.asked.append((path, commit, before))
        name = path.rpartition("/")[2]
        return tuple(
            TreeFile(known, lines, "c0ffee" * 6 + "c0ff")
            for known, lines in self._files.items()
            if known.endswith(name)
        )

    def has_commit(self, name: str) -> bool:
        return any(commit.startswith(name) for commit in self._commits)

    def longest(self, path: str) -> int | None:
        return self._longest.get(path)


class Session:
    """A fake `Transcript`. Each step is a line of the file; `within` opens a sub-agent's."""

    def __init__(self, *, numbers_entries: bool = False) -> None:
        self.format = "fake"
        self.path = "session.jsonl"
        self.numbers_entries = numbers_entries
        self.steps: list[Item] = []
        self.words: list[tuple[Whose, str, ThreadId | None, int, Origin]] = []
        self.searched: list[Wanted] = []
        self.thread = MAIN
        self.turn = 0
        self.origin = Origin("")
        self._line = 0
        self._seq = 0

    # --- the port ---

    def items(self) -> Iterator[Item]:
        yield from self.steps
        yield Measured(123, self._line, self._seq, {"blank": 2}, {"odd": 1}, 4)

    def find(self, wanted: Sequence[Wanted]) -> Iterator[Sighting]:
        self.searched.extend(wanted)
        seen: set[tuple[int, Whose, ThreadId | None]] = set()
        for whose, text, thread, line, origin in self.words:
            flat = flatten(text)
            for number, one in enumerate(wanted):
                places = places_of(one.needle, flat)
                key = (number, whose, thread)
                if key not in seen and any(fits(one.needle, flat, place) for place in places):
                    seen.add(key)
                    yield Sighting(number, whose, thread, line, origin)

    # --- steps ---

    def line(self, step: int = 1) -> int:
        """Go on by so many lines and return the number of the line."""
        self._line += step
        return self._line

    def event(self, payload: Payload, *, call: str | None = None, **fields: Given) -> int:
        """Record an event of the running turn on a line of its own; return the line."""
        line = self.line()
        self._seq += 1
        made: dict[str, Any] = {
            "seq": self._seq,
            "id": EventId.from_number(self._seq),
            "occurred_at": f"2026-03-01T09:{self._seq // 60:02}:{self._seq % 60:02}.000Z",
            "thread": self.thread,
            "turn": self.turn or None,
            "call": call,
            "payload": payload,
        }
        self.steps.append(Recorded(Event(**made | fields), line, 0, self.origin))
        return line

    @property
    def last_id(self) -> str:
        """The id of the last event."""
        return EventId.from_number(self._seq)

    def opens(
        self,
        *,
        parent: str | None = None,
        tools: tuple[str, ...] | None = None,
        cwd: str | None = None,
    ) -> int:
        return self.event(ThreadOpened(parent=parent, tools=tools, cwd=cwd), turn=None)

    def asks(self, text: str = "Do it.") -> int:
        """Begin a turn."""
        self.turn += 1
        return self.event(PromptReceived(text=text))

    def says(self, text: str, *, block: int = 0) -> int:
        """Say something that closes nothing."""
        line = self.line()
        self._said(text, line, block, "")
        return line

    def replies(self, text: str) -> int:
        """Close the turn with a reply."""
        line = self.event(ReplyGiven(text=text))
        self._said(text, line, 0, self.last_id)
        return line

    def _said(self, text: str, line: int, block: int, event: str) -> None:
        self.steps.append(Said(text, self.thread, self.turn, line, block, self.origin, event))
        whose: Whose = "subagent" if self.origin.prefix else "model"
        self.words.append((whose, text, self.thread, line, self.origin))

    def shows(
        self,
        path: str,
        first: int = 0,
        last: int = 0,
        *,
        how: How = "read",
        total: int | None = None,
        grown: int | None = None,
    ) -> int:
        """Show lines of a file, or its name alone."""
        line = self.line()
        seen = FileSeen(path=path, how=how, first=first, last=last, total=total, grown=grown)
        self.steps.append(Shown(seen, self.thread, line, "c1", self.origin))
        return line

    def fetches(self, url: str) -> int:
        line = self.line()
        self.steps.append(Fetched(url, self.thread, line, "c1", self.origin))
        return line

    def word(self, whose: Whose, text: str, *, everywhere: bool = False) -> int:
        """Put a text into the record, as words of somebody."""
        line = self.line()
        thread = None if everywhere else self.thread
        self.words.append((whose, text, thread, line, self.origin))
        return line

    def runs(self, command: str, output: str = "", *, call: str = "c1", **fields: Given) -> int:
        """Call a tool that runs a command, with its exit and its output."""
        line = self.event(ToolCalled(tool="bash", arguments=command), call=call)
        self.event(CommandExited(command=command, exit_status=0, **fields), call=call)
        self.event(ToolReturned(tool="bash", output=output, outcome="ok"), call=call)
        return line

    def is_damaged(self, what: str, place: str | None = None, **fields: Given) -> int:
        return self.event(RecordDamaged(what=what, place=place), **fields)

    def stores(self, entry: int, *events: str) -> int:
        """Store an entry of the thread, holding the last event where none is named."""
        held = events or (self.last_id,)
        return self.event(EntryStored(entry=entry, entry_kind="reply", events=held))

    def within(self, thread: str, *, source: str = "agents/a.jsonl") -> "_Inside":
        """Go into the file of a sub-agent, and come back behind it."""
        return _Inside(self, ThreadId(thread), source)

    # --- the check ---

    def check(self, **given: Given) -> TranscriptCheck:
        check = TranscriptCheck(self, ListSpool(), **given)
        check.read()
        return check

    def verdicts(self, **given: Given) -> list[tuple[str, str, str]]:
        """Return text, verdict and reason of every reference, in the order of the reports."""
        return [
            (one.text, one.verdict, one.reason)
            for turn in self.check(**given).turns()
            for one in turn.references
        ]


class _Inside:
    """The time that a session spends in a sub-agent's file."""

    def __init__(self, session: Session, thread: ThreadId, source: str) -> None:
        self._session = session
        self._outside = (session.thread, session.turn, session.origin, session._line)
        self._thread = thread
        self._source = source

    def __enter__(self) -> Session:
        session = self._session
        # What a call started stands before its result, which is the next line.
        prefix = (*session.origin.prefix, session.line())
        session.thread, session.turn = self._thread, 0
        session.origin, session._line = Origin(self._source, prefix), 0
        return session

    def __exit__(self, *_: object) -> None:
        session = self._session
        thread, turn, origin, line = self._outside
        session.thread, session.turn, session.origin = thread, turn, origin
        session._line = line + 1


@pytest.fixture
def session() -> Session:
    """A session of another agent, which numbers no entries."""
    return Session()


@pytest.fixture
def own() -> Session:
    """A thread of our own, whose agent is shown numbers of entries."""
    return Session(numbers_entries=True)


@pytest.fixture
def make_session() -> Callable[..., Session]:
    """Make sessions, for a test that needs several."""
    return Session


@pytest.fixture
def repository() -> type[FakeRepository]:
    """Make a repository of files with their lines."""
    return FakeRepository


@pytest.fixture
def spool() -> ListSpool:
    """An empty spool."""
    return ListSpool()
