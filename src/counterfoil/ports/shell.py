"""What the gate needs to know of a command before it runs: its simple commands."""

from typing import Protocol

from counterfoil.core.gate.commands import ParsedCommand


class ShellParser(Protocol):
    """Reads commands as `/bin/sh` does; it runs nothing."""

    def parse(self, text: str) -> ParsedCommand:
        """Return the simple commands of `text`.

        What cannot be read, or is read differently by different shells, is an answer
        that is not whole; no text is an exception.

        Raises:
            UnavailableError: No command can be read here at all.
        """
        ...
