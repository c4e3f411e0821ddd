"""The arguments of a call, read strictly, and what a model is told that got them wrong."""

import time

import pytest

from counterfoil.wire.arguments import ArgumentFault, read_arguments

COMMAND: dict[str, object] = {
    "type": "object",
    "properties": {
        "command": {"type": "string"},
        "directory": {"type": "string"},
        "seconds": {"type": "integer", "minimum": 1, "maximum": 60},
        "ratio": {"type": "number", "minimum": 0.5},
        "quiet": {"type": "boolean"},
        "mode": {"enum": ["write", "append", 1]},
        "names": {"type": "array", "items": {"type": "string"}},
        "limits": {
            "type": "object",
            "properties": {"bytes": {"type": "integer"}},
            "required": ["bytes"],
            "additionalProperties": False,
        },
        "reason": {"type": ["string", "null"]},
        "anything": {},
    },
    "required": ["command"],
    "additionalProperties": False,
}
ONE: dict[str, object] = {
    "type": "object",
    "properties": {"command": {"type": "string"}, "directory": {"type": "string"}},
    "required": ["command"],
    "additionalProperties": False,
}


def fault(text: str, schema: dict[str, object] = COMMAND) -> str:
    found = read_arguments(text, schema, "run_command")
    assert isinstance(found, ArgumentFault), found
    return found.message


def first(text: str) -> str:
    return fault(text).split("; run_command takes")[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"command": "ls"}', {"command": "ls"}),
        (' \n{"command": "ls", "directory": "/"}\t', {"command": "ls", "directory": "/"}),
        ('{"command": "a\\u0000b"}', {"command": "a\0b"}),
        ('{"command": "\\ud83d\\ude00"}', {"command": "\U0001f600"}),
        ('{"command": "", "seconds": 1}', {"command": "", "seconds": 1}),
        ('{"command": "", "seconds": 60}', {"command": "", "seconds": 60}),
        ('{"command": "", "ratio": 2}', {"command": "", "ratio": 2}),
        ('{"command": "", "ratio": 0.5}', {"command": "", "ratio": 0.5}),
        ('{"command": "", "quiet": false}', {"command": "", "quiet": False}),
        ('{"command": "", "mode": "append"}', {"command": "", "mode": "append"}),
        ('{"command": "", "names": ["a"]}', {"command": "", "names": ["a"]}),
        ('{"command": "", "limits": {"bytes": 1}}', {"command": "", "limits": {"bytes": 1}}),
        ('{"command": "", "reason": null}', {"command": "", "reason": None}),
        ('{"command": "", "anything": [{"a": 1e2}]}', {"command": "", "anything": [{"a": 100.0}]}),
    ],
)
def test_arguments_that_fit_are_read_as_they_stand(text: str, value: object) -> None:
    """call-arguments: A tool gets what the model wrote."""
    assert read_arguments(text, COMMAND) == value


@pytest.mark.parametrize("text", ["", " \n", "{}"])
def test_no_text_is_no_arguments(text: str) -> None:
    """call-arguments: A call without arguments is whole where none is required."""
    assert read_arguments(text, {"type": "object", "properties": {}}) == {}


def test_the_message_says_what_the_tool_takes() -> None:
    """call-arguments: The model reads an error that it can act on."""
    assert fault("", ONE) == (
        "argument 'command' is missing; "
        "run_command takes command (text), directory (text, optional)"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "the arguments are a list, not an object"),
        ('"ls"', 'the arguments are the text "ls", not an object'),
        ("null", "the arguments are null, not an object"),
        ('{"command": 1}', "argument 'command' is 1, not text"),
        ('{"command": null}', "argument 'command' is null, not text"),
        ('{"command": {}}', "argument 'command' is an object, not text"),
        (
            '{"command": "", "seconds": "5"}',
            "argument 'seconds' is the text \"5\", not whole number",
        ),
        ('{"command": "", "seconds": true}', "argument 'seconds' is true, not whole number"),
        ('{"command": "", "seconds": 1.5}', "argument 'seconds' is 1.5, not whole number"),
        ('{"command": "", "seconds": 0}', "argument 'seconds' is 0, less than 1"),
        ('{"command": "", "seconds": 61}', "argument 'seconds' is 61, more than 60"),
        ('{"command": "", "ratio": 0.4}', "argument 'ratio' is 0.4, less than 0.5"),
        ('{"command": "", "ratio": false}', "argument 'ratio' is false, not number"),
        ('{"command": "", "quiet": 1}', "argument 'quiet' is 1, not true or false"),
        (
            '{"command": "", "mode": true}',
            'argument \'mode\' is true, not "write" or "append" or 1',
        ),
        ('{"command": "", "names": "a"}', "argument 'names' is the text \"a\", not list"),
        ('{"command": "", "names": ["a", 2]}', "argument 'names[1]' is 2, not text"),
        ('{"command": "", "limits": {}}', "argument 'limits.bytes' is missing"),
        ('{"command": "", "reason": 1}', "argument 'reason' is 1, not text or null"),
        (
            '{"command": "", "limits": {"bytes": 1, "byte": 2}}',
            "there is no argument 'limits.byte' (did you mean 'bytes'?)",
        ),
        (
            '{"comand": "ls"}',
            (
                "argument 'command' is missing; there is no argument 'comand' "
                "(did you mean 'command'?)"
            ),
        ),
    ],
)
def test_what_does_not_fit_is_named(text: str, said: str) -> None:
    """call-arguments: Which argument, what is wrong with it."""
    assert first(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{command: ls}", "the arguments are not JSON: "),
        ('{"command": "ls"} and more', "the arguments are not JSON: Extra data"),
        ('{"command": "a\nb"}', "the arguments are not JSON: Invalid control character"),
        (
            '{"command": "a", "command": "b"}',
            "the arguments are not JSON: 'command' is given twice",
        ),
        ('{"anything": {"a": 1, "a": 1}}', "the arguments are not JSON: 'a' is given twice"),
        ('{"ratio": NaN}', "the arguments are not JSON: NaN is no value of JSON"),
        ('{"ratio": 1e999}', "the arguments are not JSON: 1e999 is too large"),
        ('{"ratio": -1e999}', "the arguments are not JSON: -1e999 is too large"),
        ('{"seconds": ' + "9" * 5000 + "}", "the arguments are not JSON: "),
        ('{"command": "\\ud800"}', "a text in the arguments holds half a character"),
        ('{"anything": ' + "[" * 100_000 + "}", "the arguments are nested too deeply"),
        ("\0", "the arguments are not JSON: "),
    ],
)
def test_what_is_not_strict_json_is_refused(text: str, said: str) -> None:
    """call-arguments: Bad JSON becomes an error that the model reads, no exception."""
    assert first(text).startswith(said)


def test_at_most_three_faults_are_told_at_once() -> None:
    """call-arguments: A message that a small model can act on is short."""
    faults = first('{"seconds": 0, "ratio": 0, "quiet": 0, "names": 0}').split("; ")
    assert len(faults) == 3


def test_long_values_and_names_are_shortened() -> None:
    """call-arguments: What a model wrote wrong does not fill its window."""
    assert len(fault('{"command": "", "' + "x" * 100_000 + '": 1}', ONE)) < 300
    assert len(fault('{"command": "", "directory": ' + "9" * 4000 + "}", ONE)) < 300


def test_a_schema_of_others_is_checked_as_far_as_it_is_known() -> None:
    """call-arguments: MCP tools bring schemas of their own."""
    schema: dict[str, object] = {
        "properties": {"a": {"type": "string", "pattern": "^x"}, "b": True, "c": {"type": "uuid"}},
        "required": "a",
        "patternProperties": {"^n": {"type": "integer"}},
        "additionalProperties": False,
        "anyOf": [{}],
    }
    assert read_arguments('{"a": "y", "b": 1, "c": 2, "n1": "?"}', schema) == {
        "a": "y",
        "b": 1,
        "c": 2,
        "n1": "?",
    }
    assert isinstance(read_arguments('{"a": 1}', schema), ArgumentFault)


def test_other_arguments_are_held_to_the_schema_for_them() -> None:
    """call-arguments: What is not named may have a schema too."""
    schema: dict[str, object] = {"additionalProperties": {"type": "integer"}}
    assert read_arguments('{"n": 1}', schema) == {"n": 1}
    assert fault('{"n": "1"}', schema).startswith("argument 'n' is the text \"1\"")
    assert read_arguments('{"n": "1"}', {}) == {"n": "1"}


def test_a_name_is_not_guessed_where_the_tool_takes_nothing() -> None:
    """call-arguments: Never a guess."""
    assert fault('{"a": 1}', {"additionalProperties": False}) == (
        "there is no argument 'a'; run_command takes no arguments"
    )


def test_a_required_name_of_another_type_asks_for_nothing() -> None:
    """call-arguments: A bad schema of others stops no call."""
    assert read_arguments("{}", {"required": [1, "a"], "type": 5}) != {}
    assert read_arguments("{}", {"required": [1], "type": 5}) == {}


@pytest.mark.parametrize(("count", "more"), [(11, False), (12, False), (13, True)])
def test_twelve_arguments_are_named_at_most(count: int, *, more: bool) -> None:
    """call-arguments: A message that a small model can act on is short."""
    properties = {f"p{number:02}": {"type": "string"} for number in range(count)}
    said = fault("[]", {"properties": properties})
    assert said.endswith("and more") == more
    assert said.count("(text, optional)") == min(count, 12)


def test_reading_is_linear() -> None:
    """call-arguments: A doubled hostile input costs at most 2.5 times."""

    def cost(size: int) -> float:
        text = "{" + ", ".join(f'"k{number}": 1' for number in range(size)) + ', "k0": 2}'
        begun = time.perf_counter()
        assert isinstance(read_arguments(text, ONE), ArgumentFault)
        return time.perf_counter() - begun

    small = min(cost(20_000) for _ in range(3))
    large = min(cost(40_000) for _ in range(3))
    assert large < 4 * small + 0.05
