"""The tool `system_info`: what this machine says, what it denies, and what is a secret."""

import os
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path

import psutil
import pytest

from counterfoil.adapters.tools import machine
from counterfoil.adapters.tools.masking import is_secret_name, masked, masked_command, masked_words
from counterfoil.adapters.tools.roots import Roots
from counterfoil.adapters.tools.system_info import ROWS, SystemInfoTool
from counterfoil.core.ids import ThreadId
from counterfoil.ports.tools import CallContext, ToolAnswer

CONTEXT = CallContext(thread=ThreadId("t1"), turn=1, call="c1")
Ask = Callable[..., ToolAnswer]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def ask(root: Path) -> Ask:
    tool = SystemInfoTool(Roots([root], base=root))

    def call(topic: str, **arguments: object) -> ToolAnswer:
        return tool.run({"topic": topic, **arguments}, CONTEXT)

    return call


@pytest.mark.parametrize("topic", machine.TOPICS)
def test_every_topic_answers_within_its_bounds(topic: str, ask: Ask) -> None:
    """agent-tools: 15 rows, 4 KiB, and the exact count of the others."""
    answer = ask(topic)
    assert answer.outcome == "ok"
    assert len(answer.output.encode()) <= 4096
    assert len(answer.output.split("\n")) <= 1 + ROWS + 1
    assert (answer.truncated is True) is ("\n[more: " in answer.output)


def test_a_port_that_is_listened_on_is_shown(ask: Ask) -> None:
    """agent-tools: Ports, narrowed by number."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        output = ask("ports", port=port).output
        assert output.startswith(
            f"listening on port {port}: 1\ntcp 127.0.0.1:{port} pid {os.getpid()} "
        )
        assert ask("ports", port=port, name="no such program").output.endswith(": 0")
    assert ask("ports", port=port).output == f"listening on port {port}: 0"


class _At:
    def __init__(self, ip: str, port: int) -> None:
        self.ip, self.port = ip, port


class _Connection:
    def __init__(
        self, at: _At, *, pid: int | None = None, udp: bool = False, status: str = "LISTEN"
    ) -> None:
        self.type = socket.SOCK_DGRAM if udp else socket.SOCK_STREAM
        self.laddr, self.raddr = at, None
        self.pid, self.status = pid, "NONE" if udp else status


@pytest.mark.parametrize(("count", "left_out"), [(14, 0), (15, 0), (16, 1)])
def test_rows_are_bounded_and_the_others_counted(
    count: int, left_out: int, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """agent-tools: One row under the bound, at it, one over."""
    found = [_Connection(_At("::1", port), udp=True) for port in range(9000, 9000 + count)]
    found.append(_Connection(_At("1.1.1.1", 5), status="ESTABLISHED"))
    monkeypatch.setattr(psutil, "net_connections", lambda **_: found)
    heading, first, *rest = ask("ports").output.split("\n")
    assert heading == f"listening on ports: {count}"
    assert first == "udp [::1]:9000 process not shown (access denied)"
    end = f"[more: {left_out} of {count} rows are left out; narrow port or name]"
    assert len(rest) == min(count, 15) - 1 + bool(left_out)
    assert (rest[-1] == end) is bool(left_out)


def test_what_is_denied_or_gone_is_a_row(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """agent-tools: Access denied and vanished processes are rows."""

    def process(pid: int) -> psutil.Process:
        if pid == 8:
            raise psutil.NoSuchProcess(pid)
        if pid == 9:
            raise psutil.AccessDenied(pid)
        return real(pid)

    def denied(_: object) -> object:
        raise psutil.AccessDenied

    real = psutil.Process
    mine = os.getpid()
    monkeypatch.setattr(psutil, "Process", process)
    monkeypatch.setattr(psutil, "pids", lambda: [8, 9, mine])
    monkeypatch.setattr(real, "oneshot", lambda _: nullcontext())
    for name in ("cmdline", "username", "memory_info"):
        monkeypatch.setattr(real, name, denied)
    found = [_Connection(_At("1.1.1.1", pid), pid=pid) for pid in (8, 9)]
    monkeypatch.setattr(psutil, "net_connections", lambda **_: found)
    output = ask("processes").output
    assert "pid 8 (gone)" in output
    assert "pid 9 (access denied)" in output
    assert "user not shown, memory not shown, " in output
    assert "command not shown" in output
    assert ask("ports").output.endswith("pid 8 (gone)\ntcp 1.1.1.1:9 pid 9 (access denied)")


def test_connections_that_are_denied_are_an_answer(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """agent-tools: macOS shows them to its administrator alone."""

    def denied(**_: object) -> object:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil, "net_connections", denied)
    answer = ask("ports")
    assert answer.outcome == "error"
    assert "administrator" in answer.output


def test_a_command_line_is_shown_without_its_secrets(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """agent-tools: Command lines are shown, and what looks like a secret is not."""
    words = ["serve\x1b[31m", "--token", "hunter2", "API_KEY=hun ter2", "https://me:hunter2@host/"]
    monkeypatch.setattr(psutil.Process, "cmdline", lambda _: words)
    monkeypatch.setattr(psutil, "pids", lambda: [os.getpid()])
    output = ask("processes", name="").output
    assert "hunter2" not in output
    assert "ter2" not in output
    assert "--token *** API_KEY=*** https://***@host/" in output
    assert "\x1b" not in output


def test_processes_are_narrowed_by_name(ask: Ask) -> None:
    """agent-tools: By part of a name, whatever its case."""
    name = psutil.Process().name()
    assert f"pid {os.getpid()} {name}, " in ask("processes", name=name.upper()).output or (
        "[more: " in ask("processes", name=name).output
    )
    assert ask("processes", name="no such program").output == "processes: 0"


def test_sizes_of_folders_are_of_what_is_below_them(root: Path, ask: Ask) -> None:
    """agent-tools: The largest first; links and hard links take no space."""
    for name, size in (("a", 10), ("b/c/d", 3000), ("b", 1), (".git", 500)):
        (root / name).mkdir(parents=True, exist_ok=True)
        (root / name / "file").write_bytes(b"x" * size)
    os.link(root / "b" / "file", root / "b" / "again")
    (root / "own").write_bytes(b"x" * 7)
    (root / "link").symlink_to("b")
    assert ask("folder_sizes").output == (
        '".": 3.4 KiB in files; 3 folders in it, 7 bytes in files beside them\n'
        "2.9 KiB b/\n500 bytes .git/\n10 bytes a/"
    )
    assert ask("folder_sizes", path="b").output.endswith("\n2.9 KiB b/c/")
    assert ask("folder_sizes", name="A").output.endswith("beside them\n10 bytes a/")


def test_paths_stay_below_the_roots(root: Path, ask: Ask) -> None:
    """agent-tools: Free space and sizes too."""
    assert ask("free_space", path=".").output.startswith('free space at "."\n')
    assert " free of " in ask("free_space", path=".").output
    for topic in ("free_space", "folder_sizes"):
        assert "is outside" in ask(topic, path="..").output
        assert "nothing is at" in ask(topic, path="nope").output
    (root / "a").touch()
    assert ask("folder_sizes", path="a").outcome == "error"


def test_a_file_system_that_cannot_be_read_is_a_row(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """agent-tools: One that is denied hides no other."""

    def usage(_: str) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(psutil, "disk_usage", usage)
    assert "/ (" in ask("free_space").output
    assert "cannot be read: Permission denied" in ask("free_space").output


def test_network_shows_addresses(ask: Ask) -> None:
    """agent-tools: Interfaces, narrowed by name."""
    assert "127.0.0.1" in ask("network", name="lo").output
    assert ask("network", name="no such one").output == "interfaces: 0"


@pytest.mark.parametrize(
    "arguments",
    [
        {"topic": "weather"},
        {"topic": "memory", "path": "."},
        {"topic": "processes", "port": 80},
        {"topic": "ports", "path": "."},
        {"topic": "ports", "port": 65536},
        {"topic": "ports", "port": -1},
        {"topic": "ports", "name": 5},
    ],
)
def test_what_cannot_be_meant_is_an_error(arguments: Mapping[str, object], root: Path) -> None:
    """agent-tools: Words that name what is accepted."""
    answer = SystemInfoTool(Roots([root], base=root)).run(arguments, CONTEXT)
    assert answer.outcome == "error"


def test_a_port_may_be_the_last_one_and_what_is_empty_is_not_asked(ask: Ask) -> None:
    """agent-tools: At the bound; small models fill in what they need not."""
    assert ask("ports", port=65535).outcome == "ok"
    assert ask("memory", path="", port=0, name="").outcome == "ok"


def test_without_the_library_the_answer_names_the_extra(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """agent-tools: A missing extra is one clear line naming the install command."""
    monkeypatch.delattr("counterfoil.adapters.tools.machine")
    monkeypatch.delitem(sys.modules, "counterfoil.adapters.tools.machine")
    monkeypatch.setitem(sys.modules, "psutil", None)
    answer = ask("memory")
    assert answer.outcome == "error"
    assert answer.output == (
        "system_info needs the package psutil (hint: pip install 'counterfoil[agent]')"
    )


@pytest.mark.parametrize(
    "secret",
    [
        "curl -H 'Authorization: Bearer SECRETSECRET x'",
        "curl -H Authorization:SECRETSECRET",
        "curl -u me:SECRETSECRET https://host",
        "curl https://SECRETSECRET@host/x",
        "curl https://me:SECRET/SECRET@host/x?access_token=SECRETSECRET&b=1",
        "mysql -pSECRETSECRET -h host",
        "sshpass -p SECRETSECRET ssh host",
        "serve --password=SECRETSECRET",
        "serve --db-password SECRETSECRET",
        "serve --password 'SECRETSECRET SECRETSECRET'",
        'serve --password="SECRETSECRET SECRETSECRET"',
        "env AWS_SECRET_ACCESS_KEY=SECRETSECRET run",
        "bash -c 'export TOKEN=SECRETSECRET; run'",
        '{"api_key": "SECRETSECRET"}',
        "x ghp_SECRETSECRET1 y",
        "x sk-SECRETSECRET-1 y",
        "x eyJSECRETSECRET.SECRETSECRET.SECRETSECRET y",
        "x AKIASECRETSECRET y",
        "x SECRETSECRET0123456789SECRETSECRET y",
    ],
)
def test_what_looks_like_a_secret_is_masked(secret: str) -> None:
    """agent-tools: As an option, a variable, a header, in a URL, by its look."""
    assert "SECRET" not in masked(secret).replace("AWS_SECRET_ACCESS_KEY", "")
    assert "***" in masked(secret)


@pytest.mark.parametrize(
    "plain",
    [
        "python -m http.server 8000",
        "ssh -p 22 host",
        "sh -c 'ls -l'",
        "/nix/store/0123456789abcdefghijklmnopqrstuvwxyz/bin/x --port=80 LANG=C",
        "https://host/path?page=2",
    ],
)
def test_what_does_not_is_shown(plain: str) -> None:
    """agent-tools: What a process does is to be seen."""
    assert masked(plain) == plain


def test_words_of_a_command_line_hide_whole_values() -> None:
    """agent-tools: A value with spaces is one value."""
    words = ["run", "--api-key", "a b c", "PASSWORD=d e f", "--token", "--other", "x y"]
    assert masked_command(words) == "run --api-key *** PASSWORD=*** --token --other 'x y'"
    assert masked_words(words)[:4] == ["run", "--api-key", "***", "PASSWORD=***"]
    assert is_secret_name("clientSecret")
    assert not is_secret_name("model")


def test_masking_takes_no_time() -> None:
    """agent-tools: A command line may be long and hostile."""
    for word in ("a" * 200_000, "key" * 70_000, "-p " * 70_000, "'" * 200_000, "a:" * 100_000):
        assert len(masked(word)) < 10_000


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1.0 KiB"),
        (1 << 20, "1.0 MiB"),
        (1 << 30, "1.0 GiB"),
        (1 << 50, "1024.0 TiB"),
    ],
)
def test_a_size_is_said_as_people_say_it(count: int, text: str) -> None:
    """agent-tools: A size has its unit."""
    assert machine.size_text(count) == text
