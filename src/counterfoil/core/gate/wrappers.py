"""Programs that run another program: what they are told, and where that one begins.

`unwrap` takes them off, one after another, so that `env -i nohup sudo rm x` is judged
as what it does. A wrapper whose own words cannot be read from the text is opaque.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from counterfoil.core.gate.commands import Word
from counterfoil.core.gate.scale import Level, highest

DEEPEST = 16
"""Wrappers that are taken off one command; what has more of them is opaque."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """How the words of one wrapper are read.

    `valued` are its options that take a value: letters, and long names. `operands` are
    its own, before the program. With `assigns`, `NAME=value` may come first. What it
    wraps is at least of level `floor`, and with `feeds` gets more words when it runs.
    """

    valued: str = ""
    long: frozenset[str] = frozenset()
    operands: int = 0
    assigns: bool = False
    feeds: bool = False
    floor: Level = "safe"


def _wrapper(
    valued: str = "", long: str = "", *, operands: int = 0, floor: Level = "safe"
) -> Wrapper:
    return Wrapper(valued=valued, long=frozenset(long.split()), operands=operands, floor=floor)


PRIVILEGE = frozenset({"sudo", "su", "doas", "pkexec", "run0", "sudoedit", "gosu", "su-exec"})
"""Programs that run another one as somebody else."""

WRAPPERS: Mapping[str, Wrapper] = {
    "arch": _wrapper("ed"),
    "builtin": _wrapper(),
    "busybox": _wrapper(),
    "caffeinate": _wrapper("tw"),
    "chronic": _wrapper(),
    "chroot": _wrapper(long="userspec groups", operands=1, floor="dangerous"),
    "chrt": _wrapper("TPD", operands=1),
    "command": _wrapper(),
    "coproc": _wrapper(),
    "doas": _wrapper("uC", floor="dangerous"),
    "env": Wrapper(valued="uCS", long=frozenset({"unset", "chdir", "split-string"}), assigns=True),
    "exec": _wrapper("a"),
    "fakeroot": _wrapper("lsbi", floor="moderate"),
    "flock": _wrapper("wEc", "wait timeout command", operands=1, floor="moderate"),
    "ionice": _wrapper("cnpPu", "class classdata"),
    "ltrace": _wrapper("eosup", floor="moderate"),
    "nice": _wrapper("n", "adjustment"),
    "nocorrect": _wrapper(),
    "noglob": _wrapper(),
    "nohup": _wrapper(),
    "pkexec": _wrapper("u", "user", floor="dangerous"),
    "run0": _wrapper("ug", "user group unit property description", floor="dangerous"),
    "setarch": _wrapper(operands=1),
    "setsid": _wrapper(),
    "stdbuf": _wrapper("ioe", "input output error"),
    "strace": _wrapper("eosupabIOSPX", floor="moderate"),
    "sudo": Wrapper(
        valued="ugpChDRrTtU",
        long=frozenset({"user", "group", "prompt", "chdir", "host", "role", "type", "chroot"}),
        assigns=True,
        floor="dangerous",
    ),
    "systemd-run": _wrapper("pHMu", "property unit uid gid setenv", floor="dangerous"),
    "taskset": _wrapper(operands=1),
    "time": _wrapper("fo", "format output", floor="safe"),
    "timeout": _wrapper("ks", "kill-after signal", operands=1),
    "toybox": _wrapper(),
    "unbuffer": _wrapper(),
    "unshare": _wrapper("SGRw", "root wd setuid setgid", floor="dangerous"),
    "nsenter": _wrapper("tSGrw", "target setuid setgid", floor="dangerous"),
    "xargs": Wrapper(
        valued="adEIJLnPRsS",
        long=frozenset(
            {"arg-file", "delimiter", "max-args", "max-chars", "max-lines", "max-procs"}
        ),
        feeds=True,
    ),
    "parallel": Wrapper(valued="jIdaNnS", feeds=True, floor="dangerous"),
    "npx": _wrapper("p", "package", floor="dangerous"),
    "bunx": _wrapper("p", "package", floor="dangerous"),
    "uvx": _wrapper("p", "python from with index", floor="dangerous"),
    "npm exec": _wrapper("p", "package", floor="dangerous"),
    "pnpm exec": _wrapper(floor="moderate"),
    "pnpm dlx": _wrapper(long="package", floor="dangerous"),
    "yarn dlx": _wrapper("p", "package", floor="dangerous"),
    "yarn exec": _wrapper(floor="moderate"),
    "pipx run": _wrapper(long="spec python", floor="dangerous"),
    "uv run": _wrapper(
        "p",
        "python with with-editable group extra package directory project env-file",
        floor="moderate",
    ),
    "poetry run": _wrapper(floor="moderate"),
    "pipenv run": _wrapper(floor="moderate"),
    "hatch run": _wrapper(floor="moderate"),
    "pdm run": _wrapper(floor="moderate"),
    "rye run": _wrapper(floor="moderate"),
    "bundle exec": _wrapper(floor="moderate"),
    "conda run": _wrapper("np", "name prefix cwd", floor="moderate"),
    "mise exec": _wrapper(floor="moderate"),
    "direnv exec": _wrapper(operands=1, floor="moderate"),
}
"""By the name of the program, or of the program and its verb."""

_LOOKS_UP = frozenset({"-v", "-V"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Unwrapped:
    """A command without its wrappers, which `names` lists, the outermost first."""

    words: tuple[Word, ...]
    names: tuple[str, ...] = ()
    floor: Level = "safe"
    assigned: tuple[str, ...] = ()
    is_fed: bool = False
    is_opaque: bool = False


@dataclass(slots=True)
class _Rest:
    """What is left of the words of one wrapper while they are read."""

    words: tuple[Word, ...]
    assigned: list[str] = field(default_factory=list[str])
    is_opaque: bool = False

    def take(self, count: int = 1) -> None:
        self.is_opaque = self.is_opaque or any(word.expands for word in self.words[:count])
        self.words = self.words[count:]


def name_of(words: tuple[Word, ...]) -> str:
    """Return the name of the program of `words`, without its directory."""
    return words[0].text.rpartition("/")[2] if words else ""


def unwrap(words: tuple[Word, ...]) -> Unwrapped:
    """Return `words` from where the program begins that is run in the end."""
    rest = _Rest(words)
    names: list[str] = []
    floors: list[Level] = []
    is_fed = False
    while (found := _wrapper_of(rest.words)) is not None:
        if len(names) == DEEPEST:
            rest.is_opaque = True
            break
        name, wrapper = found
        names.append(name)
        floors.append(wrapper.floor)
        is_fed = is_fed or wrapper.feeds
        rest.take(len(name.split()))
        _skip(rest, wrapper)
    return Unwrapped(
        words=rest.words,
        names=tuple(names),
        floor=highest(floors),
        assigned=tuple(rest.assigned),
        is_fed=is_fed,
        is_opaque=rest.is_opaque,
    )


def _wrapper_of(words: tuple[Word, ...]) -> tuple[str, Wrapper] | None:
    name = name_of(words)
    if not name or words[0].expands:
        return None
    if name == "command" and any(word.text in _LOOKS_UP for word in words[1:2]):
        return None
    pair = f"{name} {words[1].text}" if len(words) > 1 else ""
    found = name if name in WRAPPERS else pair
    wrapper = WRAPPERS.get(found)
    return None if wrapper is None else (found, wrapper)


def _skip(rest: _Rest, wrapper: Wrapper) -> None:
    """Take off the options, assignments and operands of `wrapper`."""
    operands = wrapper.operands
    while rest.words:
        text = rest.words[0].text
        if text == "--":
            rest.take()
            rest.take(operands)
            return
        if text.startswith("-") and text != "-":
            _skip_option(rest, wrapper)
        elif wrapper.assigns and "=" in text:
            rest.assigned.append(text.partition("=")[0])
            rest.take()
        elif operands:
            operands -= 1
            rest.take()
        elif text == "-":  # `env -`: with an empty environment
            rest.take()
        else:
            return


def _skip_option(rest: _Rest, wrapper: Wrapper) -> None:
    text = rest.words[0].text
    if text.startswith("--"):
        name, has_value = text[2:].partition("=")[:2]
        if name == "split-string":
            rest.is_opaque = True
        rest.take(2 if name in wrapper.long and not has_value else 1)
        return
    letter = next((one for one in text[1:] if one in wrapper.valued), "")
    if letter == "S" and wrapper.assigns:  # `env -S`: words within a word
        rest.is_opaque = True
    rest.take(2 if letter and text.endswith(letter) else 1)
