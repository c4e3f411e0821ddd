"""The tool `respond`: replies, receipts, refusals, failures, order, progress, cancelling."""

import asyncio
import json
from collections import Counter
from threading import Barrier
from typing import Any, TypeAlias

import jsonschema
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from counterfoil.core.context import MOST_OUTPUT
from counterfoil.core.errors import UnavailableError
from counterfoil.core.ids import ThreadId
from counterfoil.core.receipt import fold_receipt
from counterfoil.engine.threads import Threads
from counterfoil.faces.mcp.fitting import fit
from counterfoil.faces.mcp.opened import MOST_OPEN
from counterfoil.faces.mcp.schemas import RESPOND_RESULT, TOOLS
from counterfoil.ports.tools import ToolAnswer
from counterfoil.wire.receipt import receipt_to_json
from engine.agent_world import (
    CASE_PROMPTS,
    MISSING_LINE,
    RAN_LINE,
    REPORT,
    StepModel,
    TableTool,
    calls,
    case_section_8,
    says,
    world,
)
from faces.mcp.mcp_world import (
    Served,
    asks_command,
    echoing,
    read_json,
    run,
    served,
    serving,
    structured,
    text_of,
)

Given: TypeAlias = Any
"""JSON of any shape, and what a step hands on."""

ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])


@ERAS
def test_the_case_of_the_specification_lists_the_missing_entries(mode: str) -> None:
    """agent-case: `respond` lists 19 to 30 in `unknownEntries`, and no existing one."""
    made = served(case_section_8())

    async def main() -> Given:
        async with Client(made.face.server, mode=mode) as client:
            for prompt in CASE_PROMPTS:
                result = await client.call_tool("respond", {"prompt": prompt, "thread_id": "t1"})
            return result

    result = run(main())
    said = structured(result)
    assert text_of(result) == said["text"] == REPORT
    assert said["unknownEntries"] == [*range(19, 31)]
    assert (said["ran"], said["cited"]) == (RAN_LINE, MISSING_LINE)
    assert said["citedEntries"] == {"checked": 15, "missing": 12, "unchecked": 0}
    assert not result.is_error
    jsonschema.validate(said, RESPOND_RESULT)


def test_a_receipt_is_the_fold_of_the_stored_events() -> None:
    """two-drivers: what is handed out equals, byte for byte, what the ledger gives."""
    made = served(case_section_8())

    async def main() -> None:
        async with Client(made.face.server) as client:
            for turn, prompt in enumerate(CASE_PROMPTS, start=1):
                result = await client.call_tool("respond", {"prompt": prompt, "thread_id": "t1"})
                given = structured(result)["receipt"]
                events = made.world.log.events_of(ThreadId("t1"), turn)
                assert given == receipt_to_json(fold_receipt(events, "t1", turn))
                uri = f"counterfoil://threads/t1/turns/{turn}/receipt"
                assert await read_json(client, uri) == given

    run(main())


def test_the_first_turn_creates_a_thread_and_the_next_does_not() -> None:
    """respond: `created` is about this call; a thread without an id gets one."""
    made = serving(says("One."), says("Two."), says("Three."))

    async def main() -> list[Any]:
        async with Client(made.face.server) as client:
            first = structured(await client.call_tool("respond", {"prompt": "a"}))
            again = {"prompt": "b", "thread_id": first["thread_id"]}
            second = structured(await client.call_tool("respond", again))
            closed = {"thread_id": first["thread_id"]}
            for expected in (True, False):
                result = await client.call_tool("close_thread", closed)
                assert structured(result) == {**closed, "closed": expected}
            third = structured(await client.call_tool("respond", again))
            return [first, second, third]

    found = run(main())
    assert [one["created"] for one in found] == [True, False, False]
    assert len({one["thread_id"] for one in found}) == 1
    assert [one["receipt"]["turn"] for one in found] == [1, 2, 3]


def test_a_refusal_inside_the_turn_is_no_error() -> None:
    """respond: what the policy denied is in `refusals`, and the result is one."""
    made = serving(asks_command("sudo id"), says("It was refused."))

    async def main() -> Given:
        async with Client(made.face.server) as client:
            return await client.call_tool("respond", {"prompt": "Who am I?"})

    result = run(main())
    said = structured(result)
    assert not result.is_error
    (refusal,) = said["refusals"]
    assert refusal["command"] == "sudo id"
    assert "privilege" in refusal["reason"]
    assert said["ran"] == "ran: run_command (1 denied)"
    assert made.runner.ran == []


@ERAS
def test_a_failed_turn_is_an_error_with_its_receipt(mode: str) -> None:
    """respond: a failed turn is `isError` with its receipt in structured content."""
    made = serving(UnavailableError("no model at the other end"))

    async def main() -> Given:
        async with Client(made.face.server, mode=mode) as client:
            return await client.call_tool("respond", {"prompt": "Hello?", "thread_id": "t1"})

    result = run(main())
    said = structured(result)
    assert result.is_error
    assert text_of(result) == "the turn failed: no model at the other end"
    assert (said["text"], said["cited"], said["citedEntries"]) == ("", None, None)
    assert said["receipt"]["errors"] == [{"message": "no model at the other end", "where": "turn"}]
    assert said["receipt"]["complete"]
    jsonschema.validate(said, RESPOND_RESULT)


def test_outputs_stand_inline_up_to_their_bound() -> None:
    """respond: an output of 1,024 bytes is inline, a longer one has a URI."""
    sizes = (0, 1023, 1024, 1025, MOST_OUTPUT + 1)
    tool = TableTool(
        "size", lambda given, _: ToolAnswer(output="é" * 0 + "x" * int(str(given["what"])))
    )
    asked = calls(*(("size", json.dumps({"what": str(size)})) for size in sizes))
    made = served(world([asked, says("Done.")], tool))

    async def main() -> None:
        async with Client(made.face.server) as client:
            result = await client.call_tool("respond", {"prompt": "a", "thread_id": "t1"})
            found = structured(result)["calls"]
            assert [one["bytes"] for one in found] == [*sizes]
            assert ["output" in one for one in found] == [True, True, True, False, False]
            for call in found[3:]:
                assert call["outputURI"] == f"counterfoil://threads/t1/output/{call['event']}"
                pages = [await read_json(client, call["outputURI"])]
                while pages[-1]["next"]:
                    pages.append(await read_json(client, pages[-1]["next"]))
                assert "".join(page["text"] for page in pages) == "x" * call["bytes"]
                assert {page["total"] for page in pages} == {call["bytes"]}

    run(main())


def test_a_reply_by_schema_is_returned_as_json() -> None:
    """respond: `output` is the reply as JSON where a schema was given, else null."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    made = serving(says('{"n": 3}'), says("no JSON"), says('{"n": NaN}'), says('{"n": 3}'))

    async def main() -> list[Any]:
        async with Client(made.face.server) as client:
            given = [{"schema": schema}] * 3 + [{}]
            return [
                structured(await client.call_tool("respond", {"prompt": "n?", **one}))["output"]
                for one in given
            ]

    assert run(main()) == [{"n": 3}, None, None, None]
    assert [request.schema for request in made.world.model.asked] == [schema] * 3 + [None]


MALFORMED: dict[str, tuple[dict[str, Any], str]] = {
    "no prompt": ({}, "argument 'prompt' is missing"),
    "a blank prompt": ({"prompt": " \n"}, "argument 'prompt' is blank"),
    "a prompt of another kind": ({"prompt": 3}, "argument 'prompt' is 3, not text"),
    "an unknown argument": ({"prompt": "a", "confirm": True}, "there is no argument 'confirm'"),
    "tools of another kind": ({"prompt": "a", "tools": "x"}, "'tools' is the text \"x\", not list"),
    "a tool of another kind": ({"prompt": "a", "tools": [1]}, "argument 'tools[0]' is 1"),
    "a schema of another kind": ({"prompt": "a", "schema": []}, "argument 'schema' is a list"),
    "an encoded way up": ({"prompt": "a", "thread_id": "..%2f..%2fx"}, "thread id '..%2f..%2fx'"),
    "a way up": ({"prompt": "a", "thread_id": "a/../../b"}, "thread id 'a/../../b'"),
    "dots": ({"prompt": "a", "thread_id": ".."}, "thread id '..'"),
    "no id": ({"prompt": "a", "thread_id": ""}, "thread id ''"),
    "a long id": ({"prompt": "a", "thread_id": "x" * 65}, "thread id 'xxx"),
    "a bad parent": ({"prompt": "a", "parent_thread_id": "a b"}, "'parent_thread_id': thread id"),
    "half a character": ({"prompt": "a\ud800"}, "half a character"),
}


@pytest.mark.parametrize("case", MALFORMED)
@ERAS
def test_malformed_arguments_are_invalid_params_with_one_message(mode: str, case: str) -> None:
    """respond: what is malformed is refused before anything is opened."""
    arguments, expected = MALFORMED[case]
    made = serving()

    async def main() -> MCPError:
        async with Client(made.face.server, mode=mode) as client:
            with pytest.raises(MCPError) as refused:
                await client.call_tool("respond", arguments)
            return refused.value

    error = run(main())
    assert error.code == INVALID_PARAMS
    assert expected in error.message
    assert "\n" not in error.message
    assert [*made.world.log.events()] == []


def test_an_unknown_tool_is_invalid_params() -> None:
    """respond: the error names the tools that there are."""
    made = serving()

    async def main() -> MCPError:
        async with Client(made.face.server) as client:
            with pytest.raises(MCPError, match="no tool 'approve'") as refused:
                await client.call_tool("approve", {})
            return refused.value

    error = run(main())
    assert error.code == INVALID_PARAMS
    assert all(tool.name in error.message for tool in TOOLS)


def test_what_only_a_thread_that_starts_can_be_told_is_an_error_later() -> None:
    """respond: instructions, tools and model are for the first turn alone."""
    made = serving(says("One."), says("Two."))

    async def main() -> None:
        async with Client(made.face.server) as client:
            await client.call_tool("respond", {"prompt": "a", "thread_id": "t1", "tools": []})
            late: dict[str, Given]
            started: list[dict[str, Given]] = [{"tools": []}, {"instructions": "x"}, {"model": "m"}]
            for given in started:
                late = {"prompt": "b", "thread_id": "t1", **given}
                result = await client.call_tool("respond", late)
                assert result.is_error
                assert "thread 't1' has started" in text_of(result)
                assert result.structured_content is None
            for given, expected in (
                ({"tools": ["nope"]}, "no tool 'nope'"),
                ({"model": "nope"}, "no model 'nope'"),
                ({"parent_thread_id": "nope"}, "no thread 'nope'"),
            ):
                result = await client.call_tool("respond", {"prompt": "b", **given})
                assert result.is_error
                assert expected in text_of(result)
            await client.call_tool("close_thread", {"thread_id": "t1"})
            result = await client.call_tool("respond", {"prompt": "b", "thread_id": "T1"})
            assert "letter case" in text_of(result)
            assert not (
                await client.call_tool("respond", {"prompt": "c", "thread_id": "t1"})
            ).is_error

    run(main())
    (request, _) = made.world.model.asked
    assert request.tools == ()


def test_a_thread_has_exactly_the_tools_and_words_that_it_was_given() -> None:
    """respond: `tools` is the exact list; instructions stand first."""
    made = serving(says("One."))

    async def main() -> None:
        async with Client(made.face.server) as client:
            given = {"prompt": "a", "tools": ["memory"], "instructions": "Be long."}
            await client.call_tool("respond", given)

    run(main())
    (request,) = made.world.model.asked
    assert [spec.name for spec in request.tools] == ["memory"]
    assert request.messages[0].text == "Be long."


def test_another_holder_of_the_thread_is_named() -> None:
    """turns: a thread that another process runs is a conflict, told as a result."""
    made = serving(says("One."))

    async def main() -> None:
        with made.world.leases.hold(ThreadId("t1")):
            async with Client(made.face.server) as client:
                result = await client.call_tool("respond", {"prompt": "a", "thread_id": "t1"})
        assert result.is_error
        assert "'t1'" in text_of(result)

    run(main())


async def _many(made: Served, threads: list[str]) -> None:
    """Ask all at once, each by a prompt of its own, and check that no receipt holds another's."""
    async with Client(made.face.server, mode="legacy") as client:

        async def one(number: int, thread: str) -> Given:
            prompt = f"fact-{number:03}"
            result = await client.call_tool("respond", {"prompt": prompt, "thread_id": thread})
            return number, thread, structured(result)

        found = await asyncio.gather(*(one(*asked) for asked in enumerate(threads)))
    for number, thread, said in found:
        mine = f"fact-{number:03}"
        assert said["text"] == f"done {mine}"
        assert said["receipt"]["thread"] == thread
        assert [row["arguments"] for row in said["receipt"]["tools"]] == [
            json.dumps({"what": mine})
        ]
        assert [call["output"] for call in said["calls"]] == [f"noted {mine}"]
        assert json.dumps(said).count("fact-") == json.dumps(said).count(mine)
    for thread in set(threads):
        turns = [(said["receipt"]["turn"], number) for number, of, said in found if of == thread]
        assert sorted(turns) == sorted(
            zip(range(1, len(turns) + 1), sorted(n for _, n in turns), strict=True)
        )
    assert sum(said["created"] for _, _, said in found) == len(set(threads))


def test_fifty_calls_on_one_thread_run_in_order_of_arrival() -> None:
    """respond: one at a time, in order of arrival; no receipt holds another's fact."""
    run(_many(served(echoing()), ["t1"] * 50))


def test_fifty_calls_on_many_threads_run_beside_each_other() -> None:
    """respond: threads in parallel, also more of them than can be open."""
    made = served(echoing())
    run(_many(made, [f"t{number}" for number in range(50)]))
    assert len(made.services.agent.threads.open_threads) <= MOST_OPEN


def test_fifty_calls_on_a_few_threads_keep_the_order_of_each() -> None:
    """respond: both at once."""
    run(_many(served(echoing()), [f"t{number % 7}" for number in range(50)]))


def test_tools_of_many_threads_block_beside_each_other() -> None:
    """respond: threads in parallel, however long their tools block."""
    together = Barrier(MOST_OPEN, timeout=10)

    def meet(_: Given, __: Given) -> ToolAnswer:
        together.wait()
        return ToolAnswer(output="met")

    made = served(echoing())
    made.world.tools["note"] = TableTool("note", meet)

    async def main() -> None:
        async with Client(made.face.server) as client:
            asked = [{"prompt": "x", "thread_id": f"t{number}"} for number in range(MOST_OPEN)]
            found = await asyncio.gather(*(client.call_tool("respond", one) for one in asked))
            outcomes = [
                row["outcome"] for one in found for row in structured(one)["receipt"]["tools"]
            ]
            assert outcomes == ["ok"] * MOST_OPEN

    run(main())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_fault_of_ours_is_told_as_one(mode: str, caplog: pytest.LogCaptureFixture) -> None:
    """respond: no traceback reaches a client, and the next call is served."""
    made = serving()

    def broken(*_: object) -> bytes:
        raise RuntimeError("the inside of it")

    object.__setattr__(made.services, "check", broken)
    object.__setattr__(made.services.agent, "config", broken)

    async def main() -> None:
        async with Client(made.face.server, mode=mode) as client:
            for call in (
                client.call_tool("check", {"text": "x"}),
                client.read_resource("counterfoil://config"),
            ):
                with pytest.raises(MCPError, match="an internal error") as refused:
                    await call
                assert refused.value.code == INTERNAL_ERROR
                assert "inside" not in refused.value.message
            await client.list_tools()

    run(main())
    assert "the inside of it" in caplog.text


@ERAS
def test_progress_carries_the_tool_lines(mode: str) -> None:
    """respond: progress notifications carry the tool lines, when asked for."""
    made = serving(asks_command("make\x1b[31m"), asks_command("sudo id"), says("Done."))
    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        heard.append((progress, message))

    async def main() -> None:
        async with Client(made.face.server, mode=mode) as client:
            await client.call_tool("respond", {"prompt": "a"}, progress_callback=hear)
            await client.call_tool("close_thread", {"thread_id": "x"}, progress_callback=hear)

    run(main())
    assert [number for number, _ in heard] == [*range(1, len(heard) + 1)]
    lines = [line or "" for _, line in heard]
    assert lines[0] == 'run_command {"command": "make\\u001b[31m"}'
    assert any(line.startswith("denied by the policy") for line in lines)
    assert "run_command: denied" in lines
    assert all("\x1b" not in line for line in lines)


@ERAS
def test_cancelling_a_call_cancels_its_turn(mode: str) -> None:
    """respond: the turn ends, its record is closed, and the thread goes on."""
    made = serving("Thinking…", says("Fine."))

    async def main() -> Given:
        async with Client(made.face.server, mode=mode) as client:
            asked = {"prompt": "a", "thread_id": "t1"}
            call = asyncio.ensure_future(client.call_tool("respond", asked))
            await made.world.model.waiting.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            return structured(await client.call_tool("respond", {**asked, "prompt": "b"}))

    said = run(main())
    assert (said["text"], said["receipt"]["turn"]) == ("Fine.", 2)
    first = made.views.receipt(ThreadId("t1"), 1)
    assert first.complete
    assert [row.where for row in first.errors] == ["turn"]


def test_cancelling_a_call_that_waits_for_its_place_begins_no_turn() -> None:
    """respond: what is cancelled in the queue never runs."""
    made = serving("Thinking…", says("Fine."))

    async def main() -> None:
        async with Client(made.face.server, mode="legacy") as client:
            asked = {"thread_id": "t1"}
            first = asyncio.ensure_future(client.call_tool("respond", {"prompt": "a", **asked}))
            await made.world.model.waiting.wait()
            second = asyncio.ensure_future(client.call_tool("respond", {"prompt": "b", **asked}))
            third = asyncio.ensure_future(client.call_tool("respond", {"prompt": "c", **asked}))
            await client.list_tools()
            for call in (second, first):
                call.cancel()
            assert structured(await third)["receipt"]["turn"] == 2

    run(main())
    prompts = [request.messages[-1].text for request in made.world.model.asked]
    assert prompts == ["a", "c"]


def test_a_client_that_leaves_ends_its_turns() -> None:
    """respond: nothing runs on for nobody, and every thread is closed."""
    made = serving("Thinking…")

    async def main() -> None:
        async with Client(made.face.server, mode="legacy") as client:
            call = asyncio.ensure_future(
                client.call_tool("respond", {"prompt": "a", "thread_id": "t1"})
            )
            await made.world.model.waiting.wait()
        with pytest.raises((MCPError, asyncio.CancelledError)):
            await call
        await made.face.close()

    run(main())
    assert made.services.agent.threads.open_threads == ()
    assert made.views.receipt(ThreadId("t1"), 1).complete


def test_a_record_that_cannot_be_written_is_an_error_without_a_receipt() -> None:
    """respond: what has no record has no receipt, and says why."""
    made = serving(says("One."), says("Two."))

    async def main() -> Given:
        async with Client(made.face.server) as client:
            await client.call_tool("respond", {"prompt": "a", "thread_id": "t1"})

            def broken(_: object) -> None:
                raise UnavailableError("the disk is full")

            made.world.log.append = broken  # type: ignore[method-assign, assignment]
            return await client.call_tool("respond", {"prompt": "b", "thread_id": "t1"})

    result = run(main())
    assert result.is_error
    assert text_of(result) == "the disk is full"


def test_a_thread_that_cannot_be_closed_is_an_error() -> None:
    """respond: a record that cannot be written is told, whichever tool."""
    made = serving(says("One."))

    async def main() -> Given:
        async with Client(made.face.server) as client:
            await client.call_tool("respond", {"prompt": "a", "thread_id": "t1"})

            def broken(_: object) -> None:
                raise UnavailableError("the disk is full")

            object.__setattr__(made.world.log, "append", broken)
            return await client.call_tool("close_thread", {"thread_id": "t1"})

    result = run(main())
    assert result.is_error
    assert text_of(result) == "the disk is full"


def test_half_characters_reach_no_client() -> None:
    """respond: a lone surrogate of a tool or a model is replaced; the answer is whole (C134)."""
    tool = TableTool("odd", ToolAnswer(output="a\udcb2b"))
    made = served(world([calls(("odd", "{}")), says("it said \ud83d")], tool))

    async def main() -> Given:
        async with Client(made.face.server, mode="legacy") as client:
            said = structured(await client.call_tool("respond", {"prompt": "a", "thread_id": "t1"}))
            rows = await read_json(client, "counterfoil://audit/t1")
            assert "a\ufffdb" in json.dumps(rows, ensure_ascii=False)
            return said

    said = run(main())
    assert said["text"] == "it said \ufffd"
    assert said["calls"][0]["output"] == "a\ufffdb"


def test_fitting_changes_nothing_that_fits() -> None:
    """respond: values without half characters are handed on as they are (C134)."""
    value = {"a": ["ü", 1, None, True, 2.5]}
    assert fit(value) is value
    assert fit({"a\udc80": ("\ud800", 1)}) == {"a\ufffd": ["\ufffd", 1]}


def test_the_thread_used_longest_ago_is_closed_for_another() -> None:
    """respond: at most 32 are open; the one that makes room is evicted."""
    made = served(echoing())

    async def main() -> None:
        async with Client(made.face.server) as client:
            for number in range(MOST_OPEN):
                await client.call_tool("respond", {"prompt": "x", "thread_id": f"t{number}"})
            assert len(_open(made.services.agent.threads)) == MOST_OPEN
            await client.call_tool("respond", {"prompt": "x", "thread_id": "t0"})
            await client.call_tool("respond", {"prompt": "x", "thread_id": "another"})
            names = _open(made.services.agent.threads)
            assert len(names) == MOST_OPEN
            assert "t1" not in names
            assert {"t0", "another"} <= names
            again = await client.call_tool("respond", {"prompt": "y", "thread_id": "t1"})
            assert structured(again)["receipt"]["turn"] == 2

    run(main())
    closed = [
        event for event in made.world.log.events() if type(event.payload).__name__ == "ThreadClosed"
    ]
    assert [(event.thread, event.payload.reason) for event in closed] == [  # type: ignore[union-attr]
        ("t1", "evicted"),
        ("t2", "evicted"),
    ]


def _open(threads: Threads) -> set[str]:
    return {str(thread.id) for thread in threads.open_threads}


def test_busy_threads_are_never_closed_for_another() -> None:
    """respond: where all are busy, whoever wants another one waits."""
    made = served(echoing())
    waiting = StepModel(["wait"] * MOST_OPEN)
    made.world.models = {"waiting": waiting}

    async def main() -> Counter[str]:
        async with Client(made.face.server, mode="legacy") as client:
            busy = [
                asyncio.ensure_future(
                    client.call_tool(
                        "respond", {"prompt": "x", "thread_id": f"t{number}", "model": "waiting"}
                    )
                )
                for number in range(MOST_OPEN)
            ]
            while len(waiting.asked) < MOST_OPEN:
                await client.list_tools()
            late = asyncio.ensure_future(
                client.call_tool("respond", {"prompt": "x", "thread_id": "late"})
            )
            await client.list_tools()
            assert not late.done()
            busy[3].cancel()
            assert structured(await late)["text"] == "done x"
            names = Counter(_open(made.services.agent.threads))
            for call in busy:
                call.cancel()
            await asyncio.gather(*busy, return_exceptions=True)
            return names

    names = run(main())
    assert "t3" not in names
    assert len(names) == MOST_OPEN
