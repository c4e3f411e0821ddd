"""The ancestors of a run: nearest first, whole, or refused (knowledge.md section 2).

A lineage is never cut: one that goes round, that is longer than its reader allows or
that leads to an unknown run is an error. Where the parents are written down is the
business of who answers `parent_of`.
"""

from collections.abc import Callable, Iterator
from unicodedata import normalize

from counterfoil.core.errors import (
    ConflictError,
    CounterfoilError,
    LineageConflictError,
    NotFoundError,
)
from counterfoil.core.ids import RunId

MOST_ANCESTORS = 100_000
"""A lineage longer than this is refused, whatever its reader allows: parents that are
made up as they are asked for would never end."""

_MOST_SHOWN = 12
"""Runs of a cycle that a message spells out; those between are counted."""

ParentOf = Callable[[RunId], RunId | None]
"""Returns the parent of a run; raises where there is nobody to say."""


def lineage_of(
    run: RunId, parent_of: ParentOf, *, max_ancestors: int | None = None
) -> tuple[RunId, ...]:
    """Return the ancestors of `run`, nearest first; none for a run without a parent.

    Args:
        run: The run that is asked for.
        parent_of: Says the parent of each run, the last one's "none" included.
        max_ancestors: How many there may be; `0` allows only a run without a parent.

    Raises:
        LineageConflictError: The lineage goes round.
        ConflictError: There are more than `max_ancestors`, or `MOST_ANCESTORS`.
        InvalidIdError: `parent_of` returns what no run can be called.
    """
    return tuple(walk_ancestors(run, parent_of, max_ancestors=max_ancestors))


def walk_ancestors(
    run: RunId, parent_of: ParentOf, *, max_ancestors: int | None = None
) -> Iterator[RunId]:
    """Yield the ancestors of `run`, and raise as `lineage_of` does, where the fault is met.

    So the last run that was yielded, or `run`, is the one whose record is at fault.
    """
    most = MOST_ANCESTORS if max_ancestors is None else require_bound(max_ancestors)
    seen = {run: None}
    current = run
    while (found := parent_of(current)) is not None:
        current = RunId(found)  # an authority may be a stranger's
        if current in seen:
            raise _cycle(tuple(seen), current)
        if len(seen) > min(most, MOST_ANCESTORS):
            raise _too_long(run, min(most, MOST_ANCESTORS))
        seen[current] = None
        yield current


def require_bound(max_ancestors: int) -> int:
    """Return `max_ancestors`, or raise `CounterfoilError` where it is no bound."""
    if isinstance(max_ancestors, bool) or max_ancestors < 0:
        raise CounterfoilError(
            f"max_ancestors is {max_ancestors!r}", "a whole number from 0, or none for no bound"
        )
    return max_ancestors


def require_parent(run: RunId, recorded: RunId | None, asked: RunId | None) -> None:
    """Raise `LineageConflictError`, naming both, where `asked` is not the parent `recorded`."""
    if recorded == asked:
        return
    raise LineageConflictError(
        f"run {str(run)!r} {_with_parent(recorded)}, and {_parent(asked)} was given",
        "the parent that is recorded: a run keeps its parent for ever",
        f"give {_parent(recorded)}, or choose another run id",
    )


def require_ancestors(run: RunId, parent: RunId | None, parent_of: ParentOf) -> None:
    """Raise where `run` cannot become a child of `parent`.

    Raises:
        LineageConflictError: It would be its own ancestor, or its ancestors go round.
        NotFoundError: `parent`, or an ancestor of it, is unknown.
        ConflictError: There would be more than `MOST_ANCESTORS`.
    """

    def answer(of: RunId) -> RunId | None:
        if of == run:
            return parent
        try:
            return parent_of(of)
        except NotFoundError as error:
            raise _unknown_ancestor(of, run, parent, error) from error

    lineage_of(run, answer)


def require_spelling(spelling: str, rival: str | None) -> None:
    """Raise `ConflictError` where a `rival` stands that some disks do not tell from a run.

    The rival is another spelling of the id, or, with a `/`, one of a path to its place.
    """
    if rival is None:
        return
    if "/" in rival:
        raise ConflictError(
            f"the place of run {str(spelling)!r} differs only in letter case or normal form from"
            f" {rival!r}, which is there",
            "a place that no disk takes for another",
            f"rename {rival!r}, or choose another run id",
        )
    is_same_text = normalize("NFC", spelling) == normalize("NFC", rival)
    show, what = (ascii, "normal form") if is_same_text else (repr, "letter case")
    there = show(str(rival))  # in escapes where the two look the same
    raise ConflictError(
        f"run id {show(str(spelling))} differs only in {what} from {there}, which is there",
        "an id that no disk takes for that of another run",
        f"give {there} if that run is meant, else an id that differs in more",
    )


def folded(name: str) -> str:
    """Return the form that two names share when they differ in letter case or normal form.

    On some file systems such names are one; compatibility forms stay apart.

    >>> folded("\u00c9tude") == folded("e\u0301tude")
    True
    >>> folded("run\u2460") == folded("run1")
    False
    """
    return normalize("NFC", normalize("NFD", name).casefold())


def _unknown_ancestor(
    unknown: RunId, run: RunId, parent: RunId | None, error: NotFoundError
) -> NotFoundError:
    whose = "parent" if unknown == parent else "ancestor"
    return NotFoundError(
        f"{whose} {str(unknown)!r} of run {str(run)!r} is not known: {error.found}",
        "a run that is known",
        f"check the spelling, or init {str(unknown)!r} first",
    )


def _cycle(seen: tuple[RunId, ...], again: RunId) -> LineageConflictError:
    around = (*seen[seen.index(again) :], again)
    return LineageConflictError(
        f"the lineage of run {str(seen[0])!r} goes round: {_arrows(around)}",
        "a lineage that ends with a run without a parent",
        "give another parent, or correct that of one of these runs where it is recorded",
    )


def _arrows(around: tuple[RunId, ...]) -> str:
    names = [repr(str(run)) for run in around]
    if len(names) > _MOST_SHOWN:
        half = _MOST_SHOWN // 2
        names[half:-half] = [f"… {len(names) - 2 * half:,} more …"]
    return " → ".join(names)


def _too_long(run: RunId, most: int) -> ConflictError:
    return ConflictError(
        f"run {str(run)!r} has more than {most} ancestors",
        f"at most {most}, the bound that was given"
        if most < MOST_ANCESTORS
        else f"at most {most}: no lineage is that long, so its authority may never end",
        "raise max_ancestors; a lineage is never cut"
        if most < MOST_ANCESTORS
        else "look at what names the parents",
    )


def _with_parent(parent: RunId | None) -> str:
    return "is recorded without a parent" if parent is None else f"has the {_parent(parent)}"


def _parent(parent: RunId | None) -> str:
    return "no parent" if parent is None else f"parent {str(parent)!r}"
