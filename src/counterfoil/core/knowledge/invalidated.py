"""Who rests on a page that was taken back, directly or through citations.

From each invalidated page the citations are walked backwards, breadth first, so that
every way found is a shortest one. Only resolved citations lead on; a page never rests
on itself (knowledge.md section 4, `cites-invalidated`).
"""

from collections.abc import Iterator
from typing import NamedTuple

from counterfoil.core.knowledge.audit import candidates_of, distinct_handles
from counterfoil.core.knowledge.checks import with_silences
from counterfoil.core.knowledge.findings import Finding
from counterfoil.core.knowledge.pages import FieldSpot, Written
from counterfoil.core.knowledge.resolution import resolve_handle
from counterfoil.core.knowledge.view import View, VisiblePage, id_key

_Place = tuple[str, str]

_SHOWN = 4
"""Steps of a way that a message names; the rest is counted."""


class _Step(NamedTuple):
    """A page, the citation where its shortest way begins, what that cites, and how far it is."""

    visible: VisiblePage
    item: Written
    cited: VisiblePage
    distance: int


def invalidation_findings(view: View) -> Iterator[Finding]:
    """Yield a finding for each visible page and each page taken back that it rests on."""
    for target in view.invalidated():
        steps = _steps_towards(view, target)
        for step in steps.values():
            found = [_finding(step, target, _way(steps, step))]
            yield from with_silences(found, step.visible.page)


def _steps_towards(view: View, target: VisiblePage) -> dict[_Place, _Step]:
    """Return, by page, the first step of its shortest way to `target`.

    Pages of one distance are all known before any of the next, so the first citation of
    a page that leads to the distance before is the first of its shortest ways.
    """
    steps: dict[_Place, _Step] = {}
    edge = {_place(target): target}
    known = set(edge)
    distance = 0
    while edge:
        distance += 1
        citing = {
            _place(page): page for cited in edge.values() for page in _citing(view, cited, known)
        }
        made = [_first_step(view, page, edge, distance) for page in citing.values()]
        found = {_place(step.visible): step for step in made if step is not None}
        steps |= found
        known |= found.keys()
        edge = {place: step.visible for place, step in found.items()}
    return steps


def _citing(view: View, cited: VisiblePage, known: set[_Place]) -> Iterator[VisiblePage]:
    for page in view.naming(id_key(cited.page.id)):
        if _place(page) not in known:
            yield page


def _first_step(
    view: View, citing: VisiblePage, edge: dict[_Place, VisiblePage], distance: int
) -> _Step | None:
    for item in distinct_handles(citing.page.cites):
        page = resolve_handle(view, item.text, holder=citing.origin).page
        if page is not None and _place(page) in edge:
            return _Step(citing, item, page, distance)
    return None


def _way(steps: dict[_Place, _Step], step: _Step) -> str:
    """Return the way, for a message: its first pages, how many more, and its end."""
    ids: list[str] = [step.visible.page.id, step.cited.page.id]
    while step.distance > 1 and len(ids) <= _SHOWN:
        step = steps[_place(step.cited)]
        ids.append(step.cited.page.id)
    if step.distance > 1:
        ids.append(f"({step.distance - 1} more)")
    return " → ".join(ids)


def _finding(step: _Step, target: VisiblePage, way: str) -> Finding:
    invalidation = target.page.invalidation
    reason = invalidation.reason if invalidation is not None else ""
    return Finding(
        code="cites-invalidated",
        origin=step.visible.origin,
        path=step.visible.page.path,
        page=step.visible.page.id,
        spot=FieldSpot("cites", step.item.item),
        written=step.item.text,
        candidates=candidates_of([target]),
        message=f"{target.page.id!r} was taken back ({reason}), and this page rests on it: {way}",
    )


def _place(visible: VisiblePage) -> _Place:
    return visible.origin, visible.page.path
