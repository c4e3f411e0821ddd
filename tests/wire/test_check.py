"""The document of `check --json`: its shape, its bytes, and what could not be read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from counterfoil.core.refs.cited import CitedEntries
from counterfoil.core.report import (
    CaveatRow,
    EvidenceRow,
    SourceReport,
    Spot,
    Summary,
    TurnReport,
)
from counterfoil.wire.check import could_not_tell, document, encode_json, printable

Make = Callable[..., Any]
Document = Any


_PUBLISHED = Path(__file__).parents[2] / "docs/reference/check.schema.json"


def _closed(schema: Document) -> Document:
    """Return `schema` with no key allowed that it does not name."""
    if isinstance(schema, list):
        return [_closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed


# Readers tolerate what they do not know; what is written here has all to be published.
DOCUMENT = _closed(json.loads(_PUBLISHED.read_bytes()))
SUMMARY = Summary(
    turns=1, replies=2, calls=3, supported=4, contradicted=5, not_established=6, silenced=7
)


def _read(
    *turns: TurnReport, path: str = "s.jsonl", caveats: tuple[CaveatRow, ...] = ()
) -> Document:
    source = SourceReport(
        path=path,
        format="fake",
        size=1,
        lines=2,
        records=3,
        repeated=4,
        threads=5,
        checked=("place", "source"),
        skipped={"blank": 1},
        unknown={"odd": 2},
    )
    written = b"".join(document(source, SUMMARY, caveats, turns))
    assert b"\n" not in written
    value = json.loads(written.decode())
    jsonschema.validate(value, DOCUMENT)
    return value


def test_a_document_holds_what_was_read(turn: Make) -> None:
    """check-document: Source and counts are those of the check, and the document is valid."""
    value = _read()
    assert value["turns"] == value["caveats"] == []
    assert value["source"] == {
        "path": "s.jsonl",
        "format": "fake",
        "bytes": 1,
        "lines": 2,
        "records": 3,
        "repeated": 4,
        "threads": 5,
        "skipped": {"blank": 1},
        "unknownKinds": {"odd": 2},
    }
    summary = value["summary"]
    assert (summary["outcome"], summary["turns"], summary["calls"]) == ("findings", 1, 3)
    assert summary["references"] == {
        "supported": 4,
        "contradicted": 5,
        "not_established": 6,
        "silenced": 7,
    }
    assert summary["checked"] == ["place", "source"]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_turns_are_written_one_behind_another(turn: Make, count: int) -> None:
    """check-document: In their order, each whole."""
    value = _read(*(turn(turn=number) for number in range(1, count + 1)))
    assert [one["turn"] for one in value["turns"]] == list(range(1, count + 1))


def test_a_turn_has_keys_for_what_there_is(turn: Make) -> None:
    """check-document: A parent, a sub-agent's file and cited entries, where there are any."""
    (plain,) = _read(turn())["turns"]
    assert not {"parent", "source", "unknownEntries", "citedEntries"} & set(plain)
    assert plain["cited"] is None
    cited = CitedEntries(cited=(1, 9, 2**53), missing=(9, 2**53), unchecked=2**53 - 1)
    inner = Spot(line=None, block=2, source="a.jsonl")
    full = turn(parent="t0", source="a.jsonl", cited=cited, ran="ran: x", replies=(inner,))
    (value,) = _read(full)["turns"]
    assert (value["parent"], value["source"], value["ran"]) == ("t0", "a.jsonl", "ran: x")
    assert value["cited"] == cited.line
    assert value["unknownEntries"] == [9, str(2**53)]
    assert value["citedEntries"] == {"checked": 3, "missing": 2, "unchecked": 2**53 - 1}
    assert value["replies"] == [{"line": None, "block": 2, "source": "a.jsonl"}]


def test_a_reference_has_its_place_and_what_decided(turn: Make, reference: Make) -> None:
    """check-document: Evidence has keys for what is known of it; a silence gives its reason."""
    found = reference(
        place=Spot(line=3, block=0, start=1, end=2, source="a.jsonl"),
        evidence=(
            EvidenceRow(what="x"),
            EvidenceRow(what="y", line=4, call="c1", source="a.jsonl"),
        ),
        silenced="known",
    )
    ((first, second),) = (one["references"] for one in _read(turn(found, reference()))["turns"])
    assert first == {
        "kind": "place",
        "verdict": "contradicted",
        "reason": "past-end",
        "text": "a.py:9",
        "place": {"line": 3, "block": 0, "start": 1, "end": 2, "source": "a.jsonl"},
        "evidence": [{"what": "x"}, {"line": 4, "call": "c1", "what": "y", "source": "a.jsonl"}],
        "silenced": "known",
    }
    assert second["evidence"] == []
    assert "silenced" not in second


def test_a_caveat_has_its_lines() -> None:
    """check-document: The first ten, the count of all, and the file where it is another."""
    rows = (
        CaveatRow(code="torn-line", count=2, line=3, lines=(3, 5), what="x"),
        CaveatRow(code="odd", count=1, line=None, lines=(), what="y", source="a.jsonl"),
    )
    assert _read(caveats=rows)["caveats"] == [
        {"code": "torn-line", "line": 3, "count": 2, "what": "x", "lines": [3, 5]},
        {"code": "odd", "line": None, "count": 1, "what": "y", "lines": [], "source": "a.jsonl"},
    ]


def test_lone_surrogates_are_written_as_escapes(turn: Make, reference: Make) -> None:
    """surrogates: The bytes are UTF-8, and what was read can be read again."""
    text = "a\ud800\u2028\x1b\U0001f600"
    value = _read(turn(reference(text=text), prompt=text), path=text)
    assert value["source"]["path"] == text
    assert value["turns"][0]["prompt"] == text
    assert value["turns"][0]["references"][0]["text"] == text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"a": [1, None, True]}, b'{"a":[1,null,true]}'),
        ("é\u2028", '"é\u2028"'.encode()),
        ("\ud800", b'"\\ud800"'),
        (2**64, b"18446744073709551616"),
        (-(2**63) - 1, b"-9223372036854775809"),
        ({"\ud800": 2**70}, b'{"\\ud800":1180591620717411303424}'),
    ],
)
def test_any_text_and_any_number_is_written(value: object, written: bytes) -> None:
    """surrogates: What the fast writer refuses, another one writes."""
    assert encode_json(value) == written


@pytest.mark.parametrize("path", ["s.jsonl", "s\ud800.jsonl"])
def test_what_could_not_be_read_is_a_document_too(path: str) -> None:
    """exit-codes: It could not tell, which is neither clean nor empty."""
    value = could_not_tell(path, "no session\udfff")
    jsonschema.validate(json.loads(encode_json(value)), DOCUMENT)
    assert value["summary"]["outcome"] == "could_not_tell"
    assert value["source"] == {"path": printable(path), "format": None, "bytes": None}
    assert value["caveats"] == [
        {"code": "unreadable", "line": None, "count": 1, "what": "no session?"}
    ]
    assert value["turns"] == value["summary"]["checked"] == []
    assert not any(value["summary"]["references"].values())


def test_printable_text_can_be_written_anywhere() -> None:
    """surrogates: What UTF-8 cannot take is replaced, the rest stays."""
    assert printable("é\ud800\U0001f600") == "é?\U0001f600"
