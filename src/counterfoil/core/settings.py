"""Configuration: every key there is, and how layers of it become settings.

Later layers win: the project's `counterfoil.toml`, the home's `config.toml`, variables
`COUNTERFOIL_*`, flags (design.md section 7). An unknown key is an error that names its
nearest neighbour.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from counterfoil.core.errors import CounterfoilError


class ConfigurationError(CounterfoilError):
    """A configuration says what cannot be meant."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key: what it may be, what it is when nobody says, and what it means."""

    name: str
    choices: tuple[str, ...] | type
    default: object
    meaning: str


KEYS: tuple[Key, ...] = (
    Key("color", ("auto", "always", "never"), "auto", "when text is coloured"),
    Key("format", ("text", "json", "github", "sarif"), "text", "how `check` and `kb lint` report"),
    Key("strict", bool, default=False, meaning="whether what is not established makes exit code 1"),
    Key("verbose", bool, default=False, meaning="whether `check` also shows what is supported"),
    Key("repo", str, "", "a repository in which places and commits are looked up"),
    Key("claude_dir", str, "", "where Claude Code keeps its sessions (else its own default)"),
    Key("codex_dir", str, "", "where Codex keeps its sessions (else its own default)"),
)
"""Every key but `silence`, which is a list of tables."""

_BY_NAME = {key.name: key for key in KEYS}
_SILENCE = ("rule", "path", "reason")
_TRUTH = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}


@dataclass(frozen=True, slots=True)
class Layer:
    """One place that says something: its name, and what it says."""

    origin: str
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of a key and where it came from."""

    value: object
    origin: str


@dataclass(frozen=True, slots=True)
class SilencedRule:
    """A rule that says nothing about a path, with the reason and where that was said."""

    rule: str
    path: str
    reason: str
    origin: str


@dataclass(frozen=True, slots=True)
class Settings:
    """Every key with its value."""

    values: Mapping[str, Setting] = field(default_factory=dict[str, Setting])
    silences: tuple[SilencedRule, ...] = ()

    def text(self, name: str) -> str:
        """Return the value of a key that is a text."""
        return str(self.values[name].value)

    def is_on(self, name: str) -> bool:
        """Return the value of a key that is true or false."""
        return bool(self.values[name].value)


def settle(layers: Iterable[Layer]) -> Settings:
    """Return what `layers` say together, the later one winning.

    Raises:
        ConfigurationError: A key is unknown, or a value is not one that the key can have.
    """
    values = {key.name: Setting(key.default, "default") for key in KEYS}
    silences: list[SilencedRule] = []
    for layer in layers:
        for name, value in layer.values.items():
            if name == "silence":
                silences.extend(_silences(value, layer.origin))
            else:
                values[name] = Setting(_value(name, value, layer.origin), layer.origin)
    return Settings(values, tuple(silences))


def _value(name: str, value: object, origin: str) -> object:
    key = _BY_NAME.get(name)
    if key is None:
        raise _unknown(name, [*_BY_NAME, "silence"], origin)
    if key.choices is bool:
        known = _TRUTH.get(value.lower()) if isinstance(value, str) else value
        if isinstance(known, bool):
            return known
        raise ConfigurationError(f"{name} = {value!r} in {origin}", "true or false")
    if not isinstance(value, str):
        raise ConfigurationError(f"{name} = {value!r} in {origin}", "a text")
    if isinstance(key.choices, tuple) and value not in key.choices:
        raise ConfigurationError(f"{name} = {value!r} in {origin}", " or ".join(key.choices))
    return value


def _silences(value: object, origin: str) -> Iterable[SilencedRule]:
    rows = cast("list[object]", value) if isinstance(value, list) else [value]
    for row in rows:
        if not isinstance(row, dict):
            raise ConfigurationError(
                f"silence in {origin} is no table", "[[silence]] with rule, path and reason"
            )
        table = cast("dict[str, object]", row)
        for name in table:
            if name not in _SILENCE:
                raise _unknown(name, _SILENCE, origin)
        found = [table.get(name) for name in _SILENCE]
        if not all(isinstance(text, str) and text.strip() for text in found):
            raise ConfigurationError(
                f"a [[silence]] in {origin} lacks a rule, a path or a reason", "all three"
            )
        rule, path, reason = (str(text) for text in found)
        yield SilencedRule(rule, path, reason, origin)


def _unknown(name: str, known: Iterable[str], origin: str) -> ConfigurationError:
    from difflib import get_close_matches  # noqa: PLC0415 - only for a mistake

    near = get_close_matches(name, list(known), n=1, cutoff=0)
    return ConfigurationError(
        f"unknown key {name!r} in {origin}",
        f"one of {', '.join(known)}",
        f"did you mean {near[0]!r}?" if near else "",
    )
