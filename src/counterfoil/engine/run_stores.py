"""The stores of runs: made whole or not at all, each with at most one parent.

Everything that can be refused is refused before anything is made, whoever keeps the
parents (knowledge.md section 2): ids, names that some disks do not tell apart, another
parent than the one recorded, a lineage that goes round, a parent that nobody knows.
Then the store is built where nobody sees it, the parent is recorded, and the store is
moved to its place. A process that dies between the two leaves a parent without a
store, which the next `init` completes.
"""

from counterfoil.core.errors import NotFoundError
from counterfoil.core.ids import RunId
from counterfoil.core.knowledge.lineage import (
    lineage_of,
    require_ancestors,
    require_bound,
    require_parent,
    require_spelling,
)
from counterfoil.ports.lineage import (
    LineageAuthority,
    RecordingLineageAuthority,
    RunPlaces,
    StoredLineageAuthority,
    UnfinishedStore,
)


class Runs:
    """One store for each run, at `places`, with the parents that `authority` knows."""

    def __init__(
        self, places: RunPlaces, authority: LineageAuthority, *, max_ancestors: int | None = None
    ) -> None:
        """Read no lineage of more than `max_ancestors`; `None` sets no bound."""
        self.places = places
        self.authority = authority
        self.max_ancestors = None if max_ancestors is None else require_bound(max_ancestors)

    def init(
        self, run: str, parent: str | None = None, *, allow_unknown_parent: bool = False
    ) -> None:
        """Make the store of `run`, a child of `parent`; again, it changes nothing.

        A parent left out is "no parent". `allow_unknown_parent` is for imports in which
        a child comes before its parent: the missing store is a finding until then.

        Raises:
            InvalidIdError: No run can have that id, or that parent.
            ConflictError: A run stands there whose id differs in letter case or normal
                form alone.
            LineageConflictError: Another parent is recorded, or the lineage goes round.
            NotFoundError: Nobody knows the parent or one of its ancestors, or the run,
                where its parent cannot be recorded.
            UnreadableError: What is there is no store, or a record cannot be read.
            UnavailableError: The store cannot be made, or the parent not recorded.
        """
        child = RunId(run)
        named = None if parent is None else RunId(parent)
        with self.places.to_oneself():
            while not self._made(run, child, named, is_unknown_allowed=allow_unknown_parent):
                pass  # somebody made it meanwhile, so everything is asked anew

    def parent_of(self, run: str) -> RunId | None:
        """Return the parent of `run`; raise what the authority does."""
        return self.authority.parent_of(RunId(run))

    def lineage(self, run: str) -> tuple[RunId, ...]:
        """Return the ancestors of `run`, nearest first, to the one that has no parent.

        Raises:
            LineageConflictError: The lineage goes round.
            ConflictError: There are more ancestors than the bound of these stores.
            NotFoundError: Nobody knows `run`, or one of its ancestors.
            UnreadableError: A record cannot be read.
        """
        return lineage_of(RunId(run), self.authority.parent_of, max_ancestors=self.max_ancestors)

    def runs(self) -> tuple[RunId, ...]:
        """Return the runs that have a store, in the order of their ids."""
        return self.places.runs()

    def _made(
        self, spelling: str, run: RunId, parent: RunId | None, *, is_unknown_allowed: bool
    ) -> bool:
        """Check, then make; `False`: somebody else came between the two."""
        require_spelling(spelling, self.places.rival_of(spelling))
        recorder = self._recorder(run, parent)
        try:
            require_ancestors(run, parent, self.authority.parent_of)
        except NotFoundError:
            if not is_unknown_allowed:
                raise
        if self.places.is_finished(run) and recorder is None:
            return True
        with self.places.unfinished(spelling) as store:
            if recorder is not None:
                _record(recorder, store, run, parent)
            return store.finish()

    def _recorder(self, run: RunId, parent: RunId | None) -> RecordingLineageAuthority | None:
        """Return who has still to record `parent`; `None`: it is recorded. Refuse another."""
        try:
            recorded = self.authority.parent_of(run)
        except NotFoundError:
            if isinstance(self.authority, RecordingLineageAuthority):
                return self.authority
            raise
        require_parent(run, recorded, parent)
        return None


def _record(
    authority: RecordingLineageAuthority, store: UnfinishedStore, run: RunId, parent: RunId | None
) -> None:
    if isinstance(authority, StoredLineageAuthority):
        authority.record_in(store, run, parent)
    else:
        authority.record(run, parent)
