"""Whether something may run: the policy, what was granted, and then a person.

One decision is recorded for each matter, before anything runs. The order is: the policy;
below the threshold it runs; a grant of the thread, of the turn, a standing one; then a
person is asked. What cannot be recorded is not acted on, since `Record` throws.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from counterfoil.core.errors import CounterfoilError
from counterfoil.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    ErrorRaised,
    PolicyDecided,
)
from counterfoil.core.gate.grants import (
    STANDING,
    STANDING_DAYS,
    Grant,
    Pattern,
    Scope,
    ThreadGrants,
    Wanted,
    covering,
    downgraded,
)
from counterfoil.core.gate.policy import Denial, Policy
from counterfoil.core.gate.scale import Level, is_below
from counterfoil.core.ids import ThreadId
from counterfoil.engine.command_answers import denied_answer, disapproval, disapproved_answer
from counterfoil.engine.effects import (
    AskApproval,
    NotRecordedError,
    Record,
    Turn,
    TurnCancelledError,
)
from counterfoil.ports.grants import StandingGrants
from counterfoil.ports.tools import ApprovalAnswer, ApprovalRequest, ToolAnswer
from counterfoil.ports.world import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDesk:
    """What the gate of one turn needs.

    What is below `threshold` runs unasked. `sandbox` is the confinement of commands.
    """

    thread: ThreadId
    turn: int
    clock: Clock
    policy: Policy
    granted: ThreadGrants
    standing: StandingGrants | None = None
    threshold: Level = "moderate"
    sandbox: str = "none"


class Need(NamedTuple):
    """A part of a matter that has to be covered by a grant."""

    pattern: Pattern
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """What is to run: the exact text, where, and what is known of it.

    `needs` are the parts that grants may cover one by one; without any, only the exact
    text as a whole is covered. One that `moves` to another directory is covered by no
    grant for this one, but for that of its whole text. `reasons` are put before the
    person who is asked.
    """

    command: str
    directory: str
    level: Level
    denial: Denial | None = None
    needs: tuple[Need, ...] = ()
    moves: bool = False
    reasons: tuple[str, ...] = ()

    @property
    def whole(self) -> Need:
        """The matter as one text."""
        return Need(Pattern(self.command, is_exact=True), self.level)

    def open_needs(self) -> tuple[Need, ...]:
        """Return what an approval is remembered under: what is dangerous, as one text."""
        if self.level == "dangerous" or self.moves or not self.needs:
            return (self.whole,)
        return tuple(dict.fromkeys(self.needs))


def pass_gate(desk: GateDesk, matter: Matter, call: str) -> Turn[ToolAnswer | None]:
    """Return `None` where `matter` may run, else what the model reads; recorded either way."""
    desk.granted.begin_turn(desk.turn)
    if matter.denial is not None:
        reason = f"{matter.denial.rule}: {matter.denial.reason}"
        yield Record(payload=_policy(desk, matter, "denied", reason), call=call)
        return denied_answer(matter.denial)
    if is_below(matter.level, desk.threshold):
        yield Record(payload=_policy(desk, matter, "allowed"), call=call)
        return None
    cover, reasons = _cover(desk, matter)
    if cover:
        for grant in cover:
            yield Record(payload=_cached(matter, grant), call=call)
    else:
        refusal = yield from _approval(desk, matter, reasons, call)
        if refusal is not None:
            return refusal
    yield Record(payload=_gate(desk, matter, "approved"), call=call)
    return None


def _cover(desk: GateDesk, matter: Matter) -> tuple[tuple[Grant, ...], tuple[str, ...]]:
    """Return the grants that cover all of `matter`, none where some of it is not covered.

    Standing grants that cannot be read grant nothing; the person who is asked learns why.
    """
    reasons = matter.reasons
    grants = list(desk.granted.grants())
    if desk.standing is not None and matter.level != "dangerous":
        try:
            grants.extend(desk.standing.grants())
        except CounterfoilError as error:
            reasons = (*reasons, error.diagnosis())
    now = desk.clock.now()

    def found(need: Need, directory: str) -> Grant | None:
        return covering(grants, Wanted(*need, directory=directory, now=now))

    whole = found(matter.whole, matter.directory)
    if whole is not None:
        return (whole,), reasons
    if matter.level == "dangerous":
        return (), reasons
    covers = [found(need, "" if matter.moves else matter.directory) for need in matter.needs]
    if None in covers:
        return (), reasons
    return tuple(dict.fromkeys(grant for grant in covers if grant is not None)), reasons


def _approval(
    desk: GateDesk, matter: Matter, reasons: tuple[str, ...], call: str
) -> Turn[ToolAnswer | None]:
    """Ask a person; return `None` where they approved, else what the model reads."""
    request = _request(desk, matter, reasons, call)
    yield Record(
        payload=ApprovalRequested(
            command=matter.command,
            pattern=request.pattern,
            level=matter.level,
            shown=request.shown,
        ),
        call=call,
    )
    try:
        answer = yield from _ask(request)
    except TurnCancelledError:
        withdrawn = ApprovalAnswer(decision="cancelled", by="turn", reason="the turn was cancelled")
        yield from _refused(desk, matter, request, withdrawn)
        raise
    if answer.decision != "approved":
        yield from _refused(desk, matter, request, answer)
        return disapproved_answer(answer)
    yield from _approved(desk, matter, request, answer)
    return None


def _ask(request: ApprovalRequest) -> Turn[ApprovalAnswer]:
    """Return what came of the question; an approver that fails has approved nothing."""
    try:
        answer = yield AskApproval(request=request)
    except (TurnCancelledError, NotRecordedError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, nobody approved
        return ApprovalAnswer(
            decision="denied", by="nobody", reason=f"nobody could be asked: {error}"
        )
    if not isinstance(answer, ApprovalAnswer):
        return ApprovalAnswer(decision="denied", by="nobody", reason="nobody could be asked")
    return answer


def _refused(
    desk: GateDesk, matter: Matter, request: ApprovalRequest, answer: ApprovalAnswer
) -> Turn[None]:
    decided = ApprovalDecided(
        command=matter.command,
        pattern=request.pattern,
        decision=answer.decision,
        by=answer.by,
        reason=answer.reason,
    )
    yield Record(payload=decided, call=request.call)
    payload = _gate(desk, matter, answer.decision, disapproval(answer))
    yield Record(payload=payload, call=request.call)


def _approved(
    desk: GateDesk, matter: Matter, request: ApprovalRequest, answer: ApprovalAnswer
) -> Turn[None]:
    scope = downgraded(answer.scope, matter.level)
    now = desk.clock.now()
    expires_at = expiry_of(now) if scope in STANDING else None
    yield Record(
        payload=ApprovalDecided(
            command=matter.command,
            pattern=request.pattern,
            decision="approved",
            scope=scope,
            by=answer.by,
            reason=answer.reason,
            expires_at=expires_at,
            downgraded_from=answer.scope if scope != answer.scope else None,
        ),
        call=request.call,
    )
    for grant in _grants(desk, matter, scope, answer.by, now):
        yield from _remembered(desk, grant, request.call)


def _grants(desk: GateDesk, matter: Matter, scope: Scope, source: str, now: str) -> Iterator[Grant]:
    """Yield what is remembered of an approval: for the turn, and in one place, exact texts."""
    needs = (matter.whole,) if scope == "once" else matter.open_needs()
    for need in needs:
        is_here = scope == "project" or (need.pattern.is_exact and scope not in STANDING)
        yield Grant(
            id=str(desk.clock.new_id()),
            pattern=need.pattern,
            level=need.level,
            scope=scope,
            directory=matter.directory if is_here else None,
            granted_at=now,
            expires_at=expiry_of(now) if scope in STANDING else None,
            source=source,
        )


def _remembered(desk: GateDesk, grant: Grant, call: str) -> Turn[None]:
    """Keep `grant`; one that cannot stand holds for the thread, and that is recorded."""
    if grant.scope not in STANDING:
        desk.granted.remember(grant)
        return
    try:
        if desk.standing is None:
            raise CounterfoilError("standing grants are not kept here")
        desk.standing.add(grant)
    except CounterfoilError as error:
        desk.granted.remember(grant)
        yield Record(payload=ErrorRaised(message=error.diagnosis(), where="grants"), call=call)


def _request(
    desk: GateDesk, matter: Matter, reasons: tuple[str, ...], call: str
) -> ApprovalRequest:
    return ApprovalRequest(
        id=desk.clock.new_id(),
        thread=desk.thread,
        turn=desk.turn,
        call=call,
        command=matter.command,
        shown=matter.command,
        directory=matter.directory,
        pattern=", ".join(str(need.pattern) for need in matter.open_needs()),
        level=matter.level,
        reasons=reasons,
    )


def _policy(
    desk: GateDesk, matter: Matter, verdict: str, reason: str | None = None
) -> PolicyDecided:
    return PolicyDecided(
        command=matter.command,
        directory=matter.directory,
        verdict="allowed" if verdict == "allowed" else "denied",
        by="policy",
        reason=reason,
        sandbox=desk.sandbox,
    )


def _gate(
    desk: GateDesk, matter: Matter, decision: str, reason: str | None = None
) -> PolicyDecided:
    return PolicyDecided(
        command=matter.command,
        directory=matter.directory,
        verdict="allowed" if decision == "approved" else "disapproved",
        by="gate",
        reason=reason,
        sandbox=desk.sandbox,
    )


def _cached(matter: Matter, grant: Grant) -> ApprovalDecided:
    return ApprovalDecided(
        command=matter.command,
        pattern=grant.pattern.text,
        decision="cached",
        scope=grant.scope,
        by=grant.source,
        expires_at=grant.expires_at,
    )


def expiry_of(now: str) -> str:
    """Return when a standing grant expires that is given at `now`.

    >>> expiry_of("2026-03-01T09:00:00.000Z")
    '2026-03-31T09:00:00.000Z'
    """
    end = datetime.fromisoformat(now) + timedelta(days=STANDING_DAYS)
    return end.isoformat(timespec="milliseconds").replace("+00:00", "Z")
