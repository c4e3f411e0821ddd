"""The file of standing grants: modes, links, damage, and several processes at once."""

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest

from counterfoil.adapters.grants import GrantFile, file, form
from counterfoil.core.errors import ConflictError, UnavailableError, UnreadableError
from counterfoil.core.gate.grants import Grant, Pattern

GRANT = Grant(
    id="00000000000000a1",
    pattern=Pattern("git push *"),
    level="moderate",
    scope="always",
    granted_at="2026-03-01T09:00:00.000Z",
    expires_at="2026-03-31T09:00:00.000Z",
)
HERE = replace(
    GRANT,
    id="00000000000000a2",
    pattern=Pattern("python x.py", is_exact=True),
    scope="project",
    directory="/shop",
    source="ann",
)

ADD = """
import sys
from dataclasses import replace
from pathlib import Path
from counterfoil.adapters.grants import GrantFile
from counterfoil.core.gate.grants import Grant, Pattern

path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
grant = Grant(
    id="", pattern=Pattern("make *"), level="moderate", scope="always",
    granted_at="2026-03-01T09:00:00.000Z", expires_at="2026-03-31T09:00:00.000Z",
)
for number in range(count):
    GrantFile(path).add(replace(grant, id=f"{name}-{number}"))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where grants are kept; nothing is there yet."""
    return tmp_path / "home" / "grants.json"


def test_grants_come_back_as_they_were_given(path: Path) -> None:
    """grant-file: In their order; where nothing was kept there are none."""
    kept = GrantFile(path)
    assert kept.grants() == ()
    kept.add(GRANT)
    kept.add(HERE)
    assert kept.grants() == GrantFile(path).grants() == (GRANT, HERE)
    document = json.loads(path.read_bytes())
    assert document["schema"] == 1
    assert [row["id"] for row in document["grants"]] == [GRANT.id, HERE.id]


def test_a_revoked_grant_is_gone_for_everybody(path: Path) -> None:
    """grant-file: The file is read again whenever it is asked."""
    one, other = GrantFile(path), GrantFile(path)
    one.add(GRANT)
    one.add(HERE)
    assert other.revoke(GRANT.id)
    assert one.grants() == (HERE,)
    assert not other.revoke(GRANT.id)
    assert not other.revoke("no such grant")


def test_the_file_is_for_its_owner_alone(path: Path) -> None:
    """grant-file: 0600 whatever the umask is, and in a directory that is 0700."""
    before = os.umask(0)
    try:
        GrantFile(path).add(GRANT)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert sorted(one.name for one in path.parent.iterdir()) == ["grants.json", "grants.json.lock"]


@pytest.mark.parametrize("mode", [0o620, 0o604, 0o640, 0o666])
def test_a_file_that_others_may_reach_grants_nothing(path: Path, mode: int) -> None:
    """grant-file: It is refused whole, for reading and for writing."""
    kept = GrantFile(path)
    kept.add(GRANT)
    path.chmod(mode)
    for ask in (kept.grants, lambda: kept.add(HERE), lambda: kept.revoke(GRANT.id)):
        with pytest.raises(UnreadableError, match=f"{mode:04o}"):
            ask()


def test_a_link_grants_nothing(path: Path, tmp_path: Path) -> None:
    """grant-file: Not even one that leads to a file of grants, or to nothing."""
    real = GrantFile(tmp_path / "real.json")
    real.add(GRANT)
    path.parent.mkdir()
    path.symlink_to(tmp_path / "real.json")
    with pytest.raises(UnreadableError, match="link"):
        GrantFile(path).grants()
    with pytest.raises(UnreadableError, match="link"):
        GrantFile(path).add(HERE)
    assert real.grants() == (GRANT,)


def test_a_link_in_place_of_the_lock_is_not_followed(path: Path, tmp_path: Path) -> None:
    """grant-file: Nothing is made where it leads."""
    path.parent.mkdir()
    path.with_name("grants.json.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnavailableError):
        GrantFile(path).add(GRANT)
    assert not (tmp_path / "elsewhere").exists()


def test_what_is_no_file_grants_nothing(path: Path) -> None:
    """grant-file: A directory or a pipe in its place is an error, and nobody waits for it."""
    path.mkdir(parents=True)
    with pytest.raises(UnreadableError):
        GrantFile(path).grants()
    path.rmdir()
    os.mkfifo(path, 0o600)
    with pytest.raises(UnreadableError, match="no file"):
        GrantFile(path).grants()


def test_a_file_of_somebody_else_grants_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """grant-file: Only its owner can have given grants."""
    kept = GrantFile(path)
    kept.add(GRANT)
    monkeypatch.setattr(os, "geteuid", lambda: 12345678)
    with pytest.raises(UnreadableError, match="somebody else"):
        kept.grants()


def _document(**changed: object) -> bytes:
    row = json.loads(form.written([GRANT]))["grants"][0] | changed
    return json.dumps({"schema": 1, "grants": [row]}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"null",
        b"{}",
        b'{"grants":[]}',
        b'{"grants":[],"schema":2}',
        b'{"grants":[],"schema":1,"more":1}',
        b'{"grants":[{}],"schema":1}',
        b"[" * 100_000,
        _document(level="dangerous"),
        _document(level="high"),
        _document(scope="session"),
        _document(scope="project"),
        _document(directory="/shop"),
        _document(expiresAt=None),
        _document(expiresAt="9999"),
        _document(expiresAt="2026-03-31T09:00:00Z"),
        _document(grantedAt="yesterday"),
        _document(pattern=1),
        _document(isExact=0),
        _document(more=1),
        _document()[:-20],
    ],
    ids=lambda content: repr(content[-30:]),
)
def test_a_damaged_file_grants_nothing(path: Path, content: bytes) -> None:
    """grant-file: One clear error; nothing is overwritten."""
    path.parent.mkdir()
    path.touch(0o600)
    path.write_bytes(content)
    kept = GrantFile(path)
    for ask in (kept.grants, lambda: kept.add(GRANT), lambda: kept.revoke(GRANT.id)):
        with pytest.raises(UnreadableError) as caught:
            ask()
        assert str(path) in caught.value.found
        assert caught.value.advice
    assert path.read_bytes() == content


def test_a_file_that_is_too_large_grants_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """grant-file: At the bound, one under it and one over it."""
    GrantFile(path).add(GRANT)
    size = path.stat().st_size
    for bound, is_read in ((size + 1, True), (size, True), (size - 1, False)):
        monkeypatch.setattr(file, "LARGEST", bound)
        if is_read:
            assert GrantFile(path).grants() == (GRANT,)
        else:
            with pytest.raises(UnreadableError, match="bytes"):
                GrantFile(path).grants()


@pytest.mark.parametrize(
    "grant",
    [
        replace(GRANT, scope="session"),
        replace(GRANT, expires_at=None),
        replace(GRANT, level="dangerous"),
        replace(GRANT, directory="/shop"),
        replace(GRANT, scope="project"),
        replace(GRANT, granted_at="now"),
    ],
)
def test_what_is_no_standing_grant_is_not_kept(path: Path, grant: Grant) -> None:
    """grant-file: What could not be read again is not written."""
    with pytest.raises(ValueError, match=r"grant"):
        GrantFile(path).add(grant)
    assert GrantFile(path).grants() == ()


def test_a_failed_write_leaves_what_was_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """grant-file: The old grants, and no file beside them."""
    kept = GrantFile(path)
    kept.add(GRANT)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UnavailableError, match="No space left"):
        kept.add(HERE)
    assert kept.grants() == (GRANT,)
    assert sorted(one.name for one in path.parent.iterdir()) == ["grants.json", "grants.json.lock"]


def test_a_place_that_cannot_be_read_is_unavailable(tmp_path: Path) -> None:
    """grant-file: A file where the directory should be."""
    (tmp_path / "home").write_text("")
    with pytest.raises(UnavailableError):
        GrantFile(tmp_path / "home" / "grants.json").grants()
    with pytest.raises(UnavailableError):
        GrantFile(tmp_path / "home" / "grants.json").add(GRANT)


def test_a_writer_waits_for_another_one_and_no_longer_than_it_may(path: Path) -> None:
    """grant-file: Then it says who is in the way; later it goes on."""
    kept = GrantFile(path)
    kept.add(GRANT)
    with kept._locked():
        with pytest.raises(ConflictError, match="another process"):
            GrantFile(path, patience=0.05).add(HERE)
        begun = Event()

        def wait() -> None:
            begun.set()
            GrantFile(path).add(HERE)

        waiting = Thread(target=wait)
        waiting.start()
        begun.wait(10)
    waiting.join(10)
    assert kept.grants() == (GRANT, HERE)


def test_processes_that_add_at_once_lose_nothing(path: Path) -> None:
    """grant-file: Each grant of each is there in the end; a reader sees whole files."""
    count = 20
    adding = [
        subprocess.Popen([sys.executable, "-c", ADD, str(path), name, str(count)])
        for name in ("one", "two", "three")
    ]
    kept = GrantFile(path)
    seen = 0
    while any(process.poll() is None for process in adding):
        now = len(kept.grants())
        assert now >= seen
        seen = now
    assert [process.returncode for process in adding] == [0, 0, 0]
    ids = {grant.id for grant in kept.grants()}
    assert ids == {
        f"{name}-{number}" for name in ("one", "two", "three") for number in range(count)
    }
    assert len(kept.grants()) == 3 * count
