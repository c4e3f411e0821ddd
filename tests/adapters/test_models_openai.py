"""Models behind OpenAI's protocol, asked over a real connection to a server on loopback."""

import asyncio
import json
import socket
import sys
from collections.abc import Coroutine
from itertools import count
from typing import Any, Literal, TypeVar

import pytest

from adapters.model_server import (
    DONE,
    Answer,
    ModelServer,
    call_answer,
    chunk,
    event,
    json_answer,
    stream,
    text_answer,
)
from counterfoil.adapters.models.openai_compatible import OpenAIChatModel, new_call_id
from counterfoil.core.errors import ContextOverflowError, UnavailableError
from counterfoil.core.events import Usage
from counterfoil.core.messages import (
    AskedCall,
    Delta,
    Message,
    ModelAnswer,
    ModelRequest,
    ToolSpec,
)
from counterfoil.core.settings import ConfigurationError

T = TypeVar("T")
Ends = Literal["whole", "cut", "closed", "open"]

READ = ToolSpec(
    name="read_file",
    description="reads a file",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}},
)
HELLO = ModelRequest(messages=(Message(role="user", text="hello"),))
WITH_TOOLS = ModelRequest(messages=HELLO.messages, tools=(READ,))
NOBODY = "http://127.0.0.1:9/v1"


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def model_at(base_url: str, **given: object) -> OpenAIChatModel:
    numbers = count(1)
    given = {"window": 4096, "timeout": 10.0, "new_id": lambda: f"new_{next(numbers)}", **given}
    return OpenAIChatModel("qwen3", base_url=base_url, **given)  # type: ignore[arg-type]


def ask(
    server: ModelServer, request: ModelRequest = HELLO, **given: object
) -> tuple[ModelAnswer, list[Delta]]:
    heard: list[Delta] = []
    answer = run(model_at(server.base_url, **given).ask(request, heard.append))
    return answer, heard


def answer_of(*answers: Answer, request: ModelRequest = HELLO, **given: object) -> ModelAnswer:
    with ModelServer(answers) as server:
        return ask(server, request, **given)[0]


def fault_of(answer: Answer, request: ModelRequest = HELLO, **given: object) -> UnavailableError:
    with ModelServer([answer]) as server:
        with pytest.raises(UnavailableError) as raised:
            ask(server, request, **given)
        fault = raised.value
        line = fault.diagnosis()
        assert server.base_url in line
        assert len(server.chats) == 1, "a request is made once"
    assert "\n" not in line
    return fault


# What is sent


def test_messages_of_every_role_are_sent() -> None:
    """models: Any OpenAI-compatible endpoint, with tool calls."""
    call = AskedCall(id="call_7", tool="read_file", arguments='{"path": "a"}')
    request = ModelRequest(
        messages=(
            Message(role="system", text="be brief", entry=1),
            Message(role="user", text="read a", entry=2),
            Message(role="assistant", text="I read.", calls=(call,), entry=3),
            Message(role="tool", text="one line", call="call_7", entry=4),
        ),
        tools=(READ,),
    )
    with ModelServer([text_answer("done")]) as server:
        ask(server, request)
        (body,) = server.chats
    assert body["model"] == "qwen3"
    assert body["stream"] is True
    assert body["stream_options"] == {"include_usage": True}
    assert body["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "read a"},
        {
            "role": "assistant",
            "content": "I read.",
            "tool_calls": [
                {
                    "id": "call_7",
                    "type": "function",
                    "function": {"name": "read_file", "arguments": '{"path": "a"}'},
                }
            ],
        },
        {"role": "tool", "content": "one line", "tool_call_id": "call_7"},
    ]
    assert body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "read_file",
                "description": "reads a file",
                "parameters": READ.parameters,
            },
        }
    ]
    assert "response_format" not in body


def test_no_tools_are_named_where_none_are_offered() -> None:
    """respond: `tools` may be the empty list."""
    with ModelServer([text_answer("hello")]) as server:
        ask(server)
        assert "tools" not in server.chats[0]


def test_a_schema_is_sent_as_the_form_of_the_reply() -> None:
    """models: JSON-schema replies."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    with ModelServer([text_answer('{"n": 1}')]) as server:
        answer, _ = ask(server, ModelRequest(messages=HELLO.messages, schema=schema))
        sent = server.chats[0]["response_format"]
    assert sent == {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
    assert answer.text == '{"n": 1}'


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ("", "{}"),
        (" ", "{}"),
        ("null", "{}"),
        ('{"path": "a"}', '{"path": "a"}'),
        ('{"path": ', '{"unreadable": "{\\"path\\": "}'),
        ("[1]", '{"unreadable": "[1]"}'),
        ("[" * 100_000, '{"unreadable": "' + "[" * 100_000 + '"}'),
    ],
)
def test_broken_arguments_of_an_earlier_call_stop_no_later_request(
    arguments: str, sent: str
) -> None:
    """models: Broken tool calls are never an exception."""
    call = AskedCall(id="1", tool="read file/x", arguments=arguments)
    nameless = AskedCall(id="2", tool="", arguments="{}")
    message = Message(role="assistant", calls=(call, nameless))
    with ModelServer([text_answer("done")]) as server:
        ask(server, ModelRequest(messages=(message,)))
        calls = server.chats[0]["messages"][0]["tool_calls"]
    assert calls[0]["function"] == {"name": "read_file_x", "arguments": sent}
    assert calls[1]["function"]["name"] == "unknown"


def test_text_that_no_encoding_has_is_sent_all_the_same() -> None:
    """models: Text from tools is data."""
    message = Message(role="user", text="a\ud800b\0c\ud83d\ude00\r\n")
    with ModelServer([text_answer("done")]) as server:
        ask(server, ModelRequest(messages=(message,)))
        assert server.chats[0]["messages"][0]["content"] == "a�b\0c\U0001f600\r\n"


def test_a_tool_with_a_name_that_servers_refuse_is_offered_under_another() -> None:
    """models: MCP tools have names of their own."""
    tool = ToolSpec(name="files.read/now", description="", parameters={"type": "object"})
    request = ModelRequest(messages=HELLO.messages, tools=(tool,))
    with ModelServer([call_answer(("files_read_now", "{}"))]) as server:
        answer, _ = ask(server, request)
        assert server.chats[0]["tools"][0]["function"]["name"] == "files_read_now"
    assert [call.tool for call in answer.calls] == ["files.read/now"]


def test_the_key_is_sent_and_no_other_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """models: The key of one server is not shown to another."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another")
    with ModelServer([text_answer("a"), text_answer("b")]) as server:
        ask(server, api_key="sk-mine")
        ask(server)
        said = [asked.headers["authorization"] for asked in server.requests]
    assert said == ["Bearer sk-mine", "Bearer none"]


def test_a_server_on_this_machine_is_asked_past_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """models: Local models."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert answer_of(text_answer("here")).text == "here"


# What is heard


def test_text_is_heard_in_pieces_and_returned_whole() -> None:
    """models: Streaming."""
    with ModelServer([text_answer("one two three")]) as server:
        answer, heard = ask(server)
    assert answer == ModelAnswer(text="one two three", usage=Usage(input=7, output=3))
    assert heard == [Delta(text="one "), Delta(text="two "), Delta(text="three")]


def test_usage_is_what_the_server_reports() -> None:
    """models: Usage."""
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    assert answer_of(text_answer("a", usage)).usage == Usage(
        input=10, output=5, cached=4, reasoning=3
    )


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": -1, "completion_tokens": True}])
def test_usage_that_is_none_is_not_recorded(usage: object) -> None:
    """models: Null means not recorded."""
    answer = answer_of(stream(chunk({"content": "a"}, "stop"), {"choices": [], "usage": usage}))
    assert answer.usage == Usage()
    assert answer_of(stream(chunk({"content": "a"}, "stop", usage=None))).usage is None


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_apart_from_the_text(name: str) -> None:
    """models: Reasoning text."""
    pieces = stream(
        chunk({"role": "assistant", "content": None, name: "Let me "}),
        chunk({name: "think."}),
        chunk({"content": "Yes."}),
        chunk({}, "stop"),
    )
    with ModelServer([pieces]) as server:
        answer, heard = ask(server)
    assert (answer.text, answer.reasoning) == ("Yes.", "Let me think.")
    assert heard == [Delta(reasoning="Let me "), Delta(reasoning="think."), Delta(text="Yes.")]


def test_a_reply_in_one_piece_of_json_is_read_too() -> None:
    """models: Any OpenAI-compatible endpoint, one that does not stream as well."""
    message = {"role": "assistant", "content": "whole"}
    whole = json_answer({"choices": [{"message": message, "finish_reason": "stop"}]})
    assert answer_of(whole).text == "whole"


def test_comments_blank_choices_and_odd_members_are_passed_over() -> None:
    """models: Servers differ in what they add and leave out."""
    odd = [
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"content": 5, "tool_calls": [None, 5]}}]},
        {"usage": "none"},
        chunk({"content": "a"}, "stop", timings={"n": 1.5}),
    ]
    pieces = (b": keep-alive\n\n", b"event: x\nid: 1\nretry: 5\n", *map(event, odd), DONE)
    assert answer_of(Answer(pieces=pieces)).text == "a"


def test_events_split_anywhere_are_read() -> None:
    """models: Streaming, whatever the packets are."""
    whole = b"".join(stream(chunk({"content": "héllo 😀"}, "stop")).pieces).replace(b"\n", b"\r\n")
    pieces = tuple(bytes([byte]) for byte in whole)
    assert answer_of(Answer(pieces=pieces)).text == "héllo 😀"


def test_halves_of_a_character_in_two_pieces_are_one() -> None:
    """models: A lone surrogate reaches nobody."""
    pieces = stream(chunk({"content": "\ud83d"}), chunk({"content": "\ude00\ud800"}, "stop"))
    with ModelServer([pieces]) as server:
        answer, heard = ask(server)
    assert answer.text == "\U0001f600�"
    assert "".join(delta.text for delta in heard).isprintable()


# Calls


def calls_of(*deltas: object, request: ModelRequest = WITH_TOOLS) -> list[AskedCall]:
    chunks = [chunk({"tool_calls": [delta]}) for delta in deltas]
    return list(answer_of(stream(*chunks, chunk({}, "tool_calls")), request=request).calls)


def piece(
    index: int | None, id_: str | None, name: str | None, arguments: object
) -> dict[str, object]:
    function = {"name": name, "arguments": arguments}
    given = {"index": index, "id": id_, "type": "function"}
    return {
        **{key: value for key, value in given.items() if value is not None},
        "function": {key: value for key, value in function.items() if value is not None},
    }


def call(id_: str, arguments: str, tool: str = "read_file") -> AskedCall:
    return AskedCall(id=id_, tool=tool, arguments=arguments)


def test_a_call_in_fragments_is_put_together() -> None:
    """models: Tool calls, as OpenAI, vLLM and llama.cpp send them."""
    assert calls_of(
        piece(0, "call_a", "read_file", ""),
        piece(0, None, None, '{"pa'),
        piece(1, "call_b", "memory", ""),
        piece(0, None, None, 'th": "a"}'),
        piece(1, None, None, "{}"),
    ) == [call("call_a", '{"path": "a"}'), call("call_b", "{}", "memory")]


def test_whole_calls_in_one_piece_are_taken() -> None:
    """models: Tool calls, as Ollama sends them."""
    answer = answer_of(
        call_answer(("read_file", '{"path": "a"}'), ("memory", "{}"), text="So:"),
        request=WITH_TOOLS,
    )
    assert answer.text == "So:"
    assert answer.calls == (
        call("call_0_read_file", '{"path": "a"}'),
        call("call_1_memory", "{}", "memory"),
    )


@pytest.mark.parametrize("index", [0, None])
def test_calls_without_ids_get_some(index: int | None) -> None:
    """models: Servers that send no id, and the same index for all."""
    assert calls_of(
        piece(index, None, "read_file", '{"path": "a"}'),
        piece(index, None, "read_file", '{"path": "b"}'),
        piece(index, "", "memory", "{}"),
    ) == [
        call("new_1", '{"path": "a"}'),
        call("new_2", '{"path": "b"}'),
        call("new_3", "{}", "memory"),
    ]


def test_the_same_index_with_other_ids_is_another_call() -> None:
    """models: Servers that send the same index for all."""
    assert calls_of(
        piece(0, "x", "read_file", '{"path"'),
        piece(0, None, None, ': "a"}'),
        piece(0, "y", "read_file", "{}"),
    ) == [call("x", '{"path": "a"}'), call("y", "{}")]


@pytest.mark.parametrize("id_", ["x", None])
def test_a_name_in_every_piece_is_one_call(id_: str | None) -> None:
    """models: Servers that repeat the name with every fragment."""
    found = calls_of(
        piece(0, id_, "read_file", None),
        piece(0, id_, "read_file", '{"path": {}'),
        piece(0, id_, "read_file", "}"),
    )
    assert found == [call(id_ or "new_1", '{"path": {}}')]


def test_arguments_that_are_an_object_become_text() -> None:
    """models: Arguments are the text of an object."""
    (found,) = calls_of(piece(0, "x", "read_file", {"path": "ä"}))
    assert json.loads(found.arguments) == {"path": "ä"}


def test_an_id_that_is_there_already_is_not_used_again() -> None:
    """models: What a call came to is found by its id."""
    earlier = Message(role="assistant", calls=(call("x", "{}"),))
    request = ModelRequest(messages=(*HELLO.messages, earlier), tools=(READ,))
    found = calls_of(
        piece(0, "x", "read_file", "{}"),
        piece(1, "y", "read_file", "{}"),
        piece(2, "y", "read_file", "{}"),
        request=request,
    )
    assert [asked.id for asked in found] == ["new_1", "y", "new_2"]


def test_a_call_without_a_tool_is_a_faulty_one() -> None:
    """models: Broken tool calls become an error that the model reads."""
    (found,) = calls_of({"index": 0, "id": "x"})
    assert (found.tool, found.arguments) == ("", "")
    assert found.fault is not None


def test_ids_of_our_own_are_of_their_kind_and_differ() -> None:
    """models: Ids that are unique in the thread."""
    ids = {new_call_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(id_.startswith("call_") for id_ in ids)


def test_a_call_written_as_text_is_a_faulty_call() -> None:
    """models: A call written as text becomes an error that the model reads."""
    written = 'I read.\n<tool_call>{"name": "read_file", "arguments": {"path": "a"}}</tool_call>'
    answer = answer_of(text_answer(written), request=WITH_TOOLS)
    (found,) = answer.calls
    assert answer.text == "I read.\n"
    assert (found.id, found.tool, found.arguments) == ("new_1", "read_file", '{"path": "a"}')
    assert found.fault is not None


def test_text_is_no_call_where_no_tool_was_offered_or_json_was_asked_for() -> None:
    """models: Never a false accusation."""
    written = '{"name": "read_file", "arguments": {}}'
    form = ModelRequest(messages=HELLO.messages, tools=(READ,), schema={"type": "object"})
    assert answer_of(text_answer(written)).calls == ()
    assert answer_of(text_answer(written), request=form).text == written
    real = call_answer(("memory", "{}"), text=written)
    assert [call.tool for call in answer_of(real, request=WITH_TOOLS).calls] == ["memory"]


# Faults


def test_a_server_that_is_not_there_is_named_with_how_to_start_one() -> None:
    """models: What was found, what was expected, what to do."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        with pytest.raises(UnavailableError) as raised:
            run(model_at(url).ask(HELLO, lambda _: None))
    line = raised.value.diagnosis()
    assert f"no answer from {url}: " in line
    assert "`ollama serve`" in line


@pytest.mark.parametrize(
    "url",
    ["", "localhost:11434", "http://[::1", "ftp://127.0.0.1/v1", "/v1", "http://", "http://a:b/v1"],
)
def test_a_url_that_is_none_is_refused(url: str) -> None:
    """models: Nothing is asked of a default in the place of what was configured."""
    with pytest.raises(ConfigurationError, match="base URL"):
        model_at(url)


def test_names_and_passwords_in_a_url_are_not_shown() -> None:
    """models: What is secret is not shown."""
    with pytest.raises(UnavailableError) as raised:
        run(model_at("http://me:secret@127.0.0.1:9/v1").ask(HELLO, lambda _: None))
    assert "secret" not in raised.value.diagnosis()
    assert "http://127.0.0.1:9/v1" in raised.value.diagnosis()


@pytest.mark.parametrize("said", [(), (chunk({"content": "One"}),)])
def test_a_server_that_says_nothing_in_time_is_given_up(said: tuple[object, ...]) -> None:
    """models: Per-request timeouts."""
    fault = fault_of(stream(*said, ends="open"), timeout=0.2)
    assert ("nothing more came" if said else "nothing came") in fault.found
    assert "timeout" in fault.advice


@pytest.mark.parametrize("ends", ["cut", "closed"])
def test_an_answer_that_breaks_off_is_no_answer(ends: Ends) -> None:
    """models: A cut connection is a typed error."""
    fault = fault_of(stream(chunk({"content": "One"}), ends=ends))
    assert "broke off" in fault.found


@pytest.mark.parametrize("ends", ["cut", "closed", "whole"])
def test_an_answer_of_nothing_is_no_answer(ends: Ends) -> None:
    """models: A typed error, never a reply without a word."""
    assert fault_of(Answer(ends=ends)).found


def test_a_limit_that_is_reached_before_a_word_is_told() -> None:
    """models: A reply without a word is no reply; one that was cut short is what came."""
    thought = stream(chunk({"reasoning": "Let me think"}), chunk({}, "length"))
    assert "limit of tokens" in fault_of(thought).found
    assert answer_of(stream(chunk({"content": "One"}, "length"))).text == "One"


def test_an_answer_whose_connection_closes_after_its_end_is_whole() -> None:
    """models: Servers that end a stream with the connection."""
    assert answer_of(stream(chunk({"content": "One"}, "stop"), ends="closed")).text == "One"


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "out of memory", "type": "server_error", "code": 500}},
        {"error": "out of memory"},
        {"object": "error", "message": "out of memory"},
    ],
)
def test_an_error_inside_the_stream_is_raised(body: object) -> None:
    """models: An error object inside the stream is a typed error."""
    fault = fault_of(stream(chunk({"content": "One"}), body))
    assert "out of memory" in fault.found
    assert "out of memory" in fault_of(json_answer(body)).found


@pytest.mark.parametrize(
    ("status", "body", "found", "advice"),
    [
        (401, {"error": {"message": "no sk-mine"}}, "the key was refused by", "API key"),
        (403, {"error": "no"}, "the key was refused by", "API key"),
        (429, {"error": {"message": "slow down"}}, "no more requests are taken", "wait"),
        (400, {"error": {"message": "bad role"}}, "refused by", "server says"),
        (400, {"error": "m does not support tools"}, "tools were refused by", "call tools"),
        (500, {"error": {"message": "tools need --jinja"}}, "tools were refused by", "--jinja"),
        (500, {"error": {"message": "it broke"}}, "a fault at", "output"),
        (503, {"error": {"message": "Loading model", "code": 503}}, "a fault at", "loaded"),
        (422, {"detail": [{"msg": "field required"}]}, "refused by", "server says"),
        (418, "", "refused by", "server says"),
        (418, {"error": {"error": {"error": {"error": "deep"}}}}, "refused by", "server says"),
        (404, {"error": {"message": "File Not Found"}}, "no answer to a chat", "/v1"),
    ],
)
def test_a_status_is_told_with_what_to_do(
    status: int, body: object, found: str, advice: str
) -> None:
    """models: What was found, what was expected, what to do."""
    fault = fault_of(json_answer(body, status), api_key="sk-mine")
    assert found in fault.found
    assert f"HTTP {status}" in fault.found
    assert advice in fault.advice
    assert "sk-mine" not in fault.diagnosis()


@pytest.mark.parametrize(
    "said",
    [
        "model 'qwen3' not found",
        "The model `qwen3` does not exist.",
        'model "qwen3" not found, try pulling it first',
    ],
)
def test_an_unknown_model_is_told_with_those_that_there_are(said: str) -> None:
    """models: `models` listing."""
    rows = json_answer({"data": [{"id": "zephyr"}, {"id": "gemma"}]})
    refused = json_answer({"error": {"message": said}}, 404)
    with (
        ModelServer([refused], {"/v1/models": rows}) as server,
        pytest.raises(UnavailableError) as raised,
    ):
        ask(server)
    assert raised.value.expected == "one of gemma, zephyr"
    assert "`ollama pull qwen3`" in raised.value.advice


def test_a_server_without_any_model_loaded_is_told() -> None:
    """models: LM Studio says so with another status."""
    error = {"message": "No models loaded.", "code": "model_not_found"}
    assert fault_of(json_answer({"error": error}, 400)).found.startswith("no model 'qwen3' at ")


@pytest.mark.parametrize(("models", "more"), [(7, False), (8, False), (9, True)])
def test_eight_models_are_named_at_most(models: int, *, more: bool) -> None:
    """models: A bound, at it, under it and over it."""
    rows = json_answer({"data": [{"id": f"m{number}"} for number in range(models)]})
    refused = json_answer({"error": {"message": "no such model"}}, 404)
    with (
        ModelServer([refused], {"/v1/models": rows}) as server,
        pytest.raises(UnavailableError) as raised,
    ):
        ask(server)
    assert raised.value.expected.endswith("…") == more


def test_an_unknown_model_is_told_without_a_list_too() -> None:
    """models: One fault does not hide another."""
    fault = fault_of(json_answer({"error": {"message": "model 'qwen3' not found"}}, 404))
    assert fault.found.startswith("no model 'qwen3' at ")
    assert fault.expected == ""


@pytest.mark.parametrize("status", [200, 404, 502])
def test_a_page_for_people_is_no_answer(status: int) -> None:
    """models: HTML instead of JSON is one clear line."""
    page = b"<html>\n<body style='color: red'>\n<h1>It works</h1>\x1b[31m\n</html>"
    fault = fault_of(Answer(pieces=(page,), status=status, content_type="text/html"))
    assert "<h1>" not in fault.diagnosis()
    assert "\x1b" not in fault.diagnosis()
    assert ("text/html" if status == 200 else "It works") in fault.diagnosis()


@pytest.mark.parametrize(
    "sent",
    [
        b"data: {not json\n\n",
        b"data: [1]\n\n",
        b"data: \xff\xfe\n\n",
        b"data: 5\n\n",
        b"data:\n\n",
        b"data: " + b"[" * 100_000 + b"\n\n",
    ],
)
def test_chunks_that_are_none_are_told(sent: bytes) -> None:
    """models: A typed error, whatever comes."""
    assert "/v1" in fault_of(Answer(pieces=(sent, DONE))).advice
    assert fault_of(Answer(pieces=(sent,), content_type="application/json")).advice


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (
            400,
            {
                "code": "context_length_exceeded",
                "message": "This model's maximum context length is 4097 tokens.",
            },
        ),
        (
            400,
            {
                "code": 400,
                "type": "exceed_context_size_error",
                "message": "request (9000 tokens) exceeds the available context size (4096 tokens)",
                "n_ctx": 4096,
            },
        ),
        (500, {"message": "the request exceeds the available context size. try increasing it"}),
        (400, {"message": "This model's maximum context length is 4096 tokens. However, ..."}),
        (
            400,
            {
                "message": "The decoder prompt (length 5000) is longer than the maximum model "
                "length of 4096."
            },
        ),
        (400, {"message": "The input (5000 tokens) is longer than the model's context length"}),
        (
            400,
            (
                "Trying to keep the first 9 tokens when context the overflows. However, the model "
                "is loaded with context length of only 4 tokens, which is not enough"
            ),
        ),
        (
            400,
            (
                "The number of tokens to keep from the initial prompt is greater than the context "
                "length (n_keep: 13055>= n_ctx: 4096)."
            ),
        ),
        (500, "prompt too long; exceeded max context length by 44 tokens"),
        (500, "Requested tokens (2285) exceed context window of 2048"),
        (None, {"message": "the request exceeds the available context size", "code": 400}),
    ],
)
def test_a_request_that_is_too_long_is_told_from_other_faults(
    status: int | None, error: object
) -> None:
    """models: Overflow reported by the model condenses the thread."""
    body = {"error": error}
    fault = fault_of(json_answer(body, status) if status else stream(body))
    assert isinstance(fault, ContextOverflowError)
    assert "qwen3" in fault.found


@pytest.mark.parametrize(
    "said",
    ["Rate limit reached: too many tokens", "unknown context", "max_tokens must be positive"],
)
def test_other_refusals_are_no_overflow(said: str) -> None:
    """models: A thread is condensed for a reason alone."""
    fault = fault_of(json_answer({"error": {"message": said}}, 400))
    assert not isinstance(fault, ContextOverflowError)


def test_without_the_extra_one_line_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """models: A missing extra is one clear line naming the install command."""
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(UnavailableError) as raised:
        model_at(NOBODY)
    assert raised.value.diagnosis() == (
        "the package openai is not installed (hint: pip install 'counterfoil[models]')"
    )


def test_without_the_package_one_line_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """models: A missing extra is one clear line naming the install command."""
    monkeypatch.setattr("counterfoil.adapters.models.openai_compatible.find_spec", lambda _: None)
    with pytest.raises(UnavailableError, match="counterfoil"):
        model_at(NOBODY)


# Giving up


def test_cancelling_closes_the_connection() -> None:
    """models: Cancelling a call cancels its turn, and the server's work."""

    async def cancelled(server: ModelServer) -> None:
        heard = asyncio.Event()
        model = model_at(server.base_url)
        task = asyncio.create_task(model.ask(HELLO, lambda _: heard.set()))
        await asyncio.wait_for(heard.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with ModelServer([stream(chunk({"content": "One"}), ends="open")]) as server:
        run(cancelled(server))
        assert server.disconnected.wait(10)


def test_what_a_listener_raises_ends_the_request_and_comes_through() -> None:
    """models: A fault of the listener is not one of the model."""

    def refuse(_: Delta) -> None:
        raise ValueError("no more")

    with ModelServer([stream(chunk({"content": "One"}), ends="open")]) as server:
        with pytest.raises(ValueError, match="no more"):
            run(model_at(server.base_url).ask(HELLO, refuse))
        assert server.disconnected.wait(10)


def test_many_requests_go_on_at_once() -> None:
    """models: Threads in parallel."""

    async def all_of(server: ModelServer) -> list[str]:
        model = model_at(server.base_url)
        answers = await asyncio.gather(*(model.ask(HELLO, lambda _: None) for _ in range(8)))
        return sorted(answer.text for answer in answers)

    texts = [f"answer {number}" for number in range(8)]
    with ModelServer([text_answer(text) for text in texts]) as server:
        assert run(all_of(server)) == texts


# Models and windows


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"data": [{"id": "b"}, {"id": "a"}, {"id": 5}, None]}, ("a", "b")),
        ({"data": []}, ()),
        ({"object": "list", "data": None}, ()),
    ],
)
def test_models_are_listed_sorted(body: object, names: tuple[str, ...]) -> None:
    """models: `models` listing."""
    with ModelServer(routes={"/v1/models": json_answer(body)}) as server:
        assert run(model_at(server.base_url + "/").models()) == names


@pytest.mark.parametrize("body", [{}, [], "x", None, {"data": "x"}])
def test_a_list_that_is_none_is_told(body: object) -> None:
    """models: A typed error."""
    with (
        ModelServer(routes={"/v1/models": json_answer(body)}) as server,
        pytest.raises(UnavailableError, match="list of models"),
    ):
        run(model_at(server.base_url).models())


def test_models_of_a_server_that_is_not_there_are_an_error() -> None:
    """models: `models` listing."""
    with pytest.raises(UnavailableError, match="no answer from"):
        run(model_at(NOBODY).models())


def listed(**members: object) -> dict[str, Answer]:
    return {"/v1/models": json_answer({"data": [{"id": "other"}, {"id": "qwen3", **members}]})}


ALONE = json_answer({"data": [{"id": "/models/a.gguf", "meta": {"n_ctx": 512}}]})
TRAINED = {"model_info": {"qwen3.block_count": 4, "qwen3.context_length": 40960}}


@pytest.mark.parametrize(
    ("routes", "window"),
    [
        ({}, None),
        (listed(max_model_len=8192), 8192),
        (listed(context_length=1024), 1024),
        (listed(meta={"n_ctx": 2048, "n_ctx_train": 99999}), 2048),
        (listed(max_model_len=True, meta=5), None),
        ({"/v1/models": ALONE}, 512),
        ({"/v1/models": json_answer({"data": [{"id": "a"}, {"id": "b"}]})}, None),
        ({"/v1/models": json_answer([1])}, None),
        ({"/props": json_answer({"default_generation_settings": {"n_ctx": 4096}})}, 4096),
        ({"/props": json_answer({"default_generation_settings": {"n_ctx": 0}})}, None),
        ({"/props": Answer(pieces=(b"<html>",), content_type="text/html")}, None),
        (
            {
                "/api/ps": json_answer(
                    {"models": [{"name": "a"}, {"name": "qwen3:latest", "context_length": 4096}]}
                ),
                "/api/show": json_answer(TRAINED),
            },
            4096,
        ),
        ({"/api/ps": json_answer({"models": []}), "/api/show": json_answer(TRAINED)}, 40960),
        (
            {"/api/show": json_answer({"parameters": 'stop "x"\nnum_ctx      8192', **TRAINED})},
            8192,
        ),
        ({"/api/show": json_answer({"parameters": "", "model_info": {"a": 1}})}, None),
        ({"/api/show": json_answer({"model_info": None})}, None),
        ({"/api/v0/models/qwen3": json_answer({"loaded_context_length": 16384})}, 16384),
    ],
)
def test_the_window_is_asked_of_the_server(routes: dict[str, Answer], window: int | None) -> None:
    """models: Condensing starts at a share of the model's window."""
    with ModelServer(routes=routes) as server:
        model = model_at(server.base_url, window=None)
        assert model.window is None
        assert run(model.look_up_window()) == window
        assert model.window == window


def test_a_window_that_was_given_is_not_asked_for() -> None:
    """models: What is configured is so."""
    with ModelServer([text_answer("a")], listed(max_model_len=8192)) as server:
        model = model_at(server.base_url, window=100)
        run(model.ask(HELLO, lambda _: None))
        assert (model.window, model.name) == (100, "qwen3")
        assert len(server.requests) == 1


def test_a_window_that_is_known_is_not_asked_for_again() -> None:
    """models: No request is slowed down without need."""
    with ModelServer([text_answer("a"), text_answer("b")], listed(max_model_len=8)) as server:
        model = model_at(server.base_url, window=None)
        for _ in range(2):
            run(model.ask(HELLO, lambda _: None))
        assert [asked.path for asked in server.requests] == [
            "/v1/models",
            "/v1/chat/completions",
            "/v1/chat/completions",
        ]


def test_the_window_of_a_model_that_was_not_loaded_is_asked_for_once_more() -> None:
    """models: Ollama gives a model fewer tokens than it was trained for."""
    routes = {"/api/show": json_answer(TRAINED)}
    with ModelServer([text_answer("a") for _ in range(3)], routes) as server:
        model = model_at(server.base_url, window=None)
        run(model.ask(HELLO, lambda _: None))
        assert model.window == 40960
        loaded = {"name": "qwen3", "context_length": 4096}
        routes["/api/ps"] = json_answer({"models": [loaded]})
        run(model.ask(HELLO, lambda _: None))
        assert model.window == 4096
        asked = len(server.requests)
        run(model.ask(HELLO, lambda _: None))
        assert len(server.requests) == asked + 1


def test_a_server_that_says_nothing_of_windows_is_asked_twice_and_no_more() -> None:
    """models: No request is slowed down without need."""
    with ModelServer([text_answer("a") for _ in range(3)]) as server:
        model = model_at(server.base_url, window=None)
        for _ in range(3):
            run(model.ask(HELLO, lambda _: None))
        assert [asked.path for asked in server.requests].count("/props") == 2
        assert model.window is None


def test_a_server_that_keeps_silent_about_its_window_stops_no_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """models: Two seconds at most."""
    module = "counterfoil.adapters.models.openai_compatible._WINDOW_SECONDS"
    monkeypatch.setattr(module, 0.2)
    silent = Answer(ends="open", content_type="application/json")
    with ModelServer([text_answer("a")], {"/v1/models": silent}) as server:
        model = model_at(server.base_url, window=None)
        assert run(model.ask(HELLO, lambda _: None)).text == "a"
        assert model.window is None
