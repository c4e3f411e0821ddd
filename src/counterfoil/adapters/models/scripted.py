"""A model that replays a script: it drives the real loop where no model is at hand.

The script is one for all threads that ask: each answer takes the next step, whoever asks.
"""

import asyncio
import re
import threading
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Self

from counterfoil.adapters.models.script_steps import ScriptedCall, Step, read_script
from counterfoil.core.errors import ContextOverflowError, UnavailableError, UnreadableError
from counterfoil.core.messages import AskedCall, Delta, ModelAnswer, ModelRequest

LAST = "{{last}}"
"""The slot in a text that the last output of a tool takes."""

_PIECE = re.compile(r"\s*\S+\s*|\s+")


class ScriptedModel:
    """A model whose answers are the steps of a script, in their order, each once.

    `asked` holds every request that it was sent.
    """

    def __init__(
        self, steps: Iterable[Step], *, name: str = "scripted", window: int | None = None
    ) -> None:
        self._steps = tuple(steps)
        self._name = name
        self._window = window
        self._taken = 0
        self._numbers = count(1)
        self._lock = threading.Lock()
        self.asked: list[ModelRequest] = []

    @classmethod
    def from_text(cls, text: str, origin: str, *, window: int | None = None) -> Self:
        """Return the model that replays the script `text`, named after its `origin`.

        Raises:
            UnreadableError: A line is no step.
        """
        return cls(read_script(text, origin), name=f"scripted:{origin}", window=window)

    @classmethod
    def from_file(cls, path: Path, *, window: int | None = None) -> Self:
        """Return the model that replays the script at `path`.

        Raises:
            UnreadableError: There is no script, or a line of it is no step.
        """
        try:
            text = path.read_bytes().decode()
        except OSError as error:
            why = error.strerror or str(error)
            raise UnreadableError(f"the script {path} cannot be read: {why}") from error
        except UnicodeDecodeError as error:
            raise UnreadableError(f"the script {path} is not UTF-8", "JSON Lines") from error
        return cls.from_text(text, path.name, window=window)

    @property
    def name(self) -> str:
        """The name of the script."""
        return self._name

    @property
    def window(self) -> int | None:
        """The tokens of the window that the model pretends to have."""
        return self._window

    async def ask(self, request: ModelRequest, hear: Callable[[Delta], None]) -> ModelAnswer:
        """Return the answer of the next step; meanwhile `hear` is called with each piece.

        Raises:
            ContextOverflowError: The step says so.
            UnavailableError: The step says so, or there is none left.
        """
        step = self._next(request)
        if step.overflow:
            raise ContextOverflowError(f"the request does not fit into the window of {self._name}")
        if step.fail is not None:
            raise UnavailableError(f"{self._name}: {step.fail}")
        text = step.say.replace(LAST, _last_output(request)) if LAST in step.say else step.say
        heard = next((said for said in (step.cut, step.wait) if said is not None), text)
        await _speak(step.reasoning or "", lambda piece: hear(Delta(reasoning=piece)))
        await _speak(heard, lambda piece: hear(Delta(text=piece)))
        if step.cut is not None:
            raise UnavailableError(f"{self._name} broke off after {len(heard)} characters")
        if step.wait is not None:
            await asyncio.Event().wait()
        calls = tuple(self._call(call, request) for call in step.call)
        return ModelAnswer(text=text, calls=calls, reasoning=step.reasoning, usage=step.usage)

    def _next(self, request: ModelRequest) -> Step:
        with self._lock:
            self.asked.append(request)
            self._taken += 1
            number = self._taken
        if number > len(self._steps):
            raise UnavailableError(
                f"{self._name} has no step for answer {number}; it has {len(self._steps)}",
                advice="add a step to the script",
            )
        return self._steps[number - 1]

    def _call(self, call: ScriptedCall, request: ModelRequest) -> AskedCall:
        """Return the call, under an id that no call in `request` has."""
        taken = {asked.id for message in request.messages for asked in message.calls}
        with self._lock:
            free = (f"call_{n}" for n in self._numbers if f"call_{n}" not in taken)
            id_ = call.id or next(free)
        return AskedCall(id=id_, tool=call.tool, arguments=call.arguments)


async def _speak(text: str, say: Callable[[str], None]) -> None:
    """Say `text` word by word, and let others go on between two words."""
    for piece in _PIECE.findall(text):
        say(piece)
        await asyncio.sleep(0)


def _last_output(request: ModelRequest) -> str:
    outputs = (message.text for message in reversed(request.messages) if message.role == "tool")
    return next(outputs, "")
