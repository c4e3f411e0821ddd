"""Where a conversation is written: the reply to standard output, all else to standard error.

On a terminal the reply comes as the model says it. Into a pipe it goes once it is known
to be the reply, so that a text before a call never gets there.
"""

import os
import sys
from collections.abc import Iterable
from typing import TextIO

import click

from counterfoil.core.plain import plain
from counterfoil.faces.cli.output import Line, Part


class Voice:
    """Writes one conversation."""

    def __init__(self, color: str) -> None:
        """Write to the standard streams as they are now; `color` as in the settings."""
        self._reply, self._talk = sys.stdout, sys.stderr
        self._color = _is_coloured(color, self._talk)
        self._streams = self._reply.isatty()
        self._said: list[str] = []
        self._is_midline = False

    def begin(self) -> None:
        """Begin an answer: what was said before was not the reply."""
        self._end_line()
        self._said = []

    def hear(self, text: str) -> None:
        """Show a piece of an answer while it comes, where a person looks on."""
        if self._streams and text:
            self._said.append(text)
            self._write(text)

    def reply(self, text: str) -> None:
        """Write the reply, or what is still lacking of it, and end its line."""
        said, self._said = "".join(self._said), []
        if text.startswith(said):
            self._write(text[len(said) :])
        else:  # what was heard is not what was meant
            self._end_line()
            self._write(text)
        self._end_line()

    def tell(self, *parts: Part) -> None:
        """Write a line that is no reply."""
        self._end_line()
        text = "".join(self._styled(part) for part in parts)
        self._talk.write(f"{text}\n")
        self._talk.flush()

    def tell_all(self, lines: Iterable[Line]) -> None:
        """Write lines that are no reply."""
        for line in lines:
            self.tell(*line)

    def ask(self, text: str) -> None:
        """Write what stands before an answer, on its line."""
        self._end_line()
        self._talk.write(text)
        self._talk.flush()

    def _write(self, text: str) -> None:
        if text:
            self._reply.write(plain(text))
            self._reply.flush()
            self._is_midline = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._is_midline:
            self._reply.write("\n")
            self._reply.flush()
            self._is_midline = False

    def _styled(self, part: Part) -> str:
        text, style = part
        if not self._color or not style:
            return text
        words = style.split()
        color = next((word for word in words if word not in {"bold", "dim"}), None)
        return click.style(text, fg=color, bold="bold" in words or None, dim="dim" in words or None)


def _is_coloured(color: str, stream: TextIO) -> bool:
    """NO_COLOR takes colour away unless it was asked for; https://no-color.org."""
    if color != "auto":
        return color == "always"
    return stream.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")
