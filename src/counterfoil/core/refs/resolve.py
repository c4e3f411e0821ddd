"""A reference with everything that answers to it; its verdict is derived, never stored.

There is no nearest or newest match. A reference is supported when something backs it,
contradicted when the record shows that it cannot be, and else not established, which
is not an accusation: the record cannot show it (design.md, principle 3).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from counterfoil.core.shown import FileCandidate

Verdict = Literal["supported", "contradicted", "not_established"]
Stance = Literal["for", "against", "beside", "nothing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One thing in the record that speaks about a reference.

    `stance` is what it says: for it, against it, or only beside it; words that are no
    evidence say "nothing", and are named where nothing else speaks. `place` is where it
    stands, as the reader of the record names places; `what` says it to a person.
    """

    stance: Stance
    reason: str
    what: str
    place: object = None


_DECISIVE: dict[Verdict, tuple[str, ...]] = {
    "supported": ("for",),
    "contradicted": ("against",),
    "not_established": ("beside", "nothing"),
}


@dataclass(frozen=True, slots=True)
class Resolution:
    """A reference's evidence, the strongest first; `otherwise` is the reason without any."""

    evidence: tuple[Evidence, ...]
    otherwise: str

    @property
    def verdict(self) -> Verdict:
        """Derived from the evidence, so the two can never disagree."""
        stances = {found.stance for found in self.evidence} - {"nothing"}
        if "for" in stances:
            return "supported"
        return "contradicted" if stances == {"against"} else "not_established"

    @property
    def reason(self) -> str:
        """The code of the evidence that decides."""
        wanted = _DECISIVE[self.verdict]
        found = [one for stance in wanted for one in self.evidence if one.stance == stance]
        return found[0].reason if found else self.otherwise

    @property
    def decisive(self) -> tuple[Evidence, ...]:
        """The evidence that makes the verdict."""
        return tuple(found for found in self.evidence if found.reason == self.reason)


def place_evidence(candidates: Sequence[FileCandidate], first: int) -> tuple[Evidence, ...]:
    """Weigh every file that a place, which begins at line `first`, can mean.

    One that shows the lines backs it. All known whole and all shorter: contradicted. One
    line past the end is no contradiction: counts differ about a last line break.
    """
    return tuple(_one(candidate, first) for candidate in candidates)


def _one(candidate: FileCandidate, first: int) -> Evidence:
    path, total = candidate.path, candidate.total
    if candidate.shows:
        return Evidence(
            stance="for",
            reason=candidate.how,
            what=path,
            place=candidate.place,
        )
    if total is not None and first > total + 1:
        return Evidence(
            stance="against",
            reason="past-end",
            what=f"{path} has {total} line{'s' if total != 1 else ''}",
            place=candidate.place,
        )
    return Evidence(
        stance="beside",
        reason="line-not-shown",
        what=path,
        place=candidate.place,
    )
