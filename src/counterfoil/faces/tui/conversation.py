"""The conversation: prompts, replies as they come, calls, receipts, questions to a person.

The screen holds a window of turns; a thread of any length opens as fast as a short one.
Whatever may take long runs beside the screen, and what a turn records comes to it through
the event loop, in order.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import DescendantFocus
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Markdown, Static

from counterfoil.core.errors import CounterfoilError, NotFoundError
from counterfoil.core.events import CommandExited, Event
from counterfoil.core.messages import Delta
from counterfoil.core.plain import one_line, plain
from counterfoil.engine.agent import Agent
from counterfoil.engine.converse import TurnRequest
from counterfoil.engine.thread_parts import Opening, OpenThread
from counterfoil.engine.thread_views import ContextView
from counterfoil.engine.threads import RunningTurn
from counterfoil.faces.tui.answers import (
    Answer,
    entry_answer,
    inspect_answer,
    models_answer,
    required_number,
)
from counterfoil.faces.tui.approval import QUIET, ScreenApprover
from counterfoil.faces.tui.box import PromptBox
from counterfoil.faces.tui.commands import Typed, number_of, read_typed
from counterfoil.faces.tui.lines import Lines
from counterfoil.faces.tui.look import FaceApp, Look
from counterfoil.faces.tui.screens import ContextScreen, TextScreen, help_rows
from counterfoil.faces.tui.scroller import Conversation
from counterfoil.faces.tui.texts import BAD, Row, cited_row, count, receipt_rows, rows_of
from counterfoil.faces.tui.turn import FocusLine, Said, TurnBlock, block_of, typed_line

WINDOW = 12
"""Turns that are read out of the record at a time."""

MOST_BLOCKS = 24
"""Turns on the screen; past them the oldest leaves it."""

WELCOME = "Ask something. F1 or /help: the commands and the keys."


class EdgeLine(FocusLine):
    """Stands for the turns before or behind those on the screen; Enter shows them."""

    def __init__(self, text: str, turn: int) -> None:
        """Stand for the turns around `turn`."""
        super().__init__(text)
        self.turn = turn

    class Wanted(Message):
        """The turns around are wanted."""

        def __init__(self, turn: int) -> None:
            super().__init__()
            self.turn = turn

    def action_open(self) -> None:
        """Ask for the turns around."""
        self.post_message(self.Wanted(self.turn))


class ConversationApp(FaceApp):
    """One thread on the screen, and the box for the next prompt."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help"),
        Binding("f2", "receipt", "Receipt"),
        Binding("f3", "context", "Context"),
        Binding("f4", "reply", "Reply"),
        Binding("escape", "cancel", "Cancel"),
        Binding("up", "walk(-1)", "Line before", show=False),
        Binding("down", "walk(1)", "Line behind", show=False),
    ]

    def __init__(
        self, agent: Agent, opening: Opening, look: Look | None = None, *, quiet: float = QUIET
    ) -> None:
        """Open a thread of `agent` as `opening` says, once the screen is there."""
        super().__init__(look)
        self.title = "counterfoil"
        self.failure: CounterfoilError | None = None
        self._agent = agent
        self._opening = replace(opening, face="tui", may_change_model=True)
        self._thread: OpenThread | None = None
        self._turn_running: RunningTurn | None = None
        self.is_busy = True
        self._selected: TurnBlock | None = None
        self._approver = ScreenApprover(self, quiet)

    def compose(self) -> ComposeResult:
        """The conversation with the receipt beside it, the status, the box, the keys."""
        with Container(id="columns"):
            yield Conversation(id="conversation", can_focus=False)
            yield Lines(id="receipt")
        yield Static("opening …", markup=False, id="status")
        yield PromptBox(id="box")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Open the thread."""
        self.base.query_one(PromptBox).focus()
        self._begin(self._open(self._opening))

    # --- threads ------------------------------------------------------------------

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        """Do `work` beside the screen; what it fails with is said."""
        self.run_worker(self._guarded(work), exit_on_error=True)

    async def _guarded(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except CounterfoilError as error:
            if self._thread is None:
                self.failure = error
                self.exit(3)
                return
            self.say(str(error), is_bad=True)

    async def _open(self, opening: Opening) -> None:
        thread = await self._agent.threads.open(opening)
        self._thread = thread
        self.is_busy = False
        if thread.turn:
            await self._show(thread.turn)
        else:
            await self._cleared()
            await self._conversation.mount(
                Static(WELCOME, markup=False, classes="note -muted", id="welcome")
            )
        self.status()

    @property
    def _conversation(self) -> Conversation:
        return self.base.query_one(Conversation)

    @property
    def base(self) -> Screen[object]:
        """The screen with the conversation, whatever is shown over it."""
        return self.screen_stack[0]

    @property
    def is_drawing(self) -> bool:
        """Whether text of a model was heard that is not on the screen yet."""
        return any(said.is_due for said in self.base.query(Said))

    def status(self) -> None:
        """Say which thread and model there is, and whether a turn runs."""
        thread = self._thread
        if thread is None:
            return
        state = "a turn runs: Escape cancels it" if self.is_busy else "ready"
        turn = f"turn {thread.turn} · " if thread.turn else ""
        self.say(f"{thread.id} · {thread.model} · {turn}{state}")

    async def _cleared(self) -> None:
        self._selected = None
        await self._conversation.remove_children()

    # --- the window of turns ------------------------------------------------------

    def on_edge_line_wanted(self, message: EdgeLine.Wanted) -> None:
        """Show the turns around the one that is wanted."""
        self._begin(self._show(message.turn))

    async def _show(self, turn: int) -> None:
        """Read the turns around `turn` out of the record and show them in place of the rest."""
        thread = self._opened
        if self.is_busy:
            raise CounterfoilError("a turn runs", "", "wait for it, or cancel it with Escape")
        if not 1 <= turn <= thread.turn:
            raise NotFoundError(f"no turn {turn}", f"1 to {thread.turn}")
        first = max(1, min(turn - WINDOW // 2, thread.turn - WINDOW + 1))
        last = min(thread.turn, first + WINDOW - 1)
        blocks = [await self._read(thread, number) for number in range(first, last + 1)]
        await self._cleared()
        widgets: list[FocusLine | TurnBlock] = list(blocks)
        if first > 1:
            text = f"… {count(first - 1, 'earlier turn')}: Enter shows those before"
            widgets.insert(0, EdgeLine(text, first - 1))
        if last < thread.turn:
            text = f"… {count(thread.turn - last, 'later turn')}: Enter shows those behind"
            widgets.append(EdgeLine(text, last + 1))
        await self._conversation.mount_all(widgets)
        wanted = next(block for block in blocks if block.turn == turn)
        self._select(wanted)
        if turn == thread.turn:
            self._follow()
        else:
            wanted.head.focus()

    async def _read(self, thread: OpenThread, turn: int) -> TurnBlock:
        views = self._agent.views
        events = await asyncio.to_thread(lambda: list(views.events(thread.id, turn)))
        block = TurnBlock(turn)
        block.load(events, thread.opened)
        if block.reply:
            pages = await asyncio.to_thread(thread.kit.pages, block.reply)
            if pages is not None and pages.line is not None:
                block.note(cited_row(pages.line, is_missing=bool(pages.unknown)))
        return block

    @property
    def _opened(self) -> OpenThread:
        if self._thread is None:
            raise CounterfoilError("the thread is not open yet", "", "wait a moment")
        return self._thread

    # --- what is typed ------------------------------------------------------------

    def on_prompt_box_submitted(self, message: PromptBox.Submitted) -> None:
        """Do what was typed; while a turn runs a prompt stays in the box."""
        typed = read_typed(message.text)
        if typed is None:
            return
        if typed.kind == "unknown":
            name = one_line(typed.text, 40)
            self.say(
                f"no command {name}: /help lists them; a prompt may begin with a blank", is_bad=True
            )
            return
        if self.is_busy and typed.kind not in _ANYTIME:
            self.say("a turn runs: Escape cancels it; what you typed stays here", is_bad=True)
            return
        self.base.query_one(PromptBox).take()
        self._do(typed)

    def _do(self, typed: Typed) -> None:
        if typed.kind == "prompt":
            self.is_busy = True
            self._begin(self._turn(typed.text))
        elif typed.kind == "shell":
            self.is_busy = True
            self._begin(self._shell(typed.text))
        elif typed.kind == "/help":
            self.action_help()
        elif typed.kind == "/quit":
            self.action_leave()
        else:
            self._begin(self._command(typed))

    async def _turn(self, prompt: str) -> None:
        thread = self._opened
        block = TurnBlock(None, prompt)
        await self._at_end()
        await self._conversation.mount(block)
        self._select(block)
        self._follow()
        self._turn_running = self._agent.threads.start(
            thread,
            TurnRequest(prompt=prompt),
            approver=self._approver,
            hear=self._hearer(block.hear),
        )
        self.status()
        try:
            block.finish(await self._turn_running.result())
        except CounterfoilError as error:
            block.note(Row(f"{BAD} {plain(str(error))}", "bad"))
            raise
        finally:
            self._turn_running = None
            self.is_busy = False
            self.status()
        self._select(self._selected or block)
        await self._trim()

    async def _shell(self, command: str) -> None:
        await self._at_end()

        def heard(what: Event | Delta) -> None:
            if isinstance(what, Event) and isinstance(what.payload, CommandExited):
                self._conversation.mount(typed_line(what.payload))
                self._follow()

        try:
            self.say(f"running ! {command}")
            await self._agent.threads.command(self._opened, command, self._hearer(heard))
        finally:
            self.is_busy = False
        self.status()

    async def _at_end(self) -> None:
        """Show the last turns, where others are on the screen."""
        for welcome in self.base.query("#welcome"):
            await welcome.remove()
        lines = self.base.query(EdgeLine)
        if any(line.turn > 1 and line is self._conversation.children[-1] for line in lines):
            self.is_busy = False
            await self._show(self._opened.turn)
            self.is_busy = True

    async def _trim(self) -> None:
        blocks = list(self.base.query(TurnBlock))
        for block in blocks[: max(0, len(blocks) - MOST_BLOCKS)]:
            if block is not self._selected:
                await block.remove()
        first = next(iter(self.base.query(TurnBlock)), None)
        if first is None or not first.turn or first.turn == 1 or len(blocks) <= MOST_BLOCKS:
            return
        for line in self.base.query(EdgeLine):
            await line.remove()
        text = f"… {count(first.turn - 1, 'earlier turn')}: Enter shows those before"
        await self._conversation.mount(EdgeLine(text, first.turn - 1), before=0)

    def _hearer(self, hear: Callable[[Event | Delta], None]) -> Callable[[Event | Delta], None]:
        """Return what hears in any thread, and tells `hear` in the event loop, in order."""
        loop, context = asyncio.get_running_loop(), copy_context()

        def tell(what: Event | Delta) -> None:
            if self.is_running:
                hear(what)

        def heard(what: Event | Delta) -> None:
            loop.call_soon_threadsafe(tell, what, context=context)

        return heard

    def _follow(self) -> None:
        """Keep the end in sight, until the person reads elsewhere."""
        self._conversation.follow()

    def on_markdown_link_clicked(self, message: Markdown.LinkClicked) -> None:
        """Show where a link goes; nothing is opened."""
        message.stop()
        self.say(f"the link goes to {message.href}")

    # --- selection, panels, screens -----------------------------------------------

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """The turn that is walked through is the selected one."""
        if isinstance(event.widget, FocusLine):
            self._conversation.is_following = False
        block = block_of(event.widget)
        if block is not None:
            self._select(block)

    def _select(self, block: TurnBlock) -> None:
        self._selected = block
        if self.base.has_class("-receipt"):
            self._begin(self._receipt(block))

    async def _receipt(self, block: TurnBlock) -> None:
        panel = self.base.query_one("#receipt", Lines)
        if block.result is not None:
            receipt = block.result.receipt
        elif block.turn is None or (self.is_busy and block.turn == self._opened.turn):
            panel.show([Row("The turn runs; its receipt comes with its end.", "muted")])
            return
        else:
            thread, turn = self._opened.id, block.turn
            receipt = await asyncio.to_thread(self._agent.views.receipt, thread, turn)
        if block is self._selected:
            panel.show(list(receipt_rows(receipt)))

    def on_focus_line_opened(self, message: FocusLine.Opened) -> None:
        """Show the whole text behind a line."""
        self.read(Answer(message.title, rows_of(message.text)))

    def read(self, answer: Answer) -> None:
        """Show a text on a screen of its own."""
        self.push_screen(TextScreen(answer.title, answer.rows))

    def action_help(self) -> None:
        """Show the commands and the keys."""
        self.read(Answer("Help", help_rows()))

    def action_receipt(self) -> None:
        """Show the receipt of the selected turn, or take it away."""
        screen = self.base
        screen.toggle_class("-receipt")
        if not screen.has_class("-receipt"):
            return
        if self._selected is None:
            screen.query_one("#receipt", Lines).show([Row("No turn yet: no receipt.", "muted")])
        else:
            self._select(self._selected)

    def action_context(self) -> None:
        """Show what the model read in the selected turn."""
        turn = self._selected.turn if self._selected is not None else None
        self.show_context(turn)

    def show_context(self, turn: int | None) -> None:
        """Show the context of `turn`, or the next one."""
        thread = self._thread
        if thread is None:
            return
        last = thread.turn - 1 if self._turn_running is not None else thread.turn

        def read(number: int | None) -> ContextView:
            return self._agent.views.context(thread.id, number)

        self.push_screen(ContextScreen(read, turn or last + 1, last))

    def action_reply(self) -> None:
        """Show the reply of the selected turn as it was written."""
        block = self._selected
        if block is None or not block.reply:
            self.say("no reply in this turn yet", is_bad=True)
            return
        self.read(Answer(f"Reply of turn {block.turn}", rows_of(block.reply)))

    def action_cancel(self) -> None:
        """Cancel the running turn; where none runs, go back to the box."""
        if self._turn_running is not None:
            self._turn_running.cancel()
            self.say("cancelling …")
        else:
            self.base.query_one(PromptBox).focus()

    def action_walk(self, by: int) -> None:
        """Go to the next line of the conversation that stands for something."""
        lines = [line for line in self.base.query(FocusLine) if line.display]
        focused = self.base.focused
        if isinstance(focused, PromptBox) and lines:
            lines[-1].focus()
        elif isinstance(focused, FocusLine) and focused in lines:
            at = lines.index(focused) + by
            if at >= len(lines):
                self.base.query_one(PromptBox).focus()
            else:
                lines[max(0, at)].focus()

    def on_prompt_box_left(self) -> None:
        """Go from the empty box to the last line of the conversation."""
        self.action_walk(-1)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys of the conversation are none while another screen is over it."""
        del parameters
        return action not in _HERE or len(self.screen_stack) == 1

    async def close(self) -> None:
        """End what runs, and close the thread; it can be resumed."""
        if self._turn_running is not None:
            self._turn_running.cancel()
        await self._agent.threads.close_all()

    # --- commands -----------------------------------------------------------------

    async def _command(self, typed: Typed) -> None:
        kind, text = typed.kind, typed.text
        thread = self._opened
        if kind == "/receipt":
            await self._receipt_turn(text)
        elif kind == "/show":
            self.read(await entry_answer(self._agent, thread.id, text))
        elif kind == "/turn":
            await self._show(required_number(kind, "a turn", text))
        elif kind == "/inspect":
            await self._inspect(" ".join(text.split()))
        elif kind == "/model" and text:
            await self._agent.threads.change_model(thread, text)
            self.status()
        elif kind == "/model":
            self.read(await models_answer(self._agent, thread.model))
        else:
            await self._agent.threads.close(thread)
            await self._open(replace(self._opening, thread=None, parent=None))

    async def _receipt_turn(self, text: str) -> None:
        self.base.add_class("-receipt")
        if not text:
            if self._selected is not None:
                self._select(self._selected)
            return
        turn = required_number("/receipt", "a turn", text)
        shown = next((block for block in self.base.query(TurnBlock) if block.turn == turn), None)
        if shown is None:
            await self._show(turn)
        else:
            shown.head.focus()
            self._select(shown)

    async def _inspect(self, what: str) -> None:
        name, _, which = what.partition(" ")
        if name == "context" and (which in {"", "next"} or number_of(which)):
            self.show_context(number_of(which))
        else:
            self.read(await inspect_answer(self._agent, self._opened.id, what))


_ANYTIME = frozenset({"/help", "/receipt", "/show", "/quit", "/inspect"})
_HERE = frozenset({"help", "receipt", "context", "reply", "cancel", "walk"})
