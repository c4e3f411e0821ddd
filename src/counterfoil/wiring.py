"""The composition root: the one module that knows every part.

Adapters are imported when they are asked for, so that a command pays for what it uses.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterfoil.core.settings import Layer, Settings, settle
from counterfoil.core.version import VERSION
from counterfoil.faces.cli.app import StoreSelection
from counterfoil.ports.transcripts import Transcript, TranscriptFile
from counterfoil.ports.world import Repository, Spool

if TYPE_CHECKING:  # what only commands about pages pay for
    from counterfoil.adapters.files.opening import OpenedIndexes
    from counterfoil.adapters.files.run_places import FileRunPlaces
    from counterfoil.core.knowledge.findings import Finding
    from counterfoil.faces.cli.opened import OpenStores
    from counterfoil.ports.lineage import LineageAuthority


class WiredApplication:
    """The program as it runs on this machine."""

    @property
    def version(self) -> str:
        """The version of the program."""
        return VERSION

    def settings(self, flags: Mapping[str, object]) -> Settings:
        """Return the settings here and now, `flags` on top."""
        from counterfoil.adapters.system.settings import layers

        return settle([*layers(Path.cwd(), os.environ), Layer("flag", flags)])

    def transcript(self, name: str, on_read: Callable[[int], None] | None = None) -> Transcript:
        """Return the transcript that `name` is, `-` for standard input."""
        from counterfoil.adapters.transcripts.formats import open_transcript
        from counterfoil.adapters.transcripts.source import open_file, spooled

        if name == "-":
            return open_transcript(spooled("-", sys.stdin.buffer))
        return open_transcript(open_file(name, on_read))

    def size(self, name: str) -> int:
        """Return the bytes of the file `name`, 0 where that is not known."""
        try:
            return Path(name).stat().st_size
        except (OSError, ValueError):
            return 0

    def spool(self) -> AbstractContextManager[Spool[Any]]:
        """Return a new spool, to be closed when done."""
        from counterfoil.adapters.system.spool import FileSpool

        return closing(FileSpool[Any]())

    def is_directory(self, name: str) -> bool:
        """Say whether `name` is a folder."""
        try:
            return Path(name).is_dir()
        except ValueError:
            return False

    def sessions(self, settings: Settings) -> Iterator[TranscriptFile]:
        """Yield the sessions on this machine, the newest first."""
        from counterfoil.adapters.transcripts.discover import describe, newest_first

        formats = {path: format_ for format_, path in self._session_files(settings)}
        for path in newest_first(list(formats)):
            found = describe(formats[path], path)
            if found is not None:
                yield found

    def _session_files(self, settings: Settings) -> Iterator[tuple[str, Path]]:
        from counterfoil.adapters.transcripts.discover import session_files

        return session_files(
            os.environ,
            claude_dir=settings.text("claude_dir"),
            codex_dir=settings.text("codex_dir"),
        )

    def sessions_here(self, settings: Settings, count: int) -> list[str]:
        """Return the newest sessions of the current directory, oldest of them first."""
        here = os.path.realpath(Path.cwd())
        found: list[str] = []
        for session in self.sessions(settings):
            if session.cwd is not None and os.path.realpath(session.cwd) == here:
                found.append(session.path)
                if len(found) == count:
                    break
        return found[::-1]

    def sessions_below(self, name: str, count: int | None) -> list[str]:
        """Return the session files below a folder, or the newest `count` of them."""
        from counterfoil.adapters.transcripts.discover import files_below, newest_first

        found = list(files_below(Path(name)))
        if count is not None:
            found = newest_first(found)[:count][::-1]
        return [str(path) for path in found]

    def repository(self, name: str) -> Repository:
        """Return the repository that holds the folder `name`."""
        from counterfoil.adapters.git import GitRepository

        return GitRepository(Path(name))

    def evidence(self) -> Mapping[str, Mapping[str, str]]:
        """Return, by format, what it can show."""
        from counterfoil.adapters.transcripts.evidence import EVIDENCE

        return EVIDENCE

    def shapes(self, name: str) -> tuple[Counter[str], Counter[str], int]:
        """Return the shapes of the records below a folder, damage, and the files."""
        from counterfoil.adapters.transcripts.shapes import files_of, shapes_of

        return shapes_of(files_of(Path(name)))

    def record_at(self, name: str, line: int) -> bytes | None:
        """Return the bytes of a line of a file, `None` past its end."""
        from counterfoil.adapters.transcripts.source import line_of, open_file

        return line_of(open_file(name), line)

    def is_same_directory(self, name: str, other: str | None) -> bool:
        """Say whether two names are of one folder."""
        return other is not None and os.path.realpath(name) == os.path.realpath(other)

    def instant(self, seconds: float) -> str:
        """Return a time of the file system as RFC 3339 UTC."""
        from datetime import UTC, datetime

        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    @contextmanager
    def stores(self, selection: StoreSelection) -> "Generator[OpenStores]":
        """Have the stores open that `selection` means."""
        from counterfoil.adapters.files.opening import OpenedIndexes
        from counterfoil.adapters.system.clock import nanoseconds

        with ExitStack() as closing_:
            indexes = OpenedIndexes(closing_, pages=selection.pages, now=nanoseconds)
            if selection.runs is None:
                yield self._one_store(indexes, selection)
            else:
                yield self._stores_of_run(indexes, selection)

    def _one_store(self, indexes: "OpenedIndexes", selection: StoreSelection) -> "OpenStores":
        from counterfoil.adapters.files.opening import nearest_store
        from counterfoil.core.ids import HERE
        from counterfoil.engine.chains import VisibleStores
        from counterfoil.faces.cli.opened import OpenStores

        root = (
            nearest_store(Path.cwd(), selection.pages)
            if selection.root is None
            else Path(selection.root)
        )
        return OpenStores(VisibleStores(run=None, stores={HERE: indexes.at(root)}), {HERE: ""})

    def _stores_of_run(self, indexes: "OpenedIndexes", selection: StoreSelection) -> "OpenStores":
        from counterfoil.core.ids import HERE, SHARED, RunId
        from counterfoil.engine.chains import visible_stores
        from counterfoil.faces.cli.opened import OpenStores

        run, (places, authority) = RunId(selection.run or ""), self._runs(selection)
        shared = None if selection.shared is None else indexes.at(Path(selection.shared))
        visible = visible_stores(
            run,
            authority,
            lambda one: indexes.of_run(places, one),
            shared=shared,
            max_ancestors=selection.max_ancestors,
        )
        shown = {HERE: f"{places.shown(run)}/"}
        if selection.shared is not None:
            shown[SHARED] = f"{Path(selection.shared)}/"
        origins = [*visible.stores, *(finding.origin for finding in visible.findings)]
        for origin in origins:
            if origin.run is not None:
                shown[origin] = f"{places.shown(origin.run)}/"
        return OpenStores(visible, shown)

    def _runs(self, selection: StoreSelection) -> "tuple[FileRunPlaces, LineageAuthority]":
        from counterfoil.adapters.files.run_lineage import FileLineage
        from counterfoil.adapters.files.run_places import FileRunPlaces
        from counterfoil.adapters.manifest import ManifestLineage
        from counterfoil.adapters.system.clock import instant

        places = FileRunPlaces(Path(selection.runs or ""), pages=selection.pages)
        if selection.lineage is not None:
            return places, ManifestLineage(Path(selection.lineage))
        return places, FileLineage(places, instant)

    def findings_before(self, opened: "OpenStores", revision: str) -> "list[Finding]":
        """Return the findings that there were at a revision of Git."""
        from counterfoil.adapters.files.history import PageHistory
        from counterfoil.adapters.files.index import FileIndex
        from counterfoil.adapters.git.history import DirectoryHistory
        from counterfoil.core.errors import NotFoundError
        from counterfoil.core.ids import HERE, Origin
        from counterfoil.engine.lint_since import findings_before

        def history_of(origin: Origin) -> PageHistory | None:
            store = opened.visible.stores[origin]
            if not isinstance(store, FileIndex):
                return None
            try:
                changed = DirectoryHistory(store.path).changed_since(revision)
            except NotFoundError:
                if origin == HERE:
                    raise
                return None  # another's store, outside of Git: it is taken as it is now
            return PageHistory(changed, store.pages_directory)

        return findings_before(opened.visible, history_of)

    def init_store(self, root: str, pages: str) -> str:
        """Make the store at `root`, or put in what it lacks; return its path."""
        from counterfoil.adapters.files.scaffold import init_store

        init_store(Path(root), pages=pages)
        return root

    def init_run(
        self,
        place: tuple[str, str, str],
        parent: str | None,
        lineage: str | None,
        *,
        allow_unknown_parent: bool,
    ) -> str:
        """Make the store of a run, given the folder of runs, the run, and where pages are."""
        from counterfoil.core.ids import RunId
        from counterfoil.engine.run_stores import Runs

        runs, run, pages = place
        places, authority = self._runs(StoreSelection(runs=runs, pages=pages, lineage=lineage))
        stores = Runs(places, authority)
        stores.init(run, parent, allow_unknown_parent=allow_unknown_parent)
        return places.shown(RunId(run))

    def make_demo(self, directory: str) -> str:
        """Make the example of four runs in `directory`; return its path."""
        from counterfoil.adapters.files.demo import make_demo
        from counterfoil.adapters.system.clock import instant

        make_demo(Path(directory), instant())
        return str(Path(directory))

    def run_parents(self, selection: StoreSelection) -> list[tuple[str, str | None, str | None]]:
        """Return the runs that have a store, each with its parent, or why that is not known."""
        from counterfoil.core.errors import CounterfoilError

        places, authority = self._runs(selection)
        rows: list[tuple[str, str | None, str | None]] = []
        for run in places.runs():
            try:
                rows.append((run, authority.parent_of(run), None))
            except CounterfoilError as error:
                rows.append((run, None, error.found))
        return rows

    def forget_indexes(self, selection: StoreSelection) -> None:
        """Delete the indexes of the stores that `selection` means."""
        with self.stores(selection) as (visible, _):
            for store in visible.stores.values():
                store.forget()
