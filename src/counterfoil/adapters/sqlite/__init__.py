"""The record in one SQLite file, `ledger.db`, which itself refuses every change."""

from counterfoil.adapters.sqlite.entry_store import SqliteEntryStore
from counterfoil.adapters.sqlite.event_log import SqliteEventLog
from counterfoil.adapters.sqlite.record import SqliteRecord

__all__ = ["SqliteEntryStore", "SqliteEventLog", "SqliteRecord"]
