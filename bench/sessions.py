"""Invented sessions of Claude Code and Codex, of any size, the same for the same seed.

Kinds of records stand to each other as counted in real files (transcripts.md 3), sizes
are skewed (many small records, some results of 10 to 60 kB), a prompt comes every 10 to
40 records, and replies cite places and quote outputs, truly or not. Records are written
one by one: memory does not depend on the size.

    python bench/sessions.py claude_code 200000000 /tmp/session.jsonl
"""

import argparse
import random
from collections import deque
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

Json: TypeAlias = dict[str, Any]

_WORDS = (
    "the", "a", "of", "and", "to", "in", "parser", "table", "queue", "worker", "ledger", "price",
    "rounding", "invoice", "retry", "socket", "buffer", "index", "page", "cursor", "token",
    "before", "after", "returns", "reads", "writes", "checks", "holds", "keeps", "drops", "moves",
    "order", "basket", "tax", "region", "shelf", "stock", "label", "column", "header", "module",
    "function", "value", "empty", "missing", "stale", "first", "last", "each", "every", "only",
    "when", "because", "so", "that", "which", "it", "is", "was", "has", "not", "now", "with",
)  # fmt: skip
_SYLLABLES = (
    "ba",
    "con",
    "de",
    "er",
    "fi",
    "gra",
    "il",
    "ka",
    "lo",
    "men",
    "no",
    "pre",
    "re",
    "ta",
)
_FOLDERS = ("src/shop", "src/shop/core", "src/shop/api", "tests", "scripts")
_VOCABULARY = 8_000
_FILES = 250
_CWD = "/home/ann/shop"
_MOST = 60_000
_DAY_MS = 86_400_000


class _World:
    """A project that does not exist: its files, its outputs, and what was shown last."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        rare = (self._word() for _ in range(_VOCABULARY))
        self.words = list(dict.fromkeys([*_WORDS, *rare]))
        self._weights = list(accumulate(1 / (place + 10) for place in range(len(self.words))))
        self.modules = [f"{self._word()}_{self._word()}" for _ in range(_FILES)]
        self.sentences = [self._sentence() for _ in range(8_000)]
        self.code = [self._code_line() for _ in range(12_000)]
        self.files = {path: self._file() for path in self._paths()}
        self.names = list(self.files)
        self.outputs: deque[str] = deque(maxlen=5)
        self.shown: deque[tuple[str, int]] = deque(maxlen=20)
        self._time_ms = 0

    def _paths(self) -> Iterator[str]:
        yield from (f"{self.random.choice(_FOLDERS)}/{name}.py" for name in self.modules)

    def _word(self) -> str:
        return "".join(self.random.choices(_SYLLABLES, k=self.random.randint(2, 4)))

    def chosen(self, count: int) -> list[str]:
        """Return words of which a few are common and most are rare, as in real text."""
        return self.random.choices(self.words, cum_weights=self._weights, k=count)

    def module(self) -> str:
        return self.random.choice(self.modules)

    def _sentence(self) -> str:
        words = self.chosen(self.random.randint(5, 16))
        return " ".join(words).capitalize() + "."

    def _code_line(self) -> str:
        left, right, third = self.chosen(3)
        indent = "    " * self.random.randint(0, 3)
        form = self.random.randrange(4)
        if form == 0:
            return f"{indent}{left}_{right} = {third}_of({left}, {self.random.randrange(1000)})"
        if form == 1:
            return f'{indent}if {left} != "{right}":  # {third} comes first'
        return f"{indent}return self.{left}.{right}({third})" if form == 2 else ""

    def _file(self) -> list[str]:
        return self.random.choices(self.code, k=int(40 + 1_400 * self.random.random() ** 2))

    def uuid(self) -> str:
        text = f"{self.random.getrandbits(128):032x}"
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"

    def id(self, prefix: str) -> str:
        return f"{prefix}_{self.random.getrandbits(96):024x}"

    def now(self) -> str:
        self._time_ms += self.random.randint(40, 9_000)
        day, rest = divmod(self._time_ms, _DAY_MS)
        seconds, milliseconds = divmod(rest, 1_000)
        minutes, second = divmod(seconds, 60)
        hour, minute = divmod(minutes, 60)
        month, day = divmod(day, 28)
        year, month = divmod(month, 12)
        date = f"{2026 + year}-{month + 1:02}-{day + 1:02}"
        return f"{date}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z"

    def prose(self, sentences: int) -> str:
        return " ".join(self.random.choices(self.sentences, k=sentences))

    def size(self) -> int:
        """Return the bytes of an output: most are small, a few are very large."""
        return min(_MOST, int(self.random.lognormvariate(7.55, 1.4)) + 20)

    def file(self) -> str:
        return self.random.choice(self.names)

    def printed(self, size: int) -> str:
        """Return `size` bytes that a command could have printed."""
        lines: list[str] = []
        while size > 0:
            line = self._printed_line()
            lines.append(line)
            size -= len(line) + 1
        text = "\n".join(lines)
        self.outputs.append(text)
        return text

    def _printed_line(self) -> str:
        form = self.random.randrange(16)
        if form == 0:
            return f"{self.file()}:{self.random.randint(1, 90)}: {self.random.choice(self.code)}"
        if form == 1:
            return f"tests/{self.module()}.py ...F... [{self.random.randint(1, 99)}%]"
        return self.random.choice(self.sentences if form < 9 else self.code)

    def command(self) -> str:
        path = self.file()
        return self.random.choice(
            (
                f"pytest -q {path}",
                "git status --short && git diff --stat",
                f"rg -n {self.chosen(1)[0]} src",
                f"python -m shop.{self.module()} --check",
                f"ls -la {path.rpartition('/')[0]}",
                "git log --oneline -5",
            )
        )

    def window(self, path: str, size: int) -> tuple[int, list[str]]:
        """Return the first line and about `size` bytes of lines of `path`."""
        lines = self.files[path]
        count = max(1, min(len(lines), size // 40))
        first = self.random.randint(1, len(lines) - count + 1)
        self.shown.extend((path, self.random.randint(first, first + count - 1)) for _ in "ab")
        return first, lines[first - 1 : first - 1 + count]

    def reply(self) -> str:
        """Return a closing text with references, some of them to what is not there."""
        parts = [self.prose(self.random.randint(1, 5))]
        parts += [self._referring() for _ in range(self.random.randint(0, 4))]
        if self.random.random() < 0.3:
            parts.append("\n".join(f"- {self.prose(1)}" for _ in range(4)))
        if self.random.random() < 0.15:
            parts.append(f"```python\n{chr(10).join(self.random.choices(self.code, k=6))}\n```")
        return "\n\n".join(parts)

    def _referring(self) -> str:
        form = self.random.randrange(10)
        if form < 4 and self.shown:
            path, line = self.random.choice(self.shown)
            return f"The fault was in `{path}:{line}`, {self.random.choice(self.sentences)}"
        if form < 6:
            return f"See {self.file()}:{self.random.randint(1, 3_000)} for the other side of it."
        if form < 9:
            return f'The output says "{self._quoted(is_true=form < 8)}".'
        if self.random.random() < 0.5:
            return f"I committed it as commit {self.random.getrandbits(40):010x}."
        return f"It follows https://docs.example.org/{self.module()}/page."

    def _quoted(self, *, is_true: bool) -> str:
        if not (is_true and self.outputs):
            return self.prose(1).replace("the", "no")
        line = self.random.choice(self.random.choice(self.outputs).split("\n"))
        return line.strip().replace('"', "'") or self.prose(1)


class _Claude:
    """Records of one Claude Code session, one turn after another, without end."""

    def __init__(self, seed: int) -> None:
        self._world = _World(seed)
        self._session = self._world.uuid()
        self._parent: str | None = None

    def records(self) -> Iterator[Json]:
        while True:
            yield from self._turn()

    def _common(self, type_: str) -> Json:
        uuid = self._world.uuid()
        parent, self._parent = self._parent, uuid
        return {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": _CWD,
            "sessionId": self._session,
            "version": "2.1.42",
            "gitBranch": "main",
            "slug": "quiet-green-harbour",
            "type": type_,
            "uuid": uuid,
            "timestamp": self._world.now(),
        }

    def _turn(self) -> Iterator[Json]:
        world, rng = self._world, self._world.random
        if rng.random() < 0.88:
            yield self._snapshot()
        text = world.prose(rng.randint(1, 6))
        message = {"role": "user", "content": text}
        yield {**self._common("user"), "promptId": world.uuid(), "message": message}
        for _ in range(rng.randint(2, 8)):
            yield from self._call()
        yield self._assistant(world.id("msg"), {"type": "text", "text": world.reply()})
        if rng.random() < 0.74:
            subtype = rng.choice(("turn_duration", "stop_hook_summary"))
            duration = {"subtype": subtype, "durationMs": rng.randint(900, 90_000), "isMeta": False}
            yield {**self._common("system"), **duration}

    def _snapshot(self) -> Json:
        paths = self._world.random.sample(self._world.names, 12)
        backups = {
            path: {"backupFileName": f"{self._world.uuid()}@v2", "version": 2, "backupTime": "2026"}
            for path in paths
        }
        id_ = self._world.uuid()
        snapshot = {"messageId": id_, "trackedFileBackups": backups, "timestamp": "2026-03-01"}
        return {"type": "file-history-snapshot", "messageId": id_, "snapshot": snapshot}

    def _assistant(self, message: str, block: Json) -> Json:
        usage = {"input_tokens": 9, "output_tokens": 210, "cache_read_input_tokens": 40_112}
        return {
            **self._common("assistant"),
            "requestId": f"req_{message[4:]}",
            "message": {
                "id": message,
                "type": "message",
                "role": "assistant",
                "model": "model-x",
                "content": [block],
                "stop_reason": None,
                "usage": usage,
            },
        }

    def _call(self) -> Iterator[Json]:
        world, rng = self._world, self._world.random
        message, call = world.id("msg"), world.id("toolu")
        if rng.random() < 0.82:
            yield self._assistant(message, self._aside())
        name, given, content, result = rng.choice(_TOOLS)(world)
        use = {"type": "tool_use", "id": call, "name": name, "input": given}
        asked = self._assistant(message, use)
        yield asked
        for _ in range(rng.choice((1, 2, 2, 2))):
            yield self._progress(call, name)
        block: Json = {"tool_use_id": call, "type": "tool_result", "content": content}
        if name == "Bash":
            block["is_error"] = isinstance(result, str)
        yield {
            **self._common("user"),
            "sourceToolAssistantUUID": asked["uuid"],
            "message": {"role": "user", "content": [block]},
            "toolUseResult": result,
        }

    def _aside(self) -> Json:
        world, rng = self._world, self._world.random
        if rng.random() < 0.6:
            thinking = world.prose(rng.randint(3, 40))
            return {"type": "thinking", "thinking": thinking, "signature": world.id("s") * 12}
        text = world.prose(rng.randint(1, 3))
        if rng.random() < 0.2:
            text = f"{text} I look at {world.file()}:{rng.randint(1, 400)} next."
        return {"type": "text", "text": text}

    def _progress(self, call: str, name: str) -> Json:
        data: Json = {"type": "hook_progress", "hookEvent": "PostToolUse", "hookName": name}
        if self._world.random.random() < 0.4:
            output = self._world.printed(self._world.size() // 2)
            data = {"type": "bash_progress", "output": output[-200:], "fullOutput": output}
        ids = {"toolUseID": call, "parentToolUseID": call}
        return {**self._common("progress"), "data": data, **ids}


def _bash(world: _World) -> tuple[str, Json, str, Any]:
    command = world.command()
    output = world.printed(world.size())
    given = {"command": command, "description": world.prose(1)}
    if world.random.random() < 0.15:
        content = f"Exit code 1\n{output}"
        return "Bash", given, content, f"Error: {content}"
    result = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    return "Bash", given, output, result


def _read(world: _World) -> tuple[str, Json, str, Any]:
    path = world.file()
    first, lines = world.window(path, world.size())
    content = "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, start=first))
    content += "\n\n<system-reminder>\nThink about whether the file is harmful.\n</system-reminder>"
    file = {
        "filePath": f"{_CWD}/{path}",
        "content": "\n".join(lines),
        "numLines": len(lines),
        "startLine": first,
        "totalLines": len(world.files[path]),
    }
    given = {"file_path": f"{_CWD}/{path}", "offset": first, "limit": len(lines)}
    return "Read", given, content, {"type": "text", "file": file}


def _edit(world: _World) -> tuple[str, Json, str, Any]:
    path = world.file()
    first, lines = world.window(path, min(world.size(), 900))
    old, new = "\n".join(lines), "\n".join([*lines, world.random.choice(world.code)])
    hunk = {
        "oldStart": first,
        "oldLines": len(lines),
        "newStart": first,
        "newLines": len(lines) + 1,
        "lines": [f" {line}" for line in lines],
    }
    full = f"{_CWD}/{path}"
    result = {
        "filePath": full,
        "oldString": old,
        "newString": new,
        "originalFile": "\n".join(world.files[path][:400]),
        "structuredPatch": [hunk],
        "userModified": False,
        "replaceAll": False,
    }
    given = {"file_path": full, "old_string": old, "new_string": new}
    return "Edit", given, f"The file {full} has been updated successfully.", result


def _grep(world: _World) -> tuple[str, Json, str, Any]:
    pattern = world.chosen(1)[0]
    rows: list[str] = []
    size = world.size() // 2
    while size > 0:
        path = world.file()
        line = world.random.randint(1, len(world.files[path]))
        rows.append(f"{path}:{line}:{world.files[path][line - 1]}")
        size -= len(rows[-1])
    content = "\n".join(rows)
    result = {"mode": "content", "numFiles": 0, "filenames": [], "content": content}
    given = {"pattern": pattern, "path": _CWD, "output_mode": "content", "-n": True}
    return "Grep", given, content, {**result, "numLines": len(rows)}


_TOOLS: tuple[Callable[[_World], tuple[str, Json, str, Any]], ...] = (
    _bash, _bash, _bash, _read, _read, _read, _edit, _edit, _grep,
)  # fmt: skip


class _Codex:
    """Records of one Codex rollout, one turn after another, without end."""

    def __init__(self, seed: int) -> None:
        self._world = _World(seed)

    def records(self) -> Iterator[Json]:
        yield self._record(
            "session_meta",
            id=self._world.uuid(),
            cwd=_CWD,
            originator="codex_cli",
            cli_version="0.144.1",
            source="cli",
            git={"commit_hash": f"{self._world.random.getrandbits(160):040x}", "branch": "main"},
        )
        while True:
            yield from self._turn()

    def _record(self, kind: str, /, **payload: object) -> Json:
        return {"timestamp": self._world.now(), "type": kind, "payload": payload}

    def _turn(self) -> Iterator[Json]:
        world, rng = self._world, self._world.random
        policy = {"approval_policy": "on-request", "sandbox_policy": {"type": "workspace-write"}}
        yield self._record("turn_context", cwd=_CWD, model="model-y", effort="medium", **policy)
        prompt = world.prose(rng.randint(1, 6))
        asked = [{"type": "input_text", "text": prompt}]
        yield self._record("response_item", type="message", role="user", content=asked)
        yield self._record("event_msg", type="user_message", message=prompt, kind="plain")
        for _ in range(rng.randint(2, 8)):
            yield from self._call()
        reply = world.reply()
        yield self._record("event_msg", type="agent_message", message=reply)
        said = [{"type": "output_text", "text": reply}]
        yield self._record("response_item", type="message", role="assistant", content=said)
        duration = rng.randint(900, 90_000)
        yield self._record("event_msg", type="task_complete", duration_ms=duration)

    def _call(self) -> Iterator[Json]:
        world, rng = self._world, self._world.random
        call = world.id("call")
        thought = world.prose(rng.randint(2, 20))
        yield self._record("event_msg", type="agent_reasoning", text=thought)
        yield self._record(
            "response_item",
            type="reasoning",
            summary=[{"type": "summary_text", "text": thought}],
            encrypted_content=f"{rng.getrandbits(4_000):x}",
        )
        command, output = self._ran()
        status = int(rng.random() < 0.15)
        arguments = msgspec.json.encode({"cmd": command, "workdir": _CWD}).decode()
        use = {"type": "function_call", "name": "exec_command", "call_id": call}
        yield self._record("response_item", **use, arguments=arguments)
        head = f"Chunk ID: 1\nWall time: 0.5 seconds\nProcess exited with code {status}\nOutput:\n"
        came = {"type": "function_call_output", "call_id": call, "output": head + output}
        if rng.random() < 0.5:
            yield self._ended(call, command, output, status)
        yield self._record("response_item", **came)
        tokens = {"input_tokens": 900, "output_tokens": 40, "cached_input_tokens": 700}
        info = {"last_token_usage": tokens, "total_token_usage": {"total_tokens": 940}}
        yield self._record("event_msg", type="token_count", info=info)

    def _ended(self, call: str, command: str, output: str, status: int) -> Json:
        return self._record(
            "event_msg",
            type="exec_command_end",
            call_id=call,
            command=["bash", "-lc", command],
            cwd=_CWD,
            aggregated_output=output[:10_000],
            exit_code=status,
            duration={"secs": 0, "nanos": 500_000_000},
        )

    def _ran(self) -> tuple[str, str]:
        world = self._world
        if world.random.random() < 0.5:
            return world.command(), world.printed(world.size())
        path = world.file()
        first, lines = world.window(path, world.size())
        output = "\n".join(lines)
        return f"sed -n '{first},{first + len(lines) - 1}p' {path}", output


_SESSIONS: dict[str, Callable[[int], _Claude | _Codex]] = {"claude_code": _Claude, "codex": _Codex}
FORMATS = tuple(_SESSIONS)
"""The formats that sessions are invented in."""


def lines_of(format_: str, size: int, seed: int = 1) -> Iterator[bytes]:
    """Yield lines of a session until they have `size` bytes."""
    encode = msgspec.json.Encoder().encode
    for record in _SESSIONS[format_](seed).records():
        line = encode(record) + b"\n"
        yield line
        size -= len(line)
        if size <= 0:
            return


def write_session(path: Path, format_: str, size: int, seed: int = 1) -> int:
    """Write a session of about `size` bytes to `path` and return its records."""
    count = 0
    with path.open("wb", buffering=1 << 20) as file:
        for line in lines_of(format_, size, seed):
            file.write(line)
            count += 1
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description="Write an invented session.")
    parser.add_argument("format", choices=FORMATS, nargs="?", default="claude_code")
    parser.add_argument("bytes", type=int, nargs="?", default=1_000_000)
    parser.add_argument("path", type=Path, nargs="?", default=Path("/tmp/session.jsonl"))
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    records = write_session(given.path, given.format, given.bytes, given.seed)
    print(f"{given.path}: {records} records, {given.path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
