"""The browser of a checked session: a finding jumps to the place that decides it."""

import json
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from counterfoil.adapters.system.spool import FileSpool
from counterfoil.adapters.transcripts.formats import open_transcript
from counterfoil.adapters.transcripts.source import open_file
from counterfoil.core.errors import UnreadableError
from counterfoil.engine.check_transcript import TranscriptCheck
from counterfoil.faces.tui.browser import BrowserApp
from counterfoil.faces.tui.checked import CheckedTranscript
from counterfoil.faces.tui.lines import Lines
from counterfoil.faces.tui.look import Look
from faces.tui.screen_world import assert_golden, colours_of, run, shown, text_of, until

Browse = Callable[..., BrowserApp]


@pytest.fixture
def browse(tmp_path: Path) -> Generator[Browse]:
    """Make browsers of sessions that are given as text."""
    with closing(FileSpool[Any]()) as spool:

        def make(text: str, look: Look | None = None) -> BrowserApp:
            path = tmp_path / "session.jsonl"
            path.write_text(text, encoding="utf-8", newline="\n")
            transcript = open_transcript(open_file(str(path)))
            return BrowserApp(
                CheckedTranscript(TranscriptCheck(transcript, spool), transcript), look
            )

        yield make


@contextmanager
def here(path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Name files from `path`, so that golden screens name no folder of this machine."""
    with monkeypatch.context() as patched:
        patched.chdir(path)
        yield


def session(claude: Callable[..., str]) -> str:
    """A session with a place that is past the end, one that was read, and a quotation."""
    content = "".join(f"     {n}\u2192line {n} of it\n" for n in range(1, 31))
    return claude(
        {"prompt": "Where is the [red]limit[/] set?"},
        {"call": "Read", "id": "r1", "input": {"file_path": "/home/ann/demo/src/limits.py"}},
        {
            "result": "r1",
            "content": content,
            "toolUseResult": {
                "type": "text",
                "file": {
                    "filePath": "/home/ann/demo/src/limits.py",
                    "content": content,
                    "numLines": 30,
                    "startLine": 1,
                    "totalLines": 30,
                },
            },
        },
        {"reply": "It is at src/limits.py:12 and again at src/limits.py:99, see src/other.py:4."},
        {"prompt": "Thanks"},
        {"reply": "You are welcome."},
    )


@pytest.mark.parametrize("size", ["80x24", "160x50"])
@pytest.mark.parametrize("theme", ["dark", "light", "none"])
def test_findings_stand_beside_the_record(
    size: str,
    theme: str,
    browse: Browse,
    claude: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """tui: a transcript browser, at each size and in each look."""
    del tmp_path

    async def main() -> None:
        app = browse(session(claude), Look(theme))  # type: ignore[arg-type]
        monkeypatch.setattr(type(app._session), "path", "session.jsonl")
        width, height = map(int, size.split("x"))
        async with shown(app, (width, height)) as pilot:
            await until(pilot, lambda: "turn 2" in text_of(app))
            assert "1 contradicted, 1 not established, 1 seen" in text_of(app)
            await pilot.press("down")
            await assert_golden(pilot, f"browser-{size}")
            await pilot.press("enter")
            await until(pilot, lambda: "Record, line" in text_of(app))
            await assert_golden(pilot, f"browser-record-{size}")
            assert (colours_of(app) == {"default"}) == (theme == "none")
        assert app.outcome == 1

    run(main())


def test_a_finding_jumps_to_the_place_that_decides_it(
    browse: Browse, claude: Callable[..., str]
) -> None:
    """tui: a finding jumps to the place in the record that decides it."""

    async def main() -> None:
        app = browse(session(claude))
        async with shown(app, (120, 40)) as pilot:
            await until(pilot, lambda: "turn 2" in text_of(app))
            found, record = app.query_one("#found", Lines), app.query_one("#record", Lines)
            await pilot.press("v")
            await pilot.press("down")
            assert "✓ seen: src/limits.py:12" in found.rows[found.cursor].text
            await pilot.press("enter")
            await until(pilot, lambda: "Record, line 3" in record.rows[0].text)
            assert record.rows[record.cursor].text.startswith(">")
            assert "line 12 of it" in record.rows[record.cursor].text
            await pilot.press("escape")
            assert app.focused is found
            await pilot.press("n")
            assert "✗ contradicted: src/limits.py:99" in found.rows[found.cursor].text
            await pilot.press("enter")
            await until(pilot, lambda: "Record, line 3" in record.rows[0].text)
            assert "line 30 of it" in record.rows[record.cursor].text
            assert "line 30 of it" in text_of(app)
            await pilot.press("e")
            await until(pilot, lambda: "Record, line 4" in record.rows[0].text)
            assert "src/limits.py:99" in record.rows[record.cursor].text

    run(main())


def test_an_entry_that_is_missing_leads_to_the_reply(
    browse: Browse, own_thread: Callable[..., str]
) -> None:
    """agent-case: the missing entries, in the browser as well."""

    async def main() -> None:
        app = browse(own_thread("Done (entry 4), see entries 19-30.", 18))
        async with shown(app, (120, 40)) as pilot:
            await until(pilot, lambda: "✗ contradicted: entries 19-30" in text_of(app))
            assert "cited but not in this conversation: entries 19–30 (12)" in text_of(app)
            await pilot.press("down", "enter")
            await until(pilot, lambda: "Record, entry 18" in text_of(app))
            assert "> Done (entry 4), see entries 19-30." in text_of(app)

    run(main())


def test_a_session_of_ten_thousand_turns_is_a_list_like_any_other(
    browse: Browse, claude: Callable[..., str]
) -> None:
    """tui: only what is on the screen is drawn."""
    steps = [
        step
        for n in range(10_000)
        for step in ({"prompt": f"Prompt {n}"}, {"reply": f"See src/gone.py:{n + 1}."})
    ]

    async def main() -> None:
        app = browse(claude(*steps))
        async with shown(app) as pilot:
            await until(pilot, lambda: len(app.query_one("#found", Lines).rows) == 20_000)
            await pilot.press("end")
            assert "src/gone.py:10000" in text_of(app)
            await pilot.press("home", *["pagedown"] * 20)
            assert sum(1 for _ in app.screen.walk_children()) < 40

    run(main())


def test_hostile_words_of_a_session_are_written_out(
    browse: Browse, claude: Callable[..., str]
) -> None:
    """plain-text: nothing of a record steers a terminal."""
    evil = "\x1b]0;owned\x07\u202e[bold]x[/] " + "y" * 100_000
    text = claude(
        {"prompt": evil},
        {"call": "Bash", "id": "b1", "input": {"command": evil}},
        {"result": "b1", "content": evil},
        {"reply": f"At src/a.py:3. {evil}"},
    )

    async def main() -> None:
        app = browse(text)
        async with shown(app) as pilot:
            await until(pilot, lambda: "src/a.py" in text_of(app))
            await pilot.press("down", "enter")
            await until(pilot, lambda: "Record, line" in text_of(app))
            await pilot.press("end", "home")
            assert not set(text_of(app)) & set("\x1b\x07\u202e")
            assert "\\x1b]0;owned\\x07" in text_of(app)

    run(main())


def test_what_cannot_be_read_ends_the_program_with_its_error(
    browse: Browse, claude: Callable[..., str]
) -> None:
    """exit-codes: could not tell."""

    async def main() -> None:
        app = browse(session(claude))

        def gone() -> None:
            raise UnreadableError("the file went away")

        app._session.read = gone  # type: ignore[method-assign]
        async with app.run_test() as pilot:
            for _ in range(200):
                if app.failure is None:
                    await pilot.pause(0.005)
        assert isinstance(app.failure, UnreadableError)
        assert app.outcome == 0

    run(main())


def test_a_session_that_goes_away_is_said(browse: Browse, claude: Callable[..., str]) -> None:
    """errors: unavailability is an error with advice, not a crash."""

    async def main() -> None:
        app = browse(session(claude))
        async with shown(app) as pilot:
            await until(pilot, lambda: "turn 2" in text_of(app))

            def gone(_: int) -> None:
                raise UnreadableError("the file went away")

            app._session.standing = gone  # type: ignore[method-assign,assignment]
            await pilot.press("down", "enter")
            await until(pilot, lambda: "the file went away" in text_of(app))

    run(main())


def test_the_keys_are_told(browse: Browse, claude: Callable[..., str]) -> None:
    """tui: keys shown."""

    async def main() -> None:
        app = browse(session(claude))
        async with shown(app) as pilot:
            await until(pilot, lambda: "turn 2" in text_of(app))
            await pilot.press("f1")
            assert "the next finding" in text_of(app)
            await pilot.press("escape", "n", "n", "n", "n")
            assert "no further finding" in text_of(app)

    run(main())


def test_the_samples_are_json_lines(claude: Callable[..., str]) -> None:
    """tui: The sessions of these tests are what the harness writes."""
    assert all(json.loads(line) for line in session(claude).splitlines())
