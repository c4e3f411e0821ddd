"""A page that somebody wants written, in its parts: what a small model can give."""

from dataclasses import dataclass

from counterfoil.core.ids import LONGEST_PAGE, PageId
from counterfoil.core.knowledge.names import slug

_LONGEST_NAME = 200
"""Bytes of the name of a page's file, `.md` left out: some disks take 255 at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPage:
    """A page by id, with its text below the frontmatter; `cites` are handles."""

    id: PageId
    title: str
    body: str
    cites: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name that its file has where it has none yet, without `.md`."""
        made = slug(self.id).encode()[:_LONGEST_NAME].decode("utf-8", "ignore")
        return made.rstrip("-")


def page_id_of(title: str) -> PageId:
    """Return the id that a page of that title gets where none is given."""
    return PageId(slug(title)[:LONGEST_PAGE].rstrip("-"))
