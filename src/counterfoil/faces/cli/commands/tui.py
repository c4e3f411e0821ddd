"""`counterfoil tui`: the conversation, or a checked session, on the screen."""

import click

from counterfoil.faces.cli.app import Application


@click.command(name="tui")
@click.argument("session", required=False)
@click.option("--resume", metavar="ID", help="Go on with a thread.")
@click.option("--fork", metavar="ID", help="Begin a thread that sees the pages of another.")
@click.option("--model", metavar="NAME", help="The model, or scripted:FILE.")
@click.option("--base-url", metavar="URL", help="Where its server answers.")
@click.option(
    "--theme",
    type=click.Choice(["auto", "dark", "light", "none"]),
    default="auto",
    help="The colours.",
)
@click.option("--plain", is_flag=True, help="No box, bar or colour: for a screen reader.")
@click.pass_obj
def command(
    application: Application,
    /,
    session: str | None,
    *,
    theme: str,
    plain: bool,
    **thread: str | None,
) -> int:
    """Talk to a model on the screen, or browse a checked session.

    Without SESSION a conversation. With it the turns and findings of that session: Enter
    on a finding goes to the place in the record that decides it. F1 tells the keys.

    Needs `pip install 'counterfoil[tui]'`. NO_COLOR takes the colours away, unless a theme
    is named. A session that was browsed ends with 1 where something is contradicted.
    """
    if session is None:
        if thread["resume"] and thread["fork"]:
            raise click.UsageError("--resume goes on with a thread; --fork begins another")
        return application.run_tui(thread, theme=theme, plain=plain)
    if any(thread.values()):
        raise click.UsageError("a session is browsed: it takes no thread and no model")
    return application.browse(session, theme=theme, plain=plain)
