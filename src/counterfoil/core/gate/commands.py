"""A command as a shell parser reads it: simple commands, and what stands between them.

A `ParsedCommand` holds every simple command of a text in the order in which they are
written, those within substitutions, subshells, loops and functions too. Nothing here
knows a program: what a command does is told elsewhere, from these values.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Word:
    """A word after quotes were taken off.

    A word that `expands` is another one when it runs: it holds a variable, a
    substitution or a pattern, which stand in `text` as they were written.
    """

    text: str
    expands: bool = False


class Span(NamedTuple):
    """Simple commands by their places: from `first` up to, and without, `last`."""

    first: int
    last: int

    def moved(self, by: int) -> "Span":
        """Return the span of the same commands when `by` others stand before them."""
        return Span(self.first + by, self.last + by)


NOTHING = Span(0, 0)


class Pipe(NamedTuple):
    """What the commands of `left` write, those of `right` read."""

    left: Span
    right: Span

    def moved(self, by: int) -> "Pipe":
        """Return the pipe when `by` other commands stand before it."""
        return Pipe(self.left.moved(by), self.right.moved(by))


@dataclass(frozen=True, slots=True)
class Assignment:
    """A variable that is set, for one command or from there on."""

    name: str
    value: Word


@dataclass(frozen=True, slots=True)
class Redirection:
    """A stream that goes elsewhere; `body` is what a here document or string holds."""

    operator: str
    target: Word
    descriptor: str = ""
    body: Word | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleCommand:
    """A program with its words, its assignments and its redirections.

    `inner` are the commands in its substitutions, which stand right behind it. `within`
    says what it is part of, the outermost first. A command without words sets variables,
    or redirects a whole group.
    """

    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    text: str = ""
    within: tuple[str, ...] = ()
    inner: Span = NOTHING

    def moved(self, by: int) -> "SimpleCommand":
        """Return the command when `by` others stand before it."""
        return replace(self, inner=self.inner.moved(by))


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedCommand:
    """All that a parser found in `text`.

    Unless it `is_whole`, the shell can read something else in it, and `fault` says why.
    """

    text: str
    commands: tuple[SimpleCommand, ...] = ()
    pipes: tuple[Pipe, ...] = ()
    operators: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    is_whole: bool = True
    fault: str | None = None


_PLAIN = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,@%+~$*?[]{}^"
)


def written(words: tuple[Word, ...]) -> str:
    """Return `words` as one line, a space between any two: what patterns are held against.

    A word that is not plain stands in quotes, so that no word can pass for two.

    >>> written((Word("echo"), Word("rm -rf /")))
    "echo 'rm -rf /'"
    """
    return " ".join(_written(word.text) for word in words)


def _written(text: str) -> str:
    if text and _PLAIN.issuperset(text):
        return text
    return "'" + text.replace("'", "'\\''") + "'"
