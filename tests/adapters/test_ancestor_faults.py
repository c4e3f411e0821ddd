"""The twenty kinds of fault that reviewers found in the ancestor, each told apart from ours.

Each test says what is right as a question, shows that the ancestor's behaviour, written
out in small, answers it wrongly, and that ours answers it rightly.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from adapters.stores import lint, opened, write_files
from counterfoil.adapters.files.run_lineage import FileLineage
from counterfoil.adapters.files.run_places import FileRunPlaces
from counterfoil.core.errors import ConflictError, CounterfoilError, InvalidIdError
from counterfoil.core.ids import HERE, Origin, PageId, RunId
from counterfoil.core.knowledge.audit import BrokenCitationsError, assert_citations, audit_citations
from counterfoil.core.knowledge.chain import ChainSnapshot, Store, single_store
from counterfoil.core.knowledge.codes import CODES
from counterfoil.core.knowledge.findings import Finding
from counterfoil.core.knowledge.graph import graph_of
from counterfoil.core.knowledge.lineage import lineage_of
from counterfoil.core.knowledge.lint import lint_chain
from counterfoil.core.knowledge.pages import Page
from counterfoil.core.knowledge.resolution import resolve_handle, resolve_link
from counterfoil.core.refs import pages as handles
from counterfoil.core.refs.pages import Malformed, PageReference, format_handle, parse_handle
from counterfoil.engine.chains import load_chain
from counterfoil.engine.run_stores import Runs
from counterfoil.wire.findings import finding_to_json
from counterfoil.wire.pages import read_page

NOW = "2026-03-01T09:00:00.000Z"


def _page(path: str, text: str) -> Page:
    return read_page(text.encode(), f"knowledge/{path}").page


def _store(**texts: str) -> ChainSnapshot:
    return single_store(_page(f"{name}.md", text) for name, text in texts.items())


def _codes(chain: ChainSnapshot) -> list[str]:
    return [finding.code for finding in lint_chain(chain).findings]


def _stores(root: Path) -> Runs:
    places = FileRunPlaces(root)
    return Runs(places, FileLineage(places, lambda: NOW))


def test_g1_two_references_never_share_a_handle() -> None:
    """ancestor-faults: G1: `::` in ids: written plainly, two references are one text."""

    def ancestor(origin: str | None, page: str) -> str:
        return page if origin is None else f"{origin}::{page}"

    def ours(origin: str | None, page: str) -> str:
        return format_handle(PageReference(Origin(origin) if origin else None, PageId(page)))

    def is_injective(write: Callable[[str | None, str], str]) -> bool:
        return write(None, "here::x") != write("here", "x")

    assert not is_injective(ancestor)
    assert is_injective(ours)
    assert parse_handle(ours(None, "here::x")) == PageReference(None, PageId("here::x"))


def test_g2_a_qualified_citation_makes_the_edge_that_it_means() -> None:
    """ancestor-faults: G2: the qualifier dropped, `shared::x` is an edge to a local `x`."""
    chain = _store(p="---\ncites: [shared::x, here::y]\n---\n", x="", y="")

    def ancestor(page: Page) -> list[str]:
        return [item.text.rpartition("::")[2] for item in page.cites]

    page = next(visible.page for visible in chain if visible.page.id == "p")
    assert "x" in ancestor(page)
    assert [edge.target.id for edge in graph_of(chain, list(chain)).edges] == ["y"]


def test_g3_weights_and_degrees_are_those_of_the_golden_page() -> None:
    """ancestor-faults: G3: two links, two citations of one page, one source in common."""
    chain = _store(
        a="---\ncites: [b, here::b]\nsources: s1\n---\n[[b]] [[b]]\n", b="---\nsources: s1\n---\n"
    )
    edge = graph_of(chain, list(chain)).edges[0]
    ancestor = 2 + 2 + 0.5
    assert edge.weight != ancestor
    assert (edge.weight, edge.reasons) == (3.5, ("wikilink", "citation", "shared-source"))
    assert list(graph_of(chain, list(chain)).degrees.values()) == [(2, 0), (0, 2)]


@pytest.mark.parametrize(("ancestors", "is_accepted"), [(63, True), (64, True), (65, False)])
def test_g4_exactly_the_bound_of_ancestors_is_accepted(ancestors: int, is_accepted: bool) -> None:  # noqa: FBT001
    """ancestor-faults: G4: sixty-four queries find sixty-four ancestors, and not their end."""

    def parent_of(run: RunId) -> RunId | None:
        number = int(run)
        return RunId(str(number - 1)) if number else None

    def ancestor(count: int) -> bool:
        run, found = RunId(str(count)), 0
        for _ in range(64):
            parent = parent_of(run)
            if parent is None:
                return True
            run, found = parent, found + 1
        return False

    assert ancestor(64) is False
    if is_accepted:
        found = lineage_of(RunId(str(ancestors)), parent_of, max_ancestors=64)
        assert len(found) == ancestors
    else:
        with pytest.raises(ConflictError):
            lineage_of(RunId(str(ancestors)), parent_of, max_ancestors=64)


@pytest.mark.parametrize("run", ["../out", "a/../../out", "..", "a\\b", "a\0b"])
def test_g5_no_run_id_leads_out_of_the_root(run: str, tmp_path: Path) -> None:
    """ancestor-faults: G5: a run id joined to the root as it is."""
    root = tmp_path / "runs"
    root.mkdir()
    joined = Path(f"{root}/{run}/knowledge-base".replace("\\", "/").replace("\0", "/../../"))
    assert joined.resolve().parent.parent != root.resolve()
    with pytest.raises(InvalidIdError):
        _stores(root).init(run)
    assert [path.name for path in tmp_path.rglob("*")] == ["runs"]


def test_g6_a_broken_citation_is_seen_by_a_plain_lint() -> None:
    """ancestor-faults: G6: a lint that looks at links alone."""
    chain = _store(p="---\ncites: gone\n---\n[[q]]\n", q="[[p]]")

    def ancestor(store: ChainSnapshot) -> list[str]:
        links = [link for visible in store for link in visible.page.links]
        return ["broken-link" for link in links if not resolve_link(store, link.target).candidates]

    assert ancestor(chain) == []
    assert _codes(chain) == ["missing-citation"]


def test_g7_one_malformed_citation_stops_nothing() -> None:
    """ancestor-faults: G7: a parse that raises takes every other finding with it."""
    chain = _store(p="---\ncites: ['here::', gone]\n---\n", q="---\ncites: lost\n---\n")

    def ancestor(store: ChainSnapshot) -> list[str]:
        found: list[str] = []
        for visible in store:
            for item in visible.page.cites:
                reference = parse_handle(item.text)
                if isinstance(reference, Malformed):
                    raise TypeError(item.text)
                found.append(item.text)
        return found

    with pytest.raises(TypeError):
        ancestor(chain)
    found = Counter(finding.code for finding in audit_citations(chain).findings)
    assert found == {"malformed-citation": 1, "missing-citation": 2}


def test_g8_the_hint_names_the_run() -> None:
    """ancestor-faults: G8: `inherited:<run>::x` with nobody's name in it."""
    stores = [
        Store(origin=HERE, pages=(_page("p.md", "---\ncites: x\n---\n"), _page("x.md", ""))),
        Store(origin=Origin("inherited:run-7"), pages=(_page("x.md", ""),)),
    ]
    finding = audit_citations(ChainSnapshot(stores, run=RunId("run-8"))).findings[0]
    ancestor = "'x' matches 2 visible pages; use here::x, inherited:<run>::x or shared::x"
    assert "inherited:run-7::x" not in ancestor
    assert "inherited:run-7::x" in finding.message
    assert finding.handles == ("here::x", "inherited:run-7::x")


def test_g9_a_self_citation_has_its_own_code() -> None:
    """ancestor-faults: G9: told as a broken citation, and what it hides not told at all."""
    chain = _store(p="---\nid: k\ncites: k\n---\n", q="---\nid: k\n---\n")
    finding = audit_citations(chain).findings[0]
    ancestor = "broken-citation"
    assert finding.code not in {ancestor, "missing-citation"}
    assert (finding.code, finding.hides_ambiguity) == ("self-citation", True)


def test_g10_every_public_function_works_over_stores_on_a_disk(tmp_path: Path) -> None:
    """ancestor-faults: G10: wrappers that no test ever called."""
    stores = _stores(tmp_path / "runs")
    stores.init("r1")
    stores.init("r2", "r1")
    write_files(
        tmp_path / "runs",
        {
            "r1/knowledge-base/knowledge/x.md": "---\nid: x\n---\n",
            "r2/knowledge-base/knowledge/p.md": "---\ncites: [x, gone]\n---\n",
        },
    )
    assert stores.runs() == ("r1", "r2")
    assert stores.lineage("r2") == ("r1",)
    with opened(tmp_path, "r2") as visible:
        chain = load_chain(visible)
    assert resolve_handle(chain, "x").verdict == "resolved"
    assert [found.code for found in audit_citations(chain).findings] == ["missing-citation"]
    with pytest.raises(BrokenCitationsError) as caught:
        assert_citations(chain)
    assert caught.value.report.checked.citations == 2
    assert [found.code for found in lint(tmp_path, "r2").findings] == [
        "orphan",
        "missing-citation",
    ]


def test_g11_a_link_to_two_pages_is_an_ambiguity() -> None:
    """ancestor-faults: G11: the later page wins."""
    chain = _store(p="[[k]]", x="---\nid: k\n---\n", y="---\nid: k\n---\n")
    ancestor = {visible.page.id: visible.page.path for visible in chain}
    assert ancestor[PageId("k")] == "knowledge/y.md"
    assert resolve_link(chain, "k").verdict == "ambiguous"
    assert "ambiguous-link" in _codes(chain)
    assert graph_of(chain, list(chain)).edges == ()


def test_g12_a_citation_written_again_weighs_nothing_more() -> None:
    """ancestor-faults: G12: each occurrence counted."""
    chain = _store(p="---\ncites: [x, x, here::x, ' x ']\n---\n", x="")
    ancestor = len(next(visible.page.cites for visible in chain if visible.page.id == "p"))
    edge = graph_of(chain, list(chain)).edges[0]
    assert (ancestor, edge.weight) == (4, 1)


def test_g13_pages_of_one_id_share_a_source_each_for_itself() -> None:
    """ancestor-faults: G13: keyed by id, the weights add up, and a page is its own neighbour."""
    chain = _store(
        x="---\nid: k\nsources: s1\n---\n",
        y="---\nid: k\nsources: s1\n---\n",
        z="---\nid: z\nsources: s1\n---\n",
    )
    edges = graph_of(chain, list(chain)).edges
    ancestor = Counter((edge.source.id, edge.target.id) for edge in edges)
    assert ancestor[PageId("z"), PageId("k")] * 0.5 == 1
    assert {edge.weight for edge in edges} == {0.5}
    assert all(edge.source != edge.target for edge in edges)


@pytest.mark.parametrize("parent", ["nobody", "child"])
def test_g14_a_refused_init_leaves_the_disk_as_it_was(parent: str, tmp_path: Path) -> None:
    """ancestor-faults: G14: the scaffold first, and the refusal after it."""

    def ancestor(root: Path) -> None:
        (root / "child" / "knowledge-base").mkdir(parents=True)
        raise CounterfoilError("refused")

    with pytest.raises(CounterfoilError):
        ancestor(tmp_path / "theirs")
    assert (tmp_path / "theirs" / "child").exists()
    with pytest.raises(CounterfoilError):
        _stores(tmp_path / "runs").init("child", parent)
    assert not (tmp_path / "runs" / "child").exists()


def test_g15_a_value_cannot_be_changed() -> None:
    """ancestor-faults: G15: a record frozen at its top alone."""
    page = _page("p.md", "---\ncites: [x]\n---\n")
    ancestor: dict[str, list[str]] = {"cites": ["x"]}
    ancestor["cites"].append("y")
    assert ancestor["cites"] == ["x", "y"]
    with pytest.raises(FrozenInstanceError):
        page.cites = ()  # type: ignore[misc]
    assert isinstance(page.cites, tuple)


@pytest.mark.parametrize("blank", ["", "  ", "\t"])
def test_g16_a_blank_citation_is_malformed(blank: str) -> None:
    """ancestor-faults: G16: a schema that asks for one character, untrimmed, or for none."""

    def ancestor(text: str) -> bool:
        return len(text) >= 1 or text == ""

    assert ancestor(blank)
    page = read_page(f'---\ncites: ["{blank}"]\n---\n'.encode(), "knowledge/p.md").page
    assert [fault.code for fault in page.faults] == ["malformed-citation"]
    assert page.cites == ()


def test_g17_an_item_that_is_no_text_does_not_vanish() -> None:
    """ancestor-faults: G17: only texts are looked at, and the rest is dropped."""
    read = read_page(b"---\ncites: [42, true, a]\n---\n", "knowledge/p.md")
    items = read.fields["cites"]
    assert isinstance(items, list)
    ancestor = [item for item in items if isinstance(item, str)]
    assert ancestor == ["a"]
    codes = [fault.code for fault in read.page.faults]
    assert codes == ["malformed-citation", "malformed-citation"]


@pytest.mark.parametrize(
    ("written", "resolved"),
    [
        ("x", ["x"]),
        ("[x]", ["x"]),
        ("[x, here::x]", ["x", "x"]),
        ("\n  - here::x\n  - x", ["x", "x"]),
        ("knowledge-ref:v1:%5Bnull%2C%22x%22%5D", ["x"]),
    ],
)
def test_g18_every_way_of_writing_a_citation_is_loaded_and_resolved(
    written: str, resolved: list[str]
) -> None:
    """ancestor-faults: G18: scalar, list, inline, qualified, encoded; the ancestor tested none."""
    chain = _store(p=f"---\ncites: {written}\n---\n", x="")
    page = next(visible.page for visible in chain if visible.page.id == "p")
    found = [resolve_handle(chain, item.text).page for item in page.cites]
    assert [visible.page.id for visible in found if visible is not None] == resolved


def test_g19_a_code_that_a_reader_does_not_know_has_a_severity() -> None:
    """ancestor-faults: G19: a closed union of types, which a new one breaks."""
    ancestor = {"missing-source", "broken-link"}
    assert set(CODES) - ancestor
    for code in CODES:
        finding = Finding(code=code, origin=HERE, path="knowledge/a.md", spot=None, message="m")
        assert finding_to_json(finding, {})["severity"] in {"error", "warning", "info"}


def test_g20_the_grammar_of_a_handle_stands_where_it_is_read() -> None:
    """ancestor-faults: G20: a comment that says "page ids"."""
    ancestor = "ids of the pages that this page cites"
    text = handles.__doc__ or ""
    for form in ("here", "shared", "inherited:", "knowledge-ref:v1:"):
        assert form not in ancestor
        assert form in text


def test_e1_a_chain_is_loaded_once_and_asked_many_times(tmp_path: Path) -> None:
    """ancestor-faults: E1: each question reads the whole chain again."""
    write_files(tmp_path, {"knowledge/x.md": "", "knowledge/p.md": "---\ncites: x\n---\n"})
    with opened(tmp_path) as visible:
        chain = load_chain(visible)
    for path in tmp_path.rglob("*.md"):
        path.unlink()
    assert [resolve_handle(chain, "x").verdict for _ in range(3)] == ["resolved"] * 3
