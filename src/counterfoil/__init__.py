"""Counterfoil: the record of what an AI agent did, its receipts, and its references checked.

The names exported here and by `counterfoil.testing` are the stable API. They are loaded
when asked for, so that the command line does not pay for what it does not use.
"""

from importlib import import_module

TYPE_CHECKING = False  # as `typing` has it, which costs more to import than all of this

if TYPE_CHECKING:
    from counterfoil.core.canonical import canonical_json
    from counterfoil.core.errors import CounterfoilError
    from counterfoil.core.events import Event, Fact
    from counterfoil.core.intervals import Intervals
    from counterfoil.core.ran import ran_line
    from counterfoil.core.receipt import Receipt, fold_receipt
    from counterfoil.core.refs.cited import CitedEntries, check_entries
    from counterfoil.core.refs.entries import EntryReference, find_entry_references
    from counterfoil.core.refs.literals import find_literals
    from counterfoil.engine.check_transcript import TranscriptCheck
    from counterfoil.wire.events import decode_event, encode_event
    from counterfoil.wire.receipt import receipt_to_json
    from counterfoil.wire.strict_json import Malformed

_HOMES = {
    "CitedEntries": "core.refs.cited",
    "CounterfoilError": "core.errors",
    "EntryReference": "core.refs.entries",
    "Event": "core.events",
    "Fact": "core.events",
    "Intervals": "core.intervals",
    "Malformed": "wire.strict_json",
    "Receipt": "core.receipt",
    "TranscriptCheck": "engine.check_transcript",
    "canonical_json": "core.canonical",
    "check_entries": "core.refs.cited",
    "decode_event": "wire.events",
    "encode_event": "wire.events",
    "find_entry_references": "core.refs.entries",
    "find_literals": "core.refs.literals",
    "fold_receipt": "core.receipt",
    "ran_line": "core.ran",
    "receipt_to_json": "wire.receipt",
}

__all__ = [
    "CitedEntries",
    "CounterfoilError",
    "EntryReference",
    "Event",
    "Fact",
    "Intervals",
    "Malformed",
    "Receipt",
    "TranscriptCheck",
    "canonical_json",
    "check_entries",
    "decode_event",
    "encode_event",
    "find_entry_references",
    "find_literals",
    "fold_receipt",
    "ran_line",
    "receipt_to_json",
]


def __getattr__(name: str) -> object:
    """Load an exported name from its home."""
    if name not in _HOMES:
        raise AttributeError(f"module 'counterfoil' has no attribute {name!r}")
    return getattr(import_module(f"counterfoil.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
