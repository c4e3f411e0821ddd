"""What can be seen from one run, asked by name: the seam between checks and where pages are.

A page is called by its id, exactly, and by its names: id, title, aliases and file stem
in the form in which names of links compare. A page writes the names of what it refers
to. Both ways are asked by key, so that a check of one page costs what the page has, in
a chain of ten pages or of a million, in memory or in an index on disk.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol
from zlib import crc32

from counterfoil.core.ids import HERE, Origin, PageAddress, PageId, RunId
from counterfoil.core.knowledge.names import link_name
from counterfoil.core.knowledge.pages import Page
from counterfoil.core.refs.pages import PageReference, parse_handle


class VisiblePage(NamedTuple):
    """A page and the origin that it has, seen from one run."""

    origin: Origin
    page: Page

    @property
    def address(self) -> PageAddress:
        """Where the page stands."""
        return PageAddress(self.origin, self.page.path, self.page.id)

    def is_at(self, other: "VisiblePage") -> bool:
        """Say whether `other` is the same page."""
        return self.origin == other.origin and self.page.path == other.page.path


@dataclass(frozen=True, slots=True)
class SourceRegistry:
    """The sources of one store: id to anchors, and digests that several ids have.

    `fault` says why the registry cannot be read; then nothing is known of its sources.
    """

    anchors: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    repeated: tuple[tuple[str, tuple[str, ...]], ...] = ()
    fault: str | None = None


class View(Protocol):
    """All pages visible to a run, or to a store alone, at one instant."""

    @property
    def run(self) -> RunId | None:
        """The run; `None` for one store without run context."""
        ...

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The origins in chain order: own pages, ancestors nearest first, shared."""
        ...

    def called(self, key: str) -> Sequence[VisiblePage]:
        """Return the pages that `key` is a name of, in chain order."""
        ...

    def naming(self, key: str) -> Sequence[VisiblePage]:
        """Return the pages that write a reference under `key`, in chain order."""
        ...

    def invalidated(self) -> Sequence[VisiblePage]:
        """Return the pages that are taken back, in chain order."""
        ...

    def registry(self, origin: Origin) -> SourceRegistry:
        """Return the sources registered in the store of `origin`."""
        ...

    @property
    def groups(self) -> dict[str, tuple[VisiblePage, ...]]:
        """What checks keep of one page for the next: it lives as long as the view."""
        ...


def id_key(page: PageId) -> str:
    """Return the key under which the pages with exactly this id are found."""
    return f"={page}"


def name_key(text: str) -> str:
    """Return the key under which pages with this name are found."""
    return f"~{link_name(text)}"


def last_segment(target: str) -> str:
    """Return the last segment of a path written as a target, without `.md`."""
    return target.rpartition("/")[2].removesuffix(".md")


def key_number(key: str) -> int:
    """Return the number by which an index keeps a key; two keys may share one."""
    return crc32(key.encode("utf-8", "surrogatepass"))


def names_of(page: Page) -> set[str]:
    """Return every key that `page` is called by."""
    names = {name_key(page.id), name_key(page.title), name_key(page.stem)}
    names.update(name_key(alias) for alias in page.aliases)
    names.add(id_key(page.id))
    return names


def is_called(page: Page, key: str) -> bool:
    """Say whether `key` is one of the names of `page`."""
    if key.startswith("="):
        return page.id == key[1:]
    name = key[1:]
    return (
        link_name(page.id) == name
        or link_name(page.title) == name
        or link_name(page.stem) == name
        or any(link_name(alias) == name for alias in page.aliases)
    )


def keys_written(page: Page) -> set[str]:
    """Return every key under which `page` writes a reference."""
    keys = {key for _, key in _handle_keys(page)}
    for link in page.links:
        keys.update(link_keys(link.target))
    return keys


def _handle_keys(page: Page) -> Iterator[tuple[str, str]]:
    for written in (*page.cites, *page.contradicts):
        reference = parse_handle(written.text)
        if isinstance(reference, PageReference):
            yield written.text, id_key(reference.id)


def link_keys(target: str) -> tuple[str, ...]:
    """Return the keys on which the resolution of a link to `target` depends.

    A page whose id is exactly the target has the target's name as well, so a bare
    target needs its name alone, and that of its last segment where it is a path.
    """
    reference = parse_handle(target)
    if not isinstance(reference, PageReference):
        return ()
    if reference.origin is not None:
        return (id_key(reference.id),)
    if is_path(reference.id):
        return (name_key(reference.id), name_key(last_segment(reference.id)))
    return (name_key(reference.id),)


def is_path(target: str) -> bool:
    """Say whether a target is the path of a page: it ends in `.md` or holds a `/`."""
    return "/" in target or target.endswith(".md")


def own_origin(reference: PageReference, holder: Origin) -> Origin | None:
    """Return the origin that `reference` means in a page of `holder`: `here` is the page's own."""
    return holder if reference.origin == HERE else reference.origin
