"""What a run of a check says about a claim."""

import pytest

from counterfoil.core.knowledge.grading import Execution, expectation, grade
from counterfoil.core.knowledge.pages import ClaimEvidence


def _evidence(expect: str | None = "loss 0.31") -> ClaimEvidence:
    return ClaimEvidence(rung=4, check="make loss", expect=expect)


def _verdict(execution: Execution, expect: str | None = "loss 0.31") -> str:
    return grade(_evidence(expect), execution).verdict


@pytest.mark.parametrize(
    ("execution", "verdict"),
    [
        (Execution(exit_status=0, output="epoch 3\nloss 0.31\n"), "verified"),
        (Execution(exit_status=0, output="loss 0.42\n"), "contradicted"),
        (Execution(exit_status=1, output="loss 0.42\n"), "contradicted"),
        (Execution(exit_status=1), "contradicted"),
        (Execution(exit_status=0), "silent-check"),
        (Execution(exit_status=0, output=" \n"), "silent-check"),
        (Execution(exit_status=3, output="loss 0.31\n"), "verified"),
        (Execution(exit_status=127, output="loss 0.31\nx: command not found"), "verified"),
    ],
)
def test_the_output_decides(execution: Execution, verdict: str) -> None:
    """kb-grade: The text was promised, the exit status was not."""
    assert _verdict(execution) == verdict


@pytest.mark.parametrize(
    ("execution", "said"),
    [
        (Execution(not_started="no directory"), "did not start: no directory"),
        (Execution(timed_out=True, output="loss 0.31"), "time limit"),
        (Execution(exit_status=124, output="loss 0.31"), "time limit"),
        (Execution(signal=9, output="loss 0.31"), "signal 9"),
        (Execution(is_cut=True, output="loss 0.31"), "more than is kept"),
        (Execution(exit_status=126, output="no"), "cannot be executed"),
        (Execution(exit_status=127, output="no"), "not found"),
        (Execution(exit_status=129, output="no"), "signal 1 "),
        (Execution(exit_status=137, output="no"), "signal 9 "),
        (Execution(exit_status=192, output="no"), "signal 64 "),
    ],
)
def test_what_did_not_come_to_its_end_is_unrunnable(execution: Execution, said: str) -> None:
    """kb-grade: Time limits, signals, a cut output, a command that is not there."""
    graded = grade(_evidence(), execution)
    assert graded.verdict == "unrunnable"
    assert said in graded.reason


@pytest.mark.parametrize("status", [1, 2, 125, 128, 193, 255])
def test_other_statuses_refute(status: int) -> None:
    """kb-grade: A program's own status is none of a shell's."""
    assert _verdict(Execution(exit_status=status, output="loss 0.42")) == "contradicted"


@pytest.mark.parametrize(
    "output",
    [
        "cat: data.csv: No such file or directory",
        "FileNotFoundError: [Errno 2] 'data.csv'",
        "ModuleNotFoundError: No module named 'torch'",
        "Error: Cannot find module 'left-pad'",
        "bash: line 1: pytset: command not found",
        "sh: 1: pytset: not found",
        "sh: 1: pytset: not found\nmore",
        "/data: Permission denied",
        "bash: -c: line 1: syntax error near unexpected token `)'",
        '  File "<string>", line 1\nSyntaxError: invalid syntax',
        "curl: (28) Operation timed out",
        "TimeoutError",
        "Connection refused",
        "OSError: [Errno 28] No space left on device",
        "MemoryError",
        "loading\nKilled\n",
        "Terminated",
    ],
)
@pytest.mark.parametrize("status", [0, 1])
def test_an_environment_never_refutes(output: str, status: int) -> None:
    """kb-grade: What is missing around a check says nothing about its claim."""
    graded = grade(_evidence(), Execution(exit_status=status, output=output))
    assert graded.verdict == "unrunnable"
    assert "the output says" in graded.reason


@pytest.mark.parametrize(
    "output", ["element not found: 3 of 4", "he was killed in it", "timeout=30, loss 0.42"]
)
def test_words_that_are_no_failure_refute(output: str) -> None:
    """kb-grade: A failure of the environment is known by its whole words."""
    assert _verdict(Execution(exit_status=0, output=output)) == "contradicted"


def test_a_claim_about_a_failure_is_refuted_by_another_one() -> None:
    """kb-grade: Where the expectation itself speaks of a failure, failures count."""
    execution = Execution(exit_status=1, output="cat: x: No such file or directory")
    assert _verdict(execution, "Permission denied") == "contradicted"
    assert _verdict(execution, "No such file or directory") == "verified"


@pytest.mark.parametrize("expect", [None, "", "  ", "a\nb", "a\u2028b"])
def test_without_one_line_to_expect_nothing_can_be_checked(expect: str | None) -> None:
    """claim-evidence: A blank expectation, or one of several lines, decides nothing."""
    assert expectation(_evidence(expect)) is None
    assert _verdict(Execution(exit_status=0, output="a\nb"), expect) == "uncheckable"


def test_white_space_around_an_expectation_is_none_of_it() -> None:
    """claim-evidence: What is looked for is the text."""
    assert _verdict(Execution(exit_status=0, output="loss 0.31"), " loss 0.31\n") == "verified"


def test_a_reason_shows_what_was_said() -> None:
    """kb-grade: On one line, without what steers a terminal, at most 160 characters."""
    execution = Execution(exit_status=2, output="\x1b[31mloss\n0.42 " + "x" * 500)
    reason = grade(_evidence(), execution).reason
    assert reason.startswith("it ended with 2 and said '\\\\x1b[31mloss 0.42 xx")
    assert reason.endswith("…'; expected was 'loss 0.31'")
    assert len(reason) < 250
    silent = grade(_evidence(), Execution(exit_status=2))
    assert silent.reason == "it ended with 2 and said nothing; expected was 'loss 0.31'"
