"""What came of calls: refusals, commands that ended, files read and written.

A result is joined to its call by `tool_use_id`, whichever stands first. Its text is
read as a refusal or an exit status only where the format marks it as an error.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from counterfoil.adapters.transcripts.claude_code.records import (
    INTERRUPTED,
    Block,
    ClaudeRecord,
    Hunk,
    ToolUseResult,
    input_of,
    is_text,
    output_of,
    result_of,
)
from counterfoil.adapters.transcripts.records import text_from
from counterfoil.adapters.transcripts.threads import Call, Emitter, ThreadReading, call_id, size_of
from counterfoil.core.events import CommandExited, FileWritten, Outcome, ToolReturned
from counterfoil.core.ids import ThreadId
from counterfoil.core.shown import FileSeen

_REFUSED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
)
_FORBIDDEN = re.compile(
    r"Permission (?:for this tool use was|to use .{1,200}? has been) denied"
    r"|Claude requested permissions? to .{1,400}?, but you haven't granted it"
    r"|(?:\S+:)?\S+ hook (?:error|denied|blocked)|Execution stopped by \w+ hook"
)
_SIBLING = (
    "<tool_use_error>Sibling tool call errored",
    "<tool_use_error>Cancelled: parallel tool call",
)
_TOOL_ERROR = "<tool_use_error>"
_FILLED_IN = ("[Tool result missing due to internal error]", "[Tool use interrupted]")
_EXIT = re.compile(r"Exit code (-?\d{1,10})(?:\n|\Z)")
_TIMED_OUT = re.compile(r"\A.{0,200}?Command timed out after ", re.DOTALL)
_CUT = re.compile(
    r"\[\d[\d,]* (?:lines|characters) truncated\]|<persisted-output>|\[output truncated"
)
_HEAD = 300
_NUMBERED = re.compile(r"^ *(\d{1,7})(?:→|\t)", re.MULTILINE)
_EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_NOT_RUN: frozenset[Outcome | None] = frozenset({"denied", "cancelled", "unknown"})


class SideFiles(Protocol):
    """Where the whole of a cut output may lie."""

    def has_side_file(self, name: str, thread: ThreadId, line: int) -> bool:
        """Say whether it lies there, and remember it."""
        ...


class Came(NamedTuple):
    """How one call was answered; of an output that waits for its call, the head."""

    outcome: Outcome | None
    output: str
    is_error: bool
    result: ToolUseResult


class At(NamedTuple):
    """Where a result stands: its thread, its line, the id of its call."""

    thread: ThreadReading
    line: int
    id: str


class Calls:
    """The calls of one file that wait for their results, and results before their calls."""

    def __init__(self, emit: Emitter, side_files: SideFiles) -> None:
        self._emit = emit
        self._side_files = side_files
        self._calls: dict[str, Call] = {}
        self._orphans: dict[str, tuple[Came, int]] = {}

    def called(self, block: Block, thread: ThreadReading, line: int, place: int) -> None:
        """Take in a call; a result that stood before it is told now."""
        tool = block.name or "unknown"
        arguments = bytes(block.input)
        id_ = call_id(block.id)
        thread.called(tool, arguments.decode("utf-8", "replace") or "{}", line, id_, place)
        if id_ is None:
            return
        call = _call_of(tool, arguments)
        orphan = self._orphans.pop(id_, None)
        if orphan is None:
            self._calls[id_] = call
        elif orphan[0].outcome != "denied":  # a refusal was told when it came
            self._came_of(call, orphan[0], At(thread, orphan[1], id_))

    def returned(self, block: Block, value: ClaudeRecord, thread: ThreadReading, line: int) -> None:
        """Take in a result, and say what came of its call."""
        thread.ensure_turn(line)
        id_ = call_id(block.tool_use_id)
        call = self._calls.pop(id_, None) if id_ is not None else None
        came = _came(block, bytes(value.tool_use_result))
        if id_ is not None and call is not None:
            self._came_of(call, came, At(thread, line, id_))
        elif id_ is not None:
            self._orphans[id_] = (came._replace(output=came.output[:_HEAD]), line)
            if came.outcome == "denied":
                unknown = Call("call", id_, None, None)
                _deny(unknown, came.output, At(thread, line, id_))
        output = came.output
        is_cut = self._is_cut(came, thread, line)
        self._emit.event(
            thread,
            ToolReturned(
                tool=call.tool if call else "unknown",
                output=output,
                bytes=size_of(output),
                outcome=came.outcome,
                truncated=True if is_cut else None,
            ),
            line,
            id_,
        )

    def _is_cut(self, came: Came, thread: ThreadReading, line: int) -> bool:
        output = came.output
        if not ("ncated]" in output or "<persisted-output>" in output):
            return False
        if _CUT.search(output) is None:
            return False
        saved = came.result.persisted_output_path or _saved_name(output)
        name = re.split(r"[/\\]", saved)[-1]
        if name and self._side_files.has_side_file(name, thread.id, line):
            return False
        thread.note("output-cut", line)
        return True

    def _came_of(self, call: Call, came: Came, at: At) -> None:
        """Say what came of a call: a refusal, a command that ended, a file, a page."""
        if came.outcome == "denied":
            _deny(call, came.output, at)
            return
        if call.command is not None:
            _ran(call.command, came, at)
        if came.outcome not in {"ok", None}:
            return
        if call.tool in _EDITS and call.path is not None:
            self._wrote(call, call.path, came.result, at)
        elif call.url is not None:
            at.thread.fetched(call.url, at.line, at.id)
        elif came.result.file is not None or call.tool == "Read":
            _saw(call, came, at)

    def _wrote(self, call: Call, asked: str, result: ToolUseResult, at: At) -> None:
        path = result.file_path or asked
        is_write = call.tool == "Write"
        content = text_from(result.content) if is_write and is_text(result.content) else None
        written = FileWritten(
            path=path,
            mode="write" if is_write else "replace",
            created=result.type == "create" if is_write and result.type else None,
            bytes_after=None if content is None else size_of(content),
        )
        self._emit.event(at.thread, written, at.line, at.id)
        for seen in _seen_of(path, content, result.structured_patch or ()):
            at.thread.file(seen, at.line, at.id)


def _call_of(tool: str, arguments: bytes) -> Call:
    given = input_of(arguments)
    path = given.file_path or given.notebook_path or given.path
    return Call(tool=tool, command=given.command, path=path, url=given.url)


def _seen_of(path: str, content: str | None, hunks: Sequence[Hunk]) -> Iterator[FileSeen]:
    """Yield what a write or an edit shows: the whole file, or the lines around changes."""
    if content is not None:
        total = content.count("\n") + (not content.endswith("\n") and bool(content))
        yield FileSeen(path=path, how="written", first=1, last=max(total, 1), total=total)
    elif not hunks:
        yield FileSeen(path=path, how="written")
    else:
        for hunk in hunks:
            yield FileSeen(
                path=path,
                how="written",
                first=hunk.new_start,
                last=hunk.new_start + max(hunk.new_lines, 1) - 1,
                grown=hunk.new_lines - hunk.old_lines,
            )


def _deny(call: Call, output: str, at: At) -> None:
    by_person = output.startswith(_REFUSED)
    reason = output.split("\n", 1)[0]
    if by_person:
        reason = reason.split(". ", 1)[0]
    at.thread.denied(call, at.id, at.line, reason[:300], by_person=by_person)


def _ran(command: str, came: Came, at: At) -> None:
    """Say how a command ended, as far as that is recorded; one that did not run, nothing."""
    job = came.result.background_task_id
    if job is not None:
        at.thread.started(job, command, at.id, at.line)
        return
    if came.outcome in _NOT_RUN or came.output.startswith(_TOOL_ERROR):
        return
    exit_ = _EXIT.match(came.output) if came.is_error else None
    timed_out = came.is_error and exit_ is None and _TIMED_OUT.match(came.output) is not None
    at.thread.exited(
        CommandExited(
            command=command,
            exit_status=int(exit_[1]) if exit_ else None,
            timed_out=True if timed_out else None,
        ),
        at.line,
        at.id,
    )
    is_whole = came.outcome == "ok" and not came.is_error
    at.thread.showed(command, came.output, at.line, at.id, is_whole=is_whole)


def _came(block: Block, raw: bytes) -> Came:
    output = output_of(block.content)
    result = result_of(raw)
    is_error = block.is_error if block.is_error is not None else _flag(raw)
    if is_error:
        return Came(_fault(output), output, is_error=True, result=result)
    outcome: Outcome | None = None if is_error is None else "ok"
    if output.startswith(_FILLED_IN):
        outcome = "unknown"
    elif result.interrupted:
        outcome = "interrupted"
    return Came(outcome, output, is_error=False, result=result)


def _flag(raw: bytes) -> bool | None:
    """Without `is_error`: `toolUseResult` is an object on success, a text on an error."""
    if raw[:1] in {b"{", b"["}:
        return False
    return True if raw.startswith((b'"Error', b'"User rejected')) else None


def _fault(output: str) -> Outcome:
    """Tell the faults apart that the format marks as one."""
    if output.startswith(_REFUSED) or _FORBIDDEN.match(output):
        return "denied"
    if output.startswith(_SIBLING):
        return "cancelled"
    if output.startswith(INTERRUPTED):
        return "interrupted"
    return "unknown" if output.startswith(_FILLED_IN) else "error"


def _saw(call: Call, came: Came, at: At) -> None:
    """A file was read: which lines, by the result's own fields, else by its numbers."""
    file = came.result.file
    path = (file.file_path if file else None) or call.path
    if path is None:
        return
    if file is not None and file.start_line and file.num_lines:
        seen = FileSeen(
            path=path,
            how="read",
            first=file.start_line,
            last=file.start_line + file.num_lines - 1,
            total=file.total_lines,
        )
    else:
        numbers = [int(number) for number in _NUMBERED.findall(came.output)]
        seen = FileSeen(path=path, how="read")
        if numbers and numbers[0] >= 1:
            seen = FileSeen(path=path, how="read", first=numbers[0], last=max(numbers))
    at.thread.file(seen, at.line, at.id)


def _saved_name(output: str) -> str:
    match = re.search(r"saved to: ?(\S+)", output[:2000])
    return match[1] if match else ""
