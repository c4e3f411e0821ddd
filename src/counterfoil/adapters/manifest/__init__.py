"""Ancestry out of a product's own manifest, as an example of an authority that is only read.

```json
{"runs": [{"id": "r1", "parent": null}, {"id": "r2", "parent": "r1"}]}
```

Other fields are the product's own. Every run is listed once, with its parent, which is
null for none and never left out. A manifest that says anything else is refused whole:
half of somebody's ancestry would be a guess. It is read again whenever it was changed.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from counterfoil.core.errors import InvalidIdError, NotFoundError, UnavailableError, UnreadableError
from counterfoil.core.ids import RunId
from counterfoil.core.knowledge.lineage import folded
from counterfoil.wire.json_values import is_list, is_object, kind_of_value

_SHAPE = '{"runs": [{"id": "…", "parent": "…" or null}, …]}'

_State = tuple[int, int, int]


class ManifestLineage:
    """A read-only `LineageAuthority`: the manifest at `path` is somebody else's to write."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state: _State | None = None
        self._parents: Mapping[RunId, RunId | None] = {}

    def parent_of(self, run: RunId) -> RunId | None:
        """Return the parent that the manifest gives `run`, or `None` where it gives null.

        Raises:
            NotFoundError: The manifest does not list `run`.
            UnreadableError: It is not of the shape that is expected.
            UnavailableError: It is not there, or the system does not let it be read.
        """
        parents = self._current()
        if run not in parents:
            raise NotFoundError(
                f"no run {str(run)!r} in {self._path}",
                'an item of "runs" with that id',
                "letter case counts; runs are added by the product whose manifest it is",
            )
        return parents[run]

    def _current(self) -> Mapping[RunId, RunId | None]:
        try:
            with self._path.open("rb") as file:
                found = os.fstat(file.fileno())
                state = (found.st_ino, found.st_size, found.st_mtime_ns)
                if state != self._state:
                    self._parents = _parents_in(file.read(), self._path)
                    self._state = state
        except OSError as error:
            raise UnavailableError(
                f"manifest {self._path} cannot be read: {error.strerror}",
                "a file that this process may read",
                "check the path",
            ) from error
        return self._parents


def _parents_in(content: bytes, path: Path) -> Mapping[RunId, RunId | None]:
    try:
        manifest: object = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"is no JSON: {error}") from error
    if not is_object(manifest):
        raise _refused(path, f"is a JSON {kind_of_value(manifest)}")
    runs = manifest.get("runs")
    if not is_list(runs):
        has = (
            f'has a JSON {kind_of_value(runs)} as "runs"' if "runs" in manifest else 'has no "runs"'
        )
        raise _refused(path, has)
    parents: dict[RunId, RunId | None] = {}
    spelled: dict[str, RunId] = {}
    for place, item in enumerate(runs):
        run, parent = _row(item, place, path)
        other = spelled.setdefault(folded(run), run)
        if run in parents or other != run:
            raise _refused(path, f"lists run {str(other)!r} and, as runs[{place}], {str(run)!r}")
        parents[run] = parent
    return parents


def _row(item: object, place: int, path: Path) -> tuple[RunId, RunId | None]:
    where = f"runs[{place}]"
    if not is_object(item):
        raise _refused(path, f"has a JSON {kind_of_value(item)} as {where}")
    missing = [key for key in ("id", "parent") if key not in item]
    if missing:
        raise _refused(path, f'has no "{missing[0]}" in {where}')
    run = _run(item["id"], f'{where}."id"', path)
    parent = item["parent"]
    return run, None if parent is None else _run(parent, f'{where}."parent"', path)


def _run(value: object, where: str, path: Path) -> RunId:
    if not isinstance(value, str):
        raise _refused(path, f"has a JSON {kind_of_value(value)} as {where}")
    try:
        return RunId(value)
    except InvalidIdError as error:
        raise _refused(path, f"has, as {where}, the {error.found}", error.expected) from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands in one object twice")
    return value


def _refused(path: Path, fault: str, expected: str = _SHAPE) -> UnreadableError:
    return UnreadableError(
        f"manifest {path} {fault}", expected, "correct it where it comes from; it is only read"
    )
