"""Commands of an agent: each in a process group of its own, confined where that works."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from counterfoil.adapters.commands.confinement import confinement_of
from counterfoil.adapters.commands.environment import environment_of
from counterfoil.adapters.commands.launching import Launcher
from counterfoil.adapters.commands.probing import wrapping_of
from counterfoil.adapters.commands.wrapping import Unconfined, Wrapping
from counterfoil.ports.tools import CommandEnd, CommandRequest

_TEMPORARY = "/tmp"  # noqa: S108 - the folder itself, and nothing of a known name in it


class ConfinedRunner:
    """A `ToolRunner` whose commands write below `writable` and temporary folders alone.

    The roots are what they are when it is made, whatever directory a command begins in.
    The `home` of Counterfoil is never written to. Where no confinement works, `sandbox`
    is `none` and commands run all the same, each still in a group of its own.
    """

    def __init__(
        self,
        writable: Sequence[Path],
        home: Path,
        *,
        network: bool = True,
        confine: bool = True,
        environment: Sequence[str] = (),
    ) -> None:
        """Hand on the variables named in `environment`, besides those every program needs.

        Raises:
            NotFoundError: A writable root is no folder that exists.
            ConflictError: A root lies in the home, or a command could replace the home.
        """
        self._environment = environment_of(os.environ, environment)
        temporary = {Path(_TEMPORARY), Path(os.environ.get("TMPDIR") or _TEMPORARY)}
        self._confinement = confinement_of(writable, home, temporary, network=network)
        self._confine = confine

    @property
    def sandbox(self) -> str:
        """The confinement of a command here: `bubblewrap`, `sandbox-exec` or `none`."""
        return self._wrapping().sandbox

    def run(self, request: CommandRequest, is_cancelled: Callable[[], bool]) -> CommandEnd:
        """Return how the command of `request` ended, or why it did not start."""
        wrapping = self._wrapping()
        moved = self._confinement.moved() if wrapping.sandbox != "none" else None
        if moved is not None:
            why = f"{moved!r} is not the folder any more that it was, to which writing is confined"
            return CommandEnd(not_started=why, sandbox=wrapping.sandbox)
        return Launcher(wrapping=wrapping, environment=self._environment).run(request, is_cancelled)

    def _wrapping(self) -> Wrapping:
        return wrapping_of(self._confinement) if self._confine else Unconfined()
