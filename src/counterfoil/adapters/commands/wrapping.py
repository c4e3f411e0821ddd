"""What is put around a command of an agent: a confinement, or nothing."""

from typing import ClassVar, Protocol

SHELL = ("/bin/sh", "-c", "--")
"""The words before a command, which is none of the shell's options, whatever it begins with."""


class Wrapping(Protocol):
    """A confinement that is put around a command; `reports` if it reports how that ended."""

    sandbox: ClassVar[str]
    reports: ClassVar[bool]

    def words(self, command: bytes, directory: str, report: int) -> list[str | bytes]:
        """Return the words that run `command` in the real `directory`, confined.

        One that reports writes to the descriptor `report`, a line each: `begun` before it
        starts the command, then `failed`, or `ended` with the status.
        """
        ...


class Unconfined:
    """No confinement."""

    sandbox: ClassVar[str] = "none"
    reports: ClassVar[bool] = False

    def words(self, command: bytes, directory: str, report: int) -> list[str | bytes]:
        """Return the words that run `command`, which begins where the shell does."""
        del directory, report
        return [*SHELL, command]
