"""Where the rollouts of sub-agents lie: beside that of the thread that spawned them."""

from itertools import islice
from pathlib import Path

from counterfoil.adapters.transcripts.codex.records import Payload, parent_of, reader
from counterfoil.adapters.transcripts.lines import Damage, Tally, read_lines
from counterfoil.core.errors import UnreadableError

_FIRST = 5


def first_meta(path: Path) -> Payload | None:
    """Return the `session_meta` that the file at `path` begins with."""
    try:
        with path.open("rb") as file:
            for record in islice(reader.records(read_lines(file, Tally()), Tally()), _FIRST):
                if not isinstance(record, Damage) and record.value.type == "session_meta":
                    return record.value.payload
    except (OSError, UnreadableError):
        return None
    return None


def find_subagents(path: Path, id_: str) -> dict[str, Path]:
    """Return the rollouts beside `path` whose threads the thread `id_` spawned."""
    found: dict[str, Path] = {}
    for other in sorted(path.parent.glob("*.jsonl")):
        meta = first_meta(other) if other != path else None
        if meta is not None and meta.id is not None and parent_of(meta) == id_:
            found[meta.id] = other
    return found
