"""The corpus of command lines with their levels and verdicts, and what holds for all of them."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.adapters.shell import ShfmtParser
from counterfoil.core.gate import policy as policies
from counterfoil.core.gate.commands import ParsedCommand, Pipe, SimpleCommand, Span, Word, written
from counterfoil.core.gate.levels import level_of, part_level
from counterfoil.core.gate.policy import Denial, Policy, is_device, is_root, load_policy
from counterfoil.core.gate.reading import (
    DEEPEST,
    MOST_PARTS,
    MOST_TEXTS,
    Line,
    Part,
    read_line,
)
from counterfoil.core.gate.scale import LEVELS, Level, highest, is_below, raised
from counterfoil.core.gate.verbs import verb_of
from counterfoil.core.gate.wrappers import DEEPEST as MOST_WRAPPERS
from counterfoil.core.gate.wrappers import unwrap
from counterfoil.core.settings import ConfigurationError

PARSER = ShfmtParser()
CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "gate-commands.json").read_bytes()
)
POLICY = load_policy()
CONFINED = "bubblewrap"


def _line(text: str) -> Line:
    return read_line(text, PARSER.parse)


def _plain(text: str) -> ParsedCommand:
    """Read words between spaces: for lines that no parser is needed for."""
    words = tuple(map(Word, text.split()))
    return ParsedCommand(text=text, commands=(SimpleCommand(words=words, text=text),))


def _level(text: str) -> Level:
    return level_of(_line(text), sandbox=CONFINED)


def _rule(text: str) -> str | None:
    denial = POLICY.judge(_line(text))
    return denial.rule if denial else None


# --- the corpus -----------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["command"][:40])
def test_a_command_line_has_its_level_and_its_verdict(case: dict[str, Any]) -> None:
    """gate-levels: The corpus: each line with its level, and the rule that denies it."""
    line = _line(case["command"])
    denial = POLICY.judge(line)
    assert level_of(line, sandbox=CONFINED) == case["level"]
    assert (denial.rule if denial else "allowed") == case["verdict"]


def test_the_corpus_has_every_level_and_every_rule() -> None:
    """gate-levels: Nothing in it is hollow."""
    assert {case["level"] for case in CASES} == set(LEVELS)
    assert {case["verdict"] for case in CASES} == {"allowed", *policies.RULES}
    assert len(CASES) > 250


@pytest.mark.parametrize("case", CASES[::7], ids=lambda case: case["command"][:40])
def test_without_confinement_a_line_is_one_level_higher(case: dict[str, Any]) -> None:
    """gate-levels: Where there is no sandbox the gate is stricter by one level."""
    line = _line(case["command"])
    confined = level_of(line, sandbox=CONFINED)
    assert level_of(line, sandbox="none") == raised(confined)


# --- laws -----------------------------------------------------------------------

_WHOLE = [
    case["command"]
    for case in CASES
    if "\n" not in case["command"] and not re.search(r"['#&<(]|\\|\.\.\.|;$", case["command"])
]


@given(
    st.lists(st.sampled_from(_WHOLE), min_size=2, max_size=4),
    st.sampled_from(["; ", " && ", " || ", " | ", "\n"]),
)
@settings(max_examples=25, deadline=None)
def test_a_part_more_never_makes_a_line_lower(lines: list[str], between: str) -> None:
    """gate-levels: The level of a line is at least that of each part."""
    joined = _level(between.join(lines))
    assert not any(is_below(joined, _level(line)) for line in lines)


_PARTS = st.builds(
    Part,
    words=st.lists(
        st.builds(
            Word,
            st.sampled_from(
                ["ls", "git", "push", "rm", "-r", "--force", "x", "make", "find", "$x"]
            ),
            st.booleans(),
        ),
        max_size=4,
    ).map(tuple),
    is_fed=st.booleans(),
    is_opaque=st.booleans(),
)


@given(st.lists(_PARTS, max_size=4), _PARTS, st.sampled_from([CONFINED, "none"]))
def test_a_line_is_never_below_one_of_its_parts(
    parts: list[Part], more: Part, sandbox: str
) -> None:
    """gate-levels: Whatever the parts are, one more of them only adds."""
    before = level_of(Line(text="", parts=tuple(parts)), sandbox=sandbox)
    after = level_of(Line(text="", parts=(*parts, more)), sandbox=sandbox)
    assert after == highest([before, part_level(more, sandbox=sandbox)])


@given(st.text(max_size=40))
@settings(max_examples=40, deadline=None)
def test_any_text_at_all_has_a_level_and_a_verdict(text: str) -> None:
    """gate-levels: No text is an exception, and what is not whole is dangerous."""
    line = _line(text)
    POLICY.judge(line)
    level = level_of(line, sandbox=CONFINED)
    assert line.is_whole or level == "dangerous"


@given(st.lists(st.sampled_from(LEVELS)))
def test_the_highest_level_is_one_of_them(levels: list[Level]) -> None:
    """gate-levels: Levels are ordered, and there is none above the highest."""
    found = highest(levels)
    assert found in levels or (not levels and found == "safe")
    assert not any(is_below(found, level) for level in levels)
    assert raised("safe") == "moderate"
    assert raised("moderate") == raised("dangerous") == "dangerous"


# --- bounds of reading ----------------------------------------------------------


def _nested(depth: int) -> str:
    text = "ls"
    for _ in range(depth):
        text = "sh -c " + written((Word(text),))
    return text


def test_code_within_code_is_read_so_deep() -> None:
    """gate-levels: At the bound, one under it and one over it."""
    assert _line(_nested(DEEPEST - 1)).is_whole
    assert _line(_nested(DEEPEST)).is_whole
    line = _line(_nested(DEEPEST + 1))
    assert not line.is_whole
    assert level_of(line, sandbox=CONFINED) == "dangerous"


def test_words_within_words_are_followed_so_deep() -> None:
    """gate-levels: Not at all in a line that is split roughly."""
    assert _line("python -m " * DEEPEST + "ls").is_whole
    assert not _line("python -m " * (DEEPEST + 1) + "ls").is_whole
    assert [part.program for part in _line("python -m claude 'x").parts] == ["python"]


def test_a_program_without_verbs_has_none() -> None:
    """gate-levels: Nor has one of which the verb is known only when it runs."""
    assert verb_of("ls", (Word("status"),)) is None
    assert verb_of("git", ()) is None
    assert verb_of("git", (Word("$x", expands=True),)) is None
    found = verb_of("git", (Word("-C"), Word("x"), Word("log"), Word("-p")))
    assert found is not None
    assert (found.name, found.behind) == ("log", (Word("-p"),))


def test_so_many_codes_of_a_line_are_read() -> None:
    """gate-levels: At the bound, one under it and one over it."""
    for count, is_whole in ((MOST_TEXTS - 1, True), (MOST_TEXTS, True), (MOST_TEXTS + 1, False)):
        assert _line("; ".join(["eval ls"] * count)).is_whole is is_whole


def test_so_many_parts_of_a_line_are_judged() -> None:
    """gate-levels: At the bound, one under it and one over it; in the rough, too."""
    for count, is_whole in ((MOST_PARTS - 1, True), (MOST_PARTS, True), (MOST_PARTS + 1, False)):
        line = _line("; ".join(["ls"] * count))
        assert line.is_whole is is_whole
        assert level_of(line, sandbox=CONFINED) == ("safe" if is_whole else "dangerous")
    assert len(_line("ls;" * (MOST_PARTS + 1) + " 'x").parts) == MOST_PARTS


def test_so_many_wrappers_are_taken_off() -> None:
    """gate-levels: One more than that hides what runs."""
    for count, is_opaque in ((MOST_WRAPPERS, False), (MOST_WRAPPERS + 1, True)):
        words = tuple(map(Word, ["nohup"] * count + ["ls"]))
        assert unwrap(words).is_opaque is is_opaque


@pytest.mark.parametrize(
    ("text", "words", "names"),
    [
        ("ls -l", "ls -l", ""),
        ("", "", ""),
        ("env", "", "env"),
        ("env -", "", "env"),
        ("env - A=1 ls", "ls", "env"),
        ("env -i -u X A=1 B=2 ls -l", "ls -l", "env"),
        ("env -uX ls", "ls", "env"),
        ("env --unset X ls", "ls", "env"),
        ("env --unset=X ls", "ls", "env"),
        ("env -- ls", "ls", "env"),
        ("nice -n 5 ls", "ls", "nice"),
        ("nice -5 ls", "ls", "nice"),
        ("timeout -k 1 -s KILL 5 ls", "ls", "timeout"),
        ("timeout -- 5 ls", "ls", "timeout"),
        ("timeout 5", "", "timeout"),
        ("stdbuf -oL ls", "ls", "stdbuf"),
        ("xargs -0 -n 1 -I{} ls {}", "ls {}", "xargs"),
        ("xargs -I {} ls", "ls", "xargs"),
        ("command ls", "ls", "command"),
        ("command -v ls", "command -v ls", ""),
        ("/usr/bin/env ls", "ls", "env"),
        ("uv run --with x pytest -q", "pytest -q", "uv run"),
        ("uv add x", "uv add x", ""),
        ("npx -p x y", "y", "npx"),
        ("sudo -u me A=1 nohup ls", "ls", "sudo nohup"),
    ],
)
def test_wrappers_are_taken_off(text: str, words: str, names: str) -> None:
    """gate-levels: What is judged is the program that runs in the end."""
    bare = unwrap(tuple(map(Word, text.split())))
    assert " ".join(word.text for word in bare.words) == words
    assert " ".join(bare.names) == names


@pytest.mark.parametrize(
    "text", ["env $x ls", "env -S 'ls' x", "env --split-string=ls", "timeout $t ls", "$x ls"]
)
def test_a_wrapper_that_hides_its_program_is_dangerous(text: str) -> None:
    """gate-levels: What the text does not show is not safe."""
    assert _level(text) == "dangerous"


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("sh", "dangerous"),
        ("sh -", "dangerous"),
        ("sh -s x", "dangerous"),
        ("sh /dev/stdin", "dangerous"),
        ("sh --version", "safe"),
        ("sh -c", "safe"),
        ("sh -o pipefail -c ls", "safe"),
        ("sh --rcfile x -c ls", "safe"),
        ("sh -- x.sh", "moderate"),
        ("sh <<E\nls\nE", "safe"),
        ("sh <<E\n$x\nE", "dangerous"),
        ("eval", "safe"),
        ("trap", "safe"),
        ("trap - EXIT", "safe"),
        ("trap ls EXIT", "safe"),
        ("trap 'rm -r x' EXIT", "dangerous"),
        ("watch", "dangerous"),
        ("watch -n 5 ls", "dangerous"),
        ("find . -exec ls", "moderate"),
        ("find . -ok make {} ;", "dangerous"),
        ("find . -- x", "safe"),
        ("python -W ignore x.py", "moderate"),
        ("python -m", "dangerous"),
        ("python -m json.tool -c", "moderate"),
        ("python3.11 -m pip install x", "dangerous"),
        ("python3.11", "dangerous"),
        ("node", "dangerous"),
        ("node --eval=x", "dangerous"),
        ("node x.js", "moderate"),
        ("vim +x", "dangerous"),
        ("vim x", "moderate"),
        ("sqlite3 x", "moderate"),
        ("awk", "moderate"),
        ("awk -f x", "moderate"),
        ('awk "$x"', "dangerous"),
        ("awk '{print}' $f", "dangerous"),
        ("sed", "moderate"),
        ("sed -n '/a/,/b/p' x", "safe"),
        ("sed 's;a;b;e;g' x", "moderate"),
        ("sed '1e ls' x", "moderate"),
        ("sed $x", "moderate"),
        ("date", "safe"),
        ("date -d yesterday", "safe"),
        ("date -s x", "dangerous"),
        ("date --set=x", "dangerous"),
        ("date 0101", "moderate"),
        ("uniq a", "safe"),
        ("xxd -r a", "moderate"),
        ("hostname", "safe"),
        ("hostname x", "moderate"),
        ("command -V ls", "safe"),
        ("command", "safe"),
        ("kill -l", "safe"),
        ("crontab -l", "safe"),
        ("export", "safe"),
        ("export A=1", "safe"),
        ("declare A=1", "safe"),
        ("readonly LD_PRELOAD", "dangerous"),
        ("chmod +x f", "moderate"),
        ("chmod 0755 f", "moderate"),
        ("chmod g+s f", "dangerous"),
        ("rm -- -r", "moderate"),
        ("rm --recurs x", "dangerous"),
        ("rm -- x", "moderate"),
        ("git", "moderate"),
        ("git --version", "safe"),
        ("git --help", "safe"),
        ("git $x", "dangerous"),
        ("git -c x.y=z status", "dangerous"),
        ("git -C x status", "safe"),
        ("git stash", "moderate"),
        ("git stash drop", "dangerous"),
        ("git config --get x", "safe"),
        ("git config", "moderate"),
        ("git submodule status", "safe"),
        ("git submodule foreach ls", "dangerous"),
        ("git bisect run ls", "dangerous"),
        ("git tag", "safe"),
        ("git tag v1", "moderate"),
        ("git tag -f v1", "dangerous"),
        ("git push --forc", "dangerous"),
        ("git push -- -f", "moderate"),
        ("git push -u origin x", "moderate"),
        ("git checkout x", "moderate"),
        ("git checkout .", "dangerous"),
        ("git checkout -f", "dangerous"),
        ("git switch -C x", "dangerous"),
        ("git branch --force x", "dangerous"),
        ("git rm --cached x", "moderate"),
        ("git rm -r x", "dangerous"),
        ("git reflog expire", "dangerous"),
        ("git gc --prune=now", "dangerous"),
        ("git remote remove x", "dangerous"),
        ("git worktree prune", "dangerous"),
        ("git commit --amend", "dangerous"),
        ("git fetch origin +a:b", "dangerous"),
        ("git fetch --upload-pack=x", "dangerous"),
        ("git log --output=x", "moderate"),
        ("git frobnicate", "moderate"),
        ("docker", "dangerous"),
        ("docker --help", "safe"),
        ("apt-get --version", "safe"),
        ("apt-get frobnicate", "dangerous"),
        ("podman ps", "moderate"),
        ("podman run x", "dangerous"),
        ("cargo +nightly build", "moderate"),
        ("mkfs.ext4 x", "dangerous"),
        ("wipefs x", "dangerous"),
        ("ls >&-", "safe"),
        ("ls >&$x", "dangerous"),
        ("ls 2>/dev/stderr", "safe"),
        ("cat < f", "safe"),
        ("cat <> f", "dangerous"),
        ("A=1", "safe"),
        ("PATH=x", "dangerous"),
        ("ls | xargs", "safe"),
        ("ls | xargs find", "moderate"),
        ("ls | xargs make", "dangerous"),
        ("curl x | curl y", "moderate"),
        ("f() { ls; }; f &", "dangerous"),
        ("./sub/ls", "moderate"),
        ("/ls", "moderate"),
        ("cd", "safe"),
        ("find . -files0-from x", "safe"),
    ],
)
def test_a_program_is_rated_by_what_it_is_told(text: str, level: Level) -> None:
    """gate-levels: Words, options and verbs, each with its counter-example."""
    assert _level(text) == level


# --- policy ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/", True),
        ("//", True),
        ("/.", True),
        ("/..", True),
        ("/x/..", True),
        ("/*", True),
        ("/usr", True),
        ("/usr/*", True),
        ("/usr/x", False),
        ("/tmp", False),
        ("/tmp/*", False),
        ("~", True),
        ("~/", True),
        ("~/*", True),
        ("~ann", True),
        ("~ann/", True),
        ("~ann/x", False),
        ("~/x", False),
        ("$HOME", True),
        ("$HOME/.", True),
        ("$HOMES", False),
        ("${HOME}/x", False),
        ("x", False),
        ("", False),
        ("*", False),
        ("x/..", False),
    ],
)
def test_a_root_is_told_however_it_is_written(path: str, *, answer: bool) -> None:
    """policy: The root, a home, a directory of the system, or everything in one."""
    assert is_root(path) is answer


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/dev/sda", True),
        ("/dev/disk/by-id/x", True),
        ("//dev//sda", True),
        ("/x/../dev/sda", True),
        ("/dev/null", False),
        ("/dev/fd/1", False),
        ("/dev/shm/x", False),
        ("/dev", False),
        ("dev/sda", False),
        ("/developers", False),
        ("", False),
    ],
)
def test_a_device_is_told_however_it_is_written(path: str, *, answer: bool) -> None:
    """policy: What holds something, below the directory of devices."""
    assert is_device(path) is answer


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("cd; rm -rf *", "root-removal"),
        ("cd ~ && rm -rf .", "root-removal"),
        ("cd / && cd x && rm -rf *", None),
        ("cd / && ls && rm -r x", None),
        ("find /usr -name x", None),
        ("find -L / -delete", "root-removal"),
        ("find / -exec ls {} ;", None),
        ("find -H -L / -delete", "root-removal"),
        ("find / \\( -name x \\) -delete", "root-removal"),
        ("find . -delete", None),
        ("find -delete", None),
        ("rm --r /", "root-removal"),
        ("rm / ", None),
        ("rm --force /", None),
        ("rm -- -r /", None),
        ("rm -rf", None),
        ("cp /dev/sda x", "device"),
        ("dd of=x", None),
        ("dd", None),
        ("diskutil list", None),
        ("diskutil", None),
        ("ls > /dev/pts/1", None),
        ("curl x; sh", None),
        ("curl x | cat; cat y | sh", None),
        ("cat y | sh; curl x | cat", None),
        ("curl x | . /dev/stdin", "network-into-shell"),
        ("curl x | source y", None),
        ("curl x | sh y.sh", None),
        ("curl x | python y.py", None),
        ("curl x | python -c y", None),
        ("curl x | node -", "network-into-shell"),
        ("`curl x`", "network-into-shell"),
        ("echo $(curl x)", None),
        ("sh y $(curl x)", "network-into-shell"),
        ("counterfoil", None),
        ("counterfoil --help", None),
        ("counterfoil check chat", None),
        ("counterfoil --home x --json approvals", "approval"),
        ("counterfoil --home chat check", "nested-agent"),
        ("npx @openai/codex@1", "nested-agent"),
        ("npx cowsay", None),
        ("gh pr list", None),
        ("echo hi; claude", "nested-agent"),
        ("xargs -a f sudo", "privilege"),
        ("apt install sudo", None),
        ("sudoku", None),
        ("ls 'x; sudo y", "privilege"),
        ("ls 'x sudo y", None),
        ('echo "a > b" \'; rm -rf /', "root-removal"),
    ],
)
def test_a_rule_denies_what_it_means_and_nothing_else(text: str, rule: str | None) -> None:
    """policy: By meaning: each rule with its counter-examples."""
    assert _rule(text) == rule


def test_a_command_that_nobody_could_read_is_denied() -> None:
    """policy: At the bound and one under it it is judged, one over it is denied."""
    bound = policies.LONGEST
    for size, denied in ((bound - 1, None), (bound, None), (bound + 1, "length")):
        denial = POLICY.judge(read_line("x" * size, _plain))
        assert (denial.rule if denial else None) == denied


@pytest.mark.parametrize(
    ("deny", "allow", "text", "rule"),
    [
        (["^make"], [], "make x", "deny"),
        (["^make"], [], "ls; make x", "deny"),
        (["^make"], [], "echo 'make x'", None),
        (["^make"], [], "m'a'ke x", "deny"),
        (["^make"], [], "sh -c 'make x'", "deny"),
        (["ls;  make"], [], "ls;  make", "deny"),
        (["^make"], ["make"], "make", "deny"),
        ([], ["^ls", "^cat"], "ls | cat", None),
        ([], ["^ls"], "ls; rm x", "allow"),
        ([], ["^ls"], "# nothing", "allow"),
        ([], ["^rm"], "rm -rf /", "root-removal"),
        ([], [], "ls", None),
    ],
)
def test_patterns_are_held_against_each_command_and_the_line(
    deny: list[str], allow: list[str], text: str, rule: str | None
) -> None:
    """policy: What is denied stays so; with a list of what is allowed, each command is on it."""
    denial = load_policy(deny, allow).judge(_line(text))
    assert (denial.rule if denial else None) == rule


def test_a_reason_names_the_pattern_or_the_command() -> None:
    """policy: In words for who asked, cut where they are long."""
    assert load_policy(["^ls$"]).judge_text("ls") == Denial(
        "deny", "the configuration denies '^ls$'"
    )
    found = load_policy(allow=["^ls"]).judge_text("y" * 100)
    assert found is not None
    assert found.reason == f"the configuration allows no '{'y' * 80}…'"


@pytest.mark.parametrize("pattern", ["(", "[a", "*x", "(?P<a>x)(?P<a>y)", "x{99999999999}"])
def test_a_bad_pattern_is_refused_when_it_is_loaded(pattern: str) -> None:
    """policy: The error names the pattern, and what to do."""
    with pytest.raises(ConfigurationError) as caught:
        load_policy(allow=[pattern])
    assert repr(pattern) in caught.value.found
    assert caught.value.expected
    assert caught.value.advice


@pytest.mark.parametrize(
    "piece",
    [
        "ls; ",
        "curl x | ",
        "rm -rf x; ",
        "$(curl ",
        "a=b ",
        "\\",
        "'",
        ">",
        "/../",
        "-",
        "cd /; rm -r ",
    ],
)
def test_judging_is_linear(piece: str, growth: Callable[..., float]) -> None:
    """policy: A line twice as long takes at most two and a half times as long."""

    def judge(text: str) -> object:
        line = read_line(text, lambda one: ParsedCommand(text=one, is_whole=False))
        return POLICY.judge(line), level_of(line, sandbox=CONFINED)

    assert growth(judge, lambda times: piece * (times // len(piece) + 1)) <= 2.5


def test_many_pipes_are_judged_at_once() -> None:
    """policy: A chain of pipes is no square of its length."""
    parts = tuple(Part(words=(Word("cat"),)) for _ in range(MOST_PARTS))
    pipes = tuple(Pipe(Span(0, n), Span(n, n + 1)) for n in range(1, MOST_PARTS))
    line = Line(text="", parts=parts, pipes=pipes)
    started = process_time()
    assert POLICY.judge(line) is None
    assert level_of(line, sandbox=CONFINED) == "safe"
    assert process_time() - started < 1


def test_words_are_written_so_that_none_passes_for_two() -> None:
    """policy: Plain words as they are, others in quotes."""
    assert written(()) == ""
    words = tuple(map(Word, ["echo", "a b", "", "it's", "x\ny", "~/*"]))
    assert written(words) == "echo 'a b' '' 'it'\\''s' 'x\ny' ~/*"


def test_a_policy_without_patterns_has_the_rules_alone() -> None:
    """policy: Nothing more is denied than what they mean."""
    assert Policy() == load_policy()
    assert Policy().judge_text("sudo rm -rf /") is None
