"""A place where commands run: bounded in time and output, and on their own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from counterfoil.core.knowledge.grading import Execution


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandBounds:
    """Where a command runs and what it may use.

    `environment` is all that it gets, `directory` where it begins. Past `seconds` it is
    ended with everything that it started; of what it says `size` bytes are kept.
    """

    directory: str
    environment: Mapping[str, str]
    seconds: float = 30.0
    size: int = 1 << 20


class CommandRunner(Protocol):
    """Runs commands of a shell, each to its end or to its bound."""

    def run(self, command: str, bounds: CommandBounds) -> Execution:
        """Return how `command` ended; one that cannot be started is an answer too.

        Raises:
            UnavailableError: No command can run here at all.
        """
        ...
