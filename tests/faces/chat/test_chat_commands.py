"""What is typed in a conversation, and what commands are answered with."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from counterfoil.core.errors import ConflictError, CounterfoilError, NotFoundError, UnavailableError
from counterfoil.core.events import CommandExited, Event, ToolFailed, ToolReturned
from counterfoil.core.ids import ThreadId
from counterfoil.engine.agent import Agent, GrantRow
from counterfoil.engine.converse import TurnRequest
from counterfoil.engine.performing import NobodyApproves, Recorder
from counterfoil.engine.thread_parts import Opening, OpenThread
from counterfoil.faces.cli.chat.answers import answer
from counterfoil.faces.cli.chat.commands import COMMANDS, NAMES, Typed, number_of, read_typed
from counterfoil.faces.cli.chat.saving import save_events
from counterfoil.ports.tools import ToolAnswer
from counterfoil.wire.events import decode_event
from engine.agent_world import (
    CASE_PROMPTS,
    INSPECT,
    TableTool,
    World,
    calls,
    case_section_8,
    says,
    world,
)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("", None),
        ("  \n", None),
        ("!", None),
        ("Go on.", Typed("message", "Go on.")),
        ("two\nlines", Typed("message", "two\nlines")),
        ("//etc/hosts?", Typed("message", "/etc/hosts?")),
        ("!!important", Typed("message", "!important")),
        ("! ls -l ", Typed("shell", "ls -l")),
        ("/show 7", Typed("command", "7", "/show")),
        ("/inspect  context next", Typed("command", "context next", "/inspect")),
        ("/quit", Typed("command", "", "/quit")),
    ],
)
def test_what_is_typed_is_a_message_a_command_or_run(text: str, typed: Typed | None) -> None:
    """chat-face: `/` and `!` at the head; doubled, they begin a message."""
    assert read_typed(text) == typed


@pytest.mark.parametrize(
    ("typed", "near"), [("/recept", "/receipt"), ("/shw 7", "/show"), ("/QUIT", "/"), ("/", "/")]
)
def test_an_unknown_command_names_the_nearest(typed: str, near: str) -> None:
    """chat-face: A mistake is never sent to the model."""
    with pytest.raises(NotFoundError) as error:
        read_typed(typed)
    assert f"did you mean '{near}" in error.value.advice


def test_every_command_is_listed_once_in_the_help() -> None:
    """chat-face: /help has every command of the specification."""
    assert set(NAMES) == {
        "/help", "/tools", "/status", "/approvals", "/audit", "/inspect", "/receipt", "/show",
        "/last", "/new", "/model", "/save", "/quit",
    }  # fmt: skip
    assert any(usage.startswith("!COMMAND") for usage, _ in COMMANDS)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("0", None),
        ("", None),
        ("-1", None),
        ("७", None),
        ("1" * 9, 111111111),
        ("1" * 10, None),
    ],
)
def test_a_number_is_positive_and_short(text: str, number: int | None) -> None:
    """chat-face: Nothing else is taken for the number of an entry."""
    assert number_of(text) == number


# --- answers ------------------------------------------------------------------


def _played(made: World, *prompts: str) -> tuple[Agent, OpenThread]:
    """Play `prompts` in a new thread."""

    async def play() -> tuple[Agent, OpenThread]:
        agent = made.agent()
        thread = await agent.threads.open(Opening(thread=ThreadId("t1"), face="cli"))
        for prompt in prompts:
            request = TurnRequest(prompt=prompt)
            await agent.threads.start(thread, request, approver=NobodyApproves()).result()
        return agent, thread

    return asyncio.run(asyncio.wait_for(play(), 20))


def _said(agent: Agent, thread: OpenThread, name: str, text: str = "") -> str:
    lines = answer(agent, thread, name, text)
    return "\n".join("".join(part for part, _ in line) for line in lines)


@pytest.fixture(scope="module")
def case() -> tuple[Agent, OpenThread]:
    """The case of agent.md section 8, played to its end."""
    return _played(case_section_8(), *CASE_PROMPTS)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("/help", ["/inspect context [next|T|turns]", "!COMMAND"]),
        ("/tools", ["inspect", "The tool inspect.", "memory"]),
        ("/status", ["thread ", "t1", "entries  18", "model    steps", "sandbox"]),
        ("/approvals", ["nothing is granted"]),
        ("/audit", ["turn 4", "reply_given", "entry_stored"]),
        ("/inspect status", ["entries  18"]),
        ("/inspect config", ["model  steps"]),
        ("/inspect approvals", ["nothing is granted"]),
        ("/inspect audit", ["reply_given"]),
        (
            "/inspect context",
            ["would read next: 18 entries", "entry 1 · instructions", "Be brief."],
        ),
        ("/inspect context next", ["entry 18 · reply · turn 4"]),
        ("/inspect context 4", ["read in turn 4: 17 entries", '→ inspect {"what":"config"}']),
        ("/inspect context turns", ["turn 4  “Check everything", "ok · "]),
        ("/receipt", ["turn 4 of t1", "complete · 2 calls", "ok           system_info"]),
        ("/receipt 1", ["turn 1 of t1", "1 call"]),
        ("/show 14", ["entry 14 · prompt · turn 4", "Check everything in eight steps"]),
        ("/show 1", ["entry 1 · instructions\nBe brief."]),
        ("/last", ["tcp 127.0.0.1:22"]),
    ],
)
def test_a_command_that_looks_is_answered_out_of_the_record(
    case: tuple[Agent, OpenThread], command: str, words: list[str]
) -> None:
    """chat-face: The numbers are the same everywhere: /show 14 shows entry 14."""
    name, _, rest = command.partition(" ")
    said = _said(*case, name, rest)
    for word in words:
        assert word in said


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("/tools all", "takes nothing"),
        ("/show", "nothing is called ''"),
        ("/show x", "nothing is called 'x'"),
        ("/show 99", "no entry 99"),
        ("/show 0", "nothing is called '0'"),
        ("/show 00000000deadbeef", "no output 00000000deadbeef"),
        ("/receipt 99", "no turn 99"),
        ("/receipt x", "'x' is no number of a turn"),
        ("/inspect", "knows no ''"),
        ("/inspect everything", "knows no 'everything'"),
        ("/inspect config now", "knows no 'config now'"),
        ("/inspect context 99", "no turn 99"),
        ("/inspect context x", "'x' is no number of a turn"),
        ("/audit 00000000deadbeef", "no event '00000000deadbeef'"),
        ("/approvals revoke", "no grant is named"),
        ("/approvals revoke g1", "no grant 'g1'"),
        ("/approvals grant x", "knows no 'grant'"),
    ],
)
def test_a_command_that_cannot_be_meant_says_why(
    case: tuple[Agent, OpenThread], command: str, words: str
) -> None:
    """chat-face: One clear line, and the conversation goes on."""
    name, _, rest = command.partition(" ")
    with pytest.raises(CounterfoilError) as error:
        _said(*case, name, rest)
    assert words in error.value.found


def test_an_event_and_an_output_are_shown_whole_by_id(case: tuple[Agent, OpenThread]) -> None:
    """chat-face: The id that a fold names is the one that /show and /audit take."""
    agent, thread = case
    *_, found = (
        one for one in agent.views.events(thread.id, 4) if isinstance(one.payload, ToolReturned)
    )
    assert _said(agent, thread, "/show", found.id) == "tcp 127.0.0.1:22"
    event = decode_event(_said(agent, thread, "/audit", found.id).encode())
    assert event == found


def test_grants_are_listed_and_revoked(case: tuple[Agent, OpenThread]) -> None:
    """chat-face: A grant is shown with pattern, level, scope, place and end."""
    agent, thread = case
    standing = GrantRow(
        id="g1", pattern="git push *", level="moderate", scope="always", directory=None,
        expires_at="2026-03-31T09:00:00.000Z",
    )  # fmt: skip
    here = replace(standing, id="g2", scope="session", directory="/x", expires_at=None)
    revoked: list[str] = []

    def revoke(id_: str) -> bool:
        revoked.append(id_)
        return True

    granted = replace(agent, grants=lambda _: (standing, here), revoke=revoke)
    said = _said(granted, thread, "/approvals")
    assert "g1  git push *  moderate · always · any directory · until 2026-03-31" in said
    assert "g2  git push *  moderate · session · /x · until the thread is closed" in said
    assert _said(granted, thread, "/approvals", "revoke g1") == "grant g1 is revoked"
    assert revoked == ["g1"]


def test_a_thread_without_tools_or_outputs_says_so() -> None:
    """chat-face: Nothing to show is said, not shown as nothing."""

    async def opened() -> tuple[Agent, OpenThread]:
        agent = world([]).agent()
        return agent, await agent.threads.open(Opening(tools=(), face="cli"))

    agent, thread = asyncio.run(opened())
    assert _said(agent, thread, "/tools") == "this thread has no tools"
    assert _said(agent, thread, "/inspect", "context turns") == ""
    with pytest.raises(NotFoundError, match="no output in this thread yet"):
        _said(agent, thread, "/last")
    with pytest.raises(NotFoundError, match="no turn 0"):
        _said(agent, thread, "/receipt")


def test_what_was_elided_and_dropped_is_said_of_entries_and_turns() -> None:
    """context: The view by turn says what was elided, and an entry what is no longer read."""
    long = TableTool("inspect", ToolAnswer(output="word " * 2000), only_reads=True)
    steps = [step for n in range(12) for step in (calls(("inspect", "{}")), says(f"Reply {n}."))]
    agent, thread = _played(world(steps, long, window=3000), *(f"Prompt {n}." for n in range(12)))
    said = _said(agent, thread, "/inspect", "context turns")
    assert "1 output elided" in said
    assert "read from turn" in said
    assert "no longer read by the model" in _said(agent, thread, "/show", "3")
    assert "· a reference" in _said(agent, thread, "/inspect", "context")


def test_settings_are_shown_with_their_origin(case: tuple[Agent, OpenThread]) -> None:
    """chat-face: /inspect config shows every value, and where it came from."""
    agent, thread = case
    values = {"model": {"value": "m\x1b", "origin": "flag"}, "roots": ["a", "b"]}
    said = _said(replace(agent, config=lambda: values), thread, "/inspect", "config")
    assert said == "  model  m\\x1b  (flag)\n  roots  a, b"


# --- saving -------------------------------------------------------------------


def test_a_saved_thread_is_its_events_for_its_owner_alone(
    case: tuple[Agent, OpenThread], tmp_path: Path
) -> None:
    """chat-face: /save writes JSON Lines of events, mode 0600."""
    agent, thread = case
    path = tmp_path / "thread.jsonl"
    old = os.umask(0)
    try:
        written = save_events(agent.views.events(thread.id), str(path))
    finally:
        os.umask(old)
    lines = path.read_bytes().splitlines()
    assert len(lines) == written
    assert [decode_event(line) for line in lines] == list(agent.views.events(thread.id))
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("kind", ["file", "link", "dangling", "folder"])
def test_saving_overwrites_nothing(kind: str, tmp_path: Path) -> None:
    """chat-face: What is there stays as it is, a link and what it names with it."""
    path = tmp_path / "thread.jsonl"
    if kind == "file":
        path.write_text("mine", "utf-8")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / ("other" if kind == "dangling" else "."))
    with pytest.raises(ConflictError, match="exists"):
        save_events((), str(path))
    assert not (tmp_path / "other").exists()
    assert kind != "file" or path.read_text("utf-8") == "mine"


@pytest.mark.parametrize("name", ["", "no/such/folder/x", "a\0b", "~nobody-here/x"])
def test_a_name_that_cannot_be_a_file_is_refused(name: str, tmp_path: Path) -> None:
    """chat-face: A name that cannot be written says so."""
    with pytest.raises(NotFoundError):
        save_events((), name)


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), UnavailableError("x")])
def test_what_could_not_be_saved_leaves_no_file(fault: Exception, tmp_path: Path) -> None:
    """chat-face: A file is whole, or it is not there."""

    def events() -> object:
        raise fault

    path = tmp_path / "thread.jsonl"
    with pytest.raises(UnavailableError):
        save_events(iter(events, None), str(path))  # type: ignore[arg-type]
    assert not path.exists()


def test_the_output_of_what_a_person_ran_is_the_last_one() -> None:
    """chat-face: /last shows the last output, whoever caused it."""
    made = world([calls(("inspect", "{}")), says("Done.")], INSPECT)
    agent, thread = _played(made, "Go.")
    assert '"model"' in _said(agent, thread, "/last")

    recorder = Recorder(ports=made.ports, thread=thread.id, turn=1, collector=thread.collector)
    recorder.record(CommandExited(command="ls", exit_status=0, stdout="agent's"))
    assert '"model"' in _said(agent, thread, "/last")
    recorder.record(CommandExited(command="ls", exit_status=0, stdout="mine", source="person"))
    assert _said(agent, thread, "/last") == "$ ls\nexit status: 0\nmine"
    failed: Event = recorder.record(ToolFailed(tool="inspect", message="broke"))
    assert "broke" in _said(agent, thread, "/show", failed.id)
