"""Which format a file is in, told from the shape of its records and from nothing else.

Nine sessions of ten begin with a record that names neither session nor directory, and
a resumed file mixes versions, so every record of the beginning has a voice.
"""

from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from itertools import islice

import msgspec

from counterfoil.adapters.transcripts.evidence import (
    CLAUDE_CODE,
    CLAUDE_IGNORED,
    CLAUDE_KNOWN,
    CODEX,
    CODEX_KINDS,
    COUNTERFOIL,
)
from counterfoil.adapters.transcripts.lines import Damage, Tally
from counterfoil.adapters.transcripts.records import RecordReader
from counterfoil.adapters.transcripts.source import Source
from counterfoil.core.errors import UnreadableError
from counterfoil.ports.transcripts import Item, Measured, Sighting, Transcript
from counterfoil.wire.json_values import value_in

_FIRST = 20_000
_ENOUGH = 50
_GUESSED = 8 << 20
_MAGIC = {
    b"SQLite format 3\0": "an SQLite database",
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "gzip data",
}


class _Shape(msgspec.Struct, rename="camel"):
    type: str = ""
    kind: str | None = None
    schema: int | None = None
    seq: int | None = None
    uuid: str | None = None
    session_id: str | None = None
    leaf_uuid: str | None = None
    message_id: str | None = None
    is_sidechain: bool | None = None
    timestamp: str | None = None
    details: msgspec.Raw = msgspec.Raw(b"")
    payload: msgspec.Raw = msgspec.Raw(b"")
    message: msgspec.Raw = msgspec.Raw(b"")


_OPENERS = {
    COUNTERFOIL: ("counterfoil", "CounterfoilTranscript"),
    CLAUDE_CODE: ("claude_code", "ClaudeCodeTranscript"),
    CODEX: ("codex", "CodexTranscript"),
}
"""The module and the class of every format; a module is imported for its format alone."""


def open_transcript(source: Source) -> Transcript:
    """Return `source` as a transcript of the format that its records have.

    Raises:
        UnreadableError: It holds records, or what should be some, of no known shape.
    """
    votes: Counter[str] = Counter()
    tally = Tally()
    damaged = other = 0
    with source.open() as file:
        for record in islice(_reader.records(file, tally), _FIRST):
            if isinstance(record, Damage):
                damaged += 1
                continue
            name = _format_of(record[1])
            votes[name or ""] += 1
            if name is not None and votes[name] >= _ENOUGH:
                break
    other = votes.pop("", 0)
    if votes:
        module, name = _OPENERS[votes.most_common(1)[0][0]]
        found = import_module(f"counterfoil.adapters.transcripts.{module}")
        transcript: Transcript = getattr(found, name)(source)
        return transcript
    if not (damaged or other):
        return _EmptyTranscript(source, tally)
    raise _unknown(source, damaged, other)


def _format_of(shape: _Shape) -> str | None:
    if shape.schema is not None and shape.seq is not None and bytes(shape.details):
        return COUNTERFOIL
    if shape.type in CODEX_KINDS and bytes(shape.payload):
        return CODEX
    is_claude = shape.type in CLAUDE_IGNORED or shape.type in CLAUDE_KNOWN
    if is_claude and _has_ids(shape):
        return CLAUDE_CODE
    return None


def _has_ids(shape: _Shape) -> bool:
    return bool(
        shape.uuid
        or shape.session_id
        or shape.leaf_uuid
        or shape.message_id
        or shape.is_sidechain is not None
    )


def _unknown(source: Source, damaged: int, other: int) -> UnreadableError:
    what = f"{other:,} records of no known shape" if other else _guess(source)
    if what is None:
        found = f"{source.name!r} holds no readable record ({damaged:,} unreadable)"
    else:
        found = f"{source.name!r} is in an unknown format ({what})"
    return UnreadableError(
        found, f"one of {', '.join(_OPENERS)}", "`counterfoil formats` lists what can be read"
    )


def _guess(source: Source) -> str | None:
    """Say what a file looks like that holds no JSON Lines; `None` where those are torn."""
    with source.open() as file:
        head = file.read(_GUESSED)
    for magic, name in _MAGIC.items():
        if head.startswith(magic):
            return name
    start = head.lstrip(b" \t\r\n\xef\xbb\xbf")
    if start.startswith(b"["):
        return "one JSON list"
    if start.startswith(b"{") and len(head) < _GUESSED and value_in(head) is not None:
        return "one JSON document"
    if b"{" not in head and b"\0" not in head:
        return "text that is no JSON Lines"
    return None


class _EmptyTranscript:
    """A file without a record, and without damage: there is nothing to check."""

    format = "empty"
    numbers_entries = False

    def __init__(self, source: Source, tally: Tally) -> None:
        self.path = source.name
        self._tally = tally

    def items(self) -> Iterator[Item]:
        yield Measured(self._tally.size, self._tally.lines, 0, self._tally.skipped, {}, 0)

    def find(self, wanted: object) -> Iterator[Sighting]:  # noqa: ARG002 - there is no text
        return iter(())


_reader = RecordReader(_Shape)
