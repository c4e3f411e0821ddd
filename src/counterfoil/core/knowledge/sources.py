"""A source: what pages rest on, kept as it was when it was imported (knowledge.md section 7).

A source is named after its bytes, so that the same bytes are one source, whether they
came from a file or as text. Times are of RFC 3339, with their zone; a day alone lasts
to its end in UTC.
"""

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from counterfoil.core.digests import digest_hex
from counterfoil.core.knowledge.changes import SOURCES, StorePath
from counterfoil.core.knowledge.names import slug

Freshness = Literal["fresh", "expired", "unknown"]

ANCHOR_LINES = 50
"""Lines that one anchor stands for; the last one stands for what is left."""

_ID_DIGITS = 16
_COPY_DIGITS = 8

_LONGEST_SLUG = 120
"""Bytes of a name that are kept in that of the copy; names of files end at 255."""

_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,10}\Z")


class Anchor(NamedTuple):
    """A part of a source that a page can refer to; lines from 1, both ends included."""

    id: str
    line_start: int | None = None
    line_end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What is registered of a source; `path` is that of its copy, if the store has one."""

    id: str
    digest: str
    uri: str
    title: str
    media_type: str
    path: StorePath | None
    created_at: str
    valid_until: str | None = None
    last_verified_at: str | None = None
    anchors: tuple[Anchor, ...] = ()


def source_id(digest: str) -> str:
    """Return the id of the source whose bytes have `digest`.

    >>> source_id("sha256:0123456789abcdef0123")
    'src-0123456789abcdef'
    """
    return f"src-{digest_hex(digest)[:_ID_DIGITS]}"


def copy_path(name: str, digest: str) -> StorePath:
    """Return where the copy of the source stands that was called `name`.

    >>> copy_path("Große Zahlen.CSV", "sha256:0123456789abcdef")
    'raw/sources/große-zahlen-01234567.CSV'
    """
    found = _EXTENSION.search(name)
    extension = found[0] if found and found.start() else ""
    stem = slug(name.removesuffix(extension)).encode()[:_LONGEST_SLUG].decode("utf-8", "ignore")
    return StorePath(f"{SOURCES}/{stem}-{digest_hex(digest)[:_COPY_DIGITS]}{extension}")


def anchors_of(content: bytes) -> tuple[Anchor, ...]:
    """Return `all` and, for text, one anchor for each 50 lines, named after the first.

    A line ends with LF, the last one perhaps without; bytes that are not UTF-8 have no
    lines.
    """
    if not is_text(content):
        return (Anchor("all"),)
    lines = content.count(b"\n") + (not content.endswith(b"\n"))
    starts = range(1, lines + 1, ANCHOR_LINES)
    parts = (Anchor(f"l{at}", at, min(at + ANCHOR_LINES - 1, lines)) for at in starts)
    return (Anchor("all", 1, lines), *parts)


def is_text(content: bytes) -> bool:
    """Say whether `content` is text: UTF-8, without a NUL."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in content


def freshness(valid_until: str | None, now: str) -> Freshness:
    """Say how a source stands at the time `now` that is valid until then.

    It is fresh up to that very moment. Without a time, or with one that is none, nobody
    knows.
    """
    end = _moment(valid_until or "", "T23:59:59.999999999Z")
    at = _moment(now, "T00:00:00Z")
    if end is None or at is None:
        return "unknown"
    return "fresh" if at <= end else "expired"


def is_time(text: str) -> bool:
    """Say whether `text` is a day, or a time of RFC 3339 with its zone."""
    return _moment(text, "T00:00:00Z") is not None


_DAY = re.compile(r"\d{4}-\d\d-\d\d\Z", re.ASCII)
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d+))?"
    r"(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))\Z",
    re.ASCII,
)
_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _moment(text: str, rest_of_day: str) -> tuple[int, str] | None:
    """Return seconds since year 0 and their fraction, by which moments compare."""
    match = _TIME.match(text + rest_of_day if _DAY.match(text) else text)
    if match is None:
        return None
    year, month, day, hours, minutes, seconds = (int(part) for part in match.groups()[:6])
    if not (1 <= month <= len(_MONTHS) and 1 <= day <= _days_of(year, month)):
        return None
    fraction, sign, zone_hours, zone_minutes = match.groups()[6:]
    ahead = (int(zone_hours or 0) * 60 + int(zone_minutes or 0)) * (-1 if sign == "-" else 1)
    whole = _days_before(year, month) + day
    moment = ((whole * 24 + hours) * 60 + minutes - ahead) * 60 + seconds
    return moment, (fraction or "").rstrip("0")


def _days_before(year: int, month: int) -> int:
    """Return how many days lie before the month, from the year 0 on."""
    past = year - 1
    leaps = past // 4 - past // 100 + past // 400
    return year * 365 + leaps + sum(_days_of(year, earlier) for earlier in range(1, month))


def _days_of(year: int, month: int) -> int:
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return _MONTHS[month - 1] + (is_leap and month == 2)  # noqa: PLR2004 - February
