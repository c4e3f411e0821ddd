"""Sessions on this machine: where each program keeps them, and whose they are.

Whose a session is stands in its records, never in the name of its folder: Claude Code
writes every character that is no letter and no digit as `-`, so that two projects can
share a folder and no name can be read back.
"""

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import msgspec

from counterfoil.adapters.transcripts.claude_code.layout import find_subagents
from counterfoil.adapters.transcripts.evidence import CLAUDE_CODE, CODEX
from counterfoil.adapters.transcripts.lines import Damage, Tally
from counterfoil.adapters.transcripts.records import RecordReader
from counterfoil.adapters.transcripts.source import open_file
from counterfoil.core.errors import CounterfoilError
from counterfoil.ports.transcripts import TranscriptFile

_FIRST = 200


class _Payload(msgspec.Struct):
    id: str | None = None
    cwd: str | None = None


class _Head(msgspec.Struct, rename="camel"):
    type: str = ""
    cwd: str | None = None
    session_id: str | None = None
    payload: _Payload | None = None
    thread: str | None = None


def session_files(
    environment: Mapping[str, str], *, claude_dir: str = "", codex_dir: str = ""
) -> Iterator[tuple[str, Path]]:
    """Yield the format and the path of every session file of the known programs."""
    user = Path.home()
    claude = Path(claude_dir or environment.get("CLAUDE_CONFIG_DIR") or user / ".claude")
    for path in sorted((claude / "projects").glob("*/*.jsonl")):
        if not path.name.startswith("agent-"):
            yield CLAUDE_CODE, path
    rollouts = Path(codex_dir or environment.get("CODEX_HOME") or user / ".codex")
    for folder in ("sessions", "archived_sessions"):
        for pattern in ("rollout-*.jsonl", "rollout-*.jsonl.zst"):
            for path in sorted((rollouts / folder).glob(f"**/{pattern}")):
                yield CODEX, path


def files_below(directory: Path) -> Iterator[Path]:
    """Yield the files below `directory` that can be sessions of their own.

    The files of sub-agents, journals and long outputs belong to sessions. Symbolic links
    to folders are not followed.
    """
    for folder, names, files in os.walk(directory):
        names[:] = sorted(
            name for name in names if name not in {"subagents", "tool-results", ".git"}
        )
        for name in sorted(files):
            is_session = name.endswith((".jsonl", ".jsonl.zst")) and name != "journal.jsonl"
            path = Path(folder) / name
            if is_session and not name.startswith("agent-") and path.is_file():
                yield path


def newest_first(paths: list[Path]) -> list[Path]:
    """Return `paths` by the time of their last change; one that is gone is left out."""
    dated: list[tuple[float, str, Path]] = []
    for path in paths:
        try:
            dated.append((path.stat().st_mtime, str(path), path))
        except OSError:
            continue
    return [path for *_, path in sorted(dated, reverse=True)]


def describe(format_: str, path: Path) -> TranscriptFile | None:
    """Return what the head of a session says; `None` when the file is gone."""
    try:
        status = path.stat()
        thread, cwd = _head_of(path)
    except (OSError, CounterfoilError):
        return None
    subs = find_subagents(path) if format_ == CLAUDE_CODE else {}
    return TranscriptFile(
        path=str(path),
        format=format_,
        thread=thread,
        cwd=cwd,
        modified=status.st_mtime,
        size=status.st_size,
        subagents=len(subs),
    )


def _head_of(path: Path) -> tuple[str | None, str | None]:
    """Read records until one names the working directory."""
    thread: str | None = None
    tally = Tally()
    with open_file(str(path)).open() as file:
        for record in islice(_reader.records(file, tally), _FIRST):
            if isinstance(record, Damage):
                continue
            head = record[1]
            payload = head.payload or _Payload()
            thread = thread or head.session_id or payload.id or head.thread
            cwd = head.cwd or payload.cwd
            if cwd is not None:
                return thread, cwd
    return thread, None


_reader = RecordReader(_Head)
