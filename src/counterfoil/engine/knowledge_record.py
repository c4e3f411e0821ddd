"""The tool that writes pages of a thread's run, through the same gate as everybody's.

A small model gives title and body; several pages at once are blocks in a text. A refusal
names the rule that was broken and how to mend what was asked; nothing was written then.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from counterfoil.core.errors import ConflictError, CounterfoilError
from counterfoil.core.events import FileWritten, PageWritten, Payload
from counterfoil.core.ids import HERE, PageId
from counterfoil.core.knowledge.new_page import NewPage, page_id_of
from counterfoil.core.messages import ToolSpec
from counterfoil.core.refs.cited_pages import in_brackets
from counterfoil.core.refs.pages import PageReference, format_handle
from counterfoil.engine.page_texts import PAGE, bare, cut, texts_of
from counterfoil.engine.thread_pages import ThreadPages
from counterfoil.engine.write_pages import WriteOutcome, WrittenPage
from counterfoil.ports.tools import CallContext, ToolAnswer

_MOST_ROWS = 20


class RecordTool:
    """The `Tool` that writes pages of the run: one in its parts, or several as blocks."""

    spec = ToolSpec(
        name="knowledge_record",
        description=(
            "Writes a knowledge page: title and body, with an id and the handles that it cites"
            " where there are any. Several pages at once: text, with a block for each,"
            " ---FILE: knowledge/NAME.md--- then the page then ---END FILE---, each mark on a line"
            " of its own. All are written or none."
        ),
        parameters={
            "type": "object",
            "properties": {
                "title": {"type": "string", "description": "what the page is about"},
                "body": {"type": "string", "description": "the text of the page, in Markdown"},
                "id": {"type": "string", "description": "its id; made of the title if left out"},
                "cites": {
                    "type": ["array", "string"],
                    "items": {"type": "string"},
                    "description": "handles of the pages that it rests on",
                },
                "text": {"type": "string", "description": "blocks, in place of all the others"},
            },
            "required": [],
            "additionalProperties": False,
        },
    )

    def __init__(self, pages: ThreadPages) -> None:
        self._pages = pages

    def run(self, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        """Return what was written, with a fact for each page, or why nothing was."""
        del context
        try:
            outcome = self._recorded(arguments)
        except CounterfoilError as error:
            return _refused([error.diagnosis(), *_mending(error)])
        if outcome.status == "refused":
            return _refused(_faults(outcome))
        rows = [_written_row(page) for page in outcome.pages]
        warned = [f"not written: line {row.line}: {row.message}" for row in outcome.warnings]
        facts = tuple(_facts(self._pages.run, outcome.pages))
        return ToolAnswer(output=cut("\n".join([*rows, *warned]), PAGE), facts=facts)

    def _recorded(self, arguments: Mapping[str, object]) -> WriteOutcome:
        text = arguments.get("text")
        if isinstance(text, str):
            others = [name for name in ("title", "body", "id", "cites") if name in arguments]
            if others:
                raise CounterfoilError(
                    f"text and {', '.join(others)} are given",
                    "text alone, or title and body",
                    "put everything into one of the two forms",
                )
            return self._pages.record(text)
        return self._pages.record_page(_new_page(arguments))


def _new_page(arguments: Mapping[str, object]) -> NewPage:
    title, body, id_ = (str(arguments.get(name, "")) for name in ("title", "body", "id"))
    if not body.strip() or not (title.strip() or id_.strip()):
        raise CounterfoilError(
            "a page without a text" if not body.strip() else "a page without a title",
            "title and body, or text with blocks",
            'for instance {"title": "Slope of the fit", "body": "The slope is 2.1."}',
        )
    return NewPage(
        id=PageId(id_) if id_.strip() else page_id_of(title),
        title=title.strip() or id_.strip(),
        body=body,
        cites=tuple(bare(one) for one in texts_of(arguments.get("cites")) if one.strip()),
    )


def _written_row(page: WrittenPage) -> str:
    did = (
        "unchanged"
        if not page.is_changed
        else "written"
        if page.digest_before is None
        else ("replaced")
    )
    handle = f" {_own(page.page)}" if page.page else ""
    return f"{did}{handle} {page.path} {page.digest_after}"


def _own(page: PageId) -> str:
    """Return what cites an own page: with its origin, as others may have that id too."""
    return in_brackets(format_handle(PageReference(HERE, page)))


def _facts(run: str, pages: Iterable[WrittenPage]) -> Iterator[Payload]:
    for page in pages:
        if not page.is_changed:
            continue
        if page.page is None:
            yield FileWritten(
                path=page.path,
                mode="write",
                created=page.digest_before is None,
                digest_after=page.digest_after,
            )
        else:
            yield PageWritten(
                run=run,
                page=page.page,
                path=page.path,
                digest_before=page.digest_before,
                digest_after=page.digest_after,
                cites=page.cites,
            )


def _refused(reasons: Sequence[str]) -> ToolAnswer:
    return ToolAnswer(
        output=cut("\n".join(["nothing was written", *reasons]), PAGE), outcome="error"
    )


def _mending(error: CounterfoilError) -> Iterator[str]:
    if isinstance(error, ConflictError):
        yield "A page that stands there is read whole with knowledge_read before it is replaced."


def _faults(outcome: WriteOutcome) -> list[str]:
    intake = outcome.intake
    rows = [f"- {found.code}: {found.path}: {found.message}" for found in intake.citations]
    rows += [f"- near-duplicate: {pair.message}" for pair in intake.near]
    shown = rows[:_MOST_ROWS]
    if len(rows) > _MOST_ROWS:
        shown.append(f"+{len(rows) - _MOST_ROWS} more")
    if intake.citations:
        shown.append(
            "Cite only handles that knowledge_resolve says are resolved, or write the pages that"
            " are cited in the same call."
        )
    if intake.near:
        shown.append("Replace the page that says it already, or cite it from the new one.")
    return shown
