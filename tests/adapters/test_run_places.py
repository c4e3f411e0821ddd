"""Where stores of runs stand, how they get there, and what is left when they do not."""

import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from counterfoil.adapters.files import making
from counterfoil.adapters.files.building import UNFINISHED, unfinished
from counterfoil.adapters.files.disk import Disk
from counterfoil.adapters.files.making import making_alone
from counterfoil.adapters.files.run_lineage import FileLineage
from counterfoil.adapters.files.run_places import FileRunPlaces
from counterfoil.adapters.files.scaffold import init_store, scaffold_of
from counterfoil.core.errors import (
    ConflictError,
    InvalidIdError,
    NotFoundError,
    UnavailableError,
    UnreadableError,
)
from counterfoil.core.ids import RunId
from counterfoil.engine.run_stores import Runs

Tree = dict[str, bytes | str]
PARTS = [
    ".counterfoil",
    ".counterfoil/.gitignore",
    ".counterfoil/sources.json",
    "knowledge",
    "knowledge/index.md",
    "knowledge/log.md",
    "raw",
    "raw/sources",
]
ALPHA = RunId("alpha")


def tree(directory: Path) -> Tree:
    """Return all that is in `directory`, without following a link."""
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
            yield name, path.read_bytes() if path.is_file() else "something else"


def stores_at(root: Path, disk: Disk | None = None) -> Runs:
    places = FileRunPlaces(root, disk=disk or Disk())
    return Runs(places, FileLineage(places, now=lambda: "2026-03-01T09:00:00.000Z"))


class Faulty(Disk):
    """Has no room from a call on, but for taking things away."""

    def __init__(self, calls: int) -> None:
        self.calls = calls

    def _spend(self) -> None:
        self.calls -= 1
        if self.calls < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def create(self, name: str, *, at: int, mode: int) -> int:
        self._spend()
        return super().create(name, at=at, mode=mode)

    def write(self, file: int, content: bytes) -> None:
        self._spend()
        super().write(file, content)

    def sync(self, file: int) -> None:
        self._spend()
        super().sync(file)

    def rename(self, name: str, new: str, *, at: int) -> None:
        self._spend()
        super().rename(name, new, at=at)

    def make_directory(self, name: str, *, at: int) -> None:
        self._spend()
        super().make_directory(name, at=at)


# --- one store ----------------------------------------------------------------


def test_a_new_store_has_its_scaffold(tmp_path: Path) -> None:
    """kb-init: Directories, two texts for people, an empty registry, what git leaves out."""
    assert init_store(tmp_path / "made" / "store")
    store = tmp_path / "made" / "store"
    assert sorted(tree(store)) == PARTS
    assert (store / ".counterfoil/sources.json").read_text() == '{"schema": 1, "sources": []}\n'
    ignored = (store / ".counterfoil/.gitignore").read_text().splitlines()
    assert ignored[1:] == ["index.db*", "lock", "epoch", "journal/"]
    assert (store / "knowledge/index.md").read_text().startswith("# Index\n")
    assert (store / "knowledge/log.md").read_text().startswith("# Log\n")
    assert sorted(tree(tmp_path)) == sorted(
        ["made", "made/store", *(f"made/store/{p}" for p in PARTS)]
    )


def test_a_store_is_readable_as_the_umask_says(tmp_path: Path) -> None:
    """kb-init: Pages are there to be read by others, if whoever makes them wants it."""
    before = os.umask(0o027)
    try:
        init_store(tmp_path / "store")
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "store").rglob("*")}
    assert modes == {0o750, 0o640}
    assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == 0o750


def test_a_whole_store_is_left_alone(tmp_path: Path) -> None:
    """kb-init: `init` is idempotent."""
    init_store(tmp_path)
    (tmp_path / "knowledge/index.md").write_text("# Mine\n")
    before = tree(tmp_path)
    assert not init_store(tmp_path)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("missing", PARTS)
def test_what_a_store_lacks_is_put_in_and_nothing_else(missing: str, tmp_path: Path) -> None:
    """kb-init: Nothing that is there is written over."""
    init_store(tmp_path)
    whole = tree(tmp_path)
    below = sorted((path for path in whole if path.startswith(missing)), reverse=True)
    for path in below:
        with suppress(IsADirectoryError, PermissionError):
            (tmp_path / path).unlink()
        with suppress(FileNotFoundError):
            (tmp_path / path).rmdir()
    (tmp_path / "knowledge").mkdir(exist_ok=True)
    (tmp_path / "knowledge/page.md").write_text("# Page\n")
    assert init_store(tmp_path)
    assert tree(tmp_path) == {**whole, "knowledge/page.md": b"# Page\n"}


def test_pages_may_be_kept_elsewhere(tmp_path: Path) -> None:
    """kb-init: The pages directory is one below the root that is kept for nothing else."""
    init_store(tmp_path / "store", pages="notes/pages")
    assert sorted(path.name for path in (tmp_path / "store/notes/pages").iterdir()) == [
        "index.md",
        "log.md",
    ]
    assert not (tmp_path / "store/knowledge").exists()
    for pages in ("../up", ".counterfoil/x", "raw", "/abs", ""):
        with pytest.raises(InvalidIdError):
            init_store(tmp_path / "refused", pages=pages)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store"]


def _file(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine\n")


def _link(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to("/nowhere" if path.name.endswith(".md") else path.parents[-2])


def _directory(path: Path) -> None:
    path.mkdir(parents=True)


def _pipe(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("where", "put", "said"),
    [
        ("store/knowledge", _file, "store/knowledge is a file; expected a directory"),
        ("store/raw", _link, "store/raw is a symbolic link; expected a directory"),
        ("store/.counterfoil", _link, "store/.counterfoil is a symbolic link"),
        ("store/knowledge/index.md", _directory, "knowledge/index.md is a directory; expected a f"),
        ("store/knowledge/log.md", _link, "knowledge/log.md is a symbolic link; expected a file"),
        ("store/.counterfoil/sources.json", _pipe, "neither a file nor a directory; expected a f"),
        ("store", _file, "store is a file; expected a directory, or nothing"),
        ("store", _link, "store is a symbolic link; expected a directory, or nothing"),
    ],
)
def test_what_stands_where_a_part_should_is_refused_untouched(
    where: str, put: Callable[[Path], None], said: str, tmp_path: Path
) -> None:
    """kb-init: All is looked at before anything is made."""
    if where == "store" and put is _link:
        (tmp_path / "store").symlink_to(tmp_path / "nowhere")
    else:
        put(tmp_path / where)
    before = tree(tmp_path)
    with pytest.raises(UnreadableError) as caught:
        init_store(tmp_path / "store")
    assert said in str(caught.value)
    assert tree(tmp_path) == before


def test_a_store_may_be_named_through_a_link(tmp_path: Path) -> None:
    """store-paths: Down to the root links are followed; below it none is."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "store").symlink_to(tmp_path / "disk")
    assert init_store(tmp_path / "store")
    assert init_store(tmp_path / "store" / "inner")
    assert sorted(tree(tmp_path / "disk")) == sorted(
        [*PARTS, "inner", *(f"inner/{part}" for part in PARTS)]
    )


@pytest.mark.parametrize("is_there", [False, True])
def test_a_disk_that_fails_anywhere_is_left_as_it_was(is_there: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """kb-init: A failure removes what this call made, and nothing else, at every step."""
    root = tmp_path / "store"
    if is_there:
        _file(root / "knowledge/page.md")
    before = tree(tmp_path)
    for calls in range(100):
        try:
            init_store(root, disk=Faulty(calls))
        except UnavailableError as error:
            said = str(error)
            if tree(tmp_path) == before:
                continue
            assert not init_store(root)  # only the very last step can come too late
        break
    assert calls > 20
    assert "No space left on device (hint: make room on the disk and try again)" in said
    assert set(PARTS) <= set(tree(root))
    assert not [path for path in tree(tmp_path) if UNFINISHED in path or path.endswith(".tmp")]


# --- runs -----------------------------------------------------------------------


def test_the_store_of_a_run_stands_in_its_directory(tmp_path: Path) -> None:
    """run-stores: `<root>/<run>/knowledge-base`; the root is made when it is needed."""
    stores = stores_at(tmp_path / "deep" / "runs")
    stores.init("alpha")
    stores.init("beta", "alpha")
    parts = [*PARTS, ".counterfoil/lineage.json"]
    for run in ("alpha", "beta"):
        assert sorted(tree(tmp_path / "deep/runs" / run / "knowledge-base")) == sorted(parts)
    assert sorted(path.name for path in (tmp_path / "deep/runs").iterdir()) == ["alpha", "beta"]
    assert stores.runs() == ("alpha", "beta")
    assert stores.lineage("beta") == ("alpha",)


@pytest.mark.parametrize("before", ["", "alpha", "alpha/knowledge-base"])
def test_an_empty_directory_becomes_the_place_of_a_store(before: str, tmp_path: Path) -> None:
    """run-stores: What was there before a failure is there after it."""
    (tmp_path / "runs" / before).mkdir(parents=True)
    there = tree(tmp_path)
    for calls in range(100):
        try:
            stores_at(tmp_path / "runs", Faulty(calls)).init("alpha")
        except UnavailableError:
            if tree(tmp_path) == there:
                continue
        break
    stores = stores_at(tmp_path / "runs")
    assert stores.runs() == ("alpha",)
    stores.init("alpha")
    assert stores.lineage("alpha") == ()


def test_only_directories_with_a_store_are_runs(tmp_path: Path) -> None:
    """run-stores: No link, no file, no other directory, nothing that no run can be called."""
    stores = stores_at(tmp_path)
    for run in ("b", "a", "e\u0301", ".."):
        with suppress(InvalidIdError):
            stores.init(run)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "half").mkdir()
    (tmp_path / "half/knowledge-base").symlink_to(tmp_path / "a/knowledge-base")
    (tmp_path / " x/knowledge-base").mkdir(parents=True)
    (tmp_path / os.fsdecode(b"\xff") / "knowledge-base").mkdir(parents=True)
    (tmp_path / f"{UNFINISHED}{'0' * 112}/knowledge-base").mkdir(parents=True)
    assert stores.runs() == ("a", "b", "é")


def test_runs_of_a_directory_that_is_not_there_are_not_none(tmp_path: Path) -> None:
    """run-stores: A path that was mistyped is said, not taken for an empty one."""
    with pytest.raises(NotFoundError, match=r"no directory .*nowhere; expected one that holds"):
        stores_at(tmp_path / "nowhere").runs()
    (tmp_path / "runs").mkdir()
    assert stores_at(tmp_path / "runs").runs() == ()


def test_a_store_is_found_by_its_id_whatever_its_normal_form(tmp_path: Path) -> None:
    """run-stores: An id is in NFC, the name on a disk need not be."""
    stores = stores_at(tmp_path)
    stores.init("e\u0301")
    stores.init("child", "é")
    places = FileRunPlaces(tmp_path)
    assert places.find(RunId("é")) == tmp_path.resolve() / "e\u0301" / "knowledge-base"
    assert stores.lineage("child") == ("é",)
    assert places.read(RunId("é"), "knowledge/index.md") is not None
    assert places.read(RunId("é"), "knowledge/none.md") is None
    assert places.read(RunId("nobody"), "knowledge/index.md") is None
    assert places.find(RunId("E")) is None
    assert places.shown(ALPHA, "x.md") == f"{tmp_path}/alpha/knowledge-base/x.md"


@pytest.mark.parametrize(
    "link", ["alpha", "alpha/knowledge-base", "alpha/knowledge-base/.counterfoil"]
)
@pytest.mark.parametrize("target", ["outside", "runs/beta"])
def test_no_link_below_the_root_is_followed(link: str, target: str, tmp_path: Path) -> None:
    """ancestor-faults: G5: not out of the root, and not to the store of another run."""
    stores = stores_at(tmp_path / "runs")
    stores.init("beta")
    (tmp_path / "outside").mkdir()
    (tmp_path / "runs" / link).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "runs" / link).symlink_to(tmp_path / target)
    before = tree(tmp_path)
    for ask in (stores.init, stores.lineage, stores.parent_of):
        with pytest.raises(UnreadableError, match=r"alpha.* is a symbolic link"):
            ask("alpha")
    assert tree(tmp_path) == before


def test_an_id_too_long_for_the_disk_is_said(tmp_path: Path) -> None:
    """run-stores: 128 characters may be more bytes than a name can have."""
    with pytest.raises(UnavailableError, match=r"cannot be read or written: File name too long"):
        stores_at(tmp_path).init("\U0001d4c7" * 128)
    assert tree(tmp_path) == {}


def test_two_spellings_that_some_disk_takes_for_one_are_told(tmp_path: Path) -> None:
    """run-stores: Also where only a file or an empty directory has the other name."""
    places = FileRunPlaces(tmp_path)
    assert places.rival_of("alpha") is None
    (tmp_path / "ALPHA").write_text("")
    (tmp_path / "Alpha").mkdir()
    assert places.rival_of("alpha") == "ALPHA"
    assert places.rival_of("Alpha") == "ALPHA"
    assert FileRunPlaces(tmp_path / "none").rival_of("alpha") is None


# --- places of one's own -----------------------------------------------------------


def test_stores_may_stand_where_one_wants_them(tmp_path: Path) -> None:
    """run-stores: A path from the root on, or an absolute one below it."""
    root = tmp_path / "runs"
    (tmp_path / "link").symlink_to(root)
    ways: tuple[tuple[Path, Callable[[RunId], str | Path]], ...] = (
        (root, lambda run: f"by-run/{run[0]}/{run}"),
        (root, lambda run: root / "by-run" / run[0] / run),
        (tmp_path / "link", lambda run: tmp_path / "link" / "by-run" / run[0] / run),
        (tmp_path / "link", lambda run: root.resolve() / "by-run" / run[0] / run),
    )
    for number, (given, way) in enumerate(ways):
        places = FileRunPlaces(given, way)
        stores = Runs(places, FileLineage(places, now=lambda: ""))
        stores.init(f"a{number}")
        assert (root / f"by-run/a/a{number}/.counterfoil/lineage.json").is_file()
    assert stores.runs() == ("a0", "a1", "a2", "a3")
    (root / "by-run/A").mkdir()
    before = tree(tmp_path)
    with pytest.raises(
        ConflictError, match=r"place of run 'a9' differs only in .* from 'by-run/A'"
    ):
        stores.init("a9")
    assert tree(tmp_path) == before


@pytest.mark.parametrize("place", ["../alpha", "a/../../alpha", "/alpha", "", ".", "a\0b", ".."])
def test_a_place_out_of_the_root_is_refused(place: str, tmp_path: Path) -> None:
    """ancestor-faults: G5: a function of one's own is contained like an id."""
    (tmp_path / "runs").mkdir()
    before = tree(tmp_path)
    places = FileRunPlaces(tmp_path / "runs", lambda _: place)
    stores = Runs(places, FileLineage(places, now=lambda: ""))
    for ask in (stores.init, stores.lineage):
        with pytest.raises(InvalidIdError, match=r"of run 'alpha'; expected one below .*runs"):
            ask("alpha")
    assert tree(tmp_path) == before


def test_one_place_for_two_runs_is_refused(tmp_path: Path) -> None:
    """run-stores: The record there is that of the first, and says so."""
    places = FileRunPlaces(tmp_path, lambda _: "same")
    stores = Runs(places, FileLineage(places, now=lambda: ""))
    stores.init("alpha")
    before = tree(tmp_path)
    with pytest.raises(
        UnreadableError, match=r"the lineage of run 'beta', .* is that of run 'alpha'"
    ):
        stores.init("beta")
    assert tree(tmp_path) == before


# --- one after another ---------------------------------------------------------------


def test_who_is_first_has_the_place(tmp_path: Path) -> None:
    """run-stores: A store that stands there meanwhile is kept; what was built is removed."""
    scaffold = scaffold_of()
    with unfinished(tmp_path, ("a", "b"), scaffold) as late:
        with unfinished(tmp_path, ("a", "b"), {**scaffold, "first.md": b"1"}) as early:
            assert early.add("more.md", b"2")
            assert early.finish()
        assert not late.finish()
    assert sorted(tree(tmp_path)) == sorted(
        ["a", "a/b", *(f"a/b/{part}" for part in [*PARTS, "first.md", "more.md"])]
    )


def test_a_file_in_the_way_meanwhile_is_met_on_the_next_try(tmp_path: Path) -> None:
    """run-stores: It is not written over, and nobody goes round for ever."""
    with unfinished(tmp_path, ("a",), scaffold_of()) as late:
        (tmp_path / "a").write_text("mine")
        assert not late.finish()
    assert tree(tmp_path) == {"a": b"mine"}
    with pytest.raises(UnreadableError, match="a is a file"):
        init_store(tmp_path / "a")


def test_a_place_that_cannot_be_taken_is_an_error(tmp_path: Path) -> None:
    """run-stores: Only "somebody was first" is a race; the rest is said."""

    class Refusing(Disk):
        def rename(self, name: str, new: str, *, at: int) -> None:
            if new == "store":
                raise PermissionError(errno.EACCES, "Permission denied")
            super().rename(name, new, at=at)

    with pytest.raises(UnavailableError, match=r"store .*/store cannot be .*: Permission denied"):
        init_store(tmp_path / "store", disk=Refusing())
    assert tree(tmp_path) == {}


def test_what_is_there_already_is_not_added(tmp_path: Path) -> None:
    """run-stores: The first to put a file wins, and what was not finished is taken back."""
    _file(tmp_path / "a/knowledge/index.md")
    before = tree(tmp_path)
    with unfinished(tmp_path, ("a",), scaffold_of()) as store:
        assert not store.add("knowledge/index.md", b"other")
        assert store.add("new/deep/file.md", b"content")
        assert (tmp_path / "a/new/deep/file.md").read_bytes() == b"content"
    assert tree(tmp_path) == before


def test_what_the_dead_left_behind_is_removed_in_time(tmp_path: Path) -> None:
    """run-stores: An hour after the others; what is younger may be somebody's at work."""
    names = [f"{UNFINISHED}{letter * 112}" for letter in "ab"]
    for name, age in zip(names, (3_700, 3_500), strict=True):
        (tmp_path / name / "inner").mkdir(parents=True)
        now = (tmp_path / name).stat().st_mtime
        os.utime(tmp_path / name, (now - age, now - age))
    stores_at(tmp_path).init("alpha")
    assert sorted(path.name for path in tmp_path.iterdir()) == [names[1], "alpha"]


def test_a_link_put_in_the_way_while_it_is_opened_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """store-paths: A store is opened by its canonical path, and weighed against it."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "runs/alpha").mkdir(parents=True)
    walked = Path.resolve

    def swapped(path: Path, *, strict: bool = False) -> Path:
        if path.name == "alpha":
            (tmp_path / "runs/alpha").rmdir()
            (tmp_path / "runs/alpha").symlink_to(tmp_path / "outside")
        return walked(path, strict=strict)

    monkeypatch.setattr(Path, "resolve", swapped)
    with (
        pytest.raises(UnreadableError, match="is reached through a symbolic link"),
        unfinished(tmp_path / "runs", ("alpha",), scaffold_of()),
    ):
        pass
    assert tree(tmp_path / "outside") == {}


def test_one_makes_stores_at_a_time(tmp_path: Path) -> None:
    """run-stores: Another waits, with a bound; whoever does so already may go on."""
    places = FileRunPlaces(tmp_path)
    outcomes: list[str] = []

    def other() -> None:
        try:
            with FileRunPlaces(tmp_path, patience=0.01).to_oneself():
                outcomes.append("alone")
        except UnavailableError as error:
            outcomes.append(str(error))

    with places.to_oneself(), places.to_oneself():
        _in_a_thread(other)
    _in_a_thread(other)
    assert outcomes[0].startswith(
        f"another process, or thread, has been making stores in {tmp_path} for 0.01 s; expected"
    )
    assert outcomes[1:] == ["alone"]
    assert list(tmp_path.iterdir()) == []


def test_a_root_that_is_made_while_it_is_waited_for_is_held_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """run-stores: Then the lock on the directory above it would keep nobody out."""
    root = tmp_path / "runs"
    taken = making._try_lock
    locked: list[os.stat_result] = []

    def late(directory: int) -> bool:
        root.mkdir(exist_ok=True)
        locked.append(os.fstat(directory))
        return taken(directory)

    monkeypatch.setattr(making, "_try_lock", late)
    with making_alone(root):
        assert [found.st_ino for found in locked] == [tmp_path.stat().st_ino, root.stat().st_ino]


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EIO])
def test_a_file_system_without_locks_is_no_obstacle(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """run-stores: The rename decides there; any other fault is said."""

    def broken(_: int, __: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(making, "flock", broken)
    if code == errno.ENOLCK:
        assert init_store(tmp_path / "store")
    else:
        with pytest.raises(UnavailableError, match="Input/output error"):
            init_store(tmp_path / "store")
        assert tree(tmp_path) == {}


def _in_a_thread(call: Callable[[], None]) -> None:
    thread = threading.Thread(target=call)
    thread.start()
    thread.join(10)
