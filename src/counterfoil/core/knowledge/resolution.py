"""What a reference means in a view: every page that answers to it, and no guess.

The verdict is derived from the candidates. There is no nearest, newest or shared match;
two pages with one id in one origin stay two, even for a qualified reference
(references.md section 2).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from counterfoil.core.errors import UnresolvedReferencesError
from counterfoil.core.ids import HERE, SHARED, Origin
from counterfoil.core.knowledge.names import link_name
from counterfoil.core.knowledge.view import (
    View,
    VisiblePage,
    id_key,
    is_path,
    last_segment,
    name_key,
    own_origin,
)
from counterfoil.core.refs.pages import Malformed, PageReference, format_handle, parse_handle

_MOST = 100
"""Candidates for which a handle is looked for; a name of more needs another name."""

PageVerdict = Literal["resolved", "missing", "ambiguous", "malformed", "needs_run_context"]


@dataclass(frozen=True, slots=True)
class PageResolution:
    """A reference, as it was written, with all of its candidates in chain order.

    `needs_run` says that one store alone cannot tell what it means.
    """

    written: str
    reference: PageReference | Malformed
    candidates: tuple[VisiblePage, ...] = ()
    needs_run: bool = False

    @property
    def verdict(self) -> PageVerdict:
        """Derived from the candidates, so the two can never disagree."""
        if isinstance(self.reference, Malformed):
            return "malformed"
        if self.needs_run:
            return "needs_run_context"
        if not self.candidates:
            return "missing"
        return "resolved" if len(self.candidates) == 1 else "ambiguous"

    @property
    def page(self) -> VisiblePage | None:
        """The one page that is meant, when it is one."""
        return self.candidates[0] if self.verdict == "resolved" else None


def resolve_handle(view: View, text: str, *, holder: Origin = HERE) -> PageResolution:
    """Weigh the handle `text`, as it stands in a page of the origin `holder`."""
    reference = parse_handle(text)
    if isinstance(reference, Malformed):
        return PageResolution(text, reference)
    return resolve_reference(view, reference, written=text, holder=holder)


def resolve_reference(
    view: View, reference: PageReference, *, written: str | None = None, holder: Origin = HERE
) -> PageResolution:
    """Weigh `reference`, as it stands in a page of the origin `holder`."""
    written = format_handle(reference) if written is None else written
    if view.run is None and reference.origin not in (None, HERE):
        return PageResolution(written, reference, needs_run=True)
    found = tuple(view.called(id_key(reference.id)))
    origin = own_origin(reference, holder)
    if origin is not None:
        found = tuple(page for page in found if page.origin == origin)
    return PageResolution(written, reference, found)


def resolve_handles(
    view: View, texts: Iterable[str], *, holder: Origin = HERE
) -> tuple[PageResolution, ...]:
    """Weigh each of `texts`, in the order asked, dropping none."""
    return tuple(resolve_handle(view, text, holder=holder) for text in texts)


def require_pages(
    view: View, texts: Iterable[str], *, holder: Origin = HERE
) -> tuple[VisiblePage, ...]:
    """Return the page of each of `texts`, in the order asked.

    Raises:
        UnresolvedReferencesError: Some resolve to no page or to several; it carries
            their rows alone, missing ones first.
    """
    rows = resolve_handles(view, texts, holder=holder)
    unresolved = [row for row in rows if row.page is None]
    if unresolved:
        unresolved.sort(key=lambda row: bool(row.candidates))
        raise UnresolvedReferencesError(unresolved)
    return tuple(row.candidates[0] for row in rows)


def resolve_link(view: View, target: str, *, holder: Origin = HERE) -> PageResolution:
    """Weigh the target of a wikilink in a page of the origin `holder`.

    A handle first; names and paths are compared where no page has exactly that id
    (knowledge.md section 1).
    """
    found = resolve_handle(view, target, holder=holder)
    reference = found.reference
    if found.verdict != "missing" or isinstance(reference, Malformed) or reference.origin:
        return found
    return PageResolution(target, reference, _named(view, reference.id))


def _named(view: View, target: str) -> tuple[VisiblePage, ...]:
    if not is_path(target):
        return tuple(view.called(name_key(target)))
    wanted = link_name(target.removesuffix(".md"))
    return tuple(
        page
        for page in view.called(name_key(last_segment(target)))
        if link_name(page.page.place) == wanted
    )


def handles_to_paste(view: View, found: Sequence[VisiblePage], holder: VisiblePage) -> list[str]:
    """Return the handles that, written in `holder`, mean one page of `found` each.

    The page itself is none of them. A page of the reader cannot be named in a page of
    an ancestor, nor one of two pages of one origin and id.
    """
    handles: list[str] = []
    for candidate in found[:_MOST]:
        origin = _name_of_origin(candidate.origin, holder.origin)
        if origin is None or candidate.is_at(holder):
            continue
        reference = PageReference(origin, candidate.page.id)
        page = resolve_reference(view, reference, holder=holder.origin).page
        if page is not None and not page.is_at(holder):
            handles.append(format_handle(reference))
    return list(dict.fromkeys(handles))


def _name_of_origin(origin: Origin, holder: Origin) -> Origin | None:
    """Return how a page of `holder` names `origin`, `None` where it cannot."""
    if origin == holder:
        return SHARED if holder == SHARED else HERE
    return None if origin == HERE else origin
