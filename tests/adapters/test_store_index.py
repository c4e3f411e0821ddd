"""The index of a store: it says what a look at the files says, whatever happened to either."""

import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.stores import LATER, lint, opened, write_files
from counterfoil.adapters.files.index import FileIndex
from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.adapters.files.scaffold import init_store
from counterfoil.adapters.files.transactions import apply_changes
from counterfoil.core.knowledge.changes import FileChange, StorePath
from counterfoil.engine.lint_stores import lint_stores

_TAKEN_BACK = "{verdict: contradicted, observedAt: '2026-02-03T04:05:06Z', reason: again}"
_NAMES = ["a", "b", "x/a", "c"]
_FIELDS = st.sampled_from(
    [
        "",
        "---\nid: a\n---\n",
        "---\nid: A\ntitle: The End\n---\n",
        "---\ntitle: The End\ncites: [a, gone]\n---\n",
        "---\ncites: [b, 'here::']\ncontradicts: c\n---\n",
        "---\naliases: [The End, b]\nsources: s1\n---\n",
        f"---\ncites: c\ninvalidation: {_TAKEN_BACK}\n---\n",
        "---\nid: [\n---\n",
    ]
)
_BODIES = st.sampled_from(
    ["", "[[a]]", "[[the end]] [[b]]", "[[x/a]] [[c]]", "[[gone]]\n# The End"]
)
_TEXTS = st.builds("{}{}\n".format, _FIELDS, _BODIES)
_EDITS = st.lists(
    st.tuples(st.sampled_from(_NAMES), st.one_of(st.none(), _TEXTS)), min_size=1, max_size=3
)
_ORDINARY = settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


def _apply(root: Path, edits: list[tuple[str, str | None]]) -> None:
    for name, text in edits:
        path = root / "knowledge" / f"{name}.md"
        if text is None:
            path.unlink(missing_ok=True)
        else:
            write_files(root, {f"knowledge/{name}.md": text})


@given(st.lists(_EDITS, min_size=1, max_size=4))
@_ORDINARY
def test_a_lint_after_changes_says_what_a_new_one_would(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[tuple[str, str | None]]]
) -> None:
    """lint-incremental: Whatever is written, deleted or renamed in between."""
    root = tmp_path_factory.mktemp("store")
    init_store(root)
    for edits in steps:
        _apply(root, edits)
        kept, anew = lint(root), lint(root, is_kept=False)
        assert kept == anew
        assert lint(root) == anew


@given(st.lists(st.tuples(st.sampled_from(["r1", "r2", "shared"]), _EDITS), min_size=1, max_size=4))
@_ORDINARY
def test_a_run_is_linted_alike_when_its_ancestors_change(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, list[tuple[str, str | None]]]],
) -> None:
    """lint-incremental: A change of an ancestor concerns the run's own pages, too."""
    root = tmp_path_factory.mktemp("runs")
    places = {name: root / "runs" / name / "knowledge-base" for name in ("r1", "r2")}
    places["shared"] = root / "shared"
    for name, parent in (("r1", "null"), ("r2", '"r1"')):
        init_store(places[name])
        record = f'{{"run": "{name}", "parent": {parent}, "createdAt": "2026-03-01T09:00:00.000Z"}}'
        write_files(places[name], {".counterfoil/lineage.json": record})
    init_store(places["shared"])
    for name, edits in steps:
        _apply(places[name], edits)
        anew = lint(root, "r2", is_kept=False)
        assert lint(root, "r2") == anew
        lint(root, "r1")
        assert lint(root, "r2") == anew


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with two pages and one fault, linted once."""
    init_store(tmp_path)
    write_files(
        tmp_path, {"knowledge/a.md": "---\ncites: gone\n---\n[[b]]\n", "knowledge/b.md": "[[a]]\n"}
    )
    assert _codes(tmp_path) == ["missing-citation"]
    return tmp_path


def _codes(root: Path) -> list[str]:
    return [found.code for found in lint(root).findings]


def test_an_edit_of_one_size_with_its_old_time_is_seen(store: Path) -> None:
    """index-cache: The time of change of a file cannot be put back."""
    path = store / "knowledge" / "a.md"
    before = path.stat()
    path.write_text("---\ncites: b   \n---\n[[b]]\n", encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert _codes(store) == []


def test_a_file_changed_in_the_moment_of_the_scan_is_read_again(store: Path) -> None:
    """index-cache: A clock is coarser than a writer, so that a time says nothing yet."""
    path = store / "knowledge" / "a.md"
    now = path.stat().st_mtime_ns
    index = FileIndex(StoreRoot(store), now=lambda: now)
    first = index.refresh()
    assert index.refresh() == first  # read again, and the same
    index.close()


@pytest.mark.parametrize(
    "damage", [b"", b"no database", b"SQLite format 3\0" + b"x" * 5000, b"\0" * 8192]
)
def test_a_damaged_index_is_made_anew(damage: bytes, store: Path) -> None:
    """index-cache: Never trusted over the files, and never in the way."""
    path = store / ".counterfoil" / "index.db"
    assert path.exists()
    path.write_bytes(damage)
    assert _codes(store) == ["missing-citation"]
    assert _codes(store) == ["missing-citation"]


def test_an_index_of_another_version_is_made_anew(store: Path) -> None:
    """index-cache: Rows of another program are not read."""
    path = store / ".counterfoil" / "index.db"
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 1")
    database.close()
    assert _codes(store) == ["missing-citation"]


def test_an_index_may_be_deleted_at_any_time(store: Path) -> None:
    """index-cache: It is a cache."""
    for path in (store / ".counterfoil").glob("index.db*"):
        path.unlink()
    assert _codes(store) == ["missing-citation"]


def test_an_index_that_is_a_link_is_not_followed(store: Path, tmp_path: Path) -> None:
    """index-cache: A cache writes nowhere else."""
    path = store / ".counterfoil" / "index.db"
    path.unlink()
    target = tmp_path / "elsewhere"
    path.symlink_to(target)
    assert _codes(store) == ["missing-citation"]
    assert not target.exists()
    assert path.is_symlink()


def test_an_index_that_another_process_holds_is_done_without(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """index-cache: A reader waits for nobody for long."""
    monkeypatch.setattr("counterfoil.adapters.files.cache._PATIENCE", 0.01)
    write_files(store, {"knowledge/a.md": "---\ncites: lost\n---\n[[b]]\n"})
    holder = sqlite3.connect(store / ".counterfoil" / "index.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        found = lint(store).findings
    finally:
        holder.execute("ROLLBACK")
        holder.close()
    assert [(one.code, one.written) for one in found] == [("missing-citation", "lost")]


def test_a_store_that_was_never_made_is_linted_and_left_as_it_is(tmp_path: Path) -> None:
    """index-cache: A folder of notes gets no directory that it did not have."""
    write_files(tmp_path, {"knowledge/a.md": "[[gone]]\n"})
    assert _codes(tmp_path) == ["broken-link", "orphan"]
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.md", "knowledge"]


def test_a_store_that_cannot_be_written_is_linted(store: Path) -> None:
    """index-cache: Where nothing may be written, the index stays in memory."""
    write_files(store, {"knowledge/a.md": "---\ncites: lost\n---\n[[b]]\n"})
    before = {path: path.stat().st_mtime_ns for path in store.rglob("*")}
    for path in [store, *store.rglob("*")]:
        path.chmod(0o555)
    for path in store.parents[:-2]:
        path.chmod(0o755)
    if os.geteuid() == 0:
        assert _as_nobody(store) == "lost"
    else:
        assert [found.written for found in lint(store).findings] == ["lost"]
    assert {path: path.stat().st_mtime_ns for path in store.rglob("*")} == before


def _as_nobody(store: Path) -> str:
    """Lint in a process that may write nothing, and return what is missing."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setuid(65534)
            found = lint(store).findings
            os.write(writing, ",".join(one.written or "" for one in found).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return text


def test_a_page_that_cannot_be_read_hides_no_other(store: Path) -> None:
    """store-scan: It is a finding, and the others are checked."""
    shutil.rmtree(store / "knowledge" / "x", ignore_errors=True)
    os.mkfifo(store / "knowledge" / "pipe.md")
    (store / "knowledge" / "dir.md").mkdir()
    found = lint(store).findings
    assert [(one.code, one.path) for one in found] == [
        ("missing-citation", "knowledge/a.md"),
        ("skipped-link", "knowledge/pipe.md"),
    ]


def test_a_file_name_that_is_no_text_is_told(store: Path) -> None:
    """store-scan: Bytes that are not UTF-8 are in no handle."""
    name = os.fsencode(store / "knowledge") + b"/\xff.md"
    with open(name, "wb"):  # noqa: PTH123 - a name of bytes
        pass
    found = [one for one in lint(store).findings if one.code == "unreadable-page"]
    assert [one.path for one in found] == ["knowledge/\\udcff.md"]


def test_a_directory_of_any_depth_is_walked(tmp_path: Path) -> None:
    """store-scan: Deeper than the stack of the interpreter."""
    init_store(tmp_path)
    handle = os.open(tmp_path / "knowledge", os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d", dir_fd=handle)
        inner = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    file = os.open("deep.md", os.O_WRONLY | os.O_CREAT, dir_fd=handle)
    os.write(file, b"---\nid: deep\n---\n")
    os.close(file)
    os.close(handle)
    assert lint(tmp_path).checked.pages == 1


def test_a_reader_sees_what_was_before_an_unfinished_transaction(store: Path) -> None:
    """store-readers: What a crashed writer left is not seen in part."""
    with StoreRoot(store) as root:
        apply_changes(
            root,
            [FileChange(path=StorePath("knowledge/c.md"), after=b"[[a]] [[b]]\n")],
            purpose="a third page",
        )
    assert lint(store).checked.pages == 3


def test_many_pages_are_read_by_several_processes_alike(tmp_path: Path) -> None:
    """index-cache: As many processes as processors, and the same rows."""
    init_store(tmp_path)
    pages = {
        f"knowledge/{number % 7}/{number}.md": f"---\nid: p{number}\ncites: p{number + 1}\n---\n"
        for number in range(4100)
    }
    write_files(tmp_path, pages)
    report = lint(tmp_path)
    assert report.checked.pages == 4100
    missing = [one.written for one in report.findings if one.code == "missing-citation"]
    assert missing == ["p4100"]


def test_very_many_changes_are_told_as_such(tmp_path: Path) -> None:
    """lint-incremental: Then everything is checked, and the outcome is the same."""
    init_store(tmp_path)
    write_files(tmp_path, {f"knowledge/{number}.md": "[[gone]]\n" for number in range(600)})
    assert lint(tmp_path).counts["warning"] == 600
    write_files(tmp_path, {f"knowledge/{number}.md": "[[0]]\n" for number in range(550)})
    assert lint(tmp_path).counts["warning"] == 50
    assert lint(tmp_path) == lint(tmp_path, is_kept=False)


@pytest.mark.parametrize(("changed", "is_told"), [(499, True), (500, True), (501, False)])
def test_changes_are_told_page_by_page_up_to_a_bound(
    tmp_path: Path,
    changed: int,
    is_told: bool,  # noqa: FBT001
) -> None:
    """lint-incremental: Of more, only that there were many."""
    init_store(tmp_path)
    write_files(tmp_path, {"knowledge/one.md": ""})
    with opened(tmp_path) as visible:
        state = visible.own.refresh()
        write_files(tmp_path, {f"knowledge/{number}.md": "" for number in range(changed)})
        visible.own.refresh()
        found = visible.own.changes_since(state)
    assert (found is not None) is is_told
    assert found is None or len(found) == changed


def test_what_changed_and_changed_back_is_no_change(store: Path) -> None:
    """lint-incremental: Only what is another now is checked again."""
    path = store / "knowledge" / "a.md"
    before = path.read_bytes()
    with opened(store) as visible:
        state = visible.own.refresh()
        path.write_bytes(b"other")
        visible.own.refresh()
        path.write_bytes(before)
        visible.own.refresh()
        assert visible.own.changes_since(state) == []
        assert visible.own.changes_since(state - 1) is None
        assert visible.own.changes_since(LATER * 2) is None


def test_a_report_is_kept_for_each_run_apart(store: Path) -> None:
    """index-cache: What one scope found is not what another finds."""
    with opened(store) as visible:
        report = lint_stores(visible)
        assert visible.own.saved_report(visible.name) is not None
        assert visible.own.saved_report("another") is None
        assert lint_stores(visible) == report


def test_the_digests_are_those_of_the_bytes(store: Path) -> None:
    """index-cache: By path, tagged."""
    with opened(store) as visible:
        visible.own.refresh()
        digests = visible.own.digests()
        assert list(digests) == ["knowledge/a.md", "knowledge/b.md"]
        assert all(digest.startswith("sha256:") for digest in digests.values())
        assert visible.own.body("knowledge/b.md") == "[[a]]\n"
        assert visible.own.body("knowledge/none.md") == ""
        assert visible.own.page("knowledge/none.md") is None
        visible.own.forget()
        assert not (store / ".counterfoil" / "index.db").exists() or visible.own.count == 0


@pytest.mark.parametrize("table", ["content", "found"])
def test_a_damaged_row_is_done_without(table: str, store: Path) -> None:
    """index-cache: A database that opens may hold what nobody wrote."""
    column = "row" if table == "content" else "findings"
    with sqlite3.connect(store / ".counterfoil" / "index.db") as database:
        database.execute(f"UPDATE {table} SET {column} = x'c1'")
        database.execute("UPDATE report SET seen = '' WHERE ? = 'content'", (table,))
    database.close()
    assert _codes(store) == ["missing-citation"]
    assert _codes(store) == ["missing-citation"]
