"""Who knows the parents of runs, and where the stores of runs stand.

Ancestry can be kept in the stores, in a database, or by a product that was there
before: an authority without `record` is read-only, and is asked, never told.
"""

from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

from counterfoil.core.ids import RunId


class LineageAuthority(Protocol):
    """Knows the parent of each run; what it said once of a run, it says for ever."""

    def parent_of(self, run: RunId) -> RunId | None:
        """Return the parent of `run`, or `None` for a run that has none.

        Raises:
            NotFoundError: It does not know `run`, in this very spelling.
            UnreadableError: What it knows of `run` cannot be read; never "no parent".
        """
        ...


@runtime_checkable
class RecordingLineageAuthority(LineageAuthority, Protocol):
    """An authority that is told parents, each once; the first to record wins."""

    def record(self, run: RunId, parent: RunId | None) -> None:
        """Record the parent of `run`; the same one again changes nothing.

        Raises:
            LineageConflictError: Another parent, or none, is recorded; it names both.
            UnavailableError: It cannot be recorded; nothing was.
        """
        ...


class UnfinishedStore(Protocol):
    """A store that is being made: seen by nobody, or found at its place with parts missing."""

    def add(self, path: str, content: bytes) -> bool:
        """Put a file at `path`, whole; `False`: something is there, which stays as it is."""
        ...

    def finish(self) -> bool:
        """Make it whole at its place; `False`: somebody else came first, ask again."""
        ...


@runtime_checkable
class StoredLineageAuthority(RecordingLineageAuthority, Protocol):
    """An authority that keeps the record of a run in the run's own store."""

    def record_in(self, store: UnfinishedStore, run: RunId, parent: RunId | None) -> None:
        """Do as `record` does, in the store that is being made for `run`."""
        ...


class RunPlaces(Protocol):
    """The places of the stores of runs, one for each run.

    A spelling is a run id as it was written: two that differ in normal form alone are
    one id, and yet two names on a disk.
    """

    def runs(self) -> tuple[RunId, ...]:
        """Return the runs that have a store, known to an authority or not, in order."""
        ...

    def rival_of(self, spelling: str) -> str | None:
        """Return what stands there under a name that some disks do not tell from `spelling`."""
        ...

    def is_finished(self, run: RunId) -> bool:
        """Say whether the store of `run` is there with all its parts.

        Raises:
            UnreadableError: Something else stands where a part of it should.
        """
        ...

    def to_oneself(self) -> AbstractContextManager[None]:
        """Keep everybody else from making stores here for a while.

        Raises:
            UnavailableError: Somebody else does so and does not come to an end.
        """
        ...

    def unfinished(self, spelling: str) -> AbstractContextManager[UnfinishedStore]:
        """Begin to make, or to complete, the store of a run.

        On leaving, what was made and not finished is removed, and nothing else.

        Raises:
            UnavailableError: It cannot be made there.
            UnreadableError: Something else, or a link, is where it should stand.
        """
        ...
