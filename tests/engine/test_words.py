"""Quotations, commits and sources: whose words hold them, and where those stand."""

from typing import Any

import pytest

# A session is the fake transcript of `conftest.py`: its steps are told in the test.
Session = Any
Repository = Any

LINE = "ImportError: no module named flask.ext"
OTHER = "a second line that is long enough"
SUPPORTED = "supported"
OPEN = "not_established"


@pytest.mark.parametrize(
    ("whose", "reason"),
    [
        ("tool", "printed"),
        ("fetched", "fetched"),
        ("search", "printed"),
        ("person", "given-by-person"),
        ("system", "given-by-system"),
    ],
)
def test_words_of_tools_person_and_system_are_evidence(
    session: Session, whose: str, reason: str
) -> None:
    """whose-words: The reason says whose words they are."""
    session.asks()
    line = session.word(whose, f"1\n  {LINE}\n2")
    session.replies(f'It says "{LINE}".')
    (turn,) = session.check().turns()
    (found,) = turn.references
    assert (found.kind, found.verdict, found.reason) == ("quotation", SUPPORTED, reason)
    assert found.path is None
    assert [(row.line, row.call, row.source) for row in found.evidence] == [(line, None, None)]


@pytest.mark.parametrize(
    ("whose", "reason"),
    [
        ("model", "only-model-text"),
        ("subagent", "only-subagent-prose"),
        ("harness", "only-harness-text"),
    ],
)
def test_other_words_are_no_evidence_and_are_named(
    session: Session, whose: str, reason: str
) -> None:
    """whose-words: Where nothing else holds it, whose words do is said."""
    session.asks()
    line = session.word(whose, LINE)
    session.replies(f'It says "{LINE}".')
    (turn,) = session.check().turns()
    (found,) = turn.references
    assert (found.verdict, found.reason) == (OPEN, reason)
    assert [row.line for row in found.evidence] == [line]


def test_evidence_goes_before_words_that_are_none(session: Session) -> None:
    """whose-words: The order in the record does not decide."""
    session.asks()
    session.word("model", LINE)
    session.word("harness", LINE)
    session.word("tool", LINE)
    session.replies(f'It says "{LINE}".')
    assert session.verdicts()[-1][1:] == (SUPPORTED, "printed")


def test_words_behind_a_reply_are_no_evidence_for_it(session: Session) -> None:
    """three-verdicts: Evidence stands before the reply that rests on it."""
    session.asks()
    session.replies(f'It says "{LINE}".')
    session.word("tool", LINE)
    session.asks()
    session.replies(f'Again: it says "{LINE}".')
    assert [row[1:] for row in session.verdicts()] == [
        (OPEN, "not-in-record"),
        (SUPPORTED, "printed"),
    ]


def test_words_of_another_thread_are_no_evidence(session: Session) -> None:
    """threads: What another session holds says nothing; what is of no thread is of all."""
    session.asks()
    session.word("tool", LINE)
    session.word("tool", OTHER, everywhere=True)
    session.thread, session.turn = "t2", 0
    session.asks()
    session.replies(f'It says "{LINE}" and it says "{OTHER}".')
    assert [row[1:] for row in session.verdicts()] == [
        (OPEN, "not-in-record"),
        (SUPPORTED, "printed"),
    ]


def test_a_sub_agents_tools_are_evidence_and_its_prose_is_none(session: Session) -> None:
    """sub-agents: What its tools said stands before the result of the call."""
    session.opens()
    session.asks()
    with session.within("agent"):
        session.opens(parent="t1")
        session.asks()
        session.word("tool", LINE)
        session.replies(f"I saw it. {OTHER}")
    session.replies(f'It says "{LINE}" and it says "{OTHER}".')
    assert [row[1:] for row in session.verdicts()] == [
        (SUPPORTED, "printed"),
        (OPEN, "only-subagent-prose"),
    ]


@pytest.mark.parametrize("is_before", [True, False])
def test_an_output_that_was_cut_may_have_held_a_quotation(
    session: Session,
    is_before: bool,  # noqa: FBT001 - a case
) -> None:
    """three-verdicts: Only what was cut before the reply can have held it."""
    session.asks()
    if is_before:
        session.is_damaged("output-cut")
    session.replies(f'It says "{LINE}".')
    session.asks()
    session.is_damaged("output-cut")
    assert session.verdicts()[0][1:] == (OPEN, "output-cut" if is_before else "not-in-record")


@pytest.mark.parametrize(
    ("held", "verdict", "reason"),
    [
        ([("tool", LINE), ("person", OTHER)], SUPPORTED, "printed"),
        ([("tool", LINE)], OPEN, "not-in-record"),
        ([("tool", OTHER)], OPEN, "not-in-record"),
        ([("tool", LINE), ("harness", OTHER)], OPEN, "only-harness-text"),
        ([("model", LINE), ("tool", OTHER)], OPEN, "only-model-text"),
    ],
)
def test_a_quotation_with_an_elision_is_backed_when_every_piece_is(
    session: Session, held: list[tuple[str, str]], verdict: str, reason: str
) -> None:
    """three-verdicts: The weakest of its pieces decides."""
    session.asks()
    for whose, text in held:
        session.word(whose, text)
    session.replies(f'It says "{LINE} […] {OTHER}".')
    assert session.verdicts()[0][1:] == (verdict, reason)


# --- commits ------------------------------------------------------------------


def test_a_commit_stands_in_any_evidence(session: Session) -> None:
    """three-verdicts: A short name is found in the long one."""
    session.asks()
    session.word("tool", "[main deadbee1ff] Fix it")
    session.word("model", "abcdef12")
    session.replies("Committed as deadbee1 and pushed abcdef12 and merged 1234abcd.")
    assert session.verdicts() == [
        ("deadbee1", SUPPORTED, "printed"),
        ("abcdef12", OPEN, "only-model-text"),
        ("1234abcd", OPEN, "not-in-record"),
    ]


def test_a_repository_has_commits_that_the_record_lacks(
    session: Session, repository: Repository
) -> None:
    """three-verdicts: What neither has is not established, by its own reason."""
    session.asks()
    session.replies("Committed as deadbee1 and pushed abcdef12.")
    (turn,) = session.check(repository=repository({}, commits=["deadbee1ff"])).turns()
    assert [(one.text, one.verdict, one.reason, len(one.evidence)) for one in turn.references] == [
        ("deadbee1", SUPPORTED, "in-repository", 1),
        ("abcdef12", OPEN, "not-in-repository", 0),
    ]


def test_a_quotation_and_a_source_are_not_looked_up_in_a_repository(
    session: Session, repository: Repository
) -> None:
    """three-verdicts: A repository says something of places and commits alone."""
    session.asks()
    session.replies(f'It says "{LINE}", per https://a.test/x')
    tree = repository({})
    assert [row[2] for row in session.verdicts(repository=tree)] == [
        "not-in-record",
        "never-fetched",
    ]
    assert tree.asked == []


def _hints(session: Session) -> list[list[str]]:
    (turn,) = session.check().turns()
    return [[row.what for row in one.evidence] for one in turn.references]


def test_another_commit_of_the_record_is_a_hint(session: Session) -> None:
    """three-verdicts: The last commit that git reported is named beside an unknown one."""
    session.asks()
    session.runs("git commit -m a", "[main abcdef0] First", call="c1")
    session.runs("git commit -m b", "[main (root-commit) abcdef1] Second", call="c2")
    session.replies("Committed as 1234abcd.")
    assert _hints(session) == [["the record's own commit is abcdef1"]]


@pytest.mark.parametrize("cited", ["abcdef1", "abcdef12", "abcdef12ff"])
def test_a_commit_of_the_record_is_no_hint_against_itself(session: Session, cited: str) -> None:
    """three-verdicts: A longer or shorter form of the name is the same commit."""
    session.asks()
    session.runs("git commit -m a", "[main abcdef12] First")
    session.replies(f"Committed as {cited}.")
    assert _hints(session) == [[]]


@pytest.mark.parametrize(
    ("command", "output", "fields"),
    [
        ("echo", "[main abcdef0] First", {}),
        ("git commit", "[main abcdef0] First", {"source": "person"}),
        ("git commit", "x" * 4000 + "[main abcdef0] First", {}),
        ("git commit", "nothing to commit", {}),
        ("git log", "abcdef0", {}),
    ],
)
def test_only_what_git_reported_to_the_agent_is_a_hint(
    session: Session, command: str, output: str, fields: dict[str, str]
) -> None:
    """three-verdicts: Other output, and a command that a person typed, give none."""
    session.asks()
    session.runs(command, output, **fields)
    session.replies("Committed as 1234abcd.")
    assert _hints(session) == [[]]


# --- sources ------------------------------------------------------------------


def test_a_source_was_fetched_or_only_found_or_never(session: Session) -> None:
    """three-verdicts: A search result is no reading of the page."""
    session.asks()
    line = session.fetches("https://a.test/x/")
    session.fetches("https://a.test/x")
    session.word("search", "https://b.test/y - a title")
    session.word("tool", "see https://d.test/z")
    session.word("person", "https://e.test")
    session.replies(
        "Sources:\n- https://a.test/x\n- https://b.test/y\n- https://c.test/\n"
        "- https://d.test/z\n- https://e.test\n- https://d.test"
    )
    (turn,) = session.check().turns()
    assert [(one.text, one.verdict, one.reason) for one in turn.references] == [
        ("https://a.test/x", SUPPORTED, "fetched"),
        ("https://b.test/y", OPEN, "only-in-search-results"),
        ("https://c.test/", OPEN, "never-fetched"),
        ("https://d.test/z", SUPPORTED, "printed"),
        ("https://e.test", SUPPORTED, "given-by-person"),
        ("https://d.test", OPEN, "never-fetched"),
    ]
    assert turn.references[0].evidence[0].line == line


def test_a_source_fetched_after_the_reply_is_no_evidence(session: Session) -> None:
    """three-verdicts: Evidence stands before the reply that rests on it."""
    session.asks()
    session.replies("Per https://a.test/x, yes.")
    session.fetches("https://a.test/x")
    assert session.verdicts() == [("https://a.test/x", OPEN, "never-fetched")]


def test_one_needle_is_looked_for_once_for_all_replies(session: Session) -> None:
    """three-verdicts: What was said twice is searched once, before the last that needs it."""
    session.asks()
    session.says(f'It says "{LINE}".')
    session.asks()
    session.replies(f'Still: it says "{LINE}".')
    session.verdicts()
    assert [one.needle.text for one in session.searched] == [LINE]
