"""The pages of one thread: searched, read, recorded, resolved, and checked in a reply.

A thread's pages are written under the run of the same id (design.md section 2), whose
store is made by the first page that is written. What the run sees stays open between
turns. A store only grows, so what resolves in the view that is held is taken as it is
while its file is there; only before a handle is held against a reply are the files looked
at again (receipts.md section 3). One caller at a time is served.
"""

from collections.abc import Callable, Iterable, Mapping
from threading import RLock
from typing import NamedTuple

from counterfoil.core.digests import tagged_digest
from counterfoil.core.errors import ConflictError, CounterfoilError, NotFoundError, UnreadableError
from counterfoil.core.ids import HERE, RunId
from counterfoil.core.knowledge.chain import ChainSnapshot
from counterfoil.core.knowledge.new_page import NewPage
from counterfoil.core.knowledge.resolution import PageResolution, resolve_link
from counterfoil.core.knowledge.search import Search, handle_of
from counterfoil.core.knowledge.view import id_key
from counterfoil.core.knowledge.write_blocks import parse_blocks
from counterfoil.core.refs.cited_pages import (
    Bracketed,
    CitedPages,
    HandleVerdict,
    check_pages,
)
from counterfoil.engine.chains import VisibleStores, chain_of
from counterfoil.engine.page_results import PageText, Resolved, Retrieval, qualified
from counterfoil.engine.retrieve import receipt_of
from counterfoil.engine.search_pages import PageSearch
from counterfoil.engine.stored_view import StoredView
from counterfoil.engine.stores_of_run import StoresOfRun
from counterfoil.engine.write_pages import WritableStore, WriteOutcome, write_pages


class Texts(NamedTuple):
    """What is known of written forms: what a reply has in brackets, the text of a page."""

    find_bracketed: Callable[[str], Iterable[Bracketed]]
    write_page: Callable[[NewPage], str]


class _Held(NamedTuple):
    """What was seen when the files were last looked at."""

    visible: VisibleStores
    states: tuple[int, ...]
    view: StoredView


class ThreadPages:
    """All pages that one run sees, for the tools of its thread and the check of its replies."""

    def __init__(
        self, stores: StoresOfRun, texts: Texts, *, seen: Mapping[str, str] | None = None
    ) -> None:
        """Serve the run of `stores`.

        `seen` are the digests, by path, of own pages that the thread has seen: those alone
        may it replace. `seen_pages` knows them of a thread that goes on.
        """
        self._stores = stores
        self._texts = texts
        self._seen = dict(seen or {})
        self._lock = RLock()
        self._held: _Held | None = None
        self._search: tuple[_Held, ChainSnapshot, PageSearch] | None = None

    @property
    def run(self) -> RunId:
        """The run whose pages these are."""
        return self._stores.run

    def close(self) -> None:
        """Let go of the stores."""
        with self._lock:
            self._held = self._search = None
            self._stores.close()

    def search(self, asked: Search) -> Retrieval:
        """Return the pages that answer `asked`, as they are now.

        Raises:
            CounterfoilError: The pages cannot be had.
        """
        with self._lock:
            chain, search = self._searching(self._refreshed())
            hits = search.search(asked)
            now = self._stores.now()
            receipt = receipt_of(chain, asked, hits, digest_of=chain.digest_of, now=now)
            return Retrieval(hits, receipt, len(chain))

    def resolve(self, handles: Iterable[str]) -> tuple[Resolved, ...]:
        """Return what each of `handles` comes to now, in the order asked.

        A name of a page is taken as one where no page has exactly that id.
        """
        with self._lock:
            view = self._refreshed().view
            return tuple(self._resolved(view, handle) for handle in handles)

    def read(self, handle: str) -> PageText | Resolved:
        """Return the page that `handle` means now; where it means none or several, that.

        Raises:
            NotFoundError: The file went away.
        """
        with self._lock:
            view = self._refreshed().view
            visible = resolve_link(view, handle).page
            if visible is None:
                return self._resolved(view, handle)
            content = self._stores.read(visible)
            if content is None:
                raise NotFoundError(
                    f"{visible.page.path} is gone", "the page that was there a moment ago"
                )
            return PageText(handle=handle_of(view, visible), visible=visible, content=content)

    def saw(self, page: PageText) -> None:
        """Take down that the thread has seen all of `page`, so that it may replace it."""
        if page.visible.origin == HERE:
            with self._lock:
                self._seen[page.visible.page.path] = page.digest

    def record(self, text: str) -> WriteOutcome:
        """Write the pages whose blocks stand in `text`, or return why the gate refuses them.

        The store of the run is made once something is to be written into it.

        Raises:
            CounterfoilError: As `write_pages`; a page is there that was not seen as it is.
        """
        with self._lock:
            self._held = None  # what is written is read between
            unmade = self._stores.unmade()
            if unmade is not None:
                weighed = self._written(unmade, text)
                if weighed.status == "refused":
                    return weighed
            outcome = self._written(self._stores.writable(), text)
            for page in outcome.pages:
                self._seen[page.path] = page.digest_after
            self._refreshed()
            return outcome

    def record_page(self, page: NewPage) -> WriteOutcome:
        """Write one page, given in its parts; where its id has a file, into that.

        Raises:
            CounterfoilError: As `record`; or the name of its file is another page's.
            UnreadableError: Its text cannot be written as a page.
        """
        with self._lock:
            text = self._texts.write_page(page)
            block = f"---FILE: {self._path_of(page)}---\n{text}---END FILE---\n"
            directory = self._stores.pages_directory
            if [found.text for found in parse_blocks(block, pages=directory).blocks] != [text]:
                raise UnreadableError(
                    "the body has a line ---FILE: …--- or ---END FILE--- of its own",
                    "such lines in a code fence alone",
                    "put a fence around them",
                )
            return self.record(block)

    def _path_of(self, page: NewPage) -> str:
        """Return the path of the own page of that id, or the one that a new page gets."""
        held = self._refreshed()
        own = [one for one in held.view.called(id_key(page.id)) if one.origin == HERE]
        if len(own) > 1:
            paths = ", ".join(one.page.path for one in own[:8])
            raise ConflictError(
                f"{len(own)} pages of this run have the id {str(page.id)!r}: {paths}",
                "one at most",
                "write the page as a block with its path",
            )
        if own:
            return own[0].page.path
        path = f"{self._stores.pages_directory}/{page.name}.md"
        store = held.visible.stores.get(HERE)
        there = None if store is None else store.page(path)
        if there is not None:
            raise ConflictError(
                f"{path} holds the page {str(there.id)!r}",
                f"no other page where {str(page.id)!r} would be",
                "give an id that differs in more than signs and letter case",
            )
        return path

    def _written(self, store: WritableStore, text: str) -> WriteOutcome:
        scaffolds = {f"{store.pages}/index.md", f"{store.pages}/log.md"}
        paths = {str(block.path) for block in parse_blocks(text, pages=store.pages).blocks}
        expected = {path: self._seen.get(path) for path in paths - scaffolds}
        return write_pages(store, text, expected_digests=expected)

    def unknown_in(self, reply: str) -> CitedPages:
        """Return what comes of the handles in `reply`, which never raises for want of pages."""
        cited = tuple(self._texts.find_bracketed(reply))
        if not cited:
            return CitedPages()
        with self._lock:
            try:
                return self._checked(cited)
            except CounterfoilError as error:
                return CitedPages(fault=error.found)

    def _checked(self, cited: Iterable[Bracketed]) -> CitedPages:
        if self._held is not None:
            found = check_pages(cited, self._verdict_held(self._held.view))
            if not found.unknown:
                return found
        view = self._refreshed().view
        return check_pages(cited, lambda handle: _verdict(resolve_link(view, handle)))

    def _verdict_held(self, view: StoredView) -> Callable[[str], HandleVerdict]:
        def verdict(handle: str) -> HandleVerdict:
            found = resolve_link(view, handle)
            page = found.page
            if page is not None and not self._stores.is_there(page):
                return "missing"
            return _verdict(found)

        return verdict

    def _refreshed(self) -> _Held:
        """Look at the files again, and return what is seen in them."""
        visible = self._stores.visible()
        states = tuple(store.refresh() for store in visible.stores.values())
        held = self._held
        if held is None or held.visible != visible or held.states != states:
            held = _Held(visible, states, StoredView(visible.stores, run=visible.run))
        self._held = held
        return held

    def _searching(self, held: _Held) -> tuple[ChainSnapshot, PageSearch]:
        if self._search is None or self._search[0] is not held:
            chain = chain_of(held.visible)
            search = PageSearch(
                chain,
                self._stores.text_index(held.visible),
                body_of=self._stores.body_of,
                digest_of=chain.digest_of,
                view=held.view,
            )
            self._search = (held, chain, search)
        return self._search[1:]

    def _resolved(self, view: StoredView, handle: str) -> Resolved:
        found = resolve_link(view, handle)
        page = found.page
        if page is None:
            return Resolved(resolution=found, handles=tuple(qualified(view, found)))
        content = self._stores.read(page)
        return Resolved(
            resolution=found,
            handles=(handle_of(view, page),),
            digest=None if content is None else tagged_digest(content),
        )


def _verdict(found: PageResolution) -> HandleVerdict:
    verdict = found.verdict
    return "missing" if verdict == "needs_run_context" else verdict
