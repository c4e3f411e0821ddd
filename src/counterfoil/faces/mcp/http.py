"""The server over streamable HTTP, on a loopback address, for whoever has the token."""

import asyncio
import hmac
import signal
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from ipaddress import ip_address

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from counterfoil.core.errors import UnavailableError
from counterfoil.faces.mcp.server import McpFace
from counterfoil.faces.mcp.services import McpServices

PATH = "/mcp"
_BACKLOG = 128
_SCHEME = b"Bearer "


def run_http(services: McpServices, host: str, port: int, token: str) -> int:
    """Serve until interrupted; where and how is told on standard error.

    Raises:
        UnavailableError: `host` is no loopback address, or nothing can listen there.
    """
    listener = listen(host, port)
    sys.stderr.write(f"{how_to_use(listener)}\n")
    sys.stderr.flush()
    asyncio.run(serve(services, listener, token))
    return 0


async def serve(services: McpServices, listener: socket.socket, token: str) -> None:
    """Serve clients at `listener` until the process is told to end."""
    face = McpFace(services)
    server = web_server(face, listener, token)
    for told in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(told, server.end)
    try:
        with listener:
            await server.serve(sockets=[listener])
    finally:
        await face.close()


class WebServer(uvicorn.Server):
    """A web server that ends when told, and leaves signals to others.

    Its own way is to raise a signal again once it has ended, which would end the process
    before its threads are closed.
    """

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none."""
        yield

    def end(self) -> None:
        """Take no more requests, and end."""
        self.should_exit = True


def web_server(face: McpFace, listener: socket.socket, token: str) -> WebServer:
    """Return the web server that serves `face`; it writes nothing to standard output."""
    origins = [f"{name}:{listener.getsockname()[1]}" for name in _NAMES]
    security = TransportSecuritySettings(
        allowed_hosts=origins, allowed_origins=[f"http://{origin}" for origin in origins]
    )
    application = face.server.streamable_http_app(
        streamable_http_path=PATH, transport_security=security
    )
    config = uvicorn.Config(
        TokenGate(application, token),
        log_config=None,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=2,
    )
    return WebServer(config)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at `host`.

    Raises:
        UnavailableError: `host` is no loopback address, or nothing can listen there.
    """
    address = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        is_loopback = ip_address(address).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise UnavailableError(
            f"{host!r} is no loopback address", "127.0.0.1, ::1 or localhost", _BECAUSE
        )
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        raise UnavailableError(f"nothing can listen at {host}:{port}: {error}") from error
    return listener


def how_to_use(listener: socket.socket) -> str:
    """Return the lines that say where a client finds the server, and what it sends."""
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return (
        f"MCP server: http://{shown}:{port}{PATH}\n"
        "Every request needs the header `Authorization: Bearer TOKEN`."
    )


class TokenGate:
    """Lets a request through that shows the token; others learn nothing."""

    def __init__(self, application: ASGIApp, token: str) -> None:
        self._application = application
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401, or hand the request on."""
        if scope["type"] == "lifespan" or self._is_shown(scope):
            await self._application(scope, receive, send)
            return
        refusal = PlainTextResponse(
            "the token is missing or another\n", 401, {"WWW-Authenticate": "Bearer"}
        )
        await refusal(scope, receive, send)

    def _is_shown(self, scope: Scope) -> bool:
        shown = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(shown) != 1 or shown[0][: len(_SCHEME)].lower() != _SCHEME.lower():
            return False
        return hmac.compare_digest(shown[0][len(_SCHEME) :].strip(), self._token)


_NAMES = ("127.0.0.1", "localhost", "[::1]")
_BECAUSE = "the server runs commands for its clients: reach it from elsewhere through a tunnel"
