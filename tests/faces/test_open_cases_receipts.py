"""Cases of receipts: what ran, how it ended, what was refused; no evidence is invented.

What replies claim in prose is a later issue, and a comment names what is left to it.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., tuple[int, bytes, str]]
Write = Callable[..., Path]
Check = Callable[..., tuple[int, dict[str, Any]]]
CheckMany = Callable[[list[str | bytes]], list[dict[str, Any]]]
Refused = Callable[[Path], None]
Case = Callable[[str], str]
Steps = Callable[..., str]

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it "
    "was a file edit, the new_string was NOT written to the file)."
)


def _receipt(document: dict[str, Any], place: int = 0) -> dict[str, Any]:
    receipt: dict[str, Any] = document["turns"][place]["receipt"]
    return receipt


def _ran(document: dict[str, Any]) -> list[str | None]:
    return [turn["ran"] for turn in document["turns"]]


def _outcomes(document: dict[str, Any]) -> list[str]:
    return [row["outcome"] for row in _receipt(document)["tools"]]


def _commands(document: dict[str, Any]) -> list[tuple[str, int | None]]:
    return [(row["command"], row["exitStatus"]) for row in _receipt(document)["commands"]]


def _verdicts(document: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (found["kind"], found["verdict"], found["reason"])
        for turn in document["turns"]
        for found in turn["references"]
    ]


def _judges_no_claim(code: int, document: dict[str, Any]) -> None:
    """Nothing in prose is judged by this version: no claim, no finding, exit code 0."""
    assert code == 0
    assert not any(turn["claims"] for turn in document["turns"])
    assert set(document["summary"]["claims"].values()) == {0}
    assert document["summary"]["outcome"] in {"empty", "clean", "unproven"}


def _bash(command: str, id_: str = "t1", **more: object) -> dict[str, Any]:
    return {"call": "Bash", "id": id_, "input": {"command": command, **more}}


def _done(output: str, id_: str = "t1", **more: object) -> dict[str, Any]:
    said = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False, **more}
    return {"result": id_, "content": output, "is_error": False, "toolUseResult": said}


def _failed(output: str, id_: str = "t1") -> dict[str, Any]:
    said = f"Error: {output}"
    return {"result": id_, "content": output, "is_error": True, "toolUseResult": said}


def _edit(id_: str, path: str = "/home/ann/demo/a.py", tool: str = "Edit") -> dict[str, Any]:
    given = {"file_path": path, "old_string": "1", "new_string": "2"}
    return {"call": tool, "id": id_, "input": given}


# --- what ran -----------------------------------------------------------------


def test_a_turn_without_a_test_command_lists_none(check: Check, case: Case) -> None:
    """receipt: C35 The receipt of a claimed test run shows an edit and no command."""
    code, document = check(case("C35"))
    _judges_no_claim(code, document)  # `tests pass` is left to the claims issue
    receipt = _receipt(document)
    assert receipt["commands"] == receipt["denials"] == receipt["errors"] == []
    (file,) = receipt["files"]
    assert (file["path"], file["mode"]) == ("/home/ann/demo/a.py", "replace")
    assert _ran(document) == ["ran: Edit"]  # receipts.md 2: the line names tools, not files


def test_a_failed_suite_has_its_exit_status(check: Check, case: Case) -> None:
    """receipt: C36 The exit status is the one recorded, whatever numbers the reply names."""
    code, document = check(case("C36"))
    _judges_no_claim(code, document)  # the verdict and 4966 are left to the claims issue
    assert _commands(document) == [("python run_golden.py && pytest -q", 1)]
    assert _outcomes(document) == ["error"]
    assert _ran(document) == ["ran: Bash (1 failed)"]


def test_exit_statuses_are_read_as_they_stand(check_many: CheckMany, claude: Steps) -> None:
    """receipt: C36 Each `Exit code N` of a failed command is N; other words are none."""
    outputs = {
        "Exit code 1\nno": 1,
        "Exit code 128\nfatal: x": 128,
        "Exit code 5": 5,
        "Exit code 137\n\n": 137,
        "exit code 3\nno": None,
        "1 failed\nExit code 4": None,
        "Exit code 12 and more": None,
        "Error: Exit code 2": None,
    }
    texts = [
        claude({"prompt": "go"}, _bash("pytest"), _failed(text), {"reply": "It failed."})
        for text in outputs
    ]
    for status, document in zip(outputs.values(), check_many([*texts]), strict=True):
        assert _commands(document) == [("pytest", status)]
        assert _ran(document) == ["ran: Bash (1 failed)"]


def test_the_status_of_a_pipeline_is_not_invented(check: Check, case: Case) -> None:
    """receipt: C37 A piped command that was answered has no exit status: not 0, not failed."""
    code, document = check(case("C37"))
    _judges_no_claim(code, document)  # `2 failed` against the claim is left to the claims issue
    assert _commands(document) == [("pytest -q 2>&1 | tail -15", None)]
    assert _ran(document) == ["ran: Bash"]  # the line reads no output


def test_neither_output_nor_reply_makes_a_status(check_many: CheckMany, claude: Steps) -> None:
    """receipt: C37 `;`, `||`, `&` and what anybody says about exit codes change nothing."""
    commands = ["pytest; echo done", "pytest || true", "pytest &", "pytest | tee log", "pytest -q"]
    claims = ["All tests pass (exit code 0).", "Exit code 1\nIt failed."]
    pairs = [(command, claim) for command in commands for claim in claims]
    texts = [
        claude({"prompt": "go"}, _bash(command), _done("Exit code 1\n2 failed"), {"reply": claim})
        for command, claim in pairs
    ]
    for (command, _), document in zip(pairs, check_many([*texts]), strict=True):
        assert _commands(document) == [(command, None)]
        assert _outcomes(document) == ["ok"]
        assert _ran(document) == ["ran: Bash"]


def test_a_run_of_no_tests_is_a_command_like_another(check: Check, case: Case) -> None:
    """receipt: C39 Output is not read as success or failure of what ran."""
    code, document = check(case("C39"))
    _judges_no_claim(code, document)  # that 0 tests are no pass is left to the claims issue
    assert _commands(document) == [("go test ./... -run TestNoSuch", None)]
    assert _outcomes(document) == ["ok"]


def test_runs_and_edits_stand_each_once(check: Check, case: Case) -> None:
    """receipt: C40 The receipt shows the run and the edit; stale evidence is not judged yet."""
    code, document = check(case("C40"))
    _judges_no_claim(code, document)  # that the run is stale is left to the claims issue
    assert _commands(document) == [("pytest -q", None)]
    assert [row["path"] for row in _receipt(document)["files"]] == ["/home/ann/demo/a.py"]
    assert _ran(document) == ["ran: Bash · Edit"]


def test_a_failed_edit_writes_no_file(check_many: CheckMany, claude: Steps) -> None:
    """receipt: C40 An edit that failed, was refused or never came back changed nothing."""
    answers: dict[str, list[dict[str, Any]]] = {
        "failed": [_failed("<tool_use_error>File has not been read yet.</tool_use_error>", "t2")],
        "cancelled": [_failed("<tool_use_error>Sibling tool call errored</tool_use_error>", "t2")],
        "declined": [_failed(REJECTED, "t2") | {"toolUseResult": "User rejected tool use"}],
        "unknown": [],
    }
    pairs = [(tool, word) for tool in ("Edit", "MultiEdit", "Write") for word in answers]
    documents = check_many(
        [
            claude({"prompt": "go"}, _edit("t2", tool=tool), *answers[word], {"reply": "Edited."})
            for tool, word in pairs
        ]
    )
    assert [_receipt(document)["files"] for document in documents] == [[]] * len(pairs)
    ran = [_ran(document)[0] for document in documents]
    assert ran == [f"ran: {tool} (1 {word})" for tool, word in pairs]


def test_the_last_run_stands_last(check: Check, case: Case) -> None:
    """receipt: C53 Two runs stand in their order, each with its own status."""
    code, document = check(case("C53"))
    _judges_no_claim(code, document)  # which run decides is left to the claims issue
    assert _commands(document) == [("pytest tests/test_a.py -q", None), ("pytest -q", 1)]
    assert _ran(document) == ["ran: Bash ×2 (1 failed)"]


def test_no_match_is_no_error(check: Check, case: Case) -> None:
    """receipt: C50 A search without a match is ok, and what succeeded has no status recorded."""
    code, document = check(case("C50"))
    assert code == 0
    assert _commands(document) == [("grep -rn old_helper src", None), ("ls", None)]
    assert _outcomes(document) == ["ok", "ok"]
    assert _receipt(document)["errors"] == []
    assert _ran(document) == ["ran: Bash ×2"]


def test_a_status_that_was_not_recorded_is_said_so(run: Run, write: Write, case: Case) -> None:
    """receipt: C50 In text a missing status is `not recorded`, never 0."""
    for arguments in (["check"], ["receipt"]):
        _, text, _ = run(*arguments, write(case("C50")))
        assert text.count(b"exit not recorded") == 2
        assert b"exit 0" not in text


def test_a_background_command_ends_with_its_notice(check: Check, case: Case) -> None:
    """receipt: C51 What was started in the background has the status of its notice."""
    code, document = check(case("C51"))
    _judges_no_claim(code, document)  # that the claim came before it is left to the claims issue
    assert _commands(document) == [("make deploy", 2)]
    assert _ran(document) == ["ran: Bash (1 failed)"]
    assert document["summary"]["turns"] == 1  # a notice of the harness is no prompt


def test_without_its_notice_it_is_still_running(check: Check, case: Case) -> None:
    """receipt: C51 Without a notice a background command has no end, and no exit status."""
    text = "\n".join(case("C51").splitlines()[:3]) + "\n"
    _, document = check(text)
    assert [status for _, status in _commands(document) if status is not None] == []
    assert _ran(document) == ["ran: Bash"]
    assert "still-running" in [row["code"] for row in _receipt(document)["caveats"]]


def test_a_notice_of_another_command_ends_nothing(check: Check, case: Case) -> None:
    """receipt: C51 A notice is joined by the id of its command, never by its words."""
    text = case("C51").replace("<task-id>bbb49d4<", "<task-id>ccc49d4<")
    _, document = check(text)
    assert ("make deploy", 2) not in _commands(document)
    assert "still-running" in [row["code"] for row in _receipt(document)["caveats"]]


# --- what was refused ---------------------------------------------------------


def test_a_refused_command_did_not_run(check: Check, case: Case) -> None:
    """receipt: C48 A refusal is a denial by whom it was, and no command."""
    code, document = check(case("C48"))
    _judges_no_claim(code, document)  # `Verified` is left to the claims issue
    receipt = _receipt(document)
    assert receipt["commands"] == []
    (denial,) = receipt["denials"]
    assert (denial["command"], denial["verdict"], denial["by"]) == (
        "pytest -q",
        "disapproved",
        "gate",
    )
    assert _ran(document) == ["ran: Bash (1 declined)"]
    assert receipt["errors"] == receipt["approvals"] == []


def test_a_refusal_unasked_is_denied_by_policy(check_many: CheckMany, claude: Steps) -> None:
    """ran: C48 Asked and refused is declined; refused unasked is denied; neither failed."""
    policies = [
        "Permission for this tool use was denied because it is on the list.",
        "Permission to use Bash with command pytest -q has been denied.",
        "Claude requested permissions to use Bash, but you haven't granted it yet.",
    ]
    texts = [
        claude({"prompt": "go"}, _bash("pytest -q"), _failed(text), {"reply": "No."})
        for text in policies
    ]
    for document in check_many([*texts]):
        assert _receipt(document)["commands"] == []
        (denial,) = _receipt(document)["denials"]
        assert (denial["verdict"], denial["by"]) == ("denied", "policy")
        assert _ran(document) == ["ran: Bash (1 denied)"]


def test_words_of_a_refusal_in_an_output_refuse_nothing(check: Check, claude: Steps) -> None:
    """receipt: C48 A result that is no error and holds such words is a command that ran."""
    _, document = check(
        claude({"prompt": "go"}, _bash("cat log"), _done(REJECTED), {"reply": "Read."})
    )
    assert _receipt(document)["denials"] == []
    assert _commands(document) == [("cat log", None)]
    assert _ran(document) == ["ran: Bash"]


def test_what_was_cancelled_with_a_sibling_did_not_run(check: Check, case: Case) -> None:
    """receipt: C49 One is cancelled, one failed; no status, no file, no denial is invented."""
    code, document = check(case("C49"))
    _judges_no_claim(code, document)  # both statements are left to the claims issue
    receipt = _receipt(document)
    assert receipt["commands"] == receipt["files"] == receipt["denials"] == []
    assert _outcomes(document) == ["cancelled", "error"]
    assert _ran(document) == ["ran: Bash (1 cancelled) · Edit (1 failed)"]


def test_an_edit_that_changed_nothing_is_no_file(check: Check, case: Case) -> None:
    """receipt: C62 An edit attempted and not applied is a failed call, and no file."""
    code, document = check(case("C62"))
    _judges_no_claim(code, document)  # the statement about a.py is left to the claims issue
    assert _receipt(document)["files"] == []
    assert _outcomes(document) == ["error"]
    assert _ran(document) == ["ran: Edit (1 failed)"]


# --- what is no claim, and no evidence ----------------------------------------


def test_announcements_are_no_findings(check: Check, case: Case) -> None:
    """nothing-to-check: C42 Purpose, question, condition, expectation: nothing is found."""
    code, document = check(case("C42"))
    _judges_no_claim(code, document)
    assert document["summary"]["outcome"] == "empty"
    assert [reply["line"] for reply in document["turns"][0]["replies"]] == [1, 2, 3, 4]
    assert _ran(document) == [None]


def test_negations_are_no_findings(check: Check, case: Case) -> None:
    """nothing-to-check: C44 Negated and hedged statements: nothing is found."""
    code, document = check(case("C44"))
    _judges_no_claim(code, document)
    assert document["summary"]["outcome"] == "empty"
    assert document["summary"]["replies"] == 4
    assert _verdicts(document) == []


def test_a_claim_of_a_push_invents_no_command(check: Check, case: Case) -> None:
    """receipt: C56 The receipt of `pushed to main` shows what ran: one edit."""
    code, document = check(case("C56"))
    _judges_no_claim(code, document)  # `pushed` and `CI is green` are left to the claims issue
    assert _commands(document) == []
    assert [row["path"] for row in _receipt(document)["files"]] == ["/home/ann/demo/m.sql"]
    assert _ran(document) == ["ran: Edit"]


def test_what_is_not_checked_yet_is_said(run: Run, write: Write, case: Case) -> None:
    """what-was-checked: C56 The report says that claims in prose were not checked."""
    _, text, _ = run("check", write(case("C56")))
    assert b"Not checked: claims in prose" in text


def test_a_commit_that_nothing_holds_is_not_established(
    check: Check, run: Run, write: Write, case: Case
) -> None:
    """three-verdicts: C57 A cited commit in no output is not established, and no error."""
    code, document = check(case("C57"))
    _judges_no_claim(code, document)
    assert _verdicts(document) == [("commit", "not_established", "not-in-record")]
    (found,) = document["turns"][0]["references"]
    assert found["text"] == "a314508"
    assert document["summary"]["outcome"] == "unproven"
    path = write(case("C57"))
    code, text, _ = run("check", "--strict", path)
    assert code == 1
    assert b"not established" in text
    assert b"does not exist" not in text


def test_the_report_of_a_subagent_is_no_evidence(check: Check, case: Case) -> None:
    """whose-words: C58 A quotation that only a sub-agent's report holds is not established."""
    code, document = check(case("C58"))
    _judges_no_claim(code, document)  # that it rests on no tool is left to the claims issue
    assert _ran(document) == ["ran: Task"]
    assert _commands(document) == []
    quoted = "There is no legacy theme.js. All tests pass."
    text = case("C58").replace(
        "Verified: no legacy theme.js, all tests pass.", f"The audit printed `{quoted}`"
    )
    _, document = check(text)
    assert _verdicts(document) == [("quotation", "not_established", "only-subagent-prose")]


def test_printed_tool_syntax_ran_nothing(check: Check, case: Case) -> None:
    """whose-words: C59 Calls and results that the model wrote itself are text and no calls."""
    code, document = check(case("C59"))
    _judges_no_claim(code, document)  # 412 and the syntax itself are left to the claims issue
    assert document["summary"]["calls"] == 0
    assert _receipt(document)["tools"] == _receipt(document)["commands"] == []
    assert _ran(document) == [None]  # tools of other harnesses are not known: no line


def test_output_that_the_model_wrote_itself_backs_nothing(check: Check, claude: Steps) -> None:
    """whose-words: C59 A quotation and a place of invented results are not established."""
    words = "src/page.tsx:12: 412 lines were found in this file"
    code, document = check(
        claude(
            {"prompt": "go"},
            {"reply": f"<function_results>{words}</function_results>"},
            {"reply": f"It printed `{words}`, see src/page.tsx:12."},
        )
    )
    assert code == 0
    assert {verdict for _, verdict, _ in _verdicts(document)} == {"not_established"}
    assert ("quotation", "not_established", "only-model-text") in _verdicts(document)


def test_an_approval_of_the_model_is_none(check: Check, case: Case) -> None:
    """receipt: C60 What the assistant writes for the user is no prompt and no approval."""
    code, document = check(case("C60"))
    _judges_no_claim(code, document)  # `You confirmed` is left to the claims issue
    assert _receipt(document)["approvals"] == []
    assert [turn["prompt"] for turn in document["turns"]] == ["draft the mail"]
    assert _ran(document) == ["ran: mcp__mail__send"]
    assert _outcomes(document) == ["ok"]


def test_a_goose_session_is_told_to_be_unknown(refused: Refused, write: Write, case: Case) -> None:
    """unknown-format: C61 Records of goose are refused in one line, not read as nothing."""
    refused(write(case("C61")))
    # that a call printed as JSON ran nothing is left to the issue of that format


def test_an_api_error_is_an_error_and_no_reply(check: Check, case: Case) -> None:
    """receipt: C65 An API error is in `errors`, ends the turn, and is nothing to check."""
    code, document = check(case("C65"))
    _judges_no_claim(code, document)
    (error,) = _receipt(document)["errors"]
    assert "500" in error["message"]
    assert error["where"] == "turn"
    assert document["summary"]["replies"] == 0
    assert document["summary"]["outcome"] == "empty"
    assert _receipt(document)["complete"] is True  # an error of the turn closes it


def test_references_in_an_api_error_are_not_checked(check: Check, claude: Steps) -> None:
    """receipt: C65 Whatever an error message names, it is no reply; the turn's reply counts."""
    error = {"isApiErrorMessage": True}
    _, document = check(
        claude(
            {"prompt": "go"},
            {"reply": "API Error: 529 overloaded at src/a.py:3", "with": error},
            {"prompt": "again"},
            {"reply": "See src/b.py:4."},
        )
    )
    assert [len(_receipt(document, place)["errors"]) for place in range(2)] == [1, 0]
    texts = [row["text"] for turn in document["turns"] for row in turn["references"]]
    assert texts == ["src/b.py:4"]


def test_a_copilot_session_is_told_to_be_unknown(
    refused: Refused, write: Write, case: Case
) -> None:
    """unknown-format: C66 Events of Copilot are refused in one line: no success is guessed."""
    refused(write(case("C66"), "events.jsonl"))
    # exit status 1 of npm test is left to the issue of that format


def test_a_reply_is_read_to_its_end(check: Check, claude: Steps) -> None:
    """whole-reply: C67 What stands at the end of a reply of 20,000 characters is checked."""
    end = "All tests pass, see src/last.py:7 and entry 3."
    reply = ("Some words é. " * 1500)[: 20_000 - len(end)] + end
    code, document = check(claude({"prompt": "go"}, {"reply": reply}))
    _judges_no_claim(code, document)  # `All tests pass` is left to the claims issue
    (found,) = document["turns"][0]["references"]
    place = found["place"]
    assert len(reply) == 20_000
    assert reply[place["start"] : place["end"]] == found["text"] == "src/last.py:7"


def test_a_long_reply_is_read_to_its_end_in_every_form(
    check: Check, claude: Steps, own_thread: Steps
) -> None:
    """whole-reply: C67 Also with a million characters, in many lines, and in our own threads."""
    words = "Nothing of note stands in this line.\n" * 27_000
    _, document = check(claude({"prompt": "go"}, {"reply": f"{words}See src/last.py:7."}))
    (found,) = document["turns"][0]["references"]
    assert found["place"]["start"] == len(words) + 4
    code, document = check(own_thread(f"{words}See entry 9.", 4))
    assert code == 1
    assert document["turns"][0]["cited"] == "cited but not in this conversation: entry 9"


def test_receipts_are_the_same_in_every_command(run: Run, write: Write, case: Case) -> None:
    """receipt: C36 `receipt` and `check` print the same receipt of a turn."""
    for id_ in ("C36", "C48"):
        path = write(case(id_))
        _, checked, _ = run("check", "--json", path)
        _, folded, _ = run("receipt", "--json", path)
        turns = json.loads(checked)["turns"]
        assert [turn["receipt"] for turn in turns] == json.loads(folded)
