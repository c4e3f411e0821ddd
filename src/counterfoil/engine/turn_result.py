"""What is handed out after a turn: its receipt, and the checks of its reply.

Everything is folded out of the events of the turn, the same for every face; nothing of it
is recorded, because it can be derived again (receipts.md, references.md section 1.3).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from counterfoil.core.calls import Call, calls_of
from counterfoil.core.events import Event, PolicyDecided
from counterfoil.core.ids import ThreadId
from counterfoil.core.intervals import Intervals
from counterfoil.core.ran import ran_of
from counterfoil.core.receipt import Receipt, receipt_of
from counterfoil.core.refs.cited import CitedEntries, check_entries
from counterfoil.core.refs.entries import find_entry_references
from counterfoil.core.turns import PERSON, TurnFacts
from counterfoil.engine.converse import TurnEnd


class PagesCited(Protocol):
    """The page handles of a reply, weighed against what its thread sees."""

    @property
    def line(self) -> str | None:
        """The line under the reply; `None` when there is nothing to say."""
        ...

    @property
    def unknown(self) -> tuple[str, ...]:
        """The handles that do not resolve, as written, in the order cited."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A command that was not run, and why."""

    command: str
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """One turn as its caller gets it.

    `text` is the reply; without one it is empty and `error` says why. `cited` and `pages`
    are `None` where there is no reply to check.
    """

    thread: ThreadId
    turn: int
    outcome: Literal["ok", "error", "cancelled"]
    text: str
    error: str | None
    receipt: Receipt
    calls: tuple[Call, ...]
    refusals: tuple[Refusal, ...]
    ran: str | None
    cited: CitedEntries | None
    pages: PagesCited | None

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines under the reply, in the order of receipts.md section 3, but the last."""
        cited = self.cited.line if self.cited is not None else None
        pages = self.pages.line if self.pages is not None else None
        return tuple(line for line in (self.ran, cited, pages) if line is not None)


def turn_result(
    end: TurnEnd,
    events: Sequence[Event],
    *,
    thread: ThreadId,
    tools: Iterable[str],
    stored: Intervals,
    pages: Callable[[str], PagesCited | None],
) -> TurnResult:
    """Fold `events`, all of one turn, and check what its reply refers to.

    `stored` are the numbers of the thread's entries, those of the turn among them.
    """
    facts = TurnFacts(thread, end.record.turn)
    facts.add_all(events)
    reply = end.reply
    return TurnResult(
        thread=thread,
        turn=end.record.turn,
        outcome=end.outcome,
        text=reply or "",
        error=end.error,
        receipt=receipt_of(facts),
        calls=calls_of(events),
        refusals=tuple(_refusals(events)),
        ran=ran_of(facts, reply=reply, tools=tools),
        cited=None if reply is None else check_entries(find_entry_references(reply), stored),
        pages=None if reply is None else pages(reply),
    )


def _refusals(events: Iterable[Event]) -> Iterable[Refusal]:
    for event in events:
        payload = event.payload
        if (
            isinstance(payload, PolicyDecided)
            and payload.verdict != "allowed"
            and payload.source != PERSON
        ):
            yield Refusal(command=payload.command, reason=payload.reason)
