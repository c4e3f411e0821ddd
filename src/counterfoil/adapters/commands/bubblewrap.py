"""Bubblewrap, by which Linux gives a command namespaces of its own.

Everything is read-only but the writable places; the home of Counterfoil is read-only
even in one of them. `/dev` and `/proc` are its own, and so are its processes: what is
left of them when the command is over ends with it, wherever it went. The sockets of the
user's own services (`/run/user`) are out of its sight: who may give orders to a service
that is not confined is not confined either.

Bubblewrap tells neither a signal from the status that a shell makes of one nor a
command that failed from its own failure. So a reporter runs inside, starts the command
and writes both to a pipe. The request to end a group (SIGTERM) is for the command alone:
all that stands around it ignores it, for with Bubblewrap the command would end at once.
"""

import os
import re
import shutil
import sys
from dataclasses import dataclass
from typing import ClassVar

from counterfoil.adapters.commands.confinement import Confinement
from counterfoil.adapters.commands.wrapping import SHELL

_PLACES = "/usr/bin:/bin:/usr/local/bin:/run/wrappers/bin:/run/current-system/sw/bin"
"""Where it is looked for: not on the `PATH`, on which a project has folders of its own."""

_HIDDEN = "/run/user"

_UNDISTURBED = ("/bin/sh", "-c", 'trap "" TERM; exec "$@"', "sh")

_REPORTER = """\
import os, signal, sys
report = int(sys.argv[1])
os.set_inheritable(report, False)
words = sys.argv[2:]
plain = [signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ]
os.write(report, b"begun\\n")
try:
    child = os.posix_spawn(words[0], words, os.environ, setsigdef=plain)
except OSError as error:
    os.write(report, b"failed\\n")
    sys.exit(str(error))
status = os.waitpid(child, 0)[1]
os.write(report, b"ended %d\\n" % os.waitstatus_to_exitcode(status))
"""

_FAILED = "failed\n"
_ENDED = re.compile(r"ended (-?[0-9]{1,3})\n\Z")

_SIGNALLED = 128

_OF_A_SUPERUSER = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER")
"""What root keeps: to write into the roots whoever owns what is there."""


def find_bubblewrap() -> str | None:
    """Return the path of the program, `None` where it is not."""
    return shutil.which("bwrap", path=_PLACES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bubblewrap:
    """A confinement by `program`, under `python` as reporter."""

    sandbox: ClassVar[str] = "bubblewrap"
    reports: ClassVar[bool] = True

    confinement: Confinement
    program: str
    python: str = sys.executable
    is_superuser: bool = False
    hidden: tuple[str, ...] = ()

    def words(self, command: bytes, directory: str, report: int) -> list[str | bytes]:
        """Return the words that run `command` in the real `directory`.

        How it ended is written to the descriptor `report`.
        """
        reporter = (self.python, "-I", "-S", "-X", "utf8", "-c", _REPORTER, str(report))
        arguments = (*self._namespaces(), *self._mounts(), "--chdir", directory)
        return [*_UNDISTURBED, self.program, *arguments, "--", *reporter, *SHELL, command]

    def _namespaces(self) -> list[str]:
        words = ["--die-with-parent", "--unshare-pid", "--unshare-ipc"]
        if not self.confinement.network:
            words.append("--unshare-net")
        words += ["--cap-drop", "ALL"]
        if self.is_superuser:
            words += [word for name in _OF_A_SUPERUSER for word in ("--cap-add", name)]
        return words

    def _mounts(self) -> list[str]:
        """Return the mounts, each of which may lie on one before it: so the home comes last."""
        places = self.confinement.writable
        words = ["--bind" if "/" in places else "--ro-bind", "/", "/"]
        words += ["--dev", "/dev", "--proc", "/proc"]
        if self.is_superuser:  # who owns the switches of the kernel below `/proc/sys`
            words += ["--remount-ro", "/proc"]
        for place in self.hidden:
            words += ["--tmpfs", place]
        for place in sorted({*places, *self.confinement.pinned} - {"/"}):
            words += ["--bind", place, place]
        if self.confinement.home is not None:
            words += ["--ro-bind", self.confinement.home, self.confinement.home]
        return words


def bubblewrap_here(confinement: Confinement) -> Bubblewrap | None:
    """Return what confines a command on this machine, `None` where the program is not."""
    program = find_bubblewrap()
    if program is None or not sys.executable:
        return None
    return Bubblewrap(
        confinement=confinement,
        program=program,
        is_superuser=os.geteuid() == 0,
        hidden=(_HIDDEN,) if os.path.isdir(_HIDDEN) else (),  # noqa: PTH112
    )


def is_begun(report: str) -> bool:
    """Say whether the command began by its `report`, which is written before it could speak."""
    return bool(report) and not report.endswith(_FAILED)


def reported_status(report: str, status: int | None) -> int | None:
    """Return how the command ended by its `report`, else by the `status` of Bubblewrap."""
    if ended := _ENDED.search(report):
        return int(ended[1])
    if status is not None and status > _SIGNALLED:  # the reporter itself was ended
        return _SIGNALLED - status
    return status
