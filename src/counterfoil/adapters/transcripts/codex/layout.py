"""Where the rollouts of sub-agents lie: beside that of the thread that spawned them."""

from itertools import islice
from pathlib import Path

from counterfoil.adapters.transcripts.codex.records import Payload, parent_of, reader
from counterfoil.adapters.transcripts.lines import Damage, Tally
from counterfoil.core.errors import UnreadableError

_FIRST = 5
_DAYS = 2


def first_meta(path: Path) -> Payload | None:
    """Return the `session_meta` that the file at `path` begins with."""
    try:
        with path.open("rb") as file:
            for record in islice(reader.records(file, Tally()), _FIRST):
                if not isinstance(record, Damage) and record[1].type == "session_meta":
                    return record[1].payload
    except (OSError, UnreadableError):
        return None
    return None


def find_subagents(path: Path, id_: str) -> dict[str, Path]:
    """Return the rollouts, of that day and the next, whose threads the thread `id_` spawned."""
    found: dict[str, Path] = {}
    for folder in _days(path.parent):
        for other in sorted(folder.glob("*.jsonl")):
            meta = first_meta(other) if other != path else None
            if meta is not None and meta.id is not None and parent_of(meta) == id_:
                found[meta.id] = other
    return found


def _days(folder: Path) -> list[Path]:
    """Rollouts lie in `YYYY/MM/DD`; a session that goes past midnight spawns in the next."""
    if not (folder.name.isdigit() and folder.parent.name.isdigit()):
        return [folder]
    root = folder.parent.parent.parent
    days = sorted(day for day in root.glob("[0-9]*/[0-9]*/[0-9]*") if day >= folder)
    return days[:_DAYS]
