"""One pass over a session: which thread each record belongs to, and what it says."""

import re
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from counterfoil.adapters.transcripts.claude_code.layout import find_subagents, side_directory
from counterfoil.adapters.transcripts.claude_code.records import (
    INTERRUPTED,
    WRAPPED,
    Block,
    ClaudeRecord,
    Message,
    agent_in,
    answered_call,
    reader,
    tagged,
    texts_of,
)
from counterfoil.adapters.transcripts.claude_code.results import Calls
from counterfoil.adapters.transcripts.evidence import CLAUDE_CODE, CLAUDE_IGNORED, CLAUDE_KNOWN
from counterfoil.adapters.transcripts.lines import Damage, Tally
from counterfoil.adapters.transcripts.once import SeenIds
from counterfoil.adapters.transcripts.source import Source
from counterfoil.adapters.transcripts.threads import Emitter, ThreadReading, thread_id
from counterfoil.core.events import (
    CommandExited,
    ContextCondensed,
    ErrorRaised,
    ThreadOpened,
)
from counterfoil.core.ids import ThreadId
from counterfoil.ports.transcripts import Item, Origin

_BATCH = 256
_RECENT = 4096


class Session:
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
        """Yield everything of the session, then what was measured."""
        with self._source.open() as file:
            yield from FileReading(self, self.tally, self._source.stem).items(file)
        for agent in list(self._waiting):
            yield from self.sub_items(agent, self.tally.lines + 1, None, None)
        yield self.tally.measured()

    def sub_items(
        self, agent: str, line: int, parent: ThreadId | None, call: str | None
    ) -> Iterator[Item]:
        """Yield the items of a sub-agent's file, which was read at `line` of another."""
        path = self._waiting.pop(agent, None)
        if path is None or not path.is_file():
            return
        outer = self.emit.origin
        directory = self._source.path.parent if self._source.path else path.parent
        name = path.relative_to(directory) if path.is_relative_to(directory) else path
        self.emit.origin = Origin(str(name), (*outer.prefix, line, 0, len(self.files)))
        self.files.append((path, self.emit.origin))
        reading = FileReading(self, Tally(), f"agent-{agent}", parent=parent, call=call)
        with path.open("rb") as file:
            yield from reading.items(file)
        self.emit.origin = outer

    def is_waiting(self, agent: str) -> bool:
        """Say whether the file of the sub-agent is there and was not read yet."""
        return agent in self._waiting

    def was_read(self, agent: str) -> bool:
        """Say whether the sub-agent's own record was read."""
        return f"agent-{agent}" in self.threads

    def has_side_file(self, name: str, thread: ThreadId, line: int) -> bool:
        """Say whether the whole of a cut output lies beside the session, and remember it."""
        if self._directory is None or not (self._directory / name).is_file():
            return False
        outer = self.emit.origin
        source = f"{self._directory.parent.name}/{self._directory.name}/{name}"
        self.side_files.setdefault(name, (thread, line, Origin(source, outer.prefix)))
        return True


class FileReading:
    """One file: which thread each record belongs to, and what it says."""

    def __init__(
        self,
        session: Session,
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
        self._calls = Calls(session.emit, session)
        self._chains = Chains()
        self._command: tuple[str, int] | None = None
        self._pending: tuple[str, int] | None = None
        self._recent: set[str] = set()
        self._less_recent: set[str] = set()

    def items(self, file: BinaryIO) -> Iterator[Item]:
        """Yield everything of `file`, and of sub-agents' files where their results stand."""
        items = self._emit.items
        line = 0
        for record in reader.records(file, self._tally):
            if isinstance(record, Damage):
                self._damaged(record)
                continue
            line, value, raw = record
            is_new = value.uuid is None or self._is_new(value.uuid)
            if value.type in CLAUDE_IGNORED:
                continue
            if not is_new:
                self._tally.repeated += 1
                continue
            agent = agent_in(value) if value.type == "user" else None
            if agent is not None and self._session.is_waiting(agent):
                yield from self._emit.taken()
                thread = self._thread(value, line)
                yield from self._session.sub_items(agent, line, thread.id, answered_call(value))
            self._read(value, raw, line)
            if agent is not None and not self._session.was_read(agent) and self._current:
                self._current.note("subagent-not-found", line, f"sub-agent {agent}")
            if len(items) >= _BATCH:
                yield from self._emit.taken()
        self._finish(line)
        yield from self._emit.taken()

    def _is_new(self, id_: str) -> bool:
        """Take in the id of a record; the ids since the last prompt are kept apart."""
        self._recent.add(id_)
        if len(self._recent) >= _RECENT:
            self._recent, self._less_recent = set(), self._recent
        return self._session.seen.add(id_)

    def _damaged(self, damage: Damage) -> None:
        if self._current is None:
            self._early.append(damage)
        else:
            self._emit.damage(self._current, damage)

    def _finish(self, line: int) -> None:
        if self._current is None and (self._early or self._tally.records):
            self._current = self._opened(self._stem, None, line)
        for thread in self._threads.values():
            thread.end_turn()

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
                face=CLAUDE_CODE,
                parent=parent,
                cwd=value.cwd if value else None,
                versions={CLAUDE_CODE: value.version} if value and value.version else None,
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
        if value.type not in CLAUDE_KNOWN:
            self._unknown(value, raw, line)
            return
        thread = self._thread(value, line)
        self._emit.at_time(value.timestamp)
        if value.type == "assistant":
            self._assistant(value, thread, line)
        elif value.type == "user":
            self._user(value, thread, line)
        else:
            self._system(value, thread, line)
        if value.version != thread.version:
            thread.goes_on_under(value.version, line)

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
        if not isinstance(message, Message):
            thread.note("not-a-record", line, "a message without content")
            return
        self._begin_pending(thread)
        if value.is_api_error_message:
            thread.ensure_turn(line)
            text = " ".join(text for _, text in texts_of(message.content))
            self._emit.event(thread, ErrorRaised(message=text[:2000], where="turn"), line)
            return
        if message.usage is not None and message.id is not None:
            usage = message.usage
            counts = (usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens, None)
            thread.used(message.id, counts)
        if message.model == "<synthetic>":
            return
        content = message.content
        if isinstance(content, str):
            thread.said(content, line)
            return
        for place, block in enumerate(content or ()):
            self._block(block, thread, line, place)

    def _block(self, block: Block | str, thread: ThreadReading, line: int, place: int) -> None:
        if isinstance(block, str):
            thread.said(block, line, place)
        elif block.type == "tool_use":
            self._calls.called(block, thread, line, place)
        elif block.type == "text":
            if block.text:
                thread.said(block.text, line, place)
        elif block.type == "thinking" and block.thinking:
            thread.reasoned(block.thinking, line, place)

    def _user(self, value: ClaudeRecord, thread: ThreadReading, line: int) -> None:
        message = value.message
        if not isinstance(message, Message):
            if isinstance(message, str):
                self._person_said(message, value, thread, line, 0)
            else:
                thread.note("not-a-record", line, "a message without content")
            return
        content = message.content
        if isinstance(content, list) and any(
            isinstance(block, Block) and block.type == "tool_result" for block in content
        ):
            for block in content:
                if isinstance(block, Block) and block.type == "tool_result":
                    self._calls.returned(block, value, thread, line)
            return
        if content is None:
            thread.note("not-a-record", line, "a message without content")
        for place, text in texts_of(content):
            self._person_said(text, value, thread, line, place)

    def _person_said(
        self, text: str, value: ClaudeRecord, thread: ThreadReading, line: int, place: int
    ) -> None:
        if text.startswith(INTERRUPTED):
            thread.interrupted(line)
        elif (wrapped := WRAPPED.match(text)) is not None:
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
        is_recent = parent in self._recent or parent in self._less_recent
        self._recent, self._less_recent = {value.uuid or ""}, set()
        if parent is None or value.is_sidechain or is_recent:
            return False
        return parent in self._session.seen

    def _wrapped(self, tag: str, text: str, thread: ThreadReading, line: int) -> None:
        """Text that the harness put around what a person typed, or wrote itself."""
        if tag == "bash-input":
            self._command = (tagged(text, tag), line)
        elif tag in {"bash-stdout", "bash-stderr"} and self._command is not None:
            command, at = self._command
            self._command = None
            output = f"{_unwrapped(text, 'bash-stdout')}{_unwrapped(text, 'bash-stderr')}"
            ended = CommandExited(command=command, stdout=output, source="person")
            thread.exited(ended, at, None)
        elif tag == "task-notification":
            thread.ended(tagged(text, "task-id"), line, exit_status_in(tagged(text, "summary")))
        elif tag in {"command-name", "command-message"}:
            name = tagged(text, "command-name")
            self._pending = (f"{name} {tagged(text, 'command-args')}".strip(), line)
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
            status = f" {value.error.status}" if value.error and value.error.status else ""
            message = value.content or f"API error{status}, the harness tried again"
            self._emit.event(thread, ErrorRaised(message=message[:2000], where="model"), line)


class Chains:
    """Which inline side chain a record without an agent's id belongs to."""

    def __init__(self) -> None:
        self._roots: OrderedDict[str, str] = OrderedDict()

    def root(self, value: ClaudeRecord) -> str:
        """Return the id of the record that the chain of `value` began with."""
        own = value.uuid or "unknown"
        root = self._roots.get(value.parent_uuid or "", own)
        self._roots[own] = root
        if len(self._roots) > _RECENT:
            self._roots.popitem(last=False)
        return root


def _unwrapped(text: str, tag: str) -> str:
    return tagged(text, tag) if f"<{tag}>" in text else ""


def exit_status_in(summary: str) -> int | None:
    """A notice says `failed with exit code 2`, or that the command completed."""
    match = re.search(r"exit code:? (-?\d{1,10})", summary)
    return int(match[1]) if match else None
