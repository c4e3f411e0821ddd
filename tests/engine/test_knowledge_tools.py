"""The four tools for pages: what the model reads, what is recorded, what is refused and how."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from counterfoil.adapters.files.scaffold import init_store
from counterfoil.core.digests import tagged_digest
from counterfoil.core.events import FileWritten, PagesRetrieved, PageWritten
from counterfoil.core.ids import ThreadId
from counterfoil.engine.knowledge_tools import MOST_HANDLES, MOST_HITS, knowledge_tools
from counterfoil.engine.page_texts import PAGE, bare, cut, texts_of
from counterfoil.engine.thread_pages import ThreadPages
from counterfoil.ports.tools import CallContext, Tool, ToolAnswer
from counterfoil.wire.arguments import ArgumentFault, read_arguments
from counterfoil.wiring.thread_pages import ThreadKnowledge

CONTEXT = CallContext(thread=ThreadId("t1"), turn=1, call="c1")


_MENDING = (
    "Cite only handles that knowledge_resolve says are resolved, or write the pages that are"
    " cited in the same call."
)


class Desk:
    """The tools of one thread, called as a turn calls them."""

    def __init__(self, root: Path) -> None:
        self.shared = root / "shared"
        self.own = root / "runs/t1/knowledge-base"
        init_store(self.shared)
        self._knowledge = ThreadKnowledge(root / "runs", self.shared)
        self.pages = self.opened()

    def opened(self) -> ThreadPages:
        return self._knowledge.open(ThreadId("t1"))

    def put(self, name: str, text: str) -> Path:
        path = self.shared / "knowledge" / f"{name}.md"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return path

    def call(self, tool: str, **arguments: object) -> ToolAnswer:
        return _call(knowledge_tools(self.pages), tool, arguments)


def _call(tools: Sequence[Tool], name: str, arguments: Mapping[str, object]) -> ToolAnswer:
    (tool,) = [one for one in tools if one.spec.name == f"knowledge_{name}"]
    return tool.run(arguments, CONTEXT)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A thread that has written nothing, beside a shared store with one page."""
    desk = Desk(tmp_path)
    desk.put("calibration", "---\nid: calibration\n---\nThe slope is 2.\n")
    yield desk
    desk.pages.close()


def test_the_tools_are_those_of_the_table(desk: Desk) -> None:
    """knowledge-tools: Four, of which one writes."""
    specs = [tool.spec for tool in knowledge_tools(desk.pages)]
    assert [(spec.name, spec.only_reads) for spec in specs] == [
        ("knowledge_search", True),
        ("knowledge_read", True),
        ("knowledge_record", False),
        ("knowledge_resolve", True),
    ]


@pytest.mark.parametrize(
    ("tool", "text", "fits"),
    [
        ("search", '{"query": "x"}', True),
        ("search", '{"query": "x", "limit": 50}', True),
        ("search", '{"query": "x", "limit": 51}', False),
        ("search", '{"query": "x", "limit": 0}', False),
        ("search", "{}", False),
        ("read", '{"handle": "a", "line": 1}', True),
        ("read", '{"handle": "a", "line": 0}', False),
        ("record", '{"title": "A", "body": "b", "cites": ["a"]}', True),
        ("record", '{"title": "A", "body": "b", "cites": "a"}', True),
        ("record", '{"page": "A"}', False),
        ("resolve", '{"handles": ["a"]}', True),
        ("resolve", '{"handles": "a"}', True),
        ("resolve", '{"handles": 1}', False),
    ],
)
def test_arguments_are_judged_by_the_schema(
    tool: str, text: str, *, fits: bool, desk: Desk
) -> None:
    """knowledge-tools: Bounds stand in it, and a text may stand for a list of one."""
    (spec,) = [
        one.spec for one in knowledge_tools(desk.pages) if one.spec.name == f"knowledge_{tool}"
    ]
    assert isinstance(read_arguments(text, spec.parameters), ArgumentFault) is not fits


# --- search -----------------------------------------------------------------------


def test_a_search_gives_handles_digests_and_what_was_seen(desk: Desk) -> None:
    """knowledge-tools: And is a fact, with what was returned."""
    digest = tagged_digest((desk.shared / "knowledge/calibration.md").read_bytes())
    answer = desk.call("search", query="slope")
    (fact,) = answer.facts
    assert isinstance(fact, PagesRetrieved)
    assert (fact.run, fact.query, fact.handles) == ("t1", "slope", ("calibration",))
    assert answer.outcome == "ok"
    assert answer.output.splitlines() == [
        '1 of 1 visible pages answer "slope"',
        f"1. [[calibration]] calibration {digest[:19]}: The slope is 2.",
        f"[seen: {fact.snapshot_digest}]",
        'To cite a page, write its handle in double brackets in the reply, bare in "cites".',
    ]


def test_a_search_without_a_hit_is_recorded_too(desk: Desk) -> None:
    """knowledge-tools: Nothing found is an answer."""
    answer = desk.call("search", query="volcano \x1b")
    assert answer.output.startswith('0 of 1 visible pages answer "volcano \\x1b"')
    assert answer.output.endswith("Try other words, or fewer of them.")
    (fact,) = answer.facts
    assert isinstance(fact, PagesRetrieved)
    assert fact.handles == ()


@pytest.mark.parametrize(("limit", "shown"), [(1, 1), (49, 49), (50, 50), (None, 10)])
def test_a_search_shows_as_many_as_asked(limit: int | None, shown: int, desk: Desk) -> None:
    """knowledge-tools: At most fifty, ten where nothing is said."""
    for number in range(MOST_HITS + 10):
        desk.put(f"p{number}", f"---\nid: p{number}\n---\nvolcano number {number}\n")
    given = {"query": "volcano"} if limit is None else {"query": "volcano", "limit": limit}
    answer = desk.call("search", **given)
    assert answer.output.count("[[p") == shown
    (fact,) = answer.facts
    assert isinstance(fact, PagesRetrieved)
    assert len(fact.handles) == shown


def test_a_hit_is_one_line_whatever_its_title(desk: Desk) -> None:
    """knowledge-tools: Long, taken back, or with signs that mean something in brackets."""
    desk.put(
        "odd",
        "---\nid: 'c#'\ntitle: " + "volcano " * 40 + "\ninvalidation: {verdict: contradicted,"
        " observedAt: '2026-02-03T04:05:06Z', reason: again}\n---\n",
    )
    line = desk.call("search", query="volcano").output.splitlines()[1]
    assert line.startswith("1. [[knowledge-ref:v1:%5Bnull%2C%22c%23%22%5D]] volcano volcano")
    assert "… (taken back) sha256:" in line


# --- read -------------------------------------------------------------------------


def test_a_page_is_read_with_its_handle_and_digest(desk: Desk) -> None:
    """knowledge-tools: The whole file, and that it was retrieved."""
    content = (desk.shared / "knowledge/calibration.md").read_bytes()
    answer = desk.call("read", handle="[[shared::calibration|there]]")
    assert answer.output == (
        "[[calibration]] calibration, knowledge/calibration.md (shared),"
        f" {tagged_digest(content)}, lines 1-4 of 4\n{content.decode().rstrip()}\n[end]"
    )
    assert answer.facts == (
        PagesRetrieved(run="t1", query="shared::calibration", handles=("calibration",)),
    )
    assert answer.truncated is None


@pytest.mark.parametrize(
    ("handle", "said"),
    [
        ("gone", "gone: missing; knowledge_search finds pages by words"),
        ("here::", "here::: malformed; knowledge_search finds pages by words"),
        ("", '"": malformed; knowledge_search finds pages by words'),
        ("twice", "twice: ambiguous, 2 pages"),
    ],
)
def test_what_cannot_be_read_is_an_error_in_words(handle: str, said: str, desk: Desk) -> None:
    """knowledge-tools: What it comes to, and what to do."""
    desk.put("one", "---\nid: twice\n---\n")
    desk.put("two", "---\nid: twice\n---\n")
    answer = desk.call("read", handle=handle)
    assert (answer.output, answer.outcome, answer.facts) == (said, "error", ())


def test_a_long_page_is_read_in_pages_of_whole_lines(desk: Desk) -> None:
    """knowledge-tools: 4 KiB each, with the line to go on from."""
    lines = [f"line {number} " + "x" * 89 for number in range(1, 101)]
    desk.put("long", "\n".join(lines) + "\n")
    tools = knowledge_tools(desk.pages)
    read: list[str] = []
    line = 1
    while line:
        answer = _call(tools, "read", {"handle": "long", "line": line})
        head, *text, end = answer.output.splitlines()
        assert len("\n".join(text)) <= PAGE
        read += text
        line = 0 if end == "[end]" else int(end.rpartition(" ")[2].rstrip("]"))
        assert (answer.truncated is None) is (line == 0)
        assert f"of {len(lines)}" in head
    assert read == lines


def test_a_line_past_the_end_shows_nothing(desk: Desk) -> None:
    """knowledge-tools: And says how many there are."""
    answer = desk.call("read", handle="calibration", line=9)
    assert answer.output.splitlines()[0].endswith("of 4")
    assert answer.output.endswith("\n[end]")


def test_a_line_past_the_bound_is_cut(desk: Desk) -> None:
    """knowledge-tools: A page without line breaks does not fill the window."""
    desk.put("wide", "é" * PAGE)
    answer = desk.call("read", handle="wide")
    assert answer.output.endswith("… [cut: a line of 8,192 bytes]\n[end]")
    assert len(answer.output.encode()) < PAGE + 300
    assert answer.truncated


# --- record -----------------------------------------------------------------------


def test_a_page_is_recorded_with_its_fact(desk: Desk) -> None:
    """knowledge-tools: Title and body are enough; the handle comes back to paste."""
    answer = desk.call(
        "record", title="Prior result", body="It follows.", cites=["[[calibration]]", " "]
    )
    content = (desk.own / "knowledge/prior-result.md").read_bytes()
    assert answer.output == (
        "written [[here::prior-result]] knowledge/prior-result.md " + tagged_digest(content)
    )
    assert answer.facts == (
        PageWritten(
            run="t1",
            page="prior-result",
            path="knowledge/prior-result.md",
            digest_before=None,
            digest_after=tagged_digest(content),
            cites=("calibration",),
        ),
    )
    assert desk.pages.unknown_in("[[here::prior-result]]").unknown == ()


def test_the_same_page_again_is_no_fact(desk: Desk) -> None:
    """knowledge-tools: Only what changed was written."""
    desk.call("record", id="a", body="One.")
    again = desk.call("record", id="a", body="One.")
    assert again.output.startswith("unchanged [[here::a]]")
    assert again.facts == ()
    assert desk.call("record", id="a", body="Two.").output.startswith("replaced [[here::a]]")


def test_several_pages_are_recorded_as_blocks(desk: Desk) -> None:
    """knowledge-tools: All or none; a scaffold is a file, and a block that is not taken is told."""
    text = (
        "---FILE: knowledge/a.md---\n---\ncites: b\n---\nA.\n---END FILE---\n"
        "---FILE: knowledge/b.md---\nB stands for itself.\n---END FILE---\n"
        "---FILE: knowledge/log.md---\n# Log\n---END FILE---\n"
        "---FILE: ../c.md---\nC\n---END FILE---\n"
    )
    answer = desk.call("record", text=text)
    assert [type(fact) for fact in answer.facts] == [PageWritten, PageWritten, FileWritten]
    rows = answer.output.splitlines()
    assert [row.split(" sha256:")[0] for row in rows[:3]] == [
        "written [[here::a]] knowledge/a.md",
        "written [[here::b]] knowledge/b.md",
        "replaced knowledge/log.md",
    ]
    assert rows[3].startswith("not written: line 13: '../c.md'")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "a page without a text"),
        ({"title": "A"}, "a page without a text"),
        ({"title": "A", "body": " "}, "a page without a text"),
        ({"body": "x"}, "a page without a title"),
        ({"text": "x", "title": "A"}, "text and title are given"),
        ({"text": "no block"}, "no block of a page in the text"),
        ({"title": "A", "id": "x" * 201, "body": "x"}, "page id"),
        ({"title": "A", "body": "x\n---END FILE---\n"}, "of its own"),
        ({"title": "A", "body": "---\nid: [\n---\n"}, "frontmatter cannot be read"),
    ],
)
def test_what_cannot_be_recorded_is_an_error_in_words(
    arguments: dict[str, object], said: str, desk: Desk
) -> None:
    """knowledge-tools: What was found and what to do; nothing is made."""
    answer = desk.call("record", **arguments)
    assert (answer.outcome, answer.facts) == ("error", ())
    assert answer.output.startswith("nothing was written\n")
    assert said in answer.output
    assert not desk.own.exists()


def test_a_citation_that_does_not_resolve_names_the_rule(desk: Desk) -> None:
    """knowledge-tools: And how to mend it."""
    answer = desk.call("record", title="A", body="x", cites="gone")
    assert answer.output.splitlines() == [
        "nothing was written",
        "- missing-citation: knowledge/a.md: 'gone' names no page that can be seen from here",
        _MENDING,
    ]
    assert (answer.outcome, answer.facts) == ("error", ())


def test_a_near_duplicate_names_the_page(desk: Desk) -> None:
    """knowledge-tools: The one that says it already."""
    words = " ".join(f"word{number}" for number in range(60))
    desk.call("record", title="A", body=words)
    answer = desk.call("record", title="B", body=words)
    assert answer.outcome == "error"
    assert (
        "- near-duplicate: knowledge/b.md says nearly the same as knowledge/a.md" in answer.output
    )
    assert answer.output.endswith("or cite it from the new one.")


def test_many_faults_are_counted(desk: Desk) -> None:
    """knowledge-tools: Twenty are told; the output is bounded."""
    cites = [f"gone-{number}" for number in range(25)]
    answer = desk.call("record", title="A", body="x", cites=cites)
    assert answer.output.count("missing-citation") == 20
    assert "+5 more" in answer.output
    assert len(answer.output.encode()) <= PAGE + 3


def test_a_page_that_was_not_seen_is_not_replaced(desk: Desk) -> None:
    """knowledge-tools: Once it was read to its end, without a gap, it may be."""
    body = "".join(f"line {number} {'x' * 90}\n" for number in range(100))
    desk.call("record", id="a", body=body)
    desk.pages.close()
    desk.pages = desk.opened()
    tools = knowledge_tools(desk.pages)
    refused = _call(tools, "record", {"id": "a", "body": "New."})
    assert refused.outcome == "error"
    assert refused.output.endswith("with knowledge_read before it is replaced.")
    _call(tools, "read", {"handle": "a"})
    _call(tools, "read", {"handle": "a", "line": 100})
    assert _call(tools, "record", {"id": "a", "body": "New."}).outcome == "error"
    line = 1
    while line:
        output = _call(tools, "read", {"handle": "a", "line": line}).output
        end = output.splitlines()[-1]
        line = 0 if end == "[end]" else int(end.rpartition(" ")[2].rstrip("]"))
    assert _call(tools, "record", {"id": "a", "body": "New."}).outcome == "ok"


# --- resolve ----------------------------------------------------------------------


def test_handles_are_resolved_in_their_order(desk: Desk) -> None:
    """knowledge-tools: A line each, with what to paste."""
    desk.call("record", id="both", body="Own.")
    desk.put("both", "---\nid: both\n---\nShared.\n")
    digest = tagged_digest((desk.shared / "knowledge/calibration.md").read_bytes())
    answer = desk.call("resolve", handles=["[[calibration]]", "gone", "both"])
    assert answer.output.splitlines() == [
        f"calibration: resolved, [[calibration]] knowledge/calibration.md (shared), {digest}",
        "gone: missing; knowledge_search finds pages by words",
        "both: ambiguous, 2 pages; write [[here::both]] or [[shared::both]]",
    ]
    assert (answer.outcome, answer.facts) == ("ok", ())
    assert desk.call("resolve", handles="gone").output.startswith("gone: missing")
    assert desk.call("resolve", handles=[]).output == "no handle was given"


def test_a_resolved_page_without_a_file_has_no_digest(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """knowledge-tools: What went away in that moment."""
    path = desk.put("late", "---\nid: late\n---\n")
    tools = knowledge_tools(desk.pages)
    resolve = ThreadPages._resolved

    def after(pages: ThreadPages, view: object, handle: str) -> object:
        path.unlink()
        return resolve(pages, view, handle)  # type: ignore[arg-type]

    monkeypatch.setattr(ThreadPages, "_resolved", after)
    output = _call(tools, "resolve", {"handles": ["late"]}).output
    assert output == "late: resolved, [[late]] knowledge/late.md (shared)"


@pytest.mark.parametrize("count", [99, 100, 101])
def test_a_hundred_handles_are_looked_at(count: int, desk: Desk) -> None:
    """knowledge-tools: The rest is counted."""
    rows = desk.call("resolve", handles=["x"] * count).output.splitlines()
    assert rows[:MOST_HANDLES] == ["x: missing; knowledge_search finds pages by words"] * min(
        count, MOST_HANDLES
    )
    assert rows[MOST_HANDLES:] == (
        ["+1 more that were not looked at"] if count > MOST_HANDLES else []
    )


# --- small texts ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "handle"),
    [("a", "a"), (" [[a]] ", "a"), ("[[a|l]]", "a"), ("[[a", "[[a"), ("a|b", "a|b"), ("[[]]", "")],
)
def test_a_handle_is_taken_with_or_without_brackets(written: str, handle: str) -> None:
    """knowledge-tools: Small models write both."""
    assert bare(written) == handle


def test_a_text_is_cut_at_a_character() -> None:
    """knowledge-tools: Nothing is lost without a mark."""
    assert cut("ééé", 6) == "ééé"
    assert cut("ééé", 5) == "éé…"
    assert cut("\ud800" * 3, 4) == "…"


@pytest.mark.parametrize(
    ("given", "texts"), [("a", ["a"]), (["a", 1], ["a", "1"]), (None, []), (7, [])]
)
def test_a_list_may_be_given_as_a_text(given: object, texts: list[str]) -> None:
    """knowledge-tools: Or not at all."""
    assert texts_of(given) == texts
