"""Places of a reply, weighed against what the record shows before it."""

from typing import Any

import pytest

# A session is the fake transcript of `conftest.py`: its steps are told in the test.
Session = Any
Repository = Any

SUPPORTED = "supported"
OPEN = "not_established"
AGAINST = "contradicted"


@pytest.mark.parametrize("how", ["read", "written", "printed", "grepped"])
def test_lines_that_were_shown_support_a_place(session: Session, how: str) -> None:
    """three-verdicts: The reason says in which way the lines were shown."""
    session.asks()
    line = session.shows("src/app.py", 10, 20, how=how)
    session.replies("See src/app.py:12-15.")
    (turn,) = session.check().turns()
    (found,) = turn.references
    assert (found.kind, found.verdict, found.reason) == ("place", SUPPORTED, how)
    assert found.path == "src/app.py"
    (row,) = found.evidence
    assert (row.line, row.call, row.source, row.what) == (line, "c1", None, "src/app.py")


def test_lines_that_were_not_shown_are_not_established(session: Session) -> None:
    """three-verdicts: The file is in the record, its lines are not."""
    session.asks()
    session.shows("src/app.py", 10, 20)
    session.replies("See src/app.py:9 and src/app.py:20-21 and other.py:1.")
    assert session.verdicts() == [
        ("src/app.py:9", OPEN, "line-not-shown"),
        ("src/app.py:20-21", OPEN, "line-not-shown"),
        ("other.py:1", OPEN, "file-not-in-record"),
    ]


@pytest.mark.parametrize(
    ("line", "verdict"), [(10, SUPPORTED), (11, OPEN), (12, AGAINST), (120, AGAINST)]
)
def test_a_place_past_the_end_of_a_whole_file_is_contradicted(
    session: Session, line: int, verdict: str
) -> None:
    """three-verdicts: One line past the end is no contradiction: counts differ about it."""
    session.asks()
    session.shows("a.py", 1, 10, total=10)
    session.replies(f"See a.py:{line}.")
    ((_, found, reason),) = session.verdicts()
    assert found == verdict
    assert (reason == "past-end") == (verdict == AGAINST)


def test_a_place_past_the_end_of_one_line_says_so(session: Session) -> None:
    """three-verdicts: What was found is said in words."""
    session.asks()
    session.shows("a.py", 1, 1, total=1)
    session.shows("b.py", 1, 3, total=3)
    session.replies("See a.py:9 and b.py:9.")
    (turn,) = session.check().turns()
    assert [row.what for one in turn.references for row in one.evidence] == [
        "a.py has 1 line",
        "b.py has 3 lines",
    ]


@pytest.mark.parametrize(
    ("command", "verdict"), [("ls -l", AGAINST), ("make build", OPEN), ("cat a > a.py", OPEN)]
)
def test_what_may_have_written_since_makes_no_accusation(
    session: Session, command: str, verdict: str
) -> None:
    """three-verdicts: Contradicted only where nothing ran since that may change a file."""
    session.asks()
    session.shows("a.py", 1, 10, total=10)
    session.runs(command)
    session.replies("See a.py:99.")
    ((_, found, _),) = session.verdicts()
    assert found == verdict


def test_a_file_that_was_not_shown_whole_contradicts_nothing(session: Session) -> None:
    """three-verdicts: A length without the lines before it may be of another state."""
    session.asks()
    session.shows("a.py", 5, 10, total=10)
    session.replies("See a.py:99.")
    assert session.verdicts() == [("a.py:99", OPEN, "line-not-shown")]


def test_two_files_of_one_name_are_both_candidates(session: Session) -> None:
    """three-verdicts: A place is accepted if any file fits; there is no nearest one."""
    session.asks()
    session.shows("src/a.py", 1, 10, total=10)
    session.shows("lib/a.py", 1, 99, total=99)
    session.shows("src/a.py", 1, 10, total=10)
    session.replies("See a.py:50, a.py:120, src/a.py:50 and a.py:100.")
    (turn,) = session.check().turns()
    found = [(one.text, one.verdict, [row.what for row in one.evidence]) for one in turn.references]
    assert found == [
        ("a.py:50", SUPPORTED, ["lib/a.py"]),
        ("a.py:120", AGAINST, ["src/a.py has 10 lines", "lib/a.py has 99 lines"]),
        ("src/a.py:50", AGAINST, ["src/a.py has 10 lines"]),
        ("a.py:100", OPEN, ["lib/a.py"]),
    ]


def test_a_path_below_the_working_directory_is_one_file(session: Session) -> None:
    """shown: Written from there or from the root, it is the same; the first directory stays."""
    session.opens(cwd="/home/ann/shop/")
    session.opens(cwd="/somewhere/else")
    session.asks()
    session.shows("/home/ann/shop/src/a.py", 1, 10, total=10)
    session.shows("src/a.py", 11, 20)
    session.replies("See src/a.py:8-12 and /home/ann/shop/src/a.py:15.")
    (turn,) = session.check().turns()
    assert [(one.verdict, [row.what for row in one.evidence]) for one in turn.references] == [
        (SUPPORTED, ["src/a.py"]),
        (SUPPORTED, ["src/a.py"]),
    ]


def test_what_was_shown_after_a_reply_is_no_evidence_for_it(session: Session) -> None:
    """three-verdicts: Evidence stands before the reply that rests on it."""
    session.asks()
    session.replies("See a.py:5.")
    session.asks()
    session.shows("a.py", 1, 10)
    session.replies("See a.py:5.")
    assert session.verdicts() == [
        ("a.py:5", OPEN, "file-not-in-record"),
        ("a.py:5", SUPPORTED, "read"),
    ]


def test_what_another_thread_was_shown_is_no_evidence(session: Session) -> None:
    """threads: Two sessions in one file stay apart."""
    session.asks()
    session.shows("a.py", 1, 10)
    session.thread, session.turn = "t2", 0
    session.asks()
    session.replies("See a.py:5.")
    assert session.verdicts() == [("a.py:5", OPEN, "file-not-in-record")]


def test_what_a_sub_agent_was_shown_is_evidence_for_all(session: Session) -> None:
    """sub-agents: A thread and its sub-agents see what any of them was shown."""
    session.opens()
    session.asks()
    with session.within("agent"):
        session.opens(parent="t1")
        session.asks("Look.")
        line = session.shows("a.py", 1, 10)
        session.replies("Done: b.py:3.")
    session.shows("b.py", 3, 3)
    session.replies("See a.py:5 and b.py:3.")
    inner, outer = session.check().turns()
    assert (inner.thread, inner.parent, inner.source) == ("agent", "t1", "agents/a.jsonl")
    assert [(one.text, one.reason) for one in inner.references] == [
        ("b.py:3", "file-not-in-record")
    ]
    assert [(one.text, one.reason) for one in outer.references] == [
        ("a.py:5", "read"),
        ("b.py:3", "read"),
    ]
    (row,) = outer.references[0].evidence
    assert (row.line, row.source) == (line, "agents/a.jsonl")


@pytest.mark.parametrize(
    ("text", "verdict", "reason"),
    [
        ("src/a.py:12: error: no", SUPPORTED, "printed"),
        ('File "/x/src/a.py", line 12, in f', SUPPORTED, "printed"),
        ("src/a.py:121: error", OPEN, "line-not-shown"),
        ("M src/a.py", OPEN, "line-not-shown"),
        ("lib/a.py:12: error", OPEN, "file-not-in-record"),
        ("src/a.pyc:12", OPEN, "file-not-in-record"),
    ],
)
def test_outputs_of_tools_name_places(
    session: Session, text: str, verdict: str, reason: str
) -> None:
    """three-verdicts: A line that an output names is shown, a file that it names is known."""
    session.asks()
    session.word("tool", text)
    session.replies("See src/a.py:12.")
    assert session.verdicts() == [("src/a.py:12", verdict, reason)]


def test_a_file_that_is_known_is_not_looked_for_by_name(session: Session) -> None:
    """three-verdicts: Only what can change the verdict is looked for."""
    session.asks()
    session.shows("a.py", 1, 3)
    session.shows("c.py", 1, 3)
    session.replies("See a.py:2, c.py:9 and b.py:9.")
    session.verdicts()
    assert sorted((one.needle.kind, one.needle.path) for one in session.searched) == [
        ("file", "b.py"),
        ("place", "b.py"),
        ("place", "b.py"),
        ("place", "c.py"),
        ("place", "c.py"),
    ]


@pytest.mark.parametrize(
    ("place", "verdict", "reason"),
    [
        ("a.py:9-10", SUPPORTED, "in-tree"),
        ("a.py:10-11", OPEN, "file-not-in-record"),
        ("a.py:11", OPEN, "file-not-in-record"),
        ("a.py:12", AGAINST, "past-end-in-tree"),
        ("long.py:12", OPEN, "file-not-in-record"),
        ("gone.py:1", OPEN, "file-not-in-record"),
    ],
)
def test_a_tree_backs_places_and_contradicts_where_nothing_is_longer(
    session: Session, repository: Repository, place: str, verdict: str, reason: str
) -> None:
    """three-verdicts: One line past the end of every version is no contradiction."""
    tree = repository({"a.py": 10, "long.py": 10}, longest={"long.py": 50, "a.py": 10})
    session.asks()
    session.replies(f"See {place}.")
    (turn,) = session.check(repository=tree).turns()
    (found,) = turn.references
    assert (found.verdict, found.reason) == (verdict, reason)
    if verdict != OPEN:
        (row,) = found.evidence
        assert row.what == "a.py has 10 lines at commit c0ffeec0ffee"
        assert (row.line, row.call, row.source) == (None, None, None)


def test_a_tree_is_asked_at_the_time_of_the_turn(session: Session, repository: Repository) -> None:
    """three-verdicts: The tree is that of the latest event before the reply."""
    tree = repository({"a.py": 10})
    session.asks()
    session.replies("See a.py:1.")
    session.verdicts(repository=tree)
    assert tree.asked == [("a.py", None, "2026-03-01T09:00:02.000Z")]


@pytest.mark.parametrize("how", ["written", "read"])
def test_a_tree_says_nothing_against_a_file_that_the_record_touched(
    session: Session, repository: Repository, how: str
) -> None:
    """three-verdicts: A work tree may hold more than any commit."""
    session.asks()
    session.shows("a.py", 1, 2, how=how)
    session.replies("See a.py:99.")
    assert session.verdicts(repository=repository({"a.py": 10})) == [
        ("a.py:99", OPEN, "line-not-shown")
    ]
