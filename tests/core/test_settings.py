"""Settings: what a key can be, what is silenced, and what each refusal says."""

import pytest

from counterfoil.core.settings import (
    GUARDED,
    KEYS,
    ConfigurationError,
    Layer,
    SilencedRule,
    settle,
)


@pytest.mark.parametrize(
    ("said", "is_on"),
    [
        (True, True),
        (False, False),
        ("1", True),
        ("true", True),
        ("YES", True),
        ("on", True),
        ("0", False),
        ("False", False),
        ("no", False),
        ("OFF", False),
    ],
)
def test_true_and_false_have_their_words(said: object, is_on: bool) -> None:  # noqa: FBT001 - a case
    """settings: A variable says true or false in words; a file and a flag as they are."""
    assert settle([Layer("flag", {"strict": said})]).is_on("strict") is is_on


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("strict", "maybe", "true or false"),
        ("strict", 1, "true or false"),
        ("strict", None, "true or false"),
        ("color", True, "a text"),
        ("repo", 7, "a text"),
        ("color", "blue", "auto or always or never"),
        ("format", "TEXT", "text or json or github or sarif"),
        ("window", "many", "a whole number, 0 to 2147483647"),
        ("window", True, "a whole number, 0 to 2147483647"),
        ("window", -1, "a whole number, 0 to 2147483647"),
        ("window", 2**31, "a whole number, 0 to 2147483647"),
        ("roots", 7, "a text or a list of texts"),
        ("roots", ["a", 1], "a text or a list of texts"),
        ("roots", [""], "a text or a list of texts"),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused(key: str, value: object, expected: str) -> None:
    """settings: The refusal names key, value and place, and what was expected."""
    with pytest.raises(ConfigurationError) as refused:
        settle([Layer("counterfoil.toml", {key: value})])
    assert refused.value.found == f"{key} = {value!r} in counterfoil.toml"
    assert refused.value.expected == expected


def test_a_key_that_is_none_is_refused_with_all_that_are() -> None:
    """settings: The refusal names the place, the keys there are, and the nearest."""
    with pytest.raises(ConfigurationError) as refused:
        settle([Layer("config.toml", {"claude_dri": "x"})])
    assert refused.value.found == "unknown key 'claude_dri' in config.toml"
    assert refused.value.expected == f"one of {', '.join([*(k.name for k in KEYS), 'silence'])}"
    assert refused.value.advice == "did you mean 'claude_dir'?"


def test_a_text_and_a_choice_are_as_said() -> None:
    """settings: A value that the key can have is its value."""
    settled = settle([Layer("flag", {"repo": "/x", "color": "never"})])
    assert (settled.text("repo"), settled.text("color")) == ("/x", "never")
    assert settled.values["repo"].origin == "flag"


def test_nothing_said_is_the_default() -> None:
    """settings: Every key has a value, and a text reads as one."""
    settled = settle([])
    assert {name: setting.value for name, setting in settled.values.items()} == {
        key.name: key.default for key in KEYS
    }
    assert settled.text("format") == "text"
    assert not settled.is_on("verbose")
    assert settled.silences == ()
    assert all(key.meaning for key in KEYS)


def test_silences_of_all_layers_add_up() -> None:
    """settings: A silence keeps its reason and where it was said; one table needs no list."""
    row = {"rule": "place", "path": "a/*", "reason": "generated"}
    settled = settle(
        [
            Layer("counterfoil.toml", {"silence": [row, row | {"rule": "commit"}]}),
            Layer("config.toml", {"silence": row}),
        ]
    )
    assert settled.silences == (
        SilencedRule("place", "a/*", "generated", "counterfoil.toml"),
        SilencedRule("commit", "a/*", "generated", "counterfoil.toml"),
        SilencedRule("place", "a/*", "generated", "config.toml"),
    )


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("place", "no table"),
        ([1], "no table"),
        ({"rule": "place", "path": "a"}, "lacks"),
        ({"rule": "place", "path": "a", "reason": " "}, "lacks"),
        ({"rule": "place", "path": 1, "reason": "x"}, "lacks"),
        ({"rule": "place", "path": "a", "reasn": "x"}, "did you mean 'reason'"),
    ],
)
def test_a_silence_needs_rule_path_and_reason(said: object, words: str) -> None:
    """settings: Nothing is silenced without a reason, or by a misspelled key."""
    with pytest.raises(ConfigurationError, match=words):
        settle([Layer("counterfoil.toml", {"silence": said})])


def test_numbers_lists_and_tables_are_read() -> None:
    """settings: A number may come as text, a list as one text: variables can say them."""
    server = {"command": "x", "args": ["-v"], "env": {"A": "1"}, "level": "safe"}
    settled = settle(
        [Layer("environment", {"window": "4096", "roots": "/a", "mcp_servers": {"one": server}})]
    )
    assert settled.number("window") == 4096
    assert settled.number("model") == 0
    assert settled.texts("roots") == ("/a",)
    assert settled.texts("deny") == ()
    assert settled.tables("mcp_servers") == {"one": server}
    assert settle([Layer("flag", {"roots": ["/a", "/b"]})]).texts("roots") == ("/a", "/b")
    assert settle([Layer("flag", {"window": 2**31 - 1})]).number("window") == 2**31 - 1


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("x", "no table"),
        ({"one": "x"}, "no table"),
        ({"one": {}}, "both or neither"),
        ({"one": {"command": "x", "url": "y"}}, "both or neither"),
        ({"one": {"command": 1}}, "expected a str"),
        ({"one": {"command": "x", "args": "y"}}, "expected a list"),
        ({"one": {"comand": "x"}}, "did you mean 'command'"),
    ],
)
def test_a_server_has_a_command_or_a_url(said: object, words: str) -> None:
    """settings: A table of a server that cannot be meant is refused, and named."""
    with pytest.raises(ConfigurationError, match=words):
        settle([Layer("config.toml", {"mcp_servers": said})])


@pytest.mark.parametrize("key", GUARDED)
def test_a_project_cannot_loosen_what_guards_a_person(key: str) -> None:
    """settings: The file of a project may come from anybody; a guarded key in it is refused."""
    with pytest.raises(ConfigurationError, match=f"^{key} in /x/counterfoil.toml"):
        settle([Layer("/x/counterfoil.toml", {key: "x"}, is_project=True)])
