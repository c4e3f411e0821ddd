"""What of a body of Markdown is no text: code, comments and math, with their places.

Code is what CommonMark says, with tables and footnotes as they are mostly written; the
parser is pulldown-cmark. Comments are `<!-- … -->`, closed. Math is not CommonMark's: it
is read in what is neither code nor comment (`math_spans`). All time is linear in the body
(knowledge.md section 1, "Body").
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pyromark import Markdown, Options, html
from pyromark.event import BrokenLink

from counterfoil.wire.math_spans import Cover, Span, find_math

_OPTIONS = Options.ENABLE_TABLES | Options.ENABLE_FOOTNOTES
MARKDOWN = Markdown(options=_OPTIONS)
"""The parser, whose ranges are bytes of UTF-8."""


class Spans(NamedTuple):
    """Spans of a body, in order: offsets of characters, the end past the last.

    `links` are where links and images of Markdown begin, `definitions` where that of a
    footnote begins, with its label.
    """

    code: tuple[Span, ...] = ()
    comments: tuple[Span, ...] = ()
    math: tuple[Span, ...] = ()
    links: frozenset[int] = frozenset()
    definitions: tuple[tuple[int, str], ...] = ()


def may_hide(body: str, until: int) -> bool:
    """Say whether anything before `until` can begin code, a comment or math."""
    return body.find("`", 0, until) >= 0 or may_hide_more(body, until)


def may_hide_more(body: str, until: int) -> bool:
    """Say the same of all but a code span, which ends with its paragraph."""
    return any(body.find(mark, 0, until) >= 0 for mark in _MARKS)


_MARKS = ("$", "<", "\t", "```", "    ", "~~~")


def are_text(body: str, brackets: Sequence[int]) -> bool:
    """Say whether each `[[` of `brackets` is text; `False` is no denial.

    The parser asks about what stands in brackets and is no link, and only of text: three
    times as fast as going through all that it finds. It does not ask in blocks of HTML,
    nor where the page says what the brackets link to. What follows the blank line behind
    the last bracket has no part in that.
    """
    asked: list[BrokenLink] = []
    blank = body.find("\n\n", brackets[-1])
    html(
        body if blank < 0 else body[: blank + 1],
        options=_OPTIONS,
        broken_link_callback=asked.append,
    )
    found = {link["span"]["start"] for link in asked}
    if not body.isascii():
        found = set(_characters(body, found).values())
    return found.issuperset(at + 1 for at in brackets)


def find_spans(body: str, until: int) -> Spans:
    """Return the spans of `body` that begin before `until`."""
    has_math = body.find("$", 0, until) >= 0
    found = _Found()
    limit = until if body.isascii() else len(body[:until].encode())
    for event, place in MARKDOWN.events_with_range(body, merge_text=True):
        start = place["start"]
        if start >= limit and not has_math:
            break
        if not isinstance(event, str) and "Text" not in event and "End" not in event:
            found.take(event, (start, place["end"]))
    characters = found.in_characters(body)
    comments = tuple(characters.all_comments(body))
    hidden = Cover([*characters.code, *comments])
    blocks = [start for start, _ in characters.blocks]
    math = tuple(find_math(body, hidden, blocks)) if has_math else ()
    return Spans(
        tuple(characters.code),
        comments,
        math,
        frozenset(start for start, _ in characters.links),
        tuple((start, label) for (start, _), label in characters.definitions),
    )


class _Found:
    """What the parser says, gathered event by event."""

    def __init__(self) -> None:
        self.code: list[Span] = []
        self.comments: list[Span] = []
        self.html: list[Span] = []
        self.links: list[Span] = []
        self.definitions: list[tuple[Span, str]] = []
        self.blocks: list[Span] = []

    def take(self, event: Any, span: Span) -> None:
        tag = event.get("Start")
        if tag is None:
            if "Code" in event:
                self.code.append(span)
            elif event.get("InlineHtml", "").startswith("<!--"):
                self.comments.append(span)
        elif not isinstance(tag, str):
            self._take_tag(tag, span)
        elif tag not in _INLINE:
            self.blocks.append(span)
            if tag == "HtmlBlock":
                self.html.append(span)

    def _take_tag(self, tag: Any, span: Span) -> None:
        if "Link" in tag or "Image" in tag:
            self.links.append(span)
            return
        self.blocks.append(span)
        if "CodeBlock" in tag:
            self.code.append(span)
        elif "FootnoteDefinition" in tag:
            self.definitions.append((span, tag["FootnoteDefinition"]))

    def in_characters(self, body: str) -> "_Found":
        """Return the same with offsets of characters."""
        if body.isascii():
            return self
        definitions = [span for span, _ in self.definitions]
        lists = [self.code, self.comments, self.html, self.links, definitions, self.blocks]
        place = _characters(body, {at for spans in lists for span in spans for at in span})
        made = _Found()
        made.code, made.comments, made.html, made.links, definitions, made.blocks = (
            [(place[start], place[end]) for start, end in spans] for spans in lists
        )
        labels = (label for _, label in self.definitions)
        made.definitions = list(zip(definitions, labels, strict=True))
        return made

    def all_comments(self, body: str) -> Iterator[Span]:
        """Yield the comments, those inside blocks of HTML too, in order."""
        inside = [span for block in self.html for span in _comments(body, block)]
        yield from sorted(self.comments + inside)


_INLINE = frozenset({"Emphasis", "Strong", "Strikethrough"})


def _characters(body: str, offsets: set[int]) -> dict[int, int]:
    content = body.encode()
    place: dict[int, int] = {}
    before = characters = 0
    for offset in sorted(offsets):
        characters += len(content[before:offset].decode())
        place[offset] = characters
        before = offset
    return place


def _comments(body: str, block: Span) -> Iterator[Span]:
    at, end = block
    while (start := body.find("<!--", at, end)) >= 0:
        close = body.find("-->", start + 2, end)
        if close < 0:
            return
        at = close + 3
        yield start, at
