"""The suite that every `ChatModel` passes, ours or a stranger's.

A check takes a way to make a model that will give certain answers, one after the other,
and raises `AssertionError` with the promise that was not kept. With pytest:

```python
@pytest.mark.parametrize("check", chat_model.CHAT_MODEL, ids=lambda check: check.__name__)
def test_my_model_conforms(check):
    check(make)
```

where `make(answers)` is a context that holds the model, with what it needs behind it.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar

from counterfoil.core.errors import ContextOverflowError, UnavailableError
from counterfoil.core.events import Usage
from counterfoil.core.messages import (
    Delta,
    Message,
    ModelAnswer,
    ModelRequest,
    ToolSpec,
)
from counterfoil.ports.model import ChatModel

T = TypeVar("T")

PATIENCE = 20.0
"""Seconds after which a model that does not answer is one that never will."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedAnswer:
    """What the model is to answer: text, then calls as tool and exact arguments.

    `ends`: `whole`; `cut`: it breaks off after the text; `open`: after the text nothing
    comes; `overflow`: the request does not fit.
    """

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    reasoning: str | None = None
    usage: Usage | None = None
    ends: Literal["whole", "cut", "open", "overflow"] = "whole"


Make: TypeAlias = Callable[[Sequence[WantedAnswer]], AbstractContextManager[ChatModel]]
"""Makes a model that gives these answers, in their order, one to a request."""

_TOOLS = tuple(
    ToolSpec(name=name, description=name, parameters={"type": "object", "properties": {}})
    for name in ("read_file", "memory")
)
_HELLO = ModelRequest(messages=(Message(role="user", text="hello"),), tools=_TOOLS)
_TEXT = "One, two\n\n  three: äöü 😀."


def an_answer_is_heard_in_pieces_and_returned_whole(make: Make) -> None:
    """What was heard, put together, is the text of the answer."""
    answer, heard = _one(make, WantedAnswer(text=_TEXT))
    _same(answer.text, _TEXT, "the answer has the whole text")
    _same("".join(delta.text for delta in heard), _TEXT, "the pieces make up the text")
    _same(answer.calls, (), "no call was asked for")


def calls_come_in_their_order_with_the_exact_arguments(make: Make) -> None:
    """Arguments are the text that the model wrote, whatever is wrong with it."""
    wanted = (("read_file", '{"path": "a"}'), ("memory", "{}"), ("read_file", '{"broken": '))
    answer, _ = _one(make, WantedAnswer(text="So:", calls=wanted))
    found = tuple((call.tool, call.arguments) for call in answer.calls)
    _same(found, wanted, "tools and arguments are as written")
    _same(answer.text, "So:", "the text beside the calls is there")
    _same(len({call.id for call in answer.calls}), 3, "every call has an id of its own")


def an_id_is_given_once_in_a_thread(make: Make) -> None:
    """No call has the id of one that the request already holds."""

    async def work(model: ChatModel) -> None:
        first = await model.ask(_HELLO, _ignore)
        asked = (Message(role="assistant", calls=first.calls),)
        outputs = (Message(role="tool", call=call.id, text="ok") for call in first.calls)
        request = replace(_HELLO, messages=(*_HELLO.messages, *asked, *outputs))
        second = await model.ask(request, _ignore)
        ids = [call.id for call in (*first.calls, *second.calls)]
        _same(len(set(ids)), 2, f"two calls have two ids, found {ids}")

    answer = WantedAnswer(calls=(("memory", "{}"),))
    _run(make, [answer, answer], work)


def reasoning_is_kept_apart(make: Make) -> None:
    """Reasoning is heard and returned as such, and is no part of the text."""
    answer, heard = _one(make, WantedAnswer(text="Yes.", reasoning="Let me think."))
    _same((answer.text, answer.reasoning), ("Yes.", "Let me think."), "each has its place")
    said = "".join(delta.reasoning for delta in heard)
    _same(said, "Let me think.", "the pieces make up the reasoning")


def usage_is_what_was_reported(make: Make) -> None:
    """Tokens are those that the model reported."""
    usage = Usage(input=10, output=5, cached=4, reasoning=3)
    answer, _ = _one(make, WantedAnswer(text="a", usage=usage))
    _same(answer.usage, usage, "usage is as reported")


def an_answer_that_breaks_off_is_an_error(make: Make) -> None:
    """Half an answer is never returned; what was heard of it was heard."""
    heard: list[Delta] = []

    async def work(model: ChatModel) -> None:
        try:
            answer = await model.ask(_HELLO, heard.append)
        except UnavailableError:
            return
        raise AssertionError(f"a cut answer raises UnavailableError, found {answer!r}")

    _run(make, [WantedAnswer(text="One, two", ends="cut")], work)
    _same("".join(delta.text for delta in heard), "One, two", "the pieces before the cut")


def an_overflow_is_told_from_other_errors(make: Make) -> None:
    """A request that does not fit raises the error upon which a thread condenses itself."""

    async def work(model: ChatModel) -> None:
        try:
            answer = await model.ask(_HELLO, _ignore)
        except ContextOverflowError:
            return
        raise AssertionError(f"an overflow raises ContextOverflowError, found {answer!r}")

    _run(make, [WantedAnswer(ends="overflow")], work)


def cancelling_ends_the_request(make: Make) -> None:
    """A call that is cancelled ends, and the next one is answered."""

    async def work(model: ChatModel) -> None:
        is_heard = asyncio.Event()
        task = asyncio.create_task(model.ask(_HELLO, lambda _: is_heard.set()))
        await is_heard.wait()
        task.cancel()
        await asyncio.wait([task])
        _holds("a cancelled call ends as cancelled", is_so=task.cancelled())
        _same((await model.ask(_HELLO, _ignore)).text, "Two", "the next call is answered")

    _run(make, [WantedAnswer(text="One", ends="open"), WantedAnswer(text="Two")], work)


def what_a_listener_raises_comes_through(make: Make) -> None:
    """A fault of the listener is raised as it is."""

    def refuse(_: Delta) -> None:
        raise LookupError("of the listener")

    async def work(model: ChatModel) -> None:
        try:
            await model.ask(_HELLO, refuse)
        except LookupError:
            return
        raise AssertionError("what the listener raises comes out of the call")

    _run(make, [WantedAnswer(text="One")], work)


def many_may_ask_at_once(make: Make) -> None:
    """Each request gets one answer, and no two the same."""
    texts = [f"answer {number}" for number in range(5)]

    async def work(model: ChatModel) -> None:
        answers = await asyncio.gather(*(model.ask(_HELLO, _ignore) for _ in texts))
        _same(sorted(answer.text for answer in answers), texts, "each answer is given once")

    _run(make, [WantedAnswer(text=text) for text in texts], work)


def a_model_has_a_name_and_knows_its_window_or_not(make: Make) -> None:
    """The name is not blank; a window is a positive number of tokens."""

    async def work(model: ChatModel) -> None:
        _holds("the name is not blank", is_so=bool(model.name.strip()))
        _holds("a window is positive", is_so=model.window is None or model.window > 0)

    _run(make, [], work)


CHAT_MODEL: tuple[Callable[[Make], None], ...] = (
    an_answer_is_heard_in_pieces_and_returned_whole,
    calls_come_in_their_order_with_the_exact_arguments,
    an_id_is_given_once_in_a_thread,
    reasoning_is_kept_apart,
    usage_is_what_was_reported,
    an_answer_that_breaks_off_is_an_error,
    an_overflow_is_told_from_other_errors,
    cancelling_ends_the_request,
    what_a_listener_raises_comes_through,
    many_may_ask_at_once,
    a_model_has_a_name_and_knows_its_window_or_not,
)
"""Every promise of the port that can be checked from outside."""


def _same(found: object, expected: object, promise: str) -> None:
    if found != expected:
        raise AssertionError(f"{promise}: found {found!r}, expected {expected!r}")


def _holds(promise: str, *, is_so: bool) -> None:
    _same(is_so, expected=True, promise=promise)


def _ignore(_: Delta) -> None:
    """Hear nothing."""


def _one(make: Make, answer: WantedAnswer) -> tuple[ModelAnswer, list[Delta]]:
    heard: list[Delta] = []

    async def work(model: ChatModel) -> ModelAnswer:
        return await model.ask(_HELLO, heard.append)

    return _run(make, [answer], work), heard


def _run(
    make: Make,
    answers: Sequence[WantedAnswer],
    work: Callable[[ChatModel], Coroutine[Any, Any, T]],
) -> T:
    with make(answers) as model:
        return asyncio.run(asyncio.wait_for(work(model), PATIENCE))
