"""What came of a call: what its output and the notices about it say."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from shlex import join
from typing import Any

from counterfoil.adapters.transcripts.codex.records import HEAD, object_in
from counterfoil.adapters.transcripts.threads import Call, counted
from counterfoil.core.events import Outcome
from counterfoil.wire.json_values import is_list, is_object

_HEADS = ("Chunk ID: ", "Wall time: ", "Exit code: ", "Process ", "Command: ", "Total output ")
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,10})$", re.MULTILINE)
RUNNING = re.compile(r"^Process running with session ID (\d+)$", re.MULTILINE)
_SECONDS = re.compile(r"^Wall time: ([\d.]{1,12}) seconds$", re.MULTILINE)
_BODY = re.compile(r"^Output:\n", re.MULTILINE)
_BLOCKED = re.compile(r"\s*(?:Command|Tool call|Patch) blocked by \w+ hook", re.IGNORECASE)
_REFUSED = re.compile(r"\s*(?:exec command |command |patch )?rejected by user\b", re.IGNORECASE)
_ABORTED = re.compile(r"\s*aborted by user\b", re.IGNORECASE)
CUT = re.compile(
    r"…\s?\d+ (?:tokens|chars|lines) truncated\s?…|\[\.\.\. omitted \d+ of \d+ lines \.\.\.\]"
)
PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)
_HUNK = re.compile(r"^@@ -\d{1,7}(?:,(\d{1,7}))? \+(\d{1,7})(?:,(\d{1,7}))? @@", re.MULTILINE)
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
    hunks: tuple[tuple[str, int, int, int], ...] = ()
    is_running: bool = False
    is_refused_by_person: bool = False

    def is_shell(self) -> bool:
        """Say whether the call runs a command."""
        return self.call.command is not None


def read_output(found: OpenCall) -> None:
    """Read what the harness's head of an output says of the command's end.

    Only the head: what the command printed is never read as its status.
    """
    output = found.output or ""
    head = head_of(output)
    exit_ = _EXIT.search(head)
    if exit_ is not None and found.exit_status is None:
        found.exit_status = int(exit_[1])
    seconds = _SECONDS.search(head)
    if seconds is not None and found.milliseconds is None and seconds[1].count(".") <= 1:
        found.milliseconds = counted(round(float(seconds[1].strip(".") or 0) * 1000))
    found.is_running = exit_ is None and RUNNING.search(head) is not None
    _read_outcome(found, output[:HEAD])


def _read_outcome(found: OpenCall, text: str) -> None:
    if _ABORTED.match(text):
        found.outcome = "interrupted"
    elif _REFUSED.match(text):
        found.outcome, found.is_refused_by_person = "denied", True
    elif _BLOCKED.match(text):
        found.outcome = "denied"
    elif found.patch is not None and found.outcome is None and found.exit_status is not None:
        found.outcome = "error" if found.exit_status else "ok"


def head_of(output: str) -> str:
    """Return what the harness wrote above a command's output, "" where it wrote nothing."""
    start = output[:HEAD]
    if not start.startswith(_HEADS):
        return ""
    body = _BODY.search(start)
    return start[: body.start()] if body else start


def body_of(output: str) -> str:
    """Return what the command printed, without the harness's head."""
    if not output.startswith(_HEADS):
        return output
    body = _BODY.search(output[:HEAD])
    return output[body.end() :] if body else output


def typed_command(text: str) -> tuple[str, int | None, str]:
    """Read a command that a person typed: its text, its exit status, its output."""
    result = _tagged(text, "result")
    exit_ = _EXIT.search(head_of(result))
    return _tagged(text, "command"), int(exit_[1]) if exit_ else None, body_of(result)


def _tagged(text: str, tag: str) -> str:
    start = text.find(f"<{tag}>")
    end = text.rfind(f"</{tag}>")
    return text[start + len(tag) + 2 : end].strip("\n") if 0 <= start < end else ""


def patched_files(patch: str) -> Iterator[tuple[str, str, int | None]]:
    """Yield the verb and the path of each file of a patch, and the lines of an added one."""
    headings = list(PATCHED.finditer(patch))
    for heading, following in zip_longest(headings, headings[1:]):
        body = patch[heading.end() : following.start() if following else len(patch)]
        added = sum(line.startswith("+") for line in body.split("\n"))
        yield heading[1], heading[2], added if heading[1] == "Add" else None


def hunks_in(changes: object) -> Iterator[tuple[str, int, int, int]]:
    """Yield what a notice says was updated: path, first and last line now, and growth."""
    for path, change in changes.items() if is_object(changes) else ():
        inner = change.get("update", change) if is_object(change) else None
        diff = inner.get("unified_diff") if is_object(inner) else None
        for match in _HUNK.finditer(diff if isinstance(diff, str) else ""):
            before, start, after = (int(part or 1) for part in match.groups())
            yield path, start, start + max(after, 1) - 1, after - before


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
