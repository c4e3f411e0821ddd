"""The records of Claude Code, as far as they are needed, and how they are decoded."""

import re
from collections.abc import Iterator

import msgspec
from msgspec import Raw

from counterfoil.adapters.transcripts.records import RecordReader, loosely, text_from
from counterfoil.wire.json_values import is_list, is_object, value_in

INTERRUPTED = "[Request interrupted by user"
"""How a text begins that the harness puts where a person stopped the agent."""

WRAPPED = re.compile(
    r"\s*<(command-(?:name|message|args)|local-command-[a-z]+|bash-(?:input|stdout|stderr)"
    r"|task-notification|system-reminder|user-memory-input|ide_[a-z_]+|teammate-message)>"
)
"""The tags that the harness puts around what a person typed, or what it wrote itself."""


class Input(msgspec.Struct):
    """The arguments of a call that matter here."""

    command: str | None = None
    file_path: str | None = None
    notebook_path: str | None = None
    path: str | None = None
    url: str | None = None
    run_in_background: bool | None = None


class Block(msgspec.Struct):
    """A block of content: text, thinking, a call, or a result."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = Raw(b"")
    tool_use_id: str | None = None
    content: Raw = Raw(b"")
    is_error: bool | None = None


class UsageRecord(msgspec.Struct):
    """The tokens of one message."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class Message(msgspec.Struct):
    """The message of a record: one of the model is split over several."""

    id: str | None = None
    role: str | None = None
    model: str | None = None
    content: str | list[Block | str] | None = None
    usage: UsageRecord | None = None


class OriginRecord(msgspec.Struct):
    """Who a prompt came from."""

    kind: str | None = None


class ErrorRecord(msgspec.Struct):
    """What the harness says of a request that failed."""

    status: int | None = None


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
    origin: OriginRecord | None = None
    error: ErrorRecord | None = None
    message: Message | str | None = None
    tool_use_result: Raw = Raw(b"")
    attachment: Raw = Raw(b"")


class FileRecord(msgspec.Struct, rename="camel"):
    """What a read showed of a file."""

    file_path: str | None = None
    start_line: int | None = None
    num_lines: int | None = None
    total_lines: int | None = None


class Hunk(msgspec.Struct, rename="camel"):
    """One change of an edit, by its lines before and after."""

    old_start: int = 0
    old_lines: int = 0
    new_start: int = 0
    new_lines: int = 0


class ToolUseResult(msgspec.Struct, rename="camel"):
    """What a tool said of itself beside its output."""

    type: str | None = None
    file: FileRecord | None = None
    file_path: str | None = None
    content: Raw = Raw(b"")
    structured_patch: list[Hunk] | None = None
    agent_id: str | None = None
    interrupted: bool | None = None
    background_task_id: str | None = None
    persisted_output_path: str | None = None
    url: str | None = None


_decode_input = msgspec.json.Decoder(Input).decode
_decode_result = msgspec.json.Decoder(ToolUseResult).decode
_decode_blocks = msgspec.json.Decoder(list[Block | str]).decode


def decode_records(raw: bytes) -> Iterator[ClaudeRecord]:
    """Yield the records that the line `raw` holds."""
    return reader.read(raw)


def agent_in(value: ClaudeRecord) -> str | None:
    """Return the id of the sub-agent whose result this record is."""
    raw = bytes(value.tool_use_result)
    if value.is_sidechain or b'"agentId"' not in raw[:_HEAD]:
        return None
    return result_of(raw).agent_id


def answered_call(value: ClaudeRecord) -> str | None:
    """Return the id of the call that this record answers."""
    message = value.message
    content = message.content if isinstance(message, Message) else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Block) and block.tool_use_id is not None:
            return block.tool_use_id
    return None


def input_of(arguments: bytes) -> Input:
    """Return the arguments of a call, as far as they are needed."""
    try:
        return _decode_input(arguments)
    except msgspec.MsgspecError:
        value = value_in(arguments)
    return loosely(value, Input) if is_object(value) else Input()


def result_of(raw: bytes) -> ToolUseResult:
    """Return what `toolUseResult` says; it is an object only where the tool succeeded."""
    if raw[:1] != b"{":
        return NO_RESULT
    try:
        return _decode_result(raw)
    except msgspec.MsgspecError:
        value = value_in(raw)
    return loosely(value, ToolUseResult) if is_object(value) else NO_RESULT


def is_text(raw: Raw) -> bool:
    """Say whether `raw` is a JSON string."""
    return bytes(raw)[:1] == b'"'


def output_of(content: Raw) -> str:
    """Return the text that a result's content holds, its blocks joined by line breaks."""
    first = bytes(content)[:1]
    if first == b'"':
        return text_from(content)
    if first != b"[":
        return ""
    return "\n".join(text for _, text in texts_of(_blocks(bytes(content))))


def _blocks(content: bytes) -> list[Block | str]:
    try:
        return _decode_blocks(content)
    except msgspec.MsgspecError:
        value = value_in(content)
    items = value if is_list(value) else []
    return [
        loosely(item, Block) if is_object(item) else str(item)
        for item in items
        if is_object(item) or isinstance(item, str)
    ]


def texts_of(content: str | list[Block | str] | None) -> Iterator[tuple[int, str]]:
    """Yield the texts of a content, each with the place of its block."""
    if isinstance(content, str):
        yield 0, content
        return
    for place, block in enumerate(content or ()):
        if isinstance(block, str):
            yield place, block
        elif block.type == "text" and block.text:
            yield place, block.text


def tagged(text: str, tag: str) -> str:
    """Return what stands between `<tag>` and its end, "" where it does not."""
    start = text.find(f"<{tag}>")
    end = text.find(f"</{tag}>", start)
    return text[start + len(tag) + 2 : end].strip() if 0 <= start < end else ""


_HEAD = 4096
reader = RecordReader(ClaudeRecord)
NO_RESULT = ToolUseResult()
