"""What comes of asking for pages: what was found, what a handle comes to, what was seen."""

from collections.abc import Iterable
from dataclasses import dataclass

from counterfoil.core.digests import tagged_digest
from counterfoil.core.events import PageWritten, Payload
from counterfoil.core.ids import RunId
from counterfoil.core.knowledge.receipts import RetrievalReceipt
from counterfoil.core.knowledge.resolution import PageResolution, resolve_handle
from counterfoil.core.knowledge.search import Hit
from counterfoil.core.knowledge.view import View, VisiblePage
from counterfoil.core.refs.pages import PageReference, format_handle

_MOST_CANDIDATES = 8
"""Pages of one handle that are named."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What a search returned, with the receipt of it, out of how many pages."""

    hits: tuple[Hit, ...]
    receipt: RetrievalReceipt
    pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A handle, what it comes to, and for each candidate the handle that means it alone."""

    resolution: PageResolution
    handles: tuple[str, ...]
    digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """A page as it was read: the handle to paste, its bytes and their digest."""

    handle: str
    visible: VisiblePage
    content: bytes

    @property
    def digest(self) -> str:
        """The tagged digest of the bytes."""
        return tagged_digest(self.content)


def seen_pages(payloads: Iterable[Payload], run: RunId) -> dict[str, str]:
    """Return the digests, by path, of the pages of `run` that a thread wrote, the last ones."""
    return {
        payload.path: payload.digest_after
        for payload in payloads
        if isinstance(payload, PageWritten)
        and payload.run == run
        and payload.path is not None
        and payload.digest_after is not None
    }


def qualified(view: View, found: PageResolution) -> Iterable[str]:
    """Yield the handles that mean one of the pages of `found` each, where there are such."""
    for page in found.candidates[:_MOST_CANDIDATES]:
        handle = format_handle(PageReference(page.origin, page.page.id))
        if resolve_handle(view, handle).page is not None:
            yield handle
