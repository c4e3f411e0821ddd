"""Claude Code sessions: JSON Lines, one record a line (transcripts.md 3 and 4.2).

One message of the model is split over several records; results are joined by
`tool_use_id`; a refusal is only text, and read as one only where the format marks the
result as an error. Sub-agents have files of their own, which are read where their
result stands; older versions put their records into the main file.
"""

import json
import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec
from msgspec import Raw

from counterfoil.adapters.transcripts.lines import Damage, Line, Tally, read_lines
from counterfoil.adapters.transcripts.once import SeenIds
from counterfoil.adapters.transcripts.records import Record, RecordReader, loosely, text_from
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

FORMAT = "claude_code"

EVIDENCE = {
    "call-result id": "yes: `tool_use_id`",
    "outcome flag": "`is_error`: true, false or absent; absent is not recorded, unless `toolUseResult` is an object",
    "exit code": "text: `Exit code N` of a failed command; none of one that succeeded",
    "full output": "yes; long ones in `tool-results/*.txt`",
    "approval asked": "no: neither the question nor the answer is on disk",
    "denial": "text of a result marked as an error",
    "sub-agents": "files of their own, inline in older versions",
    "compaction mark": "yes: `compact_boundary`",
    "working directory": "yes",
    "commit": "no: the branch alone",
}
"""What this format can show (transcripts.md section 2)."""

IGNORED = frozenset(
    ["progress", "file-history-snapshot", "file-history-delta", "queue-operation", "summary", "pr-link", "last-prompt", "mode", "permission-mode", "atis-latch", "attachment", "custom-title", "agent-name", "ai-title", "worktree-state", "agent-setting", "agent-color", "tag"]
)
"""Kinds of records that say nothing about what was asked, done or answered."""

_INTERRUPTED = "[Request interrupted by user"
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
_WRAPPED = re.compile(
    r"\s*<(command-name|command-message|command-args|local-command-[a-z]+|bash-input|bash-stdout|bash-stderr|task-notification|system-reminder|user-memory-input|ide_[a-z_]+|teammate-message)>"
)
_REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)
_NUMBERED = re.compile(r"^ *(\d{1,7})(?:→|\t)", re.MULTILINE)
_EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_AGENTS = frozenset({"Task", "Agent"})


class _Input(msgspec.Struct):
    command: str | None = None
    file_path: str | None = None
    notebook_path: str | None = None
    path: str | None = None
    url: str | None = None
    run_in_background: bool | None = None


class _Block(msgspec.Struct):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = Raw(b"")
    tool_use_id: str | None = None
    content: Raw = Raw(b"")
    is_error: bool | None = None


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _Message(msgspec.Struct):
    id: str | None = None
    role: str | None = None
    model: str | None = None
    content: str | list[_Block | str] | None = None
    usage: _Usage | None = None


class _Origin(msgspec.Struct):
    kind: str | None = None


class ClaudeRecord(msgspec.Struct, rename="camel"):
    """The fields of a record that are needed; everything else is passed over."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    is_sidechain: bool | None = None
    agent_id: str | None = None
    timestamp: str | None = None
    version: str | None = None
    cwd: str | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    duration_ms: int | None = None
    content: str | None = None
    origin: _Origin | None = None
    message: _Message | str | None = None
    tool_use_result: Raw = Raw(b"")


class _File(msgspec.Struct, rename="camel"):
    file_path: str | None = None
    start_line: int | None = None
    num_lines: int | None = None
    total_lines: int | None = None


class _Hunk(msgspec.Struct, rename="camel"):
    old_start: int = 0
    old_lines: int = 0
    new_start: int = 0
    new_lines: int = 0


class _ToolUseResult(msgspec.Struct, rename="camel"):
    type: str | None = None
    file: _File | None = None
    file_path: str | None = None
    content: Raw = Raw(b"")
    structured_patch: list[_Hunk] | None = None
    agent_id: str | None = None
    interrupted: bool | None = None
    background_task_id: str | None = None
    persisted_output_path: str | None = None
    url: str | None = None


_decode_input = msgspec.json.Decoder(_Input).decode
_decode_result = msgspec.json.Decoder(_ToolUseResult).decode
_decode_blocks = msgspec.json.Decoder(list[_Block | str]).decode


class ClaudeCodeTranscript:
    """One session of Claude Code, with the files of its sub-agents and long outputs."""

    format = FORMAT
    numbers_entries = False

    def __init__(self, source: Source) -> None:
        self.path = source.name
        self._source = source
        self._threads: dict[str, ThreadId] = {}
        self._files: list[tuple[Path, Origin]] = []
        self._side_files: dict[str, tuple[ThreadId, int, Origin]] = {}

    def items(self) -> Iterator[Item]:
        """Yield everything of the session, in its order (see the port)."""
        session = _Session(self._source)
        yield from session.items()
        self._threads = session.threads
        self._files = session.files
        self._side_files = session.side_files

    def find(self, wanted: Sequence[Wanted]) -> Iterator[Sighting]:
        """Yield the first places of needles in the files read by `items` (see the port)."""
        search = NeedleSearch(wanted, self._words)
        with self._source.open() as file:
            yield from search.sightings(file, Origin(""))
        for path, origin in self._files:
            with path.open("rb") as file:
                yield from search.sightings(file, origin)
        for name, (thread, line, origin) in self._side_files.items():
            directory = side_directory(self._source)
            if directory is not None:
                with (directory / name).open("rb") as file:
                    yield from search.in_text(file, thread, line, origin)

    def _words(self, raw: bytes) -> Iterator[Words]:
        record = decode_record(raw)
        if record is None:
            return
        session = f"agent-{record.agent_id}" if record.is_sidechain else record.session_id
        thread = self._threads.get(session or "")
        for whose, text in words_of(record):
            yield Words(whose, text, thread)


class _Session:
    """One pass over a session file, and over its sub-agents' files in their places."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._waiting = find_subagents(source.path)
        self._directory = side_directory(source)
        self.emit = Emitter(Origin(""))
        self.seen = SeenIds()
        self.tally = Tally()
        self.threads: dict[str, ThreadId] = {}
        self.files: list[tuple[Path, Origin]] = []
        self.side_files: dict[str, tuple[ThreadId, int, Origin]] = {}

    def items(self) -> Iterator[Item]:
        with self._source.open() as file:
            yield from _FileReading(self, self.tally, self._source.stem).items(file)
        for agent in list(self._waiting):
            yield from self.sub_items(agent, self.tally.lines + 1, None, None)
        tally = self.tally
        yield Measured(
            tally.size, tally.lines, tally.records, tally.skipped, tally.unknown, tally.repeated
        )

    def sub_items(
        self, agent: str, line: int, parent: ThreadId | None, call: str | None
    ) -> Iterator[Item]:
        """Yield the items of a sub-agent's file, which was read at `line` of another."""
        path = self._waiting.pop(agent, None)
        if path is None:
            return
        outer = self.emit.origin
        directory = self._source.path.parent if self._source.path else path.parent
        name = path.relative_to(directory) if path.is_relative_to(directory) else path
        self.emit.origin = Origin(str(name), (*outer.prefix, line, 0, len(self.files)))
        self.files.append((path, self.emit.origin))
        reading = _FileReading(self, Tally(), f"agent-{agent}", parent=parent, call=call)
        with path.open("rb") as file:
            yield from reading.items(file)
        self.emit.origin = outer

    def has_side_file(self, name: str, thread: ThreadId, line: int) -> bool:
        """Say whether the whole of a cut output lies beside the session, and remember it."""
        if self._directory is None or not (self._directory / name).is_file():
            return False
        self.side_files.setdefault(name, (thread, line, self.emit.origin))
        return True


class _FileReading:
    """One file: which thread each record belongs to, and what it says."""

    def __init__(
        self,
        session: _Session,
        tally: Tally,
        stem: str,
        *,
        parent: ThreadId | None = None,
        call: str | None = None,
    ) -> None:
        self._session = session
        self._emit = session.emit
        self._tally = tally
        self._stem = stem
        self._parent = parent
        self._started_by = call
        self._is_sub = bool(session.emit.origin.prefix)
        self._threads: dict[str, ThreadReading] = {}
        self._current: ThreadReading | None = None
        self._current_key: str | None = None
        self._early: list[Damage] = []
        self._early_unknown: list[tuple[bytes, int]] = []
        self._calls: dict[str, Call] = {}
        self._orphans: dict[str, tuple[Outcome | None, int]] = {}
        self._chains = _Chains()
        self._command: tuple[str, int] | None = None
        self._pending: tuple[str, int] | None = None
        self._recent: OrderedDict[str, None] = OrderedDict()

    def items(self, file: BinaryIO) -> Iterator[Item]:
        items = self._emit.items
        line = 0
        for record in _reader.records(read_lines(file, self._tally), self._tally):
            if isinstance(record, Damage):
                self._damaged(record)
                continue
            line, value, raw = record
            if value.type in IGNORED:
                continue
            if value.uuid is not None and not self._session.seen.add(value.uuid):
                self._tally.repeated += 1
                continue
            agent = _agent_in(value, raw)
            if agent is not None:
                yield from self._flushed()
                thread = self._thread(value, line)
                yield from self._session.sub_items(agent, line, thread.id, _answered_call(value))
            self._read(value, raw, line)
            if len(items) >= _BATCH:
                yield from self._flushed()
        self._finish(line)
        yield from self._flushed()

    def _flushed(self) -> Iterator[Item]:
        yield from self._emit.items
        self._emit.items.clear()

    def _damaged(self, damage: Damage) -> None:
        if self._current is None:
            self._early.append(damage)
        else:
            self._emit.damage(self._current, damage)

    def _finish(self, line: int) -> None:
        if self._current is None and (self._early or self._tally.records):
            self._current = self._opened(self._stem, None, line)
        for thread in self._threads.values():
            thread.end_turn(line)

    def _thread(self, value: ClaudeRecord, line: int) -> ThreadReading:
        if value.is_sidechain and not self._is_sub:
            key = f"agent-{value.agent_id or self._chains.root(value)}"
        elif self._is_sub:
            key = self._stem
        else:
            key = value.session_id or self._current_key or self._stem
        if key == self._current_key and self._current is not None:
            return self._current
        thread = self._threads.get(key)
        if thread is None:
            thread = self._continued(key, value) or self._opened(key, value, line)
        if not value.is_sidechain or self._is_sub:
            self._current, self._current_key = thread, key
        return thread

    def _continued(self, key: str, value: ClaudeRecord) -> ThreadReading | None:
        """A resumed session goes on under a new id: its first record has a known parent."""
        is_known = value.parent_uuid is not None and value.parent_uuid in self._session.seen
        is_unnamed = self._current_key == self._stem != key
        if self._current is None or value.is_sidechain or not (is_known or is_unnamed):
            return None
        self._threads[key] = self._current
        self._session.threads[key] = self._current.id
        return self._current

    def _opened(self, key: str, value: ClaudeRecord | None, line: int) -> ThreadReading:
        is_sub = self._is_sub or bool(value and value.is_sidechain)
        thread = ThreadReading(thread_id(key, self._stem), self._emit, is_sub=is_sub)
        self._threads[key] = thread
        self._session.threads[key] = thread.id
        if value is not None:
            self._emit.at_time(value.timestamp)
        parent = self._parent or (self._current.id if is_sub and self._current else None)
        self._emit.event(
            thread,
            ThreadOpened(
                face=FORMAT,
                parent=parent,
                cwd=value.cwd if value else None,
                versions={FORMAT: value.version} if value and value.version else None,
            ),
            line,
            self._started_by,
        )
        thread.version = value.version if value else None
        for damage in self._early:
            self._emit.damage(thread, damage)
        for raw, at in self._early_unknown:
            self._emit.unrecognized(thread, raw, at)
        self._early, self._early_unknown = [], []
        return thread

    def _read(self, value: ClaudeRecord, raw: bytes, line: int) -> None:
        if value.type not in _KNOWN:
            self._unknown(value, raw, line)
            return
        thread = self._thread(value, line)
        self._emit.at_time(value.timestamp)
        if value.version is not None and value.version != thread.version:
            if thread.version is not None:
                thread.note("mixed-versions", line, f"{thread.version} to {value.version}")
            thread.version = value.version
        if value.type == "assistant":
            self._assistant(value, thread, line)
        elif value.type == "user":
            self._user(value, thread, line)
        else:
            self._system(value, thread, line)
        if value.uuid is not None:
            self._recent[value.uuid] = None
            if len(self._recent) > _RECENT:
                self._recent.popitem(last=False)

    def _unknown(self, value: ClaudeRecord, raw: bytes, line: int) -> None:
        if not value.type:
            self._damaged(Damage(line, "not-a-record", 0, "an object without a type"))
            return
        self._tally.unknown[value.type[:60]] += 1
        if self._current is None and value.session_id is None:
            self._early_unknown.append((raw, line))
        else:
            self._emit.unrecognized(self._thread(value, line), raw, line)

    def _assistant(self, value: ClaudeRecord, thread: ThreadReading, line: int) -> None:
        message = value.message
        if not isinstance(message, _Message):
            thread.note("not-a-record", line, "a message without content")
            return
        self._begin_pending(thread)
        if value.is_api_error_message:
            thread.ensure_turn(line)
            text = " ".join(text for _, text in _texts(message.content))
            self._emit.event(thread, ErrorRaised(message=text[:2000], where="turn"), line)
            return
        if message.usage is not None and message.id is not None:
            usage = message.usage
            thread.used(
                message.id,
                Usage(
                    input=usage.input_tokens,
                    output=usage.output_tokens,
                    cached=usage.cache_read_input_tokens,
                ),
            )
        if message.model == "<synthetic>":
            return
        content = message.content
        if isinstance(content, str):
            thread.said(content, line)
            return
        for place, block in enumerate(content or ()):
            self._block(block, thread, line, place)

    def _block(self, block: _Block | str, thread: ThreadReading, line: int, place: int) -> None:
        if isinstance(block, str):
            thread.said(block, line, place)
        elif block.type == "tool_use":
            self._called(block, thread, line, place)
        elif block.type == "text":
            if block.text:
                thread.said(block.text, line, place)
        elif block.type == "thinking" and block.thinking:
            thread.reasoned(block.thinking, line, place)

    def _called(self, block: _Block, thread: ThreadReading, line: int, place: int) -> None:
        tool = block.name or "unknown"
        arguments = bytes(block.input)
        thread.called(tool, arguments.decode("utf-8", "replace") or "{}", line, block.id, place)
        if block.id is None:
            return
        try:
            given = _decode_input(arguments) if arguments else _Input()
        except msgspec.MsgspecError:
            given = _Input()
        call = Call(
            tool=tool,
            command=given.command,
            path=given.file_path or given.notebook_path or given.path,
            url=given.url,
            is_background=bool(given.run_in_background),
            line=line,
        )
        orphan = self._orphans.pop(block.id, None)
        if orphan is None:
            self._calls[block.id] = call
        elif call.command is not None and orphan[0] not in _NOT_RUN:
            thread.exited(CommandExited(command=call.command), line, block.id)

    def _user(self, value: ClaudeRecord, thread: ThreadReading, line: int) -> None:
        message = value.message
        if not isinstance(message, _Message):
            if isinstance(message, str):
                self._person_said(message, value, thread, line, 0)
            else:
                thread.note("not-a-record", line, "a message without content")
            return
        content = message.content
        if isinstance(content, list) and any(
            isinstance(block, _Block) and block.type == "tool_result" for block in content
        ):
            for block in content:
                if isinstance(block, _Block) and block.type == "tool_result":
                    self._returned(block, value, thread, line)
            return
        if content is None:
            thread.note("not-a-record", line, "a message without content")
        for place, text in _texts(content):
            self._person_said(text, value, thread, line, place)

    def _person_said(
        self, text: str, value: ClaudeRecord, thread: ThreadReading, line: int, place: int
    ) -> None:
        if text.startswith(_INTERRUPTED):
            thread.interrupted(line)
        elif (wrapped := _WRAPPED.match(text)) is not None:
            self._wrapped(wrapped[1], text, thread, line)
        elif not (
            value.is_meta
            or value.is_compact_summary
            or (value.origin is not None and value.origin.kind not in {None, "human"})
            or not text.strip()
        ):
            self._pending = None
            is_rewound = self._is_rewound(value)
            thread.prompt(text, line, place)
            if is_rewound:
                thread.note("rewound", line)

    def _is_rewound(self, value: ClaudeRecord) -> bool:
        """A prompt that goes on from an older record left what followed that one behind."""
        parent = value.parent_uuid
        is_older = parent is not None and not value.is_sidechain and parent not in self._recent
        self._recent.clear()
        return is_older and parent is not None and parent in self._session.seen

    def _wrapped(self, tag: str, text: str, thread: ThreadReading, line: int) -> None:
        """Text that the harness put around what a person typed, or wrote itself."""
        if tag == "bash-input":
            self._command = (_tagged(text, tag), line)
        elif tag in {"bash-stdout", "bash-stderr"} and self._command is not None:
            command, at = self._command
            self._command = None
            thread.exited(CommandExited(command=command, source="person"), at, None)
        elif tag == "task-notification":
            thread.ended(_tagged(text, "task-id"), line, _exit_status(_tagged(text, "summary")))
        elif tag in {"command-name", "command-message"}:
            name = _tagged(text, "command-name")
            self._pending = (f"{name} {_tagged(text, 'command-args')}".strip(), line)
        elif tag.startswith("local-command"):
            self._pending = None

    def _begin_pending(self, thread: ThreadReading) -> None:
        """A slash command is a prompt only where the model answered it."""
        if self._pending is not None:
            text, line = self._pending
            self._pending = None
            thread.prompt(text, line)

    def _system(self, value: ClaudeRecord, thread: ThreadReading, line: int) -> None:
        if value.subtype == "compact_boundary":
            self._emit.event(thread, ContextCondensed(steps=("drop",), reason=value.subtype), line)
            thread.note("compacted", line)
        elif value.subtype == "turn_duration":
            thread.lasted(value.duration_ms)
        elif value.subtype == "api_error":
            message = value.content or "API error"
            self._emit.event(thread, ErrorRaised(message=message[:2000], where="model"), line)

    def _returned(
        self, block: _Block, value: ClaudeRecord, thread: ThreadReading, line: int
    ) -> None:
        thread.ensure_turn(line)
        id_ = block.tool_use_id
        call = self._calls.pop(id_, None) if id_ is not None else None
        output = output_of(block.content)
        result = _result_of(value.tool_use_result)
        outcome = _outcome(block, value.tool_use_result, output, result)
        if id_ is not None and call is not None:
            self._came_of(call, id_, _Came(outcome, output, block, result), thread, line)
        elif id_ is not None:
            self._orphans[id_] = (outcome, line)
            if outcome == "denied":
                unknown = Call("call", id_, None, None, is_background=False, line=line)
                self._denied(unknown, id_, output, thread, line)
        is_cut = self._is_cut(output, result, thread, line)
        self._emit.event(
            thread,
            ToolReturned(
                tool=call.tool if call else "unknown",
                output=output,
                bytes=len(output) if output.isascii() else len(output.encode("utf-8", "replace")),
                outcome=outcome,
                truncated=True if is_cut else None,
            ),
            line,
            id_,
        )

    def _is_cut(
        self, output: str, result: _ToolUseResult, thread: ThreadReading, line: int
    ) -> bool:
        if not ("ncated]" in output or "<persisted-output>" in output):
            return False
        if _CUT.search(output) is None:
            return False
        name = re.split(r"[/\\]", result.persisted_output_path or _saved_name(output))[-1]
        if name and self._session.has_side_file(name, thread.id, line):
            return False
        thread.note("output-cut", line)
        return True

    def _denied(self, call: Call, id_: str, output: str, thread: ThreadReading, line: int) -> None:
        by_person = output.startswith(_REFUSED)
        reason = output.split("\n", 1)[0].split(". ", 1)[0][:200]
        thread.denied(call, id_, line, reason, by_person=by_person)

    def _came_of(
        self, call: Call, id_: str, came: "_Came", thread: ThreadReading, line: int
    ) -> None:
        """Say what came of a call: a refusal, a command that ended, a file, a page."""
        outcome, output, block, result = came
        if outcome == "denied":
            self._denied(call, id_, output, thread, line)
            return
        if call.command is not None:
            self._ran(call, id_, came, thread, line)
        if outcome not in {"ok", None}:
            return
        if call.tool in _EDITS and call.path is not None:
            self._wrote(call, id_, result, thread, line)
        elif call.url is not None:
            thread.fetched(call.url, line, id_)
        elif result.file is not None or call.tool == "Read":
            _saw(call, id_, came, thread, line)

    def _ran(self, call: Call, id_: str, came: "_Came", thread: ThreadReading, line: int) -> None:
        outcome, output, block, result = came
        command = call.command or ""
        job = result.background_task_id
        if job is not None:
            thread.started(job, command, id_, line)
            return
        if outcome in _NOT_RUN or output.startswith(_TOOL_ERROR):
            return
        exit_ = _EXIT.match(output) if block.is_error else None
        timed_out = block.is_error and exit_ is None and _TIMED_OUT.match(output) is not None
        thread.exited(
            CommandExited(
                command=command,
                exit_status=int(exit_[1]) if exit_ else None,
                timed_out=True if timed_out else None,
            ),
            line,
            id_,
        )
        thread.showed(command, output, line, id_, is_whole=outcome == "ok" and not block.is_error)

    def _wrote(
        self, call: Call, id_: str, result: _ToolUseResult, thread: ThreadReading, line: int
    ) -> None:
        path = result.file_path or call.path or ""
        is_write = call.tool == "Write"
        content = (
            text_from(result.content) if is_write and bytes(result.content)[:1] == b'"' else None
        )
        self._emit.event(
            thread,
            FileWritten(
                path=path,
                mode="write" if is_write else "replace",
                created=result.type == "create" if is_write and result.type else None,
                bytes_after=None if content is None else len(content.encode("utf-8", "replace")),
            ),
            line,
            id_,
        )
        if content is not None:
            total = content.count("\n") + (not content.endswith("\n") and bool(content))
            seen = FileSeen(path=path, how="written", first=1, last=max(total, 1), total=total)
            thread.file(seen, line, id_)
            return
        hunks = result.structured_patch
        if not hunks:
            thread.file(FileSeen(path=path, how="written"), line, id_)
        for hunk in hunks or ():
            last = hunk.new_start + max(hunk.new_lines, 1) - 1
            grown = hunk.new_lines - hunk.old_lines
            thread.file(
                FileSeen(path=path, how="written", first=hunk.new_start, last=last, grown=grown),
                line,
                id_,
            )


class _Came(NamedTuple):
    outcome: Outcome | None
    output: str
    block: _Block
    result: _ToolUseResult


class _Chains:
    """Which inline side chain a record without an agent's id belongs to."""

    def __init__(self) -> None:
        self._roots: OrderedDict[str, str] = OrderedDict()

    def root(self, value: ClaudeRecord) -> str:
        own = value.uuid or "unknown"
        root = self._roots.get(value.parent_uuid or "", own)
        self._roots[own] = root
        if len(self._roots) > _RECENT:
            self._roots.popitem(last=False)
        return root


def decode_record(raw: bytes) -> ClaudeRecord | None:
    """Return the first record that `raw` holds, or `None`."""
    found = next(_reader.records([Line(1, raw, is_ended=True)], Tally()), None)
    return found.value if isinstance(found, Record) else None


def _agent_in(value: ClaudeRecord, raw: bytes) -> str | None:
    """Return the id of the sub-agent whose result this record is."""
    if value.type != "user" or value.is_sidechain or b'"agentId"' not in raw:
        return None
    return _result_of(value.tool_use_result).agent_id


def _answered_call(value: ClaudeRecord) -> str | None:
    message = value.message
    content = message.content if isinstance(message, _Message) else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, _Block) and block.tool_use_id is not None:
            return block.tool_use_id
    return None


def _result_of(raw: Raw) -> _ToolUseResult:
    content = bytes(raw)
    if content[:1] != b"{":
        return _NO_RESULT
    try:
        return _decode_result(content)
    except msgspec.MsgspecError:
        pass
    try:
        value = json.loads(content.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return _NO_RESULT
    return loosely(value, _ToolUseResult) if isinstance(value, dict) else _NO_RESULT


def _outcome(block: _Block, raw: Raw, output: str, result: _ToolUseResult) -> Outcome | None:
    """Read how a tool answered, and a refusal only where the format marks an error."""
    first = bytes(raw[:1]) if isinstance(raw, bytes) else bytes(raw)[:1]
    is_error = block.is_error if block.is_error is not None else _flag(first, bytes(raw)[:64])
    if not is_error:
        if output.startswith(_FILLED_IN):
            return "unknown"
        if result.interrupted:
            return "interrupted"
        return None if is_error is None else "ok"
    if output.startswith(_REFUSED) or _FORBIDDEN.match(output):
        return "denied"
    if output.startswith(_SIBLING):
        return "cancelled"
    if output.startswith(_INTERRUPTED):
        return "interrupted"
    return "unknown" if output.startswith(_FILLED_IN) else "error"


def _flag(first: bytes, start: bytes) -> bool | None:
    """Without `is_error`: `toolUseResult` is an object on success, a text on an error."""
    if first in {b"{", b"["}:
        return False
    return True if start.startswith((b'"Error', b'"User rejected')) else None


def output_of(content: Raw) -> str:
    """Return the text that a result's content holds, its blocks joined by line breaks."""
    first = bytes(content)[:1]
    if first == b'"':
        return text_from(content)
    if first != b"[":
        return ""
    return "\n".join(text for _, text in _texts(_blocks(bytes(content))))


def _blocks(content: bytes) -> list[_Block | str]:
    try:
        return _decode_blocks(content)
    except msgspec.MsgspecError:
        pass
    try:
        value = json.loads(content.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return []
    return [
        loosely(item, _Block) if isinstance(item, dict) else item
        for item in value
        if isinstance(item, dict | str)
    ]


def _texts(content: str | list[_Block | str] | None) -> Iterator[tuple[int, str]]:
    if isinstance(content, str):
        yield 0, content
        return
    for place, block in enumerate(content or ()):
        if isinstance(block, str):
            yield place, block
        elif block.type == "text" and block.text:
            yield place, block.text


def _saw(call: Call, id_: str, came: _Came, thread: ThreadReading, line: int) -> None:
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
    thread.file(seen, line, id_)


def _tagged(text: str, tag: str) -> str:
    start = text.find(f"<{tag}>")
    end = text.find(f"</{tag}>", start)
    return text[start + len(tag) + 2 : end].strip() if 0 <= start < end else ""


def _exit_status(summary: str) -> int | None:
    """A notice says `failed with exit code 2`, or that the command completed."""
    match = re.search(r"exit code:? (-?\d{1,10})", summary)
    return int(match[1]) if match else None


def _saved_name(output: str) -> str:
    match = re.search(r"saved to: ?(\S+)", output[:2000])
    return match[1] if match else ""


def words_of(value: ClaudeRecord) -> Iterator[tuple[Whose, str]]:
    """Yield the texts of a record, each with whose words it is."""
    message = value.message
    content = message.content if isinstance(message, _Message) else message
    if value.type == "assistant":
        yield from (("model", text) for text in _own_words(content))
    elif value.type == "user":
        yield from _given_words(value, content)
    elif value.content:
        yield "harness", value.content


def _own_words(content: str | list[_Block | str] | None) -> Iterator[str]:
    for _, text in _texts(content):
        yield text
    for block in content if isinstance(content, list) else ():
        if isinstance(block, _Block):
            if block.thinking:
                yield block.thinking
            yield from _strings(bytes(block.input))


def _given_words(
    value: ClaudeRecord, content: str | list[_Block | str] | None
) -> Iterator[tuple[Whose, str]]:
    raw = bytes(value.tool_use_result)
    whose: Whose = "tool"
    if b'"agentId"' in raw:
        whose = "subagent"
    elif raw.startswith(b'{"query"'):
        whose = "search"
    elif b'"codeText"' in raw:
        whose = "fetched"
    is_result = False
    for block in content if isinstance(content, list) else ():
        if isinstance(block, _Block) and block.type == "tool_result":
            is_result = True
            output = output_of(block.content)
            yield whose, _REMINDER.sub(" ", output)
            yield from (("harness", text) for text in _REMINDER.findall(output))
    if is_result:
        yield from ((whose, text) for text in _strings(raw))
    for _, text in _texts(content):
        yield _speaker(text, value), text


def _speaker(text: str, value: ClaudeRecord) -> Whose:
    wrapped = _WRAPPED.match(text)
    if wrapped is not None:
        return "person" if wrapped[1].startswith("bash-") else "harness"
    return "harness" if value.is_meta or value.is_compact_summary else "person"


def _strings(raw: bytes) -> Iterator[str]:
    """Yield every string in the JSON value `raw`, keys left out."""
    if not raw:
        return
    try:
        values = [json.loads(raw.decode("utf-8", "replace"), strict=False)]
    except (ValueError, RecursionError):
        return
    while values:
        value = values.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            values.extend(value.values())
        elif isinstance(value, list):
            values.extend(value)


def find_subagents(path: Path | None) -> dict[str, Path]:
    """Return the files of the sub-agents of the session at `path`, by their ids."""
    if path is None or path.stem.startswith("agent-"):
        return {}
    below = sorted((path.parent / path.stem / "subagents").glob("**/agent-*.jsonl"))
    beside = [
        other
        for other in sorted(path.parent.glob("agent-*.jsonl"))
        if session_of(other) == path.stem
    ]
    return {found.stem.removeprefix("agent-"): found for found in (*beside, *below)}


def session_of(path: Path) -> str | None:
    """Return the session that the first records of the file at `path` name."""
    try:
        with path.open("rb") as file:
            for record in islice(_reader.records(read_lines(file, Tally()), Tally()), _FIRST):
                if isinstance(record, Record) and record.value.session_id is not None:
                    return record.value.session_id
    except (OSError, UnreadableError):
        return None
    return None


def side_directory(source: Source) -> Path | None:
    """Return the folder beside a session in which its long outputs lie."""
    if source.path is None:
        return None
    directory = source.path.parent / source.path.stem / "tool-results"
    return directory if directory.is_dir() else None


_reader = RecordReader(ClaudeRecord)
_NO_RESULT = _ToolUseResult()
_NOT_RUN: frozenset[Outcome | None] = frozenset({"denied", "cancelled", "unknown"})
_KNOWN = frozenset({"assistant", "user", "system"})
_BATCH = 256
_RECENT = 4096
_FIRST = 50
