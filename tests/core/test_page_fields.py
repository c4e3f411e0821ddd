"""The fields of a page: what is understood of a raw mapping, and what is wrong with it."""

from typing import Any, TypeAlias

import pytest

from counterfoil.core.knowledge.evidence import read_evidence, refusal
from counterfoil.core.knowledge.fields import Fields, understand
from counterfoil.core.knowledge.invalidation import is_time, read_invalidation
from counterfoil.core.knowledge.pages import ClaimEvidence, FieldSpot, Invalidation, Written
from counterfoil.core.knowledge.writing import named

Given: TypeAlias = Any
"""The value of a field, which a test may choose as it likes."""


class _Writing:
    """Written forms that a test gives; the value itself where it gives none."""

    def __init__(self, raw: dict[str, Any], **given: str) -> None:
        self._raw = raw
        self._given = given
        self.is_quoted = False

    def written(self, field: str, item: int | None = None) -> str:
        value = self._raw[field]
        shown = value[item] if isinstance(value, list) and item is not None else value
        return self._given.get(field, str(shown))

    def is_plain(self, field: str) -> bool:
        assert field in self._raw
        return not self.is_quoted

    def comment(self, field: str) -> str:
        return self._given.get(field, "")


def _understood(**raw: Given) -> Fields:
    return understand(raw, _Writing(raw))


def _faults(fields: Fields) -> list[tuple[str, FieldSpot, str]]:
    spots = [fault.spot for fault in fields.faults if isinstance(fault.spot, FieldSpot)]
    return [
        (fault.code, spot, fault.written) for fault, spot in zip(fields.faults, spots, strict=True)
    ]


def test_nothing_written_is_nothing_understood() -> None:
    """page-fields: A null is an absent field."""
    empty = dict.fromkeys(
        ("id", "title", "cites", "sources", "tags", "kind", "invalidation", "rung")
    )
    assert _understood() == _understood(**empty) == Fields()


def test_an_id_is_trimmed_and_composed() -> None:
    """page-fields: As every id is, wherever it is made."""
    assert _understood(id=" e\u0301tude ").id == "étude"


@pytest.mark.parametrize("given", ["", "  ", "a\tb", "x" * 201, ["a"], {"a": "b"}])
def test_an_id_that_no_page_can_have_is_malformed(given: object) -> None:
    """page-fields: Blank, too long, with a control character, a list, a mapping."""
    fields = _understood(id=given)
    assert fields.id is None
    assert _faults(fields) == [("malformed-field", FieldSpot("id"), str(given))]


@pytest.mark.parametrize(("given", "written"), [(7, "007"), (True, "True"), (1000.0, "1e3")])
def test_an_id_that_is_no_text_is_its_written_text(given: object, written: str) -> None:
    """page-fields: With a warning."""
    raw = {"id": given}
    fields = understand(raw, _Writing(raw, id=written))
    assert fields.id == written
    assert _faults(fields) == [("coerced-id", FieldSpot("id"), written)]
    assert f'"{written}"' in fields.faults[0].message


@pytest.mark.parametrize(
    ("text", "is_date"),
    [
        ("2024-12-19", True),
        ("2024-1-9 1:02:03", True),
        ("2024-12-19T10:11:12Z", True),
        ("2024-12-19t10:11:12.5 +01:00", True),
        ("2024-12-19 10:11:12-3", True),
        ("2024-1-9", False),
        ("2024-12", False),
        ("2024-12-19 notes", False),
        ("2024-12-19T10:11", False),
        ("abcd-12-19", False),
    ],
)
def test_an_unquoted_date_as_id_is_a_warning(text: str, is_date: bool) -> None:  # noqa: FBT001
    """page-fields: Other readers make a date of it; in quotes it is a text."""
    raw = {"id": text}
    writing = _Writing(raw)
    fields = understand(raw, writing)
    assert fields.id == text
    assert [fault.code for fault in fields.faults] == ["coerced-id"] * is_date
    writing.is_quoted = True
    assert understand(raw, writing).faults == ()


@pytest.mark.parametrize(
    ("given", "title", "faults"),
    [(" A ", "A", 0), ("  ", None, 0), (1984, "1984", 0), (["A"], None, 1), ({"A": 1}, None, 1)],
)
def test_a_title_is_a_text_or_a_written_scalar(
    given: object, title: str | None, faults: int
) -> None:
    """page-fields: A blank one is none; a list or a mapping is malformed."""
    fields = _understood(title=given)
    assert fields.title == title
    assert [fault.code for fault in fields.faults] == ["malformed-field"] * faults


@pytest.mark.parametrize("field", ["cites", "contradicts", "sources"])
def test_references_are_read_item_by_item(field: str) -> None:
    """page-fields: Each that is no text or blank is a finding; the others are read."""
    code = "malformed-source" if field == "sources" else "malformed-citation"
    fields = _understood(**{field: ["a", 42, None, " ", ["b"], {"c": 1}, "a, b"]})
    assert getattr(fields, field) == (Written("a", 0), Written("a, b", 6))
    assert _faults(fields) == [
        (code, FieldSpot(field, number), text)
        for number, text in ((1, "42"), (2, "None"), (3, " "), (4, "['b']"), (5, "{'c': 1}"))
    ]


@pytest.mark.parametrize(("given", "item"), [(42, None), ("", None), (True, None), ({"a": "b"}, 0)])
def test_a_reference_alone_that_is_none_is_one_finding(given: object, item: int | None) -> None:
    """page-fields: At its key, but a mapping where it begins."""
    fields = _understood(cites=given)
    assert fields.cites == ()
    assert _faults(fields) == [("malformed-citation", FieldSpot("cites", item), str(given))]


def test_a_scalar_is_one_reference_commas_and_all() -> None:
    """page-fields: It is never split."""
    assert _understood(cites="alpha, beta").cites == (Written("alpha, beta", None),)


@pytest.mark.parametrize("field", ["tags", "aliases"])
def test_lists_of_texts_keep_their_texts(field: str) -> None:
    """page-fields: A scalar without a comma is a list of one; with one it is not taken."""
    assert getattr(_understood(**{field: "a b"}), field) == ("a b",)
    assert getattr(_understood(**{field: []}), field) == ()
    mixed = _understood(**{field: ["a", 2024, "", None, "b"]})
    assert getattr(mixed, field) == ("a", "b")
    assert [spot.item for _, spot, _ in _faults(mixed)] == [1, 2, 3]
    for given in ("a, b", "", 7, {"a": "b"}):
        fields = _understood(**{field: given})
        assert getattr(fields, field) == ()
        assert _faults(fields) == [("malformed-field", FieldSpot(field), str(given))]


@pytest.mark.parametrize(
    ("given", "is_kind"), [("note", True), (" ", False), (3, False), (["a"], False)]
)
def test_a_kind_is_a_text(given: object, is_kind: bool) -> None:  # noqa: FBT001
    """page-fields: Anything else is malformed."""
    fields = _understood(kind=given)
    assert fields.kind == (given if is_kind else None)
    assert [fault.code for fault in fields.faults] == ["malformed-field"] * (not is_kind)


def test_a_comment_that_took_a_value_is_named() -> None:
    """page-fields: Of the fields that mean something; a null that is written is none."""
    raw: dict[str, Any] = {"cites": None, "tags": None, "status": None}
    fields = understand(raw, _Writing(raw, cites="#176", status="#1"))
    assert _faults(fields) == [("comment-in-field", FieldSpot("cites"), "#176")]


_TAKEN_BACK = {"verdict": "contradicted", "observedAt": "2026-02-03T04:05:06Z", "reason": "again"}


def test_an_invalidation_keeps_what_it_does_not_know() -> None:
    """page-fields: Keys that are not known, in order."""
    given = {**_TAKEN_BACK, "mood": 3, "grader": "g", "evidencePath": "p", "list": ["x"]}
    assert _understood(invalidation=given).invalidation == Invalidation(
        observed_at="2026-02-03T04:05:06Z",
        reason="again",
        grader="g",
        evidence_path="p",
        more=(("mood", 3), ("list", ["x"])),
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"verdict": "doubted"}, "its `verdict` is not `contradicted`"),
        ({"observedAt": "2026-02-03"}, "its `observedAt` is no RFC 3339 time with a zone"),
        ({"observedAt": 7}, "its `observedAt` is no RFC 3339 time with a zone"),
        ({"reason": " "}, "it has no `reason`"),
        ({"reason": None}, "it has no `reason`"),
        ({"grader": " "}, "its `grader` is no text"),
        ({"evidencePath": 7}, "its `evidencePath` is no text"),
        ({"verdict": 1, "reason": 2}, "its `verdict` is not `contradicted`, it has no `reason`"),
    ],
)
def test_an_invalidation_that_takes_nothing_back_is_one_finding(
    change: dict[str, object], reason: str
) -> None:
    """page-fields: All reasons in it, at the field."""
    given = {**_TAKEN_BACK, **change}
    assert read_invalidation(given) == reason
    fields = _understood(invalidation=given)
    assert fields.invalidation is None
    assert _faults(fields) == [("invalid-invalidation", FieldSpot("invalidation"), str(given))]
    assert reason in fields.faults[0].message


def test_an_invalidation_is_a_mapping() -> None:
    """page-fields: Optional keys may be null; a scalar is none at all."""
    assert read_invalidation("contradicted") == "it is no mapping"
    assert isinstance(read_invalidation({**_TAKEN_BACK, "grader": None}), Invalidation)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("2026-02-03T04:05:06Z", True),
        ("2026-02-03t04:05:60.25z", True),
        ("2024-02-29T00:00:00+01:00", True),
        ("2026-02-29T00:00:00Z", False),
        ("2026-13-01T00:00:00Z", False),
        ("2026-02-03T24:00:00Z", False),
        ("2026-02-03T04:05:06", False),
        ("2026-02-03 04:05:06Z", False),
        ("2026-02-03T04:05:06+25:00", False),
        ("2026-02-03T04:05:06Z\n", False),
    ],
)
def test_a_time_is_one_of_rfc_3339(text: str, is_one: bool) -> None:  # noqa: FBT001
    """page-fields: With its zone, of a day that exists."""
    assert is_time(text) is is_one


@pytest.mark.parametrize("rung", [1, 2, 3, 4, 5, 4.0])
def test_a_rung_is_a_whole_number_from_1_to_5(rung: float) -> None:
    """claim-evidence: Written as a number."""
    evidence = _understood(rung=rung).evidence
    assert evidence is not None
    assert evidence.rung == rung


@pytest.mark.parametrize("rung", [0, 6, -1, 2.5, True, "4", [4], float("nan")])
def test_any_other_rung_is_ungradeable(rung: object) -> None:
    """claim-evidence: One finding, at the rung; nothing else of it is judged."""
    fields = _understood(rung=rung, check="cat /x")
    assert fields.evidence is None
    assert _faults(fields) == [("ungradeable-evidence", FieldSpot("rung"), str(rung))]


def test_texts_of_evidence_are_the_written_ones() -> None:
    """claim-evidence: A number is expected by its written text, `true` is a command."""
    raw: dict[str, Any] = {"rung": 3, "check": True, "expect": 0.913, "evidencePath": None}
    evidence, faults = read_evidence(raw, _Writing(raw, check="true", expect="0.9130"))
    assert evidence == ClaimEvidence(rung=3, check="true", expect="0.9130")
    assert not faults


@pytest.mark.parametrize(("rung", "field"), [(4, "rung"), (None, "check")])
def test_a_list_is_no_text_of_evidence(rung: int | None, field: str) -> None:
    """claim-evidence: One finding, at the rung where there is one."""
    assert _faults(_understood(rung=rung, check=["a"])) == [
        ("ungradeable-evidence", FieldSpot(field), "['a']")
    ]


def test_evidence_without_a_rung_claims_nothing() -> None:
    """claim-evidence: A check alone is no fault and no evidence."""
    assert _understood(check="true", expect="x") == Fields()


def _evidence(
    check: str | None, expect: str | None = "slope 0.913", rung: int = 4
) -> ClaimEvidence:
    return ClaimEvidence(rung=rung, check=check, expect=expect, evidence_path="runs/fit.log")


@pytest.mark.parametrize(
    "check",
    [
        None, "", " ", "true", ":", " true\n", "echo slope 0.913", "echo 1 2", "printf x", "echo",
        "echo x > a", 'grep "slope 0.913" fit.log', "python fit.py # slope 0.913", "slope 0.913",
    ],
)  # fmt: skip
def test_a_check_that_cannot_fail_is_refused(check: str | None) -> None:
    """claim-evidence: None, a constant, one that holds its own answer."""
    assert refusal(_evidence(check))
    assert refusal(_evidence(check, rung=5))
    assert not refusal(_evidence(check, rung=3))


@pytest.mark.parametrize(
    "check",
    [
        "python fit.py", "echo $(python fit.py)", "echo x | cat", "echo x; python fit.py",
        "echo `python fit.py`", "echo x\npython fit.py", "echo < fit.log", "echo x && y", "truth",
        "echoes x", "python fit.py --slope 0.9131", "python xslope 0.913", "run slope 0.913_",
    ],
)  # fmt: skip
def test_a_check_that_can_fail_is_taken(check: str) -> None:
    """claim-evidence: Near misses of the same."""
    assert not refusal(_evidence(check))


def test_an_expectation_inside_a_longer_word_is_not_the_answer() -> None:
    """claim-evidence: Every place of it is looked at."""
    assert not refusal(_evidence("grep -c 10 a1 1_ fit.log", "1"))
    assert refusal(_evidence("grep -c 10 a1 -1 fit.log", "1"))
    assert refusal(_evidence("x=1", " 1 "))


@pytest.mark.parametrize(
    ("expect", "is_taken"),
    [
        (None, False),
        ("", False),
        (" \n", False),
        ("a\nb", False),
        ("a\u2028b", False),
        ("a\n", True),
    ],
)
def test_an_expectation_is_one_line(expect: str | None, is_taken: bool) -> None:  # noqa: FBT001
    """claim-evidence: A line break behind it is none of it."""
    assert (refusal(_evidence("python fit.py", expect)) == "") is is_taken


@pytest.mark.parametrize(
    ("rung", "path", "codes"),
    [
        (3, None, []),
        (4, None, ["missing-evidence-path"]),
        (5, " ", ["missing-evidence-path"]),
        (4, "runs/fit.log", []),
    ],
)
def test_from_rung_four_on_the_output_is_kept_somewhere(
    rung: int, path: str | None, codes: list[str]
) -> None:
    """claim-evidence: Else a warning at the rung."""
    fields = _understood(rung=rung, check="python fit.py", expect="x", evidencePath=path)
    assert _faults(fields) == [(code, FieldSpot("rung"), str(rung)) for code in codes]


@pytest.mark.parametrize(
    ("check", "path", "found"),
    [
        ("python /home/ann/fit.py", "p", {"check": "/home/ann/fit.py"}),
        ("/bin/x /bin/y", "p", {"check": "/bin/x"}),
        ("type C:\\x", "c:/y", {"check": "C:\\x", "evidencePath": "c:/y"}),
        ("x >/dev/null 2> /dev/null; y", "/dev/null", {}),
        ("x (/dev/null) /dev/nullx", "p", {"check": "/dev/nullx"}),
        ('awk "/slope/" ./a/b https://x.org/y C: / a:/', "runs/fit.log", {}),
        ("x", " /runs/fit.log", {"evidencePath": "/runs/fit.log"}),
        (None, None, {}),
    ],
)
def test_a_path_of_one_machine_is_named(
    check: str | None, path: str | None, found: dict[str, str]
) -> None:
    """claim-evidence: With any rung, at the start of a word, the null device apart."""
    rows = _faults(_understood(rung=1, check=check, evidencePath=path))
    assert rows == [
        ("nonportable-evidence", FieldSpot(field), text) for field, text in found.items()
    ]


@pytest.mark.parametrize(
    ("value", "name"),
    [(None, "empty"), ("", "blank"), ("a", "a text"), (True, "a boolean"), (1.5, "a number")],
)
def test_values_are_named_for_a_person(value: object, name: str) -> None:
    """page-fields: Each kind by its name."""
    assert named(value) == name
