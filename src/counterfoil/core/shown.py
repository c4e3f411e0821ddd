"""What the record shows of files: which lines, how long a file is, and what changed it.

A `FileSeen` is one observation, from a tool's own fields or from a command and its
output. `FilesShown` weighs a cited place against all observations before it: every
path that the written one can mean is a candidate, there is no nearest one, and a
place is contradicted only where the whole file is known and shorter (references.md 3).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from counterfoil.core.intervals import Intervals

How = Literal["read", "written", "printed", "grepped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSeen:
    """Lines `first` to `last` of `path` were shown; 0 and 0 when only the name was.

    `total` is the number of lines of the whole file where that is known. `grown` is by
    how many lines an edit changed it at `first`; an edit of unknown size is `None`
    with `how` "written" and no lines.
    """

    path: str
    how: How
    first: int = 0
    last: int = 0
    total: int | None = None
    grown: int | None = None


_NONE = Intervals()


@dataclass(slots=True)
class _File:
    """What is known of one file: the lines shown in each way, and how long it is."""

    lines: dict[How, Intervals] = field(default_factory=dict[How, Intervals])
    places: dict[How, object] = field(default_factory=dict[How, object])
    all_lines: Intervals = field(default_factory=Intervals)
    total: int | None = None
    age: int = 0
    order: int = 0
    latest: How = "read"

    def show(self, how: How, first: int, last: int) -> None:
        self.lines.setdefault(how, Intervals()).add(first, last)
        self.all_lines.add(first, last)

    def shown_by(self, first: int, last: int) -> How | None:
        """Return the way in which the lines were shown, `None` where some were not."""
        if not _covers(self.all_lines, first, last):
            return None
        ways: tuple[How, ...] = (self.latest, *self.lines)
        for how in ways:
            if _covers(self.lines.get(how, _NONE), first, last):
                return how
        return self.latest


@dataclass(frozen=True, slots=True)
class FileCandidate:
    """A path that a cited one can mean: what is known of it, and the place that says so."""

    path: str
    shows: bool
    total: int | None
    how: How
    place: object


class FilesShown:
    """Every file that one record shows, up to now.

    `base` is the directory in which the agent worked: a path below it is one file
    whether it is written from there or from the root.
    """

    def __init__(self) -> None:
        """Begin with no file."""
        self.base = ""
        self._files: dict[str, _File] = {}
        self._by_name: dict[str, list[str]] = {}
        self._age = 0
        self._count = 0

    def add(self, seen: FileSeen, place: object) -> None:
        """Take in `seen`, which the record shows at `place`."""
        path = self._path(seen.path)
        found = self._files.get(path)
        if found is None:
            found = self._files[path] = _File()
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)
        if seen.grown is not None:
            _shift(found, seen.first, seen.grown)
        elif seen.how == "written" and not seen.last:
            found.total = None
        if seen.total is not None:
            found.total, found.age = seen.total, self._age
        if seen.last:
            found.show(seen.how, seen.first, seen.last)
        found.latest = seen.how
        self._count += 1
        found.order = self._count
        found.places[seen.how] = place

    def may_change(self) -> None:
        """Forget how long files are: something ran that may have written any of them."""
        self._age += 1

    def candidates(self, path: str, first: int, last: int) -> tuple[FileCandidate, ...]:
        """Return every file that `path` can mean, with whether it shows those lines.

        Files come in the order in which they were met last, the latest first.
        """
        wanted = self._path(path)
        name = wanted.rpartition("/")[2]
        names = [known for known in self._by_name.get(name, ()) if may_mean(wanted, known)]
        names.sort(key=lambda known: -self._files[known].order)
        return tuple(self._candidate(known, first, last) for known in names)

    def _path(self, path: str) -> str:
        normal = normal_path(path)
        return normal.removeprefix(f"{self.base}/") if self.base else normal

    def _candidate(self, path: str, first: int, last: int) -> FileCandidate:
        found = self._files[path]
        how = found.shown_by(first, last)
        return FileCandidate(
            path=path,
            shows=how is not None,
            total=self._known_total(found),
            how=how or found.latest,
            place=found.places.get(how or found.latest),
        )

    def _known_total(self, found: _File) -> int | None:
        """How long a file is counts only where all of it was shown and nothing ran since."""
        total = found.total
        if total is None or found.age != self._age or not _covers(found.all_lines, 1, total):
            return None
        return total


def _shift(found: _File, at: int, grown: int) -> None:
    """Move what stands behind an edit, so that what was shown is still shown."""
    if found.total is not None:
        found.total += grown
    if grown <= 0:
        return
    for how, lines in found.lines.items():
        for low, high in [(low, high + grown) for low, high in lines if high >= at]:
            found.show(how, low, high)


def _covers(lines: Intervals, first: int, last: int) -> bool:
    """Say whether `lines` holds all from `first` to `last`."""
    return next(lines.gaps(first, last), None) is None


def normal_path(path: str) -> str:
    """Return `path` with forward slashes and without `./` parts."""
    parts = path.replace("\\", "/").split("/")
    kept = [part for place, part in enumerate(parts) if part != "." and (part or not place)]
    return "/".join(kept)


def may_mean(wanted: str, known: str) -> bool:
    """Say whether one path ends with the other, whole names compared."""
    left, right = wanted.lstrip("~").lstrip("/"), known.lstrip("/")
    return left == right or left.endswith(f"/{right}") or right.endswith(f"/{left}")


# --- commands -----------------------------------------------------------------

_SED = re.compile(r"(\d{1,7})(?:,(\d{1,7}))?p;?\Z")
_GREPPED = re.compile(r"^(\d{1,7})[:-]", re.MULTILINE)
_READERS = frozenset(
    [
        "awk",
        "basename",
        "cat",
        "cd",
        "column",
        "comm",
        "cut",
        "date",
        "df",
        "diff",
        "dirname",
        "du",
        "echo",
        "env",
        "fd",
        "file",
        "find",
        "grep",
        "egrep",
        "head",
        "hexdump",
        "id",
        "jq",
        "less",
        "ls",
        "md5sum",
        "more",
        "nl",
        "od",
        "printenv",
        "printf",
        "ps",
        "pwd",
        "readlink",
        "realpath",
        "rg",
        "sed",
        "sha256sum",
        "sleep",
        "sort",
        "stat",
        "tail",
        "test",
        "tr",
        "tree",
        "true",
        "type",
        "uname",
        "uniq",
        "wc",
        "which",
        "whoami",
        "xxd",
        "yq",
        "pytest",
        "tox",
        "nox",
        "mypy",
        "pyright",
        "basedpyright",
        "ctest",
        "jest",
        "vitest",
        "mocha",
        "tsc",
    ]
)
_READING_VERBS = {
    "git": frozenset(
        [
            "blame",
            "branch",
            "cat-file",
            "describe",
            "diff",
            "fetch",
            "grep",
            "log",
            "ls-files",
            "ls-tree",
            "remote",
            "reflog",
            "rev-list",
            "rev-parse",
            "shortlog",
            "show",
            "status",
            "tag",
            "add",
            "commit",
            "push",
        ]
    ),
    "go": frozenset({"build", "env", "list", "test", "vet", "version"}),
    "cargo": frozenset({"bench", "build", "check", "clippy", "test", "tree"}),
    "npm": frozenset({"test", "t", "ls", "view", "outdated"}),
    "make": frozenset({"test", "check", "lint"}),
    "uv": frozenset({"tree"}),
}
_WRITES = re.compile(
    r"(?:\A|\s)(?:-i\S*|--in-place\S*|--fix\S*|--write|--update\S*|-delete|-exec\S*|--inline-snapshot\S*|--snapshot-update)(?=\s|\Z)|--fix\b"
)
_OPERATORS = frozenset({"&&", "||", ";", "|", "&", "|&", ";;", "(", ")", "\n"})
_WRAPPERS = frozenset({"uv", "poetry", "npx", "pnpm", "yarn", "time", "env", "command"})
_SET = re.compile(r"[A-Za-z_]\w*=")
_TOKEN = re.compile(
    r"""((?:[^\s"'\\;|&()<>]|\\.|'[^']*+'|"(?:[^"\\]|\\.)*+")++)|&&|\|\||\|&|;;|&?>>?[&|]?|<<?<?|[;|&()\n]""",
    re.DOTALL,
)
_QUOTES = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)""", re.DOTALL)


def may_write(command: str) -> bool:
    """Say whether `command` may have changed files: all but what is known to read.

    Where in doubt it may: then nothing is contradicted by what was read before.
    """
    tokens = _tokens(command)
    if tokens is None or "`" in command or "$(" in command or _WRITES.search(command):
        return True
    return any(_simple_may_write(words) for words in _simple_commands(tokens))


def _tokens(command: str) -> list[str] | None:
    """Return the words and operators of `command`, or `None` where a quote stays open.

    Enough of the shell's grammar to tell simple commands apart; what it does not
    understand (here documents, expansions) is never read as evidence.
    """
    tokens: list[str] = []
    place = 0
    for match in _TOKEN.finditer(command):
        if command[place : match.start()].strip(" \t\r"):
            return None
        place = match.end()
        tokens.append(_unquoted(match.group()) if match[1] else match.group())
    return None if command[place:].strip(" \t\r") else tokens


def _unquoted(word: str) -> str:
    if not ("'" in word or '"' in word or "\\" in word):
        return word
    return _QUOTES.sub(lambda match: match[1] or match[2] or match[3] or "", word)


def _simple_commands(tokens: Iterable[str]) -> Iterator[list[str]]:
    words: list[str] = []
    for token in tokens:
        if token in _OPERATORS or not token.strip("\n"):
            if words:
                yield words
            words = []
        else:
            words.append(token)
    if words:
        yield words


def _simple_may_write(words: list[str]) -> bool:
    start = next((n for n, word in enumerate(words) if not _SET.match(word)), len(words))
    if _redirects(words[start:]):
        return True
    while start + 1 < len(words) and words[start] in _WRAPPERS:
        start += 1 + (words[start + 1] in {"run", "exec"})
    rest = words[start:]
    if not rest:
        return False
    program = rest[0].rpartition("/")[2]
    if program in {"python", "python3"}:
        return rest[1:2] != ["-m"] or rest[2:3] not in (["pytest"], ["unittest"], ["mypy"])
    verb = next((word for word in rest[1:] if not word.startswith("-")), "")
    return program not in _READERS and verb not in _READING_VERBS.get(program, frozenset())


def _redirects(words: list[str]) -> bool:
    """Say whether output goes to a file other than the null device or another stream."""
    targets = [
        (word, words[place + 1] if place + 1 < len(words) else "")
        for place, word in enumerate(words)
        if ">" in word and not word.strip("&>|")
    ]
    return any(
        target != "/dev/null" and not (sign.endswith("&") and target.isdigit())
        for sign, target in targets
    )


def seen_by_command(command: str, output: str, *, is_whole: bool) -> tuple[FileSeen, ...]:
    """Return what `command` and its `output` show of files.

    Only commands whose output can be told apart are read: `cat`, `nl`, `sed -n`, `head`,
    one behind another by pipes, and `grep -n` in one file. `is_whole` says that nothing
    of the output was cut and that the command did not fail.
    """
    tokens = _tokens(command)
    if tokens is None or any(token in {"||", "&", "(", ")"} or "<" in token for token in tokens):
        return ()
    simple = [words for words in _simple_commands(tokens) if words[0] not in {"cd", "pwd", "true"}]
    if not simple or any(_redirects_any(words) for words in simple):
        return ()
    if len(simple) > 1 and "|" not in tokens:
        return _several(simple, output)
    return _one(simple, output, is_whole=is_whole)


def _redirects_any(words: list[str]) -> bool:
    return any(">" in word for word in words)


def _one(simple: list[list[str]], output: str, *, is_whole: bool) -> tuple[FileSeen, ...]:
    grepped = _grep_file(simple[0]) if len(simple) == 1 else None
    if grepped is not None:
        return tuple(
            FileSeen(path=grepped, how="grepped", first=int(number), last=int(number))
            for number in _GREPPED.findall(output)
        )
    window = _window(simple)
    if window is None:
        return ()
    path, first, last = window
    count = _line_count(output)
    if not count:
        return ()
    end = first + count - 1 if last is None else min(last, first + count - 1)
    is_end_known = is_whole and (last is None or end < last)
    return (
        FileSeen(
            path=path, how="printed", first=first, last=end, total=end if is_end_known else None
        ),
    )


def _several(simple: list[list[str]], output: str) -> tuple[FileSeen, ...]:
    """Windows one behind another are told apart when all of their lines are there."""
    seen: list[FileSeen] = []
    wanted = 0
    for words in simple:
        window = _window([words])
        if window is None or window[2] is None:
            return ()
        path, first, last = window[0], window[1], window[2]
        wanted += last - first + 1
        seen.append(FileSeen(path=path, how="printed", first=first, last=last))
    return tuple(seen) if _line_count(output) == wanted else ()


def _line_count(output: str) -> int:
    return output.count("\n") + (not output.endswith("\n") and bool(output))


def _window(pipeline: list[list[str]]) -> tuple[str, int, int | None] | None:
    """Return the file and the lines that a pipeline prints; `None` for the last: all."""
    path, first, last = _source(pipeline[0])
    if path is None:
        return None
    for words in pipeline[1:]:
        cut = _cut(words)
        if cut is None or first != 1:
            return None
        low, high = cut
        first, last = low, high if last is None else min(high, last)
    return path, first, last


def _source(words: list[str]) -> tuple[str | None, int, int | None]:
    """Read the first command of a pipeline: its one file and the lines it prints."""
    program = words[0].rpartition("/")[2]
    files = [word for word in words[1:] if not word.startswith("-")]
    if program in {"cat", "nl"}:
        return (files[0] if len(files) == 1 else None), 1, None
    cut = _cut(words[:-1]) if len(words) > 1 else None
    if cut is None or words[-1].startswith("-") or _SED.match(words[-1]):
        return None, 1, None
    return words[-1], *cut


def _cut(words: list[str]) -> tuple[int, int] | None:
    """Read `sed -n 'A,Bp'` and `head -n N` without their file."""
    program = words[0].rpartition("/")[2]
    options = words[1:]
    if program == "sed" and len(options) == 2 and options[0] == "-n":  # noqa: PLR2004 - flag and script
        script = _SED.match(options[1])
        if script is not None and int(script[1]):
            return int(script[1]), max(int(script[2] or script[1]), int(script[1]))
    if program == "head":
        count = "".join(options).removeprefix("-n").removeprefix("-") or "10"
        if count.isdecimal() and count.isascii() and int(count[:7]) > 0:
            return 1, int(count[:7])
    return None


def _grep_file(words: list[str]) -> str | None:
    """Return the one file of `grep -n PATTERN FILE`."""
    program = words[0].rpartition("/")[2]
    if program not in {"grep", "egrep", "rg"}:
        return None
    options = [word for word in words[1:] if word.startswith("-")]
    others = [word for word in words[1:] if not word.startswith("-")]
    short = "".join(option[1:] for option in options if not option.startswith("--"))
    has_numbers = "n" in short or "--line-number" in options
    if not has_numbers or set(short) & set("rRclLABCHem") or len(others) != 2:  # noqa: PLR2004 - pattern and file
        return None
    return others[1] if "." in others[1].rpartition("/")[2] else None
