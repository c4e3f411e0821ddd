"""What a check says, as JSON (claims.md section 5): schema 1, published as a JSON Schema.

A document is written in parts, so that a long session needs no more memory than its
longest turn. Lone surrogates are written as escapes; the bytes are always UTF-8.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from counterfoil.core.refs.cited import CitedEntries
from counterfoil.core.report import (
    CaveatRow,
    EvidenceRow,
    Reference,
    SourceReport,
    Spot,
    Summary,
    TurnReport,
)
from counterfoil.wire.cited import counts_to_json, missing_to_json
from counterfoil.wire.json_values import plain_text
from counterfoil.wire.receipt import receipt_to_json

SCHEMA = 1
"""The version of the document that this module writes."""


def document(
    source: SourceReport,
    summary: Summary,
    caveats: Iterable[CaveatRow],
    turns: Iterable[TurnReport],
) -> Iterator[bytes]:
    """Yield the bytes of one JSON document on one line, without a line end."""
    head = {
        "schema": SCHEMA,
        "source": source_to_json(source),
        "summary": {**summary_to_json(summary), "checked": list(source.checked)},
        "caveats": [caveat_to_json(caveat) for caveat in caveats],
    }
    yield encode_json(head)[:-1] + b',"turns":['
    for place, turn in enumerate(turns):
        yield (b"," if place else b"") + encode_json(turn_to_json(turn))
    yield b"]}"


def could_not_tell(path: str, diagnosis: str) -> dict[str, Any]:
    """Return the document of a transcript that could not be read."""
    nothing = Summary(
        turns=0, replies=0, calls=0, supported=0, contradicted=0, not_established=0, silenced=0
    )
    unread = {"path": printable(path), "format": None, "bytes": None}
    return {
        "schema": SCHEMA,
        "source": unread,
        "summary": {**summary_to_json(nothing), "outcome": "could_not_tell", "checked": []},
        "caveats": [{"code": "unreadable", "line": None, "count": 1, "what": printable(diagnosis)}],
        "turns": [],
    }


def source_to_json(source: SourceReport) -> dict[str, Any]:
    """Return what was read."""
    return {
        "path": source.path,
        "format": source.format,
        "bytes": source.size,
        "lines": source.lines,
        "records": source.records,
        "repeated": source.repeated,
        "threads": source.threads,
        "skipped": dict(source.skipped),
        "unknownKinds": dict(source.unknown),
    }


def summary_to_json(summary: Summary) -> dict[str, Any]:
    """Return the counts; claims in prose are not judged by this version."""
    return {
        "outcome": summary.outcome,
        "turns": summary.turns,
        "replies": summary.replies,
        "calls": summary.calls,
        "claims": {"supported": 0, "contradicted": 0, "not_established": 0, "not_understood": 0},
        "references": {
            "supported": summary.supported,
            "contradicted": summary.contradicted,
            "not_established": summary.not_established,
            "silenced": summary.silenced,
        },
    }


def caveat_to_json(caveat: CaveatRow) -> dict[str, Any]:
    """Return one caveat, with the first lines that it was met in."""
    value: dict[str, Any] = {
        "code": caveat.code,
        "line": caveat.line,
        "count": caveat.count,
        "what": caveat.what,
        "lines": list(caveat.lines),
    }
    return _with_source(value, caveat.source)


def turn_to_json(turn: TurnReport) -> dict[str, Any]:
    """Return one turn."""
    cited = turn.cited
    value: dict[str, Any] = {
        "turn": turn.turn,
        "thread": str(turn.thread),
        "line": turn.line,
        "prompt": turn.prompt,
        "ran": turn.ran,
        "cited": cited.line if cited else None,
        "receipt": receipt_to_json(turn.receipt),
        "replies": [_reply(reply) for reply in turn.replies],
        "claims": [],
        "references": [reference_to_json(reference) for reference in turn.references],
    }
    if turn.parent is not None:
        value["parent"] = str(turn.parent)
    if cited is not None:
        value |= _cited(cited)
    return _with_source(value, turn.source)


def _cited(cited: CitedEntries) -> dict[str, Any]:
    return {"unknownEntries": missing_to_json(cited), "citedEntries": counts_to_json(cited)}


def _reply(reply: Spot) -> dict[str, Any]:
    return _with_source({"line": reply.line, "block": reply.block}, reply.source)


def reference_to_json(reference: Reference) -> dict[str, Any]:
    """Return one reference, with what decided its verdict."""
    place = reference.place
    value: dict[str, Any] = {
        "kind": reference.kind,
        "verdict": reference.verdict,
        "reason": reference.reason,
        "text": reference.text,
        "place": _with_source(
            {"line": place.line, "block": place.block, "start": place.start, "end": place.end},
            place.source,
        ),
        "evidence": [_evidence(row) for row in reference.evidence],
    }
    if reference.silenced is not None:
        value["silenced"] = reference.silenced
    return value


def _evidence(row: EvidenceRow) -> dict[str, Any]:
    value = {"line": row.line, "call": row.call, "what": row.what}
    return _with_source({key: item for key, item in value.items() if item is not None}, row.source)


def _with_source(value: dict[str, Any], source: str | None) -> dict[str, Any]:
    return value if source is None else {**value, "source": source}


def encode_json(value: object) -> bytes:
    """Return `value` as JSON in UTF-8, lone surrogates as escapes."""
    try:
        return msgspec.json.encode(value, enc_hook=plain_text)
    except (UnicodeEncodeError, OverflowError):
        return json.dumps(value, separators=(",", ":")).encode()


def printable(text: str) -> str:
    """Return `text` with what no terminal and no UTF-8 can take replaced."""
    return text.encode("utf-8", "replace").decode()
