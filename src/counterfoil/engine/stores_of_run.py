"""What the pages of a thread need of the disk: the stores that its run sees, kept open."""

from typing import Protocol

from counterfoil.core.ids import RunId
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.engine.chains import VisibleStores
from counterfoil.engine.write_pages import WritableStore
from counterfoil.ports.search import TextIndex


class StoresOfRun(Protocol):
    """The stores that one run sees, opened once; its own is made when it is written into."""

    @property
    def run(self) -> RunId:
        """The run."""
        ...

    @property
    def pages_directory(self) -> str:
        """Where in each store its pages are."""
        ...

    def visible(self) -> VisibleStores:
        """Return what the run sees by now; `here` is not among it before its store is made.

        Raises:
            CounterfoilError: A store, or the lineage, cannot be had.
        """
        ...

    def unmade(self) -> WritableStore | None:
        """Return the store that would be made, to be weighed; `None` where there is one."""
        ...

    def writable(self) -> WritableStore:
        """Return the run's own store, which is made where there is none."""
        ...

    def text_index(self, visible: VisibleStores) -> TextIndex:
        """Return an index for the words of all that is visible."""
        ...

    def read(self, page: VisiblePage) -> bytes | None:
        """Return the bytes of a page as they are now, `None` for no file."""
        ...

    def is_there(self, page: VisiblePage) -> bool:
        """Say, as cheaply as can be, whether the file of a page is there."""
        ...

    def body_of(self, page: VisiblePage) -> str:
        """Return the body of a page."""
        ...

    def now(self) -> str:
        """Return the time."""
        ...

    def close(self) -> None:
        """Let go of everything that is open."""
        ...
