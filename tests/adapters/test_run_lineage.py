"""Records of parents in the stores of runs, and the manifest of a product in their place."""

import json
import os
from pathlib import Path

import pytest

from counterfoil.adapters.files.run_lineage import FileLineage
from counterfoil.adapters.files.run_places import FileRunPlaces
from counterfoil.adapters.manifest import ManifestLineage
from counterfoil.core.errors import (
    ConflictError,
    LineageConflictError,
    NotFoundError,
    UnavailableError,
    UnreadableError,
)
from counterfoil.core.ids import RunId
from counterfoil.engine.run_stores import Runs
from counterfoil.ports.lineage import UnfinishedStore

NOW = "2026-03-01T09:00:00.000Z"
A, B, C = map(RunId, "abc")
RECORD = "knowledge-base/.counterfoil/lineage.json"


def lineage_at(root: Path) -> FileLineage:
    return FileLineage(FileRunPlaces(root), now=lambda: NOW)


def put(root: Path, text: str, run: str = "a") -> None:
    (root / run / RECORD).parent.mkdir(parents=True, exist_ok=True)
    (root / run / RECORD).write_text(text, "utf-8")


def test_a_record_says_run_parent_and_when_it_was_made(tmp_path: Path) -> None:
    """run-stores: One line of JSON, in the store of the run, which is made for it."""
    authority = lineage_at(tmp_path)
    authority.record(A, None)
    authority.record(RunId("é"), A)
    assert json.loads((tmp_path / "a" / RECORD).read_bytes()) == {
        "run": "a",
        "parent": None,
        "createdAt": NOW,
    }
    assert (tmp_path / "é" / RECORD).read_text("utf-8") == (
        f'{{"run": "é", "parent": "a", "createdAt": "{NOW}"}}\n'
    )
    assert (tmp_path / "a/knowledge-base/knowledge/index.md").is_file()


def test_a_record_is_written_into_a_store_that_has_none(tmp_path: Path) -> None:
    """run-stores: What is in the store stays."""
    page = tmp_path / "a/knowledge-base/knowledge/x.md"
    page.parent.mkdir(parents=True)
    page.write_text("# X\n")
    lineage_at(tmp_path).record(A, None)
    assert lineage_at(tmp_path).parent_of(A) is None
    assert page.read_text() == "# X\n"


def test_a_record_keeps_its_bytes(tmp_path: Path) -> None:
    """run-stores: The same parent again, by `record` or by `init`, writes nothing."""
    text = '{"more": [1], "parent": null, "run": "a", "createdAt": "yesterday"}'
    put(tmp_path, text)
    places = FileRunPlaces(tmp_path)
    lineage_at(tmp_path).record(A, None)
    Runs(places, lineage_at(tmp_path)).init("a")
    assert (tmp_path / "a" / RECORD).read_text() == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no JSON that can be read (not-json)"),
        ("{", "holds no JSON that can be read (not-json)"),
        ('{"run": "a", "run": "a"}', "holds no JSON that can be read (duplicate-key)"),
        ("[]", "is a JSON list"),
        ('{"parent": null}', "names no run"),
        ('{"run": 1, "parent": null}', "is that of run 1"),
        ('{"run": "b", "parent": null}', "is that of run 'b'"),
        ('{"run": "A", "parent": null}', "is that of run 'A'"),
        ('{"run": "a/b", "parent": null}', "is that of run 'a/b'"),
        ('{"run": "a"}', "does not say a parent, nor null for none"),
        ('{"run": "a", "parent": 5}', "names the parent 5, which no run can be called"),
        ('{"run": "a", "parent": ""}', "names the parent '', which no run can be called"),
        ('{"run": "a", "parent": false}', "names the parent False, which no run can be called"),
        ('{"run": "a", "parent": "../b"}', "names the parent '../b', which no run can be called"),
    ],
)
def test_a_record_that_cannot_be_read_is_named_and_nothing_is_guessed(
    text: str, said: str, tmp_path: Path
) -> None:
    """lineage: Never "no parent": the run, the file and the fault."""
    put(tmp_path, text)
    with pytest.raises(UnreadableError) as caught:
        lineage_at(tmp_path).parent_of(A)
    assert caught.value.found == f"the lineage of run 'a', {tmp_path}/a/{RECORD}, {said}"
    assert "none is guessed" in caught.value.advice
    for ask in (
        lineage_at(tmp_path).record,
        Runs(FileRunPlaces(tmp_path), lineage_at(tmp_path)).init,
    ):
        with pytest.raises(UnreadableError):
            ask(A, None)
    assert (tmp_path / "a" / RECORD).read_text() == text


def test_a_record_that_is_no_file_is_named(tmp_path: Path) -> None:
    """lineage: A link, a directory, or what the system does not let be read."""
    (tmp_path / "a" / RECORD).mkdir(parents=True)
    (tmp_path / "b" / RECORD).parent.mkdir(parents=True)
    (tmp_path / "b" / RECORD).symlink_to(tmp_path / "elsewhere.json")
    for run, what in ((A, "a directory"), (B, "a symbolic link")):
        with pytest.raises(UnreadableError, match=f"run '{run}', .* cannot be read: .* is {what}"):
            lineage_at(tmp_path).parent_of(run)


def test_a_run_in_another_normal_form_is_the_same_run(tmp_path: Path) -> None:
    """lineage: Ids are compared in NFC, in a record too."""
    put(tmp_path, '{"run": "e\u0301", "parent": "e\u0301\u0301"}', "é")
    assert lineage_at(tmp_path).parent_of(RunId("é")) == RunId("é\u0301")


def test_a_disk_that_takes_two_spellings_for_one_invents_no_run(tmp_path: Path) -> None:
    """lineage: Where the store of `Alpha` opens as that of `alpha`, its record tells."""
    lineage_at(tmp_path).record(RunId("Alpha"), None)

    class CaseBlind(FileRunPlaces):
        def _names(self, run: str) -> tuple[str, ...]:
            return super()._names(run if run != "alpha" or self.is_asked else "Alpha")

        is_asked = False

        def rival_of(self, spelling: str) -> str | None:
            self.is_asked = True
            return super().rival_of(spelling)

    with pytest.raises(NotFoundError, match="no run 'alpha'"):
        FileLineage(CaseBlind(tmp_path), now=lambda: NOW).parent_of(RunId("alpha"))


def test_record_checks_what_init_checks(tmp_path: Path) -> None:
    """run-stores: Nothing is made for what is refused."""
    authority = lineage_at(tmp_path)
    authority.record(A, None)
    authority.record(B, A)
    refused: tuple[tuple[str, str | None, type[Exception]], ...] = (
        ("A", None, ConflictError),
        ("c", "c", LineageConflictError),
        ("c", "nobody", NotFoundError),
        ("b", None, LineageConflictError),
        ("a", "b", LineageConflictError),
    )
    for run, parent, error in refused:
        with pytest.raises(error):
            authority.record(RunId(run), parent and RunId(parent))  # type: ignore[arg-type]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize(("parent", "wins"), [(A, True), (C, False)])
def test_the_first_record_of_a_run_wins(parent: RunId, wins: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """run-stores: One that is written between the check and the writing is kept."""
    authority = lineage_at(tmp_path)
    for run in (A, C):
        authority.record(run, None)
    (tmp_path / "b/knowledge-base").mkdir(parents=True)

    class Late(FileLineage):
        def record_in(self, store: UnfinishedStore, run: RunId, parent: RunId | None) -> None:
            put(tmp_path, '{"run": "b", "parent": "a"}', "b")
            super().record_in(store, run, parent)

    places = FileRunPlaces(tmp_path)
    stores = Runs(places, Late(places, now=lambda: NOW))
    if wins:
        stores.init("b", parent)
    else:
        with pytest.raises(LineageConflictError, match="has the parent 'a', and parent 'c' was"):
            stores.init("b", parent)
        assert not (tmp_path / "b/knowledge-base/knowledge").exists()
    assert stores.lineage("b") == ("a",)


def test_a_store_that_is_made_meanwhile_is_recorded_in(tmp_path: Path) -> None:
    """run-stores: `record` tries again where somebody took the place."""

    class Late(FileLineage):
        tries = 0

        def record_in(self, store: UnfinishedStore, run: RunId, parent: RunId | None) -> None:
            self.tries += 1
            (tmp_path / "a/knowledge-base/knowledge").mkdir(parents=True, exist_ok=True)
            super().record_in(store, run, parent)

    authority = Late(FileRunPlaces(tmp_path), now=lambda: NOW)
    authority.record(A, None)
    assert (authority.tries, authority.parent_of(A)) == (2, None)


# --- a manifest -----------------------------------------------------------------


def manifest_of(path: Path, text: str) -> ManifestLineage:
    path.write_text(text, "utf-8")
    return ManifestLineage(path)


def test_a_manifest_may_say_more_than_is_asked(tmp_path: Path) -> None:
    """run-stores: Its other fields, floats and a BOM are the product's own."""
    runs = '[{"id": "a", "parent": null, "n": NaN}, {"id": "b", "parent": "a"}]'
    text = f'\ufeff{{"v": 1.5, "runs": {runs}}}'
    authority = manifest_of(tmp_path / "m.json", text)
    assert (authority.parent_of(A), authority.parent_of(B)) == (None, A)
    with pytest.raises(NotFoundError, match=r"no run 'c' in .*m.json; expected an item of"):
        authority.parent_of(C)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no JSON: Expecting property name"),
        ('{"runs": [], "runs": []}', "is no JSON: the key 'runs' stands in one object twice"),
        ("[" * 100_000, "is no JSON: "),
        ("[]", "is a JSON list"),
        ("{}", 'has no "runs"'),
        ('{"runs": {}}', 'has a JSON object as "runs"'),
        ('{"runs": ["a"]}', "has a JSON string as runs[0]"),
        ('{"runs": [{"parent": null}]}', 'has no "id" in runs[0]'),
        ('{"runs": [{"id": "b"}]}', 'has no "parent" in runs[0]'),
        ('{"runs": [{"id": 7, "parent": null}]}', 'has a JSON number as runs[0]."id"'),
        ('{"runs": [{"id": "b", "parent": 0}]}', 'has a JSON number as runs[0]."parent"'),
        ('{"runs": [{"id": "a/b", "parent": null}]}', "has, as runs[0].\"id\", the run id 'a/b'"),
        (
            '{"runs": [{"id": "b", "parent": null}, {"id": "b", "parent": null}]}',
            "lists run 'b' and, as runs[1], 'b'",
        ),
        (
            '{"runs": [{"id": "b", "parent": null}, {"id": "B", "parent": null}]}',
            "lists run 'b' and, as runs[1], 'B'",
        ),
    ],
)
def test_a_manifest_of_another_shape_is_refused_whole(text: str, said: str, tmp_path: Path) -> None:
    """lineage: Half of somebody's ancestry would be a guess."""
    authority = manifest_of(tmp_path / "m.json", text)
    for _ in range(2):
        with pytest.raises(UnreadableError) as caught:
            authority.parent_of(A)
        assert caught.value.found.startswith(f"manifest {tmp_path}/m.json {said}")


def test_a_manifest_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    """lineage: Bytes that are no text are no names."""
    (tmp_path / "m.json").write_bytes(b'{"runs": [{"id": "\xff", "parent": null}]}')
    with pytest.raises(UnreadableError, match="is no JSON: 'utf-8' codec"):
        ManifestLineage(tmp_path / "m.json").parent_of(A)


def test_a_manifest_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    """lineage: That nobody can be asked is not that a run is unknown."""
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(UnavailableError, match="cannot be read: "):
            ManifestLineage(path).parent_of(A)


def test_a_manifest_is_read_again_when_it_was_changed(tmp_path: Path) -> None:
    """lineage: And only then; an error is not remembered."""
    path = tmp_path / "m.json"
    authority = manifest_of(path, '{"runs": [{"id": "a", "parent": null}]}')
    assert authority.parent_of(A) is None
    state = path.stat()
    path.write_text('{"runs": [{"id": "b", "parent": null}]}')
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert authority.parent_of(A) is None  # the same file, size and time: not read again
    path.write_text("{")
    with pytest.raises(UnreadableError):
        authority.parent_of(A)
    path.write_text('{"runs": [{"id": "b", "parent": null}, {"id": "c", "parent": "b"}]}')
    assert authority.parent_of(C) == B
