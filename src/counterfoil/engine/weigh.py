"""The second pass: what the words of the record say of the references still open.

Only words of tools, and what person or system supplied, are evidence; the model's own
text, reminders, summaries and a sub-agent's prose are not, and are named when they are
the only source (references.md 3). Evidence stands before the reply that rests on it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from counterfoil.core.ids import ThreadId
from counterfoil.core.refs.literals import Commit, Literal, Place, Quotation
from counterfoil.core.refs.needles import EVIDENCE, Needle, Whose, needles_of
from counterfoil.core.refs.resolve import Evidence, Resolution
from counterfoil.core.report import EvidenceRow, Reference
from counterfoil.engine.conversation import Group, Pending, PendingTurn, Where
from counterfoil.ports.transcripts import Sighting, Transcript, Wanted
from counterfoil.ports.world import Repository

_ONLY: dict[Whose, tuple[str, str]] = {
    "model": ("only-model-text", "only the agent's own words hold it"),
    "subagent": ("only-subagent-prose", "only the words of a sub-agent hold it"),
    "harness": ("only-harness-text", "only a reminder or a summary holds it"),
}
_SAYS: dict[Whose, tuple[str, str]] = {
    "tool": ("printed", "a tool's output holds it"),
    "fetched": ("fetched", "a fetched page holds it"),
    "search": ("printed", "a tool's output holds it"),
    "person": ("given-by-person", "the person wrote it"),
    "system": ("given-by-system", "the instructions or the context hold it"),
}
_OTHERWISE: dict[type[Literal], str] = {
    Place: "file-not-in-record",
    Commit: "not-in-record",
    Quotation: "not-in-record",
}


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of the threads after the first pass."""

    groups: Mapping[ThreadId, Group] = field(default_factory=dict[ThreadId, Group])
    entries: Mapping[ThreadId, Mapping[int, int]] = field(
        default_factory=dict[ThreadId, Mapping[int, int]]
    )
    numbers_entries: bool = False


@dataclass(frozen=True, slots=True)
class Searched:
    """Where each needle stands: its first place in each kind of words of each thread."""

    sightings: Mapping[tuple[ThreadId, Needle], tuple[Sighting, ...]] = field(
        default_factory=dict[tuple[ThreadId, Needle], tuple[Sighting, ...]]
    )

    @classmethod
    def for_turns(
        cls, transcript: Transcript, turns: Iterable[PendingTurn], found: Found
    ) -> "Searched":
        """Search `transcript` once for everything that its turns leave open."""
        wanted: dict[tuple[ThreadId, Needle], Wanted] = {}
        for pending in (pending for turn in turns for pending in turn.pending):
            for needle in needles_of(pending.literal) if pending.is_open() else ():
                key = (pending.root, needle)
                known = wanted.get(key)
                before = min(known.before, pending.position) if known else pending.position
                wanted[key] = Wanted(needle, pending.root, before)
        if not wanted:
            return cls()
        keys = list(wanted)
        sightings: dict[tuple[ThreadId, Needle], list[Sighting]] = {}
        for sighting in transcript.find(list(wanted.values())):
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
    if not pending.is_open():
        return
    literal = pending.literal
    needles = needles_of(literal)
    if isinstance(literal, Quotation):
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
    if whose in _ONLY:
        if needle.kind != "file":
            reason, what = _ONLY[whose]
            yield Evidence(stance="beside", reason=reason, what=what, place=place)
    elif needle.kind == "file":
        what = f"{needle.text} is named in the record, those lines are not shown"
        yield Evidence(stance="beside", reason="line-not-shown", what=what, place=place)
    elif needle.kind == "url" and whose == "search":
        what = "it stands in search results and was not opened"
        yield Evidence(stance="beside", reason="only-in-search-results", what=what, place=place)
    else:
        reason, what = _SAYS[whose]
        yield Evidence(stance="for", reason=reason, what=what, place=place)


def _in_repository(pending: Pending, repository: Repository) -> Iterator[Evidence]:
    literal = pending.literal
    if isinstance(literal, Commit):
        if repository.has_commit(literal.name):
            yield Evidence(stance="for", reason="in-repository", what="the repository has it")
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
