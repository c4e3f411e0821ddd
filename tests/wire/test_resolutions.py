"""What another implementation resolved: read strictly, or refused with the place."""

import json
from typing import Any

import pytest

from counterfoil.core.digests import tagged_digest
from counterfoil.core.errors import UnreadableError
from counterfoil.core.ids import HERE, SHARED, Origin
from counterfoil.core.knowledge.judged import Judged, Place
from counterfoil.wire.resolutions import ForeignResolutions, read_resolutions

ROW: dict[str, Any] = {
    "page": "knowledge/fit.md",
    "written": "slope",
    "verdict": "resolved",
    "candidates": [{"origin": "shared", "path": "knowledge/slope.md"}],
}


def _read(*rows: dict[str, Any], **more: object) -> ForeignResolutions:
    document = {"schema": 1, "resolutions": list(rows), **more}
    return read_resolutions(json.dumps(document).encode(), name="theirs.json")


def test_every_row_is_a_judgement() -> None:
    """migrate: The origin of a page is `here` where it is left out."""
    two = [{"origin": "here", "path": "a.md"}, {"origin": "inherited:r1", "path": "a.md"}]
    found = _read(
        ROW,
        {**ROW, "origin": "shared", "verdict": "missing", "candidates": []},
        {**ROW, "written": "here::", "verdict": "malformed", "candidates": []},
        {**ROW, "written": "a", "verdict": "ambiguous", "candidates": two},
        {"page": "p.md", "written": "x", "verdict": "missing"},
    )
    fit = Place(HERE, "knowledge/fit.md")
    assert found.judged == (
        Judged(fit, "slope", "resolved", (Place(SHARED, "knowledge/slope.md"),)),
        Judged(Place(SHARED, "knowledge/fit.md"), "slope", "missing"),
        Judged(fit, "here::", "malformed"),
        Judged(
            fit,
            "a",
            "ambiguous",
            (Place(HERE, "a.md"), Place(Origin("inherited:r1"), "a.md")),
        ),
        Judged(Place(HERE, "p.md"), "x", "missing"),
    )


def test_the_digest_is_that_of_the_file() -> None:
    """migrate: The record of a switch names what was compared with."""
    content = b'{"schema": 1, "resolutions": []}\n'
    assert read_resolutions(content) == ForeignResolutions((), tagged_digest(content))


def test_a_row_that_is_there_twice_is_read_once() -> None:
    """migrate: The same answer again is no other answer."""
    assert len(_read(ROW, ROW).judged) == 1


def test_two_answers_to_one_citation_are_refused() -> None:
    """migrate: Nobody can say which of them was meant."""
    other = {**ROW, "verdict": "missing", "candidates": []}
    with pytest.raises(UnreadableError, match=r"resolutions\[1\].*'slope'.*something else"):
        _read(ROW, other)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not-json"),
        (b"\xff", "not-utf8"),
        (b'{"schema": 1, "schema": 1, "resolutions": []}', "duplicate-key"),
        (b"[]", "object"),
        (b"{}", "schema"),
        (b'{"schema": 1}', "resolutions"),
        (b'{"schema": 2, "resolutions": []}', "2"),
        (b'{"schema": 1, "resolutions": {}}', "array"),
        (b'{"schema": 1, "resolutions": [], "more": 1}', "more"),
    ],
)
def test_another_document_is_refused(content: bytes, said: str) -> None:
    """migrate: The error names the file and what is wrong in it."""
    with pytest.raises(UnreadableError) as refused:
        read_resolutions(content, name="theirs.json")
    assert refused.value.found.startswith("theirs.json")
    assert said in refused.value.found
    assert '"resolutions"' in refused.value.expected


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"verdict": "ok"}, r"Invalid enum value 'ok'.*resolutions\[1\]\.verdict"),
        ({"verdict": None}, r"resolutions\[1\]\.verdict"),
        ({"written": 7}, r"resolutions\[1\]\.written"),
        ({"note": "x"}, r"note.*resolutions\[1\]"),
        ({"candidates": [{"path": "a.md"}]}, r"origin.*candidates\[0\]"),
        ({"candidates": [{"origin": "here", "path": "a", "id": "a"}]}, r"id.*candidates\[0\]"),
        ({"origin": "else"}, r"resolutions\[1\]: origin 'else'"),
        ({"candidates": [{"origin": "HERE", "path": "a"}]}, r"resolutions\[1\]: origin 'HERE'"),
    ],
)
def test_a_row_that_is_not_of_the_form_is_refused(change: dict[str, Any], said: str) -> None:
    """migrate: The error names the row and the field."""
    with pytest.raises(UnreadableError, match=said):
        _read({**ROW, "written": "first"}, {**ROW, **change})


@pytest.mark.parametrize(
    ("verdict", "count", "is_read"),
    [
        ("missing", 0, True),
        ("missing", 1, False),
        ("malformed", 0, True),
        ("malformed", 1, False),
        ("resolved", 0, False),
        ("resolved", 1, True),
        ("resolved", 2, False),
        ("ambiguous", 1, False),
        ("ambiguous", 2, True),
        ("ambiguous", 3, True),
    ],
)
def test_a_verdict_has_as_many_candidates_as_it_says(
    verdict: str,
    count: int,
    is_read: bool,  # noqa: FBT001 - a case
) -> None:
    """migrate: A row that contradicts itself is not compared with anything."""
    candidates = [{"origin": "here", "path": f"{number}.md"} for number in range(count)]
    row = {**ROW, "verdict": verdict, "candidates": candidates}
    if is_read:
        assert len(_read(row).judged[0].candidates) == count
    else:
        with pytest.raises(UnreadableError, match=f"is {verdict} with {count}"):
            _read(row)


def test_a_row_without_a_page_is_refused() -> None:
    """migrate: What is required is named."""
    row = {key: value for key, value in ROW.items() if key != "page"}
    with pytest.raises(UnreadableError, match="page"):
        _read(row)
