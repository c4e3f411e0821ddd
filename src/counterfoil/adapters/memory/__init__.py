"""The record in memory: for tests, and for a record that ends with the process."""

from counterfoil.adapters.memory.entry_store import MemoryEntryStore
from counterfoil.adapters.memory.event_log import MemoryEventLog
from counterfoil.adapters.memory.leases import MemoryThreadLeases

__all__ = ["MemoryEntryStore", "MemoryEventLog", "MemoryThreadLeases"]
