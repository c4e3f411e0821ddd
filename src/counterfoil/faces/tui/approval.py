"""Asking a person: the exact command, how dangerous it is, where, why, and the keys.

Nothing that was typed ahead can approve: letters count only once no key has come for a
moment. Escape refuses at once. A question that is withdrawn leaves the screen by itself.
"""

import asyncio
from typing import ClassVar, Literal

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from counterfoil.core.plain import plain
from counterfoil.faces.tui.lines import Lines
from counterfoil.faces.tui.texts import Row, count, rows_of
from counterfoil.ports.tools import ApprovalAnswer, ApprovalRequest

QUIET = 0.6
"""Seconds without a key, after which a letter is an answer."""

_LETTERS = frozenset("dospa")

Scope = Literal["once", "session", "project", "always"]


class ApprovalScreen(ModalScreen[ApprovalAnswer]):
    """One question; its answer is what the person pressed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "deny", "Deny"),
        Binding("o", "allow('once')", "Once"),
        Binding("s", "allow('session')", "Session"),
        Binding("p", "allow('project')", "Project"),
        Binding("a", "allow('always')", "Always"),
        Binding("escape", "deny", "Deny at once", priority=True),
    ]

    def __init__(self, request: ApprovalRequest, quiet: float = QUIET) -> None:
        """Ask `request`; `quiet` is for how long no key must have come."""
        super().__init__()
        self._request = request
        self._quiet = quiet
        self._last_key = 0.0
        self._is_meant = False

    @property
    def is_dangerous(self) -> bool:
        """Whether it is remembered for the session at most."""
        return self._request.level == "dangerous"

    def compose(self) -> ComposeResult:
        """The question, the command in lines of its own, and the keys."""
        request = self._request
        with Vertical(id="question"):
            yield Static(f"Run this? Level: {plain(request.level)}", markup=False, id="asked")
            yield Lines(id="command")
            yield Static("\n".join(self._facts()), markup=False, id="facts")
        yield Footer(show_command_palette=False)

    def _facts(self) -> list[str]:
        request = self._request
        facts = [f"in {plain(request.directory)}"]
        facts.extend(f"because {plain(reason)}" for reason in request.reasons[:4])
        lines = request.shown.count("\n") + 1
        if lines > 1 or len(request.shown) > 200:  # noqa: PLR2004 - longer than a glance
            facts.append(
                f"{count(lines, 'line')}, {count(len(request.shown), 'character')}:"
                " up and down to read all of it"
            )
        if plain(request.shown) != request.shown:
            facts.append("unprintable characters are written out, as \\x1b")
        if not self.is_dangerous:
            facts.append(f"session, project and always remember: {plain(request.pattern)}")
        return facts

    def on_mount(self) -> None:
        """Show the command, and wait for quiet."""
        self._last_key = asyncio.get_running_loop().time()
        lines = self.query_one("#command", Lines)
        lines.show([Row(row.text) for row in rows_of(self._request.shown)])
        lines.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A dangerous command is not remembered beyond the session."""
        return not (
            action == "allow" and self.is_dangerous and parameters[0] in {"project", "always"}
        )

    def on_key(self, event: Key) -> None:
        """Take no letter that may have been meant for something else."""
        now = asyncio.get_running_loop().time()
        self._is_meant = now - self._last_key >= self._quiet
        self._last_key = now
        if not self._is_meant and event.key in _LETTERS:
            event.stop()
            event.prevent_default()
            self.query_one("#asked", Static).update(
                f"Run this? Level: {plain(self._request.level)}"
                "  (pause a moment, then press the key again)"
            )

    def action_deny(self) -> None:
        """Refuse."""
        self.dismiss(ApprovalAnswer(decision="denied", reason="the person refused"))

    def action_allow(self, scope: Scope) -> None:
        """Approve for `scope`, if the key was pressed here and was meant."""
        if self._is_meant:
            self.dismiss(ApprovalAnswer(decision="approved", scope=scope))


class ScreenApprover:
    """The `Approver` that asks on the screen; questions stand behind each other."""

    def __init__(self, app: App[int], quiet: float = QUIET) -> None:
        """Ask in `app`."""
        self._app = app
        self._quiet = quiet
        self._turn = asyncio.Lock()

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Return what the person said; cancelled, the question leaves the screen."""
        async with self._turn:
            answered: asyncio.Future[ApprovalAnswer] = asyncio.get_running_loop().create_future()

            def answer(said: ApprovalAnswer | None) -> None:
                if not answered.done():
                    answered.set_result(said or ApprovalAnswer(decision="cancelled"))

            screen = ApprovalScreen(request, self._quiet)
            self._app.push_screen(screen, answer)
            try:
                return await answered
            except asyncio.CancelledError:
                self._withdraw(screen)
                raise

    def _withdraw(self, screen: ApprovalScreen) -> None:
        if screen.is_attached and screen.is_current:
            screen.dismiss()
