"""Calls that small models write as text, and prose that only speaks of calls."""

import time
from itertools import count

import pytest

from counterfoil.core.messages import AskedCall
from counterfoil.wire.written_calls import BROKEN, FAULT, WrittenCalls, read_written_calls

TOOLS = ("read_file", "memory", "run_command")
OBJECT = '{"name": "read_file", "arguments": {"path": "a.md"}}'


def read(text: str) -> WrittenCalls:
    numbers = count(1)
    return read_written_calls(text, TOOLS, lambda: f"call_{next(numbers)}")


def found(text: str) -> list[tuple[str, str]]:
    return [(call.tool, call.arguments) for call in read(text).calls]


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{OBJECT}</tool_call>",
        f"<tool_call>\n{OBJECT}\n</tool_call>\n",
        f"  <tool_call>{OBJECT}",
        f"<tool_call>{OBJECT}</tool_call><|im_end|>",
        f"<tool_call>[{OBJECT}]</tool_call>",
        f"[TOOL_CALLS][{OBJECT}]",
        f"[TOOL_CALLS] [{OBJECT}]</s>",
        f"[TOOL_CALLS]{OBJECT}",
        '[TOOL_CALLS]read_file{"path": "a.md"}',
        '[TOOL_CALLS]read_file[ARGS]{"path": "a.md"}',
        '<function=read_file>{"path": "a.md"}</function>',
        '<function=read_file>\n{"path": "a.md"}\n</function>',
        '<function=read_file>{"path": "a.md"}',
        '<tool_call>\n<function=read_file>\n{"path": "a.md"}\n</function>\n</tool_call>',
        f"<|python_tag|>{OBJECT}<|eom_id|>",
        OBJECT,
        f"\n {OBJECT} \n",
        f"[{OBJECT}]",
        f"```json\n{OBJECT}\n```",
        f"```\n{OBJECT}\n```\n",
        '{"name": "read_file", "parameters": {"path": "a.md"}}',
        '{"type": "function", "name": "read_file", "parameters": {"path": "a.md"}}',
        '{"name": "read_file", "arguments": "{\\"path\\": \\"a.md\\"}", "id": "7"}',
        '{ "name" : "read_file" , "arguments" : {"path": "a.md"} }',
    ],
)
def test_a_written_call_is_recognised(text: str) -> None:
    """written-calls: A call written as text becomes an error that the model reads."""
    answer = read(text)
    assert answer.text.strip() == ""
    assert answer.calls == (
        AskedCall(id="call_1", tool="read_file", arguments='{"path": "a.md"}', fault=FAULT),
    )


@pytest.mark.parametrize(
    "text",
    [
        f"{OBJECT}\n{OBJECT}",
        f"{OBJECT}; {OBJECT}",
        f"[{OBJECT}, {OBJECT}]",
        f"<tool_call>{OBJECT}</tool_call>\n<tool_call>{OBJECT}</tool_call>",
        f"[TOOL_CALLS][{OBJECT}, {OBJECT}]",
        (
            '<function=read_file>{"path": "a.md"}</function>\n'
            '<function=read_file>{"path": "a.md"}</function>'
        ),
    ],
)
def test_several_written_calls_keep_their_order(text: str) -> None:
    """written-calls: Each of them is one call."""
    calls = read(text).calls
    assert [call.id for call in calls] == ["call_1", "call_2"]
    assert {call.arguments for call in calls} == {'{"path": "a.md"}'}


def test_calls_of_different_blocks_come_in_the_order_of_the_text() -> None:
    """written-calls: The first that was written is the first that is told."""
    text = (
        '<function=memory>{"request": "recall entry 1"}</function>\n'
        f"<tool_call>{OBJECT}, {OBJECT}</tool_call>"
    )
    assert [tool for tool, _ in found(text)] == ["memory", "read_file", "read_file"]


def test_the_text_before_a_call_stays_as_it_is() -> None:
    """written-calls: The text around a call stays the text."""
    answer = read(f"First I read it.\n\n<tool_call>{OBJECT}</tool_call>\n")
    assert answer.text == "First I read it.\n\n"
    assert len(answer.calls) == 1


def test_the_arguments_are_kept_exactly() -> None:
    """written-calls: What is taken for a call is kept as it was written."""
    odd = '{ "path" :"a\\u0041\\n", "n":1.50,"n2" : [ 1,2 ] }'
    assert found(f'<tool_call>{{"name":"x","arguments":{odd}}}</tool_call>') == [("x", odd)]
    parameters = "<parameter=path>\na.md\n</parameter>"
    assert found(f"<function=read_file>\n{parameters}\n</function>") == [("read_file", parameters)]
    assert found('{"name": "memory", "arguments": {}}') == [("memory", "{}")]
    assert found('{"name": "memory", "arguments": "recall"}') == [("memory", "recall")]


def test_a_broken_call_between_marks_is_one_all_the_same() -> None:
    """written-calls: Bad JSON becomes an error that the model reads."""
    inner = '{"name": "read_file", "arguments": {"path": }}'
    (call,) = read(f"So:\n<tool_call>{inner}</tool_call>").calls
    assert (call.tool, call.arguments, call.fault) == ("read_file", inner, BROKEN)


def test_an_unknown_tool_is_a_call_where_the_reply_is_nothing_else() -> None:
    """written-calls: An unknown tool becomes an error that the model reads."""
    assert found('<tool_call>{"name": "fly", "arguments": {}}</tool_call>') == [("fly", "{}")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "All is done.",
        "[]",
        "{}",
        "[TOOL_CALLS]",
        "[TOOL_CALLS]read_file",
        '[TOOL_CALLS]read_file{"path": "a.md"} was used',
        '[TOOL_CALLS]read_file{"path": ',
        "<tool_call></tool_call>",
        "<tool_call>read_file</tool_call>",
        "<tool_call>{ nothing named }</tool_call>",
        '<tool_call>{"name": "read_file", "arguments": {',
        "<function=read_file>the name of it",
        "<function=a>{}</function> and <function=b>{}</function>",
        f"A call looks like this: <tool_call>{OBJECT}</tool_call>",
        f"A call looks like this:\n<tool_call>{OBJECT}</tool_call>\nand nothing else.",
        f"A call looks like this:\n```\n<tool_call>{OBJECT}</tool_call>\n```",
        f"A call looks like this:\n```\n<tool_call>{OBJECT}</tool_call>",
        f"`<tool_call>{OBJECT}</tool_call>`",
        f"> <tool_call>{OBJECT}</tool_call>",
        'An example:\n<tool_call>{"name": "your_tool", "arguments": {}}</tool_call>',
        f"I would send {OBJECT}",
        f"{OBJECT}\nis what I would send",
        f"I read it:\n```json\n{OBJECT}\n```",
        f"```json\n{OBJECT}\n```\nThat is it.",
        f"```json\n{OBJECT}",
        '{"name": "fly", "arguments": {}}',
        '{"name": "read_file"}',
        '{"name": "read_file", "arguments": []}',
        '{"name": "read_file", "arguments": null}',
        '{"name": "read_file", "arguments": {}, "parameters": {}}',
        '{"name": "read_file", "description": "reads", "parameters": {}}',
        '{"name": "read_file", "parameters": {"type": "object", "properties": {}}}',
        '{"name": 1, "arguments": {}}',
        '{"arguments": {}}',
        '{"name": "read_file", "name": "memory", "arguments": {}}',
        '{"name": "read_file" "arguments": {}}',
        '{"name" "read_file"}',
        "{1: 2}",
        '{"name": "read_file", 5: {}}',
        '{"name": "read_file", "arguments": {}',
        f"[{OBJECT}, 5]",
        f"{OBJECT} and more",
        "[" * 100_000,
        '{"name":' + "[" * 100_000,
        "[TOOL_CALLS]a" + '{"a":' * 100_000,
        "\0\ud800",
    ],
)
def test_what_is_no_call_stays_text(text: str) -> None:
    """written-calls: Never a false accusation."""
    assert read(text) == WrittenCalls(text)


def test_only_the_calls_at_the_end_are_calls() -> None:
    """written-calls: Prose that mentions a call is none."""
    before = f"<tool_call>{OBJECT}</tool_call>\nThat was how.\n"
    answer = read(f"{before}<tool_call>{OBJECT}</tool_call>")
    assert answer.text == before
    assert len(answer.calls) == 1


@pytest.mark.parametrize("marks", [3, 4, 5])
def test_four_marks_of_a_template_are_looked_past(marks: int) -> None:
    """written-calls: A bound, at it, under it and over it."""
    assert bool(read(OBJECT + "</s>\n" * marks).calls) == (marks <= 4)


@pytest.mark.parametrize(
    "piece",
    [
        "<tool_call>{",
        "\n<tool_call>{",
        f"\n<tool_call>{OBJECT}</tool_call>",
        "\n<function=a>{",
        "\n<tool_call>\n",
        "\n[TOOL_CALLS]a",
        "\n[TOOL_CALLS][",
        '\n<tool_call>{"name": "',
        "```\n",
        "</s>",
        " \t",
        "\n",
        f"{OBJECT}\n",
        '{"name":',
        '"name" ',
    ],
)
def test_reading_is_linear(piece: str) -> None:
    """written-calls: A doubled hostile input costs at most 2.5 times."""

    def cost(size: int) -> float:
        text = piece * (size // len(piece)) + "x"
        begun = time.perf_counter()
        read(text)
        read(f"<tool_call>{{{text}</tool_call>")
        return time.perf_counter() - begun

    small = min(cost(100_000) for _ in range(3))
    large = min(cost(200_000) for _ in range(3))
    assert large < 4 * small + 0.05
