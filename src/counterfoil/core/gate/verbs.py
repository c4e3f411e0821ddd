"""Programs that do different things by their verb, and where the verb stands."""

from collections.abc import Mapping
from typing import NamedTuple

from counterfoil.core.gate.commands import Word


class Before(NamedTuple):
    """The options that may stand before a verb and take a value: letters, long names."""

    letters: str = ""
    long: frozenset[str] = frozenset()


def _before(letters: str = "", long: str = "") -> Before:
    return Before(letters, frozenset(long.split()))


VERBED: Mapping[str, Before] = {
    "apk": _before("pX", "root repository"),
    "apt": _before("co", "option config-file"),
    "apt-get": _before("co", "option config-file"),
    "aws": _before("", "profile region output endpoint-url"),
    "az": _before(),
    "brew": _before(),
    "bun": _before("", "cwd config"),
    "bundle": _before(),
    "cargo": _before("ZC", "config color manifest-path"),
    "composer": _before("d", "working-dir"),
    "conda": _before(),
    "counterfoil": _before(),
    "deno": _before(),
    "dnf": _before("cy", "config"),
    "docker": _before("cHl", "config context host log-level"),
    "docker-compose": _before("fp", "file project-name"),
    "gcloud": _before("", "project account configuration"),
    "gem": _before(),
    "gh": _before("R", "repo"),
    "git": _before("Cc", "git-dir work-tree namespace exec-path config-env super-prefix"),
    "go": _before("C"),
    "gradle": _before("bp"),
    "helm": _before("n", "namespace kube-context kubeconfig"),
    "ip": _before("", "family"),
    "just": _before("fd", "justfile working-directory"),
    "kubectl": _before("ns", "namespace context cluster kubeconfig server user"),
    "launchctl": _before(),
    "mvn": _before("f", "file"),
    "npm": _before("C", "prefix workspace"),
    "pacman": _before(),
    "pip": _before("", "python log proxy"),
    "pip3": _before("", "python log proxy"),
    "pipx": _before(),
    "pnpm": _before("C", "dir filter"),
    "podman": _before("", "connection url"),
    "poetry": _before("C", "directory project"),
    "port": _before(),
    "rustup": _before(),
    "snap": _before(),
    "svn": _before(),
    "hg": _before("R", "repository cwd config"),
    "systemctl": _before("HMnopst", "host machine property type state"),
    "terraform": _before(),
    "twine": _before(),
    "uv": _before("", "directory project config-file"),
    "yarn": _before("", "cwd"),
    "yum": _before("c", "config"),
    "zypper": _before(),
}
"""Every program with verbs, and the options that may stand before one."""


class Verb(NamedTuple):
    """A verb, and the words before and behind it."""

    name: str
    before: tuple[Word, ...]
    behind: tuple[Word, ...]


def verb_of(program: str, words: tuple[Word, ...]) -> Verb | None:
    """Return the verb in `words`, which stand behind `program`; `None` where there is none.

    A verb that is known only when it runs is none.
    """
    options = VERBED.get(program)
    if options is None:
        return None
    place = 0
    while place < len(words) and words[place].text.startswith(("-", "+")):
        place += 2 if _takes_value(words[place].text, options) else 1
    if place >= len(words) or any(word.expands for word in words[: place + 1]):
        return None
    return Verb(words[place].text, words[:place], words[place + 1 :])


def _takes_value(text: str, options: Before) -> bool:
    if text.startswith("--"):
        return text[2:] in options.long
    return text[-1:] in options.letters and len(text) > 1
