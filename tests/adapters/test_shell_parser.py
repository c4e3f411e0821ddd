"""Commands read by shfmt: cases tried against real shells, and everything hostile."""

import subprocess
from pathlib import Path
from time import monotonic

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from counterfoil.adapters.shell import ShfmtParser, parser, program
from counterfoil.core.errors import UnavailableError
from counterfoil.core.gate.commands import ParsedCommand, Pipe, SimpleCommand, Span
from counterfoil.core.gate.levels import level_of
from counterfoil.core.gate.policy import load_policy
from counterfoil.core.gate.reading import read_line

PARSER = ShfmtParser()


def _words(parsed: ParsedCommand) -> list[list[str]]:
    return [[word.text for word in command.words] for command in parsed.commands]


def _one(text: str) -> SimpleCommand:
    parsed = PARSER.parse(text)
    assert parsed.is_whole, parsed.fault
    (command,) = parsed.commands
    return command


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("# rm x", []),
        ("ls -la  x", [["ls", "-la", "x"]]),
        ("ls # rm x", [["ls"]]),
        ("echo a#b", [["echo", "a#b"]]),
        ("r\\\nm -r x", [["rm", "-r", "x"]]),
        ("r'm' \"-r\" \\x", [["rm", "-r", "x"]]),
        ("a\\ b'c d'\"e\\$f\\a\"", [["a bc de$f\\a"]]),
        ("echo ''", [["echo", ""]]),
        ("a\nb", [["a"], ["b"]]),
        ("a; b && c || d | e & f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("(a; { b; })", [["a"], ["b"]]),
        ("! a", [["a"]]),
        ("time -p a b", [["a", "b"]]),
        ("if a; then b; elif c; then d; else e; fi", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("while a; do b; done; until c; do d; done", [["a"], ["b"], ["c"], ["d"]]),
        ("for x in $(a); do b; done", [["a"], ["b"]]),
        ("case $(a) in b) c;; *) d;; esac", [["a"], ["c"], ["d"]]),
        ("f() { a; }; f", [["a"], ["f"]]),
        ("echo $(a `b`)", [["echo", "$(a `b`)"], ["a", "`b`"], ["b"]]),
        ('echo "x $(a) y"', [["echo", "x $(a) y"], ["a"]]),
        ("echo ${x:-$(a)}", [["echo", "${x:-$(a)}"], ["a"]]),
        ("echo $((1 + $(a)))", [["echo", "$((1 + $(a)))"], ["a"]]),
        ("x=$(a) y=1", [[], ["a"]]),
        ("export x=$(a) y z=", [["export", "x=$(a)", "y", "z="], ["a"]]),
        ("export -p $x", [["export", "-p", "$x"]]),
        ("> $(a)", [[], ["a"]]),
        ("{ a; } > $(b)", [[], ["b"], ["a"]]),
        ("cat <<E\n$(a)\nE", [["cat"], ["a"]]),
        ("cat <<'E'\n$(a)\nE", [["cat"]]),
        ("cat <<E | b\n$(a)\nE", [["cat"], ["a"], ["b"]]),
        ("[ -f a ] && b", [["[", "-f", "a", "]"], ["b"]]),
        ("ls\u00a0-x", [["ls\u00a0-x"]]),
    ],
)
def test_simple_commands_are_read_with_their_words(text: str, words: list[list[str]]) -> None:
    """shell-parser: Words after quotes were taken off, in the order of the text."""
    parsed = PARSER.parse(text)
    assert (parsed.is_whole, parsed.fault) == (True, None)
    assert _words(parsed) == words


@pytest.mark.parametrize(
    "text",
    [
        "echo 'x",
        'echo "x',
        "echo `x",
        "echo $(x",
        "ls )",
        "if a",
        "cat <<E\nx",
        "ls;;",
        "ls\r\n",
        "ls\x0brm",
        "ls\x00rm",
        "ls\x7f",
        "ls \ud800",
        "echo $'a'",
        'echo $"a"',
        "[[ a < b ]]",
        "((a > b))",
        "(( ls ); rm x)",
        "diff <(a) b",
        "cat <<< x",
        "a &> b c",
        "a |& b",
        "x=(1 2)",
        "a[1]=2",
        "let x=1",
        "time",
        "echo ${x^^}",
        "function f { a; }",
        "select x in a; do b; done",
        "for ((;;)); do a; done",
        "echo !(a)",
        "( " * 40_000,
        "$(" * 20_000 + ")" * 20_000,
        "(" * 3000 + "ls" + ")" * 3000,
        "{ " * 3000 + "ls; " + "} ; " * 3000,
        "if a; then " * 6000,
        "x" * (parser.LONGEST + 1),
        "ls; " * 25_000,
    ],
    ids=lambda text: repr(text[:20]),
)
def test_what_shells_read_differently_is_not_whole(text: str) -> None:
    """shell-parser: What cannot be read, or not in one way, says so and says why."""
    started = monotonic()
    parsed = PARSER.parse(text)
    assert not parsed.is_whole
    assert parsed.fault
    assert parsed.text == text
    assert monotonic() - started < 4 * program.SECONDS


def test_a_command_of_the_longest_kind_is_read() -> None:
    """shell-parser: At the bound and one under it is whole, one over it is not."""
    for size, is_whole in ((-1, True), (0, True), (1, False)):
        text = "x" * (parser.LONGEST + size)
        assert PARSER.parse(text).is_whole is is_whole


def test_the_commands_of_both_readings_are_kept() -> None:
    """shell-parser: What only one shell reads can still be denied."""
    assert ["rm", "-rf", "/"] in _words(PARSER.parse("echo a &>/dev/null; rm -rf /"))
    assert ["curl", "x"] in _words(PARSER.parse("bash <(curl x)"))
    assert _words(PARSER.parse("$'\\x72m' x")) == [["$\\x72m", "x"], ["rm", "x"]]
    parsed = PARSER.parse("echo $'\\101\\u0041\\U00000041\\cA\\q\\n\\UFFFFFFFF'")
    assert _words(parsed)[1] == ["echo", "AAA\x01\\q\n\\UFFFFFFFF"]
    assert [command.inner for command in PARSER.parse("a $(b) <(c)").commands] == [
        Span(1, 3),
        Span(2, 2),
        Span(3, 3),
    ]


@pytest.mark.parametrize(
    ("word", "expands"),
    [
        ("a", False),
        ("$x", True),
        ('"$x"', True),
        ("'$x'", False),
        ("\\$x", False),
        ("*", True),
        ("'*'", False),
        ("\\*", False),
        ("a?", True),
        ("[ab]", True),
        ("a[", False),
        ("]a[", False),
        ("{}", False),
        ("{a,b}", True),
        ("{1..3}", True),
        ("{a}", False),
        ("$[1]", True),
        ("~", False),
        ("`x`", True),
    ],
)
def test_a_word_knows_whether_it_is_another_one_when_it_runs(word: str, *, expands: bool) -> None:
    """shell-parser: Variables, substitutions and patterns expand, what is quoted does not."""
    assert PARSER.parse(f"echo {word}").commands[0].words[1].expands is expands


def test_assignments_and_redirections_are_told_apart_from_words() -> None:
    """shell-parser: What a command sets, and where its streams go."""
    command = _one('A=1 B= C=$x ls 2>&1 >> "o p" <<E\nhi $y\nE')
    assert [(one.name, one.value.text, one.value.expands) for one in command.assignments] == [
        ("A", "1", False),
        ("B", "", False),
        ("C", "$x", True),
    ]
    shown = [(one.operator, one.descriptor, one.target.text) for one in command.redirections]
    assert shown == [(">&", "2", "1"), (">>", "", "o p"), ("<<", "", "E")]
    body = command.redirections[2].body
    assert body is not None
    assert (body.text, body.expands) == ("hi $y\n", True)


def test_what_stands_between_commands_is_told() -> None:
    """shell-parser: Operators, pipes with their sides, functions, and what is within what."""
    parsed = PARSER.parse("f() { a $(b); }; (c) | d | e && g &")
    assert parsed.functions == ("f",)
    assert sorted(parsed.operators) == ["&", "&&", "|", "|"]
    assert set(parsed.pipes) == {Pipe(Span(2, 3), Span(3, 4)), Pipe(Span(2, 4), Span(4, 5))}
    within = {command.words[0].text: command.within for command in parsed.commands}
    assert within["b"] == ("function", "substitution")
    assert within["c"] == ("subshell",)
    assert within["e"] == ()
    assert parsed.commands[0].inner == Span(1, 2)


def test_the_text_of_a_command_is_what_was_written() -> None:
    """shell-parser: Without the sign behind it, with its redirections."""
    parsed = PARSER.parse("é; A=1  ls 'x'  > o & find . -exec ls {} \\; ; b")
    assert [command.text for command in parsed.commands] == [
        "é",
        "A=1  ls 'x'  > o",
        "find . -exec ls {} \\;",
        "b",
    ]


@given(st.text("ab'\"\\ \t\n#=~-.,é", max_size=24))
@settings(deadline=None)
def test_words_are_those_that_the_shell_gives_to_a_program(soup: str) -> None:
    """shell-parser: The shell that runs a command is asked, with a program that does nothing."""
    text = f"printf '%s\\0' {soup}"
    parsed = PARSER.parse(text)
    assume(parsed.is_whole and len(parsed.commands) == 1)
    done = subprocess.run(
        ["/bin/sh", "-c", text], capture_output=True, check=True, cwd="/", env={}, timeout=30
    )
    given_words = done.stdout.decode().split("\0")[:-1]
    read = [word.text for word in parsed.commands[0].words[2:]]
    # A tilde is the only thing in the soup that the shell puts something else for.
    assume(not any(word.startswith("~") or "=~" in word for word in read))
    assert given_words == (read or [""])


@pytest.mark.parametrize("text", ["ls #\\\nrm -rf /", "ls # x\\\nrm -rf /", "#\\\nrm -rf /"])
def test_a_comment_that_ends_with_a_backslash_hides_no_command(text: str) -> None:
    """shell-parser: A shell ends the comment there; what stands behind it is judged, and asked."""
    parsed = PARSER.parse(text)
    assert not parsed.is_whole
    words = [[word.text for word in command.words] for command in parsed.commands]
    assert ["rm", "-rf", "/"] in words
    line = read_line(text, PARSER.parse)
    assert level_of(line, sandbox="bubblewrap") == "dangerous"
    assert load_policy().judge(line) is not None


def test_reading_is_linear() -> None:
    """shell-parser: A text twice as long takes at most two and a half times as long."""
    started = monotonic()
    PARSER.parse("ls -la $(x); " * 400)
    once = monotonic() - started
    started = monotonic()
    PARSER.parse("ls -la $(x); " * 1600)
    assert monotonic() - started < max(10 * once, 1.0)


def test_a_tree_that_is_too_long_counts_as_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """shell-parser: Bytes of the tree are bounded, and so are seconds."""
    size = len(program.syntax_tree([program.shfmt_path(), "-ln", "posix", "--to-json"], b"ls")[0])
    for bound, is_whole in ((size + 1, True), (size, True), (size - 1, False)):
        monkeypatch.setattr(program, "LONGEST_OUTPUT", bound)
        fault = program.syntax_tree([program.shfmt_path(), "-ln", "posix", "--to-json"], b"ls")[1]
        assert (not fault) is is_whole


def test_a_parser_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """shell-parser: Past its seconds the text counts as unread."""
    monkeypatch.setattr(program, "SECONDS", 0.05)
    assert program.syntax_tree(["/bin/sleep", "60"], b"") == (b"", "reading it takes too long")


def test_a_tree_too_deep_for_python_counts_as_unread(tmp_path: Path) -> None:
    """shell-parser: No text makes a recursion error."""
    fake = tmp_path / "shfmt"
    fake.touch(0o755)
    for tree in ('{"a":' + "[" * 100_000, "[]", "{", '{"Stmts":[' + '{"a":' * 500 + "0"):
        (tmp_path / "tree").write_text(tree)
        fake.write_text(f"#!/bin/sh\nexec /bin/cat '{tmp_path / 'tree'}'\n")
        parsed = ShfmtParser(str(fake)).parse("ls")
        assert (parsed.is_whole, parsed.commands) == (False, ())


def test_without_its_package_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """shell-parser: A missing package is one clear line that names the install command."""
    monkeypatch.setattr(program, "PACKAGE", "counterfoil-no-such-package")
    with pytest.raises(UnavailableError, match="pip install"):
        ShfmtParser()
    with pytest.raises(UnavailableError, match="cannot be started"):
        ShfmtParser("/nowhere/shfmt").parse("ls")
