"""What a line is searched for: a text, or a regular expression that cannot hang.

Expressions come from a model and may be hostile. They run in RE2, whose time grows with
the length of the line alone, and never in Python's own engine; where RE2 is missing, only
texts are searched for.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Protocol, cast

from counterfoil.adapters.tools.answers import UnusableArgumentError
from counterfoil.core.errors import UnavailableError

_MOST_CHARACTERS = 1000

_PROGRAM_BYTES = 1 << 20
"""Bytes of a compiled expression; what needs more is refused."""


class _Options(Protocol):
    max_mem: int
    log_errors: bool
    case_sensitive: bool


class _Expression(Protocol):
    def search(self, text: bytes) -> object: ...


class _Re2(Protocol):
    error: type[Exception]

    def Options(self) -> _Options: ...  # noqa: N802 - its name there

    def compile(self, pattern: bytes, options: _Options) -> _Expression: ...


def line_test(pattern: str, *, is_regex: bool, ignores_case: bool) -> Callable[[bytes], bool]:
    """Return what says of a line whether `pattern` is in it.

    Raises:
        UnusableArgumentError: It is empty, too long, or no expression.
        UnavailableError: Expressions need a package that is missing.
    """
    if not pattern or len(pattern) > _MOST_CHARACTERS:
        raise UnusableArgumentError(
            f"a pattern of {len(pattern)} characters", f"1 to {_MOST_CHARACTERS}"
        )
    if is_regex:
        return _expression(pattern, ignores_case=ignores_case)
    if not ignores_case:
        wanted = _encoded(pattern)
        return lambda line: wanted in line
    folded = pattern.casefold()
    return lambda line: folded in line.decode("utf-8", "replace").casefold()


def _expression(pattern: str, *, ignores_case: bool) -> Callable[[bytes], bool]:
    re2 = _engine()
    options = re2.Options()
    options.max_mem = _PROGRAM_BYTES
    options.log_errors = False
    options.case_sensitive = not ignores_case
    try:
        compiled = re2.compile(_encoded(pattern), options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        why = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise UnusableArgumentError(
            f"the expression is refused: {why}",
            "one in the syntax of RE2",
            "it has no look-around and no back-references; leave regex out to search for a text",
        ) from error
    return lambda line: compiled.search(line) is not None


def _encoded(pattern: str) -> bytes:
    try:
        return pattern.encode()
    except UnicodeEncodeError as error:
        raise UnusableArgumentError("a pattern with half a character", "a text") from error


def _engine() -> _Re2:
    try:
        return cast("_Re2", import_module("re2"))
    except ImportError as error:
        raise UnavailableError(
            "regular expressions need the package google-re2",
            advice="pip install 'counterfoil[agent]'; or leave regex out to search for a text",
        ) from error
