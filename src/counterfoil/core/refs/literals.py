"""Places in files, commits, quotations and sources that a reply names (references.md 3).

Each grammar reads prose in one pass and keeps spans. Names inside URLs, fenced code
that the reply proposes and quoted lines are not references; a quotation is one only
where the reply presents it as output or as the text of a file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from counterfoil.core.refs.prose import Fence, Prose, is_within, read_prose, sentence_before

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
    found: list[Literal] = [
        *_places(text, prose),
        *_commits(text, prose),
        *_sources(text, prose),
        *_quotations(text, prose),
    ]
    return tuple(sorted(found, key=lambda literal: literal.span))


# --- places -------------------------------------------------------------------

_PLACE = re.compile(
    r"(?<![\w./\\~@+\-])"
    r"([\w./\\~@+\-]++)"
    r"(?::([1-9]\d{0,6})(?:[-–]([1-9]\d{0,6}))?|#L([1-9]\d{0,6})(?:[-–]L?([1-9]\d{0,6}))?)"
    r"(?![\w%])",
    re.ASCII,
)
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
    for start, end in prose.lines:
        for match in _PLACE.finditer(text, start, end):
            path = match[1]
            if is_within(prose.urls, match.start()) or not _is_file(path):
                continue
            first = int(match[2] or match[4])
            last = int(match[3] or match[5] or first)
            yield Place(span=match.span(), path=path, first=min(first, last), last=max(first, last))


def _is_file(path: str) -> bool:
    """Say whether `path` looks like a file's: a host, a package or a ratio does not."""
    name = path.replace("\\", "/").rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    if not dot:
        return name.lower() in _NAMES
    return extension.lower() in _EXTENSIONS and (bool(stem) or extension.isalpha())


# --- commits ------------------------------------------------------------------

_HEX = re.compile(r"(?<![\w\-/#:=@$%])([0-9a-f]{7,40})(?![\w/]|-\w|\.\w)", re.ASCII)
_COMMIT_CUE = re.compile(
    r"\b(?:commit\w*|push(?:ed|es)?|merged?|HEAD|sha|hash|revert(?:ed|s)?|landed|rebased?"
    r"|cherry-picked|squashed|amended|(?:done|fixed|added|changed|introduced"
    r"|implemented) (?:in|by|at))\b",
    re.IGNORECASE | re.ASCII,
)


def _commits(text: str, prose: Prose) -> Iterator[Commit]:
    for start, end in prose.lines:
        for match in _HEX.finditer(text, start, end):
            name = match[1]
            if name.isdigit() or name.isalpha() or is_within(prose.urls, match.start()):
                continue
            if _COMMIT_CUE.search(sentence_before(text, match.start())):
                yield Commit(span=match.span(), name=name)


# --- sources ------------------------------------------------------------------

_SOURCE_CUE = re.compile(
    r"\b(?:sources?|references?|according to|as (?:described|documented|stated) (?:in|at|on)"
    r"|(?:docs?|documentation|page|article|announcement) (?:at|on)|per|cited?|quoted? from"
    r"|I (?:read|fetched|opened|checked))\b",
    re.IGNORECASE,
)
_HEADING_CUE = re.compile(r"[#*\s]*(?:sources?|references?)\b[*:\s]*\Z", re.IGNORECASE)
_LOCAL = re.compile(
    r"\w+://(?:[^/@]*@)?(?:localhost|127\.|0\.0\.0\.0|\[::1\]|10\.|192\.168\.)", re.IGNORECASE
)


def _sources(text: str, prose: Prose) -> Iterator[Source]:
    """Yield the URLs that stand behind a cue, or in a list under a heading of sources."""
    is_listed = False
    place = 0
    for start, end in prose.lines:
        line = text[start:end]
        if (
            line.strip()
            and not line.lstrip().startswith(("-", "*", "+", "["))
            and "://" not in line
        ):
            is_listed = _HEADING_CUE.match(line.strip()) is not None
        while place < len(prose.urls) and prose.urls[place][0] < end:
            span = prose.urls[place]
            place += 1
            url = text[slice(*span)]
            if span[0] < start or not url.startswith("http") or _LOCAL.match(url):
                continue
            if is_listed or _SOURCE_CUE.search(text[max(start, span[0] - 200) : span[0]]):
                yield Source(span=span, url=url)


# --- quotations ---------------------------------------------------------------

_QUOTED = re.compile(
    r"\"([^\"\n]{24,2000}?)\"|“([^“”\n]{24,2000}?)”|‘([^‘\n]{24,2000}?)’(?!\w)|(?<!`)`([^`\n]{24,2000}?)`(?!`)"
)
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
    r"such as|if|when|instead|change\w*|replace\w*|add|use|usage|run|try|suggest\w*|propos\w*|"
    r"want\w*|something|format|template|schema|now)\b",
    re.IGNORECASE,
)
_ELISION = re.compile(r"\s*(?:\[?(?:\.\.\.|…)\]?)\s*")


def _quotations(text: str, prose: Prose) -> Iterator[Quotation]:
    for start, end in prose.lines:
        for match in _QUOTED.finditer(text, start, end):
            if is_within(prose.urls, match.start()):
                continue
            said = sentence_before(text, match.start())
            if _SAID.search(said) and not _NOT_SHOWN.search(said):
                yield from _quotation(match.span(), match[match.lastindex or 1])
    for fence in prose.fences:
        if _presents(text, fence):
            yield from _quotation(fence.span, text[slice(*fence.content)])


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
