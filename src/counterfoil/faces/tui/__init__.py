"""The terminal screens: a conversation, and the browser of a checked session.

Textual is asked for only when a screen is to be shown; without it, and on a terminal that
cannot place text, one line says what to do.
"""

import asyncio
import importlib.util
import os
import sys
from typing import TYPE_CHECKING

from counterfoil.core.errors import UnavailableError

if TYPE_CHECKING:  # all of it needs an extra, or is paid for by who shows a screen
    from counterfoil.engine.agent import Agent
    from counterfoil.engine.check_transcript import TranscriptCheck
    from counterfoil.engine.thread_parts import Opening
    from counterfoil.faces.tui.look import ThemeName
    from counterfoil.ports.transcripts import Transcript


def run_conversation(
    agent: "Agent", opening: "Opening", *, theme: "ThemeName" = "auto", plain: bool = False
) -> int:
    """Talk with `agent` on the screen until the person leaves; return the exit code.

    Raises:
        UnavailableError: Textual is not installed, or there is no terminal to draw on.
        CounterfoilError: The thread cannot be opened.
    """
    require_screen()
    from counterfoil.faces.tui.conversation import ConversationApp  # noqa: PLC0415 - the extra
    from counterfoil.faces.tui.look import Look  # noqa: PLC0415 - the extra

    async def talk() -> int:
        app = ConversationApp(agent, opening, Look(theme, plain))
        try:
            code = await app.run_async()
        finally:
            await app.close()
        if app.failure is not None:
            raise app.failure
        return code or 0

    return asyncio.run(talk())


def run_browser(
    check: "TranscriptCheck",
    transcript: "Transcript",
    *,
    theme: "ThemeName" = "auto",
    plain: bool = False,
) -> int:
    """Show `check`, which nobody has read yet, until the person leaves.

    The exit code is that of `counterfoil check`: 1 where something is contradicted.

    Raises:
        UnavailableError: Textual is not installed, or there is no terminal to draw on.
        UnreadableError: The transcript cannot be read at all.
    """
    require_screen()
    from counterfoil.faces.tui.browser import BrowserApp  # noqa: PLC0415 - the extra
    from counterfoil.faces.tui.checked import CheckedTranscript  # noqa: PLC0415 - the extra
    from counterfoil.faces.tui.look import Look  # noqa: PLC0415 - the extra

    app = BrowserApp(CheckedTranscript(check, transcript), Look(theme, plain))
    app.run()
    if app.failure is not None:
        raise app.failure
    return app.outcome


def require_screen() -> None:
    """Raise where no screen can be shown.

    Raises:
        UnavailableError: It says what is missing, and what to do.
    """
    if importlib.util.find_spec("textual") is None:
        raise UnavailableError(
            "the screens need Textual, which is not installed",
            "",
            "pip install 'counterfoil[tui]'",
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        raise UnavailableError(
            "no terminal that can place text",
            "a terminal with standard input and output",
            "`counterfoil chat` and `counterfoil check` work line by line",
        )
