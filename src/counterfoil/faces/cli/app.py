"""What the command line needs of the program: wired elsewhere, made when asked."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from counterfoil.core.settings import Settings
from counterfoil.ports.transcripts import Transcript, TranscriptFile
from counterfoil.ports.world import Repository, Spool

if TYPE_CHECKING:  # what only commands about pages, and those of the agent, pay for
    from counterfoil.engine.agent import Agent
    from counterfoil.faces.cli.knowledge import Knowledge


class McpAddress(NamedTuple):
    """Where MCP is served over HTTP; without a token one is kept in the home."""

    host: str
    port: int
    token: str | None


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

    def agent(
        self, settings: Settings, *, place: str | None = None
    ) -> "AbstractContextManager[Agent]":
        """Have the agent, its record in the folder `place` or in the home."""
        ...

    def serve_mcp(self, settings: Settings, address: McpAddress | None) -> int:
        """Serve MCP over standard input and output, or at an address; return an exit code."""
        ...

    def run_tui(self, thread: Mapping[str, str | None], *, theme: str, plain: bool) -> int:
        """Talk on the screen until the person leaves; return an exit code.

        `thread` names the thread to `resume` or `fork`, the `model` and its `base_url`.
        """
        ...

    def browse(self, session: str, *, theme: str, plain: bool) -> int:
        """Show a checked session on the screen until the person leaves; return an exit code."""
        ...

    @property
    def demo_model(self) -> str:
        """The model of the demonstration: a script that comes with the program."""
        ...

    def ask_over_mcp(
        self, prompts: Sequence[str], *, model: str, place: str
    ) -> Iterator[Mapping[str, object]]:
        """Yield what `respond` of a server of our own returns for each prompt, in one thread."""
        ...

    @property
    def knowledge(self) -> "Knowledge":
        """What commands about pages need."""
        ...
