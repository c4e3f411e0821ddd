"""The turns one under another: the end stays in sight until the person reads elsewhere."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.events import MouseScrollDown, MouseScrollUp
from textual.geometry import Size


class Conversation(VerticalScroll, inherit_bindings=False):
    """Scrolls by pages; lines are walked through, by who has them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("pagedown", "page_down", "Page down", show=False),
    ]
    is_following = True

    def follow(self) -> None:
        """Keep the end in sight from now on."""
        self.is_following = True
        self.scroll_end(animate=False)

    def watch_virtual_size(self, _: Size) -> None:
        """Go to the end where something more stands there."""
        if self.is_following:
            self.scroll_end(animate=False)

    def on_mouse_scroll_up(self, _: MouseScrollUp) -> None:
        """Stay where the person goes."""
        self.is_following = False

    def on_mouse_scroll_down(self, _: MouseScrollDown) -> None:
        """Follow again once the end was reached."""
        self.is_following = self.scroll_offset.y >= self.max_scroll_y
