"""How a screen looks: dark, light, without colour, or plain for a screen reader.

Plain draws no box, no bar and no animation, and stacks what else stands side by side.
Without colour, focus and verdicts are told by signs, bold and reversed text.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from textual.app import App
from textual.binding import Binding, BindingType
from textual.filter import LineFilter, Monochrome, NoColor
from textual.widgets import Static

from counterfoil.core.plain import one_line
from counterfoil.faces.tui.texts import BAD

ThemeName: TypeAlias = Literal["auto", "dark", "light", "none"]

_THEMES = {"auto": "textual-dark", "dark": "textual-dark", "light": "textual-light"}

CSS = """
Screen { layout: vertical; }
.title { text-style: bold; padding: 0 1; height: auto; max-height: 2; }
#text { height: 1fr; padding: 0 1; }

#columns { height: 1fr; layout: horizontal; }
#conversation { width: 1fr; height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
#receipt { width: 52; height: 1fr; display: none; border-left: solid $primary; padding: 0 1; }
.-receipt #receipt { display: block; }
.-narrow #columns { layout: vertical; }
.-narrow #receipt { width: 1fr; height: 50%; border-left: none; border-top: solid $primary; }

TurnBlock { height: auto; margin-bottom: 1; }
Said { height: auto; }
Said > Markdown { padding: 0 2 0 2; margin: 0; }
Said MarkdownFence { margin: 0 0 1 0; }
FocusLine { height: auto; padding: 0 1; color: $text-muted; }
FocusLine:focus { text-style: bold reverse; }
FoldLine { padding: 0 2; }
FoldLine:focus { text-style: bold; background: $primary-muted; color: $text; }
.output { height: auto; margin: 0 0 0 4; padding: 0 1; background: $surface; }
FoldLine.-bad { color: $text-error; }
TurnBlock > .prompt { color: $text; text-style: bold; background: $surface; }
TurnBlock > .prompt:focus { text-style: bold reverse; }
.note { height: auto; padding: 0 2; }
.note.-muted { color: $text-muted; }
.note.-bad { color: $text-error; }
.note.-warn { color: $text-warning; }
.note.-good { color: $text-success; }
.note.-head { text-style: bold; }

#status { height: 1; padding: 0 1; color: $text-muted; }
#box { height: auto; min-height: 3; max-height: 8; border: round $primary; }

ApprovalScreen { align: center middle; }
#question { width: 90%; max-width: 110; height: auto; max-height: 90%; padding: 0 1;
            border: heavy $warning; background: $surface; }
#asked { text-style: bold; height: auto; }
#command { height: auto; min-height: 1; max-height: 10; margin: 1 0; background: $panel; }
#facts { height: auto; color: $text-muted; }

#found { width: 46%; height: 1fr; }
#record { width: 1fr; height: 1fr; border-left: solid $primary; padding: 0 1; }
.-narrow #found { width: 1fr; height: 45%; }
.-narrow #record { height: 1fr; border-left: none; border-top: solid $primary; }

.-nocolour FoldLine:focus { text-style: bold reverse; }

.-plain #columns { layout: vertical; }
.-plain #receipt { width: 1fr; height: 50%; border: none; }
.-plain #found { width: 1fr; height: 45%; }
.-plain #record { height: 1fr; border: none; }
.-plain #box { border: none; min-height: 1; }
.-plain #question { border: none; }
.-plain Lines { scrollbar-size-vertical: 0; }
.-plain #conversation { scrollbar-size-vertical: 0; }
"""


@dataclass(frozen=True, slots=True)
class Look:
    """What was asked for; `plain` goes without colour as well."""

    theme: ThemeName = "auto"
    plain: bool = False

    def colours(self, environment: Mapping[str, str]) -> bool:
        """Say whether there is colour: not in plain, nor where NO_COLOR stands."""
        if self.plain or self.theme == "none":
            return False
        return self.theme != "auto" or not environment.get("NO_COLOR")


class FaceApp(App[int]):
    """What both screens share: the look, no palette of commands, no markup anywhere."""

    CSS = CSS
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - as Textual declares it
        (0, "-narrow"),
        (110, "-wide"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "leave", "Leave", priority=True, show=False),
    ]

    def __init__(self, look: Look | None = None) -> None:
        """Look like `look`."""
        self.look = look or Look()
        has_colours = self.look.colours(os.environ)
        super().__init__(ansi_color=None if has_colours else True)
        self.animation_level = "none"
        self.no_color = not has_colours
        self.theme = _THEMES[self.look.theme] if has_colours else "ansi-dark"
        self.set_class(self.no_color, "-nocolour")
        self.set_class(self.look.plain, "-plain")

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Without colour take every colour away, not only the hue of it."""
        filters = [
            one for one in super().get_line_filters() if not isinstance(one, Monochrome | NoColor)
        ]
        return [*filters, NoColor()] if self.no_color else filters

    def say(self, text: str, *, is_bad: bool = False) -> None:
        """Tell the person something that belongs to no turn."""
        mark = f"{BAD} " if is_bad else ""
        self.screen_stack[0].query_one("#status", Static).update(f"{mark}{one_line(text, 300)}")

    def action_leave(self) -> None:
        """End the program."""
        self.exit(0)
