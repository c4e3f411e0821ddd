"""From what a format says to events: numbered, timed, each in its thread and turn.

`Emitter` gives every event its place. `ThreadReading` is one conversation while it is
read: it knows the turn, and holds back the last text until it is clear whether that
text closes the turn, so that an interrupted turn stays open in the receipt.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from counterfoil.adapters.transcripts.lines import Damage
from counterfoil.core.canonical import LARGEST, canonical_json
from counterfoil.core.errors import InvalidIdError
from counterfoil.core.events import (
    CommandExited,
    Event,
    Payload,
    PolicyDecided,
    PromptReceived,
    ReasoningGiven,
    RecordDamaged,
    ReplyGiven,
    ToolCalled,
    Unrecognized,
    Usage,
)
from counterfoil.core.ids import EventId, ThreadId, is_instant
from counterfoil.core.shown import FileSeen, seen_by_command
from counterfoil.ports.transcripts import Fetched, Item, Origin, Recorded, Said, Shown

EPOCH = "1970-01-01T00:00:00.000Z"
"""The time of an event whose source recorded none, and none before it."""

_SHORT_TIME = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:?00)\Z", re.ASCII
)
_TIME_OF_DAY = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z\Z", re.ASCII)
_SHOWING = re.compile(r"\b(?:cat|nl|sed|head|grep|egrep|rg)\b")


def thread_id(text: str | None, otherwise: str) -> ThreadId:
    """Return `text` as the id of a thread; what cannot be one is named by its digest."""
    for name in (text, otherwise):
        if name:
            try:
                return ThreadId(name)
            except InvalidIdError:
                continue
    from hashlib import sha256  # noqa: PLC0415 - only for a name that can be no id

    digest = sha256((text or otherwise).encode("utf-8", "surrogatepass")).hexdigest()
    return ThreadId(f"t-{digest[:16]}")


class Call(NamedTuple):
    """What has to be known of a call until its result comes."""

    tool: str
    command: str | None = None
    path: str | None = None
    url: str | None = None


def call_id(text: str | None) -> str | None:
    """Return the id of a call; a blank one joins nothing."""
    return text if text is not None and text.strip() else None


def counted(number: int | None) -> int | None:
    """Return a number that a record can hold exactly; any other was not recorded."""
    return number if number is not None and 0 <= number <= LARGEST else None


def size_of(text: str) -> int:
    """Return the bytes of `text` in UTF-8; a lone surrogate counts as one replacement."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


class Emitter:
    """Puts items into one list, in order, with places, ids and times."""

    __slots__ = ("_day", "_latest", "_seq", "_time", "items", "origin")

    def __init__(self, origin: Origin) -> None:
        self.items: list[Item] = []
        self.origin = origin
        self._seq = 0
        self._time = self._latest = EPOCH
        self._day = ""

    def taken(self) -> Iterator[Item]:
        """Yield the items in their order, and hold them no more."""
        yield from self.items
        self.items.clear()

    def at_time(self, text: str | None) -> None:
        """Let the events that follow have occurred at `text`, in any spelling of UTC."""
        if text is None or text == self._time:
            return
        if text[:11] == self._day and _TIME_OF_DAY.match(text, 11):
            self._time = text
            return
        match = _SHORT_TIME.match(text)
        if match is not None:
            whole = f"{match[1]}.{(match[2] or '')[:3]:0<3}Z"
            if is_instant(whole):
                self._time, self._day = whole, whole[:11]

    def event(
        self,
        thread: "ThreadReading",
        payload: Payload,
        line: int,
        call: str | None = None,
        block: int = 0,
        *,
        is_held: bool = False,
    ) -> EventId:
        """Record `payload` in the current turn of `thread` and return its id.

        What was held back occurred no later than what is recorded of the thread up to
        now, and not when the record that ends its turn was written.
        """
        time = self._latest if is_held else self._time
        if not isinstance(payload, RecordDamaged):
            self._latest = time
        self._seq = seq = self._seq + 1
        id_ = EventId.from_number(seq)
        event = Event(
            seq=seq,
            id=id_,
            occurred_at=time,
            thread=thread.id,
            turn=thread.turn or None,
            call=call,
            payload=payload,
        )
        self.items.append(Recorded(event, line, block, self.origin))
        return id_

    def said(self, said: Said) -> None:
        """Take in a text, whose event comes once it is clear whether it closes the turn."""
        self._latest = self._time
        self.items.append(said)

    def damage(self, thread: "ThreadReading", damage: Damage) -> None:
        """Record that a line holds no whole record."""
        self.event(
            thread,
            RecordDamaged(
                source=self.origin.source or None,
                place=f"line {damage.number}" + (f": {damage.detail}" if damage.detail else ""),
                bytes=damage.size,
                what=damage.what,
            ),
            damage.number,
        )

    def unrecognized(self, thread: "ThreadReading", raw: bytes, line: int) -> None:
        """Record a record of a kind that the adapter does not know, as it stood."""
        details = canonical_json({"text": raw.decode("utf-8", "replace").strip()})
        self.event(thread, Unrecognized(kind="unrecognized", details=details), line)


class ThreadReading:
    """One thread while it is read."""

    __slots__ = (
        "_closing",
        "_duration",
        "_emit",
        "_running",
        "_usages",
        "id",
        "is_sub",
        "turn",
        "version",
    )

    def __init__(self, id_: ThreadId, emit: Emitter, *, is_sub: bool = False) -> None:
        self.id = id_
        self.is_sub = is_sub
        self.turn = 0
        self.version: str | None = None
        self._emit = emit
        self._closing: tuple[str, int, int] | None = None
        self._usages: dict[str, _Counts] = {}
        self._duration: int | None = None
        self._running: dict[str, tuple[str, str | None, int]] = {}

    def prompt(self, text: str, line: int, block: int = 0) -> None:
        """Begin a turn: a person asked, or the thread that called this one."""
        self.end_turn()
        self.turn += 1
        asked = PromptReceived(text=text, source="caller" if self.is_sub else "person")
        self._emit.event(self, asked, line, block=block)

    def ensure_turn(self, line: int) -> None:
        """Begin the first turn without a prompt: the record starts in the middle."""
        if not self.turn:
            self.turn = 1
            self._emit.damage(self, Damage(line, "starts-mid-thread", 0))

    def said(self, text: str, line: int, block: int = 0) -> None:
        """Take in a text for whoever asked."""
        self.ensure_turn(line)
        self._closing = (text, line, block)
        self._emit.said(Said(text, self.id, self.turn, line, block, self._emit.origin))

    def reasoned(self, text: str, line: int, block: int = 0) -> None:
        """Take in a text of the model for itself."""
        self.ensure_turn(line)
        self._emit.event(self, ReasoningGiven(text=text), line, block=block)

    def called(self, tool: str, arguments: str, line: int, call: str | None, block: int) -> None:
        """Take in a call: what was said before it did not close the turn."""
        self.ensure_turn(line)
        self._closing = None
        self._emit.event(self, ToolCalled(tool=tool, arguments=arguments), line, call, block)

    def exited(self, payload: CommandExited, line: int, call: str | None) -> None:
        """Take in the end of a command."""
        self._emit.event(self, payload, line, call)

    def showed(self, command: str, output: str, line: int, call: str, *, is_whole: bool) -> None:
        """Take in what a command and its output show of files."""
        if _SHOWING.search(command):
            for seen in seen_by_command(command, output, is_whole=is_whole):
                self.file(seen, line, call)

    def file(self, seen: FileSeen, line: int, call: str | None) -> None:
        """Take in what a tool showed of a file."""
        self._emit.items.append(Shown(seen, self.id, line, call, self._emit.origin))

    def fetched(self, url: str, line: int, call: str | None) -> None:
        """Take in that a tool brought the content of `url`."""
        self._emit.items.append(Fetched(url, self.id, line, call, self._emit.origin))

    def denied(self, call: Call, id_: str, line: int, reason: str, *, by_person: bool) -> None:
        """Take in that a call was refused: by a person who was asked, or unasked."""
        self._emit.event(
            self,
            PolicyDecided(
                command=call.command or " ".join(filter(None, (call.tool, call.path))),
                verdict="disapproved" if by_person else "denied",
                by="gate" if by_person else "policy",
                reason=reason,
            ),
            line,
            id_,
        )

    def started(self, job: str, command: str, call: str | None, line: int) -> None:
        """Take in that `command` goes on behind its result, under the name `job`."""
        self._running[job] = (command, call, line)

    def ended(self, job: str, line: int, exit_status: int | None) -> None:
        """Take in that the command `job` ended."""
        if job in self._running:
            command, call, _ = self._running.pop(job)
            self.exited(CommandExited(command=command, exit_status=exit_status), line, call)

    def note(self, what: str, line: int, detail: str = "") -> None:
        """Record in which way the record of the turn is not whole."""
        self._emit.damage(self, Damage(line, what, 0, detail))

    def interrupted(self, line: int) -> None:
        """Take in that a person stopped the turn: no text before this closes it."""
        self._closing = None
        self.note("interrupted", line)

    def used(self, message: str, usage: "_Counts") -> None:
        """Take in the usage of one message; what is said of it last counts."""
        input_, output, cached, reasoning = map(counted, usage)
        self._usages[message] = (input_, output, cached, reasoning)

    def lasted(self, milliseconds: int | None) -> None:
        """Take in how long the turn took."""
        self._duration = counted(milliseconds)

    def goes_on_under(self, version: str | None, line: int) -> None:
        """Take in the version of the program that wrote a record."""
        if version is None or version == self.version:
            return
        if self.version is not None:
            self.note("mixed-versions", line, f"{self.version} to {version}")
        self.version = version

    def end_turn(self) -> None:
        """Close the turn with the last text, if nothing came after it."""
        for job in list(self._running):
            command, call, started = self._running[job]
            if started > 0:
                self.note("still-running", started, command[:80])
                self._running[job] = (command, call, 0)
        if self._closing is not None:
            text, at, block = self._closing
            reply = ReplyGiven(text=text, milliseconds=self._duration, usage=self._usage())
            self._emit.event(self, reply, at, block=block, is_held=True)
        self._closing = None
        self._duration = None
        self._usages = {}

    def _usage(self) -> Usage | None:
        if not self._usages:
            return None
        columns = zip(*self._usages.values(), strict=True)
        input_, output, cached, reasoning = (_sum(column) for column in columns)
        return Usage(input=input_, output=output, cached=cached, reasoning=reasoning)


_Counts: TypeAlias = tuple[int | None, int | None, int | None, int | None]
"""Tokens of one message: input, output, cached, reasoning."""


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return counted(sum(known)) if known else None
