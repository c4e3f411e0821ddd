"""`counterfoil mcp`: the agent, its record and the checks for a client of MCP."""

from collections.abc import Mapping

import click

from counterfoil.faces.cli.agent_options import agent_options
from counterfoil.faces.cli.app import Application, McpAddress


@click.command(name="mcp")
@agent_options
@click.option("--http", "port", type=click.IntRange(0, 65535), metavar="PORT", help="Serve HTTP.")
@click.option("--host", default="127.0.0.1", help="The loopback address to listen at.")
@click.option("--token", envvar="COUNTERFOIL__TOKEN", help="What clients have to send.")
@click.pass_obj
def command(
    application: Application,
    /,
    flags: Mapping[str, object],
    port: int | None,
    host: str,
    token: str | None,
) -> int:
    """Serve MCP: `respond` hands a task to the model and returns reply, receipt and checks.

    Over standard input and output, as a client starts it; with --http on a loopback
    address, for clients that send the token. What is not protocol goes to stderr.

    Exit codes: 0 the client left, 2 misuse, 3 the store or the address cannot be had.
    """
    address = None if port is None else McpAddress(host, port, token)
    return application.serve_mcp(application.settings(flags), address)
