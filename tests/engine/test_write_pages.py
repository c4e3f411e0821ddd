"""Pages that an agent proposes are written together, or not at all."""

from collections.abc import Mapping
from typing import NamedTuple

import pytest

from counterfoil.core.digests import tagged_digest
from counterfoil.core.errors import ConflictError, NotFoundError, UnreadableError
from counterfoil.core.ids import HERE, SHARED, PageId, RunId
from counterfoil.core.knowledge.chain import ChainSnapshot, Store
from counterfoil.core.knowledge.changes import StorePath
from counterfoil.core.knowledge.pages import Page, Written
from counterfoil.core.knowledge.view import VisiblePage
from counterfoil.engine.write_pages import (
    ExpectedDigests,
    WritableStore,
    WriteOutcome,
    write_pages,
)
from counterfoil.testing.store_writes import MemoryStoreWriter
from counterfoil.wire.pages import read_page

LONG = " ".join(f"word{number}" for number in range(60))
SCAFFOLDS = ("knowledge/index.md", "knowledge/log.md")


class Read(NamedTuple):
    """A page as this test's reader understands it."""

    page: Page
    body: str


def _read(content: bytes, path: str) -> Read:
    """Read a first line of citations, and a body."""
    cites, _, body = content.decode().partition("\n")
    name = path.removeprefix("knowledge/").removesuffix(".md")
    page = Page(path=path, id=PageId(name), title=name, cites=tuple(map(Written, cites.split())))
    return Read(page, body)


class Stores:
    """A run's own store and the shared one, in memory."""

    def __init__(self, files: Mapping[str, str], shared: Mapping[str, str] | None = None) -> None:
        self.own = MemoryStoreWriter({path: text.encode() for path, text in files.items()})
        self.shared = {path: text.encode() for path, text in (shared or {}).items()}

    def chain(self) -> ChainSnapshot:
        own = [_read(self.own.files[path], path).page for path in self.own.files]
        shared = [_read(content, path).page for path, content in self.shared.items()]
        return ChainSnapshot(
            [
                Store(origin=HERE, pages=tuple(one for one in own if one.path not in SCAFFOLDS)),
                Store(origin=SHARED, pages=tuple(shared)),
            ],
            run=RunId("r"),
        )

    def body(self, visible: VisiblePage) -> str:
        files = self.own.files if visible.origin == HERE else self.shared
        return _read(files[visible.page.path], visible.page.path).body

    def write(
        self,
        text: str,
        *,
        expected: ExpectedDigests | None = None,
        refuses_warnings: bool = False,
    ) -> WriteOutcome:
        store = WritableStore(
            writer=self.own,
            read_file=self.own.read,
            read_page=_read,
            load_chain=self.chain,
            body_of=self.body,
        )
        return write_pages(
            store,
            text,
            expected_digests=expected,
            on_warning="refuse" if refuses_warnings else "report",
        )


def _block(name: str, text: str) -> str:
    return f"---FILE: knowledge/{name}.md---\n{text}---END FILE---\n"


def _digest(text: str) -> str:
    return tagged_digest(text.encode())


def test_all_pages_are_written_in_one_change() -> None:
    """write-blocks: What was written is told, with digests before and after, and citations."""
    stores = Stores({"knowledge/a.md": "\nold\n"}, {"knowledge/s.md": "\n"})
    outcome = stores.write(
        _block("a", "b shared::s\nnew\n") + _block("b", "\n") + _block("index", "see a\n")
    )
    assert outcome.status == "written"
    assert stores.own.files == {
        "knowledge/a.md": b"b shared::s\nnew\n",
        "knowledge/b.md": b"\n",
        "knowledge/index.md": b"see a\n",
    }
    assert stores.own.purposes == ["write 3 pages"]
    first, second, scaffold = outcome.pages
    assert (first.path, first.page, first.cites) == (
        "knowledge/a.md",
        "a",
        ("b", "shared::s"),
    )
    assert (first.digest_before, first.digest_after) == (
        _digest("\nold\n"),
        _digest("b shared::s\nnew\n"),
    )
    assert (second.digest_before, second.is_changed) == (None, True)
    assert (scaffold.page, scaffold.cites) == (None, ())


def test_the_same_proposal_again_changes_nothing() -> None:
    """write-blocks: A retry passes, whatever was expected before the first try."""
    stores = Stores({"knowledge/a.md": "\nold\n"})
    text = _block("a", "b\nnew\n") + _block("b", "\n")
    expected = {"knowledge/a.md": _digest("\nold\n"), "knowledge/b.md": None}
    assert stores.write(text, expected=expected).status == "written"
    again = stores.write(text, expected=expected)
    assert again.status == "unchanged"
    assert [page.is_changed for page in again.pages] == [False, False]


@pytest.mark.parametrize(
    ("files", "expected", "found"),
    [
        ({"knowledge/a.md": "\nother\n"}, _digest("\nold\n"), _digest("\nother\n")),
        ({"knowledge/a.md": "\nother\n"}, None, _digest("\nother\n")),
        ({}, _digest("\nold\n"), "not there"),
    ],
)
def test_bytes_that_the_writer_has_not_seen_are_kept(
    files: dict[str, str], expected: str | None, found: str
) -> None:
    """write-blocks: Nothing at all is written, and the digest that is there is named."""
    stores = Stores(files)
    text = _block("b", "\n") + _block("a", "\nnew\n")
    with pytest.raises(ConflictError) as refused:
        stores.write(text, expected={"knowledge/a.md": expected})
    assert found in refused.value.found
    assert (expected or "no file") in refused.value.expected
    assert stores.own.files == {path: text.encode() for path, text in files.items()}
    assert not stores.own.is_held


@pytest.mark.parametrize("files", [{}, {"knowledge/a.md": "\nold\n"}])
def test_what_is_expected_and_there_is_written_over(files: dict[str, str]) -> None:
    """write-blocks: The writer has seen it, or has seen that nothing is there."""
    stores = Stores(files)
    digest = _digest("\nold\n") if files else None
    outcome = stores.write(_block("a", "\nnew\n"), expected={"knowledge/a.md": digest})
    assert outcome.status == "written"


def test_a_digest_of_a_page_that_is_not_proposed_is_an_error() -> None:
    """write-blocks: The writer took another page for the one that it writes."""
    stores = Stores({"knowledge/a.md": "\n"})
    with pytest.raises(NotFoundError, match=r"knowledge/b\.md"):
        stores.write(_block("a", "\nnew\n"), expected={"knowledge/b.md": None})
    assert stores.own.purposes == []


def test_the_gate_refuses_all_pages_together() -> None:
    """intake-gate: No byte is written, and every row is returned."""
    stores = Stores({"knowledge/a.md": f"\n{LONG}\n"})
    outcome = stores.write(
        _block("good", "\nfine\n") + _block("bad", "nothing\n") + _block("copy", f"\n{LONG}\n")
    )
    assert outcome.status == "refused"
    assert outcome.pages == ()
    assert [finding.code for finding in outcome.intake.citations] == ["missing-citation"]
    assert [row.other.page.id for row in outcome.intake.near] == ["a"]
    assert list(stores.own.files) == ["knowledge/a.md"]
    assert stores.own.purposes == []


def test_a_copy_of_a_shared_page_is_refused() -> None:
    """intake-gate: The whole chain is compared with."""
    stores = Stores({}, {"knowledge/s.md": f"\n{LONG}\n"})
    assert stores.write(_block("a", f"\n{LONG}\n")).status == "refused"


def test_a_block_that_cannot_be_taken_is_reported_or_refused() -> None:
    """write-blocks: As the caller says, the others are written or not."""
    text = "---FILE: knowledge/open.md---\n" + _block("a", "\n")
    strict = Stores({})
    with pytest.raises(UnreadableError, match=r"line 1: .*open\.md"):
        strict.write(text, refuses_warnings=True)
    assert strict.own.files == {}
    stores = Stores({})
    outcome = stores.write(text)
    assert [warned.code for warned in outcome.warnings] == ["unclosed-block"]
    assert list(stores.own.files) == ["knowledge/a.md"]


def test_a_path_that_is_proposed_twice_refuses_everything() -> None:
    """write-blocks: Nobody can know which of the two is meant."""
    stores = Stores({})
    with pytest.raises(ConflictError, match="more than once"):
        stores.write(_block("a", "\n") + _block("a", "\n") + _block("b", "\n"))
    assert stores.own.files == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I wrote the page.", "no block"),
        ("```\n" + _block("a", "\n") + "```\n", "no block"),
        ("---FILE: /etc/x.md---\n---END FILE---\n", "is absolute"),
    ],
)
def test_a_text_without_a_block_is_refused(text: str, said: str) -> None:
    """write-blocks: Nothing written is never taken for something written."""
    with pytest.raises(UnreadableError, match=said):
        Stores({}).write(text)


def test_another_writer_is_waited_for_by_nobody() -> None:
    """write-blocks: The store is held while it is read, weighed and written."""
    stores = Stores({})
    stores.own.is_held = True
    with pytest.raises(ConflictError, match="being written"):
        stores.write(_block("a", "\n"))


def test_a_change_behind_the_reading_is_seen() -> None:
    """write-blocks: What was weighed is what is written over."""
    stores = Stores({"knowledge/a.md": "\n"})

    def read(path: StorePath) -> bytes | None:
        content = stores.own.read(path)
        stores.own.files[str(path)] = b"\nother\n"
        return content

    store = WritableStore(
        writer=stores.own,
        read_file=read,
        read_page=_read,
        load_chain=stores.chain,
        body_of=stores.body,
    )
    with pytest.raises(ConflictError):
        write_pages(store, _block("a", "\nnew\n"))
    assert stores.own.files == {"knowledge/a.md": b"\nother\n"}


def test_a_lone_surrogate_is_no_text_to_write() -> None:
    """write-blocks: Its bytes are no UTF-8, which the reader of pages says, and the gate."""
    stores = Stores({})
    store = WritableStore(
        writer=stores.own,
        read_file=stores.own.read,
        read_page=read_page,
        load_chain=stores.chain,
        body_of=stores.body,
    )
    outcome = write_pages(store, _block("a", "\ud800\n"))
    assert [finding.code for finding in outcome.intake.citations] == ["not-utf8"]
    assert stores.own.files == {}


def test_pages_are_read_as_everywhere() -> None:
    """write-blocks: The reader of pages gives what the use case needs."""
    stores = Stores({})
    store = WritableStore(
        writer=stores.own,
        read_file=stores.own.read,
        read_page=read_page,
        load_chain=stores.chain,
        body_of=stores.body,
    )
    (page,) = write_pages(store, _block("a", "---\nid: x\n---\nText\n")).pages
    assert page.page == "x"
