"""Sources come into a store: immutable copies and their registry, in one transaction."""

from pathlib import Path

from counterfoil.adapters.files.imported import GivenText, Imported, imported
from counterfoil.adapters.files.instant import read_at_one_instant
from counterfoil.adapters.files.lock import PATIENCE
from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.adapters.files.planning import digest_of
from counterfoil.adapters.files.registry import Registry, registered, row_of, source_of
from counterfoil.adapters.files.transactions import apply_changes, writing
from counterfoil.core.digests import tagged_digest
from counterfoil.core.errors import ConflictError, InvalidIdError
from counterfoil.core.knowledge.changes import ABSENT, REGISTRY, SOURCES, FileChange, StorePath
from counterfoil.core.knowledge.sources import (
    Source,
    anchors_of,
    copy_path,
    is_time,
    source_id,
)

_PURPOSE = "import of sources"
_IMMUTABLE = 0o444


def sources_of(root: StoreRoot) -> tuple[Source, ...]:
    """Return the sources of the store, in the order of their registry.

    Raises:
        UnreadableError: The registry cannot be read.
    """
    content = read_at_one_instant(
        root, lambda unfinished: unfinished.seen(REGISTRY, root.read(REGISTRY))
    )
    return registered(root, content)


def import_source(
    root: StoreRoot,
    what: Path | GivenText,
    *,
    now: str,
    valid_until: str | None = None,
    patience: float = PATIENCE,
) -> tuple[Source, ...]:
    """Import `what` and return its sources, one for each content, new or known.

    A source that is known already is verified: its copy is the same bytes, it is marked
    with `now`, and it is valid until `valid_until` where that is given.

    Raises:
        NotFoundError: Nothing is at the path.
        InvalidIdError: `now` or `valid_until` is no time.
        UnreadableError: A link or something special is there, or anywhere in a tree; or
            the registry cannot be read.
        ConflictError: Other bytes are where a copy shall be; or another writer holds
            the store. Nothing was imported.
        UnavailableError: The store cannot be written.
    """
    for time in (now, valid_until):
        if time is not None and not is_time(time):
            raise InvalidIdError(f"time {time!r}", "a day or an RFC 3339 time with its zone")
    contents = {tagged_digest(item.content): item for item in reversed(imported(what))}
    if not contents:
        return ()
    with writing(root, purpose=_PURPOSE, patience=patience):
        before = root.read(REGISTRY)
        registry = Registry(before, str(root.path / REGISTRY))
        found = [
            (_registered(registry, item, digest, (now, valid_until)), item)
            for digest, item in reversed(contents.items())
        ]
        changes = [_copy_of(root, source, item.content) for source, item in found]
        changes.append(
            FileChange(
                path=StorePath(REGISTRY),
                after=registry.encoded(),
                expected=digest_of(before) or ABSENT,
            )
        )
        apply_changes(root, changes, purpose=_PURPOSE, patience=patience)
    return tuple(source for source, _ in found)


def _registered(
    registry: Registry, item: Imported, digest: str, times: tuple[str, str | None]
) -> Source:
    """Return the source of `item`, whose row the registry has now."""
    now, valid_until = times
    row = registry.row(digest)
    if row is None:
        row = row_of(_new(item, digest, times))
        registry.add(row)
        return source_of(row)
    if row.get("digest") != digest:
        raise ConflictError(
            f"source {row['id']!r} is registered with digest {row.get('digest')!r}",
            f"{digest}, from which its id is made",
            "give that source another id in the registry",
        )
    row["lastVerifiedAt"] = now
    if valid_until is not None:
        row["validUntil"] = valid_until
    return source_of(row)


def _new(item: Imported, digest: str, times: tuple[str, str | None]) -> Source:
    now, valid_until = times
    return Source(
        id=source_id(digest),
        digest=digest,
        uri=item.uri or f"text:{source_id(digest)}",
        title=item.title,
        media_type=item.media_type,
        path=copy_path(item.name, digest),
        created_at=now,
        valid_until=valid_until,
        anchors=anchors_of(item.content),
    )


def _copy_of(root: StoreRoot, source: Source, content: bytes) -> FileChange:
    """Return the change that puts the copy in place, or leaves it as it is.

    A row that somebody wrote may name no path, or one that is not for copies.
    """
    path = source.path if source.path and source.path.startswith(f"{SOURCES}/") else None
    path = path or copy_path(source.title, source.digest)
    found = root.read(path)
    if found not in (None, content):
        raise ConflictError(
            f"{path} holds other bytes ({digest_of(found)})",
            f"those of source {source.id}, or no file",
            "copies of sources are never changed: move that file away and try again",
        )
    return FileChange(
        path=path, after=content, mode=_IMMUTABLE, expected=digest_of(found) or ABSENT
    )
