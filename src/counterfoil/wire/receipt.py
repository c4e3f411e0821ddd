"""A receipt in wire form, version 1 (receipts.md section 1).

A row has a key only for what was recorded (`outcome` and `exitStatus` are always
there); milliseconds are written as `seconds`, as RFC 8785 writes numbers.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from counterfoil.core.events import Usage
from counterfoil.core.receipt import Receipt
from counterfoil.core.turns import (
    ApprovalRow,
    CommandRow,
    DenialRow,
    ErrorRow,
    FileRow,
    PageRow,
    ToolRow,
)
from counterfoil.wire.events import wire_name

SCHEMA = 1
"""The version of the receipt that this module writes."""


def receipt_to_json(receipt: Receipt) -> dict[str, Any]:
    """Return the object that `receipt` is on the wire."""
    value: dict[str, Any] = {
        "schema": SCHEMA,
        "thread": str(receipt.thread),
        "turn": receipt.turn,
        "complete": receipt.complete,
        "seconds": _seconds(receipt.milliseconds),
        "condensed": receipt.condensed,
        "tools": _rows(receipt.tools),
        "commands": [_command(row) for row in receipt.commands],
        "files": _rows(receipt.files),
        "pages": _rows(receipt.pages),
        "denials": _rows(receipt.denials),
        "approvals": _rows(receipt.approvals),
        "errors": _rows(receipt.errors),
        "caveats": [{"code": row.code, "count": row.count} for row in receipt.caveats],
        "omitted": dict(receipt.omitted),
    }
    if receipt.usage is not None:
        value["usage"] = _usage(receipt.usage)
    return value


def _rows(rows: Iterable[NamedTuple]) -> list[dict[str, Any]]:
    return [_row(row) for row in rows]


def _command(row: CommandRow) -> dict[str, Any]:
    return {"command": row.command, "exitStatus": row.exit_status, **_row(row)}


def _row(row: NamedTuple) -> dict[str, Any]:
    value = {_WIRE[name]: item for name, item in row._asdict().items() if item is not None}
    if "milliseconds" in value:
        value["seconds"] = _seconds(value.pop("milliseconds"))
    return value


def _usage(usage: Usage) -> dict[str, int]:
    counts = {name: getattr(usage, name) for name in ("input", "output", "cached", "reasoning")}
    return {name: count for name, count in counts.items() if count is not None}


_ROWS = (ToolRow, CommandRow, FileRow, PageRow, DenialRow, ApprovalRow, ErrorRow)
_WIRE = {name: wire_name(name) for row in _ROWS for name in row._fields}


def _seconds(milliseconds: int | None) -> int | float | None:
    """RFC 8785 writes 62.0 as 62."""
    if milliseconds is None or milliseconds % 1000:
        return None if milliseconds is None else milliseconds / 1000
    return milliseconds // 1000
