"""A brief: hits as a few lines of text that fit where they have to go.

The text and the hits of a brief are of the same pages, always: what does not fit is in
neither, and is counted.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from counterfoil.core.knowledge.search import Hit, InvalidSearchError
from counterfoil.core.plain import plain

BRIEF_HITS = 5
BRIEF_CHARACTERS = 4000
"""What a brief holds where nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """A text of at most the characters asked for, its hits, and how many did not fit."""

    text: str
    hits: tuple[Hit, ...]
    left_out: int


def brief_of(hits: Iterable[Hit], *, max_characters: int = BRIEF_CHARACTERS) -> Brief:
    """Return as many of `hits`, from the first on, as `max_characters` have room for.

    The first that does not fit ends the brief: a better page is never left out for a
    shorter one. A line is a page: its handle, its title and its snippet.

    Raises:
        InvalidSearchError: `max_characters` is no whole number from 0.
    """
    if type(max_characters) is not int or max_characters < 0:
        raise InvalidSearchError(f"room for {max_characters!r} characters", "a whole number from 0")
    given = tuple(hits)
    text = ""
    for count, hit in enumerate(given):
        longer = f"{text}{line_of(hit)}\n"
        if len(longer) > max_characters:
            return Brief(text=text, hits=given[:count], left_out=len(given) - count)
        text = longer
    return Brief(text=text, hits=given, left_out=0)


def line_of(hit: Hit) -> str:
    """Return the one line that a brief has for `hit`."""
    title = plain(" ".join(hit.title.split()))
    return (
        f"- {hit.handle} — {title}: {hit.snippet}" if hit.snippet else f"- {hit.handle} — {title}"
    )
