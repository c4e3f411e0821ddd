"""What a person typed into the box: a prompt, a `/` command or a `!` command."""

from dataclasses import dataclass

HELP = (
    ("/help", "the commands and the keys"),
    ("/receipt [T]", "the receipt of turn T, or of the selected turn"),
    ("/show N", "entry N, whole"),
    ("/turn T", "go to turn T"),
    ("/inspect context [next|T|turns]", "what the model read, entry by entry"),
    ("/inspect config|approvals|audit", "the settings, the grants, the last events"),
    ("/model [NAME]", "go on with another model; without a name, list them"),
    ("/new", "begin a new thread"),
    ("/quit", "leave; the thread can be resumed"),
    ("!COMMAND", "run a command yourself; it becomes an entry"),
)
"""Every command with its meaning."""

_NAMES = frozenset(row[0].split()[0] for row in HELP if row[0].startswith("/"))


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed: `kind` is `prompt`, `shell`, `unknown`, or the name of a command."""

    kind: str
    text: str


def read_typed(text: str) -> Typed | None:
    """Return what `text` asks for, `None` where it is blank.

    A prompt that has to begin with `/` or `!` is written behind a blank.

    >>> read_typed("/show 7")
    Typed(kind='/show', text='7')
    >>> read_typed(" /etc/hosts is what?").kind
    'prompt'
    """
    if not text.strip():
        return None
    if text.startswith("!"):
        return Typed("shell", text[1:].strip()) if text[1:].strip() else None
    if text.startswith("/"):
        name, _, rest = text.partition(" ")
        name = name.strip()
        return Typed(name, rest.strip()) if name in _NAMES else Typed("unknown", name)
    return Typed("prompt", text.strip())


def number_of(text: str) -> int | None:
    """Return the positive number that `text` is, `None` for anything else."""
    text = text.strip()
    is_number = text.isascii() and text.isdecimal() and len(text) <= 9  # noqa: PLR2004 - digits
    return int(text) if is_number and int(text) else None
