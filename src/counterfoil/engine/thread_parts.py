"""What a thread is made of in a process: how it is opened, its kit, what it stands on.

Nothing here runs: `engine.thread_opening` makes threads, `engine.threads` runs their turns.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Protocol

from counterfoil.core.context import (
    BYTES_A_TOKEN,
    SentEntry,
    TurnRecord,
)
from counterfoil.core.errors import (
    CounterfoilError,
)
from counterfoil.core.events import (
    ThreadOpened,
)
from counterfoil.core.ids import ThreadId
from counterfoil.core.output_references import Recalling
from counterfoil.core.turns import ReceiptCollector
from counterfoil.engine.call_tool import OfferedTool, ReadArguments
from counterfoil.engine.converse import (
    EarlierTurn,
)
from counterfoil.engine.effects import (
    NotRecordedError,
    Turn,
)
from counterfoil.engine.performing import (
    RecordPorts,
)
from counterfoil.engine.turn_result import PagesCited
from counterfoil.ports.model import ChatModel
from counterfoil.ports.record import ThreadLeases
from counterfoil.ports.tools import Tool, ToolAnswer, ToolRunner

WINDOW = 32_768
"""The tokens of a model's window where nobody says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How a thread is to be opened; what is `None` is left to the thread or to settings.

    Instructions, tools, model and parent are for a thread that starts; a face whose
    person may go on with another model says so by `may_change_model`.
    """

    thread: ThreadId | None = None
    instructions: str | None = None
    tools: tuple[str, ...] | None = None
    model: str | None = None
    parent: ThreadId | None = None
    may_change_model: bool = False
    face: str = "library"
    cwd: str | None = None

    @property
    def starts(self) -> bool:
        """Whether it says what only a thread that starts can be told."""
        model = None if self.may_change_model else self.model
        return any(
            value is not None for value in (self.instructions, self.tools, model, self.parent)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """What a thread works with: its model, its tools, and what checks pages in replies.

    `offered` says how each tool answers; `tools` are those that `RunTool` runs; `typed`
    runs what a person typed, in the turn that the clock shows. `close` gives back what the
    thread alone holds, when it is closed.
    """

    model: ChatModel
    offered: Mapping[str, OfferedTool]
    tools: Mapping[str, Tool] = field(default_factory=dict[str, Tool])
    runner: ToolRunner | None = None
    pages: Callable[[str], PagesCited | None] = field(default=lambda _: None)
    typed: Callable[[str, int], Turn[ToolAnswer]] | None = None
    close: Callable[[], None] = field(default=lambda: None)


class Workshop(Protocol):
    """Makes the kit of a thread."""

    @property
    def instructions(self) -> str:
        """The instructions of a thread that is given none."""
        ...

    def kit(self, thread: ThreadId, opened: ThreadOpened, *, model: str | None) -> Kit:
        """Return the kit of `thread`; `opened.tools` names its tools, `None`: all there are.

        Raises:
            NotFoundError: A tool or a model of that name is not to be had.
            UnavailableError: The model cannot be used here.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Foundation:
    """What threads stand on: the record, who holds a thread, and how calls are read."""

    ports: RecordPorts
    leases: ThreadLeases
    workshop: Workshop
    read_arguments: ReadArguments
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    approval_seconds: float = 600.0


@dataclass(slots=True)
class OpenThread:
    """A thread that this process holds: what its next turn starts from."""

    id: ThreadId
    opened: ThreadOpened
    kit: Kit
    instructions: SentEntry
    turn: int
    last_entry: int
    earlier: list[EarlierTurn]
    last: TurnRecord | None
    created: bool
    tokens_a_byte: float = 1 / BYTES_A_TOKEN
    collector: ReceiptCollector = field(default_factory=ReceiptCollector)
    queue: asyncio.Lock = field(default_factory=asyncio.Lock)
    held: ExitStack = field(default_factory=ExitStack)

    @property
    def model(self) -> str:
        """The name of the model that answers next."""
        return self.kit.model.name

    @property
    def recalling(self) -> Recalling:
        """How old outputs may be seen again with the tools of the thread."""
        reading = (name for name, tool in self.kit.offered.items() if tool.spec.only_reads)
        return Recalling(has_memory="memory" in self.kit.offered, reading_tools=frozenset(reading))


def release(thread: OpenThread) -> None:
    """Give back what the thread holds: its kit, and the thread itself."""
    thread.held.close()


def cause_of(error: NotRecordedError) -> CounterfoilError:
    """Return why something could not be recorded, as who asked for it gets to know it."""
    cause = error.__cause__
    return cause if isinstance(cause, CounterfoilError) else CounterfoilError(str(cause))
