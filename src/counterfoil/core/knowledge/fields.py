"""The fields of a page: a raw mapping -> what is understood of it, and its faults.

A field is understood, or its fault is named: nothing vanishes. A null is an absent field.
What a handle means, whether a source exists and whether ids collide is asked later, of
all pages (knowledge.md section 1).
"""

import re
from collections.abc import Mapping
from typing import NamedTuple, cast

from counterfoil.core.errors import InvalidIdError
from counterfoil.core.ids import PageId
from counterfoil.core.knowledge.evidence import read_evidence
from counterfoil.core.knowledge.invalidation import read_invalidation
from counterfoil.core.knowledge.pages import ClaimEvidence, Fault, FieldSpot, Invalidation, Written
from counterfoil.core.knowledge.writing import Writing, is_collection, named

KNOWN = frozenset({
    "id", "title", "cites", "contradicts", "sources", "tags", "kind", "aliases",
    "invalidation", "rung", "check", "expect", "evidencePath",
})  # fmt: skip
"""The fields that mean something; any other is kept and never judged."""

_DATE = re.compile(
    r"\d{4}-(?:\d\d-\d\d|\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?"
    r"[ \t]*(?:Z|[-+]\d\d?(?::?\d\d)?)?)\Z",
    re.ASCII,
)


class Fields(NamedTuple):
    """What the frontmatter of a page says; an id or title that is `None` is to be made."""

    id: PageId | None = None
    title: str | None = None
    cites: tuple[Written, ...] = ()
    contradicts: tuple[Written, ...] = ()
    sources: tuple[Written, ...] = ()
    tags: tuple[str, ...] = ()
    kind: str | None = None
    aliases: tuple[str, ...] = ()
    invalidation: Invalidation | None = None
    evidence: ClaimEvidence | None = None
    faults: tuple[Fault, ...] = ()


def understand(raw: Mapping[str, object], writing: Writing) -> Fields:
    """Return what `raw` says; `writing` is asked where the value alone does not tell."""
    reader = _Reader(raw, writing)
    if None in raw.values():
        reader.note_comments()
    evidence, faults = read_evidence(raw, writing)
    return Fields(
        reader.id() if "id" in raw else None,
        reader.title() if "title" in raw else None,
        reader.references("cites") if "cites" in raw else (),
        reader.references("contradicts") if "contradicts" in raw else (),
        reader.references("sources") if "sources" in raw else (),
        reader.texts("tags") if "tags" in raw else (),
        reader.kind() if "kind" in raw else None,
        reader.texts("aliases") if "aliases" in raw else (),
        reader.invalidation() if "invalidation" in raw else None,
        evidence,
        (*reader.faults, *faults),
    )


_HANDLE = "a handle, as `x`, `here::x`, `inherited:run::x` or `shared::x`"
_REFERENCES = {
    "cites": ("malformed-citation", _HANDLE),
    "contradicts": ("malformed-citation", _HANDLE),
    "sources": ("malformed-source", "the id of a source"),
}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


class _Reader:
    """Reads field by field and gathers the faults."""

    def __init__(self, raw: Mapping[str, object], writing: Writing) -> None:
        self._raw = raw
        self._writing = writing
        self.faults: list[Fault] = []

    def note_comments(self) -> None:
        for field, value in self._raw.items():
            if value is None and field in KNOWN:
                comment = self._writing.comment(field)
                if comment:
                    message = (
                        f"`{field}` is empty: `#` behind a space begins a comment; expected"
                        " the value in quotes, if the text behind `#` is one"
                    )
                    spot = FieldSpot(field)
                    self.faults.append(Fault("comment-in-field", spot, comment, message))

    def id(self) -> PageId | None:
        value = self._raw["id"]
        if value is None:
            return None
        if is_collection(value):
            self._malformed("id", f"`id` is {named(value)}; expected a text")
            return None
        text = value if isinstance(value, str) else self._writing.written("id")
        try:
            page = PageId(text)
        except InvalidIdError as error:
            self._malformed("id", error.diagnosis())
            return None
        is_date = text[4:5] == "-" and _DATE.match(text) and self._writing.is_plain("id")
        if is_date or not isinstance(value, str):
            what = "a date" if isinstance(value, str) else named(value)
            message = f'`id` is {what} to readers of YAML; expected the text in quotes: "{page}"'
            self.faults.append(Fault("coerced-id", FieldSpot("id"), text, message))
        return page

    def title(self) -> str | None:
        value = self._raw["title"]
        if isinstance(value, str) or value is None:
            return (value or "").strip() or None
        if is_collection(value):
            self._malformed("title", f"`title` is {named(value)}; expected a text")
            return None
        return self._writing.written("title")

    def references(self, field: str) -> tuple[Written, ...]:
        value = self._raw[field]
        if not isinstance(value, list):
            # a mapping is one item, and stands where it begins
            spot = FieldSpot(field, 0 if is_collection(value) else None)
            return () if value is None else self._reference(value, spot)
        items = cast("list[object]", value)
        texts = [
            Written(item, number)
            for number, item in enumerate(items)
            if isinstance(item, str) and item.strip()
        ]
        if len(texts) < len(items):
            for number, item in enumerate(items):
                self._reference(item, FieldSpot(field, number))
        return tuple(texts)

    def _reference(self, value: object, spot: FieldSpot) -> tuple[Written, ...]:
        if isinstance(value, str) and value.strip():
            return (Written(value, spot.item),)
        code, expected = _REFERENCES[spot.field]
        message = f"an item of `{spot.field}` is {named(value)}; expected {expected}"
        self.faults.append(Fault(code, spot, self._writing.written(*spot), message))
        return ()

    def texts(self, field: str) -> tuple[str, ...]:
        value = self._raw[field]
        if not isinstance(value, list):
            return () if value is None else self._one_text(field, value)
        items = cast("list[object]", value)
        texts = [item for item in items if isinstance(item, str) and item.strip()]
        if len(texts) < len(items):
            for number, item in enumerate(items):
                if not _is_text(item):
                    message = f"an item of `{field}` is {named(item)}; expected a text"
                    self._malformed(field, message, number)
        return tuple(texts)

    def _one_text(self, field: str, value: object) -> tuple[str, ...]:
        if isinstance(value, str) and value.strip() and "," not in value:
            return (value,)
        commas = " with commas, which is not split" if _is_text(value) else ""
        message = f"`{field}` is {named(value)}{commas}; expected a list of texts"
        self._malformed(field, message)
        return ()

    def kind(self) -> str | None:
        value = self._raw["kind"]
        if value is None or (isinstance(value, str) and value.strip()):
            return value
        self._malformed("kind", f"`kind` is {named(value)}; expected a text")
        return None

    def invalidation(self) -> Invalidation | None:
        value = self._raw["invalidation"]
        if value is None:
            return None
        found = read_invalidation(value)
        if isinstance(found, Invalidation):
            return found
        message = (
            f"`invalidation` takes nothing back: {found}; expected `verdict: contradicted`,"
            " `observedAt` (2026-03-01T09:00:00Z) and `reason`"
        )
        spot = FieldSpot("invalidation")
        written = self._writing.written("invalidation")
        self.faults.append(Fault("invalid-invalidation", spot, written, message))
        return None

    def _malformed(self, field: str, message: str, item: int | None = None) -> None:
        written = self._writing.written(field, item)
        self.faults.append(Fault("malformed-field", FieldSpot(field, item), written, message))
