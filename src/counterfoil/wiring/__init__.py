"""The composition root: the one module that knows every part.

Adapters are imported when they are asked for, so that a command pays for what it uses.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterfoil.core.settings import Layer, Settings, settle
from counterfoil.core.version import VERSION
from counterfoil.ports.transcripts import Transcript, TranscriptFile
from counterfoil.ports.world import Repository, Spool

if TYPE_CHECKING:  # what only commands about pages, and those of the agent, pay for
    from counterfoil.engine.agent import Agent
    from counterfoil.faces.cli.app import McpAddress
    from counterfoil.faces.cli.knowledge import Knowledge


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

    def agent(
        self, settings: Settings, *, place: str | None = None
    ) -> "AbstractContextManager[Agent]":
        """Have the agent, its record in the folder `place` or in the home."""
        from counterfoil.wiring.agent import opened_agent

        return opened_agent(settings, place=None if place is None else Path(place))

    def serve_mcp(self, settings: Settings, address: "McpAddress | None") -> int:
        """Serve MCP over standard input and output, or at an address; return an exit code."""
        from counterfoil.wiring.serving import serve

        return serve(settings, address)

    def run_tui(self, thread: Mapping[str, str | None], *, theme: str, plain: bool) -> int:
        """Talk on the screen until the person leaves; return an exit code."""
        from counterfoil.wiring.serving import show_conversation

        flags = {name: thread[name] for name in ("model", "base_url") if thread.get(name)}
        return show_conversation(self.settings(flags), thread, theme=theme, plain=plain)

    def browse(self, session: str, *, theme: str, plain: bool) -> int:
        """Show a checked session on the screen until the person leaves; return an exit code."""
        from counterfoil.wiring.serving import show_check

        settings = self.settings({})
        with self.spool() as spool:
            return show_check(settings, self.transcript(session), spool, theme=theme, plain=plain)

    @property
    def demo_model(self) -> str:
        """The model of the demonstration: a script that comes with the program."""
        return f"scripted:{Path(__file__).with_name('case.jsonl')}"

    def ask_over_mcp(
        self, prompts: Sequence[str], *, model: str, place: str
    ) -> Iterator[Mapping[str, object]]:
        """Yield what `respond` of a server of our own returns for each prompt, in one thread."""
        from counterfoil.wiring.serving import ask_over_mcp

        return ask_over_mcp(prompts, model=model, place=place)

    @property
    def knowledge(self) -> "Knowledge":
        """What commands about pages need."""
        from counterfoil.wiring.knowledge import WiredKnowledge

        return WiredKnowledge()
