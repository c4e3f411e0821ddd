"""Settings: what a key can be, what is silenced, and what each refusal says."""

import pytest

from counterfoil.core.settings import (
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
