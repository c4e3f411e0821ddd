"""A line as the rules see it: its parts, each without wrappers, and what they run in turn.

Beside the simple commands of the text there are those within `sh -c '...'`, `eval`,
`find -exec`, `trap` and the like: they are read again, in bounds. Where the parser
failed, the text is split roughly, so that what is denied can still be seen; such a line
is never whole.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from counterfoil.core.gate.commands import (
    NOTHING,
    Assignment,
    ParsedCommand,
    Pipe,
    Redirection,
    SimpleCommand,
    Span,
    Word,
    written,
)
from counterfoil.core.gate.scale import Level
from counterfoil.core.gate.wrappers import name_of, unwrap

Parse = Callable[[str], ParsedCommand]

DEEPEST = 8
"""Times that code is found within code; what is deeper makes the line not whole."""

MOST_TEXTS = 32
"""Codes within one line that are read; what is more makes the line not whole."""

MOST_PARTS = 2000
"""Parts of a line that are judged; a line of more is not whole."""

SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "rbash"})
"""Programs that run commands of a shell."""

Code = Literal["given", "unknown", "file", "none"]
"""Where a program takes code from: the text, a place the text does not show, a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One simple command without its wrappers.

    `runs` are the parts that it runs in its turn, `inner` those in its substitutions.
    `code` says whether it is told code, and where from. An opaque part runs what its
    text does not show.
    """

    words: tuple[Word, ...] = ()
    wrappers: tuple[str, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    text: str = ""
    inner: Span = NOTHING
    runs: Span = NOTHING
    floor: Level = "safe"
    code: Code = "none"
    is_fed: bool = False
    is_opaque: bool = False
    is_path: bool = False

    @property
    def program(self) -> str:
        """The name of the program, without its directory; empty where there is none."""
        return name_of(self.words)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words behind the program."""
        return tuple(word.text for word in self.words[1:])

    @property
    def written(self) -> str:
        """The words as one line, which patterns are held against."""
        return written(self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Everything that a command runs, as far as its text shows it."""

    text: str
    parts: tuple[Part, ...] = ()
    pipes: tuple[Pipe, ...] = ()
    has_background: bool = False
    functions: tuple[str, ...] = ()
    is_whole: bool = True
    fault: str | None = None

    def reaching(self, holds: Callable[[Part], bool]) -> Callable[[Span], bool]:
        """Return what says of a span whether `holds` is true of a part that it reaches.

        A part reaches what it runs and what stands in its substitutions, which have their
        places behind it: one pass from the end is enough.
        """
        behind = [0] * (len(self.parts) + 1)

        def reaches(span: Span) -> bool:
            return behind[span.first] > behind[span.last]

        for place in range(len(self.parts) - 1, -1, -1):
            part = self.parts[place]
            found = holds(part) or reaches(part.inner) or reaches(part.runs)
            behind[place] = behind[place + 1] + found
        return reaches


class _Found(NamedTuple):
    """What one part runs: texts to be read, and commands whose words are there."""

    code: Code
    texts: tuple[Word, ...] = ()
    commands: tuple[tuple[Word, ...], ...] = ()
    feeds: bool = False


def read_line(text: str, parse: Parse) -> Line:
    """Return what is run by `text`, which `parse` reads."""
    reader = _Reader(parse)
    parsed = parse(text)
    reader.take(parsed, 0)
    if not parsed.is_whole:
        reader.take(_rough(text), DEEPEST)
    return Line(
        text=text,
        parts=tuple(reader.parts),
        pipes=tuple(reader.pipes),
        has_background=reader.has_background,
        functions=tuple(reader.functions),
        is_whole=reader.fault is None,
        fault=reader.fault,
    )


@dataclass(slots=True)
class _Reader:
    """Gathers the parts of one line."""

    parse: Parse
    parts: list[Part] = field(default_factory=list[Part])
    pipes: list[Pipe] = field(default_factory=list[Pipe])
    functions: list[str] = field(default_factory=list[str])
    has_background: bool = False
    fault: str | None = None
    _texts: int = 0

    def take(self, parsed: ParsedCommand, depth: int) -> Span:
        """Add the commands of `parsed`, found at `depth`; return their places."""
        if not parsed.is_whole:
            self.fault = self.fault or parsed.fault or "it cannot be read"
        first = len(self.parts)
        if first + len(parsed.commands) > MOST_PARTS:
            self.fault = self.fault or f"it has more than {MOST_PARTS} commands"
            return Span(first, first)
        self.pipes.extend(pipe.moved(first) for pipe in parsed.pipes)
        self.functions.extend(parsed.functions)
        self.has_background = self.has_background or "&" in parsed.operators
        self.parts.extend(_part(command.moved(first)) for command in parsed.commands)
        span = Span(first, len(self.parts))
        for place in range(*span):
            self._follow(place, depth)
        return span

    def _follow(self, place: int, depth: int) -> None:
        """Read what the part at `place` runs."""
        part = self.parts[place]
        found = _found(part)
        first = len(self.parts)
        for word in found.texts:
            self._read(word, depth)
        for words in found.commands:
            self._take_words(words, depth, is_fed=found.feeds)
        self.parts[place] = replace(
            part,
            code=found.code,
            runs=Span(first, len(self.parts)),
            is_opaque=part.is_opaque or any(word.expands for word in found.texts),
        )

    def _read(self, word: Word, depth: int) -> None:
        if self._may_go(depth):
            self._texts += 1
            self.take(self.parse(word.text), depth + 1)

    def _take_words(self, words: tuple[Word, ...], depth: int, *, is_fed: bool) -> None:
        if self._may_go(depth):
            command = SimpleCommand(words=words, text=written(words))
            parsed = ParsedCommand(text=command.text, commands=(command,))
            for place in range(*self.take(parsed, depth + 1)):
                part = self.parts[place]
                self.parts[place] = replace(part, is_fed=part.is_fed or is_fed)

    def _may_go(self, depth: int) -> bool:
        if depth < DEEPEST and self._texts < MOST_TEXTS:
            return True
        self.fault = self.fault or "it holds too much code within code"
        return False


def _part(command: SimpleCommand) -> Part:
    bare = unwrap(command.words)
    assigned = tuple(Assignment(name, Word("", expands=True)) for name in bare.assigned)
    return Part(
        words=bare.words,
        wrappers=bare.names,
        assignments=command.assignments + assigned,
        redirections=command.redirections,
        text=command.text,
        inner=command.inner,
        floor=bare.floor,
        is_fed=bare.is_fed,
        is_opaque=bare.is_opaque or bool(bare.words and bare.words[0].expands),
        is_path=bool(bare.words) and "/" in bare.words[0].text,
    )


def _found(part: Part) -> _Found:
    program = part.program
    if program in SHELLS:
        return _in_shell(part)
    if program.startswith("python3."):
        program = "python3"
    find = _FINDS.get(program)
    return _NO_CODE if find is None else find(part)


_NO_CODE = _Found("none")


def _in_eval(part: Part) -> _Found:
    return _Found("given", (_joined(part.words[1:]),)) if part.arguments else _NO_CODE


def _in_trap(part: Part) -> _Found:
    is_set = len(part.arguments) > 1 and part.arguments[0] not in {"-", "", "-p", "-l"}
    return _Found("given", part.words[1:2]) if is_set else _NO_CODE


def _in_watch(part: Part) -> _Found:
    operands = _operands(part.words[1:], "n", {"interval"})
    return _Found("given", (_joined(operands),)) if operands else _NO_CODE


def _in_shell(part: Part) -> _Found:
    words = part.words[1:]
    operands = _operands(words, "oO", {"rcfile", "init-file"})
    options = words[: len(words) - len(operands)]
    if any(_has_letter(option.text, "c") for option in options):
        return _Found("given" if operands else "none", operands[:1])
    if operands and not any(_has_letter(option.text, "s") for option in options):
        is_file = operands[0].text not in {"-", "/dev/stdin"}
        return _Found("file") if is_file else _from_input(part.redirections)
    if any(option.text in {"--version", "--help"} for option in options):
        return _NO_CODE
    return _from_input(part.redirections)


def _from_input(redirections: tuple[Redirection, ...]) -> _Found:
    """Commands come from the input: they are known where a here document holds them."""
    bodies = [one.body for one in redirections if one.body is not None]
    return _Found("given", (bodies[-1],)) if bodies else _Found("unknown")


def _in_python(part: Part) -> _Found:
    """`python -m NAME` runs the program of that name."""
    words = part.words[1:]
    operands = _operands(words, "WX", {"check-hash-based-pycs"})
    options = words[: len(words) - len(operands)]
    if options and _has_letter(options[-1].text, "m") and operands:
        name = operands[0].text.partition(".")[0]
        return _Found("file", commands=((Word(name, operands[0].expands), *operands[1:]),))
    return _NO_CODE


def _in_find(part: Part) -> _Found:
    """`find` runs the words from `-exec` up to `;` or `+`, and more of them when it runs."""
    commands: list[tuple[Word, ...]] = []
    begun: int | None = None
    words = (*part.words[1:], Word(";"))
    for place, word in enumerate(words):
        if begun is None:
            begun = place + 1 if word.text in {"-exec", "-execdir", "-ok", "-okdir"} else None
        elif word.text in {";", "+"}:
            commands.append(words[begun:place])
            begun = None
    return _Found("none", commands=tuple(commands), feeds=True)


_FINDS: dict[str, Callable[[Part], _Found]] = {
    "eval": _in_eval,
    "trap": _in_trap,
    "watch": _in_watch,
    "find": _in_find,
    "python": _in_python,
    "python3": _in_python,
}
"""Programs that run other ones, and where those stand among their words."""


def _operands(
    words: tuple[Word, ...], valued: str, long: frozenset[str] | set[str]
) -> tuple[Word, ...]:
    """Return `words` from the first that is no option and no value of one."""
    place = 0
    while place < len(words):
        text = words[place].text
        if text == "--":
            return words[place + 1 :]
        if not text.startswith(("-", "+")) or text in {"-", "+"}:
            break
        takes = text[2:] in long if text.startswith("--") else text[-1] in valued
        place += 2 if takes else 1
    return words[place:]


def _has_letter(option: str, letter: str) -> bool:
    return not option.startswith("--") and letter in option[1:]


def _joined(words: tuple[Word, ...]) -> Word:
    return Word(" ".join(word.text for word in words), any(word.expands for word in words))


_BREAKS = re.compile(r"[\n;|&(){}`]+")
_REDIRECTS = re.compile(r"[<>]+&?[ \t]*[^ \t\n;|&<>(){}]*")
_QUOTES = str.maketrans("", "", "'\"\\")


def _rough(text: str) -> ParsedCommand:
    """Split a text that no shell reads as one: enough to see what is denied."""
    bare = _REDIRECTS.sub(" ; ", text)
    pieces = [piece.translate(_QUOTES).split() for piece in _BREAKS.split(bare)]
    commands = [
        SimpleCommand(words=tuple(map(Word, piece)), text=" ".join(piece))
        for piece in pieces
        if piece
    ]
    return ParsedCommand(text=text, commands=tuple(commands[:MOST_PARTS]))
