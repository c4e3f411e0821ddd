"""Receipts of retrieval: what a search returned out of what, and what became of it.

A retrieval receipt names the query, who answered it and how, the chain that was seen,
and every page returned, by its place and digest. A use receipt names one returned page
and what it was to something made with it; a disposition says that nothing came of a
retrieval. None of them states that a page is true, that a relation is right, or that
anything was better for it.

*Unavailable* is a state of its own and never the same as *empty*: what could not be
looked at may hold anything (knowledge.md section 7).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, NamedTuple, TypeAlias, Union

from counterfoil.core.errors import CounterfoilError, NotFoundError
from counterfoil.core.events import PagesRetrieved
from counterfoil.core.ids import Origin, PageId, RunId, is_instant
from counterfoil.core.knowledge.chain import ChainSnapshot
from counterfoil.core.knowledge.search import Hit
from counterfoil.core.knowledge.view import VisiblePage

Relation = Literal["supports", "contradicts", "extends", "rederives", "background"]
RELATIONS: tuple[Relation, ...] = ("supports", "contradicts", "extends", "rederives", "background")

ConsumerKind = Literal["decision", "artifact", "experiment", "candidate", "message", "other"]
CONSUMERS: tuple[ConsumerKind, ...] = (
    "decision", "artifact", "experiment", "candidate", "message", "other",
)  # fmt: skip

NoUse = Literal["irrelevant", "no-use"]
NO_USES: tuple[NoUse, ...] = ("irrelevant", "no-use")

Absence = Literal["no-reference", "missing", "failed"]
ABSENCES: tuple[Absence, ...] = ("no-reference", "missing", "failed")
"""Nobody said where it is, it is not there, or it could not be read."""


Config: TypeAlias = Union[bool, int, str, "Sequence[Config]", "Mapping[str, Config]", None]
"""A value of a configuration: what canonical JSON has, which has no floats."""

_LARGEST = 2**53 - 1


class InvalidReceiptError(CounterfoilError):
    """A receipt that contradicts itself, refused where it is made."""


class Unavailable(NamedTuple):
    """What was to be looked at cannot be had, and why."""

    reason: Absence
    message: str


class SeenPage(NamedTuple):
    """A page of a snapshot: where it stands, its id, and the digest of its bytes."""

    origin: Origin
    path: str
    id: PageId
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Every page that a run saw, in chain order: what a retrieval could have returned."""

    run: RunId | None
    pages: tuple[SeenPage, ...]

    def __post_init__(self) -> None:
        """Refuse two pages in one place."""
        most = Counter((page.origin, page.path) for page in self.pages).most_common(1)
        for (origin, path), count in most:
            if count > 1:
                raise InvalidReceiptError(
                    f"{path!r} of {str(origin)!r} is in the snapshot {count} times", "once"
                )

    @property
    def digest(self) -> str:
        """The tagged digest of what was seen: that of the chain, where it has all digests."""
        seen = sha256()
        for origin, path, page, digest in self.pages:
            seen.update(f"{origin}\0{path}\0{page}\0{digest}\n".encode())
        return f"sha256:{seen.hexdigest()}"


def snapshot_of(chain: ChainSnapshot, digest_of: Callable[[VisiblePage], str]) -> Snapshot:
    """Return every page of `chain`, with the digests of their bytes."""
    return Snapshot(
        run=chain.run,
        pages=tuple(
            SeenPage(page.origin, page.page.path, page.page.id, digest_of(page)) for page in chain
        ),
    )


class StoredAs(NamedTuple):
    """Where a snapshot was put: a name that its keeper knows, its length and its digest."""

    name: str
    bytes: int
    digest: str


class SnapshotReference(NamedTuple):
    """Which snapshot was seen, how many pages it has, and where it is kept, if anywhere."""

    digest: str
    pages: int
    stored: StoredAs | None = None


class Retriever(NamedTuple):
    """Who answered: a name, and the version that decides what the answer is."""

    id: str
    version: str


class Returned(NamedTuple):
    """A page as it was returned; the score is in millionths."""

    rank: int
    handle: str
    origin: Origin
    path: str
    id: PageId
    digest: str
    millionths: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalReceipt:
    """What one retrieval returned, the best first, or that it could not be made.

    `config` is everything beside the query that decides the answer, as JSON without
    floats. `retrieved_at` is an instant, given by whoever asks the clock.
    """

    run: RunId | None
    actor: str | None = None
    query: str
    retriever: Retriever
    config: Mapping[str, Config]
    snapshot: SnapshotReference | None
    answer: tuple[Returned, ...] | Unavailable
    retrieved_at: str

    def __post_init__(self) -> None:
        """Refuse ranks with gaps, a page returned twice, a float, and what is no instant."""
        _require_instant(self.retrieved_at)
        _require_whole(self.config)
        if not isinstance(self.answer, Unavailable):
            _require_ranks(self.answer)

    @property
    def outcome(self) -> Literal["returned", "empty", "unavailable"]:
        """Derived from the answer, so that what could not be had is never called empty."""
        if isinstance(self.answer, Unavailable):
            return "unavailable"
        return "returned" if self.answer else "empty"

    @property
    def returned(self) -> tuple[Returned, ...]:
        """The pages returned; none where nothing could be."""
        return () if isinstance(self.answer, Unavailable) else self.answer


def returned_of(hits: Sequence[Hit], digest_of: Callable[[Hit], str]) -> tuple[Returned, ...]:
    """Return `hits` as a receipt names them."""
    return tuple(
        Returned(
            rank=hit.rank,
            handle=hit.handle,
            origin=hit.address.origin,
            path=hit.address.path,
            id=hit.address.id,
            digest=digest_of(hit),
            millionths=hit.millionths,
        )
        for hit in hits
    )


class Consumer(NamedTuple):
    """What was made with a page: its kind, where it is, and its digest where it has one."""

    kind: ConsumerKind
    uri: str
    digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UseReceipt:
    """One returned page, and what it was to something made with it.

    `retrieval` is the digest of the receipt of the retrieval; `used` is copied from it.
    """

    retrieval: str
    used: Returned
    relation: Relation
    consumer: Consumer
    used_at: str

    def __post_init__(self) -> None:
        """Refuse what is no instant."""
        _require_instant(self.used_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disposition:
    """That nothing came of a retrieval, and why."""

    retrieval: str
    verdict: NoUse
    reason: str | None = None
    decided_at: str

    def __post_init__(self) -> None:
        """Refuse what is no instant."""
        _require_instant(self.decided_at)


def returned_at(receipt: RetrievalReceipt, rank: int) -> Returned:
    """Return the page that `receipt` has at `rank`.

    Raises:
        NotFoundError: Nothing was returned at this rank.
    """
    if not 1 <= rank <= len(receipt.returned):
        raise NotFoundError(f"rank {rank}", f"one of the {len(receipt.returned)} returned")
    return receipt.returned[rank - 1]


def event_of(receipt: RetrievalReceipt) -> PagesRetrieved:
    """Return the fact that the ledger keeps of a retrieval that was made by a run."""
    return PagesRetrieved(
        run=receipt.run or "",
        query=receipt.query,
        snapshot_digest=receipt.snapshot.digest if receipt.snapshot else None,
        handles=tuple(returned.handle for returned in receipt.returned),
    )


def _require_instant(text: str) -> None:
    if not is_instant(text):
        raise InvalidReceiptError(f"time {text!r}", "one like '2026-03-01T09:00:00.000Z'")


def _require_whole(value: Config) -> None:
    """Refuse what canonical JSON does not have, wherever in a configuration it is."""
    match value:
        case Mapping():
            _require_all_whole(value.values())
        case list() | tuple():
            _require_all_whole(value)
        case None | str():
            pass
        case int() if -_LARGEST <= value <= _LARGEST:
            pass
        case _:
            raise InvalidReceiptError(
                f"{value!r} in a configuration",
                "JSON with whole numbers up to 2^53 - 1",
                "write a float as text",
            )


def _require_all_whole(values: Iterable[Config]) -> None:
    for value in values:
        _require_whole(value)


def _require_ranks(answer: Sequence[Returned]) -> None:
    ranks = [returned.rank for returned in answer]
    if ranks != list(range(1, len(ranks) + 1)):
        raise InvalidReceiptError(f"ranks {ranks}", "1, 2, 3 and so on, in order")
    if len({(returned.origin, returned.path) for returned in answer}) < len(ranks):
        raise InvalidReceiptError("a page that is returned twice", "each page once")
