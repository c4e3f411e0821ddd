"""Whose words the texts of a record are: for the search of what replies refer to."""

from collections.abc import Iterator

from counterfoil.adapters.transcripts.codex.records import (
    CONTEXT,
    HEAD,
    TYPED_COMMAND,
    Payload,
    output_of,
    texts_of,
)
from counterfoil.core.refs.needles import Whose


def words_of(
    kind: str, payload: Payload, subagents: frozenset[str] = frozenset()
) -> Iterator[tuple[Whose, str]]:
    """Yield the texts of a record, each with whose words it is.

    What names one of the `subagents` carries that one's report. A notice of a reply says
    again what the conversation says.
    """
    if kind == "compacted":
        yield "harness", payload.message or ""
    elif payload.type == "message":
        for _, text in texts_of(payload.content):
            yield _speaker(payload.role, text), text
    elif payload.type in {"function_call_output", "custom_tool_call_output"}:
        output = output_of(payload.output)
        is_report = '"agent_id"' in output[:HEAD] or any(id_ in output for id_ in subagents)
        yield ("subagent" if is_report else "tool"), output
    elif payload.type in _WHOSE and kind not in {"session_meta", "turn_context"}:
        yield _WHOSE[payload.type], _text_of(payload)


_WHOSE: dict[str, Whose] = {
    "function_call": "model",
    "custom_tool_call": "model",
    "exec_command_end": "tool",
    "user_message": "person",
    "agent_reasoning": "model",
}


def _text_of(payload: Payload) -> str:
    said = (payload.arguments, payload.input, payload.aggregated_output, payload.message)
    return next((text for text in said if text), payload.text or "")


def _speaker(role: str | None, text: str) -> Whose:
    if role == "assistant":
        return "model"
    start = text.lstrip()
    if start.startswith("<subagent_notification>"):
        return "subagent"
    if start.startswith(TYPED_COMMAND):
        return "tool"
    return "system" if role != "user" or start.startswith(CONTEXT) else "person"
