"""The browser of one checked session: turns and findings, and the record beside them.

Enter on a finding goes to the place in the record that decides it. The list is as long
as it is: only what is on the screen is drawn.
"""

import asyncio
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widgets import Footer, Static

from counterfoil.core.errors import CounterfoilError
from counterfoil.core.plain import one_line, plain
from counterfoil.core.report import CaveatRow, Reference
from counterfoil.faces.tui.checked import (
    CheckedSession,
    Found,
    Jump,
    Report,
    jumps_of,
    list_rows,
    record_rows,
    reference_rows,
    report_of,
    turn_report_rows,
)
from counterfoil.faces.tui.lines import Lines
from counterfoil.faces.tui.look import FaceApp, Look
from counterfoil.faces.tui.screens import TextScreen
from counterfoil.faces.tui.texts import Row, count

KEYS = (
    ("Up, Down, PgUp, PgDn", "through the list, or through the record"),
    ("Enter", "on a finding: the place in the record that decides it"),
    ("e", "the next place that bears on the finding, at last the reply itself"),
    ("n, p", "the next finding, the one before"),
    ("v", "show what is seen in the record as well, or findings alone"),
    ("Tab, Escape", "between the list and the record"),
    ("Ctrl+Q", "leave"),
)

_HERE = frozenset({"help", "open", "next_place", "finding", "all", "to_list"})


class BrowserApp(FaceApp):
    """A session with its findings on the left and its record on the right."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help"),
        Binding("enter", "open", "Go to place", show=True),
        Binding("e", "next_place", "Next place"),
        Binding("n", "finding(1)", "Next finding"),
        Binding("p", "finding(-1)", "Before"),
        Binding("v", "all", "All/findings"),
        Binding("escape", "to_list", "List"),
    ]

    def __init__(self, session: CheckedSession, look: Look | None = None) -> None:
        """Show `session` once it was read."""
        super().__init__(look)
        self.title = "counterfoil"
        self.failure: CounterfoilError | None = None
        self._session = session
        self._report: Report | None = None
        self._is_all = False
        self._reference: Reference | None = None
        self._place = 0

    def compose(self) -> ComposeResult:
        """The list, the record, the counts, the keys."""
        with Container(id="columns"):
            yield Lines(selects=True, id="found")
            yield Lines(id="record")
        yield Static("reading …", markup=False, id="status")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Read the session beside the screen."""
        self.query_one("#found", Lines).focus()
        self.run_worker(self._read())

    async def _read(self) -> None:
        try:
            self._report = await asyncio.to_thread(report_of, self._session)
        except CounterfoilError as error:
            self.failure = error
            self.exit(3)
            return
        self._list()
        self.say(self._counts(self._report))

    def _counts(self, report: Report) -> str:
        total = report.summary
        said = [
            f"{number:,} {words}"
            for number, words in (
                (total.contradicted, "contradicted"),
                (total.not_established, "not established"),
                (total.supported, "seen"),
                (total.silenced, "silenced"),
            )
            if number
        ]
        what = ", ".join(said) or "nothing to check"
        return f"{one_line(report.path, 60)} · {count(total.turns, 'turn')} · {what}"

    @property
    def outcome(self) -> int:
        """The exit code: 1 where something is contradicted."""
        return int(self._report is not None and self._report.summary.contradicted > 0)

    @property
    def _found(self) -> Lines:
        return self.screen_stack[0].query_one("#found", Lines)

    @property
    def _record(self) -> Lines:
        return self.screen_stack[0].query_one("#record", Lines)

    def _list(self, chosen: object = None) -> None:
        if self._report is None:
            return
        rows = list(list_rows(self._report, is_all=self._is_all))
        at = next((n for n, row in enumerate(rows) if row.key == chosen), 0)
        self._found.show(rows or [Row("no turn in this session", "muted")], at=at)
        self._tell(self._found.rows[self._found.cursor])

    def on_lines_moved(self, message: Lines.Moved) -> None:
        """Say what the row stands for."""
        if message.lines is self._found:
            self._tell(message.row)

    def _tell(self, row: Row) -> None:
        report, key = self._report, row.key
        self._reference, self._place = None, 0
        if report is None:
            return
        if isinstance(key, CaveatRow):
            lines = ", ".join(map(str, key.lines))
            told = [Row(row.text, "warn"), Row(f"met at {report.noun} {lines}")]
        elif not isinstance(key, Found):
            told = [row]
        elif key.reference is None:
            told = list(turn_report_rows(key.turn, report))
        else:
            self._reference = key.reference
            told = list(reference_rows(key.reference, report))
        self._record.show(told)

    # --- going to a place ---------------------------------------------------------

    def on_lines_chosen(self, message: Lines.Chosen) -> None:
        """Go where the row leads."""
        if message.lines is self._found:
            self.action_open()

    def action_open(self) -> None:
        """Go to the place that decides the finding, or to that of the turn."""
        key = self._found.rows[self._found.cursor].key if self._found.rows else None
        if self._reference is not None:
            self._place = 0
            self._go(jumps_of(self._reference)[0])
        elif isinstance(key, Found) and key.turn.line is not None:
            self._go(Jump(what="the turn", line=key.turn.line, source=key.turn.source))
        elif isinstance(key, CaveatRow) and key.line is not None:
            self._go(Jump(what=key.code, line=key.line, source=key.source))

    def action_next_place(self) -> None:
        """Go to the next place that bears on the finding."""
        if self._reference is not None:
            jumps = jumps_of(self._reference)
            self._place = (self._place + 1) % len(jumps)
            self._go(jumps[self._place])

    def _go(self, jump: Jump) -> None:
        self._record.focus()
        if jump.source or jump.line is None:
            where = plain(jump.source or "no recorded place")
            self._record.show(
                [
                    Row(f"{jump.what}: line {jump.line} of {where}", "head"),
                    Row("That is a file of its own: open it with `counterfoil tui FILE`."),
                ]
            )
            return
        self._record.show([Row("reading …", "muted")])
        self.run_worker(self._going(jump, jump.line), exclusive=True, group="record")

    async def _going(self, jump: Jump, line: int) -> None:
        noun = self._report.noun if self._report is not None else "line"
        try:
            standing = await asyncio.to_thread(lambda: tuple(self._session.standing(line)))
        except CounterfoilError as error:
            self.say(str(error), is_bad=True)
            return
        rows, at = record_rows(standing, jump)
        if not rows:
            rows = [Row(f"nothing is recorded at {noun} {line}", "warn")]
        title = Row(f"Record, {noun} {line}: {plain(jump.what)}", "head")
        self._record.show([title, *rows], at=at + 1 if at else 0)

    # --- keys ---------------------------------------------------------------------

    def action_finding(self, by: int) -> None:
        """Go to the next finding of the list, or to the one before."""
        lines = self._found
        rows, at = lines.rows, lines.cursor + by
        while 0 <= at < len(rows):
            key = rows[at].key
            if isinstance(key, Found) and key.reference is not None:
                lines.focus()
                lines.jump(at)
                return
            at += by
        self.say("no further finding", is_bad=False)

    def action_all(self) -> None:
        """List what is seen in the record as well, or findings alone."""
        chosen = self._found.rows[self._found.cursor].key if self._found.rows else None
        self._is_all = not self._is_all
        self._list(chosen)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys of the browser are none while the help is over it."""
        del parameters
        return action not in _HERE or len(self.screen_stack) == 1

    def action_to_list(self) -> None:
        """Go back to the list."""
        self._found.focus()

    def action_help(self) -> None:
        """Show the keys."""
        rows = [Row("Keys", "head"), *(Row(f"  {key:<24}{said}") for key, said in KEYS)]
        self.push_screen(TextScreen("Help", rows))
