"""The rest of what the engine needs: the time, a place for what does not fit, a repository."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol, TypeVar

from counterfoil.core.ids import EventId

T = TypeVar("T")


class Spool(Protocol[T]):
    """Keeps values in order, in memory as long as they are few, and gives them back."""

    def put(self, value: T, weight: int) -> None:
        """Keep `value`, of about `weight` bytes, behind every earlier one."""
        ...

    def __iter__(self) -> Iterator[T]:
        """Yield the values in their order, as often as asked."""
        ...


class Clock(Protocol):
    """The time, and ids that nobody else has."""

    def now(self) -> str:
        """Return the time as RFC 3339 UTC, with milliseconds."""
        ...

    def monotonic(self) -> float:
        """Return seconds of a clock that never steps back."""
        ...

    def new_id(self) -> EventId:
        """Return an id that no event has."""
        ...


class TreeFile(NamedTuple):
    """A file of a commit's tree: its path, how many lines it has, at which commit."""

    path: str
    lines: int
    commit: str


class Repository(Protocol):
    """A version-controlled tree that a transcript speaks of; it is only read."""

    def files(self, path: str, *, commit: str | None, before: str) -> tuple[TreeFile, ...]:
        """Return every file that `path` can mean at `commit`, else at the time `before`."""
        ...

    def has_commit(self, name: str) -> bool:
        """Say whether `name` is the name, whole or short, of exactly one commit."""
        ...

    def longest(self, path: str) -> int | None:
        """Return the lines of the longest version that is there now: head or work tree."""
        ...
