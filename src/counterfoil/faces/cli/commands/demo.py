"""`counterfoil demo`: the case that this program was made for, without a model or a network."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import click

from counterfoil.core.plain import plain
from counterfoil.faces.cli import FOUND
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.output import print_json, say

PROMPTS = (
    "What have you done so far?",
    "What machine is this?",
    "What was recorded last?",
    "Check your configuration and the open ports, step by step, and report.",
)
"""Three turns that make a thread of 13 entries, and the one whose report cites 19 to 30."""


@click.command(name="demo")
@click.option("--respond", is_flag=True, help="Over MCP, as a harness would: print what it gets.")
@click.pass_obj
def command(application: Application, /, *, respond: bool) -> int:
    """Play a thread whose last reply reports steps that were never done.

    A script stands for the model; everything else is real: the tools, the record, the
    checks. In $COUNTERFOIL_HOME where that is set, else in a folder that goes away.

    Exit codes: 1, since the last reply cites entries that do not exist.
    """
    with _home() as place:
        if respond:
            return _respond(application, place)
        return _chat(application, place)


def _chat(application: Application, place: str) -> int:
    from counterfoil.faces.cli.chat.playing import play  # noqa: PLC0415 - one of two ways

    settings = application.settings({"model": application.demo_model})
    with application.agent(settings, place=place) as agent:
        return play(agent, PROMPTS, settings.text("color"))


def _respond(application: Application, place: str) -> int:
    value: dict[str, object] = {}
    model = application.demo_model
    for prompt, found in zip(
        PROMPTS, application.ask_over_mcp(PROMPTS, model=model, place=place), strict=True
    ):
        value = dict(found)
        say(f"respond: {prompt}")
        say(f"  {plain(str(value['ran']))}")
    print_json(value)
    return FOUND if value["unknownEntries"] or value["unknownPages"] else 0


@contextmanager
def _home() -> Generator[str]:
    said = os.environ.get("COUNTERFOIL_HOME")
    if said:
        yield said
        return
    with TemporaryDirectory(prefix="counterfoil-demo-") as place:
        yield place
