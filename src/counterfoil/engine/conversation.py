"""One thread while its transcript is read: the running turn, and what came before it.

A `Conversation` folds events into the facts of its running turn and keeps what the
replies of that turn refer to. A `Group` is a thread with its sub-agents: what one of
them was shown is evidence for all.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple, cast

from counterfoil.core.events import (
    CommandExited,
    EntryStored,
    Payload,
    PromptReceived,
    RecordDamaged,
    ThreadOpened,
    ToolReturned,
)
from counterfoil.core.ids import ThreadId
from counterfoil.core.intervals import Intervals
from counterfoil.core.ran import ran_of
from counterfoil.core.reasons import reason_text
from counterfoil.core.receipt import receipt_of
from counterfoil.core.refs.cited import CitedEntries, check_entries
from counterfoil.core.refs.entries import EntryReference, find_entry_references
from counterfoil.core.refs.literals import Commit, Literal, Place, Quotation, Source, find_literals
from counterfoil.core.refs.needles import Needle, needles_of
from counterfoil.core.refs.resolve import Evidence, Resolution, Verdict, place_evidence
from counterfoil.core.report import Reference, ReferenceKind, Spot, TurnReport
from counterfoil.core.shown import FilesShown, may_write, normal_path
from counterfoil.core.turns import PERSON, TurnFacts
from counterfoil.ports.transcripts import Origin, Position, Recorded, Said

FIRST_WORDS = 200
"""Characters of a prompt that a report keeps."""

_SHOWN_TEXT = 300
_HEAD = 4000
_COMMITTED = re.compile(r"\[[^\]\s]+(?: \([^)\n]*\))? ([0-9a-f]{7,40})\]")


class Where(NamedTuple):
    """A place in the record, as a report names it."""

    line: int
    call: str | None
    source: str


@dataclass(slots=True)
class Group:
    """What a thread and its sub-agents were shown by now."""

    root: ThreadId
    files: FilesShown = field(default_factory=FilesShown)
    fetched: dict[str, Where] = field(default_factory=dict)
    commits: list[str] = field(default_factory=list)
    first_cut: Position | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A reference whose verdict is not there yet, with the evidence found so far."""

    literal: Literal
    text: str
    spot: Spot
    position: Position
    occurred_at: str
    evidence: tuple[Evidence, ...]
    root: ThreadId

    @property
    def kind(self) -> ReferenceKind:
        """The name of the reference's kind."""
        return _KINDS[type(self.literal)]

    def needles(self) -> tuple[Needle, ...]:
        """Return what to look for in the words of the record: what can change the verdict."""
        if Resolution(self.evidence, "").verdict == "supported":
            return ()
        return needles_of(self.literal, is_known=bool(self.evidence))


@dataclass(frozen=True, slots=True)
class PendingTurn:
    """A turn that ended: its report so far, and the references that are still open."""

    report: TurnReport
    pending: tuple[Pending, ...]


_KINDS: dict[type[Literal], ReferenceKind] = {
    Place: "place",
    Commit: "commit",
    Quotation: "quotation",
    Source: "source",
}


@dataclass(slots=True)
class _Turn:
    """The running turn of a thread."""

    facts: TurnFacts
    origin: Origin
    line: int
    prompt: str | None = None
    prompt_event: str | None = None
    replies: list[tuple[Spot, str]] = field(default_factory=list)
    entries: list[tuple[EntryReference, str, Spot, str]] = field(default_factory=list)
    pending: list[tuple[Pending, str]] = field(default_factory=list)
    text: str | None = None
    lines: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)


class Conversation:
    """One thread: its running turn, its stored entries, its group."""

    def __init__(self, thread: ThreadId, group: Group, *, numbers_entries: bool) -> None:
        self.thread = thread
        self.group = group
        self.parent: str | None = None
        self.entry_of_line: dict[int, int] = {}
        self._numbers_entries = numbers_entries
        self._stored = Intervals()
        self._tools: tuple[str, ...] = ()
        self._turn: _Turn | None = None
        self._git: set[str] = set()
        self._latest = ""

    @property
    def turn(self) -> int:
        """The number of the running turn; 0 before the first."""
        return self._turn.facts.turn if self._turn else 0

    def begin(self, turn: int, line: int, origin: Origin) -> None:
        """Begin `turn`; the one before has to have been ended."""
        self._turn = _Turn(TurnFacts(self.thread, turn), origin, line)

    def add(self, item: Recorded) -> None:
        """Fold an event of the running turn, or of none."""
        event = item.event
        self._latest = event.occurred_at
        turn = self._turn
        if turn is not None and event.turn == turn.facts.turn:
            turn.facts.add(event)
            if self._numbers_entries:
                turn.lines[event.id] = item.line
        reader = _READERS.get(type(event.payload))
        if reader is not None:
            reader(self, event.payload, item)

    def say(self, said: Said) -> None:
        """Read what a text of the running turn refers to."""
        turn = self._turn
        if turn is None:
            return
        source = said.origin.source or None
        spot = Spot(line=said.line, block=said.block, source=source)
        turn.replies.append((spot, said.event))
        turn.text = said.text
        if self._numbers_entries:
            for reference in find_entry_references(said.text):
                text = said.text[slice(*reference.span)]
                turn.entries.append((reference, text, _at(spot, reference.span), said.event))
        for literal in find_literals(said.text):
            text = said.text[slice(*literal.span)][:_SHOWN_TEXT]
            pending = Pending(
                literal=literal,
                text=text,
                spot=_at(spot, literal.span),
                position=said.origin.at(said.line),
                occurred_at=self._latest,
                evidence=tuple(self._evidence(literal)),
                root=self.group.root,
            )
            turn.pending.append((pending, said.event))

    def _evidence(self, literal: Literal) -> Iterator[Evidence]:
        """Weigh what needs no search: files that were shown, pages that were fetched."""
        if isinstance(literal, Place):
            candidates = self.group.files.candidates(literal.path, literal.first, literal.last)
            yield from place_evidence(candidates, literal.first)
        elif isinstance(literal, Commit):
            for name in self.group.commits:
                if name.startswith(literal.name) or literal.name.startswith(name):
                    return
            yield from (
                Evidence(
                    stance="beside",
                    reason="not-in-record",
                    what=f"the record's own commit is {name}",
                )
                for name in self.group.commits[-1:]
            )
        elif not isinstance(literal, Quotation):
            where = self.group.fetched.get(literal.url.rstrip("/"))
            if where is not None:
                yield Evidence(
                    stance="for", reason="fetched", what=reason_text("fetched"), place=where
                )

    def end(self) -> PendingTurn | None:
        """Close the running turn and return it; `None` when there is none."""
        turn, self._turn = self._turn, None
        if turn is None:
            return None
        cited = self._cited(turn)
        self.entry_of_line.update(
            (turn.lines[event], number)
            for event, number in turn.numbers.items()
            if event in turn.lines
        )
        report = TurnReport(
            thread=self.thread,
            parent=self.parent,
            turn=turn.facts.turn,
            line=self._line(turn.line, turn.prompt_event, turn),
            source=turn.origin.source or None,
            prompt=turn.prompt,
            ran=ran_of(turn.facts, reply=turn.text, tools=self._tools),
            cited=cited,
            receipt=receipt_of(turn.facts),
            replies=tuple(self._spot(spot, event, turn) for spot, event in turn.replies),
            references=tuple(self._entry_references(turn, cited)),
        )
        pending = tuple(
            replace(found, spot=self._spot(found.spot, event, turn))
            for found, event in turn.pending
        )
        return PendingTurn(report, pending)

    def _cited(self, turn: _Turn) -> CitedEntries | None:
        """Entries are checked only where the agent was shown their numbers."""
        if not self._numbers_entries or not turn.replies:
            return None
        return check_entries((reference for reference, *_ in turn.entries), self._stored)

    def _entry_references(self, turn: _Turn, cited: CitedEntries | None) -> Iterator[Reference]:
        if cited is None:
            return
        checked, missing = (
            Intervals((n, n) for n in cited.cited),
            Intervals((n, n) for n in cited.missing),
        )
        for reference, text, spot, event in turn.entries:
            verdict, reason = _entry_verdict(reference, checked, missing)
            yield Reference(
                kind="entry",
                text=text[:_SHOWN_TEXT],
                place=self._spot(spot, event, turn),
                verdict=verdict,
                reason=reason,
            )

    def _spot(self, spot: Spot, event: str, turn: _Turn) -> Spot:
        return replace(spot, line=self._line(spot.line or 0, event, turn))

    def _line(self, line: int, event: str | None, turn: _Turn) -> int | None:
        """In a thread of our own a place is the number of its entry, where there is one."""
        return turn.numbers.get(event or "") if self._numbers_entries else line

    # --- what single events say -------------------------------------------------

    def _opened(self, payload: ThreadOpened, _: Recorded) -> None:
        self._tools = payload.tools or ()
        self.parent = payload.parent
        if payload.cwd and not self.group.files.base:
            self.group.files.base = normal_path(payload.cwd).rstrip("/")

    def _asked(self, payload: PromptReceived, item: Recorded) -> None:
        turn = self._turn
        if turn is not None and turn.prompt is None:
            turn.prompt = payload.text.strip()[:FIRST_WORDS]
            turn.prompt_event = item.event.id
            turn.line = item.line

    def _entry(self, payload: EntryStored, _: Recorded) -> None:
        self._stored.add(payload.entry, payload.entry)
        if self._turn is not None:
            self._turn.numbers.update(dict.fromkeys(payload.events, payload.entry))

    def _exited(self, payload: CommandExited, item: Recorded) -> None:
        if may_write(payload.command):
            self.group.files.may_change()
        call = item.event.call
        if call is not None and payload.source != PERSON and "git" in payload.command:
            self._git.add(call)

    def _returned(self, payload: ToolReturned, item: Recorded) -> None:
        if item.event.call in self._git:
            self._git.discard(item.event.call or "")
            self.group.commits.extend(_COMMITTED.findall((payload.output or "")[:_HEAD]))

    def _noted(self, payload: RecordDamaged, item: Recorded) -> None:
        if payload.what == "output-cut" and self.group.first_cut is None:
            self.group.first_cut = item.origin.at(item.line)


_Reader = Callable[[Conversation, Payload, Recorded], None]

# Each reader takes the one payload that its key names; a table cannot say so.
_READERS = cast(
    "dict[type[Payload], _Reader]",
    {
        ThreadOpened: Conversation._opened,
        PromptReceived: Conversation._asked,
        EntryStored: Conversation._entry,
        CommandExited: Conversation._exited,
        ToolReturned: Conversation._returned,
        RecordDamaged: Conversation._noted,
    },
)


def _meets(numbers: Intervals, low: int, high: int) -> bool:
    """Say whether any number from `low` to `high` is in `numbers`."""
    gaps = sum(last - first + 1 for first, last in numbers.gaps(low, high))
    return gaps < high - low + 1


def _entry_verdict(
    reference: EntryReference, checked: Intervals, missing: Intervals
) -> tuple[Verdict, str]:
    if any(_meets(missing, low, high) for low, high in reference.items):
        return "contradicted", "no-such-entry"
    if any(next(checked.gaps(low, high), None) for low, high in reference.items):
        return "not_established", "not-checked"
    return "supported", "entry-exists"


def _at(spot: Spot, span: tuple[int, int]) -> Spot:
    return replace(spot, start=span[0], end=span[1])
