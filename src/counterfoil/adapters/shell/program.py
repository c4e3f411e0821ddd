"""The program `shfmt`, run with bounds: so much text, so much output, so many seconds."""

import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from tempfile import TemporaryFile
from threading import Timer

from counterfoil.core.errors import UnavailableError

PACKAGE = "shfmt-py"

LONGEST_OUTPUT = 1 << 24
"""Bytes of a syntax tree; a deeper or longer one counts as unread."""

SECONDS = 3.0
"""Seconds for one reading; past them the text counts as unread."""

TOO_DEEP = "it is nested too deep to be read"
_TOO_SLOW = "reading it takes too long"
OUT_OF_BOUNDS = frozenset({TOO_DEEP, _TOO_SLOW})
"""The faults of a text that was given up."""


def shfmt_path() -> str:
    """Return where the package keeps its program.

    Raises:
        UnavailableError: The package is not installed.
    """
    name = "shfmt.exe" if sys.platform == "win32" else "shfmt"
    try:
        files = distribution(PACKAGE).files or ()
    except PackageNotFoundError:
        files = ()
    for file in files:
        if file.name == name:
            return str(file.locate())
    raise UnavailableError(
        f"no {PACKAGE} is installed, which reads shell commands",
        advice="pip install 'counterfoil[agent]'",
    )


def syntax_tree(arguments: Sequence[str], text: bytes) -> tuple[bytes, str]:
    """Return the tree of `text` that `arguments` print, and the fault where there is none.

    Raises:
        UnavailableError: The program cannot be started.
    """
    with TemporaryFile() as source:
        source.write(text)
        source.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - the program of our own dependency
                arguments,
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={},
                cwd="/",
            )
        except OSError as error:
            raise UnavailableError(f"{arguments[0]} cannot be started: {error.strerror}") from error
        return _bounded(process)


def _bounded(process: subprocess.Popen[bytes]) -> tuple[bytes, str]:
    timer = Timer(SECONDS, process.kill)
    timer.start()
    with process:
        try:
            assert process.stdout is not None  # noqa: S101 - it was asked for
            output = process.stdout.read(LONGEST_OUTPUT + 1)
            if len(output) > LONGEST_OUTPUT:
                process.kill()
                return b"", TOO_DEEP
        finally:
            timer.cancel()
    if process.returncode < 0:
        return b"", _TOO_SLOW
    if process.returncode:
        return b"", output.decode("utf-8", "replace").strip()[:200]
    return output, ""
