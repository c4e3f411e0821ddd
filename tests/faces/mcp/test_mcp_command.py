"""`counterfoil mcp` as it is installed: real record, real checks, real pipes."""

import asyncio
import json
import os
import stat
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import ElicitResult

from faces.mcp.mcp_world import read_json, structured, text_of

Run = Callable[..., tuple[int, bytes, str]]
Write = Callable[..., Path]
Steps = Callable[..., str]
Given: TypeAlias = Any
"""JSON of any shape."""
T = TypeVar("T")


def bounded(main: Coroutine[Given, Given, T]) -> T:
    """Run `main` to its end, or fail after a bounded time."""
    return asyncio.run(asyncio.wait_for(main, 60))


@pytest.fixture
def served(environment: dict[str, str], tmp_path: Path, write: Write) -> Callable[..., Client]:
    """Return a client of the command whose model takes the steps that are given."""

    def client(*steps: dict[str, Given], **more: Given) -> Client:
        script = write("".join(f"{json.dumps(step)}\n" for step in steps), "script.jsonl")
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-W", "always", "-m", "counterfoil", "mcp", "--model", f"scripted:{script}"],
            env=environment,
            cwd=tmp_path,
        )
        return Client(stdio_client(parameters), **more)

    return client


async def yes(context: Given, params: Given) -> ElicitResult:
    """Approve once: without confinement every command is asked about."""
    del context, params
    return ElicitResult(action="accept", content={"decision": "once"})


def test_a_turn_runs_and_its_receipt_can_be_verified(served: Callable[..., Client]) -> None:
    """respond: command, receipt, ledger, and the same thread from another process."""
    steps = [
        {"call": [{"tool": "run_command", "arguments": {"command": "ls"}}]},
        {"say": "There is a script (entry 3). See entries 8-9."},
    ]

    async def main() -> None:
        async with served(*steps, elicitation_callback=yes) as client:
            said = structured(
                await client.call_tool("respond", {"prompt": "Look.", "thread_id": "t1"})
            )
            assert said["ran"] == "ran: run_command"
            assert said["calls"][0]["exitStatus"] == 0
            assert "script.jsonl" in said["calls"][0]["output"]
            assert said["unknownEntries"] == [8, 9]
        async with served({"say": "Fine."}) as client:
            given = {"receipt": said["receipt"]}
            assert structured(await client.call_tool("verify", given))["verdict"] == "matches"
            again = {"prompt": "And?", "thread_id": "t1"}
            later = structured(await client.call_tool("respond", again))
            assert (later["created"], later["receipt"]["turn"]) == (False, 2)

    bounded(main())


def test_an_approval_reaches_the_person_and_stands_where_it_was_given(
    served: Callable[..., Client],
) -> None:
    """respond: `project` is remembered in the home for the next process."""
    steps = [
        {"call": [{"tool": "run_command", "arguments": {"command": "mkdir made"}}]},
        {"say": "Made."},
    ]
    asked: list[str] = []

    async def dialog(context: Given, params: Given) -> ElicitResult:
        del context
        asked.append(params.message.splitlines()[-1])
        return ElicitResult(action="accept", content={"decision": "project"})

    async def main() -> None:
        for _ in range(2):
            async with served(*steps, elicitation_callback=dialog) as client:
                status = await read_json(client, "counterfoil://status")
                if status["sandbox"] == "none":
                    pytest.skip("without confinement the command is dangerous, and never granted")
                result = await client.call_tool("respond", {"prompt": "Make it."})
                assert structured(result)["receipt"]["commands"][0]["command"] == "mkdir made"

    bounded(main())
    assert asked == ["mkdir made"]


def test_checks_are_those_of_the_command_line(
    served: Callable[..., Client], run: Run, write: Write, claude: Steps
) -> None:
    """respond: the JSON of `check --json`, `kb lint --json`, `kb resolve --json`."""
    session = claude({"prompt": "go"}, {"reply": "Done, see entry 99."})
    write(session + '{"torn', "session.jsonl")
    run("kb", "init", "--demo", "demo")
    _, lint, _ = run("kb", "lint", "--root", "demo/shared", "--json")
    handles = ("here::nope", "nope")
    _, resolved, _ = run("kb", "resolve", "--root", "demo/shared", "--json", *handles)
    _, checked, _ = run("check", "--json", "session.jsonl")

    async def main() -> None:
        async with served() as client:
            result = await client.call_tool("check", {"path": "session.jsonl"})
            assert structured(result) == json.loads(checked)
            result = await client.call_tool("kb_lint", {"root": "demo/shared"})
            found, expected = structured(result), json.loads(lint)
            assert {**found, "findings": []} == {**expected, "findings": []}
            assert len(found["findings"]) == len(expected["findings"])
            given = {"root": "demo/shared", "handles": [*handles]}
            result = await client.call_tool("kb_resolve", given)
            found, expected = structured(result), json.loads(resolved)
            assert [row["verdict"] for row in found["resolutions"]] == [
                row["verdict"] for row in expected["resolutions"]
            ]
            for path in ("/etc/passwd", "../x", "nope"):
                result = await client.call_tool("check", {"path": path})
                assert text_of(result) == f"nothing named {path!r} below the roots of the server"

    bounded(main())


def test_no_model_is_told_at_the_first_turn(environment: dict[str, str], tmp_path: Path) -> None:
    """respond: the record can be read without any; a turn says what is missing."""
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "counterfoil", "mcp"], env=environment, cwd=tmp_path
    )

    async def main() -> None:
        async with Client(stdio_client(parameters)) as client:
            assert (await client.read_resource("counterfoil://threads")).contents
            result = await client.call_tool("respond", {"prompt": "Hello?"})
            assert result.is_error
            assert "no model is named" in text_of(result)

    bounded(main())


def test_only_loopback_is_served(run: Run, environment: dict[str, str]) -> None:
    """respond: elsewhere is misuse or cannot be had, in one line; no token is shown."""
    code, output, error = run("mcp", "--http", "0", "--host", "0.0.0.0", "--model", "x")
    assert (code, output) == (3, b"")
    assert "'0.0.0.0' is no loopback address" in error
    token = Path(environment["COUNTERFOIL_HOME"]) / "mcp-token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert token.read_text().strip() not in error
    assert os.access(token, os.R_OK)
