"""Places in files, commits, quotations and sources that a reply names (references.md 3).

Each grammar reads prose in one pass and keeps spans. Names inside URLs, fenced code
that the reply proposes and quoted lines are not references; a quotation is one only
where the reply presents it as output or as the text of a file.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias
from unicodedata import east_asian_width

from counterfoil.core.refs.prose import (
    Fence,
    Prose,
    is_within,
    lines_of,
    read_prose,
    sentence_before,
    spans_within,
)

SHORTEST_QUOTATION = 24
"""Characters below which a quoted stretch is a title, a word or a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Lines `first` to `last` of the file that is written as `path`."""

    span: tuple[int, int]
    path: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit, named by 7 to 40 hexadecimal digits."""

    span: tuple[int, int]
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """A stretch presented as output or file text: its pieces between elisions."""

    span: tuple[int, int]
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A URL that the reply presents as a source."""

    span: tuple[int, int]
    url: str


Literal: TypeAlias = Place | Commit | Quotation | Source


def find_literals(text: str) -> tuple[Literal, ...]:
    """Return every reference of the four kinds in `text`, in the order of their places."""
    prose = read_prose(text)
    found: list[Literal] = []
    if ":" in text or "#L" in text:
        found.extend(_places(text, prose))
    if _HEX.search(text):
        found.extend(_commits(text, prose))
    if prose.urls:
        found.extend(_sources(text, prose))
    found.extend(_quotations(text, prose))
    return tuple(sorted(found, key=_span))


def _span(literal: Literal) -> tuple[int, int]:
    return literal.span


# --- places -------------------------------------------------------------------

# The lines are found first and the path is read backwards from them: every character
# belongs to one path at the most, so the time stays linear.
_LINES = re.compile(
    r"(?::([1-9]\d{0,6})(?:[-–]([1-9]\d{0,6}))?|#L([1-9]\d{0,6})(?:[-–]L?([1-9]\d{0,6}))?)(?![\w%])",
    re.ASCII,
)
_PATH = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./\\~@+-"
_EXTENSIONS = frozenset(
    [
        "ada",
        "adb",
        "ads",
        "asm",
        "astro",
        "awk",
        "bash",
        "bat",
        "bazel",
        "bib",
        "bzl",
        "c",
        "cc",
        "cfg",
        "cjs",
        "clj",
        "cljs",
        "cls",
        "cmake",
        "cmd",
        "conf",
        "cpp",
        "cs",
        "csproj",
        "css",
        "csv",
        "cts",
        "cu",
        "cue",
        "cxx",
        "d",
        "dart",
        "diff",
        "dockerfile",
        "edn",
        "el",
        "elm",
        "env",
        "erl",
        "ex",
        "exs",
        "f90",
        "fish",
        "fs",
        "fsx",
        "gd",
        "gemspec",
        "gleam",
        "go",
        "gql",
        "gradle",
        "graphql",
        "groovy",
        "h",
        "haml",
        "hbs",
        "hcl",
        "hh",
        "hpp",
        "hrl",
        "hs",
        "htm",
        "html",
        "hxx",
        "idl",
        "in",
        "inc",
        "inl",
        "ini",
        "ipynb",
        "j2",
        "java",
        "jinja",
        "jl",
        "js",
        "json",
        "json5",
        "jsonc",
        "jsonl",
        "jsx",
        "kt",
        "kts",
        "lean",
        "less",
        "lhs",
        "liquid",
        "lisp",
        "lock",
        "log",
        "lua",
        "m",
        "m4",
        "mak",
        "mako",
        "markdown",
        "md",
        "mdx",
        "mjs",
        "mk",
        "ml",
        "mli",
        "mm",
        "mod",
        "move",
        "mts",
        "mustache",
        "nim",
        "nix",
        "nu",
        "org",
        "pas",
        "patch",
        "php",
        "pl",
        "plist",
        "pm",
        "po",
        "prisma",
        "proto",
        "ps1",
        "pug",
        "py",
        "pyi",
        "pyx",
        "qml",
        "r",
        "rake",
        "rb",
        "rego",
        "rkt",
        "rmd",
        "robot",
        "ron",
        "rs",
        "rst",
        "rules",
        "sass",
        "sbt",
        "scala",
        "scm",
        "scss",
        "sh",
        "sln",
        "sol",
        "sql",
        "star",
        "sty",
        "sum",
        "svelte",
        "svg",
        "sv",
        "swift",
        "tcl",
        "tex",
        "tf",
        "tfvars",
        "thrift",
        "toml",
        "ts",
        "tsv",
        "tsx",
        "txt",
        "v",
        "vb",
        "vert",
        "vhd",
        "vhdl",
        "vim",
        "vue",
        "wat",
        "wgsl",
        "xml",
        "xsd",
        "xsl",
        "yaml",
        "yml",
        "zig",
        "zsh",
    ]
)
_NAMES = frozenset(
    [
        "makefile",
        "dockerfile",
        "justfile",
        "rakefile",
        "gemfile",
        "procfile",
        "vagrantfile",
        "jenkinsfile",
        "containerfile",
        "cmakelists.txt",
        "build",
        "workspace",
        "license",
        "readme",
        "changelog",
        "codeowners",
    ]
)


def _places(text: str, prose: Prose) -> Iterator[Place]:
    for start, end in prose.spoken:
        done = start
        for match in _LINES.finditer(text, start, end):
            path_start = _path_start(text, done, match.start())
            done = match.end()
            path = text[path_start : match.start()]
            if not path or not _is_file(path) or is_within(prose.urls, path_start):
                continue
            first = int(match[1] or match[3])
            last = int(match[2] or match[4] or first)
            span = (path_start, match.end())
            yield Place(span=span, path=path, first=min(first, last), last=max(first, last))


def _path_start(text: str, done: int, end: int) -> int:
    """Return where the path begins that ends at `end`; what is before `done` is another's."""
    start = done + len(text[done:end].rstrip(_PATH))
    while start > done and _in_path(text[start - 1]):  # a letter that is not ASCII
        start -= 1
    return start if text[start:end].isascii() else _without_prose(text, start, end)


def _in_path(character: str) -> bool:
    return character in _PATH or (not character.isascii() and character.isalnum())


def _without_prose(text: str, start: int, end: int) -> int:
    """Leave out letters of a script without spaces that run into a path: `在src/a.py`."""
    at = start
    while at < end and _runs_on(text[at]):
        at += 1
    return at if at < end and text[at].isalnum() else start


def _runs_on(letter: str) -> bool:
    """Say whether `letter` is of a script whose words have no spaces between them."""
    return "\u0e00" <= letter < "\u1100" or east_asian_width(letter) in {"W", "F"}


def _is_file(path: str) -> bool:
    """Say whether `path` looks like a file's: a host, a package or a ratio does not."""
    name = path.replace("\\", "/").rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    if not dot:
        return name.lower() in _NAMES
    if name == path and (extension.lower() == "org" or path.lower().startswith("www.")):
        return False
    return extension.lower() in _EXTENSIONS and (bool(stem) or extension.isalpha())


# --- commits ------------------------------------------------------------------

_HEX = re.compile(r"[0-9a-f]{7,}")
_LONGEST_NAME = 40
_NOT_BESIDE = frozenset("-/#:=@$%_")
_COMMIT_CUE = re.compile(
    r"\b(?:commit\w*|push(?:ed|es)?|merged?|HEAD|sha|hash|revert(?:ed|s)?|landed|rebased?"
    r"|cherry-picked|squashed|amended|(?:done|fixed|added|changed|introduced"
    r"|implemented) (?:in|by|at))\b",
    re.IGNORECASE | re.ASCII,
)


def _commits(text: str, prose: Prose) -> Iterator[Commit]:
    for start, end in prose.spoken:
        for match in _HEX.finditer(text, start, end):
            name = match.group()
            if len(name) > _LONGEST_NAME or name.isdigit() or name.isalpha():
                continue
            if not _stands_alone(text, *match.span()) or is_within(prose.urls, match.start()):
                continue
            if _COMMIT_CUE.search(sentence_before(text, match.start())):
                yield Commit(span=match.span(), name=name)


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 2]
    if before and (before in _NOT_BESIDE or before.isalnum()):
        return False
    first, second = after[:1], after[1:]
    if first in {"-", "."}:
        return not second.isalnum()
    return not (first and (first in "_/" or first.isalnum()))


# --- sources ------------------------------------------------------------------

_SOURCE_CUE = re.compile(
    r"\b(?:sources?|references?|according to|as (?:described|documented|stated) (?:in|at|on)"
    r"|(?:docs?|documentation|page|article|announcement) (?:at|on)|per|cited?|quoted? from"
    r"|I (?:read|fetched|opened|checked))\b",
    re.IGNORECASE,
)
_REACH = 200
_HEADING_CUE = re.compile(r"[#*\s]*(?:sources?|references?)\b[*:\s]*\Z", re.IGNORECASE)
_LOCAL = re.compile(
    r"\w+://(?:[^/@]*@)?(?:localhost|127\.|0\.0\.0\.0|\[::1\]|10\.|192\.168\.)", re.IGNORECASE
)


def _sources(text: str, prose: Prose) -> Iterator[Source]:
    """Yield the URLs that stand behind a cue, or in a list under a heading of sources."""
    for stretch in prose.spoken:
        is_listed = False
        for start, end in lines_of(text, *stretch):
            line = text[start:end].strip()
            if line and "://" not in line and not line.startswith(("-", "*", "+", "[")):
                is_listed = _HEADING_CUE.match(line) is not None
            elif "://" in line:
                yield from _sources_in(text, prose, (start, end), is_listed=is_listed)


def _sources_in(
    text: str, prose: Prose, line: tuple[int, int], *, is_listed: bool
) -> Iterator[Source]:
    cues = () if is_listed else tuple(cue.end() for cue in _SOURCE_CUE.finditer(text, *line))
    for span in spans_within(prose.urls, *line):
        url = text[slice(*span)]
        if not url.startswith("http") or _LOCAL.match(url):
            continue
        nearest = bisect_right(cues, span[0]) - 1
        if is_listed or (nearest >= 0 and span[0] - cues[nearest] < _REACH):
            yield Source(span=span, url=url)


# --- quotations ---------------------------------------------------------------

_QUOTES = (('"', '"'), ("“", "”"), ("‘", "’"), ("`", "`"))
_LONGEST_QUOTATION = 2000
_SAID = re.compile(
    r"\b(?:sa(?:id|ys)|reads?|prints?|printed|output(?:s|ted)?|report(?:s|ed)|log(?:s|ged)|"
    r"show(?:s|ed)|fail(?:s|ed) with|error(?: message| text)?(?: is| was)?|answered|displays?|"
    r"displayed|contains?|contained|emits?|emitted|states?|stated|quotes?|quoting)\b",
    re.IGNORECASE,
)
_SHOWN = re.compile(
    r"\b(?:output|printed|prints|says|said|reads|shows|showed|shown|log|logs|traceback|"
    r"error|errors|contains|contents?|reported|reports|returned|result|results)\b",
    re.IGNORECASE,
)
_NOT_SHOWN = re.compile(
    r"\b(?:will|would|should|could|might|may|can|expect\w*|example|e\.g|for instance|like|"
    r"such as|if|when|instead|change\w*|replace\w*|add|use|usage|try|suggest\w*|propos\w*|"
    r"want\w*|something|format|template|schema|now)\b",
    re.IGNORECASE,
)
_ELISION = re.compile(r"\[?(?:\.\.\.|…)\]?")


def _quotations(text: str, prose: Prose) -> Iterator[Quotation]:
    for opener, closer in _QUOTES:
        if opener in text:
            for stretch in prose.spoken:
                yield from _quoted(text, prose, stretch, opener, closer)
    for fence in prose.fences:
        if _presents(text, fence):
            yield from _quotation(fence.span, text[slice(*fence.content)])


def _quoted(
    text: str, prose: Prose, stretch: tuple[int, int], opener: str, closer: str
) -> Iterator[Quotation]:
    """Yield what stands between two quotes of one line and is presented as said or shown."""
    start, end = stretch
    start, stop = text.find(opener, start, end), -1
    while start >= 0:
        if stop < start:  # the end of the line, looked for once a line
            stop = text.find("\n", start, end)
            stop = end if stop < 0 else stop
        close = text.find(closer, start + 1, stop)
        if close < 0:
            start = text.find(opener, stop, end)
            continue
        is_long = SHORTEST_QUOTATION < close - start < _LONGEST_QUOTATION
        if is_long and not is_within(prose.urls, start):
            said = sentence_before(text, start)
            if _SAID.search(said) and not _NOT_SHOWN.search(said):
                yield from _quotation((start, close + 1), text[start + 1 : close])
        start = text.find(opener, close + 1, end)


def _presents(text: str, fence: Fence) -> bool:
    """Say whether the line before a fence presents it as output or as a file's text."""
    lead = text[slice(*fence.lead)].strip()
    return (
        lead.endswith(":")
        and fence.info.lower() not in {"diff", "patch", "mermaid"}
        and _SHOWN.search(lead) is not None
        and _NOT_SHOWN.search(lead) is None
    )


def _quotation(span: tuple[int, int], content: str) -> Iterator[Quotation]:
    pieces = [piece.strip() for piece in _ELISION.split(content)]
    kept = tuple(piece for piece in pieces if len(piece) >= SHORTEST_QUOTATION)
    if kept:
        yield Quotation(span=span, pieces=kept)
