"""Which pages have to be checked again after a change, and no other.

What a finding about a page rests on is found under keys: the names of pages and the
references that are written. A change touches the keys that it adds or takes away; the
pages behind them, and the changed pages, are all whose findings can differ. Pages that
rest on one taken back are told apart from this: they are checked as a whole.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from counterfoil.core.ids import Origin
from counterfoil.core.knowledge.pages import Page
from counterfoil.core.knowledge.view import View, id_key, link_keys, name_key, names_of
from counterfoil.core.refs.pages import PageReference, parse_handle


class PageChange(NamedTuple):
    """A page before and after a change; `None` where it was not, or is no more."""

    origin: Origin
    before: Page | None
    after: Page | None

    @property
    def sides(self) -> tuple[Page, ...]:
        """The page before and after, as far as there is one."""
        return tuple(page for page in (self.before, self.after) if page is not None)


def affected_paths(view: View, changes: Iterable[PageChange], origin: Origin) -> set[str]:
    """Return the paths of `origin` to check again; `view` shows what is there after."""
    paths: set[str] = set()
    for change in changes:
        if change.origin == origin and change.after is not None:
            paths.add(change.after.path)
        for key in _keys_called_otherwise(view, change):
            paths.update(_paths(view, key, origin))
        for key in _keys_written_otherwise(change):
            paths.update(page.page.path for page in view.called(key) if page.origin == origin)
    return paths


def _paths(view: View, key: str, origin: Origin) -> Iterator[str]:
    for page in (*view.called(key), *view.naming(key)):
        if page.origin == origin:
            yield page.page.path


def _keys_called_otherwise(view: View, change: PageChange) -> set[str]:
    """Return the keys whose pages are others now, are not what they were, or are told otherwise.

    A finding tells its candidates by their ids, and by handles that mean one page: where
    an id comes or goes, that is every name of each page that has it.
    """
    keys: set[str] = set()
    for page in change.sides:
        keys ^= names_of(page)
    if _has_other(change, lambda page: page.title):
        keys |= {name_key(page.title) for page in change.sides}
    if _has_other(change, lambda page: page.id):
        for page in change.sides:
            keys |= names_of(page)
            for twin in view.called(id_key(page.id)):
                keys |= names_of(twin.page)
    return keys


def _has_other(change: PageChange, ask: Callable[[Page], str]) -> bool:
    return len({ask(page) for page in change.sides}) > 1 or len(change.sides) == 1


def _keys_written_otherwise(change: PageChange) -> set[str]:
    """Return the keys under which a reference came or went."""
    changed: set[tuple[bool, str]] = set()
    for page in change.sides:
        changed ^= _references(page)
    return {key for reference in changed for key in _keys(*reference)}


def _references(page: Page) -> set[tuple[bool, str]]:
    """Return what a page writes: whether it is a link, and the text."""
    handles = {(False, item.text) for item in (*page.cites, *page.contradicts)}
    return handles | {(True, link.target) for link in page.links}


def _keys(is_link: bool, text: str) -> tuple[str, ...]:  # noqa: FBT001 - a row of a set
    if is_link:
        return (*link_keys(text), *_exactly(text))
    return _exactly(text)


def _exactly(text: str) -> tuple[str, ...]:
    reference = parse_handle(text)
    return (id_key(reference.id),) if isinstance(reference, PageReference) else ()
