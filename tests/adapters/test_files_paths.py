"""The root of a store, and what can be reached from there."""

import os
import socket
from pathlib import Path

import pytest

from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.core.errors import (
    CounterfoilError,
    InvalidIdError,
    NotFoundError,
    UnavailableError,
    UnreadableError,
)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    directory = tmp_path / "outside"
    directory.mkdir()
    (directory / "secret.md").write_bytes(b"secret")
    return directory


@pytest.fixture
def store(tmp_path: Path) -> Path:
    directory = tmp_path / "store"
    (directory / "knowledge").mkdir(parents=True)
    (directory / "knowledge" / "a.md").write_bytes(b"a")
    return directory


def test_a_file_below_the_root_is_read_with_its_mode(store: Path) -> None:
    """store-paths: The way through plain directories is open."""
    (store / "knowledge" / "a.md").chmod(0o640)
    with StoreRoot(store) as root:
        assert root.state("knowledge/a.md") == (b"a", 0o640)
        assert root.read("knowledge/none.md") is None
        assert root.read("none/at/all.md") is None


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside/secret.md", "knowledge/..", "a//b"])
def test_a_path_that_leads_out_reads_nothing(store: Path, outside: Path, path: str) -> None:
    """store-paths: It is refused before anything is looked at."""
    with StoreRoot(store) as root:
        for use in (root.read, root.state, root.make_directories):
            with pytest.raises(InvalidIdError):
                use(path)


@pytest.mark.parametrize("target", ["../outside", "knowledge", "nowhere", "."])
def test_no_link_is_followed_wherever_it_leads(store: Path, outside: Path, target: str) -> None:
    """store-paths: Out, inside, or to nothing: not as a directory, not as a file."""
    (store / "link").symlink_to(target)
    with StoreRoot(store) as root:
        for path in ("link", "link/secret.md", "link/deep/a.md"):
            with pytest.raises(UnreadableError, match="link is a symbolic link"):
                root.read(path)
        with pytest.raises(UnreadableError, match="link is a symbolic link"):
            root.make_directories("link/new")
    assert sorted(path.name for path in outside.iterdir()) == ["secret.md"]


def test_a_root_may_be_named_through_links(store: Path) -> None:
    """store-paths: What it is named is the caller's; its path is the canonical one."""
    link = store.parent / "link"
    link.symlink_to(store)
    with StoreRoot(link) as named, StoreRoot(store) as canonical:
        assert named.read("knowledge/a.md") == b"a"
        assert named.path == store.resolve()
        assert named.identity == canonical.identity


def test_a_store_that_moves_stays_the_store(store: Path, outside: Path) -> None:
    """store-paths: It was opened once; a link that takes its place leads nobody astray."""
    with StoreRoot(store) as root:
        store.rename(store.parent / "moved")
        store.symlink_to(outside)
        assert root.read("knowledge/a.md") == b"a"
        assert root.read("secret.md") is None


@pytest.mark.parametrize("swapped", ["knowledge", "knowledge/deep"])
def test_a_link_that_takes_the_place_of_a_directory_is_seen(
    store: Path, outside: Path, swapped: str
) -> None:
    """store-paths: Also after the directory has been read from."""
    (store / "knowledge" / "deep").mkdir()
    (store / "knowledge" / "deep" / "a.md").write_bytes(b"deep")
    with StoreRoot(store) as root:
        assert root.read("knowledge/deep/a.md") == b"deep"
        (store / swapped).rename(store / "away")
        (store / swapped).symlink_to(outside)
        with pytest.raises(UnreadableError, match=f"{swapped} is a symbolic link"):
            root.read("knowledge/deep/a.md")


def test_a_directory_held_open_is_not_exchanged(store: Path, outside: Path) -> None:
    """store-paths: A link put in its place meanwhile is not what is read from."""
    with StoreRoot(store) as root, root.holding("knowledge/a.md") as (handle, name):
        (store / "knowledge").rename(store / "away")
        (store / "knowledge").symlink_to(outside)
        with os.scandir(handle) as found:
            assert [file.name for file in found] == [name]


def test_what_is_no_file_is_not_opened_as_one(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """store-paths: A pipe is not waited for, a device not read."""
    os.mkfifo(store / "pipe")
    monkeypatch.chdir(store)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as ear:
        ear.bind("socket")
        with StoreRoot(store) as root:
            for path in ("pipe", "socket"):
                with pytest.raises(UnreadableError, match=f"{path} is neither"):
                    root.read(path)
            with pytest.raises(UnreadableError, match="knowledge is a directory"):
                root.read("knowledge")


def test_a_file_is_no_directory(store: Path) -> None:
    """store-paths: It is said which one of the path it is."""
    os.mkfifo(store / "pipe")
    with StoreRoot(store) as root:
        with pytest.raises(UnreadableError, match=r"knowledge/a\.md is a file; expected a dir"):
            root.read("knowledge/a.md/b/c.md")
        with pytest.raises(UnreadableError, match="pipe is neither"):
            root.read("pipe/a.md")
        with pytest.raises(NotFoundError, match="no directory none"), root.directory("none/x"):
            pass


def test_directories_are_made_once(store: Path) -> None:
    """store-paths: Those that were not there are told."""
    with StoreRoot(store) as root:
        assert root.make_directories("knowledge/x/y") == ("knowledge/x", "knowledge/x/y")
        assert root.make_directories("knowledge/x/y") == ()
        with pytest.raises(UnreadableError, match=r"a\.md is a file"):
            root.make_directories("knowledge/a.md")


def test_a_name_that_no_file_can_have_is_one_line(store: Path) -> None:
    """store-paths: What the system says is said in our words."""
    with StoreRoot(store) as root, pytest.raises(UnavailableError, match="too long"):
        root.read("x" * 300)


def test_there_is_no_store_where_no_directory_is(tmp_path: Path) -> None:
    """store-paths: Nothing, a file, or links in a circle."""
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "circle").symlink_to("circle")
    for name in ("none", "file", "file/below", "circle"):
        with pytest.raises(CounterfoilError) as refusal:
            StoreRoot(tmp_path / name)
        assert name in refusal.value.diagnosis()
    with pytest.raises(NotFoundError):
        StoreRoot(tmp_path / "none")


def test_a_root_that_is_forgotten_is_closed(store: Path) -> None:
    """store-paths: No descriptor is left open; to close twice does nothing."""
    root = StoreRoot(store)
    handle = root.handle
    root.close()
    root.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handle)
