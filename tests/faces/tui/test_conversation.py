"""The conversation on the screen, driven by keys, with a scripted model."""

from dataclasses import replace
from itertools import count as counting

import pytest
from textual.message import Message

from counterfoil.core.errors import ConflictError, UnavailableError
from counterfoil.core.events import CommandExited
from counterfoil.core.ids import EventId
from counterfoil.core.messages import Delta, ModelAnswer, ModelRequest
from counterfoil.engine.effects import Record, Turn
from counterfoil.faces.tui import conversation
from counterfoil.faces.tui.approval import ApprovalScreen
from counterfoil.faces.tui.box import PromptBox
from counterfoil.faces.tui.conversation import ConversationApp, EdgeLine
from counterfoil.faces.tui.lines import Lines
from counterfoil.faces.tui.look import Look
from counterfoil.faces.tui.screens import ContextScreen, TextScreen
from counterfoil.faces.tui.turn import FocusLine, FoldLine, Said, TurnBlock
from counterfoil.ports.tools import ApprovalAnswer, ToolAnswer
from engine.agent_world import (
    CASE_PROMPTS,
    MISSING_LINE,
    RAN_LINE,
    CountingClock,
    TableTool,
    World,
    build_agent,
    calls,
    case_section_8,
    says,
    world,
)
from faces.tui.screen_world import (
    ask,
    asking_tool,
    assert_golden,
    colours_of,
    request,
    run,
    shown,
    talk,
    text_of,
    type_in,
    until,
)

LOOKS = {
    "dark": Look("dark"),
    "light": Look("light"),
    "none": Look("none"),
    "plain": Look(plain=True),
}
SIZES = {"80x24": (80, 24), "160x50": (160, 50)}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("look", LOOKS)
def test_the_case_of_section_8_stands_on_the_screen(size: str, look: str) -> None:
    """agent-case: the ran line and the missing entries; section 7: at each size."""

    async def main() -> None:
        async with shown(talk(case_section_8().agent(), LOOKS[look]), SIZES[size]) as pilot:
            await ask(pilot, *CASE_PROMPTS)
            said = text_of(pilot.app)
            assert RAN_LINE in said
            assert f"✗ {MISSING_LINE}" in said
            assert "900 tokens read, 60 written" in said
            kind = "plain" if look == "plain" else "boxes"
            await assert_golden(pilot, f"case-{kind}-{size}")
            await pilot.press("f2")
            await until(pilot, lambda: "Receipt of turn 4" in text_of(pilot.app))
            await assert_golden(pilot, f"receipt-{kind}-{size}")

    run(main())


@pytest.mark.parametrize("look", ["none", "plain"])
def test_without_colour_there_is_no_colour(look: str) -> None:
    """tui: it works without colour; the words and marks are all there."""

    async def main() -> None:
        async with shown(talk(case_section_8().agent(), LOOKS[look])) as pilot:
            await ask(pilot, *CASE_PROMPTS)
            await pilot.press("up")
            assert colours_of(pilot.app) == {"default"}

    run(main())


@pytest.mark.parametrize(("theme", "has_colours"), [("auto", False), ("dark", True)])
def test_no_color_takes_colour_away_unless_it_was_asked_for(
    theme: str,
    has_colours: bool,  # noqa: FBT001 - a parameter of the test
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """exit-codes: NO_COLOR is honoured; agent.md section 7."""
    monkeypatch.setenv("NO_COLOR", "1")

    async def main() -> None:
        look = Look("dark" if theme == "dark" else "auto")
        async with shown(talk(build_agent([says("Hello.")]), look)) as pilot:
            await ask(pilot, "Hi")
            assert (colours_of(pilot.app) != {"default"}) == has_colours

    run(main())


def test_the_plain_look_draws_no_box_and_no_bar() -> None:
    """tui: a screen reader's plain mode."""

    async def main() -> None:
        async with shown(talk(case_section_8().agent(), Look(plain=True))) as pilot:
            await ask(pilot, *CASE_PROMPTS)
            await pilot.press("f2")
            await pilot.pause()
            assert not set(text_of(pilot.app)) & set("─│╭╮╰╯┃━▁▂▃▄▅▆▇█")

    run(main())


# --- calls ----------------------------------------------------------------------


def test_a_call_is_folded_and_its_real_output_is_one_key_away() -> None:
    """tui: tool lines folded with their real output one key away."""
    output = "".join(f"line {number} [red]not red[/]\n" for number in range(60))
    tool = TableTool("read_file", ToolAnswer(output=output))

    async def main() -> None:
        agent = build_agent([calls(("read_file", '{"path":"x"}')), says("Read.")], tool)
        async with shown(talk(agent), (100, 60)) as pilot:
            await ask(pilot, "Read x")
            assert "▸ read_file" in text_of(pilot.app)
            assert "60 lines" in text_of(pilot.app)
            assert "line 0" not in text_of(pilot.app)
            await pilot.press("up", "enter")
            await pilot.pause()
            assert "▾ read_file" in text_of(pilot.app)
            assert "line 0 [red]not red[/]" in text_of(pilot.app)
            assert "20 more lines: w shows the whole output" in text_of(pilot.app)
            await pilot.press("w")
            screen = pilot.app.screen
            assert isinstance(screen, TextScreen)
            assert screen.query_one(Lines).rows[59].text == "line 59 [red]not red[/]"
            await pilot.press("escape", "o")
            assert "line 0" not in text_of(pilot.app)

    run(main())


def test_calls_that_fail_say_so_in_words() -> None:
    """tui: nothing is told by colour alone."""

    def throw(*_: object) -> ToolAnswer:
        raise OSError("no such disk")

    tools = (
        TableTool("bad", ToolAnswer(output="no file", outcome="error")),
        TableTool("worse", throw),
    )

    async def main() -> None:
        agent = build_agent(
            [calls(("bad", "{}"), ("worse", "{}"), text="Trying."), says("No.")], *tools
        )
        async with shown(talk(agent)) as pilot:
            await ask(pilot, "Try")
            said = text_of(pilot.app)
            assert "bad {} · ✗ error" in said
            assert "worse {} · ✗ failed: " in said
            assert said.index("Trying.") < said.index("bad {}") < said.index("No.")
            assert "ran: bad (1 failed) · worse (1 failed)" in said

    run(main())


# --- the reply ------------------------------------------------------------------


def test_a_reply_comes_as_markdown_while_it_is_said() -> None:
    """tui: streaming reply as Markdown."""

    async def main() -> None:
        w = world(["# Title\n\n- one\n- two **bold**\n"])
        app = talk(w.agent())
        async with shown(app) as pilot:
            await until(pilot, lambda: not app.is_busy)
            await type_in(pilot, "Go")
            await until(pilot, lambda: "two bold" in text_of(app))
            assert "• one" in text_of(app)
            assert "a turn runs" in text_of(app)
            await pilot.press("escape")
            await until(pilot, lambda: not app.is_busy)
            assert "cancelled" in text_of(app)
            assert "ready" in text_of(app)
            assert app.focused is app.query_one(PromptBox)

    run(main())


def test_keys_that_are_held_while_a_turn_runs_send_nothing() -> None:
    """tui: what is typed while a turn runs stays in the box."""

    async def main() -> None:
        w = world(["Working …", says("Never asked.")])
        app = talk(w.agent())
        async with shown(app) as pilot:
            await until(pilot, lambda: not app.is_busy)
            await type_in(pilot, "Go")
            await until(pilot, lambda: "Working" in text_of(app))
            await pilot.press(*"again", *["enter"] * 20)
            assert app.query_one(PromptBox).text == "again"
            assert "what you typed stays here" in text_of(app)
            assert len(w.model.asked) == 1
            await pilot.press(*["escape"] * 5)
            await until(pilot, lambda: not app.is_busy)
            assert app.query_one(PromptBox).text == "again"

    run(main())


def test_hostile_text_is_written_out() -> None:
    """plain-text: no escape, control or bidirectional character steers a terminal."""
    text = "[bold red]a[/] \x1b[31mred\x1b[0m \u202eevil\u202c \x07 <!-- hidden --> <b>tag</b>"
    tool = TableTool("x\u202ey", ToolAnswer(output=text))

    async def main() -> None:
        agent = build_agent([calls(("x\u202ey", text)), says(text)], tool)
        app = talk(agent)
        async with shown(app, (120, 40)) as pilot:
            await ask(pilot, text)
            await pilot.press("up", "up", "down", "enter")
            await pilot.press("f2")
            await pilot.pause()
            said = text_of(app)
            assert not set(said) & set("\x1b\x07\u202e\u202c")
            assert "[bold red]a[/] \\x1b[31mred" in said
            assert "<!-- hidden -->" in said
            assert "<b>tag</b>" in said

    run(main())


@pytest.mark.parametrize(
    "reply",
    [
        "x" * (1 << 20),
        "word " * 200_000,
        "- a\n" * 10_000,
        "|a|b|\n|-|-|\n" + "|1|2|\n" * 10_000,
        "> " * 100_000,
        "```\n" + "code\n" * 10_000,
        "[" * 100_000,
        "a\u0301" * 100_000,
        "漢" * 300_000,
    ],
    ids=["line", "words", "list", "table", "quotes", "fence", "brackets", "marks", "wide"],
)
def test_an_enormous_reply_is_drawn_in_part_and_shown_whole(reply: str) -> None:
    """tui: a reply of a megabyte leaves the screen responsive."""

    async def main() -> None:
        app = talk(build_agent([says(reply)]))
        async with shown(app) as pilot:
            await ask(pilot, "Write")
            await until(pilot, lambda: "Enter shows the whole" in text_of(app))
            assert sum(1 for _ in app.screen.walk_children()) < 3000
            await pilot.press("f4")
            assert isinstance(app.screen, TextScreen)
            await pilot.press("end", "home", "pagedown")
            assert app.screen.query_one(Lines).rows[0].text[:3] == reply[:3]

    run(main())


def test_a_flood_of_pieces_is_drawn_a_few_times() -> None:
    """tui: no piece of a reply is drawn on its own."""

    async def main() -> None:
        pieces = ["word "] * 3000

        class Flood:
            name, window = "flood", None

            async def ask(self, _: ModelRequest, hear: object) -> ModelAnswer:
                for piece in pieces:
                    hear(Delta(text=piece))  # type: ignore[operator]
                return ModelAnswer(text="".join(pieces))

        w = world([])
        w.model = Flood()  # type: ignore[assignment]
        drawn = 0

        def count(message: Message) -> None:
            nonlocal drawn
            drawn += isinstance(message, Said.Drawn)

        app = talk(w.agent())
        async with app.run_test(message_hook=count) as pilot:
            await ask(pilot, "Go")
            assert "word word" in text_of(app)
        await app.close()
        assert 0 < drawn < 30

    run(main())


# --- approval -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "decision", "scope"),
    [
        ("o", "approved", "once"),
        ("s", "approved", "session"),
        ("p", "approved", "project"),
        ("a", "approved", "always"),
        ("d", "denied", "once"),
        ("escape", "denied", "once"),
    ],
)
def test_a_key_answers_the_question(key: str, decision: str, scope: str) -> None:
    """tui: approval dialog with the exact command and its level."""
    answers: list[ApprovalAnswer] = []

    async def main() -> None:
        w = world([calls(("run_command", "{}")), says("Done.")])
        w.offered["run_command"] = asking_tool(request(), answers)
        app = talk(w.agent())
        async with shown(app, (120, 40)) as pilot:
            await until(pilot, lambda: not app.is_busy)
            await type_in(pilot, "Push")
            await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
            said = text_of(app)
            assert "Level: moderate" in said
            assert "git push origin main" in said
            assert "/home/ann/demo" in said
            assert "it writes to a remote" in said
            await pilot.press(key)
            await until(pilot, lambda: not app.is_busy and not app.is_drawing)
            wanted = "exit 3" if decision == "approved" else "denied"
            assert f"approval: {decision}" in text_of(app)
            assert wanted in text_of(app)

    run(main())
    assert [(one.decision, one.scope) for one in answers] == [(decision, scope)]


@pytest.mark.parametrize("size", SIZES)
def test_the_question_is_drawn(size: str) -> None:
    """tui: screens are snapshot-tested."""

    async def main() -> None:
        w = world([calls(("run_command", "{}")), says("Done.")])
        command = "rm -rf ./build && \\\n  echo '\x1b[2Kok'"
        w.offered["run_command"] = asking_tool(request(command, "dangerous"), [])
        app = talk(w.agent(), Look("dark"))
        async with shown(app, SIZES[size]) as pilot:
            await until(pilot, lambda: not app.is_busy)
            await type_in(pilot, "Clean")
            await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
            await pilot.pause()
            await assert_golden(pilot, f"approval-{size}")
            await pilot.press("p", "a")
            assert isinstance(app.screen, ApprovalScreen), "not remembered beyond the session"
            await pilot.press("d")
            await until(pilot, lambda: not app.is_busy)

    run(main())


def test_what_was_typed_ahead_approves_nothing() -> None:
    """agent-tools: the person decides, not the keys that were still to come."""
    answers: list[ApprovalAnswer] = []

    async def main() -> None:
        w = world([calls(("run_command", "{}")), says("Done.")])
        w.offered["run_command"] = asking_tool(request(), answers)
        app = talk(w.agent(), quiet=3600)
        async with shown(app) as pilot:
            await until(pilot, lambda: not app.is_busy)
            await type_in(pilot, "Push")
            await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
            await pilot.press(*"also do that, please", "enter")
            assert isinstance(app.screen, ApprovalScreen)
            assert "pause a moment" in text_of(app)
            assert answers == []
            await pilot.press("escape")
            await until(pilot, lambda: not app.is_busy)

    run(main())
    assert [one.decision for one in answers] == ["denied"]


def test_a_question_that_is_withdrawn_leaves_the_screen() -> None:
    """agent-tools: no answer in time is a refusal."""

    async def main() -> None:
        w = world([calls(("run_command", "{}")), says("Done.")])
        answers: list[ApprovalAnswer] = []
        w.offered["run_command"] = asking_tool(request(), answers)
        agent = w.agent()
        app = talk(replace(agent, threads=w.threads(approval_seconds=1)))
        async with shown(app) as pilot:
            await until(pilot, lambda: not app.is_busy)
            await type_in(pilot, "Push")
            await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
            await until(pilot, lambda: not app.is_busy and not app.is_drawing)
            assert not isinstance(app.screen, ApprovalScreen)
            assert "timed_out" in text_of(app)

    run(main())


# --- views ----------------------------------------------------------------------


def test_the_context_is_shown_turn_by_turn() -> None:
    """tui: the context view by turn."""

    async def main() -> None:
        app = talk(case_section_8().agent(), Look("dark"))
        async with shown(app) as pilot:
            await ask(pilot, *CASE_PROMPTS)
            await pilot.press("f3")
            await until(pilot, lambda: "turn 4 of 4: 17 entries" in text_of(app))
            await assert_golden(pilot, "context-80x24")
            await pilot.press("n", "n")
            assert text_of(app).split("\n")[1].strip().startswith("entry 3")
            await pilot.press("left", "left")
            await until(pilot, lambda: "turn 2 of 4" in text_of(app))
            await pilot.press(*["left"] * 9)
            await until(pilot, lambda: "turn 1 of 4: 4 entries" in text_of(app))
            await pilot.press(*["right"] * 9)
            await until(pilot, lambda: "next: 18 entries" in text_of(app))
            assert isinstance(app.screen, ContextScreen)
            await pilot.press("escape")
            assert "Check everything" in text_of(app)

    run(main())


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("/help", "/inspect context"),
        ("/show 14", "Check everything"),
        ("/show 99", "1 to 18"),
        ("/show x", "write /show N"),
        ("/receipt", "Receipt of turn 4"),
        ("/receipt 2", "Receipt of turn 2"),
        ("/receipt 9", "1 to 4"),
        ("/turn 1", "You: One."),
        ("/turn", "write /turn T"),
        ("/inspect context", "Context, next: 18 entries"),
        ("/inspect context 3", "Context, turn 3 of 4"),
        ("/inspect context turns", "turn 3 · ok"),
        ("/inspect config", "model = steps"),
        ("/inspect approvals", "Nothing is approved"),
        ("/inspect audit", "entry_stored"),
        ("/inspect moon", "config, approvals or audit"),
        ("/model", "> steps"),
        ("/model nonesuch", "no model 'nonesuch'"),
        ("/nonesuch", "no command /nonesuch"),
        ("!ls", "commands cannot be run in this thread"),
    ],
)
def test_a_command_is_answered(typed: str, wanted: str) -> None:
    """chat-face: the same commands, the same numbers."""

    async def main() -> None:
        app = talk(case_section_8().agent())
        async with shown(app, (100, 40)) as pilot:
            await ask(pilot, *CASE_PROMPTS)
            await type_in(pilot, typed)
            await until(pilot, lambda: wanted in text_of(app))

    run(main())


def test_new_begins_another_thread() -> None:
    """chat-face: `/new`; the thread before is closed, and can be resumed."""

    class Clock(CountingClock):
        numbers = counting(1)

        def new_id(self) -> EventId:
            return EventId.from_number(next(self.numbers) << 16)

    async def main() -> None:
        w = world([says("Hello."), says("Again.")])
        w.clock = Clock()
        app = talk(w.agent())
        async with shown(app) as pilot:
            await ask(pilot, "Hi")
            await type_in(pilot, "/new")
            await until(pilot, lambda: "Ask something" in text_of(app))
            await ask(pilot, "You there?")
            assert "Again." in text_of(app)
            assert "Hello." not in text_of(app)
        assert len(list(w.agent().views.threads())) == 2

    run(main())


def test_quit_leaves() -> None:
    """chat-face: `/quit`."""

    async def main() -> None:
        app = talk(build_agent([]))
        async with shown(app) as pilot:
            await until(pilot, lambda: not app.is_busy)
            await type_in(pilot, "/quit")
            await pilot.pause()
        assert app.return_value == 0

    run(main())


def test_what_a_person_runs_is_shown_with_its_output() -> None:
    """turns: what a person runs with `!` becomes an entry."""

    def typed(command: str, turn: int) -> Turn[ToolAnswer]:
        del turn
        yield Record(
            payload=CommandExited(command=command, exit_status=1, stdout="so\n", source="person")
        )
        return ToolAnswer(output="so\n")

    async def main() -> None:
        w = world([says("Yes.")])
        w.typed = typed
        app = talk(w.agent())
        async with shown(app) as pilot:
            await ask(pilot, "Hi", "!false")
            assert "▸ ! false · ✗ exit 1" in text_of(app)
            await pilot.press("up", "enter")
            await pilot.pause()
            assert "so" in text_of(app)

    run(main())


# --- threads --------------------------------------------------------------------


def test_a_thread_is_resumed_with_its_turns() -> None:
    """turns: threads are resumed by id; the notes are those of the record."""
    w = case_section_8()

    async def first() -> None:
        async with shown(talk(w.agent(), thread="t1")) as pilot:
            await ask(pilot, *CASE_PROMPTS)

    async def second() -> None:
        app = talk(w.agent(), thread="t1")
        async with shown(app) as pilot:
            await until(pilot, lambda: MISSING_LINE in text_of(app))
            assert RAN_LINE in text_of(app)
            assert "900 tokens read" in text_of(app)
            await pilot.press("f2")
            await until(pilot, lambda: "Receipt of turn 4" in text_of(app))

    run(first())
    run(second())


def turns_of(app: ConversationApp) -> list[int | None]:
    return [block.turn for block in app.query(TurnBlock)]


@pytest.fixture
def long_thread(monkeypatch: pytest.MonkeyPatch) -> World:
    """A thread of eleven turns, and screens that hold few."""
    monkeypatch.setattr(conversation, "WINDOW", 4)
    monkeypatch.setattr(conversation, "MOST_BLOCKS", 6)
    w = world([says(f"Reply {turn}.") for turn in range(1, 13)])

    async def main() -> None:
        app = talk(w.agent(), thread="t1")
        async with shown(app) as pilot:
            await ask(pilot, *(f"Prompt {turn}." for turn in range(1, 12)))
            assert turns_of(app) == [6, 7, 8, 9, 10, 11]
            assert "… 5 earlier turns" in str(app.query(EdgeLine).first().render())

    run(main())
    return w


def test_a_long_thread_opens_with_its_last_turns(long_thread: World) -> None:
    """tui: a thread of any length opens as fast as a short one."""

    async def main() -> None:
        app = talk(long_thread.agent(), thread="t1")
        async with shown(app) as pilot:
            await until(pilot, lambda: "Reply 11." in text_of(app))
            assert turns_of(app) == [8, 9, 10, 11]
            await type_in(pilot, "/turn 5")
            await until(pilot, lambda: turns_of(app) == [3, 4, 5, 6])
            await until(pilot, lambda: isinstance(app.focused, FocusLine))
            assert "Prompt 5." in text_of(app)
            await pilot.press(*["up"] * 3, "enter")
            await until(pilot, lambda: turns_of(app) == [1, 2, 3, 4])
            await until(pilot, lambda: "7 later turns" in str(app.query(EdgeLine).last().render()))
            await ask(pilot, "Prompt 12.")
            assert turns_of(app) == [8, 9, 10, 11, 12]
            assert "Reply 12." in text_of(app)

    run(main())


def test_a_thread_that_is_held_ends_the_program_with_its_error() -> None:
    """turns: a `ConflictError` that names the holder."""
    w = world([])

    async def main() -> None:
        async with shown(talk(w.agent(), thread="t1")) as pilot:
            await pilot.pause()
            other = talk(w.agent(), thread="t1")
            async with other.run_test() as second:
                for _ in range(200):
                    if other.failure is None:
                        await second.pause(0.005)
            assert isinstance(other.failure, ConflictError)

    run(main())


def test_a_model_that_fails_leaves_the_conversation_usable() -> None:
    """turns: a failed turn has a receipt too."""

    async def main() -> None:
        app = talk(build_agent([UnavailableError("no server answers"), says("Back.")]))
        async with shown(app) as pilot:
            await ask(pilot, "Hi")
            assert "✗ no server answers" in text_of(app)
            await ask(pilot, "Again")
            assert "Back." in text_of(app)
            assert len(app.query(FoldLine)) == 0

    run(main())
