"""Resources: every one of them, page by page; what is no resource is invalid params."""

import asyncio
import json
from dataclasses import replace
from typing import Any, TypeAlias

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from counterfoil.core.errors import CounterfoilError, UnreadableError
from counterfoil.core.events import CommandExited, PagesRetrieved, PageWritten
from counterfoil.core.ids import ThreadId
from counterfoil.core.turns import ReceiptCollector
from counterfoil.engine.agent import GrantRow
from counterfoil.engine.performing import Recorder
from counterfoil.faces.mcp.addresses import Address, parse_address
from counterfoil.faces.mcp.paging import TEXT, page_of_rows, page_of_text
from counterfoil.faces.mcp.resources import RESOURCES
from counterfoil.ports.tools import ToolAnswer
from engine.agent_world import CASE_PROMPTS, TableTool, calls, case_section_8, says, world
from faces.mcp.mcp_world import read_json, run, served, serving

Given: TypeAlias = Any
"""JSON of any shape, and what a step hands on."""

HERE = "counterfoil://"


async def case(client: Client) -> None:
    """Play the case of section 8 on thread t1."""
    for prompt in CASE_PROMPTS:
        await client.call_tool("respond", {"prompt": prompt, "thread_id": "t1"})


def test_every_resource_is_listed_and_can_be_read() -> None:
    """respond: those that there is one of, and templates of the others."""
    made = served(case_section_8())

    async def main() -> None:
        async with Client(made.face.server) as client:
            await case(client)
            listed = (await client.list_resources()).resources
            assert [one.uri for one in listed] == [
                HERE + name
                for name in ("tools", "config", "status", "approvals", "audit", "threads")
            ]
            templates = (await client.list_resource_templates()).resource_templates
            assert len(listed) + len(templates) == len(RESOURCES)
            thread = "counterfoil://threads/{thread_id}"
            assert [one.uri_template for one in templates] == [
                "counterfoil://audit/{thread_id}{?page,turn}",
                f"{thread}{{?page}}",
                f"{thread}/entries{{?page}}",
                f"{thread}/entries/{{number}}{{?page}}",
                f"{thread}/turns/{{turn}}/receipt",
                f"{thread}/context/{{turn}}{{?page}}",
                f"{thread}/output/{{event}}{{?page}}",
                f"{thread}/pages{{?page}}",
            ]
            outputs = [e.id for e in made.world.log.events() if "ToolReturned" in str(e.payload)]
            for uri in [one.uri for one in listed] + [
                f"{HERE}audit/t1?turn=2",
                f"{HERE}threads/t1",
                f"{HERE}threads/t1/entries",
                f"{HERE}threads/t1/entries/18",
                f"{HERE}threads/t1/turns/4/receipt",
                f"{HERE}threads/t1/context/1",
                f"{HERE}threads/t1/context/next",
                f"{HERE}threads/t1/output/{outputs[0]}",
                f"{HERE}threads/t1/pages",
            ]:
                assert isinstance(await read_json(client, uri), dict)

    run(main())


def test_reading_is_not_an_event() -> None:
    """respond: the ledger is the same after every resource was read."""
    made = served(case_section_8())

    async def main() -> None:
        async with Client(made.face.server) as client:
            await case(client)
            before = [*made.world.log.events()]
            for uri in ("threads/t1/context/next", "audit", "threads", "threads/t1/entries/3"):
                await read_json(client, HERE + uri)
            assert [*made.world.log.events()] == before

    run(main())


def test_rows_that_name_an_entry_carry_its_reference() -> None:
    """respond: a caller copies the reference instead of counting."""
    made = served(case_section_8())

    async def main() -> None:
        async with Client(made.face.server) as client:
            await case(client)
            entries = await read_json(client, f"{HERE}threads/t1/entries")
            assert [row["reference"] for row in entries["rows"]] == [
                f"entry {number}" for number in range(1, 19)
            ]
            assert [row["kind"] for row in entries["rows"][-5:]] == [
                "prompt",
                "tool_calls",
                "tool_output",
                "tool_output",
                "reply",
            ]
            audit = await read_json(client, f"{HERE}audit/t1?turn=4")
            stored = [row for row in audit["rows"] if row["kind"] == "entry_stored"]
            assert [row["reference"] for row in stored] == [f"entry {n}" for n in range(14, 19)]
            assert {row["turn"] for row in audit["rows"]} == {4}
            sent = await read_json(client, f"{HERE}threads/t1/context/4")
            assert (sent["turn"], sent["isNext"]) == (4, False)
            assert [row["reference"] for row in sent["rows"]][-1] == "entry 17"
            following = await read_json(client, f"{HERE}threads/t1/context/next")
            assert (following["turn"], following["isNext"]) == (5, True)
            entry = await read_json(client, f"{HERE}threads/t1/entries/16")
            assert entry["text"] == '{"model": "steps"}'
            whole = await read_json(client, f"{HERE}threads/t1")
            assert (whole["entries"], whole["isOpen"], len(whole["rows"])) == (18, True, 4)
            assert (await read_json(client, f"{HERE}threads"))["rows"][0]["prompt"] == "One."
            status = await read_json(client, f"{HERE}status")
            assert status["openThreads"] == [{"thread": "t1", "model": "steps", "turn": 4}]

    run(main())


def test_the_context_resource_shows_exactly_what_was_sent() -> None:
    """context: every past turn is shown as the model read it."""
    made = served(case_section_8())

    async def main() -> None:
        async with Client(made.face.server) as client:
            await case(client)
            shown = await read_json(client, f"{HERE}threads/t1/context/4")
        texts = [message["text"] for row in shown["rows"] for message in row["messages"]]
        assert texts == [message.text for message in made.world.model.asked[-1].messages]

    run(main())


BAD = [
    "",
    "counterfoil:",
    "counterfoil://",
    "counterfoil:///",
    "counterfoil://nope",
    "counterfoil://threads/",
    "counterfoil://threads//entries",
    "counterfoil://threads/t1/",
    "COUNTERFOIL://threads",
    "audit://../../etc/passwd",
    "audit://%252e%252e%252fx",
    "file:///etc/passwd",
    "counterfoil://audit/../../etc/passwd",
    "counterfoil://audit/..%2f..%2fetc%2fpasswd",
    "counterfoil://audit/%252e%252e%252fx",
    "counterfoil://audit/t1%00",
    "counterfoil://audit/%ff",
    "counterfoil://audit/nope",
    "counterfoil://threads/nope",
    "counterfoil://threads/nope/entries",
    "counterfoil://threads/nope/pages",
    "counterfoil://threads/nope/context/next",
    "counterfoil://threads/nope/turns/1/receipt",
    "counterfoil://threads/T1",
    "counterfoil://threads/t1/entries/0",
    "counterfoil://threads/t1/entries/-1",
    "counterfoil://threads/t1/entries/19",
    "counterfoil://threads/t1/entries/1.0",
    "counterfoil://threads/t1/entries/\u0661",
    "counterfoil://threads/t1/entries/9999999999",
    "counterfoil://threads/t1/turns/0/receipt",
    "counterfoil://threads/t1/turns/5/receipt",
    "counterfoil://threads/t1/context/0",
    "counterfoil://threads/t1/context/5",
    "counterfoil://threads/t1/context/last",
    "counterfoil://threads/t1/output/0000000000000001",
    "counterfoil://threads/t1/output/ffffffffffffffff",
    "counterfoil://threads/t1/output/7",
    "counterfoil://threads?page=0",
    "counterfoil://threads?page=2",
    "counterfoil://threads?page=x",
    "counterfoil://threads?page=",
    "counterfoil://threads?page=1&page=1",
    "counterfoil://threads?page=1&",
    "counterfoil://threads?",
    "counterfoil://threads?other=1",
    "counterfoil://threads?turn=1",
    "counterfoil://threads#x",
    "counterfoil://config?page=1",
    "counterfoil://audit/t1?turn=0",
    "counterfoil://audit/t1?turn=5",
    f"counterfoil://threads/{'x' * 2000}",
]


def test_grants_are_shown_once_with_those_of_open_threads() -> None:
    """respond: what stands, and what holds in a thread that is open here."""
    made = serving(says("Done."))
    standing = GrantRow(
        id="a",
        pattern="git push *",
        level="moderate",
        scope="always",
        directory=None,
        expires_at="2026-03-31T09:00:00.000Z",
    )
    here = replace(standing, id="b", scope="session", directory="/shop", expires_at=None)

    def grants(thread: ThreadId | None) -> list[GrantRow]:
        return [standing] if thread is None else [standing, here]

    object.__setattr__(made.services.agent, "grants", grants)

    async def main() -> None:
        async with Client(made.face.server) as client:
            first = await read_json(client, f"{HERE}approvals")
            assert [row["id"] for row in first["rows"]] == ["a"]
            await client.call_tool("respond", {"prompt": "a", "thread_id": "t1"})
            rows = (await read_json(client, f"{HERE}approvals"))["rows"]
            assert [(row["id"], row["directory"]) for row in rows] == [("a", None), ("b", "/shop")]

    run(main())


def test_what_is_no_resource_is_invalid_params() -> None:
    """respond: bad URI, page or turn; decoded once, nothing is opened."""
    made = served(case_section_8())

    async def main() -> None:
        async with Client(made.face.server) as client:
            await case(client)
            for uri in BAD:
                with pytest.raises(MCPError) as refused:
                    await client.read_resource(uri)
                assert refused.value.code == INVALID_PARAMS, uri
                assert "root:" not in refused.value.message
                assert len(refused.value.message) < 1500

    run(main())


def test_a_record_that_cannot_be_read_is_an_internal_error() -> None:
    """respond: what is no fault of the caller is not told as one."""
    made = serving()

    def broken() -> Given:
        raise UnreadableError("the ledger is damaged\ud800")

    made.views.threads = broken

    async def main() -> MCPError:
        async with Client(made.face.server) as client:
            with pytest.raises(MCPError) as refused:
                await client.read_resource(f"{HERE}threads")
            return refused.value

    error = run(main())
    assert (error.code, error.message) == (INTERNAL_ERROR, "the ledger is damaged\ufffd")


@pytest.mark.parametrize(
    ("total", "pages"), [(0, 1), (1, 1), (49, 1), (50, 1), (51, 2), (100, 2), (101, 3)]
)
def test_rows_come_fifty_to_a_page(total: int, pages: int) -> None:
    """respond: 50 rows a page, with the exact numbers and the next one."""
    seen: list[int] = []
    uri: str | None = "counterfoil://threads"
    for number in range(1, pages + 1):
        assert uri is not None
        found: Given = page_of_rows(range(total), parse_address(uri), lambda row: row)
        assert (found["page"], found["pages"], found["total"]) == (number, pages, total)
        seen.extend(found["rows"])
        uri = found["next"]
    assert uri is None
    assert seen == [*range(total)]
    with pytest.raises(CounterfoilError, match=f"1 to {pages}"):
        page_of_rows(
            range(total), parse_address(f"{HERE}threads?page={pages + 1}"), lambda row: row
        )


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("", 1),
        ("x" * (TEXT - 1), 1),
        ("x" * TEXT, 1),
        ("x" * (TEXT + 1), 2),
        ("x" * (TEXT - 1) + "é", 2),
        ("x" * (TEXT - 2) + "é", 1),
        ("\U0001d4b3" * (TEXT // 4) + "y", 2),
        ("é\r\n\0\u2028" * TEXT, 8),
    ],
)
def test_text_comes_in_pages_of_sixteen_kib(text: str, pages: int) -> None:
    """respond: no page is longer, no character is cut, together they are the text."""
    found: list[Any] = []
    uri: str | None = "counterfoil://threads/t1/entries/1"
    while uri is not None:
        found.append(page_of_text(text, parse_address(uri)))
        uri = found[-1]["next"]
    assert "".join(page["text"] for page in found) == text
    assert [page["page"] for page in found] == [*range(1, pages + 1)]
    size = len(text.encode())
    assert {(page["pages"], page["total"]) for page in found} == {(pages, size)}
    assert all(len(page["text"].encode()) <= TEXT for page in found)


def test_the_next_page_of_one_turn_is_of_the_same_turn() -> None:
    """respond: the turn is kept where a page follows."""
    address = Address(uri=f"{HERE}audit/t1?turn=2", parts=("audit", "t1"), turn=2)
    assert address.at_page(2) == f"{HERE}audit/t1?turn=2&page=2"
    assert parse_address(address.at_page(2)).turn == 2


def test_long_texts_of_events_are_cut_and_found_whole_elsewhere() -> None:
    """respond: a row of the audit is bounded; it says of how many bytes, and where."""
    sizes = (1023, 1024, 1025)
    tool = TableTool("size", lambda given, _: ToolAnswer(output="x" * int(str(given["what"]))))
    asked = calls(*(("size", json.dumps({"what": str(size)})) for size in sizes))
    made = served(world([asked, says("Done.")], tool))

    async def main() -> None:
        async with Client(made.face.server) as client:
            await client.call_tool("respond", {"prompt": "a", "thread_id": "t1"})
            rows = (await read_json(client, f"{HERE}audit/t1"))["rows"]
            returned = [row for row in rows if row["kind"] == "tool_returned"]
            assert [row.get("cut") for row in returned] == [None, None, {"output": 1025}]
            assert [len(row["details"]["output"]) for row in returned] == [1023, 1024, 1024]
            whole = await read_json(client, returned[2]["uri"])
            assert whole["text"] == "x" * 1025

    run(main())


def test_long_messages_of_the_context_are_cut_and_found_whole_elsewhere() -> None:
    """respond: a row of the context is bounded; its entry has the whole."""
    made = serving(says("y" * (TEXT + 1)))

    async def main() -> None:
        async with Client(made.face.server) as client:
            await client.call_tool("respond", {"prompt": "x" * TEXT, "thread_id": "t1"})
            rows = (await read_json(client, f"{HERE}threads/t1/context/next"))["rows"]
            messages = [row["messages"][0] for row in rows[1:]]
            assert [message.get("cut") for message in messages] == [None, TEXT + 1]
            assert [len(message["text"]) for message in messages] == [TEXT, TEXT]
            second = await read_json(client, f"{rows[-1]['uri']}?page=2")
            assert second["text"] == "y"

    run(main())


def test_the_pages_of_a_thread_are_those_that_it_wrote_and_retrieved() -> None:
    """respond: handles as a receipt has them, in the order of the record."""
    facts = (
        PageWritten(run="t1", page="mine"),
        PageWritten(run="parent", page="theirs"),
        PagesRetrieved(run="t1", query="q", handles=("here::mine", "shared::x")),
    )
    tool = TableTool("pages", ToolAnswer(output="", facts=facts))
    made = served(world([calls(("pages", "{}")), says("Done.")], tool))

    async def main() -> None:
        async with Client(made.face.server) as client:
            await client.call_tool("respond", {"prompt": "a", "thread_id": "t1"})
            rows = (await read_json(client, f"{HERE}threads/t1/pages"))["rows"]
            assert [(row["handle"], row["action"], row["turn"]) for row in rows] == [
                ("here::mine", "written", 1),
                ("inherited:parent::theirs", "written", 1),
                ("here::mine", "retrieved", 1),
                ("shared::x", "retrieved", 1),
            ]

    run(main())


def test_the_audit_shows_the_last_hundred_events() -> None:
    """respond: of the whole ledger, oldest first, fifty to a page."""
    made = serving(*[says("Done.") for _ in range(20)])

    async def main() -> None:
        async with Client(made.face.server) as client:
            for number in range(20):
                await client.call_tool("respond", {"prompt": "a", "thread_id": f"t{number % 3}"})
            pages = [await read_json(client, f"{HERE}audit?page={page}") for page in (1, 2)]
        rows = [row for page in pages for row in page["rows"]]
        assert [row["seq"] for row in rows] == [e.seq for e in made.world.log.events()][-100:]
        assert {(page["pages"], page["total"]) for page in pages} == {(2, 100)}

    run(main())


def test_a_person_s_command_has_its_output_there_too() -> None:
    """respond: every event that holds an output can be asked for it."""
    made = serving(says("Done."))

    async def main() -> None:
        async with Client(made.face.server) as client:
            await client.call_tool("respond", {"prompt": "a", "thread_id": "t1"})
            thread = made.services.agent.threads.find(ThreadId("t1"))
            assert thread is not None
            recorder = Recorder(
                ports=made.world.ports, thread=thread.id, turn=1, collector=ReceiptCollector()
            )
            big = CommandExited(command="ls", exit_status=0, stdout="z" * 70_000)
            event = await asyncio.to_thread(recorder.record, big)
            page = await read_json(client, f"{HERE}threads/t1/output/{event.id}")
            assert page["text"].startswith("$ ls\nexit status: 0\nzzz")
            assert page["total"] > 70_000

    run(main())
