"""A transcript: what another agent, or one of our own threads, left behind.

An adapter turns one format into the same events, in the order of the file, with the
line that each was read from. It decides nothing about what is true.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from counterfoil.core.events import Event
from counterfoil.core.ids import ThreadId
from counterfoil.core.refs.needles import Needle, Whose
from counterfoil.core.shown import FileSeen

Position: TypeAlias = tuple[int, ...]
"""Where something stands in the whole of a transcript and its sub-agents' files."""


@dataclass(frozen=True, slots=True)
class Origin:
    """One file of a transcript: its name beside the main one ("" for that), and its place.

    `prefix` is the position at which the file of a sub-agent was read.
    """

    source: str
    prefix: Position = ()

    def at(self, line: int) -> Position:
        """Return the position of `line`; what a call started stands before its result."""
        return (*self.prefix, line, 1)


class Recorded(NamedTuple):
    """An event, and the line and block of the record that it was read from."""

    event: Event
    line: int
    block: int
    origin: Origin


class Said(NamedTuple):
    """A text that the agent gave to whoever asked, whether or not it closes the turn."""

    text: str
    thread: ThreadId
    turn: int
    line: int
    block: int
    origin: Origin
    event: str = ""


class Shown(NamedTuple):
    """What a tool showed of a file."""

    seen: FileSeen
    thread: ThreadId
    line: int
    call: str | None
    origin: Origin


class Fetched(NamedTuple):
    """A URL whose content a tool brought."""

    url: str
    thread: ThreadId
    line: int
    call: str | None
    origin: Origin


class Measured(NamedTuple):
    """How much of a transcript was read, last of all its items.

    `skipped` counts, by name, lines that hold no record and are no damage; `unknown`
    counts records by kinds that the adapter does not know.
    """

    size: int
    lines: int
    records: int
    skipped: Mapping[str, int]
    unknown: Mapping[str, int]
    repeated: int


Item: TypeAlias = Recorded | Said | Shown | Fetched | Measured


class Wanted(NamedTuple):
    """A needle, and the replies that need it: their thread, the first and the last of them.

    Evidence before the first serves all of them; behind the last it serves none.
    """

    needle: Needle
    thread: ThreadId
    first: Position
    last: Position


class Sighting(NamedTuple):
    """The first place where the wanted needle of that number stands in such words."""

    needle: int
    whose: Whose
    thread: ThreadId | None
    line: int
    origin: Origin


class Transcript(Protocol):
    """One transcript, read as often as asked and never written."""

    @property
    def format(self) -> str:
        """The name of the format."""
        ...

    @property
    def path(self) -> str:
        """The file as it was named, `-` for standard input."""
        ...

    @property
    def numbers_entries(self) -> bool:
        """Whether the agent was shown entry numbers, so that it can cite them."""
        ...

    def items(self) -> Iterator[Item]:
        """Yield everything of the transcript, in its order, then one `Measured`.

        Raises:
            UnreadableError: The file is not in this format at all.
        """
        ...

    def find(self, wanted: Sequence[Wanted]) -> Iterator[Sighting]:
        """Yield, for each needle and kind of words, the first place where it stands.

        To be called after `items` was read to its end.
        """
        ...


class TranscriptFile(NamedTuple):
    """A session found on this machine; `cwd` is what its own records say."""

    path: str
    format: str
    thread: str | None
    cwd: str | None
    modified: float
    size: int
    subagents: int
