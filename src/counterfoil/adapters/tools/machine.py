"""What the machine says of itself, read through psutil: no shell, nothing changed.

What may not be looked at, and what is gone by the time that it is looked at, is a row
that says so.
"""

import platform
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple, Protocol, TypeVar, cast

import psutil

from counterfoil.adapters.tools.answers import Patience, counted, quoted
from counterfoil.adapters.tools.masking import masked_command
from counterfoil.adapters.tools.roots import Roots, faults_of
from counterfoil.adapters.tools.walking import Walk, listed
from counterfoil.core.errors import UnreadableError

_KIB = 1024
_MOST_WALKED = 1_000_000
_INTERNET = frozenset({socket.AF_INET, socket.AF_INET6})

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, and by whom: `path`, `port` and `name` narrow it where they are given."""

    roots: Roots
    patience: Patience
    path: str = ""
    port: int = 0
    name: str = ""

    def names(self, name: str) -> bool:
        """Say whether `name` is one that is asked for."""
        return self.name.casefold() in name.casefold()


class _Address(Protocol):
    @property
    def ip(self) -> str: ...
    @property
    def port(self) -> int: ...


class _Connection(Protocol):
    @property
    def type(self) -> int: ...
    @property
    def laddr(self) -> _Address | None: ...
    @property
    def raddr(self) -> _Address | None: ...
    @property
    def status(self) -> str: ...
    @property
    def pid(self) -> int | None: ...


class Rows(NamedTuple):
    """An answer: a heading, rows of which the first matter most, and how to narrow them."""

    heading: str
    rows: list[str]
    narrow: str = ""


def ports(asked: Question) -> Rows:
    """Return the addresses at which somebody listens, by port."""
    found = sorted(
        {
            (at.port, at.ip, _protocol(one.type), one.pid)
            for one in _connections()
            if (at := _listens_at(one)) is not None and asked.port in {0, at.port}
        },
        key=lambda row: (row[0], row[2], row[1], row[3] or 0),
    )
    rows = [
        f"{protocol} {_address(ip)}:{port} {owner}"
        for port, ip, protocol, pid in found
        if asked.names(owner := _owner(pid))
    ]
    what = f"port {asked.port}" if asked.port else "ports"
    return Rows(f"listening on {what}: {len(rows)}", rows, "port or name")


def _connections() -> Sequence[_Connection]:
    try:
        return cast("Sequence[_Connection]", psutil.net_connections(kind="inet"))
    except psutil.AccessDenied as error:
        raise UnreadableError(
            "the system shows its connections to its administrator alone",
            advice="run_command with a program for it may be asked for",
        ) from error


def _listens_at(one: _Connection) -> _Address | None:
    is_tcp = one.type == socket.SOCK_STREAM
    listens = one.status == psutil.CONN_LISTEN if is_tcp else not one.raddr
    return one.laddr if listens and one.laddr else None


def _protocol(kind: int) -> str:
    return "tcp" if kind == socket.SOCK_STREAM else "udp"


def _address(ip: str) -> str:
    return f"[{ip}]" if ":" in ip else ip


def _owner(pid: int | None) -> str:
    if pid is None:
        return "process not shown (access denied)"
    try:
        return f"pid {pid} {psutil.Process(pid).name()}"
    except psutil.NoSuchProcess:
        return f"pid {pid} (gone)"
    except psutil.AccessDenied:
        return f"pid {pid} (access denied)"


def free_space(asked: Question) -> Rows:
    """Return what is free where file systems are mounted, or where `path` is."""
    if asked.path:
        target = asked.roots.find(asked.path)
        with faults_of(target.shown):
            row = _space("/".join([target.root.rstrip("/"), *target.names]) or "/")
        return Rows(f"free space at {quoted(target.shown)}", [row])
    places = {one.mountpoint: one.fstype for one in psutil.disk_partitions(all=False)}
    places.setdefault("/", "root")
    rows = [_space_row(place, kind) for place, kind in sorted(places.items())]
    return Rows(f"file systems: {len(rows)}", rows, "path")


def _space_row(place: str, kind: str) -> str:
    try:
        return f"{place} ({kind}): {_space(place)}"
    except OSError as error:
        return f"{place} ({kind}): cannot be read: {error.strerror}"


def _space(place: str) -> str:
    found = psutil.disk_usage(place)
    return f"{size_text(found.free)} free of {size_text(found.total)}, {found.percent:.0f} % used"


def folder_sizes(asked: Question) -> Rows:
    """Return how much the files below each folder in `path` hold, the largest first."""
    target = asked.roots.find(asked.path or ".")
    sizes = {found.names[0]: 0 for found in listed(target) if found.kind == "folder"}
    own = 0
    seen: set[tuple[int, int]] = set()
    walk = Walk(target, asked.patience, most=_MOST_WALKED, passes_over=frozenset())
    for found in walk:
        if found.kind != "file" or found.identity in seen:  # a hard link takes no space
            continue
        seen.add(found.identity)
        if len(found.names) > 1:
            sizes[found.names[0]] = sizes.get(found.names[0], 0) + found.size
        else:
            own += found.size
    rows = [
        f"{size_text(size)} {target.below([name]).shown}/"
        for name, size in sorted(sizes.items(), key=lambda row: (-row[1], row[0]))
        if asked.names(name)
    ]
    total = size_text(own + sum(sizes.values()))
    notes = "" if walk.is_whole else ", as far as it was walked: at least"
    if walk.unreadable:
        notes += f", without {counted(walk.unreadable, 'folder')} that cannot be read"
    heading = (
        f"{quoted(target.shown)}: {total} in files{notes}; {counted(len(sizes), 'folder')} in it,"
        f" {size_text(own)} in files beside them"
    )
    return Rows(heading, rows, "path or name")


def processes(asked: Question) -> Rows:
    """Return the processes, those that hold most memory first."""
    found = [_process(pid) for pid in psutil.pids()]
    chosen = [row for row in found if asked.names(row.name)]
    chosen.sort(key=lambda row: (-row.memory, row.pid))
    return Rows(f"processes: {len(chosen)}", [row.text for row in chosen], "name")


class _Process(NamedTuple):
    pid: int
    name: str
    memory: int
    text: str


def _process(pid: int) -> _Process:
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            return _process_row(process)
    except psutil.NoSuchProcess:
        return _Process(pid, "", -1, f"pid {pid} (gone)")
    except psutil.AccessDenied:
        return _Process(pid, "", -1, f"pid {pid} (access denied)")


def _process_row(process: psutil.Process) -> _Process:
    """Return what is shown of a process; one thing that is denied hides no other."""
    name = _said(process.name) or "name not shown"
    held = _said(lambda: process.memory_info().rss)
    words = _said(process.cmdline)
    command = masked_command(words) if words else "no command line"
    parts = [
        f"pid {process.pid} {name}",
        _said(process.username) or "user not shown",
        "memory not shown" if held is None else size_text(held),
        str(_said(process.status)),
        "command not shown" if words is None else command,
    ]
    return _Process(process.pid, name, held or 0, ", ".join(parts))


def _said(asking: Callable[[], T]) -> T | None:
    try:
        return asking()
    except (psutil.AccessDenied, psutil.ZombieProcess):
        return None


def memory(asked: Question) -> Rows:
    """Return how much memory and swap there is and is left."""
    del asked
    main, swap = psutil.virtual_memory(), psutil.swap_memory()
    rows = [
        f"memory: {size_text(main.available)} available of {size_text(main.total)}",
        f"swap: {size_text(swap.free)} free of {size_text(swap.total)}",
    ]
    return Rows("memory", rows)


def system(asked: Question) -> Rows:
    """Return what machine and system this is."""
    del asked
    started = datetime.fromtimestamp(psutil.boot_time(), UTC)
    load = ", ".join(f"{part:.2f}" for part in psutil.getloadavg())
    rows = [
        f"system: {platform.system()} {platform.release()} ({platform.machine()})",
        f"host: {platform.node()}",
        f"processors: {psutil.cpu_count()} ({psutil.cpu_count(logical=False) or '?'} cores)",
        f"load over 1, 5 and 15 minutes: {load}",
        f"running since {started:%Y-%m-%d %H:%M:%S} UTC",
        f"Python {platform.python_version()}",
    ]
    return Rows("system", rows)


def network(asked: Question) -> Rows:
    """Return the interfaces with their addresses."""
    states = psutil.net_if_stats()
    rows: list[str] = []
    for name, addresses in sorted(psutil.net_if_addrs().items()):
        if asked.names(name):
            shown = [one.address for one in addresses if one.family in _INTERNET]
            state = states.get(name)
            is_up = "state not shown" if state is None else "up" if state.isup else "down"
            rows.append(f"{name} ({is_up}): {', '.join(shown) or 'no address'}")
    return Rows(f"interfaces: {len(rows)}", rows, "name")


def size_text(count: float) -> str:
    """Return a number of bytes as a person says it.

    >>> size_text(1023), size_text(1536), size_text(3 * 2**40)
    ('1023 bytes', '1.5 KiB', '3.0 TiB')
    """
    if count < _KIB:
        return f"{count:.0f} bytes"
    for unit in ("KiB", "MiB", "GiB"):
        count /= _KIB
        if count < _KIB:
            return f"{count:.1f} {unit}"
    return f"{count / _KIB:.1f} TiB"


TOPICS: Mapping[str, Callable[[Question], Rows]] = {
    "ports": ports,
    "free_space": free_space,
    "folder_sizes": folder_sizes,
    "processes": processes,
    "memory": memory,
    "system": system,
    "network": network,
}
