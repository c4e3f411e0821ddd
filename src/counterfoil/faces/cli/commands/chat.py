"""`counterfoil chat`: talk to a model, with the receipt and the checks under every reply."""

import os
from collections.abc import Mapping

import click

from counterfoil.core.errors import ConflictError, NotFoundError
from counterfoil.core.ids import ThreadId
from counterfoil.engine.agent import Agent
from counterfoil.engine.thread_parts import Opening
from counterfoil.faces.cli.agent_options import agent_options
from counterfoil.faces.cli.app import Application


@click.command(name="chat")
@agent_options
@click.option("--instructions", metavar="TEXT", help="The instructions of a new thread.")
@click.option("--tool", "tools", multiple=True, metavar="NAME", help="A tool of a new thread.")
@click.option("--no-tools", is_flag=True, help="No tool at all.")
@click.option("--resume", metavar="ID", help="Go on with a thread.")
@click.option("--fork", metavar="ID", help="Begin a thread that sees the pages of another.")
@click.option("--thread", metavar="ID", help="The id of the new thread.")
@click.option("--once", metavar="TEXT", help="One message; `-` is all of standard input.")
@click.option("--receipt", is_flag=True, help="Print the receipt of each turn, as JSON.")
@click.option("--json", "is_json", is_flag=True, help="Talk JSON Lines, both ways.")
@click.pass_obj
def command(
    application: Application,
    /,
    flags: Mapping[str, object],
    once: str | None,
    *,
    receipt: bool,
    is_json: bool,
    **options: object,
) -> int:
    """Talk to a model; under each reply stands what ran, and what it cites that is not there.

    The reply goes to standard output, everything else to standard error. At a terminal
    `/help` lists the commands, Ctrl-C ends the turn that runs, and Ctrl-D leaves. Without
    one each line of standard input is a message; what has to be approved is refused.

    Exit codes, but at a terminal: 0 nothing to report, 1 a reply cites an entry or a page
    that does not exist, 2 misuse, 3 a turn failed, the model or the store cannot be had.
    """
    if is_json and (once is not None or receipt):
        raise click.UsageError("--json goes without --once and --receipt: its lines have both")
    opening = _opening(flags, options)
    settings = application.settings(flags)
    with application.agent(settings) as agent:
        _require_fit(agent, opening, is_new=options["resume"] is None)
        if is_json:
            from counterfoil.faces.cli.chat.protocol import talk_in_json  # noqa: PLC0415

            return talk_in_json(agent, opening)
        return _talk(agent, opening, settings.text("color"), once, shows_receipts=receipt)


def _talk(
    agent: Agent, opening: Opening, color: str, once: str | None, *, shows_receipts: bool
) -> int:
    from counterfoil.faces.cli.chat import terminal  # noqa: PLC0415 - each way pays for itself

    is_at_terminal = terminal.is_at_terminal() and once != "-"
    prompt = terminal.whole_input() if once == "-" else once
    if prompt is not None and not prompt.strip():
        raise click.UsageError("there is nothing to say: the message is blank")
    talk = terminal.talk_at_terminal if is_at_terminal else terminal.talk_in_pipe
    return talk(agent, opening, color=color, shows_receipts=shows_receipts, prompt=prompt)


def _opening(flags: Mapping[str, object], options: Mapping[str, object]) -> Opening:
    """Return how the thread is opened; what cannot be meant together is misuse."""
    tools, no_tools, resumed = options["tools"], options["no_tools"], options["resume"]
    if tools and no_tools:
        raise click.UsageError("--tool and --no-tools cannot both be meant")
    names = ("instructions", "tools", "no_tools", "fork", "thread")
    if resumed is not None and any(options[name] for name in names):
        raise click.UsageError(
            "--resume goes on with a thread as it is: instructions, tools, fork and thread"
            " are for a new one"
        )
    return Opening(
        thread=_thread(resumed if resumed is not None else options["thread"]),
        instructions=_text(options["instructions"]),
        tools=() if no_tools else (tools or None),  # type: ignore[arg-type]
        model=_text(flags.get("model")),
        parent=_thread(options["fork"]),
        may_change_model=True,
        face="cli",
        cwd=os.getcwd(),  # noqa: PTH109 - a text for the record
    )


def _require_fit(agent: Agent, opening: Opening, *, is_new: bool) -> None:
    """Hold the id that was named against the threads that there are."""
    if opening.thread is None:
        return
    try:
        found = agent.views.thread(opening.thread)
    except NotFoundError:
        if not is_new:
            raise
        return
    if is_new:
        raise ConflictError(
            f"there is a thread {str(found.id)!r}",
            "a new id",
            f"--resume {found.id} goes on with it",
        )


def _thread(value: object) -> ThreadId | None:
    return None if value is None else ThreadId(str(value))


def _text(value: object) -> str | None:
    return None if value is None else str(value)
