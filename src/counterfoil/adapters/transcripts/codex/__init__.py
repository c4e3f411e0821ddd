"""Codex rollouts: JSON Lines of `{timestamp, type, payload}` (transcripts.md 3 and 4.3).

What came of a call can stand in two records, in either order: its output, and an event
with the exit code or the status of a patch. Both are joined by `call_id` and told once.
A reply and a prompt stand twice as well: as an item of the conversation and as a notice.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from counterfoil.adapters.transcripts.codex.reading import Session
from counterfoil.adapters.transcripts.codex.records import decode_records
from counterfoil.adapters.transcripts.codex.words import words_of
from counterfoil.adapters.transcripts.evidence import CODEX
from counterfoil.adapters.transcripts.search import NeedleSearch, Words
from counterfoil.adapters.transcripts.source import Source
from counterfoil.core.ids import ThreadId
from counterfoil.ports.transcripts import Item, Origin, Sighting, Wanted

__all__ = ["CodexTranscript"]


class CodexTranscript:
    """One rollout, with those of its sub-agents."""

    format = CODEX
    numbers_entries = False

    def __init__(self, source: Source) -> None:
        self.path = source.name
        self._source = source
        self._files: list[tuple[Path, Origin]] = []
        self._threads: dict[str, ThreadId] = {}

    def items(self) -> Iterator[Item]:
        """Yield everything of the rollout, in its order (see the port)."""
        session = Session(self._source)
        yield from session.items()
        self._files = session.files
        self._threads = session.threads

    def find(self, wanted: Sequence[Wanted]) -> Iterator[Sighting]:
        """Yield the first places of needles in the files read by `items` (see the port)."""
        search = NeedleSearch(wanted, self._words_in(""))
        with self._source.open() as file:
            yield from search.sightings(file, Origin(""))
        for path, origin in self._files:
            with path.open("rb") as file:
                yield from search.sightings(file, origin, self._words_in(origin.source))

    def _words_in(self, name: str) -> "_WordsOf":
        subagents = frozenset(origin.source for _, origin in self._files)
        ids = frozenset(str(self._threads[source]) for source in subagents)
        return _WordsOf(self._threads.get(name), ids)


class _WordsOf:
    """The texts of the records of one file, which is of one thread."""

    def __init__(self, thread: ThreadId | None, subagents: frozenset[str]) -> None:
        self._thread = thread
        self._subagents = subagents

    def __call__(self, raw: bytes) -> Iterator[Words]:
        """Yield the texts of the record `raw`."""
        for record in decode_records(raw):
            if record.payload is not None:
                for whose, text in words_of(record.type, record.payload, self._subagents):
                    yield Words(whose, text, self._thread)
