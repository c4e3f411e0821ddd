"""Small texts that the tools for pages read and write."""

from collections.abc import Iterable
from typing import cast

PAGE = 4096
"""Bytes of an output; more is to be asked for, or is told to be left out."""


def bare(handle: str) -> str:
    """Return a handle without the brackets that it may have been given in.

    >>> bare(" [[shared::a|the first]] "), bare("a|b")
    ('shared::a', 'a|b')
    """
    text = handle.strip()
    if text.startswith("[[") and text.endswith("]]"):
        return text[2:-2].partition("|")[0].strip()
    return text


def cut(text: str, limit: int) -> str:
    """Return as much of `text` as fits into `limit` bytes, marked where something is lost."""
    content = text.encode("utf-8", "surrogatepass")
    if len(content) <= limit:
        return text
    return f"{content[:limit].decode('utf-8', 'ignore')}…"


def texts_of(value: object) -> list[str]:
    """Return a list of texts, or of what was given in place of one: a text alone, or nothing."""
    if isinstance(value, str):
        return [value]
    return [str(one) for one in cast("Iterable[object]", value)] if isinstance(value, list) else []
