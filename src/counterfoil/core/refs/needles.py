"""What to look for in the text of a record, and when it stands there.

A literal reference becomes needles; a text is flattened once (colours, line numbers,
white space, typographic quotes taken out) and each needle is judged against it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as Choice

from counterfoil.core.refs.literals import Commit, Literal, Place, Quotation, Source
from counterfoil.core.shown import may_mean, normal_path

NeedleKind = Choice["text", "place", "file", "commit", "url"]

Whose = Choice["tool", "fetched", "search", "person", "system", "model", "harness", "subagent"]
"""Whose words a text of the record is."""

EVIDENCE: frozenset[Whose] = frozenset({"tool", "fetched", "search", "person", "system"})
"""The words that are evidence: of tools, and what person or system supplied."""


@dataclass(frozen=True, slots=True)
class Needle:
    """Something to find: `text` must stand; for places and files, in a path that fits."""

    kind: NeedleKind
    text: str
    path: str = ""


def needles_of(literal: Literal, *, is_known: bool = False) -> tuple[Needle, ...]:
    """Return what to look for, the strongest first.

    `is_known` says that the file of a place is known already, so that its bare name
    would tell nothing new.
    """
    if isinstance(literal, Quotation):
        return tuple(Needle("text", _quoted(piece)) for piece in literal.pieces)
    if isinstance(literal, Commit):
        return (Needle("commit", literal.name),)
    if isinstance(literal, Source):
        return (Needle("url", literal.url.rstrip("/")),)
    return _place_needles(literal, is_known=is_known)


def _place_needles(place: Place, *, is_known: bool) -> tuple[Needle, ...]:
    path = normal_path(place.path)
    name = path.rpartition("/")[2]
    found = [Needle("place", f"{name}:{place.first}", path)]
    if name.endswith((".py", ".pyi")):  # as a traceback of Python names it
        found.append(Needle("place", f"{name}', line {place.first}", path))
    return tuple(found) if is_known else (*found, Needle("file", name, path))


_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
_ARROWED = re.compile(r"^[^\S\n]*(?:\d+→[^\S\n]*)+", re.MULTILINE)
_TABBED = re.compile(r"^[ \t]*(\d{1,9})\t", re.MULTILINE)
_STRAIGHT = str.maketrans("“”„‟‘’‚‛", "\"\"\"\"''''")


def flatten(text: str) -> str:
    """Return `text` without colours, line numbers and layout, every quote a straight one.

    Who quotes what holds quotes writes the inner ones in another way. A flat text is
    its own flat text.
    """
    if "\x1b" in text:
        text = _ESCAPES.sub("", text).replace("\x1b", "")
    if "\t" in text:
        text = _without_tabbed_numbers(text)
    if "→" in text:
        text = _ARROWED.sub("", text)
    if not text.isascii():
        text = text.translate(_STRAIGHT)
    return " ".join(text.replace('"', "'").split())


def _without_tabbed_numbers(text: str) -> str:
    """Take out numbers that count the lines; the first column of a table stays."""
    found = list(_TABBED.finditer(text))
    numbers = [int(match[1]) for match in found]
    kept: list[str] = []
    done = 0
    for place, match in enumerate(found):
        if (
            numbers[place] + 1 in numbers[place + 1 : place + 2]
            or numbers[place] - 1 in numbers[max(0, place - 1) : place]
        ):
            kept.append(text[done : match.start()])
            done = match.end()
    return "".join((*kept, text[done:]))


def _quoted(piece: str) -> str:
    """Return the flat `piece`; of one line the number is left out, table or not."""
    return flatten(piece if "\n" in piece else _TABBED.sub("", piece))


def places_of(needle: Needle, flat: str) -> Iterator[int]:
    """Yield where the text of `needle` stands in `flat`, fitting or not."""
    place = flat.find(needle.text)
    while place >= 0:
        yield place
        place = flat.find(needle.text, place + 1)


def fits(needle: Needle, flat: str, place: int) -> bool:
    """Say whether what stands at `place` is the needle and not a part of something else."""
    if needle.kind == "text":
        return True
    end = place + len(needle.text)
    before, after = flat[place - 1 : place], flat[end : end + 1]
    if needle.kind == "commit":
        return not _is_name(before)
    if needle.kind == "url":
        return after != "/" or not _is_name(flat[end + 1 : end + 2])
    if _is_name(after) or before == "-" or _is_name(before):
        return False
    return may_mean(needle.path, normal_path(_path_up_to(flat, place) + _name_of(needle)))


def _name_of(needle: Needle) -> str:
    return needle.path.rpartition("/")[2]


def _path_up_to(flat: str, place: int, reach: int = 240) -> str:
    start = place
    while start > max(0, place - reach) and (
        _is_name(flat[start - 1]) or flat[start - 1] in "/\\.-@~+"
    ):
        start -= 1
    return flat[start:place]


def _is_name(character: str) -> bool:
    return character == "_" or character.isalnum()
