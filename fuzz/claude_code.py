"""Fuzz the reading and checking of Claude Code sessions.

python fuzz/claude_code.py -max_total_time=60
"""
# ruff: noqa: INP001

import atheris

from targets import check_file, file_of, run  # isort: skip - it instruments what it imports

with atheris.instrument_imports(include=["counterfoil"]):
    from counterfoil.adapters.transcripts.claude_code import ClaudeCodeTranscript
    from counterfoil.adapters.transcripts.formats import open_transcript

_COMMON = {
    "uuid": "a1", "parentUuid": None, "sessionId": "s1", "isSidechain": False, "version": "2.1.42",
    "timestamp": "2026-03-01T09:00:00.000Z", "cwd": "/home/ann/shop", "gitBranch": "main",
}  # fmt: skip
_RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "2 failed, 40 passed"}
_FILE = {"filePath": "src/a.py", "content": "x\ny", "numLines": 2, "startLine": 1, "totalLines": 2}
_HUNK = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 3, "lines": [" x"]}


def _user(uuid: str, content: object, result: object = None, **fields: object) -> dict[str, object]:
    message = {"role": "user", "content": content}
    record = {**_COMMON, "type": "user", "uuid": uuid, "message": message, **fields}
    return record if result is None else {**record, "toolUseResult": result}


def _assistant(uuid: str, *blocks: object, **fields: object) -> dict[str, object]:
    usage = {"input_tokens": 9, "output_tokens": 4, "cache_read_input_tokens": 1}
    message = {"id": "msg_1", "role": "assistant", "model": "m", "content": blocks, "usage": usage}
    return {**_COMMON, "type": "assistant", "uuid": uuid, "message": message, **fields}


def _use(name: str, **given: object) -> dict[str, object]:
    return {"type": "tool_use", "id": "toolu_1", "name": name, "input": given}


_TEMPLATES = (
    _user("u1", "Run the tests."),
    _user("u2", [{"type": "text", "text": "Go on."}], origin={"kind": "human"}),
    _user("u3", "<command-name>/go</command-name>", isMeta=True),
    _user("u4", "It was summarised.", isCompactSummary=True),
    _user("u5", [_RESULT], {"stdout": "a", "stderr": "", "interrupted": False, "isImage": False}),
    _user("u6", [{**_RESULT, "is_error": True, "content": "Exit code 1\nx"}], "Error: Exit code 1"),
    _user("u7", [_RESULT], {"type": "text", "file": _FILE}),
    _user("u8", [_RESULT], {"filePath": "src/a.py", "structuredPatch": [_HUNK]}),
    _user("u9", [_RESULT], {"type": "create", "filePath": "src/a.py", "content": "x\ny\n"}),
    _user("u10", [_RESULT], {"status": "completed", "agentId": "a1", "content": []}),
    _user("u11", [_RESULT], {"backgroundTaskId": "b1", "stdout": ""}),
    _user("u12", [_RESULT, {**_RESULT, "tool_use_id": "toolu_2", "is_error": False}]),
    _user("u13", "<bash-input>ls</bash-input>"),
    _user("u14", "[Request interrupted by user]"),
    _assistant("a1", {"type": "text", "text": "See src/a.py:2, it says `x = 1 and nothing else`."}),
    _assistant("a2", {"type": "thinking", "thinking": "Hm.", "signature": "s"}),
    _assistant("a3", _use("Bash", command="sed -n '1,2p' src/a.py", run_in_background=False)),
    _assistant("a4", _use("Read", file_path="src/a.py")),
    _assistant("a5", _use("Edit", file_path="src/a.py", old_string="x", new_string="y")),
    _assistant("a6", _use("WebFetch", url="https://docs.example.org/a")),
    _assistant("a7", _use("Task", prompt="p"), {"type": "text", "text": "Two."}),
    _assistant("a8", {"type": "text", "text": "API Error: 500"}, isApiErrorMessage=True),
    _assistant("a9", {"type": "text", "text": "side"}, isSidechain=True, agentId="a1"),
    {**_COMMON, "type": "system", "uuid": "y1", "subtype": "compact_boundary", "content": "c"},
    {**_COMMON, "type": "system", "uuid": "y2", "subtype": "turn_duration", "durationMs": 900},
    {**_COMMON, "type": "system", "uuid": "y3", "subtype": "api_error", "content": "e"},
    {**_COMMON, "type": "progress", "uuid": "p1", "data": {"type": "hook_progress"}},
    {**_COMMON, "type": "new-kind", "uuid": "n1", "value": 1.5},
    {"type": "file-history-snapshot", "messageId": "m1", "snapshot": {}},
    {"type": "summary", "summary": "s", "leafUuid": "a1"},
)


def fuzz(data: bytes) -> None:
    """Read a file made of `data`, as this format and as whatever it looks like."""
    provider = atheris.FuzzedDataProvider(data)
    is_told = provider.ConsumeBool()
    content = file_of(provider, _TEMPLATES)
    check_file(content, open_transcript if is_told else ClaudeCodeTranscript)


if __name__ == "__main__":
    run(fuzz)
