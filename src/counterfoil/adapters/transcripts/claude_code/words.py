"""Whose words the texts of a record are: for the search of what replies refer to."""

import re
from collections.abc import Iterator

from counterfoil.adapters.transcripts.claude_code.records import (
    WRAPPED,
    Block,
    ClaudeRecord,
    Message,
    output_of,
    texts_of,
)
from counterfoil.core.refs.needles import Whose
from counterfoil.wire.json_values import is_list, is_object, value_in

_REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)


def words_of(value: ClaudeRecord) -> Iterator[tuple[Whose, str]]:
    """Yield the texts of a record, each with whose words it is."""
    message = value.message
    content = message.content if isinstance(message, Message) else message
    if value.type == "assistant":
        for text in _own_words(content):
            yield "model", text
    elif value.type == "user":
        yield from _given_words(value, content)
    elif value.type == "attachment":
        yield from _attached_words(bytes(value.attachment))
    elif value.content:
        yield "harness", value.content


def _own_words(content: str | list[Block | str] | None) -> Iterator[str]:
    for _, text in texts_of(content):
        yield text
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Block):
            if block.thinking:
                yield block.thinking
            yield from _strings(bytes(block.input))


def _given_words(
    value: ClaudeRecord, content: str | list[Block | str] | None
) -> Iterator[tuple[Whose, str]]:
    raw = bytes(value.tool_use_result)
    whose = _tool_words(raw)
    outputs = list(_outputs(content))
    for output in outputs:
        yield whose, _REMINDER.sub(" ", output)
        for reminder in _REMINDER.findall(output):
            yield "harness", str(reminder)
    for text in _strings(raw) if outputs else ():
        yield whose, text
    for _, text in texts_of(content):
        yield _speaker(text, value), text


def _outputs(content: str | list[Block | str] | None) -> Iterator[str]:
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Block) and block.type == "tool_result":
            yield output_of(block.content)


def _tool_words(raw: bytes) -> Whose:
    """Tell a sub-agent's report, a list of hits and a page from other outputs."""
    if b'"agentId"' in raw:
        return "subagent"
    if raw.startswith(b'{"query"'):
        return "search"
    return "fetched" if b'"codeText"' in raw else "tool"


_SUPPLIED = re.compile(
    rb'\{"type": ?"(?:file|directory|selected_lines_in_ide|mcp_resource|pdf_reference)"'
)


def _attached_words(raw: bytes) -> Iterator[tuple[Whose, str]]:
    """What a person pointed at is evidence; what a hook or the harness added is not."""
    whose: Whose = "person" if _SUPPLIED.match(raw) else "harness"
    for text in _strings(raw):
        yield whose, text


_TYPED: dict[str, Whose] = {"bash-input": "person", "bash-stdout": "tool", "bash-stderr": "tool"}


def _speaker(text: str, value: ClaudeRecord) -> Whose:
    wrapped = WRAPPED.match(text)
    if wrapped is not None:
        return _TYPED.get(wrapped[1], "harness")
    return "harness" if value.is_meta or value.is_compact_summary else "person"


def _strings(raw: bytes) -> Iterator[str]:
    """Yield every string in the JSON value `raw`, keys left out."""
    values = [value_in(raw)] if raw else []
    while values:
        value = values.pop()
        if isinstance(value, str):
            yield value
        elif is_object(value):
            values.extend(value.values())
        elif is_list(value):
            values.extend(value)
