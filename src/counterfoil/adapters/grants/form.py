"""The written form of standing grants, and its one error."""

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from counterfoil.core.errors import UnreadableError
from counterfoil.core.gate.grants import Grant, Pattern
from counterfoil.core.gate.scale import Level

_SCHEMA = 1
_TIME = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\.[0-9]{3}Z")


class _Row(msgspec.Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """One grant as it is written."""

    id: str
    pattern: str
    is_exact: bool
    level: Level
    scope: Literal["project", "always"]
    directory: str | None
    granted_at: str
    expires_at: str
    source: str


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file."""

    grants: list[_Row]
    schema: int


def grants_of(content: bytes, place: str) -> list[Grant]:
    """Return the grants in `content`, which stood at `place`.

    Raises:
        UnreadableError: It is not of the written form.
    """
    try:
        file = msgspec.json.decode(content, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise damaged(place, str(error)) from error
    if file.schema != _SCHEMA:
        raise damaged(place, f"schema {file.schema}")
    for row in file.grants:
        fault = _fault(row)
        if fault is not None:
            raise damaged(place, fault)
    return [_grant(row) for row in file.grants]


def written(grants: Iterable[Grant]) -> bytes:
    """Return the form in which `grants` are kept."""
    rows = [_row(grant) for grant in grants]
    encoded = msgspec.json.encode(_File(grants=rows, schema=_SCHEMA), order="sorted")
    return msgspec.json.format(encoded, indent=1) + b"\n"


def damaged(place: str, fault: str) -> UnreadableError:
    """Return the error of a file of grants that says `fault`."""
    return UnreadableError(
        f"the grants in {place} cannot be trusted ({fault})",
        "the file as counterfoil wrote it",
        "look at it, then remove it: what was granted is asked again",
    )


def _fault(row: _Row) -> str | None:
    if not (_TIME.fullmatch(row.granted_at) and _TIME.fullmatch(row.expires_at)):
        return f"a time of grant {row.id!r} is none"
    if (row.directory is None) != (row.scope == "always"):
        return f"grant {row.id!r} is of a project without a directory, or the other way round"
    if row.level == "dangerous":
        return f"grant {row.id!r} is for what is dangerous, which never stands"
    return None


def _grant(row: _Row) -> Grant:
    return Grant(
        id=row.id,
        pattern=Pattern(row.pattern, is_exact=row.is_exact),
        level=row.level,
        scope=row.scope,
        directory=row.directory,
        granted_at=row.granted_at,
        expires_at=row.expires_at,
        source=row.source,
    )


def _row(grant: Grant) -> _Row:
    scope = grant.scope
    if scope not in {"project", "always"} or grant.expires_at is None:
        raise ValueError(f"{scope} is no standing grant")
    row = _Row(
        id=grant.id,
        pattern=grant.pattern.text,
        is_exact=grant.pattern.is_exact,
        level=grant.level,
        scope="project" if scope == "project" else "always",
        directory=grant.directory,
        granted_at=grant.granted_at,
        expires_at=grant.expires_at,
        source=grant.source,
    )
    fault = _fault(row)
    if fault is not None:
        raise ValueError(fault)
    return row
