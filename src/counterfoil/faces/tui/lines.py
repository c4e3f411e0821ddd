"""A widget that shows any number of lines: only those on the screen are ever drawn.

It is a text to be read, whose long lines are wrapped, or a list to choose from, one line
a row. A list marks the chosen row with a sign, not with colour alone.
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from counterfoil.faces.tui.texts import Row

_MOST_CHARACTERS = 4
"""Characters to a cell at most: marks that take no cell of their own do not pile up."""


def pieces(text: str, width: int) -> Iterator[str]:
    """Yield `text` in pieces that are at most `width` cells wide, cut at a blank near the end.

    The pieces together are the text; "" is one piece.

    >>> list(pieces("abcde fgh", 8))
    ['abcde ', 'fgh']
    """
    start, is_ascii = 0, text.isascii()
    while True:
        end = start + width if is_ascii else _end(text, start, width)
        if end >= len(text):
            yield text[start:]
            return
        blank = text.rfind(" ", max(start, end - width // 2), end)
        cut = end if blank < 0 else blank + 1
        yield text[start:cut]
        start = cut


def _end(text: str, start: int, width: int) -> int:
    """Return where the cells end that begin at `start`; one character always fits."""
    used = 0
    for at in range(start, min(len(text), start + _MOST_CHARACTERS * width)):
        used += get_character_cell_size(text[at])
        if used > width:
            return max(at, start + 1)
    return start + _MOST_CHARACTERS * width


class Lines(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows of text; with `selects` one of them is the cursor, and Enter chooses it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "lines--head",
        "lines--muted",
        "lines--good",
        "lines--bad",
        "lines--warn",
        "lines--cursor",
    }
    DEFAULT_CSS = """
    Lines {
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        & > .lines--head { text-style: bold; }
        & > .lines--muted { color: $text-muted; }
        & > .lines--good { color: $text-success; }
        & > .lines--bad { color: $text-error; text-style: bold; }
        & > .lines--warn { color: $text-warning; }
        & > .lines--cursor { text-style: bold reverse; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown,space", "page(1)", "Page down", show=False),
        Binding("home,g", "ends(0)", "Start", show=False),
        Binding("end,G", "ends(1)", "End", show=False),
        Binding("enter", "choose", "Open"),
    ]

    class Chosen(Message):
        """A row was chosen with Enter or a click."""

        def __init__(self, lines: "Lines", row: Row) -> None:
            super().__init__()
            self.lines = lines
            self.row = row

        @property
        def control(self) -> "Lines":
            """The list that the row is of."""
            return self.lines

    class Moved(Chosen):
        """Another row became the cursor."""

    def __init__(self, *, selects: bool = False, id: str | None = None) -> None:  # noqa: A002
        """Show nothing yet."""
        super().__init__(id=id)
        self._selects = selects
        self._rows: Sequence[Row] = ()
        self._wrapped: list[tuple[int, str]] = []
        self._first_of: list[int] = []
        self._width = 0
        self.cursor = 0

    @property
    def rows(self) -> Sequence[Row]:
        """The rows as they were set."""
        return self._rows

    def show(self, rows: Sequence[Row], *, at: int = 0) -> None:
        """Show `rows`, with row `at` in sight."""
        self._rows = rows
        self.cursor = max(0, min(at, len(rows) - 1))
        self._wrap()
        top = self._first_of[self.cursor] if self._first_of else 0
        self.scroll_to(y=max(0, top - (self.size.height // 3 if at else 0)), animate=False)

    def on_resize(self) -> None:
        """Wrap again where the width changed."""
        if self.scrollable_content_region.width != self._width:
            self._wrap()

    def _wrap(self) -> None:
        self._width = self.scrollable_content_region.width
        width = max(8, self._width)
        self._wrapped, self._first_of = [], []
        for number, row in enumerate(self._rows):
            self._first_of.append(len(self._wrapped))
            if self._selects:
                self._wrapped.append((number, row.text))
            else:
                self._wrapped.extend((number, piece) for piece in pieces(row.text, width))
        self.virtual_size = Size(width, len(self._wrapped))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the line at `y` of the screen."""
        at = y + self.scroll_offset.y
        width = self.size.width
        if at >= len(self._wrapped):
            return Strip.blank(width, self.rich_style)
        number, text = self._wrapped[at]
        row = self._rows[number]
        names = [f"lines--{row.tone}"] if row.tone else []
        if self._selects:
            is_cursor = number == self.cursor
            text = f"{'>' if is_cursor else ' '} {next(pieces(text, max(4, width - 2)))}"
            if is_cursor and self.has_focus:
                names.append("lines--cursor")
        style = self.get_component_rich_style(*names) if names else self.rich_style
        return Strip([Segment(text, style)]).extend_cell_length(width, style).crop(0, width)

    def jump(self, number: int) -> None:
        """Make row `number` the cursor and bring it in sight."""
        if not self._rows:
            return
        self.cursor = max(0, min(number, len(self._rows) - 1))
        top = self._first_of[self.cursor]
        height = max(1, self.size.height)
        if not self._selects:
            self.scroll_to(y=top, animate=False)
        elif not self.scroll_offset.y <= top < self.scroll_offset.y + height:
            above = top < self.scroll_offset.y
            self.scroll_to(y=top if above else top - height + 1, animate=False)
        self.refresh()
        self.post_message(self.Moved(self, self._rows[self.cursor]))

    def action_move(self, by: int) -> None:
        """Move the cursor, or the text, by a line."""
        if self._selects:
            self.jump(self.cursor + by)
        else:
            self.scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        """Move by a screenful."""
        self.action_move(by * max(1, self.size.height - 1))

    def action_ends(self, end: int) -> None:
        """Go to the first line, or to the last."""
        if self._selects:
            self.jump(end * len(self._rows))
        else:
            self.scroll_to(y=end * len(self._wrapped), animate=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A text has no row to choose."""
        del parameters
        return action != "choose" or self._selects

    def action_choose(self) -> None:
        """Choose the row of the cursor."""
        if self._selects and self._rows:
            self.post_message(self.Chosen(self, self._rows[self.cursor]))
