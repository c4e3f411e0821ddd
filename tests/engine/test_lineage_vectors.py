"""The vectors of runs and their ancestry: each step, and the bytes on the disk after it."""

import json
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from counterfoil.adapters.files.run_lineage import FileLineage
from counterfoil.adapters.files.run_places import FileRunPlaces
from counterfoil.adapters.manifest import ManifestLineage
from counterfoil.core import errors
from counterfoil.core.errors import CounterfoilError, UnavailableError
from counterfoil.core.ids import RunId
from counterfoil.engine.run_stores import Runs
from counterfoil.ports.lineage import LineageAuthority, RecordingLineageAuthority
from counterfoil.testing.lineage import MemoryLineage

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "lineage.json").read_text("utf-8"))
NOW = "2026-03-01T09:00:00.000Z"
_READS = ("parent_of", "lineage")

Tree = dict[str, bytes | str]


class Failing(MemoryLineage):
    """Cannot record some runs."""

    def __init__(self, parents: Mapping[RunId, RunId | None], fails: frozenset[str]) -> None:
        super().__init__(parents)
        self.fails = fails

    def record(self, run: RunId, parent: RunId | None) -> None:
        if run in self.fails:
            raise UnavailableError(f"run {str(run)!r} cannot be recorded")
        super().record(run, parent)


def _id(text: str | None) -> RunId | None:
    return None if text is None else RunId(text)


def _parents(authority: dict[str, Any]) -> dict[str, str | None]:
    if "chain" in authority:
        prefix, count = authority["chain"]["prefix"], authority["chain"]["count"]
        return {f"{prefix}{n}": f"{prefix}{n - 1}" if n else None for n in range(count)}
    parents: dict[str, str | None] = authority.get("parents", {})
    return parents


def _authority(case: dict[str, Any], places: FileRunPlaces, manifest: Path) -> LineageAuthority:
    authority = case["authority"]
    parents = _parents(authority)
    if authority["kind"] == "file":
        return FileLineage(places, now=lambda: NOW)
    if authority["kind"] == "writable":
        known = {RunId(run): _id(parent) for run, parent in parents.items()}
        return Failing(known, frozenset(authority.get("fails_on_record", ())))
    runs = [{"id": run, "parent": parent} for run, parent in parents.items()]
    manifest.write_text(json.dumps({"runs": runs}), "utf-8")
    return ManifestLineage(manifest)


def _put(disk: dict[str, Any], root: Path, outside: Path) -> None:
    for path, text in disk.get("files", {}).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    for path, target in disk.get("links", {}).items():
        assert target == "<outside>"
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(outside, target_is_directory=True)


def _tree(directory: Path) -> Tree:
    """Return all that is in `directory`: bytes of files, what links and directories are."""
    return dict(_walk(directory, directory))


def _walk(directory: Path, top: Path) -> Iterator[tuple[str, bytes | str]]:
    for path in directory.iterdir():
        name = str(path.relative_to(top))
        if path.is_symlink():
            yield name, f"link to {path.readlink()}"
        elif path.is_dir():
            yield name, f"directory {path.stat().st_mode:o}"
            yield from _walk(path, top)
        else:
            yield name, path.read_bytes()


def _do(stores: Runs, step: dict[str, Any]) -> object:
    run, parent = step["run"], step.get("parent")
    if step["do"] == "init":
        stores.init(run, parent)
        return None
    if step["do"] == "record":
        assert isinstance(stores.authority, RecordingLineageAuthority)
        stores.authority.record(RunId(run), _id(parent))
        return None
    return stores.parent_of(run) if step["do"] == "parent_of" else list(stores.lineage(run))


def _outcome(stores: Runs, step: dict[str, Any]) -> object:
    try:
        return _do(stores, step)
    except CounterfoilError as error:
        return error


def _require(outcome: object, expected: dict[str, Any]) -> None:
    if "error" in expected:
        assert isinstance(outcome, getattr(errors, expected["error"])), outcome
        said = str(outcome)
        assert [name for name in expected.get("mentions", ()) if name not in said] == [], said
    elif isinstance(expected["result"], dict):
        assert isinstance(outcome, list)
        short = {"count": len(outcome), "first": outcome[0], "last": outcome[-1]}
        assert short == expected["result"]
    else:
        assert outcome == expected["result"]


def _record_of(root: Path, run: str) -> bytes:
    return (root / run / "knowledge-base" / ".counterfoil" / "lineage.json").read_bytes()


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["id"])
def test_a_case_of_lineage_goes_as_it_is_written(case: dict[str, Any], tmp_path: Path) -> None:
    """lineage: Results, errors and what they name, and no byte changed by a refusal."""
    root, outside = tmp_path / "all" / "runs", tmp_path / "all" / "outside"
    root.mkdir(parents=True)
    outside.mkdir()
    (outside / "kept.md").write_bytes(b"# not ours\n")
    _put(case.get("disk", {}), root, outside)
    places = FileRunPlaces(root)
    authority = _authority(case, places, tmp_path / "manifest.json")
    stores = Runs(places, authority, max_ancestors=case.get("max_ancestors"))
    for step, expected in zip(case["steps"], case["expect"]["steps"], strict=True):
        before = _tree(tmp_path)
        outcome = _outcome(stores, step)
        _require(outcome, expected)
        after = _tree(tmp_path)
        if "error" in expected or step["do"] in _READS:
            assert after == before
        if "lineage_file" in expected:
            record = f"all/runs/{step['run']}/knowledge-base/.counterfoil/lineage.json"
            assert after[record] == before[record]
    assert _tree(outside) == {"kept.md": b"# not ours\n"}
    found = sorted(unicodedata.normalize("NFC", path.name) for path in root.iterdir())
    assert found == sorted(unicodedata.normalize("NFC", name) for name in case["expect"]["stores"])
