"""The registry of sources: its rows read whole, and written with all that they held."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.core.errors import InvalidIdError, UnreadableError
from counterfoil.core.knowledge.changes import REGISTRY, StorePath
from counterfoil.core.knowledge.sources import Anchor, Source, source_id
from counterfoil.wire.json_values import is_list, is_object
from counterfoil.wire.registry import read_registry
from counterfoil.wire.strict_json import read_json

Row = dict[str, Any]
"""One source as the registry has it, unknown keys included."""


class Registry:
    """The registry as `content` says it; rows and keys stay in their order.

    No content is an empty registry.
    """

    def __init__(self, content: bytes | None, called: str = REGISTRY) -> None:
        """Read the registry.

        Raises:
            UnreadableError: It is none; the error names it as `called`.
        """
        fault = read_registry(content).fault
        value = None if content is None or fault else read_json(content)
        if fault:
            raise UnreadableError(
                f"{called}: {fault}", advice="mend the file by hand, or take it back from a backup"
            )
        self._value: Row = value if is_object(value) else {"schema": 1, "sources": []}
        self._known: dict[str | None, Row] = {}
        for row in self.rows:
            self._known.setdefault(row["id"], row)
            self._known.setdefault(_text(row, "digest"), row)

    @property
    def rows(self) -> list[Row]:
        """The sources, each with all its keys."""
        rows: list[Row] = self._value["sources"]
        return rows

    def row(self, digest: str) -> Row | None:
        """Return the source whose bytes have `digest`, or else that has the id made of it."""
        return self._known.get(digest) or self._known.get(source_id(digest))

    def add(self, row: Row) -> None:
        """Put the row of a new source behind all others."""
        self.rows.append(row)

    def encoded(self) -> bytes:
        """Return the file; a lone surrogate is written as its escape."""
        text = json.dumps(self._value, ensure_ascii=False, indent=2) + "\n"
        return text.encode("utf-8", "backslashreplace")


def registered(root: StoreRoot, content: bytes | None) -> tuple[Source, ...]:
    """Return the sources that the `content` of the registry names, in their order.

    What a row does not say is empty; what it says wrongly is a fault of lint's.

    Raises:
        UnreadableError: It is no registry.
    """
    registry = Registry(content, str(root.path / REGISTRY))
    return tuple(source_of(row) for row in registry.rows)


def source_of(row: Row) -> Source:
    """Return the source that `row` is about."""
    return Source(
        id=_text(row, "id") or "",
        digest=_text(row, "digest") or "",
        uri=_text(row, "uri") or "",
        title=_text(row, "title") or "",
        media_type=_text(row, "mediaType") or "",
        path=_path(row),
        created_at=_text(row, "createdAt") or "",
        valid_until=_text(row, "validUntil"),
        last_verified_at=_text(row, "lastVerifiedAt"),
        anchors=tuple(_anchors(row.get("anchors"))),
    )


def row_of(source: Source) -> Row:
    """Return the row of a new source; a time that is not known is no key."""
    row = {
        "id": source.id,
        "digest": source.digest,
        "uri": source.uri,
        "title": source.title,
        "mediaType": source.media_type,
        "path": source.path,
        "createdAt": source.created_at,
        "validUntil": source.valid_until,
        "lastVerifiedAt": source.last_verified_at,
        "anchors": [_anchor_row(anchor) for anchor in source.anchors],
    }
    return {key: value for key, value in row.items() if value is not None}


def _text(row: Row, key: str) -> str | None:
    value = row.get(key)
    return value if isinstance(value, str) else None


def _path(row: Row) -> StorePath | None:
    try:
        return StorePath(_text(row, "path") or "")
    except InvalidIdError:
        return None


def _anchors(rows: object) -> Iterator[Anchor]:
    found: Iterable[Any] = rows if is_list(rows) else ()
    for row in found:
        yield Anchor(row["id"], _line(row, "lineStart"), _line(row, "lineEnd"))


def _line(row: Row, key: str) -> int | None:
    value = row.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _anchor_row(anchor: Anchor) -> Row:
    lines = {"lineStart": anchor.line_start, "lineEnd": anchor.line_end}
    return {"id": anchor.id, **{key: line for key, line in lines.items() if line is not None}}
