"""What a lint leaves out: what is silenced, and what was there at an earlier revision."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from faces.kb import CHECKING, OF_RUN, REPORT, codes, page, read_report
from sarif_log import SARIF

Run = Callable[..., tuple[int, bytes, str]]
Store = Callable[..., Path]


# --- silences -----------------------------------------------------------------


def test_a_comment_silences_a_code_in_its_page(run: Run, store: Store) -> None:
    """lint-silence: With a reason; elsewhere the code is still reported."""
    body = "[[x]] [[y]]\n\n<!-- counterfoil: allow broken-link: written next week -->\n"
    root = store({"a.md": page("a", "cites: b", body=body),
                  "b.md": page("b", "cites: a", body="[[x]]")})  # fmt: skip
    code, output, _ = run("kb", "lint", "--root", root)
    names_no_page = "[[x]] names no page: no id, title, alias, file name or path"
    assert code == 0
    assert output.decode().splitlines() == [
        f"knowledge/b.md:6:1: warning: {names_no_page} (broken-link)",
        "2 pages, 2 citations, 3 links checked: 1 warning; 2 silenced",
    ]
    document = read_report(run("kb", "lint", "--root", root, "--json")[1])
    assert (document["silenced"], len(document["findings"])) == (2, 1)
    log = json.loads(run("kb", "lint", "--root", root, "--format", "sarif")[1])
    jsonschema.validate(log, SARIF)
    suppressed = [row.get("suppressions") for row in log["runs"][0]["results"]]
    reason = [{"kind": "inSource", "justification": "written next week"}]
    assert suppressed == [None, reason, reason]
    assert run("kb", "lint", "--root", root, "--format", "github")[1].count(b"\n") == 1


@pytest.mark.parametrize(
    "comment", ["allow missing-citation", "allow missing-citation:", "allow", "allow : why"]
)
def test_a_comment_without_a_reason_silences_nothing_and_says_so(
    run: Run, store: Store, comment: str
) -> None:
    """lint-silence: A reason is needed."""
    root = store({"a.md": page("a", "cites: gone", body=f"<!-- counterfoil: {comment} -->")})
    code, output, _ = run("kb", "lint", "--root", root, "--json")
    document = read_report(output)
    assert code == 1
    assert document["silenced"] == 0
    assert {"missing-citation", "bad-silence"} <= set(codes(document))


def test_a_rule_silences_a_code_below_a_path(run: Run, store: Store, tmp_path: Path) -> None:
    """lint-silence: `[[silence]]` covers paths as shown or below the store, and is counted."""
    root = store(
        {
            "a.md": page("a", "cites: [gone, b]"),
            "old/b.md": page("b", "cites: [gone, a]"),
        }
    )
    rule = '[[silence]]\nrule = "missing-citation"\npath = "{}"\nreason = "moved elsewhere"\n'
    for pattern, left, silenced in (
        ("knowledge/old/*", ["missing-citation"], 1),
        ("*", [], 2),
        ("elsewhere/*", ["missing-citation", "missing-citation"], 0),
    ):
        (tmp_path / "counterfoil.toml").write_text(rule.format(pattern))
        code, output, _ = run("kb", "lint", "--root", root, "--json")
        document = read_report(output)
        assert (codes(document), document["silenced"]) == (left, silenced)
        assert code == (1 if left else 0)
        _, text, _ = run("kb", "cites", "--root", root)
        assert (f"; {silenced} silenced" in text.decode()) == bool(silenced)


@pytest.mark.usefixtures("demo")
def test_a_rule_of_a_run_matches_the_path_that_is_shown(run: Run, tmp_path: Path) -> None:
    """lint-silence: With --runs a path begins with the folders as they were given."""
    for path in (REPORT, "knowledge/report.md", "demo/runs/report/*"):
        (tmp_path / "counterfoil.toml").write_text(
            f'[[silence]]\nrule = "ambiguous-citation"\npath = "{path}"\nreason = "known"\n'
        )
        code, output, _ = run("kb", "cites", *OF_RUN)
        assert code == 0
        assert output == b"1 page, 2 citations, 1 link checked: nothing found; 1 silenced\n"


def test_a_rule_without_a_reason_is_misuse(run: Run, store: Store, tmp_path: Path) -> None:
    """lint-silence: The configuration is refused, with what it lacks."""
    root = store({"a.md": page("a", "cites: gone")})
    (tmp_path / "counterfoil.toml").write_text('[[silence]]\nrule = "orphan"\npath = "*"\n')
    code, output, error = run("kb", "lint", "--root", root)
    assert (code, output) == (2, b"")
    assert "lacks a rule, a path or a reason" in error


def test_a_rule_silences_what_only_a_strict_store_reports(
    run: Run, store: Store, tmp_path: Path
) -> None:
    """lint-silence: `validate --strict` honours the same rules."""
    root = store({"a.md": page("a", "cites: b"), "b.md": page("b", "title: B", "cites: a")})
    (tmp_path / "counterfoil.toml").write_text(
        '[[silence]]\nrule = "no-literal-title"\npath = "*"\nreason = "titles come later"\n'
    )
    code, output, _ = run("kb", "validate", "--strict", "--root", root)
    assert code == 0
    assert output.endswith(b"nothing found; 1 silenced\n")


def test_the_configured_form_is_used_and_an_option_wins(
    run: Run, store: Store, tmp_path: Path
) -> None:
    """lint-forms: `format` of the configuration holds for `lint`, `validate` and `cites`."""
    root = store({"a.md": page("a", "cites: gone")})
    (tmp_path / "counterfoil.toml").write_text('format = "json"\n')
    for command in CHECKING:
        assert read_report(run("kb", command, "--root", root)[1])["outcome"] == "findings"
        assert run("kb", command, "--root", root, "--format", "github")[1].startswith(b"::")


# --- since --------------------------------------------------------------------


def _git(folder: Path, *arguments: str) -> None:
    person = ("-c", "user.name=Ann", "-c", "user.email=a@example.org")
    subprocess.run(
        ["git", "-C", str(folder), *person, *arguments],
        check=True,
        capture_output=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    )


@pytest.fixture
def history(store: Store, tmp_path: Path) -> Path:
    """A store in a repository, with one old debt: `a` cites a page that is not there."""
    root = store(
        {
            "a.md": page("a", "cites: [gone, b]"),
            "b.md": page("b", "cites: a"),
            "c.md": page("c", "cites: [a, b]", body="[[c-twin]]"),
            "d.md": page("d", "title: c twin", "cites: c"),
        }
    )
    _git(tmp_path, "init", "--quiet")
    _git(tmp_path, "add", "kb")
    _git(tmp_path, "commit", "--quiet", "--message", "one")
    return root


def _since(run: Run, root: Path, revision: str = "HEAD") -> list[tuple[str, str, str | None]]:
    code, output, _ = run("kb", "lint", "--root", root, "--since", revision, "--json")
    document = read_report(output)
    assert document["since"]["revision"] == revision
    assert code == (1 if document["counts"]["error"] else 0)
    return [(one["code"], one["path"], one["written"]) for one in document["findings"]]


def test_an_old_debt_is_left_out_and_counted(run: Run, history: Path) -> None:
    """lint-since: Nothing changed: nothing is reported, and how much is left out is said."""
    assert run("kb", "lint", "--root", history)[0] == 1
    code, output, _ = run("kb", "lint", "--root", history, "--since", "HEAD")
    assert code == 0
    assert output.decode() == (
        "4 pages, 6 citations, 1 link checked: nothing found; 1 left out: there at HEAD\n"
    )
    document = read_report(run("kb", "lint", "--root", history, "--since", "HEAD", "--json")[1])
    assert document["outcome"] == "clean"
    assert document["since"] == {"revision": "HEAD", "leftOut": 1}
    assert "since" not in read_report(run("kb", "lint", "--root", history, "--json")[1])


def test_what_a_change_brings_in_is_reported(run: Run, history: Path) -> None:
    """lint-since: A new citation of a changed page, whatever was wrong with it before."""
    (history / "knowledge/a.md").write_text(page("a", "cites: [b, gone, lost]"))
    assert _since(run, history) == [("missing-citation", "knowledge/a.md", "lost")]


def test_a_page_that_moved_brings_nothing_in(run: Run, history: Path) -> None:
    """lint-since: A finding is the same one wherever its page has gone."""
    (history / "knowledge/deep").mkdir()
    (history / "knowledge/a.md").rename(history / "knowledge/deep/moved.md")
    assert _since(run, history) == []


def test_a_page_that_was_deleted_makes_findings_of_those_who_cite_it(
    run: Run, history: Path
) -> None:
    """lint-since: The pages at fault did not change; what they cite did."""
    (history / "knowledge/b.md").unlink()
    assert _since(run, history) == [
        ("missing-citation", "knowledge/a.md", "b"),
        ("missing-citation", "knowledge/c.md", "b"),
    ]


def test_a_page_that_git_was_never_told_of_is_new(run: Run, history: Path) -> None:
    """lint-since: Untracked and ignored pages count."""
    (history / "knowledge/e.md").write_text(page("e", "cites: [a, nowhere]"))
    (history / "knowledge/f.md").write_text(page("f", "cites: elsewhere"))
    (history / ".gitignore").write_text("f.md\n")
    assert _since(run, history) == [
        ("orphan", "knowledge/e.md", None),
        ("missing-citation", "knowledge/e.md", "nowhere"),
        ("orphan", "knowledge/f.md", None),
        ("missing-citation", "knowledge/f.md", "elsewhere"),
    ]


def test_a_page_that_makes_a_reference_of_another_ambiguous_is_found_out(
    run: Run, history: Path
) -> None:
    """lint-since: A second page of a title breaks the links by it."""
    (history / "knowledge/e.md").write_text(page("e", "title: C Twin", "cites: a"))
    found = _since(run, history)
    assert ("ambiguous-link", "knowledge/c.md", "c-twin") in found
    assert ("duplicate-title", "knowledge/d.md", "c twin") in found


def test_a_registry_that_lost_a_source_brings_findings_in(
    run: Run, history: Path, tmp_path: Path
) -> None:
    """lint-since: Sources are compared as well."""
    registry = history / ".counterfoil/sources.json"
    registry.parent.mkdir()
    registry.write_text('{"schema": 1, "sources": [{"id": "s1"}]}')
    (history / "knowledge/a.md").write_text(page("a", "cites: [gone, b]", "sources: s1"))
    _git(tmp_path, "add", "kb")
    _git(tmp_path, "commit", "--quiet", "--message", "two")
    registry.write_text('{"schema": 1, "sources": []}')
    assert _since(run, history) == [("missing-source", "knowledge/a.md", "s1")]
    assert _since(run, history, "HEAD~1") == [("missing-source", "knowledge/a.md", "s1")]


@pytest.mark.parametrize("revision", ["nope", "", "--upload-pack=x", "HEAD:kb"])
def test_a_revision_that_is_not_there_is_misuse(run: Run, history: Path, revision: str) -> None:
    """lint-since: One clear line, and nothing is reported as new."""
    code, output, error = run("kb", "lint", "--root", history, "--since", revision)
    assert (code, output) == (2, b"")
    assert error.startswith(f"error: no revision {revision!r} for ")


def test_a_store_outside_of_git_has_no_history(run: Run, store: Store) -> None:
    """lint-since: Exit code 2, with what to do."""
    root = store({"a.md": page("a")})
    code, output, error = run("kb", "lint", "--root", root, "--since", "HEAD")
    assert (code, output) == (2, b"")
    assert "a store outside of Git has no history" in error


@pytest.mark.usefixtures("demo")
def test_a_run_is_compared_with_all_that_it_saw(run: Run, tmp_path: Path) -> None:
    """lint-since: A change of an ancestor's page is one of what its children see."""
    _git(tmp_path, "init", "--quiet")
    _git(tmp_path, "add", "demo")
    _git(tmp_path, "commit", "--quiet", "--message", "one")
    (tmp_path / "demo/runs/measure/knowledge-base/knowledge/samples.md").unlink()
    code, output, _ = run("kb", "cites", *OF_RUN, "--json")
    assert (code, codes(read_report(output))) == (1, ["missing-citation", "ambiguous-citation"])
    code, output, _ = run("kb", "lint", *OF_RUN, "--since", "HEAD", "--json")
    assert (code, codes(read_report(output))) == (1, ["missing-citation"])


@pytest.mark.usefixtures("demo")
def test_a_shared_store_outside_of_git_is_taken_as_it_is(run: Run, tmp_path: Path) -> None:
    """lint-since: Only the own store has to have a history."""
    runs = tmp_path / "demo/runs"
    _git(runs, "init", "--quiet")
    _git(runs, "add", ".")
    _git(runs, "commit", "--quiet", "--message", "one")
    (tmp_path / "demo/shared/knowledge/units.md").unlink()
    code, output, _ = run("kb", "lint", *OF_RUN, "--since", "HEAD")
    assert code == 0
    assert b"nothing found; 3 left out: there at HEAD" in output
