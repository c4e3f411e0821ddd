"""Grants: what one covers, for how long, and under what it is remembered."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.adapters.shell import ShfmtParser
from counterfoil.core.gate.grants import (
    STANDING,
    Grant,
    Pattern,
    Scope,
    ThreadGrants,
    Wanted,
    covering,
    covers,
    downgraded,
    pattern_of,
)
from counterfoil.core.gate.levels import part_level
from counterfoil.core.gate.output import end_of
from counterfoil.core.gate.reading import read_line
from counterfoil.core.gate.scale import LEVELS, Level, is_below

NOW = "2026-03-01T09:00:00.000Z"
LATER = "2026-03-31T09:00:00.000Z"
PARSER = ShfmtParser()
SCOPES: tuple[Scope, ...] = ("turn", "session", "project", "always")


def _grant(
    scope: Scope = "session",
    *,
    pattern: str = "git push *",
    level: Level = "moderate",
    is_exact: bool = False,
    directory: str | None = None,
) -> Grant:
    return Grant(
        id=f"{scope}-{pattern}",
        pattern=Pattern(pattern, is_exact=is_exact),
        level=level,
        scope=scope,
        directory="/shop" if scope == "project" else directory,
        granted_at=NOW,
        expires_at=LATER if scope in STANDING else None,
    )


def _wanted(
    level: Level = "moderate",
    *,
    pattern: str = "git push *",
    is_exact: bool = False,
    directory: str = "/shop",
    now: str = NOW,
) -> Wanted:
    return Wanted(Pattern(pattern, is_exact=is_exact), level, directory=directory, now=now)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("git push origin x", "git push *"),
        ("git -C sub push", "git push *"),
        ("git --no-pager -C sub fetch", "git fetch *"),
        ("git", "=git"),
        ("git pu$x", "=git pu$x"),
        ("make -j4 test", "make *"),
        ("env -u X make test", "make *"),
        ("nohup make", "make *"),
        ("A=1 make", "=A=1 make"),
        ("./build.sh x", "./build.sh *"),
        ("/tmp/evil/git push", "/tmp/evil/git push *"),
        ("'my prog' x", "'my prog' *"),
        ("npm run build", "npm run *"),
        ("cargo +nightly build", "cargo build *"),
        ("docker ps -a", "docker ps *"),
        ("python x.py", "=python x.py"),
        ("python3.11 -m pytest", "=python3.11 -m pytest"),
        ("node x.js", "=node x.js"),
        ("sh x.sh", "=sh x.sh"),
        (". ./x.sh", "=. ./x.sh"),
        ("awk -f x y", "=awk -f x y"),
        ("xargs make", "=xargs make"),
        ("rm -rf build", "=rm -rf build"),
        ("rm x", "rm *"),
        ("> x", "=> x"),
    ],
)
def test_a_command_is_remembered_under_program_and_verb(text: str, pattern: str) -> None:
    """grants: Options before the verb are skipped; code and danger by exact text."""
    part = read_line(text, PARSER.parse).parts[0]
    found = pattern_of(part, part_level(part, sandbox="bubblewrap"))
    assert ("=" if found.is_exact else "") + str(found) == pattern


@pytest.mark.parametrize(
    ("scope", "given_level", "wanted_level", "is_exact"),
    list(product(SCOPES, LEVELS, LEVELS, [False, True])),
)
def test_a_grant_covers_its_level_or_below(
    scope: Scope, given_level: Level, wanted_level: Level, *, is_exact: bool
) -> None:
    """grants: What is dangerous only by exact text, and by no standing grant."""
    grant = _grant(scope, level=given_level, is_exact=is_exact)
    expected = not is_below(given_level, wanted_level)
    if wanted_level == "dangerous":
        expected = expected and is_exact and scope not in STANDING
    assert covers(grant, _wanted(wanted_level, is_exact=is_exact)) is expected


@given(
    st.builds(
        Grant,
        id=st.just("a"),
        pattern=st.builds(Pattern, st.sampled_from(["a", "b"]), st.booleans()),
        level=st.sampled_from(LEVELS),
        scope=st.sampled_from(["once", *SCOPES]),
        directory=st.sampled_from([None, "/a", "/b"]),
        granted_at=st.just(NOW),
        expires_at=st.sampled_from([None, NOW, LATER]),
    ),
    st.builds(
        Wanted,
        st.builds(Pattern, st.sampled_from(["a", "b"]), st.booleans()),
        st.sampled_from(LEVELS),
        directory=st.sampled_from(["", "/a", "/b"]),
        now=st.sampled_from([NOW, LATER]),
    ),
)
def test_no_grant_covers_more_than_it_says(grant: Grant, wanted: Wanted) -> None:
    """grants: Never a higher level, another pattern, another directory, a later time."""
    if covers(grant, wanted):
        assert grant.pattern == wanted.pattern
        assert not is_below(grant.level, wanted.level)
        assert grant.directory in {None, wanted.directory}
        assert grant.expires_at is None or wanted.now < grant.expires_at
        assert wanted.level != "dangerous" or grant.scope not in STANDING
        assert grant.scope not in STANDING or grant.expires_at is not None


def test_a_pattern_is_compared_and_never_matched() -> None:
    """grants: An exact text that looks like a pattern covers itself alone."""
    exact = _grant(pattern="git push *", is_exact=True)
    assert not covers(exact, _wanted())
    assert covers(exact, _wanted(is_exact=True))
    assert not covers(_grant(pattern="git *"), _wanted())


def test_a_grant_of_a_project_covers_its_directory_alone() -> None:
    """grants: One without a directory covers nothing; `always` covers every directory."""
    project = _grant("project")
    assert covers(project, _wanted())
    assert not covers(project, _wanted(directory="/shop/sub"))
    assert covers(_grant("always"), _wanted(directory="/elsewhere"))
    astray = Grant(
        id="a", pattern=Pattern("git push *"), level="moderate", scope="project", granted_at=NOW
    )
    assert not covers(astray, _wanted())
    endless = Grant(
        id="a", pattern=Pattern("git push *"), level="moderate", scope="always", granted_at=NOW
    )
    assert not covers(endless, _wanted())


def test_a_standing_grant_ends_at_its_time() -> None:
    """grants: One millisecond before, at it, and after."""
    for now, is_covered in (
        ("2026-03-31T08:59:59.999Z", True),
        (LATER, False),
        ("2026-03-31T09:00:00.001Z", False),
    ):
        assert covers(_grant("always"), _wanted(now=now)) is is_covered
        assert covers(_grant("session"), _wanted(now=now))


def test_the_first_grant_that_covers_is_the_one() -> None:
    """grants: In the order in which they are asked, and none where none covers."""
    first, second = _grant("session"), _grant("always")
    assert covering([_grant(pattern="make *"), first, second], _wanted()) is first
    assert covering([], _wanted()) is None


@pytest.mark.parametrize(
    ("scope", "level", "given_scope"),
    [
        ("once", "dangerous", "once"),
        ("session", "dangerous", "session"),
        ("project", "dangerous", "session"),
        ("always", "dangerous", "session"),
        ("project", "moderate", "project"),
        ("always", "safe", "always"),
    ],
)
def test_what_is_dangerous_never_stands(scope: Scope, level: Level, given_scope: Scope) -> None:
    """grants: An answer that would let it stand is good for the thread."""
    assert downgraded(scope, level) == given_scope


def test_grants_of_a_turn_end_with_it() -> None:
    """grants: `once` is as long as the turn, the others as long as the thread."""
    granted = ThreadGrants(turn=1)
    granted.remember(_grant("once", pattern="a"))
    granted.remember(_grant("turn", pattern="b"))
    granted.remember(_grant("session", pattern="c"))
    granted.remember(_grant("always", pattern="d"))
    granted.begin_turn(1)
    kept = [(one.pattern.text, one.scope) for one in granted.grants()]
    assert kept == [("c", "session"), ("d", "session"), ("a", "turn"), ("b", "turn")]
    granted.begin_turn(2)
    assert [one.pattern.text for one in granted.grants()] == ["c", "d"]
    assert granted.turn == 2


def test_a_grant_of_a_thread_can_be_revoked() -> None:
    """grants: By its id, once."""
    granted = ThreadGrants()
    granted.remember(_grant("once"))
    granted.remember(_grant("session"))
    assert granted.revoke("session-git push *")
    assert not granted.revoke("session-git push *")
    assert granted.revoke("once-git push *")
    assert granted.grants() == ()


@pytest.mark.parametrize(
    ("text", "size", "shown", "is_cut"),
    [
        ("", 4, "", False),
        ("abc", 4, "abc", False),
        ("abcd", 4, "abcd", False),
        ("abcde", 4, "bcde", True),
        ("a\nbcd\n", 4, "bcd\n", True),
        ("ab\ncd\n", 4, "cd\n", True),
        ("a\nbcdef\n", 4, "def\n", True),
        ("ééé", 4, "éé", True),
        ("éééx", 4, "éx", True),
        ("a\ud800", 3, "\ud800", True),
        ("\n\n\n\n\n", 2, "\n\n", True),
    ],
)
def test_the_end_of_a_stream_is_whole_lines(
    text: str, size: int, shown: str, *, is_cut: bool
) -> None:
    """run-command: Whole lines where there are some, whole characters always."""
    assert end_of(text, size) == (shown, is_cut)


@given(st.text("ab\né\U0001f600"), st.integers(1, 12))
def test_the_end_of_a_stream_keeps_its_bound(text: str, size: int) -> None:
    """run-command: Never more bytes than asked for, and always the end of the text."""
    shown, is_cut = end_of(text, size)
    assert text.endswith(shown)
    assert len(shown.encode()) <= size
    assert is_cut is (shown != text)
