"""The tool `inspect`, and all built-in tools as they are made together."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import jsonschema
import pytest

from counterfoil.adapters.tools import InspectSources, built_in_tools
from counterfoil.adapters.tools.inspect_record import InspectTool
from counterfoil.core.events import (
    Event,
    Payload,
    PromptReceived,
    ThreadOpened,
    ToolCalled,
    ToolReturned,
    Unrecognized,
)
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.ports.tools import CallContext, ToolAnswer

CONTEXT = CallContext(thread=ThreadId("t1"), turn=3, call="c1")
Ask = Callable[..., ToolAnswer]


@dataclass(frozen=True)
class _Grant:
    id: str = "g1"
    pattern: str = "git push *"
    level: str = "moderate"
    scope: str = "always"
    directory: str | None = None
    expires_at: str | None = None


def _event(seq: int, payload: Payload, turn: int | None = 1, call: str | None = None) -> Event:
    return Event(
        seq=seq,
        id=EventId(f"{seq:016x}"),
        occurred_at="2026-03-01T09:00:00.000Z",
        thread=ThreadId("t1"),
        turn=turn,
        call=call,
        payload=payload,
    )


def _asking(
    *,
    config: Mapping[str, object] | None = None,
    status: Mapping[str, object] | None = None,
    grants: Iterable[_Grant] = (),
    events: Iterable[Event] = (),
) -> Ask:
    def recorded(thread: ThreadId, turn: int | None) -> Iterable[Event]:
        return (event for event in events if event.thread == thread and turn in {None, event.turn})

    tool = InspectTool(
        InspectSources(
            config=lambda: config or {},
            status=lambda thread: {"thread": str(thread), **(status or {})},
            approvals=lambda _: list(grants),
            events=recorded,
        )
    )
    return lambda **arguments: tool.run(arguments, CONTEXT)


def test_a_setting_is_shown_with_its_value_and_where_it_came_from() -> None:
    """agent-tools: `config`."""
    ask = _asking(
        config={
            "model": {"value": "qwen3\n", "origin": "flag"},
            "roots": {"value": ("/a", "/b"), "origin": "default"},
            "strict": {"value": False, "origin": "default"},
            "plain": 5,
        }
    )
    assert ask(what="config").output == (
        'model = "qwen3\\n" (flag)\nroots = ["/a", "/b"] (default)\nstrict = false (default)\n'
        "plain = 5\n[end: 4 settings]"
    )


def test_secrets_of_a_configuration_are_not_shown() -> None:
    """plain-text: What a model has read is in the record for good."""
    servers = {
        "a": {
            "command": "serve",
            "args": ["--token", "hunter2", "-v"],
            "env": {"ANYTHING": "hunter2"},
            "url": "https://me:hunter2@host/?api_key=hunter2",
            "api_key": "hunter2",
            "more": [{"password": "hunter2"}, 5],
        }
    }
    ask = _asking(
        config={
            "mcp_servers": {"value": servers, "origin": "x"},
            "api_key_variable": {"value": "OPENAI", "origin": "x"},
            "token": {"value": "", "origin": "x"},
        }
    )
    output = ask(what="config").output
    assert "hunter2" not in output
    assert '"args": ["--token", "***", "-v"], "env": {"ANYTHING": "***"}' in output
    assert 'api_key_variable = "OPENAI" (x)' in output
    assert 'token = "" (x)' in output


def test_status_is_of_this_thread() -> None:
    """agent-tools: `status`."""
    assert _asking(status={"turn": 3})(what="status").output == (
        'thread: "t1"\nturn: 3\n[end: 2 lines]'
    )


def test_approvals_say_what_holds_where_and_until_when() -> None:
    """agent-tools: `approvals`."""
    grants = [
        _Grant(),
        _Grant(
            id="g2",
            pattern="rm\x1b *",
            scope="project",
            directory="/p",
            expires_at="2026-04-01T00:00:00.000Z",
        ),
    ]
    assert _asking(grants=grants)(what="approvals").output == (
        "g1: git push * up to moderate, for always\n"
        "g2: rm\\x1b * up to moderate, for project, in /p, until 2026-04-01T00:00:00.000Z\n"
        "[end: 2 approvals]"
    )
    assert _asking()(what="approvals").output == "[end: 0 approvals]"


def test_a_view_is_bounded_and_says_what_is_left_out() -> None:
    """agent-tools: 4 KiB."""
    answer = _asking(config={f"row{n}": "x" * 90 for n in range(100)})(what="config")
    *rows, end = answer.output.split("\n")
    assert len(answer.output.encode()) <= 4096
    assert end == f"[more: {100 - len(rows)} of 100 settings are left out]"
    assert answer.truncated is True
    long = _asking(config={"row": "é" * 5000})(what="config").output
    assert "[cut: a line of " in long
    assert long.endswith("[end: 1 setting]")


def test_an_event_is_one_line_and_steers_nothing() -> None:
    """agent-tools: `audit`: place, time, kind, turn, call, first of what it says."""
    events = [
        _event(1, ThreadOpened(face="chat"), turn=None),
        _event(2, PromptReceived(text="do\n\x1b[31mit")),
        _event(5, ToolCalled(tool="read_file", arguments="{}"), call="c1\n"),
        _event(6, Unrecognized(kind="moon_landed", details='{"a":1}')),
    ]
    answer = _asking(events=events)(what="audit")
    assert answer.output == (
        "1 2026-03-01T09:00:00.000Z thread_opened: face=chat\n"
        "2 2026-03-01T09:00:00.000Z prompt_received turn 1: text=do \\x1b[31mit\n"
        "5 2026-03-01T09:00:00.000Z tool_called turn 1 call c1\\x0a: tool=read_file, arguments={}\n"
        '6 2026-03-01T09:00:00.000Z moon_landed turn 1: kind=moon_landed, details={"a":1}\n'
        "[end: 4 of 4 events]"
    )
    assert answer.truncated is None


@pytest.mark.parametrize(("asked", "shown"), [(None, 20), (1, 1), (99, 99), (100, 100)])
def test_the_last_events_are_shown_oldest_first(asked: int | None, shown: int) -> None:
    """agent-tools: 20 events, 100 at most; the others are counted."""
    events = [_event(n, PromptReceived(text="")) for n in range(1, 131)]
    arguments = {} if asked is None else {"last": asked}
    output = _asking(events=events)(what="audit", **arguments).output
    rows = output.split("\n")[:-1]
    fits = min(shown, len(rows))
    assert fits == shown or len(output.encode()) > 4096 - 300
    assert [int(row.split(" ")[0]) for row in rows] == list(range(131 - fits, 131))
    assert f"[end: {fits} of 130 events; {130 - fits} earlier ones are left out" in output
    assert len(output.encode()) <= 4096


def test_long_events_are_cut_and_the_latest_kept() -> None:
    """agent-tools: 200 characters of an event, 4 KiB in all."""
    events = [
        _event(n, ToolReturned(tool="x", output="é" * (1 << 16), outcome="ok"))
        for n in range(1, 51)
    ]
    output = _asking(events=events)(what="audit", last=50).output
    rows = output.split("\n")[:-1]
    assert rows[-1].startswith("50 ")
    assert all(len(row.partition(": ")[2]) == 200 for row in rows)
    assert len(output.encode()) <= 4096


def test_events_are_chosen_by_turn_and_kind() -> None:
    """agent-tools: By turn, kind; of this thread alone."""
    events = [
        _event(1, PromptReceived(text="a"), turn=1),
        _event(2, ToolCalled(tool="x", arguments=""), turn=1),
        _event(3, ToolCalled(tool="y", arguments=""), turn=2),
        replace(_event(4, ToolCalled(tool="z", arguments="")), thread=ThreadId("t2")),
    ]
    ask = _asking(events=events)
    assert ask(what="audit", kind="tool_called").output.endswith("[end: 2 of 2 events]")
    assert ask(what="audit", turn=2).output.startswith("3 ")
    assert ask(what="audit", turn=1, kind="tool_called").output.startswith("2 ")
    assert ask(what="audit", turn=9).output == "[end: 0 of 0 events]"
    assert "tool=z" not in ask(what="audit").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"what": "everything"}, "config or status or approvals or audit"),
        ({"what": "audit", "kind": "tool_call"}, "prompt_received, "),
        ({"what": "audit", "last": 101}, "1 to 100"),
        ({"what": "audit", "last": 0}, "1 to 100"),
        ({"what": "audit", "turn": -1}, "whole number"),
        ({"what": "config", "turn": 1}, "turn with audit alone"),
        ({}, "config or status"),
    ],
)
def test_what_is_not_known_is_an_error_that_names_what_is(
    arguments: dict[str, object], said: str
) -> None:
    """agent-tools: An unknown view or kind names the accepted ones."""
    answer = _asking()(**arguments)
    assert answer.outcome == "error"
    assert said in answer.output


# --- all of them --------------------------------------------------------------


def _sources() -> InspectSources:
    return InspectSources(
        config=dict, status=lambda _: {}, approvals=lambda _: (), events=lambda _, __: ()
    )


def test_the_built_in_tools_are_made_together(tmp_path: Path) -> None:
    """agent-tools: Six tools; all but one only read."""
    tools = built_in_tools([tmp_path], [tmp_path / "out"], _sources())
    assert {tool.spec.name: tool.spec.only_reads for tool in tools} == {
        "read_file": True,
        "list_files": True,
        "search_files": True,
        "edit_file": False,
        "system_info": True,
        "inspect": True,
    }
    for tool in tools:
        schema = dict(tool.spec.parameters)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["additionalProperties"] is False
        assert 40 < len(tool.spec.description) < 1000


def test_reading_and_writing_begin_at_one_folder(tmp_path: Path) -> None:
    """agent-tools: A path means one file, for every tool; writing stays where it may."""
    (tmp_path / "out").mkdir()
    (tmp_path / "a").write_text("a\n")
    tools = built_in_tools([tmp_path], [tmp_path / "out"], _sources(), protected=[tmp_path / "no"])
    by_name = {tool.spec.name: tool for tool in tools}
    edit, read = by_name["edit_file"], by_name["read_file"]
    wanted = {"path": "out/b", "mode": "write", "text": "b\n"}
    assert edit.run(wanted, CONTEXT).outcome == "ok"
    assert read.run({"path": "out/b"}, CONTEXT).output.startswith("1\tb\n")
    assert edit.run({**wanted, "path": "a"}, CONTEXT).outcome == "error"
    assert (tmp_path / "a").read_text() == "a\n"


def test_without_folders_nothing_is_reached() -> None:
    """agent-tools: No roots, no files."""
    for tool in built_in_tools([], [], _sources())[:4]:
        arguments = {"path": "pyproject.toml", "pattern": "a", "mode": "write", "text": ""}
        assert "expected a path below none" in tool.run(arguments, CONTEXT).output
