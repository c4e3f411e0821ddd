"""Where the files of one session lie: sub-agents below or beside it, long outputs."""

from itertools import islice
from pathlib import Path

from counterfoil.adapters.transcripts.claude_code.records import reader
from counterfoil.adapters.transcripts.lines import Damage, Tally
from counterfoil.adapters.transcripts.source import Source
from counterfoil.core.errors import UnreadableError

_FIRST = 50


def find_subagents(path: Path | None) -> dict[str, Path]:
    """Return the files of the sub-agents of the session at `path`, by their ids."""
    if path is None or path.stem.startswith("agent-"):
        return {}
    below = sorted((path.parent / path.stem / "subagents").glob("**/agent-*.jsonl"))
    beside = [
        other
        for other in sorted(path.parent.glob("agent-*.jsonl"))
        if session_of(other) == path.stem
    ]
    return {found.stem.removeprefix("agent-"): found for found in (*beside, *below)}


def session_of(path: Path) -> str | None:
    """Return the session that the first records of the file at `path` name."""
    try:
        with path.open("rb") as file:
            for record in islice(reader.records(file, Tally()), _FIRST):
                if not isinstance(record, Damage) and record[1].session_id is not None:
                    return record[1].session_id
    except (OSError, UnreadableError):
        return None
    return None


def side_directory(source: Source) -> Path | None:
    """Return the folder beside a session in which its long outputs lie."""
    if source.path is None:
        return None
    directory = source.path.parent / source.path.stem / "tool-results"
    return directory if directory.is_dir() else None
