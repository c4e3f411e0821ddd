"""Ids are refused where they are made, not where they are used.

Each id is a `str` (or an `int`) of its own type: made once, checked once, then as
cheap as what it is made of.
"""

import re
from typing import NamedTuple, Self
from unicodedata import category, normalize

from counterfoil.core.errors import InvalidIdError

_THREAD = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
_EVENT = re.compile(r"[0-9a-f]{16}\Z")
_INSTANT = re.compile(r"(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z\Z", re.ASCII)
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class ThreadId(str):
    """The id of a thread: 1 to 64 of ASCII letters, digits, `.`, `_`, `-`."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Make the id, or raise `InvalidIdError`."""
        if not _THREAD.match(text) or text in {".", ".."}:
            raise InvalidIdError(
                f"thread id {text!r}",
                "1 to 64 ASCII letters, digits, '.', '_' or '-', not '.' or '..'",
            )
        return super().__new__(cls, text)


class EventId(str):
    """The id of an event: 16 hexadecimal digits in lower case."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Make the id, or raise `InvalidIdError`."""
        if not _EVENT.match(text):
            raise InvalidIdError(f"event id {text!r}", "16 hexadecimal digits, lower case")
        return super().__new__(cls, text)

    @classmethod
    def from_number(cls, number: int) -> Self:
        """Make the id of the `number`-th event of a source without ids of its own."""
        return str.__new__(cls, f"{number:016x}")


class EntryNumber(int):
    """The number of an entry in its thread, from 1; never given to another."""

    __slots__ = ()

    def __new__(cls, number: int) -> Self:
        """Make the number, or raise `InvalidIdError`."""
        if isinstance(number, bool) or number < 1:
            raise InvalidIdError(f"entry number {number!r}", "a whole number from 1")
        return super().__new__(cls, number)


class RunId(str):
    """The id of a run, in NFC: 1 to 128 characters that can be the name of a folder.

    No `/`, no backslash, no control character, not `.` or `..`, no white space at an end.
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Make the id, or raise `InvalidIdError`."""
        run = normalize("NFC", text)
        if not 1 <= len(run) <= LONGEST_RUN or _unfit_for_run(run):
            raise InvalidIdError(
                f"run id {text!r}",
                "1 to 128 characters without '/', '\\', control characters or white space at an"
                " end, not '.' or '..'",
            )
        return super().__new__(cls, run)


class PageId(str):
    """The id of a page, trimmed and in NFC: 1 to 200 characters, none a control character."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Make the id, or raise `InvalidIdError`."""
        page = text.strip()
        if not page.isascii():
            page = normalize("NFC", page)
        if not 1 <= len(page) <= LONGEST_PAGE or _has_unfit(page):
            raise InvalidIdError(
                f"page id {text!r}", "1 to 200 characters, not blank, no control characters"
            )
        return super().__new__(cls, page)


class Origin(str):
    """Where a visible page comes from: `here`, `inherited:<run>` or `shared`."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Make the origin, or raise `InvalidIdError`; letter case counts."""
        if text in _PLAIN_ORIGINS:
            return super().__new__(cls, text)
        if text.startswith(_INHERITED):
            return cls.inherited(RunId(text[len(_INHERITED) :]))
        raise InvalidIdError(f"origin {text!r}", "'here', 'shared' or 'inherited:' and a run")

    @classmethod
    def inherited(cls, run: RunId) -> Self:
        """Return the origin of the pages of the ancestor `run`."""
        return str.__new__(cls, _INHERITED + run)

    @property
    def run(self) -> RunId | None:
        """The ancestor, or `None` where the origin names none."""
        return RunId(self[len(_INHERITED) :]) if self.startswith(_INHERITED) else None


LONGEST_RUN = 128
LONGEST_PAGE = 200
"""Code points in NFC; an id past its bound is refused."""

_INHERITED = "inherited:"
_PLAIN_ORIGINS = frozenset({"here", "shared"})

HERE = Origin("here")
SHARED = Origin("shared")


class PageAddress(NamedTuple):
    """Where a page stands: its origin as seen from one run, its path in its store, its id.

    Ids need not be unique; origin and path are.
    """

    origin: Origin
    path: str
    id: PageId


def _unfit_for_run(run: str) -> bool:
    return run in {".", ".."} or run != run.strip() or "/" in run or "\\" in run or _has_unfit(run)


def _has_unfit(text: str) -> bool:
    """Say whether a control character or a lone surrogate is in `text`."""
    if text.isascii():
        return not text.isprintable()
    return any(category(letter) in {"Cc", "Cs"} for letter in text)


def is_instant(text: str) -> bool:
    """Say whether `text` has the form `2026-03-01T09:00:00.000Z` and its day exists."""
    match = _INSTANT.match(text)
    if match is None:
        return False
    year, month, day = (int(part) for part in match.group(1, 2, 3))
    if not (year and 1 <= month <= len(_DAYS) and 1 <= day <= _DAYS[month - 1]):
        return False
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return not (month == 2 and day == 29 and not is_leap)  # noqa: PLR2004 - 29 February
