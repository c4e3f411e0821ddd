"""Findings about pages as they are written, the registry as it is read, and rows of an index."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.core.ids import HERE, SHARED, Origin, PageId
from counterfoil.core.knowledge.codes import CODES
from counterfoil.core.knowledge.findings import Candidate, Checked, Finding, LintReport
from counterfoil.core.knowledge.pages import (
    ClaimEvidence,
    Fault,
    FieldSpot,
    Footnote,
    Invalidation,
    Link,
    Page,
    Silence,
    TextSpot,
    Written,
)
from counterfoil.wire.check import encode_json
from counterfoil.wire.findings import (
    finding_to_json,
    github_findings,
    place_of,
    report_to_json,
    sarif_findings,
)
from counterfoil.wire.page_rows import (
    DamagedRowError,
    findings_from_row,
    findings_to_row,
    page_from_row,
    page_to_row,
)
from counterfoil.wire.registry import read_registry
from faces.kb import SCHEMA
from sarif_log import SARIF

_R1 = Origin("inherited:r1")
_PLACES = {HERE: "runs/r2/knowledge-base/", SHARED: "shared/"}


def _finding(code: str = "broken-link", **fields: Any) -> Finding:  # noqa: ANN401 - any field
    made: dict[str, Any] = {
        "code": code,
        "origin": HERE,
        "path": "knowledge/a.md",
        "spot": TextSpot(3, 9),
        "message": "it is wrong",
        "page": PageId("a"),
    }
    return Finding(**made | fields)


def _report(*findings: Finding, **fields: Any) -> LintReport:  # noqa: ANN401 - any field
    return LintReport(**{"checked": Checked(1, 2, 3), "findings": findings} | fields)


# --- JSON ---------------------------------------------------------------------


def test_a_finding_is_written_with_everything_that_it_has() -> None:
    """lint-forms: What is not there is null, or is left out where only some codes have it."""
    candidate = Candidate(SHARED, "knowledge/x.md", "shared::x")
    value = finding_to_json(
        _finding(
            "self-citation",
            written="x",
            candidates=(candidate,),
            handles=("shared::x",),
            hides_ambiguity=False,
        ),
        _PLACES,
    )
    assert value == {
        "code": "self-citation",
        "severity": "error",
        "path": "runs/r2/knowledge-base/knowledge/a.md",
        "line": 3,
        "column": 9,
        "origin": "here",
        "page": "a",
        "written": "x",
        "message": "it is wrong",
        "candidates": [{"handle": "shared::x", "path": "shared/knowledge/x.md"}],
        "handles": ["shared::x"],
        "hidesAmbiguity": False,
    }
    bare = finding_to_json(_finding("skipped-link", spot=None, page=None), {HERE: ""})
    assert [bare[key] for key in ("path", "line", "column", "page", "written", "candidates")] == [
        "knowledge/a.md", None, None, None, None, [],
    ]  # fmt: skip
    assert bare.keys() & {"handles", "reason", "hidesAmbiguity"} == set()
    malformed = finding_to_json(_finding("malformed-citation", reason="blank-id"), {HERE: ""})
    assert malformed["reason"] == "blank-id"


def test_a_place_that_nobody_named_is_said_by_its_origin() -> None:
    """lint-forms: A path of a store whose place is not known is never taken for another's."""
    assert place_of(_finding(origin=_R1), _PLACES) == "inherited:r1:knowledge/a.md"


@pytest.mark.parametrize(
    ("report", "outcome"),
    [
        (_report(), "clean"),
        (_report(checked=Checked()), "empty"),
        (_report(_finding()), "findings"),
        (_report(_finding("bad-registry"), checked=Checked()), "findings"),
        (_report(silenced=(_finding(silenced="known"),)), "clean"),
    ],
)
def test_a_report_is_a_document_of_the_schema(report: LintReport, outcome: str) -> None:
    """lint-forms: Its outcome is derived; nothing checked is never clean."""
    document = json.loads(encode_json(report_to_json(report, _PLACES)))
    jsonschema.validate(document, SCHEMA, jsonschema.Draft202012Validator)
    assert document["outcome"] == outcome
    assert document["silenced"] == len(report.silenced)
    assert document["checked"] == dict(
        zip(("pages", "citations", "links"), report.checked, strict=True)
    )


# --- GitHub and SARIF ---------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "command"),
    [("missing-citation", "error"), ("broken-link", "warning"), ("orphan", "notice")],
)
def test_a_workflow_command_has_level_place_and_code(code: str, command: str) -> None:
    """lint-forms: One line a finding; the message last."""
    (line,) = github_findings(_report(_finding(code)), {HERE: ""})
    assert line == f"::{command} file=knowledge/a.md,line=3,col=9,title={code}::it is wrong"


def test_a_workflow_command_without_a_line_has_none() -> None:
    """lint-forms: A link that was skipped has a path alone."""
    (line,) = github_findings(_report(_finding("skipped-link", spot=None)), {HERE: ""})
    assert line == "::warning file=knowledge/a.md,title=skipped-link::it is wrong"


def test_nothing_in_a_path_or_message_steers_a_workflow() -> None:
    """lint-forms: Not a line break, a colon, a comma, an escape, a lone surrogate."""
    hostile = "%\r\n::error file=x,line=1::y\x1b[31m\u202e\ud800"
    (line,) = github_findings(_report(_finding(path=hostile, message=hostile)), {HERE: "a,b:c%/"})
    assert line == (
        "::warning file=a%2Cb%3Ac%25/%25%0D%0A%3A%3Aerror file=x%2Cline=1%3A%3Ay\x1b[31m\u202e?,"
        "line=3,col=9,title=broken-link::"
        "%25\\x0d%0A::error file=x,line=1::y\\x1b[31m\\u202e\\ud800"
    )
    line.encode()


def test_a_log_has_every_finding_and_the_rules_that_they_name() -> None:
    """lint-forms: What is silenced is in it, suppressed with its reason."""
    report = _report(
        _finding(),
        _finding("skipped-link", spot=None, path="knowledge/ä b.md"),
        _finding("orphan", spot=TextSpot(1)),
        silenced=(_finding("missing-citation", silenced="written\ud800 soon"),),
    )
    log = json.loads(encode_json(sarif_findings(report, {HERE: ""}, "1.0")))
    jsonschema.validate(log, SARIF)
    (run,) = log["runs"]
    results = run["results"]
    assert [(result["ruleId"], result["level"]) for result in results] == [
        ("broken-link", "warning"),
        ("skipped-link", "warning"),
        ("orphan", "note"),
        ("missing-citation", "error"),
    ]
    assert [result.get("suppressions") for result in results] == [
        None,
        None,
        None,
        [{"kind": "inSource", "justification": "written? soon"}],
    ]
    places = [result["locations"][0]["physicalLocation"] for result in results]
    assert places[0]["region"] == {"startLine": 3, "startColumn": 9}
    assert places[1] == {"artifactLocation": {"uri": "knowledge/%C3%A4%20b.md"}}
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [
        "broken-link", "missing-citation", "orphan", "skipped-link",
    ]  # fmt: skip


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_rule(code: str) -> None:
    """lint-codes: Its sentence, meaning and fix are those of the table, and say something."""
    log = sarif_findings(_report(_finding(code)), {HERE: ""}, "1.0")
    jsonschema.validate(log, SARIF)
    (rule,) = log["runs"][0]["tool"]["driver"]["rules"]
    known = CODES[code]
    assert rule["id"] == code
    assert rule["shortDescription"]["text"] == known.sentence
    assert rule["fullDescription"]["text"] == known.meaning
    assert rule["help"]["text"] == known.fix
    assert all((known.sentence, known.meaning, known.example, known.fix))
    assert known.meaning.endswith(".")
    assert not known.sentence.endswith(".")


# --- the registry of sources --------------------------------------------------


def test_no_registry_registers_nothing() -> None:
    """kb-sources: A store without the file has no sources, which is no fault."""
    registry = read_registry(None)
    assert (dict(registry.anchors), registry.repeated, registry.fault) == ({}, (), None)


def test_sources_are_read_with_anchors_and_repeated_digests() -> None:
    """kb-sources: Other keys are tolerated; a digest that is no text counts for nothing."""
    content = {
        "schema": 1,
        "more": True,
        "sources": [
            {"id": "s1", "digest": "sha256:1", "anchors": [{"id": "l1", "lines": [1, 2]}]},
            {"id": "s2", "digest": "sha256:1", "anchors": None},
            {"id": "s3", "digest": 7},
            {"id": "s4", "digest": "sha256:2", "path": "x"},
            {"id": "s5", "digest": "sha256:1"},
        ],
    }
    registry = read_registry(json.dumps(content).encode())
    assert registry.fault is None
    assert registry.anchors == {
        "s1": {"l1"}, "s2": frozenset(), "s3": frozenset(), "s4": frozenset(), "s5": frozenset(),
    }  # fmt: skip
    assert registry.repeated == (("sha256:1", ("s1", "s2", "s5")),)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no JSON that can be read (not-json)"),
        (b"\xff", "(not-utf8)"),
        (b'{"schema": 1, "schema": 1, "sources": []}', "(duplicate-key)"),
        (b"[]", "not of the form"),
        (b'{"schema": 2, "sources": []}', "not of the form"),
        (b'{"schema": 1, "sources": {}}', "not of the form"),
        (b'{"schema": 1}', "not of the form"),
        (b'{"schema": 1, "sources": [{"id": "a"}, 7]}', "source 2 has no id"),
        (b'{"schema": 1, "sources": [{"id": 7}]}', "source 1 has no id"),
        (b'{"schema": 1, "sources": [{"id": "a", "anchors": 7}]}', "source 1 has no id, or"),
        (b'{"schema": 1, "sources": [{"id": "a", "anchors": [7]}]}', "anchors without one"),
        (b'{"schema": 1, "sources": [{"id": "a", "anchors": [{}]}]}', "anchors without one"),
        (b'{"schema": 1, "sources": [{"id": "a"}, {"id": "a"}]}', "source 'a' stands in it twice"),
    ],
)
def test_what_is_no_registry_says_so(content: bytes, why: str) -> None:
    """kb-sources: Nothing is known of its sources then, and nobody is blamed for them."""
    registry = read_registry(content)
    assert dict(registry.anchors) == {}
    assert registry.fault is not None
    assert registry.fault.startswith("the registry of sources cannot be used: ")
    assert why in registry.fault


# --- rows of an index ---------------------------------------------------------

_texts = st.text(max_size=6)
_spots = st.one_of(
    st.builds(FieldSpot, st.sampled_from(["id", "cites"]), st.none() | st.integers(0, 3)),
    st.builds(TextSpot, st.integers(1, 9), st.integers(1, 9)),
)
_written = st.lists(st.builds(Written, _texts, st.none() | st.integers(0, 3)), max_size=2).map(
    tuple
)
_ids = st.sampled_from(["a", "b::c", "①", "x" * 200]).map(PageId)
_pages = st.builds(
    Page,
    path=st.sampled_from(["knowledge/a.md", "notes/sub/ü.md"]),
    id=_ids,
    title=_texts,
    pages_directory=st.sampled_from(["knowledge", "notes"]),
    is_id_written=st.booleans(),
    is_title_written=st.booleans(),
    frontmatter=st.sampled_from(["none", "read", "bad"]),
    cites=_written,
    contradicts=_written,
    sources=_written,
    tags=st.lists(_texts, max_size=2).map(tuple),
    kind=st.none() | _texts,
    aliases=st.lists(_texts, max_size=2).map(tuple),
    invalidation=st.none()
    | st.builds(
        Invalidation,
        observed_at=_texts,
        reason=_texts,
        evidence_path=st.none() | _texts,
        grader=st.none() | _texts,
        more=st.lists(st.tuples(_texts, st.none() | st.integers(-9, 9) | _texts), max_size=2).map(
            tuple
        ),
    ),
    evidence=st.none()
    | st.builds(
        ClaimEvidence,
        rung=st.integers(1, 5),
        check=st.none() | _texts,
        expect=st.none() | _texts,
        evidence_path=st.none() | _texts,
    ),
    links=st.lists(
        st.builds(
            Link, _texts, st.integers(1, 9), st.integers(1, 9), st.none() | _texts,
            st.none() | _texts, st.booleans(),
        ),
        max_size=2,
    ).map(tuple),
    footnotes=st.lists(
        st.builds(
            Footnote, _texts, st.none() | _texts, st.booleans(), st.integers(1, 9),
            st.integers(1, 9),
        ),
        max_size=2,
    ).map(tuple),
    faults=st.lists(st.builds(Fault, _texts, _spots, _texts, _texts), max_size=2).map(tuple),
    silences=st.lists(st.builds(Silence, _texts, _texts, st.integers(1, 9)), max_size=2).map(
        tuple
    ),
)  # fmt: skip
_findings = st.builds(
    Finding,
    code=st.sampled_from(sorted(CODES)),
    origin=st.sampled_from([HERE, _R1, SHARED]),
    path=_texts,
    spot=st.none() | _spots,
    message=_texts,
    page=st.none() | _ids,
    written=st.none() | _texts,
    candidates=st.lists(
        st.builds(Candidate, st.sampled_from([HERE, _R1]), _texts, _texts), max_size=2
    ).map(tuple),
    handles=st.lists(_texts, max_size=2).map(tuple),
    hides_ambiguity=st.none() | st.booleans(),
    reason=st.none() | _texts,
    silenced=st.none() | _texts,
)


@given(_pages)
def test_a_page_comes_back_out_of_its_row(page: Page) -> None:
    """index-cache: Every field, with its type."""
    found = page_from_row(page_to_row(page))
    assert found == page
    assert repr(found) == repr(page)


@given(st.lists(_findings, max_size=3).map(tuple))
def test_findings_come_back_out_of_their_row(findings: tuple[Finding, ...]) -> None:
    """index-cache: Every field, with its type."""
    found = findings_from_row(findings_to_row(findings))
    assert found == findings
    assert repr(found) == repr(findings)


@pytest.mark.parametrize("length", [0, 1, -1])
def test_a_row_that_is_cut_is_refused(length: int) -> None:
    """index-cache: Half a row is no page, and half a list of findings no finding."""
    page = page_to_row(Page(path="knowledge/a.md", id=PageId("a"), title="A"))
    with pytest.raises(DamagedRowError):
        page_from_row(page[:length])
    with pytest.raises(DamagedRowError):
        findings_from_row(findings_to_row((_finding(),))[:length])
