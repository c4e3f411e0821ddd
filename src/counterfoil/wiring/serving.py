"""The part of the composition root that hands an agent to the faces beside the command line."""

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from counterfoil.adapters.system.settings import home
from counterfoil.core.errors import CounterfoilError, UnavailableError
from counterfoil.core.ids import ThreadId
from counterfoil.core.settings import Settings
from counterfoil.core.version import VERSION
from counterfoil.engine.agent import Agent
from counterfoil.engine.check_transcript import Silence, TranscriptCheck
from counterfoil.engine.thread_parts import Opening
from counterfoil.faces.cli.app import McpAddress
from counterfoil.faces.mcp import (
    McpServices,
    claim_descriptors,
    load_token,
    serve_http,
    serve_stdio,
)
from counterfoil.ports.transcripts import Transcript
from counterfoil.ports.world import Repository, Spool
from counterfoil.wiring.agent import opened_agent, readable_roots

if TYPE_CHECKING:  # the screens, and the checks, are paid for by who asks for one
    from counterfoil.faces.tui.look import ThemeName
    from counterfoil.wiring.checks import WiredChecks


def serve(settings: Settings, address: McpAddress | None) -> int:
    """Serve MCP over standard input and output, or at `address`; return an exit code."""
    claimed = None if address is not None else claim_descriptors()
    with opened_agent(settings) as agent:
        services = _services(agent, settings)
        if address is None:
            return serve_stdio(services, claimed)
        token = address.token or load_token(home(os.environ) / "mcp-token")
        return serve_http(services, address.host, address.port, token)


def _services(agent: Agent, settings: Settings) -> McpServices:
    @cache
    def checks() -> "WiredChecks":
        from counterfoil.wiring.checks import WiredChecks

        return WiredChecks(settings, dict(os.environ))

    return McpServices(
        agent=agent,
        check=lambda name, file: checks().check(name, file),
        lint=lambda stores: checks().lint(stores),
        resolve=lambda handles, stores: checks().resolve(handles, stores),
        roots=tuple(str(root) for root in readable_roots(settings)),
        version=VERSION,
    )


def show_conversation(
    settings: Settings, thread: Mapping[str, str | None], *, theme: str, plain: bool
) -> int:
    """Talk on the screen until the person leaves; return an exit code."""
    from counterfoil.faces.tui import require_screen, run_conversation

    require_screen()
    resumed, parent = thread.get("resume"), thread.get("fork")
    opening = Opening(
        thread=None if resumed is None else ThreadId(resumed),
        parent=None if parent is None else ThreadId(parent),
        model=thread.get("model"),
        may_change_model=True,
        face="tui",
        cwd=str(Path.cwd()),
    )
    with opened_agent(settings) as agent:
        if opening.thread is not None:
            agent.views.thread(opening.thread)  # one that is resumed has to be there
        return run_conversation(agent, opening, theme=cast("ThemeName", theme), plain=plain)


def show_check(
    settings: Settings, transcript: Transcript, spool: Spool[Any], *, theme: str, plain: bool
) -> int:
    """Show a checked session on the screen until the person leaves; return an exit code."""
    from counterfoil.faces.tui import require_screen, run_browser

    require_screen()
    silences = [Silence(s.rule, s.path, s.reason) for s in settings.silences]
    repository = _repository(settings.text("repo"))
    check = TranscriptCheck(transcript, spool, repository=repository, silences=silences)
    return run_browser(check, transcript, theme=cast("ThemeName", theme), plain=plain)


def _repository(name: str) -> Repository | None:
    from counterfoil.adapters.git import GitRepository

    return GitRepository(Path(name)) if name else None


def ask_over_mcp(
    prompts: Sequence[str], *, model: str, place: str
) -> Iterator[Mapping[str, object]]:
    """Yield what `respond` of a server of our own returns for each prompt, in one thread.

    The server is a process as a client would start it, with its record in `place`.
    """
    try:
        from mcp import Client, StdioServerParameters, stdio_client
    except ModuleNotFoundError as error:
        raise UnavailableError(
            f"MCP needs a package that is not installed: {error.name}",
            advice="pip install 'counterfoil[mcp]'",
        ) from error
    kept = {k: v for k, v in os.environ.items() if not k.startswith("COUNTERFOIL_")}
    environment = kept | {"COUNTERFOIL_HOME": place, "COUNTERFOIL_MODEL": model}
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "counterfoil", "mcp"], env=environment
    )

    async def ask() -> list[Mapping[str, object]]:
        found: list[Mapping[str, object]] = []
        thread: dict[str, Any] = {}
        async with Client(stdio_client(server)) as client:
            for prompt in prompts:
                result = await client.call_tool("respond", {"prompt": prompt, **thread})
                value = result.structured_content
                if value is None:
                    raise CounterfoilError(f"respond returned no structured content: {result}")
                thread = {"thread_id": value["thread_id"]}
                found.append(value)
        return found

    yield from asyncio.run(ask())
