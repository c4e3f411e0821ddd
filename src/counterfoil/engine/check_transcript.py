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
    KINDS,
    CaveatRow,
    Reference,
    SourceReport,
    Summary,
    TurnReport,
)
from counterfoil.engine.conversation import Conversation, Group, Pending, PendingTurn, Where
from counterfoil.engine.weigh import Found, Searched, WantedNeedles, weigh
from counterfoil.ports.transcripts import (
    Fetched,
    Item,
    Measured,
    Origin,
    Recorded,
    Said,
    Shown,
    Transcript,
)
from counterfoil.ports.world import Repository, Spool

SHOWN_LINES = 10
"""Lines that a caveat names; how often it was met is exact."""


SHOWN_DETAILS, KEPT_DETAILS = 5, 100
"""Different details of a caveat that are named, and that are kept apart at all."""


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
        self._found = Found()
        self._searched = Searched()
        self._counts: Counter[str] | None = None

    def read(self) -> None:
        """Read the transcript, and search it for what is open after that.

        Raises:
            UnreadableError: The transcript cannot be read at all.
        """
        self._reading.read()
        self._found = self._reading.found()
        self._searched = Searched.through(self._transcript, self._reading.wanted, self._found)

    def turns(self) -> Iterator[TurnReport]:
        """Yield the report of each turn."""
        counts: Counter[str] = Counter()
        for turn in self._spool:
            report = self._report(turn) if turn.pending or turn.report.references else turn.report
            counts["turns"] += 1
            counts["replies"] += len(report.replies)
            for found in report.references:
                counts["silenced" if found.silenced is not None else found.verdict] += 1
            yield report
        self._counts = counts

    def _report(self, turn: PendingTurn) -> TurnReport:
        rest = tuple(self._reference(pending) for pending in turn.pending)
        references = sorted(
            (self._silenced(found) for found in (*turn.report.references, *rest)),
            key=lambda found: (found.place.line or 0, found.place.block, found.place.start),
        )
        return replace(turn.report, references=tuple(references))

    def _reference(self, pending: Pending) -> Reference:
        return weigh(pending, self._searched, self._found, self._repository)

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
            checked=KINDS if self._transcript.numbers_entries else KINDS[1:],
            skipped=dict(measured.skipped),
            unknown=dict(measured.unknown),
        )

    def summary(self) -> Summary:
        """Return the counts; goes through the turns where nobody did to their end before."""
        if self._counts is None:
            for _ in self.turns():
                pass
        counts = self._counts or Counter()
        return Summary(
            turns=counts["turns"],
            replies=counts["replies"],
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
    details: Counter[str] = field(default_factory=Counter[str])

    def shown(self) -> CaveatRow:
        what = CAVEAT_TEXT.get(self.code, self.code.replace("-", " "))
        return CaveatRow(
            code=self.code,
            count=self.count,
            line=self.lines[0] if self.lines else None,
            lines=tuple(self.lines),
            what=f"{what} ({self._detail()})" if self.details else what,
            source=self.source,
        )

    def _detail(self) -> str:
        """Say what was met: each once, with its count, the first few of them."""
        named = [f"{text} ×{count}" if count > 1 else text for text, count in self.details.items()]
        more = len(named) - SHOWN_DETAILS
        rest = f"+{more} or more" if len(named) == KEPT_DETAILS else f"+{more} more"
        return ", ".join([*named[:SHOWN_DETAILS], *([rest] if more > 0 else [])])


class _Reading:
    """The first pass."""

    def __init__(self, transcript: Transcript, spool: Spool[PendingTurn]) -> None:
        self._transcript = transcript
        self._spool = spool
        self.conversations: dict[ThreadId, Conversation] = {}
        self.groups: dict[str, Group] = {}
        self.caveats: dict[tuple[str, str], _Caveat] = {}
        self.calls = 0
        self.wanted = WantedNeedles()
        self._origin: Origin | None = None
        self._inner: dict[ThreadId, Origin] = {}
        self.measured = Measured(0, 0, 0, {}, {}, 0)

    def found(self) -> Found:
        """Return what a search has to know of the threads."""
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
        if item.origin is not self._origin:
            self._leave(item.origin)
        parent = payload.parent if isinstance(payload, ThreadOpened) else None
        conversation = self._conversation(event.thread, parent)
        turn = event.turn
        if turn is not None and turn > conversation.turn:
            self._end(conversation)
            conversation.begin(turn, item.line, item.origin)
            self._inner[event.thread] = item.origin
        elif turn is not None and turn < conversation.turn:
            self._caveat("late-event", item)
        conversation.add(item)
        if isinstance(payload, ToolCalled):
            self.calls += 1
        elif isinstance(payload, RecordDamaged):
            self._caveat(payload.what, item, payload.place)
        elif isinstance(payload, Unrecognized):
            self._caveat("unknown-kind", item)

    def _leave(self, origin: Origin) -> None:
        """End the turns of sub-agents whose files were read to their ends."""
        self._origin = origin
        depth = len(origin.prefix)
        for thread in [t for t, inner in self._inner.items() if len(inner.prefix) > depth]:
            del self._inner[thread]
            self._end(self.conversations[thread])

    def _conversation(self, thread: ThreadId, parent: str | None = None) -> Conversation:
        found = self.conversations.get(thread)
        if found is None:
            above = None if parent is None else self.groups.get(parent)
            group = above or Group(thread)
            self.groups[thread] = group
            found = self.conversations[thread] = Conversation(
                thread, group, numbers_entries=self._transcript.numbers_entries
            )
        return found

    def _end(self, conversation: Conversation) -> None:
        ended = conversation.end()
        if ended is None:
            return
        for pending in ended.pending:
            for needle in pending.needles():
                self.wanted.add(needle, pending.root, pending.position)
        self._spool.put(ended, _weight(ended))

    def _caveat(self, code: str, item: Recorded, place: str | None = None) -> None:
        source = item.origin.source
        caveat = self.caveats.setdefault((code, source), _Caveat(code, source or None))
        caveat.count += 1
        if len(caveat.lines) < SHOWN_LINES:
            caveat.lines.append(item.line)
        detail = (place or "").partition(": ")[2]
        if detail in caveat.details or (detail and len(caveat.details) < KEPT_DETAILS):
            caveat.details[detail] += 1


def _weight(turn: PendingTurn) -> int:
    """Guess the bytes of a turn: what varies is the text of arguments and commands."""
    receipt = turn.report.receipt
    texts = sum(len(row.arguments) for row in receipt.tools)
    rows = len(receipt.tools) + len(receipt.commands) + len(receipt.files) + len(turn.pending)
    return 2000 + 300 * rows + texts
