"""What the command line needs of the program: wired elsewhere, made when asked."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from counterfoil.core.settings import Settings
from counterfoil.ports.transcripts import Transcript, TranscriptFile
from counterfoil.ports.world import Repository, Spool

if TYPE_CHECKING:  # what only commands about pages pay for
    from counterfoil.core.knowledge.findings import Finding
    from counterfoil.faces.cli.opened import OpenStores


class StoreSelection(NamedTuple):
    """Which store is meant: one by its root, or that of a run and all that the run sees."""

    root: str | None = None
    pages: str = "knowledge"
    runs: str | None = None
    shared: str | None = None
    run: str | None = None
    lineage: str | None = None
    max_ancestors: int | None = None


class Application(Protocol):
    """The parts of the program, each made only when a command asks for it."""

    @property
    def version(self) -> str:
        """The version of the program."""
        ...

    def settings(self, flags: Mapping[str, object]) -> Settings:
        """Return the settings here and now, `flags` on top."""
        ...

    def transcript(self, name: str, on_read: Callable[[int], None] | None = None) -> Transcript:
        """Return the transcript that `name` is, `-` for standard input."""
        ...

    def size(self, name: str) -> int:
        """Return the bytes of the file `name`, 0 where that is not known."""
        ...

    def spool(self) -> AbstractContextManager[Spool[Any]]:
        """Return a new spool, to be closed when done."""
        ...

    def is_directory(self, name: str) -> bool:
        """Say whether `name` is a folder."""
        ...

    def sessions(self, settings: Settings) -> Iterator[TranscriptFile]:
        """Yield the sessions on this machine, the newest first."""
        ...

    def sessions_here(self, settings: Settings, count: int) -> list[str]:
        """Return the newest sessions of the current directory, oldest of them first."""
        ...

    def sessions_below(self, name: str, count: int | None) -> list[str]:
        """Return the session files below a folder, or the newest `count` of them."""
        ...

    def repository(self, name: str) -> Repository:
        """Return the repository that holds the folder `name`."""
        ...

    def evidence(self) -> Mapping[str, Mapping[str, str]]:
        """Return, by format, what it can show."""
        ...

    def shapes(self, name: str) -> tuple[Counter[str], Counter[str], int]:
        """Return the shapes of the records below a folder, damage, and the files."""
        ...

    def record_at(self, name: str, line: int) -> bytes | None:
        """Return the bytes of a line of a file, `None` past its end."""
        ...

    def is_same_directory(self, name: str, other: str | None) -> bool:
        """Say whether two names are of one folder."""
        ...

    def instant(self, seconds: float) -> str:
        """Return a time of the file system as RFC 3339 UTC."""
        ...

    def stores(self, selection: StoreSelection) -> "AbstractContextManager[OpenStores]":
        """Have the stores open that `selection` means."""
        ...

    def findings_before(self, opened: "OpenStores", revision: str) -> "list[Finding]":
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
