"""A command from the model to the runner: each effect, in order, and what is never done."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.adapters.shell import ShfmtParser
from counterfoil.core.errors import UnreadableError
from counterfoil.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CommandExited,
    ErrorRaised,
    Event,
    Payload,
    PolicyDecided,
    ToolCalled,
    ToolReturned,
)
from counterfoil.core.gate.commands import ParsedCommand
from counterfoil.core.gate.grants import Grant, Pattern, ThreadGrants
from counterfoil.core.gate.output import KEPT, SHOWN
from counterfoil.core.gate.policy import load_policy
from counterfoil.core.gate.scale import Level
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.core.ran import ran_line
from counterfoil.core.receipt import fold_receipt
from counterfoil.engine.effects import (
    AskApproval,
    Effect,
    Execute,
    NotRecordedError,
    ReadCommand,
    Record,
    Sent,
    Turn,
    TurnCancelledError,
    drive,
)
from counterfoil.engine.gate import GateDesk, expiry_of
from counterfoil.engine.run_command import (
    SPEC,
    CommandDesk,
    gate_call,
    person_command,
    run_command,
)
from counterfoil.ports.tools import ApprovalAnswer, ApprovalRequest, CommandEnd, ToolAnswer

T = TypeVar("T")
Given: TypeAlias = Any
"""What a case hands on, to the one place that knows its type."""

NOW = "2026-03-01T09:00:00.000Z"
PARSER = ShfmtParser()
DONE = CommandEnd(exit_status=0, stdout="done\n", milliseconds=5, sandbox="bubblewrap")
YES = ApprovalAnswer(decision="approved")
NO = ApprovalAnswer(decision="denied")


class StillClock:
    """A clock that stands, whose ids count."""

    def __init__(self) -> None:
        self.time = NOW
        self._ids = 0

    def now(self) -> str:
        return self.time

    def monotonic(self) -> float:
        return 0.0

    def new_id(self) -> EventId:
        self._ids += 1
        return EventId.from_number(self._ids)


class ListedGrants:
    """Standing grants in a list; `fault` is raised instead."""

    def __init__(self, *grants: Grant) -> None:
        self.kept = list(grants)
        self.fault: UnreadableError | None = None
        self.asked = 0

    def grants(self) -> list[Grant]:
        self.asked += 1
        self._fail()
        return list(self.kept)

    def add(self, grant: Grant) -> None:
        self._fail()
        self.kept.append(grant)

    def revoke(self, grant_id: str) -> bool:
        before = len(self.kept)
        self.kept = [one for one in self.kept if one.id != grant_id]
        return len(self.kept) < before

    def _fail(self) -> None:
        if self.fault is not None:
            raise self.fault


class World:
    """Does the effects of a turn: answers and ends are given, what happened is kept."""

    def __init__(self, **given_settings: Given) -> None:
        self.clock = StillClock()
        self.standing = ListedGrants()
        self.done: list[Effect] = []
        self.answers: list[ApprovalAnswer | BaseException | Sent] = []
        self.ends: list[CommandEnd | BaseException | Sent] = []
        self.unrecorded: type[Payload] | None = None
        self.desk = CommandDesk(
            gate=replace(
                GateDesk(
                    thread=ThreadId("t1"),
                    turn=1,
                    clock=self.clock,
                    policy=load_policy(),
                    granted=ThreadGrants(),
                    standing=self.standing,
                    sandbox="bubblewrap",
                ),
                **given_settings,
            ),
            parser=PARSER,
            directory="/shop",
            find_directory=lambda path: None if "missing" in path else path,
        )

    def perform(self, effect: Effect) -> Sent:
        if isinstance(effect, ReadCommand):
            return effect.read()
        if isinstance(effect, Record) and type(effect.payload) is self.unrecorded:
            raise NotRecordedError
        self.done.append(effect)
        if isinstance(effect, Record):
            return self._event(effect)
        if isinstance(effect, AskApproval):
            return _given(self.answers.pop(0))
        assert isinstance(effect, Execute)
        return _given(self.ends.pop(0) if self.ends else DONE)

    def _event(self, effect: Record) -> Event:
        return Event(
            seq=len(self.done),
            id=EventId.from_number(len(self.done)),
            occurred_at=NOW,
            thread=ThreadId("t1"),
            turn=1,
            call=effect.call,
            payload=effect.payload,
        )

    def drive(self, turn: Turn[T]) -> T:
        return drive(turn, self.perform)

    def run(self, command: str, **arguments: object) -> ToolAnswer:
        return self.drive(run_command(self.desk, "c1", {"command": command} | arguments))

    def next_turn(self) -> None:
        self.desk = replace(self.desk, gate=replace(self.desk.gate, turn=self.desk.gate.turn + 1))

    @property
    def payloads(self) -> list[Payload]:
        return [effect.payload for effect in self.done if isinstance(effect, Record)]

    @property
    def asked(self) -> list[ApprovalRequest]:
        return [effect.request for effect in self.done if isinstance(effect, AskApproval)]

    @property
    def executed(self) -> list[str]:
        return [effect.request.command for effect in self.done if isinstance(effect, Execute)]

    def kinds(self) -> list[str]:
        """Return what happened, in order, and forget it."""
        kinds = [
            type(one.payload if isinstance(one, Record) else one).__name__ for one in self.done
        ]
        self.done.clear()
        return kinds

    def of(self, kind: type[T]) -> list[T]:
        return [payload for payload in self.payloads if isinstance(payload, kind)]


def _given(value: "BaseException | Sent") -> Sent:
    if isinstance(value, BaseException):
        raise value
    return value


@pytest.fixture
def world() -> World:
    """A confined runner, nothing granted, the threshold as it is by default."""
    return World()


# --- the order of things --------------------------------------------------------


def test_a_safe_command_runs_unasked(world: World) -> None:
    """gate: Decided and recorded before it runs, then its outcome."""
    answer = world.run("ls -la")
    assert answer.output == "exit status: 0\nstdout:\ndone"
    assert (answer.outcome, answer.truncated) == ("ok", False)
    decided, execute, exited = world.done
    assert decided == Record(
        payload=PolicyDecided(
            command="ls -la",
            directory="/shop",
            verdict="allowed",
            by="policy",
            sandbox="bubblewrap",
        ),
        call="c1",
    )
    assert isinstance(execute, Execute)
    assert (execute.request.command, execute.request.directory) == ("ls -la", "/shop")
    assert exited == Record(
        payload=CommandExited(
            command="ls -la",
            directory="/shop",
            exit_status=0,
            timed_out=False,
            truncated=False,
            stdout="done\n",
            stderr="",
            milliseconds=5,
        ),
        call="c1",
    )


@pytest.mark.parametrize("command", ["make test", "rm -rf build", "echo 'unbalanced"])
def test_what_is_not_safe_is_asked_about(world: World, command: str) -> None:
    """gate: The person sees the exact bytes that will run, and those are in the event."""
    world.answers = [YES]
    assert world.run(command).outcome == "ok"
    (request,) = world.asked
    assert request.shown == request.command == command
    assert (request.thread, request.turn, request.call) == ("t1", 1, "c1")
    (asked,) = world.of(ApprovalRequested)
    assert asked.shown == asked.command == command
    assert (asked.pattern, asked.level) == (request.pattern, request.level)
    assert world.executed == [command]
    assert world.kinds() == [
        "ApprovalRequested",
        "AskApproval",
        "ApprovalDecided",
        "PolicyDecided",
        "Execute",
        "CommandExited",
    ]


@given(st.text(min_size=1, max_size=30))
@settings(max_examples=25, deadline=None)
def test_what_runs_is_what_was_asked_for_shown_and_recorded(text: str) -> None:
    """gate: Every byte of it, or it does not run."""
    world = World()
    world.answers = [YES]
    world.run(text)
    assert set(world.executed) <= {text}
    assert {request.shown for request in world.asked} <= {text}
    assert {payload.command for payload in world.of(PolicyDecided)} <= {text}


def test_what_the_policy_denies_is_neither_asked_nor_run(world: World) -> None:
    """gate: The decision is recorded, and the model reads why."""
    answer = world.run("sudo ls")
    assert answer.outcome == "denied"
    assert "privilege" in answer.output
    (decided,) = world.of(PolicyDecided)
    assert (decided.verdict, decided.by) == ("denied", "policy")
    assert decided.reason == "privilege: sudo runs commands as somebody else"
    assert world.kinds() == ["PolicyDecided"]


@pytest.mark.parametrize(
    ("answer", "outcome", "words"),
    [
        (NO, "denied", "the person said no"),
        (ApprovalAnswer(decision="denied", reason="too risky"), "denied", "too risky"),
        (ApprovalAnswer(decision="timed_out", by="nobody"), "denied", "nobody answered in time"),
        (ApprovalAnswer(decision="cancelled"), "cancelled", "withdrawn"),
    ],
)
def test_what_nobody_approved_is_not_run(
    world: World, answer: ApprovalAnswer, outcome: str, words: str
) -> None:
    """gate: No answer, or nobody to ask, is a refusal."""
    world.answers = [answer]
    answered = world.run("make")
    assert (answered.outcome, world.executed) == (outcome, [])
    assert words in answered.output
    (approval,) = world.of(ApprovalDecided)
    assert (approval.decision, approval.scope) == (answer.decision, None)
    (decided,) = world.of(PolicyDecided)
    assert (decided.verdict, decided.by) == ("disapproved", "gate")
    assert decided.reason
    assert world.kinds() == ["ApprovalRequested", "AskApproval", "ApprovalDecided", "PolicyDecided"]


@pytest.mark.parametrize("wrong", [RuntimeError("no terminal"), OSError(5, "gone"), DONE])
def test_an_approver_that_fails_has_approved_nothing(world: World, wrong: Given) -> None:
    """gate: Whatever it raises, or answers that is no answer."""
    world.answers = [wrong]
    assert world.run("make").outcome == "denied"
    assert world.executed == []
    (approval,) = world.of(ApprovalDecided)
    assert (approval.decision, approval.by) == ("denied", "nobody")


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("ls", PolicyDecided),
        ("make", ApprovalRequested),
        ("make", ApprovalDecided),
        ("make", PolicyDecided),
        ("sudo ls", PolicyDecided),
    ],
)
@pytest.mark.parametrize(
    "answer", [YES, replace(YES, scope="session"), replace(YES, scope="always"), NO]
)
def test_a_decision_that_cannot_be_recorded_is_not_acted_on(
    command: str, kind: type[Payload], answer: ApprovalAnswer
) -> None:
    """gate: Nothing runs, and nothing is granted, that is not on the record."""
    world = World()
    world.answers = [answer]
    world.unrecorded = kind
    with pytest.raises(NotRecordedError):
        world.run(command)
    assert world.executed == []
    if kind is not PolicyDecided:
        assert world.standing.kept == []
        assert world.desk.gate.granted.grants() == ()


def test_a_grant_that_cannot_be_recorded_runs_nothing(world: World) -> None:
    """gate: A cached decision is one, too."""
    world.answers = [replace(YES, scope="session")]
    world.run("make")
    world.unrecorded = ApprovalDecided
    world.done.clear()
    with pytest.raises(NotRecordedError):
        world.run("make")
    assert world.executed == []


# --- grants ---------------------------------------------------------------------


def test_an_approval_for_the_thread_holds_for_its_pattern(world: World) -> None:
    """gate: Program and verb, its level or below, until the thread closes."""
    world.answers = [replace(YES, scope="session")]
    world.run("git push origin x")
    world.next_turn()
    world.run("git push origin y")
    assert len(world.asked) == 1
    cached = world.of(ApprovalDecided)[1]
    assert (cached.decision, cached.scope, cached.pattern) == ("cached", "session", "git push *")
    assert [one.verdict for one in world.of(PolicyDecided)] == ["allowed", "allowed"]
    world.answers = [NO, NO, NO]
    world.run("git push --force")
    world.run("git fetch")
    world.run("git push; make")
    assert len(world.asked) == 4
    assert world.standing.kept == []


def test_an_approval_for_once_holds_for_the_same_text_in_its_turn(world: World) -> None:
    """gate: Nothing else, nowhere else, and not in the next turn."""
    world.answers = [YES, NO, NO, NO]
    world.run("rm -r build")
    world.run("rm -r build")
    assert len(world.asked) == 1
    assert [one.scope for one in world.of(ApprovalDecided)] == ["once", "turn"]
    world.run("rm -r  build")
    world.run("rm -r build", directory="/elsewhere")
    world.next_turn()
    world.run("rm -r build")
    assert len(world.asked) == 4


@pytest.mark.parametrize("scope", ["project", "always"])
def test_a_standing_approval_for_danger_is_good_for_the_thread_alone(
    world: World, scope: Given
) -> None:
    """gate: Remembered by exact text, and what was asked for is on the record."""
    world.answers = [replace(YES, scope=scope), NO, NO]
    world.run("rm -r build")
    (approval,) = world.of(ApprovalDecided)
    assert (approval.scope, approval.downgraded_from) == ("session", scope)
    assert approval.expires_at is None
    assert world.standing.kept == []
    world.next_turn()
    world.run("rm -r build")
    assert len(world.asked) == 1
    world.run("rm -r build2")
    world.run("rm -r build", directory="/elsewhere")
    assert len(world.asked) == 3


@pytest.mark.parametrize(("scope", "directory"), [("project", "/shop"), ("always", None)])
def test_a_standing_approval_is_kept_for_thirty_days(
    world: World, scope: Given, directory: str | None
) -> None:
    """gate: In its directory or everywhere; asked anew when it has expired."""
    world.answers = [replace(YES, scope=scope, by="ann"), NO]
    world.run("make test")
    (grant,) = world.standing.kept
    assert (grant.pattern, grant.level) == (Pattern("make *"), "moderate")
    assert (grant.scope, grant.directory, grant.source) == (scope, directory, "ann")
    assert (grant.granted_at, grant.expires_at) == (NOW, "2026-03-31T09:00:00.000Z")
    other = World(standing=world.standing)
    other.run("make x")
    cached = other.of(ApprovalDecided)[0]
    assert (cached.decision, cached.scope, cached.by) == ("cached", scope, "ann")
    assert cached.expires_at == grant.expires_at
    other.answers = [NO]
    other.run("make x", directory="/elsewhere")
    assert len(other.asked) == (1 if scope == "project" else 0)
    world.clock.time = "2026-03-31T09:00:00.000Z"
    world.run("make test")
    assert len(world.asked) == 2


def test_a_grant_revoked_elsewhere_holds_no_more(world: World) -> None:
    """gate: Standing grants are read again at each use."""
    world.answers = [replace(YES, scope="always"), NO]
    world.run("make")
    world.run("make")
    assert len(world.asked) == 1
    world.standing.revoke(world.standing.kept[0].id)
    world.run("make")
    assert len(world.asked) == 2


def test_standing_grants_that_cannot_be_read_grant_nothing(world: World) -> None:
    """gate: The person is asked, and learns why; one that cannot be kept holds for the thread."""
    world.standing.fault = UnreadableError("the file is damaged")
    world.answers = [replace(YES, scope="always")]
    world.run("make")
    assert world.asked[0].reasons == ("moderate: make", "the file is damaged")
    assert world.of(ErrorRaised) == [ErrorRaised(message="the file is damaged", where="grants")]
    world.next_turn()
    world.run("make")
    assert len(world.asked) == 1


def test_without_a_place_for_them_grants_do_not_stand() -> None:
    """gate: They hold for the thread, which is recorded."""
    world = World(standing=None)
    world.answers = [replace(YES, scope="project")]
    world.run("make")
    assert [one.where for one in world.of(ErrorRaised)] == ["grants"]
    world.run("make")
    assert len(world.asked) == 1


def test_what_is_dangerous_never_asks_for_standing_grants(world: World) -> None:
    """gate: They could not cover it."""
    world.answers = [NO]
    world.run("rm -r x")
    assert world.standing.asked == 0


def test_each_part_of_a_line_has_to_be_covered(world: World) -> None:
    """gate: Two grants cover two parts; each is on the record, once."""
    world.answers = [replace(YES, scope="session"), replace(YES, scope="session"), NO]
    world.run("git push")
    world.run("make && git push && make && ls")
    assert world.asked[1].pattern == "make *, git push *"
    world.done.clear()
    world.run("make x; git push y; make z")
    assert [one.pattern for one in world.of(ApprovalDecided)] == ["make *", "git push *"]
    assert world.executed == ["make x; git push y; make z"]
    world.run("make x; touch y")
    assert len(world.asked) == 1


def test_a_line_that_is_more_than_its_parts_is_asked_about_as_a_whole(world: World) -> None:
    """gate: The whole line is judged once more."""
    world.answers = [replace(YES, scope="session"), NO]
    world.run("ls &")
    assert (world.asked[0].pattern, world.asked[0].level) == ("ls &", "moderate")
    world.run("ls &")
    assert len(world.asked) == 1
    world.run("pwd &")
    assert len(world.asked) == 2


def test_a_line_that_moves_is_covered_by_no_grant_of_its_directory(world: World) -> None:
    """gate: A grant of a project covers commands in its directory alone."""
    world.answers = [replace(YES, scope="project"), replace(YES, scope="always")]
    world.run("make")
    world.run("cd /elsewhere && make")
    assert [one.pattern for one in world.asked] == ["make *", "cd /elsewhere && make"]
    world.run("cd /elsewhere && make")
    assert len(world.asked) == 2
    other = World(
        standing=ListedGrants(replace(world.standing.kept[0], scope="always", directory=None))
    )
    other.run("cd /elsewhere && make")
    assert other.asked == []


@pytest.mark.parametrize(
    ("threshold", "command", "is_asked"),
    [
        ("safe", "ls", True),
        ("safe", "# nothing", True),
        ("moderate", "ls", False),
        ("moderate", "make", True),
        ("moderate", "rm -r x", True),
        ("dangerous", "make", False),
        ("dangerous", "rm -r x", True),
    ],
)
def test_what_is_below_the_threshold_runs(threshold: Level, command: str, is_asked: bool) -> None:  # noqa: FBT001
    """gate: At the threshold and above it is asked."""
    world = World(threshold=threshold)
    world.answers = [YES]
    world.run(command)
    assert bool(world.asked) is is_asked
    assert world.executed == [command]


def test_without_confinement_everything_is_one_level_higher() -> None:
    """gate: The event says so: `sandbox: none`."""
    world = World(sandbox="none")
    world.answers = [YES, YES]
    world.run("ls")
    world.run("make")
    assert [one.level for one in world.asked] == ["moderate", "dangerous"]
    assert {one.sandbox for one in world.of(PolicyDecided)} == {"none"}


def test_a_person_is_told_why_they_are_asked(world: World) -> None:
    """gate: The parts that make the line what it is, or why it could not be read; ten at most."""
    world.answers = [NO, NO, NO, NO]
    world.run("ls; make a; rm -r b")
    assert world.asked[0].reasons == ("dangerous: rm -r b",)
    world.run("echo 'x")
    assert "without closing quote" in world.asked[1].reasons[0]
    world.run("; ".join(f"make {number}" for number in range(11)))
    assert len(world.asked[2].reasons) == 10
    world.run(f"make {'x' * 200}")
    assert world.asked[3].reasons == (f"moderate: make {'x' * 195}…",)


# --- what a call may say --------------------------------------------------------


@pytest.mark.parametrize("name", ["confirm", "approved", "approve", "yes", "timeout"])
def test_no_argument_is_an_approval(world: World, name: str) -> None:
    """gate: An unknown argument is refused; the model can never approve."""
    answer = world.run("make", **{name: True})
    assert answer.outcome == "error"
    assert name in answer.output
    assert "only a person" in answer.output
    assert world.done == []


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"command": ""},
        {"command": " \n"},
        {"command": 1},
        {"command": None},
        {"command": ["ls"]},
        {"command": "ls", "directory": 1},
        {"command": "ls\0"},
        {"command": "ls \ud800"},
        {"command": "ls", "directory": "a\0b"},
        {"command": "ls", "directory": "\udfff"},
        {"command": "ls", "directory": "/missing"},
    ],
)
def test_a_call_that_makes_no_sense_is_a_tool_error(
    world: World, arguments: Mapping[str, object]
) -> None:
    """run-command: In words, with nothing recorded and nothing run."""
    answer = world.drive(run_command(world.desk, "c1", arguments))
    assert answer.outcome == "error"
    assert answer.output
    assert world.done == []


def test_the_tool_is_offered_with_its_two_arguments() -> None:
    """run-command: And no other."""
    assert SPEC.name == "run_command"
    assert not SPEC.only_reads
    assert list(SPEC.parameters["properties"]) == ["command", "directory"]  # type: ignore[call-overload]
    assert SPEC.parameters["additionalProperties"] is False


def test_a_command_runs_where_it_was_asked_to(world: World) -> None:
    """run-command: The directory that was found is the one judged, recorded and run in."""
    world.desk = replace(world.desk, find_directory=lambda path: f"/real{path}", seconds=5)
    world.run("ls", directory="/a")
    (execute,) = (one for one in world.done if isinstance(one, Execute))
    assert (execute.request.directory, execute.request.seconds) == ("/real/a", 5)
    assert [one.directory for one in world.of(PolicyDecided)] == ["/real/a"]
    assert [one.directory for one in world.of(CommandExited)] == ["/real/a"]


# --- how a command ends ---------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "output", "outcome"),
    [
        (CommandEnd(exit_status=0), "exit status: 0", "ok"),
        (CommandEnd(exit_status=1, stderr="no\n"), "exit status: 1\nstderr:\nno", "ok"),
        (
            CommandEnd(exit_status=-9, signal=9, timed_out=True, stdout="a", stderr="b"),
            "exit status: -9\ntimed out after 60 s, and was ended\nstdout:\na\nstderr:\nb",
            "ok",
        ),
        (CommandEnd(), "exit status: not recorded", "ok"),
        (CommandEnd(exit_status=-15, is_cancelled=True), "exit status: -15", "cancelled"),
        (
            CommandEnd(exit_status=0, truncated=True),
            "exit status: 0\noutput cut: of each stream the last 4096 bytes at most are shown",
            "ok",
        ),
    ],
)
def test_the_model_reads_how_a_command_ended(
    world: World, end: CommandEnd, output: str, outcome: str
) -> None:
    """run-command: Status, what cut it short, both outputs; empty ones are left out."""
    world.ends = [end]
    answer = world.run("ls")
    assert (answer.output, answer.outcome) == (output, outcome)
    (exited,) = world.of(CommandExited)
    assert (exited.exit_status, exited.signal) == (end.exit_status, end.signal)
    assert (exited.timed_out, exited.truncated) == (end.timed_out, end.truncated)


def test_what_did_not_start_did_not_exit(world: World) -> None:
    """run-command: It is a tool error; no exit is recorded."""
    world.ends = [CommandEnd(not_started="no such file")]
    answer = world.run("ls")
    assert (answer.output, answer.outcome) == ("the command did not start: no such file", "error")
    assert world.kinds() == ["PolicyDecided", "Execute"]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize(("more", "is_cut"), [(-1, False), (0, False), (1, True)])
def test_the_end_of_each_stream_is_shown(
    world: World, stream: str, *, more: int, is_cut: bool
) -> None:
    """run-command: 4 KiB of each stream for the model, in whole lines."""
    text = "x\n" * ((SHOWN + more) // 2) + "y" * ((SHOWN + more) % 2)
    world.ends = [CommandEnd(exit_status=0, **{stream: text})]  # type: ignore[arg-type]
    answer = world.run("ls")
    assert answer.truncated is is_cut
    shown = answer.output.split(f"{stream}:\n")[1]
    assert len(shown) <= SHOWN
    assert text.rstrip().endswith(shown)
    (exited,) = world.of(CommandExited)
    assert (getattr(exited, stream), exited.truncated) == (text, False)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize(("more", "is_cut"), [(-1, False), (0, False), (1, True)])
def test_so_much_of_each_stream_is_recorded(
    world: World, stream: str, *, more: int, is_cut: bool
) -> None:
    """run-command: 1 MiB of each stream, with `truncated` set beyond."""
    world.ends = [CommandEnd(exit_status=0, **{stream: "x" * (KEPT + more)})]  # type: ignore[arg-type]
    world.run("ls")
    (exited,) = world.of(CommandExited)
    assert len(getattr(exited, stream)) == min(KEPT + more, KEPT)
    assert exited.truncated is is_cut


def test_a_runner_that_throws_is_the_callers_error(world: World) -> None:
    """run-command: The decision stays recorded; an answer that is no end is one, too."""
    for wrong, kind in ((OSError("gone"), OSError), (YES, TypeError)):
        world.ends = [wrong]
        with pytest.raises(kind):
            world.run("ls")
        assert world.kinds() == ["PolicyDecided", "Execute"]


# --- cancelled ------------------------------------------------------------------


def test_a_question_is_withdrawn_with_its_turn(world: World) -> None:
    """gate: The record says so, nothing runs, and the turn learns that it was cancelled."""
    world.answers = [TurnCancelledError()]
    with pytest.raises(TurnCancelledError):
        world.run("make")
    (approval,) = world.of(ApprovalDecided)
    assert (approval.decision, approval.by) == ("cancelled", "turn")
    (decided,) = world.of(PolicyDecided)
    assert (decided.verdict, decided.reason) == ("disapproved", "the turn was cancelled")
    assert world.executed == []


def test_a_command_that_was_ended_with_its_turn_is_recorded(world: World) -> None:
    """run-command: How it ended is known, and goes on to who asked."""
    end = CommandEnd(exit_status=-15, is_cancelled=True, stdout="half")
    world.ends = [TurnCancelledError(end)]
    with pytest.raises(TurnCancelledError) as caught:
        world.run("ls")
    assert isinstance(caught.value.sent, ToolAnswer)
    assert caught.value.sent.output == "exit status: -15\nstdout:\nhalf"
    assert [one.exit_status for one in world.of(CommandExited)] == [-15]


def test_a_command_of_which_nothing_is_known_has_no_exit(world: World) -> None:
    """run-command: Nothing is made up."""
    world.ends = [TurnCancelledError()]
    with pytest.raises(TurnCancelledError):
        world.run("ls")
    assert world.kinds() == ["PolicyDecided", "Execute"]


# --- persons and other servers --------------------------------------------------


@pytest.mark.parametrize("command", ["ls", "rm -rf build", "sudo ls", "echo 'x"])
def test_a_person_runs_what_they_type(world: World, command: str) -> None:
    """person-command: The same runner and record, and no gate."""
    answer = world.drive(person_command(world.desk, command))
    assert answer.output == "exit status: 0\nstdout:\ndone"
    assert world.executed == [command]
    (decided,), (exited,) = world.of(PolicyDecided), world.of(CommandExited)
    assert (decided.verdict, decided.source, exited.source) == ("allowed", "person", "person")
    assert world.kinds() == ["PolicyDecided", "Execute", "CommandExited"]


def test_what_a_person_mistyped_is_told(world: World) -> None:
    """person-command: A directory that is not there, a text that is none."""
    for command, directory in (("ls", "/missing"), ("", None), ("a\0", None)):
        answer = world.drive(person_command(world.desk, command, directory))
        assert answer.outcome == "error"
    assert world.done == []


def test_what_a_person_ran_is_not_in_the_receipt(world: World) -> None:
    """person-command: It is not what the agent did."""
    world.drive(person_command(world.desk, "false", "/shop"))
    events = [world._event(one) for one in world.done if isinstance(one, Record)]
    receipt = fold_receipt(events, "t1", 1)
    assert (receipt.commands, receipt.denials) == ((), ())


CALL = 'github.create_issue {"title":"sudo rm -rf /"}'


def test_a_call_of_another_server_passes_the_same_gate(world: World) -> None:
    """gate: Asked, remembered under its pattern, recorded; `None` lets it through."""

    def call(level: Level = "moderate") -> ToolAnswer | None:
        return world.drive(gate_call(world.desk, "c1", CALL, level, "github.create_issue *"))

    world.answers = [NO, replace(YES, scope="session"), NO]
    refused = call()
    assert refused is not None
    assert refused.outcome == "denied"
    assert call() is None
    assert call() is None
    assert call("dangerous") is not None
    assert call("safe") is None
    assert [one.pattern for one in world.asked] == [
        "github.create_issue *",
        "github.create_issue *",
        CALL,
    ]
    assert [one.shown for one in world.asked] == [CALL] * 3
    assert world.executed == []


def test_patterns_of_the_policy_hold_for_other_servers() -> None:
    """gate: Denied before it is asked; without confinement one level higher."""
    world = World(policy=load_policy(deny=[r"^github\."]), sandbox="none")
    answer = world.drive(gate_call(world.desk, "c1", CALL, "moderate", "x *"))
    assert answer is not None
    assert answer.outcome == "denied"
    assert world.kinds() == ["PolicyDecided"]
    open_world = World(sandbox="none")
    open_world.answers = [YES]
    assert open_world.drive(gate_call(open_world.desk, "c1", CALL, "safe", "x *")) is None
    assert open_world.asked[0].level == "moderate"


# --- what the receipt makes of it -----------------------------------------------


@pytest.mark.parametrize(
    ("command", "answers", "ends", "line"),
    [
        ("ls", [], [], "ran: run_command"),
        ("ls", [], [CommandEnd(exit_status=1)], "ran: run_command (1 failed)"),
        ("sudo ls", [], [], "ran: run_command (1 denied)"),
        ("make", [NO], [], "ran: run_command (1 declined)"),
        ("make", [YES], [], "ran: run_command"),
        ("ls", [], [CommandEnd(not_started="x")], "ran: run_command (1 failed)"),
    ],
)
def test_the_line_under_a_reply_says_how_the_command_went(
    world: World,
    command: str,
    *,
    answers: list[Any],
    ends: list[Any],
    line: str,
) -> None:
    """gate: The receipt folds the same events."""
    world.answers, world.ends = answers.copy(), ends.copy()
    answer = world.run(command)
    called = Record(payload=ToolCalled(tool="run_command", arguments="{}"), call="c1")
    returned = Record(payload=ToolReturned(tool="run_command", outcome=answer.outcome), call="c1")
    records = [called, *(one for one in world.done if isinstance(one, Record)), returned]
    events = [world._event(one) for one in records]
    assert ran_line(events, "t1", 1, reply=None, tools=()) == line


def test_a_parser_that_is_not_there_runs_nothing(world: World) -> None:
    """gate: What cannot be judged is not run."""

    def parse(_: str) -> ParsedCommand:
        raise UnreadableError("no parser")

    class Broken:
        parse: Callable[[str], ParsedCommand]

    broken = Broken()
    broken.parse = parse
    world.desk = replace(world.desk, parser=broken)
    with pytest.raises(UnreadableError):
        world.run("ls")
    assert world.done == []


def test_standing_grants_expire_after_thirty_days() -> None:
    """gate: Over the end of a month, a leap day and a year."""
    assert expiry_of("2026-03-01T09:00:00.000Z") == "2026-03-31T09:00:00.000Z"
    assert expiry_of("2028-02-15T00:00:00.123Z") == "2028-03-16T00:00:00.123Z"
    assert expiry_of("2026-12-31T23:59:59.999Z") == "2027-01-30T23:59:59.999Z"


def test_a_command_that_is_not_read_is_not_run(world: World) -> None:
    """gate: What a driver answers has to be what was asked for."""
    turn = run_command(world.desk, "c1", {"command": "ls"})
    next(turn)
    with pytest.raises(TypeError, match="reads as a Line"):
        turn.send(YES)
