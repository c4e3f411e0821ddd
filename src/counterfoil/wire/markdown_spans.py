"""What of a body of Markdown is no text: code, comments and math, with their places.

Code is what CommonMark says, with tables and footnotes as they are mostly written; the
parser is pulldown-cmark. Comments are `<!-- … -->`, closed. Math is not CommonMark's: it
is read in what is neither code nor comment (`math_spans`). All time is linear in the body
(knowledge.md section 1, "Body").
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pyromark import Markdown, Options, html

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


def may_hide(body: str) -> bool:
    """Say whether anything in `body` can begin code, a comment or math."""
    return any(map(body.__contains__, _MARKS))


_MARKS = ("`", "$", "<", "\t", "~", "    ")


def are_in_code(body: str, places: Sequence[int]) -> list[bool] | None:
    """Say of each of `places`, in order, whether it is in code; `None` where that is not told.

    A mark at each place goes through the parser, and stands in its HTML in code or not:
    several times as fast as going through all that it finds. It tells where nothing but
    code can hide a reference: without HTML, math, and lines that say what brackets mean.
    """
    if _MARK in body or any(map(body.__contains__, ("<", "$", "]:"))):
        return None
    blank = body.find("\n\n", places[-1])  # what follows has no part in what stands before
    ends = (*places[1:], len(body) if blank < 0 else blank + 1)
    parts = [body[start:end] for start, end in zip(places, ends, strict=True)]
    shown = html(_MARK.join((body[: places[0]], *parts)), options=_OPTIONS)
    told = _told(shown.split(_MARK)[:-1])
    return told if told is not None and len(told) == len(places) else None


_MARK = "\x1a"
"""A control character, which means nothing to Markdown and stays itself in HTML."""


def _told(parts: Iterable[str]) -> list[bool] | None:
    """Say of the end of each of `parts` of HTML whether it is in code; `None` inside a tag.

    In code no tag stands: every `<` is an entity there.
    """
    told: list[bool] = []
    is_code = is_tag = False
    for part in parts:
        tag = part.rfind("<")
        if tag >= 0:
            is_code, is_tag = part.startswith("<code", tag), True
        is_tag = is_tag and part.find(">", max(tag, 0)) < 0
        if is_tag:
            return None  # in what a link or an image says of itself, code is no element
        told.append(is_code)
    return told


def find_spans(body: str) -> Spans:
    """Return the spans of `body`."""
    found = _Found()
    for event, place in MARKDOWN.events_with_range(body, merge_text=True):
        if not isinstance(event, str) and "Text" not in event and "End" not in event:
            found.take(event, (place["start"], place["end"]))
    if not body.isascii():
        found.count_characters(body)
    inside = [span for block in found.html for span in _comments(body, block)]
    comments = tuple(sorted(found.comments + inside))
    blocks = [start for start, _ in found.blocks]
    hidden = Cover((*found.code, *comments))
    return Spans(
        tuple(found.code),
        comments,
        tuple(find_math(body, hidden, blocks)),
        frozenset(start for start, _ in found.links),
        tuple((start, label) for (start, _), label in zip(found.notes, found.labels, strict=True)),
    )


class _Found:
    """What the parser says, gathered event by event."""

    def __init__(self) -> None:
        self.code: list[Span] = []
        self.comments: list[Span] = []
        self.html: list[Span] = []
        self.links: list[Span] = []
        self.blocks: list[Span] = []
        self.notes: list[Span] = []
        self.labels: list[str] = []

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
            self.notes.append(span)
            self.labels.append(tag["FootnoteDefinition"])

    def count_characters(self, body: str) -> None:
        """Make offsets of characters of what are offsets of bytes."""
        lists = (self.code, self.comments, self.html, self.links, self.blocks, self.notes)
        place = _characters(body, {at for spans in lists for span in spans for at in span})
        for spans in lists:
            spans[:] = [(place[start], place[end]) for start, end in spans]


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
