"""The tool `list_files`: what is in a folder, or below it where a glob is given."""

from collections.abc import Callable, Iterator, Mapping

from counterfoil.adapters.tools.answers import (
    PAGE,
    Patience,
    answered,
    counted,
    number_in,
    parameters,
    quoted,
    shown_name,
    text_in,
)
from counterfoil.adapters.tools.globs import Glob
from counterfoil.adapters.tools.roots import Roots, Target
from counterfoil.adapters.tools.walking import MOST, Found, Walk, listed
from counterfoil.core.errors import NotFoundError
from counterfoil.core.messages import ToolSpec
from counterfoil.core.paging import LinePage, page_of_lines, size_of
from counterfoil.ports.tools import CallContext, ToolAnswer

SECONDS = 20.0
"""How long a folder is looked through."""

_NOTES = 300


class ListFilesTool:
    """The `Tool` that lists folders below the roots."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self.spec = ToolSpec(
            name="list_files",
            description=(
                "Lists a folder by name, with type and size; with a glob, what matches it at any"
                f" depth, without .git. Paths are below {roots.shown}."
            ),
            parameters=parameters(
                {
                    "path": {"type": "string", "description": "the folder; . where left out"},
                    "glob": {"type": "string", "description": "for example *.py or src/**/*.md"},
                    "from_line": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "the first line of the list to show; 1 where left out",
                    },
                }
            ),
            only_reads=True,
        )

    def run(self, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        """Return a page of the list of `arguments["path"]`."""
        return answered(lambda: self._answer(arguments, context.is_cancelled))

    def _answer(
        self, arguments: Mapping[str, object], is_cancelled: Callable[[], bool]
    ) -> ToolAnswer:
        target = self._roots.find(text_in(arguments, "path", "."))
        glob, first = text_in(arguments, "glob"), number_in(arguments, "from_line", 1, MOST)
        walk = Walk(target, Patience(is_cancelled, SECONDS))
        rows = [_row(target, found) for found in _chosen(target, glob, walk)]
        if first > max(len(rows), 1):
            raise NotFoundError(f"the list has no line {first}", f"a line from 1 to {len(rows)}")
        asked = f"{quoted(target.shown)}{f' glob {quoted(glob)}' if glob else ''}"
        page = page_of_lines(rows[first - 1 :], first, PAGE - _NOTES - size_of(asked))
        end = _end(page, len(rows), asked, walk)
        is_all = page.next_line is None and walk.is_whole
        return ToolAnswer(
            output="\n".join(filter(None, (page.text, end))), truncated=None if is_all else True
        )


def _chosen(target: Target, glob: str, walk: Walk) -> Iterator[Found]:
    if not glob:
        yield from listed(target)
        return
    wanted = Glob(glob)
    yield from (found for found in walk if wanted.matches("/".join(found.names)))


def _row(target: Target, found: Found) -> str:
    name = shown_name(target.below(found.names).shown)
    if found.kind == "folder":
        return f"{name}/ (folder)"
    return (
        f"{name} (file, {found.size:,} bytes)" if found.kind == "file" else f"{name} ({found.kind})"
    )


def _end(page: LinePage, total: int, asked: str, walk: Walk) -> str:
    if page.next_line is not None:
        says = f"more: list_files {asked} from line {page.next_line} of {total:,}"
    else:
        says = f"end: {counted(total, 'row')}"
    notes = [] if walk.is_whole else [f"stopped after {MOST:,} or {SECONDS:.0f} s; narrow the path"]
    if walk.unreadable:
        notes.append(f"{counted(walk.unreadable, 'folder')} not entered: access denied or gone")
    return f"[{'; '.join([says, *notes])}]"
