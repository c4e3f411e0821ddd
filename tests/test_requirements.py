"""The list of promises and the tests, held against each other in both directions."""

import ast
import re
import runpy
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).parent
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ID = re.compile(r"([a-z0-9]+(?:-[a-z0-9]+)*): \S")


def _list() -> dict[str, Any]:
    return runpy.run_path(str(_TESTS / "requirements.py"))


def _tests() -> Iterator[tuple[str, str | None]]:
    """Yield each test function and the id that its docstring begins with."""
    for path in sorted(_TESTS.rglob("test_*.py")):
        module = ast.parse(path.read_text("utf-8"))
        classes = [node.body for node in module.body if isinstance(node, ast.ClassDef)]
        for node in chain(module.body, *classes):
            if isinstance(node, _FUNCTIONS) and node.name.startswith("test"):
                found = _ID.match(ast.get_docstring(node) or "")
                place = f"{path.relative_to(_TESTS)}:{node.lineno} {node.name}"
                yield place, found[1] if found else None


def test_every_test_names_a_promise_that_is_on_the_list() -> None:
    """requirements: No test without a promise."""
    known = _list()["REQUIREMENTS"]
    assert [(place, id_) for place, id_ in _tests() if id_ not in known] == []


def test_every_promise_has_a_test() -> None:
    """requirements: No promise without a test."""
    kept = {id_ for _, id_ in _tests()}
    assert sorted(set(_list()["REQUIREMENTS"]) - kept) == []


def test_no_promise_is_made_twice() -> None:
    """requirements: The groups are joined into one list; an id in two of them would vanish."""
    names = _list()
    groups = [
        value
        for name, value in names.items()
        if name.isupper() and isinstance(value, dict) and name != "REQUIREMENTS"
    ]
    assert sum(map(len, groups)) == len(names["REQUIREMENTS"])


def test_a_promise_says_where_it_is_made_and_what() -> None:
    """requirements: A source, and one sentence."""
    rows = _list()["REQUIREMENTS"].items()
    assert [id_ for id_, row in rows if not (row.source and row.sentence.endswith("."))] == []
