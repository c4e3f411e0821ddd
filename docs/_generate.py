"""What the pages say of the code, made from the code; cog puts it where a page asks.

`make docs` writes, `make test` checks. Each function returns Markdown for one block.
"""
# ruff: noqa: INP001 - cog imports this file by its folder

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from _stores import CodePage, demo_lines

from counterfoil.adapters.transcripts.evidence import EVIDENCE
from counterfoil.core import reasons
from counterfoil.core.events import KINDS, OUTSIDE_RECEIPTS
from counterfoil.core.knowledge.codes import CODES
from counterfoil.core.report import CAVEAT_TEXT
from counterfoil.core.settings import KEYS, Key

ROOT = Path(__file__).resolve().parents[1]
_WIDTH = "80"
_LINE = 96


@cache
def run(*arguments: str) -> tuple[str, int]:
    """Return what `counterfoil` prints with `arguments`, and its exit code."""
    return run_in(ROOT, *arguments)


def run_in(folder: Path, *arguments: str) -> tuple[str, int]:
    """Return what `counterfoil` prints in `folder`, and its exit code.

    It finds no configuration and no session of the machine that it runs on.
    """
    with tempfile.TemporaryDirectory(prefix="counterfoil-docs-") as home:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "counterfoil", *arguments],
            cwd=folder,
            env=_nobodys(home),
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    text = (done.stdout + done.stderr).decode()
    if "Traceback" in text:
        raise RuntimeError(text)  # never into a page
    return text, done.returncode


def fenced(text: str, language: str) -> str:
    """Return `text` as a code block."""
    return f"\n```{language}\n{text.rstrip()}\n```\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    cells = (" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines)
    return "\n" + "\n".join(f"| {line} |" for line in cells) + "\n"


# --- what the program prints ---------------------------------------------------


def screen(command: str, *, only: str = "") -> str:
    """Return a command with what it prints and its exit code; of a turn, `only` that one."""
    text, code = run(*command.split())
    if only:
        head, *blocks = text.rstrip().split("\n\n")
        shown = [block for block in blocks if block.startswith(only)]
        text = "\n\n".join([head, "[...]", *shown, blocks[-1]])
    return fenced(f"$ counterfoil {command}\n{text.rstrip()}\n$ echo $?\n{code}", "console")


def conversation(command: str, *, after: str) -> str:
    """Return what a command of the agent prints behind the prompt `after`, in its order.

    What differs from run to run and from machine to machine is masked: times, ids, the
    outputs of tools.
    """
    with tempfile.TemporaryDirectory(prefix="counterfoil-docs-") as home:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "counterfoil", *command.split()],
            cwd=ROOT,
            env=_nobodys(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    text = done.stdout.decode()
    if "Traceback" in text or after not in text:
        raise RuntimeError(text)  # never into a page
    shown = f"[...]\n\n{text[text.index(after) :]}"
    shown = re.sub(r"(?m)^  (│ |… ).*\n", "", shown)
    shown = re.sub(r"\d+ bytes · \d+\.\d s", "604 bytes · 0.1 s", shown)
    shown = re.sub(r"(?m)^  \d+\.\d s", "  0.1 s", shown)
    return fenced(
        f"$ counterfoil {command}\n{shown.rstrip()}\n$ echo $?\n{done.returncode}", "console"
    )


def tool_table() -> str:
    """Return every tool of a thread: its arguments and what it says of itself."""
    with tempfile.TemporaryDirectory(prefix="counterfoil-docs-") as home:
        script = (
            "from counterfoil.wiring import WiredApplication as A; import json\n"
            "a = A()\n"
            "with a.agent(a.settings({})) as agent: print(json.dumps(agent.tools()))"
        )
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", script],
            cwd=home,
            env=_nobodys(home),
            capture_output=True,
            check=True,
        )
    rows = (
        (f"`{name}`", said.replace(home, "the roots")) for name, said in json.loads(done.stdout)
    )
    return table(("tool", "says"), rows)


def _nobodys(home: str) -> dict[str, str]:
    """Return an environment that finds no configuration of this machine."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COUNTERFOIL", "CLAUDE", "CODEX", "LC_"))
    }
    places = dict.fromkeys(("HOME", "COUNTERFOIL_HOME", "XDG_DATA_HOME"), home)
    return kept | places | {"COLUMNS": _WIDTH, "NO_COLOR": "1"}


def help_of(command: str = "") -> str:
    """Return the help of a command."""
    text, _ = run(*command.split(), "--help")
    return fenced(
        f"$ {' '.join(filter(None, ['counterfoil', command, '--help']))}\n{text}", "console"
    )


def commands() -> tuple[str, ...]:
    """Return the name of every command, those of `kb` behind it."""
    import click  # noqa: PLC0415 - only one page needs it

    from counterfoil.faces.cli import cli  # noqa: PLC0415 - the same
    from counterfoil.faces.cli.commands.kb import COMMANDS  # noqa: PLC0415 - the same

    names = cli.list_commands(click.Context(cli))
    below = {"kb": tuple(f"kb {name}" for name in COMMANDS)}
    return tuple(name for one in names for name in (one, *below.get(one, ())))


def command_pages() -> str:
    """Return the help of every command, each under its heading."""
    return "".join(f"\n## {name}\n{help_of(name)}" for name in commands())


def demo_screen(*commands: str, edits: Sequence[tuple[str, str, str]] = ()) -> str:
    """Return commands with what they print, in a folder where the demo was made."""
    return fenced(demo_lines(run_in, commands, edits), "console")


def finding_table() -> str:
    """Return every code of a finding with its severity and its sentence."""
    rows = (
        (f"[`{code}`](findings/{code}.md)", one.severity, one.sentence)
        for code, one in CODES.items()
    )
    return table(("code", "severity", "says that"), rows)


def finding_page(code: str) -> str:
    """Return the page about one code: meaning, an example that was run, how to mend it."""
    page = CodePage(run_in, code)
    one = page.entry
    in_page = f" In one page, the comment `<!-- counterfoil: allow {code}: why -->` in its body."
    silence = in_page if page.is_silenced_in_a_page else ""
    where = page.path if page.path.endswith(".json") else "knowledge/drafts/*"
    rule = f'[[silence]]\nrule = "{code}"\npath = "{where}"\nreason = "why"'
    return (
        f"\nSeverity: {one.severity}. It says that {one.sentence}.\n\n{one.meaning}\n"
        f"\n## Example\n\n`{page.path}`:\n{fenced(page.written, 'text')}"
        + fenced("\n".join([f"$ {page.command}", *page.shown]), "console")
        + f"\n## How to mend it\n\n{one.fix}\n"
        f"\n## How to silence it\n\nOnly with a reason, and counted.{silence}"
        f" In `counterfoil.toml`, for all paths that match:\n{fenced(rule, 'toml')}"
    )


def check_document() -> str:
    """Return the JSON of the bundled session, laid out to be read."""
    text, _ = run("check", "--json", "examples/claude-session.jsonl")
    return fenced(_laid_out(json.loads(text)), "json")


def _laid_out(value: Any, indent: int = 0) -> str:  # noqa: ANN401 - JSON is of any type
    """Return JSON with everything on one line that fits one, and short texts."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= _LINE or not isinstance(value, dict | list):
        return line
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        rows = [f"{json.dumps(key)}: {_laid_out(item, indent + 2)}" for key, item in value.items()]
        return "{\n" + ",\n".join(pad + row for row in rows) + f"\n{' ' * indent}}}"
    rows = [_laid_out(item, indent + 2) for item in value]
    return "[\n" + ",\n".join(pad + row for row in rows) + f"\n{' ' * indent}]"


# --- what the code says of itself ----------------------------------------------


_VERDICTS = {reasons._EXISTS: "Supported", reasons._SILENT: "Not established"}  # noqa: SLF001


def reason_tables() -> str:
    """Return every reason under its verdict, with what must not be read into it."""
    return "".join(
        _reasons_of(verdict) for verdict in ("Supported", "Contradicted", "Not established")
    )


def _reasons_of(verdict: str) -> str:
    rows = [
        (f"`{code}`", one.sentence, one.not_asserted)
        for code, one in reasons.REASONS.items()
        if _VERDICTS.get(one.not_asserted, "Contradicted") == verdict
    ]
    unsaid = {row[2] for row in rows}
    head = f"\n### {verdict}\n"
    if len(unsaid) > 1:
        return head + table(("reason", "says", "does not say"), rows)
    shared = f"\nNone of these says {unsaid.pop()}.\n"
    return head + shared + table(("reason", "says"), (row[:2] for row in rows))


def caveat_table() -> str:
    """Return the table of caveats."""
    return table(("caveat", "says"), ((f"`{code}`", text) for code, text in CAVEAT_TEXT.items()))


def evidence_table() -> str:
    """Return what each format can show, a column a format."""
    names = tuple(EVIDENCE)
    whats = list(dict.fromkeys(what for shown in EVIDENCE.values() for what in shown))
    rows = ([what, *(EVIDENCE[name].get(what, "no") for name in names)] for what in whats)
    return table(("what", *(f"`{name}`" for name in names)), rows)


def settings_table() -> str:
    """Return every key of the configuration."""
    rows = (
        (
            f"`{key.name}`",
            _values(key),
            _default(key),
            key.meaning,
            f"`COUNTERFOIL_{key.name.upper()}`",
        )
        for key in KEYS
    )
    return table(("key", "values", "default", "says", "variable"), rows)


def _values(key: Key) -> str:
    if isinstance(key.choices, tuple):
        return ", ".join(f"`{choice}`" for choice in key.choices)
    kinds = {
        bool: "`true`, `false`",
        str: "a text",
        int: "a number",
        list: "texts",
        dict: "tables",
    }
    return kinds[key.choices]


def _default(key: Key) -> str:
    if isinstance(key.default, bool):
        return f"`{str(key.default).lower()}`"
    return f"`{key.default}`" if key.default else "(empty)"


def event_table() -> str:
    """Return every kind of event: what it says, its details, whether a receipt shows it."""
    rows = (
        (
            f"`{kind}`",
            _first_line(payload.__doc__),
            ", ".join(_details(payload)),
            "no" if payload in OUTSIDE_RECEIPTS else "yes",
        )
        for kind, payload in KINDS.items()
    )
    return table(("kind", "says", "details", "in a receipt"), rows)


def _first_line(doc: str | None) -> str:
    return (doc or "").partition("\n")[0].rstrip(".")


def _details(payload: type) -> Iterator[str]:
    hints = get_type_hints(payload)
    for field in fields(payload):
        name = _camel(field.name)
        shown = f"**{name}**" if field.default is MISSING else name
        choices = _choices(hints[field.name])
        yield f"{shown} ({', '.join(choices)})" if choices else shown


def _choices(hint: Any) -> list[str]:  # noqa: ANN401 - a type hint is of any type
    """Return what a field may say: the texts of a list, or the fields of an object."""
    if get_origin(hint) is Literal:
        return [f"`{choice}`" for choice in get_args(hint)]
    if is_dataclass(hint):
        return [_camel(field.name) for field in fields(hint)]
    return [found for part in get_args(hint) if part is not NoneType for found in _choices(part)]


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


# --- figures -------------------------------------------------------------------


def benchmarks() -> str:
    """Return the tables of `docs/benchmarks.json`: a list of titles, machines and rows."""
    path = ROOT / "docs" / "benchmarks.json"
    if not path.is_file():
        return "\nNo figures are kept for this version yet.\n"
    return "".join(_benchmark(one) for one in json.loads(path.read_text("utf-8")))


def _benchmark(one: dict[str, Any]) -> str:
    columns = ("what", "figure", "goal", "verdict")
    rows = ([str(row.get(column, "")) for column in columns] for row in one["rows"])
    return f"\n{one['title']} ({one['machine']}):\n{table(columns, rows)}"
