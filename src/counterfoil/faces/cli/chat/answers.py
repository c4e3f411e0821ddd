"""What the commands that only look are answered with, as lines.

Entries and turns have the numbers that they have everywhere; an output has the id of the
event that holds it.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import cast

from counterfoil.core.context import SentEntry
from counterfoil.core.errors import InvalidIdError, NotFoundError
from counterfoil.core.events import CommandExited, Event, ToolFailed, ToolReturned, kind_of
from counterfoil.core.ids import EventId
from counterfoil.core.plain import one_line, plain
from counterfoil.core.turns import PERSON, ToolRow
from counterfoil.engine.agent import Agent
from counterfoil.engine.thread_parts import OpenThread
from counterfoil.faces.cli.chat.commands import COMMANDS, number_of
from counterfoil.faces.cli.chat.lines import counted, event_line
from counterfoil.faces.cli.output import Line
from counterfoil.faces.cli.text import receipt_lines
from counterfoil.wire.events import encode_event
from counterfoil.wire.json_values import is_object

WIDTH = 100
EVENTS = 20
"""Events that `/audit` lists: the last of the thread."""


def answer(agent: Agent, thread: OpenThread, name: str, text: str) -> Iterator[Line]:
    """Yield what the command `name` with `text` behind it is answered with.

    Raises:
        NotFoundError: It cannot be meant, or what it names is not there.
    """
    looking = _Looking(agent, thread)
    with_text: Mapping[str, Callable[[str], Iterator[Line]]] = {
        "/approvals": looking.approvals_or_revoked,
        "/audit": looking.audit_or_event,
        "/inspect": looking.inspected,
        "/receipt": lambda text: looking.receipt(_number_or_none("/receipt [T]", text)),
        "/show": looking.shown,
    }
    if name in with_text:
        return with_text[name](text)
    if text:
        raise NotFoundError(f"{name} takes nothing, not {text[:40]!r}", "", "see /help")
    alone = {
        "/help": help_lines,
        "/last": looking.last,
        "/status": looking.status,
        "/tools": looking.tools,
    }
    return alone[name]()


def help_lines() -> Iterator[Line]:
    """Yield the commands with their meanings."""
    width = max(len(usage) for usage, _ in COMMANDS)
    return ([(f"  {usage:<{width}}  ", ""), (meaning, "dim")] for usage, meaning in COMMANDS)


class _Looking:
    """Looks into one thread, and changes nothing but grants that are taken back."""

    def __init__(self, agent: Agent, thread: OpenThread) -> None:
        self._agent = agent
        self._thread = thread
        self._views = agent.views

    def tools(self) -> Iterator[Line]:
        described = dict(self._agent.tools())
        names = self._thread.opened.tools or ()
        if not names:
            yield [("this thread has no tools", "dim")]
        for name in names:
            yield [(f"  {plain(name)}  ", ""), (one_line(described.get(name, ""), WIDTH), "dim")]

    def status(self) -> Iterator[Line]:
        thread = self._thread
        return _pairs(
            {
                "thread": thread.id,
                "turn": thread.turn,
                "entries": self._views.count(thread.id),
                "model": thread.model,
                "parent": thread.opened.parent or "none",
                "sandbox": self._agent.sandbox,
                "store": self._agent.store,
                "version": self._agent.version,
            }
        )

    def approvals_or_revoked(self, text: str) -> Iterator[Line]:
        word, _, id_ = text.partition(" ")
        if not word:
            return self.approvals()
        if word != "revoke":
            raise NotFoundError(f"/approvals knows no {word[:40]!r}", "revoke ID, or nothing")
        return self.revoked(id_.strip())

    def approvals(self) -> Iterator[Line]:
        grants = self._agent.grants(self._thread.id)
        if not grants:
            yield [("nothing is granted: commands above the threshold are asked about", "dim")]
        for grant in grants:
            where = plain(grant.directory or "any directory")
            until = grant.expires_at or "the thread is closed"
            said = f"  {grant.level} · {grant.scope} · {where} · until {until}"
            yield [(f"  {plain(grant.id)}  {plain(grant.pattern)}", ""), (said, "dim")]

    def revoked(self, id_: str) -> Iterator[Line]:
        if not id_:
            raise NotFoundError("no grant is named", "", "write /approvals revoke ID")
        if not self._agent.revoke(id_):
            raise NotFoundError(f"no grant {id_[:40]!r}", "one that /approvals lists")
        yield [(f"grant {plain(id_)} is revoked", "")]

    def audit_or_event(self, text: str) -> Iterator[Line]:
        return self.event(text) if text else self.audit()

    def audit(self) -> Iterator[Line]:
        events = deque(self._views.events(self._thread.id), maxlen=EVENTS)
        for event in events:
            said = event_line(event)
            words = f"  {one_line(said[0].strip(), WIDTH - 50)}" if said is not None else ""
            turn = f"turn {event.turn}" if event.turn is not None else "no turn"
            yield [
                (f"  {event.id}  {event.occurred_at}  {turn:<8} {kind_of(event.payload)}", ""),
                (words, "dim"),
            ]

    def event(self, id_: str) -> Iterator[Line]:
        found = next((one for one in self._views.events(self._thread.id) if one.id == id_), None)
        if found is None:
            raise NotFoundError(
                f"no event {id_[:40]!r} in thread {str(self._thread.id)!r}", "one that /audit lists"
            )
        yield [(plain(encode_event(found).decode()), "")]

    def receipt(self, turn: int | None) -> Iterator[Line]:
        turn = self._views.last_turn(self._thread.id) if turn is None else turn
        receipt = self._views.receipt(self._thread.id, turn)
        yield [(f"turn {turn} of {self._thread.id}", "bold")]
        yield from receipt_lines(receipt, WIDTH)
        yield from (_tool_line(row) for row in receipt.tools)

    def shown(self, text: str) -> Iterator[Line]:
        number = number_of(text)
        if number is None:
            return _text_lines(self._views.output(self._thread.id, _event_id(text)))
        row = self._views.entry(self._thread.id, number)
        turn = f" · turn {row.entry.turn}" if row.entry.turn is not None else ""
        dropped = " · no longer read by the model" if row.dropped_by is not None else ""
        head = f"entry {row.entry.number} · {row.entry.kind}{turn}{dropped}"
        return chain([[(head, "bold")]], _text_lines(row.text))

    def last(self) -> Iterator[Line]:
        found: Event | None = None
        for event in self._views.events(self._thread.id):
            found = event if _has_output(event) else found
        if found is None:
            raise NotFoundError("no output in this thread yet")
        return self.shown(found.id)

    def inspected(self, text: str) -> Iterator[Line]:
        what, _, rest = text.partition(" ")
        if what == "context":
            return self._context(rest.strip() or "next")
        others = {
            "config": lambda: _pairs(self._agent.config()),
            "status": self.status,
            "approvals": self.approvals,
            "audit": self.audit,
        }
        if what not in others or rest:
            raise NotFoundError(
                f"/inspect knows no {text[:40]!r}",
                "context [next|T|turns], config, status, approvals or audit",
            )
        return others[what]()

    def _context(self, text: str) -> Iterator[Line]:
        if text == "turns":
            return self._turns()
        turn = None if text == "next" else _number_or_none("/inspect context [next|T|turns]", text)
        view = self._views.context(self._thread.id, turn)
        would = "would read next" if view.is_next else f"read in turn {view.turn}"
        count = f"{len(view.sent)} entries, about {view.tokens:,} tokens"
        head: Line = [(f"what the model {would}: {count}", "bold")]
        return chain([head], (line for sent in view.sent for line in _sent_lines(sent)))

    def _turns(self) -> Iterator[Line]:
        for row in self._views.turns(self._thread.id):
            tokens = f"{row.estimated_tokens:,} tokens" if row.estimated_tokens else "not asked"
            parts = [row.outcome, tokens]
            parts.extend([f"read from turn {row.dropped} on"] if row.dropped else [])
            parts.extend([f"{counted(row.elided, 'output')} elided"] if row.elided else [])
            yield [
                (f"  turn {row.turn}  “{one_line(row.prompt, 40)}”  ", ""),
                (" · ".join(parts), "dim"),
            ]


def _has_output(event: Event) -> bool:
    payload = event.payload
    if isinstance(payload, CommandExited):
        return payload.source == PERSON
    return isinstance(payload, ToolFailed) or bool(
        isinstance(payload, ToolReturned) and payload.output
    )


def _sent_lines(sent: SentEntry) -> Iterator[Line]:
    entry = sent.entry
    turn = f" · turn {entry.turn}" if entry.turn is not None else ""
    kind = f"{entry.kind}{turn}{' · a reference' if sent.is_reference else ''}"
    yield [(f"entry {entry.number} · {kind}", "bold")]
    for message in sent.messages:
        if message.text:
            yield from _text_lines(message.text)
        for call in message.calls:
            yield [(f"→ {plain(call.tool)} {plain(call.arguments)}", "")]


def _tool_line(row: ToolRow) -> Line:
    size = f"  {row.bytes:,} bytes" if row.bytes is not None else ""
    error = f"  {one_line(row.error, 60)}" if row.error else ""
    head = f"    {row.outcome:<12} {plain(row.name)} {one_line(row.arguments, WIDTH - 40)}"
    return [(head, ""), (f"{size}{error}", "dim")]


def _text_lines(text: str) -> Iterator[Line]:
    return ([(plain(line), "")] for line in text.removesuffix("\n").split("\n"))


def _pairs(values: Mapping[str, object]) -> Iterator[Line]:
    width = max(map(len, values), default=0)
    return (
        [(f"  {name:<{width}}  ", "dim"), (plain(_shown(value)), "")]
        for name, value in values.items()
    )


def _shown(value: object) -> str:
    """Return a value of a setting; one that says where it came from says both."""
    if is_object(value) and "origin" in value:
        return f"{_shown(value.get('value'))}  ({value['origin']})"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, cast("list[object]", value)))
    return str(value)


def _event_id(text: str) -> EventId:
    try:
        return EventId(text)
    except InvalidIdError as error:
        raise NotFoundError(
            f"nothing is called {text[:40]!r}",
            "the number of an entry, or the id of an output",
            "write /show N or /show ID",
        ) from error


def _number_or_none(usage: str, text: str) -> int | None:
    """Return the number that `text` is, `None` where it is empty."""
    number = number_of(text)
    if text and number is None:
        raise NotFoundError(f"{text[:40]!r} is no number of a turn", "", f"write {usage}")
    return number
