"""Configuration: every key there is, and how layers of it become settings.

Later layers win: the project's `counterfoil.toml`, the home's `config.toml`, variables
`COUNTERFOIL_*`, flags (design.md section 7). An unknown key is an error that names its
nearest neighbour.
"""

from collections.abc import Callable, Iterable, Mapping
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
    is_guarded: bool = False
    """Whether a project's file may not say it: the folder may be a stranger's."""


_THRESHOLD = "the level from which a command is asked about"

KEYS: tuple[Key, ...] = (
    Key("color", ("auto", "always", "never"), "auto", "when text is coloured"),
    Key("format", ("text", "json", "github", "sarif"), "text", "how `check` and `kb lint` report"),
    Key("strict", bool, default=False, meaning="whether what is not established makes exit code 1"),
    Key("verbose", bool, default=False, meaning="whether `check` also shows what is supported"),
    Key("repo", str, "", "a repository in which places and commits are looked up"),
    Key("claude_dir", str, "", "where Claude Code keeps its sessions (else its own default)"),
    Key("codex_dir", str, "", "where Codex keeps its sessions (else its own default)"),
    Key("model", str, "", "the model that answers: its name, or `scripted:FILE`"),
    Key("base_url", str, "", "where an OpenAI-compatible server answers", is_guarded=True),
    Key("api_key_variable", str, "", "the variable that holds its key", is_guarded=True),
    Key("window", int, 0, "the tokens of the model's window (0: what the server says, else 32768)"),
    Key("model_timeout", int, 120, "seconds without a word after which a model is given up"),
    Key("roots", list, (), "folders that tools may read (else the current one)", is_guarded=True),
    Key("writable", list, (), "folders that tools may write (else the roots)", is_guarded=True),
    Key(
        "network", bool, default=True, meaning="whether commands have the network", is_guarded=True
    ),
    Key("threshold", ("moderate", "dangerous"), "moderate", _THRESHOLD, is_guarded=True),
    Key("approval_timeout", int, 600, "seconds after which a question is a refusal"),
    Key("deny", list, (), "patterns of commands never run, beside the built-in", is_guarded=True),
    Key("allow", list, (), "where there are any, only these patterns are run", is_guarded=True),
    Key("runs", str, "", "the folder of the stores of runs (else in the home)", is_guarded=True),
    Key("shared", str, "", "a store of pages that every thread sees", is_guarded=True),
    Key("mcp_servers", dict, {}, "servers whose tools threads have, by name", is_guarded=True),
)
"""Every key but `silence`, which is a list of tables."""

GUARDED = tuple(key.name for key in KEYS if key.is_guarded)
"""The keys that a project's file may not say: each could loosen what guards a person."""

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
    is_project: bool = False


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

    def number(self, name: str) -> int:
        """Return the value of a key that is a whole number."""
        value = self.values[name].value
        return value if isinstance(value, int) else 0

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the value of a key that is a list of texts."""
        return cast("tuple[str, ...]", self.values[name].value)

    def tables(self, name: str) -> Mapping[str, Mapping[str, object]]:
        """Return the value of a key that is a table of tables."""
        return cast("Mapping[str, Mapping[str, object]]", self.values[name].value)


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
                _require_unguarded(name, layer)
                values[name] = Setting(_value(name, value, layer.origin), layer.origin)
    return Settings(values, tuple(silences))


def _require_unguarded(name: str, layer: Layer) -> None:
    if layer.is_project and name in GUARDED:
        raise ConfigurationError(
            f"{name} in {layer.origin}",
            "a key that the file of a project may say",
            "say it in config.toml of your home, by a variable or by a flag: a project may come"
            " from anybody",
        )


def _value(name: str, value: object, origin: str) -> object:
    key = _BY_NAME.get(name)
    if key is None:
        raise _unknown(name, [*_BY_NAME, "silence"], origin)
    if isinstance(key.choices, tuple):
        text = _text(name, value, origin)
        if text not in key.choices:
            raise ConfigurationError(f"{name} = {text!r} in {origin}", " or ".join(key.choices))
        return text
    return _READERS[key.choices](name, value, origin)


def _truth(name: str, value: object, origin: str) -> bool:
    known = _TRUTH.get(value.lower()) if isinstance(value, str) else value
    if isinstance(known, bool):
        return known
    raise ConfigurationError(f"{name} = {value!r} in {origin}", "true or false")


def _text(name: str, value: object, origin: str) -> str:
    if not isinstance(value, str):
        raise ConfigurationError(f"{name} = {value!r} in {origin}", "a text")
    return value


def _whole(name: str, value: object, origin: str) -> int:
    known = int(value) if isinstance(value, str) and value.isdecimal() else value
    if isinstance(known, int) and not isinstance(known, bool) and 0 <= known <= _LARGEST:
        return known
    raise ConfigurationError(f"{name} = {value!r} in {origin}", f"a whole number, 0 to {_LARGEST}")


def _list(name: str, value: object, origin: str) -> tuple[str, ...]:
    """A text stands for a list of one, so that a variable can say it."""
    rows = cast("Iterable[object]", value) if isinstance(value, list | tuple) else [value]
    found = tuple(rows)
    if all(isinstance(row, str) and row for row in found):
        return cast("tuple[str, ...]", found)
    raise ConfigurationError(f"{name} = {value!r} in {origin}", "a text or a list of texts")


def _servers(name: str, value: object, origin: str) -> Mapping[str, Mapping[str, object]]:
    """Each server has a command with arguments, or a URL; and perhaps a level."""
    tables = cast("Mapping[str, object]", value) if isinstance(value, dict) else {"": value}
    for server, table in tables.items():
        where = f"{name}.{server} in {origin}"
        if not isinstance(table, dict):
            raise ConfigurationError(f"{where} is no table", "a table with command or url")
        said = cast("Mapping[str, object]", table)
        for key in said:
            if key not in _SERVER:
                raise _unknown(key, tuple(_SERVER), where)
        for key, kind in _SERVER.items():
            if key in said and not isinstance(said[key], kind):
                raise ConfigurationError(f"{key} = {said[key]!r} of {where}", f"a {kind.__name__}")
        if ("command" in said) == ("url" in said):
            raise ConfigurationError(f"{where} has both or neither", "a command or a url")
    return cast("Mapping[str, Mapping[str, object]]", tables)


_SERVER: Mapping[str, type] = {
    "command": str,
    "args": list,
    "env": dict,
    "url": str,
    "level": str,
}
"""What the table of an MCP server may say."""

_LARGEST = 2**31 - 1

_READERS: Mapping[type, Callable[[str, object, str], object]] = {
    bool: _truth,
    str: _text,
    int: _whole,
    list: _list,
    dict: _servers,
}


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
