"""The records of a Codex rollout, as far as they are needed, and how they are decoded."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

from counterfoil.adapters.transcripts.records import RecordReader, text_from
from counterfoil.wire.json_values import is_list, is_object, value_in

CONTEXT = (
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
"""How a text begins that the harness gives to the model beside a person's words."""

TYPED_COMMAND = "<user_shell_command>"
"""How a text begins that holds a command which a person typed, with its output."""

HEAD = 4096
"""Characters of an output in which the harness says how the command ended."""


class Part(msgspec.Struct):
    """A part of a message."""

    type: str = ""
    text: str | None = None


class Git(msgspec.Struct):
    """The repository at the start."""

    commit_hash: str | None = None


class Duration(msgspec.Struct):
    """How long a command took."""

    secs: int = 0
    nanos: int = 0


class Tokens(msgspec.Struct):
    """Tokens of a request, or of all of them."""

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None
    total_tokens: int | None = None


class Info(msgspec.Struct):
    """What a count of tokens says."""

    total_token_usage: Tokens | None = None
    last_token_usage: Tokens | None = None


class Payload(msgspec.Struct):
    """The payload of a record, of whichever kind."""

    type: str = ""
    role: str | None = None
    content: str | list[Part | str] | None = None
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
    duration: Duration | None = None
    duration_ms: int | None = None
    message: str | None = None
    text: str | None = None
    cwd: str | None = None
    cli_version: str | None = None
    git: Git | None = None
    forked_from_id: str | None = None
    source: Raw = Raw(b"")
    action: Raw = Raw(b"")
    item: Raw = Raw(b"")
    changes: Raw = Raw(b"")
    info: Info | None = None


class CodexRecord(msgspec.Struct):
    """The fields of a record that are needed; everything else is passed over."""

    type: str = ""
    timestamp: str | None = None
    payload: Payload | None = None


def decode_records(raw: bytes) -> Iterator[CodexRecord]:
    """Yield the records that the line `raw` holds."""
    return reader.read(raw)


def output_of(raw: Raw) -> str:
    """Return the text of an output: a string, blocks of text, or an object with one."""
    content = bytes(raw)
    if content[:1] == b'"':
        return _unwrapped(text_from(raw))
    value = value_in(content)
    if is_object(value):
        return str(value.get("content") or "")
    parts = value if is_list(value) else []
    return "\n".join(str(part["text"]) for part in parts if is_object(part) and "text" in part)


def _unwrapped(text: str) -> str:
    """Some versions write an object into the text: the output and its exit code."""
    wrapped = object_in(text) if text.startswith('{"output"') else {}
    inner = wrapped.get("output")
    if not isinstance(inner, str):
        return text
    metadata = wrapped.get("metadata")
    code = metadata.get("exit_code") if is_object(metadata) else None
    return f"Exit code: {code}\nOutput:\n{inner}" if isinstance(code, int) else inner


def object_in(text: str) -> dict[str, Any]:
    """Return the JSON object that `text` holds, an empty one for anything else."""
    value = value_in(text.encode("utf-8", "surrogatepass"))
    return value if is_object(value) else {}


def texts_of(content: str | list[Part | str] | None) -> Iterator[tuple[int, str]]:
    """Yield the texts of a content, each with the place of its part."""
    if isinstance(content, str):
        yield 0, content
        return
    for place, part in enumerate(content or ()):
        text = part if isinstance(part, str) else part.text
        if text:
            yield place, text


def parent_of(payload: Payload) -> str | None:
    """Return the thread that spawned this one: `source.subagent.thread_spawn`."""
    value = value_in(bytes(payload.source))
    for name in ("subagent", "thread_spawn", "parent_thread_id"):
        value = value.get(name) if is_object(value) else None
    return value if isinstance(value, str) else None


reader = RecordReader(CodexRecord)
