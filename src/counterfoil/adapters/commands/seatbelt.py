"""The sandbox of macOS, told by a profile what a command may write and reach.

The last rule that fits a path decides. `sandbox-exec` becomes the command, so that its
status and its signals are its own; processes that leave its group go on, still confined.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from counterfoil.adapters.commands.confinement import Confinement
from counterfoil.adapters.commands.wrapping import SHELL

PROGRAM = "/usr/bin/sandbox-exec"

_DEVICES = """\
(allow file-write*
    (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty")
    (literal "/dev/stdout") (literal "/dev/stderr") (literal "/dev/dtracehelper")
    (regex #"^/dev/fd/") (regex #"^/dev/ttys[0-9]+$"))
"""


def seatbelt_profile(confinement: Confinement) -> str:
    """Return the profile of `confinement`, in the language of the sandbox."""
    lines = ["(version 1)", "(allow default)", "(deny file-write*)", _DEVICES.rstrip()]
    lines += [f"(allow file-write* (subpath {_quoted(path)}))" for path in confinement.writable]
    lines += [f"(deny file-write* (literal {_quoted(path)}))" for path in confinement.pinned]
    if confinement.home is not None:
        lines.append(f"(deny file-write* (subpath {_quoted(confinement.home)}))")
    if not confinement.network:
        lines.append("(deny network*)")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seatbelt:
    """A confinement by `program`."""

    sandbox: ClassVar[str] = "sandbox-exec"
    reports: ClassVar[bool] = False

    confinement: Confinement
    program: str = PROGRAM

    def words(self, command: bytes, directory: str, report: int) -> list[str | bytes]:
        """Return the words that run `command`; it begins where the program does."""
        del directory, report  # it is started there, and its status is the command's
        profile = seatbelt_profile(self.confinement)
        return [self.program, "-p", profile, *SHELL, command]


def seatbelt_here(confinement: Confinement) -> Seatbelt | None:
    """Return what confines a command on this machine, `None` where the program is not."""
    return Seatbelt(confinement=confinement) if Path(PROGRAM).exists() else None


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
