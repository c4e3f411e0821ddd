"""Resources: the record of every thread, page by page; reading one is not an event."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

from mcp import types

from counterfoil.core.context import MOST_OUTPUT
from counterfoil.core.errors import InvalidIdError, NotFoundError
from counterfoil.core.events import Event, PagesRetrieved, PageWritten, ToolReturned
from counterfoil.core.ids import EventId, ThreadId
from counterfoil.engine.agent import Agent
from counterfoil.faces.mcp.addresses import SCHEME, Address, no_resource, number, parse_address
from counterfoil.faces.mcp.paging import ROWS, page_of, page_of_rows, page_of_text
from counterfoil.faces.mcp.rows import (
    entry_json,
    event_json,
    grant_json,
    sent_json,
    size,
    thread_json,
    turn_json,
)
from counterfoil.wire.receipt import receipt_to_json

LATEST = 100
"""Events of the whole ledger that `audit` shows."""

Shown = dict[str, object]


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind of resource: its URI, what it shows, and how; `*` is any one part."""

    uri: str
    meaning: str
    read: Callable[["ResourceViews", Address], Shown]
    is_paged: bool = True
    has_turns: bool = False

    @property
    def pattern(self) -> tuple[str, ...]:
        """The parts of its address, a part in braces as `*`."""
        return tuple("*" if part.startswith("{") else part for part in self.uri.split("/"))

    @property
    def is_template(self) -> bool:
        """Whether there is one for each of something."""
        return "{" in self.uri

    @property
    def name(self) -> str:
        """What a list calls it."""
        return self.uri.replace("{", "").replace("}", "")

    @property
    def template(self) -> str:
        """The URI template, with what can stand behind the question mark."""
        names = ["page"] * self.is_paged + ["turn"] * self.has_turns
        query = f"{{?{','.join(names)}}}" if names else ""
        return f"{SCHEME}{self.uri}{query}"

    def answers(self, address: Address) -> bool:
        """Whether `address` is one of its addresses."""
        pattern = self.pattern
        return len(pattern) == len(address.parts) and all(
            wanted in {"*", part} for wanted, part in zip(pattern, address.parts, strict=True)
        )


class ResourceViews:
    """Reads resources out of the record; it may block."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def read(self, uri: str) -> Shown:
        """Return what the resource shows.

        Raises:
            NotFoundError: There is no such resource, thread, turn, event or page.
            InvalidIdError: The URI names a thread or an event that there cannot be.
        """
        address = parse_address(uri)
        for resource in RESOURCES:
            if resource.answers(address):
                if address.turn is not None and not resource.has_turns:
                    raise no_resource(uri)
                if address.page is not None and not resource.is_paged:
                    raise no_resource(uri)
                return resource.read(self, address)
        raise no_resource(uri)

    def tools(self, address: Address) -> Shown:
        """Return the tools that a thread can have."""
        return page_of_rows(
            self._agent.tools(), address, lambda row: {"name": row[0], "description": row[1]}
        )

    def config(self, _: Address) -> Shown:
        """Return every setting."""
        return dict(self._agent.config())

    def status(self, _: Address) -> Shown:
        """Return what serves, and what is open."""
        open_threads = self._agent.threads.open_threads
        return {
            "version": self._agent.version,
            "store": self._agent.store,
            "sandbox": self._agent.sandbox,
            "openThreads": [
                {"thread": str(thread.id), "model": thread.model, "turn": thread.turn}
                for thread in open_threads
            ],
        }

    def approvals(self, address: Address) -> Shown:
        """Return the grants that stand, and those of the threads that are open."""
        asked = [None, *(thread.id for thread in self._agent.threads.open_threads)]
        grants = {grant.id: grant for one in asked for grant in self._agent.grants(one)}
        return page_of_rows([*grants.values()], address, grant_json)

    def latest(self, address: Address) -> Shown:
        """Return the last events of the ledger, oldest first."""
        return page_of_rows([*self._agent.latest(LATEST)], address, event_json)

    def audit(self, address: Address) -> Shown:
        """Return the events of a thread, or of one turn of it."""
        thread = ThreadId(address.parts[1])
        events = [*self._agent.views.events(thread, address.turn)]
        return page_of_rows(events, address, event_json)

    def threads(self, address: Address) -> Shown:
        """Return every thread."""
        return page_of_rows([*self._agent.views.threads()], address, thread_json)

    def thread(self, address: Address) -> Shown:
        """Return a thread and its turns."""
        thread = ThreadId(address.parts[1])
        views = self._agent.views
        shown = thread_json(views.thread(thread))
        is_open = self._agent.threads.find(thread) is not None
        return {**shown, "isOpen": is_open, **page_of_rows(views.turns(thread), address, turn_json)}

    def entries(self, address: Address) -> Shown:
        """Return the entries of a thread."""
        thread = ThreadId(address.parts[1])
        self._agent.views.thread(thread)
        page = page_of(self._agent.views.count(thread), address)
        rows = self._agent.views.entries(thread, page.first + 1, ROWS)
        return page.with_rows(map(entry_json, rows))

    def entry(self, address: Address) -> Shown:
        """Return one entry with its text, page by page."""
        thread = ThreadId(address.parts[1])
        row = self._agent.views.entry(thread, number(address.parts[3], "entry"))
        return {**entry_json(row), **page_of_text(row.text, address)}

    def receipt(self, address: Address) -> Shown:
        """Return the receipt of a turn, exactly as it was handed out."""
        thread, turn = ThreadId(address.parts[1]), number(address.parts[3], "turn")
        return receipt_to_json(self._agent.views.receipt(thread, turn))

    def context(self, address: Address) -> Shown:
        """Return what the model read in a turn, or would read next, entry by entry."""
        thread, which = ThreadId(address.parts[1]), address.parts[3]
        turn = None if which == "next" else number(which, "turn")
        view = self._agent.views.context(thread, turn)
        head = {
            "thread": str(view.thread),
            "turn": view.turn,
            "isNext": view.is_next,
            "estimatedTokens": view.tokens,
        }
        return {**head, **page_of_rows(view.sent, address, sent_json)}

    def output(self, address: Address) -> Shown:
        """Return the whole output that an event holds, page by page."""
        thread, event = ThreadId(address.parts[1]), EventId(address.parts[3])
        text = self._agent.views.output(thread, event)
        if size(text) > MOST_OUTPUT:  # as a model read it; the record has all of it
            text = self._whole(thread, event, text)
        return {"event": str(event), **page_of_text(text, address)}

    def _whole(self, thread: ThreadId, id_: EventId, text: str) -> str:
        found = next(event for event in self._agent.views.events(thread) if event.id == id_)
        payload = found.payload
        return (payload.output or text) if isinstance(payload, ToolReturned) else text

    def pages(self, address: Address) -> Shown:
        """Return the pages that a thread wrote and retrieved."""
        thread = ThreadId(address.parts[1])
        events = self._agent.views.events(thread)
        rows = [*chain.from_iterable(_page_rows(event) for event in events)]
        return page_of_rows(rows, address, lambda row: row)


def read_resource(views: ResourceViews, uri: str) -> Shown:
    """Return what the resource at `uri` shows.

    Raises:
        NotFoundError: There is none; an id that nothing can have is no other case.
    """
    try:
        return views.read(uri)
    except InvalidIdError as error:
        raise NotFoundError(error.found, error.expected, error.advice) from error


def listed_resources() -> Iterator[types.Resource]:
    """Yield the resources that there is one of each."""
    for resource in RESOURCES:
        if not resource.is_template:
            yield types.Resource(
                uri=SCHEME + resource.uri,
                name=resource.name,
                description=resource.meaning,
                mime_type=JSON,
            )


def listed_templates() -> Iterator[types.ResourceTemplate]:
    """Yield the kinds of resources that there are many of."""
    for resource in RESOURCES:
        if resource.is_template:
            yield types.ResourceTemplate(
                uri_template=resource.template,
                name=resource.name,
                description=resource.meaning,
                mime_type=JSON,
            )


def _page_rows(event: Event) -> Iterator[Shown]:
    payload = event.payload
    at: Shown = {"turn": event.turn, "event": str(event.id)}
    if isinstance(payload, PageWritten):
        is_own = payload.run == event.thread
        origin = "here" if is_own else f"inherited:{payload.run}"
        yield {"handle": f"{origin}::{payload.page}", "action": "written", **at}
    elif isinstance(payload, PagesRetrieved):
        yield from ({"handle": one, "action": "retrieved", **at} for one in payload.handles)


JSON = "application/json"

_V = ResourceViews
_THREAD = "threads/{thread_id}"

RESOURCES = (
    Resource("tools", "The tools that a thread can be given.", _V.tools),
    Resource("config", "Every setting with its value.", _V.config, is_paged=False),
    Resource("status", "The version, the store, and the open threads.", _V.status, is_paged=False),
    Resource("approvals", "What persons have granted beyond one command.", _V.approvals),
    Resource("audit", f"The last {LATEST} events of the ledger, oldest first.", _V.latest),
    Resource(
        "audit/{thread_id}",
        "Every event of a thread, or those of one turn.",
        _V.audit,
        has_turns=True,
    ),
    Resource("threads", "Every thread, the one that began first at the head.", _V.threads),
    Resource(_THREAD, "A thread and its turns.", _V.thread),
    Resource(f"{_THREAD}/entries", "The entries of a thread, each with its reference.", _V.entries),
    Resource(f"{_THREAD}/entries/{{number}}", "One entry with its text.", _V.entry),
    Resource(
        f"{_THREAD}/turns/{{turn}}/receipt", "The receipt of a turn.", _V.receipt, is_paged=False
    ),
    Resource(
        f"{_THREAD}/context/{{turn}}",
        "What the model read in a turn, or with 'next' would read, entry by entry.",
        _V.context,
    ),
    Resource(f"{_THREAD}/output/{{event}}", "The whole output that an event holds.", _V.output),
    Resource(f"{_THREAD}/pages", "The pages that a thread wrote and retrieved.", _V.pages),
)
"""Every kind of resource."""
