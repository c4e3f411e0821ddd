"""Check one transcript: fold its turns, weigh the references of its replies.

Two passes and no memory of the text between them. The first reads items in order,
folds each turn, and weighs places against what tools showed before. What is open then
(quotations, commits, sources, places that only text can show) is looked for in the
words of the record, all at once. Turns wait in a spool until every verdict is there.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from counterfoil.core.events import RecordDamaged, ThreadOpened, ToolCalled, Unrecognized
from counterfoil.core.ids import ThreadId
from counterfoil.core.report import (
    CAVEAT_TEXT,
    CaveatRow,
    Reference,
    SourceReport,
    Summary,
    TurnReport,
)
from counterfoil.engine.conversation import Conversation, Group, Pending, PendingTurn, Where
from counterfoil.engine.weigh import Found, Searched, weigh
from counterfoil.ports.transcripts import (
    Fetched,
    Item,
    Measured,
    Recorded,
    Said,
    Shown,
    Transcript,
)
from counterfoil.ports.world import Repository, Spool

SHOWN_LINES = 10
"""Lines that a caveat names; how often it was met is exact."""


@dataclass(frozen=True, slots=True)
class Silence:
    """A rule that says nothing about files of a path, and why (configuration)."""

    rule: str
    path: str
    reason: str

    def covers(self, reference: Reference, transcript: str) -> bool:
        """Say whether the rule and the path are those of `reference`."""
        is_rule = self.rule in {
            reference.kind,
            reference.reason,
            f"{reference.kind}.{reference.reason}",
        }
        return is_rule and fnmatchcase(reference.path or transcript, self.path)


class TranscriptCheck:
    """The check of one transcript; read once, then its parts in any order.

    `turns()` yields the reports in the order in which the turns ended.
    """

    def __init__(
        self,
        transcript: Transcript,
        spool: Spool[PendingTurn],
        *,
        repository: Repository | None = None,
        silences: Sequence[Silence] = (),
    ) -> None:
        self._transcript = transcript
        self._spool = spool
        self._repository = repository
        self._silences = silences
        self._reading = _Reading(transcript, spool)
        self._searched = Searched()

    def read(self) -> None:
        """Read the transcript, and search it for what is open after that.

        Raises:
            UnreadableError: The transcript cannot be read at all.
        """
        self._reading.read()
        self._searched = Searched.for_turns(self._transcript, self._spool, self._reading.found)

    def turns(self) -> Iterator[TurnReport]:
        """Yield the report of each turn."""
        for turn in self._spool:
            rest = tuple(self._reference(pending) for pending in turn.pending)
            references = sorted(
                (self._silenced(found) for found in (*turn.report.references, *rest)),
                key=lambda found: (found.place.line or 0, found.place.block, found.place.start),
            )
            yield replace(turn.report, references=tuple(references))

    def _reference(self, pending: Pending) -> Reference:
        return weigh(pending, self._searched, self._reading.found, self._repository)

    def _silenced(self, reference: Reference) -> Reference:
        if reference.verdict == "supported":
            return reference
        covering = (s.reason for s in self._silences if s.covers(reference, self._transcript.path))
        return replace(reference, silenced=next(covering, None))

    def caveats(self) -> tuple[CaveatRow, ...]:
        """Return the ways in which the record is not whole, in the order of their lines."""
        return tuple(row.shown() for row in self._reading.caveats.values())

    def source(self) -> SourceReport:
        """Return what was read."""
        measured = self._reading.measured
        return SourceReport(
            path=self._transcript.path,
            format=self._transcript.format,
            size=measured.size,
            lines=measured.lines,
            records=measured.records,
            repeated=measured.repeated,
            threads=len(self._reading.conversations),
            skipped=dict(measured.skipped),
            unknown=dict(measured.unknown),
        )

    def summary(self) -> Summary:
        """Return the counts; goes through the turns once more."""
        counts: Counter[str] = Counter()
        turns = replies = 0
        for turn in self.turns():
            turns += 1
            replies += len(turn.replies)
            counts.update(
                "silenced" if found.silenced is not None else found.verdict
                for found in turn.references
            )
        return Summary(
            turns=turns,
            replies=replies,
            calls=self._reading.calls,
            supported=counts["supported"],
            contradicted=counts["contradicted"],
            not_established=counts["not_established"],
            silenced=counts["silenced"],
        )


@dataclass(slots=True)
class _Caveat:
    code: str
    source: str | None
    count: int = 0
    lines: list[int] = field(default_factory=list)
    detail: str = ""

    def shown(self) -> CaveatRow:
        what = CAVEAT_TEXT.get(self.code, self.code.replace("-", " "))
        return CaveatRow(
            code=self.code,
            count=self.count,
            line=self.lines[0] if self.lines else None,
            lines=tuple(self.lines),
            what=f"{what} ({self.detail})" if self.detail else what,
            source=self.source,
        )


class _Reading:
    """The first pass."""

    def __init__(self, transcript: Transcript, spool: Spool[PendingTurn]) -> None:
        self._transcript = transcript
        self._spool = spool
        self.conversations: dict[ThreadId, Conversation] = {}
        self.groups: dict[ThreadId, Group] = {}
        self.caveats: dict[tuple[str, str], _Caveat] = {}
        self.calls = 0
        self.measured = Measured(0, 0, 0, {}, {}, 0)

    @property
    def found(self) -> Found:
        """What a search has to know of the threads."""
        return Found(
            groups=self.groups,
            entries={thread: c.entry_of_line for thread, c in self.conversations.items()},
            numbers_entries=self._transcript.numbers_entries,
        )

    def read(self) -> None:
        for item in self._transcript.items():
            self._take(item)
        for conversation in self.conversations.values():
            self._end(conversation)

    def _take(self, item: Item) -> None:
        if isinstance(item, Recorded):
            self._record(item)
        elif isinstance(item, Said):
            self._conversation(item.thread).say(item)
        elif isinstance(item, Shown):
            where = Where(item.line, item.call, item.origin.source)
            self._conversation(item.thread).group.files.add(item.seen, where)
        elif isinstance(item, Fetched):
            where = Where(item.line, item.call, item.origin.source)
            group = self._conversation(item.thread).group
            group.fetched.setdefault(item.url.rstrip("/"), where)
        else:
            self.measured = item

    def _record(self, item: Recorded) -> None:
        event = item.event
        payload = event.payload
        parent = payload.parent if isinstance(payload, ThreadOpened) else None
        conversation = self._conversation(event.thread, parent)
        turn = event.turn
        if turn is not None and turn > conversation.turn:
            self._end(conversation)
            conversation.begin(turn, item.line, item.origin)
        elif turn is not None and turn < conversation.turn:
            self._caveat("late-event", item)
        conversation.add(item)
        if isinstance(payload, ToolCalled):
            self.calls += 1
        elif isinstance(payload, RecordDamaged):
            self._caveat(payload.what, item, payload.place)
        elif isinstance(payload, Unrecognized):
            self._caveat("unknown-kind", item)

    def _conversation(self, thread: ThreadId, parent: str | None = None) -> Conversation:
        found = self.conversations.get(thread)
        if found is None:
            above = None if parent is None else self._group_of(parent)
            group = above or Group(thread)
            self.groups[thread] = group
            found = self.conversations[thread] = Conversation(
                thread, group, numbers_entries=self._transcript.numbers_entries
            )
        return found

    def _group_of(self, parent: str) -> Group | None:
        return next((group for id_, group in self.groups.items() if id_ == parent), None)

    def _end(self, conversation: Conversation) -> None:
        ended = conversation.end()
        if ended is not None:
            self._spool.put(ended)

    def _caveat(self, code: str, item: Recorded, place: str | None = None) -> None:
        source = item.origin.source
        caveat = self.caveats.setdefault((code, source), _Caveat(code, source or None))
        caveat.count += 1
        if len(caveat.lines) < SHOWN_LINES:
            caveat.lines.append(item.line)
        if caveat.count == 1 and place:
            caveat.detail = place.partition(": ")[2]
