"""The tool `run_command`: a command on its way from the model to the runner.

Directory, policy, gate, runner, record, answer, in this order (agent.md section 3). The
text that runs is the one that was judged, shown and recorded. Commands of a person take
the same way without the gate; tools of other servers pass the gate alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from counterfoil.core.events import PolicyDecided
from counterfoil.core.gate.grants import Pattern, pattern_of
from counterfoil.core.gate.levels import level_of, part_level
from counterfoil.core.gate.reading import Line, Part, read_line
from counterfoil.core.gate.scale import Level, highest, is_below, raised
from counterfoil.core.messages import ToolSpec
from counterfoil.core.turns import PERSON
from counterfoil.engine.command_answers import command_answer, command_exited, unusable_answer
from counterfoil.engine.effects import Execute, ReadCommand, Record, Turn, TurnCancelledError
from counterfoil.engine.gate import GateDesk, Matter, Need, pass_gate
from counterfoil.ports.shell import ShellParser
from counterfoil.ports.tools import CommandEnd, CommandRequest, ToolAnswer

SPEC = ToolSpec(
    name="run_command",
    description=(
        "Run a command with /bin/sh. It has no input and ends after a bounded time. "
        "A person may have to approve it first; only they can. "
        "The answer is the exit status and the end of both outputs."
    ),
    parameters={
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "the command, as for sh -c"},
            "directory": {
                "type": "string",
                "description": "where it runs; without it, in the directory of the thread",
            },
        },
        "required": ["command"],
        "additionalProperties": False,
    },
)
"""`run_command` as it is offered to a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandDesk:
    """What commands of one turn need.

    `find_directory` returns the canonical path of a directory as the model wrote it, or
    `None` where there is none; `directory` is where commands run that name none.
    """

    gate: GateDesk
    parser: ShellParser
    directory: str
    find_directory: Callable[[str], str | None]
    seconds: float = 60.0


def run_command(desk: CommandDesk, call: str, arguments: Mapping[str, object]) -> Turn[ToolAnswer]:
    """Run the command that a model asked for with `arguments`, if it may run."""
    request = _requested(desk, arguments)
    if isinstance(request, str):
        return unusable_answer(request)
    line = yield ReadCommand(read=lambda: read_line(request.command, desk.parser.parse))
    if not isinstance(line, Line):
        raise TypeError(f"a command reads as a Line, not {type(line).__name__}")
    refusal = yield from pass_gate(desk.gate, _matter(desk.gate, line, request.directory), call)
    if refusal is not None:
        return refusal
    return (yield from _executed(request, call, source=None))


def person_command(
    desk: CommandDesk, command: str, directory: str | None = None
) -> Turn[ToolAnswer]:
    """Run what a person typed with `!`: the same runner and record, no gate."""
    arguments = {"command": command}
    if directory is not None:
        arguments["directory"] = directory
    request = _requested(desk, arguments)
    if isinstance(request, str):
        return unusable_answer(request)
    yield Record(
        payload=PolicyDecided(
            command=request.command,
            directory=request.directory,
            verdict="allowed",
            by="policy",
            sandbox=desk.gate.sandbox,
            source=PERSON,
        )
    )
    return (yield from _executed(request, None, source=PERSON))


def gate_call(
    desk: CommandDesk, call: str, command: str, level: Level, pattern: str
) -> Turn[ToolAnswer | None]:
    """Let a call of another server's tool through the gate, before it is made.

    `command` is the call as one line, `server.tool {…}`, and `pattern` what it is
    remembered under. Return `None` where it may be made, else what the model reads.
    """
    rated = raised(level) if desk.gate.sandbox == "none" else level
    matter = Matter(
        command=command,
        directory=desk.directory,
        level=rated,
        denial=desk.gate.policy.judge_text(command),
        needs=(Need(Pattern(pattern), rated),),
    )
    return (yield from pass_gate(desk.gate, matter, call))


def _requested(desk: CommandDesk, arguments: Mapping[str, object]) -> CommandRequest | str:
    """Return what is to run, or what is wrong with the call."""
    unknown = sorted(set(arguments) - {"command", "directory"})
    if unknown:
        return (
            f"unknown arguments: {', '.join(unknown)}; run_command takes command and directory. "
            "Nothing among the arguments approves a command: only a person can"
        )
    command, directory = arguments.get("command"), arguments.get("directory")
    if not isinstance(command, str) or not command.strip():
        return "command has to be a text that is not empty"
    if not (directory is None or isinstance(directory, str)):
        return "directory has to be a text"
    if not _is_text(command) or not _is_text(directory or ""):
        return "a command and a directory are texts in UTF-8, without NUL"
    found = desk.find_directory(directory or desk.directory)
    if found is None:
        return f"no directory {directory or desk.directory!r}; make it first or name another one"
    return CommandRequest(command=command, directory=found, seconds=desk.seconds)


def _is_text(text: str) -> bool:
    """Say whether the system and the record can both hold `text`."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


_MOVES = frozenset({"cd", "pushd", "popd"})


def _matter(desk: GateDesk, line: Line, directory: str) -> Matter:
    level = level_of(line, sandbox=desk.sandbox)
    levels: list[Level] = [part_level(part, sandbox=desk.sandbox) for part in line.parts]
    needs = [
        Need(pattern_of(part, rated), rated)
        for part, rated in zip(line.parts, levels, strict=True)
        if not is_below(rated, desk.threshold)
    ]
    is_more_as_a_whole = is_below(highest(levels), level)
    return Matter(
        command=line.text,
        directory=directory,
        level=level,
        denial=desk.policy.judge(line),
        needs=() if is_more_as_a_whole else tuple(needs),
        moves=any(part.program in _MOVES for part in line.parts),
        reasons=tuple(_reasons(line, levels, level)),
    )


def _reasons(line: Line, levels: list[Level], level: Level) -> list[str]:
    """Say which parts make the line what it is."""
    reasons = [] if line.fault is None else [f"the shell may read it differently: {line.fault}"]
    reasons.extend(
        f"{level}: {_said(part)}"
        for part, rated in zip(line.parts, levels, strict=True)
        if rated == level and line.fault is None
    )
    return reasons[:10]


def _said(part: Part) -> str:
    return part.text if len(part.text) <= 200 else f"{part.text[:200]}…"  # noqa: PLR2004 - enough to know it


def _executed(request: CommandRequest, call: str | None, *, source: str | None) -> Turn[ToolAnswer]:
    try:
        end = yield Execute(request=request)
    except TurnCancelledError as cancelled:
        if not isinstance(cancelled.sent, CommandEnd):
            raise
        answer = yield from _ended(request, cancelled.sent, call, source)
        raise TurnCancelledError(answer) from cancelled
    if not isinstance(end, CommandEnd):
        raise TypeError(f"a command ends with a CommandEnd, not {type(end).__name__}")
    return (yield from _ended(request, end, call, source))


def _ended(
    request: CommandRequest, end: CommandEnd, call: str | None, source: str | None
) -> Turn[ToolAnswer]:
    if end.not_started is None:
        yield Record(payload=command_exited(request, end, source=source), call=call)
    return command_answer(request, end)
