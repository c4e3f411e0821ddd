"""What came of a call: what its output and the notices about it say."""

import re
from dataclasses import dataclass
from shlex import join
from typing import Any

from counterfoil.adapters.transcripts.codex.records import HEAD, object_in
from counterfoil.adapters.transcripts.threads import Call
from counterfoil.core.events import Outcome
from counterfoil.wire.json_values import is_list

_EXIT = re.compile(r"(?:^|\n)(?:Process exited with code|Exit code:) (-?\d{1,10})(?=\n|\Z)")
RUNNING = re.compile(r"(?:^|\n)Process running with session ID (\d+)")
_SECONDS = re.compile(r"(?:^|\n)Wall time: ([\d.]{1,12}) seconds")
_BODY = re.compile(r"(?:^|\n)Output:\n")
_REFUSED = re.compile(r"\s*(?:exec command |command |patch )?rejected by user\b", re.IGNORECASE)
_ABORTED = re.compile(r"\s*aborted by user\b", re.IGNORECASE)
CUT = re.compile(
    r"…\s?\d+ (?:tokens|chars|lines) truncated\s?…|\[\.\.\. omitted \d+ of \d+ lines \.\.\.\]"
)
PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)
_SHELLS = frozenset({"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh"})


@dataclass(slots=True)
class OpenCall:
    """A call and what is known by now of what came of it."""

    call: Call
    patch: str | None = None
    job: str | None = None
    output: str | None = None
    line: int = 0
    exit_status: int | None = None
    outcome: Outcome | None = None
    milliseconds: int | None = None
    is_running: bool = False

    def is_shell(self) -> bool:
        """Say whether the call runs a command."""
        return self.call.command is not None


def read_output(found: OpenCall) -> None:
    """Read what the head of an output says of the command's end."""
    head = (found.output or "")[:HEAD]
    exit_ = _EXIT.search(head)
    if exit_ is not None and found.exit_status is None:
        found.exit_status = int(exit_[1])
    seconds = _SECONDS.search(head)
    if seconds is not None and found.milliseconds is None and seconds[1].count(".") <= 1:
        found.milliseconds = round(float(seconds[1].strip(".") or 0) * 1000)
    found.is_running = exit_ is None and RUNNING.search(head) is not None
    if _ABORTED.match(head):
        found.outcome = "interrupted"
    elif _REFUSED.match(head):
        found.outcome = "denied"
    elif found.patch is not None and found.outcome is None and found.exit_status is not None:
        found.outcome = "error" if found.exit_status else "ok"


def body_of(output: str) -> str:
    """Return what the command printed, without the harness's head."""
    head = _BODY.search(output[:HEAD])
    return output[head.end() :] if head else output


def command_of(given: dict[str, Any]) -> str | None:
    """Return the command that the arguments of a call hold, a shell around it left out."""
    command = given.get("cmd", given.get("command"))
    if isinstance(command, str):
        return command
    if not is_list(command):
        return None
    words = [str(word) for word in command]
    if len(words) == 3 and words[0] in _SHELLS and words[1] in {"-lc", "-c"}:  # noqa: PLR2004
        return words[2]
    return join(words)


def job_of(tool: str, given: dict[str, Any]) -> str | None:
    """Return the running command that a call writes to or asks after."""
    job = given.get("session_id") if tool == "write_stdin" else None
    return str(job) if isinstance(job, int | str) else None


def patch_of(tool: str, arguments: str) -> str | None:
    """Return the patch that a call applies, whichever way it is handed over."""
    if tool != "apply_patch" and "*** Begin Patch" not in arguments:
        return None
    given = object_in(arguments) if arguments.startswith("{") else {}
    for name in ("input", "patch"):
        if isinstance(given.get(name), str):
            return str(given[name])
    command = command_of(given)
    return command if command is not None else arguments
