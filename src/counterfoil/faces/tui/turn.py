"""One turn on the screen: the prompt, the calls, the reply as it comes, the notes under it.

A block takes the events of its turn one by one, and the pieces of text that a model says;
it is the same whether the turn runs or was read out of the record.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from markdown_it import MarkdownIt
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Markdown, Static

from counterfoil.core.events import (
    ApprovalDecided,
    CommandExited,
    ErrorRaised,
    Event,
    ModelAsked,
    PolicyDecided,
    PromptReceived,
    ReasoningGiven,
    ReplyGiven,
    ThreadOpened,
    ToolCalled,
    ToolFailed,
    ToolReturned,
)
from counterfoil.core.messages import Delta
from counterfoil.core.plain import one_line, plain
from counterfoil.core.receipt import fold_receipt
from counterfoil.core.turns import PERSON
from counterfoil.engine.turn_result import TurnResult
from counterfoil.faces.tui.clipping import Clip
from counterfoil.faces.tui.texts import (
    BAD,
    CallShown,
    Row,
    cited_row,
    command_output,
    count,
    earlier_notes,
    fact_words,
)

THROTTLE = 0.08
"""Seconds between two drawings of a reply that is still coming."""

UNFOLDED = 40
"""Lines of an output that unfold in place; the whole is another key away."""

_PROMPT = 600
_LONGEST = 2_000


class FocusLine(Static, can_focus=True):
    """A line that can be walked to; `whole` is what Enter shows where nothing unfolds."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,o", "open", "Open"),
        Binding("w", "whole", "Whole"),
    ]

    class Opened(Message):
        """The whole text behind a line is wanted."""

        def __init__(self, title: str, text: str) -> None:
            super().__init__()
            self.title = title
            self.text = text

    def __init__(self, text: str, *, title: str = "", whole: str = "") -> None:
        super().__init__(text, markup=False)
        self.heading = title
        self.whole = whole

    def action_open(self) -> None:
        """Show the whole text."""
        self.action_whole()

    def action_whole(self) -> None:
        """Show the whole text."""
        self.post_message(self.Opened(self.heading, self.whole))

    def on_click(self) -> None:
        """Do as Enter does."""
        self.action_open()


class FoldLine(FocusLine):
    """A line whose text unfolds under it: a call with its output, or reasoning."""

    def __init__(self, head: str, *, title: str, whole: str = "") -> None:
        super().__init__("", title=title, whole=whole)
        self._head = head
        self._body: Static | None = None
        self.is_open = False

    def on_mount(self) -> None:
        """Draw it for the first time."""
        self.redraw()

    def tell(self, head: str, whole: str, *, is_bad: bool = False) -> None:
        """Say something new on the line, and behind it."""
        self._head, self.whole = head, whole
        self.set_class(is_bad, "-bad")
        if self.is_mounted:
            self.redraw()

    def redraw(self) -> None:
        """Draw the head and, where it is open, the first lines of what is behind it."""
        self.update(f"{'▾' if self.is_open else '▸'} {self._head}")
        body = self._body
        if body is None and self.is_open and isinstance(self.parent, Widget):
            body = self._body = Static("", markup=False, classes="output")
            self.parent.mount(body, after=self)
        if body is not None:
            body.display = self.is_open
            body.update(_beginning(self.whole) if self.is_open else "")

    def action_open(self) -> None:
        """Unfold, or fold."""
        self.is_open = not self.is_open
        self.redraw()
        self.call_after_refresh(self._in_sight)

    def _in_sight(self) -> None:
        """Bring what unfolded in sight, and the head of it above all."""
        if self._body is not None and self.is_open:
            self._body.scroll_visible(animate=False)
        self.scroll_visible(animate=False)


def _beginning(text: str) -> str:
    """Return the first lines of `text`, each cut where it is long, and what is left out."""
    text = text.removesuffix("\n")
    lines = text.split("\n", UNFOLDED)
    shown = [
        plain(line[:_LONGEST]) + (f" … ({len(line):,} characters)" if len(line) > _LONGEST else "")
        for line in lines[:UNFOLDED]
    ]
    more = text.count("\n") + 1 - len(shown)
    if more > 0:
        shown.append(f"… {count(more, 'more line')}: w shows the whole output")
    elif any(len(line) > _LONGEST for line in lines):
        shown.append("… w shows the whole output")
    return "\n".join(shown) if text else "(no output)"


def _parser() -> MarkdownIt:
    """HTML is text here: nothing that a reply says is hidden in a tag or a comment."""
    return MarkdownIt("gfm-like", {"html": False})


class Said(Vertical):
    """A text of the model as it comes: drawn as Markdown a few times a second."""

    def __init__(self) -> None:
        super().__init__()
        self._clip = Clip()
        self._waiting: list[str] = []
        self.is_due = False
        self._all: list[str] = []
        self._markdown = Markdown(parser_factory=_parser, open_links=False)
        self._more = FocusLine("", title="Reply")
        self._more.display = False

    @property
    def text(self) -> str:
        """All of the text until now, as it was said."""
        return "".join(self._all)

    def compose(self) -> ComposeResult:
        """The Markdown, and the line that counts what is not drawn."""
        yield self._markdown
        yield self._more

    def on_mount(self) -> None:
        """Draw what came before there was a screen."""
        self._draw_soon()

    def feed(self, text: str) -> None:
        """Take the next piece."""
        self._all.append(text)
        self._waiting.append(text)
        if self.is_mounted:
            self._draw_soon()

    def settle(self, text: str) -> None:
        """Take the text as it was recorded, where it is not what was heard."""
        if text != self.text:
            self._all, self._waiting, self._clip = [], [], Clip()
            self._markdown.update("")
            self.feed(text)

    def _draw_soon(self) -> None:
        if not self.is_due and self._waiting:
            self.is_due = True
            self.set_timer(THROTTLE, self._draw)

    async def _draw(self) -> None:
        waiting, self._waiting = "".join(self._waiting), []
        fitting = self._clip.take(plain(waiting))
        if fitting:
            await self._markdown.append(fitting)
        if self._clip.cut:
            self._more.whole = self.text
            self._more.update(f"… +{count(self._clip.cut, 'character')}: Enter shows the whole")
            self._more.display = True
        self.is_due = False
        self._draw_soon()
        self.post_message(self.Drawn())

    class Drawn(Message):
        """Something more stands on the screen."""


class TurnBlock(Vertical):
    """One turn, from its prompt to the notes under its reply."""

    def __init__(self, turn: int | None, prompt: str = "") -> None:
        """Begin a turn whose number may not be known yet."""
        super().__init__()
        self.turn = turn
        self.result: TurnResult | None = None
        self.head = FocusLine("", title="Prompt")
        self._head_text(prompt)
        self.head.add_class("prompt")
        self.reply = ""
        self._unmounted: list[Widget] = []
        self._waiting: dict[str, deque[_CallLine]] = {}
        self._said: Said | None = None

    def compose(self) -> ComposeResult:
        """The prompt, and what came before there was a screen; the rest is mounted as it comes."""
        yield self.head
        yield from self._unmounted

    def _put(self, widget: Widget, *, before: Widget | None = None) -> None:
        if self.is_attached:
            self.mount(widget, before=before)
        else:
            self._unmounted.append(widget)

    def _head_text(self, prompt: str) -> None:
        self.head.whole = prompt
        more = len(prompt) - _PROMPT
        cut = f" … (+{more:,} characters: Enter)" if more > 0 else ""
        self.head.update(f"You: {plain(prompt[:_PROMPT])}{cut}" if prompt else "(no prompt)")

    def hear(self, what: Event | Delta) -> None:
        """Take what the turn records and what its model says."""
        if isinstance(what, Delta):
            if what.text:
                self._saying().feed(what.text)
            return
        if what.turn is not None:
            self.turn = what.turn
        self._take(what)

    def _saying(self) -> Said:
        if self._said is None:
            self._said = Said()
            self._put(self._said)
        return self._said

    def _take(self, event: Event) -> None:
        payload = event.payload
        if isinstance(payload, PromptReceived):
            self._head_text(payload.text)
        elif isinstance(payload, ModelAsked):
            self._drop_unsettled()
        elif isinstance(payload, ReplyGiven):
            self.reply = payload.text
            self._settle(payload.text)
        elif isinstance(payload, ReasoningGiven):
            self._reasoned(payload, is_said=event.call is not None)
        elif isinstance(payload, ErrorRaised):
            self.note(Row(f"{BAD} {plain(payload.message)}", "bad"))
        else:
            self._take_call(event)

    def _drop_unsettled(self) -> None:
        """What was heard of an answer that the model is asked for again is no part of it."""
        if self._said is not None:
            self._said.remove()
            self._said = None

    def _settle(self, text: str) -> None:
        self._saying().settle(text)
        self._said = None

    def _reasoned(self, payload: ReasoningGiven, *, is_said: bool) -> None:
        if is_said:
            self._settle(payload.text)
            return
        words = count(len(payload.text.split()), "word")
        line = FoldLine(f"reasoning · {words}", title="Reasoning", whole=payload.text)
        self._put(line, before=self._said)

    def _take_call(self, event: Event) -> None:
        payload = event.payload
        if isinstance(payload, ToolCalled):
            line = _CallLine(CallShown(tool=payload.tool, arguments=payload.arguments))
            self._waiting.setdefault(event.call or "", deque()).append(line)
            self._put(line)
        elif isinstance(payload, CommandExited) and payload.source == PERSON:
            self._put(typed_line(payload))
        elif isinstance(payload, ToolReturned | ToolFailed):
            waiting = self._waiting.get(event.call or "")
            if waiting:
                waiting.popleft().learn(payload)
        else:
            waiting = self._waiting.get(event.call or "")
            if waiting:
                waiting[0].learn(payload)

    def note(self, row: Row) -> None:
        """Put a line under what there is."""
        note = Static(row.text, markup=False, classes="note")
        note.add_class(f"-{row.tone or 'plain'}")
        self._put(note)

    def notes(self, rows: Iterable[Row]) -> None:
        """Put lines under what there is."""
        for row in rows:
            self.note(row)

    def finish(self, result: TurnResult) -> None:
        """Say what is known once the turn ended: its notes, its time and tokens."""
        self.result = result
        self.turn = result.turn
        if result.outcome == "cancelled":
            self.note(Row("cancelled: what is above is all there is", "warn"))
        elif result.outcome == "error" and not result.receipt.errors:
            self.note(Row(f"{BAD} {plain(result.error or 'the turn failed')}", "bad"))
        if result.ran is not None:
            self.note(Row(plain(result.ran), "muted"))
        if result.cited is not None and result.cited.line is not None:
            self.note(cited_row(result.cited.line, is_missing=bool(result.cited.missing)))
        if result.pages is not None and result.pages.line is not None:
            self.note(cited_row(result.pages.line, is_missing=bool(result.pages.unknown)))
        self.note(Row(fact_words(result.receipt), "muted"))

    def load(self, events: Iterable[Event], opened: ThreadOpened | None) -> None:
        """Show a turn that ended before, out of its events."""
        seen = tuple(events)
        for event in seen:
            self.hear(event)
        self.notes(earlier_notes(seen, opened))
        if seen and self.turn is not None:
            receipt = fold_receipt(seen, seen[0].thread, self.turn)
            self.note(Row(fact_words(receipt), "muted"))


def typed_line(command: CommandExited) -> FoldLine:
    """Return the line of a command that the person typed."""
    shown = CallShown(tool="!", arguments=command.command, command=command)
    line = FoldLine(shown.head, title=f"Output of ! {one_line(command.command, 60)}")
    line.tell(shown.head, command_output(command), is_bad=shown.tone == "bad")
    return line


class _CallLine(FoldLine):
    """A call of the model, with what becomes known of it."""

    def __init__(self, shown: CallShown) -> None:
        super().__init__(shown.head, title=f"Output of {one_line(shown.tool, 60)}")
        self._shown = shown

    def learn(self, payload: object) -> None:
        """Take a fact about the call."""
        shown = self._shown
        if isinstance(payload, CommandExited):
            shown = replace(shown, command=payload)
        elif isinstance(payload, ToolReturned | ToolFailed):
            shown = replace(shown, result=payload)
        elif isinstance(payload, PolicyDecided) and payload.verdict != "allowed":
            note = f"{payload.verdict} by {payload.by}"
            shown = replace(shown, notes=(*shown.notes, note))
        elif isinstance(payload, ApprovalDecided):
            is_given = payload.decision in {"approved", "cached"} and payload.scope
            scope = f" ({payload.scope})" if is_given else ""
            note = f"approval: {payload.decision}{scope}"
            shown = replace(shown, notes=(*shown.notes, note))
        self._shown = shown
        self.tell(shown.head, shown.output, is_bad=shown.tone == "bad")


def block_of(widget: Widget | None) -> TurnBlock | None:
    """Return the turn that `widget` is in."""
    while widget is not None and not isinstance(widget, TurnBlock):
        parent = widget.parent
        widget = parent if isinstance(parent, Widget) else None
    return widget
