"""A turn that a client waits for, in one call or, where it is asked between, in several."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from counterfoil.core.errors import CounterfoilError
from counterfoil.core.events import Event
from counterfoil.core.messages import Delta
from counterfoil.engine.turn_result import TurnResult
from counterfoil.faces.mcp.approvals import Question
from counterfoil.faces.mcp.lines import line_of
from counterfoil.faces.mcp.opened import Started

News = asyncio.Queue[str | Question | None]
"""What happens in a turn: lines, questions, and `None` once it has ended."""


class Hearing:
    """Turns what is recorded into lines; it is called from any thread."""

    def __init__(self, news: News) -> None:
        self._news = news
        self._loop = asyncio.get_running_loop()

    def __call__(self, happened: Event | Delta) -> None:
        """Hear an event; a piece of text is no line."""
        line = line_of(happened) if isinstance(happened, Event) else None
        if line is not None:
            self._loop.call_soon_threadsafe(self._news.put_nowait, line)


@dataclass(slots=True, eq=False)
class AskedTurn:
    """A turn that was begun, its news, and how far they were told."""

    started: Started
    news: News
    with_schema: bool
    told: int = 0
    question: Question | None = None
    outcome: "TurnResult | CounterfoilError | None" = None
    watching: "asyncio.Task[None] | None" = field(default=None)

    def watch(self, ended: Callable[["AskedTurn"], None]) -> None:
        """Wait for the end of the turn, whoever else waits; then tell it, and `ended`."""

        async def wait() -> None:
            try:
                self.outcome = await self.started.running.result()
            except CounterfoilError as error:
                self.outcome = error
            except asyncio.CancelledError:  # it was cancelled before it began
                self.outcome = None
            finally:
                ended(self)
                self.news.put_nowait(None)

        self.watching = asyncio.ensure_future(wait())

    def cancel(self) -> None:
        """End the turn, and its question with it."""
        self.started.running.cancel()
