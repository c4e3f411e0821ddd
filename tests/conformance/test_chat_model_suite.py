"""The suite of `counterfoil.testing.chat_model`, over our models and over broken ones."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pytest

from adapters.model_server import Answer, ModelServer, chunk, json_answer, stream
from counterfoil.adapters.models.openai_compatible import OpenAIChatModel
from counterfoil.adapters.models.script_steps import ScriptedCall, Step
from counterfoil.adapters.models.scripted import ScriptedModel
from counterfoil.core.errors import UnavailableError
from counterfoil.core.messages import Delta, ModelAnswer, ModelRequest
from counterfoil.ports.model import ChatModel
from counterfoil.testing import chat_model
from counterfoil.testing.chat_model import CHAT_MODEL, Make, WantedAnswer

Check = Callable[[Make], None]


def step_of(answer: WantedAnswer) -> Step:
    if answer.ends == "overflow":
        return Step(overflow=True)
    if answer.ends == "cut":
        return Step(cut=answer.text)
    if answer.ends == "open":
        return Step(wait=answer.text)
    calls = tuple(ScriptedCall(tool=tool, arguments=written) for tool, written in answer.calls)
    return Step(say=answer.text, call=calls, reasoning=answer.reasoning, usage=answer.usage)


@contextmanager
def in_a_script(answers: Sequence[WantedAnswer]) -> Generator[ChatModel, None, None]:
    yield ScriptedModel(map(step_of, answers))


def sent_for(answer: WantedAnswer) -> Answer:
    if answer.ends == "overflow":
        return json_answer({"error": {"code": "context_length_exceeded", "message": "no"}}, 400)
    said = [chunk({"reasoning_content": answer.reasoning}), chunk({"content": answer.text})]
    if answer.ends != "whole":
        return stream(*said, ends=answer.ends)
    calls = [
        {"index": 0, "function": {"name": tool, "arguments": written}}
        for tool, written in answer.calls
    ]
    usage = answer.usage and {
        "prompt_tokens": answer.usage.input,
        "completion_tokens": answer.usage.output,
        "prompt_tokens_details": {"cached_tokens": answer.usage.cached},
        "completion_tokens_details": {"reasoning_tokens": answer.usage.reasoning},
    }
    return stream(*said, chunk({"tool_calls": calls}, "stop"), {"choices": [], "usage": usage})


@contextmanager
def at_a_server(answers: Sequence[WantedAnswer]) -> Generator[ChatModel, None, None]:
    with ModelServer([sent_for(answer) for answer in answers]) as server:
        yield OpenAIChatModel("m", base_url=server.base_url, timeout=10, window=4096)


@pytest.mark.parametrize("make", [in_a_script, at_a_server])
@pytest.mark.parametrize("check", CHAT_MODEL, ids=lambda check: check.__name__)
def test_our_models_conform(make: Make, check: Check) -> None:
    """chat-model-suite: Every check of the port holds for every model."""
    check(make)


class Broken:
    """A model that changes what another one does."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def window(self) -> int | None:
        return self.model.window

    async def ask(self, request: ModelRequest, hear: Callable[[Delta], None]) -> ModelAnswer:
        return await self.model.ask(request, hear)


class Nameless(Broken):
    @property
    def name(self) -> str:
        return " "


class WithoutWindow(Broken):
    @property
    def window(self) -> int | None:
        return 0


class Silent(Broken):
    async def ask(self, request: ModelRequest, hear: Callable[[Delta], None]) -> ModelAnswer:
        del hear
        return await self.model.ask(request, lambda _: None)


class Shortened(Broken):
    async def ask(self, request: ModelRequest, hear: Callable[[Delta], None]) -> ModelAnswer:
        answer = await self.model.ask(request, hear)
        return replace(answer, text=answer.text.strip(".3"), usage=None, reasoning=None)


class Backwards(Broken):
    async def ask(self, request: ModelRequest, hear: Callable[[Delta], None]) -> ModelAnswer:
        answer = await self.model.ask(request, hear)
        calls = tuple(replace(call, id="call_1") for call in reversed(answer.calls))
        return replace(answer, calls=calls)


class Forgiving(Broken):
    async def ask(self, request: ModelRequest, hear: Callable[[Delta], None]) -> ModelAnswer:
        try:
            return await self.model.ask(request, hear)
        except (UnavailableError, LookupError):
            return ModelAnswer()


class Merging(Broken):
    async def ask(self, request: ModelRequest, hear: Callable[[Delta], None]) -> ModelAnswer:
        try:
            return await self.model.ask(request, hear)
        except UnavailableError as error:
            raise UnavailableError(error.found) from error


class Clinging(Broken):
    async def ask(self, request: ModelRequest, hear: Callable[[Delta], None]) -> ModelAnswer:
        try:
            return await self.model.ask(request, hear)
        except BaseException:  # noqa: BLE001 - it holds on, whatever comes
            return ModelAnswer()


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (Nameless, chat_model.a_model_has_a_name_and_knows_its_window_or_not),
        (WithoutWindow, chat_model.a_model_has_a_name_and_knows_its_window_or_not),
        (Silent, chat_model.an_answer_is_heard_in_pieces_and_returned_whole),
        (Silent, chat_model.reasoning_is_kept_apart),
        (Silent, chat_model.an_answer_that_breaks_off_is_an_error),
        (Silent, chat_model.what_a_listener_raises_comes_through),
        (Shortened, chat_model.an_answer_is_heard_in_pieces_and_returned_whole),
        (Shortened, chat_model.reasoning_is_kept_apart),
        (Shortened, chat_model.usage_is_what_was_reported),
        (Shortened, chat_model.many_may_ask_at_once),
        (Backwards, chat_model.calls_come_in_their_order_with_the_exact_arguments),
        (Backwards, chat_model.an_id_is_given_once_in_a_thread),
        (Forgiving, chat_model.an_answer_that_breaks_off_is_an_error),
        (Forgiving, chat_model.an_overflow_is_told_from_other_errors),
        (Forgiving, chat_model.what_a_listener_raises_comes_through),
        (Clinging, chat_model.cancelling_ends_the_request),
    ],
)
def test_a_broken_model_is_told(broken: type[Broken], check: Check) -> None:
    """chat-model-suite: Each check fails for a model that breaks its promise."""

    @contextmanager
    def make(answers: Sequence[WantedAnswer]) -> Generator[ChatModel, None, None]:
        with in_a_script(answers) as model:
            yield broken(model)

    with pytest.raises(AssertionError):
        check(make)


def test_an_overflow_that_is_told_as_another_error_comes_out() -> None:
    """chat-model-suite: An error of another kind is shown as it is."""

    @contextmanager
    def make(answers: Sequence[WantedAnswer]) -> Generator[ChatModel, None, None]:
        with in_a_script(answers) as model:
            yield Merging(model)

    with pytest.raises(UnavailableError):
        chat_model.an_overflow_is_told_from_other_errors(make)
