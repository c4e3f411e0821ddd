"""One pass over a rollout: its conversation, its calls, and what came of them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from counterfoil.adapters.transcripts.codex.calls import Calls
from counterfoil.adapters.transcripts.codex.layout import find_subagents
from counterfoil.adapters.transcripts.codex.outputs import typed_command
from counterfoil.adapters.transcripts.codex.records import (
    CONTEXT,
    TYPED_COMMAND,
    CodexRecord,
    Payload,
    output_of,
    parent_of,
    reader,
    texts_of,
)
from counterfoil.adapters.transcripts.evidence import CODEX, CODEX_KINDS
from counterfoil.adapters.transcripts.lines import Damage, Tally
from counterfoil.adapters.transcripts.source import Source
from counterfoil.adapters.transcripts.threads import (
    Emitter,
    ThreadReading,
    thread_id,
)
from counterfoil.core.events import (
    CommandExited,
    ContextCondensed,
    ErrorRaised,
    ThreadOpened,
)
from counterfoil.core.ids import ThreadId
from counterfoil.ports.transcripts import Item, Origin

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
        yield self.tally.measured()

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
        self._calls = Calls(session.emit)
        self._notices: list[tuple[str, int]] = []
        self._prompt: str | None = None
        self._reply: str | None = None
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
                yield from self._emit.taken()
                yield from self._session.sub_items(agent, self._line, self._now().id)
            self._read(value, raw)
            if len(items) >= _BATCH:
                yield from self._emit.taken()
        if self._thread is not None or self._early or self._tally.records:
            self._end_turn()
            self._now().end_turn()
        yield from self._emit.taken()

    def _agent_in(self, value: CodexRecord) -> str | None:
        payload = value.payload
        if payload is None or payload.type != "function_call_output":
            return None
        return self._session.named_in(output_of(payload.output))

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
            self._calls.returned(payload, self._now(), self._line)
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
        self._calls.called(payload, self._now(), self._line)
        self._prompt = None

    def _searched(self, payload: Payload) -> None:
        self._calls.searched(payload, self._now(), self._line)
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
        self._calls.ended(payload, self._now(), self._line)

    def _completed(self, payload: Payload) -> None:
        self._calls.completed(payload, self._now(), self._line)

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
        self._calls.tell_rest(self._now(), self._line)
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
