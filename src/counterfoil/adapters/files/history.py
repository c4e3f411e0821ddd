"""The pages of an earlier state of a store, out of bytes that stood there."""

from collections.abc import Mapping

from counterfoil.adapters.files.scan import is_page
from counterfoil.core.knowledge.changes import REGISTRY
from counterfoil.core.knowledge.pages import Page
from counterfoil.core.knowledge.view import SourceRegistry
from counterfoil.wire.pages import read_page
from counterfoil.wire.registry import read_registry


class PageHistory:
    """A `History` over the files that were others before."""

    def __init__(self, changed: Mapping[str, bytes | None], pages: str) -> None:
        """Know the bytes before, by path below the store; pages are below `pages`."""
        self._changed = changed
        self._pages = pages

    def pages(self) -> dict[str, Page | None]:
        """Return, by path, each page that was another before; `None` where none was."""
        return {
            path: None
            if content is None
            else read_page(content, path, pages_directory=self._pages).page
            for path, content in self._changed.items()
            if is_page(path, self._pages)
        }

    def registry(self) -> SourceRegistry | None:
        """Return the registry before; `None` where it is the same."""
        if REGISTRY not in self._changed:
            return None
        return read_registry(self._changed[REGISTRY])
