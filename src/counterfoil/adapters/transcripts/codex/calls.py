"""The calls of a rollout, and what came of them.

What came of a call can stand in two records, in either order: its output, and a notice
with the exit code or the status of a patch. Both are joined by `call_id` and told once.
"""

from counterfoil.adapters.transcripts.codex.outputs import (
    CUT,
    RUNNING,
    OpenCall,
    body_of,
    command_of,
    hunks_in,
    job_of,
    patch_of,
    patched_files,
    read_output,
)
from counterfoil.adapters.transcripts.codex.records import HEAD, Payload, object_in, output_of
from counterfoil.adapters.transcripts.threads import (
    Call,
    Emitter,
    ThreadReading,
    call_id,
    counted,
    size_of,
)
from counterfoil.core.events import CommandExited, FileWritten, Outcome, ToolReturned
from counterfoil.core.shown import FileSeen
from counterfoil.wire.json_values import value_in


class Calls:
    """The calls of one rollout that wait for what comes of them."""

    def __init__(self, emit: Emitter) -> None:
        self._emit = emit
        self._open: dict[str, OpenCall] = {}
        self._jobs: dict[str, str] = {}

    def called(self, payload: Payload, thread: ThreadReading, line: int) -> None:
        """Take in a call; what came of it can have been told before."""
        tool = payload.name or ("shell" if payload.type == "local_shell_call" else "unknown")
        arguments = payload.arguments or payload.input or bytes(payload.action).decode() or "{}"
        id_ = call_id(payload.call_id or payload.id)
        thread.called(tool, arguments, line, id_, 0)
        if id_ is None:
            return
        patch = patch_of(tool, arguments)
        given = object_in(arguments) if arguments.startswith("{") else {}
        paths = " ".join(path for _, path, _ in patched_files(patch)) if patch else None
        call = Call(tool=tool, command=None if patch else command_of(given), path=paths or None)
        known = self._open.setdefault(id_, OpenCall(call))
        known.call, known.patch, known.job = call, patch, job_of(tool, given)
        self._settle(id_, known, thread, line)

    def returned(self, payload: Payload, thread: ThreadReading, line: int) -> None:
        """Take in the output of a call."""
        id_ = call_id(payload.call_id)
        if id_ is None:
            return
        found = self._open.setdefault(id_, OpenCall(Call("unknown")))
        found.output, found.line = output_of(payload.output), line
        read_output(found)
        if found.job is not None and found.exit_status is not None:
            thread.ended(found.job, line, found.exit_status)
        self._settle(id_, found, thread, line)

    def _settle(self, call_id: str, found: OpenCall, thread: ThreadReading, line: int) -> None:
        """Tell what came of a call as soon as all that can come is there."""
        is_complete = not found.is_shell() or found.exit_status is not None or found.is_running
        if (
            found.output is not None
            and found.call.tool != "unknown"
            and (is_complete or found.outcome is not None)
        ):
            del self._open[call_id]
            self._tell(call_id, found, thread, found.line or line)

    def tell_rest(self, thread: ThreadReading, line: int) -> None:
        """Tell what is known of calls that got no second record."""
        for id_, found in list(self._open.items()):
            if found.output is not None or found.outcome or found.exit_status is not None:
                del self._open[id_]
                self._tell(id_, found, thread, found.line or line)

    def _tell(self, call_id: str, found: OpenCall, thread: ThreadReading, line: int) -> None:
        self._tell_end(call_id, found, thread, line)
        output = found.output or ""
        is_cut = bool(CUT.search(output))
        if is_cut:
            thread.note("output-cut", line)
        self._tell_files(call_id, found, thread, line, is_cut=is_cut)
        returned = ToolReturned(
            tool=found.call.tool,
            output=found.output,
            bytes=None if found.output is None else size_of(output),
            outcome=found.outcome,
            milliseconds=found.milliseconds,
            truncated=True if is_cut else None,
        )
        self._emit.event(thread, returned, line, call_id)

    def _tell_end(self, call_id: str, found: OpenCall, thread: ThreadReading, line: int) -> None:
        """Say that a call was refused, or how its command ended or that it goes on."""
        call = found.call
        if found.is_running and call.command is not None:
            job = RUNNING.search((found.output or "")[:HEAD])
            name = self._jobs[call_id] = job[1] if job else call_id
            thread.started(name, call.command, call_id, line)
        elif found.outcome == "denied":
            reason = (found.output or "declined").strip()[:300]
            thread.denied(call, call_id, line, reason, by_person=found.is_refused_by_person)
        elif call.command is not None:
            ended = CommandExited(
                command=call.command,
                exit_status=found.exit_status,
                milliseconds=found.milliseconds,
            )
            thread.exited(ended, line, call_id)

    def _tell_files(
        self, call_id: str, found: OpenCall, thread: ThreadReading, line: int, *, is_cut: bool
    ) -> None:
        """Say what a command showed of files, or what a patch wrote."""
        if found.call.command is not None and found.output:
            is_whole = found.exit_status == 0 and not is_cut
            body = body_of(found.output)
            thread.showed(found.call.command, body, line, call_id, is_whole=is_whole)
        if found.patch is None or found.outcome != "ok":
            return
        for verb, path, lines in patched_files(found.patch):
            mode = {"Add": "write", "Update": "replace", "Delete": "delete"}[verb]
            written = FileWritten(path=path, mode=mode, created=True if verb == "Add" else None)
            self._emit.event(thread, written, line, call_id)
            seen = FileSeen(path=path, how="written")
            if lines:
                seen = FileSeen(path=path, how="written", first=1, last=lines, total=lines)
            thread.file(seen, line, call_id)
        for path, first, last, grown in found.hunks:
            seen = FileSeen(path=path, how="written", first=first, last=last, grown=grown)
            thread.file(seen, line, call_id)

    def searched(self, payload: Payload, thread: ThreadReading, line: int) -> None:
        """Take in a search: call and result in one record, often without an id."""
        id_ = call_id(payload.call_id or payload.id) or f"line-{line}"
        tool = payload.type.removesuffix("_call")
        arguments = bytes(payload.action).decode("utf-8", "replace") or "{}"
        thread.called(tool, arguments, line, id_, 0)
        url = object_in(arguments).get("url")
        if isinstance(url, str):
            thread.fetched(url, line, id_)
        outcome: Outcome | None = "ok" if payload.status == "completed" else None
        self._emit.event(thread, ToolReturned(tool=tool, outcome=outcome), line, id_)

    def ended(self, payload: Payload, thread: ThreadReading, line: int) -> None:
        """Take in a notice that a command or a patch ended."""
        id_ = call_id(payload.call_id)
        if id_ is None:
            return
        found = self._open.get(id_)
        if found is None:
            job = self._jobs.get(id_, id_)
            thread.ended(job, line, payload.exit_code)
            return
        if payload.duration is not None:
            spent = payload.duration
            found.milliseconds = counted(spent.secs * 1000 + spent.nanos // 1_000_000)
        if payload.type == "patch_apply_end":
            declined = payload.status == "declined"
            found.outcome = "denied" if declined else "ok" if payload.success else "error"
            found.is_refused_by_person = declined
            found.hunks = tuple(hunks_in(value_in(bytes(payload.changes))))
        elif payload.exit_code is not None:
            found.exit_status = payload.exit_code
        found.line = found.line or line
        self._settle(id_, found, thread, line)

    def completed(self, payload: Payload, thread: ThreadReading, line: int) -> None:
        """Take in a notice that an item is complete."""
        item = object_in(bytes(payload.item).decode("utf-8", "replace"))
        id_ = str(item.get("id") or item.get("call_id"))
        found = self._open.get(id_)
        code = item.get("exit_code")
        if found is not None and isinstance(code, int):
            found.exit_status = code
            self._settle(id_, found, thread, line)
