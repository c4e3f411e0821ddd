"""How the end of a command reads: for the record, and for the model that asked for it."""

from counterfoil.core.events import CommandExited
from counterfoil.core.gate.output import KEPT, SHOWN, end_of
from counterfoil.core.gate.policy import Denial
from counterfoil.ports.tools import ApprovalAnswer, CommandEnd, CommandRequest, ToolAnswer

_NO_OTHER_WAY = "Do not look for another way to do the same; tell the person what you need."


def command_exited(
    request: CommandRequest, end: CommandEnd, *, source: str | None = None
) -> CommandExited:
    """Return the fact that the command of `request` ended like `end`."""
    stdout, is_cut = end_of(end.stdout, KEPT)
    stderr, is_cut_too = end_of(end.stderr, KEPT)
    return CommandExited(
        command=request.command,
        directory=request.directory,
        exit_status=end.exit_status,
        signal=end.signal,
        timed_out=end.timed_out,
        truncated=end.truncated or is_cut or is_cut_too,
        stdout=stdout,
        stderr=stderr,
        milliseconds=end.milliseconds,
        source=source,
    )


def command_answer(request: CommandRequest, end: CommandEnd) -> ToolAnswer:
    """Return what the model reads of a command that ended like `end`."""
    if end.not_started is not None:
        return ToolAnswer(output=f"the command did not start: {end.not_started}", outcome="error")
    stdout, is_cut = end_of(end.stdout, SHOWN)
    stderr, is_cut_too = end_of(end.stderr, SHOWN)
    is_cut = is_cut or is_cut_too or end.truncated
    status = "not recorded" if end.exit_status is None else end.exit_status
    lines = [f"exit status: {status}"]
    if end.timed_out:
        lines.append(f"timed out after {request.seconds:g} s, and was ended")
    if is_cut:
        lines.append(f"output cut: of each stream the last {SHOWN} bytes at most are shown")
    lines.extend(
        f"{name}:\n{text.rstrip()}"
        for name, text in (("stdout", stdout), ("stderr", stderr))
        if text
    )
    return ToolAnswer(
        output="\n".join(lines),
        outcome="cancelled" if end.is_cancelled else "ok",
        truncated=is_cut,
    )


def denied_answer(denial: Denial) -> ToolAnswer:
    """Return what the model reads of a command that the policy is against."""
    return ToolAnswer(
        output=f"denied by the policy ({denial.rule}): {denial.reason}. {_NO_OTHER_WAY}",
        outcome="denied",
    )


def disapproved_answer(answer: ApprovalAnswer) -> ToolAnswer:
    """Return what the model reads of a command that nobody approved."""
    if answer.decision == "cancelled":
        return ToolAnswer(output="not run: the question was withdrawn.", outcome="cancelled")
    return ToolAnswer(
        output=f"not approved: {disapproval(answer)}. {_NO_OTHER_WAY}", outcome="denied"
    )


def disapproval(answer: ApprovalAnswer) -> str:
    """Return in words why nothing was approved."""
    if answer.reason:
        return answer.reason
    return _DISAPPROVALS.get(answer.decision, "the question was withdrawn")


_DISAPPROVALS = {"denied": "the person said no", "timed_out": "nobody answered in time"}


def unusable_answer(fault: str) -> ToolAnswer:
    """Return what the model reads of a call that cannot be carried out as it is."""
    return ToolAnswer(output=fault, outcome="error")
