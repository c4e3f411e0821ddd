"""The protocol of `chat --json`, spoken with another side in this process."""

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator

import pytest

from counterfoil.core.errors import ConflictError, UnavailableError
from counterfoil.core.events import Event
from counterfoil.core.ids import ThreadId
from counterfoil.core.messages import Delta
from counterfoil.engine.agent import Agent
from counterfoil.engine.thread_parts import Opening
from counterfoil.faces.cli.chat.hearing import Ears, Lines, read_lines
from counterfoil.faces.cli.chat.protocol import JsonTalk
from engine.agent_world import (
    CASE_PROMPTS,
    MISSING_LINE,
    RAN_LINE,
    build_agent,
    calls,
    case_section_8,
    says,
    world,
)
from faces.chat.chat_world import Other, asking_world, run

OPENING = Opening(thread=ThreadId("t1"), face="cli")


def _begun(agent: Agent) -> "tuple[Other, asyncio.Task[int]]":
    other = Other()
    talk = JsonTalk(agent, other.sink)
    return other, asyncio.ensure_future(talk.run(OPENING, other.source()))


def test_the_case_is_told_line_by_line() -> None:
    """agent-case: --json shows the ran line and the missing entries, and no existing one."""

    async def talk() -> None:
        other, code = _begun(case_section_8().agent())
        ready = await other.until("ready")
        assert (ready["thread"], ready["created"], ready["turn"]) == ("t1", True, 0)
        assert ready["tools"] == ["inspect", "system_info", "memory"]
        for prompt in CASE_PROMPTS:
            other.say("message", text=prompt)
        other.end()
        assert await code == 1
        starts = [one for one in other.of("turn") if one["phase"] == "start"]
        assert [one["prompt"] for one in starts] == list(CASE_PROMPTS)
        *earlier, end = [one for one in other.of("turn") if one["phase"] == "end"]
        assert [one["cited"] for one in earlier] == [None] * 3
        assert (end["ran"], end["cited"]) == (RAN_LINE, MISSING_LINE)
        assert end["unknownEntries"] == list(range(19, 31))
        assert end["citedEntries"] == {"checked": 15, "missing": 12, "unchecked": 0}
        assert end["tokens"] == {"input": 900, "output": 60}
        assert [row["name"] for row in end["receipt"]["tools"]] == ["inspect", "system_info"]
        assert other.told[-1] == {"type": "exit", "code": 1}

    run(talk())


def test_what_happens_is_told_in_the_order_in_which_it_happened() -> None:
    """chat-face: The turn starts, is recorded event by event, and ends; outputs follow theirs."""

    async def talk() -> None:
        other, code = _begun(build_agent([calls(("memory", '{"x":1}')), says("One.\nTwo.")]))
        other.say("message", text="Go.")
        other.end()
        assert await code == 0
        types = [one["type"] for one in other.told]
        assert types[:3] == ["ready", "turn", "event"]
        assert types[-2:] == ["turn", "exit"]
        places = [one["event"]["seq"] for one in other.of("event")]
        assert places == sorted(places)
        result = next(
            at for at, one in enumerate(other.told)
            if one["type"] == "event" and one["event"]["kind"] in {"tool_returned", "tool_failed"}
        )  # fmt: skip
        assert other.told[result + 1]["type"] == "output"
        assert other.told[result + 1]["event"] == other.told[result]["event"]["id"]
        assert "".join(one["text"] for one in other.of("delta")) == "One.\nTwo."
        (called,) = [one for one in other.of("event") if one["event"]["kind"] == "tool_called"]
        assert called["text"] == '→ memory {"x":1}'

    run(talk())


@pytest.mark.parametrize("hello", [None, [], ["notify"]])
def test_without_approve_every_approval_is_refused_unasked(hello: list[str] | None) -> None:
    """chat-face: The other side is not asked unless it said that it approves."""

    async def talk() -> None:
        other, code = _begun(asking_world().agent())
        if hello is not None:
            other.say("hello", effects=hello)
        other.say("message", text="Go.")
        end = await other.until("turn", phase="end")
        other.end()
        assert await code == 0
        assert other.of("approval") == []
        assert end["ran"] == "ran: run_command (1 declined)"
        (row,) = end["receipt"]["approvals"]
        assert row["decision"] == "denied"

    run(talk())


@pytest.mark.parametrize(
    ("said", "decision", "scope"),
    [
        ({"decision": "approved"}, "approved", "once"),
        ({"decision": "approved", "scope": "always"}, "approved", "always"),
        ({"decision": "denied"}, "denied", "once"),
    ],
)
def test_an_answer_decides_the_question_that_it_names(
    said: dict[str, str], decision: str, scope: str
) -> None:
    """chat-face: approval and answer, joined by id."""

    async def talk() -> None:
        other, code = _begun(asking_world().agent())
        other.say("hello", effects=["approve"])
        other.say("message", text="Go.")
        asked = await other.until("approval")
        assert (asked["shown"], asked["level"]) == ("make test", "moderate")
        assert asked["scopes"] == ["once", "session", "project", "always"]
        other.say("answer", id=asked["id"], **said)
        end = await other.until("turn", phase="end")
        other.end()
        assert await code == 0
        (row,) = end["receipt"]["approvals"]
        assert (row["decision"], row["scope"]) == (decision, scope)
        assert other.of("withdrawn") == []

    run(talk())


def test_an_answer_that_fits_no_question_is_a_note_and_the_question_stays() -> None:
    """chat-face: An unknown id, a scope that is not on offer and a bad line decide nothing."""

    async def talk() -> None:
        other, code = _begun(asking_world("dangerous").agent())
        other.say("hello", effects=["approve"])
        other.say("message", text="Go.")
        asked = await other.until("approval")
        assert asked["scopes"] == ["once", "session"]
        other.say("answer", id="another", decision="approved")
        assert "no question 'another' waits" in (await other.until("note"))["text"]
        other.say("answer", id=asked["id"], decision="approved", scope="always")
        assert "scope 'always' is not on offer" in (await other.until("note"))["text"]
        other.say_raw(b"yes")
        assert (await other.until("note"))["text"] == "the line is not JSON"
        other.say("answer", id=asked["id"], decision="approved", scope="session")
        other.say("answer", id=asked["id"], decision="denied")
        assert "waits for an answer" in (await other.until("note"))["text"]
        end = await other.until("turn", phase="end")
        assert end["receipt"]["approvals"][0]["scope"] == "session"
        other.end()
        assert await code == 0

    run(talk())


def test_a_question_is_refused_once_the_other_side_has_gone() -> None:
    """chat-face: The end of the input answers what waits, and is followed by the turn's end."""

    async def talk() -> None:
        other, code = _begun(asking_world(count=2).agent())
        other.say("hello", effects=["approve"])
        other.say("message", text="Go.")
        await other.until("approval")
        other.end()
        assert await code == 0
        assert len(other.of("approval")) == 1
        (*_, end) = other.of("turn")
        reasons = [row["decision"] for row in end["receipt"]["approvals"]]
        assert reasons == ["denied", "denied"]
        assert other.told[-1] == {"type": "exit", "code": 0}

    run(talk())


def test_cancelling_ends_the_turn_and_withdraws_its_question() -> None:
    """chat-face: cancel ends the turn that runs; what waits for an answer is withdrawn."""

    async def talk() -> None:
        other, code = _begun(asking_world().agent())
        other.say("cancel")
        assert "no turn runs" in (await other.until("note"))["text"]
        other.say("hello", effects=["approve"])
        other.say("message", text="Go.")
        asked = await other.until("approval")
        other.say("cancel")
        assert (await other.until("withdrawn"))["id"] == asked["id"]
        end = await other.until("turn", phase="end")
        assert (end["outcome"], end["text"]) == ("cancelled", "")
        assert end["seconds"] >= 0
        assert end["cited"] is end["citedEntries"] is None
        other.say("message", text="And now?")
        end = await other.until("turn", phase="end")
        assert (end["outcome"], end["text"]) == ("ok", "Done.")
        other.end()
        assert await code == 0

    run(talk())


def test_a_failed_turn_is_told_with_its_receipt_and_the_next_one_runs() -> None:
    """chat-face: A failed turn makes exit code 3, and ends nothing."""

    async def talk() -> None:
        other, code = _begun(build_agent([UnavailableError("no model"), says("See entry 99.")]))
        other.say("message", text="Go.")
        end = await other.until("turn", phase="end")
        assert (end["outcome"], end["error"]) == ("error", "no model")
        assert end["receipt"]["errors"] == [{"message": "no model", "where": "turn"}]
        other.say("message", text="Again.")
        end = await other.until("turn", phase="end")
        assert end["unknownEntries"] == [99]
        other.end()
        assert await code == 3

    run(talk())


def test_lines_that_cannot_be_read_stop_nothing() -> None:
    """chat-face: Blank lines, unknown types, bad and endless lines."""

    async def talk() -> None:
        other, code = _begun(build_agent([says("Fine.")]))
        for line in (b"", b'{"type":"choose"}', b"\xff", None):
            other.say_raw(line)
        other.say("message", text="Go.")
        other.end()
        assert await code == 0
        assert [one["text"] for one in other.of("note")] == [
            "the line is not UTF-8",
            "a line of more than 4,194,304 bytes was passed over",
        ]
        assert other.of("turn")[-1]["text"] == "Fine."

    run(talk())


def test_a_sink_that_is_closed_ends_the_turn_and_the_conversation() -> None:
    """closed-pipe: Nobody reads any more: the turn is cancelled, and recorded as that."""

    async def talk() -> None:
        made = world(["thinking"])
        other, code = _begun(made.agent())
        other.say("message", text="Go.")
        await made.model.waiting.wait()
        other.is_gone = True
        other.say("choose")
        other.say_raw(b"bad")
        with pytest.raises(BrokenPipeError):
            await code
        kinds = [type(event.payload).__name__ for event in made.log.events()]
        assert kinds[-3:] == ["ErrorRaised", "EntryStored", "ThreadClosed"]

    run(talk())


def test_a_thread_that_cannot_be_opened_is_a_note_and_an_exit() -> None:
    """chat-face: What went wrong is told before the end, with the exit code."""

    async def talk() -> None:
        made = world([says("a")])
        with made.leases.hold(ThreadId("t1")):
            other, code = _begun(made.agent())
            with pytest.raises(ConflictError):
                await code
        note, exit_ = other.told
        assert note["type"] == "note"
        assert exit_ == {"type": "exit", "code": 2}

    run(talk())


def test_a_store_that_cannot_be_written_ends_the_conversation() -> None:
    """chat-face: What cannot be recorded is not done; exit code 3."""

    async def talk() -> None:
        made = world([says("a")])
        other, code = _begun(made.agent())
        await other.until("ready")

        def broken(fact: object) -> Event:
            raise UnavailableError("the disk is full")

        made.log.append = broken  # type: ignore[method-assign]
        other.say("message", text="Go.")
        with pytest.raises(UnavailableError):
            await code
        assert [one["type"] for one in other.told] == ["ready", "note", "exit"]
        assert other.told[-1]["code"] == 3

    run(talk())


def test_a_signal_cancels_the_turn_and_without_one_it_leaves() -> None:
    """chat-face: SIGINT ends the turn that runs; the next, when none does, the program."""

    async def talk() -> None:
        made = world(["thinking", "thinking"])
        other, code = _begun(made.agent())
        for _ in range(2):
            other.say("message", text="Go.")
            await other.until("delta")
            os.kill(os.getpid(), signal.SIGINT)
            assert (await other.until("turn", phase="end"))["outcome"] == "cancelled"
        await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGINT)
        assert await code == 130
        assert other.told[-1] == {"type": "exit", "code": 130}

    run(talk())


def test_two_signals_in_one_turn_leave_after_it() -> None:
    """chat-face: Twice in one turn ends the program, once the turn has closed its record."""

    async def talk() -> None:
        made = world(["thinking", says("never")])
        other, code = _begun(made.agent())
        other.say("message", text="Go.")
        other.say("message", text="And then.")
        await other.until("delta")
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        assert await code == 130
        assert len([one for one in other.of("turn") if one["phase"] == "end"]) == 1

    run(talk())


def test_a_conversation_beside_the_main_thread_takes_no_signal() -> None:
    """chat-face: A program that has the conversation in another thread keeps its signals."""
    codes: list[int] = []

    async def talk() -> None:
        other, code = _begun(build_agent([says("Fine.")]))
        other.say("message", text="Go.")
        other.end()
        codes.append(await code)

    beside = threading.Thread(target=lambda: run(talk()))
    beside.start()
    beside.join(30)
    assert codes == [0]


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    """chat-face: What is started in the background is not ended by a Ctrl-C in front of it."""

    async def talk() -> None:
        other, code = _begun(build_agent([says("Fine.")]))
        await other.until("ready")
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        os.kill(os.getpid(), signal.SIGINT)
        other.say("message", text="Go.")
        other.end()
        assert await code == 0

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        run(talk())
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_delta_without_anything_is_no_line() -> None:
    """chat-face: Only what is said, or thought, is told."""

    async def talk() -> None:
        other = Other()
        face = JsonTalk(build_agent([]), other.sink)
        face._hear(Delta())
        face._hear(Delta(reasoning="hm"))
        assert other.told == [{"type": "delta", "text": "", "reasoning": "hm"}]

    run(talk())


# --- hearing ------------------------------------------------------------------


@pytest.mark.parametrize("size", [9, 10, 11])
def test_a_line_is_as_long_as_it_may_be(size: int) -> None:
    """chat-face: A line past the bound is passed over, and the next one is read."""
    lines = Lines(longest=10)
    found = lines.feed(b"x" * size + b"\n") + lines.feed(b"y\n")
    assert found == [b"x" * size if size <= 10 else None, b"y"]


def test_lines_are_the_same_however_they_come() -> None:
    """chat-face: Chunks end anywhere; a last line needs no end."""
    text = b"a\r\n\nlong enough to be too long for it\nb"
    expected = [b"a\r", b"", None, b"b"]
    for size in range(1, len(text) + 1):
        lines = Lines(longest=10)
        found = [
            line for at in range(0, len(text), size) for line in lines.feed(text[at : at + size])
        ]
        assert found + lines.rest() == expected
    lost = Lines(longest=3)
    assert lost.feed(b"long") + lost.rest() == [None]
    assert Lines().rest() == []


def test_lines_are_read_from_a_descriptor_to_its_end() -> None:
    """chat-face: A pipe is read beside the loop; one that breaks has ended."""

    async def read(descriptor: int) -> list[bytes | None]:
        return [line async for line in read_lines(descriptor)]

    reading, writing = os.pipe()
    os.write(writing, b"one\ntwo")
    os.close(writing)
    assert run(read(reading)) == [b"one", b"two"]
    os.close(reading)
    assert run(read(reading)) == []


def test_a_reader_that_is_left_behind_says_nothing() -> None:
    """chat-face: Input that comes after the end of the conversation harms nobody."""
    reading, writing = os.pipe()

    async def first(lines: AsyncIterator[bytes | None]) -> bytes | None:
        return await anext(lines)

    os.write(writing, b"one\n")
    assert run(first(read_lines(reading))) == b"one"
    (left,) = [one for one in threading.enumerate() if one.daemon and "_read" in one.name]
    os.write(writing, b"two\n")
    left.join(10)
    assert not left.is_alive()
    os.close(writing)
    os.close(reading)


def test_ears_that_fail_once_hear_nothing_more() -> None:
    """closed-pipe: The turn is ended, and the failure is kept."""

    async def hear() -> None:
        heard: list[Event | Delta] = []
        ended: list[bool] = []

        def tell(what: Event | Delta) -> None:
            heard.append(what)
            raise BrokenPipeError

        ears = Ears(tell)
        ears(Delta(text="early"))
        await asyncio.sleep(0)
        ears.on_failure = lambda: ended.append(True)
        assert isinstance(ears.failure, BrokenPipeError)
        ears(Delta(text="late"))
        await asyncio.sleep(0)
        assert len(heard) == 1
        assert ended == []

    run(hear())
