"""The second pass: what the words of the record say of the references still open.

Only words of tools, and what person or system supplied, are evidence; the model's own
text, reminders, summaries and a sub-agent's prose are not, and are named when they are
the only source (references.md 3). Evidence stands before the reply that rests on it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from counterfoil.core.ids import ThreadId
from counterfoil.core.reasons import reason_text
from counterfoil.core.refs.literals import Commit, Literal, Place, Quotation
from counterfoil.core.refs.needles import EVIDENCE, Needle, Whose
from counterfoil.core.refs.resolve import Evidence, Resolution, Stance
from counterfoil.core.report import EvidenceRow, Reference
from counterfoil.engine.conversation import Group, Pending, Where
from counterfoil.ports.transcripts import Position, Sighting, Transcript, Wanted
from counterfoil.ports.world import Repository

_ONLY: dict[Whose, str] = {
    "model": "only-model-text",
    "subagent": "only-subagent-prose",
    "harness": "only-harness-text",
}
_SAYS: dict[Whose, str] = {
    "tool": "printed",
    "fetched": "fetched",
    "search": "printed",
    "person": "given-by-person",
    "system": "given-by-system",
}
_OTHERWISE: dict[type[Literal], str] = {
    Place: "file-not-in-record",
    Commit: "not-in-record",
    Quotation: "not-in-record",
}


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of the threads after the first pass."""

    groups: Mapping[str, Group] = field(default_factory=dict[str, Group])
    entries: Mapping[ThreadId, Mapping[int, int]] = field(
        default_factory=dict[ThreadId, Mapping[int, int]]
    )
    numbers_entries: bool = False


class WantedNeedles:
    """What turns leave open, each needle once for a thread and its sub-agents."""

    def __init__(self) -> None:
        self.rows: dict[tuple[ThreadId, Needle], Wanted] = {}

    def add(self, needle: Needle, root: ThreadId, before: Position) -> None:
        """Look for `needle` before the reply at the position `before`."""
        known = self.rows.get((root, needle))
        first = min(before, known.first) if known else before
        last = max(before, known.last) if known else before
        self.rows[root, needle] = Wanted(needle, root, first, last)


@dataclass(frozen=True, slots=True)
class Searched:
    """Where each needle stands: its first place in each kind of words of each thread."""

    sightings: Mapping[tuple[ThreadId, Needle], tuple[Sighting, ...]] = field(
        default_factory=dict[tuple[ThreadId, Needle], tuple[Sighting, ...]]
    )

    @classmethod
    def through(cls, transcript: Transcript, wanted: "WantedNeedles", found: Found) -> "Searched":
        """Search `transcript` once for everything that is wanted."""
        if not wanted.rows:
            return cls()
        keys = list(wanted.rows)
        sightings: dict[tuple[ThreadId, Needle], list[Sighting]] = {}
        for sighting in transcript.find(list(wanted.rows.values())):
            root, needle = keys[sighting.needle]
            if sighting.thread is None or _root(found, sighting.thread) == root:
                sightings.setdefault((root, needle), []).append(sighting)
        return cls({key: tuple(rows) for key, rows in sightings.items()})

    def of(self, pending: Pending, needle: Needle) -> Iterator[Sighting]:
        """Yield the sightings of `needle` that stand before the reply of `pending`."""
        for sighting in self.sightings.get((pending.root, needle), ()):
            if sighting.origin.at(sighting.line) < pending.position:
                yield sighting


def _root(found: Found, thread: ThreadId) -> ThreadId:
    group = found.groups.get(thread)
    return group.root if group else thread


def weigh(
    pending: Pending, searched: Searched, found: Found, repository: Repository | None
) -> Reference:
    """Return the reference with its verdict, from all evidence there is."""
    evidence = (
        *pending.evidence,
        *_worded(pending, searched),
        *(_in_repository(pending, repository) if repository is not None else ()),
    )
    resolution = Resolution(evidence, _otherwise(pending, found, repository))
    literal = pending.literal
    return Reference(
        kind=pending.kind,
        text=pending.text,
        place=pending.spot,
        verdict=resolution.verdict,
        reason=resolution.reason,
        evidence=tuple(_row(one, found) for one in resolution.decisive),
        path=literal.path if isinstance(literal, Place) else None,
    )


def _otherwise(pending: Pending, found: Found, repository: Repository | None) -> str:
    literal = pending.literal
    if isinstance(literal, Quotation):
        cut = found.groups[pending.root].first_cut if pending.root in found.groups else None
        return "output-cut" if cut is not None and cut < pending.position else "not-in-record"
    if isinstance(literal, Commit) and repository is not None:
        return "not-in-repository"
    return _OTHERWISE.get(type(literal), "never-fetched")


def _worded(pending: Pending, searched: Searched) -> Iterator[Evidence]:
    needles = pending.needles()
    if isinstance(pending.literal, Quotation):
        yield from _quoted(pending, needles, searched)
        return
    for needle in needles:
        for sighting in sorted(searched.of(pending, needle), key=_weight):
            yield from _says(needle, sighting)


def _quoted(
    pending: Pending, needles: tuple[Needle, ...], searched: Searched
) -> Iterator[Evidence]:
    """A quotation is backed when every one of its pieces is."""
    sightings = [sorted(searched.of(pending, needle), key=_weight) for needle in needles]
    if not all(sightings):
        return
    weakest = max((found[0] for found in sightings), key=_weight)
    yield from _says(needles[0], weakest)


def _weight(sighting: Sighting) -> int:
    return 0 if sighting.whose in EVIDENCE else 1


def _says(needle: Needle, sighting: Sighting) -> Iterator[Evidence]:
    whose, place = sighting.whose, Where(sighting.line, None, sighting.origin.source)
    stance: Stance = "for"
    reason = _SAYS.get(whose, "")
    if whose in _ONLY:
        if needle.kind == "file":
            return
        stance, reason = "nothing", _ONLY[whose]
    elif needle.kind == "file":
        stance, reason = "beside", "line-not-shown"
    elif needle.kind == "url" and whose == "search":
        stance, reason = "beside", "only-in-search-results"
    yield Evidence(stance=stance, reason=reason, what=reason_text(reason), place=place)


def _in_repository(pending: Pending, repository: Repository) -> Iterator[Evidence]:
    literal = pending.literal
    if isinstance(literal, Commit):
        if repository.has_commit(literal.name):
            yield Evidence(stance="for", reason="in-repository", what=reason_text("in-repository"))
    elif isinstance(literal, Place):
        yield from _in_tree(pending, literal, repository)


def _in_tree(pending: Pending, place: Place, repository: Repository) -> Iterator[Evidence]:
    """The tree backs a place that it has; it contradicts only where no version is longer.

    What the record shows written may be longer than any commit: then the tree says nothing.
    """
    was_touched = any(found.reason in {"written", "line-not-shown"} for found in pending.evidence)
    for file in repository.files(place.path, commit=None, before=pending.occurred_at):
        if place.last <= file.lines:
            what = f"{file.path} has {file.lines} lines at commit {file.commit[:12]}"
            yield Evidence(stance="for", reason="in-tree", what=what)
        elif (
            not was_touched
            and place.first > max(file.lines, repository.longest(file.path) or 0) + 1
        ):
            what = f"{file.path} has {file.lines} lines at commit {file.commit[:12]}"
            yield Evidence(stance="against", reason="past-end-in-tree", what=what)


def _row(evidence: Evidence, found: Found) -> EvidenceRow:
    place = evidence.place
    if not isinstance(place, Where):
        return EvidenceRow(what=evidence.what)
    line: int | None = place.line
    if found.numbers_entries:
        line = next(
            (rows[place.line] for rows in found.entries.values() if place.line in rows), None
        )
    return EvidenceRow(what=evidence.what, line=line, call=place.call, source=place.source or None)
