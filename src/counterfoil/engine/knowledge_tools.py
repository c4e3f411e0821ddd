"""The tools of a thread for pages: search, read, record, resolve.

What comes back is text with handles ready to paste, the digests of what was seen, and at
its end what to do next; what was retrieved or written is a fact beside it (agent.md
section 3).
"""

from collections.abc import Iterator, Mapping

from counterfoil.core.events import PagesRetrieved
from counterfoil.core.knowledge.receipts import event_of
from counterfoil.core.knowledge.search import Hit, Search
from counterfoil.core.messages import ToolSpec
from counterfoil.core.paging import LinePage, lines_of, page_of
from counterfoil.core.plain import one_line
from counterfoil.core.refs.cited_pages import in_brackets
from counterfoil.engine.knowledge_record import RecordTool
from counterfoil.engine.page_results import PageText, Resolved, Retrieval
from counterfoil.engine.page_texts import PAGE, bare, texts_of
from counterfoil.engine.thread_pages import ThreadPages
from counterfoil.ports.tools import CallContext, Tool, ToolAnswer

MOST_HITS = 50
MOST_HANDLES = 100
_HITS = 10
_TITLE = 100
_SHORT = len("sha256:") + 12

_CITE = 'To cite a page, write its handle in double brackets in the reply, bare in "cites".'


def knowledge_tools(pages: ThreadPages) -> tuple[Tool, ...]:
    """Return the four tools over the pages of one thread."""
    return (SearchTool(pages), ReadTool(pages), RecordTool(pages), ResolveTool(pages))


class SearchTool:
    """The `Tool` that finds pages by words."""

    spec = ToolSpec(
        name="knowledge_search",
        description=(
            "Finds knowledge pages by words, the best first, each with the handle to cite it by."
        ),
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "words to look for"},
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MOST_HITS,
                    "description": f"how many pages at most; {_HITS} where left out",
                },
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        only_reads=True,
    )

    def __init__(self, pages: ThreadPages) -> None:
        self._pages = pages

    def run(self, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        """Return the hits of `arguments["query"]`, and that they were retrieved."""
        del context
        limit = arguments.get("limit")
        asked = Search(
            text=str(arguments["query"]), limit=limit if isinstance(limit, int) else _HITS
        )
        found = self._pages.search(asked)
        fact = event_of(found.receipt)
        return ToolAnswer(output="\n".join(_told(asked, found, fact)), facts=(fact,))


def _told(asked: Search, found: Retrieval, fact: PagesRetrieved) -> Iterator[str]:
    query = one_line(asked.text, _TITLE)
    yield f'{len(found.hits)} of {found.pages} visible pages answer "{query}"'
    for hit, returned in zip(found.hits, found.receipt.returned, strict=True):
        yield _hit_line(hit, returned.digest)
    yield f"[seen: {fact.snapshot_digest}]"
    yield _CITE if found.hits else "Try other words, or fewer of them."


def _hit_line(hit: Hit, digest: str) -> str:
    title = one_line(hit.title, _TITLE)
    taken_back = " (taken back)" if hit.is_invalidated else ""
    snippet = f": {hit.snippet}" if hit.snippet else ""
    return f"{hit.rank}. {in_brackets(hit.handle)} {title}{taken_back} {digest[:_SHORT]}{snippet}"


class ReadTool:
    """The `Tool` that reads one page, 4 KiB at a time."""

    spec = ToolSpec(
        name="knowledge_read",
        description="Reads a knowledge page by its handle, whole or from a line on.",
        parameters={
            "type": "object",
            "properties": {
                "handle": {"type": "string", "description": "as knowledge_search gives it"},
                "line": {"type": "integer", "minimum": 1, "description": "the first line to read"},
            },
            "required": ["handle"],
            "additionalProperties": False,
        },
        only_reads=True,
    )

    def __init__(self, pages: ThreadPages) -> None:
        self._pages = pages
        self._goes_on: dict[str, tuple[str, int]] = {}

    def run(self, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        """Return the page that `arguments["handle"]` means, and that it was retrieved."""
        del context
        handle, line = bare(str(arguments["handle"])), arguments.get("line")
        found = self._pages.read(handle)
        if isinstance(found, Resolved):
            return ToolAnswer(output=_row(handle, found), outcome="error")
        text, is_cut = self._paged(found, line if isinstance(line, int) else 1)
        fact = PagesRetrieved(run=self._pages.run, query=handle, handles=(found.handle,))
        return ToolAnswer(output=text, facts=(fact,), truncated=is_cut or None)

    def _paged(self, found: PageText, line: int) -> tuple[str, bool]:
        text = found.content.decode("utf-8", "replace")
        shown = page_of(text, line, PAGE)
        words, head = shown.text, _head(found, shown, len(lines_of(text)))
        is_next = line == 1 or self._goes_on.get(found.handle) == (found.digest, line)
        if is_next and not shown.is_cut:
            self._read_up_to(found, shown.next_line)
        if shown.next_line is not None:
            more = f'[more: knowledge_read handle "{found.handle}" line {shown.next_line}]'
            return f"{head}\n{words}\n{more}", True
        return f"{head}\n{words}\n[end]", shown.is_cut

    def _read_up_to(self, found: PageText, next_line: int | None) -> None:
        """Take down how far the page was read without a gap; at its end all of it was seen."""
        if next_line is None:
            self._pages.saw(found)
        else:
            self._goes_on[found.handle] = (found.digest, next_line)


def _head(found: PageText, shown: LinePage, lines: int) -> str:
    page, origin = found.visible.page, found.visible.origin
    title = one_line(page.title, _TITLE)
    return (
        f"{in_brackets(found.handle)} {title}, {page.path} ({origin}), {found.digest},"
        f" lines {shown.first}-{shown.last} of {lines}"
    )


class ResolveTool:
    """The `Tool` that says of handles what they come to."""

    spec = ToolSpec(
        name="knowledge_resolve",
        description="Says of handles of knowledge pages whether each names one page, and which.",
        parameters={
            "type": "object",
            "properties": {
                "handles": {
                    "type": ["array", "string"],
                    "items": {"type": "string"},
                    "description": f"up to {MOST_HANDLES} handles",
                }
            },
            "required": ["handles"],
            "additionalProperties": False,
        },
        only_reads=True,
    )

    def __init__(self, pages: ThreadPages) -> None:
        self._pages = pages

    def run(self, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        """Return a line for each of `arguments["handles"]`, in their order."""
        del context
        asked = [bare(one) for one in texts_of(arguments["handles"])]
        found = self._pages.resolve(asked[:MOST_HANDLES])
        rows = [_row(handle, one) for handle, one in zip(asked, found, strict=False)]
        if len(asked) > MOST_HANDLES:
            rows.append(f"+{len(asked) - MOST_HANDLES} more that were not looked at")
        return ToolAnswer(output="\n".join(rows) or "no handle was given")


def _row(handle: str, found: Resolved) -> str:
    shown, resolution = one_line(handle, _TITLE) or '""', found.resolution
    page = resolution.page
    if page is not None:
        paste, digest = in_brackets(found.handles[0]), f", {found.digest}" if found.digest else ""
        return f"{shown}: resolved, {paste} {page.page.path} ({page.origin}){digest}"
    if not resolution.candidates:
        return f"{shown}: {resolution.verdict}; knowledge_search finds pages by words"
    meant = " or ".join(in_brackets(one) for one in found.handles)
    write = f"; write {meant}" if meant else ""
    return f"{shown}: {resolution.verdict}, {len(resolution.candidates)} pages{write}"
