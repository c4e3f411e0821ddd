"""`counterfoil kb` as a newcomer meets it: each command, each mistake, what is made."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from faces.kb import OF_RUN, REPORT, codes, files_below, page, read_report

Run = Callable[..., tuple[int, bytes, str]]
Store = Callable[..., Path]


# --- the commands -------------------------------------------------------------


def test_every_command_of_kb_is_listed_with_what_it_does(run: Run) -> None:
    """kb-commands: `kb --help` lists the commands; alone, `kb` is misuse and says the same."""
    code, output, _ = run("kb", "--help")
    listed = re.findall(r"^  ([a-z-]+)  +[A-Z]", output.decode(), re.MULTILINE)
    assert code == 0
    assert listed == [
        "init", "runs", "lint", "cites", "validate", "resolve", "inspect", "show", "search",
        "brief", "graph", "index", "add-source", "sources", "write", "promote", "grade",
        "migrate",
    ]  # fmt: skip
    code, output, error = run("kb")
    assert (code, output) == (2, b"")
    assert "Commands:" in error


@pytest.mark.parametrize(
    "command",
    ["init", "runs", "lint", "cites", "validate", "resolve", "inspect", "show", "index"],
)
def test_every_command_explains_itself(run: Run, command: str) -> None:
    """kb-commands: Its own help names the command."""
    code, output, _ = run("kb", command, "--help")
    assert code == 0
    assert f"Usage: counterfoil kb {command}".encode() in output


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["kb", "lnt"], "did you mean 'lint'"),
        (["kb", "frobnicate"], "`counterfoil kb --help` lists them"),
        (["kb", "lint", "extra"], "unexpected extra argument"),
        (["kb", "lint", "--format", "xml"], "'xml' is not one of"),
        (["kb", "lint", "--color", "blue"], "'blue' is not one of"),
        (["kb", "lint"], "no store at"),
        (["kb", "lint", "--root", "nowhere"], "no store at nowhere; expected a directory"),
        (["kb", "lint", "--root", "a-file"], "no store at a-file; expected a directory"),
        (["kb", "lint", "--root", ""], "--root is blank; expected a name"),
        (["kb", "lint", "--root", "demo/shared", "--pages", " "], "--pages is blank"),
        (["kb", "lint", "--root", "demo/shared", "--pages", "/x"], "path '/x' is absolute"),
        (["kb", "lint", "--root", "demo/shared", "--pages", "../x"], "has the segment '..'"),
        (["kb", "lint", "--root", "demo/shared", "--pages", "raw"], "pages directory 'raw'"),
        (["kb", "lint", "--run", "report"], "--runs is missing"),
        (["kb", "lint", "--runs", "demo/runs"], "--run is missing"),
        (["kb", "lint", "--runs", "demo/runs", "--run", "nope"], "run 'nope' has no store"),
        (["kb", "lint", "--runs", "nowhere", "--run", "report"], "run 'report' has no store"),
        (["kb", "lint", "--runs", "demo/runs", "--run", "../x"], "run id '../x'"),
        (["kb", "lint", *OF_RUN, "--root", "demo/shared"], "not by both"),
        (["kb", "lint", "--shared", "demo/shared"], "--shared goes with --runs and --run"),
        (["kb", "lint", "--lineage", "m.json"], "--lineage goes with --runs and --run"),
        (["kb", "lint", "--max-ancestors", "3"], "--max-ancestors goes with"),
        (["kb", "lint", *OF_RUN, "--max-ancestors", "-1"], "-1 is not in the range"),
        (["kb", "lint", *OF_RUN, "--max-ancestors", "2"], "more than 2 ancestors"),
        (["kb", "cites", "--root", "nowhere"], "no store at nowhere"),
        (["kb", "validate", "--root", "nowhere"], "no store at nowhere"),
        (["kb", "index", "--root", "nowhere"], "no store at nowhere"),
        (["kb", "inspect", "--root", "nowhere"], "no store at nowhere"),
        (["kb", "resolve"], "Missing argument"),
        (["kb", "resolve", "x", "--root", "nowhere"], "no store at nowhere"),
        (["kb", "show"], "Missing argument"),
        (["kb", "show", "a", "b"], "unexpected extra argument"),
        (["kb", "show", "nope", *OF_RUN], "'nope' names no page"),
        (["kb", "show", "nope.md", *OF_RUN], "'nope.md' names no page"),
        (["kb", "show", "here::", *OF_RUN], "'here::' is no handle: its id is blank"),
        (["kb", "show", "slope", *OF_RUN], "'slope' names 2 pages: inherited:refit::slope ("),
        (["kb", "show", "shared::x", "--root", "demo/shared"], "a page of another store"),
        (["kb", "runs"], "Missing option '--runs'"),
        (["kb", "runs", "--runs", "nowhere"], "no directory nowhere"),
        (["kb", "init", "--runs", "r"], "--runs and --run go together"),
        (["kb", "init", "--run", "r"], "--runs and --run go together"),
        (["kb", "init", "--parent", "r"], "go with --run"),
        (["kb", "init", "--lineage", "m.json"], "go with --run"),
        (["kb", "init", "--allow-unknown-parent"], "go with --run"),
        (["kb", "init", "--runs", "r", "--run", "x", "--parent", ""], "--parent is blank"),
        (["kb", "init", "--root", "x", "--demo", "y"], "one place at a time: --root or --demo"),
        (["kb", "init", "--root", ""], "--root is blank"),
        (["kb", "init", "--root", "x", "--pages", ".counterfoil"], "pages directory"),
        (["kb", "init", "--runs", "r", "--run", "a/b"], "run id 'a/b'"),
        (["kb", "init", "--demo", "demo"], "demo is not empty"),
    ],
)
def test_a_mistake_is_one_clear_line_and_exit_code_2(
    run: Run, tmp_path: Path, arguments: list[str], words: str
) -> None:
    """kb-commands: Misuse says what was found, prints nothing, and ends with 2."""
    (tmp_path / "a-file").touch()
    code, output, error = run(*arguments)
    assert (code, output) == (2, b"")
    assert words in error
    assert len([line for line in error.splitlines() if words in line]) == 1


def test_what_cannot_be_read_is_exit_code_3(run: Run, tmp_path: Path) -> None:
    """kb-commands: A thing in the way is no misuse: it could not be told."""
    (tmp_path / "a-file").touch()
    (tmp_path / "kb/knowledge").mkdir(parents=True)
    (tmp_path / "kb/.counterfoil").symlink_to(tmp_path)
    for arguments, words in (
        (["kb", "init", "--root", "a-file"], "a-file is a file; expected a directory"),
        (["kb", "runs", "--runs", "a-file"], "a-file is a file; expected a directory"),
        (["kb", "lint", "--root", "kb"], ".counterfoil is a symbolic link"),
    ):
        code, output, error = run(*arguments)
        assert (code, output) == (3, b""), arguments
        assert words in error


# --- the other commands -------------------------------------------------------


@pytest.mark.usefixtures("demo")
def test_a_handle_is_said_to_mean_one_page_none_or_several(run: Run) -> None:
    """kb-commands: `resolve` keeps every candidate, the order asked, and guesses nothing."""
    handles = ("slope", "samples", "shared::units", "nope", "Samples", "here::", "")
    code, output, _ = run("kb", "resolve", *handles, *OF_RUN)
    assert code == 1
    assert output.decode().splitlines() == [
        "slope: ambiguous",
        "  inherited:refit::slope  demo/runs/refit/knowledge-base/knowledge/slope.md",
        "  inherited:fit::slope  demo/runs/fit/knowledge-base/knowledge/slope.md",
        "samples: resolved",
        "  inherited:measure::samples  demo/runs/measure/knowledge-base/knowledge/samples.md",
        "shared::units: resolved",
        "  shared::units  demo/shared/knowledge/units.md",
        "nope: missing",
        "Samples: missing",
        "'here::': malformed (its id is blank)",
        "'': malformed (it is blank)",
    ]
    code, output, _ = run("kb", "resolve", *handles, *OF_RUN, "--json")
    rows = json.loads(output)["resolutions"]
    assert code == 1
    assert [row["handle"] for row in rows] == list(handles)
    assert [row["verdict"] for row in rows] == [
        "ambiguous", "resolved", "resolved", "missing", "missing", "malformed", "malformed",
    ]  # fmt: skip
    assert [row.get("reason") for row in rows][-2:] == ["blank-id", "blank"]
    assert rows[1]["candidates"] == [
        {
            "handle": "inherited:measure::samples",
            "path": "demo/runs/measure/knowledge-base/knowledge/samples.md",
        }
    ]
    assert run("kb", "resolve", "samples", "inherited:fit::slope", *OF_RUN)[0] == 0


@pytest.mark.usefixtures("demo")
def test_a_store_alone_cannot_say_what_a_handle_of_another_means(run: Run) -> None:
    """kb-commands: `resolve` without a run says so, and how to get one."""
    code, output, _ = run("kb", "resolve", "shared::units", "units", "--root", "demo/shared")
    assert code == 1
    assert output.decode().splitlines() == [
        "shared::units: needs run context (name the run: --runs and --run)",
        "units: resolved",
        "  here::units  knowledge/units.md",
    ]


def _shown(run: str, id_: str) -> str:
    return f"inherited:{run}::{id_} (demo/runs/{run}/knowledge-base/knowledge/{id_}.md)"


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("name", ["report", "here::report", "What we  found", "report.md", REPORT])
def test_a_page_is_shown_by_handle_name_and_path(run: Run, name: str) -> None:
    """kb-commands: `show` prints the page and what each of its references means."""
    code, output, _ = run("kb", "show", name, *OF_RUN)
    assert code == 0
    assert output.decode().splitlines() == [
        "What we found",
        "  handle: here::report",
        f"  path: {REPORT}",
        "  tags: report",
        f"  cites samples: resolved, {_shown('measure', 'samples')}",
        f"  cites slope: ambiguous, {_shown('refit', 'slope')}, {_shown('fit', 'slope')}",
        "  links to shared::units: resolved, shared::units (demo/shared/knowledge/units.md)",
    ]


@pytest.mark.usefixtures("demo")
def test_a_page_is_shown_with_its_body_and_who_refers_to_it(run: Run) -> None:
    """kb-commands: `show --body` and `--json`; without --body the JSON has none."""
    code, output, _ = run("kb", "show", "samples", "--body", *OF_RUN)
    assert code == 0
    text = output.decode()
    assert text.count("  referred to by ") == 3
    assert text.endswith(
        "\n\nForty samples, taken on three days. Units are those of [[shared::units]].\n"
    )
    document = json.loads(run("kb", "show", "samples", "--json", *OF_RUN)[1])
    assert "body" not in document
    assert document["schema"] == 1
    assert document["handle"] == "inherited:measure::samples"
    assert document["referredBy"] == [
        "here::report", "inherited:refit::slope", "inherited:fit::slope",
    ]  # fmt: skip
    assert document["cites"] == [
        {"written": "shared::units", "verdict": "resolved", "candidates": ["shared::units"]}
    ]
    document = json.loads(run("kb", "show", "samples", "--json", "--body", *OF_RUN)[1])
    assert document["body"].startswith("\nForty samples")


def test_everything_that_a_page_is_called_is_shown(run: Run, store: Store) -> None:
    """kb-commands: Aliases, sources, and why it was taken back."""
    root = store(
        {
            "a.md": page(
                "a", "aliases: [one, two]", "sources: [s1]", "contradicts: nope",
                "invalidation: {verdict: contradicted, observedAt: 2026-02-03T04:05:06Z,"
                " reason: outliers}",
            )
        }
    )  # fmt: skip
    code, output, _ = run("kb", "show", "two", "--root", root)
    assert code == 0
    assert output.decode().splitlines() == [
        "a",
        "  handle: here::a",
        "  path: knowledge/a.md",
        "  aliases: one, two",
        "  sources: s1",
        "  taken back 2026-02-03T04:05:06Z: outliers",
        "  contradicts nope: missing",
    ]
    document = json.loads(run("kb", "show", "a", "--root", root, "--json")[1])
    assert document["invalidation"] == {
        "observedAt": "2026-02-03T04:05:06Z", "reason": "outliers",
    }  # fmt: skip


def test_two_pages_of_one_id_are_shown_by_their_paths(run: Run, store: Store) -> None:
    """kb-commands: `show` refuses the id, and takes the path that a finding prints."""
    pages: dict[str, str | bytes] = {f"p{number:02}.md": page("x") for number in range(12)}
    root = store(pages)
    code, _, error = run("kb", "show", "x", "--root", root)
    assert code == 2
    assert "'x' names 12 pages: here::x (knowledge/p00.md)," in error
    assert "and 2 more; expected the name of exactly one" in error
    assert "hint: write one of the handles, or the path" in error
    assert b"path: knowledge/p11.md" in run("kb", "show", "knowledge/p11.md", "--root", root)[1]


@pytest.mark.usefixtures("demo")
def test_a_chain_is_counted(run: Run) -> None:
    """kb-commands: `inspect` says how much there is and what most others refer to."""
    code, output, _ = run("kb", "inspect", *OF_RUN)
    *lines, digest = output.decode().splitlines()
    assert code == 0
    assert lines == [
        "here: 1 page",
        "inherited:refit: 1 page",
        "inherited:fit: 1 page",
        "inherited:measure: 1 page",
        "shared: 1 page",
        "wikilink: 3",
        "citation: 5",
        "contradicts: 0",
        "shared-source: 0",
        "sources: 0; taken back: 0",
        "  referred to 3 times: inherited:measure::samples",
        "  referred to 3 times: shared::units",
        "  referred to 2 times: inherited:fit::slope",
    ]
    assert re.fullmatch(r"digest: sha256:[0-9a-f]{64}", digest)
    document = json.loads(run("kb", "inspect", *OF_RUN, "--json")[1])
    assert document["digest"] == digest.removeprefix("digest: ")
    assert document["pages"]["inherited:fit"] == 1
    assert document["mostReferred"][2] == {
        "handle": "inherited:fit::slope",
        "path": "demo/runs/fit/knowledge-base/knowledge/slope.md",
        "incoming": 2,
        "outgoing": 1,
    }


@pytest.mark.usefixtures("demo")
def test_an_index_is_made_anew_and_says_the_same(run: Run, tmp_path: Path) -> None:
    """kb-commands: `index` counts the pages of each store; --anew forgets what was kept."""
    before = run("kb", "lint", *OF_RUN)[1]
    expected = [
        "here: 1 page  demo/runs/report/knowledge-base/",
        "inherited:refit: 1 page  demo/runs/refit/knowledge-base/",
        "inherited:fit: 1 page  demo/runs/fit/knowledge-base/",
        "inherited:measure: 1 page  demo/runs/measure/knowledge-base/",
        "shared: 1 page  demo/shared/",
    ]
    for arguments in (["index"], ["index", "--anew"]):
        code, output, _ = run("kb", *arguments, *OF_RUN)
        assert (code, output.decode().splitlines()) == (0, expected)
    document = json.loads(run("kb", "index", "--anew", "--json", *OF_RUN)[1])
    assert document["stores"][-1] == {"origin": "shared", "path": "demo/shared/", "pages": 1}
    index = tmp_path / "demo/shared/.counterfoil/index.db"
    assert index.is_file()
    index.write_bytes(b"junk")
    assert run("kb", "lint", *OF_RUN)[1] == before


@pytest.mark.usefixtures("demo")
def test_runs_are_listed_with_their_parents(run: Run, tmp_path: Path) -> None:
    """kb-commands: `runs` says who builds on whom; a record that cannot be read is an error."""
    code, output, _ = run("kb", "runs", "--runs", "demo/runs")
    assert code == 0
    assert output.decode().splitlines() == [
        "fit      parent measure",
        "measure  no parent",
        "refit    parent fit",
        "report   parent refit",
    ]
    (tmp_path / "demo/runs/fit/knowledge-base/.counterfoil/lineage.json").write_text("junk")
    code, output, _ = run("kb", "runs", "--runs", "demo/runs", "--json")
    rows = {row["run"]: row for row in json.loads(output)["runs"]}
    assert code == 1
    assert rows["refit"] == {"run": "refit", "parent": "fit", "fault": None}
    assert rows["fit"]["parent"] is None
    assert "lineage.json" in rows["fit"]["fault"]
    code, output, _ = run("kb", "lint", *OF_RUN, "--json")
    assert code == 1
    assert "lineage-conflict" in codes(read_report(output))
    (tmp_path / "none").mkdir()
    assert run("kb", "runs", "--runs", "none")[:2] == (0, b"no run has a store in none\n")


@pytest.mark.usefixtures("demo")
def test_a_manifest_can_own_the_ancestry(run: Run, tmp_path: Path) -> None:
    """kb-commands: `--lineage` is asked instead of the records in the stores."""
    manifest = tmp_path / "manifest.json"
    manifest.write_text(
        '{"runs": [{"id": "report", "parent": "measure"}, {"id": "measure", "parent": null}]}'
    )
    code, output, error = run("kb", "resolve", "slope", *OF_RUN, "--lineage", manifest)
    assert (code, output, error) == (1, b"slope: missing\n", "")
    assert run("kb", "resolve", "samples", *OF_RUN, "--lineage", manifest)[0] == 0
    assert run("kb", "lint", *OF_RUN, "--max-ancestors", "3")[0] == 1
    assert run("kb", "lint", *OF_RUN, "--max-ancestors", "1", "--lineage", manifest)[0] == 1
    code, output, _ = run("kb", "runs", "--runs", "demo/runs", "--lineage", manifest)
    assert code == 1
    assert b"report   parent measure\n" in output


# --- init ---------------------------------------------------------------------


def test_a_store_is_made_and_making_it_again_changes_nothing(run: Run, tmp_path: Path) -> None:
    """kb-init: Twice is once; what a person wrote stays."""
    code, output, _ = run("kb", "init", "--root", "kb")
    assert (code, output) == (0, b"store: kb\n")
    (tmp_path / "kb/knowledge/index.md").write_text("mine\n")
    before = files_below(tmp_path / "kb")
    assert {"knowledge/index.md", "knowledge/log.md", ".counterfoil/sources.json"} <= set(before)
    assert run("kb", "init", "--root", "kb")[:2] == (0, b"store: kb\n")
    assert files_below(tmp_path / "kb") == before
    assert b"EMPTY" in run("kb", "lint", "--root", "kb")[1]
    code, output, _ = run("kb", "init", "--root", "kb", "--json")
    assert (code, json.loads(output)) == (0, {"schema": 1, "root": "kb"})


def test_the_current_folder_becomes_a_store(run: Run, tmp_path: Path) -> None:
    """kb-init: Without a place it is made here; `--pages` names another folder for pages."""
    assert run("kb", "init", "--pages", "notes")[:2] == (0, b"store: .\n")
    assert (tmp_path / "notes/index.md").is_file()
    assert not (tmp_path / "knowledge").exists()


def test_a_run_keeps_its_parent_for_ever(run: Run, tmp_path: Path) -> None:
    """kb-init: The same again changes nothing; another parent is refused and changes nothing."""
    first = ("kb", "init", "--runs", "runs", "--run", "r1")
    second = ("kb", "init", "--runs", "runs", "--run", "r2", "--parent", "r1")
    assert run(*first)[:2] == (0, b"run r1, without a parent: runs/r1/knowledge-base\n")
    assert run(*second)[:2] == (0, b"run r2, with the parent r1: runs/r2/knowledge-base\n")
    before = files_below(tmp_path / "runs")
    assert run(*second)[0] == 0
    assert json.loads(run(*second, "--json")[1]) == {
        "schema": 1, "run": "r2", "parent": "r1", "root": "runs/r2/knowledge-base",
    }  # fmt: skip
    for arguments, words in (
        (["--run", "r2"], "run 'r2' has the parent 'r1', and no parent was given"),
        (["--run", "r2", "--parent", "r3"], "and parent 'r3' was given"),
        (["--run", "R2", "--parent", "r1"], "differs only in letter case from 'r2'"),
        (["--run", "r3", "--parent", "r3"], "goes round: 'r3' → 'r3'"),
        (["--run", "r3", "--parent", "r4"], "parent 'r4' of run 'r3' is not known"),
    ):
        code, output, error = run("kb", "init", "--runs", "runs", *arguments)
        assert (code, output) == (2, b""), arguments
        assert words in error
        assert "hint: " in error
        assert files_below(tmp_path / "runs") == before


def test_a_parent_that_is_not_there_can_be_allowed_and_is_a_finding(run: Run) -> None:
    """kb-init: `--allow-unknown-parent` is for imports; lint reports what is missing."""
    made = run("kb", "init", "--runs", "runs", "--run", "r2", "--parent", "r1",
               "--allow-unknown-parent")  # fmt: skip
    assert made[0] == 0
    code, output, _ = run("kb", "lint", "--runs", "runs", "--run", "r2", "--json")
    assert code == 1
    assert codes(read_report(output)) == ["missing-ancestor-store"]


def test_a_manifest_is_asked_and_never_told(run: Run, tmp_path: Path) -> None:
    """kb-init: With `--lineage` somebody else's manifest owns the parents."""
    manifest = tmp_path / "manifest.json"
    manifest.write_text('{"runs": [{"id": "r1", "parent": null}, {"id": "r2", "parent": "r1"}]}')
    before = manifest.read_bytes()
    of = ("kb", "init", "--runs", "runs", "--lineage", manifest)
    assert run(*of, "--run", "r1")[0] == 0
    assert run(*of, "--run", "r2", "--parent", "r1")[0] == 0
    assert run(*of, "--run", "r3", "--parent", "r1")[0] == 2
    assert not (tmp_path / "runs/r3").exists()
    assert manifest.read_bytes() == before


def test_a_demo_is_made_where_nothing_is(run: Run, tmp_path: Path) -> None:
    """kb-init: Four runs and what to try; a folder with something in it is refused whole."""
    code, output, error = run("kb", "init", "--demo", "a demo")
    assert (code, output) == (0, b"made four runs and a shared store in a demo\n")
    assert error == (
        "try: counterfoil kb lint --runs 'a demo/runs' --shared 'a demo/shared' --run report\n"
    )
    before = files_below(tmp_path / "a demo")
    assert run("kb", "init", "--demo", "a demo")[0] == 2
    assert files_below(tmp_path / "a demo") == before
    (tmp_path / "empty").mkdir()
    code, output, _ = run("kb", "init", "--demo", "empty", "--json")
    assert (code, json.loads(output)) == (0, {"schema": 1, "demo": "empty"})
    assert set(files_below(tmp_path / "empty")) == set(before)
    assert not list((tmp_path / "empty").rglob("index.db"))
