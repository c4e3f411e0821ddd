"""Claude Code sessions: JSON Lines, one record a line (transcripts.md 3 and 4.2).

One message of the model is split over several records; results are joined by
`tool_use_id`; a refusal is only text, and read as one only where the format marks the
result as an error. Sub-agents have files of their own, which are read where their
result stands; older versions put their records into the main file.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from counterfoil.adapters.transcripts.claude_code.layout import find_subagents, side_directory
from counterfoil.adapters.transcripts.claude_code.reading import Session
from counterfoil.adapters.transcripts.claude_code.records import decode_records
from counterfoil.adapters.transcripts.claude_code.words import words_of
from counterfoil.adapters.transcripts.evidence import CLAUDE_CODE
from counterfoil.adapters.transcripts.search import NeedleSearch, Words
from counterfoil.adapters.transcripts.source import Source
from counterfoil.core.ids import ThreadId
from counterfoil.ports.transcripts import Item, Origin, Sighting, Wanted

__all__ = ["ClaudeCodeTranscript", "find_subagents"]


class ClaudeCodeTranscript:
    """One session of Claude Code, with the files of its sub-agents and long outputs."""

    format = CLAUDE_CODE
    numbers_entries = False

    def __init__(self, source: Source) -> None:
        self.path = source.name
        self._source = source
        self._threads: dict[str, ThreadId] = {}
        self._files: list[tuple[Path, Origin]] = []
        self._side_files: dict[str, tuple[ThreadId, int, Origin]] = {}

    def items(self) -> Iterator[Item]:
        """Yield everything of the session, in its order (see the port)."""
        session = Session(self._source)
        yield from session.items()
        self._threads = session.threads
        self._files = session.files
        self._side_files = session.side_files

    def find(self, wanted: Sequence[Wanted]) -> Iterator[Sighting]:
        """Yield the first places of needles in the files read by `items` (see the port)."""
        search = NeedleSearch(wanted, self._words)
        with self._source.open() as file:
            yield from search.sightings(file, Origin(""))
        for path, origin in self._files:
            with path.open("rb") as file:
                yield from search.sightings(file, origin)
        for name, (thread, line, origin) in self._side_files.items():
            directory = side_directory(self._source)
            if directory is not None:
                with (directory / name).open("rb") as file:
                    yield from search.in_text(file, thread, line, origin)

    def _words(self, raw: bytes) -> Iterator[Words]:
        for record in decode_records(raw):
            session = f"agent-{record.agent_id}" if record.is_sidechain else record.session_id
            thread = self._threads.get(session or "")
            for whose, text in words_of(record):
                yield Words(whose, text, thread)
