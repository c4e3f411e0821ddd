"""The two drivers of a turn, and what does its effects."""

import asyncio
from collections.abc import Callable

import pytest

from counterfoil.core.entries import EntryDraft
from counterfoil.core.errors import ConflictError, UnavailableError
from counterfoil.core.events import Event, PromptReceived
from counterfoil.core.gate.commands import ParsedCommand
from counterfoil.core.gate.reading import read_line
from counterfoil.core.ids import ThreadId
from counterfoil.core.messages import AskedCall, ModelAnswer, ModelRequest
from counterfoil.core.turns import ReceiptCollector
from counterfoil.engine.converse import Background, TurnRequest, converse
from counterfoil.engine.effects import (
    AskApproval,
    AskModel,
    Effect,
    Execute,
    NotRecordedError,
    ReadCommand,
    Record,
    Sent,
    StoreEntry,
    Turn,
    TurnCancelledError,
    drive,
    drive_async,
)
from counterfoil.engine.performing import Hands, NobodyApproves, Performer, Recorder
from counterfoil.engine.thread_parts import Opening, OpenThread
from counterfoil.engine.threads import _background, _let_go
from counterfoil.ports.tools import (
    ApprovalAnswer,
    ApprovalRequest,
    Approver,
    CommandEnd,
    CommandRequest,
    ToolRunner,
)
from counterfoil.wire.events import encode_event
from engine.agent_world import (
    INSPECT,
    StepModel,
    World,
    YesApprover,
    case_section_8,
    says,
    world,
)

FACT = Record(payload=PromptReceived(text="x"))
QUESTION = ApprovalRequest(
    id="1",
    thread=ThreadId("one"),
    turn=1,
    call="c",
    command="make",
    shown="make",
    directory="/d",
    pattern="make *",
    level="moderate",
)


def two_facts() -> Turn[str]:
    """Record twice; say what was thrown in at the first, and record it away."""
    said = "fine"
    try:
        yield FACT
    except (TurnCancelledError, ValueError) as error:
        said = type(error).__name__
    yield FACT
    return said


class Thrower:
    """Does the first effect by raising, every later one by an event."""

    def __init__(self, error: BaseException | None, event: Event) -> None:
        self.error, self.event = error, event

    def perform(self, effect: Effect) -> Sent:
        """Raise once, then answer."""
        del effect
        error, self.error = self.error, None
        if error is not None:
            raise error
        return self.event

    async def await_(self, effect: Effect) -> Sent:
        """Do the same, awaited."""
        return self.perform(effect)


@pytest.fixture
def event() -> Event:
    """Return some event."""
    made = world([])
    recorder = Recorder(
        ports=made.ports, thread=ThreadId("a"), turn=1, collector=ReceiptCollector()
    )
    return recorder.record(PromptReceived(text="x"))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (None, "fine"),
        (ValueError(), "ValueError"),
        (KeyboardInterrupt(), "TurnCancelledError"),
        (TurnCancelledError(), "TurnCancelledError"),
    ],
)
def test_the_synchronous_driver_raises_inside_the_turn(
    error: BaseException | None, said: str, event: Event
) -> None:
    """two-drivers: What an effect raises is the turn's to decide; Ctrl-C cancels it."""
    assert drive(two_facts(), Thrower(error, event).perform) == said


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (None, "fine"),
        (ValueError(), "ValueError"),
        (asyncio.CancelledError(), "TurnCancelledError"),
        (TurnCancelledError(), "TurnCancelledError"),
    ],
)
def test_the_asynchronous_driver_does_the_same(
    error: BaseException | None, said: str, event: Event
) -> None:
    """two-drivers: The same turn, awaited; cancelled, the rest is closed at once."""
    closed: list[Effect] = []

    def close(effect: Effect) -> Sent:
        closed.append(effect)
        return event

    found = asyncio.run(drive_async(two_facts(), Thrower(error, event).await_, close))
    assert found == said
    assert bool(closed) is (said == "TurnCancelledError")


def test_an_error_that_the_turn_does_not_take_comes_out(event: Event) -> None:
    """two-drivers: Nothing is swallowed by a driver."""
    with pytest.raises(KeyError):
        drive(two_facts(), Thrower(KeyError(), event).perform)
    thrower = Thrower(KeyError(), event)
    with pytest.raises(KeyError):
        asyncio.run(drive_async(two_facts(), thrower.await_, thrower.perform))


def background(made: World, opened: object) -> Background:
    """Return where the next turn of an open thread starts from."""
    assert isinstance(opened, OpenThread)
    opened.turn += 1
    return _background(opened)


@pytest.mark.parametrize("is_async", [True, False])
def test_both_drivers_leave_the_same_record(is_async: bool) -> None:  # noqa: FBT001 - a case
    """two-drivers: One generator, two drivers, the same bytes in the log."""
    lines = [_record_of(is_async), _record_of(not is_async)]
    assert lines[0] == lines[1]
    assert len(lines[0]) > 10


def _record_of(is_async: bool) -> list[bytes]:  # noqa: FBT001 - a case
    asked = (
        AskedCall(id="c1", tool="inspect", arguments="{}"),
        AskedCall(id="c2", tool="nothing", arguments="{}"),
    )
    made = world([ModelAnswer(calls=asked), says("Done, see entry 4.")], INSPECT)

    async def opened() -> object:
        return await made.threads().open(Opening(thread=ThreadId("one")))

    thread = asyncio.run(opened())
    start = background(made, thread)
    recorder = Recorder(
        ports=made.ports, thread=ThreadId("one"), turn=1, collector=ReceiptCollector()
    )
    performer = Performer(recorder, hands(made))
    toolbox = made.threads()._toolbox(thread)  # type: ignore[arg-type]
    turn = converse(start, TurnRequest(prompt="Go."), toolbox)
    if is_async:
        asyncio.run(drive_async(turn, performer.perform, recorder.close))
    else:
        drive(turn, performer.perform_now)
    return [encode_event(event) for event in made.log.events()]


def hands(
    made: World, approver: Approver | None = None, runner: ToolRunner | None = None, wait: float = 9
) -> Hands:
    """Return hands over the parts of a world."""
    return Hands(
        model=made.model,
        tools=made.tools,
        runner=runner,
        approver=approver or NobodyApproves(),
        approval_seconds=wait,
    )


class EchoRunner:
    """A runner that says what it was asked to run."""

    sandbox = "none"

    def run(self, request: CommandRequest, is_cancelled: Callable[[], bool]) -> CommandEnd:
        """Return the command as its output."""
        assert not is_cancelled()
        return CommandEnd(exit_status=0, stdout=request.command)


class SilentApprover:
    """A person who never answers."""

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Wait for ever."""
        del request
        await asyncio.Event().wait()
        raise AssertionError


def performer(made: World, **parts: object) -> Performer:
    """Return a performer of turn 1."""
    recorder = Recorder(
        ports=made.ports, thread=ThreadId("one"), turn=1, collector=ReceiptCollector()
    )
    return Performer(recorder, hands(made, **parts))  # type: ignore[arg-type]


def test_a_command_is_run_by_the_runner_or_not_at_all() -> None:
    """agent-tools: Where there is none, nothing runs."""
    effect = Execute(request=CommandRequest(command="make", directory="/"))
    done = asyncio.run(performer(world([]), runner=EchoRunner()).perform(effect))
    assert done == CommandEnd(exit_status=0, stdout="make")
    with pytest.raises(UnavailableError, match="cannot be run"):
        asyncio.run(performer(world([])).perform(effect))


@pytest.mark.parametrize(
    ("approver", "decision", "by"),
    [
        (None, "denied", "nobody"),
        (YesApprover(), "approved", "person"),
        (SilentApprover(), "timed_out", "nobody"),
    ],
)
def test_no_answer_and_nobody_to_ask_are_refusals(
    approver: Approver | None, decision: str, by: str
) -> None:
    """agent-tools: Only a person approves, and only in time."""
    effect = AskApproval(request=QUESTION)
    for ask in ("perform", "perform_now"):
        made = performer(world([]), approver=approver, wait=0.01)
        sent = asyncio.run(made.perform(effect)) if ask == "perform" else made.perform_now(effect)
        assert isinstance(sent, ApprovalAnswer)
        assert (sent.decision, sent.by) == (decision, by)


def test_a_model_is_asked_without_a_loop_as_well() -> None:
    """two-drivers: The synchronous driver needs no loop of its caller's."""
    made = world([])
    made.model = StepModel([says("Hello.")])
    effect = AskModel(request=ModelRequest(messages=()))
    assert performer(made).perform_now(effect) == says("Hello.")


def test_what_cannot_be_recorded_is_said_with_its_cause() -> None:
    """agent-tools: A fact or an entry that is refused ends everything, with the reason."""
    made = world([])
    recorder = Recorder(
        ports=made.ports, thread=ThreadId("one"), turn=1, collector=ReceiptCollector()
    )
    made.clock.new_id = lambda: "0000000000000001"  # type: ignore[method-assign,assignment,return-value]
    recorder.record(PromptReceived(text="x"))
    with pytest.raises(NotRecordedError) as refused:
        recorder.record(PromptReceived(text="y"))
    assert isinstance(refused.value.__cause__, ConflictError)
    made.entries.add(ThreadId("ONE"), EntryDraft(kind="prompt"))
    with pytest.raises(NotRecordedError):
        recorder.store(StoreEntry(draft=EntryDraft(kind="prompt")))


def test_what_is_being_recorded_when_cancelled_and_fails_is_said() -> None:
    """agent-tools: Cancelling hides no failure of the record."""
    made = world([])

    async def main() -> None:
        loop = asyncio.get_running_loop()
        begun = asyncio.Event()
        go = asyncio.Event()

        class Refusing(type(made.log)):  # type: ignore[misc]
            def append(self, fact: object) -> Event:
                del fact
                loop.call_soon_threadsafe(begun.set)
                asyncio.run_coroutine_threadsafe(go.wait(), loop).result(20)
                raise UnavailableError("the disk is full")

        made.log = Refusing()
        doing = asyncio.ensure_future(performer(made).perform(FACT))
        await begun.wait()
        doing.cancel()
        go.set()
        with pytest.raises(NotRecordedError):
            await doing

    asyncio.run(main())


def test_closing_records_and_does_nothing_else() -> None:
    """turns: A cancelled turn asks no model and runs no tool."""
    made = world([])
    recorder = Recorder(
        ports=made.ports, thread=ThreadId("one"), turn=1, collector=ReceiptCollector()
    )
    assert isinstance(recorder.close(FACT), Event)
    with pytest.raises(TurnCancelledError):
        recorder.close(AskModel(request=ModelRequest(messages=())))


def test_an_opening_that_nobody_waits_for_lets_the_thread_go() -> None:
    """turns: A lease is not kept by an opening that was cancelled."""
    made = case_section_8()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        threads = made.threads()
        begun, go = asyncio.Event(), asyncio.Event()
        plain = made.kit

        def kit(*given: object, **named: object) -> object:
            loop.call_soon_threadsafe(begun.set)
            asyncio.run_coroutine_threadsafe(go.wait(), loop).result(20)
            return plain(*given, **named)  # type: ignore[arg-type]

        made.kit = kit  # type: ignore[method-assign,assignment]
        doing = asyncio.ensure_future(threads.open(Opening(thread=ThreadId("one"))))
        await begun.wait()
        doing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await doing
        go.set()
        for _ in range(1000):
            try:
                again = await threads.open(Opening(thread=ThreadId("one")))
            except ConflictError:
                await asyncio.sleep(0)
            else:
                break
        await threads.close(again)

    asyncio.run(asyncio.wait_for(main(), 30))


def test_an_opening_that_fails_when_nobody_waits_is_forgotten() -> None:
    """turns: What failed has nothing to let go."""

    async def main() -> None:
        failed = asyncio.get_running_loop().create_future()
        failed.set_exception(ConflictError("held"))
        _let_go(failed)
        cancelled = asyncio.get_running_loop().create_future()
        cancelled.cancel()
        _let_go(cancelled)

    asyncio.run(main())


def test_ctrl_c_while_an_entry_is_stored_comes_out(event: Event) -> None:
    """two-drivers: What may not have been stored is left to the next opening."""
    made = world([says("Done.")])

    async def opened() -> OpenThread:
        return await made.threads().open(Opening(thread=ThreadId("one")))

    thread = asyncio.run(opened())
    recorder = Recorder(ports=made.ports, thread=thread.id, turn=1, collector=ReceiptCollector())
    performing = Performer(recorder, hands(made))

    def perform(effect: Effect) -> Sent:
        if isinstance(effect, StoreEntry):
            raise KeyboardInterrupt
        return performing.perform_now(effect)

    toolbox = made.threads()._toolbox(thread)
    turn = converse(background(made, thread), TurnRequest(prompt="Go."), toolbox)
    with pytest.raises(TurnCancelledError):
        drive(turn, perform)
    del event


def test_a_command_is_read_beside_the_loop() -> None:
    """two-drivers: Reading may take a while, and asks for nothing of the world."""
    line = read_line("ls", lambda text: ParsedCommand(text=text, is_whole=True))
    effect = ReadCommand(read=lambda: line)
    assert asyncio.run(performer(world([])).perform(effect)) is line
    assert performer(world([])).perform_now(effect) is line


def test_an_agent_says_how_its_commands_are_confined() -> None:
    """confinement: It is tried when it is asked for."""
    assert world([]).agent().sandbox == "none"
