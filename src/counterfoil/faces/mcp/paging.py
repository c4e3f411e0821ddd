"""Pages: 50 rows, or 16 KiB of text, with the exact number of pages and rows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from counterfoil.core.errors import NotFoundError
from counterfoil.faces.mcp.addresses import Address
from counterfoil.faces.mcp.fitting import fit_text

ROWS = 50
"""Rows of a page; the others are on those behind it."""

TEXT = 16 * 1024
"""Bytes of a page of text; the rest is on those behind it."""

_INSIDE = range(0x80, 0xC0)
"""Bytes of UTF-8 that begin no character."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of `pages`: the number of it, what there is in all, and the next one."""

    number: int
    pages: int
    total: int
    next: str | None

    @property
    def first(self) -> int:
        """How many rows stand before the first of this page."""
        return (self.number - 1) * ROWS

    def with_rows(self, rows: Iterable[object]) -> dict[str, object]:
        """Return the page with its `rows`."""
        return {**self._head(), "rows": list(rows)}

    def with_text(self, text: str) -> dict[str, object]:
        """Return the page with its `text`."""
        return {**self._head(), "text": text}

    def _head(self) -> dict[str, object]:
        return {"page": self.number, "pages": self.pages, "total": self.total, "next": self.next}


def page_of_rows(
    rows: Sequence[T], address: Address, shown: Callable[[T], object]
) -> dict[str, object]:
    """Return the page of `rows` that `address` asks for, each as it is `shown`.

    Raises:
        NotFoundError: There is no such page.
    """
    page = page_of(len(rows), address)
    return page.with_rows(map(shown, rows[page.first : page.first + ROWS]))


def page_of_text(text: str, address: Address) -> dict[str, object]:
    """Return the page of `text` that `address` asks for; `total` is its bytes.

    The texts of all pages, one after the other, are the text.

    Raises:
        NotFoundError: There is no such page.
    """
    content = fit_text(text).encode()
    ends = [*_starts(content)[1:], len(content)]
    page = page_of(len(content), address, pages=len(ends))
    first = ends[page.number - 2] if page.number > 1 else 0
    return page.with_text(content[first : ends[page.number - 1]].decode())


def page_of(total: int, address: Address, *, pages: int | None = None) -> Page:
    """Return the page that `address` asks for of `total` rows.

    Raises:
        NotFoundError: There is no such page.
    """
    last = max(1, -(-total // ROWS)) if pages is None else pages
    number = address.page or 1
    if number > last:
        raise NotFoundError(f"no page {number} of {address.base!r}", f"1 to {last}")
    following = address.at_page(number + 1) if number < last else None
    return Page(number=number, pages=last, total=total, next=following)


def _starts(content: bytes) -> list[int]:
    """Return where each page of `content` begins; no character is cut in two."""
    starts = [0]
    while (end := starts[-1] + TEXT) < len(content):
        while content[end] in _INSIDE:
            end -= 1
        starts.append(end)
    return starts
