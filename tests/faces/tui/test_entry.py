"""The way in: what is missing is said in one line."""

import importlib.util
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from counterfoil.core.errors import UnavailableError
from counterfoil.faces import tui

_PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
from counterfoil.engine.thread_parts import Opening
from counterfoil.faces.tui import run_conversation
from engine.agent_world import build_agent, says
agent = build_agent([says("Hello.")])
sys.exit(run_conversation(agent, Opening(), theme={theme!r}, plain={plain}) + 7)
"""


def test_without_textual_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """tui: Textual is the extra `tui`."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UnavailableError) as caught:
        tui.require_screen()
    assert "pip install 'counterfoil[tui]'" in caught.value.diagnosis()
    assert "\n" not in caught.value.diagnosis()


@pytest.mark.parametrize(("is_terminal", "term"), [(False, "xterm"), (True, "dumb")])
def test_without_a_terminal_that_places_text_it_says_what_works(
    is_terminal: bool,  # noqa: FBT001 - a parameter of the test
    term: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """tui: what cannot be drawn is not drawn."""
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: is_terminal, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
    with pytest.raises(UnavailableError) as caught:
        tui.require_screen()
    assert "counterfoil chat" in caught.value.diagnosis()


@pytest.mark.parametrize(("theme", "plain"), [("auto", False), ("none", True)])
def test_it_runs_on_a_terminal_and_leaves_it_as_it_was(theme: str, plain: bool) -> None:  # noqa: FBT001
    """tui: the conversation on a real pseudo-terminal, from start to end."""
    outer, inner = pty.openpty()
    tests = str(Path(__file__).parents[2])
    program = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM.format(tests=tests, theme=theme, plain=plain)],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"},
    )
    os.close(inner)
    heard = b""
    try:
        while b"ready" not in heard:
            heard += os.read(outer, 65536)
        os.write(outer, b"\x11")
        while True:
            try:
                heard += os.read(outer, 65536)
            except OSError:  # the other end is closed
                break
    finally:
        os.close(outer)
        code = program.wait(30)
    assert code == 7, heard.decode("utf-8", "replace")[-2000:]
    assert b"\x1b[?1049l" in heard, "the screen from before is back"


def test_without_a_terminal_the_command_says_what_works(
    run: Callable[..., tuple[int, bytes, str]],
) -> None:
    """exit-codes: could not tell is 3; one line says why, one what to do."""
    code, output, error = run("tui")
    assert (code, output) == (3, b"")
    assert error.splitlines()[0].startswith("error: no terminal that can place text")
    assert "counterfoil chat" in error


@pytest.mark.parametrize(
    "arguments",
    [("x.jsonl", "--resume", "t1"), ("--resume", "t1", "--fork", "t2"), ("--theme", "loud")],
)
def test_what_cannot_be_meant_is_misuse(
    arguments: tuple[str, ...], run: Callable[..., tuple[int, bytes, str]]
) -> None:
    """exit-codes: misuse is 2."""
    assert run("tui", *arguments)[0] == 2
