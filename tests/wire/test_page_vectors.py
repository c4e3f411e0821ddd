"""Every case of the normative vectors of frontmatter and of links, each by its id."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from counterfoil.core.knowledge.pages import FieldSpot, Page, Spot, Written
from counterfoil.core.refs.pages import Malformed, parse_handle
from counterfoil.wire.page_body import read_body
from counterfoil.wire.pages import locate, read_page

Case = dict[str, Any]

_VECTORS = Path(__file__).parents[1] / "vectors"


def _cases(name: str) -> list[Any]:
    document = json.loads((_VECTORS / name).read_bytes())
    assert document["format"] == 1
    return [pytest.param(case, id=case["id"]) for case in document["cases"]]


def _content(case: Case) -> bytes:
    if "base64" in case:
        return base64.b64decode(case["base64"], validate=True)
    parts = case.get("textParts", [[case.get("text", ""), 1]])
    return "".join(text * times for text, times in parts).encode()


def _malformed(items: tuple[Written, ...]) -> dict[str, int | None]:
    """Return the texts that are no handles, each with its first place: the audit finds them."""
    bad: dict[str, int | None] = {}
    for text, item in items:
        if isinstance(parse_handle(text), Malformed):
            bad.setdefault(text, item)
    return bad


def _findings(page: Page) -> Iterator[tuple[str, Spot]]:
    yield from ((fault.code, fault.spot) for fault in page.faults)
    for field, items in (("cites", page.cites), ("contradicts", page.contradicts)):
        for item in _malformed(items).values():
            yield "malformed-citation", FieldSpot(field, item)


def _texts(items: tuple[Written, ...]) -> list[str]:
    malformed = _malformed(items)
    return [text for text, _ in items if text not in malformed]


def _as_json(page: Page) -> dict[str, Any]:
    """Return the page as the vectors write it: what is empty or absent is left out."""
    found = page.invalidation
    invalidation = found and {
        "verdict": "contradicted",
        "observedAt": found.observed_at,
        "reason": found.reason,
        "evidencePath": found.evidence_path,
        "grader": found.grader,
        **dict(found.more),
    }
    shown = page.evidence
    evidence = shown and {
        "rung": shown.rung,
        "check": shown.check,
        "expect": shown.expect,
        "evidencePath": shown.evidence_path,
    }
    written: dict[str, Any] = {
        "id": page.id,
        "title": page.title,
        "cites": _texts(page.cites),
        "contradicts": _texts(page.contradicts),
        "sources": _texts(page.sources),
        "tags": list(page.tags),
        "kind": page.kind,
        "aliases": list(page.aliases),
        "invalidation": invalidation and {k: v for k, v in invalidation.items() if v is not None},
        "evidence": evidence and {k: v for k, v in evidence.items() if v is not None},
    }
    return {key: value for key, value in written.items() if value}


@pytest.mark.parametrize("case", _cases("frontmatter.json"))
def test_a_page_is_read_as_the_vector_says(case: Case) -> None:
    """frontmatter: State, raw mapping, fields, body and findings are those of the vector."""
    content, expect = _content(case), case["expect"]
    read = read_page(content, case.get("path", "knowledge/page.md"))
    assert read.page.frontmatter == expect["frontmatter"]
    if "fields" in expect:
        assert read.fields == expect["fields"]
        assert repr(read.fields) == repr(expect["fields"])  # 1 is not 1.0, nor true
    assert _as_json(read.page) == expect["page"]
    assert read.body == expect["body"]
    found = list(_findings(read.page))
    places = locate(content, [spot for _, spot in found])
    lines = sorted((code, places[spot].line) for code, spot in found)
    wanted = sorted((row["code"], row.get("line", 0)) for row in expect["findings"])
    assert [code for code, _ in lines] == [code for code, _ in wanted]
    assert [row for row, (_, line) in zip(lines, wanted, strict=True) if line] == [
        row for row in wanted if row[1]
    ]


@pytest.mark.parametrize("case", _cases("wikilinks.json"))
def test_the_links_of_a_body_are_those_of_the_vector(case: Case) -> None:
    """wikilinks: Target, section, label, embed, line and column are those of the vector."""
    rows = []
    for link in read_body(case["body"]).links:
        row = {
            "target": link.target,
            "line": link.line,
            "column": link.column,
            "section": link.section,
            "label": link.label,
            "embed": link.is_embed,
        }
        rows.append({key: value for key, value in row.items() if value})
    assert rows == case["expect"]
