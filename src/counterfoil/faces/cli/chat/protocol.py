"""A conversation as JSON Lines with another program, which may have a person behind it.

Messages are answered one by one, in the order in which they came; the end of the input
ends the conversation behind the last of them. Nothing else is written to standard output.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator

from counterfoil.core.errors import CounterfoilError
from counterfoil.core.events import Event, PromptReceived, ToolFailed, ToolReturned
from counterfoil.core.messages import Delta
from counterfoil.engine.agent import Agent
from counterfoil.engine.converse import TurnRequest
from counterfoil.engine.thread_parts import Opening, OpenThread
from counterfoil.engine.threads import RunningTurn
from counterfoil.engine.turn_result import TurnResult
from counterfoil.faces.cli import exit_code_of
from counterfoil.faces.cli.chat.asking import Asking
from counterfoil.faces.cli.chat.hearing import LONGEST_LINE, Ears, Interrupts, read_lines
from counterfoil.faces.cli.chat.lines import event_line, has_missing, output_of_event
from counterfoil.faces.cli.chat.terminal import CANNOT_TELL, FOUND, INTERRUPTED, OK
from counterfoil.wire.asked import Asked, Cancel, Hello, Message, Unreadable, decode_asked
from counterfoil.wire.chat import (
    Exit,
    Heard,
    Note,
    Ready,
    Recorded,
    Told,
    TurnEnded,
    TurnStarted,
    encode_told,
    output_of,
)

Sink = Callable[[bytes], None]


def talk_in_json(agent: Agent, opening: Opening) -> int:
    """Talk over the standard streams until the input ends; return the exit code.

    Raises:
        OSError: Nobody reads standard output any more.
        CounterfoilError: The thread cannot be opened, or the record not be written.
    """

    async def talk() -> int:
        source = read_lines(sys.stdin.fileno()) if sys.stdin is not None else _nothing()
        return await JsonTalk(agent, _write).run(opening, source)

    return asyncio.run(talk())


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


async def _nothing() -> AsyncIterator[bytes | None]:
    nothing: tuple[bytes, ...] = ()
    for line in nothing:
        yield line


class JsonTalk:
    """One conversation: what it is told goes into `sink`, a line at a time."""

    def __init__(self, agent: Agent, sink: Sink) -> None:
        """Say nothing yet."""
        self._agent = agent
        self._sink = sink
        self._asking = Asking(self._tell)
        self._interrupts = Interrupts()
        self._messages: asyncio.Queue[str | None] = asyncio.Queue()
        self._running: RunningTurn | None = None
        self._broken: OSError | None = None
        self._is_over = False
        self._code = OK

    async def run(self, opening: Opening, source: AsyncIterator[bytes | None]) -> int:
        """Open the thread, answer what comes out of `source`, return the exit code.

        Raises:
            OSError: The sink takes no more.
            CounterfoilError: The thread cannot be opened, or the record not be written.
        """
        listening: asyncio.Task[None] | None = None
        try:
            thread = await self._agent.threads.open(opening)
            self._tell(self._ready(thread))
            listening = asyncio.ensure_future(self._listen(source))
            await self._converse(thread)
        except CounterfoilError as error:
            self._tell(Note(text=error.diagnosis()))
            self._tell(Exit(code=exit_code_of(error)))
            raise
        finally:
            if listening is not None:
                listening.cancel()
            await self._agent.threads.close_all()
        self._tell(Exit(code=self._code))
        if self._broken is not None:
            raise self._broken
        return self._code

    # --- out ----------------------------------------------------------------------

    def _tell(self, told: Told) -> None:
        if self._broken is not None:
            return
        try:
            self._sink(encode_told(told))
        except OSError as error:
            self._broken = error
            self._leave()

    def _leave(self) -> None:
        """End behind the turn that runs, which is cancelled."""
        self._is_over = True
        self._messages.put_nowait(None)
        if self._running is not None:
            self._running.cancel()

    def _ready(self, thread: OpenThread) -> Ready:
        return Ready(
            version=self._agent.version,
            thread=thread.id,
            created=thread.created,
            turn=thread.turn,
            model=thread.model,
            tools=thread.opened.tools or (),
            store=self._agent.store,
        )

    def _hear(self, what: Event | Delta) -> None:
        for told in _told(what):
            self._tell(told)

    # --- in -----------------------------------------------------------------------

    async def _listen(self, source: AsyncIterator[bytes | None]) -> None:
        async for line in source:
            asked = _too_long() if line is None else decode_asked(line)
            if asked is not None:
                self._take(asked)
        self._asking.end()
        self._messages.put_nowait(None)

    def _take(self, asked: Asked | Unreadable) -> None:
        if isinstance(asked, Hello):
            self._asking.allow(can_answer=asked.approves)
        elif isinstance(asked, Message):
            self._messages.put_nowait(asked.text)
        elif isinstance(asked, Cancel):
            self._cancel()
        else:
            why = asked.why if isinstance(asked, Unreadable) else self._asking.answer(asked)
            if why is not None:
                self._tell(Note(text=why))

    def _cancel(self) -> None:
        if self._running is None:
            self._tell(Note(text="no turn runs that could be cancelled"))
        else:
            self._running.cancel()

    # --- turns --------------------------------------------------------------------

    async def _converse(self, thread: OpenThread) -> None:
        with self._interrupts.during(self._interrupted):
            while not self._is_over:
                text = await self._messages.get()
                if text is None:
                    break
                await self._turn(thread, text)
                if self._interrupts.ends_all:
                    self._code, self._is_over = INTERRUPTED, True
                self._interrupts.count = 0

    def _interrupted(self) -> None:
        if self._running is None:
            self._code = INTERRUPTED
            self._leave()
        else:
            self._running.cancel()

    async def _turn(self, thread: OpenThread, text: str) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        self._running = self._agent.threads.start(
            thread,
            TurnRequest(prompt=text, source="caller"),
            approver=self._asking,
            hear=Ears(self._hear),
        )
        try:
            result = await self._running.result()
        finally:
            self._running = None
        self._tell(turn_ended(result, round(loop.time() - began, 3)))
        if result.outcome == "error":
            self._code = max(self._code, CANNOT_TELL)
        elif has_missing(result):
            self._code = max(self._code, FOUND)


def turn_ended(result: TurnResult, seconds: float) -> TurnEnded:
    """Return how a turn ended; `seconds` is how long it took where nothing is recorded."""
    recorded = result.receipt.milliseconds
    cited, pages = result.cited, result.pages
    return TurnEnded(
        thread=result.thread,
        turn=result.turn,
        outcome=result.outcome,
        seconds=seconds if recorded is None else recorded / 1000,
        tokens=result.receipt.usage,
        text=result.text,
        error=result.error,
        ran=result.ran,
        cited=cited.line if cited is not None else None,
        cited_entries=cited,
        unknown_entries=cited.missing if cited is not None else (),
        cited_pages=pages.line if pages is not None else None,
        unknown_pages=pages.unknown if pages is not None else (),
        receipt=result.receipt,
    )


def _told(what: Event | Delta) -> Iterator[Told]:
    if isinstance(what, Delta):
        if what.text or what.reasoning:
            yield Heard(text=what.text, reasoning=what.reasoning)
        return
    payload = what.payload
    if isinstance(payload, PromptReceived):
        yield TurnStarted(thread=what.thread, turn=what.turn or 0, prompt=payload.text)
    line = event_line(what)
    yield Recorded(event=what, text=None if line is None else line[0].strip())
    if isinstance(payload, ToolReturned | ToolFailed) and (text := output_of_event(what)):
        yield output_of(what.id, payload.tool, text)


def _too_long() -> Unreadable:
    return Unreadable(f"a line of more than {LONGEST_LINE:,} bytes was passed over")
