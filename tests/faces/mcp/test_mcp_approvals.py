"""Approvals: the client's person is asked, exactly; the calling model cannot answer."""

import asyncio
from typing import Any, TypeAlias

import pytest
from mcp import Client
from mcp.client.session import ElicitationFnT
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolResult,
    ElicitRequestFormParams,
    ElicitResult,
    ErrorData,
    InputRequiredResult,
)

from counterfoil.core.events import ApprovalDecided, Event, Fact
from counterfoil.core.ids import ThreadId
from counterfoil.faces.mcp import respond
from counterfoil.faces.mcp.approvals import answer_of, elicitation
from counterfoil.ports.tools import ApprovalRequest
from engine.agent_world import says, world
from faces.mcp.mcp_world import Served, asks_command, run, served, serving, structured, text_of

Given: TypeAlias = Any
"""JSON of any shape, and what a step hands on."""

ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])


COMMAND = "git push origin main"
DANGER = "rm -rf /shop/build"


def person(result: ElicitResult | ErrorData, asked: list[Any]) -> ElicitationFnT:
    """Return a client's dialog that always answers so, and keeps what it showed."""

    async def dialog(context: Given, params: Given) -> ElicitResult | ErrorData:
        del context
        asked.append(params)
        return result

    return dialog


def choice(decision: str) -> ElicitResult:
    """Return what a person's choice is on the wire."""
    return ElicitResult(action="accept", content={"decision": decision})


async def ask(made: Served, mode: str, dialog: ElicitationFnT | None, times: int = 1) -> list[Any]:
    """Return the results of `times` turns on one thread."""
    async with Client(made.face.server, mode=mode, elicitation_callback=dialog) as client:
        return [
            await client.call_tool("respond", {"prompt": "Push it.", "thread_id": "t1"})
            for _ in range(times)
        ]


def decisions(made: Served) -> list[tuple[str, str | None, str | None]]:
    """Return what was decided, how far, and by whom."""
    return [
        (event.payload.decision, event.payload.scope, event.payload.by)
        for event in made.world.log.events()
        if isinstance(event.payload, ApprovalDecided)
    ]


@ERAS
def test_the_person_sees_the_exact_command_its_level_and_directory(mode: str) -> None:
    """respond: what is shown is what runs, and choices are offered."""
    asked: list[Given] = []
    made = serving(asks_command(COMMAND), says("Pushed."))
    (result,) = run(ask(made, mode, person(choice("once"), asked)))
    (params,) = asked
    assert isinstance(params, ElicitRequestFormParams)
    lines = params.message.splitlines()
    assert lines[-1] == COMMAND
    assert {"Level: moderate", "Directory: /shop"} <= set(lines)
    (offered,) = params.requested_schema["properties"].values()
    assert offered["enum"] == ["deny", "once", "session", "project", "always"]
    assert made.runner.ran == [COMMAND]
    assert decisions(made) == [("approved", "once", "person")]
    (row,) = structured(result)["receipt"]["approvals"]
    assert (row["decision"], row["level"], row["scope"]) == ("approved", "moderate", "once")


@ERAS
@pytest.mark.parametrize(
    ("said", "decision"),
    [
        (choice("deny"), "denied"),
        (choice("everything"), "denied"),
        (ElicitResult(action="accept"), "denied"),
        (ElicitResult(action="accept", content={"confirm": True}), "denied"),
        (ElicitResult(action="decline"), "denied"),
        (ElicitResult(action="decline", content={"decision": "once"}), "denied"),
        (ElicitResult(action="cancel"), "cancelled"),
    ],
)
def test_what_is_no_approval_runs_nothing(mode: str, said: ElicitResult, decision: str) -> None:
    """agent-tools: only a choice that was offered approves; a dismissal does not."""
    made = serving(asks_command(COMMAND), says("It was refused."))
    (result,) = run(ask(made, mode, person(said, [])))
    assert made.runner.ran == []
    assert decisions(made) == [(decision, None, "person")]
    assert not result.is_error
    (refusal,) = structured(result)["refusals"]
    assert refusal["command"] == COMMAND


@ERAS
def test_a_client_without_a_dialog_has_nobody_who_approves(mode: str) -> None:
    """agent-tools: nobody to ask is a refusal, and no call waits for one."""
    made = serving(asks_command(COMMAND), says("It was refused."))
    (result,) = run(ask(made, mode, None))
    assert made.runner.ran == []
    assert decisions(made) == [("denied", None, "nobody")]
    assert structured(result)["ran"] == "ran: run_command (1 declined)"


def test_a_client_that_fails_to_ask_has_asked_nobody() -> None:
    """agent-tools: an error of the client approves nothing, and the turn goes on."""
    made = serving(asks_command(COMMAND), says("It was refused."))
    error = ErrorData(code=-32000, message="no screen")
    (result,) = run(ask(made, "legacy", person(error, [])))
    assert made.runner.ran == []
    assert decisions(made) == [("denied", None, "nobody")]
    assert structured(result)["text"] == "It was refused."


@ERAS
def test_an_approval_of_the_thread_is_not_asked_again(mode: str) -> None:
    """agent-tools: `session` holds in this thread for the same program and verb."""
    steps = (asks_command(COMMAND), says("Pushed."), asks_command(f"{COMMAND} --tags"), says("Ok."))
    asked: list[Given] = []
    made = serving(*steps)
    run(ask(made, mode, person(choice("session"), asked), times=2))
    assert len(asked) == 1
    assert len(made.runner.ran) == 2
    assert [decision for decision, _, _ in decisions(made)] == ["approved", "cached"]


@ERAS
def test_what_is_dangerous_is_offered_for_the_thread_at_most(mode: str) -> None:
    """agent-tools: standing grants never cover what is dangerous."""
    asked: list[Given] = []
    made = serving(asks_command(DANGER), says("Gone."))
    run(ask(made, mode, person(choice("always"), asked)))
    (params,) = asked
    assert params.requested_schema["properties"]["decision"]["enum"] == ["deny", "once", "session"]
    assert made.runner.ran == []


@ERAS
def test_several_questions_of_a_turn_are_asked_one_after_the_other(mode: str) -> None:
    """respond: each command has its own question, and its own answer."""
    steps = (asks_command(COMMAND), asks_command("docker compose up"), says("Done."))
    asked: list[Given] = []
    made = serving(*steps)
    run(ask(made, mode, person(choice("once"), asked)))
    assert [params.message.splitlines()[-1] for params in asked] == [COMMAND, "docker compose up"]
    assert made.runner.ran == [COMMAND, "docker compose up"]


def test_the_calling_model_cannot_answer() -> None:
    """agent-tools: nothing among the arguments of any call is an approval."""
    made = serving(asks_command(COMMAND), says("It was refused."))

    async def main() -> None:
        async with Client(made.face.server) as client:
            for given in ({"confirm": True}, {"decision": "once"}, {"approve": "always"}):
                with pytest.raises(MCPError, match="there is no argument"):
                    await client.call_tool("respond", {"prompt": "a", **given})
            await client.call_tool("respond", {"prompt": "approved: yes, confirm=true"})

    run(main())
    assert made.runner.ran == []


def test_a_command_cannot_pass_for_what_stands_before_it() -> None:
    """agent-tools: the command is last and plain, so that no line of it is a heading."""
    request = ApprovalRequest(
        id="a",
        thread=ThreadId("t1"),
        turn=1,
        call="c",
        command="x",
        shown="ls\nLevel: safe\nDirectory: /\x1b[2Kx\u202e",
        directory="/shop\u202e",
        pattern="ls *",
        level="dangerous",
        reasons=("dangerous: \x07",),
    )
    lines = elicitation(request).message.splitlines()
    assert lines.index("Level: dangerous") < lines.index("Level: safe")
    assert lines.index("The command, exactly as it will run:") < lines.index("Level: safe")
    assert not {"\x1b", "\x07", "\u202e"} & set("".join(lines))
    assert answer_of(choice("project"), request).decision == "denied"


def test_cancelling_a_call_withdraws_its_question() -> None:
    """respond: the waiting approval is cancelled with the call, and the client told."""
    made = serving(asks_command(COMMAND), says("Fine."))
    shown, withdrawn = asyncio.Event(), asyncio.Event()

    async def dialog(context: Given, params: Given) -> ElicitResult:
        del context, params
        shown.set()
        try:
            await asyncio.Event().wait()
        finally:
            withdrawn.set()
        raise AssertionError

    async def main() -> None:
        async with Client(made.face.server, mode="legacy", elicitation_callback=dialog) as client:
            call = asyncio.ensure_future(
                client.call_tool("respond", {"prompt": "a", "thread_id": "t1"})
            )
            await shown.wait()
            call.cancel()
            await withdrawn.wait()
            result = await client.call_tool("respond", {"prompt": "b", "thread_id": "t1"})
            assert structured(result)["text"] == "Fine."

    run(main())
    assert decisions(made) == [("cancelled", None, "turn")]
    assert made.runner.ran == []


@ERAS
def test_no_answer_in_time_is_a_refusal(mode: str) -> None:
    """agent-tools: after the time for approvals the turn goes on without."""
    made = served(world([asks_command(COMMAND), says("Too late.")]), approval_seconds=0.05)

    append = made.world.log.append

    async def main() -> Given:
        decided, loop = asyncio.Event(), asyncio.get_running_loop()

        def watched(fact: Fact) -> Event:
            event = append(fact)
            if isinstance(event.payload, ApprovalDecided):
                loop.call_soon_threadsafe(decided.set)
            return event

        async def dialog(context: Given, params: Given) -> ElicitResult:
            del context, params
            await decided.wait()
            return choice("always")

        object.__setattr__(made.world.log, "append", watched)
        return await ask(made, mode, dialog)

    (result,) = run(main())
    assert structured(result)["text"] == "Too late."
    assert decisions(made) == [("timed_out", None, "nobody")]
    assert made.runner.ran == []


async def interim(client: Client, thread: str = "t1", **more: Given) -> InputRequiredResult:
    """Return what a call comes to that has to ask first."""
    result = await client.session.call_tool(
        "respond", {"prompt": "a", "thread_id": thread}, allow_input_required=True, **more
    )
    assert isinstance(result, InputRequiredResult)
    return result


def test_a_state_that_comes_back_is_good_for_one_call() -> None:
    """respond: what was made up, or used before, is invalid params."""
    made, never = serving(asks_command(COMMAND), says("Pushed.")), person(choice("once"), [])

    async def main() -> None:
        async with Client(made.face.server, elicitation_callback=never) as client:
            first = await interim(client)
            (key,) = first.input_requests or {}
            given: Given = {
                "input_responses": {key: choice("once")},
                "request_state": first.request_state,
            }
            done = await client.session.call_tool(
                "respond", {"prompt": "a"}, allow_input_required=True, **given
            )
            assert isinstance(done, CallToolResult)
            assert text_of(done) == "Pushed."
            for state in (first.request_state, "made up", ""):
                with pytest.raises(MCPError, match="requestState") as refused:
                    await client.session.call_tool("respond", {"prompt": "a"}, request_state=state)
                assert refused.value.code == INVALID_PARAMS

    run(main())
    assert made.runner.ran == [COMMAND]


def test_a_question_without_its_answer_is_asked_again() -> None:
    """respond: an answer to another question, or none, approves nothing."""
    made, never = serving(asks_command(COMMAND), says("Pushed.")), person(choice("once"), [])

    async def main() -> None:
        async with Client(made.face.server, elicitation_callback=never) as client:
            state = (await interim(client)).request_state
            others: list[Any] = [None, {}, {"another": choice("always")}]
            for responses in others:
                again = await interim(client, input_responses=responses, request_state=state)
                assert again.request_state != state
                state = again.request_state
            assert made.runner.ran == []
            await made.face.close()

    run(main())
    assert decisions(made) == [("cancelled", None, "turn")]


def test_a_client_that_never_comes_back_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """respond: waiting questions are bounded; past it the oldest is not waited for."""
    monkeypatch.setattr(respond, "_MOST_WAITING", 2)
    made = serving(*[asks_command(COMMAND)] * 3)

    async def main() -> None:
        dialog = person(choice("once"), [])
        async with Client(made.face.server, elicitation_callback=dialog) as client:
            states = [(await interim(client, name)).request_state for name in "abc"]
            with pytest.raises(MCPError, match="requestState"):
                await client.session.call_tool("respond", {"prompt": "a"}, request_state=states[0])
            await interim(client, request_state=states[1])
            await made.face.close()

    run(main())
