"""Options of the commands that have an agent: which model, where, and what it may touch."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--model", {"metavar": "NAME", "help": "The model, or scripted:FILE."}),
    ("--base-url", {"metavar": "URL", "help": "Where its server answers (else Ollama's place)."}),
    ("--window", {"type": int, "metavar": "TOKENS", "help": "The model's window."}),
    ("--root", {"multiple": True, "metavar": "DIR", "help": "A folder tools may read."}),
    ("--writable", {"multiple": True, "metavar": "DIR", "help": "A folder tools may write."}),
    ("--no-network", {"is_flag": True, "help": "Run commands without the network."}),
)
_KEYS = {"root": "roots"}


def agent_options(command: Command) -> Command:
    """Give `command` the options of an agent; it gets them as `flags`, for the settings."""

    @wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - whatever click gives
        flags: dict[str, object] = {}
        for option, _ in _OPTIONS:
            name = option.removeprefix("--").replace("-", "_")
            value = options.pop(name)
            if name == "no_network":
                flags |= {"network": False} if value else {}
            elif value:  # of an option that may be repeated: a tuple of texts
                flags[_KEYS.get(name, name)] = value
        return command(*arguments, flags=flags, **options)

    for option, settings in reversed(_OPTIONS):
        wrapped = click.option(option, **settings)(wrapped)
    return wrapped  # type: ignore[return-value]
