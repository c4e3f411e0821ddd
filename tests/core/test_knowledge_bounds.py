"""Bounds of findings, graphs and inspections: at them, under, over."""

import itertools

import pytest

from counterfoil.core.ids import HERE, PageId
from counterfoil.core.knowledge.chain import ChainSnapshot, Store, single_store
from counterfoil.core.knowledge.checks import page_findings
from counterfoil.core.knowledge.graph import SHARED_BY_MOST, graph_of
from counterfoil.core.knowledge.inspection import inspect_chain, relations_of_page
from counterfoil.core.knowledge.lint import lint_chain
from counterfoil.core.knowledge.pages import Invalidation, Link, Page, Written


def _page(name: str, *, cites: str | None = None, title: str | None = None) -> Page:
    return Page(
        path=f"knowledge/{name}.md",
        id=PageId(name),
        title=title or name,
        cites=() if cites is None else (Written(cites),),
    )


@pytest.mark.parametrize(("pages", "is_joined"), [(63, True), (64, True), (65, False)])
def test_a_source_joins_its_pages_up_to_a_bound(pages: int, is_joined: bool) -> None:  # noqa: FBT001
    """graph: A source of more pages joins none, and is named."""
    assert SHARED_BY_MOST == 64
    chain = single_store(
        Page(
            path=f"knowledge/{number}.md",
            id=PageId(str(number)),
            title=str(number),
            sources=(Written("s1"),),
        )
        for number in range(pages)
    )
    graph = graph_of(chain, list(chain))
    assert len(graph.edges) == (pages * (pages - 1) if is_joined else 0)
    assert graph.left_out == (() if is_joined else ("s1",))


@pytest.mark.parametrize(("others", "rest"), [(9, ""), (10, ""), (11, " and 1 more")])
def test_a_message_names_ten_pages_and_counts_the_rest(others: int, rest: str) -> None:
    """lint: Every bounded list carries its exact count."""
    chain = single_store(_page(f"p{number:02}", title="Same") for number in range(others + 1))
    first = next(iter(chain))
    titles = [found for found in page_findings(chain, first) if found.code == "duplicate-title"]
    assert titles[0].message.count("knowledge/") == min(others, 10)
    assert titles[0].message.endswith(f"(here){rest}")
    assert len(titles[0].candidates) == min(others, 10)


@pytest.mark.parametrize(("length", "shown"), [(4, "a → 1 → 2 → 3 → z"), (5, "(1 more)")])
def test_a_long_way_to_a_page_taken_back_is_shown_by_its_beginning(length: int, shown: str) -> None:
    """lint: `cites-invalidated` shows the way, and how much of it is left out."""
    names = ["a", *map(str, range(1, length)), "z"]
    pages = [_page(name, cites=after) for name, after in itertools.pairwise(names)]
    target = Page(
        path="knowledge/z.md",
        id=PageId("z"),
        title="z",
        invalidation=Invalidation(observed_at="2026-02-03T04:05:06Z", reason="again"),
    )
    found = [
        one
        for one in lint_chain(single_store([*pages, target])).findings
        if one.code == "cites-invalidated" and one.page == "a"
    ]
    assert len(found) == 1
    assert shown in found[0].message


def test_an_origin_that_is_not_there_has_no_finding_and_no_page() -> None:
    """lint: Nothing checked is empty."""
    assert lint_chain(ChainSnapshot([])).outcome == "empty"
    assert lint_chain(ChainSnapshot([Store(origin=HERE, pages=())])).outcome == "empty"


def test_an_inspection_counts_and_names_the_most_referred() -> None:
    """kb-commands: Pages, relations, sources, and the pages that most others refer to."""
    chain = single_store([_page("a", cites="c"), _page("b", cites="c"), _page("c")])
    found = inspect_chain(chain)
    assert found.pages == {HERE: 3}
    assert found.relations["citation"] == 2
    assert [(address.id, degrees.incoming) for address, degrees in found.most_referred] == [
        ("c", 2)
    ]
    assert found.digest == chain.digest


def test_a_page_is_shown_with_those_that_refer_to_it_and_no_others() -> None:
    """kb-commands: A page that writes its name without meaning it is none of them."""
    near = Page(
        path="knowledge/n.md",
        id=PageId("n"),
        title="n",
        links=(Link("x/c", 1, 1), Link("n", 1, 9)),
        contradicts=(Written("a"),),
    )
    chain = single_store([_page("a", cites="c"), _page("c"), near])
    by_id = {visible.page.id: visible for visible in chain}
    found = relations_of_page(chain, by_id[PageId("c")])
    assert [other.page.id for other in found.referred_by] == ["a"]
    shown = relations_of_page(chain, by_id[PageId("n")])
    assert [row.verdict for row in shown.links] == ["missing", "resolved"]
    assert [row.verdict for row in shown.contradicts] == ["resolved"]
    assert [row.verdict for row in relations_of_page(chain, by_id[PageId("a")]).cites] == [
        "resolved"
    ]
