"""The bytes of a page -> the page, with every fault that is seen without another page."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from counterfoil.core.ids import LONGEST_PAGE, PageId
from counterfoil.core.knowledge.fields import Fields, understand
from counterfoil.core.knowledge.names import slug
from counterfoil.core.knowledge.pages import Fault, FieldSpot, Page, Spot, TextSpot
from counterfoil.wire.frontmatter import Frontmatter
from counterfoil.wire.page_body import find_heading, find_references


class ReadPage(NamedTuple):
    """A page and what it was read out of.

    `fields` is the raw mapping, empty without frontmatter that can be read. `body` is kept
    as it is, line ends included, and begins on line `body_line` of the file.
    """

    page: Page
    fields: Mapping[str, object]
    body: str
    body_line: int


def read_page(data: bytes, path: str, *, pages_directory: str = "knowledge") -> ReadPage:
    """Return the page that `data` is, at `path` below the root of its store.

    No bytes are refused: what cannot be read is a fault of the page.
    """
    text, faults = decode(data)
    front = Frontmatter(text)
    body, line = text, 1
    if front.block is not None:
        body, line = text[front.block.body_start :], front.block.body_line
        faults += front.faults
    fields = understand(front.values, front) if front.values else _NO_FIELDS
    references = find_references(body, line)
    page = Page(
        path=path,
        id=fields.id or _made_id(path, pages_directory),
        title=fields.title or find_heading(body) or _stem(path),
        pages_directory=pages_directory,
        is_id_written=fields.id is not None,
        is_title_written=fields.title is not None,
        frontmatter=front.state,
        cites=fields.cites,
        contradicts=fields.contradicts,
        sources=fields.sources,
        tags=fields.tags,
        kind=fields.kind,
        aliases=fields.aliases,
        invalidation=fields.invalidation,
        evidence=fields.evidence,
        links=references.links,
        footnotes=references.footnotes,
        faults=faults + fields.faults + references.faults,
        silences=references.silences,
    )
    return ReadPage(page, front.values, body, line)


def _made_id(path: str, pages_directory: str) -> PageId:
    """Return the slug of the path; one too long for an id loses its end."""
    below = path[len(pages_directory) + 1 :].removesuffix(".md")
    return PageId(slug(below)[:LONGEST_PAGE].rstrip("-"))


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def locate(data: bytes, spots: Iterable[Spot]) -> dict[Spot, TextSpot]:
    """Return where in the file `data` each of `spots` stands; what is nowhere, on line 1."""
    front = Frontmatter(decode(data)[0])
    return {spot: front.place(*spot) if isinstance(spot, FieldSpot) else spot for spot in spots}


def decode(data: bytes) -> tuple[str, tuple[Fault, ...]]:
    """Return the text of `data` without a BOM, and the fault where it is not all UTF-8."""
    try:
        return data.decode().removeprefix(_BOM), ()
    except UnicodeDecodeError as error:
        return data.decode("utf-8", "replace").removeprefix(_BOM), (_damage(data, error),)


_BOM = "\ufeff"
_NO_FIELDS = Fields()


def _damage(data: bytes, error: UnicodeDecodeError) -> Fault:
    begin = data.rfind(b"\n", 0, error.start) + 1
    before = data[begin : error.start].decode("utf-8", "replace").removeprefix(_BOM)
    spot = TextSpot(data.count(b"\n", 0, begin) + 1, len(before) + 1)
    written = "".join(f"\\x{byte:02x}" for byte in data[error.start : error.end])
    message = "bytes that are not UTF-8, read as \ufffd; expected the file in UTF-8"
    return Fault("not-utf8", spot, written, message)
