"""The part of the composition root that checks for other programs: one JSON document each."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

from counterfoil.adapters.system.settings import home
from counterfoil.adapters.system.spool import FileSpool
from counterfoil.adapters.transcripts.formats import open_transcript
from counterfoil.adapters.transcripts.source import spooled
from counterfoil.core.knowledge.lint import with_rules
from counterfoil.core.knowledge.resolution import resolve_handle
from counterfoil.core.settings import Settings
from counterfoil.engine.check_transcript import Silence, TranscriptCheck
from counterfoil.engine.lint_stores import lint_stores
from counterfoil.engine.stored_view import StoredView
from counterfoil.faces.cli.knowledge import StoreSelection
from counterfoil.faces.mcp import PageStores
from counterfoil.wire.check import document, encode_json
from counterfoil.wire.findings import report_to_json
from counterfoil.wire.handle_verdicts import resolution_to_json
from counterfoil.wiring.knowledge import WiredKnowledge


class WiredChecks:
    """The checks of the command line, as documents."""

    def __init__(self, settings: Settings, environment: dict[str, str]) -> None:
        self._settings = settings
        self._runs = settings.text("runs") or str(home(environment) / "runs")
        self._shared = settings.text("shared") or None

    def check(self, name: str, file: BinaryIO) -> bytes:
        """Return what `counterfoil check --json` prints of a transcript.

        Raises:
            CounterfoilError: It cannot be read at all.
        """
        silences = [Silence(s.rule, s.path, s.reason) for s in self._settings.silences]
        with closing(FileSpool[Any]()) as spool:
            transcript = open_transcript(spooled(name, file))
            check = TranscriptCheck(transcript, spool, silences=silences)
            check.read()
            return b"".join(
                document(check.source(), check.summary(), check.caveats(), check.turns())
            )

    def lint(self, stores: PageStores) -> bytes:
        """Return what `counterfoil kb lint --json` prints."""
        with WiredKnowledge().stores(self._selection(stores)) as opened:
            report = lint_stores(opened.visible)
            report = with_rules(report, self._settings.silences, opened.places)
            return encode_json(report_to_json(report, opened.places))

    def resolve(self, handles: Sequence[str], stores: PageStores) -> bytes:
        """Return what `counterfoil kb resolve --json` prints."""
        with WiredKnowledge().stores(self._selection(stores)) as (visible, places):
            for store in visible.stores.values():
                store.refresh()
            view = StoredView(visible.stores, run=visible.run)
            rows = [resolve_handle(view, handle) for handle in handles]
            return encode_json({"resolutions": [resolution_to_json(row, places) for row in rows]})

    def _selection(self, stores: PageStores) -> StoreSelection:
        if stores.run is not None:
            runs = stores.root or self._runs
            return StoreSelection(runs=runs, run=stores.run, shared=self._shared)
        return StoreSelection(root=stores.root or str(Path.cwd()))
