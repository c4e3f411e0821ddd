"""Write the pages that an agent proposes: all of them in one transaction, or none.

Blocks are read out of the text; what stands at their paths is weighed against what the
writer says it has seen; the gate looks at the pages as if they stood there; then they
are written together (knowledge.md section 7). Nobody else writes meanwhile. The same
proposal again changes nothing and passes: what stands there is what it wants there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from counterfoil.core.digests import tagged_digest
from counterfoil.core.errors import ConflictError, NotFoundError, UnreadableError
from counterfoil.core.ids import PageId
from counterfoil.core.knowledge.chain import ChainSnapshot
from counterfoil.core.knowledge.changes import ABSENT, FileChange, StorePath
from counterfoil.core.knowledge.intake import BodyOf, CandidatePage, Intake, weigh_intake
from counterfoil.core.knowledge.pages import Page
from counterfoil.core.knowledge.write_blocks import (
    BlockWarning,
    Proposal,
    WriteBlock,
    parse_blocks,
)
from counterfoil.ports.store_writes import StoreWriter

WriteStatus = Literal["written", "unchanged", "refused"]

ExpectedDigests = Mapping[str, str | None]
"""By path, the tagged digest of what the writer has seen there; `None`: nothing was there."""


class ReadPage(Protocol):
    """A page as it was read, with its body."""

    @property
    def page(self) -> Page:
        """What was understood."""
        ...

    @property
    def body(self) -> str:
        """What follows the frontmatter."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WritableStore:
    """One store of a run: read as the run sees it, written by one writer at a time.

    `read_file` returns the bytes at a path of the store, `None` for no file;
    `load_chain` everything that is visible now; `body_of` the body of a page of it.
    """

    writer: StoreWriter
    read_file: Callable[[StorePath], bytes | None]
    read_page: Callable[[bytes, str], ReadPage]
    load_chain: Callable[[], ChainSnapshot]
    body_of: BodyOf
    pages: str = "knowledge"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPage:
    """A page that stands as it was proposed; equal digests: it did so before.

    `page` is `None` for `index.md` and `log.md`, which are no pages. `cites` are the
    handles as they are written.
    """

    path: StorePath
    page: PageId | None
    digest_before: str | None
    digest_after: str
    cites: tuple[str, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether another text stood there before, or none."""
        return self.digest_before != self.digest_after


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOutcome:
    """What became of a proposal: the pages, or why the gate refused all of them."""

    pages: tuple[WrittenPage, ...]
    intake: Intake
    warnings: tuple[BlockWarning, ...] = ()

    @property
    def status(self) -> WriteStatus:
        """Derived from what is there."""
        if not self.intake.is_open:
            return "refused"
        return "written" if any(page.is_changed for page in self.pages) else "unchanged"


@dataclass(frozen=True, slots=True)
class _Proposed:
    """A block, the bytes that it becomes, what stands at its path, and what it is read as."""

    path: StorePath
    after: bytes
    before: bytes | None
    read: ReadPage | None


def write_pages(
    store: WritableStore,
    text: str,
    *,
    expected_digests: ExpectedDigests | None = None,
    on_warning: Literal["report", "refuse"] = "report",
) -> WriteOutcome:
    """Write the pages whose blocks stand in `text`, or return why the gate refuses them.

    Args:
        store: Where they are written.
        text: What the agent said.
        expected_digests: What the writer has seen at paths of the blocks.
        on_warning: Whether a block that cannot be taken keeps the others from being
            written. A path that is proposed twice always does.

    Raises:
        UnreadableError: No block is in the text, or what `on_warning` refuses.
        NotFoundError: A digest is given for a path that no block has.
        ConflictError: Something else than was seen stands at a path, a path is proposed
            twice, or another writer holds the store. Nothing was written.
        UnavailableError: The store cannot be written. It reads as before.
    """
    proposal = parse_blocks(text, pages=store.pages)
    expected = expected_digests or {}
    _require_taken(proposal, on_warning)
    _require_proposed(proposal, expected)
    purpose = f"write {len(proposal.blocks)} pages"
    with store.writer.exclusively(purpose=purpose):
        proposed = [_proposed(store, block) for block in proposal.blocks]
        for one in proposed:
            _require_seen(one, expected)
        intake = _weighed(store, proposed)
        if intake.is_open:
            store.writer.apply(_changes(proposed), purpose=purpose)
    pages = tuple(map(_written, proposed)) if intake.is_open else ()
    return WriteOutcome(pages=pages, intake=intake, warnings=proposal.warnings)


def _require_taken(proposal: Proposal, on_warning: str) -> None:
    twice = [warning for warning in proposal.warnings if warning.code == "duplicate-path"]
    if twice:
        raise ConflictError(_said(twice[0]), "one block for each path", "nothing was written")
    if proposal.warnings and (on_warning == "refuse" or not proposal.blocks):
        raise UnreadableError(
            "; ".join(_said(warning) for warning in proposal.warnings[:_SHOWN]),
            "blocks that can all be written",
            "nothing was written",
        )
    if not proposal.blocks:
        raise UnreadableError(
            "no block of a page in the text",
            "---FILE: path--- on a line, the page, ---END FILE--- on a line",
            "a block inside a code fence is text of the fence",
        )


_SHOWN = 10
"""Warnings that an error tells; a proposal that is refused is corrected and sent again."""


def _said(warning: BlockWarning) -> str:
    return f"line {warning.line}: {warning.message}"


def _require_proposed(proposal: Proposal, expected: ExpectedDigests) -> None:
    paths = {str(block.path) for block in proposal.blocks}
    for path in expected:
        if path not in paths:
            raise NotFoundError(
                f"a digest is expected of {path!r}, which no block proposes",
                "digests of proposed paths alone",
            )


def _proposed(store: WritableStore, block: WriteBlock) -> _Proposed:
    after = block.text.encode("utf-8", "surrogatepass")
    is_scaffold = block.path in (f"{store.pages}/index.md", f"{store.pages}/log.md")
    return _Proposed(
        path=block.path,
        after=after,
        before=store.read_file(block.path),
        read=None if is_scaffold else store.read_page(after, block.path),
    )


def _require_seen(one: _Proposed, expected: ExpectedDigests) -> None:
    """Refuse bytes that the writer has not seen; those that it proposes, it has."""
    found = _digest(one.before)
    if one.path not in expected or one.before == one.after or expected[one.path] == found:
        return
    seen = expected[one.path]
    raise ConflictError(
        f"{one.path} is {found or 'not there'}",
        "no file there" if seen is None else f"{seen}, which the writer has seen",
        "read the page again and propose what it should be now",
    )


def _weighed(store: WritableStore, proposed: Iterable[_Proposed]) -> Intake:
    candidates = [
        CandidatePage(one.read.page, one.read.body) for one in proposed if one.read is not None
    ]
    return weigh_intake(store.load_chain(), candidates, store.body_of)


def _changes(proposed: Iterable[_Proposed]) -> Iterator[FileChange]:
    for one in proposed:
        yield FileChange(path=one.path, after=one.after, expected=_digest(one.before) or ABSENT)


def _written(one: _Proposed) -> WrittenPage:
    return WrittenPage(
        path=one.path,
        page=one.read.page.id if one.read else None,
        digest_before=_digest(one.before),
        digest_after=tagged_digest(one.after),
        cites=tuple(item.text for item in one.read.page.cites) if one.read else (),
    )


def _digest(content: bytes | None) -> str | None:
    return None if content is None else tagged_digest(content)
