"""Two readings of a command, and whether they are one."""

import re

import msgspec

from counterfoil.adapters.shell.program import OUT_OF_BOUNDS, TOO_DEEP, shfmt_path, syntax_tree
from counterfoil.adapters.shell.tree import Node, TreeReader
from counterfoil.core.gate.commands import ParsedCommand

LONGEST = 1 << 16
"""Bytes of a command that is read; a longer one is an answer that is not whole."""

_JOINED = re.compile(r"#[^\n]*\\\n")
"""What shfmt reads as one line and a shell as a comment and another line (ADR 17)."""

_COMMENT = "a line with a comment sign ends with a backslash"


class ShfmtParser:
    """A `ShellParser` that reads each text in the dialects of POSIX and of Bash."""

    def __init__(self, program: str | None = None) -> None:
        """Use `program`, else the one that the package brings; `UnavailableError` without."""
        self._program = program or shfmt_path()

    def parse(self, text: str) -> ParsedCommand:
        """Return what both dialects read in `text`, whole where that is the same."""
        posix = self._read(text, "posix")
        if posix.fault in OUT_OF_BOUNDS:  # the other reading would take as long
            return posix
        bash = self._read(text, "bash")
        fault = _refused(text) or posix.fault or bash.fault
        if fault is None and _shape(posix) != _shape(bash):
            fault = "a POSIX shell and Bash read it differently"
        if _JOINED.search(text) is not None:
            parted = self._read(_JOINED.sub("#\n", text), "posix")
            return _both(_both(posix, bash, _COMMENT), parted, _COMMENT)
        if fault is None:
            return posix
        return _both(posix, bash, fault)

    def _read(self, text: str, dialect: str) -> ParsedCommand:
        source = text.encode("utf-8", "surrogatepass")
        if len(source) > LONGEST:
            return ParsedCommand(text=text, is_whole=False, fault="it is too long to be read")
        tree, fault = syntax_tree([self._program, "-ln", dialect, "--to-json"], source)
        if fault:
            return ParsedCommand(text=text, is_whole=False, fault=fault)
        try:
            return TreeReader(source).read(msgspec.json.decode(tree, type=Node), text)
        except RecursionError:
            fault = TOO_DEEP
        except (msgspec.DecodeError, LookupError, TypeError):
            fault = "it is read in a way that is not known here"
        return ParsedCommand(text=text, is_whole=False, fault=fault)


def _refused(text: str) -> str | None:
    """Name what shells and terminals do not agree upon, or `None`."""
    odd = next((one for one in text if (one < " " and one not in "\t\n") or one == "\x7f"), None)
    return None if odd is None else f"it holds the control character U+{ord(odd):04X}"


def _shape(parsed: ParsedCommand) -> object:
    """Return what the two readings have to agree upon."""
    return (
        [(one.words, one.assignments, one.redirections, one.inner) for one in parsed.commands],
        parsed.pipes,
        parsed.operators,
        parsed.functions,
    )


def _both(one: ParsedCommand, other: ParsedCommand, fault: str) -> ParsedCommand:
    """Return the commands of both readings: what is denied in either is denied."""
    behind = len(one.commands)
    return ParsedCommand(
        text=one.text,
        commands=one.commands + tuple(command.moved(behind) for command in other.commands),
        pipes=one.pipes + tuple(pipe.moved(behind) for pipe in other.pipes),
        operators=one.operators + other.operators,
        functions=one.functions + other.functions,
        is_whole=False,
        fault=fault,
    )
