"""Counterfoil: the record of what an AI agent did, its receipts, and its references checked.

The names exported here and by `counterfoil.testing` are the stable API. They are loaded
when asked for, so that the command line does not pay for what it does not use.
"""

from importlib import import_module

TYPE_CHECKING = False  # as `typing` has it, which costs more to import than all of this

if TYPE_CHECKING:
    from counterfoil.adapters.files.run_stores import RunStores
    from counterfoil.core.canonical import canonical_json
    from counterfoil.core.errors import CounterfoilError
    from counterfoil.core.events import Event, Fact
    from counterfoil.core.intervals import Intervals
    from counterfoil.core.knowledge.audit import (
        BrokenCitationsError,
        assert_citations,
        audit_citations,
    )
    from counterfoil.core.knowledge.chain import ChainSnapshot
    from counterfoil.core.knowledge.findings import Finding, LintReport
    from counterfoil.core.knowledge.lint import lint_chain
    from counterfoil.core.knowledge.pages import Page
    from counterfoil.core.knowledge.resolution import (
        PageResolution,
        require_pages,
        resolve_handle,
        resolve_handles,
    )
    from counterfoil.core.ran import ran_line
    from counterfoil.core.receipt import Receipt, fold_receipt
    from counterfoil.core.refs.cited import CitedEntries, check_entries
    from counterfoil.core.refs.entries import EntryReference, find_entry_references
    from counterfoil.core.refs.literals import find_literals
    from counterfoil.core.refs.pages import PageReference, format_handle, parse_handle
    from counterfoil.engine.check_transcript import TranscriptCheck
    from counterfoil.wire.events import decode_event, encode_event
    from counterfoil.wire.pages import read_page
    from counterfoil.wire.receipt import receipt_to_json
    from counterfoil.wire.strict_json import Malformed

_HOMES = {
    "BrokenCitationsError": "core.knowledge.audit",
    "ChainSnapshot": "core.knowledge.chain",
    "CitedEntries": "core.refs.cited",
    "CounterfoilError": "core.errors",
    "EntryReference": "core.refs.entries",
    "Event": "core.events",
    "Fact": "core.events",
    "Finding": "core.knowledge.findings",
    "Intervals": "core.intervals",
    "LintReport": "core.knowledge.findings",
    "Malformed": "wire.strict_json",
    "Page": "core.knowledge.pages",
    "PageReference": "core.refs.pages",
    "PageResolution": "core.knowledge.resolution",
    "Receipt": "core.receipt",
    "RunStores": "adapters.files.run_stores",
    "TranscriptCheck": "engine.check_transcript",
    "assert_citations": "core.knowledge.audit",
    "audit_citations": "core.knowledge.audit",
    "canonical_json": "core.canonical",
    "check_entries": "core.refs.cited",
    "decode_event": "wire.events",
    "encode_event": "wire.events",
    "find_entry_references": "core.refs.entries",
    "find_literals": "core.refs.literals",
    "fold_receipt": "core.receipt",
    "format_handle": "core.refs.pages",
    "lint_chain": "core.knowledge.lint",
    "parse_handle": "core.refs.pages",
    "ran_line": "core.ran",
    "read_page": "wire.pages",
    "receipt_to_json": "wire.receipt",
    "require_pages": "core.knowledge.resolution",
    "resolve_handle": "core.knowledge.resolution",
    "resolve_handles": "core.knowledge.resolution",
}

__all__ = [
    "BrokenCitationsError",
    "ChainSnapshot",
    "CitedEntries",
    "CounterfoilError",
    "EntryReference",
    "Event",
    "Fact",
    "Finding",
    "Intervals",
    "LintReport",
    "Malformed",
    "Page",
    "PageReference",
    "PageResolution",
    "Receipt",
    "RunStores",
    "TranscriptCheck",
    "assert_citations",
    "audit_citations",
    "canonical_json",
    "check_entries",
    "decode_event",
    "encode_event",
    "find_entry_references",
    "find_literals",
    "fold_receipt",
    "format_handle",
    "lint_chain",
    "parse_handle",
    "ran_line",
    "read_page",
    "receipt_to_json",
    "require_pages",
    "resolve_handle",
    "resolve_handles",
]


def __getattr__(name: str) -> object:
    """Load an exported name from its home."""
    if name not in _HOMES:
        raise AttributeError(f"module 'counterfoil' has no attribute {name!r}")
    return getattr(import_module(f"counterfoil.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
