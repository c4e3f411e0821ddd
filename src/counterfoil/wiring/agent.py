"""The part of the composition root that makes an agent over its record.

What only a thread needs (tools, gate, models, pages) is made with the first thread, so
that a server answers its first request soon.
"""

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil.adapters.sqlite import SqliteRecord
from counterfoil.adapters.system.clock import SystemClock
from counterfoil.adapters.system.settings import home
from counterfoil.core.errors import UnavailableError
from counterfoil.core.events import ThreadOpened
from counterfoil.core.ids import ThreadId
from counterfoil.core.output_references import Recalling
from counterfoil.core.settings import Settings
from counterfoil.core.version import VERSION
from counterfoil.engine.agent import Agent, GrantRow
from counterfoil.engine.performing import RecordPorts
from counterfoil.engine.thread_parts import Foundation, Kit
from counterfoil.engine.thread_views import ThreadViews
from counterfoil.engine.threads import Threads

if TYPE_CHECKING:  # what only a thread pays for
    from counterfoil.wiring.workbench import Workbench

STORE = "ledger.db"
"""The name of the store in the home."""

INSTRUCTIONS = """\
You are an assistant with tools, and everything that you do with them is recorded.
Use a tool when you need to know or to do something; report only what its output says.
Name earlier parts of this conversation by their entry number only when you have seen it.
When something was refused or failed, say so plainly."""
"""The instructions of a thread that is given none."""

READING_TOOLS = frozenset(
    {
        "inspect",
        "knowledge_read",
        "knowledge_resolve",
        "knowledge_search",
        "list_files",
        "memory",
        "read_file",
        "search_files",
        "system_info",
    }
)
"""The tools that only read: a thread without `memory` is told that they may be called again."""


@contextmanager
def opened_agent(settings: Settings, *, place: Path | None = None) -> Generator[Agent]:
    """Have the agent of this machine, its record in `place` or in the home of the program.

    Raises:
        UnavailableError: The home or the store cannot be made.
        UnreadableError: The store is no store of this version.
    """
    where = place or home(os.environ)
    _make_home(where)
    said = None if place is not None else os.environ.get("COUNTERFOIL_STORE")
    store = Path(said) if said else where / STORE
    with SqliteRecord(store) as record:
        workshop = _Workshop(settings, where, record, store)
        try:
            yield _agent(workshop, record, settings, store)
        finally:
            workshop.close()


class _Workshop:
    """The `Workshop` of this machine, whose bench is set up with the first thread."""

    def __init__(self, settings: Settings, place: Path, record: SqliteRecord, store: Path) -> None:
        self._given = (settings, place, record, store)

    @property
    def instructions(self) -> str:
        """The instructions of a thread that is given none."""
        return INSTRUCTIONS

    @cached_property
    def bench(self) -> "Workbench":
        """What makes kits."""
        from counterfoil.wiring.workbench import Workbench

        return Workbench(*self._given)

    def kit(self, thread: ThreadId, opened: ThreadOpened, *, model: str | None) -> Kit:
        """Return the kit of `thread`."""
        return self.bench.kit(thread, opened, model=model)

    def config(self) -> Mapping[str, object]:
        """Return every setting with its value and where it came from."""
        return self.bench.config()

    def grants(self, thread: ThreadId | None) -> Sequence[GrantRow]:
        """Return what stands, and what holds in an open thread."""
        return self.bench.grants(thread)

    def revoke(self, id_: str) -> bool:
        """Take a grant back; say whether it was there."""
        return self.bench.revoke(id_)

    def tools(self) -> Sequence[tuple[str, str]]:
        """Return the names and descriptions of the tools on offer."""
        return self.bench.tools()

    async def models(self) -> Sequence[str]:
        """Return what the endpoint serves."""
        return await self.bench.models()

    def confinement(self) -> str:
        """Return how commands are confined here."""
        return self.bench.runner.sandbox

    def close(self) -> None:
        """End what was started for threads."""
        if "bench" in self.__dict__:
            self.bench.close()


def _make_home(place: Path) -> None:
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UnavailableError(
            f"the home {place} cannot be made: {error.strerror}",
            "a folder that can be written",
            "set COUNTERFOIL_HOME to one",
        ) from error


def _agent(workshop: _Workshop, record: SqliteRecord, settings: Settings, store: Path) -> Agent:
    foundation = Foundation(
        ports=RecordPorts(log=record.log, entries=record.entries, clock=SystemClock()),
        leases=record.leases,
        workshop=workshop,
        read_arguments=_read_arguments,
        versions={"counterfoil": VERSION},
        approval_seconds=settings.number("approval_timeout"),
    )

    return Agent(
        threads=Threads(foundation),
        views=ThreadViews(record.log, record.entries, _recalling),
        config=workshop.config,
        grants=workshop.grants,
        revoke=workshop.revoke,
        models=workshop.models,
        latest=lambda count: record.log.events(after=max(record.log.last_place() - count, 0)),
        tools=workshop.tools,
        version=VERSION,
        store=str(store),
        confinement=workshop.confinement,
    )


def _read_arguments(text: str, schema: Mapping[str, object]) -> Mapping[str, object] | str:
    from counterfoil.wire.arguments import ArgumentFault, read_arguments

    found = read_arguments(text, schema)
    return found.message if isinstance(found, ArgumentFault) else found


def _recalling(opened: ThreadOpened) -> Recalling:
    return Recalling(has_memory="memory" in (opened.tools or ()), reading_tools=READING_TOOLS)


def readable_roots(settings: Settings) -> tuple[Path, ...]:
    """Return the folders that tools and callers may read: else the current one."""
    return folders(settings.texts("roots"), Path.cwd())


def folders(said: Sequence[str], *otherwise: Path) -> tuple[Path, ...]:
    """Return the folders that were said, or `otherwise`."""
    return tuple(Path(name).expanduser() for name in said) or otherwise
