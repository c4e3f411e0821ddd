"""The parent of a run, in the run's own store: `.counterfoil/lineage.json`.

```json
{"run": "r2", "parent": "r1", "createdAt": "2026-03-01T09:00:00.000Z"}
```

`parent` is null for a run without one. Fields that are not known here are kept, as is
`createdAt`, which is for people. A record is written once and never again; one that
names another run or cannot be read is an error, never "no parent".
"""

import json
from collections.abc import Callable
from typing import Any

from counterfoil.adapters.files.run_places import FileRunPlaces
from counterfoil.core.errors import InvalidIdError, NotFoundError, UnreadableError
from counterfoil.core.ids import RunId
from counterfoil.core.knowledge.changes import LINEAGE
from counterfoil.core.knowledge.lineage import (
    folded,
    require_ancestors,
    require_parent,
    require_spelling,
)
from counterfoil.ports.lineage import UnfinishedStore
from counterfoil.wire.json_values import is_object, kind_of_value
from counterfoil.wire.strict_json import Malformed, read_json

_SHAPE = 'the JSON {"run": …, "parent": … or null, "createdAt": …}'


class FileLineage:
    """A `StoredLineageAuthority` that keeps each record in the store of its run."""

    def __init__(self, places: FileRunPlaces, now: Callable[[], str]) -> None:
        """Read and write records in the stores at `places`; `now` gives the time, RFC 3339."""
        self._places = places
        self._now = now

    def parent_of(self, run: RunId) -> RunId | None:
        """Return the parent of `run`, or `None` for a run that is recorded without one.

        Raises:
            NotFoundError: No record of `run` is there.
            UnreadableError: Its record cannot be read, or is that of another run.
        """
        content = self._read(run)
        record = read_json(content)
        if isinstance(record, Malformed):
            raise self._fault(run, f"holds no JSON that can be read ({record.reason})")
        if not is_object(record):
            raise self._fault(run, f"is a JSON {kind_of_value(record)}")
        self._require_own(run, record)
        return self._parent_in(run, record)

    def record(self, run: RunId, parent: RunId | None) -> None:
        """Record the parent of `run`, in a store that is made for it if it has none.

        Raises:
            LineageConflictError: Another parent is recorded, or the lineage goes round.
            ConflictError: A run is there whose id differs in letter case or normal form
                alone.
            NotFoundError: `parent`, or an ancestor of it, has no record.
            UnavailableError: The store cannot be written; nothing was recorded.
        """
        with self._places.to_oneself():
            while not self._recorded(run, parent):
                pass  # somebody made the store meanwhile

    def record_in(self, store: UnfinishedStore, run: RunId, parent: RunId | None) -> None:
        """Record the parent of `run` in `store`; whoever is first wins."""
        value = {"run": str(run), "parent": parent and str(parent), "createdAt": self._now()}
        content = json.dumps(value, ensure_ascii=False).encode() + b"\n"
        if not store.add(LINEAGE, content):
            require_parent(run, self.parent_of(run), parent)

    def _recorded(self, run: RunId, parent: RunId | None) -> bool:
        try:
            require_parent(run, self.parent_of(run), parent)
        except NotFoundError:
            require_spelling(run, self._places.rival_of(run))
            require_ancestors(run, parent, self.parent_of)
        else:
            return True
        with self._places.unfinished(run) as store:
            self.record_in(store, run, parent)
            return store.finish()

    def _read(self, run: RunId) -> bytes:
        try:
            content = self._places.read(run, LINEAGE)
        except UnreadableError as error:
            raise self._fault(run, f"cannot be read: {error.found}") from error
        if content is None:
            raise self._unknown(run)
        return content

    def _require_own(self, run: RunId, record: dict[str, Any]) -> None:
        """Refuse the record of another run, and of one in another spelling.

        Some disks open the store of `Alpha` when asked for that of `alpha`; then the
        record tells that there is no run `alpha`.
        """
        name = record.get("run")
        if _run_called(name) == run:
            return
        if isinstance(name, str) and folded(name) == folded(run) and self._places.rival_of(run):
            raise self._unknown(run)
        raise self._fault(run, f"is that of run {name!r}" if "run" in record else "names no run")

    def _parent_in(self, run: RunId, record: dict[str, Any]) -> RunId | None:
        if "parent" not in record:
            raise self._fault(run, "does not say a parent, nor null for none")
        named = record["parent"]
        parent = None if named is None else _run_called(named)
        if named is not None and parent is None:
            raise self._fault(run, f"names the parent {named!r}, which no run can be called")
        return parent

    def _fault(self, run: RunId, fault: str) -> UnreadableError:
        return UnreadableError(
            f"the lineage of run {str(run)!r}, {self._places.shown(run, LINEAGE)}, {fault}",
            _SHAPE,
            "restore the file; without it nobody knows the parent, and none is guessed",
        )

    def _unknown(self, run: RunId) -> NotFoundError:
        return NotFoundError(
            f"no run {str(run)!r} in {self._places.root}",
            f"a record of it, {self._places.shown(run, LINEAGE)}",
            "check the spelling, letter case counts; a store without a record needs `init`",
        )


def _run_called(name: object) -> RunId | None:
    try:
        return RunId(name) if isinstance(name, str) else None
    except InvalidIdError:
        return None
