"""What another implementation resolved, as JSON: read strictly, or refused with the place.

```text
{"schema": 1,
 "resolutions": [{"page": "knowledge/fit.md", "origin": "here", "written": "slope",
                  "verdict": "resolved",
                  "candidates": [{"origin": "shared", "path": "knowledge/slope.md"}]}]}
```

`page` is a path below the root of its store and `origin` that of the page, `here` where
it is left out; `written` is the citation as the page has it. `candidates` are all pages
that answer to it, in order: none of what is `missing` or `malformed`, one of what is
`resolved`, several of what is `ambiguous`. No other key is read, and no row twice with
another answer: who compares must know that everything was understood.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

import msgspec

from counterfoil.core.digests import tagged_digest
from counterfoil.core.errors import InvalidIdError, UnreadableError
from counterfoil.core.ids import Origin
from counterfoil.core.knowledge.judged import Judged, Place
from counterfoil.wire.strict_json import Malformed, read_json

ForeignVerdict = Literal["resolved", "missing", "ambiguous", "malformed"]


class _Candidate(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    origin: str
    path: str


class _Row(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    page: str
    written: str
    verdict: ForeignVerdict
    candidates: tuple[_Candidate, ...] = ()
    origin: str = "here"


class _Document(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    schema: Literal[1]
    resolutions: tuple[_Row, ...]


@dataclass(frozen=True, slots=True)
class ForeignResolutions:
    """Everything that another implementation resolved, and the digest of the file."""

    judged: tuple[Judged, ...]
    digest: str


def read_resolutions(content: bytes, *, name: str = "resolutions") -> ForeignResolutions:
    """Return the resolutions that `content`, the file `name`, holds.

    Raises:
        UnreadableError: It is not of the form above; the error says what is where.
    """
    value = read_json(content)
    if isinstance(value, Malformed):
        raise UnreadableError(f"{name} is no JSON to read: {value.reason}", _EXPECTED)
    try:
        document = msgspec.convert(cast("Any", value), _Document, strict=True)
    except msgspec.ValidationError as error:
        raise UnreadableError(f"{name}: {error}", _EXPECTED) from error
    return ForeignResolutions(tuple(_once(name, document)), tagged_digest(content))


_EXPECTED = 'an object {"schema": 1, "resolutions": [{page, written, verdict, candidates}, …]}'

_COUNTS: dict[str, tuple[str, range]] = {
    "missing": ("no candidate", range(1)),
    "malformed": ("no candidate", range(1)),
    "resolved": ("one candidate", range(1, 2)),
    "ambiguous": ("several candidates", range(2, 1 << 62)),
}
"""How many candidates a verdict has."""


def _once(name: str, document: _Document) -> Iterator[Judged]:
    seen: dict[tuple[Place, str], Judged] = {}
    for number, row in enumerate(document.resolutions):
        place = f"{name}: resolutions[{number}]"
        judged = _judged(place, row)
        first = seen.setdefault((judged.page, judged.written), judged)
        if first is judged:
            yield judged
        elif first != judged:
            raise UnreadableError(
                f"{place} says of {row.written!r} in {row.page} something else than before",
                "one answer for each citation of a page",
            )


def _judged(place: str, row: _Row) -> Judged:
    expected, counts = _COUNTS[row.verdict]
    if len(row.candidates) not in counts:
        raise UnreadableError(f"{place} is {row.verdict} with {len(row.candidates)}", expected)
    return Judged(
        Place(_origin(place, row.origin), row.page),
        row.written,
        row.verdict,
        tuple(Place(_origin(place, one.origin), one.path) for one in row.candidates),
    )


def _origin(place: str, text: str) -> Origin:
    try:
        return Origin(text)
    except InvalidIdError as error:
        raise UnreadableError(f"{place}: {error.found}", error.expected) from error
