"""Screens over the conversation: a text, what a model read turn by turn, the help."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, Static

from counterfoil.core.errors import CounterfoilError
from counterfoil.core.plain import one_line, plain
from counterfoil.engine.thread_views import ContextView, TurnRow
from counterfoil.faces.tui.commands import HELP
from counterfoil.faces.tui.lines import Lines
from counterfoil.faces.tui.texts import Row, count, rows_of

KEYS = (
    ("Tab, Shift+Tab", "between the box and the conversation"),
    ("Up, Down", "in the conversation: the line before, the line behind"),
    ("Enter or o", "on a call: its real output, under it; on a prompt: its whole text"),
    ("w", "the whole text behind a line, on a screen of its own"),
    ("F2", "the receipt of the selected turn, beside the conversation"),
    ("F3", "what the model read in the selected turn; Left and Right change the turn"),
    ("F4", "the whole reply of the selected turn, as it was written"),
    ("Escape", "cancel the running turn; else back to the box"),
    ("Enter", "in the box: send;  Ctrl+J: a new line"),
    ("Ctrl+Q", "leave"),
)


class TextScreen(Screen[None]):
    """A text of any length, to be read; Escape goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "app.pop_screen", "Back"),
        Binding("up,down", "noop", "Scroll"),
        Binding("pageup,pagedown", "noop", "Page"),
    ]

    def __init__(self, title: str, rows: Sequence[Row]) -> None:
        """Show `rows` under `title`."""
        super().__init__()
        self._heading = title
        self._rows = rows

    def compose(self) -> ComposeResult:
        """The title, the text, the keys."""
        yield Static(plain(self._heading), markup=False, classes="title")
        yield Lines(id="text")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Show the text from its beginning."""
        lines = self.query_one("#text", Lines)
        lines.show(self._rows)
        lines.focus()

    def action_noop(self) -> None:
        """The text itself scrolls."""


def help_rows() -> list[Row]:
    """Return the commands and the keys."""
    rows = [Row("Commands", "head"), *(Row(f"  {name:<34}{said}") for name, said in HELP)]
    return [*rows, Row(""), Row("Keys", "head"), *(Row(f"  {key:<18}{said}") for key, said in KEYS)]


class ContextScreen(Screen[None]):
    """What the model read, entry by entry; Left and Right go from turn to turn."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "turn(-1)", "Turn before"),
        Binding("right", "turn(1)", "Turn behind"),
        Binding("n", "entry(1)", "Next entry"),
        Binding("p", "entry(-1)", "Entry before"),
        Binding("escape,q", "app.pop_screen", "Back"),
    ]

    def __init__(self, read: Callable[[int | None], ContextView], turn: int, last: int) -> None:
        """Show `turn` of `last`; one past the last is what would be read next."""
        super().__init__()
        self._read = read
        self._last = last
        self.turn = max(1, min(turn, last + 1))

    def compose(self) -> ComposeResult:
        """The title, the entries, the keys."""
        yield Static("", markup=False, classes="title")
        yield Lines(id="text")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Read the first turn."""
        self.query_one(Lines).focus()
        self._load()

    def action_turn(self, by: int) -> None:
        """Go to another turn."""
        turn = max(1, min(self.turn + by, self._last + 1))
        if turn != self.turn:
            self.turn = turn
            self._load()

    def action_entry(self, by: int) -> None:
        """Bring the next entry, or the one before, to the top."""
        lines = self.query_one(Lines)
        heads = [at for at, row in enumerate(lines.rows) if row.key is not None]
        behind = [at for at in heads if (at > lines.cursor if by > 0 else at < lines.cursor)]
        if behind:
            lines.jump(behind[0] if by > 0 else behind[-1])

    def _load(self) -> None:
        which = "next" if self.turn > self._last else f"turn {self.turn} of {self._last}"
        self.query_one(".title", Static).update(f"Context, {which}: reading …")
        self.run_worker(self._loading(self.turn, which), exclusive=True)

    async def _loading(self, turn: int, which: str) -> None:
        try:
            view = await asyncio.to_thread(self._read, None if turn > self._last else turn)
        except CounterfoilError as error:
            self.query_one(".title", Static).update(f"Context, {which}: {plain(str(error))}")
            self.query_one(Lines).show([])
            return
        sent = count(len(view.sent), "entry", "entries")
        tokens = f"about {view.tokens:,} tokens"
        self.query_one(".title", Static).update(f"Context, {which}: {sent}, {tokens}")
        self.query_one(Lines).show(list(context_rows(view)))


def context_rows(view: ContextView) -> Iterator[Row]:
    """Yield what was sent, entry by entry, each under its number."""
    for one in view.sent:
        entry = one.entry
        turn = f" · turn {entry.turn}" if entry.turn else ""
        form = " · as a reference" if one.is_reference else ""
        yield Row(f"entry {entry.number} · {entry.kind}{turn}{form}", "head", entry.number)
        for message in one.messages:
            yield from (Row(f"  {row.text}") for row in rows_of(message.text) if message.text)
            for call in message.calls:
                yield from (Row(f"  {r.text}") for r in rows_of(f"{call.tool} {call.arguments}"))
        yield Row("")


def turn_rows(turns: Iterable[TurnRow]) -> Iterator[Row]:
    """Yield one line a turn: what was asked, and what became of the context."""
    for row in turns:
        tokens = "not asked" if row.estimated_tokens is None else f"{row.estimated_tokens:,} tokens"
        dropped = f", turns before {row.dropped} dropped" if row.dropped else ""
        yield Row(
            f"turn {row.turn} · {row.outcome} · {tokens}, {row.elided} elided{dropped}"
            f" · {one_line(row.prompt, 200)}"
        )
