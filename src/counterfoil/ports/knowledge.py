"""Stores of pages: what is in them, found by key, and what was found in them before."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from counterfoil.core.errors import UnreadableError
from counterfoil.core.knowledge.affected import PageChange
from counterfoil.core.knowledge.findings import Checked, Finding
from counterfoil.core.knowledge.pages import Page, Spot, TextSpot
from counterfoil.core.knowledge.view import SourceRegistry


class DamagedIndexError(UnreadableError):
    """What is kept of a store is not what was kept; the files themselves are not at fault."""

    def __init__(self, what: str) -> None:
        """Name `what` cannot be read."""
        super().__init__(
            f"the index of the store is damaged: {what} in it cannot be read",
            advice="`counterfoil kb index --anew` makes it anew",
        )


class PassedOver(NamedTuple):
    """A file that is no page because it could not, or must not, be read."""

    path: str
    code: str
    message: str


class PreparedKeys(NamedTuple):
    """The numbers of the keys (`key_number`) that any page is called by, or writes."""

    called: Collection[int]
    naming: Collection[int]


class SavedReport(NamedTuple):
    """The findings of an earlier lint, located, by the path of the page that they are about.

    `states` are those of the stores that were seen, in chain order; `rest` are the
    findings about pages that rest on one taken back; `seen` names all else that the
    findings depend on.
    """

    states: tuple[int, ...]
    seen: str
    checked: Checked
    by_path: Mapping[str, Sequence[Finding]]
    rest: Sequence[Finding]


class ReportChange(NamedTuple):
    """What to save of a lint: everything, or the paths that were checked again."""

    states: tuple[int, ...]
    seen: str
    checked: Checked
    is_whole: bool
    by_path: Mapping[str, Sequence[Finding]]
    rest: Sequence[Finding] | None


class StoreIndex(Protocol):
    """The pages of one store at one instant, indexed; never trusted over the files."""

    def refresh(self) -> int:
        """Read what changed in the files, and return the number of the state seen.

        A state that differs has another number; no number is given twice.

        Raises:
            NotFoundError: There is no store.
            UnavailableError: The store does not stand still.
        """
        ...

    def forget(self) -> None:
        """Delete what is kept, so that the next refresh reads every page."""
        ...

    def body(self, path: str) -> str:
        """Return the body of the page at `path`; nothing where it is gone."""
        ...

    def changes_since(self, state: int) -> Sequence[PageChange] | None:
        """Return what is another than in `state`, page by page, as the store's own pages.

        `None` where that is not known, or so much that checking everything is shorter.
        """
        ...

    @property
    def count(self) -> int:
        """How many pages there are."""
        ...

    def pages(self) -> Iterator[Page]:
        """Yield every page, by path, code point by code point."""
        ...

    def page(self, path: str) -> Page | None:
        """Return the page at `path`."""
        ...

    def called(self, key: str) -> Sequence[Page]:
        """Return the pages that `key` is a name of, by path."""
        ...

    def naming(self, key: str) -> Sequence[Page]:
        """Return the pages that write a reference under `key`, by path; and perhaps others."""
        ...

    def invalidated(self) -> Sequence[Page]:
        """Return the pages that are taken back, by path."""
        ...

    def prepare(self) -> PreparedKeys:
        """Get ready for many questions, at the price of memory; return which have an answer."""
        ...

    @property
    def registry(self) -> SourceRegistry:
        """The sources of the store."""
        ...

    @property
    def passed_over(self) -> Sequence[PassedOver]:
        """The files that were passed over, by path."""
        ...

    def digests(self) -> Mapping[str, str]:
        """Return the tagged digest of each page's bytes, by path."""
        ...

    def locate(self, path: str, spots: Iterable[Spot]) -> Mapping[Spot, TextSpot]:
        """Return where in the file of a page the places of its frontmatter stand."""
        ...

    def saved_report(self, name: str) -> SavedReport | None:
        """Return the report last saved under `name`, if there is one."""
        ...

    def save_report(self, name: str, change: ReportChange) -> None:
        """Save a report, or what changed of it; nothing happens where that cannot be done."""
        ...
