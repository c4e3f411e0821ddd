"""A conversation over JSON, recorded and replayed: what the page about the protocol shows.

What differs from run to run is masked: ids are numbered as they come, times stand still,
folders have the names of an example.
"""
# ruff: noqa: INP001 - cog imports this file by its folder

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SENT, TOLD = "> ", "< "
"""What stands before a line: sent to the program, told by it."""

SCRIPT = (
    {"call": [{"tool": "read_file", "arguments": {"path": "notes.md"}}]},
    {"say": "The notes (entry 4) say: push on Friday.", "usage": {"input": 620, "output": 14}},
    {"call": [{"tool": "run_command", "arguments": {"command": "git push --force origin main"}}]},
    {"say": "Pushed, see entry 19.", "usage": {"input": 710, "output": 8}},
)
"""What the model says: it reads a file, and then claims what was refused."""

_FOLDER, _STORE = "/home/ann/shop", "/home/ann/.counterfoil/ledger.db"
_STANDS_STILL = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), "2026-03-01T09:00:00.000Z"),
    (re.compile(r'"(milliseconds|seconds)":[\d.]+'), r'"\1":0'),
    (re.compile(r'"estimatedTokens":\d+'), '"estimatedTokens":600'),
    (re.compile(r'"version":"[^"]*"'), '"version":"0.1.0"'),
    (re.compile(r'"sandbox":"[^"]*"'), '"sandbox":"bubblewrap"'),
    (re.compile(r"\d+\.\d s\b"), "0.0 s"),
)
_ID = re.compile(r"\b[0-9a-f]{16}\b")


class Conversation:
    """The program on one side, a page or a recorder on the other."""

    def __init__(self, process: "subprocess.Popen[bytes]", folder: str, home: str) -> None:
        self._process = process
        self._folder, self._home = folder, home
        self._ids: dict[str, str] = {}

    def send(self, line: str) -> None:
        """Send a line as it stands in the page, ids put back."""
        known = {masked: real for real, masked in self._ids.items()}
        text = _ID.sub(lambda found: known.get(found.group(), found.group()), line)
        assert self._process.stdin is not None  # noqa: S101 - it was given a pipe
        self._process.stdin.write(f"{text}\n".encode())
        self._process.stdin.flush()

    def told(self) -> str | None:
        """Return the next line of the program, masked; `None` at its end."""
        assert self._process.stdout is not None  # noqa: S101 - the same
        line = self._process.stdout.readline().decode().rstrip("\n")
        return self._masked(line) if line else None

    def end(self) -> None:
        """Say nothing more."""
        assert self._process.stdin is not None  # noqa: S101 - it was given a pipe
        self._process.stdin.close()

    def _masked(self, line: str) -> str:
        text = line.replace(f"{self._home}/ledger.db", _STORE).replace(self._folder, _FOLDER)
        for pattern, still in _STANDS_STILL:
            text = pattern.sub(still, text)
        return _ID.sub(self._numbered, text)

    def _numbered(self, found: "re.Match[str]") -> str:
        return self._ids.setdefault(found.group(), f"{len(self._ids) + 1:016x}")


@contextmanager
def _folder() -> Iterator[tuple[Path, Path]]:
    """Have the folder of the example with its file and its script, and an empty home."""
    with tempfile.TemporaryDirectory(prefix="counterfoil-docs-") as name:
        folder, home = Path(name, "shop").resolve(), Path(name, "home").resolve()
        folder.mkdir()
        (folder / "notes.md").write_text("Push on Friday.\n", "utf-8")
        script = "".join(f"{json.dumps(step)}\n" for step in SCRIPT)
        (folder / "example.jsonl").write_text(script, "utf-8")
        yield folder, home


def _environment(home: Path) -> dict[str, str]:
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("COUNTERFOIL", "LC_"))
    }
    return kept | dict.fromkeys(("HOME", "COUNTERFOIL_HOME", "XDG_DATA_HOME"), str(home))


@contextmanager
def conversation() -> Iterator[Conversation]:
    """Have the program of the example, in a folder with its file."""
    options = ("--json", "--thread", "shop", "--tool", "read_file", "--tool", "run_command")
    program = [sys.executable, "-m", "counterfoil", "chat", *options]
    with (
        _folder() as (folder, home),
        subprocess.Popen(  # noqa: S603 - our own program
            [*program, "--model", "scripted:example.jsonl"],
            cwd=folder,
            env=_environment(home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process,
    ):
        yield Conversation(process, str(folder), str(home))


def record() -> Iterator[str]:
    """Yield the lines of the example, sent and told, as they come now."""
    with conversation() as other:
        yield from _sent(other, {"type": "hello", "effects": ["approve"]})
        yield from _sent(other, {"type": "message", "text": "What do the notes say?"})
        yield from _told(other, "turn", phase="end")
        yield from _sent(other, {"type": "message", "text": "Push it."})
        lines = list(_told(other, "approval"))
        yield from lines
        question = json.loads(lines[-1].removeprefix(TOLD))["id"]
        yield from _sent(other, {"type": "answer", "id": question, "decision": "denied"})
        yield from _told(other, "turn", phase="end")
        other.end()
        yield from _told(other, "exit")


def replay(lines: Iterable[str]) -> Iterator[str]:
    """Send what `lines` send, when they do; yield what is sent, and told, now."""
    with conversation() as other:
        for line in lines:
            if line.startswith(SENT):
                other.send(line.removeprefix(SENT))
                yield line
            else:
                if json.loads(line.removeprefix(TOLD))["type"] == "exit":
                    other.end()
                yield f"{TOLD}{other.told()}"
        if (more := other.told()) is not None:
            yield f"{TOLD}{more}"


def _sent(other: Conversation, value: dict[str, Any]) -> Iterator[str]:
    line = json.dumps(value, separators=(",", ":"))
    other.send(line)
    yield f"{SENT}{line}"


def _told(other: Conversation, type_: str, **fields: str) -> Iterator[str]:
    while (line := other.told()) is not None:
        yield f"{TOLD}{line}"
        value = json.loads(line)
        if value["type"] == type_ and all(value.get(name) == said for name, said in fields.items()):
            return


def sample() -> str:
    """Return the same conversation as text, as it stands on a screen, with its exit code."""
    options = "--model scripted:example.jsonl --thread shop"
    with _folder() as (folder, home):
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "counterfoil", "chat", *options.split()],
            cwd=folder,
            env=_environment(home),
            input=b"What do the notes say?\nPush it.\n",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    text = re.sub(r"\d+\.\d s\b", "0.0 s", done.stdout.decode()).rstrip()
    command = f"counterfoil chat {options} < prompts.txt"
    return f"\n```console\n$ {command}\n{text}\n$ echo $?\n{done.returncode}\n```\n"


def recorded() -> str:
    """Return the example as a block of Markdown, its script before it."""
    script = "\n".join(json.dumps(step) for step in SCRIPT)
    lines = "\n".join(record())
    return f"\n```json\n{script}\n```\n\n```text\n{lines}\n```\n"
