"""The tools beside `respond`: transcripts below the roots, receipts again, pages."""

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult

from counterfoil.core.errors import UnreadableError
from counterfoil.faces.mcp.services import PageStores
from counterfoil.ports.tools import ToolAnswer
from engine.agent_world import CASE_PROMPTS, TableTool, calls, case_section_8, says, world
from faces.mcp.mcp_world import Served, run, served, serving, structured, text_of

Given: TypeAlias = Any
"""JSON, and what a step hands on."""


def call(made: Served, tool: str, arguments: dict[str, Given]) -> CallToolResult:
    """Return the result of one call."""

    async def main() -> CallToolResult:
        async with Client(made.face.server) as client:
            return await client.call_tool(tool, arguments)

    return run(main())


def refusal(made: Served, tool: str, arguments: dict[str, Given]) -> str:
    """Return why a call is invalid."""

    async def main() -> str:
        async with Client(made.face.server) as client:
            with pytest.raises(MCPError) as refused:
                await client.call_tool(tool, arguments)
            assert refused.value.code == INVALID_PARAMS
            return refused.value.message

    return run(main())


# --- check ---------------------------------------------------------------------


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a transcript, and a secret beside it."""
    made = tmp_path / "data"
    (made / "sub").mkdir(parents=True)
    (made / "sub" / "a.jsonl").write_text('{"a":1}\n')
    (tmp_path / "data2").mkdir()
    (tmp_path / "data2" / "x").write_text("secret")
    (tmp_path / "secret").write_text("secret")
    return made


def test_a_transcript_below_the_roots_is_checked(root: Path) -> None:
    """respond: the same JSON as `counterfoil check --json`, as text and structure."""
    made = serving(roots=[str(root)])
    for name in ("sub/a.jsonl", str(root / "sub" / "a.jsonl"), "sub/../sub/./a.jsonl"):
        result = call(made, "check", {"path": name})
        assert structured(result) == {"schema": 1, "source": {"path": name, "bytes": 8}}
        assert json.loads(text_of(result)) == structured(result)
        assert made.checked.files.pop() == (name, b'{"a":1}\n')


def test_a_transcript_can_be_given_as_text() -> None:
    """respond: a text needs no root; U+2028 in it is a character like others."""
    made = serving()
    call(made, "check", {"text": "a\u2028b\u0085\n"})
    assert made.checked.files == [("-", "a\u2028b\u0085\n".encode())]


@pytest.mark.parametrize("given", [{}, {"path": "a", "text": "b"}])
def test_a_transcript_is_named_in_one_way(given: dict[str, str]) -> None:
    """respond: a path or a text."""
    assert "either argument 'path' or argument 'text'" in refusal(serving(), "check", given)


def test_nothing_outside_the_roots_is_opened(root: Path, tmp_path: Path) -> None:
    """respond: real paths; the same answer whether a file is there or not (C136, C137)."""
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "folder").symlink_to(tmp_path / "data2")
    (root / "circle").symlink_to(root / "circle")
    os.mkfifo(root / "pipe")
    made = serving(roots=[str(root)])
    names = [
        "/etc/passwd",
        "../secret",
        "../data2/x",
        str(tmp_path / "data2" / "x"),
        f"{root}2/x",
        str(tmp_path / "not there"),
        "not there",
        "..%2fsecret",
        "%2e%2e/secret",
        "%252e%252e%252fsecret",
        "link",
        "folder/x",
        "circle",
        "pipe",
        "sub",
        ".",
        "",
        "sub/a.jsonl/",
        "sub/a.jsonl/x",
        "a\0b",
        "x" * 5000,
    ]
    for name in names:
        result = call(made, "check", {"path": name})
        if name == "sub/a.jsonl/":
            continue
        assert result.is_error, name
        assert text_of(result) == f"nothing named {name!r} below the roots of the server"
    assert {name for name, _ in made.checked.files} <= {"sub/a.jsonl/"}


def test_a_link_inside_the_roots_is_followed_to_where_it_ends(root: Path) -> None:
    """respond: what counts is the real path (C137)."""
    (root / "inside").symlink_to(root / "sub" / "a.jsonl")
    made = serving(roots=[str(root)])
    assert not call(made, "check", {"path": "inside"}).is_error


def test_without_roots_no_file_can_be_named(root: Path) -> None:
    """respond: nothing configured is nothing allowed (C136)."""
    assert call(serving(), "check", {"path": str(root / "sub" / "a.jsonl")}).is_error


def test_the_second_root_counts_too(root: Path, tmp_path: Path) -> None:
    """respond: below any of the roots."""
    made = serving(roots=[str(root), str(tmp_path / "data2")])
    assert not call(made, "check", {"path": str(tmp_path / "data2" / "x")}).is_error


def test_a_transcript_that_cannot_be_read_is_an_error_result() -> None:
    """respond: what the check raises is told."""
    made = serving()

    def broken(*_: object) -> bytes:
        raise UnreadableError("no transcript", "a session", "name another")

    object.__setattr__(made.services, "check", broken)
    result = call(made, "check", {"text": "x"})
    assert result.is_error
    assert text_of(result) == "no transcript; expected a session (hint: name another)"


# --- verify --------------------------------------------------------------------


def receipts(made: Served) -> list[dict[str, Given]]:
    """Play the case and return its receipts."""

    async def main() -> list[dict[str, Given]]:
        async with Client(made.face.server) as client:
            asked = [{"prompt": prompt, "thread_id": "t1"} for prompt in CASE_PROMPTS]
            return [structured(await client.call_tool("respond", one))["receipt"] for one in asked]

    return run(main())


def test_a_receipt_as_it_was_handed_out_matches() -> None:
    """respond: folded again from the ledger, byte for byte; in any order of keys."""
    made = served(case_section_8())
    for receipt in receipts(made):
        for given in (receipt, dict(reversed(receipt.items()))):
            said = structured(call(made, "verify", {"receipt": given}))
            assert (said["verdict"], said["difference"]) == ("matches", None)
            assert (said["thread"], said["turn"]) == ("t1", receipt["turn"])


def _change(path: str, value: Given) -> Callable[[dict[str, Given]], None]:
    def change(receipt: dict[str, Given]) -> None:
        *above, last = path.split("/")
        place: Given = receipt
        for part in above:
            place = place[int(part)] if part.isdecimal() else place[part]
        place[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (_change("tools/0/outcome", "error"), "tools[0].outcome"),
        (_change("complete", 1), "complete"),
        (_change("usage/output", 61), "usage.output"),
        (_change("tools", []), "tools"),
        (_change("more", 1), "more"),
        (_change("seconds", 0.5), "seconds"),
        (lambda receipt: receipt.pop("caveats"), "caveats"),
        (lambda receipt: receipt["omitted"].pop("files"), "omitted.files"),
    ],
)
def test_a_receipt_that_was_changed_differs_in_its_first_key(
    change: Callable[[dict[str, Given]], object], key: str
) -> None:
    """respond: the first key at fault, with what is given and what is recorded."""
    made = served(case_section_8())
    receipt = copy.deepcopy(receipts(made)[3])
    change(receipt)
    said = structured(call(made, "verify", {"receipt": receipt}))
    assert said["verdict"] == "differs"
    assert said["difference"]["key"] == key


def test_a_receipt_of_nothing_that_is_recorded_is_unknown() -> None:
    """respond: an unknown thread or turn is a verdict, not an error."""
    made = served(case_section_8())
    receipt = receipts(made)[0]
    for change, verdict in (
        ({"turn": 5}, "unknown_turn"),
        ({"thread": "t2"}, "unknown_thread"),
        ({"thread": "T1"}, "unknown_thread"),
    ):
        said = structured(call(made, "verify", {"receipt": {**receipt, **change}}))
        assert said["verdict"] == verdict


@pytest.mark.parametrize(
    "receipt",
    [
        {},
        {"turn": 1},
        {"thread": "t1"},
        {"thread": "../x", "turn": 1},
        {"thread": "t1", "turn": 0},
        {"thread": "t1", "turn": True},
        {"thread": 1, "turn": 1},
    ],
)
def test_what_names_no_turn_is_invalid(receipt: dict[str, Given]) -> None:
    """respond: a receipt says of which thread and turn it is."""
    assert "argument 'receipt'" in refusal(serving(), "verify", {"receipt": receipt})


def test_a_receipt_with_half_a_character_matches_as_it_was_handed_out() -> None:
    """respond: what was handed out is what is compared."""
    tool = TableTool("odd", ToolAnswer(output="x", outcome="ok"))
    made = served(world([calls(("odd", '{"what":"\udcb2"}')), says("Done.")], tool))
    result = call(made, "respond", {"prompt": "a", "thread_id": "t1"})
    receipt = structured(result)["receipt"]
    assert "\ufffd" in json.dumps(receipt, ensure_ascii=False)
    said = structured(call(made, "verify", {"receipt": receipt}))
    assert said["verdict"] == "matches"


# --- pages ---------------------------------------------------------------------


def test_pages_are_checked_for_a_run_or_a_store_below_the_roots(root: Path) -> None:
    """respond: `kb_lint` and `kb_resolve` give the JSON of their commands."""
    made = serving(roots=[str(root)])
    assert structured(call(made, "kb_lint", {})) == {"schema": 1, "findings": []}
    call(made, "kb_lint", {"run": "r1"})
    found = call(made, "kb_resolve", {"handles": ["here::x", "y\u2028"], "root": "sub/.."})
    assert structured(found) == {"schema": 1, "resolutions": []}
    assert made.checked.handles == ["here::x", "y\u2028"]
    assert made.checked.stores == [
        PageStores(),
        PageStores(run="r1"),
        PageStores(root=str(root)),
    ]


def test_stores_that_cannot_be_meant_are_refused(root: Path) -> None:
    """respond: no run by a way up, no folder elsewhere, and one of the two (C115, C136)."""
    made = serving(roots=[str(root)])
    assert "not by both" in refusal(made, "kb_lint", {"run": "r", "root": "sub"})
    assert "argument 'run'" in refusal(made, "kb_lint", {"run": "../x"})
    assert "'handles' is an empty list" in refusal(made, "kb_resolve", {"handles": []})
    assert "'handles' is missing" in refusal(made, "kb_resolve", {})
    for name in ("..", "/etc", "sub/a.jsonl", "nope"):
        result = call(made, "kb_lint", {"root": name})
        assert text_of(result) == f"nothing named {name!r} below the roots of the server"
    assert made.checked.stores == []


def test_closing_needs_an_id_that_can_be() -> None:
    """respond: `close_thread` refuses what is no id."""
    assert "thread id" in refusal(serving(), "close_thread", {"thread_id": "..%2f"})
    assert "is missing" in refusal(serving(), "close_thread", {})
