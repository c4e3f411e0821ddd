"""A conversation as text: what goes to standard output, and what does not."""

import asyncio
import io
import os
import pty
import signal
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from counterfoil.core.errors import CounterfoilError, NotFoundError, UnavailableError
from counterfoil.core.events import CommandExited, Event, ToolCalled
from counterfoil.core.ids import ThreadId
from counterfoil.core.messages import Delta
from counterfoil.engine.agent import Agent
from counterfoil.engine.effects import Execute, Record, Turn
from counterfoil.engine.performing import NobodyApproves
from counterfoil.engine.thread_parts import Opening
from counterfoil.engine.turn_result import TurnResult
from counterfoil.faces.cli.chat import terminal
from counterfoil.faces.cli.chat.approving import (
    TerminalApprover,
    keys_line,
    question_lines,
    read_answer,
)
from counterfoil.faces.cli.chat.commands import Typed
from counterfoil.faces.cli.chat.talk import Manner, Talk, begin
from counterfoil.faces.cli.chat.voice import Voice
from counterfoil.ports.tools import (
    ApprovalAnswer,
    CommandEnd,
    CommandRequest,
    ToolAnswer,
)
from engine.agent_world import (
    CASE_PROMPTS,
    MISSING_LINE,
    RAN_LINE,
    REPORT,
    StepModel,
    build_agent,
    calls,
    case_section_8,
    says,
    world,
)
from faces.chat.chat_world import asking_world, request, run

OPENING = Opening(thread=ThreadId("t1"), face="cli", may_change_model=True)
Read = Callable[[], tuple[str, str]]


@pytest.fixture
def read(capsys: pytest.CaptureFixture[str]) -> Read:
    """Return what was written since the last time: to standard output, to standard error."""

    def _read() -> tuple[str, str]:
        found = capsys.readouterr()
        return found.out, found.err

    return _read


class Screen(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Standard output and error on one terminal."""
    made = Screen()
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return made


def _voice_on(screen: Screen, color: str) -> Voice:
    with redirect_stdout(screen), redirect_stderr(screen):
        return Voice(color)


async def _begun(agent: Agent, **more: bool) -> Talk:
    manner = Manner(source="caller", approver=NobodyApproves(), **more)
    return await begin(agent, Voice("never"), manner, OPENING)


def _in_pipe(agent: Agent, prompt: str | None, *, shows_receipts: bool = False) -> int:
    return terminal.talk_in_pipe(
        agent, OPENING, color="never", shows_receipts=shows_receipts, prompt=prompt
    )


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Let standard input be some bytes."""

    def _typed(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), "ascii"))

    return _typed


# --- what goes where ----------------------------------------------------------


def test_the_case_shows_what_ran_and_what_is_missing(
    read: Read, typed: Callable[[bytes], None]
) -> None:
    """agent-case: chat shows the ran line and the missing entries, and no existing one."""
    typed("".join(f"{prompt}\n" for prompt in CASE_PROMPTS).encode())
    assert _in_pipe(case_section_8().agent(), None) == 1
    out, err = read()
    assert out == f"Looked, turn 1.\nLooked, turn 2.\nLooked, turn 3.\n{REPORT}\n"
    assert err.endswith(f"  {RAN_LINE}\n  {MISSING_LINE}\n  0.0 s · ↓900 ↑60\n")
    assert err.count("cited but not") == 1
    assert err.startswith("thread t1 · new · steps · 3 tools\n")


def test_a_text_before_a_call_is_not_the_reply(read: Read) -> None:
    """chat-face: Standard output gets the reply and nothing else."""
    steps = [calls(("memory", "{}"), text="I look first."), says("Seen.")]
    assert _in_pipe(build_agent(steps), "Go.") == 0
    out, err = read()
    assert out == "Seen.\n"
    assert "→ memory {}\n← memory" in err


def test_receipts_are_printed_where_that_is_wanted(read: Read) -> None:
    """chat-face: --receipt prints the receipt of each turn, on standard error."""
    assert _in_pipe(build_agent([says("Fine.")]), "Go.", shows_receipts=True) == 0
    out, err = read()
    assert out == "Fine.\n"
    assert err.splitlines()[-1].startswith('{"schema":1,"thread":"t1","turn":1,"complete":true')


def test_an_empty_reply_is_said_and_prints_nothing(read: Read) -> None:
    """chat-face: Nothing was said is not the same as nothing happened."""
    assert _in_pipe(build_agent([says("")]), "Go.") == 0
    out, err = read()
    assert out == ""
    assert "the reply is empty" in err


def test_a_turn_that_fails_ends_the_run(read: Read, typed: Callable[[bytes], None]) -> None:
    """exit-codes: A failed turn is 3, and what was to follow is not said."""
    typed(b"One.\nTwo.\n")
    assert _in_pipe(build_agent([UnavailableError("no model"), says("never")]), None) == 3
    out, err = read()
    assert out == ""
    assert err.endswith("  failed after 0.0 s: no model\n")


def test_lines_of_a_pipe_are_messages_and_commands(
    read: Read, typed: Callable[[bytes], None]
) -> None:
    """chat-face: Each line is one, blank lines none; bytes that are no text are replaced."""
    typed(b"\n  \r\nOne \xff.\r\n/show 2\n//two\n/quit\nnever\n")
    agent = build_agent([says("1"), says("2")])
    assert _in_pipe(agent, None) == 0
    out, err = read()
    assert out == "1\n2\n"
    assert "entry 2 · prompt · turn 1\nOne \N{REPLACEMENT CHARACTER}.\n" in err
    assert agent.views.entry(ThreadId("t1"), 4).text == "/two"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"!ls\n", "'!ls' is a command of a person, and nobody is here"),
        (b"/recept\n", "no command '/recept'"),
        (b"/show 99\n", "no entry 99"),
    ],
)
def test_without_a_person_a_mistake_ends_the_run(
    line: bytes, words: str, typed: Callable[[bytes], None]
) -> None:
    """exit-codes: What cannot be meant is misuse; nothing is run in a person's name."""
    typed(line + b"never\n")
    with pytest.raises(NotFoundError) as error:
        _in_pipe(build_agent([]), None)
    assert words in error.value.found


def test_input_that_was_closed_is_empty(monkeypatch: pytest.MonkeyPatch, read: Read) -> None:
    """chat-face: Without a standard input there is nothing to say."""
    monkeypatch.setattr(sys, "stdin", None)
    assert not terminal.is_at_terminal()
    assert terminal.whole_input() == ""
    assert _in_pipe(build_agent([]), None) == 0
    assert read()[0] == ""


def test_all_of_the_input_is_one_message(typed: Callable[[bytes], None]) -> None:
    """chat-face: `--once -` takes the input as it stands."""
    typed("  /quit\n!ls é\n".encode())
    assert terminal.whole_input() == "/quit\n!ls é"


# --- a terminal ---------------------------------------------------------------


def test_on_a_terminal_a_reply_comes_as_it_is_said(screen: Screen) -> None:
    """chat-face: Pieces are written at once; what was no reply ends with its line."""
    voice = _voice_on(screen, "never")
    voice.begin()
    voice.hear("I lo")
    voice.hear("ok.")
    voice.tell(("→ memory {}", ""))
    voice.begin()
    voice.hear("Se")
    assert screen.getvalue() == "I look.\n→ memory {}\nSe"
    voice.hear("")
    voice.reply("Seen.")
    assert screen.getvalue().endswith("\nSeen.\n")
    voice.begin()
    voice.hear("Some")
    voice.reply("Another.\n")
    assert screen.getvalue().endswith("\nSome\nAnother.\n")
    voice.hear("Whole.\n")
    voice.reply("Whole.\n")
    voice.ask("> ")
    assert screen.getvalue().endswith("\nWhole.\n> ")


def test_an_escape_that_is_split_over_two_pieces_steers_nothing(screen: Screen) -> None:
    """plain-text: Each character is made fit by itself, so that no split gets through."""
    voice = _voice_on(screen, "always")
    for piece in ("a\x1b", "[31m", "b\x1b]0;t", "\x07c\u202e", "d\r", "\n"):
        voice.hear(piece)
    assert screen.getvalue() == "a\\x1b[31mb\\x1b]0;t\\x07c\\u202ed\\x0d\n"


@pytest.mark.parametrize(
    ("color", "variables", "is_coloured"),
    [
        ("auto", {}, True),
        ("auto", {"NO_COLOR": "1"}, False),
        ("auto", {"TERM": "dumb"}, False),
        ("always", {"NO_COLOR": "1"}, True),
        ("never", {}, False),
    ],
)
def test_talk_is_coloured_where_it_is_wanted(
    screen: Screen,
    monkeypatch: pytest.MonkeyPatch,
    color: str,
    variables: dict[str, str],
    is_coloured: bool,  # noqa: FBT001 - a column of the table
) -> None:
    """colour: NO_COLOR, a dumb terminal and the setting are honoured."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    _voice_on(screen, color).tell(("muted", "dim"), (" bad", "bold red"), (" as it is", ""))
    coloured = "\x1b[2mmuted\x1b[0m\x1b[31m\x1b[1m bad\x1b[0m as it is\n"
    assert screen.getvalue() == (coloured if is_coloured else "muted bad as it is\n")


def test_a_pipe_is_not_coloured(read: Read) -> None:
    """colour: Only a terminal is coloured unasked."""
    Voice("auto").tell(("muted", "dim"))
    assert read() == ("", "muted\n")


# --- commands that change something -------------------------------------------


class EchoRunner:
    """A runner that says what it was told to run; `wait` waits until it is cancelled."""

    sandbox = "none"

    def run(self, asked: CommandRequest, is_cancelled: Callable[[], bool]) -> CommandEnd:
        """Return an end with the command as its output."""
        while asked.command == "wait":
            if is_cancelled():
                return CommandEnd(exit_status=-15, is_cancelled=True)
        return CommandEnd(exit_status=0, stdout=f"ran {asked.command}\n")


def _typing(command: str, turn: int) -> Turn[ToolAnswer]:
    del turn
    end = yield Execute(request=CommandRequest(command=command, directory="/"))
    assert isinstance(end, CommandEnd)
    yield Record(
        payload=CommandExited(
            command=command, exit_status=end.exit_status, stdout=end.stdout, source="person"
        )
    )
    return ToolAnswer(output="")


def test_what_a_person_runs_is_shown_and_becomes_an_entry(read: Read) -> None:
    """person-command: `!` runs it, tells how it ended, and stores it under a number."""

    async def talk() -> None:
        made = world([says("Fine.")])
        made.runner, made.typed = EchoRunner(), _typing
        talk = await _begun(made.agent())
        await talk.say("Go.")
        await talk.run("ls")
        await talk.answer(Typed("command", "4", "/show"))
        await talk.close()

    run(talk())
    out, err = read()
    assert out == "Fine.\n"
    assert "  exit status 0\n  │ ran ls\n" in err
    assert "entry 4 · command · turn 1\n$ ls\n" in err


def test_a_signal_ends_what_a_person_runs(read: Read) -> None:
    """chat-face: Ctrl-C cancels a command, and says so."""

    async def talk() -> None:
        made = world([])
        made.runner, made.typed = EchoRunner(), _typing
        talk = await _begun(made.agent())
        asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGINT)
        await talk.run("wait")
        await talk.close()

    run(talk())
    assert read()[1].endswith("  cancelled\n")


def test_a_new_thread_and_another_model(read: Read) -> None:
    """chat-face: /new and /model; one that fails leaves the thread as it is."""

    async def talk() -> None:
        made = world([says("From steps.")])
        made.models["other"] = StepModel([says("From other.")], name="other")
        talk = await _begun(made.agent())
        await talk.answer(Typed("command", "", "/model"))
        await talk.answer(Typed("command", "other", "/model"))
        await talk.say("Go.")
        before, opening = talk.thread, talk.opening
        with pytest.raises(NotFoundError):
            await talk.answer(Typed("command", "nowhere", "/model"))
        talk.opening = Opening(model="nowhere")
        with pytest.raises(NotFoundError):
            await talk.answer(Typed("command", "", "/new"))
        assert talk.agent.threads.find(before.id) is before
        talk.opening = opening
        await talk.answer(Typed("command", "", "/new"))
        assert talk.thread is not before
        assert talk.thread.model == "other"
        assert talk.agent.threads.find(before.id) is None
        await talk.close()

    run(talk())
    out, err = read()
    assert out == "From other.\n"
    assert "> steps\n  other\nmodel other answers next\n" in err


def test_a_thread_that_is_resumed_goes_on_with_its_model(read: Read) -> None:
    """chat-face: Its turns and its model are named; /new begins one with the same model."""

    async def talk() -> None:
        made = world([says("1"), says("2")])
        first = await _begun(made.agent())
        await first.say("Go.")
        await first.close()
        again = await _begun(made.agent())
        assert again.opening.model == "steps"
        await again.say("On.")
        await again.close()

    run(talk())
    assert "thread t1 · after turn 1 · steps · 1 tool\n" in read()[1]


def test_saving_says_how_many_events(read: Read, tmp_path: Path) -> None:
    """chat-face: /save names the file and counts the events."""

    async def talk() -> None:
        talk = await _begun(world([]).agent())
        await talk.answer(Typed("command", str(tmp_path / "t.jsonl"), "/save"))
        await talk.close()

    run(talk())
    assert f"3 events written to {tmp_path}/t.jsonl" in read()[1]


class Broken(io.StringIO):
    """A stream that nobody reads any more."""

    def write(self, text: str) -> int:
        raise BrokenPipeError(text)


def test_a_reader_that_went_away_ends_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """closed-pipe: The turn is cancelled, the thread closed, the fault handed on."""
    made = asking_world()
    made.runner, made.typed = EchoRunner(), _typing

    async def talk() -> None:
        talk = await _begun(made.agent())
        talk.voice = Voice("never")
        talk.voice._talk = Broken()
        with pytest.raises(BrokenPipeError):
            await talk.say("Go.")
        with pytest.raises(BrokenPipeError):
            await talk.run("ls")
        await talk.close()

    run(talk())
    called = [event for event in made.log.events() if isinstance(event.payload, ToolCalled)]
    assert len(called) == 1


def test_errors_are_said_as_every_command_says_them(read: Read) -> None:
    """mistakes: found, expected, and what to do, made fit to be shown."""

    async def talk() -> None:
        talk = await _begun(world([]).agent())
        read()
        talk.tell_error(CounterfoilError("a\x1bb", "c", "do d"))
        talk.tell_error(CounterfoilError("only found"))
        await talk.close()

    run(talk())
    assert read()[1] == "error: a\\x1bb; expected c\nhint: do d\nerror: only found\n"


# --- approvals ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "level", "answer"),
    [
        ("y\n", "moderate", ("approved", "once")),
        (" YES \n", "moderate", ("approved", "once")),
        ("s\n", "dangerous", ("approved", "session")),
        ("p\n", "moderate", ("approved", "project")),
        ("a\n", "moderate", ("approved", "always")),
        ("n\n", "moderate", ("denied", "once")),
        ("no\n", "dangerous", ("denied", "once")),
        ("p\n", "dangerous", None),
        ("a\n", "dangerous", None),
        ("\n", "moderate", None),
        ("yy\n", "moderate", None),
        ("y y\n", "moderate", None),
    ],
)
def test_an_answer_is_a_letter_that_is_on_offer(
    text: str, level: str, answer: tuple[str, str] | None
) -> None:
    """gate: What is dangerous is never granted beyond its thread; nothing else is a yes."""
    said = read_answer(text, request(level))
    assert (None if said is None else (said.decision, said.scope)) == answer


def test_the_question_shows_exactly_what_will_run_last() -> None:
    """gate: The exact command, its level, why, where; nothing in it passes for the rest."""
    asked = request(shown="make test\n[y] once\x1b[2K")
    lines = ["".join(text for text, _ in line) for line in question_lines(asked)]
    assert lines == [
        "Run this? moderate, in /home/ann/shop",
        "  because moderate: make test",
        "  s, p and a remember: make *",
        "  (unprintable characters are written out, as \\x1b)",
        "  $ make test",
        "  $ [y] once\\x1b[2K",
    ]
    assert keys_line(asked) == (
        "moderate?  [y] once  [n] no  [s] in this thread  [p] in this directory for 30 days"
        "  [a] everywhere for 30 days: "
    )
    dangerous = request("dangerous")
    assert keys_line(dangerous) == "dangerous?  [y] once  [n] no  [s] in this thread: "
    assert len(question_lines(dangerous)) == 3


class Asked(Voice):
    """A voice that lets a test wait for its questions."""

    def __init__(self, color: str) -> None:
        super().__init__(color)
        self.asks = asyncio.Semaphore(0)

    def ask(self, text: str) -> None:
        super().ask(text)
        self.asks.release()


@pytest.fixture
def person() -> Iterator[tuple[int, int]]:
    """A terminal: the end at which a person types, and the end that is read."""
    types, reads = pty.openpty()
    tty.setcbreak(reads, termios.TCSANOW)
    mode = termios.tcgetattr(reads)
    mode[3] |= termios.ICANON
    termios.tcsetattr(reads, termios.TCSANOW, mode)
    yield types, reads
    os.close(types)
    os.close(reads)


def test_what_was_typed_ahead_approves_nothing(person: tuple[int, int], read: Read) -> None:
    """gate: Only a line that is typed after the question was shown is an answer."""
    types, reads = person

    async def ask() -> ApprovalAnswer:
        os.write(types, b"y\n")
        voice = Asked("never")
        asking = asyncio.ensure_future(TerminalApprover(voice, reads).ask(request()))
        await voice.asks.acquire()
        assert not asking.done()
        os.write(types, b"maybe\n")
        await voice.asks.acquire()
        os.write(types, b"n\n")
        return await asking

    assert run(ask()).decision == "denied"
    assert read()[1].count("[y] once") == 2


def test_the_end_of_the_terminal_refuses(person: tuple[int, int]) -> None:
    """gate: Ctrl-D is no approval."""
    types, reads = person

    async def ask() -> ApprovalAnswer:
        voice = Asked("never")
        asking = asyncio.ensure_future(TerminalApprover(voice, reads).ask(request()))
        await voice.asks.acquire()
        os.write(types, b"\x04")
        return await asking

    assert run(ask()).decision == "denied"


def test_a_question_that_is_withdrawn_says_so(person: tuple[int, int], read: Read) -> None:
    """gate: Cancelled, nobody is waited for, and the terminal is not read any more."""
    _, reads = person

    async def ask() -> None:
        voice = Asked("never")
        asking = asyncio.ensure_future(TerminalApprover(voice, reads).ask(request()))
        await voice.asks.acquire()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    run(ask())
    assert read()[1].endswith("\n  the question is withdrawn\n")


def test_a_delta_of_reasoning_is_not_said(read: Read) -> None:
    """chat-face: What a model thinks is recorded; it is no reply."""

    async def talk() -> None:
        talk = await _begun(world([]).agent())
        read()
        talk._told(Delta(reasoning="hm"))
        await talk.close()

    run(talk())
    assert read() == ("", "")


def test_a_person_who_interrupts_twice_has_left(
    monkeypatch: pytest.MonkeyPatch, person: tuple[int, int], read: Read
) -> None:
    """chat-face: Twice in one turn ends the program, with exit code 130."""
    _, reads = person
    agent = build_agent([says("Fine.")])
    say = Talk.say

    async def interrupted(talk: Talk, prompt: str) -> TurnResult:
        result = await say(talk, prompt)
        talk.interrupts.count = 2
        return result

    monkeypatch.setattr(Talk, "say", interrupted)
    monkeypatch.setattr(terminal, "_line_reader", lambda _: lambda _: "Go.")
    with os.fdopen(os.dup(reads)) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        code = terminal.talk_at_terminal(
            agent, OPENING, color="never", shows_receipts=False, prompt=None
        )
    assert code == 130
    assert read()[1].endswith("to go on: counterfoil chat --resume t1\n")


def test_a_record_that_cannot_be_written_ends_the_conversation(
    monkeypatch: pytest.MonkeyPatch, person: tuple[int, int], read: Read
) -> None:
    """chat-face: At a terminal, too, nothing is done that cannot be recorded."""
    _, reads = person
    made = world([says("Fine.")])

    def broken(fact: object) -> Event:
        raise UnavailableError("the disk is full")

    def typed(_: Voice) -> str:
        made.log.append = broken  # type: ignore[method-assign]
        return "Go."

    monkeypatch.setattr(terminal, "_line_reader", lambda _: typed)
    with os.fdopen(os.dup(reads)) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(UnavailableError):
            terminal.talk_at_terminal(
                made.agent(), OPENING, color="never", shows_receipts=False, prompt=None
            )
    assert "error: the disk is full" in read()[1]
