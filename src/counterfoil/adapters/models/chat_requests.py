"""What is sent for one answer: the body of a streamed chat completion.

Servers read the arguments of earlier calls as JSON and refuse a request in which they are
not, so a call that was written wrong is sent back as `{"unreadable": "the text"}`: the
model still sees what it wrote, and the thread goes on.
"""

import json
import re

from counterfoil.core.messages import AskedCall, Message, ModelRequest, ToolSpec
from counterfoil.wire.json_values import is_object

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64
_SURROGATE = re.compile("[\ud800-\udfff]")


def request_body(request: ModelRequest, model: str) -> dict[str, object]:
    """Return the body that asks `model` for the answer to `request`."""
    body: dict[str, object] = {
        "model": model,
        "messages": [_message(message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.schema is not None:
        form = {"name": "reply", "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    return body


def sent_name(tool: str) -> str:
    """Return the name under which `tool` is offered: servers take few characters in it."""
    return _NOT_IN_NAMES.sub("_", tool)[:_LONGEST_NAME] or "unknown"


def well_formed(text: str) -> str:
    """Return `text` with halves of characters joined, or replaced where one is missing."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _message(message: Message) -> dict[str, object]:
    sent: dict[str, object] = {"role": message.role, "content": well_formed(message.text)}
    if message.calls:
        sent["tool_calls"] = [_call(call) for call in message.calls]
    if message.call is not None:
        sent["tool_call_id"] = message.call
    return sent


def _call(call: AskedCall) -> dict[str, object]:
    function = {"name": sent_name(call.tool), "arguments": _arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _arguments(text: str) -> str:
    """Return the text of arguments, or an object that holds it where it is none."""
    text = well_formed(text)
    try:
        value = json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        value = text
    if value is None:
        return "{}"
    return text if is_object(value) else json.dumps({"unreadable": text}, ensure_ascii=False)


def _tool(tool: ToolSpec) -> dict[str, object]:
    function = {
        "name": sent_name(tool.name),
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": function}
