"""The MCP server: an agent, its record and the checks, for a client of the protocol.

Nothing of the SDK is imported before it is needed, so that a missing extra is one line
and no other face pays for it.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager

from counterfoil.core.errors import UnavailableError
from counterfoil.faces.mcp.descriptors import ProtocolDescriptors, claim_descriptors
from counterfoil.faces.mcp.services import McpServices, PageStores
from counterfoil.faces.mcp.tokens import load_token

__all__ = [
    "McpServices",
    "PageStores",
    "ProtocolDescriptors",
    "claim_descriptors",
    "load_token",
    "serve_http",
    "serve_stdio",
]


def serve_stdio(services: McpServices, descriptors: ProtocolDescriptors | None = None) -> int:
    """Serve one client over standard input and output until it leaves; return an exit code.

    `descriptors` are those that were claimed before `services` were made, so that nothing
    printed meanwhile could reach the client; without them they are claimed now.

    Raises:
        UnavailableError: The extra `mcp` is not installed.
    """
    claimed = descriptors or claim_descriptors()
    with _starting():
        from counterfoil.faces.mcp.stdio import run_stdio  # noqa: PLC0415 - an extra, and slow
    return run_stdio(services, claimed)


def serve_http(services: McpServices, host: str, port: int, token: str) -> int:
    """Serve clients over HTTP on a loopback address until interrupted; return an exit code.

    Raises:
        UnavailableError: The extra `mcp` is not installed, `host` is no loopback address,
            or nothing can listen there.
    """
    with _starting():
        from counterfoil.faces.mcp.http import run_http  # noqa: PLC0415 - an extra, and slow
    return run_http(services, host, port, token)


@contextmanager
def _starting() -> Generator[None]:
    """Import what an extra has; looking for cycles meanwhile is a fifth of the time."""
    gc.disable()
    try:
        yield
        gc.freeze()
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    finally:
        gc.enable()


def _missing(error: ModuleNotFoundError) -> UnavailableError:
    return UnavailableError(
        f"the MCP server needs a package that is not installed: {error.name}",
        advice="pip install 'counterfoil[mcp]'",
    )
