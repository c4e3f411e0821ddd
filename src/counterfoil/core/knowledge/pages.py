"""A page as it is understood: what it is called, what it refers to, and its faults.

The body is not kept: what refers to something was read out of it, with its place. A
place in the frontmatter is a field and an item of it; the line is looked up when a
finding needs it, so that a store without findings never pays for it.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from counterfoil.core.ids import PageId

FrontmatterState = Literal["none", "read", "bad"]


class FieldSpot(NamedTuple):
    """A place in the frontmatter: a field, and an item of it where it is a list."""

    field: str
    item: int | None = None


class TextSpot(NamedTuple):
    """A place in the file: line and column, from 1; a column is a code point."""

    line: int
    column: int = 1


Spot = FieldSpot | TextSpot


class Written(NamedTuple):
    """A text of a field and its place in the list; no place where the field is a scalar."""

    text: str
    item: int | None = None


class Link(NamedTuple):
    """A wikilink: what it names, and the line and column in the file where it begins."""

    target: str
    line: int
    column: int
    section: str | None = None
    label: str | None = None
    is_embed: bool = False


class Footnote(NamedTuple):
    """A use of a footnote, `[^source]` or `[^source#anchor]`, and where it begins.

    `is_defined` says that the page itself has the footnote's definition.
    """

    source: str
    anchor: str | None
    is_defined: bool
    line: int
    column: int


class Fault(NamedTuple):
    """A fault of a page that is seen without any other page."""

    code: str
    spot: Spot
    written: str
    message: str


class Silence(NamedTuple):
    """A comment in the page that silences a code there, and why."""

    code: str
    reason: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Invalidation:
    """What took a page back; `more` keeps the keys that are not known, in order."""

    observed_at: str
    reason: str
    evidence_path: str | None = None
    grader: str | None = None
    more: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimEvidence:
    """How a claim was shown, by its written text; `rung` is from 1 to 5."""

    rung: int
    check: str | None = None
    expect: str | None = None
    evidence_path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of one store.

    `path` is below the root of the store, with `/`, and begins with `pages_directory`.
    `is_id_written` and `is_title_written` say that the frontmatter has them, not that
    they were made.
    """

    path: str
    id: PageId
    title: str
    pages_directory: str = "knowledge"
    is_id_written: bool = False
    is_title_written: bool = False
    frontmatter: FrontmatterState = "none"
    cites: tuple[Written, ...] = ()
    contradicts: tuple[Written, ...] = ()
    sources: tuple[Written, ...] = ()
    tags: tuple[str, ...] = ()
    kind: str | None = None
    aliases: tuple[str, ...] = ()
    invalidation: Invalidation | None = None
    evidence: ClaimEvidence | None = None
    links: tuple[Link, ...] = ()
    footnotes: tuple[Footnote, ...] = ()
    faults: tuple[Fault, ...] = ()
    silences: tuple[Silence, ...] = ()

    @property
    def place(self) -> str:
        """The path below the pages directory, without `.md`."""
        return self.path[len(self.pages_directory) + 1 :].removesuffix(".md")

    @property
    def stem(self) -> str:
        """The last segment of the path, without `.md`."""
        return self.path.rpartition("/")[2].removesuffix(".md")
