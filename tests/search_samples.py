"""Small chains with the text of their pages, for the tests of searches and what follows them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from counterfoil.core.ids import HERE, SHARED, Origin, PageId, RunId
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.pages import Invalidation, Link, Page, Written
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.engine.scanned_texts import ScannedTexts
from counterfoil.engine.search_pages import PageSearch
from counterfoil.ports.search import TextIndex

PARENT = Origin.inherited(RunId("r1"))
TAKEN_BACK = Invalidation(observed_at="2026-03-01T09:00:00Z", reason="wrong")

Draft = tuple[Page, str]


def draft(name: str, body: str = "", **fields: object) -> Draft:
    """Return a page called `name` below the pages directory, and its body.

    `cites`, `contradicts`, `sources` and `links` are given as texts.
    """
    given: dict[str, Any] = {"id": PageId(name.rpartition("/")[2]), "title": name}
    given.update(fields)
    for field in ("cites", "contradicts", "sources"):
        given[field] = tuple(map(Written, given.get(field, ())))
    given["links"] = tuple(Link(target, 1, 1) for target in given.get("links", ()))
    return Page(path=f"knowledge/{name}.md", **given), body


class Sample:
    """A chain of drafts by origin, and what a search needs of their files."""

    def __init__(self, drafts: Mapping[Origin, Sequence[Draft]], run: str | None = "r2") -> None:
        self.bodies = {
            (origin, page.path): body for origin, given in drafts.items() for page, body in given
        }
        self.chain = ChainSnapshot(
            [
                Store(
                    origin=origin,
                    pages=tuple(page for page, _ in given),
                    digests={page.path: _digest(page, body) for page, body in given},
                )
                for origin, given in drafts.items()
            ],
            run=None if run is None else RunId(run),
        )
        self._digests = {
            (origin, page.path): _digest(page, body)
            for origin, given in drafts.items()
            for page, body in given
        }
        self.read: list[str] = []

    def body_of(self, page: VisiblePage) -> str:
        self.read.append(page.page.path)
        return self.bodies[page.origin, page.page.path]

    def digest_of(self, page: VisiblePage) -> str:
        return self._digests[page.origin, page.page.path]

    def search(self, index: TextIndex | None = None) -> PageSearch:
        return PageSearch(
            self.chain, index or ScannedTexts(), body_of=self.body_of, digest_of=self.digest_of
        )


def here(*drafts: Draft) -> Sample:
    """Return the sample of one store."""
    return Sample({HERE: drafts}, run=None)


def chained(
    own: Iterable[Draft] = (), parent: Iterable[Draft] = (), shared: Iterable[Draft] = ()
) -> Sample:
    """Return the sample of a run, its parent and a shared store."""
    return Sample({HERE: tuple(own), PARENT: tuple(parent), SHARED: tuple(shared)})


MakeIndex = Callable[[], TextIndex]


def _digest(page: Page, body: str) -> str:
    return f"sha256:{sha256(repr((page, body)).encode()).hexdigest()}"
