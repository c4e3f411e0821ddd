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


class _Lead(NamedTuple):
    """A page, the citation where its shortest way begins, what that cites, and how far it is."""

    visible: VisiblePage
    item: Written
    cited: VisiblePage
    distance: int


def invalidation_findings(view: View) -> Iterator[Finding]:
    """Yield a finding for each visible page and each page taken back that it rests on."""
    for target in view.invalidated():
        leads = _leads_to(view, target)
        for lead in leads.values():
            found = [_finding(lead, target, _way(leads, lead))]
            yield from with_silences(found, lead.visible.page)


def _leads_to(view: View, target: VisiblePage) -> dict[_Place, _Lead]:
    """Return, by page, the citation that its shortest way to `target` begins with.

    Pages of one distance are all known before any of the next, so the first citation of
    a page that leads to the distance before is the first of its shortest ways.
    """
    leads: dict[_Place, _Lead] = {}
    edge = {_place(target): target}
    known = set(edge)
    distance = 0
    while edge:
        distance += 1
        citing = {
            _place(page): page for cited in edge.values() for page in _citing(view, cited, known)
        }
        made = [_lead_of(view, page, edge, distance) for page in citing.values()]
        found = {_place(lead.visible): lead for lead in made if lead is not None}
        leads |= found
        known |= found.keys()
        edge = {place: lead.visible for place, lead in found.items()}
    return leads


def _citing(view: View, cited: VisiblePage, known: set[_Place]) -> Iterator[VisiblePage]:
    for page in view.naming(id_key(cited.page.id)):
        if _place(page) not in known:
            yield page


def _lead_of(
    view: View, citing: VisiblePage, edge: dict[_Place, VisiblePage], distance: int
) -> _Lead | None:
    for item in distinct_handles(citing.page.cites):
        page = resolve_handle(view, item.text, holder=citing.origin).page
        if page is not None and _place(page) in edge:
            return _Lead(citing, item, page, distance)
    return None


def _way(leads: dict[_Place, _Lead], lead: _Lead) -> str:
    """Return the way, for a message: its first pages, how many more, and its end."""
    ids: list[str] = [lead.visible.page.id, lead.cited.page.id]
    while lead.distance > 1 and len(ids) <= _SHOWN:
        lead = leads[_place(lead.cited)]
        ids.append(lead.cited.page.id)
    if lead.distance > 1:
        ids.append(f"({lead.distance - 1} more)")
    return " → ".join(ids)


def _finding(lead: _Lead, target: VisiblePage, way: str) -> Finding:
    invalidation = target.page.invalidation
    reason = invalidation.reason if invalidation is not None else ""
    return Finding(
        code="cites-invalidated",
        origin=lead.visible.origin,
        path=lead.visible.page.path,
        page=lead.visible.page.id,
        spot=FieldSpot("cites", lead.item.item),
        written=lead.item.text,
        candidates=candidates_of([target]),
        message=f"{target.page.id!r} was taken back ({reason}), and this page rests on it: {way}",
    )


def _place(visible: VisiblePage) -> _Place:
    return visible.origin, visible.page.path
