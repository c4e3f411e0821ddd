"""The box for the next prompt: Enter sends, Ctrl+J begins a new line."""

from textual.events import Key
from textual.message import Message
from textual.widgets import TextArea


class PromptBox(TextArea):
    """Takes a prompt of any number of lines; what was pasted stays whole."""

    class Submitted(Message):
        """Enter was pressed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """Up was pressed in the empty box: back to the conversation."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        """Begin empty."""
        super().__init__(
            id=id,
            compact=True,
            highlight_cursor_line=False,
            placeholder="a prompt, /help, or !command",
        )
        self.cursor_blink = False

    async def _on_key(self, event: Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Submitted(self.text))
        elif event.key == "ctrl+j":
            event.stop()
            event.prevent_default()
            self.insert("\n")
        elif event.key == "up" and not self.text:
            event.stop()
            event.prevent_default()
            self.post_message(self.Left())

    def take(self) -> None:
        """Empty the box."""
        self.load_text("")
