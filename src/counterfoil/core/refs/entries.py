"""Entry references in text: `entry 7`, `entries 3, 5–7, or 9` (references.md 1.1).

```text
reference = noun [":"] gap [sign] [wrapper] numbers [closing wrapper]
noun      = "entry" | "entries"            sign = "#" "no." "nr." "№" "number" "numbers"
numbers   = item                           singular: one number, or a tight range
          | item {separator item}          plural: a list of numbers and ranges
```

A hand-written scanner that goes one way: what stands between two nouns is read a
bounded number of times, so the time is linear in the length of the text. Nothing is
expanded: a range is its two ends.

>>> [(r.span, r.items) for r in find_entry_references("see (entries 3, 5–7)")]
[((5, 19), ((3, 3), (5, 7)))]
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple
from unicodedata import category, decimal

DASHES = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2212\ufe58\ufe63\uff0d")
_EM_DASHES = frozenset("\u2014\ufe58")
_HYPHENS = (DASHES - {"\u2014"}) | {"\u00ad"}
_SPACES = frozenset("\t \u00a0\u1680\u202f\u205f\u3000") | set(map(chr, range(0x2000, 0x200B)))
_CLOSERS = {"(": ")", "[": "]"} | {both: both for both in ("**", "__", '"', "'", "`", "*", "_")}
_MEASURES = frozenset(
    [
        "line",
        "lines",
        "byte",
        "bytes",
        "file",
        "files",
        "time",
        "times",
        "character",
        "characters",
        "char",
        "chars",
        "word",
        "words",
        "token",
        "tokens",
        "second",
        "seconds",
        "minute",
        "minutes",
        "hour",
        "hours",
        "day",
        "days",
        "item",
        "items",
        "row",
        "rows",
        "result",
        "results",
        "match",
        "matches",
        "test",
        "tests",
        "error",
        "errors",
        "warning",
        "warnings",
        "commit",
        "commits",
        "step",
        "steps",
        "page",
        "pages",
        "entry",
        "entries",
        "ms",
        "s",
        "min",
        "kb",
        "mb",
        "gb",
        "kib",
        "mib",
        "gib",
    ]
)
_WORD = re.compile(rf"[A-Za-z]{{1,{max(map(len, _MEASURES))}}}+")
_RANGE_WORDS = frozenset({"to", "through", "thru"})
_CONJUNCTIONS = frozenset({"and", "or"})
_LONGEST_DIGITS = 100
_THOUSANDS = 3
_SIGNS = frozenset("#№nN")
_BEGINS = _SIGNS | {opener[0] for opener in _CLOSERS}

# A run of plain items that another number follows, so that long lists cost little an
# item. Possessive: it never goes back. What it leaves is read with care, one by one.
_RUN = re.compile(
    r"(?:[0-9]{1,15}+(?:[-–][0-9]{1,15}+)?+(?:[;&] ?+|, | and | or |,(?!0\d\d(?!\d)))(?=[0-9]))++"
)
_RUN_ITEM = re.compile(r"([0-9]+)(?:[-–]([0-9]+))?")


@dataclass(frozen=True, slots=True)
class EntryReference:
    """Where a reference stands, and its numbers as written: `(n, n)` or `(low, high)`."""

    span: tuple[int, int]
    items: tuple[tuple[int, int], ...]


class _Number(NamedTuple):
    value: int
    end: int
    is_marked: bool


class _Item(NamedTuple):
    low: int
    high: int
    end: int
    is_marked: bool


@dataclass(slots=True)
class _Numbers:
    """The items of one reference as far as they were read, and where they begin and end."""

    start: int
    end: int
    items: list[tuple[int, int]]
    is_marked: bool = False


class _Head(NamedTuple):
    """What stands before the numbers: where they begin, and how they are to be read."""

    start: int
    is_plural: bool
    has_colon: bool
    sign: str
    is_after_break: bool
    has_break: bool


def find_entry_references(text: str) -> Iterator[EntryReference]:
    """Yield the references of `text` in the order of their places."""
    done = 0
    for start, end in _nouns(text):
        if start < done or (start and _joins(text[start - 1])):
            continue
        reference = _reference(text, start, end)
        if reference is not None:
            done = reference.span[1]
            yield reference


def _nouns(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of `entry` and `entries`; only ASCII letters vary in case."""
    lowered = text.lower()
    if len(lowered) != len(text):  # some letters grow (`İ`): fold ASCII alone
        lowered = text.translate({code: code + 32 for code in range(65, 91)})
    start = lowered.find("entr")
    while start >= 0:
        if lowered.startswith("y", start + 4):
            yield start, start + 5
        elif lowered.startswith("ies", start + 4):
            yield start, start + 7
        start = lowered.find("entr", start + 4)


def _joins(character: str) -> bool:
    """Say whether `character`, right before a noun, makes another word of it."""
    return character != " " and (character in _HYPHENS or _is_word(character))


def _is_word(character: str) -> bool:
    """Letters, marks, numbers of any kind and `_` make words."""
    if character.isascii():
        return character == "_" or character.isalnum()
    return character.isalnum() or category(character)[0] == "M"


def _reference(text: str, start: int, noun_end: int) -> EntryReference | None:
    head = _head(text, noun_end, is_plural=noun_end - start > len("entry"))
    if head is None:
        return None
    opener = _wrapper(text, head)
    closer = _CLOSERS.get(opener, "")
    numbers = _numbers(text, head.start + len(opener), head, closer)
    if numbers is None or (head.has_colon and _is_count(text, numbers, head)):
        return None
    end = numbers.end + len(closer)
    if closer and (not text.startswith(closer, numbers.end) or _is_spoilt(text, end)):
        return None
    return EntryReference((start, end), tuple(numbers.items))


def _head(text: str, noun_end: int, *, is_plural: bool) -> _Head | None:
    has_colon = text.startswith(":", noun_end)
    after_noun = noun_end + has_colon
    at, breaks = _gap(text, after_noun, 1)
    if at == after_noun or not _may_begin(text, at):
        return None
    sign = _sign(text, at)
    after_sign = at + len(sign)
    start, more = _gap(text, after_sign, 1 - breaks) if sign else (at, breaks)
    if sign and not _sign_stands(sign, is_plural, start - after_sign, breaks):
        return None
    return _Head(
        start=start,
        is_plural=is_plural or sign == "numbers",
        has_colon=has_colon and is_plural,
        sign=sign,
        is_after_break=bool(more),
        has_break=bool(breaks or more),
    )


def _may_begin(text: str, at: int) -> bool:
    return at < len(text) and (text[at] in _BEGINS or text[at].isdecimal())


def _sign_stands(sign: str, is_plural: bool, space: int, breaks: int) -> bool:  # noqa: FBT001 - a fact, not a switch
    if sign == "number" and is_plural:  # `the entries number 40` is a verb
        return False
    if sign in {"number", "numbers"}:
        return space > 0
    return not (sign == "#" and breaks and space)  # a heading


def _sign(text: str, at: int) -> str:
    """Return the sign at `at` in lower case, or "" (the longest word first)."""
    if text[at] not in _SIGNS:
        return ""
    for sign in ("numbers", "number", "no.", "nr."):
        end = at + len(sign)
        found = text[at:end]
        if found.isascii() and found.lower() == sign and not _runs_on(text, end, sign):
            return sign
    return text[at] if text[at] in "#№" else ""


def _runs_on(text: str, end: int, sign: str) -> bool:
    return sign[-1] != "." and end < len(text) and _is_word(text[end])


def _wrapper(text: str, head: _Head) -> str:
    first = text[head.start : head.start + 1]
    if first not in _CLOSERS:
        return ""
    if first in "*_" and text.startswith(first, head.start + 1):
        return first * 2
    return "" if head.has_break and first in "([" else first


def _numbers(text: str, at: int, head: _Head, closer: str) -> _Numbers | None:
    """Read one item of a singular, or the list of a plural, as far as it goes."""
    if head.sign == "#" and text.startswith("#", at):
        return None
    numbers = _Numbers(at, at, [])
    is_after_break = head.is_after_break and not head.sign.startswith("#")
    while at >= 0:
        if head.is_plural and not is_after_break:
            at = _run(text, at, numbers)
        item = (
            None if is_after_break and _is_list_marker(text, at) else _item(text, at, head, closer)
        )
        if item is None:
            break
        numbers.items.append((item.low, item.high))
        numbers.end = item.end
        numbers.is_marked = numbers.is_marked or item.is_marked
        at, is_after_break = _separator(text, item.end) if head.is_plural else (-1, False)
    return numbers if numbers.items else None


def _run(text: str, at: int, numbers: _Numbers) -> int:
    """Read the plain items at `at` and return where the next one begins.

    Another number follows a run; should it be none, the list ends with the run's last
    number, before the separator.
    """
    run = _RUN.match(text, at)
    if run is None:
        return at
    for item in _RUN_ITEM.finditer(text, at, run.end()):
        low = int(item[1])
        high = int(item[2]) if item[2] else low
        numbers.items.append((low, high) if low <= high else (high, low))
        numbers.end = item.end()
    return run.end()


def _is_count(text: str, numbers: _Numbers, head: _Head) -> bool:
    """Say whether the list is one plain number: `entries: 40`, `entries: 1,204`."""
    if head.sign or numbers.is_marked:
        return False
    first, *groups = text[numbers.start : numbers.end].split(",")
    if not (first.isdecimal() and all(map(str.isdecimal, groups))):
        return False
    return not groups or (
        len(first) <= _THOUSANDS and all(len(group) == _THOUSANDS for group in groups)
    )


def _item(text: str, at: int, head: _Head, closer: str) -> _Item | None:
    number = _number(text, at, closer, is_plural=head.is_plural)
    if number is None:
        return None
    plain = _Item(number.value, number.value, number.end, number.is_marked)
    second_at, is_firm = _range_sign(text, number.end, is_plural=head.is_plural)
    if not _starts_number(text, second_at):
        return plain
    second = _number(text, second_at, closer, is_plural=head.is_plural)
    if second is None:
        return None if is_firm else plain
    low, high = sorted((number.value, second.value))
    return _Item(low, high, second.end, number.is_marked or second.is_marked)


def _range_sign(text: str, at: int, *, is_plural: bool) -> tuple[int, bool]:
    """Return where a second number must begin (-1: no range) and whether the sign is firm.

    A firm sign, tight or a word, takes the first number down with a second that is none.
    """
    tight = _dash_end(text, at, is_plural=is_plural)
    if tight >= 0:
        return tight, True
    spaced = _skip(text, at)
    if not is_plural or spaced == at:
        return -1, False
    word = _word_at(text, spaced)
    if word in _RANGE_WORDS:
        end = spaced + len(word)
        return _after_space(text, end), True
    dash = _dash_end(text, spaced, is_plural=True)
    return (_after_space(text, dash) if dash >= 0 else -1), False


def _after_space(text: str, at: int) -> int:
    """Return the place behind the white space that must stand at `at`, else -1."""
    end = _skip(text, at)
    return end if end > at else -1


def _dash_end(text: str, at: int, *, is_plural: bool) -> int:
    """Return the place behind a dash, or in a plural an ellipsis, at `at`, else -1."""
    if at >= len(text):
        return -1
    if text[at] in DASHES or (is_plural and text[at] == "…"):
        return at + 1
    if is_plural and text.startswith("..", at) and not text.startswith(".", at + 2):
        return at + 2
    return -1


def _separator(text: str, at: int) -> tuple[int, bool]:
    """Return where the next item must begin (-1: the list ends), and if behind a break."""
    start, breaks = _gap(text, at, 1)
    end = start + 1
    if not text.startswith((",", ";", "&"), start):
        end, last = _conjunction(text, start, 1 - breaks, has_space=start > at)
        return end, bool(last)
    after, more = _gap(text, end, 1 - breaks)
    if text[start] == ",":
        behind, last = _conjunction(text, after, 1 - breaks - more, has_space=after > end)
        if behind >= 0:
            return behind, bool(last)
    return (after if _starts_number(text, after) else -1), bool(more)


def _conjunction(text: str, at: int, breaks_left: int, *, has_space: bool) -> tuple[int, int]:
    """Read `and` or `or` with white space on both sides, then the start of a number."""
    word = _word_at(text, at) if has_space else ""
    if word not in _CONJUNCTIONS:
        return -1, 0
    end = at + len(word)
    after, breaks = _gap(text, end, breaks_left)
    return (after if after > end and _starts_number(text, after) else -1), breaks


def _number(text: str, at: int, closer: str, *, is_plural: bool) -> _Number | None:
    is_marked = text.startswith("#", at)
    start = at + is_marked
    end = _digits_end(text, start)
    if not 0 < end - start <= _LONGEST_DIGITS:
        return None
    digits = text[start:end]
    if _is_group(text, end):
        if is_plural and decimal(text[end + 1]) == 0:
            return None
        if not is_plural and len(digits) <= _THOUSANDS:
            end += _THOUSANDS + 1
            digits += text[end - _THOUSANDS : end]
            if _is_group(text, end):
                return None
    if _is_spoilt(text, end, closer) or _is_chain(text, end):
        return None
    return _Number(int(digits), end, is_marked)


def _is_group(text: str, at: int) -> bool:
    """Say whether a comma and exactly three digits stand at `at`."""
    if not text.startswith(",", at):
        return False
    group = text[at + 1 : at + 2 + _THOUSANDS]
    return (
        group[:_THOUSANDS].isdecimal()
        and len(group) >= _THOUSANDS
        and not group[_THOUSANDS:].isdecimal()
    )


def _is_chain(text: str, at: int) -> bool:
    """Say whether two more numbers follow at `at`, each behind a tight dash (a date)."""
    for _ in range(2):
        if not (at < len(text) and text[at] in DASHES):
            return False
        at, start = _digits_end(text, at + 1), at + 1
        if at == start:
            return False
    return True


def _is_spoilt(text: str, end: int, closer: str = "") -> bool:
    """Say whether what follows at `end` makes the number before it none."""
    if end >= len(text) or (closer and text.startswith(closer, end)):
        return False
    character = text[end]
    after = text[end + 1 : end + 2]
    if _is_word(character) or character == "%":
        return True
    if character in ".:/" and after.isdecimal():
        return True
    if character in _HYPHENS and after.isalpha():
        return True
    word_at = _skip(text, end)
    if word_at == end:
        return False
    return text.startswith("%", word_at) or _word_at(text, word_at) in _MEASURES


def _is_list_marker(text: str, at: int) -> bool:
    """Say whether digits, `.` or `)` and white space stand at `at`."""
    end = _digits_end(text, at)
    if end == at or not text.startswith((".", ")"), end):
        return False
    after = end + 1
    return after < len(text) and (text[after] in _SPACES or text[after] in "\r\n")


def _starts_number(text: str, at: int) -> bool:
    if at < 0 or at >= len(text):
        return False
    return text[at].isdecimal() or (text[at] == "#" and text[at + 1 : at + 2].isdecimal())


def _word_at(text: str, at: int) -> str:
    """Return the whole word at `at` in lower case, "" when it cannot be one that counts."""
    word = _WORD.match(text, at)
    if word is None or (word.end() < len(text) and _is_word(text[word.end()])):
        return ""
    return word.group().lower()


def _digits_end(text: str, at: int) -> int:
    while at < len(text) and text[at].isdecimal():
        at += 1
    return at


def _skip(text: str, at: int) -> int:
    """Return the place behind the horizontal white space at `at`."""
    while at < len(text) and text[at] in _SPACES:
        at += 1
    return at


def _gap(text: str, at: int, breaks_left: int) -> tuple[int, int]:
    """Return the place behind white space with at most so many line breaks, and their number."""
    at = _skip(text, at)
    if not breaks_left or not text.startswith(("\n", "\r"), at):
        return at, 0
    at += 2 if text.startswith("\r\n", at) else 1
    return _skip(text, at), 1
