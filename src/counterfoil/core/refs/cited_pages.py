r"""The pages a reply names in double brackets, weighed against those that its run sees.

Resolving is the whole check (receipts.md section 3): a handle that names no page, or
several, is told under the reply. Double brackets are written for much else, so what is
plainly no handle is never held against a reply, and is only taken for one where a page
answers to it:

- nothing without a letter, and nothing made of numbers: `[[1, 2]]`, `[[...]]`, `[[2e3, nan]]`;
- nothing that opens with white space, as conditions of a shell do: `[[ -f x ]]`;
- nothing with characters of code, `$ = < > { } ; " \` and a back quote: `[[$a == b]]`;
- no class of characters, `[[:space:]]`, and no attribute of C++: `[[nodiscard]]`,
  `[[gnu::packed]]`.

What begins with an origin, or is encoded, is a handle whatever follows.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from counterfoil.core.plain import one_line
from counterfoil.core.refs.pages import (
    PREFIX,
    SEPARATOR,
    PageReference,
    encode_handle,
    parse_handle,
)

CHECKED = 100
"""Distinct handles of a reply that are checked; the rest are counted."""

NAMED = 8
"""Handles that the line names; the rest are counted."""

_LONGEST_SHOWN = 80

HandleVerdict = Literal["resolved", "missing", "ambiguous", "malformed"]

_VERDICTS: tuple[HandleVerdict, ...] = ("resolved", "missing", "ambiguous", "malformed")

ResolvePage = Callable[[str], HandleVerdict]
"""Says what a handle, as it was written, comes to."""


class Bracketed(NamedTuple):
    """What stands in double brackets and may be a handle.

    `handle` ends where a section begins; `whole` has the section, since an id may hold a
    `#`. `is_spaced`: white space follows the opening brackets.
    """

    handle: str
    whole: str
    is_spaced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedPages:
    """The handles checked, in the order cited, those that do not resolve, and the rest counted.

    `fault` says why the pages cannot be had; then nothing was checked, and nothing is unknown.
    """

    checked: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()
    malformed: tuple[str, ...] = ()
    unchecked: int = 0
    fault: str | None = None

    @property
    def unknown(self) -> tuple[str, ...]:
        """The handles that do not resolve, as written, in the order cited."""
        unresolved = {*self.missing, *self.ambiguous, *self.malformed}
        return tuple(handle for handle in self.checked if handle in unresolved)

    @property
    def line(self) -> str | None:
        """The line under the reply; `None` when there is nothing to say."""
        if self.fault is not None:
            return f"cited pages were not checked: {one_line(self.fault, 2 * _LONGEST_SHOWN)}"
        if self.unknown:
            return self._unknown_line(self.unknown)
        if self.unchecked:
            total = len(self.checked) + self.unchecked
            return f"cited: only the first {CHECKED} of {total} pages were checked"
        return None

    def _unknown_line(self, unknown: Sequence[str]) -> str:
        named = [self._named(handle) for handle in unknown[:NAMED]]
        if len(unknown) > NAMED:
            named.append(f"+{len(unknown) - NAMED} more")
        count = "" if len(unknown) == 1 else f" ({len(unknown)})"
        line = f"cited but not visible to this run: {', '.join(named)}{count}"
        return f"{line}; only the first {CHECKED} cited were checked" if self.unchecked else line

    def _named(self, handle: str) -> str:
        shown = one_line(handle, _LONGEST_SHOWN)
        if handle in self.missing:
            return shown
        return f"{shown} ({'ambiguous' if handle in self.ambiguous else 'malformed'})"


def check_pages(cited: Iterable[Bracketed], resolve: ResolvePage) -> CitedPages:
    """Weigh what is `cited`, each handle once, as `resolve` says.

    The first hundred distinct handles are checked; how many more were cited is exact.
    """
    found: dict[HandleVerdict, list[str]] = {verdict: [] for verdict in _VERDICTS}
    checked: dict[str, None] = {}
    unchecked: set[str] = set()
    doubtful = 0
    for one, is_meant in dict.fromkeys((one, is_meant_as_handle(one)) for one in cited):
        if one.handle in checked:
            continue
        if len(checked) == CHECKED:
            unchecked.update([one.handle] if is_meant else ())
        elif is_meant or doubtful < CHECKED:
            doubtful += not is_meant
            verdict = _verdict(one, resolve)
            if is_meant or verdict == "resolved":
                checked[one.handle] = None
                found[verdict].append(one.handle)
    return CitedPages(
        checked=tuple(checked),
        missing=tuple(found["missing"]),
        ambiguous=tuple(found["ambiguous"]),
        malformed=tuple(found["malformed"]),
        unchecked=len(unchecked),
    )


def _verdict(one: Bracketed, resolve: ResolvePage) -> HandleVerdict:
    """Return what a handle comes to, and with what follows it where alone it is missing."""
    verdict = resolve(one.handle)
    if verdict == "missing" and one.whole != one.handle and resolve(one.whole) == "resolved":
        return "resolved"
    return verdict


def is_meant_as_handle(one: Bracketed) -> bool:
    """Say whether what stands in double brackets can only be there to name a page.

    >>> [is_meant_as_handle(Bracketed(it, it)) for it in ("prior-result", "1, 2", "shared::1")]
    [True, False, True]
    """
    handle = one.handle
    if _names_origin(handle):
        return True
    if one.is_spaced or _CODE.search(handle) or _CLASS.fullmatch(handle):
        return False
    vendor = handle.partition(SEPARATOR)[0]
    if handle in _ATTRIBUTES or (vendor != handle and vendor in _VENDORS):
        return False
    return any(map(str.isalpha, _NUMBERS.sub("", handle)))


def in_brackets(handle: str) -> str:
    """Return `handle` in double brackets, in a form that reads back as it there.

    >>> in_brackets("a"), in_brackets("c#")
    ('[[a]]', '[[knowledge-ref:v1:%5Bnull%2C%22c%23%22%5D]]')
    """
    reference = parse_handle(handle)
    if isinstance(reference, PageReference) and _MARKS.search(handle):
        handle = encode_handle(reference)
    return f"[[{handle}]]"


def _names_origin(handle: str) -> bool:
    if handle.startswith(PREFIX):
        return True
    reference = parse_handle(handle)
    if isinstance(reference, PageReference):
        return reference.origin is not None
    return handle.startswith(_ORIGINS)


_ORIGINS = ("here::", "shared::", "inherited:")
_MARKS = re.compile(r"[\[\]|#^\\`<$]")
_CODE = re.compile(r"[$=<>{};\"\\`]")
_CLASS = re.compile(r"[:.=][^\s]*[:.=]")
_NUMBERS = re.compile(r"\b(?:\d+(?:\.\d+)?[eE][+-]?\d+|0x[0-9a-fA-F]+|\d+j|nan|inf|NaN|Inf)\b")
_VENDORS = frozenset({"clang", "gnu", "gsl", "msvc"})
_ATTRIBUTES = frozenset(
    {
        "assume",
        "carries_dependency",
        "deprecated",
        "fallthrough",
        "likely",
        "maybe_unused",
        "no_unique_address",
        "nodiscard",
        "noreturn",
        "unlikely",
    }
)
