"""Several files, written together or not at all."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

import counterfoil
from counterfoil.adapters.files.disk import Disk
from counterfoil.adapters.files.journal import Journal, PlannedFile, commit, turn_back
from counterfoil.adapters.files.paths import FileState, StoreRoot
from counterfoil.adapters.files.transactions import FileStoreWriter, apply_changes, writing
from counterfoil.core.canonical import canonical_bytes
from counterfoil.core.digests import tagged_digest
from counterfoil.core.errors import (
    ConflictError,
    CounterfoilError,
    InvalidIdError,
    UnavailableError,
    UnreadableError,
)
from counterfoil.core.knowledge.changes import FileChange, StorePath, WrittenFile
from counterfoil.ports.store_writes import StoreWriter

SOURCE = Path(str(counterfoil.__file__)).parents[1]
NONCE = "0123456789abcdef"


class Sabotage(Disk):
    """Does something of another program's, once, before the first call of a name."""

    def __init__(self, call: str, deed: Callable[[], object], nth: int = 1) -> None:
        self._left = nth
        real = getattr(Disk, call)

        def sabotaged(*place: object, **rest: object) -> object:
            self._left -= 1
            if self._left == 0:
                deed()
            return real(self, *place, **rest)

        setattr(self, call, sabotaged)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "knowledge").mkdir()
    for name in "ab":
        (tmp_path / "knowledge" / f"{name}.md").write_bytes(name.encode())
    return tmp_path


@pytest.fixture
def root(store: Path) -> Iterator[StoreRoot]:
    with StoreRoot(store) as opened:
        yield opened


def page(name: str, after: bytes | None, **rest: str | int) -> FileChange:
    return FileChange(path=StorePath(f"knowledge/{name}.md"), after=after, **rest)  # type: ignore[arg-type]


def pages(store: Path) -> dict[str, bytes]:
    top = store / "knowledge"
    return {
        str(path.relative_to(top)): path.read_bytes() for path in top.rglob("*") if path.is_file()
    }


def own(store: Path) -> list[str]:
    """Return what is left of our own that tells of a transaction."""
    kept = {path.name for path in (store / ".counterfoil").glob("*")}
    return sorted(kept - {"lock", "epoch"})


AS_THEY_WERE = {"a.md": b"a", "b.md": b"b"}
CHANGES = (page("a", b"A"), page("b", None), page("x/c", b"C"))
AS_THEY_BECOME = {"a.md": b"A", "x/c.md": b"C"}


def test_files_are_replaced_made_and_deleted_together(root: StoreRoot) -> None:
    """store-transactions: What was written is told, with both digests."""
    assert apply_changes(root, CHANGES, purpose="test") == (
        WrittenFile(StorePath("knowledge/a.md"), tagged_digest(b"a"), tagged_digest(b"A")),
        WrittenFile(StorePath("knowledge/b.md"), tagged_digest(b"b"), None),
        WrittenFile(StorePath("knowledge/x/c.md"), None, tagged_digest(b"C")),
    )
    assert pages(root.path) == AS_THEY_BECOME
    assert own(root.path) == []


def test_what_is_so_already_is_not_written(root: StoreRoot) -> None:
    """store-transactions: Nor is a file that is not there deleted."""
    before = (root.path / "knowledge" / "a.md").stat()
    changes = (page("a", b"a"), page("none", None))
    assert apply_changes(root, changes, purpose="test") == ()
    assert (root.path / "knowledge" / "a.md").stat() == before
    assert not (root.path / ".counterfoil" / "epoch").exists()


def test_a_mode_alone_is_a_change(root: StoreRoot) -> None:
    """store-transactions: And of other changes a file keeps its mode."""
    path = root.path / "knowledge" / "a.md"
    apply_changes(root, [page("a", b"a", mode=0o640)], purpose="test")
    assert path.stat().st_mode & 0o7777 == 0o640
    apply_changes(root, [page("a", b"A")], purpose="test")
    assert path.stat().st_mode & 0o7777 == 0o640


@pytest.mark.parametrize(
    ("name", "expected", "found"),
    [
        ("a", tagged_digest(b"other"), tagged_digest(b"a")),
        ("a", "absent", tagged_digest(b"a")),
        ("none", tagged_digest(b"other"), "absent"),
        ("a", "sha256:", tagged_digest(b"a")),
    ],
)
def test_bytes_that_the_writer_has_not_seen_are_not_overwritten(
    root: StoreRoot, name: str, expected: str, found: str
) -> None:
    """store-transactions: One file that is not as expected refuses all of them."""
    changes = (page("b", b"B"), page(name, b"new", expected=expected))
    with pytest.raises(ConflictError) as refusal:
        apply_changes(root, changes, purpose="test")
    line = refusal.value.diagnosis()
    assert f"knowledge/{name}.md is {found}" in line
    assert expected in line
    assert pages(root.path) == AS_THEY_WERE


def test_bytes_that_the_writer_has_seen_are_overwritten(root: StoreRoot) -> None:
    """store-transactions: By digest, or by there being none."""
    changes = (
        page("a", b"A", expected=tagged_digest(b"a")),
        page("b", None, expected=tagged_digest(b"b")),
        page("x/c", b"C", expected="absent"),
    )
    apply_changes(root, changes, purpose="test")
    assert pages(root.path) == AS_THEY_BECOME


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ((page("a", b"1"), page("a", b"2")), "is changed twice"),
        ((FileChange(path=StorePath("README.md"), after=b""),), "is not for writing"),
        ((FileChange(path=StorePath(".counterfoil/lock"), after=b""),), "is not for writing"),
        ((page("a", b"", mode=0o4755),), "mode 4755"),
        ((FileChange(path="knowledge/../x.md", after=b""),), "has the segment"),  # type: ignore[arg-type]
    ],
)
def test_changes_that_nobody_may_make_are_refused(
    root: StoreRoot, changes: tuple[FileChange, ...], fault: str
) -> None:
    """store-transactions: With all that comes with them."""
    with pytest.raises(InvalidIdError, match=fault):
        apply_changes(root, (page("b", b"B"), *changes), purpose="test")
    assert pages(root.path) == AS_THEY_WERE


def test_a_file_cannot_be_a_directory_as_well(root: StoreRoot) -> None:
    """store-transactions: What only shows while it is written is taken back."""
    with pytest.raises(CounterfoilError):
        apply_changes(root, (page("n.md/x", b"1"), page("n", b"2")), purpose="test")
    assert pages(root.path) == AS_THEY_WERE
    assert sorted(path.name for path in (root.path / "knowledge").iterdir()) == ["a.md", "b.md"]
    assert own(root.path) == []


@pytest.mark.parametrize("kind", ["link", "pipe", "directory", "link above"])
def test_what_is_no_file_is_not_written_over(root: StoreRoot, kind: str) -> None:
    """store-transactions: It refuses all of them before any byte."""
    place = root.path / "knowledge" / "odd.md"
    (root.path / "outside").mkdir()
    change = page("odd", b"x")
    if kind == "link":
        place.symlink_to("a.md")
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "directory":
        place.mkdir()
    else:
        place.symlink_to("../outside")
        change = page("odd.md/x", b"x")
    with pytest.raises(UnreadableError, match=r"odd\.md is "):
        apply_changes(root, (page("b", b"B"), change), purpose="test")
    assert (root.path / "knowledge" / "b.md").read_bytes() == b"b"
    assert list((root.path / "outside").iterdir()) == []


def test_another_pages_directory_is_the_one_that_is_written(store: Path) -> None:
    """store-transactions: Where pages may stand is said when the store is opened."""
    change = FileChange(path=StorePath("wiki/a.md"), after=b"w")
    with StoreRoot(store, pages="wiki") as root:
        apply_changes(root, [change], purpose="test")
        with pytest.raises(InvalidIdError, match="is not for writing"):
            apply_changes(root, [page("a", b"A")], purpose="test")
    assert (store / "wiki" / "a.md").read_bytes() == b"w"


# --- what others do meanwhile ----------------------------------------------------


@pytest.mark.parametrize(("call", "nth"), [("create", 2), ("create", 4), ("sync", 3), ("sync", 7)])
def test_a_change_of_somebody_else_takes_all_back(store: Path, call: str, nth: int) -> None:
    """store-transactions: An editor saves the last file before we come to it; it is kept."""
    last = store / "knowledge" / "b.md"
    disk = Sabotage(call, lambda: last.write_bytes(b"by hand"), nth)
    with StoreRoot(store, disk=disk) as root:
        with pytest.raises(ConflictError, match=r"knowledge/b\.md was changed by another"):
            apply_changes(root, (page("a", b"A"), page("x/c", b"C"), page("b", b"B")), purpose="t")
        assert pages(store) == {"a.md": b"a", "b.md": b"by hand"}
        assert not (store / "knowledge" / "x").exists()
        assert own(store) == []
        apply_changes(root, CHANGES, purpose="test")
    assert pages(store) == AS_THEY_BECOME


def test_a_change_behind_our_back_loses_no_byte(store: Path) -> None:
    """store-transactions: An editor saves a file that we wrote a moment ago."""
    first = store / "knowledge" / "a.md"
    disk = Sabotage("create", lambda: first.write_bytes(b"by hand"), 3)
    with StoreRoot(store, disk=disk) as root:
        with pytest.raises(ConflictError) as refusal:
            apply_changes(root, (page("a", b"A"), page("b", b"B")), purpose="grand plan")
        assert pages(store) == {"a.md": b"by hand", "b.md": b"b"}
        (kept,) = own(store)
        assert kept in refusal.value.diagnosis()
        assert "grand plan" in refusal.value.diagnosis()
        assert (store / ".counterfoil" / kept).read_bytes().endswith(b"aAbB")
        apply_changes(root, CHANGES, purpose="test")
    assert pages(store) == AS_THEY_BECOME


@pytest.mark.parametrize("target", ["knowledge", "knowledge/x", "knowledge/b.md"])
@pytest.mark.parametrize("nth", [2, 3])
def test_a_link_put_in_the_way_meanwhile_leads_nowhere(store: Path, target: str, nth: int) -> None:
    """store-transactions: As an ancestor or as the target, at any moment."""
    (store / "outside").mkdir()
    (store / "knowledge" / "x").mkdir()

    def swap() -> None:
        (store / target).rename(store / "away")
        (store / target).symlink_to(store / "outside")

    changes = (page("a", b"A"), page("b", b"B"), page("x/c", b"C"))
    with (
        StoreRoot(store, disk=Sabotage("create", swap, nth)) as root,
        pytest.raises(CounterfoilError),
    ):
        apply_changes(root, changes, purpose="test")
    assert list((store / "outside").iterdir()) == []


# --- what is found unfinished ----------------------------------------------------


def planned(name: str, before: bytes | None, after: bytes | None) -> PlannedFile:
    state = None if before is None else FileState(before, 0o644)
    return PlannedFile(StorePath(f"knowledge/{name}.md"), state, after, 0o644)


UNFINISHED = Journal(
    (planned("a", b"a", b"A"), planned("b", b"b", None), planned("x/c", None, b"C")),
    (StorePath("knowledge/x"),),
    NONCE,
    "import",
)


def leave(root: StoreRoot, journal: Journal = UNFINISHED, *, undo: bool = False) -> None:
    """Leave a decided transaction behind, as a crash does."""
    root.make_directories(".counterfoil")
    commit(root, journal)
    if undo:
        turn_back(root)


@pytest.mark.parametrize(("undo", "end"), [(False, AS_THEY_BECOME), (True, AS_THEY_WERE)])
@pytest.mark.parametrize("done", [set[str](), {"a"}, {"a", "b"}, {"a", "b", "x/c"}])
def test_what_is_unfinished_is_ended_as_recorded(
    root: StoreRoot, done: set[str], *, undo: bool, end: dict[str, bytes]
) -> None:
    """store-transactions: However far it had come, before anything else is written."""
    leave(root, undo=undo)
    if "a" in done:
        (root.path / "knowledge" / "a.md").write_bytes(b"A")
    if "b" in done:
        (root.path / "knowledge" / "b.md").unlink()
    if "x/c" in done:
        (root.path / "knowledge" / "x").mkdir()
        (root.path / "knowledge" / "x" / "c.md").write_bytes(b"C")
    with writing(root, purpose="test"):
        assert pages(root.path) == end
    assert (own(root.path), (root.path / "knowledge" / "x").exists()) == ([], not undo)


@pytest.mark.parametrize("undo", [False, True])
def test_a_file_changed_since_the_crash_is_kept(root: StoreRoot, *, undo: bool) -> None:
    """store-transactions: The rest is ended, all bytes stay, and it is said once."""
    leave(root, undo=undo)
    (root.path / "knowledge" / "a.md").write_bytes(b"by hand")
    with pytest.raises(ConflictError) as refusal, writing(root, purpose="test"):
        pass
    assert "knowledge/a.md" in refusal.value.found
    assert pages(root.path) == {**(AS_THEY_WERE if undo else AS_THEY_BECOME), "a.md": b"by hand"}
    assert own(root.path) == [f"conflict-{NONCE}"]
    with writing(root, purpose="test"):
        pass


@pytest.mark.parametrize("undo", [False, True])
@pytest.mark.parametrize("content", [b"a", b"A", b"by hand"])
def test_what_a_crash_left_beside_the_files_goes_away(
    root: StoreRoot, content: bytes, *, undo: bool
) -> None:
    """store-transactions: Whether or not the file itself is written again."""
    leave(root, undo=undo)
    (root.path / "knowledge" / "a.md").write_bytes(content)
    (root.path / "knowledge" / f".counterfoil-{NONCE}-0.tmp").write_bytes(b"half")
    with suppress(ConflictError), writing(root, purpose="test"):
        pass
    assert [name for name in pages(root.path) if ".tmp" in name] == []


def test_a_link_where_an_unfinished_file_was_is_kept(root: StoreRoot) -> None:
    """store-transactions: It counts as a change of somebody else."""
    leave(root)
    (root.path / "knowledge" / "a.md").unlink()
    (root.path / "knowledge" / "a.md").symlink_to("elsewhere")
    with pytest.raises(ConflictError, match=r"knowledge/a\.md"), writing(root, purpose="test"):
        pass
    assert (root.path / "knowledge" / "a.md").readlink() == Path("elsewhere")
    assert not (root.path / "knowledge" / "b.md").exists()


def test_a_directory_in_use_stays(root: StoreRoot) -> None:
    """store-transactions: What was made for nothing is removed, but not what others put there."""
    leave(root, undo=True)
    (root.path / "knowledge" / "x").mkdir()
    (root.path / "knowledge" / "x" / "mine.md").write_bytes(b"m")
    with writing(root, purpose="test"):
        assert pages(root.path) == {**AS_THEY_WERE, "x/mine.md": b"m"}


def forged(**changed: object) -> bytes:
    """Return a journal with a right digest and something else wrong."""
    manifest = {
        "directories": [],
        "files": [
            {
                "path": "knowledge/a.md",
                "before": None,
                "after": {"bytes": 1, "mode": None},
            }
        ],
        "nonce": NONCE,
        "purpose": "x",
        **changed,
    }
    body = canonical_bytes(manifest) + b"\nA"  # type: ignore[arg-type]
    return canonical_bytes({"digest": tagged_digest(body), "schema": 1}) + b"\n" + body


def one_file(**changed: object) -> bytes:
    file = {"path": "knowledge/a.md", "before": None, "after": {"bytes": 1, "mode": None}}
    return forged(files=[{**file, **changed}])


FORGED = {
    "empty": b"",
    "torn": forged()[:-1],
    "longer": forged() + b"B",
    "not JSON": b"{\n{\n",
    "other schema": forged().replace(b'"schema":1', b'"schema":2', 1),
    "other digest": forged().replace(b"sha256:", b"sha256:0", 1),
    "out of the store": one_file(path="../a.md"),
    "absolute": one_file(path="/etc/passwd"),
    "other place": one_file(path=".git/hooks/post-checkout"),
    "our own": one_file(path=".counterfoil/journal"),
    "negative size": one_file(before={"bytes": -1, "mode": 0}),
    "other size": one_file(after={"bytes": 2, "mode": 0}),
    "mode": one_file(after={"bytes": 1, "mode": 0o10000}),
    "unknown key": one_file(evil=True),
    "nonce": forged(nonce="../../x"),
    "directory": forged(directories=["elsewhere"]),
    "directory above": forged(directories=[".."]),
    "directory of its own": forged(directories=["knowledge/a.md"]),
}


@pytest.mark.parametrize("name", FORGED)
@pytest.mark.parametrize("journal", ["journal", "journal.undo"])
def test_a_journal_that_we_did_not_write_writes_nothing(
    root: StoreRoot, name: str, journal: str
) -> None:
    """store-transactions: It is named, with what to do, and stands as it was."""
    root.make_directories(".counterfoil")
    path = root.path / ".counterfoil" / journal
    path.write_bytes(FORGED[name])
    with pytest.raises(UnreadableError) as refusal:
        apply_changes(root, CHANGES, purpose="test")
    line = refusal.value.diagnosis()
    assert str(path) in line
    assert "take that file away" in line
    assert path.read_bytes() == FORGED[name]
    assert pages(root.path) == AS_THEY_WERE


def test_the_forged_journals_have_one_fault_each(root: StoreRoot) -> None:
    """store-transactions: Without it the same journal is carried out."""
    root.make_directories(".counterfoil")
    (root.path / "knowledge" / "a.md").unlink()
    (root.path / ".counterfoil" / "journal").write_bytes(forged(directories=["knowledge"]))
    with writing(root, purpose="test"):
        assert pages(root.path)["a.md"] == b"A"


def test_a_journal_of_another_pages_directory_is_not_ours(store: Path) -> None:
    """store-transactions: The store is opened as it was, then it is ended."""
    with StoreRoot(store) as root:
        leave(root)
    with (
        StoreRoot(store, pages="wiki") as other,
        pytest.raises(UnreadableError, match="it names"),
        writing(other, purpose="test"),
    ):
        pass
    with StoreRoot(store) as root, writing(root, purpose="test"):
        assert pages(store) == AS_THEY_BECOME


@pytest.mark.parametrize("modes", [(0o600, 0o644), (0o644, 0o600), (0o644, 0o644)])
def test_a_journal_is_no_more_to_be_read_than_its_files(
    store: Path, modes: tuple[int, int]
) -> None:
    """store-transactions: It has their bytes."""
    seen: list[int] = []
    (store / "knowledge" / "a.md").chmod(modes[0])
    (store / "knowledge" / "b.md").chmod(modes[1])
    path = store / ".counterfoil" / "journal"
    disk = Sabotage("create", lambda: seen.append(path.stat().st_mode & 0o7777), 2)
    with StoreRoot(store, disk=disk) as root:
        apply_changes(root, (page("a", b"A"), page("b", b"B")), purpose="test")
    assert seen == [modes[0] & modes[1]]


def test_a_counter_of_any_form_is_counted_up(root: StoreRoot) -> None:
    """store-readers: What somebody wrote there is another value afterwards."""
    epoch = root.path / ".counterfoil" / "epoch"
    values = [None]
    for number, content in enumerate([None, b"", b"garbage", b"7\n", b"9" * 20 + b"\n"]):
        if content is not None:
            epoch.write_bytes(content)
        apply_changes(root, [page("a", b"%d" % number)], purpose="test")
        assert epoch.read_bytes() not in (content, values[-1])
        assert len(epoch.read_bytes()) == 21 or content == b"garbage"


# --- two writers -----------------------------------------------------------------

COUNTER = """
import sys
from pathlib import Path
from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.adapters.files.transactions import FileStoreWriter
from counterfoil.core.knowledge.changes import FileChange, StorePath

print("ready", flush=True)
sys.stdin.readline()
with StoreRoot(Path(sys.argv[1])) as root:
    writer = FileStoreWriter(root, patience=60)
    for _ in range(int(sys.argv[2])):
        with writer.exclusively(purpose="counting"):
            number = int(root.read("knowledge/n.md") or b"0") + 1
            writer.apply(
                [
                    FileChange(path=StorePath(f"knowledge/{name}.md"), after=b"%d" % number)
                    for name in ("n", "m")
                ],
                purpose="counting",
            )
"""


def test_writers_in_two_processes_lose_no_update(root: StoreRoot) -> None:
    """store-lock: Each reads what the other one wrote."""
    with ExitStack() as stack:
        writers = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", COUNTER, str(root.path), "20"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env=os.environ | {"PYTHONPATH": str(SOURCE)},
                )
            )
            for _ in range(2)
        ]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        for writer in writers:
            writer.communicate("go\n", timeout=120)
    assert [writer.returncode for writer in writers] == [0, 0]
    assert pages(root.path) == {**AS_THEY_WERE, "n.md": b"40", "m.md": b"40"}


def test_the_writer_is_one_of_the_port(root: StoreRoot) -> None:
    """store-transactions: What the engine knows of it is what it does."""
    writer: StoreWriter = FileStoreWriter(root)
    with writer.exclusively(purpose="test"):
        assert len(writer.apply(CHANGES, purpose="test")) == 3
    assert pages(root.path) == AS_THEY_BECOME


def test_a_store_that_may_not_be_written_is_one_line(store: Path) -> None:
    """store-writes: Before and after there is what was there."""

    def refuse() -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    disk = Sabotage("make_directory", refuse)
    with (
        StoreRoot(store, disk=disk) as root,
        pytest.raises(UnavailableError, match=r"counterfoil.*Read-only.*name a store"),
    ):
        apply_changes(root, CHANGES, purpose="test")
    assert pages(store) == AS_THEY_WERE


def test_a_fault_of_our_own_is_taken_back_as_well(store: Path) -> None:
    """store-transactions: Whatever is raised, the files are as they were."""

    def fail() -> None:
        raise RecursionError

    with StoreRoot(store, disk=Sabotage("create", fail, 3)) as root, pytest.raises(RecursionError):
        apply_changes(root, (page("a", b"A"), page("b", b"B")), purpose="test")
    assert (pages(store), own(store)) == (AS_THEY_WERE, [])


def test_who_interrupts_is_a_crash(store: Path) -> None:
    """store-transactions: What was decided is finished by the next writer."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    disk = Sabotage("create", interrupt, 3)
    with StoreRoot(store, disk=disk) as root, pytest.raises(KeyboardInterrupt):
        apply_changes(root, (page("a", b"A"), page("b", b"B")), purpose="test")
    assert own(store) == ["journal"]
    with StoreRoot(store) as root, writing(root, purpose="test"):
        assert pages(store) == {"a.md": b"A", "b.md": b"B"}
