"""A checked session as the browser has it: what was found, and what stands at a place."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from counterfoil.core.plain import one_line, plain
from counterfoil.core.reasons import REASONS, reason_text
from counterfoil.core.report import CaveatRow, Reference, SourceReport, Summary, TurnReport
from counterfoil.engine.check_transcript import TranscriptCheck
from counterfoil.engine.read_entries import Standing, standing_at
from counterfoil.faces.tui.texts import BAD, GOOD, UNSURE, Row, Tone, count, receipt_rows, rows_of
from counterfoil.ports.transcripts import Transcript

_WORDS = {"supported": "seen", "contradicted": "contradicted", "not_established": "not established"}
_MARKS = {"supported": GOOD, "contradicted": BAD, "not_established": UNSURE}
_TONES: dict[str, Tone] = {"supported": "good", "contradicted": "bad", "not_established": "warn"}
_SHORTEST = 24


class CheckedSession(Protocol):
    """What the browser reads; every call may block, none is made in the event loop."""

    @property
    def path(self) -> str:
        """The file as it was named."""
        ...

    def read(self) -> None:
        """Read and check the session, once, before everything else."""
        ...

    def source(self) -> SourceReport:
        """Return what was read."""
        ...

    def turns(self) -> Iterator[TurnReport]:
        """Yield the report of each turn."""
        ...

    def summary(self) -> Summary:
        """Return the counts."""
        ...

    def caveats(self) -> tuple[CaveatRow, ...]:
        """Return the ways in which the record is not whole."""
        ...

    def standing(self, place: int) -> Iterable[Standing]:
        """Return what stands at a place of the record."""
        ...


class CheckedTranscript:
    """A session out of the check of a transcript."""

    def __init__(self, check: TranscriptCheck, transcript: Transcript) -> None:
        """Take a check that nobody has read yet, and the transcript that it is of."""
        self._check = check
        self._transcript = transcript

    @property
    def path(self) -> str:
        """The file as it was named."""
        return self._transcript.path

    def read(self) -> None:
        """Read and check the session."""
        self._check.read()

    def source(self) -> SourceReport:
        """Return what was read."""
        return self._check.source()

    def turns(self) -> Iterator[TurnReport]:
        """Yield the report of each turn."""
        return self._check.turns()

    def summary(self) -> Summary:
        """Return the counts."""
        return self._check.summary()

    def caveats(self) -> tuple[CaveatRow, ...]:
        """Return the ways in which the record is not whole."""
        return self._check.caveats()

    def standing(self, place: int) -> Iterable[Standing]:
        """Return what stands at a place of the record."""
        return tuple(standing_at(self._transcript, place))


@dataclass(frozen=True, slots=True, kw_only=True)
class Jump:
    """A place in the record to go to: why, and what to look for there.

    `is_at_end`: where nothing of that is found, the end is what decides, as of a file that
    is shorter than it was said to be.
    """

    what: str
    line: int | None
    source: str | None
    needles: tuple[str, ...] = ()
    is_at_end: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A row of the list that stands for a turn, or for a reference of its reply."""

    turn: TurnReport
    reference: Reference | None = None


@dataclass(slots=True)
class Report:
    """Everything that a check found, in the order of the list."""

    path: str
    source: SourceReport
    summary: Summary
    caveats: tuple[CaveatRow, ...]
    turns: list[TurnReport] = field(default_factory=list[TurnReport])

    @property
    def noun(self) -> str:
        """What a place of the record is called."""
        return "entry" if "entry" in self.source.checked else "line"

    def place(self, line: int | None, source: str | None = None) -> str:
        """Return the words for a place."""
        name = f" of {plain(source.rpartition('/')[2])}" if source else ""
        return f"{self.noun} {line}{name}" if line is not None else f"no place{name}"


def report_of(session: CheckedSession) -> Report:
    """Read `session` to its end."""
    session.read()
    turns = list(session.turns())
    return Report(session.path, session.source(), session.summary(), session.caveats(), turns)


def list_rows(report: Report, *, is_all: bool) -> Iterator[Row]:
    """Yield the turns, each with its findings under it; `is_all`: with what is seen, too."""
    main = next((t.thread for t in report.turns if t.parent is None and t.source is None), None)
    for turn in report.turns:
        yield Row(_turn_words(turn, report, is_main=turn.thread == main), "head", Found(turn))
        for reference in turn.references:
            if is_all or is_finding(reference):
                yield Row(
                    f"    {reference_words(reference)}", _tone(reference), Found(turn, reference)
                )
    for caveat in report.caveats:
        times = f" ×{caveat.count:,}" if caveat.count > 1 else ""
        yield Row(
            f"{UNSURE} caveat {plain(caveat.code)}{times}: {plain(caveat.what)}", "warn", caveat
        )


def is_finding(reference: Reference) -> bool:
    """Say whether a reference has to be read."""
    return reference.verdict != "supported" and reference.silenced is None


def _turn_words(turn: TurnReport, report: Report, *, is_main: bool) -> str:
    bad = sum(r.verdict == "contradicted" and r.silenced is None for r in turn.references)
    unsure = sum(r.verdict == "not_established" and r.silenced is None for r in turn.references)
    whose = "" if is_main else f"{one_line(turn.thread, 20)} "
    counts = "".join(f" {mark}{n}" for mark, n in ((BAD, bad), (UNSURE, unsure)) if n)
    prompt = one_line(turn.prompt, 200) if turn.prompt is not None else "(no prompt recorded)"
    place = f", {report.place(turn.line, turn.source)}" if turn.line is not None else ""
    return f"{whose}turn {turn.turn}{place}{counts}  {prompt}"


def reference_words(reference: Reference) -> str:
    """Return a reference on one line: mark, verdict, words."""
    verdict = "silenced" if reference.silenced is not None else _WORDS[reference.verdict]
    return f"{_MARKS[reference.verdict]} {verdict}: {one_line(reference.text, 200)}"


def _tone(reference: Reference) -> Tone:
    return "muted" if reference.silenced is not None else _TONES[reference.verdict]


def turn_report_rows(turn: TurnReport, report: Report) -> Iterator[Row]:
    """Yield what there is to say about a turn."""
    yield Row(f"Turn {turn.turn} of {plain(turn.thread)}", "head")
    if turn.source:
        yield Row(f"out of {plain(turn.source)}", "muted")
    yield from rows_of(one_line(turn.prompt, 600) if turn.prompt else "(no prompt recorded)")
    yield Row("")
    if turn.ran is not None:
        yield Row(plain(turn.ran))
    if turn.cited is not None and turn.cited.line is not None:
        yield Row(f"{BAD if turn.cited.missing else UNSURE} {turn.cited.line}", "warn")
    yield Row(f"{count(len(turn.references), 'reference')} in {_replies(turn, report)}", "muted")
    yield Row("")
    yield from receipt_rows(turn.receipt)


def _replies(turn: TurnReport, report: Report) -> str:
    if not turn.replies:
        return "no reply"
    places = ", ".join(report.place(spot.line) for spot in turn.replies[:4])
    return f"{count(len(turn.replies), 'reply', 'replies')} ({places})"


def reference_rows(reference: Reference, report: Report) -> Iterator[Row]:
    """Yield why a reference was judged so, and where that can be seen."""
    yield Row(reference_words(reference), _tone(reference))
    yield Row("")
    if reference.silenced is not None:
        yield Row(f"silenced: {plain(reference.silenced)}")
    yield Row(f"why: {plain(reason_text(reference.reason))}")
    reason = REASONS.get(reference.reason)
    if reason is not None:
        yield Row(f"not said: {plain(reason.not_asserted)}", "muted")
    yield Row(f"rule: {reference.kind}.{reference.reason}", "muted")
    yield Row("")
    for number, jump in enumerate(jumps_of(reference), start=1):
        yield Row(f"{number}. {report.place(jump.line, jump.source)}: {plain(jump.what)}")
    yield Row("")
    yield Row("Enter goes to the place that decides; e to the next one.", "muted")


def jumps_of(reference: Reference) -> list[Jump]:
    """Return the places to look at: what decides, then the reply itself."""
    needles = needles_of(reference)
    jumps = [
        Jump(
            what=row.what,
            line=row.line,
            source=row.source,
            needles=needles,
            is_at_end=reference.reason.startswith("past-end"),
        )
        for row in reference.evidence
        if row.line is not None
    ]
    place = reference.place
    said = Jump(
        what="the reply that says it",
        line=place.line,
        source=place.source,
        needles=(reference.text,),
    )
    return [*jumps, said]


def needles_of(reference: Reference) -> tuple[str, ...]:
    """Return what to look for in a record, so that what decides is in sight."""
    if reference.kind == "place":
        line = reference.text.rpartition(":")[2].partition("-")[0].partition("–")[0]
        return (f" {line}→", f"{line}\t", f":{line}:", f"line {line}", reference.text)
    return (reference.text, reference.text.strip('`"“”‘’')[:_SHORTEST])


def record_rows(standing: Iterable[Standing], jump: Jump) -> tuple[list[Row], int]:
    """Return what stands at a place as rows, and which of them is looked for."""
    rows: list[Row] = []
    for one in standing:
        call = f", call {plain(one.call)}" if one.call else ""
        rows.append(Row(f"{one.kind}{call}", "head"))
        rows.extend(rows_of(one.text))
        rows.append(Row(""))
    needles = [plain(needle).expandtabs(4) for needle in jump.needles if needle.strip()]
    for needle in needles:
        for at, row in enumerate(rows):
            if row.tone != "head" and needle in row.text:
                rows[at] = Row(f"> {row.text}", "head")
                return rows, at
    last = max((at for at, row in enumerate(rows) if row.text.strip()), default=0)
    return rows, last if jump.is_at_end else 0
