"""The model that replays a script: what it says, how, and what is wrong with a script."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import pytest

from counterfoil.adapters.models.script_steps import ScriptedCall, Step, read_script
from counterfoil.adapters.models.scripted import ScriptedModel
from counterfoil.core.errors import ContextOverflowError, UnavailableError, UnreadableError
from counterfoil.core.events import Usage
from counterfoil.core.messages import AskedCall, Delta, Message, ModelAnswer, ModelRequest

T = TypeVar("T")

HELLO = ModelRequest(messages=(Message(role="user", text="hello"),))


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def ask(
    model: ScriptedModel, request: ModelRequest = HELLO, hear: Callable[[Delta], None] | None = None
) -> ModelAnswer:
    return run(model.ask(request, hear or (lambda _: None)))


def scripted(*steps: object, window: int | None = None) -> ScriptedModel:
    text = "\n".join(json.dumps(step) for step in steps)
    return ScriptedModel.from_text(text, "a.jsonl", window=window)


def refusal(line: str) -> str:
    with pytest.raises(UnreadableError) as raised:
        read_script(f'{{"say": "one"}}\n\n{line}', "a.jsonl")
    said = raised.value.diagnosis()
    assert said.startswith("line 3 of a.jsonl ")
    return said


def test_a_script_is_replayed_from_a_file(tmp_path: Path) -> None:
    """scripted-models: A step is an answer, and the model has the name of its file."""
    path = tmp_path / "demo.jsonl"
    path.write_bytes(
        b'{"call": [{"tool": "read_file", "arguments": {"path": "\xc3\xa4"}}], "say": "So:"}\r\n'
        b'  \r\n{"say": "It said {{last}}, {{last}}.", "reasoning": "Hm.", '
        b'"usage": {"input": 5, "output": 6}}'
    )
    model = ScriptedModel.from_file(path)
    assert (model.name, model.window) == ("scripted:demo.jsonl", None)
    first = ask(model)
    assert first == ModelAnswer(
        text="So:",
        calls=(AskedCall(id="call_1", tool="read_file", arguments='{"path": "ä"}'),),
    )
    outputs = (Message(role="tool", text="old"), Message(role="tool", text="new"))
    request = ModelRequest(messages=(*outputs, Message(role="user", text="go on")))
    assert ask(model, request) == ModelAnswer(
        text="It said new, new.", reasoning="Hm.", usage=Usage(input=5, output=6)
    )
    assert model.asked == [HELLO, request]


def test_text_is_heard_in_pieces_after_the_reasoning() -> None:
    """scripted-models: An answer streams as that of a real model does."""
    heard: list[Delta] = []
    answer = ask(scripted({"say": " one\ntwo  three ", "reasoning": "Let me"}), hear=heard.append)
    assert [delta for delta in heard if delta.reasoning] == heard[:2]
    assert "".join(delta.reasoning for delta in heard) == "Let me"
    assert "".join(delta.text for delta in heard) == answer.text == " one\ntwo  three "
    assert len(heard) == 5


@pytest.mark.parametrize("text", ["", " \n ", "a" * 100_000, "a " * 50_000, "\0\u2028\ud800"])
def test_any_text_is_said_as_it_is(text: str) -> None:
    """scripted-models: What stands in the script is what is said."""
    heard: list[Delta] = []
    assert ask(scripted({"say": text}), hear=heard.append).text == text
    assert "".join(delta.text for delta in heard) == text


def test_a_slot_without_an_output_is_empty() -> None:
    """scripted-models: The last output of a tool fills the slot."""
    assert ask(scripted({"say": "<{{last}}>"})).text == "<>"
    request = ModelRequest(messages=(Message(role="tool", text="{{last}}"),))
    assert ask(scripted({"say": "<{{last}}>"}), request).text == "<{{last}}>"


def test_calls_have_ids_of_their_own_and_arguments_as_written() -> None:
    """scripted-models: Broken calls can be scripted, and an id is never given twice."""
    model = scripted(
        {"call": [{"tool": "a", "arguments": '{"broken": '}, {"tool": "b"}]},
        {"call": [{"tool": "c", "arguments": "", "id": "mine"}, {"tool": "d"}]},
    )
    earlier = AskedCall(id="call_2", tool="x", arguments="{}")
    request = ModelRequest(messages=(Message(role="assistant", calls=(earlier,)),))
    calls = [*ask(model, request).calls, *ask(model, request).calls]
    assert [(call.id, call.tool, call.arguments) for call in calls] == [
        ("call_1", "a", '{"broken": '),
        ("call_3", "b", "{}"),
        ("mine", "c", ""),
        ("call_4", "d", "{}"),
    ]


def test_after_the_last_step_the_model_cannot_be_had() -> None:
    """scripted-models: A script that is too short is told with what it has."""
    model = scripted({"say": "one"})
    ask(model)
    for number in (2, 3):
        with pytest.raises(UnavailableError) as raised:
            ask(model)
        assert raised.value.found == f"scripted:a.jsonl has no step for answer {number}; it has 1"
    with pytest.raises(UnavailableError):
        ask(ScriptedModel(()))


def test_a_failure_and_an_overflow_are_raised() -> None:
    """scripted-models: What a real model raises can be scripted."""
    model = scripted({"fail": "out of memory"}, {"overflow": True}, {"say": "a", "overflow": False})
    with pytest.raises(UnavailableError, match="out of memory"):
        ask(model)
    with pytest.raises(ContextOverflowError, match=r"scripted:a\.jsonl"):
        ask(model)
    assert ask(model).text == "a"


def test_an_answer_can_break_off() -> None:
    """scripted-models: What was heard before the cut was heard."""
    heard: list[Delta] = []
    with pytest.raises(UnavailableError, match="broke off after 8 characters"):
        ask(scripted({"cut": "One, two"}), hear=heard.append)
    assert heard == [Delta(text="One, "), Delta(text="two")]


@pytest.mark.parametrize("said", ["", "One moment"])
def test_a_step_that_waits_ends_when_it_is_cancelled(said: str) -> None:
    """scripted-models: Cancelling the call ends the request."""

    async def cancelled() -> None:
        heard: list[str] = []
        is_said = asyncio.Event()

        def hear(delta: Delta) -> None:
            heard.append(delta.text)
            if "".join(heard) == said:
                is_said.set()

        task = asyncio.create_task(scripted({"wait": said}).ask(HELLO, hear))
        if said:
            await is_said.wait()
        await asyncio.sleep(0)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(cancelled())


def test_a_listener_that_raises_is_heard() -> None:
    """scripted-models: A fault of the listener is not one of the model."""

    def refuse(_: Delta) -> None:
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        ask(scripted({"say": "one"}), hear=refuse)


def test_each_step_is_taken_once_whoever_asks() -> None:
    """scripted-models: Threads may ask at once."""
    model = ScriptedModel([Step(say=str(number)) for number in range(400)])
    texts: list[str] = []
    workers = [
        Thread(target=lambda: texts.extend(ask(model).text for _ in range(100))) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(map(int, texts)) == list(range(400))


def test_steps_can_be_given_as_values() -> None:
    """scripted-models: A test needs no file."""
    step = Step(call=(ScriptedCall(tool="memory"),))
    model = ScriptedModel([step], name="m", window=100)
    assert (model.name, model.window) == ("m", 100)
    assert ask(model).calls == (AskedCall(id="call_1", tool="memory", arguments="{}"),)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "is no JSON: "),
        ("\0", "is no JSON: "),
        ("[" * 100_000, "is no JSON: "),
        ('{"say": ' + "9" * 5000 + "}", "is no JSON: "),
        ("[1]", "has list for a step, not an object"),
        ('{"says": "a"}', "has 'says', which a step has not; did you mean 'say'?"),
        ('{"say": 1}', "has 'say' of type number, not text"),
        ('{"say": null}', "has 'say' of type null, not text"),
        ('{"call": {}}', "has 'call' of type object, not a list"),
        ('{"call": [5]}', "has number for a call, not an object"),
        ('{"call": [{}]}', "has a call without 'tool'"),
        ('{"call": [{"tool": "a", "args": {}}]}', "did you mean 'arguments'?"),
        ('{"call": [{"tool": "a", "arguments": []}]}', "has 'arguments' of type list"),
        ('{"say": "a", "usage": 5}', "has number for usage, not an object"),
        ('{"say": "a", "usage": {"input": -1}}', "has no count of tokens as 'input'"),
        ('{"say": "a", "usage": {"input": true}}', "has no count of tokens as 'input'"),
        ('{"say": "a", "usage": {"inputs": 1}}', "did you mean 'input'?"),
        ('{"overflow": 1}', "has 'overflow' of type number, not true or false"),
        ('{"overflow": false}', "says nothing and calls nothing"),
        ("{}", "says nothing and calls nothing"),
        ('{"reasoning": "hm"}', "says nothing and calls nothing"),
        ('{"fail": "a", "say": "b"}', "has 'fail' beside another answer"),
        ('{"cut": "a", "wait": "b"}', "has 'cut' beside another answer"),
    ],
)
def test_a_line_that_is_no_step_is_named(line: str, said: str) -> None:
    """scripted-models: One clear line, with the number of the bad one."""
    assert said in refusal(line)


@pytest.mark.parametrize("name", ["missing.jsonl", "folder", "latin.jsonl"])
def test_a_file_that_is_no_script_is_one_clear_line(tmp_path: Path, name: str) -> None:
    """scripted-models: What cannot be read is named."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin.jsonl").write_bytes(b'{"say": "\xe4"}')
    with pytest.raises(UnreadableError, match=name):
        ScriptedModel.from_file(tmp_path / name)


def test_the_documented_script_can_be_read() -> None:
    """scripted-models: The form that is shown is the form that is read."""
    documented = (read_script.__globals__["__doc__"]).split("```json\n")[1].split("```")[0]
    look, say = read_script(documented, "documentation")
    assert look.call == (ScriptedCall(tool="system_info", arguments='{"what": "ports"}'),)
    assert say.usage == Usage(input=120, output=9)
    assert read_script("", "empty") == ()
