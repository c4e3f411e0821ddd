"""Codex rollouts: JSON Lines of `{timestamp, type, payload}` (transcripts.md 3 and 4.3).

What came of a call can stand in two records, in either order: its output, and an event
with the exit code or the status of a patch. Both are joined by `call_id` and told once.
A reply and a prompt stand twice as well: as an item of the conversation and as a notice.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from shlex import join
from typing import Any, BinaryIO, cast

import msgspec
from msgspec import Raw

from counterfoil.adapters.transcripts.lines import Damage, Line, Tally, read_lines
from counterfoil.adapters.transcripts.records import Record, RecordReader, text_from
from counterfoil.adapters.transcripts.search import NeedleSearch, Words
from counterfoil.adapters.transcripts.source import Source
from counterfoil.adapters.transcripts.threads import Call, Emitter, ThreadReading, thread_id
from counterfoil.core.errors import UnreadableError
from counterfoil.core.events import (
    CommandExited,
    ContextCondensed,
    ErrorRaised,
    FileWritten,
    Outcome,
    ThreadOpened,
    ToolReturned,
    Usage,
)
from counterfoil.core.ids import ThreadId
from counterfoil.core.refs.needles import Whose
from counterfoil.core.shown import FileSeen
from counterfoil.ports.transcripts import Item, Measured, Origin, Sighting, Wanted

FORMAT = "codex"

EVIDENCE = {
    "call-result id": "yes: `call_id`; `web_search_call` often has none",
    "outcome flag": "the status of a patch; none of other tools",
    "exit code": "`exec_command_end.exit_code` or text of the output; some versions drop it",
    "full output": "cut by the harness at about 10,000 characters",
    "approval asked": "no",
    "denial": "the status `declined` of a patch; text of a command's output",
    "sub-agents": "files of their own, with `parent_thread_id`",
    "compaction mark": "yes: `compacted`",
    "working directory": "yes",
    "commit": "yes: `git.commit_hash` at the start",
}
"""What this format can show (transcripts.md section 2)."""

KINDS = frozenset(
    ["session_meta", "turn_context", "response_item", "event_msg", "compacted", "token_usage_record", "world_state", "inter_agent_communication", "inter_agent_communication_metadata"]
)
"""The kinds of records that the format is known by."""

_CONTEXT = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<INSTRUCTIONS>",
    "<skill>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<collaboration_mode>",
    "# AGENTS.md instructions",
)
_EXIT = re.compile(r"(?:^|\n)(?:Process exited with code|Exit code:) (-?\d{1,10})(?=\n|\Z)")
_RUNNING = re.compile(r"(?:^|\n)Process running with session ID (\d+)")
_SECONDS = re.compile(r"(?:^|\n)Wall time: ([\d.]{1,12}) seconds")
_BODY = re.compile(r"(?:^|\n)Output:\n")
_REFUSED = re.compile(r"\s*(?:exec command |command |patch )?rejected by user\b", re.IGNORECASE)
_ABORTED = re.compile(r"\s*aborted by user\b", re.IGNORECASE)
_CUT = re.compile(
    r"…\s?\d+ (?:tokens|chars|lines) truncated\s?…|\[\.\.\. omitted \d+ of \d+ lines \.\.\.\]"
)
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)
_SHELLS = frozenset({"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh"})
_HEAD = 4096
_BATCH = 256
_FIRST = 5


class _Part(msgspec.Struct):
    type: str = ""
    text: str | None = None


class _Git(msgspec.Struct):
    commit_hash: str | None = None


class _Duration(msgspec.Struct):
    secs: int = 0
    nanos: int = 0


class _Tokens(msgspec.Struct):
    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None
    total_tokens: int | None = None


class _Info(msgspec.Struct):
    total_token_usage: _Tokens | None = None
    last_token_usage: _Tokens | None = None


class _Payload(msgspec.Struct):
    type: str = ""
    role: str | None = None
    content: str | list[_Part | str] | None = None
    name: str | None = None
    arguments: str | None = None
    input: str | None = None
    call_id: str | None = None
    id: str | None = None
    output: Raw = Raw(b"")
    status: str | None = None
    success: bool | None = None
    exit_code: int | None = None
    aggregated_output: str | None = None
    duration: _Duration | None = None
    duration_ms: int | None = None
    message: str | None = None
    text: str | None = None
    cwd: str | None = None
    cli_version: str | None = None
    git: _Git | None = None
    forked_from_id: str | None = None
    source: Raw = Raw(b"")
    action: Raw = Raw(b"")
    item: Raw = Raw(b"")
    info: _Info | None = None


class CodexRecord(msgspec.Struct):
    """The fields of a record that are needed; everything else is passed over."""

    type: str = ""
    timestamp: str | None = None
    payload: _Payload | None = None


@dataclass(slots=True)
class _Open:
    """A call and what is known by now of what came of it."""

    call: Call
    patch: str | None = None
    output: str | None = None
    line: int = 0
    exit_status: int | None = None
    outcome: Outcome | None = None
    milliseconds: int | None = None
    is_running: bool = False

    def is_shell(self) -> bool:
        return self.call.command is not None


class CodexTranscript:
    """One rollout, with those of its sub-agents."""

    format = FORMAT
    numbers_entries = False

    def __init__(self, source: Source) -> None:
        self.path = source.name
        self._source = source
        self._files: list[tuple[Path, Origin]] = []
        self._threads: dict[str, ThreadId] = {}

    def items(self) -> Iterator[Item]:
        """Yield everything of the rollout, in its order (see the port)."""
        session = _Session(self._source)
        yield from session.items()
        self._files = session.files
        self._threads = session.threads

    def find(self, wanted: Sequence[Wanted]) -> Iterator[Sighting]:
        """Yield the first places of needles in the files read by `items` (see the port)."""
        search = NeedleSearch(wanted, self._words_in(""))
        with self._source.open() as file:
            yield from search.sightings(file, Origin(""))
        for path, origin in self._files:
            with path.open("rb") as file:
                yield from search.sightings(file, origin, self._words_in(origin.source))

    def _words_in(self, name: str) -> "_WordsOf":
        return _WordsOf(self._threads.get(name))


class _WordsOf:
    """The texts of the records of one file, which is of one thread."""

    def __init__(self, thread: ThreadId | None) -> None:
        self._thread = thread

    def __call__(self, raw: bytes) -> Iterator[Words]:
        record = decode_record(raw)
        if record is not None and record.payload is not None:
            for whose, text in words_of(record.type, record.payload):
                yield Words(whose, text, self._thread)


class _Session:
    """One pass over a rollout, and over its sub-agents' rollouts in their places."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._waiting: dict[str, Path] = {}
        self.emit = Emitter(Origin(""))
        self.tally = Tally()
        self.files: list[tuple[Path, Origin]] = []
        self.threads: dict[str, ThreadId] = {}

    def items(self) -> Iterator[Item]:
        with self._source.open() as file:
            yield from _FileReading(self, self.tally, self._source.stem).items(file)
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
        path = self._waiting.pop(id_, None)
        if path is None:
            return
        outer = self.emit.origin
        self.emit.origin = Origin(path.name, (*outer.prefix, line, 0, len(self.files)))
        self.files.append((path, self.emit.origin))
        with path.open("rb") as file:
            yield from _FileReading(self, Tally(), path.stem, parent=parent).items(file)
        self.emit.origin = outer


class _FileReading:
    """One rollout: its thread, its calls, and what came of them."""

    def __init__(
        self, session: _Session, tally: Tally, stem: str, *, parent: ThreadId | None = None
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
        self._open: dict[str, _Open] = {}
        self._notices: list[tuple[str, int]] = []
        self._prompt: str | None = None
        self._early: list[Damage] = []
        self._line = 0

    def items(self, file: BinaryIO) -> Iterator[Item]:
        items = self._emit.items
        for record in _reader.records(read_lines(file, self._tally), self._tally):
            if isinstance(record, Damage):
                self._damaged(record)
                continue
            self._line = record.line
            agent = self._agent_in(record)
            if agent is not None:
                yield from self._flushed()
                yield from self._session.sub_items(agent, record.line, self._now().id)
            self._read(record.value, record.raw)
            if len(items) >= _BATCH:
                yield from self._flushed()
        if self._thread is not None or self._early or self._tally.records:
            self._end_turn()
            self._now().end_turn(self._line)
        yield from self._flushed()

    def _agent_in(self, record: Record[CodexRecord]) -> str | None:
        payload = record.value.payload
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

    def _opened(self, id_: str | None, payload: _Payload | None) -> ThreadReading:
        thread = ThreadReading(thread_id(id_, self._stem), self._emit, is_sub=self._is_sub)
        self._thread = thread
        self._session.threads[self._emit.origin.source] = thread.id
        version = payload.cli_version if payload else None
        thread.version = version
        versions = {FORMAT: version} if version else {}
        if payload and payload.git and payload.git.commit_hash:
            versions["commit"] = payload.git.commit_hash
        parent = self._parent or (_parent_of(payload) if payload else None)
        self._emit.event(
            thread,
            ThreadOpened(
                face=FORMAT,
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
        if value.type not in KINDS:
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

    def _meta(self, payload: _Payload) -> None:
        id_ = payload.id
        if id_ is None or id_ in self._known:
            return
        if self._own is None:
            self._own = id_
            self._known.update(filter(None, (id_, payload.forked_from_id, _parent_of(payload))))
            self._opened(id_, payload)
            self._session.knows(id_)
            return
        self._known.add(id_)
        self._end_turn()
        self._now().end_turn(self._line)
        self._opened(id_, payload)

    # --- the conversation -----------------------------------------------------

    def _item(self, payload: _Payload, raw: bytes) -> None:
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

    def _message(self, payload: _Payload) -> None:
        texts = list(_texts(payload.content))
        if payload.role == "assistant":
            self._notices = []
            for place, text in texts:
                self._now().said(text, self._line, place)
            self._prompt = None
        elif payload.role == "user":
            for place, text in texts:
                if not text.lstrip().startswith(_CONTEXT):
                    self._asked(text, place)

    def _asked(self, text: str, place: int = 0) -> None:
        """A prompt stands twice, one record behind the other: once is enough."""
        if text == self._prompt or not text.strip():
            return
        self._end_turn()
        self._now().prompt(text, self._line, place)
        self._prompt = text

    def _called(self, payload: _Payload) -> None:
        thread = self._now()
        tool = payload.name or ("shell" if payload.type == "local_shell_call" else "unknown")
        arguments = payload.arguments or payload.input or bytes(payload.action).decode() or "{}"
        call_id = payload.call_id or payload.id
        thread.called(tool, arguments, self._line, call_id, 0)
        self._prompt = None
        if call_id is None:
            return
        patch = _patch_of(tool, arguments)
        given = _object(arguments) if arguments.startswith("{") else {}
        call = Call(
            tool=tool,
            command=None if patch else _command_of(given),
            path=None,
            url=_job_of(tool, given),
            is_background=False,
            line=self._line,
        )
        known = self._open.get(call_id)
        if known is None:
            self._open[call_id] = _Open(call, patch)
        else:
            known.call, known.patch = call, patch
            self._settle(call_id, known)

    def _returned(self, payload: _Payload) -> None:
        if payload.call_id is None:
            return
        output = output_of(payload.output)
        found = self._open.get(payload.call_id)
        if found is None:
            orphan = Call("unknown", None, None, None, is_background=False, line=self._line)
            found = self._open[payload.call_id] = _Open(orphan)
        found.output, found.line = output, self._line
        _read_output(found)
        job = found.call.url
        if job is not None and found.exit_status is not None:
            self._now().ended(job, self._line, found.exit_status)
        self._settle(payload.call_id, found)

    def _settle(self, call_id: str, found: _Open) -> None:
        """Tell what came of a call as soon as all that can come is there."""
        is_complete = not found.is_shell() or found.exit_status is not None or found.is_running
        if (
            found.output is not None
            and found.call.tool != "unknown"
            and (is_complete or found.outcome is not None)
        ):
            del self._open[call_id]
            self._tell(call_id, found)

    def _tell(self, call_id: str, found: _Open) -> None:
        thread = self._now()
        line = found.line or self._line
        call = found.call
        if found.is_running and call.command is not None:
            job = _RUNNING.search((found.output or "")[:_HEAD])
            thread.started(job[1] if job else call_id, call.command, call_id, line)
        elif found.outcome == "denied":
            thread.denied(call, call_id, line, (found.output or "declined")[:200], by_person=True)
        elif call.command is not None:
            ended = CommandExited(
                command=call.command,
                exit_status=found.exit_status,
                milliseconds=found.milliseconds,
            )
            thread.exited(ended, line, call_id)
        output = found.output or ""
        is_cut = bool(_CUT.search(output))
        if is_cut:
            thread.note("output-cut", line)
        if call.command is not None and found.output:
            body = _body(found.output)
            is_whole = found.exit_status == 0 and not is_cut
            thread.showed(call.command, body, line, call_id, is_whole=is_whole)
        if found.patch is not None and found.outcome == "ok":
            self._patched(found.patch, call_id, line)
        size = len(output) if output.isascii() else len(output.encode("utf-8", "replace"))
        self._emit.event(
            thread,
            ToolReturned(
                tool=call.tool,
                output=found.output,
                bytes=size if found.output is not None else None,
                outcome=found.outcome,
                milliseconds=found.milliseconds,
                truncated=True if is_cut else None,
            ),
            line,
            call_id,
        )

    def _patched(self, patch: str, call_id: str, line: int) -> None:
        thread = self._now()
        for verb, path in _PATCHED.findall(patch):
            mode = {"Add": "write", "Update": "replace", "Delete": "delete"}[verb]
            written = FileWritten(path=path, mode=mode, created=True if verb == "Add" else None)
            self._emit.event(thread, written, line, call_id)
            thread.file(FileSeen(path=path, how="written"), line, call_id)

    def _searched(self, payload: _Payload) -> None:
        """A search is call and result in one record, often without an id."""
        thread = self._now()
        call_id = payload.call_id or payload.id or f"line-{self._line}"
        tool = payload.type.removesuffix("_call")
        arguments = bytes(payload.action).decode("utf-8", "replace") or "{}"
        thread.called(tool, arguments, self._line, call_id, 0)
        url = _object(arguments).get("url")
        if isinstance(url, str):
            thread.fetched(url, self._line, call_id)
        outcome: Outcome | None = "ok" if payload.status == "completed" else None
        self._emit.event(thread, ToolReturned(tool=tool, outcome=outcome), self._line, call_id)
        self._prompt = None

    # --- notices --------------------------------------------------------------

    def _event(self, payload: _Payload) -> None:
        kind = payload.type
        if kind == "user_message":
            text = payload.message or ""
            if not text.lstrip().startswith(_CONTEXT):
                self._asked(text)
        elif kind == "agent_message":
            self._notices.append((payload.message or "", self._line))
        elif kind == "agent_reasoning":
            if payload.text:
                self._now().reasoned(payload.text, self._line)
        elif kind in {"exec_command_end", "patch_apply_end"}:
            self._ended(payload)
        elif kind == "item_completed":
            self._completed(payload)
        elif kind in {"task_complete", "turn_complete"}:
            self._now().lasted(payload.duration_ms)
        elif kind == "turn_aborted":
            self._now().interrupted(self._line)
        elif kind == "thread_rolled_back":
            self._now().note("rewound", self._line)
        elif kind in {"error", "stream_error"}:
            where = "turn" if kind == "error" else "model"
            error = ErrorRaised(message=(payload.message or kind)[:2000], where=where)
            self._now().ensure_turn(self._line)
            self._emit.event(self._now(), error, self._line)
        elif kind == "token_count":
            self._counted(payload)

    def _ended(self, payload: _Payload) -> None:
        if payload.call_id is None:
            return
        found = self._open.get(payload.call_id)
        if found is None:
            self._now().ended(payload.call_id, self._line, payload.exit_code)
            return
        if payload.duration is not None:
            found.milliseconds = payload.duration.secs * 1000 + payload.duration.nanos // 1_000_000
        if payload.type == "patch_apply_end":
            declined = payload.status == "declined"
            found.outcome = "denied" if declined else "ok" if payload.success else "error"
        elif payload.exit_code is not None:
            found.exit_status = payload.exit_code
        found.line = found.line or self._line
        self._settle(payload.call_id, found)

    def _completed(self, payload: _Payload) -> None:
        item = _object(bytes(payload.item).decode("utf-8", "replace"))
        found = self._open.get(str(item.get("id") or item.get("call_id")))
        code = item.get("exit_code")
        if found is not None and isinstance(code, int):
            found.exit_status = code
            self._settle(str(item.get("id") or item.get("call_id")), found)

    def _counted(self, payload: _Payload) -> None:
        info = payload.info
        if info is None or info.last_token_usage is None:
            return
        last = info.last_token_usage
        total = info.total_token_usage.total_tokens if info.total_token_usage else None
        self._now().used(
            str(total if total is not None else self._line),
            Usage(
                input=last.input_tokens,
                output=last.output_tokens,
                cached=last.cached_input_tokens,
                reasoning=last.reasoning_output_tokens,
            ),
        )

    def _end_turn(self) -> None:
        """Tell what is known of calls that got no second record, and of unpaired notices."""
        for call_id, found in list(self._open.items()):
            if found.output is not None or found.outcome or found.exit_status is not None:
                del self._open[call_id]
                self._tell(call_id, found)
        for text, line in self._notices:
            self._now().said(text, line)
        self._notices = []


def decode_record(raw: bytes) -> CodexRecord | None:
    """Return the first record that `raw` holds, or `None`."""
    found = next(_reader.records([Line(1, raw, is_ended=True)], Tally()), None)
    return found.value if isinstance(found, Record) else None


def words_of(kind: str, payload: _Payload) -> Iterator[tuple[Whose, str]]:
    """Yield the texts of a record, each with whose words it is."""
    if kind in {"session_meta", "turn_context"}:
        return
    if kind == "compacted":
        yield "harness", payload.message or ""
    elif payload.type == "message":
        for _, text in _texts(payload.content):
            yield _speaker(payload.role, text), text
    elif payload.type in {"function_call", "custom_tool_call"}:
        yield "model", payload.arguments or payload.input or ""
    elif payload.type in {"function_call_output", "custom_tool_call_output"}:
        output = output_of(payload.output)
        yield ("subagent" if '"agent_id"' in output[:_HEAD] else "tool"), output
    elif payload.type == "exec_command_end":
        yield "tool", payload.aggregated_output or ""
    elif payload.type == "user_message":
        yield "person", payload.message or ""
    elif payload.type in {"agent_message", "agent_reasoning"}:
        yield "model", payload.message or payload.text or ""


def _speaker(role: str | None, text: str) -> Whose:
    if role == "assistant":
        return "model"
    return "system" if role != "user" or text.lstrip().startswith(_CONTEXT) else "person"


def output_of(raw: Raw) -> str:
    """Return the text of an output: a string, blocks of text, or an object with one."""
    content = bytes(raw)
    if content[:1] == b'"':
        text = text_from(raw)
        wrapped = _object(text) if text.startswith('{"output"') else {}
        inner = wrapped.get("output")
        if not isinstance(inner, str):
            return text
        metadata = wrapped.get("metadata")
        code = metadata.get("exit_code") if isinstance(metadata, dict) else None
        return f"Exit code: {code}\nOutput:\n{inner}" if isinstance(code, int) else inner
    value = _value(content)
    if isinstance(value, dict):
        return str(cast("dict[str, Any]", value).get("content") or "")
    parts = cast("list[Any]", value) if isinstance(value, list) else []
    return "\n".join(
        str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part
    )


def _read_output(found: _Open) -> None:
    """Read what the head of an output says of the command's end."""
    head = (found.output or "")[:_HEAD]
    exit_ = _EXIT.search(head)
    if exit_ is not None and found.exit_status is None:
        found.exit_status = int(exit_[1])
    seconds = _SECONDS.search(head)
    if seconds is not None and found.milliseconds is None and seconds[1].count(".") <= 1:
        found.milliseconds = round(float(seconds[1].strip(".") or 0) * 1000)
    found.is_running = exit_ is None and _RUNNING.search(head) is not None
    if _ABORTED.match(head):
        found.outcome = "interrupted"
    elif _REFUSED.match(head):
        found.outcome = "denied"
    elif found.patch is not None and found.outcome is None and found.exit_status is not None:
        found.outcome = "error" if found.exit_status else "ok"


def _body(output: str) -> str:
    """Return what the command printed, without the harness's head."""
    head = _BODY.search(output[:_HEAD])
    return output[head.end() :] if head else output


def _command_of(given: dict[str, Any]) -> str | None:
    command = given.get("cmd", given.get("command"))
    if isinstance(command, str):
        return command
    if not isinstance(command, list):
        return None
    words = [str(word) for word in cast("list[Any]", command)]
    if len(words) == 3 and words[0] in _SHELLS and words[1] in {"-lc", "-c"}:  # noqa: PLR2004
        return words[2]
    return join(words)


def _job_of(tool: str, given: dict[str, Any]) -> str | None:
    job = given.get("session_id") if tool == "write_stdin" else None
    return str(job) if isinstance(job, int | str) else None


def _patch_of(tool: str, arguments: str) -> str | None:
    if tool != "apply_patch" and "*** Begin Patch" not in arguments:
        return None
    given = _object(arguments) if arguments.startswith("{") else {}
    for name in ("input", "patch"):
        if isinstance(given.get(name), str):
            return str(given[name])
    command = _command_of(given)
    return command if command is not None else arguments


def _object(text: str) -> dict[str, Any]:
    value = _value(text.encode("utf-8", "replace"))
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _value(content: bytes) -> object:
    try:
        return json.loads(content.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None


def _texts(content: str | list[_Part | str] | None) -> Iterator[tuple[int, str]]:
    if isinstance(content, str):
        yield 0, content
        return
    for place, part in enumerate(content or ()):
        text = part if isinstance(part, str) else part.text
        if text:
            yield place, text


def _parent_of(payload: _Payload) -> str | None:
    """Return the thread that spawned this one: `source.subagent.thread_spawn`."""
    value: object = _value(bytes(payload.source))
    for name in ("subagent", "thread_spawn", "parent_thread_id"):
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


def first_meta(path: Path) -> _Payload | None:
    """Return the `session_meta` that the file at `path` begins with."""
    try:
        with path.open("rb") as file:
            for record in islice(_reader.records(read_lines(file, Tally()), Tally()), _FIRST):
                if isinstance(record, Record) and record.value.type == "session_meta":
                    return record.value.payload
    except (OSError, UnreadableError):
        return None
    return None


def find_subagents(path: Path, id_: str) -> dict[str, Path]:
    """Return the rollouts beside `path` whose threads the thread `id_` spawned."""
    found: dict[str, Path] = {}
    for other in sorted(path.parent.glob("*.jsonl")):
        meta = first_meta(other) if other != path else None
        if meta is not None and meta.id is not None and _parent_of(meta) == id_:
            found[meta.id] = other
    return found


_reader = RecordReader(CodexRecord)
