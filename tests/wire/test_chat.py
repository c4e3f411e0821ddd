"""The lines of a conversation over JSON, both ways."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.core.events import Event, ModelAsked, Payload, ToolReturned, Usage
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.core.receipt import fold_receipt
from counterfoil.core.refs.cited import CitedEntries
from counterfoil.wire.asked import (
    Answer,
    Cancel,
    Hello,
    Message,
    Unreadable,
    decode_asked,
)
from counterfoil.wire.chat import (
    INLINE,
    OUTPUT,
    ApprovalAsked,
    ApprovalWithdrawn,
    Exit,
    Heard,
    Note,
    Ready,
    Recorded,
    Told,
    TurnEnded,
    TurnStarted,
    encode_told,
    output_of,
    told_to_json,
    whole_characters,
)

THREAD = ThreadId("t1")


def _event(payload: Payload) -> Event:
    return Event(
        seq=1,
        id=EventId("00000000000000ab"),
        occurred_at="2026-03-01T09:00:00.000Z",
        thread=THREAD,
        turn=1,
        payload=payload,
    )


def _ended(**more: Any) -> TurnEnded:  # noqa: ANN401 - fields of it
    values: dict[str, Any] = {
        "thread": THREAD,
        "turn": 4,
        "outcome": "ok",
        "seconds": 3.1,
        "tokens": Usage(input=900, output=60),
        "text": "Report.",
        "error": None,
        "ran": "ran: inspect",
        "cited": "cited but not in this conversation: entry 19",
        "cited_entries": CitedEntries(cited=(2, 19), missing=(19,), unchecked=3),
        "unknown_entries": (19,),
        "cited_pages": None,
        "unknown_pages": (),
        "receipt": fold_receipt((), THREAD, 4),
    }
    return TurnEnded(**{**values, **more})


TOLD: tuple[Told, ...] = (
    Ready(
        version="0", thread=THREAD, created=True, turn=0, model="m", tools=("inspect",), store="s"
    ),
    TurnStarted(thread=THREAD, turn=1, prompt="Go."),
    _ended(),
    Heard(text="a", reasoning=""),
    Recorded(event=_event(ToolReturned(tool="t", output="x")), text="← t"),
    output_of("00000000000000ab", "t", "x\n"),
    ApprovalAsked(
        id="q",
        thread=THREAD,
        turn=1,
        call="c",
        shown="make",
        directory="/",
        pattern="make *",
        level="moderate",
        reasons=("moderate: make",),
        scopes=("once", "session"),
    ),
    ApprovalWithdrawn(id="q"),
    Note(text="n"),
    Exit(code=0),
)


@pytest.mark.parametrize("told", TOLD, ids=lambda told: told.type)
def test_what_is_told_is_one_line_of_json_with_its_type_first(told: Told) -> None:
    """chat-face: Each line is an object; `type` names it, and every field is there."""
    line = encode_told(told)
    assert b"\n" not in line
    value = json.loads(line)
    assert next(iter(value)) == "type"
    assert value["type"] == told.type
    assert {
        "ready",
        "turn",
        "delta",
        "event",
        "output",
        "approval",
        "withdrawn",
        "note",
        "exit",
    } == {one.type for one in TOLD}


def test_a_turn_that_ended_carries_its_checks_and_its_receipt() -> None:
    """chat-face: ran, cited, citedEntries, citedPages, tokens, receipt."""
    value = told_to_json(_ended())
    assert value["phase"] == "end"
    assert value["tokens"] == {"input": 900, "output": 60}
    assert value["citedEntries"] == {"checked": 2, "missing": 1, "unchecked": 3}
    assert list(value["unknownEntries"]) == [19]
    assert value["citedPages"] is None
    assert value["receipt"]["turn"] == 4
    without = told_to_json(_ended(tokens=None, cited_entries=None))
    assert (without["tokens"], without["citedEntries"]) == (None, None)


@pytest.mark.parametrize("size", [INLINE - 1, INLINE, INLINE + 1])
def test_a_long_text_of_an_event_is_cut_and_its_bytes_are_told(size: int) -> None:
    """chat-face: Up to 1,024 bytes a text stands whole; past them `cut` has its size."""
    told = Recorded(event=_event(ToolReturned(tool="t", output="x" * size)), text=None)
    event = told_to_json(told)["event"]
    assert event["details"]["output"] == "x" * min(size, INLINE)
    assert event.get("cut") == ({"output": size} if size > INLINE else None)


def test_what_is_no_text_in_an_event_stands_as_it_is() -> None:
    """chat-face: Numbers and lists of an event are not cut."""
    event = _event(ModelAsked(entries=tuple(range(1, 2000)), estimated_tokens=7))
    value = told_to_json(Recorded(event=event, text=None))["event"]
    assert len(value["details"]["entries"]) == 1999
    assert "cut" not in value


@pytest.mark.parametrize("size", [OUTPUT - 1, OUTPUT, OUTPUT + 1])
def test_an_output_is_carried_up_to_its_bound(size: int) -> None:
    """chat-face: 16 KiB of an output, its bytes and lines, and whether it was cut."""
    told = output_of("00000000000000ab", None, "y" * size)
    assert (len(told.text), told.bytes, told.cut) == (min(size, OUTPUT), size, size > OUTPUT)


@pytest.mark.parametrize(("text", "lines"), [("", 0), ("a", 1), ("a\n", 1), ("a\n\nb", 3)])
def test_the_lines_of_an_output_are_counted(text: str, lines: int) -> None:
    """chat-face: A last line without its end counts."""
    assert output_of("00000000000000ab", None, text).lines == lines


@given(st.text(st.characters(), max_size=40), st.integers(0, 60))
def test_a_text_is_cut_between_characters(text: str, size: int) -> None:
    """chat-face: What is cut is the head, whole in characters, and as long as fits."""
    head = whole_characters(text, size)
    encoded = head.encode("utf-8", "surrogatepass")
    assert text.startswith(head)
    assert len(encoded) <= size or head == text == ""
    rest = text[len(head) :][:1].encode("utf-8", "surrogatepass")
    assert not rest or len(encoded) + len(rest) > size


def test_lone_surrogates_are_escaped_and_break_no_line() -> None:
    """chat-face: Whatever a model says, the line is UTF-8 and JSON."""
    line = encode_told(Heard(text="a\ud800", reasoning="\x1b[31m"))
    assert json.loads(line) == {"type": "delta", "text": "a\ud800", "reasoning": "\x1b[31m"}
    assert "\x1b" not in line.decode()


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ('{"type":"hello"}', Hello()),
        ('{"type":"hello","effects":["approve",3],"client":"x"}', Hello(frozenset({"approve"}))),
        ('{"type":"message","text":"Go.","more":1.5}', Message("Go.")),
        ('{"type":"message","text":"/quit"}', Message("/quit")),
        ('{"type":"message","text":"\\ud800 lone"}', Message("? lone")),
        ('{"type":"answer","id":"q","decision":"denied"}', Answer("q", "denied")),
        (
            '{"type":"answer","id":"q","decision":"approved","scope":"session"}',
            Answer("q", "approved", "session"),
        ),
        ('{"type":"cancel"}', Cancel()),
        ('{"type":"choose","id":1}', None),
        ("", None),
        (" \r", None),
    ],
)
def test_a_line_is_read_into_what_it_asks_for(line: str, asked: object) -> None:
    """chat-face: hello, message, answer, cancel; unknown types and fields are ignored."""
    assert decode_asked(line.encode()) == asked


def test_only_a_hello_that_says_so_approves() -> None:
    """chat-face: Without `approve` every approval is refused unasked."""
    assert not Hello(frozenset({"notify"})).approves
    assert Hello(frozenset({"notify", "approve"})).approves


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"Go.", "not JSON"),
        (b"\xff{}", "not UTF-8"),
        (b"{", "not JSON"),
        (b"NaN", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "list, not an object"),
        (b"7", "number, not an object"),
        (b"{}", "'type' is missing"),
        (b'{"type":null}', "'type' is null, not text"),
        (b'{"type":"hello","effects":"approve"}', "'effects' is string, not a list"),
        (b'{"type":"message"}', "'text' is missing"),
        (b'{"type":"message","text":" "}', "'text' is blank"),
        (b'{"type":"message","text":["a"]}', "'text' is list, not text"),
        (b'{"type":"answer","id":"q"}', "'decision' is missing"),
        (b'{"type":"answer","id":"q","decision":"yes"}', "'decision' is 'yes', not one of"),
        (b'{"type":"answer","id":"q","decision":true}', "'decision' is bool, not text"),
        (b'{"type":"answer","decision":"denied"}', "'id' is missing"),
        (b'{"type":"answer","id":"q","decision":"approved","scope":"turn"}', "'scope' is 'turn'"),
        (b'{"type":"answer","id":"q","decision":"denied","decision":"approved"}', "twice"),
    ],
)
def test_a_line_that_asks_for_nothing_says_why(line: bytes, words: str) -> None:
    """chat-face: A bad line is told to the other side, and stops nothing."""
    asked = decode_asked(line)
    assert isinstance(asked, Unreadable)
    assert words in asked.why


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_reading_any_line_raises_nothing(line: bytes) -> None:
    """chat-face: Whatever comes in is a value, or nothing."""
    asked = decode_asked(line)
    assert asked is None or isinstance(asked, Hello | Message | Answer | Cancel | Unreadable)
