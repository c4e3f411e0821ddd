"""The agent as its faces have it: threads to run, views of the record, grants, models."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from counterfoil.core.events import Event
from counterfoil.core.ids import ThreadId
from counterfoil.engine.thread_views import ThreadViews
from counterfoil.engine.threads import Threads


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRow:
    """One grant as it is shown: what it lets run, where, and until when."""

    id: str
    pattern: str
    level: str
    scope: str
    directory: str | None
    expires_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Everything that a face needs, made once for a process.

    `config` is every setting with its value; `grants` are those that stand and, for a
    thread that is open, those of its session; `revoke` takes one back and says whether
    it was there; `models` asks the endpoint what it serves; `latest` are the last events
    of the whole ledger, oldest first; `tools` are the names and descriptions on offer;
    `confinement` tries how commands are confined here.
    """

    threads: Threads
    views: ThreadViews
    config: Callable[[], Mapping[str, object]]
    grants: Callable[[ThreadId | None], Sequence[GrantRow]]
    revoke: Callable[[str], bool]
    models: Callable[[], Awaitable[Sequence[str]]]
    latest: Callable[[int], Iterable[Event]]
    tools: Callable[[], Sequence[tuple[str, str]]]
    version: str
    store: str
    confinement: Callable[[], str]

    @property
    def sandbox(self) -> str:
        """How commands are confined here, `none` where they are not."""
        return self.confinement()
