"""What a check says: per turn the receipt and the references, then one summary.

Frozen values that every face shows as they are. Nothing here says more than was
looked at: what was left out, not understood or unreadable is in it, counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from counterfoil.core.receipt import Receipt
from counterfoil.core.refs.cited import CitedEntries
from counterfoil.core.refs.resolve import Verdict

ReferenceKind = Literal["entry", "place", "commit", "quotation", "source"]
KINDS: tuple[ReferenceKind, ...] = ("entry", "place", "commit", "quotation", "source")

Outcome = Literal["findings", "unproven", "clean", "empty", "could_not_tell"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where something stands: a line, and a block and code points of its text.

    `line` is the physical line, or the number of the entry in a thread of our own;
    `None` where that was not recorded. `source` names a sub-agent's file.
    """

    line: int | None
    block: int = 0
    start: int = 0
    end: int = 0
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRow:
    """Something in the record that bears on a reference, for a person to look at."""

    what: str
    line: int | None = None
    call: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One reference of a reply and what the record says of it."""

    kind: ReferenceKind
    text: str
    place: Spot
    verdict: Verdict
    reason: str
    evidence: tuple[EvidenceRow, ...] = ()
    path: str | None = None
    silenced: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReport:
    """One turn: who asked what, what ran, what was said, and what of it is in the record."""

    thread: str
    parent: str | None
    turn: int
    line: int | None
    source: str | None
    prompt: str | None
    ran: str | None
    cited: CitedEntries | None
    receipt: Receipt
    replies: tuple[Spot, ...]
    references: tuple[Reference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaveatRow:
    """A way in which the record is not whole: how often, and where (the first ten)."""

    code: str
    count: int
    line: int | None
    lines: tuple[int, ...]
    what: str
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReport:
    """What was read."""

    path: str
    format: str
    size: int
    lines: int
    records: int
    repeated: int
    threads: int
    checked: tuple[ReferenceKind, ...]
    skipped: Mapping[str, int]
    unknown: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The counts of one transcript and the outcome that they make."""

    turns: int
    replies: int
    calls: int
    supported: int
    contradicted: int
    not_established: int
    silenced: int

    @property
    def checked(self) -> int:
        """How many references were weighed."""
        return self.supported + self.contradicted + self.not_established + self.silenced

    @property
    def outcome(self) -> Outcome:
        """Derived, so that nothing checked is never called clean."""
        if self.contradicted:
            return "findings"
        if self.not_established:
            return "unproven"
        return "clean" if self.checked else "empty"


CAVEAT_TEXT: dict[str, str] = {
    "byte-order-mark": "a byte order mark, which UTF-8 does not need",
    "call-without-result": "a call has no result in the record",
    "clock-stepped-back": "the clock stepped back; order is that of the record",
    "compacted": "older material was taken out of what the model read",
    "events-dropped": "events fell out of a bounded collector",
    "ledger-gap": "events could not be recorded and are lost",
    "tail-not-proven": "nothing outside shows where the record ends",
    "unreadable": "the input could not be read",
    "in-progress": "the last record is half written: the session may still be going on",
    "interrupted": "a person interrupted the turn",
    "late-event": "an event belongs to a turn that had ended before it",
    "line-too-long": "a line is longer than what is read, and was passed over",
    "mixed-versions": "the program that wrote the record changed its version",
    "not-a-record": "a line is JSON, but no record",
    "not-an-event": "a line is JSON, but no event",
    "not-utf8": "bytes that are not UTF-8 were replaced",
    "nul-line": "a line holds nothing but NUL, as after a crash",
    "open-turn": "nothing closes the turn",
    "output-cut": "an output was cut by the program that wrote the record",
    "result-without-call": "a result has no call in the record",
    "rewound": "the conversation was taken back; what followed is still recorded",
    "subagent-not-found": "a sub-agent's own record was not found; its words are no evidence",
    "starts-mid-thread": "the record starts in the middle: what came before is unknown",
    "still-running": "a command went on in the background, its end is not recorded in the turn",
    "too-deep": "a line nests deeper than what is read",
    "torn-line": "a line is no whole record and could not be read",
    "two-records": "two records stand on one line; both were read",
    "unknown-kind": "a record of a kind that this version does not know",
}
"""What each caveat says to a person; a code without a sentence says itself."""
