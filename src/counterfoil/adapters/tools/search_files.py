"""The tool `search_files`: lines of files that hold a text or match an expression."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from counterfoil.adapters.tools.answers import (
    PAGE,
    Patience,
    answered,
    counted,
    parameters,
    shown_name,
    text_in,
)
from counterfoil.adapters.tools.globs import Glob
from counterfoil.adapters.tools.lines import lines_in, text_of
from counterfoil.adapters.tools.patterns import line_test
from counterfoil.adapters.tools.roots import Roots, Target, opened_file
from counterfoil.adapters.tools.walking import MOST, Walk
from counterfoil.core.errors import CounterfoilError, UnreadableError
from counterfoil.core.messages import ToolSpec
from counterfoil.core.paging import size_of
from counterfoil.ports.tools import CallContext, ToolAnswer

SECONDS = 20.0
"""How long one call searches; what is not looked at by then is told."""

_NOTES = 500
_LINE = 64 * 1024
_SHOWN = 200
_BINARY_WITHIN = 8192


class SearchFilesTool:
    """The `Tool` that searches files below the roots."""

    def __init__(self, roots: Roots, *, seconds: float = SECONDS) -> None:
        self._roots = roots
        self._seconds = seconds
        self.spec = ToolSpec(
            name="search_files",
            description=(
                "Finds lines in files, as path:line: text; 4 KiB of them, all are counted."
                f" Passes over binary files, links and .git. Paths are below {roots.shown}."
            ),
            parameters=parameters(
                {
                    "pattern": {"type": "string", "description": "the text to look for"},
                    "path": {
                        "type": "string",
                        "description": "a folder or a file; . where left out",
                    },
                    "glob": {"type": "string", "description": "for example *.py or src/**/*.md"},
                    "regex": {
                        "type": "boolean",
                        "description": "whether pattern is a regular expression (RE2)",
                    },
                    "ignore_case": {"type": "boolean"},
                },
                "pattern",
            ),
            only_reads=True,
        )

    def run(self, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        """Return the lines in which `arguments["pattern"]` is."""
        return answered(lambda: self._answer(arguments, context.is_cancelled))

    def _answer(
        self, arguments: Mapping[str, object], is_cancelled: Callable[[], bool]
    ) -> ToolAnswer:
        is_in = line_test(
            text_in(arguments, "pattern"),
            is_regex=arguments.get("regex") is True,
            ignores_case=arguments.get("ignore_case") is True,
        )
        target = self._roots.find(text_in(arguments, "path", "."))
        search = _Search(is_in, Patience(is_cancelled, self._seconds))
        search.run(target, Glob(text_in(arguments, "glob")))
        return ToolAnswer(output=search.told(), truncated=search.leaves_out or None)


class _TimeOverError(Exception):
    """The time of a search is over in the middle of a file."""


@dataclass(slots=True)
class _Search:
    """One search: what it asks of lines, and what it has come to so far."""

    is_in: Callable[[bytes], bool]
    patience: Patience
    rows: list[str] = field(default_factory=list[str])
    size: int = 0
    matches: int = 0
    files: int = 0
    looked_at: int = 0
    left_out: dict[str, int] = field(default_factory=dict[str, int])
    is_whole: bool = True

    @property
    def leaves_out(self) -> bool:
        """Whether a line that matches is not shown, or may not be."""
        return self.matches > len(self.rows) or not self.is_whole

    def run(self, target: Target, glob: Glob) -> None:
        """Search what `target` is, or what is below it."""
        try:
            for file in self._files(target, glob):
                self._look_at(file)
        except _TimeOverError:
            self.is_whole = False

    def told(self) -> str:
        """Return the lines found, and what was looked at."""
        says = f"{counted(self.matches, 'matching line')} in {counted(self.files, 'file')}"
        if self.matches > len(self.rows):
            says = f"more: {len(self.rows):,} of {says} are shown; narrow pattern, path or glob"
        else:
            says = f"end: {says}"
        notes = [f"{counted(self.looked_at, 'file')} looked at"]
        if self.left_out:
            left = ", ".join(f"{count:,} {why}" for why, count in self.left_out.items())
            notes.append(f"left out: {left}")
        if not self.is_whole:
            notes.append("stopped before the end, so there may be others: narrow path or glob")
        return "\n".join([*self.rows, f"[{'; '.join([says, *notes])}]"])

    def _files(self, target: Target, glob: Glob) -> Iterator[Target]:
        walk = Walk(target, self.patience, most=MOST)
        try:
            for found in walk:
                if found.kind == "folder" or not glob.matches("/".join(found.names)):
                    continue
                if found.kind == "file":
                    yield target.below(found.names)
                else:
                    self._leave_out(f"of kind {found.kind}")
        except UnreadableError:  # no folder: a file by itself, whatever the glob
            yield target
        self.is_whole = walk.is_whole
        if walk.unreadable:
            self.left_out["of kind folder that cannot be read"] = walk.unreadable

    def _look_at(self, target: Target) -> None:
        before = self.matches
        try:
            with opened_file(target) as file:
                if b"\x00" in file.peek(_BINARY_WITHIN)[:_BINARY_WITHIN]:
                    self._leave_out("binary")
                    return
                self.looked_at += 1
                for line in lines_in(file, _LINE, self._is_cancelled):
                    if not line.is_whole:
                        self._leave_out("ends of lines past 64 KiB")
                    if self.is_in(line.content.removesuffix(b"\r")):
                        self._keep(target, line.number, line.content)
        except CounterfoilError:
            self._leave_out("that cannot be read")
        self.files += self.matches > before

    def _is_cancelled(self) -> bool:
        if self.patience.is_over():
            raise _TimeOverError
        return False

    def _keep(self, target: Target, number: int, content: bytes) -> None:
        self.matches += 1
        if self.matches - 1 > len(self.rows):  # one did not fit, so the list has ended
            return
        text, _ = text_of(content[: _SHOWN * 4], is_whole=len(content) <= _SHOWN * 4)
        shown = text.strip()
        if len(shown) > _SHOWN or len(content) > _SHOWN * 4:
            shown = f"{shown[: _SHOWN - 1]}…"
        row = f"{shown_name(target.shown)}:{number}: {shown}"
        self.size += size_of(row) + 1
        if self.size <= PAGE - _NOTES:
            self.rows.append(row)

    def _leave_out(self, why: str) -> None:
        self.left_out[why] = self.left_out.get(why, 0) + 1
