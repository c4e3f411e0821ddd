"""The laws of reading a transcript: what no byte of a file may change.

Files are made of few records, few ids and few texts, so that calls meet their results,
records come twice and prompts go back; between them stands what is no record.
"""

import io
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.adapters.system.spool import FileSpool
from counterfoil.adapters.transcripts.claude_code import ClaudeCodeTranscript
from counterfoil.adapters.transcripts.codex import CodexTranscript
from counterfoil.adapters.transcripts.counterfoil import CounterfoilTranscript
from counterfoil.adapters.transcripts.formats import open_transcript
from counterfoil.adapters.transcripts.source import Source
from counterfoil.core.errors import CounterfoilError
from counterfoil.core.events import (
    CommandExited,
    EntryStored,
    Event,
    Payload,
    PolicyDecided,
    PromptReceived,
    RecordDamaged,
    ReplyGiven,
    ToolCalled,
    ToolReturned,
    Unrecognized,
)
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.core.receipt import Receipt, fold_receipt
from counterfoil.engine.check_transcript import TranscriptCheck
from counterfoil.ports.transcripts import Item, Measured, Recorded, Said, Transcript
from counterfoil.wire.events import decode_event, encode_event

Json: TypeAlias = dict[str, Any]
Opened: TypeAlias = Callable[[Source], Transcript]

TEXTS = (
    "Run the tests.",
    "See src/a.py:2 and src/b.py:900; entries 1, 3-5 and 99.",
    'The output says "2 failed, 40 passed, none skipped".',
    "[Request interrupted by user]",
    "<bash-input>ls</bash-input>",
    "Exit code 1\n2 failed, 40 passed, none skipped\u2028\x0b",
    "é\ud800",
    "[3 lines truncated]",
    "",
)
texts = st.sampled_from(TEXTS)
calls = st.sampled_from(("c1", "c2"))
booleans = st.booleans()


@dataclass(frozen=True)
class Format:
    """A format: how to open it, its valid records, and whether a record has an id."""

    name: str
    opened: Opened
    records: st.SearchStrategy[Json]
    has_ids: bool = True


# --- records ------------------------------------------------------------------


def _claude(type_: str, number: int, parent: int, **fields: object) -> Json:
    return {
        "type": type_,
        "uuid": f"u{number}",
        "parentUuid": f"u{parent}",
        "sessionId": "s1",
        "isSidechain": False,
        "timestamp": f"2026-03-01T09:00:{number % 60:02}.000Z",
        **fields,
    }


_numbered: dict[str, st.SearchStrategy[int]] = {
    "number": st.integers(1, 10_000),
    "parent": st.integers(1, 10_000),
}


def _message(role: str, content: object) -> Json:
    return {
        "id": "m1",
        "role": role,
        "model": "x",
        "content": content,
        "usage": {"input_tokens": 1},
    }


def _claude_result(call: str, text: str, is_error: object, result: object) -> Json:
    block = {"type": "tool_result", "tool_use_id": call, "content": text}
    flagged = block if is_error == "absent" else {**block, "is_error": is_error}
    return {"message": _message("user", [flagged]), "toolUseResult": result}


def _claude_use(call: str, name: str, command: str) -> Json:
    given_ = {"command": command} if name == "Bash" else {"file_path": "src/a.py"}
    use = {"type": "tool_use", "id": call, "name": name, "input": given_}
    return {"message": _message("assistant", [{"type": "text", "text": command}, use])}


_file = {"filePath": "src/a.py", "startLine": 1, "numLines": 2, "totalLines": 2}
_results: st.SearchStrategy[object] = st.sampled_from(
    ({"stdout": "a"}, {"type": "text", "file": _file}, "Error: x", None, [])
)
_claude_bodies: st.SearchStrategy[tuple[str, Json]] = st.one_of(
    st.builds(lambda text: ("user", {"message": _message("user", text)}), texts),
    st.builds(
        lambda text: (
            "assistant",
            {"message": _message("assistant", [{"type": "text", "text": text}])},
        ),
        texts,
    ),
    st.builds(
        lambda *parts: ("assistant", _claude_use(*parts)),
        calls,
        st.sampled_from(("Bash", "Read", "Edit")),
        st.sampled_from(("ls", "sed -n '1,2p' src/a.py")),
    ),
    st.builds(
        lambda *parts: ("user", _claude_result(*parts)),
        calls,
        texts,
        st.sampled_from(("absent", True, False)),
        _results,
    ),
    st.sampled_from(
        (
            ("system", {"subtype": "compact_boundary"}),
            ("system", {"subtype": "turn_duration", "durationMs": 5}),
            ("progress", {"data": {}}),
            ("new-kind", {"value": 1}),
        )
    ),
)
claude_records: st.SearchStrategy[Json] = st.builds(
    lambda body, number, parent: _claude(body[0], number, parent, **body[1]),
    _claude_bodies,
    **_numbered,
)


def _codex(kind: str, **payload: object) -> Json:
    return {"timestamp": "2026-03-01T09:00:00.000Z", "type": kind, "payload": payload}


_item = "response_item"
codex_records: st.SearchStrategy[Json] = st.one_of(
    st.builds(
        lambda role, text: _codex(
            _item, type="message", role=role, content=[{"type": "text", "text": text}]
        ),
        st.sampled_from(("user", "assistant")),
        texts,
    ),
    st.builds(
        lambda call, command: _codex(
            _item,
            type="function_call",
            name="exec_command",
            call_id=call,
            arguments=json.dumps({"cmd": command}),
        ),
        calls,
        texts,
    ),
    st.builds(
        lambda call, text: _codex(_item, type="function_call_output", call_id=call, output=text),
        calls,
        texts,
    ),
    st.builds(
        lambda call, code: _codex(
            "event_msg", type="exec_command_end", call_id=call, exit_code=code
        ),
        calls,
        st.sampled_from((0, 1)),
    ),
    st.builds(lambda text: _codex("event_msg", type="agent_message", message=text), texts),
    st.builds(lambda text: _codex("event_msg", type="user_message", message=text), texts),
    st.sampled_from(
        (
            _codex("session_meta", id="t1", cwd="/s"),
            _codex("compacted", message="x"),
            _codex("event_msg", type="turn_aborted"),
            _codex("event_msg", type="task_complete", duration_ms=5),
            _codex("new_kind", value=1),
        )
    ),
)

_payloads = st.one_of(
    st.builds(lambda text: PromptReceived(text=text), texts),
    st.builds(lambda text: ReplyGiven(text=text), texts),
    st.builds(lambda text: ToolCalled(tool="bash", arguments=text), texts),
    st.builds(lambda text: ToolReturned(tool="bash", output=text, outcome="ok"), texts),
    st.builds(
        lambda code: CommandExited(command="ls", exit_status=code), st.sampled_from((0, None))
    ),
    st.builds(lambda n: EntryStored(entry=n, entry_kind="reply", events=()), st.integers(1, 4)),
    st.just(PolicyDecided(command="rm", verdict="denied", by="policy")),
    st.just(Unrecognized(kind="rocket_launched", details="{}")),
)


def _event_json(number: int, turn: int, call: str, payload: Payload) -> Json:
    event = Event(
        seq=number,
        id=EventId.from_number(number),
        occurred_at="2026-03-01T09:00:00.000Z",
        thread=ThreadId("t1"),
        turn=turn,
        call=call,
        payload=payload,
    )
    return dict(json.loads(encode_event(event)))


event_records: st.SearchStrategy[Json] = st.builds(
    _event_json, st.integers(1, 10_000), st.integers(1, 3), calls, _payloads
)

CLAUDE = Format("claude_code", ClaudeCodeTranscript, claude_records)
CODEX = Format("codex", CodexTranscript, codex_records, has_ids=False)
EVENTS = Format("counterfoil", CounterfoilTranscript, event_records)
FORMATS = (CLAUDE, CODEX, EVENTS)
every_format = pytest.mark.parametrize("format_", FORMATS, ids=lambda one: one.name)
with_ids = pytest.mark.parametrize("format_", [CLAUDE, EVENTS], ids=lambda one: one.name)

# --- files --------------------------------------------------------------------

GARBAGE = (
    (b"", "skipped"),
    (b" \t", "skipped"),
    (b"// a note", "skipped"),
    (b"\0\0\0", "damage"),
    (b'{"type":"user","message":', "damage"),
    (b"}{", "damage"),
    (b"[1]", "damage"),
    (b"\xfd\xfe\xff", "damage"),
    (b'"text"', "damage"),
)
garbage = st.sampled_from(GARBAGE)


def _line_of(record: Json) -> bytes:
    return json.dumps(record, ensure_ascii=_has_surrogate(record)).encode()


def _has_surrogate(record: Json) -> bool:
    return "\\ud" in json.dumps(record)


def _unique(records: Sequence[Json], format_: Format) -> list[bytes]:
    """Return the lines of `records`, of those with one id the first alone."""
    found = {
        record.get("uuid") or record.get("id") or place if format_.has_ids else place: record
        for place, record in reversed(list(enumerate(records)))
    }
    return [_line_of(record) for record in reversed(list(found.values()))]


def lines_of(format_: Format, *, least: int = 0) -> st.SearchStrategy[list[bytes]]:
    """Return lists of lines with valid records of a format, each id once."""
    listed = st.lists(format_.records, min_size=least, max_size=12)
    return listed.map(lambda records: _unique(records, format_))


def _joined(lines: Sequence[bytes], end: bytes = b"\n") -> bytes:
    return b"".join(line + end for line in lines)


def _source(content: bytes) -> Source:
    return Source("law", None, "law", lambda: io.BytesIO(content))


def items_of(format_: Format, content: bytes) -> list[Item]:
    return list(format_.opened(_source(content)).items())


def events_of(format_: Format, content: bytes) -> list[tuple[object, ...]]:
    """Return what was read, without lines and numbers, and without damage."""
    return [
        plain(item)
        for item in items_of(format_, content)
        if not isinstance(item, Measured)
        if not (isinstance(item, Recorded) and isinstance(item.event.payload, RecordDamaged))
    ]


def plain(item: Item) -> tuple[object, ...]:
    """Return an item without what depends on its place in the file."""
    if isinstance(item, Recorded):
        event = item.event
        return (event.occurred_at, event.thread, event.turn, event.call, event.payload, item.block)
    if isinstance(item, Said):
        return (item.text, item.thread, item.turn, item.block)
    return tuple(part for name, part in item._asdict().items() if name not in {"line", "size"})


def receipts_of(format_: Format, content: bytes) -> list[Receipt]:
    with closing(FileSpool[Any]()) as spool:
        check = TranscriptCheck(format_.opened(_source(content)), spool)
        check.read()
        return [turn.receipt for turn in check.turns()]


def _damage_lines(items: Sequence[Item]) -> list[int]:
    return [
        item.line
        for item in items
        if isinstance(item, Recorded)
        and isinstance(item.event.payload, RecordDamaged)
        and item.event.payload.what in {"torn-line", "nul-line", "not-a-record", "not-an-event"}
    ]


# --- laws ---------------------------------------------------------------------


@every_format
@given(data=st.data())
def test_reading_raises_nothing_outside_the_family(format_: Format, data: st.DataObject) -> None:
    """law-one-bad-record: Any bytes are read and checked, or refused with a diagnosis."""
    valid = lines_of(format_)
    odd = st.one_of(garbage.map(lambda pair: pair[0]), st.binary(max_size=30))
    lines = data.draw(st.lists(st.one_of(valid, odd.map(lambda line: [line])), max_size=6))
    content = b"\n".join(line for group in lines for line in group)
    for opened in (format_.opened, open_transcript):
        try:
            with closing(FileSpool[Any](1)) as spool:
                check = TranscriptCheck(opened(_source(content)), spool)
                check.read()
                assert check.summary().turns == len(list(check.turns()))
        except CounterfoilError:
            continue


@every_format
@given(data=st.data())
def test_every_line_is_accounted_for(format_: Format, data: st.DataObject) -> None:
    """law-lines-counted: A line is a record, or skipped by name, or a caveat with its number."""
    kinds = st.one_of(
        lines_of(format_, least=1).map(lambda lines: (lines[0], "record")),
        garbage,
    )
    lines = data.draw(st.lists(kinds, max_size=12))
    content = _joined([line for line, _ in lines])
    items = items_of(format_, content)
    measured = items[-1]
    assert isinstance(measured, Measured)
    assert (measured.size, measured.lines) == (len(content), len(lines))
    assert measured.records == sum(kind == "record" for _, kind in lines)
    assert sum(measured.skipped.values()) == sum(kind == "skipped" for _, kind in lines)
    damaged = {place for place, (_, kind) in enumerate(lines, start=1) if kind == "damage"}
    assert set(_damage_lines(items)) == damaged


@every_format
@given(data=st.data())
def test_a_cut_file_says_what_its_whole_lines_say(format_: Format, data: st.DataObject) -> None:
    """law-truncation: Behind the last whole line a cut adds at most one caveat."""
    content = _joined(data.draw(lines_of(format_, least=1)))
    cut = content[: data.draw(st.integers(0, len(content)))]
    whole, last = cut[: cut.rfind(b"\n") + 1], cut[cut.rfind(b"\n") + 1 :]
    if last.endswith(b"}") and content[len(cut) : len(cut) + 1] == b"\n":
        whole = cut
    of_whole, of_cut = items_of(format_, whole)[:-1], items_of(format_, cut)[:-1]
    assert len(_added(of_cut, of_whole)) <= (whole != cut)
    if whole:
        assert events_of(format_, cut) == events_of(format_, whole)


def _added(items: Sequence[Item], before: Sequence[Item]) -> list[str]:
    """Return the codes of the caveats that `items` have beyond those `before`."""
    codes = [[_code(item) for item in one if _code(item)] for one in (items, before)]
    for code in codes[1]:
        codes[0].remove(code)
    return codes[0]


def _code(item: Item) -> str:
    is_damage = isinstance(item, Recorded) and isinstance(item.event.payload, RecordDamaged)
    return item.event.payload.what if is_damage else ""  # type: ignore[union-attr]


@with_ids
@given(data=st.data())
def test_a_record_written_again_changes_no_receipt(format_: Format, data: st.DataObject) -> None:
    """law-once: What has an id counts once, wherever in the file it stands again."""
    lines = data.draw(lines_of(format_, least=1))
    at = data.draw(st.integers(0, len(lines) - 1))
    again = data.draw(st.integers(at + 1, len(lines)))
    doubled = [*lines[:again], lines[at], *lines[again:]]
    assert receipts_of(format_, _joined(doubled)) == receipts_of(format_, _joined(lines))


@with_ids
@given(data=st.data())
def test_a_file_behind_itself_gives_the_same_receipts(format_: Format, data: st.DataObject) -> None:
    """law-once: A file that was written twice into itself says what it said once."""
    content = _joined(data.draw(lines_of(format_)))
    assert receipts_of(format_, content * 2) == receipts_of(format_, content)


@every_format
@given(data=st.data())
def test_line_ends_change_nothing(format_: Format, data: st.DataObject) -> None:
    """law-line-ends: CRLF for LF changes the size of the file and nothing else."""
    kinds = st.one_of(lines_of(format_), garbage.map(lambda pair: [pair[0]]))
    lines = [line for group in data.draw(st.lists(kinds, max_size=4)) for line in group]
    with_lf, with_crlf = (items_of(format_, _joined(lines, end)) for end in (b"\n", b"\r\n"))
    measured = with_lf.pop(), with_crlf.pop()
    assert with_crlf == with_lf
    assert measured[0]._replace(size=0) == measured[1]._replace(size=0)  # type: ignore[call-arg]


@every_format
@given(data=st.data())
def test_one_bad_line_changes_nothing_but_caveats(format_: Format, data: st.DataObject) -> None:
    """law-one-bad-record: What is no record adds its own caveat and moves nothing else."""
    lines = data.draw(lines_of(format_, least=1))
    bad, kind = data.draw(garbage)
    at = data.draw(st.integers(0, len(lines)))
    content, spoilt = _joined(lines), _joined([*lines[:at], bad, *lines[at:]])
    assert events_of(format_, spoilt) == events_of(format_, content)
    codes = _added(items_of(format_, spoilt), items_of(format_, content))
    assert len([code for code in codes if code != "not-utf8"]) == (kind == "damage")
    pairs = zip(receipts_of(format_, spoilt), receipts_of(format_, content), strict=True)
    for with_bad, without in pairs:
        assert replace(with_bad, caveats=()) == replace(without, caveats=())
        added = {caveat.code for caveat in with_bad.caveats} - {one.code for one in without.caveats}
        assert added <= {"torn-line", "nul-line", "not-a-record", "not-an-event", "not-utf8"}


@every_format
@given(data=st.data())
def test_what_is_read_can_be_written_and_folded(format_: Format, data: st.DataObject) -> None:
    """law-read-is-recorded: Events of a transcript are events: written, read back, folded."""
    content = _joined(data.draw(lines_of(format_)))
    events: dict[tuple[ThreadId, int], list[Event]] = defaultdict(list)
    is_late = False
    latest = 0
    for item in items_of(format_, content):
        if isinstance(item, Recorded):
            event = item.event
            assert decode_event(encode_event(event)) == event
            events[event.thread, event.turn or 0].append(event)
            is_late = is_late or (event.turn or latest) < latest
            latest = max(latest, event.turn or 0)
    for receipt in receipts_of(format_, content) if not is_late else ():
        of_turn = events[ThreadId(receipt.thread), receipt.turn]
        assert fold_receipt(of_turn, receipt.thread, receipt.turn) == receipt
