"""A receipt is a pure fold over one turn's events: it records nothing of its own."""

from collections.abc import Iterable
from dataclasses import dataclass

from counterfoil.core.events import Event, Usage
from counterfoil.core.turns import (
    ApprovalRow,
    CommandRow,
    DenialRow,
    ErrorRow,
    FileRow,
    PageRow,
    ToolRow,
    TurnFacts,
)

CAVEATS = (
    "open-turn",
    "call-without-result",
    "result-without-call",
    "events-dropped",
    "torn-line",
    "unknown-kind",
    "clock-stepped-back",
    "output-cut",
    "rewound",
    "compacted",
    "mixed-versions",
    "tail-not-proven",
    "ledger-gap",
)
"""The codes of caveats in the order in which a receipt lists them; others follow by text."""

_ORDER = {code: place for place, code in enumerate(CAVEATS)}


@dataclass(frozen=True, slots=True)
class Caveat:
    """A way in which the record of the turn is not whole, and how often."""

    code: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What one turn did: identities, statuses, counts and timings, never outputs.

    `omitted` counts, by the name of the list, the rows past the bound of each.
    """

    thread: str
    turn: int
    complete: bool
    milliseconds: int | None
    condensed: bool
    tools: tuple[ToolRow, ...]
    commands: tuple[CommandRow, ...]
    files: tuple[FileRow, ...]
    pages: tuple[PageRow, ...]
    denials: tuple[DenialRow, ...]
    approvals: tuple[ApprovalRow, ...]
    errors: tuple[ErrorRow, ...]
    caveats: tuple[Caveat, ...]
    omitted: tuple[tuple[str, int], ...]
    usage: Usage | None


def fold_receipt(events: Iterable[Event], thread: str, turn: int, *, dropped: int = 0) -> Receipt:
    """Return the receipt of `turn` of `thread`, from `events` in log order.

    Events of other turns and threads change nothing. `dropped` is how many events of
    the turn fell out of a bounded collector before those given.
    """
    facts = TurnFacts(thread, turn, dropped)
    facts.add_all(events)
    return receipt_of(facts)


def receipt_of(facts: TurnFacts) -> Receipt:
    """Return the receipt that `facts` make."""
    reply = facts.reply
    return Receipt(
        thread=facts.thread,
        turn=facts.turn,
        complete=facts.is_closed() and not facts.dropped,
        milliseconds=reply.milliseconds if reply else None,
        condensed=_condensed(facts),
        tools=tuple(facts.tools.shown),
        commands=tuple(facts.commands.shown),
        files=tuple(facts.files.shown),
        pages=tuple(facts.pages.shown),
        denials=tuple(facts.denials.shown),
        approvals=tuple(facts.approvals.shown),
        errors=tuple(facts.errors.shown),
        caveats=_caveats(facts),
        omitted=(
            ("tools", facts.tools.omitted),
            ("commands", facts.commands.omitted),
            ("files", facts.files.omitted),
            ("pages", facts.pages.omitted),
            ("denials", facts.denials.omitted),
            ("approvals", facts.approvals.omitted),
            ("errors", facts.errors.omitted),
        ),
        usage=_usage(reply.usage if reply else None),
    )


def _condensed(facts: TurnFacts) -> bool:
    said = facts.reply.condensed if facts.reply else None
    return facts.is_condensed if said is None else said


def _usage(usage: Usage | None) -> Usage | None:
    """Report nothing where nothing was reported."""
    return None if usage == Usage() else usage


def _caveats(facts: TurnFacts) -> tuple[Caveat, ...]:
    counts = dict(facts.caveats)
    counts["open-turn"] = int(not facts.is_closed())
    counts["call-without-result"] = facts.calls_without_result()
    counts["result-without-call"] = facts.results_without_call()
    counts["events-dropped"] = facts.dropped
    present = [code for code, count in counts.items() if count]
    present.sort(key=lambda code: (_ORDER.get(code, len(_ORDER)), code))
    return tuple(Caveat(code, counts[code]) for code in present)
