"""What a handle means, as JSON."""

import pytest

from counterfoil.core.ids import HERE, SHARED
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.resolution import resolve_handle
from counterfoil.wire.handle_verdicts import resolution_to_json
from counterfoil.wire.pages import read_page

PAGE = read_page(
    b"---\nid: port\n---\nThe port.\n", "knowledge/port.md", pages_directory="knowledge"
)
CHAIN = ChainSnapshot([Store(origin=HERE, pages=(PAGE.page,)), Store(origin=SHARED, pages=())])


@pytest.mark.parametrize(
    ("handle", "verdict", "candidates"),
    [
        ("port", "resolved", [{"handle": "here::port", "path": "runs/one/knowledge/port.md"}]),
        ("harbour", "missing", []),
    ],
)
def test_a_handle_has_its_verdict_and_candidates(
    handle: str, verdict: str, candidates: list[dict[str, str]]
) -> None:
    """page-resolution: Every candidate has a handle of its own, and its path."""
    value = resolution_to_json(resolve_handle(CHAIN, handle), {HERE: "runs/one/"})
    assert value == {"handle": handle, "verdict": verdict, "candidates": candidates}


def test_a_malformed_handle_says_why() -> None:
    """page-resolution: The reason is its code."""
    value = resolution_to_json(resolve_handle(CHAIN, "here::"), {})
    assert (value["verdict"], value["reason"], value["candidates"]) == ("malformed", "blank-id", [])
