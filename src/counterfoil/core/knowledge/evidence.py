"""Claim evidence: how far a claim was shown, and when that cannot be graded.

Rungs: 1 parses, 2 loads, 3 own tests pass, 4 reproduces a value, 5 independently
re-derived. From rung 4 on a command and the one line that it must print are needed, and
the command must be able to fail: one that only ever prints the line, or that holds the
line itself, shows nothing (knowledge.md section 7).
"""

import re
from collections.abc import Mapping

from counterfoil.core.knowledge.pages import ClaimEvidence, Fault, FieldSpot
from counterfoil.core.knowledge.writing import Writing, is_collection, named

GRADED = 4
"""The first rung at which a check is needed."""
_RUNGS = range(1, 6)
_TEXTS = ("check", "expect", "evidencePath")
_FIELDS = frozenset({"rung", *_TEXTS})
_NOTHING: tuple[Fault, ...] = ()


def read_evidence(
    raw: Mapping[str, object], writing: Writing
) -> tuple[ClaimEvidence | None, tuple[Fault, ...]]:
    """Return the evidence that `raw` gives, and what is wrong with it."""
    if _FIELDS.isdisjoint(raw):
        return None, _NOTHING
    given = raw.get("rung")
    for name in _TEXTS:
        if is_collection(raw.get(name)):
            spot = FieldSpot(name if given is None else "rung")
            message = f"`{name}` is {named(raw[name])}; expected a text"
            return None, (Fault("ungradeable-evidence", spot, writing.written(name), message),)
    if given is None:
        return None, _NOTHING
    rung = _rung(given)
    if rung is None:
        message = f"`rung` is {named(given)}; expected a whole number from 1 to 5"
        spot = FieldSpot("rung")
        return None, (Fault("ungradeable-evidence", spot, writing.written("rung"), message),)
    texts = [_text(raw.get(name), name, writing) for name in _TEXTS]
    evidence = ClaimEvidence(rung=rung, check=texts[0], expect=texts[1], evidence_path=texts[2])
    return evidence, tuple(_faults(evidence))


def refusal(evidence: ClaimEvidence) -> str:
    """Return why `evidence` cannot be graded, the first reason, or nothing where it can."""
    if evidence.rung < GRADED:
        return ""
    check, expect = (evidence.check or "").strip(), (evidence.expect or "").strip()
    reason = _fault_of_check(check) or _fault_of_expectation(expect)
    if not reason and _contains(check, expect):
        return "`check` itself holds what is expected"
    return reason


def _fault_of_check(check: str) -> str:
    if not check:
        return "there is no `check` to run"
    return "`check` prints the same whatever is true" if _is_constant(check) else ""


def _fault_of_expectation(expect: str) -> str:
    if not expect:
        return "`expect` is blank: there is no line that the check must print"
    return "`expect` has several lines; expected one" if len(expect.splitlines()) > 1 else ""


def _faults(evidence: ClaimEvidence) -> list[Fault]:
    faults = _faults_of_grading(evidence) if evidence.rung >= GRADED else []
    for name, text in (("check", evidence.check), ("evidencePath", evidence.evidence_path)):
        for path in _ABSOLUTE.findall(text) if text else ():
            if path.rstrip(_BEHIND_A_WORD) != "/dev/null":
                message = f"`{name}` names the absolute path {path}, which is on one machine alone"
                faults.append(Fault("nonportable-evidence", FieldSpot(name), path, message))
                break
    return faults


def _faults_of_grading(evidence: ClaimEvidence) -> list[Fault]:
    faults: list[Fault] = []
    rung, written = FieldSpot("rung"), str(evidence.rung)
    reason = refusal(evidence)
    if reason:
        faults.append(Fault("ungradeable-evidence", rung, written, reason))
    if not (evidence.evidence_path or "").strip():
        message = f"rung {written} without `evidencePath`; expected where the output is kept"
        faults.append(Fault("missing-evidence-path", rung, written, message))
    return faults


def _rung(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value in _RUNGS else None


def _text(value: object, name: str, writing: Writing) -> str | None:
    return value if value is None or isinstance(value, str) else writing.written(name)


_MEANS_MORE = re.compile(r"[|;&<`$\r\n]")
_ABSOLUTE = re.compile(r"(?<!\S)(?:/|[A-Za-z]:[\\/])\S+")
_BEHIND_A_WORD = ";|&)\"'"


def _is_constant(command: str) -> bool:
    if command in {"true", ":"}:
        return True
    return command.split(maxsplit=1)[0] in {"echo", "printf"} and not _MEANS_MORE.search(command)


def _contains(text: str, part: str) -> bool:
    """Say whether `part` stands in `text` with no letter, digit or `_` on either side."""
    at = text.find(part)
    while at >= 0:
        end = at + len(part)
        if not _is_word(text[at - 1 : at]) and not _is_word(text[end : end + 1]):
            return True
        at = text.find(part, at + 1)
    return False


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"
