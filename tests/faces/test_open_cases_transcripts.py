"""Cases of reading: what real session files hold, and what must not come of it.

Judged claims are a later issue: of each case stands here what this version does, and a
comment names what is left to that issue.
"""

import codecs
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, bytes, str]]
Write = Callable[..., Path]
Check = Callable[..., tuple[int, dict[str, Any]]]
CheckMany = Callable[[list[str | bytes]], list[dict[str, Any]]]
Refused = Callable[[Path], None]
Case = Callable[[str], str]
Steps = Callable[..., str]
Measured = Callable[..., tuple[bytes, int, float]]

SPLITS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029\r"
"""What `str.splitlines` ends a line at, LF left out."""

SESSION = "11111111-1111-4111-8111-111111111111"


def _caveats(document: dict[str, Any]) -> dict[str, list[int]]:
    """Return the lines of each caveat; that a record has no prompt is no fault of it."""
    rows = {row["code"]: row["lines"] for row in document["caveats"]}
    rows.pop("starts-mid-thread", None)
    return rows


def _receipt(document: dict[str, Any], place: int = 0) -> dict[str, Any]:
    receipt: dict[str, Any] = document["turns"][place]["receipt"]
    return receipt


def _outcomes(document: dict[str, Any], place: int = 0) -> list[str]:
    return [row["outcome"] for row in _receipt(document, place)["tools"]]


def _commands(document: dict[str, Any], place: int = 0) -> list[tuple[str, int | None]]:
    rows = _receipt(document, place)["commands"]
    return [(row["command"], row["exitStatus"]) for row in rows]


def _verdicts(document: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (found["kind"], found["verdict"], found["reason"])
        for turn in document["turns"]
        for found in turn["references"]
    ]


def _no_claims(document: dict[str, Any]) -> None:
    """Claims in prose are not judged by this version, and none is counted as judged."""
    assert not any(turn["claims"] for turn in document["turns"])
    assert set(document["summary"]["claims"].values()) == {0}


# --- lines and damage ---------------------------------------------------------


def test_a_torn_line_hides_nothing_behind_it(
    check: Check, run: Run, write: Write, case: Case
) -> None:
    """one-bad-record: C01 A torn line is a caveat with its number, and all others are read."""
    code, document = check(case("C01"))
    assert code == 0
    assert document["source"]["records"] == 4
    assert _caveats(document) == {"torn-line": [2]}
    assert _commands(document) == [("pytest -q", None)]
    assert _outcomes(document) == ["ok"]
    assert document["turns"][0]["replies"] == [{"line": 5, "block": 0}]
    assert {"code": "torn-line", "count": 1} in _receipt(document)["caveats"]
    _no_claims(document)  # that t1 backs the claim of line 5 is left to the claims issue
    _, text, _ = run("check", write(case("C01")))
    assert any(b"torn-line" in line and b"line 2" in line for line in text.splitlines())


def test_no_kind_of_torn_line_hides_what_follows(check_many: CheckMany, case: Case) -> None:
    """one-bad-record: C01 Wherever it stands and however it is torn, one line is lost."""
    lines = case("C01").splitlines()
    del lines[1]
    kinds = ['{"type":"user","uuid":"x', "}", "<<<<<<< HEAD", '{"type":"user",}', '{"a":1}{"b":']
    places = [(torn, place) for torn in [*kinds, "{'a': 1}"] for place in range(4)]
    texts = ["\n".join([*lines[:place], torn, *lines[place:]]) + "\n" for torn, place in places]
    for (torn, place), document in zip(places, check_many([*texts]), strict=True):
        assert _caveats(document)["torn-line"] == [place + 1], torn
        assert _commands(document) == [("pytest -q", None)], torn
        assert document["summary"]["replies"] == 1, torn


def test_two_records_on_one_line_are_both_read(check: Check, case: Case) -> None:
    """glued: C02 What was appended without a line end is two records, and is said."""
    code, document = check(case("C02"))
    assert code == 0
    assert document["source"]["records"] == 5
    assert _caveats(document) == {"two-records": [2]}
    assert document["turns"][0]["ran"] == "ran: Bash (1 failed)"
    assert _outcomes(document) == ["error"]
    assert _commands(document) == [("pytest -q", None)]  # `1 failed` is output, no exit status
    assert document["turns"][0]["replies"] == [{"line": 4, "block": 0}]
    _no_claims(document)  # that t1 contradicts the claim is left to the claims issue


def test_any_number_of_records_on_a_line_is_read(check_many: CheckMany, claude: Steps) -> None:
    """glued: C02 Two, three and all records on one line are that many records."""
    lines = claude(
        {"prompt": "go"},
        {"call": "Bash", "id": "t1", "input": {"command": "pytest -q"}},
        {"result": "t1", "content": "Exit code 1\n1 failed", "is_error": True},
        {"reply": "See `a.py:3`."},
    ).splitlines()
    texts: list[str | bytes] = []
    for between in ("", " ", "\t", "  \r", "\0\0"):
        texts += [
            f"{between.join(lines[:2])}\n{lines[2]}\n{lines[3]}\n",
            f"{lines[0]}\n{between.join(lines[1:])}\n",
            between.join(lines) + "\n",
            between.join(lines),
        ]
    for text, document in zip(texts, check_many(texts), strict=True):
        assert document["source"]["records"] == 4, text
        assert "two-records" in _caveats(document)
        assert "torn-line" not in _caveats(document)
        assert _commands(document) == [("pytest -q", 1)]
        assert _verdicts(document) == [("place", "not_established", "file-not-in-record")]


def test_a_whole_record_before_a_torn_one_is_read(check: Check, case: Case) -> None:
    """glued: C02 Of a whole and a half record on one line the whole one is read."""
    lines = case("C02").splitlines()
    lines[1] = lines[1].replace('"leafUuid":"u1"}', '"leafUuid":"u')
    _, document = check("\n".join(lines) + "\n")
    assert document["source"]["records"] == 4
    assert _caveats(document)["torn-line"] == [2]
    assert document["turns"][0]["ran"] == "ran: Bash (1 failed)"


def test_a_line_of_nul_is_counted_and_passed_over(check: Check, case: Case) -> None:
    """skipped-lines: C04 A run of NUL is counted with its line; what follows is read."""
    code, document = check(case("C04"))
    assert code == 0
    assert document["source"]["records"] == 3
    assert _caveats(document) == {"nul-line": [2]}
    assert _commands(document) == [("true", None)]
    assert document["turns"][0]["ran"] == "ran: Bash"


def test_nul_anywhere_hides_no_record_and_is_counted(check_many: CheckMany, case: Case) -> None:
    """skipped-lines: C04 NUL before, behind and between records is counted each time."""
    lines = case("C04").splitlines()
    del lines[1]
    nul = "\0" * 5000
    texts: list[str | bytes] = [
        "\n".join([*lines[:place], shape.format(nul=nul, line=lines[place]), *lines[place + 1 :]])
        + end
        for shape in ("{nul}\n{line}", "{nul}{line}", "{line}{nul}", "{line}\n \t{nul} \r")
        for place in range(3)
        for end in ("\n", "")
    ]
    for text, document in zip(texts, check_many(texts), strict=True):
        shown = str(text).replace(nul, "NUL")
        assert document["source"]["records"] == 3, shown
        assert _commands(document) == [("true", None)], shown
        assert "torn-line" not in _caveats(document), shown
        assert "nul" in json.dumps([document["source"]["skipped"], document["caveats"]]), shown


def test_only_lf_ends_a_record(check: Check, case: Case) -> None:
    """lines: C05 U+2028, U+2029 and U+0085 inside a string end nothing."""
    code, document = check(case("C05"))
    assert code == 0
    assert document["source"]["records"] == document["source"]["lines"] == 3
    assert _caveats(document) == {}
    output = "first\u2028second\x85third\u2029fourth"
    assert _receipt(document)["tools"][0]["bytes"] == len(output.encode())
    assert document["turns"][0]["replies"] == [{"line": 3, "block": 0}]
    _no_claims(document)  # whether it prints `first` is left to the claims issue


def test_nothing_that_splits_a_text_splits_a_record(check_many: CheckMany, case: Case) -> None:
    """lines: C05 No character of `str.splitlines` but LF ends a record, first, last or amid."""
    texts: list[str | bytes] = [
        case("C05").replace("\u2028", f"{split}a{split}{split}b{split}") for split in SPLITS
    ]
    texts.append(case("C05").replace("fourth", SPLITS).replace("\n", "\r\n"))
    for split, document in zip([*SPLITS, "all"], check_many(texts), strict=True):
        assert document["source"]["records"] == document["source"]["lines"] == 3, ascii(split)
        assert _caveats(document) == {}, ascii(split)
        assert document["turns"][0]["ran"] == "ran: Bash"


def test_places_keep_their_lines_behind_such_characters(
    check: Check, claude: Steps, run: Run, write: Write
) -> None:
    """lines: C05 The line that a report names is the physical one, which `show` finds."""
    text = claude(
        {"prompt": "go\v\f\x85\u2028"}, {"reply": f"é\u2028{SPLITS}\U0001f600 see a.py:3"}
    )
    raw = json.dumps(json.loads(text.splitlines()[1]), ensure_ascii=False)
    _, document = check(f"{text.splitlines()[0]}\n{raw}\n")
    (reference,) = document["turns"][0]["references"]
    place = reference["place"]
    reply = f"é\u2028{SPLITS}\U0001f600 see a.py:3"
    assert place["line"] == 2
    assert reply[place["start"] : place["end"]] == "a.py:3"
    code, shown, _ = run("show", write(f"{text.splitlines()[0]}\n{raw}\n"), "2", "--raw")
    assert (code, shown.rstrip(b"\n")) == (0, raw.encode())


def test_a_byte_order_mark_and_crlf_lose_no_record(check: Check, case: Case) -> None:
    """skipped-lines: C19 A file from Windows reads like any other; the mark is counted."""
    code, document = check(case("C19"))
    assert code == 0
    assert document["source"]["records"] == 3
    assert _caveats(document) == {}
    assert document["source"]["skipped"] == {"byte-order-mark": 1}
    assert _commands(document) == [("pytest -q", None)]
    assert document["turns"][0]["line"] == 1
    _no_claims(document)  # that the claim is backed is left to the claims issue


def test_line_ends_and_blank_lines_change_nothing_else(check_many: CheckMany, case: Case) -> None:
    """skipped-lines: C19 CRLF, a mark, blank lines and comments: the same turn, counted."""
    plain = case("C19").removeprefix("\ufeff").replace("\r\n", "\n")
    texts = [
        plain,
        plain.replace("\n", "\r\n"),
        "\ufeff" + plain,
        plain.replace("\n", "\n\n \r\n"),
        "// from a gist\n" + plain,
        plain.removesuffix("\n"),
    ]
    documents = check_many([*texts])
    receipts = [_receipt(document) for document in documents]
    assert receipts == [receipts[0]] * 6
    assert [_caveats(document) for document in documents] == [{}] * 6
    skipped = [document["source"]["skipped"] for document in documents]
    assert skipped[2] == {"byte-order-mark": 1}
    assert skipped[3] == {"blank-line": 6}
    assert skipped[4] == {"comment": 1}


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-32-le", codecs.BOM_UTF32_LE),
    ],
)
def test_another_encoding_is_named_in_one_line(
    run: Run, write: Write, case: Case, encoding: str, mark: bytes
) -> None:
    """skipped-lines: C19 UTF-16 is one clear line that names it, not a broken line each."""
    path = write(mark + case("C19").removeprefix("\ufeff").encode(encoding))
    code, output, error = run("check", path)
    assert (code, output) == (3, b"")
    (line,) = [line for line in error.splitlines() if not line.startswith("hint:")]
    assert encoding[:6].upper() in line


def test_a_half_record_at_the_end_is_still_being_written(
    check: Check, run: Run, write: Write, case: Case
) -> None:
    """in-progress: C27 A live session is read up to its last whole record, and not touched."""
    path = write(case("C27"))
    before = path.stat()
    code, document = check(path)
    assert code == 0
    assert document["source"]["records"] == 2
    assert _caveats(document) == {"in-progress": [3]}
    assert _commands(document) == [("pytest -q", None)]
    assert "open-turn" in [row["code"] for row in _receipt(document)["caveats"]]
    assert path.read_bytes() == case("C27").encode()
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    _, text, _ = run("check", path)
    assert text.count(b"in-progress \xc3\x97") == 1
    assert b"torn-line" not in text


def test_wherever_the_end_is_cut_the_rest_stands(check_many: CheckMany, case: Case) -> None:
    """in-progress: C27 Any beginning of a record at the very end is no damage."""
    *lines, last = case("C01").splitlines()
    del lines[1]
    texts = ["\n".join([*lines, last[:cut]]) for cut in (1, 2, 10, 60, 200, len(last) - 1)]
    for document in check_many([*texts]):
        assert _caveats(document) == {"in-progress": [4]}
        assert _commands(document) == [("pytest -q", None)]


def test_a_last_record_without_a_line_end_is_read(check: Check, claude: Steps) -> None:
    """in-progress: C27 A whole record that lacks its line end is a record."""
    text = claude({"prompt": "go"}, {"reply": "See a.py:3."})
    _, document = check(text.removesuffix("\n"))
    assert document["source"]["records"] == 2
    assert _caveats(document) == {}
    assert _verdicts(document) == [("place", "not_established", "file-not-in-record")]


# --- bytes and characters -----------------------------------------------------


def test_lone_surrogates_crash_nothing(check: Check, run: Run, write: Write, case: Case) -> None:
    """surrogates: C17 Binary output logged as a lone surrogate is read, shown and printed."""
    code, document = check(case("C17"))
    assert code == 0
    assert document["source"]["records"] == 3
    assert _caveats(document) == {}
    assert _outcomes(document) == ["ok"]
    path = write(case("C17"))
    code, text, _ = run("check", "--verbose", path)
    assert code == 0
    text.decode()
    code, text, _ = run("show", path, "2")
    assert code == 0
    assert "price" in text.decode()


def test_lone_surrogates_are_survived_in_every_field(run: Run, write: Write, claude: Steps) -> None:
    """surrogates: C17 In prompt, command, path, tool, call id, reply, session and version."""
    bad = "\udcb2"
    path = write(
        claude(
            {"prompt": f"go {bad}", "with": {"sessionId": f"s{bad}", "version": bad, "cwd": bad}},
            {"call": f"Bash{bad}", "id": f"t{bad}", "input": {"command": f"cat {bad}"}},
            {"result": f"t{bad}", "content": f"Exit code 1\n{bad}", "is_error": True},
            {"call": "Write", "id": "t2", "input": {"file_path": f"/a/{bad}.py", "content": bad}},
            {"result": "t2", "content": bad, "toolUseResult": {"filePath": f"/a/{bad}.py"}},
            {"type": f"kind{bad}"},
            {"reply": f'It printed "{bad} is what the file holds", see a{bad}/b.py:3 {bad}'},
        )
    )
    code, output, _ = run("check", "--json", path)
    assert code == 0
    document = json.loads(output)
    assert _commands(document) == [(f"cat {bad}", 1)]
    assert [row["path"] for row in _receipt(document)["files"]] == [f"/a/{bad}.py"]
    for arguments in (["check", path], ["check", "--format", "sarif", path]):
        code, text, _ = run(*arguments)
        assert code == 0
        text.decode()


def test_bytes_that_are_no_utf8_are_replaced_and_counted(
    check: Check, run: Run, write: Write, case: Case
) -> None:
    """utf8: C18 One line of another encoding is read with replacements, and is named."""
    head, _, rest = case("C18").removeprefix("BYTES: ").partition("   (<0xNN>")
    assert rest
    raw = head.replace("\\n", "\n").encode()
    raw = raw.replace(b"<0xE9>", b"\xe9").replace(b"<0xB2>", b"\xb2")
    code, document = check(raw)
    assert code == 0
    assert document["source"]["records"] == 3
    assert document["source"]["bytes"] == len(raw)
    assert _caveats(document) == {"not-utf8": [2]}
    assert _outcomes(document) == ["ok"]
    assert document["turns"][0]["replies"] == [{"line": 3, "block": 0}]
    _, text, _ = run("check", write(raw))
    assert any(b"line 2" in line and b"not UTF-8" in line for line in text.splitlines())


def test_no_byte_shifts_the_places_behind_it(check_many: CheckMany, claude: Steps) -> None:
    """utf8: C18 Wherever such bytes stand, the lines and places behind them stay right."""
    text = claude({"prompt": "go XX"}, {"reply": "See a.py:3."}).encode()
    strange = [b"\xff", b"\xe9", b"\xc3", b"\xed\xb2\x80", b"\xf8\x88\x80\x80", b"\x80" * 3000]
    for document in check_many([text.replace(b"XX", raw) for raw in strange]):
        assert _caveats(document) == {"not-utf8": [1]}
        (found,) = document["turns"][0]["references"]
        assert found["place"] == {"line": 2, "block": 0, "start": 4, "end": 10}


def test_a_line_of_twenty_megabytes_is_read(
    measured: Measured, write: Write, claude: Steps
) -> None:
    """flat-memory: C16 A line of any length up to the bound is one record like another."""
    words = "7 passed in 0.2s on the second run"
    text = claude(
        {"call": "Bash", "id": "t1", "input": {"command": "pytest -q"}},
        {"result": "t1", "content": "A" * 20_000_000 + f"\n{words}", "is_error": False},
        {"reply": f"It printed `{words}`. All 7 tests pass, see a.py:7."},
    )
    output, peak, seconds = measured("check", "--json", write(text))
    document = json.loads(output)
    assert document["source"]["records"] == 3
    assert _caveats(document) == {}
    assert _commands(document) == [("pytest -q", None)]
    assert _receipt(document)["tools"][0]["bytes"] == 20_000_001 + len(words)
    assert [verdict for _, verdict, _ in _verdicts(document)] == ["supported", "not_established"]
    _no_claims(document)  # that the claim is backed is left to the claims issue
    assert peak < 20 * len(text)
    assert seconds < 10


def test_a_quotation_that_fits_everywhere_costs_no_more(
    measured: Measured, write: Write, claude: Steps
) -> None:
    """flat-memory: C16 Words that stand at every place of an output are found at one of them."""
    text = claude(
        {"call": "Bash", "id": "t1", "input": {"command": "cat a"}},
        {"result": "t1", "content": "=" * 1_000_000, "is_error": False},
        {"reply": f'It printed "{"=" * 80}".'},
    )
    output, peak, _ = measured("check", "--json", write(text))
    assert _verdicts(json.loads(output)) == [("quotation", "supported", "printed")]
    assert peak < 150 << 20


def test_behind_a_line_past_the_bound_the_next_is_read(check: Check, claude: Steps) -> None:
    """flat-memory: C16 A line too long is told with its size; the next one is read."""
    lines = claude(
        {"prompt": "go"}, {"type": "progress", "data": "PAYLOAD"}, {"reply": "See a.py:7."}
    )
    size = 50 << 20
    _, document = check(lines.replace("PAYLOAD", "A" * size))
    assert document["source"]["records"] in {2, 3}  # whether the bound is above is not promised
    if document["source"]["records"] == 2:
        (caveat,) = document["caveats"]
        assert (caveat["code"], caveat["lines"]) == ("line-too-long", [2])
        assert f"{len(lines.splitlines()[1]) - 7 + size + 1:,}" in caveat["what"]
    assert document["turns"][0]["replies"] == [{"line": 3, "block": 0}]


# --- shapes -------------------------------------------------------------------


def test_what_is_json_and_no_record_is_counted_by_kind(
    check: Check, run: Run, write: Write, case: Case
) -> None:
    """shape: C20 Strings, numbers, lists, null and strangers are counted; the rest is read."""
    code, document = check(case("C20"))
    assert code == 0
    assert document["source"]["skipped"] == {"comment": 1}
    assert document["summary"]["replies"] == 1
    assert document["turns"][-1]["replies"] == [{"line": 10, "block": 0}]
    assert document["summary"]["outcome"] == "empty"
    rows = [row for row in document["caveats"] if row["code"] == "not-a-record"]
    assert sum(row["count"] for row in rows) == 6
    assert sorted(line for row in rows for line in row["lines"]) == [2, 3, 4, 5, 6, 9]
    said = " ".join(row["what"] for row in rows)
    assert [word for word in ("string", "number", "list", "null") if word not in said] == []
    _, text, _ = run("check", write(case("C20")))
    assert b"not-a-record" in text


SHAPES = [
    '{"type":"user","uuid":"u","sessionId":"S","message":{"role":"user","content":42}}',
    '{"type":"user","uuid":"u","sessionId":"S","message":{"role":"user","content":[7,null,[]]}}',
    '{"type":"user","uuid":"u","sessionId":"S","message":null}',
    '{"type":"user","uuid":"u","sessionId":"S","message":{"content":[{"type":"tool_result"}]}}',
    '{"type":"assistant","uuid":"u","sessionId":"S","message":{"content":[{"type":"text"}]}}',
    '{"type":"assistant","uuid":"u","sessionId":"S","message":{"content":[{"type":"tool_use"}]}}',
    '{"type":"assistant","uuid":"u","sessionId":"S","message":{"content":{"type":"text"}}}',
    '{"type":"assistant","uuid":"u","sessionId":"S","message":[]}',
    '{"type":"system","uuid":"u","sessionId":"S","subtype":3,"content":{}}',
    '{"type":7,"uuid":"u"}',
    '{"type":"user","uuid":{"a":1},"sessionId":[],"timestamp":5,"message":{"content":"x"}}',
    "true",
    "{}",
    "[]",
    "1e999",
    '{"a":' * 5000 + "1" + "}" * 5000,
    "[" * 100_000,
]
"""Lines that are JSON, or nearly, and no record as it should be; S stands for the session."""


def test_no_shape_of_a_line_stops_the_reading(check_many: CheckMany, case: Case) -> None:
    """shape: C20 A record with anything in any field raises nothing and hides nothing."""
    first, _, *rest = case("C01").splitlines()
    shapes = [shape.replace('"S"', f'"{SESSION}"') for shape in SHAPES]
    documents = check_many(["\n".join([first, shape, *rest]) + "\n" for shape in shapes])
    for shape, document in zip(shapes, documents, strict=True):
        places = range(len(document["turns"]))
        ran = [row for place in places for row in _commands(document, place)]
        assert ("pytest -q", None) in ran, shape[:200]
        replies = [reply for turn in document["turns"] for reply in turn["replies"]]
        assert {"line": 5, "block": 0} in replies, shape[:200]


def test_unknown_kinds_are_counted_and_hooks_are_no_evidence(check: Check, case: Case) -> None:
    """unknown-kinds: C22 New kinds are no damage; what a hook printed the agent did not run."""
    code, document = check(case("C22"))
    assert code == 0
    assert document["source"]["records"] == 5
    assert document["source"]["unknownKinds"] == {"brand-new-kind": 1}
    assert set(_caveats(document)) <= {"unknown-kind"}
    (turn,) = document["turns"]
    assert turn["receipt"]["tools"] == turn["receipt"]["commands"] == []
    assert turn["ran"] is None
    _no_claims(document)  # that the hook does not back the claim is left to the claims issue


def test_a_quotation_of_a_hook_is_not_backed_by_the_agent(check: Check, case: Case) -> None:
    """whose-words: C22 What only a hook printed is harness text, and is said to be."""
    words = "12 passed, 3 skipped in 0.12 seconds"
    text = case("C22").replace("12 passed", words)
    text = text.replace("All tests pass.", f"It printed `{words}`.")
    code, document = check(text)
    assert code == 0
    assert _verdicts(document) == [("quotation", "not_established", "only-harness-text")]


def test_every_piece_of_a_message_is_one_message(check: Check, case: Case) -> None:
    """joined: C24 The text in a later piece is read; one message, one call."""
    code, document = check(case("C24"))
    assert code == 0
    assert document["summary"]["calls"] == 1
    assert document["turns"][0]["ran"] == "ran: Bash"
    assert document["turns"][0]["replies"] == [{"line": 4, "block": 0}]
    assert _receipt(document)["complete"] is True
    _no_claims(document)  # `I deleted old.py` is left to the claims issue


def test_usage_counts_once_a_message(check: Check, claude: Steps) -> None:
    """joined: C24 Pieces repeat the usage of their message; two messages add up."""
    steps = [{"type": "thinking", "thinking": "so"}, {"type": "text", "text": "a"}]
    steps.append({"type": "text", "text": "b"})
    records: list[dict[str, Any]] = [{"prompt": "go"}]
    for id_, count in (("m1", 100), ("m2", 7)):
        records += [
            {
                "type": "assistant",
                "message": {
                    "id": id_,
                    "role": "assistant",
                    "content": [block],
                    "usage": {"input_tokens": count, "output_tokens": 1},
                },
            }
            for block in steps
        ]
    _, document = check(claude(*records))
    usage = _receipt(document)["usage"]
    assert (usage["input"], usage["output"]) == (107, 2)
    assert document["summary"]["replies"] == 4


def test_two_sessions_in_one_file_stay_two(check: Check, case: Case) -> None:
    """threads: C26 A turn of the second session has nothing of what the first one ran."""
    code, document = check(case("C26"))
    assert code == 0
    assert document["source"]["threads"] == 2
    first, second = document["turns"]
    assert [first["thread"][0], second["thread"][0]] == ["1", "3"]
    assert first["receipt"]["commands"] == [{"command": "pytest -q", "exitStatus": None}]
    assert second["receipt"]["tools"] == second["receipt"]["commands"] == []
    assert (second["ran"], second["turn"], second["line"]) == (None, 1, 3)
    _no_claims(document)  # that the claim of the second is not backed is left to that issue


def test_one_session_is_no_evidence_for_another(check: Check, case: Case) -> None:
    """threads: C26 Neither a quotation nor a place of one session is backed by another."""
    output = "src/app.py:12: error: a name that is not defined"
    text = case("C26").replace("3 passed", output)
    text = text.replace("All tests pass.", f"It printed `{output}`, see src/app.py:12.")
    _, document = check(text)
    assert {verdict for _, verdict, _ in _verdicts(document)} == {"not_established"}
    same = text.replace("33333333-3333-4333-8333-333333333333", SESSION)
    _, document = check(same)
    assert {verdict for _, verdict, _ in _verdicts(document)} == {"supported"}


# --- once and joined ----------------------------------------------------------


def test_history_written_again_counts_once(check: Check, case: Case) -> None:
    """once: C07 A record of a known id is a replay, whatever its other fields say."""
    code, document = check(case("C07"))
    assert code == 0
    assert document["summary"]["calls"] == 1
    assert document["turns"][0]["ran"] == "ran: Bash"
    assert _commands(document) == [("make build", None)]
    assert document["source"]["repeated"] == 2
    assert _caveats(document) == {}


def test_up_to_five_copies_count_once(check_many: CheckMany, claude: Steps) -> None:
    """once: C07 Copies with other ambient fields add no call, no reply, no turn, no caveat."""
    ambient: list[dict[str, object]] = [
        {"slug": "quiet-fox"},
        {"gitBranch": "other"},
        {"version": "2.1.284"},
        {"promptId": "p9", "entrypoint": "cli"},
        {"timestamp": "2026-02-02T10:00:00.000Z"},
        {"parentUuid": None, "cwd": "/elsewhere"},
        {"permissionMode": "plan", "userType": "internal"},
        {"sessionId": "22222222-2222-4222-8222-222222222222"},
    ]
    steps: list[dict[str, Any]] = [
        {"prompt": "go"},
        {"call": "Bash", "id": "t1", "input": {"command": "make build"}},
        {"result": "t1", "content": "ok", "is_error": False},
        {"reply": "Built; see a.py:3."},
    ]
    texts = [
        claude(*steps) + claude(*({**step, "with": fields} for step in steps)) * 4
        for fields in ambient
    ]
    for fields, document in zip(ambient, check_many([*texts]), strict=True):
        assert document["source"]["repeated"] == 16, fields
        assert document["summary"]["turns"] == document["summary"]["replies"] == 1, fields
        assert _commands(document) == [("make build", None)], fields
        assert len(_verdicts(document)) == 1, fields
        assert _caveats(document) == {}, fields


def test_two_equal_runs_are_two_runs(check: Check, case: Case) -> None:
    """once: C09 A retry has its own ids: both runs stand, the failed one first."""
    code, document = check(case("C09"))
    assert code == 0
    assert _commands(document) == [("npm test", 1), ("npm test", None)]
    assert _outcomes(document) == ["error", "ok"]
    assert document["turns"][0]["ran"] == "ran: Bash ×2 (1 failed)"
    assert document["source"]["repeated"] == 0
    _no_claims(document)  # that the second run backs the claim is left to the claims issue


def test_equal_words_of_other_ids_are_never_one(check: Check, claude: Steps) -> None:
    """once: C09 Equal prompts, calls, results and replies with ids of their own all count."""
    steps: list[dict[str, Any]] = [
        {"prompt": "again"},
        {"call": "Bash", "id": "t1", "input": {"command": "npm test"}},
        {"result": "t1", "content": "Exit code 1\nno", "is_error": True},
        {"reply": "See a.py:3."},
    ]
    more = [{**step, "with": {"uuid": f"again{place}"}} for place, step in enumerate(steps)]
    more[1]["id"] = more[2]["result"] = "t2"
    _, document = check(claude(*steps, *more))
    assert document["summary"]["turns"] == document["summary"]["replies"] == 2
    assert document["summary"]["calls"] == 2
    assert _commands(document, 0) == _commands(document, 1) == [("npm test", 1)]


def test_a_call_without_a_result_is_neither_ok_nor_failed(check: Check, case: Case) -> None:
    """joined: C11 An interrupted call has no result recorded: unknown, and a caveat."""
    code, document = check(case("C11"))
    assert code == 0
    assert _outcomes(document) == ["unknown"]
    assert _commands(document) == []
    assert document["turns"][0]["ran"] == "ran: Bash (1 unknown)"
    caveats = {row["code"]: row["count"] for row in _receipt(document)["caveats"]}
    assert caveats["call-without-result"] == 1
    assert document["summary"]["turns"] == 1  # the notice of the harness is no prompt
    assert document["turns"][0]["prompt"] == "go"
    _no_claims(document)  # that the claim is not backed is left to the claims issue


@pytest.mark.parametrize("last", ["reply", "nothing"])
def test_a_codex_call_without_a_result_is_unknown_too(check: Check, last: str) -> None:
    """joined: C11 A function call that was never answered is no failure and no success."""
    payloads: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {
            "type": "function_call",
            "name": "exec_command",
            "arguments": '{"cmd":"pytest -q"}',
            "call_id": "c1",
        },
    ]
    if last == "reply":
        said = [{"type": "output_text", "text": "Tests were passing."}]
        payloads.append({"type": "message", "role": "assistant", "content": said})
    code, document = check(_rollout(*payloads))
    assert code == 0
    assert _outcomes(document) == ["unknown"]
    assert _commands(document) == []
    assert document["turns"][0]["ran"] == "ran: exec_command (1 unknown)"


def test_a_record_that_starts_amid_a_conversation_says_so(check: Check, case: Case) -> None:
    """joined: C12 A denial of an unknown call is one denial; no link is invented."""
    code, document = check(case("C12"))
    assert code == 0
    receipt = _receipt(document)
    (denial,) = receipt["denials"]
    assert denial["verdict"] == "disapproved"
    assert "t0" in denial["command"]
    assert _commands(document) == [("git status", None)]
    assert document["turns"][0]["ran"] == "ran: Bash"
    codes = [row["code"] for row in receipt["caveats"]]
    assert "result-without-call" in codes
    assert "starts-mid-thread" in [row["code"] for row in document["caveats"]]


def test_a_result_without_a_call_is_a_caveat_alone(check_many: CheckMany, claude: Steps) -> None:
    """joined: C12 An orphan result makes no row of a tool and no command."""
    contents = ["Exit code 1\n2 failed", "2 passed", "<tool_use_error>no</tool_use_error>", ""]
    texts = [
        claude(
            {"result": "t0", "content": content, "is_error": content.startswith(("Exit", "<"))},
            {"reply": "Done."},
        )
        for content in contents
    ]
    for document in check_many([*texts]):
        receipt = _receipt(document)
        assert receipt["tools"] == receipt["commands"] == receipt["denials"] == []
        assert document["turns"][0]["ran"] is None
        assert {"code": "result-without-call", "count": 1} in receipt["caveats"]


def test_results_in_any_order_find_their_calls(check_many: CheckMany, claude: Steps) -> None:
    """joined: C12 A result before its call, or behind another's, is joined by id alone."""
    call_1 = {"call": "Bash", "id": "t1", "input": {"command": "make a"}}
    call_2 = {"call": "Bash", "id": "t2", "input": {"command": "make b"}}
    result_1 = {"result": "t1", "content": "Exit code 3\nno", "is_error": True}
    result_2 = {"result": "t2", "content": "fine", "is_error": False}
    orders = (
        (call_1, call_2, result_2, result_1),
        (result_1, call_1, call_2, result_2),
        (result_2, result_1, call_2, call_1),
    )
    texts = [claude({"prompt": "go"}, *steps, {"reply": "Done."}) for steps in orders]
    for document in check_many([*texts]):
        rows = {
            json.loads(row["arguments"])["command"]: row["outcome"]
            for row in _receipt(document)["tools"]
        }
        assert rows == {"make a": "error", "make b": "ok"}
        ran = {status for _, status in _commands(document)}
        assert ran == {3, None}
        assert document["turns"][0]["ran"] == "ran: Bash ×2 (1 failed)"
        codes = [row["code"] for row in _receipt(document)["caveats"]]
        assert not {"call-without-result", "result-without-call"} & set(codes)


# --- sub-agents ---------------------------------------------------------------


def _subagent_files(text: str, write: Write) -> Path:
    """Write the files of C15, each under the name that stands before its lines."""
    files: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.endswith(".jsonl:"):
            name = line.removesuffix(":")
        elif line:
            files.setdefault(name, []).append(line)
    for found, lines in files.items():
        write("\n".join(lines) + "\n", f"home/.claude/{found}")
    return write(b"", "home/.claude/none").parent / "projects" / "-work-demo"


def test_a_subagent_is_a_thread_below_its_call(
    check: Check, run: Run, write: Write, case: Case
) -> None:
    """sub-agents: C15 One session, not two; the parent does not list what its agent ran."""
    folder = _subagent_files(case("C15"), write)
    code, output, _ = run("check", "--json", folder)
    assert code == 0
    (line,) = output.splitlines()
    document = json.loads(line)
    assert document["source"]["threads"] == 2
    turns = {turn["thread"]: turn for turn in document["turns"]}
    parent = turns.pop(SESSION)
    (sub,) = turns.values()
    assert parent["ran"] == "ran: Task"
    assert parent["receipt"]["commands"] == []
    assert (sub["parent"], sub["ran"]) == (SESSION, "ran: Bash")
    assert sub["receipt"]["commands"] == [{"command": "pytest -q", "exitStatus": None}]
    assert "agent-a5bdbc1.jsonl" in sub["source"]
    assert document["summary"]["calls"] == 2
    _no_claims(document)  # `by sub-agent a5bdbc1` is left to the claims issue


def test_a_subagent_is_no_session_of_its_own(run: Run, write: Write, case: Case) -> None:
    """sub-agents: C15 Sessions are listed without their sub-agents, which are counted."""
    _subagent_files(case("C15"), write)
    code, output, _ = run("transcripts", "--json")
    assert code == 0
    (session,) = [json.loads(line) for line in output.splitlines()]
    assert (session["thread"], session["subagents"]) == (SESSION, 1)


def test_older_layouts_of_subagents_read_alike(check: Check, write: Write, case: Case) -> None:
    """sub-agents: C15 Inline side chains and files beside the parent are sub-agents as well."""
    folder = _subagent_files(case("C15"), write)
    parent = folder / f"{SESSION}.jsonl"
    sub = folder / SESSION / "subagents" / "agent-a5bdbc1.jsonl"
    first, *rest = parent.read_text().splitlines(keepends=True)
    inline = write("".join([first, sub.read_text(), *rest]), f"inline/{SESSION}.jsonl")
    beside = write(parent.read_bytes(), f"beside/{SESSION}.jsonl")
    write(sub.read_bytes(), "beside/agent-a5bdbc1.jsonl")
    for path in (inline, beside):
        _, document = check(path)
        ran = {turn["thread"] == SESSION: turn["ran"] for turn in document["turns"]}
        assert ran == {True: "ran: Task", False: "ran: Bash"}, path
        assert document["summary"]["calls"] == 2


# --- Codex --------------------------------------------------------------------


def _rollout(*payloads: dict[str, Any], type_: str = "response_item") -> str:
    time = "2026-02-01T10:00:00.000Z"
    records = [{"timestamp": time, "type": "session_meta", "payload": {"id": "s1", "cwd": "/d"}}]
    records += [{"timestamp": time, "type": type_, "payload": payload} for payload in payloads]
    return "".join(f"{json.dumps(record)}\n" for record in records)


def test_a_repeated_head_is_the_same_session(check: Check, case: Case) -> None:
    """once: C28 A rollout that repeats its `session_meta` is one session, s1."""
    code, document = check(case("C28"))
    assert code == 0
    assert document["source"]["threads"] == 1
    assert {turn["thread"] for turn in document["turns"]} == {"s1"}
    assert document["summary"]["replies"] == 1


def test_the_first_head_names_the_session(check: Check, case: Case) -> None:
    """once: C28 A fork copies its parent's head behind its own; the file stays one session."""
    own, reply, parent = case("C28").splitlines()
    own = own.replace('"id":"s1"', '"id":"s1","forked_from_id":"parent"')
    parent = parent.replace('"id":"s1"', '"id":"parent"')
    _, document = check(f"{own}\n{parent}\n{reply}\n{parent}\n{own}\n")
    assert document["source"]["threads"] == 1
    assert {turn["thread"] for turn in document["turns"]} == {"s1"}


def test_a_command_that_ends_in_a_later_poll_has_that_exit(check: Check, case: Case) -> None:
    """joined: C31 The exit status of a yielded command comes from the poll of its session."""
    code, document = check(case("C31"))
    assert code == 0
    assert _commands(document) == [("make test", 2)]
    assert document["turns"][0]["ran"] == "ran: exec_command (1 failed) · write_stdin"
    _no_claims(document)  # that the claim is contradicted is left to the claims issue


def test_a_command_still_running_has_not_succeeded(check: Check, case: Case) -> None:
    """joined: C31 Without the poll it is still running: no exit, no failure, a caveat."""
    lines = case("C31").splitlines()
    _, document = check("\n".join([*lines[:2], lines[4]]) + "\n")
    assert [status for _, status in _commands(document) if status is not None] == []
    assert document["turns"][0]["ran"] == "ran: exec_command"
    assert "still-running" in [row["code"] for row in _receipt(document)["caveats"]]


def test_a_poll_of_another_session_ends_nothing(check: Check, case: Case) -> None:
    """joined: C31 The poll of a session that is not its own leaves a command running."""
    text = case("C31").replace('{\\"session_id\\":58711', '{\\"session_id\\":58712')
    _, document = check(text)
    assert ("make test", 2) not in _commands(document)
    assert "still-running" in [row["code"] for row in _receipt(document)["caveats"]]


# --- formats that are not read yet --------------------------------------------


def test_opencode_stores_are_told_to_be_unknown(
    run: Run, write: Write, tmp_path: Path, refused: Refused
) -> None:
    """unknown-format: C32 Neither database nor JSON tree of opencode is read as nothing."""
    write('{"id":"ses_1","directory":"/home/ann/demo"}', "oc/storage/session/info/ses_1.json")
    message = write(
        '{"id":"m1","role":"user","sessionID":"ses_1"}', "oc/storage/message/ses_1/m1.json"
    )
    refused(message)
    for name, tables in (
        ("opencode.db", ("session", "message", "part")),
        ("opencode-beta.db", ("session_v2", "session_message")),
    ):
        path = tmp_path / "oc" / name
        with sqlite3.connect(path) as database:
            for table in tables:
                database.execute(f"CREATE TABLE {table} (id TEXT, data TEXT)")
                database.execute(f"INSERT INTO {table} VALUES ('ses_1', '{{}}')")
        database.close()
        refused(path)
    assert sorted(path.name for path in (tmp_path / "oc").iterdir()) == [
        "opencode-beta.db",
        "opencode.db",
        "storage",
    ]
    code, output, error = run("check", tmp_path / "oc")
    assert (code, output) == (3, b"")
    assert error
    # reading them, each session once, is left to the issue of that format


def test_pydantic_ai_messages_are_told_to_be_unknown(
    refused: Refused, write: Write, case: Case
) -> None:
    """unknown-format: C146 A history with filled-in results is refused, not read as empty."""
    refused(write(case("C146") + "\n", "history.jsonl"))
    refused(write(json.dumps(json.loads(case("C146")), indent=1), "indented.json"))
    # that c1 has no real result is left to the issue of that format


def test_a_result_that_claude_code_filled_in_is_no_result(
    check_many: CheckMany, claude: Steps
) -> None:
    """whose-words: C146 A result made up by the harness is unknown: the command did not run."""
    call = {"call": "Bash", "id": "t1", "input": {"command": "pytest -q"}}
    steps: list[dict[str, Any]] = [
        {"result": "t1", "content": content, **flag}
        for content in ("[Tool result missing due to internal error]", "[Tool use interrupted]")
        for flag in ({}, {"is_error": True})
    ]
    texts = [claude({"prompt": "go"}, call, step, {"reply": "They pass."}) for step in steps]
    for document in check_many([*texts]):
        assert _outcomes(document) == ["unknown"]
        assert _commands(document) == []


def test_openhands_events_are_told_to_be_unknown(
    refused: Refused, write: Write, case: Case
) -> None:
    """unknown-format: C149 Events joined by action id are refused in one line."""
    refused(write(case("C149"), "events.json"))
    lines = "".join(f"{json.dumps(event)}\n" for event in json.loads(case("C149")))
    refused(write(lines, "events.jsonl"))
    # the pairs and the rejection are left to the issue of that format


def test_an_opencode_export_is_told_to_be_unknown(
    refused: Refused, write: Write, case: Case
) -> None:
    """unknown-format: C150 An export with a running call is refused, whatever its name."""
    refused(write(case("C150"), "export.jsonl"))
    refused(write(json.dumps(json.loads(case("C150")), indent=2), "indented.json"))
    # that the call is still running is left to the issue of that format


def test_no_strange_file_is_read_as_a_session(run: Run, write: Write, tmp_path: Path) -> None:
    """unknown-format: C150 What no adapter knows is one line each, and exit code 3."""
    contents = {
        "aider": b"# aider chat started at 2026-11-30 10:00:00\n\n#### go\n\nok\n",
        "gemini": b'{"sessionId":"g1","messages":[{"id":"m","type":"user"}]}',
        "atif": b'{"schema_version":"1.0","session_id":"s","steps":[]}',
        "chat": b'[{"role":"user","content":"hi"}]',
        "lines": b'{"role":"user","content":"hi"}\n' * 3,
        "zip": b"PK\x03\x04" + b"\0\1\2\n" * 50,
    }
    for name, content in contents.items():
        write(content, f"strange/{name}.jsonl")
    code, output, error = run("check", tmp_path / "strange")
    assert (code, output) == (3, b"")
    lines = [line for line in error.splitlines() if not line.startswith("hint:")]
    assert [line for line in lines if "unknown format" not in line] == []
    assert len(lines) == len(contents)
