"""The tool `inspect`: the configuration, the state, the approvals and the record of a thread.

What it shows comes from whoever made it; of other threads it shows nothing. An event is
one line: place, time, kind, turn, call, and the first of what it says.
"""

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Protocol, cast

from counterfoil.adapters.tools.answers import (
    PAGE,
    UnusableArgumentError,
    answered,
    choice_in,
    counted,
    number_in,
    parameters,
    shown_name,
    text_in,
)
from counterfoil.adapters.tools.masking import MASK, is_secret_name, masked, masked_words
from counterfoil.core.events import KINDS, Event, kind_of
from counterfoil.core.ids import ThreadId
from counterfoil.core.messages import ToolSpec
from counterfoil.core.paging import cut_line, size_of
from counterfoil.core.plain import one_line
from counterfoil.ports.tools import CallContext, ToolAnswer

EVENTS, MOST_EVENTS = 20, 100
"""Events that are shown where nobody says how many, and at most."""

_VIEWS = ("config", "status", "approvals", "audit")
_SAID = 200
_ROW = 1000
_NOTES = 200
_MOST = 2**53


class GrantShown(Protocol):
    """One approval that stands."""

    @property
    def id(self) -> str:
        """What it is revoked by."""
        ...

    @property
    def pattern(self) -> str:
        """The commands that it lets run."""
        ...

    @property
    def level(self) -> str:
        """The highest level that it covers."""
        ...

    @property
    def scope(self) -> str:
        """For how long it was given."""
        ...

    @property
    def directory(self) -> str | None:
        """Where it holds; `None` for everywhere."""
        ...

    @property
    def expires_at(self) -> str | None:
        """When it ends; `None` where it ends with what it was given for."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectSources:
    """Where the views come from: each is asked when it is looked at.

    `config` has a value and an origin for each name.
    """

    config: Callable[[], Mapping[str, object]]
    status: Callable[[ThreadId], Mapping[str, object]]
    approvals: Callable[[ThreadId], Sequence[GrantShown]]
    events: Callable[[ThreadId, int | None], Iterable[Event]]


class InspectTool:
    """The `Tool` that shows a thread what it is, and what was recorded of it."""

    def __init__(self, sources: InspectSources) -> None:
        self._sources = sources
        self.spec = ToolSpec(
            name="inspect",
            description=(
                "Shows the configuration, the status, the approvals that stand, or the audit:"
                " the recorded events of this conversation, the latest ones, oldest first."
            ),
            parameters=parameters(
                {
                    "what": {"type": "string", "enum": list(_VIEWS)},
                    "last": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": MOST_EVENTS,
                        "description": f"audit: how many events; {EVENTS} where left out",
                    },
                    "turn": {"type": "integer", "minimum": 1, "description": "audit: this turn"},
                    "kind": {
                        "type": "string",
                        "description": "audit: this kind, for example tool_called",
                    },
                },
                "what",
            ),
            only_reads=True,
        )

    def run(self, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        """Return the view `arguments["what"]`."""
        return answered(lambda: self._answer(arguments, context.thread))

    def _answer(self, arguments: Mapping[str, object], thread: ThreadId) -> ToolAnswer:
        what = choice_in(arguments, "what", _VIEWS)
        if what == "audit":
            return self._audit(arguments, thread)
        for name in ("last", "turn", "kind"):
            if arguments.get(name):
                raise UnusableArgumentError(f"{name} with {what}", f"{name} with audit alone")
        if what == "approvals":
            rows = [_grant_row(grant) for grant in self._sources.approvals(thread)]
            return _first_of(rows, counted(len(rows), "approval"))
        if what == "config":
            rows = [_setting_row(*row) for row in self._sources.config().items()]
            return _first_of(rows, counted(len(rows), "setting"))
        rows = [f"{name}: {_written(name, said)}" for name, said in self._status(thread)]
        return _first_of(rows, counted(len(rows), "line"))

    def _status(self, thread: ThreadId) -> Iterable[tuple[str, object]]:
        return self._sources.status(thread).items()

    def _audit(self, arguments: Mapping[str, object], thread: ThreadId) -> ToolAnswer:
        last = number_in(arguments, "last", EVENTS, MOST_EVENTS)
        turn = number_in(arguments, "turn", 0, _MOST) if arguments.get("turn") else None
        kind = text_in(arguments, "kind")
        if kind and kind not in KINDS:
            raise UnusableArgumentError(f"no kind {kind!r}", f"one of {', '.join(KINDS)}")
        count = 0
        latest: deque[Event] = deque(maxlen=last)
        for event in self._sources.events(thread, turn):
            if not kind or kind_of(event.payload) == kind:
                count += 1
                latest.append(event)
        return _last_of([_event_row(event) for event in latest], count)


def _first_of(rows: Sequence[str], what: str) -> ToolAnswer:
    """Return the first of `rows`, as many as fit."""
    shown = _fitting(rows)
    left_out = len(rows) - len(shown)
    end = f"[more: {left_out:,} of {what} are left out]" if left_out else f"[end: {what}]"
    return ToolAnswer(output="\n".join([*shown, end]), truncated=True if left_out else None)


def _last_of(rows: Sequence[str], count: int) -> ToolAnswer:
    """Return the last of `rows`, as many as fit, oldest first; `count` is how many there are."""
    shown = list(reversed(_fitting(list(reversed(rows)))))
    earlier = count - len(shown)
    end = f"[end: {len(shown):,} of {counted(count, 'event')}"
    if earlier:
        end += f"; {earlier:,} earlier ones are left out: narrow by turn or kind, or raise last"
    return ToolAnswer(output="\n".join([*shown, f"{end}]"]), truncated=True if earlier else None)


def _fitting(rows: Iterable[str]) -> list[str]:
    shown: list[str] = []
    size = 0
    for row in rows:
        line = cut_line(row, _ROW)
        size += size_of(line) + 1
        if size > PAGE - _NOTES:
            break
        shown.append(line)
    return shown


def _event_row(event: Event) -> str:
    turn = f" turn {event.turn}" if event.turn is not None else ""
    call = f" call {shown_name(event.call)}" if event.call is not None else ""
    said = {field.name: getattr(event.payload, field.name) for field in fields(event.payload)}
    details = ", ".join(f"{name}={value}" for name, value in said.items() if value is not None)
    return (
        f"{event.seq} {event.occurred_at} {shown_name(kind_of(event.payload))}{turn}{call}:"
        f" {one_line(details, _SAID)}"
    )


def _grant_row(grant: GrantShown) -> str:
    where = f", in {shown_name(grant.directory)}" if grant.directory else ""
    until = f", until {grant.expires_at}" if grant.expires_at else ""
    return (
        f"{grant.id}: {shown_name(grant.pattern)} up to {grant.level},"
        f" for {grant.scope}{where}{until}"
    )


def _setting_row(name: str, said: object) -> str:
    if not isinstance(said, Mapping):
        return f"{name} = {_written(name, said)}"
    setting = cast("Mapping[str, object]", said)
    return f"{name} = {_written(name, setting.get('value'))} ({setting.get('origin')})"


def _written(name: str, value: object) -> str:
    """Return a value on one line, without what looks like a secret."""
    return shown_name(json.dumps(_unsecret(name, value), ensure_ascii=False, default=str))


def _unsecret(name: str, value: object) -> object:
    if isinstance(value, Mapping):
        inner = cast("Mapping[str, object]", value)
        is_environment = name == "env"
        return {
            key: MASK if is_environment else _unsecret(str(key), one) for key, one in inner.items()
        }
    if isinstance(value, list | tuple):
        return _unsecret_list(name, cast("Sequence[object]", value))
    if is_secret_name(name) and not name.endswith("_variable") and value:
        return MASK
    return masked(value) if isinstance(value, str) else value


def _unsecret_list(name: str, values: Sequence[object]) -> list[object]:
    """Words of a command line hide each other's secrets: `--token`, then the token."""
    if not all(isinstance(one, str) for one in values):
        return [_unsecret(name, one) for one in values]
    return list[object](masked_words(cast("Sequence[str]", values)))
