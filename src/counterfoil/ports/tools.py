"""Tools that an agent calls, and the commands that one of them runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from counterfoil.core.events import Outcome, Payload
from counterfoil.core.ids import ThreadId
from counterfoil.core.messages import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """Whose call it is, and whether it is still wanted.

    A tool that may take long asks `is_cancelled` often, and ends soon once it is true.
    """

    thread: ThreadId
    turn: int
    call: str
    is_cancelled: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a tool answered: the text that the model reads, and how it went.

    `facts` are events to be recorded before the answer, with the same call: a file that
    was written, pages that were found. What the tool could not do is an answer of
    outcome `error`, in words that tell the model what to do.
    """

    output: str
    outcome: Outcome = "ok"
    facts: tuple[Payload, ...] = ()
    truncated: bool | None = None


class Tool(Protocol):
    """One tool. It may block; whoever calls it sees to that."""

    @property
    def spec(self) -> ToolSpec:
        """The tool as it is offered to the model."""
        ...

    def run(self, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        """Return the answer to a call whose `arguments` fit the schema of `spec`.

        An exception out of here is recorded as `tool_failed`; the model reads its message.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRequest:
    """A command to run, where, and what it may use.

    `seconds` is its time; of each stream the last `kept` bytes come back at most.
    """

    command: str
    directory: str
    seconds: float = 60.0
    kept: int = 1 << 20
    grace: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandEnd:
    """How a command ended.

    `exit_status` is as it was, that of a signal negated; `None` with `not_started`, which
    says why. `truncated`: more was said than is kept here. `sandbox` is the confinement
    it ran in, `none` where there was none.
    """

    exit_status: int | None = None
    signal: int | None = None
    timed_out: bool = False
    is_cancelled: bool = False
    truncated: bool = False
    stdout: str = ""
    stderr: str = ""
    milliseconds: int = 0
    sandbox: str = "none"
    not_started: str | None = None


class ToolRunner(Protocol):
    """Runs the commands of an agent, each in its own process group, confined where it can."""

    @property
    def sandbox(self) -> str:
        """The confinement of a command here: `bubblewrap`, `sandbox-exec` or `none`."""
        ...

    def run(self, request: CommandRequest, is_cancelled: Callable[[], bool]) -> CommandEnd:
        """Return how the command ended; what cannot be started is an answer too."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """What is put before a person: `shown` is exactly what will run."""

    id: str
    thread: ThreadId
    turn: int
    call: str
    command: str
    shown: str
    directory: str
    pattern: str
    level: str
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAnswer:
    """What the person said; nobody else can."""

    decision: Literal["approved", "denied", "timed_out", "cancelled"]
    scope: Literal["once", "session", "project", "always"] = "once"
    by: str = "person"
    reason: str | None = None


class Approver(Protocol):
    """Reaches a person who can approve."""

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Return what the person said about `request`; cancelling withdraws the question."""
        ...
