"""The tool `read_file`: a file in pages of numbered lines, `12<tab>text`."""

from collections.abc import Callable, Iterator, Mapping
from io import BufferedReader

from counterfoil.adapters.tools.answers import (
    PAGE,
    answered,
    counted,
    number_in,
    parameters,
    quoted,
    text_in,
)
from counterfoil.adapters.tools.lines import FileLine, lines_in, pass_lines, text_of
from counterfoil.adapters.tools.roots import Roots, opened_file
from counterfoil.core.errors import NotFoundError
from counterfoil.core.messages import ToolSpec
from counterfoil.core.paging import LinePage, cut_line, page_of_lines, size_of
from counterfoil.ports.tools import CallContext, ToolAnswer

_NOTES = 300
"""Bytes that are kept for the line at the end, beside the path in it."""

_MOST = 2**53

_BOM = b"\xef\xbb\xbf"


class ReadFileTool:
    """The `Tool` that reads files below the roots."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self.spec = ToolSpec(
            name="read_file",
            description=(
                "Reads a text file: its lines with their numbers, 4 KiB at a time. Paths are"
                f" below {roots.shown}."
            ),
            parameters=parameters(
                {
                    "path": {"type": "string", "description": "the file"},
                    "from_line": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "the first line to read; 1 where left out",
                    },
                },
                "path",
            ),
            only_reads=True,
        )

    def run(self, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        """Return a page of the file at `arguments["path"]`."""
        return answered(lambda: self._answer(arguments, context.is_cancelled))

    def _answer(
        self, arguments: Mapping[str, object], is_cancelled: Callable[[], bool]
    ) -> ToolAnswer:
        target = self._roots.find(text_in(arguments, "path"))
        first = number_in(arguments, "from_line", 1, _MOST)
        limit = PAGE - _NOTES - size_of(quoted(target.shown))
        with opened_file(target) as file:
            reading = _Reading(file, is_cancelled, limit)
            page = page_of_lines(reading.numbered(first), first, limit)
        if page.last < first and first > 1:
            raise NotFoundError(
                f"{quoted(target.shown)} has no line {first}", f"a line from 1 to {reading.count}"
            )
        end = reading.end(page, target.shown)
        return ToolAnswer(
            output=f"{page.text}\n{end}" if page.text else end,
            truncated=page.next_line is not None or reading.is_cut_in(page) or None,
        )


class _Reading:
    """One file while it is read, and what was found out about it on the way."""

    def __init__(self, file: BufferedReader, is_cancelled: Callable[[], bool], limit: int) -> None:
        self.count = 0
        self._cut: set[int] = set()
        self._file = file
        self._is_cancelled = is_cancelled
        self._limit = limit
        self._notes: dict[str, int] = {}

    def numbered(self, first: int) -> Iterator[str]:
        """Yield the lines from `first` on, each with its number."""
        self.count = pass_lines(self._file, first - 1, self._is_cancelled)
        for line in lines_in(self._file, self._limit, self._is_cancelled, after=self.count):
            self.count = line.number
            shown = f"{line.number}\t{self._text(line)}"
            total = size_of(f"{line.number}\t") + line.size
            if total > self._limit:
                self._cut.add(line.number)
                shown = cut_line(shown, self._limit, total)
            yield shown

    def end(self, page: LinePage, shown: str) -> str:
        """Return the line at the end of `page`: where it goes on, and what is odd in it."""
        if page.next_line is not None:
            says = f"more: read_file {quoted(shown)} from line {page.next_line}"
        else:
            says = f"end: {counted(self.count, 'line')}"
        notes = [what for what, line in self._notes.items() if line <= page.last]
        return f"[{'; '.join([says, *notes])}]"

    def is_cut_in(self, page: LinePage) -> bool:
        """Say whether a line of `page` was too long for it."""
        return page.is_cut or any(number <= page.last for number in self._cut)

    def _text(self, line: FileLine) -> str:
        content = line.content
        if line.number == 1 and content.startswith(_BOM):
            content = content.removeprefix(_BOM)
            self._note(line, "it begins with a byte order mark, not shown")
        if line.is_whole and content.endswith(b"\r"):
            content = content[:-1]
            self._note(line, "lines end with CRLF")
        text, is_text = text_of(content, is_whole=line.is_whole)
        if not is_text:
            self._note(line, "it is not UTF-8 text: what cannot be shown stands as �")
        return text

    def _note(self, line: FileLine, what: str) -> None:
        self._notes.setdefault(what, line.number)
