"""The pages hold what the program does: blocks are generated or run, names are complete."""

import ast
import doctest
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

from counterfoil.adapters.transcripts.evidence import EVIDENCE
from counterfoil.core.events import KINDS, Event
from counterfoil.core.knowledge.codes import CODES
from counterfoil.core.reasons import REASONS
from counterfoil.core.receipt import CAVEATS
from counterfoil.core.report import CAVEAT_TEXT
from counterfoil.core.settings import KEYS, Layer, settle
from counterfoil.faces.cli import cli
from counterfoil.faces.cli.commands.kb import COMMANDS as KB_COMMANDS
from counterfoil.wire.events import decode_event, encode_event

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if page.parent.name != "spec"  # what is to be, whose commands need not be there yet
    ),
]
FINDINGS = ROOT / "docs" / "reference" / "findings"
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

_FETCHES = "it fetches what it depends on; a test takes nothing from the network"
NOT_RUN = {
    "pip install .": _FETCHES,
    "pip install 'counterfoil[models]'": _FETCHES,
    "counterfoil chat --model qwen3:8b --base-url http://127.0.0.1:11434/v1": (
        "it needs a model; tests/faces/test_agent_end_to_end.py runs it against one on loopback"
    ),
}
"""Lines of `sh` blocks that are not run, each with its reason."""


class Block(NamedTuple):
    """A fenced block of a page; `is_generated` where cog wrote it."""

    place: str
    language: str
    text: str
    is_generated: bool


def _blocks(*languages: str) -> list[Block]:
    return [block for page in PAGES for block in _blocks_of(page) if block.language in languages]


def _blocks_of(page: Path) -> Iterator[Block]:
    is_generated = False
    started: tuple[int, str] | None = None
    lines: list[str] = []
    for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
        if started is not None:
            if line == "```":
                place = f"{page.relative_to(ROOT)}:{started[0]}"
                yield Block(place, started[1], "\n".join(lines), is_generated)
                started = None
            else:
                lines.append(line)
        elif line.startswith("```"):
            started, lines = (number, line[3:]), []
        elif line.startswith("<!-- [[["):
            is_generated = line.startswith("<!-- [[[cog")
    assert started is None, f"{page}: a block stays open"


def _place(block: Block) -> str:
    return block.place


def _page(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


# --- blocks -------------------------------------------------------------------


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A folder in which an agent worked, on a machine that holds nothing else."""
    folder = tmp_path_factory.mktemp("shop")
    home = tmp_path_factory.mktemp("home")
    session = _page("examples/claude-session.jsonl").replace("/home/ann/shop", str(folder))
    for place in ("shop/session.jsonl", "shop/sessions/one.jsonl", "home/projects/shop/1.jsonl"):
        base, _, rest = place.partition("/")
        path = (folder if base == "shop" else home) / rest
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(session, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COUNTERFOIL", "CLAUDE", "CODEX", "MAKE", "MFLAGS", "GIT_"))
    }
    environment = kept | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home),
        "COUNTERFOIL_HOME": str(home / "counterfoil"),
    }
    return folder, environment


@pytest.mark.parametrize("block", _blocks("sh"), ids=_place)
def test_a_shell_block_runs(block: Block, sandbox: tuple[Path, dict[str, str]]) -> None:
    """docs-executed: What a page tells to type ends as a check ends, with 0 or 1."""
    folder, environment = sandbox
    for line in block.text.splitlines():
        if line in NOT_RUN:
            continue
        is_make = line.startswith("make ")
        done = subprocess.run(
            ["sh", "-c", line.replace("make ", "make -n ", 1) if is_make else line],
            cwd=ROOT if is_make else folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode in ({0} if is_make else {0, 1}), (line, done.stderr)
        assert "Traceback" not in done.stderr


def test_what_is_not_run_stands_in_a_page() -> None:
    """docs-executed: The list of lines that are not run holds no line too many."""
    lines = {line for block in _blocks("sh") for line in block.text.splitlines()}
    assert set(NOT_RUN) <= lines


@pytest.mark.parametrize("block", _blocks("console"), ids=_place)
def test_a_screen_is_generated(block: Block) -> None:
    """docs-executed: Output stands in no page but where cog ran the command."""
    assert block.is_generated


@pytest.mark.parametrize("block", _blocks("python"), ids=_place)
def test_a_python_block_runs(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs-executed: Each block is whole, and prints what it says."""
    monkeypatch.chdir(ROOT)
    test = doctest.DocTestParser().get_doctest(block.text, {}, block.place, block.place, 0)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


@pytest.mark.parametrize("block", _blocks("toml"), ids=_place)
def test_a_configuration_block_is_one(block: Block) -> None:
    """docs-executed: Every key and value is one that the program takes."""
    assert settle([Layer(block.place, tomllib.loads(block.text))]).values


@pytest.mark.parametrize("block", _blocks("yaml"), ids=_place)
def test_a_workflow_calls_what_there_is(block: Block) -> None:
    """docs-executed: Commands and options of a workflow exist."""
    calls = re.findall(r"\bcounterfoil ([a-z-]+)(.*)", block.text)
    assert calls
    for name, rest in calls:
        command = cli.get_command(click.Context(cli), name)
        if isinstance(command, click.Group):
            command = command.get_command(click.Context(command), rest.split()[0])
        assert command is not None
        known = {option for one in command.params for option in one.opts}
        assert set(re.findall(r"--[a-z-]+", rest)) <= known


@pytest.mark.parametrize(
    "block",
    [block for block in [*_blocks("json"), *_blocks("toml")] if not block.is_generated],
    ids=_place,
)
def test_a_server_that_a_page_registers_is_one_that_starts(block: Block) -> None:
    """docs-executed: What a client is told to start is a command of ours, with its options."""
    value = json.loads(block.text) if block.language == "json" else tomllib.loads(block.text)
    servers = value.get("mcpServers", value.get("mcp_servers", {}))
    assert block.language == "toml" or servers
    for server in servers.values():
        if server.get("command") == "counterfoil":
            name, *rest = server["args"]
            command = cli.get_command(click.Context(cli), name)
            assert command is not None
            command.make_context(name, list(rest))


def test_no_block_is_of_a_language_that_nothing_looks_at() -> None:
    """docs-executed: What is neither run nor generated is prose, not a block."""
    checked = {"sh", "console", "python", "toml", "yaml", "json"}
    others = [
        block.place
        for page in PAGES
        for block in _blocks_of(page)
        if block.language not in checked and not block.is_generated
    ]
    assert others == []


# --- links --------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_relative_link_leads_somewhere(name: str) -> None:
    """docs-links: To a file of the project, and to a heading that the file has."""
    page = ROOT / name
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, heading = target.partition("#")
        found = (page.parent / path) if path else page
        assert found.exists(), f"{name}: {target}"
        if heading:
            assert heading in _headings(found), f"{name}: {target}"


def _headings(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def test_a_decision_names_promises_that_there_are() -> None:
    """docs-links: Its tests are found by the ids and the paths that it gives."""
    known = runpy.run_path(str(ROOT / "tests" / "requirements.py"))["REQUIREMENTS"]
    for page in sorted((ROOT / "docs" / "decisions").glob("*.md")):
        text = page.read_text("utf-8")
        heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert heads == ["Context", "Decision", "Consequences", "Tests"], page
        for named in re.findall(r"`([^`]+)`", text.partition("## Tests")[2]):
            assert named in known or (ROOT / named).is_file(), f"{page.name}: {named}"


# --- completeness -------------------------------------------------------------

COMPLETE: dict[str, list[str]] = {
    "docs/reference/cli.md": [
        *(f"## {name}\n" for name in cli.list_commands(click.Context(cli))),
        *(f"## kb {name}\n" for name in KB_COMMANDS),
    ],
    "docs/reference/findings.md": [f"| [`{code}`](findings/{code}.md) |" for code in CODES],
    "docs/concepts/evidence.md": [f"| `{code}` |" for code in REASONS],
    "docs/reference/caveats.md": [f"`{code}`" for code in {*CAVEAT_TEXT, *CAVEATS}],
    "docs/reference/configuration.md": [f"| `{key.name}` |" for key in KEYS],
    "docs/reference/events.md": [f"| `{kind}` |" for kind in KINDS],
    "docs/reference/formats.md": [f"`{name}`" for name in EVIDENCE],
}


def test_every_code_has_its_page_and_every_page_its_code() -> None:
    """lint-codes: What it means, an example, how to mend it, how to silence it."""
    pages = {page.stem: page.read_text("utf-8") for page in FINDINGS.glob("*.md")}
    assert set(pages) == set(CODES)
    heads = ["## Example", "## How to mend it", "## How to silence it"]
    for code, text in pages.items():
        assert [line for line in text.splitlines() if line.startswith("## ")] == heads
        assert CODES[code].meaning in text
        assert f"({code})\n" in text


@pytest.mark.parametrize("name", COMPLETE)
def test_a_reference_page_names_everything(name: str) -> None:
    """docs-complete: Commands, reasons, caveats, settings, kinds of events, formats."""
    text = _page(name)
    assert sorted(one for one in COMPLETE[name] if one not in text) == []


@pytest.mark.parametrize("example", ["claude-session.jsonl", "thread.jsonl"])
def test_every_key_of_the_json_is_explained(
    example: str, sandbox: tuple[Path, dict[str, str]]
) -> None:
    """docs-complete: The page about `check --json` has every key of a document."""
    document = json.loads(_run(sandbox, "check", "--json", f"examples/{example}")[1])
    text = _page("docs/reference/json.md")
    assert sorted(key for key in set(_keys(document)) if f"`{key}`" not in text) == []


def test_every_key_of_a_report_about_pages_is_explained() -> None:
    """docs-complete: The page about findings has every key that its schema has."""
    schema = json.loads(_page("docs/reference/findings.schema.json"))
    text = _page("docs/reference/findings.md")
    keys = {key for part in _objects(schema) for key in part.get("properties", {})}
    assert {"candidates", "leftOut", "hidesAmbiguity"} <= keys
    assert sorted(key for key in keys if f"`{key}`" not in text) == []


def _objects(value: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - JSON is of any type
    """Yield every object of a document, itself and below."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, dict | list):
            yield from _objects(item)


def _keys(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON is of any type
    """Yield the keys of a document; a receipt and counts by name are values of their own."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            if key not in {"receipt", "skipped", "unknownKinds"}:
                yield from _keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item)


# --- words --------------------------------------------------------------------


def _refused_words() -> dict[str, str]:
    """Return what the glossary refuses in names, with the word that is used instead."""
    rows = re.findall(r"^\| (\w+) \| .+ \| (.+) \|$", _page("docs/glossary.md"), re.MULTILINE)
    return {refused: word for word, cell in rows for refused in re.findall(r"`([^`]+)`", cell)}


def _names_in(path: Path) -> Iterator[tuple[int, str]]:
    """Yield every name that a module makes: of classes, functions, arguments, variables."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def _in_snake_case(name: str) -> str:
    return f"_{re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', name).lower()}_"


_NAMED_BY_DESIGN = {"ChatModel"}  # what design.md section 3 calls the port


@pytest.mark.parametrize("room", ["core", "ports", "engine", "wire"])
def test_no_name_has_a_word_that_the_glossary_refuses(room: str) -> None:
    """glossary: One word for each thing."""
    refused = _refused_words()
    source = ROOT / "src" / "counterfoil"
    found = [
        f"{path.relative_to(source)}:{line} {name}: say {refused[word]}, not {word}"
        for path in sorted((source / room).rglob("*.py"))
        for line, name in _names_in(path)
        for word in refused
        if f"_{word}_" in _in_snake_case(name) and name not in _NAMED_BY_DESIGN
    ]
    assert found == []


def test_the_glossary_refuses_words() -> None:
    """glossary: The page is read: every word has its row, and words are refused."""
    refused = _refused_words()
    assert refused["session"] == "thread"
    assert refused["journal"] == "ledger"
    assert _in_snake_case("ChatSession") == "_chat_session_"


# --- examples -----------------------------------------------------------------


def _run(sandbox: tuple[Path, dict[str, str]], *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "counterfoil", *arguments],
        cwd=ROOT,
        env=sandbox[1],
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode()


@pytest.mark.parametrize("example", ["claude-session.jsonl", "thread.jsonl"])
def test_an_example_prints_what_the_readme_shows(
    example: str, sandbox: tuple[Path, dict[str, str]]
) -> None:
    """examples: Line for line, in order; `[...]` stands for turns that are left out."""
    code, output = _run(sandbox, "check", f"examples/{example}")
    (screen,) = (
        block.text
        for block in _blocks_of(ROOT / "README.md")
        if block.text.startswith(f"$ counterfoil check examples/{example}\n")
    )
    command, *shown, asked, said = screen.split("\n")
    assert (command, asked, said) == (
        f"$ counterfoil check examples/{example}",
        "$ echo $?",
        str(code),
    )
    rest = iter(output.splitlines())
    assert all(line in rest for line in shown if line != "[...]")
    assert code == 1


def test_the_thread_is_the_case_that_this_program_has_to_show(
    sandbox: tuple[Path, dict[str, str]],
) -> None:
    """examples: 13 entries, a turn of five more, twelve cited that do not exist."""
    _, output = _run(sandbox, "check", "--json", "examples/thread.jsonl")
    *earlier, turn = json.loads(output)["turns"]
    assert [one["cited"] for one in earlier] == [None] * 4
    assert turn["line"] == 14
    assert turn["replies"] == [{"line": 18, "block": 0}]
    assert turn["ran"] == "ran: inspect · system_info"
    assert turn["cited"] == "cited but not in this conversation: entries 19–30 (12)"
    assert sorted(turn["unknownEntries"]) == list(range(19, 31))
    assert turn["citedEntries"] == {"checked": 15, "missing": 12, "unchecked": 0}


def test_the_thread_is_in_canonical_lines() -> None:
    """examples: Each line is an event, and reading and writing it changes no byte."""
    for line in (ROOT / "examples" / "thread.jsonl").read_bytes().splitlines():
        event = decode_event(line)
        assert isinstance(event, Event)
        assert encode_event(event) == line


def test_the_session_says_what_the_reply_does_not(sandbox: tuple[Path, dict[str, str]]) -> None:
    """examples: A place past the end of a file read whole, and tests that failed."""
    _, output = _run(sandbox, "check", "--json", "examples/claude-session.jsonl")
    (turn,) = json.loads(output)["turns"]
    assert turn["receipt"]["commands"] == [{"command": "pytest -q", "exitStatus": 1}]
    judged = {one["text"]: (one["verdict"], one["reason"]) for one in turn["references"]}
    assert judged["tests/test_cart.py:58"] == ("contradicted", "past-end")
    reply = json.loads(_page("examples/claude-session.jsonl").splitlines()[12])
    text = reply["message"]["content"][0]["text"]
    assert "tests/test_cart.py:58" in text
    assert not re.search(r"fail|pytest|exit", text)


def test_the_demo_fails_where_an_example_is_not_found_out(
    sandbox: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    """examples: `make demo` wants exit code 1 of each example, and no other."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("pyproject.toml", "uv.lock"):
        (tmp_path / name).touch()
    program = tmp_path / ".venv" / "bin" / "counterfoil"
    program.parent.mkdir(parents=True)
    (tmp_path / ".venv" / ".set-up").touch()
    for code in (0, 1, 3):
        program.write_text(f"#!/bin/sh\nexit {code}\n")
        program.chmod(0o755)
        done = subprocess.run(
            ["make", "demo"], cwd=tmp_path, env=sandbox[1], capture_output=True, check=False
        )
        assert (done.returncode == 0) == (code == 1)
