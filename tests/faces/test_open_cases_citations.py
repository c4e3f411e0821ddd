"""Cases of citations: entries, commits, sources, places and quotations that replies name."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, bytes, str]]
Write = Callable[..., Path]
Check = Callable[..., tuple[int, dict[str, Any]]]
CheckMany = Callable[[list[str | bytes]], list[dict[str, Any]]]
Case = Callable[[str], str]
Steps = Callable[..., str]
Thread = Callable[[str, int], str]


def _verdicts(document: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (found["text"], found["verdict"], found["reason"])
        for turn in document["turns"]
        for found in turn["references"]
    ]


def _evidence(document: dict[str, Any]) -> str:
    return json.dumps([turn["references"] for turn in document["turns"]])


def _cited(document: dict[str, Any]) -> tuple[str | None, list[int], dict[str, int]]:
    """Return the line, the missing numbers and the counts of the only turn."""
    (turn,) = document["turns"]
    counts = {key: int(value) for key, value in turn["citedEntries"].items()}
    return turn["cited"], [int(number) for number in turn["unknownEntries"]], counts


def _bash(command: str, output: str, id_: str = "t1") -> tuple[dict[str, Any], dict[str, Any]]:
    said = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    return (
        {"call": "Bash", "id": id_, "input": {"command": command}},
        {"result": id_, "content": output, "is_error": False, "toolUseResult": said},
    )


def _read(
    path: str, lines: list[str], id_: str, *, start: int = 1, total: int | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A file that was read from line `start` on; `total` lines are in the whole of it."""
    numbered = "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, start))
    file = {
        "filePath": path,
        "content": "\n".join(lines),
        "numLines": len(lines),
        "startLine": start,
        "totalLines": len(lines) if total is None else total,
    }
    return (
        {"call": "Read", "id": id_, "input": {"file_path": path}},
        {"result": id_, "content": numbered, "toolUseResult": {"type": "text", "file": file}},
    )


def _lines(count: int) -> list[str]:
    return [f"word {number}" for number in range(1, count + 1)]


# --- entries ------------------------------------------------------------------


def test_entries_that_were_never_stored_are_missing(check: Check, own_thread: Thread) -> None:
    """cited-line: C68 Of 18 stored entries 19 to 30 are missing, once, in the order cited."""
    reply = "Result (entry 19) … (entry 30). All steps logged in entries 16-30."
    code, document = check(own_thread(reply, 18))
    assert code == 1
    line, missing, counts = _cited(document)
    assert line == "cited but not in this conversation: entries 19–30 (12)"
    assert missing == [19, 30, *range(20, 30)]
    assert counts == {"checked": 15, "missing": 12, "unchecked": 0}
    assert document["summary"]["outcome"] == "findings"
    assert {verdict for _, verdict, _ in _verdicts(document)} == {"contradicted"}


def test_entries_that_exist_say_nothing(check: Check, own_thread: Thread) -> None:
    """cited-line: C68 A reply that cites what is stored, its own entry too, has no line."""
    code, document = check(own_thread("See entries 16-18, entry 1 and (entry 18).", 18))
    assert code == 0
    line, missing, _ = _cited(document)
    assert (line, missing) == (None, [])
    assert document["summary"]["outcome"] == "clean"


def test_a_session_whose_agent_saw_no_numbers_cites_no_entries(check: Check, claude: Steps) -> None:
    """cited-line: C68 `entry 30` in another agent's reply is no reference to its record."""
    code, document = check(claude({"prompt": "go"}, {"reply": "Result (entry 30)."}))
    assert code == 0
    assert document["turns"][0]["cited"] is None
    assert _verdicts(document) == []


def test_large_and_odd_numbers_are_bounded(check: Check, own_thread: Thread) -> None:
    """entry-check: C70 A hundred numbers are checked, the rest are counted and said."""
    reply = (
        "entries 1-999999999, entry 99999999999999999999, entries 8-3, entry 0, entry 007, "
        "entries 3, 5-7, or 9, entry -4"
    )
    code, document = check(own_thread(reply, 10))
    assert code == 1
    line, missing, counts = _cited(document)
    assert line == (
        "cited but not in this conversation: entries 11–100 (90); "
        "only the first 100 cited were checked"
    )
    assert missing == [*range(11, 101)]
    assert counts == {"checked": 100, "missing": 90, "unchecked": 999_999_999 + 2 - 100}


ODD: dict[str, tuple[int, list[int]]] = {
    "entries 8-3": (6, []),
    "entries 12-9": (4, [11, 12]),
    "entry 0": (1, [0]),
    "entry 007": (1, []),
    "entries 3, 5-7, or 9": (5, []),
    "entries 3, 5-7, or 11": (5, [11]),
    "entry -4": (0, []),
    "entry 99999999999999999999": (1, [99999999999999999999]),
    "entry 5,000": (1, [5000]),
    "entry " + "9" * 101: (0, []),
    "entries 10-11 and entry 11 and entry 11": (2, [11]),
    "entry 12-9, entry 9": (4, [11, 12]),
}
"""By reply: how many numbers are checked of ten entries, and which are missing."""


def test_odd_numbers_are_read_each_alone(check_many: CheckMany, own_thread: Thread) -> None:
    """entry-check: C70 Reversed ranges, zero, leading zeros, signs, lists, very long numbers."""
    documents = check_many([own_thread(f"See {reply}.", 10) for reply in ODD])
    for (reply, (checked, missing)), document in zip(ODD.items(), documents, strict=True):
        _, found, counts = _cited(document)
        assert (counts["checked"], sorted(found)) == (checked, missing), reply
        assert counts["unchecked"] == 0, reply
        expected = "findings" if missing else "clean" if checked else "empty"
        assert document["summary"]["outcome"] == expected, reply


def test_code_is_read_like_the_rest(
    check: Check, run: Run, write: Write, own_thread: Thread
) -> None:
    """entry-grammar: C71 Code spans, fences and escapes hide no entry, in text and JSON alike."""
    reply = "```\nprint('entry 42')\n```\nSee `memory \"recall entry 40\"` and \\[entry 41\\].\n"
    code, document = check(own_thread(reply, 10))
    assert code == 1
    line, missing, _ = _cited(document)
    assert line == "cited but not in this conversation: entries 40–42 (3)"
    assert missing == [42, 40, 41]
    code, text, _ = run("check", write(own_thread(reply, 10)))
    assert code == 1
    assert f"{line}\n".encode() in text


def test_no_markdown_hides_an_entry(check_many: CheckMany, own_thread: Thread) -> None:
    """entry-grammar: C71 The grammar reads characters and knows no Markdown."""
    replies: dict[str, list[int]] = {
        "~~~python\n# entry 42\n~~~": [42],
        "    entry 42": [42],
        "> entry 42": [42],
        "`entry` 42": [],
        "entry `42`": [42],
        "<!-- entry 42 -->": [42],
        "[entry 42](https://example.org/entry/43)": [42],
    }
    documents = check_many([own_thread(reply, 10) for reply in replies])
    found = {reply: _cited(document)[1] for reply, document in zip(replies, documents, strict=True)}
    assert found == replies


# --- commits ------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path, environment: dict[str, str]) -> tuple[Path, str]:
    """Make a repository of one commit; return its folder and the commit's short name."""
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "a.py").write_text("one = 1\ntwo = 2\n")
    named = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Ann"), ("EMAIL", "a@example.org"), ("DATE", "1767225600 +0"))
    }
    env = environment | named | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        done = subprocess.run(command, capture_output=True, check=True, env=env, text=True)
        return done.stdout.strip()

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "first")
    for number in range(20):
        name = git("rev-parse", "HEAD")[:10]
        if re.search(r"\d.*[a-f]|[a-f].*\d", name):
            break
        git("commit", "--quiet", "--amend", "--message", f"first {number}")
    return folder, name


def test_a_real_commit_in_no_output_is_not_called_invented(
    check: Check, run: Run, write: Write, claude: Steps, repository: tuple[Path, str]
) -> None:
    """three-verdicts: C76 Without a repository it is not seen; with one that has it, supported."""
    folder, name = repository
    text = claude({"prompt": "go"}, {"reply": f"The recent commit {name} stops truncation"})
    code, document = check(text)
    assert code == 0
    assert _verdicts(document) == [(name, "not_established", "not-in-record")]
    code, shown, _ = run("check", write(text))
    assert code == 0
    assert b"nothing in the record before the reply holds it" in shown
    assert b"not exist" not in shown
    code, document = check(text, "--repo", folder)
    assert code == 0
    assert _verdicts(document) == [(name, "supported", "in-repository")]
    assert document["summary"]["outcome"] == "clean"


def test_a_commit_that_the_system_or_the_person_named_is_supported(
    check_many: CheckMany, claude: Steps
) -> None:
    """whose-words: C76 A prompt is evidence; the model's own earlier words are none."""
    reply = {"reply": "The recent commit c384b36 stops truncation"}
    given = {"prompt": "commit c384b36 broke it"}
    own = [{"prompt": "go"}, {"reply": "I merged c384b36."}]
    by_person, by_model = check_many([claude(given, reply), claude(*own, reply)])
    assert _verdicts(by_person) == [("c384b36", "supported", "given-by-person")]
    assert _verdicts(by_model)[1] == ("c384b36", "not_established", "only-model-text")


def test_a_commit_of_another_name_is_not_established(
    check: Check, claude: Steps, repository: tuple[Path, str]
) -> None:
    """three-verdicts: C77 The cited commit is not found; the record's own is shown beside it."""
    folder, name = repository
    steps = _bash("git commit -am fix", f"[main {name[:7]}] fix\n 1 file changed")
    text = claude({"prompt": "go"}, *steps, {"reply": "Done in 70fcd59."})
    for flags in ([], ["--repo", folder]):
        code, document = check(text, *flags)
        assert code == 0
        ((found, verdict, reason),) = _verdicts(document)
        assert (found, verdict) == ("70fcd59", "not_established")
        assert reason in {"not-in-record", "not-in-repository"}
        assert name[:7] in _evidence(document)


def test_the_commit_that_was_made_is_supported(check_many: CheckMany, claude: Steps) -> None:
    """three-verdicts: C77 The name that Git printed backs a longer and a shorter one alike."""
    steps = _bash("git commit -am fix", "[main 6d16609] fix\n 1 file changed")
    texts = [
        claude({"prompt": "go"}, *steps, {"reply": f"Committed as {name}."})
        for name in ("6d16609", "6d1660", "6d16609aa1")
    ]
    documents = check_many([*texts])
    assert _verdicts(documents[0]) == [("6d16609", "supported", "printed")]
    assert _verdicts(documents[1]) == []  # six digits are no commit by references.md 3


# --- sources ------------------------------------------------------------------


def test_a_source_that_was_never_fetched_is_not_established(check: Check, case: Case) -> None:
    """three-verdicts: C78 One source was fetched, one is in no output."""
    code, document = check(case("C78"))
    assert code == 0
    assert _verdicts(document) == [
        ("https://example.org/a", "supported", "fetched"),
        ("https://example.org/b", "not_established", "never-fetched"),
    ]
    assert document["summary"]["outcome"] == "unproven"


def test_a_fetched_page_is_not_every_page_below_it(check: Check, case: Case) -> None:
    """three-verdicts: C78 Neither a longer nor a shorter address was fetched; a last / was."""
    text = case("C78").replace("https://example.org/b", "https://example.org/a/b")
    _, document = check(text.replace(" and ", " and https://example.org/a/ and "))
    assert [verdict for _, verdict, _ in _verdicts(document)] == [
        "supported",
        "supported",
        "not_established",
    ]


def test_a_search_result_is_neither_opened_nor_invented(
    check: Check, run: Run, write: Write, case: Case
) -> None:
    """three-verdicts: C80 What only a search listed is said to be that."""
    code, document = check(case("C80"))
    assert code == 0
    assert _verdicts(document) == [
        ("https://example.org/b", "not_established", "only-in-search-results")
    ]
    _, text, _ = run("check", write(case("C80")))
    assert b"search results" in text
    assert b"not opened" in text


# --- places -------------------------------------------------------------------


def test_a_place_in_a_file_that_the_record_lacks(
    check: Check, case: Case, repository: tuple[Path, str]
) -> None:
    """shown: C81 A file in no call and no output is not established, with --repo as well."""
    for flags in ([], ["--repo", repository[0]]):
        code, document = check(case("C81"), *flags)
        assert code == 0
        assert _verdicts(document) == [
            ("src/gc/erasure.go:214-220", "not_established", "file-not-in-record")
        ]


def test_a_repository_backs_and_contradicts_places(
    check: Check, claude: Steps, repository: tuple[Path, str]
) -> None:
    """shown: C81 The tree at the time of the turn has the lines, or is shorter."""
    reply = {"reply": "See a.py:2 and a.py:40 and b.py:1."}
    code, document = check(claude({"prompt": "go"}, reply), "--repo", repository[0])
    assert code == 1
    assert [verdict for _, verdict, _ in _verdicts(document)] == [
        "supported",
        "contradicted",
        "not_established",
    ]


def test_a_name_in_any_script_is_read_whole(check_many: CheckMany, claude: Steps) -> None:
    """literals: C81 A path with letters of any script is one name, and no end of it a file."""
    replies = ["See docs/報告.py:19.", "See naïve.py:19.", "報告.py:19", "See `报告/a.py:19`."]
    names = ["docs/報告.py:19", "naïve.py:19", "報告.py:19", "报告/a.py:19"]
    documents = check_many([claude({"prompt": "go"}, {"reply": reply}) for reply in replies])
    assert [_verdicts(document)[0][0] for document in documents] == names
    steps = _read("/home/ann/demo/docs/報告.py", _lines(20), "t1")
    texts = [
        claude({"prompt": "go"}, *steps, {"reply": f"See {name}:19."})
        for name in ("報告.py", "docs/報告.py", "告.py")
    ]
    documents = check_many([*texts])
    assert [_verdicts(document)[0][1] for document in documents] == [
        "supported",
        "supported",
        "not_established",
    ]


def test_a_line_past_the_end_of_a_file_that_was_read(
    check: Check, run: Run, write: Write, claude: Steps
) -> None:
    """shown: C82 Line 290 of a file whose 16 lines were all read is contradicted."""
    steps = _read("/home/ann/demo/evals/run-variance.sh", _lines(16), "t1")
    text = claude({"prompt": "go"}, *steps, {"reply": "evals/run-variance.sh:290-294"})
    code, document = check(text)
    assert code == 1
    assert _verdicts(document) == [("evals/run-variance.sh:290-294", "contradicted", "past-end")]
    assert "16 lines" in _evidence(document)
    assert document["summary"]["outcome"] == "findings"
    _, shown, _ = run("check", write(text))
    assert b"contradicted" in shown
    assert b"16 lines" in shown


def test_a_line_that_was_not_shown_is_weaker(check: Check, claude: Steps) -> None:
    """shown: C82 Inside the file but outside what was read, or the end unknown: not shown."""
    part = _read("/d/a.py", _lines(16), "t1", start=5, total=100)
    unknown = _bash("head -n 16 b.py", "\n".join(_lines(16)), "t2")
    reply = {"reply": "a.py:5 and a.py:20 and a.py:21 and a.py:3-6 and b.py:16 and b.py:290."}
    code, document = check(claude({"prompt": "go"}, *part, *unknown, reply))
    assert code == 0
    assert [verdict for _, verdict, _ in _verdicts(document)] == [
        "supported",
        "supported",
        "not_established",
        "not_established",
        "supported",
        "not_established",
    ]
    assert {reason for _, verdict, reason in _verdicts(document) if verdict[0] == "n"} == {
        "line-not-shown"
    }


def test_what_may_have_changed_a_file_contradicts_nothing(check: Check, claude: Steps) -> None:
    """shown: C82 After a command that may write, the length that was read proves nothing."""
    steps = _read("/d/a.sh", _lines(16), "t1")
    wrote = _bash("python generate.py", "done", "t2")
    code, document = check(claude({"prompt": "go"}, *steps, *wrote, {"reply": "See a.sh:290."}))
    assert code == 0
    assert [verdict for _, verdict, _ in _verdicts(document)] == ["not_established"]


def test_a_bare_name_is_backed_by_any_file_that_fits(check: Check, claude: Steps) -> None:
    """shown: C85 Of two files of one name the one that has the line backs it, by its name."""
    files = (
        *_read("/home/ann/demo/tui/stream.py", _lines(160), "t1"),
        *_read("/home/ann/demo/core/stream.py", _lines(700), "t2"),
    )
    code, document = check(claude({"prompt": "go"}, *files, {"reply": "stream.py:559"}))
    assert code == 0
    assert _verdicts(document) == [("stream.py:559", "supported", "read")]
    assert "core/stream.py" in _evidence(document)


def test_no_candidate_is_preferred(check_many: CheckMany, claude: Steps) -> None:
    """shown: C85 In either order; contradicted only when every candidate is shorter."""
    small = _read("/home/ann/demo/tui/stream.py", _lines(160), "t1")
    large = _read("/home/ann/demo/core/stream.py", _lines(700), "t2")
    part = _read("/home/ann/demo/core/stream.py", _lines(10), "t2", total=700)
    replies = (
        (*small, *large, {"reply": "stream.py:559"}),
        (*large, *small, {"reply": "stream.py:559"}),
        (*small, *large, {"reply": "stream.py:900"}),
        (*large, *small, {"reply": "tui/stream.py:559"}),
        (*small, *part, {"reply": "stream.py:559"}),
        (*small, {"reply": "stream.py:559"}),
        (*small, {"reply": "core/stream.py:559"}),
        (*large, {"reply": "my_stream.py:559"}),
    )
    documents = check_many([claude({"prompt": "go"}, *steps) for steps in replies])
    assert [_verdicts(document)[0][1:] for document in documents] == [
        ("supported", "read"),
        ("supported", "read"),
        ("contradicted", "past-end"),
        ("contradicted", "past-end"),
        ("not_established", "line-not-shown"),
        ("contradicted", "past-end"),
        ("not_established", "file-not-in-record"),
        ("not_established", "file-not-in-record"),
    ]
    both = _evidence(documents[2])
    assert "core/stream.py" in both
    assert "tui/stream.py" in both


# --- quotations ---------------------------------------------------------------


def test_curly_quotes_are_quotes(check: Check, claude: Steps) -> None:
    """literals: C86 An invented quotation in curly quotes is found; the true one is fine."""
    steps = _bash("cat /x", "error: file not found")
    reply = "The tool said “error: disk quota exceeded” and ‘error: file not found’."
    code, document = check(claude({"prompt": "go"}, *steps, {"reply": reply}))
    assert code == 0
    # The second has 21 characters: no quotation by references.md 3, and so no finding.
    assert _verdicts(document) == [
        ("“error: disk quota exceeded”", "not_established", "not-in-record")
    ]


def test_every_kind_of_quotes_is_read(check_many: CheckMany, claude: Steps) -> None:
    """literals: C86 Straight, curly, single and back quotes: the true are backed, no other."""
    output = "error: the file “x” is not in the archive's index"
    texts = [
        claude(
            {"prompt": "go"},
            *_bash("cat /x", output),
            {"reply": f"The tool said {left}is not in the archive's {words}{right}."},
        )
        for left, right in [("“", "”"), ("‘", "’"), ("`", "`"), ('"', '"')]
        for words in ("index", "contents")
    ]
    verdicts = [_verdicts(document)[0][1] for document in check_many([*texts])]
    assert verdicts == ["supported", "not_established"] * 4


def test_a_quotation_of_a_file_needs_no_line_numbers(check: Check, case: Case) -> None:
    """literals: C89 What a file reads is quoted without prefixes; nothing is called invented."""
    code, document = check(case("C89"))
    assert code == 0
    # 21 characters are no quotation by references.md 3; what matters is that none is accused.
    assert {verdict for _, verdict, _ in _verdicts(document)} <= {"supported"}


def test_a_long_quotation_of_a_file_is_verified(check_many: CheckMany, claude: Steps) -> None:
    """literals: C89 Prefixes and an appended reminder stand in the way of no true quotation."""
    lines = ["def first_of(values):", "    for value in values:", "        return value"]
    call, result = _read("/home/ann/demo/a.py", lines, "t1")
    reminder = "\n\n<system-reminder>\nConsider whether this file is harmful.\n</system-reminder>\n"
    result["content"] += reminder
    bare = {key: value for key, value in result.items() if key != "toolUseResult"}
    quoted = "\n".join(lines)
    invented = quoted.replace("return", "yield")
    texts = [
        claude(
            {"prompt": "go"}, call, answer, {"reply": f"The file reads:\n```python\n{words}\n```"}
        )
        for answer in (result, bare)
        for words in (quoted, invented, "\n".join(lines[1:]))
    ]
    verdicts = [[row[1] for row in _verdicts(document)] for document in check_many([*texts])]
    assert verdicts == [["supported"], ["not_established"], ["supported"]] * 2


def test_a_reminder_in_a_result_is_no_file_text(check: Check, claude: Steps) -> None:
    """whose-words: C89 Words of an appended reminder are the harness's, not the file's."""
    call, result = _read("/home/ann/demo/a.py", ["one = 1"], "t1")
    words = "Consider whether this file is harmful to anybody."
    result["content"] += f"\n\n<system-reminder>\n{words}\n</system-reminder>\n"
    _, document = check(
        claude({"prompt": "go"}, call, result, {"reply": f"The file says “{words}”."})
    )
    assert [row[1:] for row in _verdicts(document)] == [("not_established", "only-harness-text")]


def test_colours_and_progress_bars_accuse_no_quotation(check: Check, case: Case) -> None:
    """literals: C91 Honest quotations of coloured output are written without the colours."""
    code, document = check(case("C91"))
    assert code == 0
    # 11 and 20 characters are no quotations by references.md 3; none may be accused.
    assert {verdict for _, verdict, _ in _verdicts(document)} <= {"supported"}
    # that `12 passed` is counted through colours is left to the claims issue


def test_long_quotations_are_found_through_colours(check_many: CheckMany, claude: Steps) -> None:
    """literals: C91 Escapes, carriage returns and line ends are not part of the words."""
    esc = "\x1b"
    output = (
        f"{esc}[32m✓{esc}[39m {esc}[1m12 passed{esc}[22m, 3 {esc}[38;5;208mskipped{esc}[0m in 0.12s"
        f"\r\nRebasing (1/3)\rRebasing (3/3)\rSuccessfully rebased and updated main.\r\n"
        f"{esc}]8;;https://example.org{esc}\\a link of the report{esc}]8;;{esc}\\ stands here"
    )
    quoted = {
        "✓ 12 passed, 3 skipped in 0.12s": "supported",
        "12 passed, 3 skipped in 0.12s": "supported",
        "Successfully rebased and updated main.": "supported",
        "a link of the report stands here": "supported",
        "✓ 13 passed, 3 skipped in 0.12s": "not_established",
        "Successfully rebased and updated next.": "not_established",
    }
    texts = [
        claude({"prompt": "go"}, *_bash("npm test", output), {"reply": f"It shows “{words}”."})
        for words in quoted
    ]
    verdicts = [_verdicts(document)[0][1] for document in check_many([*texts])]
    assert verdicts == [*quoted.values()]


def test_text_output_shows_no_escapes(run: Run, write: Write, claude: Steps) -> None:
    """encoding: C91 Escapes and direction marks of a session never reach the terminal."""
    bad = "\x1b[31m\x07\u202e"
    path = write(
        claude(
            {"prompt": f"go {bad}"},
            {"call": f"Bash{bad}", "id": "t1", "input": {"command": f"ls {bad}"}},
            {"result": "t1", "content": f"Exit code 1\n{bad}", "is_error": True},
            {"reply": f"It said “{bad} is what nobody ever printed”."},
        )
    )
    for arguments in (["check", "--verbose", path], ["receipt", path]):
        code, text, _ = run(*arguments)
        assert code == 0
        for character in bad[0] + bad[-2:]:
            assert character not in text.decode(), arguments
