"""What the commands that only look are answered with: a title and rows of text."""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from counterfoil.core.errors import CounterfoilError
from counterfoil.core.events import kind_of
from counterfoil.core.ids import ThreadId
from counterfoil.core.plain import plain
from counterfoil.engine.agent import Agent
from counterfoil.faces.tui.commands import HELP, number_of
from counterfoil.faces.tui.screens import turn_rows
from counterfoil.faces.tui.texts import Row, count, rows_of

EVENTS = 100
"""Events that `/inspect audit` lists: the last of the thread."""


class Answer(NamedTuple):
    """A text to be read on a screen of its own."""

    title: str
    rows: Sequence[Row]


async def entry_answer(agent: Agent, thread: ThreadId, text: str) -> Answer:
    """Return the entry whose number is `text`, whole.

    Raises:
        NotFoundError: The thread has no such entry.
    """
    number = required_number("/show", "an entry", text)
    row = await asyncio.to_thread(agent.views.entry, thread, number)
    entry = row.entry
    turn = f", turn {entry.turn}" if entry.turn else ""
    dropped = ", no longer read by the model" if row.dropped_by else ""
    return Answer(f"entry {entry.number}: {entry.kind}{turn}{dropped}", rows_of(row.text))


async def inspect_answer(agent: Agent, thread: ThreadId, what: str) -> Answer:
    """Return what `/inspect` shows of `what`, but for the context of one turn.

    Raises:
        CounterfoilError: There is nothing of that name.
    """
    if what == "context turns":
        turns = await asyncio.to_thread(agent.views.turns, thread)
        return Answer("Context by turn", list(turn_rows(turns)))
    if what == "config":
        rows = [Row(f"{name} = {plain(str(value))}") for name, value in agent.config().items()]
        return Answer("Configuration", rows)
    if what == "approvals":
        return Answer("Approvals", _grant_rows(agent, thread))
    if what == "audit":
        return await _audit(agent, thread)
    raise CounterfoilError(
        f"/inspect knows no {what!r}", "context, config, approvals or audit", "see /help"
    )


def _grant_rows(agent: Agent, thread: ThreadId) -> list[Row]:
    rows = [
        Row(
            f"{grant.id}  {plain(grant.pattern)}  {grant.level}  {grant.scope}"
            f"  {plain(grant.directory or 'any directory')}"
            f"  until {grant.expires_at or 'the thread is closed'}"
        )
        for grant in agent.grants(thread)
    ]
    return rows or [Row("Nothing is approved beforehand.", "muted")]


async def _audit(agent: Agent, thread: ThreadId) -> Answer:
    events = await asyncio.to_thread(lambda: deque(agent.views.events(thread), maxlen=EVENTS))
    rows = [
        Row(f"{e.seq}  {e.occurred_at}  turn {e.turn or '-'}  {kind_of(e.payload)}") for e in events
    ]
    return Answer(f"The last {count(len(rows), 'event')} of {thread}", rows)


async def models_answer(agent: Agent, now: str) -> Answer:
    """Return the models that can be had; `now` is the one that answers."""
    names = await agent.models()
    return Answer("Models", [Row(f"{'>' if n == now else ' '} {plain(n)}") for n in names])


def required_number(command: str, of: str, text: str) -> int:
    """Return the number that `text` is.

    Raises:
        CounterfoilError: It is none.
    """
    number = number_of(text)
    if number is None:
        usage = next((row[0] for row in HELP if row[0].startswith(command)), command)
        raise CounterfoilError(f"{command} wants the number of {of}", "", f"write {usage}")
    return number
