"""The checks of a page: one list, behind lint, validate, the library and every face.

Each check asks a view about one page, so that a page can be checked again without the
others; what a change of one page can change elsewhere is in `affected`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from counterfoil.core.ids import PageId
from counterfoil.core.knowledge.audit import (
    SHOWN,
    candidates_of,
    citation_findings,
    distinct_handles,
    fault_finding,
    malformed_finding,
    several,
)
from counterfoil.core.knowledge.findings import Finding
from counterfoil.core.knowledge.names import link_name
from counterfoil.core.knowledge.pages import FieldSpot, Link, Page, Spot, TextSpot
from counterfoil.core.knowledge.resolution import (
    PageResolution,
    handles_to_paste,
    resolve_handle,
    resolve_link,
)
from counterfoil.core.knowledge.view import (
    SourceRegistry,
    View,
    VisiblePage,
    id_key,
    link_keys,
    name_key,
    names_of,
)
from counterfoil.core.refs.pages import MALFORMED_TEXT, Malformed, PageReference, parse_handle

Check = Callable[[View, VisiblePage], Iterator[Finding]]

_WHOLE = TextSpot(1)
"""A finding about a page as a whole stands on its first line."""


def page_findings(view: View, visible: VisiblePage) -> list[Finding]:
    """Return every finding about one page, in no particular order; some may be silenced."""
    found = [finding for check in CHECKS for finding in check(view, visible)]
    return with_silences(found, visible.page)


def with_silences(found: list[Finding], page: Page) -> list[Finding]:
    """Return `found` with the reason of each finding that the page itself silences."""
    if not page.silences:
        return found
    reasons = {silence.code: silence.reason for silence in page.silences}
    return [replace(finding, silenced=reasons.get(finding.code)) for finding in found]


def check_faults(_: View, visible: VisiblePage) -> Iterator[Finding]:
    """Yield what was wrong with the page before any other was looked at."""
    return (fault_finding(visible, fault) for fault in visible.page.faults)


def check_contradictions(view: View, visible: VisiblePage) -> Iterator[Finding]:
    """Yield contradictions that do not name one other page."""
    for item in distinct_handles(visible.page.contradicts):
        spot = FieldSpot("contradicts", item.item)
        found = resolve_handle(view, item.text, holder=visible.origin)
        page = found.page
        if isinstance(found.reference, Malformed):
            yield malformed_finding(visible, found.reference, spot)
        elif found.needs_run:
            yield _needs_run(visible, spot, found.written)
        elif page is None or page.is_at(visible):
            yield _finding(
                visible,
                "broken-contradiction",
                spot,
                f"{found.written!r} {_what_is_named(found, visible)}",
                written=found.written,
                candidates=found.candidates,
                handles=handles_to_paste(view, found.candidates, visible),
            )


def _what_is_named(found: PageResolution, visible: VisiblePage) -> str:
    if not found.candidates:
        return "names no page that can be seen from here"
    if len(found.candidates) == 1 and found.candidates[0].is_at(visible):
        return "names the page itself"
    return f"names {len(found.candidates)} pages: {several(found.candidates)}"


def check_links(view: View, visible: VisiblePage) -> Iterator[Finding]:
    """Yield links that name no page, or several; each target once, at its first place."""
    for link in distinct_links(visible.page.links):
        found = resolve_link(view, link.target, holder=visible.origin)
        if found.page is not None:
            continue
        spot = TextSpot(link.line, link.column)
        if found.needs_run:
            yield _needs_run(visible, spot, link.target)
        elif found.candidates:
            yield _ambiguous_link(view, visible, link, found)
        else:
            yield _finding(visible, "broken-link", spot, _broken(link, found), written=link.target)


def distinct_links(links: Sequence[Link]) -> list[Link]:
    """Return each target once, at its first place, however it is spelled."""
    first: dict[str, Link] = {}
    for link in links:
        first.setdefault(link_name(link.target), link)
    return list(first.values())


def count_links(page: Page) -> int:
    """Return how many targets a page links to, each counted once."""
    return len({link_name(link.target) for link in page.links})


def _broken(link: Link, found: PageResolution) -> str:
    if isinstance(found.reference, Malformed):
        return f"[[{link.target}]] is no handle: {MALFORMED_TEXT[found.reference.reason]}"
    return f"[[{link.target}]] names no page: no id, title, alias, file name or path"


def _ambiguous_link(view: View, visible: VisiblePage, link: Link, found: PageResolution) -> Finding:
    handles = handles_to_paste(view, found.candidates, visible)
    advice = f"write [[{']] or [['.join(handles[:10])}]]" if handles else "link to the path"
    return _finding(
        visible,
        "ambiguous-link",
        TextSpot(link.line, link.column),
        f"[[{link.target}]] names {len(found.candidates)} pages: {several(found.candidates)};"
        f" {advice}",
        written=link.target,
        candidates=found.candidates,
        handles=handles,
    )


def check_sources(view: View, visible: VisiblePage) -> Iterator[Finding]:
    """Yield sources, and anchors of sources, that the store does not have."""
    registry = view.registry(visible.origin)
    if registry.fault is not None:  # one finding about the registry says it
        return
    seen: set[str] = set()
    for text, item in visible.page.sources:
        if text not in registry.anchors and text not in seen:
            seen.add(text)
            message = f"no source {text!r} is registered in this store"
            spot = FieldSpot("sources", item)
            yield _finding(visible, "missing-source", spot, message, written=text)
    yield from _footnotes(registry, visible)


def _footnotes(registry: SourceRegistry, visible: VisiblePage) -> Iterator[Finding]:
    seen: set[tuple[str, str | None]] = set()
    for note in visible.page.footnotes:
        anchors = registry.anchors.get(note.source)
        if (note.source, note.anchor) in seen or (anchors is None and note.is_defined):
            continue
        seen.add((note.source, note.anchor))
        spot = TextSpot(note.line, note.column)
        written = note.source if note.anchor is None else f"{note.source}#{note.anchor}"
        if anchors is None:
            message = f"[^{written}] is no footnote of the page, nor a source of this store"
            yield _finding(visible, "missing-source", spot, message, written=written)
        elif note.anchor is not None and note.anchor not in anchors:
            message = f"source {note.source!r} has no anchor {note.anchor!r}"
            yield _finding(visible, "missing-source", spot, message, written=written)


def check_ids(view: View, visible: VisiblePage) -> Iterator[Finding]:
    """Yield that another page of the store has this id, or one that differs in letter case."""
    page = visible.page
    spot = FieldSpot("id") if page.is_id_written else _WHOLE
    same = _group(view, visible, _Group("=", page.id, id_key(page.id)), lambda _: True)
    if len(same) > 1:
        message = f"id {page.id!r} is also that of"
        yield _of_group(visible, "duplicate-page-id", spot, message, same)
    near = _group(view, visible, _Group("^", page.id, name_key(page.id)), _differs_in_case(page.id))
    if near:
        message = f"id {page.id!r} differs only in letter case from that of"
        yield _of_group(visible, "id-case-collision", spot, message, (visible, *near))


def _differs_in_case(page: PageId) -> Callable[[Page], bool]:
    folded = page.casefold()
    return lambda other: other.id != page and other.id.casefold() == folded


def check_titles(view: View, visible: VisiblePage) -> Iterator[Finding]:
    """Yield that another page of the store has this title."""
    page = visible.page
    name, key = link_name(page.title), name_key(page.title)
    same = _group(
        view, visible, _Group("#", name, key), lambda other: link_name(other.title) == name
    )
    if len(same) > 1:
        spot = FieldSpot("title") if page.is_title_written else _WHOLE
        message = f"title {page.title!r} is also that of"
        yield _of_group(visible, "duplicate-title", spot, message, same)


class _Group(NamedTuple):
    """What pages have in common, and the key under which all of them are found."""

    kind: str
    value: str
    key: str


def _group(
    view: View, visible: VisiblePage, group: _Group, belongs: Callable[[Page], bool]
) -> Sequence[VisiblePage]:
    """Return the pages of the page's own store that belong to `group`.

    A store may have thousands of pages of one title: they are gathered once for all.
    """
    name = f"{group.kind}{visible.origin}\0{group.value}"
    if name not in view.groups:
        view.groups[name] = tuple(
            other
            for other in view.called(group.key)
            if other.origin == visible.origin and belongs(other.page)
        )
    return view.groups[name]


def _of_group(
    visible: VisiblePage, code: str, spot: Spot, message: str, group: Sequence[VisiblePage]
) -> Finding:
    """Return a finding that names the others of `group`: the first ones, and how many more."""
    first = [page for page in group[: SHOWN + 1] if not page.is_at(visible)][:SHOWN]
    written = visible.page.title if code == "duplicate-title" else visible.page.id
    shown = f"{message} {several(first, len(group) - 1)}"
    return _finding(visible, code, spot, shown, written=written, candidates=first)


def check_connections(view: View, visible: VisiblePage) -> Iterator[Finding]:
    """Yield that the page refers to no other, and that no other refers to it."""
    if visible.page.frontmatter != "bad" and not _refers_to_another(view, visible):
        yield _finding(visible, "no-outlinks", _WHOLE, "the page refers to no other page")
    if not any(
        _refers_to(view, other, visible, key)
        for key in sorted(names_of(visible.page))
        for other in view.naming(key)
        if not other.is_at(visible)
    ):
        yield _finding(visible, "orphan", _WHOLE, "no other page refers to this one")


def _refers_to_another(view: View, visible: VisiblePage) -> bool:
    page = visible.page
    for item in (*page.cites, *page.contradicts):
        if _is_of_another(resolve_handle(view, item.text, holder=visible.origin), visible):
            return True
    return any(
        _is_of_another(resolve_link(view, link.target, holder=visible.origin), visible)
        for link in page.links
    )


def _is_of_another(found: PageResolution, visible: VisiblePage) -> bool:
    if isinstance(found.reference, Malformed):
        return False
    return found.page is None or not found.page.is_at(visible)


def _refers_to(view: View, other: VisiblePage, visible: VisiblePage, key: str) -> bool:
    """Say whether something that `other` writes under `key` resolves to `visible`."""
    for item in (*other.page.cites, *other.page.contradicts):
        reference = parse_handle(item.text)
        if isinstance(reference, PageReference) and id_key(reference.id) == key:
            found = resolve_handle(view, item.text, holder=other.origin)
            if found.page is not None and found.page.is_at(visible):
                return True
    for link in other.page.links:
        if key in link_keys(link.target):
            found = resolve_link(view, link.target, holder=other.origin)
            if found.page is not None and found.page.is_at(visible):
                return True
    return False


def literal_findings(visible: VisiblePage) -> Iterator[Finding]:
    """Yield that the page does not write its id, or its title: what a strict store wants."""
    page = visible.page
    written = {"id": page.is_id_written, "title": page.is_title_written}
    for field in (field for field, is_written in written.items() if not is_written):
        message = f"the page has no {field} of its own; {getattr(page, field)!r} was made for it"
        yield _finding(visible, f"no-literal-{field}", _WHOLE, message)


CHECKS: tuple[Check, ...] = (
    check_faults,
    citation_findings,
    check_contradictions,
    check_links,
    check_sources,
    check_ids,
    check_titles,
    check_connections,
)
"""Every check of one page; a new one is here, or nowhere."""


def _needs_run(visible: VisiblePage, spot: Spot, written: str) -> Finding:
    message = f"{written!r} names a page of another store; it is checked with --run"
    return _finding(visible, "needs-run-context", spot, message, written=written)


def _finding(  # noqa: PLR0913 - the parts of a finding
    visible: VisiblePage,
    code: str,
    spot: Spot,
    message: str,
    *,
    written: str | None = None,
    candidates: Sequence[VisiblePage] = (),
    handles: Sequence[str] = (),
) -> Finding:
    return Finding(
        code=code,
        origin=visible.origin,
        path=visible.page.path,
        page=visible.page.id,
        spot=spot,
        message=message,
        written=written,
        candidates=candidates_of(candidates),
        handles=tuple(handles),
    )
