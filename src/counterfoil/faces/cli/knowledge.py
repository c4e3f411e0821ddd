"""What commands about pages need of the program."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

from counterfoil.core.ids import Origin
from counterfoil.engine.chains import VisibleStores

if TYPE_CHECKING:  # what only some commands pay for
    from counterfoil.core.knowledge.chain import ChainSnapshot
    from counterfoil.core.knowledge.findings import Finding
    from counterfoil.core.knowledge.graph import Graph
    from counterfoil.core.knowledge.sources import Freshness, Source
    from counterfoil.core.knowledge.view import View, VisiblePage
    from counterfoil.engine.migrate import Dual, Switch
    from counterfoil.engine.promote import PromotionStores
    from counterfoil.engine.search_pages import PageSearch
    from counterfoil.engine.write_pages import WritableStore
    from counterfoil.ports.commands import CommandBounds, CommandRunner


class StoreSelection(NamedTuple):
    """Which store is meant: one by its root, or that of a run and all that the run sees."""

    root: str | None = None
    pages: str = "knowledge"
    runs: str | None = None
    shared: str | None = None
    run: str | None = None
    lineage: str | None = None
    max_ancestors: int | None = None


class OpenStores(NamedTuple):
    """The stores that are meant, and what stands before the paths of each in what is shown."""

    visible: VisibleStores
    places: dict[Origin, str]


class Desk(Protocol):
    """What is needed to write into the stores that a selection means."""

    def writable(self) -> "WritableStore":
        """Return the own store, to write pages into."""
        ...

    def promotion(self) -> "PromotionStores":
        """Return the stores to promote from and to."""
        ...

    def dual(self, name: str, frozen: str | None) -> "Dual":
        """Return the two readings: ours, and that of the file `name`."""
        ...

    def switch(self, actor: str, reason: str) -> "Switch":
        """Return where a switch is recorded: in the own store."""
        ...

    def sources(self) -> "list[tuple[Source, Freshness]]":
        """Return the sources of the own store, and whether they are fresh now."""
        ...

    def add_source(self, name: str, valid_until: str | None) -> "tuple[Source, ...]":
        """Import a file or a folder into the own store."""
        ...

    def runner(self, seconds: float) -> "tuple[CommandRunner, CommandBounds]":
        """Return what runs checks, and within which bounds."""
        ...

    def body_of(self, visible: "VisiblePage") -> str:
        """Return the body of a page that is visible."""
        ...

    def search(self) -> "tuple[ChainSnapshot, PageSearch]":
        """Return the chain, and what searches it."""
        ...

    def now(self) -> str:
        """Return the time."""
        ...


class Knowledge(Protocol):
    """Stores of pages, opened, made and asked."""

    def stores(self, selection: StoreSelection) -> AbstractContextManager[OpenStores]:
        """Have the stores open that `selection` means."""
        ...

    def findings_before(self, opened: OpenStores, revision: str) -> "list[Finding]":
        """Return the findings that there were at a revision of Git."""
        ...

    def init_store(self, root: str, pages: str) -> str:
        """Make the store at `root`, or put in what it lacks; return its path."""
        ...

    def init_run(
        self,
        place: tuple[str, str, str],
        parent: str | None,
        lineage: str | None,
        *,
        allow_unknown_parent: bool,
    ) -> str:
        """Make the store of a run, given the folder of runs, the run, and where pages are."""
        ...

    def make_demo(self, directory: str) -> str:
        """Make the example of four runs in `directory`; return its path."""
        ...

    def run_parents(self, selection: StoreSelection) -> list[tuple[str, str | None, str | None]]:
        """Return the runs that have a store, each with its parent, or why that is not known."""
        ...

    def forget_indexes(self, selection: StoreSelection) -> None:
        """Delete the indexes of the stores that `selection` means."""
        ...

    def desk(self, visible: VisibleStores) -> Desk:
        """Return what is needed to write into the first of the stores."""
        ...

    def draw_svg(self, graph: "Graph", view: "View") -> str:
        """Return the picture of `graph` as SVG."""
        ...
