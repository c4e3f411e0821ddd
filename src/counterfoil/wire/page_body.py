"""What the body of a page refers to: wikilinks, footnotes; its heading; what it silences.

```text
link      = ["!"] "[[" target ["#" section] ["|" label] "]]"       on one line, no brackets
footnote  = "[^" source ["#" anchor] "]"                           no white space, no brackets
silence   = "<!--" "counterfoil:" "allow" code ":" reason "-->"
```

Only text refers to anything: what stands in code, in a comment or in math does not
(`markdown_spans`), nor what a backslash takes its meaning from. Places are line and
column, from 1, a column being a code point (knowledge.md section 1, "Body").

>>> read_body("See [[alpha#Limits|there]].").links
(Link(target='alpha', line=1, column=5, section='Limits', label='there', is_embed=False),)
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from counterfoil.core.knowledge.codes import CODES
from counterfoil.core.knowledge.pages import Fault, Footnote, Link, Silence, TextSpot
from counterfoil.wire.markdown_spans import MARKDOWN, Spans, are_in_code, find_spans, may_hide
from counterfoil.wire.math_spans import Cover, is_escaped


class References(NamedTuple):
    """What a body refers to and silences; `faults` are of comments that silence nothing."""

    links: tuple[Link, ...] = ()
    footnotes: tuple[Footnote, ...] = ()
    silences: tuple[Silence, ...] = ()
    faults: tuple[Fault, ...] = ()


class Body(NamedTuple):
    """What a body refers to and silences, and its first heading of level one."""

    links: tuple[Link, ...]
    footnotes: tuple[Footnote, ...]
    heading: str | None
    silences: tuple[Silence, ...]
    faults: tuple[Fault, ...]


def read_body(body: str) -> Body:
    """Return what `body` says; its lines count from 1."""
    text = body.encode("utf-8", "replace").decode()
    links, footnotes, silences, faults = find_references(text)
    return Body(links, footnotes, find_heading(text), silences, faults)


def find_references(body: str, line: int = 1) -> References:
    """Return what `body` refers to, its first line being line `line` of its file.

    `body` has no lone surrogates. It is parsed as Markdown only where something in it
    could hide a reference, define a footnote or silence a code.
    """
    links = _brackets(body, line)
    notes = list(_notes(body)) if "^" in body else []
    if not (links or notes) and not ("<" in body and "counterfoil:" in body):
        return _NOTHING
    is_odd = _is_odd(body, links, notes)
    if is_odd or may_hide(body):
        told = None if is_odd else _outside_code(body, links, notes)
        if told is None:
            return _Text(body, find_spans(body), line).references(links, notes)
        links, notes = told
    if notes:
        return _Text(body, Spans(), line).references(links, notes)
    return References(tuple([bracket[0] for bracket in links]))


def find_heading(body: str) -> str | None:
    """Return the first heading of level one with words in it, as it is written.

    One in a quotation or a list is none of the page's. `body` has no lone surrogates.
    """
    first = _FIRST_LINE.match(body)
    words = _heading_words(first.group(1)) if first else ""
    if words:
        return words
    if not _LEVEL_ONE.search(body):
        return None
    content = body.encode()
    for event, place in MARKDOWN.events_with_range(body):
        if not isinstance(event, str) and _is_level_one(event):
            start = place["start"]
            before = content[content.rfind(b"\n", 0, start) + 1 : start]
            words = _heading_words(content[start : place["end"]].decode())
            if words and not before.strip():
                return words
    return None


_Brackets = tuple[Link, int, int, int, bool]
"""A link; where it opens and closes; before what its target ends; whether it is odd.

About an odd one something is to be weighed that only the parser of Markdown can.
"""


def _brackets(body: str, line: int) -> list[_Brackets]:
    """Return what stands in double brackets and names something, escapes being heeded."""
    found: list[_Brackets] = []
    places = _Places(body, line)
    at = body.find("[[")
    while at >= 0:
        match = _SIMPLE.match(body, at)
        end = match.end() if match else at + 1
        if match and body[at - 1 : at] not in _BEFORE:
            target, section, label = match.groups()
            name = target.strip()
            if name:
                row, column = places.of(at)
                heading = section.strip() or None if section else None
                text = label.strip() or None if label else None
                link = Link(name, row, column, heading, text)
                found.append((link, at, end - 2, at + 2 + len(target), False))
        else:
            match = _LINK.match(body, at)
            if match:
                end = match.end()
                found.extend(_odd_brackets(body, match, places))
        at = body.find("[[", end)
    return found


def _notes(body: str) -> Iterator[re.Match[str]]:
    """Yield what is written as the use or the definition of a footnote."""
    at = body.find("[^")
    while at >= 0:
        match = None if body[at - 1 : at] == "[" else _NOTE.match(body, at)
        if match is not None:
            yield match
        at = body.find("[^", at + 2 if match is None else match.end())


def _trimmed(text: str) -> str | None:
    return text.strip() or None


def _odd_brackets(body: str, match: re.Match[str], places: "_Places") -> Iterator[_Brackets]:
    opening, end = match.span()
    if is_escaped(body, opening) or is_escaped(body, end - 2):
        return
    named, label = match.groups()
    if label is not None and named.endswith("\\"):
        named = named[:-1]  # in a table the pipe has a backslash
    target = _SECTION.split(named, maxsplit=1)[0]
    if target.strip():
        is_embed = body[opening - 1 : opening] == "!" and not is_escaped(body, opening - 1)
        section = _trimmed(named[len(target) :].removeprefix("#"))
        place = places.of(opening - is_embed)
        link = Link(target.strip(), *place, section, _trimmed(label or ""), is_embed)
        is_odd = not _DOUBTFUL.isdisjoint(match.group()) or body[end : end + 1] == "("
        yield link, opening, end - 2, opening + 2 + len(target), is_odd


_Found = tuple[list[_Brackets], list[re.Match[str]]]


def _outside_code(body: str, links: list[_Brackets], notes: list[re.Match[str]]) -> _Found | None:
    """Return what is in no code; `None` where only the parser's own account tells."""
    places = sorted([bracket[1] + 2 for bracket in links] + [note.start() + 2 for note in notes])
    told = are_in_code(body, places)
    if told is None or not any(told):
        return None if told is None else (links, notes)
    hidden = {place for place, is_hidden in zip(places, told, strict=True) if is_hidden}
    return (
        [bracket for bracket in links if bracket[1] + 2 not in hidden],
        [note for note in notes if note.start() + 2 not in hidden],
    )


def _is_odd(body: str, links: list[_Brackets], notes: list[re.Match[str]]) -> bool:
    """Say whether anything found has to be weighed with what the parser says around it."""
    return any(bracket[4] for bracket in links) or any(
        body[note.end() : note.end() + 1] in _BEHIND_NOTE for note in notes
    )


class _Places:
    """Lines and columns of offsets that are asked for in order."""

    def __init__(self, body: str, line: int) -> None:
        self._body = body
        self._line = line
        self._begin = 0
        self._at = 0

    def of(self, at: int) -> tuple[int, int]:
        """Return line and column of the character at `at`, which no earlier one follows."""
        newline = self._body.rfind("\n", self._at, at)
        if newline >= 0:
            self._line += self._body.count("\n", self._at, at)
            self._begin = newline + 1
        self._at = at
        return self._line, at - self._begin + 1


class _Text:
    """A body with what of it is no text."""

    def __init__(self, body: str, spans: Spans, line: int) -> None:
        self._body = body
        self._line = line
        self._spans = spans
        self._code = Cover(spans.code)
        self._hidden = Cover((*spans.code, *spans.comments, *spans.math))
        self._definitions = dict(spans.definitions)

    def references(self, links: list[_Brackets], notes: list[re.Match[str]]) -> References:
        """Return those of `links` and `notes` that are text, and what comments silence."""
        silences = [*self._comments()]
        return References(
            tuple([bracket[0] for bracket in links if self._has_link(bracket)]),
            tuple(self._footnotes(notes)),
            tuple(found for found in silences if isinstance(found, Silence)),
            tuple(found for found in silences if isinstance(found, Fault)),
        )

    def _has_link(self, brackets: _Brackets) -> bool:
        """Say whether a link is text: not hidden, no code in its target, none of Markdown."""
        link, opening, close, target_end, _ = brackets
        if self._hidden.holds(opening) or self._hidden.holds(close):
            return False
        if self._code.touches(opening, target_end):
            return False
        begin = opening - link.is_embed
        return not (begin in self._spans.links and self._body.startswith("(", close + 2))

    def _footnotes(self, notes: list[re.Match[str]]) -> Iterator[Footnote]:
        places = _Places(self._body, self._line)
        defined = {label.casefold() for label in self._definitions.values()}
        for note in notes:
            at, label = note.start(), note.group(1)
            source, _, anchor = label.partition("#")
            if source and self._has_note(at):
                is_defined = label.casefold() in defined
                yield Footnote(source, anchor or None, is_defined, *places.of(at))

    def _has_note(self, at: int) -> bool:
        """Say whether the footnote at `at` is used there: not hidden, not defined, no link."""
        if self._hidden.holds(at) or at in self._definitions:
            return False
        return self._spans.links.isdisjoint((at, at - 1)) and not is_escaped(self._body, at)

    def _comments(self) -> Iterator[Silence | Fault]:
        places = _Places(self._body, self._line)
        for start, end in self._spans.comments:
            written = self._body[start + 4 : end - 3].strip()
            if written.startswith("counterfoil:"):
                line, column = places.of(start)
                allowed = _ALLOW.match(written)
                if allowed and allowed.group(1) in CODES:
                    code, reason = allowed.groups()
                    yield Silence(code, " ".join(reason.split()), line)
                else:
                    yield Fault("bad-silence", TextSpot(line, column), written, _BAD_SILENCE)


def _is_level_one(event: Any) -> bool:
    tag = event.get("Start")
    return bool(tag) and "Heading" in tag and tag["Heading"]["level"] == "H1"


def _heading_words(written: str) -> str:
    """Return the words of a heading of either form, or nothing where there are none."""
    text = written.strip()
    if "\n" not in text:
        words = text[1:].strip()
        bare = words.rstrip("#")
        words = bare.rstrip() if not bare or bare[-1].isspace() else words
    else:
        words = " ".join(line.strip() for line in text.splitlines()[:-1])
    return words if any(map(str.isalnum, words)) else ""


_NOTHING = References()
_DOUBTFUL = frozenset("`<")
_BEFORE = frozenset({"\\", "!"})
_BEHIND_NOTE = frozenset({":", "("})
_SIMPLE = re.compile(
    r"\[\[([^\[\]\r\n|#^\\`<]*+)(?:(?:#|(?=\^))([^\[\]\r\n|\\`<]*+))?"
    r"(?:\|([^\[\]\r\n\\`<]*+))?\]\](?!\()"
)
_LINK = re.compile(r"\[\[([^\[\]\r\n|]*+)(?:\|([^\[\]\r\n]*+))?\]\]")
_SECTION = re.compile(r"[#^]")
_NOTE = re.compile(r"\[\^([^\[\]\s]++)\]")
_ALLOW = re.compile(r"counterfoil:\s*+allow\s++([a-z][a-z0-9-]*+)\s*+:\s*+(\S.*)", re.DOTALL)
_FIRST_LINE = re.compile(r"(?:[ \t]*+\r?\n)*+( {0,3}#[ \t][^\r\n]*+)")
_LEVEL_ONE = re.compile(r"^ {0,3}(?:#[ \t]|=+[ \t]*\r?$)", re.MULTILINE)
_BAD_SILENCE = (
    "a comment of counterfoil that silences nothing; expected"
    " `<!-- counterfoil: allow CODE: reason -->`, with the code of a finding"
)
