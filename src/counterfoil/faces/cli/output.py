"""Where text and JSON go: UTF-8 whatever the locale, colour only where it is wanted.

Lines are sequences of `(text, style)` parts. Rich draws them on a terminal; into a file
or a pipe they are written as they are, and Rich is not even imported.
"""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO, TypeAlias

if TYPE_CHECKING:  # an import that costs a tenth of a second, for its type alone
    from rich.console import Console

Part: TypeAlias = tuple[str, str]
Line: TypeAlias = Sequence[Part]

NARROWEST = 40
_UNMEASURED = 100


class Output:
    """Standard output for one command."""

    def __init__(self, color: str) -> None:
        """Write to standard output; `color` is `auto`, `always` or `never`."""
        self._console = _console(sys.stdout) if _is_wanted(color, sys.stdout) else None

    @property
    def width(self) -> int:
        """Characters to a line; a file has no width, and gets a common one."""
        return max(NARROWEST, self._console.width) if self._console else _UNMEASURED

    def line(self, *parts: Part) -> None:
        """Write one line."""
        if self._console is None:
            sys.stdout.write("".join(text for text, _ in parts) + "\n")
            return
        from rich.text import Text  # noqa: PLC0415 - only where it is drawn

        self._console.print(Text.assemble(*parts), soft_wrap=True)

    def lines(self, lines: Iterable[Line]) -> None:
        """Write lines, in order."""
        for line in lines:
            self.line(*line)

    def data(self, parts: Iterable[bytes]) -> None:
        """Write bytes, ended by a line feed."""
        sys.stdout.flush()
        for part in parts:
            sys.stdout.buffer.write(part)
        sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()


def _is_wanted(color: str, stream: TextIO) -> bool:
    """NO_COLOR takes colour away unless it was asked for; https://no-color.org."""
    if color != "auto":
        return color == "always"
    return stream.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")


def _console(stream: TextIO) -> "Console":
    from rich.console import Console  # noqa: PLC0415 - only where it is drawn

    return Console(
        file=stream, force_terminal=True, highlight=False, markup=False, emoji=False, no_color=False
    )


def print_json(value: Mapping[str, object]) -> None:
    """Write one JSON document of schema 1."""
    from counterfoil.wire.check import encode_json  # noqa: PLC0415 - only for JSON

    Output("never").data([encode_json({"schema": 1, **value})])


def say(text: str) -> None:
    """Tell the person something that is no result: on standard error."""
    sys.stderr.write(f"{text}\n")
