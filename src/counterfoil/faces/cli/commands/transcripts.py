"""`counterfoil transcripts`: what is found on this machine."""

import click

from counterfoil.core.plain import plain
from counterfoil.faces.cli.app import Application
from counterfoil.faces.cli.output import Output
from counterfoil.wire.check import encode_json, printable


@click.command(name="transcripts")
@click.option("--cwd", metavar="DIR", help="Only those that ran in this directory.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON Lines, one session a line.")
@click.pass_obj
def command(application: Application, cwd: str | None, is_json: bool) -> None:  # noqa: FBT001
    """List the sessions found on this machine, the newest first.

    Where a session ran is read from its records, never from the name of its folder.
    """
    settings = application.settings({})
    output = Output(settings.text("color"))
    count = 0
    for found in application.sessions(settings):
        if cwd is not None and not application.is_same_directory(cwd, found.cwd):
            continue
        count += 1
        if is_json:
            row = {
                "path": printable(found.path),
                "format": found.format,
                "thread": found.thread,
                "cwd": found.cwd,
                "modified": application.instant(found.modified),
                "bytes": found.size,
                "subagents": found.subagents,
            }
            output.data([encode_json(row)])
            continue
        subs = f" · {found.subagents} sub-agents" if found.subagents else ""
        output.line(
            (f"{application.instant(found.modified)[:16].replace('T', ' ')}  ", "dim"),
            (f"{found.format:<12}", ""),
            (f"{found.size / 1024:>10,.0f} KiB  ", "dim"),
            (plain(found.cwd or "(directory not recorded)"), "bold"),
            (subs, "dim"),
        )
        output.line((f"    {plain(found.path)}", "dim"))
    if not count and not is_json:
        output.line(("no session found; see claude_dir and codex_dir in `counterfoil config`", ""))
