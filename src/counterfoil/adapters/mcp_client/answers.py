"""What a server answers, as a tool's answer: a result with `isError` is an error."""

import json
from collections.abc import Iterator
from typing import Any

from mcp import types

from counterfoil.ports.tools import ToolAnswer

LONGEST = 16 << 20
"""Bytes of an output that are recorded; past them it is cut, and told so."""


def tool_answer(result: types.CallToolResult) -> ToolAnswer:
    """Return the answer that `result` is: its texts in order, and what else there was."""
    text = "\n".join(_texts(result))
    content = text.encode("utf-8", "surrogatepass")
    is_cut = len(content) > LONGEST
    if is_cut:
        text = content[:LONGEST].decode("utf-8", "ignore")
    return ToolAnswer(
        output=text,
        outcome="error" if result.is_error else "ok",
        truncated=True if is_cut else None,
    )


def _texts(result: types.CallToolResult) -> Iterator[str]:
    yield from map(_text, result.content)
    if result.structured_content is not None and not result.content:
        yield json.dumps(result.structured_content, ensure_ascii=False)


def _text(block: Any) -> str:  # noqa: ANN401 - one of many kinds, and some to come
    if isinstance(block, types.TextContent):
        return block.text
    if isinstance(block, types.ImageContent | types.AudioContent):
        return f"[{block.type}: {block.mime_type}, {len(block.data):,} characters of base64]"
    if isinstance(block, types.ResourceLink):
        return f"[resource: {block.uri}]"
    if isinstance(block, types.EmbeddedResource):
        resource = block.resource
        text = resource.text if isinstance(resource, types.TextResourceContents) else "[binary]"
        return f"[resource: {resource.uri}]\n{text}"
    return f"[{type(block).__name__}]"
