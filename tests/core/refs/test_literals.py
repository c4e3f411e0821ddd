"""Places, commits, quotations and sources: what is one, and what only looks like one."""

import pytest

from counterfoil.core.refs.literals import (
    SHORTEST_QUOTATION,
    Commit,
    Place,
    Quotation,
    Source,
    find_literals,
)

LINE = "ImportError: no module named 'flask.ext'"
NAME = "deadbee1"


def _read(text: str) -> list[str]:
    """Return the texts of the references of `text`, each behind the first letter of its kind."""
    return [
        f"{type(one).__name__[0]} {text[slice(*one.span)]}"  # P, C, Q or S
        for one in find_literals(text)
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see src/app.py:12", ["P src/app.py:12"]),
        ("see src/app.py:12-20, then", ["P src/app.py:12-20"]),
        ("see src/app.py:20–12.", ["P src/app.py:20–12"]),
        ("see src/app.py#L12-L20", ["P src/app.py#L12-L20"]),
        ("see src/app.py#L12-20", ["P src/app.py#L12-20"]),
        ("(`a.py:1`)", ["P a.py:1"]),
        ("C:\\x\\y.rs:3", ["P \\x\\y.rs:3"]),
        ("Makefile:3 and .env:1", ["P Makefile:3", "P .env:1"]),
        ("a.py:1:5 and b.py:2", ["P a.py:1", "P b.py:2"]),
        ("a.py:1234567", ["P a.py:1234567"]),
        ("a.py:12345678", []),
        ("a.py:0", []),
        ("a.py:1x a.py:1% a.py:1_", []),
        ("localhost:8080 example.com:443 3:4 :5 dir/:6 .7:8", []),
        ("no/file:3 a.unknown:3", []),
        ("https://docs.test/a.py:12", []),
        ("```\na.py:1\n```", []),
        ("> a.py:1\nb.py:2", ["P b.py:2"]),
        ("在src/a.py:1", ["P src/a.py:1"]),
        ("café/a.py:1", ["P café/a.py:1"]),
        ("在:1", []),
    ],
)
def test_a_place_is_a_file_and_lines(text: str, found: list[str]) -> None:
    """literals: A host, a ratio, code and URLs are no places."""
    assert _read(text) == found


@pytest.mark.parametrize("text", ["été.py:1", "étude/a.py:1", "über/a.py#L3"])
def test_a_path_may_begin_with_any_letter(text: str) -> None:
    """literals: A letter with an accent is one of the path and no prose before it."""
    assert _read(f"see {text}") == [f"P {text}"]


@pytest.mark.parametrize("text", ["example.org:443", "www.python.org:443"])
def test_a_host_and_its_port_are_no_place(text: str) -> None:
    """literals: A host does not look like a file, whatever its last name is."""
    assert _read(f"It listens at {text}.") == []


def test_a_place_runs_from_its_lower_to_its_higher_line() -> None:
    """literals: However written, first is not behind last."""
    assert find_literals("a.py:20-12") == (Place(span=(0, 10), path="a.py", first=12, last=20),)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"committed as {NAME}.", [f"C {NAME}"]),
        (f"HEAD is `{NAME}`", [f"C {NAME}"]),
        (f"fixed in {NAME}", [f"C {NAME}"]),
        (f"commit {NAME}-dirty and commit {NAME}- end", [f"C {NAME}"]),
        (f"commit {NAME}. It", [f"C {NAME}"]),
        (f"commit {NAME}.py", []),
        (f"commit {NAME}/x commit {NAME}_ commit {NAME}g", []),
        (f"commit {NAME}(x)", [f"C {NAME}"]),
        (f"commit #{NAME} commit x{NAME}", []),
        (f"{NAME} is what it is", []),
        (f"I committed. The id is {NAME}", []),
        ("commit 12345678 commit abcdefab commit abcde1", []),
        ("commit abcdef1", ["C abcdef1"]),
        (f"commit {'a1' * 20}", [f"C {'a1' * 20}"]),
        (f"commit {'a1' * 20}b", []),
        (f"commit https://git.test/{NAME}", []),
        (f"```\ncommit {NAME}\n```", []),
        (f"commit {'word ' * 22}{NAME}", [f"C {NAME}"]),
        (f"commit {'word ' * 24}{NAME}", []),
    ],
)
def test_a_commit_is_named_behind_a_cue(text: str, found: list[str]) -> None:
    """literals: 7 to 40 digits with a digit and a letter, standing alone, in a claim."""
    assert _read(text) == found


def test_a_commit_has_its_name() -> None:
    """literals: The name is what is looked for."""
    assert find_literals(f"pushed {NAME}") == (Commit(span=(7, 15), name=NAME),)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("According to https://docs.test/a.", ["S https://docs.test/a"]),
        (
            "Sources:\n- https://a.test\n- [x](https://b.test)\n",
            ["S https://a.test", "S https://b.test"],
        ),
        ("## References\n\nhttps://a.test/x", ["S https://a.test/x"]),
        ("Sources:\nThe end.\n- https://a.test", []),
        ("Open https://a.test to try.", []),
        ("per https://a.test/(x) and more", ["S https://a.test/(x)"]),
        ("per (https://a.test/x)", ["S https://a.test/x"]),
        ("per [https://a.test/x]", ["S https://a.test/x"]),
        ("per http://localhost:3/ or http://127.0.0.1/ or http://u@10.0.0.1/", []),
        ("per ftp://a.test/x", []),
        ("per ://a.test and per 1://a.test and per http://", []),
        ("cited " + "word " * 50 + "https://a.test", []),
        ("```\nper https://a.test\n```", []),
    ],
)
def test_a_source_is_a_url_that_is_presented_as_one(text: str, found: list[str]) -> None:
    """literals: A URL to open is none, nor is one on this machine."""
    assert _read(text) == found


def test_a_source_leaves_the_sentence_its_punctuation() -> None:
    """literals: What ends the sentence is not of the URL."""
    assert find_literals("per https://a.test/x),") == (
        Source(span=(4, 20), url="https://a.test/x"),
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f'It says "{LINE}".', [f'Q "{LINE}"']),
        (f"It says “{LINE}”.", [f"Q “{LINE}”"]),
        (f"It says ‘{'a line that is long enough'}’.", ["Q ‘a line that is long enough’"]),
        (f"It failed with `{LINE}`", [f"Q `{LINE}`"]),
        (f'The title is "{LINE}".', []),
        (f'It would say "{LINE}", it says.', []),
        (f'If it says "{LINE}", go.', []),
        ('It says "short".', []),
        (f'It says "{LINE}', []),
        (f'It says "\n{LINE}"', []),
        (f'says "x" and prints "{LINE}"', [f'Q "{LINE}"']),
        ('It says https://a.test/"' + "a" * 30 + '"', ['Q "' + "a" * 30 + '"']),
        (f"The output was:\n```\n{LINE}\n```\n", [f"Q ```\n{LINE}\n```\n"]),
        (f"The output was:\n~~~\n{LINE}\n", [f"Q ~~~\n{LINE}\n"]),
        (f"The output was:\n```text\n{LINE}\n````\nx", [f"Q ```text\n{LINE}\n````\n"]),
        (f"The output was:\n```diff\n{LINE}\n```", []),
        (f"The output was\n```\n{LINE}\n```", []),
        (f"Use this:\n```\n{LINE}\n```", []),
        (f"The output should be:\n```\n{LINE}\n```", []),
        (f"Do this:\n```\n{LINE}\n```", []),
        ("The output was:\n```\nshort\n```", []),
        (f"The output was:\n``` a`b\n{LINE}", []),
        (f"The output was:\n```\n{LINE}\n~~~\n``\n```x\n", [f"Q ```\n{LINE}\n~~~\n``\n```x\n"]),
    ],
)
def test_a_quotation_is_presented_as_output_or_text(text: str, found: list[str]) -> None:
    """literals: A title, a proposal, a condition and code to use are none."""
    assert _read(text) == found


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_quotation_has_at_least_24_characters(more: int) -> None:
    """literals: One under, at it, one over."""
    text = "x" * (SHORTEST_QUOTATION + more)
    spans = [one.span for one in find_literals(f'It says "{text}"')]
    assert bool(spans) == (more >= 0)


@pytest.mark.parametrize(("length", "is_read"), [(1997, True), (1998, True), (1999, False)])
def test_a_quotation_of_one_line_has_a_longest_form(length: int, is_read: bool) -> None:  # noqa: FBT001
    """literals: One under, at it, one over: with its quotes it has at most 2,000 characters."""
    text = f'It says "{"x" * length}"'
    assert bool(find_literals(text)) is is_read


@pytest.mark.parametrize(
    ("behind", "found"),
    [
        (f' and it says "{LINE}".', [f'Q "{LINE}"']),
        (' and these words are mine, the log is "short".', []),
    ],
)
def test_a_quotation_that_is_too_long_turns_no_other_inside_out(
    behind: str, found: list[str]
) -> None:
    """literals: What stands between two quotations is the reply's own, and is not quoted."""
    assert _read(f'It says "{"x" * 2100} error: none"{behind}') == found


@pytest.mark.parametrize("mark", ["…", "...", "[…]", "[...]", " … "])
def test_a_quotation_is_its_pieces_between_elisions(mark: str) -> None:
    """literals: Short pieces are none, and one long piece is enough."""
    first, second = "a" * 30, "b" * 30
    (found,) = find_literals(f'It says "{first}{mark}{second}{mark}x"')
    assert isinstance(found, Quotation)
    assert found.pieces == (first, second)
