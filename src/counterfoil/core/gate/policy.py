"""What is never run, whoever would approve it: rules by meaning, and patterns of a person.

The rules look at the parts of a line as they were read: `grep -r sudo docs` and
`echo "rm -rf /"` break none. They are linear in the length of the line. Patterns are
regular expressions; each is looked for in every part, written as its words with one
space between any two and quotes around a word that is not plain, and in the whole line
as it stands. The list is no wall: confinement is (agent.md section 3).
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import dropwhile, pairwise, takewhile
from typing import NamedTuple

from counterfoil.core.gate.commands import Redirection
from counterfoil.core.gate.reading import SHELLS, Line, Part
from counterfoil.core.gate.tables import names
from counterfoil.core.gate.wrappers import PRIVILEGE
from counterfoil.core.settings import ConfigurationError

LONGEST = 1 << 16
"""Characters of a command; a longer one is denied, since nobody could read it."""


class Denial(NamedTuple):
    """Why a command is not run: the rule that says so, and words for who asked."""

    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules that always hold, patterns that deny, and patterns of which one has to allow.

    An empty `allow` allows everything. What is denied stays so, whatever allows it.
    """

    deny: tuple[re.Pattern[str], ...] = ()
    allow: tuple[re.Pattern[str], ...] = ()

    def judge(self, line: Line) -> Denial | None:
        """Return why `line` is not run, or `None` where nothing is against it."""
        if len(line.text) > LONGEST:
            return Denial("length", f"a command of more than {LONGEST} characters is not run")
        for rule, says in RULES.items():
            found = says(line)
            if found is not None:
                return Denial(rule, found)
        return self.judge_text(line.text, [part.written for part in line.parts if part.words])

    def judge_text(self, text: str, parts: Iterable[str] = ()) -> Denial | None:
        """Return why patterns are against `text`, of which `parts` are the commands."""
        commands = list(parts)
        for pattern in self.deny:
            if any(pattern.search(one) for one in (text, *commands)):
                return Denial("deny", f"the configuration denies {pattern.pattern!r}")
        if not self.allow:
            return None
        for one in commands or [text]:
            if not any(pattern.search(one) for pattern in self.allow):
                return Denial("allow", f"the configuration allows no {_cut(one)!r}")
        return None


def load_policy(deny: Iterable[str] = (), allow: Iterable[str] = ()) -> Policy:
    """Return the policy of these patterns, beside the rules that always hold.

    Raises:
        ConfigurationError: One of them is no regular expression.
    """
    return Policy(
        tuple(_compiled(text, "deny") for text in deny),
        tuple(_compiled(text, "allow") for text in allow),
    )


def _compiled(text: str, key: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigurationError(
            f"{key} pattern {text!r} cannot be read ({error})",
            "a regular expression of Python",
            "correct it, or put a backslash before what is meant as it stands",
        ) from error


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}…"  # noqa: PLR2004 - enough to know it


# --- privilege ------------------------------------------------------------------


def _privilege(line: Line) -> str | None:
    for part in line.parts:
        for name in (*part.wrappers, part.program):
            if name in PRIVILEGE:
                return f"{name} runs commands as somebody else"
    return None


# --- removal of a root ----------------------------------------------------------

_HOMES = ("~", "$HOME", "${HOME}", "${HOME:?}")
_SYSTEM = names(
    "Applications Library System Users bin boot dev etc home lib lib64 opt private proc root "
    "sbin srv sys usr var Volumes"
)
_EVERYTHING = frozenset({"*", ".", "./", "./*", ".*", "..", "../", "../*"})


def _root_removal(line: Line) -> str | None:
    at_root = False
    for part in line.parts:
        if part.program in {"cd", "pushd"}:
            at_root = not part.arguments or is_root(part.arguments[-1])
        target = next((one for one in _removed(part) if is_root(one)), None)
        if target is not None:
            return f"it removes {target}"
        if at_root and any(one in _EVERYTHING for one in _removed(part)):
            return "it removes everything below a root"
    return None


def _removed(part: Part) -> Iterator[str]:
    """Yield what `part` removes with everything below it."""
    words = part.arguments
    if part.program == "rm":
        end = words.index("--") if "--" in words else len(words)
        options = [word for word in words[:end] if word.startswith("-")]
        if "--no-preserve-root" in options:
            yield "/"
        if any(map(_is_recursive, options)):
            yield from (word for word in words[:end] if not word.startswith("-"))
            yield from words[end + 1 :]
    elif part.program == "find" and ("-delete" in words or _runs_rm(words)):
        yield from _started(words)


def _started(words: tuple[str, ...]) -> Iterator[str]:
    """Return the places at which `find` begins."""
    places = dropwhile(lambda word: word in {"-H", "-L", "-P"}, words)
    return takewhile(lambda word: not word.startswith(("-", "(", "!")), places)


def _is_recursive(word: str) -> bool:
    if word.startswith("--"):
        return len(word) > 2 and "--recursive".startswith(word)  # noqa: PLR2004 - `--r` and on
    return "r" in word or "R" in word


def _runs_rm(words: tuple[str, ...]) -> bool:
    return any(
        one in {"-exec", "-execdir"} and other.rpartition("/")[2] == "rm"
        for one, other in pairwise(words)
    )


def is_root(path: str) -> bool:
    """Say whether `path` is the root, a home, or a directory of the system, or all in one.

    >>> [is_root(path) for path in ("/", "//*", "~/", "/usr/../etc", "build", "/usr/x")]
    [True, True, True, True, False, False]
    """
    for home in _HOMES:
        if path == home or path.startswith(f"{home}/"):
            return not _segments(path[len(home) :])
    if path.startswith("~") and "/" not in path.rstrip("/"):
        return True
    if not path.startswith("/"):
        return False
    segments = _segments(path)
    return not segments or (len(segments) == 1 and segments[0] in _SYSTEM)


def _segments(path: str) -> list[str]:
    """Return the names on the way, without those that lead nowhere or to everything."""
    segments: list[str] = []
    for name in path.split("/"):
        if name == "..":
            del segments[-1:]
        elif name not in {"", "."}:
            segments.append(name)
    while segments and segments[-1] in {"*", ".*", "{*,.*}", "?*"}:
        segments.pop()
    return segments


# --- the network into a shell ---------------------------------------------------

FETCHERS = frozenset({"curl", "wget", "fetch", "aria2c", "http", "https", "xh", "nc", "ncat"})
_READERS = frozenset({"perl", "ruby", "node", "php", "lua", "bun", "deno", "osascript", "Rscript"})
_SOURCES = frozenset({".", "source"})


def _network_into_shell(line: Line) -> str | None:
    fetches = line.reaching(lambda part: part.program in FETCHERS)
    runs = line.reaching(_runs_input)
    is_found = any(fetches(left) and runs(right) for left, right in line.pipes) or any(
        _runs_words(part) and fetches(part.inner) for part in line.parts
    )
    return "it runs what comes from the network" if is_found else None


def _runs_words(part: Part) -> bool:
    """Say whether `part` takes a word, or what a here document holds, for code."""
    if part.program in SHELLS or part.program in _SOURCES or part.program == "eval":
        return True
    return _runs_input(part) or (bool(part.words) and part.words[0].text.startswith(("$(", "`")))


def _runs_input(part: Part) -> bool:
    """Say whether `part` takes what it reads for code."""
    if part.code == "unknown":
        return True
    if part.program in _SOURCES:
        return part.arguments[:1] in {("/dev/stdin",), ("-",), ("/dev/fd/0",), ("/proc/self/fd/0",)}
    is_reader = part.program in _READERS or part.program.startswith(("python", "pypy"))
    return is_reader and all(word == "-" or word in {"-u", "-s"} for word in part.arguments)


# --- devices --------------------------------------------------------------------

_HARMLESS = frozenset({"null", "zero", "full", "tty", "stdin", "stdout", "stderr", "random"})
_HARMLESS_BELOW = ("fd/", "pts/", "shm/", "tcp/", "udp/", "mqueue/")
FORMATTERS = names(
    "mke2fs mkswap wipefs fdisk sfdisk cfdisk gdisk sgdisk parted blkdiscard hdparm badblocks "
    "cryptsetup flashrom newfs pvcreate zpool"
)
_COPIERS = names("cp mv tee shred install ddrescue dcfldd truncate")
_ERASES = ("erase", "partition", "zero", "reformat", "secureErase")


def _devices(line: Line) -> str | None:
    for part in line.parts:
        target = next(filter(is_device, _written_to(part)), None)
        if target is not None:
            return f"it writes the device {target}"
        if part.program.startswith("mkfs") or part.program in FORMATTERS:
            return f"{part.program} writes devices"
        if part.program == "diskutil" and " ".join(part.arguments[:1]).startswith(_ERASES):
            return "diskutil writes devices"
    return None


def _written_to(part: Part) -> Iterator[str]:
    yield from (one.target.text for one in part.redirections if writes(one))
    if part.program in {"dd", "dcfldd"}:
        yield from (word[3:] for word in part.arguments if word.startswith("of="))
    elif part.program in _COPIERS:
        yield from part.arguments


def writes(redirection: Redirection) -> bool:
    """Say whether the stream goes into something, rather than comes out of it."""
    return ">" in redirection.operator


def is_device(path: str) -> bool:
    """Say whether `path` is a device that holds something.

    >>> [is_device(path) for path in ("/dev/sda", "/dev/null", "/dev/shm/x", "dev/sda")]
    [True, False, False, False]
    """
    if not path.startswith("/"):
        return False
    name = "/".join(_segments(path))
    if not name.startswith("dev/"):
        return False
    return name[4:] not in _HARMLESS and not name[4:].startswith(_HARMLESS_BELOW)


# --- approvals, nested agents ---------------------------------------------------

AGENTS = names(
    "aider amp auggie claude claude-code cline codex copilot crush cursor-agent gemini "
    "gemini-cli goose kimi opencode openhands plandex qwen qwen-code"
)
_AGENT_PACKAGES = ("@anthropic-ai/claude-code", "@openai/codex", "@google/gemini-cli", "aider-chat")
_OWN_AGENTS = frozenset({"chat", "tui", "mcp", "respond", "demo"})


def _approval(line: Line) -> str | None:
    if any(verb == "approvals" for verb in _own_verbs(line)):
        return "only a person answers for approvals"
    return None


def _nested_agent(line: Line) -> str | None:
    verb = next((verb for verb in _own_verbs(line) if verb in _OWN_AGENTS), None)
    if verb is not None:
        return f"counterfoil {verb} starts an agent within the agent"
    for part in line.parts:
        if part.program in AGENTS or _package(part) in _AGENT_PACKAGES:
            return f"{part.program} starts an agent within the agent"
        if part.program == "gh" and part.arguments[:1] == ("copilot",):
            return "gh copilot starts an agent within the agent"
    return None


def _own_verbs(line: Line) -> Iterator[str]:
    """Yield what can be the verb of each call of our own program, whatever options are."""
    for part in line.parts:
        is_behind_option = False
        for word in part.arguments if part.program == "counterfoil" else ():
            if word.startswith("-"):
                is_behind_option = True
                continue
            yield word
            if not is_behind_option:
                break
            is_behind_option = False


def _package(part: Part) -> str:
    """Return what a package runner starts, without the version."""
    text = part.words[0].text if part.words else ""
    return text[:1] + text[1:].partition("@")[0]


RULES: dict[str, Callable[[Line], str | None]] = {
    "privilege": _privilege,
    "root-removal": _root_removal,
    "network-into-shell": _network_into_shell,
    "device": _devices,
    "approval": _approval,
    "nested-agent": _nested_agent,
}
"""What is denied by meaning: the name of each rule, and what finds a breach of it."""
