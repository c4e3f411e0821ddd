"""What a call of git comes to, beyond what its verb alone says."""

from collections.abc import Callable, Mapping

from counterfoil.core.gate.scale import Level, highest
from counterfoil.core.gate.tables import VERBS
from counterfoil.core.gate.verbs import Verb

_LISTING: Mapping[str, frozenset[str]] = {
    "branch": frozenset({"-a", "-r", "-v", "-vv", "--list", "-l", "--show-current", "--all"}),
    "tag": frozenset({"-l", "--list", "-n"}),
    "remote": frozenset({"-v", "show", "get-url", "--verbose"}),
    "stash": frozenset({"list", "show"}),
    "worktree": frozenset({"list"}),
    "reflog": frozenset({"show"}),
    "notes": frozenset({"list", "show"}),
    "config": frozenset({"--get", "--get-all", "--list", "-l", "get", "list", "--get-regexp"}),
    "submodule": frozenset({"status", "summary"}),
    "bisect": frozenset({"log", "view"}),
}
"""Verbs that only list where nothing, or one of these words, stands first behind them."""

_DOES_ALONE = frozenset({"stash", "bisect", "config"})

_CODE = ("--open-files-in-pager", "--ext-diff", "--upload-pack", "--receive-pack", "--exec")
"""Options that name a program to run, as `-O` does."""

_RUNS = ("-c", "--exec-path", "--config-env")
"""Words before the verb that can make any verb run anything."""


def level_of_git(verb: Verb) -> Level:
    """Return the level of `git` with `verb`."""
    words = [word.text for word in verb.behind]
    if any(word.text.startswith(_RUNS) for word in verb.before):
        return "dangerous"
    if verb.name in _LISTING and (not words or words[0] in _LISTING[verb.name]):
        return "moderate" if not words and verb.name in _DOES_ALONE else "safe"
    special = _SPECIAL.get(verb.name)
    levels: list[Level] = [VERBS["git"].get(verb.name, "moderate")]
    if (special is not None and special(words)) or _has(words, "", *_CODE):
        levels.append("dangerous")
    if any(word.startswith("-O") for word in words):
        levels.append("dangerous")
    if _has(words, "", "--output"):
        levels.append("moderate")
    return highest(levels)


def _has(words: list[str], letters: str, *names: str) -> bool:
    """Say whether a letter stands in `words`, or a name, whole or shortened."""
    for word in words:
        if word == "--":
            return False
        if word.startswith("--"):
            name = word.partition("=")[0]
            if any(known.startswith(name) for known in names):
                return True
        elif word.startswith("-") and set(word[1:]) & set(letters):
            return True
    return False


def _push(words: list[str]) -> bool:
    """Say whether a push rewrites or removes what the other side has."""
    names = ("--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete")
    return _has(words, "fd", *names, "--prune") or any(word[:1] in {"+", ":"} for word in words)


def _checkout(words: list[str]) -> bool:
    """Say whether changes that nobody has committed go away."""
    return "--" in words or "." in words or _has(words, "fB", "--force", "--ours", "--theirs")


_SPECIAL: Mapping[str, Callable[[list[str]], bool]] = {
    "push": _push,
    "checkout": _checkout,
    "switch": lambda words: _has(words, "fC", "--force", "--discard-changes", "--force-create"),
    "reset": lambda words: _has(words, "", "--hard", "--merge", "--keep"),
    "branch": lambda words: _has(words, "DMCf", "--force"),
    "tag": lambda words: _has(words, "f", "--force"),
    "rm": lambda words: _has(words, "rf", "--force"),
    "stash": lambda words: words[:1] in (["drop"], ["clear"]),
    "reflog": lambda words: words[:1] in (["expire"], ["delete"]),
    "gc": lambda words: _has(words, "", "--prune", "--aggressive"),
    "rebase": lambda words: _has(words, "xi", "--interactive", "--root"),
    "remote": lambda words: words[:1] in (["prune"], ["remove"], ["rm"]),
    "worktree": lambda words: words[:1] in (["remove"], ["prune"]),
    "commit": lambda words: _has(words, "", "--amend"),
    "fetch": lambda words: any(word.startswith("+") for word in words),
}
"""Verbs that some words make dangerous."""
