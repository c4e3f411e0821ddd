"""Runs the command line as a stranger does, over sessions that each test writes."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, bytes, str]]

_CASES = Path(__file__).parents[1] / "cases" / "open.jsonl"
_SESSION = "11111111-1111-4111-8111-111111111111"
_MEASURING = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
unit = 1 if sys.platform == "darwin" else 1024
print(used.ru_maxrss * unit, used.ru_utime + used.ru_stime, file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture
def environment(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the program finds of the machine: nothing but what the test put there."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COUNTERFOIL", "PYTHON", "LC_", "GIT_"))
        and name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LANG"}
    }
    # Compiled once a run of the tests, whoever runs them; nothing is written into `src`.
    kept["PYTHONPYCACHEPREFIX"] = str(tmp_path_factory.getbasetemp() / "compiled")
    places = {
        "HOME": "home",
        "COUNTERFOIL_HOME": "home/counterfoil",
        "CLAUDE_CONFIG_DIR": "home/.claude",
        "CODEX_HOME": "home/.codex",
        "XDG_CONFIG_HOME": "home/.config",
    }
    return kept | {name: str(tmp_path / place) for name, place in places.items()}


@pytest.fixture
def run(tmp_path: Path, environment: dict[str, str]) -> Run:
    """Run `counterfoil` with arguments; return the exit code, stdout and stderr."""

    def _run(
        *arguments: str | Path, stdin: bytes = b"", extra: dict[str, str] | None = None
    ) -> tuple[int, bytes, str]:
        done = subprocess.run(
            [sys.executable, "-m", "counterfoil", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            check=False,
            cwd=tmp_path,
            env=environment | (extra or {}),
            timeout=60,
        )
        error = done.stderr.decode("utf-8", "replace")
        assert "Traceback" not in error, error[-900:]
        return done.returncode, done.stdout, error

    return _run


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file below the test's folder and return its path."""

    def _write(content: str | bytes, name: str = "session.jsonl") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _write


@pytest.fixture
def check(run: Run, write: Callable[..., Path]) -> Callable[..., tuple[int, dict[str, Any]]]:
    """Check a session, given as text, as bytes or as a file; return exit code and document."""

    def _check(session: str | bytes | Path, *flags: str | Path) -> tuple[int, dict[str, Any]]:
        path = session if isinstance(session, Path) else write(session)
        code, output, _ = run("check", "--json", *flags, path)
        (line,) = output.splitlines()
        document: dict[str, Any] = json.loads(line)
        return code, document

    return _check


@pytest.fixture
def check_many(run: Run, write: Callable[..., Path]) -> Callable[..., list[dict[str, Any]]]:
    """Check sessions of one folder in one run; return their documents in the order given."""
    calls = count()

    def _check(sessions: list[str | bytes]) -> list[dict[str, Any]]:
        folder = f"many-{next(calls)}"
        for place, session in enumerate(sessions):
            write(session, f"{folder}/{place:04}.jsonl")
        _, output, _ = run("check", "--json", folder)
        documents: list[dict[str, Any]] = [json.loads(line) for line in output.splitlines()]
        assert len(documents) == len(sessions)
        return documents

    return _check


@pytest.fixture
def refused(run: Run) -> Callable[[Path], None]:
    """Assert that a file of an unknown format is told in one clear line, and exit code 3."""

    def _refused(path: Path) -> None:
        before = path.read_bytes()
        code, output, error = run("check", "--json", path)
        assert code == 3
        assert json.loads(output)["summary"]["outcome"] == "could_not_tell"
        (line,) = [line for line in error.splitlines() if not line.startswith("hint:")]
        assert "unknown format" in line
        assert path.read_bytes() == before

    return _refused


@pytest.fixture
def measured(
    tmp_path: Path, environment: dict[str, str]
) -> Callable[..., tuple[bytes, int, float]]:
    """Run `counterfoil`; return its output, its peak of memory in bytes, its CPU seconds."""

    def _measured(*arguments: str | Path) -> tuple[bytes, int, float]:
        program = [sys.executable, "-m", "counterfoil", *map(str, arguments)]
        done = subprocess.run(
            [sys.executable, "-c", _MEASURING, *program],
            capture_output=True,
            check=True,
            cwd=tmp_path,
            env=environment,
            timeout=60,
        )
        peak, seconds = done.stderr.decode().split()[-2:]
        return done.stdout, int(peak), float(seconds)

    return _measured


@pytest.fixture(scope="session")
def case() -> Callable[[str], str]:
    """Return the input of a case by its id."""
    with _CASES.open(encoding="utf-8", newline="\n") as file:
        inputs = {row["id"]: row["minimal_input"] for row in map(json.loads, file)}

    def _case(id_: str) -> str:
        text: str = inputs[id_]
        return text

    return _case


@pytest.fixture(scope="session")
def claude() -> Callable[..., str]:
    """Write a Claude Code session out of steps, each a record.

    A step is `{"prompt": text}`, `{"call": tool, "id": …, "input": …}`, `{"result": id,
    "content": …, "is_error": …, "toolUseResult": …}`, `{"reply": text}`, or the fields
    of a record; `with` adds fields to it, or replaces them.
    """

    def _claude(*steps: dict[str, Any]) -> str:
        records: list[dict[str, Any]] = []
        for number, step in enumerate(steps, start=1):
            record = {
                "parentUuid": f"r{number - 1}" if number > 1 else None,
                "isSidechain": False,
                "userType": "external",
                "cwd": "/home/ann/demo",
                "sessionId": _SESSION,
                "version": "2.1.40",
                "gitBranch": "main",
                "uuid": f"r{number}",
                "timestamp": f"2026-02-01T10:{number // 60 % 60:02}:{number % 60:02}.000Z",
                **_claude_fields(step, number),
                **step.get("with", {}),
            }
            records.append(record)
        return "".join(f"{json.dumps(record)}\n" for record in records)

    return _claude


def _claude_fields(step: dict[str, Any], number: int) -> dict[str, Any]:
    if "prompt" in step:
        return {"type": "user", "message": {"role": "user", "content": step["prompt"]}}
    if "reply" in step:
        return _claude_message({"type": "text", "text": step["reply"]}, number)
    if "call" in step:
        block = {"type": "tool_use", "id": step["id"], "name": step["call"], "input": step["input"]}
        return _claude_message(block, number)
    if "result" in step:
        block = {"type": "tool_result", "tool_use_id": step["result"], "content": step["content"]}
        flag = {"is_error": step["is_error"]} if "is_error" in step else {}
        record = {"type": "user", "message": {"role": "user", "content": [block | flag]}}
        return record | {key: step[key] for key in ("toolUseResult",) if key in step}
    return {key: value for key, value in step.items() if key != "with"}


def _claude_message(block: dict[str, Any], number: int) -> dict[str, Any]:
    message = {"id": f"m{number}", "type": "message", "role": "assistant", "model": "m"}
    return {"type": "assistant", "message": message | {"content": [block]}}


@pytest.fixture(scope="session")
def own_thread() -> Callable[..., str]:
    """Write a thread of our own: entries 1 to `entries`, of which the last is `reply`."""

    def _own_thread(reply: str, entries: int) -> str:
        events: list[dict[str, Any]] = []
        for entry in range(1, entries + 1):
            kind, entry_kind = "reasoning_given", "reasoning"
            if entry in {1, entries}:
                kind = "prompt_received" if entry == 1 else "reply_given"
                entry_kind = "prompt" if entry == 1 else "reply"
            text = reply if entry == entries else f"words of item {entry}"
            stored = {"entry": entry, "entryKind": entry_kind, "events": [f"{2 * entry - 1:016x}"]}
            events.append({"kind": kind, "details": {"text": text}})
            events.append({"kind": "entry_stored", "details": stored})
        return "".join(
            json.dumps(
                {
                    "schema": 1,
                    "seq": seq,
                    "id": f"{seq:016x}",
                    "occurredAt": "2026-03-01T09:00:00.000Z",
                    "thread": "t1",
                    "turn": 1,
                    **event,
                }
            )
            + "\n"
            for seq, event in enumerate(events, start=1)
        )

    return _own_thread


@pytest.fixture
def store(tmp_path: Path) -> Callable[..., Path]:
    """Write pages of a store, `kb` if it has no other name; return its root."""

    def _store(pages: dict[str, str | bytes], name: str = "kb") -> Path:
        root = tmp_path / name
        for path, content in pages.items():
            place = root / "knowledge" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return root

    return _store


@pytest.fixture(scope="session")
def made_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo of `kb init`, as it is made; nobody changes it here."""
    folder = tmp_path_factory.mktemp("made") / "demo"
    program = [sys.executable, "-m", "counterfoil", "kb", "init", "--demo", str(folder)]
    subprocess.run(program, check=True, capture_output=True, timeout=60)
    return folder


@pytest.fixture
def demo(tmp_path: Path, made_demo: Path) -> Path:
    """The demo, in `demo`."""
    return Path(shutil.copytree(made_demo, tmp_path / "demo"))
