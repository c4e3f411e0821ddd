"""A finding: one reportable fault of one page or store, and what would mend it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from counterfoil.core.ids import Origin, PageId
from counterfoil.core.knowledge.codes import CODES, Severity
from counterfoil.core.knowledge.pages import Spot, TextSpot

LintOutcome = Literal["clean", "findings", "empty"]


class Candidate(NamedTuple):
    """A page that a reference can mean: its origin, its path, and a handle for it, if any.

    The handle is as it is written from the run that looks, qualified.
    """

    origin: Origin
    path: str
    handle: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fault, where it stands, and every page that it could have meant.

    `path` is below the root of the store of `origin`; `spot` is `None` where the fault
    has no place in a text. `page` is the id of the page, `None` for a registry or a
    record. `handles` are those to paste. `hides_ambiguity` goes with `self-citation`,
    `reason` with a malformed text.
    """

    code: str
    origin: Origin
    path: str
    spot: Spot | None
    message: str
    page: PageId | None = None
    written: str | None = None
    candidates: tuple[Candidate, ...] = ()
    handles: tuple[str, ...] = ()
    hides_ambiguity: bool | None = None
    reason: str | None = None
    silenced: str | None = None

    @property
    def severity(self) -> Severity:
        """How bad it is: a property of the code."""
        return CODES[self.code].severity

    @property
    def line(self) -> int | None:
        """The line in the file, once it was looked up."""
        return self.spot.line if isinstance(self.spot, TextSpot) else None

    @property
    def column(self) -> int | None:
        """The column in the file, once it was looked up."""
        return self.spot.column if isinstance(self.spot, TextSpot) else None


class Checked(NamedTuple):
    """How much was looked at."""

    pages: int = 0
    citations: int = 0
    links: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """The findings about some pages, in their order, and how much was looked at.

    The order is that of the chain, then path, place and code. A silenced finding is
    kept, with its reason, and counts as none.
    """

    checked: Checked
    findings: tuple[Finding, ...]
    silenced: tuple[Finding, ...] = ()

    @property
    def counts(self) -> dict[Severity, int]:
        """How many findings there are of each severity."""
        found = Counter(finding.severity for finding in self.findings)
        return {"error": found["error"], "warning": found["warning"], "info": found["info"]}

    @property
    def outcome(self) -> LintOutcome:
        """Derived, so that nothing checked is never called clean."""
        if self.findings:
            return "findings"
        return "clean" if self.checked.pages else "empty"

    @property
    def ok(self) -> bool:
        """Whether something was checked and nothing in it is an error."""
        return self.checked.pages > 0 and not self.counts["error"]


def in_order(findings: Iterable[Finding], origins: Iterable[Origin]) -> tuple[Finding, ...]:
    """Return `findings` by chain order, path, line, column, code and what was written."""
    ranks = {origin: rank for rank, origin in enumerate(origins)}

    def place(finding: Finding) -> tuple[int, str, int, int, str, str]:
        return (
            ranks.get(finding.origin, len(ranks)),
            finding.path,
            finding.line or 0,
            finding.column or 0,
            finding.code,
            finding.written or "",
        )

    return tuple(sorted(findings, key=place))
