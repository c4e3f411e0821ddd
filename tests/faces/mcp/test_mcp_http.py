"""Streamable HTTP: on loopback, for whoever has the token, and for nobody else."""

import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from counterfoil.core.errors import UnavailableError, UnreadableError
from counterfoil.faces.mcp.http import how_to_use, listen, web_server
from counterfoil.faces.mcp.tokens import load_token
from engine.agent_world import CASE_PROMPTS, case_section_8, says
from faces.mcp.mcp_world import (
    ENVIRONMENT,
    SERVER,
    TOKEN,
    Served,
    asks_command,
    echoing,
    run,
    served,
    serving,
    structured,
    text_of,
)

Given: TypeAlias = Any
"""JSON of any shape, and what a step hands on."""

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@asynccontextmanager
async def at(made: Served) -> AsyncGenerator[str]:
    """Have the server listen; yield its URL."""
    listener = listen("127.0.0.1", 0)
    server = web_server(made.face, listener, TOKEN)
    serving_ = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        await serving_
        listener.close()
        await made.face.close()


@asynccontextmanager
async def client_at(url: str, **more: Given) -> AsyncGenerator[Client]:
    """Have the SDK's own client connected, with the token."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(headers=headers, timeout=20) as web:
        transport = streamable_http_client(url, http_client=web)
        async with Client(transport, **more) as client:
            yield client


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_case_of_the_specification_over_http(mode: str) -> None:
    """agent-case: the same result over streamable HTTP."""

    async def main() -> None:
        async with at(served(case_section_8())) as url, client_at(url, mode=mode) as client:
            for prompt in CASE_PROMPTS:
                result = await client.call_tool("respond", {"prompt": prompt, "thread_id": "t1"})
            assert structured(result)["unknownEntries"] == [*range(19, 31)]

    run(main())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_approvals_reach_the_person_over_http(mode: str) -> None:
    """respond: by elicitation, on the stream of the call or between two calls."""
    made = serving(asks_command("git push"), says("Pushed."))

    async def dialog(context: Given, params: Given) -> ElicitResult:
        del context, params
        return ElicitResult(action="accept", content={"decision": "once"})

    async def main() -> None:
        async with (
            at(made) as url,
            client_at(url, mode=mode, elicitation_callback=dialog) as client,
        ):
            result = await client.call_tool("respond", {"prompt": "Push."})
            assert text_of(result) == "Pushed."

    run(main())
    assert made.runner.ran == ["git push"]


def test_many_clients_share_the_threads() -> None:
    """respond: turns of one thread one at a time, whoever asks."""

    async def main() -> None:
        async with at(served(echoing())) as url:

            async def one(number: int) -> None:
                async with client_at(url) as client:
                    asked = {"prompt": f"fact-{number}", "thread_id": "t1"}
                    said = structured(await client.call_tool("respond", asked))
                    assert said["text"] == f"done fact-{number}"
                    assert str(said).count("fact-") == str(said).count(f"fact-{number}'") + str(
                        said
                    ).count(f'fact-{number}"')

            await asyncio.gather(*(one(number) for number in range(10)))

    run(main())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": TOKEN}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Authorization": f"Bearer {TOKEN[:-1]}"}, 401),
        ({"Authorization": "Bearer \xfc"}, 401),
        ({"Authorization": f"Bearer {TOKEN}"}, 200),
        ({"Authorization": f"bearer {TOKEN}"}, 200),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}, 421),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "127.0.0.1.evil.example"}, 421),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "127.0.0.1:1"}, 421),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "localhost:PORT"}, 200),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "http://evil.example"}, 403),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "null"}, 403),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "http://127.0.0.1:PORT"}, 200),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "http://127.0.0.1:PORT.evil.x"}, 403),
    ],
)
def test_who_is_let_in(headers: dict[str, str], status: int) -> None:
    """respond: the token, the host and the origin are those of a local client."""
    made = serving()

    async def main() -> int:
        async with at(made) as url, httpx2.AsyncClient(timeout=20) as web:
            port = url.split(":")[2].split("/")[0]
            sent = [
                (name.encode(), value.replace("PORT", port).encode("latin-1"))
                for name, value in (headers | ACCEPT).items()
            ]
            return (await web.post(url, headers=sent, json=INITIALIZE)).status_code

    assert run(main()) == status


def test_a_token_that_is_shown_twice_is_refused() -> None:
    """respond: two headers of which one is right are not right."""

    async def main() -> int:
        async with at(serving()) as url, httpx2.AsyncClient(timeout=20) as web:
            sent = [("Authorization", "Bearer x"), ("Authorization", f"Bearer {TOKEN}")]
            return (
                await web.post(url, headers=[*sent, *ACCEPT.items()], json=INITIALIZE)
            ).status_code

    assert run(main()) == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", "", "127.1", "*"])
def test_only_loopback_is_listened_at(host: str) -> None:
    """respond: everything else is refused, with the reason."""
    with pytest.raises(UnavailableError, match="is no loopback address"):
        listen(host, 0)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
def test_loopback_is_listened_at(host: str) -> None:
    """respond: and standard error says where, and what to send."""
    with listen(host, 0) as listener:
        said = how_to_use(listener)
        address, port = listener.getsockname()
        assert f"http://{address}:{port}/mcp" in said
        assert "Authorization: Bearer" in said


def test_a_port_that_is_taken_is_told() -> None:
    """respond: as one line."""
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(UnavailableError, match=f"nothing can listen at 127.0.0.1:{port}"):
            listen("127.0.0.1", port)
    with pytest.raises(UnavailableError, match="nothing can listen"):
        listen("127.0.0.1", 70_000)


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_loopback_of_ipv6_is_written_in_brackets() -> None:
    """respond: `::1` is loopback."""
    try:
        listener = listen("[::1]", 0)
    except UnavailableError:
        pytest.skip("no IPv6 here")
    with listener:
        assert "http://[::1]:" in how_to_use(listener)


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_end_closes_its_threads(told: int) -> None:
    """respond: `serve_http` says where it is, and ends in order; stdout stays empty."""
    with subprocess.Popen(
        [sys.executable, str(SERVER), "http"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **ENVIRONMENT},
        text=True,
    ) as process:
        watch = threading.Timer(60, process.kill)
        watch.start()
        assert process.stderr is not None
        url = process.stderr.readline().split()[-1]
        assert "Authorization: Bearer" in process.stderr.readline()

        async def main() -> None:
            async with client_at(url) as client:
                await client.call_tool("respond", {"prompt": "a", "thread_id": "t1"})

        run(main())
        process.send_signal(told)
        out, err = process.communicate(timeout=30)
        watch.cancel()
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err
    assert TOKEN not in err
    assert err.endswith("closed: t1\n")


# --- the token -----------------------------------------------------------------


def test_a_token_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    """respond: a 0600 file in the home."""
    path = tmp_path / "home" / "mcp-token"
    token = load_token(path)
    assert len(token) > 40
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_token(path) == token
    assert [one.name for one in path.parent.iterdir()] == ["mcp-token"]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o622])
def test_a_token_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    """respond: what others may know is no secret."""
    path = tmp_path / "mcp-token"
    load_token(path)
    path.chmod(mode)
    with pytest.raises(UnreadableError, match="open to others"):
        load_token(path)


@pytest.mark.parametrize("content", ["", "short", "x" * 15, "x" * 20 + "\0", "é" * 20])
def test_what_is_no_token_is_refused(tmp_path: Path, content: str) -> None:
    """respond: an empty or broken file lets nobody in."""
    path = tmp_path / "mcp-token"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(UnreadableError, match="holds no token"):
        load_token(path)


def test_a_token_is_no_link_and_no_pipe(tmp_path: Path) -> None:
    """respond: nothing is followed, and nothing waited for."""
    (tmp_path / "real").write_text("x" * 40)
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name in ("link", "nowhere", "pipe"):
        with pytest.raises(UnreadableError):
            load_token(tmp_path / name)
    assert not (tmp_path / "missing").exists()


def test_a_home_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """respond: as one line."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UnavailableError, match="cannot be written"):
        load_token(tmp_path / "file" / "mcp-token")
