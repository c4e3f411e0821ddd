"""Fuzz the reading and checking of Codex rollouts.

python fuzz/codex.py -max_total_time=60
"""
# ruff: noqa: INP001

import atheris

from targets import check_file, file_of, run  # isort: skip - it instruments what it imports

with atheris.instrument_imports(include=["counterfoil"]):
    from counterfoil.adapters.transcripts.codex import CodexTranscript
    from counterfoil.adapters.transcripts.formats import open_transcript


def _record(kind: str, type_: str | None = None, **payload: object) -> dict[str, object]:
    fields = payload if type_ is None else {"type": type_, **payload}
    return {"timestamp": "2026-03-01T09:00:00.000Z", "type": kind, "payload": fields}


_TEXT = "See src/a.py:2, the output says `2 failed, 40 passed, none skipped`."
_ASKED = [{"type": "input_text", "text": "Go."}]
_SAID = [{"type": "output_text", "text": _TEXT}]
_SPAWNED = {"subagent": {"thread_spawn": {"parent_thread_id": "t1"}}}
_TOKENS = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13}
_INFO = {"last_token_usage": _TOKENS, "total_token_usage": _TOKENS}
_PATCH = "*** Begin Patch\n*** Update File: src/a.py\n+x\n*** End Patch"
_TEMPLATES = (
    _record("session_meta", id="t1", cwd="/s", cli_version="0.144.1", git={"commit_hash": "abc"}),
    _record("session_meta", id="t2", source=_SPAWNED),
    _record("turn_context", cwd="/s", model="m"),
    _record("response_item", "message", role="user", content=_ASKED),
    _record("response_item", "message", role="assistant", content=_SAID),
    _record("response_item", "reasoning", summary=[], encrypted_content="x"),
    _record("response_item", "function_call", name="exec_command", call_id="call_1",
            arguments='{"cmd":"sed -n 1,2p src/a.py"}'),
    _record("response_item", "function_call", name="shell", call_id="call_2",
            arguments='{"command":["bash","-lc","pytest -q"]}'),
    _record("response_item", "function_call", name="write_stdin", call_id="call_3",
            arguments='{"session_id":7}'),
    _record("response_item", "function_call_output", call_id="call_1",
            output="Wall time: 0.5 seconds\nProcess exited with code 0\nOutput:\nx\ny"),
    _record("response_item", "function_call_output", call_id="call_2",
            output='{"output":"2 failed","metadata":{"exit_code":1}}'),
    _record("response_item", "function_call_output", call_id="call_3",
            output=[{"type": "input_text", "text": "Process running with session ID 7"}]),
    _record("response_item", "custom_tool_call", name="apply_patch", call_id="call_4",
            input=_PATCH),
    _record("response_item", "custom_tool_call_output", call_id="call_4", output="Done"),
    _record("response_item", "web_search_call", status="completed", action={"url": "https://a.b"}),
    _record("response_item", "local_shell_call", call_id="call_5", action={"command": ["ls"]}),
    _record("response_item", "new_item", value=1),
    _record("event_msg", "user_message", message="Go."),
    _record("event_msg", "agent_message", message=_TEXT),
    _record("event_msg", "agent_reasoning", text="Hm."),
    _record("event_msg", "exec_command_end", call_id="call_1", exit_code=0, aggregated_output="x",
            duration={"secs": 1, "nanos": 5}),
    _record("event_msg", "patch_apply_end", call_id="call_4", success=False, status="declined"),
    _record("event_msg", "item_completed", item={"id": "call_2", "exit_code": 1}),
    _record("event_msg", "token_count", info=_INFO),
    _record("event_msg", "task_complete", last_agent_message=_TEXT, duration_ms=900),
    _record("event_msg", "turn_aborted", reason="interrupted"),
    _record("event_msg", "thread_rolled_back"),
    _record("event_msg", "error", message="e"),
    _record("compacted", message="summary"),
    _record("new_kind", "x"),
)  # fmt: skip


def fuzz(data: bytes) -> None:
    """Read a file made of `data`, as this format and as whatever it looks like."""
    provider = atheris.FuzzedDataProvider(data)
    is_told = provider.ConsumeBool()
    content = file_of(provider, _TEMPLATES)
    check_file(content, open_transcript if is_told else CodexTranscript)


if __name__ == "__main__":
    run(fuzz)
