"""The page about the protocol: its example is replayed, and it names every field."""

import re
import runpy
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from counterfoil.wire.asked import Asked
from counterfoil.wire.chat import Told
from counterfoil.wire.events import wire_name

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "chat-protocol.md"


def test_the_recorded_example_is_what_the_program_says_now() -> None:
    """chat-face: The lines of the page are sent; what is told is what stands there."""
    (block,) = re.findall(
        r"^```text\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    lines = block.splitlines()
    assert lines[-1] == '< {"type":"exit","code":1}'
    assert sum(line.startswith("> ") for line in lines) == 4
    now = list(runpy.run_path(str(ROOT / "docs" / "_chat.py"))["replay"](lines))
    assert now == lines


@pytest.mark.parametrize("line", [*get_args(Told), *get_args(Asked)], ids=lambda one: one.__name__)
def test_the_page_names_every_type_and_field(line: type) -> None:
    """docs-complete: Nothing is on the wire that the page does not explain."""
    text = PAGE.read_text("utf-8")
    name = getattr(line, "type", line.__name__.lower())
    assert f"| `{name}` |" in text
    for field in fields(line):
        assert f"`{wire_name(field.name)}`" in text
