"""What a reply has in double brackets is read as in the body of a page."""

import gc
import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from counterfoil.core.refs.cited_pages import is_meant_as_handle
from counterfoil.wire.reply_handles import find_bracketed

_CASES = json.loads((Path(__file__).parents[1] / "vectors/wikilinks.json").read_text("utf-8"))


@pytest.mark.parametrize("case", _CASES["cases"], ids=lambda case: case["id"])
def test_a_reply_has_the_links_of_a_body(case: dict[str, Any]) -> None:
    """cited-pages: The same scanner, the same vectors."""
    found = find_bracketed(case["body"])
    assert [one.handle for one in found] == [link["target"] for link in case["expect"]]
    for one, link in zip(found, case["expect"], strict=True):
        assert one.whole.startswith(one.handle)
        if "section" in link:
            assert one.whole.endswith(link["section"])


def _meant(reply: str) -> list[str]:
    return [one.handle for one in find_bracketed(reply) if is_meant_as_handle(one)]


@pytest.mark.parametrize(
    ("reply", "handles"),
    [
        ("", []),
        ("No page.", []),
        ("See [[prior-result|there]] and [[shared::calibration#Limits]].", None),
        ("`[[x]]` and\n\n```sh\nif [[ -f x ]]; then [[y]]\n```\n", []),
        ("if [[ -f x ]]; then; [[ $a == b ]] || [[ -n $b ]]", []),
        ("The matrix is [[1,2],[3,4]], transposed [[1,3],[2,4]].", []),
        ("a row [[1, 2]] and [[0.5 -1e3 nan]]", []),
        ("C++ has [[nodiscard]] and [[gnu::packed]], grep has [[:space:]].", []),
        ("[[1]](https://example.org)", []),
        ("x\r\n![[here::a]]\r\n", ["here::a"]),
        ("| [[a\\|the first]] | [[b]] |", ["a", "b"]),
        ("half of [[a\ud800]]", ["a?"]),
        ("[[a\x00b]]", ["a\x00b"]),
    ],
)
def test_what_is_no_handle_is_not_taken_for_one(reply: str, handles: list[str] | None) -> None:
    """cited-pages: Code, shell, matrices, attributes."""
    assert _meant(reply) == (
        ["prior-result", "shared::calibration"] if handles is None else handles
    )


def test_a_section_stays_with_what_stands_before_it() -> None:
    """cited-pages: An id may hold the sign that begins a section."""
    (one,) = find_bracketed("[[c#]]")
    assert (one.handle, one.whole, one.is_spaced) == ("c", "c#", False)
    (spaced,) = find_bracketed("x ![[ c^1 | l ]]")
    assert (spaced.handle, spaced.whole, spaced.is_spaced) == ("c", "c^1", True)


@pytest.mark.parametrize("piece", ["[[a]] ", "[[", "[[a|", "`[[a]]` ", "[[a]]\n", "![[a#b]]"])
def test_reading_takes_linear_time(piece: str) -> None:
    """cited-pages: A reply twice as long takes about twice as long."""

    def seconds(count: int) -> float:
        gc.collect()
        gc.disable()  # whose work depends on all that other tests left behind
        try:
            began = process_time()
            find_bracketed(piece * count)
            return process_time() - began
        finally:
            gc.enable()

    once, twice = (min(seconds(count) for _ in range(3)) for count in (20_000, 40_000))
    assert twice < max(4 * once, 0.5)
