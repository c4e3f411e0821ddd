"""A conversation with a person at a terminal, or with whatever stands before a pipe.

At a terminal a line is a message, a `/` command or a `!` command; Ctrl-C ends the turn
that runs, twice it ends the program after it, and at the prompt it leaves. Without a
terminal each line is a message or a `/` command, nobody is asked for approvals, nothing
is run with `!`, and the first turn or command that fails ends the run.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager

from counterfoil.core.errors import CounterfoilError, NotFoundError
from counterfoil.engine.agent import Agent
from counterfoil.engine.performing import NobodyApproves
from counterfoil.engine.thread_parts import Opening
from counterfoil.faces.cli.chat.approving import TerminalApprover
from counterfoil.faces.cli.chat.commands import Typed, read_typed
from counterfoil.faces.cli.chat.lines import has_missing
from counterfoil.faces.cli.chat.talk import Manner, Talk, begin
from counterfoil.faces.cli.chat.voice import Voice

OK, FOUND, CANNOT_TELL, INTERRUPTED = 0, 1, 3, 130
PROMPT = "> "


def is_at_terminal() -> bool:
    """Say whether a person types: whether standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def talk_at_terminal(
    agent: Agent, opening: Opening, *, color: str, shows_receipts: bool, prompt: str | None
) -> int:
    """Talk until the person leaves, or about `prompt` alone; return the exit code."""
    voice = Voice(color)
    can_ask = sys.stderr.isatty()  # else the question would stand where nobody reads it
    approver = TerminalApprover(voice, sys.stdin.fileno()) if can_ask else NobodyApproves()
    manner = Manner(source="person", approver=approver, shows_receipts=shows_receipts)
    with _begun(agent, voice, manner, opening) as (runner, talk):
        if prompt is not None:
            return _said_all(runner, talk, [Typed("message", prompt)])
        return _at_prompt(runner, talk)


def talk_in_pipe(
    agent: Agent, opening: Opening, *, color: str, shows_receipts: bool, prompt: str | None
) -> int:
    """Say every line of standard input, or `prompt` alone; return the exit code."""
    manner = Manner(source="caller", approver=NobodyApproves(), shows_receipts=shows_receipts)
    with _begun(agent, Voice(color), manner, opening) as (runner, talk):
        typed = _typed_lines() if prompt is None else iter([Typed("message", prompt)])
        return _said_all(runner, talk, typed)


def whole_input() -> str:
    """Return all of standard input as one text."""
    return "" if sys.stdin is None else _decoded(sys.stdin.buffer.read()).strip()


@contextmanager
def _begun(
    agent: Agent, voice: Voice, manner: Manner, opening: Opening
) -> Generator[tuple[asyncio.Runner, Talk]]:
    with asyncio.Runner() as runner:
        talk = runner.run(begin(agent, voice, manner, opening))
        try:
            yield runner, talk
        finally:
            runner.run(talk.close())


# --- without a person ---------------------------------------------------------


def _said_all(runner: asyncio.Runner, talk: Talk, typed: Iterable[Typed]) -> int:
    code = OK
    for one in typed:
        if one.name == "/quit":
            break
        if one.kind == "command":
            runner.run(talk.answer(one))
            continue
        result = runner.run(talk.say(one.text))
        if result.outcome != "ok":
            return INTERRUPTED if talk.interrupts.count else CANNOT_TELL
        code = max(code, FOUND if has_missing(result) else OK)
    return code


def _typed_lines() -> Iterator[Typed]:
    for line in () if sys.stdin is None else sys.stdin.buffer:
        typed = read_typed(_decoded(line))
        if typed is not None and typed.kind == "shell":
            raise NotFoundError(
                f"{_decoded(line).strip()[:40]!r} is a command of a person, and nobody is here",
                "a message or a / command",
                "write !! for a message that begins with !",
            )
        if typed is not None:
            yield typed


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace")


# --- with a person ------------------------------------------------------------


def _at_prompt(runner: asyncio.Runner, talk: Talk) -> int:
    talk.voice.tell(("/help lists the commands; Ctrl-D leaves", "dim"))
    rows = () if talk.thread.created else talk.agent.views.turns(talk.thread.id)
    read = _line_reader([row.prompt for row in rows])
    while not talk.interrupts.ends_all:
        try:
            text = read(talk.voice)
        except (EOFError, KeyboardInterrupt):
            talk.voice.tell()
            break
        if _is_over(runner, talk, text):
            break
    talk.voice.tell((f"to go on: counterfoil chat --resume {talk.thread.id}", "dim"))
    return INTERRUPTED if talk.interrupts.ends_all else OK


def _is_over(runner: asyncio.Runner, talk: Talk, text: str) -> bool:
    """Do what was typed; say whether the person wants to leave."""
    try:
        typed = read_typed(text)
        if typed is None:
            return False
        if typed.name == "/quit":
            return True
        if typed.kind == "message":
            runner.run(talk.say(typed.text))
        elif typed.kind == "shell":
            runner.run(talk.run(typed.text))
        else:
            runner.run(talk.answer(typed))
    except CounterfoilError as error:
        talk.tell_error(error)
        if talk.agent.threads.find(talk.thread.id) is None:
            raise  # the record could not be written: nothing more can be said
    return False


def _line_reader(history: Iterable[str]) -> Callable[[Voice], str]:
    """Return what reads a line; where it can be edited, `history` is at hand."""
    if not sys.stderr.isatty():
        return lambda voice: _read_plainly(voice, PROMPT)
    try:
        import readline  # noqa: PLC0415 - it takes hold of the terminal
    except ImportError:  # pragma: no cover - a Python that was built without it
        return lambda voice: _read_plainly(voice, PROMPT)
    if "libedit" not in (readline.__doc__ or "") and os.environ.get("TERM") != "dumb":
        readline.parse_and_bind("set enable-bracketed-paste on")  # a paste is one message
    for prompt in history:
        readline.add_history(prompt)
    return lambda _: _read_edited(PROMPT)


def _read_plainly(voice: Voice, prompt: str) -> str:
    voice.ask(prompt)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return _fit(line)


def _read_edited(prompt: str) -> str:
    with _prompting_on_stderr():
        return _fit(input(prompt))


def _fit(text: str) -> str:
    """Return `text` without what is no character: bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@contextmanager
def _prompting_on_stderr() -> Generator[None]:
    """Let readline, which knows standard output alone, write to standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
