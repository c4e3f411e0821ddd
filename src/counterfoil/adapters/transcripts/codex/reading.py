"""One pass over a rollout: its conversation, its calls, and what came of them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from counterfoil.adapters.transcripts.codex.layout import find_subagents
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
    typed_command,
)
from counterfoil.adapters.transcripts.codex.records import (
    CONTEXT,
    HEAD,
    TYPED_COMMAND,
    CodexRecord,
    Payload,
    object_in,
    output_of,
    parent_of,
    reader,
    texts_of,
)
from counterfoil.adapters.transcripts.evidence import CODEX, CODEX_KINDS
from counterfoil.adapters.transcripts.lines import Damage, Tally
from counterfoil.adapters.transcripts.source import Source
from counterfoil.adapters.transcripts.threads import (
    Call,
    Emitter,
    ThreadReading,
    call_id,
    counted,
    size_of,
    thread_id,
)
from counterfoil.core.events import (
    CommandExited,
    ContextCondensed,
    ErrorRaised,
    FileWritten,
    Outcome,
    ThreadOpened,
    ToolReturned,
)
from counterfoil.core.ids import ThreadId
from counterfoil.core.shown import FileSeen
from counterfoil.ports.transcripts import Item, Measured, Origin
from counterfoil.wire.json_values import value_in

_BATCH = 256


class Session:
    """One pass over a rollout, and over its sub-agents' rollouts in their places."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._waiting: dict[str, Path] = {}
        self.emit = Emitter(Origin(""))
        self.tally = Tally()
        self.files: list[tuple[Path, Origin]] = []
        self.threads: dict[str, ThreadId] = {}

    def items(self) -> Iterator[Item]:
        """Yield everything of the rollout, then what was measured."""
        with self._source.open() as file:
            yield from FileReading(self, self.tally, self._source.stem).items(file)
        for id_ in list(self._waiting):
            yield from self.sub_items(id_, self.tally.lines + 1, None)
        tally = self.tally
        yield Measured(
            tally.size, tally.lines, tally.records, tally.skipped, tally.unknown, tally.repeated
        )

    def knows(self, id_: str) -> None:
        """Look for the rollouts of the sub-agents of thread `id_`."""
        if self._source.path is not None:
            self._waiting.update(find_subagents(self._source.path, id_))

    def named_in(self, output: str) -> str | None:
        """Return the sub-agent, not read yet, that an output names."""
        return next((id_ for id_ in self._waiting if id_ in output), None)

    def sub_items(self, id_: str, line: int, parent: ThreadId | None) -> Iterator[Item]:
        """Yield the items of a sub-agent's rollout, which was named at `line` of another."""
        path = self._waiting.pop(id_, None)
        if path is None or not path.is_file():
            return
        outer = self.emit.origin
        self.emit.origin = Origin(path.name, (*outer.prefix, line, 0, len(self.files)))
        self.files.append((path, self.emit.origin))
        with path.open("rb") as file:
            yield from FileReading(self, Tally(), path.stem, parent=parent).items(file)
        self.emit.origin = outer


class FileReading:
    """One rollout: its thread, its calls, and what came of them."""

    def __init__(
        self, session: Session, tally: Tally, stem: str, *, parent: ThreadId | None = None
    ) -> None:
        self._session = session
        self._emit = session.emit
        self._tally = tally
        self._stem = stem
        self._parent = parent
        self._is_sub = bool(session.emit.origin.prefix)
        self._thread: ThreadReading | None = None
        self._own: str | None = None
        self._known: set[str] = set()
        self._open: dict[str, OpenCall] = {}
        self._notices: list[tuple[str, int]] = []
        self._prompt: str | None = None
        self._reply: str | None = None
        self._jobs: dict[str, str] = {}
        self._early: list[Damage] = []
        self._line = 0

    def items(self, file: BinaryIO) -> Iterator[Item]:
        """Yield everything of `file`, and of sub-agents' rollouts where they are named."""
        items = self._emit.items
        for record in reader.records(file, self._tally):
            if isinstance(record, Damage):
                self._damaged(record)
                continue
            self._line, value, raw = record
            agent = self._agent_in(value)
            if agent is not None:
                yield from self._flushed()
                yield from self._session.sub_items(agent, self._line, self._now().id)
            self._read(value, raw)
            if len(items) >= _BATCH:
                yield from self._flushed()
        if self._thread is not None or self._early or self._tally.records:
            self._end_turn()
            self._now().end_turn()
        yield from self._flushed()

    def _agent_in(self, value: CodexRecord) -> str | None:
        payload = value.payload
        if payload is None or payload.type != "function_call_output":
            return None
        return self._session.named_in(output_of(payload.output))

    def _flushed(self) -> Iterator[Item]:
        yield from self._emit.items
        self._emit.items.clear()

    def _damaged(self, damage: Damage) -> None:
        if self._thread is None:
            self._early.append(damage)
        else:
            self._emit.damage(self._thread, damage)

    def _now(self) -> ThreadReading:
        """Return the thread that is read; one without a `session_meta` is named by its file."""
        return self._thread or self._opened(None, None)

    def _opened(self, id_: str | None, payload: Payload | None) -> ThreadReading:
        thread = ThreadReading(thread_id(id_, self._stem), self._emit, is_sub=self._is_sub)
        self._thread = thread
        self._session.threads[self._emit.origin.source] = thread.id
        version = payload.cli_version if payload else None
        thread.version = version
        versions = {CODEX: version} if version else {}
        if payload and payload.git and payload.git.commit_hash:
            versions["commit"] = payload.git.commit_hash
        parent = self._parent or (parent_of(payload) if payload else None)
        self._emit.event(
            thread,
            ThreadOpened(
                face=CODEX,
                cwd=payload.cwd if payload else None,
                parent=parent,
                versions=versions or None,
            ),
            max(self._line, 1),
        )
        for damage in self._early:
            self._emit.damage(thread, damage)
        self._early = []
        return thread

    def _read(self, value: CodexRecord, raw: bytes) -> None:
        self._emit.at_time(value.timestamp)
        payload = value.payload
        if value.type not in CODEX_KINDS:
            self._unknown(value, raw)
        elif payload is None:
            self._damaged(Damage(self._line, "not-a-record", 0, "a record without a payload"))
        elif value.type == "session_meta":
            self._meta(payload)
        elif value.type == "response_item":
            self._item(payload, raw)
        elif value.type == "event_msg":
            self._event(payload)
        elif value.type == "compacted":
            thread = self._now()
            steps = ContextCondensed(steps=("drop",), reason="compacted")
            self._emit.event(thread, steps, self._line)
            thread.note("compacted", self._line)

    def _unknown(self, value: CodexRecord, raw: bytes) -> None:
        if not value.type:
            self._damaged(Damage(self._line, "not-a-record", 0, "an object without a type"))
            return
        self._tally.unknown[value.type[:60]] += 1
        self._emit.unrecognized(self._now(), raw, self._line)

    def _meta(self, payload: Payload) -> None:
        id_ = payload.id
        if id_ is None:
            return
        if id_ in self._known:
            if id_ == self._own:
                self._now().goes_on_under(payload.cli_version, self._line)
            return
        if self._own is None:
            self._own = id_
            self._known.update(filter(None, (id_, payload.forked_from_id, parent_of(payload))))
            self._opened(id_, payload)
            self._session.knows(id_)
            return
        self._known.add(id_)
        self._end_turn()
        self._now().end_turn()
        self._opened(id_, payload)

    # --- the conversation -----------------------------------------------------

    def _item(self, payload: Payload, raw: bytes) -> None:
        kind = payload.type
        if kind == "message":
            self._message(payload)
        elif kind in {"function_call", "custom_tool_call", "local_shell_call"}:
            self._called(payload)
        elif kind in {"function_call_output", "custom_tool_call_output"}:
            self._returned(payload)
        elif kind in {"web_search_call", "tool_search_call", "image_generation_call"}:
            self._searched(payload)
        elif kind not in {
            "reasoning",
            "ghost_snapshot",
            "tool_search_output",
            "other",
            "compaction",
        }:
            self._tally.unknown[f"response_item {kind}"[:60]] += 1
            self._emit.unrecognized(self._now(), raw, self._line)

    def _message(self, payload: Payload) -> None:
        if payload.role == "assistant":
            for place, text in texts_of(payload.content):
                self._said(text, place)
        elif payload.role == "user":
            for place, text in texts_of(payload.content):
                self._given(text, place)

    def _said(self, text: str, place: int) -> None:
        """A reply stands twice, as an item and as a notice, in either order."""
        self._notices = [notice for notice in self._notices if notice[0] != text]
        self._now().said(text, self._line, place)
        self._reply = text
        self._prompt = None

    def _given(self, text: str, place: int = 0) -> None:
        """Tell what a person asked or typed from what the harness gave to the model."""
        start = text.lstrip()
        if start.startswith(TYPED_COMMAND):
            command, status, output = typed_command(text)
            ended = CommandExited(
                command=command, exit_status=status, stdout=output, source="person"
            )
            self._now().exited(ended, self._line, None)
        elif not start.startswith(CONTEXT):
            self._asked(text, place)

    def _asked(self, text: str, place: int = 0) -> None:
        """A prompt stands twice with nothing between: once is enough."""
        if text == self._prompt or not text.strip():
            return
        self._end_turn()
        self._now().prompt(text, self._line, place)
        self._prompt, self._reply = text, None

    def _called(self, payload: Payload) -> None:
        thread = self._now()
        tool = payload.name or ("shell" if payload.type == "local_shell_call" else "unknown")
        arguments = payload.arguments or payload.input or bytes(payload.action).decode() or "{}"
        id_ = call_id(payload.call_id or payload.id)
        thread.called(tool, arguments, self._line, id_, 0)
        self._prompt = None
        if id_ is None:
            return
        patch = patch_of(tool, arguments)
        given = object_in(arguments) if arguments.startswith("{") else {}
        paths = " ".join(path for _, path, _ in patched_files(patch)) if patch else None
        call = Call(tool=tool, command=None if patch else command_of(given), path=paths or None)
        known = self._open.setdefault(id_, OpenCall(call))
        known.call, known.patch, known.job = call, patch, job_of(tool, given)
        self._settle(id_, known)

    def _returned(self, payload: Payload) -> None:
        id_ = call_id(payload.call_id)
        if id_ is None:
            return
        found = self._open.setdefault(id_, OpenCall(Call("unknown")))
        found.output, found.line = output_of(payload.output), self._line
        read_output(found)
        if found.job is not None and found.exit_status is not None:
            self._now().ended(found.job, self._line, found.exit_status)
        self._settle(id_, found)

    def _settle(self, call_id: str, found: OpenCall) -> None:
        """Tell what came of a call as soon as all that can come is there."""
        is_complete = not found.is_shell() or found.exit_status is not None or found.is_running
        if (
            found.output is not None
            and found.call.tool != "unknown"
            and (is_complete or found.outcome is not None)
        ):
            del self._open[call_id]
            self._tell(call_id, found)

    def _tell(self, call_id: str, found: OpenCall) -> None:
        line = found.line or self._line
        self._tell_end(call_id, found, line)
        output = found.output or ""
        is_cut = bool(CUT.search(output))
        if is_cut:
            self._now().note("output-cut", line)
        self._tell_files(call_id, found, line, is_cut=is_cut)
        returned = ToolReturned(
            tool=found.call.tool,
            output=found.output,
            bytes=None if found.output is None else size_of(output),
            outcome=found.outcome,
            milliseconds=found.milliseconds,
            truncated=True if is_cut else None,
        )
        self._emit.event(self._now(), returned, line, call_id)

    def _tell_end(self, call_id: str, found: OpenCall, line: int) -> None:
        """Say that a call was refused, or how its command ended or that it goes on."""
        thread, call = self._now(), found.call
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

    def _tell_files(self, call_id: str, found: OpenCall, line: int, *, is_cut: bool) -> None:
        """Say what a command showed of files, or what a patch wrote."""
        thread = self._now()
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

    def _searched(self, payload: Payload) -> None:
        """A search is call and result in one record, often without an id."""
        thread = self._now()
        id_ = call_id(payload.call_id or payload.id) or f"line-{self._line}"
        tool = payload.type.removesuffix("_call")
        arguments = bytes(payload.action).decode("utf-8", "replace") or "{}"
        thread.called(tool, arguments, self._line, id_, 0)
        url = object_in(arguments).get("url")
        if isinstance(url, str):
            thread.fetched(url, self._line, id_)
        outcome: Outcome | None = "ok" if payload.status == "completed" else None
        self._emit.event(thread, ToolReturned(tool=tool, outcome=outcome), self._line, id_)
        self._prompt = None

    # --- notices --------------------------------------------------------------

    def _event(self, payload: Payload) -> None:
        reader_of = _NOTICES.get(payload.type)
        if reader_of is not None:
            reader_of(self, payload)

    def _user_message(self, payload: Payload) -> None:
        self._given(payload.message or "")

    def _started(self, _: Payload) -> None:
        self._prompt = None

    def _agent_message(self, payload: Payload) -> None:
        if payload.message and payload.message != self._reply:
            self._notices.append((payload.message, self._line))

    def _reasoned(self, payload: Payload) -> None:
        if payload.text:
            self._now().reasoned(payload.text, self._line)

    def _lasted(self, payload: Payload) -> None:
        self._now().lasted(payload.duration_ms)

    def _aborted(self, _: Payload) -> None:
        self._prompt = None
        self._now().interrupted(self._line)

    def _rolled_back(self, _: Payload) -> None:
        self._now().note("rewound", self._line)

    def _failed(self, payload: Payload) -> None:
        thread = self._now()
        thread.ensure_turn(self._line)
        where = "turn" if payload.type == "error" else "model"
        error = ErrorRaised(message=(payload.message or payload.type)[:2000], where=where)
        self._emit.event(thread, error, self._line)

    def _ended(self, payload: Payload) -> None:
        id_ = call_id(payload.call_id)
        if id_ is None:
            return
        found = self._open.get(id_)
        if found is None:
            job = self._jobs.get(id_, id_)
            self._now().ended(job, self._line, payload.exit_code)
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
        found.line = found.line or self._line
        self._settle(id_, found)

    def _completed(self, payload: Payload) -> None:
        item = object_in(bytes(payload.item).decode("utf-8", "replace"))
        found = self._open.get(str(item.get("id") or item.get("call_id")))
        code = item.get("exit_code")
        if found is not None and isinstance(code, int):
            found.exit_status = code
            self._settle(str(item.get("id") or item.get("call_id")), found)

    def _counted(self, payload: Payload) -> None:
        info = payload.info
        if info is None or info.last_token_usage is None:
            return
        last = info.last_token_usage
        total = info.total_token_usage.total_tokens if info.total_token_usage else None
        self._now().used(
            str(total if total is not None else self._line),
            (
                last.input_tokens,
                last.output_tokens,
                last.cached_input_tokens,
                last.reasoning_output_tokens,
            ),
        )

    def _end_turn(self) -> None:
        """Tell what is known of calls that got no second record, and of unpaired notices."""
        for id_, found in list(self._open.items()):
            if found.output is not None or found.outcome or found.exit_status is not None:
                del self._open[id_]
                self._tell(id_, found)
        for text, line in self._notices:
            self._now().said(text, line)
        self._notices = []


_Notice = Callable[[FileReading, Payload], None]

_NOTICES: dict[str, _Notice] = {
    "user_message": FileReading._user_message,
    "agent_message": FileReading._agent_message,
    "agent_reasoning": FileReading._reasoned,
    "exec_command_end": FileReading._ended,
    "patch_apply_end": FileReading._ended,
    "item_completed": FileReading._completed,
    "task_started": FileReading._started,
    "turn_started": FileReading._started,
    "task_complete": FileReading._lasted,
    "turn_complete": FileReading._lasted,
    "turn_aborted": FileReading._aborted,
    "thread_rolled_back": FileReading._rolled_back,
    "error": FileReading._failed,
    "stream_error": FileReading._failed,
    "token_count": FileReading._counted,
}
"""What reads each notice; one that is not here says nothing of its own."""
