"""Reports kept with an index: what was found, by page, so that little is found again."""

import json
import sqlite3
from collections.abc import Sequence

from counterfoil.core.knowledge.findings import Checked, Finding
from counterfoil.ports.knowledge import ReportChange, SavedReport
from counterfoil.wire.page_rows import findings_from_row, findings_to_row


def load_report(database: sqlite3.Connection, name: str) -> SavedReport | None:
    """Return the report last stored under `name`, if there is one."""
    head = database.execute(
        "SELECT states, seen, checked, rest FROM report WHERE name = ?", (name,)
    ).fetchone()
    if head is None:
        return None
    states, seen, checked, rest = head
    rows = database.execute("SELECT path, findings FROM found WHERE name = ?", (name,))
    return SavedReport(
        states=tuple(json.loads(states)),
        seen=seen,
        checked=Checked(*json.loads(checked)),
        by_path={path: findings_from_row(row) for path, row in rows},
        rest=findings_from_row(rest),
    )


def store_report(database: sqlite3.Connection, name: str, change: ReportChange) -> None:
    """Store a report under `name`, or what changed of it."""
    if change.is_whole:
        database.execute("DELETE FROM found WHERE name = ?", (name,))
    if change.rest is not None:
        database.execute(
            "INSERT OR IGNORE INTO report VALUES (?, '', '', '', ?)", (name, _row(change.rest))
        )
        database.execute("UPDATE report SET rest = ? WHERE name = ?", (_row(change.rest), name))
    database.execute(
        "UPDATE report SET states = ?, seen = ?, checked = ? WHERE name = ?",
        (json.dumps(change.states), change.seen, json.dumps(change.checked), name),
    )
    empty = [(name, path) for path, findings in change.by_path.items() if not findings]
    database.executemany("DELETE FROM found WHERE name = ? AND path = ?", empty)
    database.executemany(
        "INSERT OR REPLACE INTO found VALUES (?, ?, ?)",
        [(name, path, _row(found)) for path, found in change.by_path.items() if found],
    )


def _row(findings: Sequence[Finding]) -> bytes:
    return findings_to_row(tuple(findings))
