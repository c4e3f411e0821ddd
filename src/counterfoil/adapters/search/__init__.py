"""An index of words on disk, carried by tantivy (ADR 14)."""

from counterfoil.adapters.search.text_index import DiskTextIndex

__all__ = ["DiskTextIndex"]
