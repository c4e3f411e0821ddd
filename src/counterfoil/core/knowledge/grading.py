"""What the run of a check says about a claim: five verdicts, and no accusation by accident.

| verdict | what happened |
| --- | --- |
| `verified` | the output has the text that was expected |
| `contradicted` | the check ran to its end and its output does not have it |
| `silent-check` | it ended with 0 and said nothing |
| `unrunnable` | it did not come to its end, or failed for what is missing around it |
| `uncheckable` | the claim has nothing that a run could decide |

A check that ends with another status than 0 and yet says what was expected is verified:
the text was promised, the status was not. An environment never refutes: a command,
module or file that is not there, a permission, a time limit, an output that was cut.
Only where the expectation itself speaks of such a failure does a failure count
(knowledge.md section 7).
"""

from dataclasses import dataclass
from typing import Literal

from counterfoil.core.knowledge.pages import ClaimEvidence
from counterfoil.core.plain import one_line

GradeVerdict = Literal["verified", "silent-check", "contradicted", "unrunnable", "uncheckable"]

_TIME_LIMIT = 124
_NOT_EXECUTABLE, _NOT_FOUND = 126, 127
_KILLED = range(129, 193)
"""What a shell ends with: 124 is that of `timeout`; past 128 the number of a signal."""

_WIDTH = 160
"""Characters of an output that a reason shows."""

_ENVIRONMENT = (
    "no such file or directory",
    "filenotfounderror",
    "cannot open",
    "can't open",
    "cannot access",
    "cannot stat",
    "cannot find the file",
    "cannot find the path",
    "modulenotfounderror",
    "no module named",
    "importerror",
    "cannot find module",
    "cannot find package",
    "could not find or load main class",
    "command not found",
    ": not found\n",
    "is not recognized as",
    "cannot execute",
    "exec format error",
    "bad interpreter",
    "error while loading shared libraries",
    "permission denied",
    "permissionerror",
    "operation not permitted",
    "access is denied",
    "read-only file system",
    "syntax error",
    "syntaxerror",
    "unexpected eof",
    "timed out",
    "timeouterror",
    "timeoutexpired",
    "connection refused",
    "connection reset",
    "connection aborted",
    "connectionerror",
    "network is unreachable",
    "no route to host",
    "could not resolve host",
    "name or service not known",
    "name resolution",
    "cannot allocate memory",
    "out of memory",
    "memoryerror",
    "no space left on device",
    "disk quota exceeded",
    "too many open files",
    "resource temporarily unavailable",
    "\nkilled\n",
    "\nterminated\n",
)
"""What an output says, in any letter case, where something is missing around a check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """How a command ended, and what it said on both streams, at most up to a bound.

    `signal` is what ended it from outside; then there is no exit status. `not_started`
    says why it never ran. What was cut off behind `output` is lost: `is_cut`.
    """

    exit_status: int | None = None
    signal: int | None = None
    output: str = ""
    milliseconds: int = 0
    timed_out: bool = False
    is_cut: bool = False
    not_started: str | None = None


@dataclass(frozen=True, slots=True)
class Grade:
    """The verdict of one claim, and why, in words for a person."""

    verdict: GradeVerdict
    reason: str


def grade(evidence: ClaimEvidence, execution: Execution) -> Grade:
    """Return what `execution`, the run of the check of `evidence`, says about it."""
    stopped = _stopped(execution)
    if stopped:
        return Grade("unrunnable", stopped)
    expected = expectation(evidence)
    if expected is None:
        return Grade("uncheckable", "there is no expectation of one line")
    if expected in execution.output:
        return Grade("verified", f"the output has {expected!r}")
    if execution.exit_status:
        return _refuted(execution, expected, f"it ended with {execution.exit_status}")
    if not execution.output.strip():
        return Grade("silent-check", "it ended with 0 and said nothing")
    return _refuted(execution, expected, "it ended with 0")


def expectation(evidence: ClaimEvidence) -> str | None:
    """Return the text that the output must have; `None` where there is none on one line."""
    expected = (evidence.expect or "").strip()
    return expected if len(expected.splitlines()) == 1 else None


def _stopped(execution: Execution) -> str:
    """Return why the command did not come to its end, or nothing."""
    if execution.not_started is not None:
        return f"it did not start: {execution.not_started}"
    if execution.timed_out or execution.exit_status == _TIME_LIMIT:
        return "it was stopped at a time limit"
    if execution.signal is not None:
        return f"signal {execution.signal} ended it"
    return "it said more than is kept" if execution.is_cut else ""


def _refuted(execution: Execution, expected: str, ended: str) -> Grade:
    around = _environment(execution, expected)
    if around:
        return Grade("unrunnable", f"{ended}: {around}")
    said = one_line(execution.output, _WIDTH)
    shown = f"and said {said!r}" if said else "and said nothing"
    return Grade("contradicted", f"{ended} {shown}; expected was {expected!r}")


def _environment(execution: Execution, expected: str) -> str:
    """Return what is missing around the check, or nothing."""
    status = execution.exit_status or 0
    if status in (_NOT_EXECUTABLE, _NOT_FOUND):
        return "a command was not found or cannot be executed"
    if status in _KILLED:
        return f"signal {status - _KILLED.start + 1} ended a part of it"
    said = _failure_named(execution.output)
    return f"the output says {said!r}" if said and not _failure_named(expected) else ""


def _failure_named(text: str) -> str:
    """Return the first failure of an environment that `text` names, or nothing."""
    lines = f"\n{text.lower()}\n"
    return next((failure.strip() for failure in _ENVIRONMENT if failure in lines), "")
