"""The command line.

Exit codes: 0 nothing to report, 1 an error found, 2 misuse, 3 could not tell.
"""

import os
import sys
from collections.abc import Sequence

import click

from counterfoil.core.errors import (
    ConflictError,
    CounterfoilError,
    InvalidIdError,
    NotFoundError,
)
from counterfoil.core.settings import ConfigurationError
from counterfoil.core.version import VERSION
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.groups import LazyGroup

FOUND, MISUSE, CANNOT_TELL, INTERRUPTED, CLOSED_PIPE = 1, 2, 3, 130, 141

_COMMANDS = {
    "check": "Check a session: what ran, and which references the record does not hold.",
    "receipt": "Print the receipt of a turn, or of every turn.",
    "show": "Print what stands at a place of a session.",
    "explain": "Say why each reference at a place was judged so.",
    "transcripts": "List the sessions found on this machine.",
    "formats": "Print what each format can show, and what it cannot.",
    "chat": "Talk to a model, with what ran and what is not there under each reply.",
    "tui": "Talk to a model, or browse a checked session, on the screen.",
    "threads": "List the threads in the store.",
    "demo": "Play a thread whose last reply reports what was never done.",
    "kb": "Check, search and write the knowledge pages of runs.",
    "mcp": "Serve MCP: `respond` hands a task over and returns reply, receipt and checks.",
    "config": "Print every setting with its value and where it came from.",
    "audit-shapes": "Print the shapes of records in a folder, without any value.",
}


@click.command(
    cls=LazyGroup,
    commands_of=_COMMANDS,
    package="counterfoil.faces.cli.commands",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(VERSION, message="counterfoil %(version)s")
def cli() -> None:
    """Check what an AI agent says against the record of what it did.

    With rules, never with a model. Start with `counterfoil check` in a folder where a
    coding agent worked: it reads the newest session of that folder.
    """


def main(application: Application, arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    _prepare_streams()
    try:
        outcome = cli.main(
            args=None if arguments is None else list(arguments),
            prog_name="counterfoil",
            standalone_mode=False,
            obj=application,
        )
        sys.stdout.flush()
    except BrokenPipeError:
        return _closed_pipe()
    except SystemExit as exit_:  # click ends the process for a closed pipe, and for completion
        return _closed_pipe() if _is_pacified() else int(exit_.code or 0)
    except (click.exceptions.Exit, click.ClickException, click.Abort) as end:
        return _ended(end)
    except CounterfoilError as error:
        return _failed(error)
    except OSError as error:  # a full disk, a file that went away
        name = error.filename or "a temporary file"
        sys.stderr.write(f"error: {name}: {error.strerror or error}\n")
        return CANNOT_TELL
    return outcome if isinstance(outcome, int) else 0


def _ended(end: click.exceptions.Exit | click.ClickException | click.Abort) -> int:
    """Say how click ended a command, and return the exit code."""
    if isinstance(end, click.exceptions.Exit):
        return end.exit_code
    if isinstance(end, click.ClickException):
        end.show()
        return MISUSE
    sys.stderr.write("interrupted\n")
    return INTERRUPTED


def _is_pacified() -> bool:
    """Click replaces a standard output that was closed by a wrapper of its own."""
    return isinstance(sys.stdout, click.utils.PacifyFlushWrapper)  # type: ignore[arg-type]


def _failed(error: CounterfoilError) -> int:
    found = f"{error.found}; expected {error.expected}" if error.expected else error.found
    sys.stderr.write(f"error: {found}\n")
    if error.advice:
        sys.stderr.write(f"hint: {error.advice}\n")
    return exit_code_of(error)


def exit_code_of(error: CounterfoilError) -> int:
    """Return the exit code of a command that ends with `error`."""
    return MISUSE if isinstance(error, _MISUSED) else CANNOT_TELL


_MISUSED = (ConfigurationError, NotFoundError, InvalidIdError, ConflictError)
"""What somebody has to say otherwise; trying again does not help."""


def _closed_pipe() -> int:
    """The reader went away, which is no fault and no finding; Python must not say it again."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    return CLOSED_PIPE


def _prepare_streams() -> None:
    """Write UTF-8 whatever the locale; a stream that was closed takes what is written."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
