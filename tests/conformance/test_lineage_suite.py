"""The suites of `counterfoil.testing.lineage`, over our authorities and over broken ones."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from counterfoil.adapters.files.run_lineage import FileLineage
from counterfoil.adapters.files.run_places import FileRunPlaces
from counterfoil.adapters.manifest import ManifestLineage
from counterfoil.core.errors import LineageConflictError, NotFoundError
from counterfoil.core.ids import RunId
from counterfoil.ports.lineage import (
    LineageAuthority,
    RecordingLineageAuthority,
    StoredLineageAuthority,
)
from counterfoil.testing import lineage
from counterfoil.testing.lineage import MemoryLineage, Parents

Checks = tuple[Callable[..., None], ...]


def in_files(root: Path) -> lineage.MakeRecording:
    def make(parents: Parents) -> RecordingLineageAuthority:
        authority = FileLineage(FileRunPlaces(root), now=lambda: "2026-03-01T09:00:00.000Z")
        for run, parent in parents.items():
            authority.record(run, parent)
        return FileLineage(FileRunPlaces(root), now=lambda: "never")

    return make


def in_a_manifest(root: Path) -> lineage.Make:
    def make(parents: Parents) -> LineageAuthority:
        rows = [{"id": run, "parent": parent} for run, parent in parents.items()]
        path = root / "manifest.json"
        path.write_text(json.dumps({"product": "p", "runs": rows, "weight": 0.5}), "utf-8")
        return ManifestLineage(path)

    return make


def in_memory(_: Path) -> lineage.MakeRecording:
    return MemoryLineage


@pytest.mark.parametrize("check", lineage.AUTHORITY, ids=lambda check: check.__name__)
@pytest.mark.parametrize("made", [in_files, in_a_manifest, in_memory])
def test_an_authority_conforms(
    check: Callable[[lineage.Make], None], made: Callable[[Path], lineage.Make], tmp_path: Path
) -> None:
    """lineage: The suite that each `LineageAuthority` passes, ours or a stranger's."""
    check(made(tmp_path))


@pytest.mark.parametrize("check", lineage.RECORDING, ids=lambda check: check.__name__)
@pytest.mark.parametrize("made", [in_files, in_memory])
def test_an_authority_that_records_conforms(
    check: Callable[[lineage.MakeRecording], None],
    made: Callable[[Path], lineage.MakeRecording],
    tmp_path: Path,
) -> None:
    """run-stores: The suite that each authority with `record` passes."""
    check(made(tmp_path))


def test_what_an_authority_can_do_is_seen(tmp_path: Path) -> None:
    """run-stores: One that is only read is never told; one that keeps records in stores is."""
    places = FileRunPlaces(tmp_path)
    kinds = {
        ManifestLineage(tmp_path): (False, False),
        MemoryLineage(): (True, False),
        FileLineage(places, now=str): (True, True),
    }
    for authority, expected in kinds.items():
        found = (
            isinstance(authority, RecordingLineageAuthority),
            isinstance(authority, StoredLineageAuthority),
        )
        assert found == expected


class Guessing(MemoryLineage):
    """Takes an unknown run for one without a parent."""

    def parent_of(self, run: RunId) -> RunId | None:
        return self._parents.get(run)


class Mute(MemoryLineage):
    """Does not name what it does not know."""

    def parent_of(self, run: RunId) -> RunId | None:
        if run not in self._parents:
            raise NotFoundError("no such run")
        return self._parents[run]


class CaseBlind(MemoryLineage):
    """Takes two runs for one."""

    def parent_of(self, run: RunId) -> RunId | None:
        return super().parent_of(RunId(run.lower()))


class Learning(MemoryLineage):
    """Knows a run once it was asked for."""

    def parent_of(self, run: RunId) -> RunId | None:
        try:
            return super().parent_of(run)
        except NotFoundError:
            self._parents[run] = None
            raise


class Orphaning(MemoryLineage):
    """Forgets parents."""

    def parent_of(self, run: RunId) -> RunId | None:
        return super().parent_of(run) and None


class Short(MemoryLineage):
    """Knows sixty-four runs."""

    def __init__(self, parents: Parents | None = None) -> None:
        super().__init__(dict(list((parents or {}).items())[-64:]))


class Plain(MemoryLineage):
    """Cannot keep every id."""

    def parent_of(self, run: RunId) -> RunId | None:
        found = super().parent_of(run)
        return found and RunId(found.replace("::", "-"))


class Deaf(MemoryLineage):
    """Records nothing."""

    def record(self, run: RunId, parent: RunId | None) -> None:
        pass


class Fickle(MemoryLineage):
    """Lets the last parent win."""

    def record(self, run: RunId, parent: RunId | None) -> None:
        self._parents[run] = parent


class Strict(MemoryLineage):
    """Takes the same parent for another one."""

    def record(self, run: RunId, parent: RunId | None) -> None:
        if run in self._parents:
            raise LineageConflictError(f"{run!r} has the parent {self._parents[run]!r}, {parent!r}")
        self._parents[run] = parent


class Blunt(MemoryLineage):
    """Refuses another parent without naming it."""

    def record(self, run: RunId, parent: RunId | None) -> None:
        try:
            super().record(run, parent)
        except LineageConflictError:
            raise LineageConflictError(f"run {str(run)!r} has a parent") from None


class Sulking(MemoryLineage):
    """Records nothing more after a refusal."""

    is_hurt = False

    def record(self, run: RunId, parent: RunId | None) -> None:
        if self.is_hurt:
            return
        self.is_hurt = True
        super().record(run, parent)
        self.is_hurt = False


@pytest.mark.parametrize("broken", [Guessing, Mute, CaseBlind, Learning, Orphaning, Short, Plain])
def test_a_broken_authority_is_found(broken: lineage.Make) -> None:
    """lineage: Each fault that the suite is for fails at least one check of it."""
    assert _fails(lineage.AUTHORITY, broken)


@pytest.mark.parametrize("broken", [Deaf, Fickle, Strict, Blunt, Sulking])
def test_a_broken_authority_that_records_is_found(broken: lineage.MakeRecording) -> None:
    """run-stores: Each fault that the suite is for fails at least one check of it."""
    assert _fails(lineage.RECORDING, broken)


def _fails(checks: Checks, make: Callable[[Parents], LineageAuthority]) -> bool:
    for check in checks:
        try:
            check(make)
        except (AssertionError, LineageConflictError, NotFoundError):
            return True
    return False
