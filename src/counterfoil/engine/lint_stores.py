"""The lint of a store, or of a run in its chain: one pipeline behind every face.

Nothing that was found before is trusted over the files. A store is brought up to date;
where little changed, the pages that the change can concern are checked again, and else
all of them. Both say the same (a law of the tests).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from counterfoil.core.digests import tagged_digest
from counterfoil.core.ids import HERE
from counterfoil.core.knowledge.affected import PageChange, affected_paths
from counterfoil.core.knowledge.audit import count_citations
from counterfoil.core.knowledge.checks import (
    count_links,
    literal_findings,
    page_findings,
    with_silences,
)
from counterfoil.core.knowledge.findings import Checked, Finding, LintReport, in_order
from counterfoil.core.knowledge.invalidated import invalidation_findings
from counterfoil.core.knowledge.lint import registry_findings, report_of
from counterfoil.core.knowledge.pages import FieldSpot
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.engine.chains import VisibleStores
from counterfoil.engine.stored_view import StoredView
from counterfoil.ports.knowledge import DamagedIndexError, ReportChange, SavedReport, StoreIndex

_RULES = 1
"""The number of these rules; a report saved under others is not looked at."""

_Located = dict[str, Sequence[Finding]]


def lint_stores(visible: VisibleStores) -> LintReport:
    """Return every finding about the pages of the first store of `visible`, located.

    An index that turns out to be damaged is made anew.

    Raises:
        NotFoundError: A store is not there.
        UnavailableError: A store does not stand still.
    """
    try:
        return _linted(visible)
    except DamagedIndexError:
        for store in visible.stores.values():
            store.forget()
        return _linted(visible)


def _linted(visible: VisibleStores) -> LintReport:
    states = tuple(store.refresh() for store in visible.stores.values())
    view = StoredView(visible.stores, run=visible.run)
    seen = _seen(visible)
    saved = visible.own.saved_report(visible.name)
    changes = _changes_since(visible, saved, seen)
    if saved is None or changes is None:
        result = _whole(visible, view)
    elif changes:
        result = _again(visible, view, saved, changes)
    else:
        return _report(visible, saved.checked, saved.by_path, saved.rest)
    visible.own.save_report(visible.name, result.to_save(states, seen))
    return _report(visible, result.checked, result.by_path, result.rest)


def _seen(visible: VisibleStores) -> str:
    """Return a text that is another when anything but a page is another."""
    registry = visible.own.registry
    sources = sorted((source, sorted(anchors)) for source, anchors in registry.anchors.items())
    text = repr((_RULES, visible.run, tuple(visible.stores), registry.fault, sources))
    return tagged_digest(text.encode("utf-8", "surrogatepass"))


def _changes_since(
    visible: VisibleStores, saved: SavedReport | None, seen: str
) -> list[PageChange] | None:
    """Return what changed since `saved`, or `None` where that is not known page by page."""
    if saved is None or saved.seen != seen:
        return None
    changes: list[PageChange] = []
    for (origin, store), state in zip(visible.stores.items(), saved.states, strict=True):
        found = store.changes_since(state)
        if found is None:
            return None
        changes += [change._replace(origin=origin) for change in found]
    return changes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """What was found: all of it, and what of it is new since it was last saved."""

    checked: Checked
    by_path: Mapping[str, Sequence[Finding]]
    rest: Sequence[Finding]
    fresh: Mapping[str, Sequence[Finding]] | None = None
    is_rest_fresh: bool = True

    def to_save(self, states: tuple[int, ...], seen: str) -> ReportChange:
        return ReportChange(
            states=states,
            seen=seen,
            checked=self.checked,
            is_whole=self.fresh is None,
            by_path=self.by_path if self.fresh is None else self.fresh,
            rest=self.rest if self.is_rest_fresh else None,
        )


def _whole(visible: VisibleStores, view: StoredView) -> _Result:
    """Check every page."""
    view.prepare()
    by_path: _Located = {}
    citations = links = 0
    for page in visible.own.pages():
        citations += count_citations(VisiblePage(HERE, page))
        links += count_links(page)
        found = page_findings(view, VisiblePage(HERE, page))
        if found:
            by_path[page.path] = _located(visible.own, page.path, found)
    return _Result(
        checked=Checked(visible.own.count, citations, links),
        by_path=by_path,
        rest=_resting(visible, view),
    )


def _again(
    visible: VisibleStores, view: StoredView, saved: SavedReport, changes: Sequence[PageChange]
) -> _Result:
    """Check the pages that `changes` can concern; the others are as they were."""
    own = [change for change in changes if change.origin == HERE]
    paths = affected_paths(view, changes, HERE)
    paths |= {page.path for change in own for page in change.sides}
    fresh = {path: _of_path(visible, view, path) for path in sorted(paths)}
    by_path = {path: found for path, found in {**saved.by_path, **fresh}.items() if found}
    is_rest_fresh = bool(saved.rest or view.invalidated())
    return _Result(
        checked=_recounted(visible, saved.checked, own),
        by_path=by_path,
        rest=_resting(visible, view) if is_rest_fresh else (),
        fresh=fresh,
        is_rest_fresh=is_rest_fresh,
    )


def _of_path(visible: VisibleStores, view: StoredView, path: str) -> Sequence[Finding]:
    page = visible.own.page(path)
    if page is None:
        return ()
    found = page_findings(view, VisiblePage(HERE, page))
    return _located(visible.own, path, found)


def _resting(visible: VisibleStores, view: StoredView) -> Sequence[Finding]:
    """Return the findings about pages that rest on one taken back."""
    found: dict[str, list[Finding]] = {}
    for finding in invalidation_findings(view):
        if finding.origin == HERE:
            found.setdefault(finding.path, []).append(finding)
    return tuple(
        chain.from_iterable(_located(visible.own, path, rows) for path, rows in found.items())
    )


def _located(store: StoreIndex, path: str, found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return `found` with the line and column of each place in the frontmatter."""
    findings = tuple(found)
    wanted = [finding.spot for finding in findings if isinstance(finding.spot, FieldSpot)]
    if not wanted:
        return findings
    places = store.locate(path, wanted)
    return tuple(
        replace(finding, spot=places[finding.spot])
        if isinstance(finding.spot, FieldSpot)
        else finding
        for finding in findings
    )


def _recounted(visible: VisibleStores, checked: Checked, own: Iterable[PageChange]) -> Checked:
    citations, links = checked.citations, checked.links
    for change in own:
        for page, sign in ((change.before, -1), (change.after, 1)):
            if page is not None:
                citations += sign * count_citations(VisiblePage(HERE, page))
                links += sign * count_links(page)
    return Checked(visible.own.count, citations, links)


def _report(
    visible: VisibleStores,
    checked: Checked,
    by_path: Mapping[str, Sequence[Finding]],
    rest: Sequence[Finding],
) -> LintReport:
    everything = chain(
        visible.findings, _about_store(visible), chain.from_iterable(by_path.values()), rest
    )
    return report_of(checked, in_order(everything, visible.stores))


def _about_store(visible: VisibleStores) -> Iterator[Finding]:
    for passed in visible.own.passed_over:
        yield Finding(
            code=passed.code,
            origin=HERE,
            path=passed.path,
            spot=None,
            message=passed.message,
        )
    yield from registry_findings(HERE, visible.own.registry)


def with_literals(report: LintReport, visible: VisibleStores) -> LintReport:
    """Return `report` with an error for each page that does not write its id, or its title."""
    missing = [
        finding
        for page in visible.own.pages()
        for finding in with_silences(list(literal_findings(VisiblePage(HERE, page))), page)
    ]
    both = (*report.findings, *report.silenced, *missing)
    return report_of(report.checked, in_order(both, visible.stores))
