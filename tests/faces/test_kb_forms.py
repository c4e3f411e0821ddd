"""What `lint`, `validate` and `cites` print: four forms of the same findings, fit for anybody."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from counterfoil.core.knowledge.codes import CODES
from counterfoil.core.refs.pages import MALFORMED_TEXT
from faces.kb import (
    AMBIGUOUS,
    CHECKING,
    OF_RUN,
    REPORT,
    SCHEMA,
    codes,
    files_below,
    page,
    read_report,
)
from sarif_log import SARIF

Run = Callable[..., tuple[int, bytes, str]]
Store = Callable[..., Path]


# --- lint, validate, cites ----------------------------------------------------


@pytest.mark.usefixtures("demo")
def test_the_demo_has_one_citation_that_means_two_pages(run: Run) -> None:
    """lint-forms: The text, exactly: place, severity, message with handles to paste, code."""
    code, output, error = run("kb", "lint", *OF_RUN)
    assert (code, error) == (1, "")
    assert output.decode().splitlines() == [
        f"{REPORT}:1:1: info: no other page refers to this one (orphan)",
        AMBIGUOUS,
        "1 page, 2 citations, 1 link checked: 1 error, 1 info",
    ]
    code, output, _ = run("kb", "cites", *OF_RUN)
    assert code == 1
    assert output.decode().splitlines() == [
        AMBIGUOUS,
        "1 page, 2 citations, 1 link checked: 1 error",
    ]


@pytest.mark.usefixtures("demo")
def test_a_handle_that_the_finding_lists_mends_it(run: Run, tmp_path: Path) -> None:
    """lint-forms: Pasted into the page, the finding is gone and the exit code is 0."""
    page = tmp_path / REPORT
    page.write_text(page.read_text().replace("- slope", "- inherited:refit::slope"))
    code, output, _ = run("kb", "cites", *OF_RUN)
    assert (code, output) == (0, b"1 page, 2 citations, 1 link checked: nothing found\n")


@pytest.mark.usefixtures("demo")
def test_the_json_of_a_run_has_places_handles_and_candidates(run: Run) -> None:
    """lint-forms: `--json` and `--format json` are one document, of the published schema."""
    code, output, _ = run("kb", "lint", *OF_RUN, "--json")
    document = read_report(output)
    assert code == 1
    assert output == run("kb", "lint", *OF_RUN, "--format", "json")[1]
    head = ("schema", "outcome", "checked", "counts", "silenced")
    assert {key: document[key] for key in head} == {
        "schema": 1,
        "outcome": "findings",
        "checked": {"pages": 1, "citations": 2, "links": 1},
        "counts": {"error": 1, "warning": 0, "info": 1},
        "silenced": 0,
    }  # fmt: skip
    assert document["findings"][1] == {
        "code": "ambiguous-citation",
        "severity": "error",
        "path": REPORT,
        "line": 6,
        "column": 5,
        "origin": "here",
        "page": "report",
        "written": "slope",
        "message": AMBIGUOUS.partition("error: ")[2].removesuffix(" (ambiguous-citation)"),
        "candidates": [
            {
                "handle": f"inherited:{run_}::slope",
                "path": f"demo/runs/{run_}/knowledge-base/knowledge/slope.md",
            }
            for run_ in ("refit", "fit")
        ],
        "handles": ["inherited:refit::slope", "inherited:fit::slope"],
    }


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("command", CHECKING)
def test_every_form_carries_the_same_findings(run: Run, command: str) -> None:
    """lint-forms: Code and place are the same in text, JSON, SARIF and GitHub."""
    document = read_report(run("kb", command, *OF_RUN, "--json")[1])
    found = [(one["code"], one["path"], one["line"], one["column"]) for one in document["findings"]]
    text = run("kb", command, *OF_RUN, "--format", "text")[1].decode()
    assert re.findall(r"^(.*?):(\d+):(\d+): .* \((.*)\)$", text, re.MULTILINE) == [
        (path, str(line), str(column), code) for code, path, line, column in found
    ]
    log = json.loads(run("kb", command, *OF_RUN, "--format", "sarif")[1])
    jsonschema.validate(log, SARIF)
    places = [result["locations"][0]["physicalLocation"] for result in log["runs"][0]["results"]]
    assert [(place["artifactLocation"]["uri"], *place["region"].values()) for place in places] == [
        row[1:] for row in found
    ]
    github = run("kb", command, *OF_RUN, "--format", "github")[1].decode().splitlines()
    commands = [line.partition("::")[2].partition("::")[0] for line in github]
    assert [command.partition(" ")[2] for command in commands] == [
        f"file={path},line={line},col={column},title={code}" for code, path, line, column in found
    ]


def test_the_severity_of_each_form_is_that_of_the_code(run: Run, store: Store) -> None:
    """lint-forms: Error, warning and info; SARIF and GitHub say note and notice for the last."""
    root = store({"a.md": page("a", "cites: gone", body="[[nowhere]]")})
    output = run("kb", "lint", "--root", root, "--format", "github")[1].decode()
    assert [line.split(" ", 1)[0] for line in output.splitlines()] == [
        "::notice", "::error", "::warning",
    ]  # fmt: skip
    log = json.loads(run("kb", "lint", "--root", root, "--format", "sarif")[1])
    jsonschema.validate(log, SARIF)
    (sarif_run,) = log["runs"]
    levels = {result["ruleId"]: result["level"] for result in sarif_run["results"]}
    assert levels == {"orphan": "note", "missing-citation": "error", "broken-link": "warning"}
    rules = {rule["id"]: rule for rule in sarif_run["tool"]["driver"]["rules"]}
    assert rules["broken-link"] == {
        "id": "broken-link",
        "shortDescription": {"text": CODES["broken-link"].sentence},
        "fullDescription": {"text": CODES["broken-link"].meaning},
        "help": {"text": CODES["broken-link"].fix},
        "defaultConfiguration": {"level": "warning"},
    }


def test_warnings_and_infos_alone_are_no_error(run: Run, store: Store) -> None:
    """lint-forms: The exit code is 1 for an error and for nothing else."""
    root = store({"a.md": page("a", body="[[nowhere]]")})
    for form in ("text", "json", "sarif", "github"):
        assert run("kb", "lint", "--root", root, "--format", form)[0] == 0
    assert b"1 warning, 1 info" in run("kb", "lint", "--root", root)[1]


@pytest.mark.parametrize("command", CHECKING)
def test_no_page_is_empty_and_never_clean(run: Run, tmp_path: Path, command: str) -> None:
    """kb-commands: EMPTY is said, with where to look, in every form, and is no error."""
    root = tmp_path / "kb"
    root.mkdir()
    code, output, _ = run("kb", command, "--root", root)
    assert code == 0
    assert output.startswith(b"EMPTY: no page was checked (")
    assert b"--root and --pages" in output
    code, output, _ = run("kb", command, "--root", root, "--json")
    assert (code, read_report(output)["outcome"]) == (0, "empty")
    code, output, _ = run("kb", command, "--root", root, "--format", "sarif")
    assert (code, json.loads(output)["runs"][0]["results"]) == (0, [])
    assert run("kb", command, "--root", root, "--format", "github")[:2] == (0, b"")
    assert files_below(root) == {}


def test_a_clean_store_says_what_was_checked(run: Run, store: Store) -> None:
    """kb-commands: Clean is an outcome of its own."""
    root = store({"a.md": page("a", "cites: b"), "b.md": page("b", "cites: a")})
    code, output, _ = run("kb", "lint", "--root", root)
    assert (code, output) == (0, b"2 pages, 2 citations, 0 links checked: nothing found\n")
    assert read_report(run("kb", "lint", "--root", root, "--json")[1])["outcome"] == "clean"


def test_a_strict_store_wants_its_ids_and_titles_written(run: Run, store: Store) -> None:
    """kb-commands: `validate` finds what `lint` does; with --strict made ids and titles too."""
    root = store({"a.md": "---\ncites: b\n---\n# A\n", "b.md": page("b", "title: B", "cites: a")})
    assert run("kb", "validate", "--root", root)[:2] == run("kb", "lint", "--root", root)[:2]
    assert run("kb", "validate", "--root", root)[0] == 0
    code, output, _ = run("kb", "validate", "--strict", "--root", root)
    at = "knowledge/a.md:1:1: error: "
    assert code == 1
    assert output.decode().splitlines() == [
        f"{at}the page has no id of its own; 'a' was made for it (no-literal-id)",
        f"{at}the page has no title of its own; 'A' was made for it (no-literal-title)",
        "2 pages, 2 citations, 0 links checked: 2 errors",
    ]


def test_a_store_alone_passes_no_reference_to_another_and_blames_none(
    run: Run, store: Store
) -> None:
    """kb-commands: Without --run, `shared::` and `inherited:` need a run, which is an info."""
    root = store({"a.md": page("a", "cites: [shared::u, inherited:r::x, 'here::b']"),
                  "b.md": page("b", "cites: a")})  # fmt: skip
    code, output, _ = run("kb", "cites", "--root", root, "--json")
    document = read_report(output)
    assert code == 0
    assert codes(document) == ["needs-run-context"] * 2
    assert document["checked"] == {"pages": 2, "citations": 4, "links": 0}


def test_the_store_is_the_nearest_one_upwards(run: Run, store: Store, tmp_path: Path) -> None:
    """kb-commands: Without --root, from the current folder on; paths are those of the store."""
    store({"a.md": page("a", "cites: gone")}, ".")
    expected = run("kb", "lint", "--root", ".")[:2]
    assert run("kb", "lint")[:2] == expected
    done = subprocess.run(
        [sys.executable, "-m", "counterfoil", "kb", "lint"],
        cwd=tmp_path / "knowledge",
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == expected


def test_pages_can_be_elsewhere_and_a_root_a_link(run: Run, store: Store, tmp_path: Path) -> None:
    """kb-commands: `--pages` names their folder; a root may be named through a link."""
    root = store({"a.md": page("a", "cites: gone")})
    (root / "knowledge").rename(root / "notes")
    (tmp_path / "link").symlink_to(root)
    code, output, _ = run("kb", "cites", "--root", "link", "--pages", "notes")
    assert code == 1
    assert output.startswith(b"notes/a.md:3:1: error: 'gone' names no page")
    assert b"EMPTY" in run("kb", "cites", "--root", "link")[1]


def test_a_bad_file_hides_no_other(run: Run, store: Store) -> None:
    """kb-commands: Links, pipes, damage and bad YAML are findings beside the others."""
    root = store(
        {
            "a.md": page("a", "cites: [gone, b]"),
            "b.md": page("b", "cites: a"),
            "bytes.md": b"caf\xe9\n",
            "open.md": "---\nid: [\n---\n",
            "sub/unclosed.md": "---\nid: x\n",
        }
    )
    (root / "knowledge/leak.md").symlink_to("/etc/passwd")
    (root / "knowledge/sub/loop").symlink_to(root)
    os.mkfifo(root / "knowledge/pipe.md")
    code, output, _ = run("kb", "lint", "--root", root, "--json")
    document = read_report(output)
    rows = {
        (one["code"], one["path"].removeprefix("knowledge/"), one["line"])
        for one in document["findings"]
        if one["severity"] != "info"
    }
    assert code == 1
    assert rows == {
        ("missing-citation", "a.md", 3),
        ("not-utf8", "bytes.md", 1),
        ("skipped-link", "leak.md", None),
        ("bad-frontmatter", "open.md", 2),
        ("skipped-link", "pipe.md", None),
        ("skipped-link", "sub/loop", None),
        ("bad-frontmatter", "sub/unclosed.md", 1),
    }
    assert document["checked"]["pages"] == 5


@pytest.mark.parametrize("content", ["junk", "[]", '{"schema": 2, "sources": []}'])
def test_a_registry_that_cannot_be_used_is_one_finding(
    run: Run, store: Store, content: str
) -> None:
    """kb-commands: Sources are neither passed nor blamed then."""
    root = store({"a.md": page("a", "sources: s1")})
    (root / ".counterfoil").mkdir()
    (root / ".counterfoil/sources.json").write_text(content)
    code, output, _ = run("kb", "lint", "--root", root, "--json")
    assert code == 1
    assert codes(read_report(output)) == ["bad-registry", "no-outlinks", "orphan"]


def test_what_may_not_be_read_is_named_and_hides_no_other(
    tmp_path: Path, store: Store, environment: dict[str, str]
) -> None:
    """kb-commands: A page without permission is an error; a root without is exit code 3."""
    root = store({"a.md": page("a"), "locked.md": page("locked")})
    (root / "knowledge/locked.md").chmod(0)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)

    def lint(path: Path) -> tuple[int, str]:
        program = [sys.executable, "-m", "counterfoil", "kb", "lint", "--root", str(path)]
        if os.geteuid() == 0:  # whom no permission binds, unless its capabilities are dropped
            program = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *program]
        done = subprocess.run(
            program, env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout + done.stderr

    try:
        code, said = lint(root)
        assert code == 1
        assert "knowledge/locked.md: error: " in said
        assert "Permission denied" in said
        assert "1 page, 0 citations, 0 links checked: 1 error" in said
        code, said = lint(closed)
        assert code == 3
        assert "Permission denied" in said
        assert "hint: make sure that you may read" in said
    finally:
        closed.chmod(0o700)


# --- what a text can do to its reader -----------------------------------------

_HOSTILE = """\
---
id: "x\\e[31m"
title: "T\\u202e\\n::error::y%0A"
cites: ["a%\\n::error::z", "\\u202eb"]
---
[[no\x1bone\u202e]]
"""


@pytest.fixture
def hostile(store: Store) -> Path:
    """A store whose names, titles and references try to steer whoever reads of them."""
    return store({"100%,::e:\u202e.md": _HOSTILE, "twin.md": _HOSTILE})


@pytest.mark.parametrize("command", CHECKING)
def test_no_text_steers_the_terminal(run: Run, hostile: Path, command: str) -> None:
    """lint-forms: Escapes, bidirectional controls and line breaks are written out."""
    code, output, _ = run("kb", command, "--root", hostile)
    assert code == 1
    text = output.decode()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert not re.search("^::", text, re.MULTILINE)
    assert "knowledge/100%,::e:\\u202e.md:4:" in text
    assert r"'a%\n::error::z' is no handle" in text


def test_no_text_steers_whoever_shows_or_resolves_a_page(run: Run, hostile: Path) -> None:
    """lint-forms: Titles and links of `show`, handles of `resolve` are shown as they are."""
    code, output, _ = run("kb", "show", "--body", "twin.md", "--root", hostile)
    assert code == 0
    text = output.decode()
    assert text.startswith("T\\u202e\\n::error::y%0A\n  handle: here::twin\n")
    assert "  links to no\\x1bone\\u202e: malformed" in text
    assert not re.search("[\x00-\x09\x0b-\x1f\u202a-\u202e]", text)
    code, output, _ = run("kb", "resolve", "a\nb\x1b[31m", "c\u202ed", "--root", hostile)
    assert code == 1
    assert output.decode().splitlines() == [
        f"'a\\nb\\x1b[31m': malformed ({MALFORMED_TEXT['bad-id']})",
        "c\\u202ed: missing",
    ]


def test_no_text_ends_or_begins_a_workflow_command(run: Run, hostile: Path) -> None:
    """lint-forms: Each line is one command, whatever stands in paths and messages."""
    output = run("kb", "lint", "--root", hostile, "--format", "github")[1].decode()
    lines = output.split("\n")
    assert lines.pop() == ""
    document = read_report(run("kb", "lint", "--root", hostile, "--json")[1])
    assert len(lines) == len(document["findings"]) > 5
    place = r"file=[^:,\r]+(,line=\d+,col=\d+)?"
    for line in lines:
        assert re.fullmatch(rf"::(error|warning|notice) {place},title=[a-z0-9-]+::[^\r\x1b]+", line)
    assert any("file=knowledge/100%25%2C%3A%3Ae%3A\u202e.md,line=4,col=9" in line for line in lines)


def test_a_hostile_store_is_a_valid_sarif_log(run: Run, hostile: Path) -> None:
    """lint-forms: Paths are URIs, messages text."""
    output = run("kb", "lint", "--root", hostile, "--format", "sarif")[1]
    log = json.loads(output)
    jsonschema.validate(log, SARIF)
    uris = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in log["runs"][0]["results"]
    }
    assert uris == {"knowledge/100%25%2C%3A%3Ae%3A%E2%80%AE.md", "knowledge/twin.md"}
    assert "\x1b" not in output.decode()


# --- colour, pipes, writes ----------------------------------------------------


@pytest.mark.usefixtures("demo")
def test_a_pipe_gets_no_colour_unless_it_is_asked_for(run: Run) -> None:
    """lint-forms: `--color always` colours; JSON and SARIF never are."""
    assert b"\x1b" not in run("kb", "lint", *OF_RUN)[1]
    coloured = run("kb", "lint", *OF_RUN, "--color", "always", extra={"NO_COLOR": "1"})[1]
    assert b"\x1b[1;31merror\x1b[0m" in coloured
    for command in ("resolve", "cites", "validate"):
        handle = ["slope"] if command == "resolve" else []
        plain = run("kb", command, *handle, *OF_RUN, "--color", "never")[1]
        assert (
            re.sub(
                b"\x1b\\[[0-9;]*m",
                b"",
                run("kb", command, *handle, *OF_RUN, "--color", "always")[1],
            )
            == plain
        )
    assert b"\x1b" not in run("kb", "lint", *OF_RUN, "--color", "always", "--json")[1]


@pytest.mark.usefixtures("demo")
def test_a_terminal_gets_colour_and_no_color_takes_it_away(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """kb-commands: NO_COLOR is honoured; the terminal sees that work goes on."""
    script = (
        "import os, pty, sys\n"
        "code = pty.spawn([sys.executable, '-m', 'counterfoil', *sys.argv[1:]])\n"
        "sys.exit(os.waitstatus_to_exitcode(code))\n"
    )
    drawn = {}
    for no_color in ("", "1"):
        done = subprocess.run(
            [sys.executable, "-c", script, "kb", "lint", *OF_RUN],
            cwd=tmp_path,
            env=environment | {"TERM": "xterm-256color", "COLUMNS": "200", "NO_COLOR": no_color},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 1
        drawn[no_color] = done.stdout.decode()
    assert "\x1b[1;31merror\x1b[0m" in drawn[""]
    assert "31m" not in drawn["1"]
    assert AMBIGUOUS in drawn["1"].replace("\r\n", "\n")


def test_a_reader_that_goes_away_is_no_fault(
    store: Store, environment: dict[str, str], tmp_path: Path
) -> None:
    """kb-commands: A closed pipe ends a command with 141 and says nothing."""
    pages: dict[str, str | bytes] = {
        f"p{number}.md": page(f"p{number}", "cites: gone") for number in range(900)
    }
    root = store(pages)
    for form in ("text", "json", "sarif", "github"):
        command = f"{sys.executable} -m counterfoil kb lint --root {root} --format {form}"
        done = subprocess.run(
            ["bash", "-c", f"{command} | head -c 1 >/dev/null; exit ${{PIPESTATUS[0]}}"],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (141, b""), form


@pytest.mark.parametrize(
    "arguments",
    [
        ["lint"], ["cites"], ["validate", "--strict"], ["inspect"], ["index"],
        ["index", "--anew"], ["resolve", "a"], ["show", "a"],
    ],
)  # fmt: skip
def test_a_folder_of_pages_that_is_no_store_is_left_as_it_is(
    run: Run, store: Store, arguments: list[str]
) -> None:
    """kb-commands: Looking writes nothing where `init` was never run."""
    root = store({"a.md": page("a", "cites: b"), "b.md": page("b", "cites: a")})
    before = files_below(root)
    assert run("kb", *arguments, "--root", root)[0] in {0, 1}
    assert files_below(root) == before


# --- the codes ----------------------------------------------------------------


def test_every_code_of_a_document_is_one_that_the_schema_names(run: Run, hostile: Path) -> None:
    """lint-codes: A code is a word that the table has, with the severity that it says."""
    document = read_report(run("kb", "validate", "--strict", "--root", hostile, "--json")[1])
    assert {(one["code"], one["severity"]) for one in document["findings"]} <= {
        (code, row.severity) for code, row in CODES.items()
    }
    assert len(set(codes(document))) > 4


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), 2),
        (("outcome",), "fine"),
        (("counts", "error"), -1),
        (("findings", 0, "severity"), "fatal"),
        (("findings", 0, "line"), 0),
        (("findings", 1, "origin"), "there"),
        (("findings", 1, "candidates", 0, "path"), ""),
        (("findings", 1, "written"), 7),
    ],
)
@pytest.mark.usefixtures("demo")
def test_the_schema_refuses_what_is_wrong(
    run: Run, path: tuple[str | int, ...], value: object
) -> None:
    """lint-forms: A document with one wrong value does not validate."""
    document = read_report(run("kb", "lint", *OF_RUN, "--json")[1])
    found: Any = document
    for part in path[:-1]:
        found = found[part]
    found[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA, jsonschema.Draft202012Validator)


def test_the_schema_is_one() -> None:
    """lint-forms: The published file is a valid JSON Schema."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
