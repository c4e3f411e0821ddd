"""Which confinement really works on this machine: tried once, by what it leaves on disk.

A program that is there may have been forbidden its work (in a container, by a policy of
the kernel). So a fixed command tries to write where it may and where it may not, and the
files tell; what a command prints decides nothing, here or later.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TypeAlias

from counterfoil.adapters.commands.bubblewrap import bubblewrap_here
from counterfoil.adapters.commands.confinement import Confinement
from counterfoil.adapters.commands.launching import Launcher
from counterfoil.adapters.commands.seatbelt import seatbelt_here
from counterfoil.adapters.commands.wrapping import Unconfined, Wrapping
from counterfoil.ports.tools import CommandRequest

Confine: TypeAlias = Callable[[Confinement], Wrapping | None]

_PROBE = "(: > ../outside/written) 2>/dev/null; : > written && exit 7"
_STATUS = 7
_SECONDS = 10.0

_KNOWN: tuple[Confine, ...] = (bubblewrap_here, seatbelt_here)

_found: dict[tuple[str, bool], bool] = {}
_one_at_a_time = Lock()


def wrapping_of(confinement: Confinement) -> Wrapping:
    """Return what confines a command as `confinement` says, or no confinement at all."""
    for confine in _KNOWN:
        wrapping = confine(confinement)
        if wrapping is not None and _is_known_to_work(wrapping.sandbox, confine, confinement):
            return wrapping
    return Unconfined()


def _is_known_to_work(sandbox: str, confine: Confine, confinement: Confinement) -> bool:
    key = (sandbox, confinement.network)
    with _one_at_a_time:
        if key not in _found:
            _found[key] = _works(confine, network=confinement.network)
        return _found[key]


def _works(confine: Confine, *, network: bool) -> bool:
    """Try whether a command writes where it may and nowhere else."""
    with suppress(OSError), TemporaryDirectory(prefix="counterfoil-") as made:
        inside, outside = Path(made).resolve() / "inside", Path(made).resolve() / "outside"
        inside.mkdir()
        outside.mkdir()
        wrapping = confine(Confinement(writable=(str(inside),), network=network))
        if wrapping is None:
            return False
        request = CommandRequest(command=_PROBE, directory=str(inside), seconds=_SECONDS)
        ended = Launcher(wrapping=wrapping).run(request, lambda: False)
        is_written = (inside / "written").exists(), (outside / "written").exists()
        return ended.exit_status == _STATUS and is_written == (True, False)
    return False
