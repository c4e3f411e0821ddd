"""What a turn asks of the world, one effect at a time, and the two drivers.

A turn is a generator: it yields an effect and is sent what came of it. So one rule has
a synchronous driver, an asynchronous one, and a list in a test, and its order of events
is the same under each (design.md section 3, the three flows).
"""

from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from counterfoil.core.entries import Entry, EntryDraft
from counterfoil.core.events import Event, Payload
from counterfoil.core.gate.reading import Line
from counterfoil.core.messages import ModelAnswer, ModelRequest
from counterfoil.ports.tools import (
    ApprovalAnswer,
    ApprovalRequest,
    CommandEnd,
    CommandRequest,
    ToolAnswer,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Record a fact of the turn; sent back: the `Event`. One that fails ends the turn."""

    payload: Payload
    call: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreEntry:
    """Store an entry of the turn, with its event; sent back: the `Entry`."""

    draft: EntryDraft


@dataclass(frozen=True, slots=True, kw_only=True)
class AskModel:
    """Ask the model; sent back: its `ModelAnswer`. What the port raises is thrown in."""

    request: ModelRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTool:
    """Run a tool of the thread; sent back: its `ToolAnswer`. What it raises is thrown in."""

    tool: str
    arguments: Mapping[str, object]
    call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Execute:
    """Run a command that was allowed; sent back: its `CommandEnd`."""

    request: CommandRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class AskApproval:
    """Ask a person; sent back: the `ApprovalAnswer`."""

    request: ApprovalRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCommand:
    """Read a command as the shell would, which may take a while; sent back: the `Line`."""

    read: Callable[[], Line]


Effect: TypeAlias = Record | StoreEntry | AskModel | RunTool | ReadCommand | Execute | AskApproval

Sent: TypeAlias = Event | Entry | ModelAnswer | ToolAnswer | Line | CommandEnd | ApprovalAnswer
"""What an effect is answered with; which one belongs to which stands above."""

Turn: TypeAlias = Generator[Effect, Sent, T]
"""A turn, or a part of one: yields effects, returns a value."""


class TurnCancelledError(Exception):
    """Thrown into a turn that nobody waits for any more; it closes its record honestly.

    `sent` is what came of the effect all the same, where something did: a command that
    was ended, a tool that was done.
    """

    def __init__(self, sent: Sent | None = None) -> None:
        """Carry what came of the effect before it was given up."""
        super().__init__("the turn was cancelled")
        self.sent = sent


class NotRecordedError(Exception):
    """A fact could not be recorded, so that nothing more may be done; its cause says why."""


def drive(turn: Turn[T], perform: Callable[[Effect], Sent]) -> T:
    """Return what `turn` returns, each of its effects done by `perform`.

    What `perform` raises is raised inside the turn, at the effect.
    """
    try:
        effect = next(turn)
        while True:
            try:
                sent = perform(effect)
            except KeyboardInterrupt:
                effect = turn.throw(TurnCancelledError())
            except Exception as error:  # noqa: BLE001 - the turn decides, whatever it is
                effect = turn.throw(error)
            else:
                effect = turn.send(sent)
    except StopIteration as end:
        value: T = end.value
        return value


async def drive_async(
    turn: Turn[T],
    perform: Callable[[Effect], Awaitable[Sent]],
    close: Callable[[Effect], Sent],
) -> T:
    """Return what `turn` returns, each of its effects awaited.

    Once the task is cancelled the turn is told so at the next effect that is more than
    recording, and what it still has to record is done by `close` at once: a task that is
    cancelled waits for nothing. A fact that was being recorded is recorded.
    """
    is_cancelled = False
    try:
        effect = next(turn)
        while True:
            try:
                sent = close(effect) if is_cancelled else await perform(effect)
            except TurnCancelledError as cancelled:
                is_cancelled = True
                if isinstance(effect, Record | StoreEntry) and cancelled.sent is not None:
                    effect = turn.send(cancelled.sent)  # it is recorded: what belongs to it follows
                else:
                    effect = turn.throw(cancelled)
            except Exception as error:  # noqa: BLE001 - the turn decides, whatever it is
                effect = turn.throw(error)
            except CancelledError:
                is_cancelled = True
                effect = turn.throw(TurnCancelledError())
            else:
                effect = turn.send(sent)
    except StopIteration as end:
        value: T = end.value
        return value
