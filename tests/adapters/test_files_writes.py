"""One file, written whole or not at all."""

import errno
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from counterfoil.adapters.files.atomic import write_atomically
from counterfoil.adapters.files.disk import Disk
from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.core.errors import UnavailableError, UnreadableError

NOBODY = 65534


@pytest.fixture
def root(tmp_path: Path) -> Iterator[StoreRoot]:
    with StoreRoot(tmp_path) as opened:
        yield opened


@contextmanager
def umask(bits: int) -> Iterator[None]:
    before = os.umask(bits)
    yield
    os.umask(before)


@contextmanager
def without_privileges() -> Iterator[None]:
    """Be somebody to whom modes apply, as everybody but the superuser is."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(NOBODY)
    yield
    if was == 0:
        os.seteuid(was)


def names_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o7777


@pytest.mark.parametrize(("bits", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o000, 0o644)])
def test_a_new_file_is_for_others_to_read(root: StoreRoot, bits: int, mode: int) -> None:
    """store-writes: As far as the umask lets them."""
    with umask(bits):
        write_atomically(root.handle, "a.md", b"a")
    assert root.state("a.md") == (b"a", mode)


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o400, 0o755])
def test_an_existing_file_keeps_its_mode(root: StoreRoot, mode: int) -> None:
    """store-writes: Whatever the umask is."""
    path = root.path / "a.md"
    path.write_bytes(b"before")
    path.chmod(mode)
    with umask(0o077):
        write_atomically(root.handle, "a.md", b"after")
    assert root.state("a.md") == (b"after", mode)


def test_a_mode_that_is_given_is_set(root: StoreRoot) -> None:
    """store-writes: On a new file and on an old one."""
    for mode in (0o444, 0o640):
        write_atomically(root.handle, "a.md", b"a", mode=mode)
        assert mode_of(root.path / "a.md") == mode


def test_a_target_that_is_no_file_is_refused(root: StoreRoot, tmp_path: Path) -> None:
    """store-writes: A link is neither followed nor replaced, a pipe not waited for."""
    (tmp_path / "real.md").write_bytes(b"real")
    (tmp_path / "link").symlink_to("real.md")
    (tmp_path / "dangling").symlink_to("none")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    before = names_in(tmp_path)
    for name in ("link", "dangling", "pipe", "directory"):
        with pytest.raises(UnreadableError, match=f"{name} is "):
            write_atomically(root.handle, name, b"x")
    assert names_in(tmp_path) == before
    assert (tmp_path / "real.md").read_bytes() == b"real"


class FaultyDisk(Disk):
    """Fails at the one call that it is told."""

    def __init__(self, call: str, code: int) -> None:
        self.code = code
        setattr(self, call, self._fail)

    def _fail(self, *_: object, **__: object) -> None:
        raise OSError(self.code, os.strerror(self.code))


@pytest.mark.parametrize("call", ["create", "write", "set_mode", "rename"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_write_that_fails_leaves_what_was_there(root: StoreRoot, call: str, code: int) -> None:
    """store-writes: The old bytes, no temporary file, and one line that says why."""
    write_atomically(root.handle, "a.md", b"before")
    with pytest.raises(UnavailableError) as refusal:
        write_atomically(root.handle, "a.md", b"after", disk=FaultyDisk(call, code))
    assert os.strerror(code) in refusal.value.found
    assert "a.md" in refusal.value.found
    assert names_in(root.path) == ["a.md"]
    assert root.read("a.md") == b"before"


def test_a_file_that_grows_past_what_the_system_allows(root: StoreRoot) -> None:
    """store-writes: A real refusal in the midst of the bytes."""
    write_atomically(root.handle, "a.md", b"before")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(UnavailableError, match="too large"):
            write_atomically(root.handle, "a.md", b"x" * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert names_in(root.path) == ["a.md"]
    assert root.read("a.md") == b"before"


def test_a_directory_that_may_not_be_written_is_one_line(root: StoreRoot) -> None:
    """store-writes: Reading goes on."""
    write_atomically(root.handle, "a.md", b"before")
    root.path.chmod(0o555)
    try:
        with without_privileges():
            with pytest.raises(UnavailableError, match="Permission denied"):
                write_atomically(root.handle, "a.md", b"after")
            assert root.read("a.md") == b"before"
    finally:
        root.path.chmod(0o755)


def test_every_byte_is_on_the_disk_before_the_name_is(root: StoreRoot) -> None:
    """store-writes: Write, mode, sync, rename, and the directory synced at last."""
    calls: list[str] = []

    class Watched(Disk):
        def __getattribute__(self, name: str) -> object:
            if name in vars(Disk) and not name.startswith("_"):
                calls.append(name)
            return super().__getattribute__(name)

    write_atomically(root.handle, "a.md", b"a", mode=0o600, disk=Watched())
    assert calls == ["create", "write", "set_mode", "sync", "rename", "sync"]


def test_a_large_file_is_written_whole(root: StoreRoot) -> None:
    """store-writes: However much the system takes at once."""

    class Slow(Disk):
        def write(self, file: int, content: bytes) -> None:
            for start in range(0, len(content), 1000):
                super().write(file, content[start : start + 1000])

    content = os.urandom(123_456)
    write_atomically(root.handle, "a.md", content, disk=Slow())
    assert root.read("a.md") == content
