"""From a run to its findings, over stores that are lists: what is read, checked again, kept."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pytest

from counterfoil.core.errors import (
    ConflictError,
    LineageConflictError,
    NotFoundError,
    UnreadableError,
)
from counterfoil.core.ids import HERE, SHARED, Origin, PageId, RunId
from counterfoil.core.knowledge.affected import PageChange
from counterfoil.core.knowledge.findings import Checked, Finding, LintReport
from counterfoil.core.knowledge.pages import (
    Invalidation,
    Link,
    Page,
    Silence,
    Spot,
    TextSpot,
    Written,
)
from counterfoil.core.knowledge.view import (
    SourceRegistry,
    VisiblePage,
    key_number,
    keys_written,
    names_of,
)
from counterfoil.engine.chains import VisibleStores, load_chain, visible_stores
from counterfoil.engine.lint_since import History, findings_before
from counterfoil.engine.lint_stores import lint_stores, with_literals
from counterfoil.engine.stored_view import StoredView
from counterfoil.ports.knowledge import PassedOver, PreparedKeys, ReportChange, SavedReport

_R0, _R1, _R2 = (RunId(f"r{number}") for number in range(3))
_OF_R1 = Origin.inherited(_R1)
_LINE = 7
"""Where every field of a frontmatter stands in a `ListStore`."""


class ListStore:
    """A `StoreIndex` of pages in memory, which counts what is asked of it."""

    def __init__(self, *pages: Page, registry: SourceRegistry | None = None) -> None:
        self.there = {page.path: page for page in pages}
        self.registry = registry or SourceRegistry()
        self.passed_over: Sequence[PassedOver] = ()
        self.reports: dict[str, SavedReport] = {}
        self.asked: list[str] = []
        self.is_remembered = True
        self._state = 1
        self._changes: list[tuple[int, Page | None, Page | None]] = []

    def put(self, page: Page) -> None:
        """Write a page, or write it anew."""
        self._note(self.there.get(page.path), page)
        self.there[page.path] = page

    def take(self, path: str) -> None:
        """Take a page away."""
        self._note(self.there.pop(path), None)

    def _note(self, before: Page | None, after: Page | None) -> None:
        self._state += 1
        self._changes.append((self._state, before, after))

    def refresh(self) -> int:
        self.asked.append("refresh")
        return self._state

    def forget(self) -> None:
        self.reports.clear()

    def body(self, path: str) -> str:
        return path

    def changes_since(self, state: int) -> Sequence[PageChange] | None:
        if not self.is_remembered:
            return None
        return [
            PageChange(HERE, before, after)
            for number, before, after in self._changes
            if number > state
        ]

    @property
    def count(self) -> int:
        return len(self.there)

    def pages(self) -> Iterator[Page]:
        self.asked.append("pages")
        return iter([self.there[path] for path in sorted(self.there)])

    def page(self, path: str) -> Page | None:
        self.asked.append(path)
        return self.there.get(path)

    def called(self, key: str) -> Sequence[Page]:
        return self._those(lambda page: key in names_of(page))

    def naming(self, key: str) -> Sequence[Page]:
        return self._those(lambda page: key in keys_written(page))

    def invalidated(self) -> Sequence[Page]:
        return self._those(lambda page: page.invalidation is not None)

    def _those(self, ask: Callable[[Page], bool]) -> Sequence[Page]:
        return [page for _, page in sorted(self.there.items()) if ask(page)]

    def prepare(self) -> PreparedKeys:
        self.asked.append("prepare")
        pages = self.there.values()
        return PreparedKeys(
            {key_number(key) for page in pages for key in names_of(page)},
            {key_number(key) for page in pages for key in keys_written(page)},
        )

    def digests(self) -> Mapping[str, str]:
        return {path: f"sha256:{page.title}" for path, page in self.there.items()}

    def locate(self, path: str, spots: Iterable[Spot]) -> Mapping[Spot, TextSpot]:
        self.asked.append(f"locate {path}")
        return dict.fromkeys(spots, TextSpot(_LINE))

    def saved_report(self, name: str) -> SavedReport | None:
        return self.reports.get(name)

    def save_report(self, name: str, change: ReportChange) -> None:
        before = self.reports.get(name)
        kept = {} if change.is_whole or before is None else before.by_path
        rest = before.rest if change.rest is None and before is not None else change.rest
        by_path = {path: found for path, found in {**kept, **change.by_path}.items() if found}
        self.reports[name] = SavedReport(
            change.states, change.seen, change.checked, by_path, rest or ()
        )


@dataclass
class Parents:
    """An authority that knows what it was given, and raises what it was given."""

    known: Mapping[str, str | Exception | None]

    def parent_of(self, run: RunId) -> RunId | None:
        if run not in self.known:
            raise NotFoundError(f"no run {str(run)!r}")
        found = self.known[run]
        if isinstance(found, Exception):
            raise found
        return None if found is None else RunId(found)


def _page(name: str, *cites: str, **fields: object) -> Page:
    page = Page(
        path=f"knowledge/{name}.md",
        id=PageId(name.rpartition("/")[2]),
        title=name,
        frontmatter="read",
        is_id_written=True,
        cites=tuple(Written(text, item) for item, text in enumerate(cites)),
    )
    return replace(page, **fields)  # type: ignore[arg-type]


def _alone(store: ListStore) -> VisibleStores:
    return VisibleStores(run=None, stores={HERE: store})


def _rows(report: LintReport) -> list[tuple[str, str]]:
    return [
        (found.code, found.path.removeprefix("knowledge/")) for found in report.findings
        if found.severity != "info"
    ]  # fmt: skip


# --- what a run sees ----------------------------------------------------------


def _seen(
    known: Mapping[str, str | Exception | None],
    stores: Mapping[str, ListStore],
    *,
    shared: ListStore | None = None,
    max_ancestors: int | None = None,
) -> VisibleStores:
    return visible_stores(
        _R2, Parents(known), stores.get, shared=shared, max_ancestors=max_ancestors
    )


def test_a_run_sees_its_own_its_ancestors_and_the_shared_store() -> None:
    """chain: In that order, nearest first, and nothing is shadowed."""
    stores = {run: ListStore(_page("x")) for run in ("r0", "r1", "r2")}
    shared = ListStore(_page("x"))
    visible = _seen({"r2": "r1", "r1": "r0", "r0": None}, stores, shared=shared)
    assert list(visible.stores) == [HERE, _OF_R1, Origin.inherited(_R0), SHARED]
    assert visible.own is stores["r2"]
    assert visible.findings == ()
    chain = load_chain(visible)
    assert (chain.run, [page.origin for page in chain]) == (_R2, list(visible.stores))
    assert [store.asked for store in stores.values()] == [["refresh", "pages"]] * 3


def test_views_of_one_store_have_names_of_their_own() -> None:
    """lint-incremental: A report of a chain is never taken for that of another."""
    store = ListStore()
    names = {
        _alone(store).name,
        *(VisibleStores(run=run, stores={HERE: store}).name for run in (_R1, _R2)),
        VisibleStores(run=_R2, stores={HERE: store, SHARED: store}).name,
        VisibleStores(run=_R2, stores={HERE: store, _OF_R1: store}).name,
    }
    assert len(names) == 5


def test_a_run_without_a_store_is_not_found() -> None:
    """chain: Nothing stands in for it."""
    with pytest.raises(NotFoundError, match="run 'r2' has no store"):
        _seen({"r2": None}, {})


def test_a_run_that_nobody_knows_is_not_found() -> None:
    """chain: A store without a record says nothing of its parent."""
    with pytest.raises(NotFoundError, match="no run 'r2'"):
        _seen({}, {"r2": ListStore()})


@pytest.mark.parametrize(("bound", "is_refused"), [(3, False), (2, False), (1, True), (0, True)])
def test_a_chain_longer_than_its_bound_is_refused_and_never_cut(
    bound: int, *, is_refused: bool
) -> None:
    """chain: At the bound, one under and one over."""
    known = {"r2": "r1", "r1": "r0", "r0": None}
    stores = {run: ListStore() for run in known}
    if is_refused:
        with pytest.raises(ConflictError, match=f"more than {bound} ancestor"):
            _seen(known, stores, max_ancestors=bound)
    else:
        assert len(_seen(known, stores, max_ancestors=bound).stores) == 3


@pytest.mark.parametrize(
    ("known", "there", "code", "origin", "seen"),
    [
        ({"r2": "r1", "r1": None}, ["r2"], "missing-ancestor-store", HERE, [HERE]),
        (
            {"r2": "r1", "r1": "r0", "r0": None},
            ["r2", "r0"],
            "missing-ancestor-store",
            HERE,
            [HERE, Origin.inherited(_R0)],
        ),
        (
            {"r2": "r1", "r1": "r0", "r0": None},
            ["r2", "r1"],
            "missing-ancestor-store",
            _OF_R1,
            [HERE, _OF_R1],
        ),
        ({"r2": "r1"}, ["r2"], "missing-ancestor-store", HERE, [HERE]),
        ({"r2": "r1"}, ["r2", "r1"], "lineage-conflict", _OF_R1, [HERE, _OF_R1]),
        ({"r2": UnreadableError("cut")}, ["r2"], "lineage-conflict", HERE, [HERE]),
        (
            {"r2": "r1", "r1": UnreadableError("cut")},
            ["r2", "r1"],
            "lineage-conflict",
            _OF_R1,
            [HERE, _OF_R1],
        ),
        ({"r2": "r2"}, ["r2"], "lineage-cycle", HERE, [HERE]),
        ({"r2": "r1", "r1": "r2"}, ["r2", "r1"], "lineage-cycle", _OF_R1, [HERE, _OF_R1]),
        ({"r2": LineageConflictError("two")}, ["r2"], "lineage-cycle", HERE, [HERE]),
    ],
)
def test_what_is_wrong_with_a_lineage_is_a_finding_at_the_record_at_fault(
    known: Mapping[str, str | Exception | None],
    there: list[str],
    code: str,
    origin: Origin,
    seen: list[Origin],
) -> None:
    """chain: The stores up to there are looked at all the same."""
    visible = _seen(known, {run: ListStore(_page("x", "gone")) for run in there})
    (finding,) = visible.findings
    assert (finding.code, finding.origin, finding.spot) == (code, origin, TextSpot(1))
    assert finding.path == ".counterfoil/lineage.json"
    assert list(visible.stores) == seen
    assert _rows(lint_stores(visible)) == (
        [(code, finding.path), ("missing-citation", "x.md")]
        if origin == HERE
        else [("missing-citation", "x.md"), (code, finding.path)]
    )


def test_a_view_asks_its_stores_once_for_each_key_and_keeps_chain_order() -> None:
    """chain: What is at hand is not asked for again."""
    own, above = ListStore(_page("b"), _page("x/a", "b")), ListStore(_page("a", "b"))
    registry = SourceRegistry(fault="broken")
    above.registry = registry
    view = StoredView({HERE: own, _OF_R1: above}, run=_R2)
    assert (view.run, view.origins) == (_R2, (HERE, _OF_R1))
    found = view.called("=a")
    assert [(page.origin, page.page.path) for page in found] == [
        (HERE, "knowledge/x/a.md"), (_OF_R1, "knowledge/a.md"),
    ]  # fmt: skip
    own.take("knowledge/x/a.md")
    assert view.called("=a") is found
    assert [page.origin for page in view.naming("=b")] == [_OF_R1]
    assert view.invalidated() == ()
    assert view.registry(_OF_R1) is registry
    view.groups["x"] = (VisiblePage(HERE, _page("b")),)
    assert len(view.groups) == 1


# --- lint, whole and again ----------------------------------------------------


def test_a_lint_locates_what_stands_in_a_frontmatter() -> None:
    """lint: A store without findings never pays for a place."""
    store = ListStore(_page("a", "gone"), _page("b", links=(Link("gone", 3, 4), Link("a", 3, 9))))
    report = lint_stores(_alone(store))
    places = {found.code: (found.line, found.column) for found in report.findings}
    assert places["missing-citation"] == (_LINE, 1)
    assert places["broken-link"] == (3, 4)
    assert [asked for asked in store.asked if asked.startswith("locate")] == [
        "locate knowledge/a.md"
    ]
    assert report.checked == Checked(2, 1, 2)


def test_a_store_says_what_it_passed_over_and_what_its_registry_lacks() -> None:
    """lint: Beside the findings about pages; each lint says so again."""
    store = ListStore(
        _page("a"), registry=SourceRegistry(repeated=(("sha256:1", ("s1", "s2")),), fault="cut")
    )
    store.passed_over = [PassedOver("knowledge/l.md", "skipped-link", "it is a link")]
    for _ in range(2):
        report = lint_stores(_alone(store))
        assert _rows(report) == [
            ("bad-registry", ".counterfoil/sources.json"),
            ("duplicate-source-hash", ".counterfoil/sources.json"),
            ("skipped-link", "l.md"),
        ]
        assert [found.spot for found in report.findings if found.code == "skipped-link"] == [None]


def test_a_lint_without_a_change_looks_at_no_page() -> None:
    """lint-incremental: What was found is said again, and nothing is checked."""
    store = ListStore(_page("a", "gone"), _page("b", "a"))
    first = lint_stores(_alone(store))
    store.asked.clear()
    assert lint_stores(_alone(store)) == first
    assert store.asked == ["refresh"]


def test_a_lint_after_a_change_looks_at_the_pages_that_it_concerns() -> None:
    """lint-incremental: And says what a new lint would, with what it counts."""
    store = ListStore(*(_page(f"p{number}", f"p{number + 1}") for number in range(6)))
    lint_stores(_alone(store))
    silenced = (Silence("missing-citation", "why", 9),)
    changes: list[Page | str] = [
        _page("p3", "gone", "p4"),
        "knowledge/p5.md",
        _page("p9", links=(Link("p0", 3, 4),)),
        _page("p1", "p2", silences=silenced),
        "knowledge/p9.md",
    ]
    for change in changes:
        if isinstance(change, str):
            store.take(change)
        else:
            store.put(change)
        store.asked.clear()
        again = lint_stores(_alone(store))
        assert "pages" not in store.asked
        assert again == lint_stores(_alone(ListStore(*store.there.values())))


@pytest.mark.parametrize("what", ["forgotten", "registry", "ancestor-registry"])
def test_a_lint_that_cannot_know_what_changed_checks_everything(what: str) -> None:
    """lint-incremental: Too much changed, or something that is no page."""
    store, above = ListStore(_page("a", sources=(Written("s1", 0),))), ListStore()
    visible = VisibleStores(run=_R2, stores={HERE: store, _OF_R1: above})
    assert _rows(lint_stores(visible)) == [("missing-source", "a.md")]
    store.asked.clear()
    store.is_remembered = what != "forgotten"
    if what == "registry":
        store.registry = SourceRegistry(anchors={"s1": frozenset()})
    if what == "ancestor-registry":  # only the own one is asked about own pages
        above.registry = SourceRegistry(anchors={"s1": frozenset()})
    report = lint_stores(visible)
    assert ("pages" in store.asked) == (what != "ancestor-registry")
    assert _rows(report) == ([] if what == "registry" else [("missing-source", "a.md")])


def test_a_change_of_an_ancestor_concerns_those_who_refer_to_it() -> None:
    """lint-incremental: Its own findings are another's."""
    own = ListStore(_page("a", "x"), _page("b", "a"))
    above = ListStore(_page("x", "gone"))
    visible = VisibleStores(run=_R2, stores={HERE: own, _OF_R1: above})
    assert _rows(lint_stores(visible)) == []
    own.asked.clear()
    above.take("knowledge/x.md")
    assert _rows(lint_stores(visible)) == [("missing-citation", "a.md")]
    assert "pages" not in own.asked
    assert "knowledge/b.md" not in own.asked


def test_pages_that_rest_on_one_taken_back_are_checked_as_a_whole() -> None:
    """lint-incremental: When one is taken back, and when it is taken back no more."""
    taken = Invalidation(observed_at="2026-02-03T04:05:06Z", reason="outliers")
    store = ListStore(_page("a", "b"), _page("b", "c"), _page("c"))
    visible = _alone(store)
    assert _rows(lint_stores(visible)) == []
    store.put(_page("c", invalidation=taken))
    resting = [("cites-invalidated", "a.md"), ("cites-invalidated", "b.md")]
    assert _rows(lint_stores(visible)) == resting
    store.put(_page("d"))
    report = lint_stores(visible)
    assert _rows(report) == resting
    assert [found.line for found in report.findings if found.severity == "warning"] == [_LINE] * 2
    store.put(_page("c"))
    assert _rows(lint_stores(visible)) == []
    store.put(_page("e"))
    assert _rows(lint_stores(visible)) == []


def test_what_rests_on_a_page_of_another_origin_is_reported_where_it_stands() -> None:
    """lint: An ancestor's page that rests on one taken back is not the run's finding."""
    taken = Invalidation(observed_at="2026-02-03T04:05:06Z", reason="outliers")
    own = ListStore(_page("a", "b"))
    above = ListStore(_page("b", "c"), _page("c", invalidation=taken))
    report = lint_stores(VisibleStores(run=_R2, stores={HERE: own, _OF_R1: above}))
    assert _rows(report) == [("cites-invalidated", "a.md")]
    assert report.findings[-1].message.endswith("a → b → c")


def test_a_strict_lint_has_an_error_more_for_what_is_not_written() -> None:
    """kb-commands: Beside the other findings, in their order."""
    store = ListStore(_page("a", "gone"), _page("b", "a", is_title_written=True))
    visible = _alone(store)
    report = with_literals(lint_stores(visible), visible)
    assert _rows(report) == [("no-literal-title", "a.md"), ("missing-citation", "a.md")]


# --- before -------------------------------------------------------------------


@dataclass
class Before:
    """What stood in a store before, as far as it is another now."""

    changed: Mapping[str, Page | None]
    sources: SourceRegistry | None = None

    def pages(self) -> Mapping[str, Page | None]:
        return self.changed

    def registry(self) -> SourceRegistry | None:
        return self.sources


def _before(store: ListStore, history: History | None) -> set[tuple[str, str]]:
    found: list[Finding] = findings_before(_alone(store), lambda _: history)
    return {(one.code, one.path.removeprefix("knowledge/")) for one in found} - {
        ("orphan", "a.md"), ("orphan", "b.md"), ("no-outlinks", "a.md"), ("no-outlinks", "b.md"),
    }  # fmt: skip


def test_findings_before_are_those_of_the_pages_of_then() -> None:
    """lint-since: Changed pages as they were, new ones away, deleted ones back."""
    store = ListStore(_page("a", "b"), _page("new", "gone"))
    then = Before({
        "knowledge/a.md": _page("a", "gone"),
        "knowledge/new.md": None,
        "knowledge/b.md": _page("b", "a", sources=(Written("s1", 0),)),
    })  # fmt: skip
    assert _before(store, then) == {("missing-citation", "a.md"), ("missing-source", "b.md")}
    with_source = replace(then, sources=SourceRegistry(anchors={"s1": frozenset()}))
    assert _before(store, with_source) == {("missing-citation", "a.md")}


def test_a_store_without_a_history_is_taken_as_it_is() -> None:
    """lint-since: What it has now it had before."""
    store = ListStore(_page("a", "gone", silences=(Silence("missing-citation", "why", 9),)))
    assert _before(store, None) == {("missing-citation", "a.md")}
