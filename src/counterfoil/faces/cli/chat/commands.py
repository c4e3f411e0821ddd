"""What was typed: a message, a `/` command, or a `!` command that the person runs.

What is doubled at the head is a message that begins with it: `//` and `!!`.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from counterfoil.core.errors import NotFoundError

COMMANDS = (
    ("/help", "the commands"),
    ("/tools", "the tools of this thread"),
    ("/status", "the thread, its model, where it is recorded"),
    ("/approvals [revoke ID]", "what is granted; take a grant back"),
    ("/audit [ID]", "the last events of the thread, or one event whole"),
    ("/inspect context [next|T|turns]", "what the model reads next, or read in turn T"),
    ("/inspect config|status|approvals|audit", "the settings, and what the commands above show"),
    ("/receipt [T]", "the receipt of turn T, or of the last one"),
    ("/show N|ID", "entry N whole, or the output of the event ID"),
    ("/last", "the last output whole"),
    ("/new", "begin a new thread"),
    ("/model [NAME]", "list the models, or go on with another one"),
    ("/save FILE", "write the events of the thread into a new file, as JSON Lines"),
    ("/quit", "leave; the thread can be resumed"),
    ("!COMMAND", "run a command yourself; it becomes an entry (at a terminal only)"),
    ("//TEXT, !!TEXT", "a message that begins with / or !"),
)
"""Every command with its meaning."""

NAMES = tuple(
    dict.fromkeys(usage.split()[0] for usage, _ in COMMANDS if usage[0] == "/" and usage[1] != "/")
)

_LONGEST_NUMBER = 9


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed; a command has its `name` and what stands behind it, as `text`."""

    kind: Literal["message", "command", "shell"]
    text: str
    name: str = ""


def read_typed(text: str) -> Typed | None:
    """Return what `text` asks for, `None` where it is blank.

    >>> read_typed("/show 7")
    Typed(kind='command', text='7', name='/show')
    >>> read_typed("//etc/hosts: what is it?").text
    '/etc/hosts: what is it?'

    Raises:
        NotFoundError: There is no command of that name; the error names the nearest.
    """
    text = text.strip()
    if not text:
        return None
    if text.startswith(("//", "!!")):
        return Typed("message", text[1:])
    if text.startswith("!"):
        return Typed("shell", text[1:].strip()) if text[1:].strip() else None
    if not text.startswith("/"):
        return Typed("message", text)
    name, _, rest = text.partition(" ")
    name = name.strip()
    if name not in NAMES:
        near = get_close_matches(name, NAMES, n=1, cutoff=0)[0]
        raise NotFoundError(
            f"no command {name[:40]!r}", "", f"did you mean {near!r}? /help lists them"
        )
    return Typed("command", rest.strip(), name)


def number_of(text: str) -> int | None:
    """Return the positive number that `text` is, `None` for anything else."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER
    return int(text) or None if is_number else None
