"""A page, and a finding, as a row of an index: MessagePack, read by position.

A cache is no document: its rows are of one version of the program, and what cannot be
read is read again from the files. Nothing in a row can be run.
"""

from typing import Any

import msgspec

from counterfoil.core.errors import CounterfoilError
from counterfoil.core.ids import Origin, PageId
from counterfoil.core.knowledge.findings import Candidate, Finding
from counterfoil.core.knowledge.pages import (
    ClaimEvidence,
    Fault,
    FieldSpot,
    Footnote,
    Invalidation,
    Link,
    Page,
    Silence,
    Spot,
    TextSpot,
    Written,
)
from counterfoil.wire.json_values import plain_text

ROW_VERSION = 1
"""Grows with every change of a row; rows of another version are made anew."""


_encode = msgspec.msgpack.Encoder(enc_hook=plain_text).encode
_decode = msgspec.msgpack.Decoder().decode


def page_to_row(page: Page) -> bytes:
    """Return `page` as a row."""
    return _encode(
        (
            page.path,
            page.id,
            page.title,
            page.pages_directory,
            page.is_id_written,
            page.is_title_written,
            page.frontmatter,
            page.cites,
            page.contradicts,
            page.sources,
            page.tags,
            page.kind,
            page.aliases,
            page.invalidation and _invalidation(page.invalidation),
            page.evidence and _evidence(page.evidence),
            page.links,
            page.footnotes,
            page.faults,
            page.silences,
        )
    )


class DamagedRowError(ValueError):
    """A row that no version of this module made."""


_FAULTS = (msgspec.DecodeError, LookupError, TypeError, ValueError, CounterfoilError)


def page_from_row(row: bytes) -> Page:
    """Return the page that `page_to_row` made `row` of.

    Raises:
        DamagedRowError: It is none.
    """
    try:
        return _page(_decode(row))
    except _FAULTS as error:
        raise DamagedRowError("a page") from error


def _page(value: Any) -> Page:
    return Page(
        path=value[0],
        id=str.__new__(PageId, value[1]),  # refused or not when the page was read
        title=value[2],
        pages_directory=value[3],
        is_id_written=value[4],
        is_title_written=value[5],
        frontmatter=value[6],
        cites=tuple(Written(*item) for item in value[7]),
        contradicts=tuple(Written(*item) for item in value[8]),
        sources=tuple(Written(*item) for item in value[9]),
        tags=tuple(value[10]),
        kind=value[11],
        aliases=tuple(value[12]),
        invalidation=value[13] and _read_invalidation(value[13]),
        evidence=value[14] and ClaimEvidence(**value[14]),
        links=tuple(Link(*link) for link in value[15]),
        footnotes=tuple(Footnote(*note) for note in value[16]),
        faults=tuple(_read_fault(fault) for fault in value[17]),
        silences=tuple(Silence(*silence) for silence in value[18]),
    )


def _invalidation(value: Invalidation) -> tuple[Any, ...]:
    return (value.observed_at, value.reason, value.evidence_path, value.grader, value.more)


def _read_invalidation(value: list[Any]) -> Invalidation:
    observed_at, reason, evidence_path, grader, more = value
    return Invalidation(
        observed_at=observed_at,
        reason=reason,
        evidence_path=evidence_path,
        grader=grader,
        more=tuple((key, item) for key, item in more),
    )


def _evidence(value: ClaimEvidence) -> dict[str, Any]:
    return {
        "rung": value.rung,
        "check": value.check,
        "expect": value.expect,
        "evidence_path": value.evidence_path,
    }


def _read_fault(value: list[Any]) -> Fault:
    code, spot, written, message = value
    return Fault(code, _read_spot(spot), written, message)


def _read_spot(value: list[Any]) -> Spot:
    """A field begins with its name, a place in the text with its line."""
    return FieldSpot(*value) if isinstance(value[0], str) else TextSpot(*value)


def findings_to_row(findings: tuple[Finding, ...]) -> bytes:
    """Return findings as a row."""
    return _encode([_finding(finding) for finding in findings])


def _finding(finding: Finding) -> tuple[Any, ...]:
    return (
        finding.code,
        finding.origin,
        finding.path,
        finding.spot,
        finding.message,
        finding.page,
        finding.written,
        finding.candidates,
        finding.handles,
        finding.hides_ambiguity,
        finding.reason,
        finding.silenced,
    )


def findings_from_row(row: bytes) -> tuple[Finding, ...]:
    """Return the findings that `findings_to_row` made `row` of.

    Raises:
        DamagedRowError: It is none.
    """
    try:
        return tuple(_read_finding(value) for value in _decode(row))
    except _FAULTS as error:
        raise DamagedRowError("findings") from error


def _read_finding(value: list[Any]) -> Finding:
    return Finding(
        code=value[0],
        origin=Origin(value[1]),
        path=value[2],
        spot=value[3] and _read_spot(value[3]),
        message=value[4],
        page=value[5] and str.__new__(PageId, value[5]),
        written=value[6],
        candidates=tuple(
            Candidate(Origin(origin), path, handle) for origin, path, handle in value[7]
        ),
        handles=tuple(value[8]),
        hides_ambiguity=value[9],
        reason=value[10],
        silenced=value[11],
    )
