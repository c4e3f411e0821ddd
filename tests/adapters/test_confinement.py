"""Where a command of an agent may write, and what it reaches."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from counterfoil.adapters.commands import ConfinedRunner, confined, confinement, probing
from counterfoil.adapters.commands.bubblewrap import (
    Bubblewrap,
    bubblewrap_here,
    find_bubblewrap,
    is_begun,
    reported_status,
)
from counterfoil.adapters.commands.confinement import Confinement, confinement_of
from counterfoil.adapters.commands.launching import Launcher
from counterfoil.adapters.commands.seatbelt import Seatbelt, seatbelt_here, seatbelt_profile
from counterfoil.core.errors import ConflictError, NotFoundError, UnavailableError
from counterfoil.ports.tools import CommandEnd, CommandRequest


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Folders of a test: a writable root, one outside, the home, and the one for what passes."""

    root: Path
    outside: Path
    home: Path
    temporary: Path

    def runner(self, *, network: bool = True) -> ConfinedRunner:
        """Make a runner that writes below the root alone."""
        return ConfinedRunner([self.root], self.home, network=network)

    def run(self, command: str, directory: Path | None = None) -> CommandEnd:
        """Run a command in the root, or elsewhere."""
        where = str(directory or self.root)
        return self.runner().run(CommandRequest(command=command, directory=where), _never)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Make the folders, so that none of them is in a temporary one."""
    place = Place(
        root=tmp_path / "root",
        outside=tmp_path / "outside",
        home=tmp_path / "home",
        temporary=tmp_path / "temporary",
    )
    for folder in (place.root, place.outside, place.home, place.temporary):
        folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(place.temporary))
    monkeypatch.setattr(confined, "_TEMPORARY", str(place.temporary))
    return place


@pytest.fixture
def works(place: Place) -> None:
    """Go on only where a confinement works."""
    if place.runner().sandbox == "none":
        pytest.skip("no confinement works here")


@pytest.fixture
def bubblewrap(place: Place) -> None:
    """Go on only where it is Bubblewrap."""
    if place.runner().sandbox != "bubblewrap":
        pytest.skip("no Bubblewrap works here")


@pytest.fixture
def unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what was found out about this machine."""
    monkeypatch.setattr(probing, "_found", {})


def _writes(place: Place, path: str, directory: Path | None = None) -> bool:
    """Say whether a command can write to `path`, and whether it is told so."""
    return place.run(f"echo x > {shlex.quote(path)}", directory).exit_status == 0


@pytest.mark.usefixtures("works")
def test_a_command_writes_below_the_root_and_temporary_folders(place: Place) -> None:
    """confinement: It works as anywhere, there."""
    assert _writes(place, "new")
    assert _writes(place, str(place.temporary / "new"))
    assert (
        place.run('mkdir -p a/b && echo x > a/b/c && mv a d && rm -r d && cd "$TMPDIR"').stdout
        == ""
    )
    assert place.run('echo x > "$TMPDIR"/newer').exit_status == 0
    assert (place.root / "new").read_text("utf-8") == "x\n"
    assert (place.temporary / "newer").exists()


@pytest.mark.usefixtures("works")
@pytest.mark.parametrize(
    "path", ["{outside}/new", "../outside/new", "{root}/../outside/new", "{root}new", "../new"]
)
def test_a_command_writes_nowhere_else(place: Place, path: str) -> None:
    """confinement: However the path is written."""
    path = path.format(root=place.root, outside=place.outside)
    assert not _writes(place, path)
    assert sorted(entry.name for entry in place.root.parent.iterdir()) == [
        "home",
        "outside",
        "root",
        "temporary",
    ]
    assert list(place.outside.iterdir()) == []


@pytest.mark.usefixtures("works")
def test_a_directory_widens_nothing(place: Place) -> None:
    """confinement: A command begins where it is told, and writes where it always may."""
    assert not _writes(place, "new", place.outside)
    assert _writes(place, str(place.root / "new"), place.outside)
    assert place.run("pwd -P", place.outside).stdout == f"{place.outside.resolve()}\n"


@pytest.mark.usefixtures("works")
def test_what_is_outside_is_read_and_stays(place: Place) -> None:
    """confinement: Reading is not confined; removing and changing is."""
    kept = place.outside / "kept"
    kept.write_text("text", "utf-8")
    before = kept.stat().st_mode, kept.stat().st_mtime_ns, kept.stat().st_nlink
    assert place.run(f"cat {kept}").stdout == "text"
    for command in (f"rm -f {kept}", f"chmod 777 {kept}", f"touch {kept}", f"ln {kept} hard"):
        assert place.run(command).exit_status != 0
    assert place.run(f"mv {kept} here").exit_status != 0
    assert kept.read_text("utf-8") == "text"
    assert (kept.stat().st_mode, kept.stat().st_mtime_ns, kept.stat().st_nlink) == before


@pytest.mark.usefixtures("works")
def test_a_link_leads_out_of_nothing(place: Place) -> None:
    """confinement: What counts is where it leads to."""
    (place.root / "link").symlink_to(place.outside)
    assert not _writes(place, "link/new")
    assert place.run("ln -s ../outside other && echo x > other/new").exit_status != 0
    assert place.run(f"ln -s {place.outside}/new file && echo x > file").exit_status != 0
    assert list(place.outside.iterdir()) == []


@pytest.mark.usefixtures("works")
def test_a_root_that_is_a_link_is_what_it_leads_to(place: Place) -> None:
    """confinement: By its real path, whatever comes of the link."""
    link = place.outside / "link"
    link.symlink_to(place.root)
    runner = ConfinedRunner([link], place.home)
    link.unlink()
    link.symlink_to(place.home)
    request = CommandRequest(
        command="echo x > new; echo x > ../outside/new", directory=str(place.root)
    )
    runner.run(request, _never)
    assert (place.root / "new").exists()
    assert not (place.outside / "new").exists()


@pytest.mark.usefixtures("works")
@pytest.mark.parametrize("name", ["a b", "q\"uo'te", "back\\slash", "é", "-dash", "new\nline"])
def test_a_root_has_any_name(place: Place, name: str) -> None:
    """confinement: It is a name and no word of a language."""
    root = place.outside / name
    root.mkdir()
    runner = ConfinedRunner([root], place.home)
    end = runner.run(CommandRequest(command="echo x > new", directory=str(root)), _never)
    assert end.exit_status == 0
    assert (root / "new").exists()


@pytest.mark.usefixtures("works")
@pytest.mark.parametrize("where", ["root", "temporary"])
def test_the_home_is_never_written_to(place: Place, where: str) -> None:
    """confinement: Not even where it lies below a writable place."""
    home: Path = getattr(place, where) / "deep" / "home"
    home.mkdir(parents=True)
    (home / "grants").write_text("none", "utf-8")
    inside = replace(place, home=home)
    for command in (
        f"echo x > {home}/new",
        f"echo x > {home}/grants",
        f"rm {home}/grants",
        f"rm -rf {home}",
        f"mv {home} moved",
        f"mv {home.parent} {home.parent}er",
        f"ln {home}/grants grants",
        f"ln -s {home} link; echo x > link/grants",
        f"mkdir -p {home}/deeper",
    ):
        assert inside.run(command).exit_status != 0
    assert inside.run(f"cat {home}/grants; echo x > {home.parent}/new").exit_status == 0
    assert [(entry.name, entry.read_text("utf-8")) for entry in home.iterdir()] == [
        ("grants", "none")
    ]
    assert (home.parent / "new").exists()


@pytest.mark.usefixtures("works")
def test_a_home_that_does_not_exist_is_made_where_a_command_could_make_it(place: Place) -> None:
    """confinement: Nobody is to find there what a command put there."""
    home = place.root / "deep" / "home"
    inside = replace(place, home=home)
    assert inside.run(f"echo x > {home}/grants").exit_status != 0
    assert home.stat().st_mode & 0o777 == 0o700
    assert list(home.iterdir()) == []
    elsewhere = replace(place, home=place.outside / "home")
    assert elsewhere.run("true").exit_status == 0
    assert not elsewhere.home.exists()


def test_a_home_that_cannot_be_made_is_one_error(place: Place) -> None:
    """confinement: It is said before any command runs."""
    (place.root / "file").touch()
    with pytest.raises(UnavailableError, match="cannot be made"):
        ConfinedRunner([place.root], place.root / "file" / "home")


@pytest.mark.parametrize(
    ("links", "home"),
    [
        ({"root/link": "{outside}/home"}, "root/link"),
        ({"root/link": "{outside}"}, "root/link/home"),
        ({"root/link": "../outside"}, "root/link/home"),
        ({"root/link": "."}, "root/link/home"),
        ({"root/link": "{outside}", "outside/first": "../root/./link//home"}, "outside/first"),
        ({"root/link": "{outside}", "outside/first": "{root}"}, "outside/first/../root/link/home"),
    ],
)
def test_a_home_behind_a_link_that_a_command_could_replace_is_refused(
    place: Place, links: dict[str, str], home: str
) -> None:
    """confinement: Where Counterfoil looks for its home, it is to find it."""
    (place.outside / "home").mkdir()
    above = place.root.parent
    for link, target in links.items():
        (above / link).symlink_to(target.format(root=place.root, outside=place.outside))
    with pytest.raises(ConflictError, match=f"{place.root}/link"):
        ConfinedRunner([place.root], above / home)


def test_a_home_behind_a_link_elsewhere_is_what_it_leads_to(place: Place) -> None:
    """confinement: No command replaces such a link."""
    (place.outside / "link").symlink_to(place.root / "home")
    home = place.outside / "link"
    assert confinement_of([place.root], home, []).home == str(place.root.resolve() / "home")


def test_links_that_lead_round_and_round_end(tmp_path: Path) -> None:
    """confinement: As many are followed as a system follows."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert len(list(confinement._links_on(str(tmp_path / "a")))) == 40


@pytest.mark.parametrize("name", ["nowhere", "file", "a\0b"])
@pytest.mark.parametrize("confine", [True, False])
def test_a_root_that_is_no_folder_is_one_error(place: Place, name: str, confine: bool) -> None:  # noqa: FBT001 - a case
    """confinement: Before any command runs, and wherever it would."""
    (place.root / "file").touch()
    with pytest.raises(NotFoundError, match="writable root"):
        ConfinedRunner([place.root, place.root / name], place.home, confine=confine)


@pytest.mark.parametrize("below", [".", "stores"])
def test_a_root_in_the_home_is_refused(place: Place, below: str) -> None:
    """confinement: The home is never written to, so that it cannot be meant."""
    (place.home / "stores").mkdir()
    with pytest.raises(ConflictError, match="lies in the home"):
        ConfinedRunner([place.home / below], place.home)


@pytest.mark.usefixtures("works")
def test_a_temporary_folder_in_the_home_is_not_written_to(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """confinement: The home comes first."""
    (place.home / "passing").mkdir()
    monkeypatch.setenv("TMPDIR", str(place.home / "passing"))
    assert not _writes(place, str(place.home / "passing" / "new"))


@pytest.mark.usefixtures("works")
def test_a_root_in_a_root_stays_where_it_is(place: Place) -> None:
    """confinement: The next command is confined to the same folder, and no other."""
    inner = place.root / "deep" / "inner"
    inner.mkdir(parents=True)
    runner = ConfinedRunner([inner, place.root], place.home)
    swap = f"mv deep gone && mkdir deep && ln -s {place.outside} deep/inner"
    first = runner.run(CommandRequest(command=swap, directory=str(place.root)), _never)
    if runner.sandbox == "bubblewrap":
        assert first.exit_status != 0
    write = CommandRequest(command=f"echo x > {inner}/new", directory=str(place.root))
    runner.run(write, _never)
    assert list(place.outside.iterdir()) == []


@pytest.mark.usefixtures("works")
def test_a_root_that_was_moved_away_starts_nothing(place: Place) -> None:
    """confinement: Writing is confined to what it was, which is not there."""
    runner = place.runner()
    place.root.rename(place.outside / "moved")
    place.root.symlink_to(place.home)
    end = runner.run(CommandRequest(command="echo x > new", directory=str(place.outside)), _never)
    assert end.not_started
    assert str(place.root) in end.not_started
    assert list(place.home.iterdir()) == []


@pytest.mark.usefixtures("bubblewrap")
def test_the_whole_disk_may_be_a_root(place: Place) -> None:
    """confinement: But for the home, and for what is the machine's own."""
    runner = ConfinedRunner([Path("/")], place.home)
    command = f"echo x > {place.outside}/new; echo x > {place.home}/new; echo x > /dev/null && pwd"
    end = runner.run(CommandRequest(command=command, directory=str(place.outside)), _never)
    assert (end.exit_status, end.stdout) == (0, f"{place.outside.resolve()}\n")
    assert (place.outside / "new").exists()
    assert list(place.home.iterdir()) == []


@pytest.mark.usefixtures("bubblewrap")
def test_a_superuser_is_one_no_more(place: Place) -> None:
    """confinement: What is read-only cannot be made writable from within."""
    commands = (
        "mount -o remount,rw /",
        f"mount --bind {place.root} {place.outside}",
        f"umount {place.home}",
        "unshare -Urm mount -o remount,bind,rw /",
        "mknod disk b 8 0",
        "cat /proc/sys/kernel/hostname > /proc/sys/kernel/hostname",
    )
    for command in commands:
        assert place.run(command).exit_status != 0


@pytest.mark.usefixtures("bubblewrap")
def test_a_command_sees_no_process_but_its_own(place: Place) -> None:
    """confinement: And so it ends none, and looks into none."""
    end = place.run(f"kill -0 {os.getpid()} 2>/dev/null || echo none; ls -d /proc/[0-9]* | wc -l")
    none, processes = end.stdout.split()
    assert none == "none" or os.getpid() < 10
    assert int(processes) < 10


@pytest.mark.usefixtures("bubblewrap")
def test_a_command_has_devices_and_memory_to_share(place: Place) -> None:
    """confinement: Programs find what they are used to."""
    script = (
        "import multiprocessing; multiprocessing.Lock(); print(open('/dev/zero', 'rb').read(1))"
    )
    end = place.run(f"{shlex.quote(sys.executable)} -c {shlex.quote(script)} > /dev/stdout")
    assert (end.exit_status, end.stdout) == (0, "b'\\x00'\n")


@pytest.mark.usefixtures("works")
@pytest.mark.parametrize("network", [True, False])
def test_the_network_is_as_configured(place: Place, network: bool) -> None:  # noqa: FBT001 - a case
    """confinement: Even the machine's own, where a server of the user's may listen."""
    script = (
        "import socket, sys; server = socket.create_server(('127.0.0.1', 0));"
        "print(server.getsockname()[1], flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        client = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        command = f"{shlex.quote(sys.executable)} -c {shlex.quote(client)}"
        request = CommandRequest(command=command, directory=str(place.root))
        end = place.runner(network=network).run(request, _never)
        server.communicate("")
    assert (end.exit_status == 0) is network


@pytest.mark.usefixtures("bubblewrap")
def test_a_command_ends_with_the_program_that_runs_it(place: Place) -> None:
    """confinement: Nothing outlives it, however it ended."""
    script = (
        "import sys; from pathlib import Path\n"
        "from counterfoil.adapters.commands import ConfinedRunner\n"
        "from counterfoil.ports.tools import CommandRequest\n"
        "runner = ConfinedRunner([Path(sys.argv[1])], Path(sys.argv[2]))\n"
        "command = 'exec 9>fifo; echo up >&9; setsid sleep 60 & sleep 60'\n"
        "runner.run(CommandRequest(command=command, directory=sys.argv[1]), lambda: False)\n"
    )
    fifo = place.root / "fifo"
    os.mkfifo(fifo)
    words = [sys.executable, "-c", script, str(place.root), str(place.home)]
    with subprocess.Popen(words) as program, fifo.open("rb") as end:
        assert end.readline() == b"up\n"
        program.send_signal(signal.SIGKILL)
        assert end.read() == b""  # which waits for as long as anybody holds the other end


@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize("number", [9, 15])
def test_a_command_may_end_its_reporter(place: Place, number: int) -> None:
    """confinement: It is over then, and by a signal or not at all."""
    end = place.run(f"kill -{number} $PPID; exit 3")
    assert end.exit_status in ((-9,) if number == 9 else (3,))
    assert end.not_started is None


@pytest.mark.usefixtures("bubblewrap")
def test_what_bubblewrap_cannot_do_is_no_end_of_the_command(place: Place) -> None:
    """confinement: The command did not start, and the answer says why."""
    here = bubblewrap_here(Confinement(writable=(str(place.root),)))
    assert here is not None
    request = CommandRequest(command="echo x > new", directory=str(place.root))

    class Elsewhere(Bubblewrap):
        def words(self, command: bytes, directory: str, report: int) -> list[str | bytes]:
            return super().words(command, f"{directory}/nowhere", report)

    wrapping = Elsewhere(confinement=here.confinement, program=here.program)
    end = Launcher(wrapping=wrapping).run(request, _never)
    assert "nowhere" in (end.not_started or "")
    assert (end.exit_status, end.stderr, end.sandbox) == (None, "", "bubblewrap")
    for broken in (replace(here, python="/no/python"), replace(here, python="/bin/true")):
        assert Launcher(wrapping=broken).run(request, _never).not_started
    assert not (place.root / "new").exists()


@pytest.mark.parametrize(
    ("report", "status", "found"),
    [
        ("begun\nended 3\n", 0, 3),
        ("begun\nended -11\n", 0, -11),
        ("begun\nended 1\nended 2\n", 0, 2),
        ("begun\n", 137, -9),
        ("begun\n", 128, 128),
        ("begun\n", -9, -9),
        ("begun\nended 3", 1, 1),
        ("begun\nended 3000000\n", 1, 1),
        ("begun\n", None, None),
    ],
)
def test_a_report_says_how_a_command_ended(report: str, status: int | None, found: int) -> None:
    """confinement: Else it ended as what stands around it did."""
    assert reported_status(report, status) == found


@pytest.mark.parametrize(
    ("report", "begun"),
    [("", False), ("begun\n", True), ("begun\nfailed\n", False), ("begun\nended 1\n", True)],
)
def test_a_report_says_whether_a_command_began(report: str, begun: bool) -> None:  # noqa: FBT001 - a case
    """confinement: What ended it before it spoke has ended a command."""
    assert is_begun(report) is begun


@pytest.mark.usefixtures("unknown")
def test_where_no_confinement_is_a_command_runs_and_that_is_told(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """confinement: The event says `sandbox: none`."""
    monkeypatch.setattr(probing, "_KNOWN", (lambda _: None,))
    runner = place.runner()
    assert runner.sandbox == "none"
    request = CommandRequest(command="echo x > ../outside/new", directory=str(place.root))
    end = runner.run(request, _never)
    assert (end.exit_status, end.sandbox) == (0, "none")
    assert (place.outside / "new").exists()


def test_a_confinement_that_is_not_wanted_is_none(place: Place) -> None:
    """confinement: And is told like one that is not there."""
    runner = ConfinedRunner([place.root], place.home, confine=False)
    request = CommandRequest(command="true", directory=str(place.root))
    assert (runner.sandbox, runner.run(request, _never).sandbox) == ("none", "none")


class _Pretence:
    """A program that is there and confines nothing, or fails."""

    sandbox = "bubblewrap"
    reports = False

    def __init__(self, script: str) -> None:
        self._script = script

    def words(self, command: bytes, directory: str, report: int) -> list[str | bytes]:
        """Return the words of a script that has the command as its argument."""
        del directory, report
        return ["/bin/sh", "-c", self._script, "sh", command]


@pytest.mark.usefixtures("unknown")
@pytest.mark.parametrize(
    "script",
    [
        'exec sh -c "$1"',
        "exit 7",
        "exit 1",
        ": > written; exit 1",
        "echo 'Creating new namespace failed: Operation not permitted' >&2; exit 1",
    ],
)
def test_a_confinement_that_does_not_work_is_none(
    place: Place, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    """confinement: Present is not enough, nor is a status."""
    monkeypatch.setattr(probing, "_KNOWN", (lambda _: _Pretence(script),))
    assert place.runner().sandbox == "none"


@pytest.mark.usefixtures("unknown")
def test_what_works_is_tried_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """confinement: No command changes what is known of the machine."""
    tried: list[bool] = []

    def works(_: object, *, network: bool) -> bool:
        tried.append(network)
        return True

    monkeypatch.setattr(probing, "_KNOWN", (lambda _: _Pretence('exec sh -c "$1"'),))
    monkeypatch.setattr(probing, "_works", works)
    for network in (True, False, True, False):
        assert place.runner(network=network).sandbox == "bubblewrap"
        place.run("echo 'bwrap: Creating new namespace failed' >&2; exit 1")
    assert tried == [True, False]


@pytest.mark.usefixtures("unknown")
def test_where_nothing_can_be_tried_nothing_is_known(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """confinement: No folder for what passes, no confinement."""

    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(probing, "_KNOWN", (lambda _: _Pretence('exec sh -c "$1"'),))
    monkeypatch.setattr(probing, "TemporaryDirectory", full)
    assert place.runner().sandbox == "none"


def test_a_program_that_is_not_there_confines_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """confinement: It is looked for where a project puts nothing."""
    planted = Confinement(writable=())
    monkeypatch.setattr("counterfoil.adapters.commands.bubblewrap._PLACES", "/no/place")
    monkeypatch.setattr("counterfoil.adapters.commands.seatbelt.PROGRAM", "/no/place")
    assert (find_bubblewrap(), bubblewrap_here(planted), seatbelt_here(planted)) == (None,) * 3


def test_a_bubblewrap_on_the_path_of_a_project_is_not_taken(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """confinement: A command could have put it there."""
    planted = place.root / "bwrap"
    planted.write_text("#!/bin/sh\n", "utf-8")
    planted.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place.root}:{os.environ['PATH']}")
    assert find_bubblewrap() != str(planted)


BOUNDS = Confinement(
    writable=("/p", "/p/q/r", "/tmp"), pinned=("/p/q", "/p/x"), home="/p/x/home", network=False
)


def _after(words: list[str | bytes], *run: str) -> int:
    """Return where a run of words ends."""
    for place in range(len(words)):
        if words[place : place + len(run)] == list(run):
            return place + len(run)
    pytest.fail(f"{run} is not there")


def test_bubblewrap_is_told_the_home_last() -> None:
    """confinement: A mount may lie on one before it."""
    wrapping = Bubblewrap(
        confinement=BOUNDS, program="/b", python="/py", is_superuser=True, hidden=("/run/user",)
    )
    words = wrapping.words(b"echo", "/p/q", 8)
    order = [
        _after(words, "--ro-bind", "/", "/"),
        _after(words, "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc"),
        _after(words, "--tmpfs", "/run/user"),
        _after(words, "--bind", "/p", "/p"),
        _after(words, "--bind", "/p/q", "/p/q"),
        _after(words, "--bind", "/p/q/r", "/p/q/r"),
        _after(words, "--bind", "/p/x", "/p/x"),
        _after(words, "--bind", "/tmp", "/tmp"),
        _after(words, "--ro-bind", "/p/x/home", "/p/x/home", "--chdir", "/p/q", "--", "/py"),
    ]
    assert order == sorted(order)
    assert words[-5:] == ["8", "/bin/sh", "-c", "--", b"echo"]
    assert {"--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-net"} <= set(words)
    _after(words, "--cap-drop", "ALL", "--cap-add")


def test_bubblewrap_is_told_no_more_than_it_needs() -> None:
    """confinement: With the network, without a home below a root, as anybody."""
    wrapping = Bubblewrap(confinement=Confinement(writable=("/",)), program="/b")
    words = wrapping.words(b"echo", "/", 8)
    _after(words, "--bind", "/", "/", "--dev")
    assert words.count("--bind") == 1
    assert not {"--unshare-net", "--cap-add", "--remount-ro", "--tmpfs", "--ro-bind"} & set(words)


def test_a_profile_says_the_home_after_the_roots() -> None:
    """confinement: The last rule that fits decides."""
    lines = seatbelt_profile(replace(BOUNDS, writable=('/p "q" \\r',))).splitlines()
    order = [
        lines.index("(version 1)"),
        lines.index("(allow default)"),
        lines.index("(deny file-write*)"),
        lines.index('(allow file-write* (subpath "/p \\"q\\" \\\\r"))'),
        lines.index('(deny file-write* (literal "/p/q"))'),
        lines.index('(deny file-write* (subpath "/p/x/home"))'),
        lines.index("(deny network*)"),
    ]
    assert order == sorted(order)
    open_ = seatbelt_profile(Confinement(writable=()))
    assert "subpath" not in open_
    assert "network" not in open_
    assert open_.count("(") == open_.count(")")


def test_a_profile_goes_before_the_command() -> None:
    """confinement: `sandbox-exec` becomes the shell."""
    words = Seatbelt(confinement=BOUNDS).words(b"echo", "/p", 8)
    profile = seatbelt_profile(BOUNDS)
    expected = ["/usr/bin/sandbox-exec", "-p", profile, "/bin/sh", "-c", "--", b"echo"]
    assert words == expected


def test_folders_on_the_way_to_the_home_and_to_a_root_are_held(place: Place) -> None:
    """confinement: None of them can be moved, and another put in its stead."""
    inner, home = place.root / "a" / "b", place.root / "c" / "d" / "home"
    inner.mkdir(parents=True)
    made = confinement_of([place.root, inner], home, [place.temporary, place.root / "none"])
    real = place.root.resolve()
    assert made.writable == tuple(
        sorted(map(str, (real, real / "a" / "b", place.temporary.resolve())))
    )
    assert made.pinned == tuple(map(str, (real / "a", real / "c", real / "c" / "d")))
    assert made.home == str(real / "c" / "d" / "home")
    outside = confinement_of([inner], place.home, [])
    assert (outside.pinned, outside.home) == ((), None)


CASES: list[Callable[[Place], Confinement]] = [
    lambda place: confinement_of([], place.home, []),
    lambda place: confinement_of([place.root], place.home, [], network=False),
]


@pytest.mark.parametrize("case", CASES)
def test_what_is_where_it_was_has_not_moved(
    place: Place, case: Callable[[Place], Confinement]
) -> None:
    """confinement: A command is held up by nothing but a change."""
    assert case(place).moved() is None
