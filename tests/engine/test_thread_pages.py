"""The pages of a thread, on real folders: under its run, seen by its forks, checked in replies."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

import counterfoil
from counterfoil.adapters.files.index import FileIndex
from counterfoil.adapters.files.paths import StoreRoot
from counterfoil.adapters.files.scaffold import init_store
from counterfoil.adapters.files.transactions import FileStoreWriter
from counterfoil.core.digests import tagged_digest
from counterfoil.core.errors import (
    ConflictError,
    LineageConflictError,
    NotFoundError,
    UnavailableError,
    UnreadableError,
)
from counterfoil.core.events import PageWritten, Payload, ReplyGiven
from counterfoil.core.ids import PageId, RunId, ThreadId
from counterfoil.core.knowledge.new_page import NewPage
from counterfoil.core.knowledge.search import Search
from counterfoil.core.refs.cited_pages import CitedPages
from counterfoil.engine.page_results import PageText, Resolved, seen_pages
from counterfoil.engine.run_stores import Runs
from counterfoil.engine.thread_pages import ThreadPages
from counterfoil.wiring.thread_pages import ThreadKnowledge

SOURCE = Path(str(counterfoil.__file__)).parents[1]
Open = Callable[..., ThreadPages]


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A shared store with two pages, one of them called `calibration`."""
    root = tmp_path / "shared"
    init_store(root)
    _put(root, "calibration", "---\nid: calibration\n---\nThe slope is 2.\n")
    _put(root, "both", "---\nid: both\n---\nShared.\n")
    return root


@pytest.fixture
def open_pages(tmp_path: Path, shared: Path) -> Iterator[Open]:
    """Open the pages of threads, and close them at the end."""
    opened: list[ThreadPages] = []

    def open_(thread: str, parent: str | None = None, **given: object) -> ThreadPages:
        knowledge = ThreadKnowledge(tmp_path / "runs", shared)
        seen = given.get("seen")
        pages = knowledge.open(
            ThreadId(thread),
            None if parent is None else ThreadId(parent),
            seen=seen if isinstance(seen, dict) else None,
        )
        opened.append(pages)
        return pages

    yield open_
    for pages in opened:
        pages.close()


def _put(root: Path, name: str, text: str) -> Path:
    path = root / "knowledge" / f"{name}.md"
    path.write_text(text, "utf-8")
    return path


def _store(tmp_path: Path, run: str) -> Path:
    return tmp_path / "runs" / run / "knowledge-base"


def _block(name: str, text: str) -> str:
    return f"---FILE: knowledge/{name}.md---\n{text}---END FILE---\n"


def _page(id_: str, body: str = "Text.", *cites: str) -> NewPage:
    return NewPage(id=PageId(id_), title=id_, body=body, cites=cites)


def _verdicts(pages: ThreadPages, *handles: str) -> list[str]:
    return [found.resolution.verdict for found in pages.resolve(handles)]


def _refreshes(monkeypatch: pytest.MonkeyPatch) -> list[FileIndex]:
    """Note every look at the files from now on."""
    looked: list[FileIndex] = []
    refresh = FileIndex.refresh

    def counted(index: FileIndex) -> int:
        looked.append(index)
        return refresh(index)

    monkeypatch.setattr(FileIndex, "refresh", counted)
    return looked


def test_a_run_without_a_store_sees_the_shared_one_and_is_not_made(
    open_pages: Open, tmp_path: Path
) -> None:
    """thread-runs: Asking makes nothing."""
    pages = open_pages("t1")
    assert _verdicts(pages, "calibration", "shared::calibration", "here::x", "x") == [
        "resolved", "resolved", "missing", "missing"
    ]  # fmt: skip
    assert [hit.handle for hit in pages.search(Search(text="slope")).hits] == ["calibration"]
    assert isinstance(pages.read("calibration"), PageText)
    assert pages.unknown_in("[[x]] [[calibration]]").unknown == ("x",)
    assert not (tmp_path / "runs").exists()


def test_a_run_with_nothing_to_see_finds_nothing(tmp_path: Path) -> None:
    """thread-runs: No store at all is no error."""
    pages = ThreadKnowledge(tmp_path / "runs").open(ThreadId("t1"))
    found = pages.search(Search(text="slope"))
    assert (found.hits, found.receipt.outcome, found.receipt.run) == ((), "empty", "t1")
    assert pages.unknown_in("[[x]]").unknown == ("x",)
    pages.close()


def test_the_first_page_makes_the_store_of_the_run(open_pages: Open, tmp_path: Path) -> None:
    """thread-runs: Under the id of the thread, with no parent."""
    pages = open_pages("t1")
    outcome = pages.record_page(_page("prior-result", "It.", "calibration"))
    assert outcome.status == "written"
    written = _store(tmp_path, "t1") / "knowledge/prior-result.md"
    assert tagged_digest(written.read_bytes()) == outcome.pages[0].digest_after
    assert '"parent": null' in (_store(tmp_path, "t1") / ".counterfoil/lineage.json").read_text()
    assert pages.unknown_in("[[prior-result]] [[here::prior-result]]").unknown == ()


@pytest.mark.parametrize(
    "text", [_block("a", "---\ncites: gone\n---\nText.\n"), "no block", _block("../a", "x\n")]
)
def test_a_refused_first_page_makes_no_store(text: str, open_pages: Open, tmp_path: Path) -> None:
    """thread-runs: A store is made once something is written into it."""
    pages = open_pages("t1")
    with suppress(UnreadableError):
        assert pages.record(text).status == "refused"
    assert not (tmp_path / "runs").exists()


def test_a_fork_sees_the_pages_of_its_parent_as_inherited(open_pages: Open) -> None:
    """thread-runs: Now and later, and its own stay its own."""
    parent = open_pages("t1")
    parent.record_page(_page("first"))
    fork = open_pages("t2", "t1")
    parent.record_page(_page("second", "Other words."))
    assert _verdicts(fork, "inherited:t1::first", "second") == ["resolved", "resolved"]
    fork.record_page(_page("third", "It rests.", "inherited:t1::first"))
    assert fork.unknown_in("[[third]] [[first]]").unknown == ()
    assert parent.unknown_in("[[third]] [[first]]").unknown == ("third",)
    assert [hit.handle for hit in fork.search(Search(text="other words")).hits][:1] == ["second"]


def test_a_fork_records_its_parent_at_once(open_pages: Open, tmp_path: Path) -> None:
    """thread-runs: Also one that never wrote a page; a run keeps its parent for ever."""
    open_pages("t2", "t1")
    open_pages("t2", "t1")
    assert '"parent": "t1"' in (_store(tmp_path, "t2") / ".counterfoil/lineage.json").read_text()
    open_pages("t1").record_page(_page("late"))
    assert open_pages("t2").unknown_in("[[late]]").unknown == ()
    with pytest.raises(LineageConflictError):
        open_pages("t2", "t3")
    with pytest.raises(LineageConflictError):
        open_pages("t1", "t2")


def test_a_thread_whose_id_differs_in_case_alone_writes_nothing(open_pages: Open) -> None:
    """thread-runs: The run has the same id, which no disk may take for another."""
    open_pages("t1").record_page(_page("a"))
    with pytest.raises(ConflictError, match="letter case"):
        open_pages("T1").record_page(_page("b", "Something else."))


def test_a_store_that_a_fork_makes_meanwhile_is_taken(
    open_pages: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """thread-runs: Whoever is first records the parent."""
    pages = open_pages("t2")
    init = Runs.init

    def after_another(runs: Runs, run: str, parent: str | None = None) -> None:
        init(runs, "t1")
        init(runs, run, "t1")
        init(runs, run, parent)

    with monkeypatch.context() as patched:
        patched.setattr(Runs, "init", after_another)
        assert pages.record_page(_page("a")).status == "written"
    assert _verdicts(pages, "here::a") == ["resolved"]


def test_a_store_that_cannot_be_made_is_an_error(
    open_pages: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """thread-runs: A conflict without a store stays one."""
    pages = open_pages("t2")

    def refused(*_: object) -> None:
        raise LineageConflictError("another parent")

    monkeypatch.setattr(Runs, "init", refused)
    with pytest.raises(LineageConflictError):
        pages.record_page(_page("a"))


def test_a_page_is_replaced_only_where_it_was_seen(open_pages: Open, tmp_path: Path) -> None:
    """knowledge-tools: What was written or read to its end was seen, by these bytes."""
    first = open_pages("t1")
    first.record_page(_page("a", "One."))
    assert first.record_page(_page("a", "Two.")).status == "written"
    other = open_pages("t1")
    with pytest.raises(ConflictError, match=r"knowledge/a\.md is sha256:"):
        other.record_page(_page("a", "Three."))
    read = other.read("a")
    assert isinstance(read, PageText)
    assert read.content == (_store(tmp_path, "t1") / "knowledge/a.md").read_bytes()
    other.saw(read)
    assert other.record_page(_page("a", "Three.")).status == "written"
    with pytest.raises(ConflictError):
        first.record_page(_page("a", "Four."))
    assert first.record_page(_page("a", "Three.")).status == "unchanged"


def test_a_page_of_another_store_is_no_page_of_that_path(open_pages: Open) -> None:
    """knowledge-tools: What was read in the shared store allows nothing here."""
    pages = open_pages("t1")
    pages.record(_block("both", "Own text.\n"))
    other = open_pages("t1")
    read = other.read("shared::both")
    assert isinstance(read, PageText)
    other.saw(read)
    with pytest.raises(ConflictError):
        other.record(_block("both", "Other.\n"))


def test_a_thread_that_goes_on_has_seen_what_it_wrote(open_pages: Open) -> None:
    """knowledge-tools: Out of its events, the last of each page."""
    pages = open_pages("t1")
    facts: list[Payload] = [ReplyGiven(text="x"), PageWritten(run="t1", page="z")]
    facts += [PageWritten(run="t9", page="a", path="knowledge/a.md", digest_after="sha256:0")]
    facts += [PageWritten(run="t1", page="y", path="knowledge/y.md")]
    for body in ("One.", "Two."):
        (written,) = pages.record_page(_page("a", body)).pages
        facts.append(
            PageWritten(run="t1", page="a", path=written.path, digest_after=written.digest_after)
        )
    seen = seen_pages(facts, RunId("t1"))
    assert seen == {"knowledge/a.md": written.digest_after}
    assert open_pages("t1", seen=seen).record_page(_page("a", "Three.")).status == "written"


def test_a_scaffold_is_written_without_having_been_read(open_pages: Open, tmp_path: Path) -> None:
    """knowledge-tools: It is no page, so nobody could read it by a handle."""
    pages = open_pages("t1")
    pages.record(_block("a", "Text.\n"))
    (written,) = pages.record(_block("index", "# All\n")).pages
    assert (written.page, written.is_changed) == (None, True)
    assert (_store(tmp_path, "t1") / "knowledge/index.md").read_text() == "# All\n"


def test_a_page_goes_where_its_id_stands(open_pages: Open, tmp_path: Path) -> None:
    """knowledge-tools: Not into a second file of that id."""
    pages = open_pages("t1")
    pages.record(_block("deep/place", "---\nid: a\n---\nOne.\n"))
    (written,) = pages.record_page(_page("a", "Two.")).pages
    assert written.path == "knowledge/deep/place.md"


def test_two_ids_never_share_a_file(open_pages: Open) -> None:
    """knowledge-tools: Nothing is replaced by a page with another id."""
    pages = open_pages("t1")
    pages.record_page(_page("A b", "One."))
    with pytest.raises(ConflictError, match="holds the page 'A b'"):
        pages.record_page(_page("a-b", "Two."))


def test_an_id_that_several_pages_have_is_refused(open_pages: Open, tmp_path: Path) -> None:
    """knowledge-tools: Nobody could know which is meant."""
    pages = open_pages("t1")
    pages.record_page(_page("a", "One."))
    _put(_store(tmp_path, "t1"), "other", "---\nid: a\n---\nTwo.\n")
    with pytest.raises(ConflictError, match="2 pages of this run"):
        pages.record_page(_page("a", "Three."))


@pytest.mark.parametrize("line", ["---END FILE---", "---FILE: knowledge/b.md---"])
def test_a_mark_of_a_block_in_a_body_is_refused(line: str, open_pages: Open) -> None:
    """knowledge-tools: It would end the page; in a fence it is text."""
    pages = open_pages("t1")
    with pytest.raises(UnreadableError, match="of its own"):
        pages.record_page(_page("a", f"x\n{line}\ny"))
    assert pages.record_page(_page("a", f"x\n\n```\n{line}\n```\n")).status == "written"


def test_handles_are_resolved_in_their_order_with_what_to_paste(open_pages: Open) -> None:
    """knowledge-tools: Ambiguous ones with the handles that mean one page each."""
    pages = open_pages("t1")
    pages.record_page(_page("both", "Own."))
    both, missing, name, bad = pages.resolve(["both", "gone", "Calibration", "here::"])
    assert (both.resolution.verdict, both.handles) == ("ambiguous", ("here::both", "shared::both"))
    assert (missing.resolution.verdict, missing.handles, missing.digest) == ("missing", (), None)
    assert (name.resolution.verdict, name.handles) == ("resolved", ("calibration",))
    assert name.digest is not None
    assert bad.resolution.verdict == "malformed"
    assert isinstance(pages.read("both"), Resolved)
    assert pages.unknown_in("[[both]] [[shared::both]]").ambiguous == ("both",)


def test_two_pages_of_one_origin_and_id_have_no_handle(open_pages: Open, shared: Path) -> None:
    """knowledge-tools: No form of it tells them apart."""
    _put(shared, "again", "---\nid: calibration\n---\n")
    (found,) = open_pages("t1").resolve(["calibration"])
    assert (found.resolution.verdict, found.handles) == ("ambiguous", ())


def test_a_page_that_goes_away_while_it_is_read_is_told(
    open_pages: Open, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """knowledge-tools: Never an empty text in its place."""
    pages = open_pages("t1")
    monkeypatch.setattr(StoreRoot, "read", lambda *_: None)
    with pytest.raises(NotFoundError, match="is gone"):
        pages.read("calibration")
    (found,) = pages.resolve(["calibration"])
    assert (found.resolution.verdict, found.digest) == ("resolved", None)


# --- the check of a reply ---------------------------------------------------------


def test_a_reply_without_brackets_opens_nothing(
    open_pages: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """cited-pages: No look at any file."""
    looked = _refreshes(monkeypatch)
    assert open_pages("t1").unknown_in("Done, no `[[page]]` named.") == CitedPages()
    assert looked == []


def test_what_resolves_in_the_held_view_costs_no_look(
    open_pages: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """cited-pages: A store only grows, so what resolved is taken as it is."""
    pages = open_pages("t1")
    pages.unknown_in("[[calibration]]")
    looked = _refreshes(monkeypatch)
    assert pages.unknown_in("[[calibration]] and [[shared::both]], [[1, 2]]").checked == (
        "calibration",
        "shared::both",
    )
    assert looked == []


def test_what_was_written_meanwhile_is_seen_before_anybody_is_accused(
    open_pages: Open, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """cited-pages: By hand, in another process, as a new page or as an old one's new id."""
    pages = open_pages("t1")
    assert pages.unknown_in("[[new]]").unknown == ("new",)
    _put(shared, "new", "---\nid: new\n---\n")
    assert pages.unknown_in("[[new]]").unknown == ()
    _put(shared, "new", "---\nid: newer\naliases: [other]\n---\n")
    assert pages.unknown_in("[[newer]] [[other]]").unknown == ()
    looked = _refreshes(monkeypatch)
    assert pages.unknown_in("[[gone]] [[gone too]]").unknown == ("gone", "gone too")
    assert len(looked) == 1


def test_a_page_that_is_gone_is_named(open_pages: Open, shared: Path) -> None:
    """cited-pages: The held view is not trusted over the files."""
    pages = open_pages("t1")
    assert pages.unknown_in("[[calibration]]").unknown == ()
    (shared / "knowledge/calibration.md").unlink()
    assert pages.unknown_in("[[calibration]]").unknown == ("calibration",)


def test_what_was_ambiguous_and_is_not_any_more_is_not_named(
    open_pages: Open, shared: Path
) -> None:
    """cited-pages: The files are looked at before it is named."""
    pages = open_pages("t1")
    again = _put(shared, "again", "---\nid: calibration\n---\n")
    assert pages.unknown_in("[[calibration]]").ambiguous == ("calibration",)
    again.unlink()
    assert pages.unknown_in("[[calibration]]").unknown == ()


def test_pages_that_cannot_be_had_accuse_nobody(tmp_path: Path) -> None:
    """cited-pages: A shared store that is not there is told, and not "missing"."""
    pages = ThreadKnowledge(tmp_path / "runs", tmp_path / "none").open(ThreadId("t1"))
    found = pages.unknown_in("[[calibration]]")
    assert found.unknown == ()
    assert found.line is not None
    assert found.line.startswith("cited pages were not checked: no store at ")
    with pytest.raises(NotFoundError):
        pages.search(Search(text="x"))
    pages.close()


def test_a_store_that_does_not_stand_still_accuses_nobody(
    open_pages: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """cited-pages: Unavailable is not missing."""
    pages = open_pages("t1")

    def moving(_: FileIndex) -> int:
        raise UnavailableError("it does not stand still")

    monkeypatch.setattr(FileIndex, "refresh", moving)
    assert pages.unknown_in("[[x]]") == CitedPages(fault="it does not stand still")


# --- searching --------------------------------------------------------------------


def test_a_search_is_made_ready_once_for_what_stands_there(open_pages: Open, shared: Path) -> None:
    """knowledge-tools: And anew once a page is another."""
    pages = open_pages("t1")
    first = pages.search(Search(text="slope"))
    assert [hit.handle for hit in first.hits] == ["calibration"]
    again = pages.search(Search(text="slope"))
    assert again.receipt.snapshot == first.receipt.snapshot
    _put(shared, "more", "Another slope.\n")
    later = pages.search(Search(text="slope"))
    assert {hit.handle for hit in later.hits} == {"calibration", "more"}
    assert later.receipt.snapshot != first.receipt.snapshot


def test_a_receipt_has_the_digests_of_the_bytes(open_pages: Open, shared: Path) -> None:
    """knowledge-tools: Of what was returned, and of all that was seen."""
    (returned,) = open_pages("t1").search(Search(text="slope")).receipt.returned
    assert returned.digest == tagged_digest((shared / "knowledge/calibration.md").read_bytes())


# --- several at once --------------------------------------------------------------


def test_threads_of_a_process_share_one_thread_s_pages(open_pages: Open) -> None:
    """thread-runs: Tools run in threads of their own; one is served at a time."""
    pages = open_pages("t1")
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            pages.record_page(_page(f"p{number}", f"Text number {number} " * number))
            assert pages.unknown_in(f"[[p{number}]] [[calibration]]").unknown == ()
            assert pages.search(Search(text="slope")).hits
        except BaseException as error:  # noqa: BLE001 - told to the test
            failed.append(error)

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


_WRITER = """
import sys
from pathlib import Path
from counterfoil.core.ids import PageId, ThreadId
from counterfoil.core.knowledge.new_page import NewPage
from counterfoil.wiring.thread_pages import ThreadKnowledge

root, name, count = sys.argv[1:]
pages = ThreadKnowledge(Path(root)).open(ThreadId("t1"))
for number in range(int(count)):
    body = f"{name} {number} " * (number + 3)
    pages.record_page(NewPage(id=PageId(f"{name}-{number}"), title=name, body=body))
print("done", flush=True)
"""


def test_two_processes_write_one_run(open_pages: Open, tmp_path: Path) -> None:
    """thread-runs: Also its first page; each page is whole, and everybody sees all."""
    begun = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(tmp_path / "runs"), name, "4"],
            stdout=subprocess.PIPE,
            env={"PYTHONPATH": str(SOURCE)},
        )
        for name in ("one", "two")
    ]
    pages = open_pages("t1")
    while any(process.poll() is None for process in begun):
        pages.unknown_in("[[one-0]] [[two-3]]")
    assert [process.communicate()[0] for process in begun] == [b"done\n", b"done\n"]
    handles = [f"{name}-{number}" for name in ("one", "two") for number in range(4)]
    assert set(_verdicts(pages, *handles)) == {"resolved"}


_HOLDER = """
import sys
from pathlib import Path
from counterfoil.adapters.files.lock import locked
from counterfoil.adapters.files.paths import StoreRoot

with StoreRoot(Path(sys.argv[1])) as root, locked(root, purpose="import of sources"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_store_that_another_writer_holds_is_not_written(
    open_pages: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """thread-runs: Who holds it is told; reading waits for nobody."""
    pages = open_pages("t1")
    pages.record_page(_page("a"))
    monkeypatch.setattr(FileStoreWriter.__init__, "__kwdefaults__", {"patience": 0.02})
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(_store(tmp_path, "t1"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(SOURCE)},
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(ConflictError, match="import of sources"):
        pages.record_page(_page("b", "Other."))
    assert pages.unknown_in("[[b]] [[a]]").unknown == ("b",)
    holder.communicate()
    assert pages.record_page(_page("b", "Other.")).pages[0].page == "b"
