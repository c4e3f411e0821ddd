"""Any endpoint that speaks OpenAI's protocol: Ollama, llama.cpp, vLLM, LM Studio, OpenAI.

A request is made once: asking again would start the same work anew, and what was heard of
an answer cannot be taken back. Each has a connection of its own, so that giving one up
ends the work at the server.
"""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from urllib.parse import urlsplit

from counterfoil.adapters.models.answer_pieces import AnswerPieces
from counterfoil.adapters.models.chat_requests import request_body, sent_name
from counterfoil.adapters.models.endpoint_faults import (
    Endpoint,
    UnknownModelError,
    broke_off,
    no_protocol,
)
from counterfoil.adapters.models.windows import Window, find_window
from counterfoil.core.errors import UnavailableError
from counterfoil.core.messages import Delta, ModelAnswer, ModelRequest
from counterfoil.core.settings import ConfigurationError
from counterfoil.wire.json_values import is_list, is_object
from counterfoil.wire.written_calls import read_written_calls

_WINDOW_SECONDS = 2.0


def new_call_id() -> str:
    """Return an id for a call that came without one."""
    return f"call_{secrets.token_hex(8)}"


class OpenAIChatModel:
    """A model at an endpoint; any number of requests may be under way at once.

    Nothing is asked before the first request or `look_up_window`.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str,
        api_key: str | None = None,
        timeout: float = 300.0,
        window: int | None = None,
        new_id: Callable[[], str] = new_call_id,
    ) -> None:
        """Name the model and its endpoint.

        Args:
            name: The model, as its server knows it.
            base_url: Where the protocol begins; mostly it ends in `/v1`.
            api_key: The key, where the server wants one.
            timeout: Seconds to connect, and seconds until the next piece of an answer.
            window: The tokens of its window; without it the server is asked.
            new_id: Makes an id for a call that came without one.

        Raises:
            ConfigurationError: `base_url` is no URL.
            UnavailableError: The `openai` package is not installed.
        """
        _require_url(base_url)
        _require_library()
        self._endpoint = Endpoint(model=name, base_url=base_url, key=api_key)
        self._timeout = timeout
        self._window = Window(window) if window else None
        self._questions = 0 if window else 2
        self._new_id = new_id

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._endpoint.model

    @property
    def window(self) -> int | None:
        """The tokens of the model's window as far as they are known by now."""
        return self._window.tokens if self._window else None

    async def look_up_window(self) -> int | None:
        """Ask the server for the window, two seconds at most, and return what is known.

        It is asked before the first two answers; by the second one the model is loaded.
        """
        if self._questions:
            with suppress(TimeoutError):
                async with asyncio.timeout(_WINDOW_SECONDS):
                    found = await find_window(self._peek, self._endpoint.base_url, self.name)
                self._window = found or self._window
                self._questions = 0 if found and found.is_final else self._questions
        return self.window

    async def ask(self, request: ModelRequest, hear: Callable[[Delta], None]) -> ModelAnswer:
        """Return the whole answer; meanwhile `hear` is called with each piece of it.

        Raises:
            ContextOverflowError: The request does not fit into the model's window.
            UnavailableError: The model cannot be reached, or broke off.
        """
        await self.look_up_window()
        try:
            answer = await self._answer(request, hear)
        except UnknownModelError as fault:
            raise fault.among(await self._served()) from fault.__cause__
        self._questions = max(0, self._questions - 1)
        return self._without_written_calls(answer, request)

    async def models(self) -> Sequence[str]:
        """Return the names of the models that the endpoint serves, sorted.

        Raises:
            UnavailableError: The endpoint cannot be reached.
        """
        url = f"{self._endpoint.base_url.rstrip('/')}/models"
        answer = await _fetch(self._endpoint, url, None, self._timeout)
        rows = answer.get("data", "") if is_object(answer) else ""
        if rows is None:
            return ()
        if not is_list(rows):
            raise no_protocol(self._endpoint, "no list of models")
        ids = (row.get("id") for row in rows if is_object(row))
        return tuple(sorted(id_ for id_ in ids if isinstance(id_, str)))

    async def _answer(self, request: ModelRequest, hear: Callable[[Delta], None]) -> ModelAnswer:
        await asyncio.to_thread(import_module, "openai")  # which takes a second, the first time
        from counterfoil.adapters.models.connection import chunks  # noqa: PLC0415 - an extra

        names = {sent_name(tool.name): tool.name for tool in request.tools}
        taken = frozenset(call.id for message in request.messages for call in message.calls)
        pieces = AnswerPieces(names, self._new_id, taken)
        body = request_body(request, self.name)
        async with aclosing(chunks(self._endpoint, body, self._timeout)) as stream:
            async for chunk in stream:
                heard = pieces.take(chunk)
                if heard is not None:
                    hear(heard)
        if not pieces.finish:
            raise broke_off(self._endpoint, "the stream ended without a reason to finish")
        answer = pieces.answer()
        if pieces.finish == "length" and not answer.text and not answer.calls:
            raise broke_off(self._endpoint, "it reached its limit of tokens before it spoke")
        return answer

    def _without_written_calls(self, answer: ModelAnswer, request: ModelRequest) -> ModelAnswer:
        """Return `answer` with the calls in its text as calls, where JSON is no answer."""
        if answer.calls or not request.tools or request.schema is not None:
            return answer
        tools = {tool.name for tool in request.tools}
        written = read_written_calls(answer.text, tools, self._new_id)
        return replace(answer, text=written.text, calls=written.calls)

    async def _served(self) -> Sequence[str]:
        try:
            async with asyncio.timeout(_WINDOW_SECONDS):
                return await self.models()
        except (TimeoutError, UnavailableError):
            return ()

    async def _peek(self, url: str, body: dict[str, object] | None) -> object:
        try:
            return await _fetch(self._endpoint, url, body, _WINDOW_SECONDS)
        except UnavailableError:
            return None


async def _fetch(
    endpoint: Endpoint, url: str, body: dict[str, object] | None, seconds: float
) -> object:
    await asyncio.to_thread(import_module, "openai")
    from counterfoil.adapters.models.connection import fetch  # noqa: PLC0415 - an extra

    return await fetch(endpoint, url, body, seconds)


def _require_url(base_url: str) -> None:
    """Refuse what is no URL: the client would ask its own default in the place of none."""
    try:
        parts = urlsplit(base_url)
        is_url = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url:
        raise ConfigurationError(
            f"the base URL {base_url!r} of the model", "a URL like http://127.0.0.1:11434/v1"
        )


def _require_library() -> None:
    if find_spec("openai") is None:
        raise UnavailableError(
            "the package openai is not installed", advice="pip install 'counterfoil[models]'"
        )
